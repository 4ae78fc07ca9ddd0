"""Results that the tests of the report share."""

from __future__ import annotations

from pathlib import Path

import pytest

import therapy_analytics as ta
from therapy_analytics.run import Writing

NAMES = ("boyle_lucia.txt", "aria_ben.json", "lindqvist_dana_1.vtt", "nair_tomas.csv", "sessions.csv")
"""Four sessions in four formats, one of them with a clock, and the table about them."""


def a_run(samples: Path, out: Path, *, quotes: bool = False) -> Path:
    """Run the fast tagger over a few samples, without figures."""
    settings = ta.Settings(tagger=ta.TaggerOptions(kind="fast"), quotes=quotes)
    writing = Writing(figures=(), report=False)
    paths = [samples / name for name in NAMES if name != "sessions.csv"]
    options = ta.ReadOptions(metadata=samples / "sessions.csv")
    ta.run(paths, out, settings=settings, read_options=options, writing=writing)
    return out


@pytest.fixture(scope="session")
def results(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of results without a word of what was said. Tests do not change it: they copy it."""
    return a_run(samples, tmp_path_factory.mktemp("report") / "results")


@pytest.fixture(scope="session")
def results_with_quotes(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of results with what was said."""
    return a_run(samples, tmp_path_factory.mktemp("report_quotes") / "results", quotes=True)
