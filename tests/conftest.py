"""What many tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if "PYTEST_XDIST_WORKER" in os.environ:  # workers fill the cores, and threads that wait for each other slow all down
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT), str(ROOT / "tools")]  # last, so that the package that is installed is tested

settings.register_profile("without a clock", deadline=None)  # speed is measured in benchmarks/, not here
settings.load_profile("without a clock")


SLOWEST = ("test_kills.py", "test_coding_in_browser.py", "test_commands.py", "test_executors.py", "test_notebooks.py")
"""Files that take longest. They begin first, so that no worker is left with one of them when the others have ended."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the slowest files first."""
    items.sort(key=lambda item: item.path.name not in SLOWEST)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def samples() -> Path:
    """Return the folder of sample transcripts."""
    return ROOT / "sample_transcripts"


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of research corpora, which only developers have."""
    shared = Path(os.environ.get("THERAPY_ANALYTICS_SHARED", ROOT.parent / "shared"))
    if not (shared / "data").is_dir():
        pytest.skip("the research corpora are not beside the checkout (../shared/data)")
    return shared / "data"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Give the one browser of all tests, as a process can have one only; each test opens contexts of its own in it."""
    from report import _browser

    with _browser.started() as running:
        yield running
