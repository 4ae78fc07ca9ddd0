"""What is installed is whole: data files, types, doctests; and it is what the tests run against."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
from importlib import metadata, resources
from pathlib import Path

import pytest

import therapy_analytics
from therapy_analytics.text.lexicons import lexicon_folder

MODULES = [one.name for one in pkgutil.walk_packages(therapy_analytics.__path__, prefix="therapy_analytics.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 8


def test_data_files_are_installed() -> None:
    package = resources.files("therapy_analytics")
    assert (package / "py.typed").is_file()
    assert (package / "codes" / "codebooks" / "bolt.toml").is_file()
    assert (package / "codes" / "weights" / "model.json").is_file()
    assert (package / "codes" / "disclosure_weights" / "weights.npz").is_file()
    assert (package / "text" / "vectors" / "vectors.npz").is_file()
    assert len(list(lexicon_folder().glob("*.toml"))) >= 5


def test_the_command_is_installed() -> None:
    (entry,) = [one for one in metadata.entry_points(group="console_scripts") if one.name == "tanalyze"]
    assert entry.value == "therapy_analytics.cli:main"


@pytest.mark.skipif("THERAPY_ANALYTICS_WHEEL" not in os.environ, reason="only where the built wheel is under test")
def test_the_wheel_is_what_is_tested(root: Path) -> None:
    installed = Path(therapy_analytics.__file__).resolve()
    assert "site-packages" in installed.parts
    assert lexicon_folder().is_relative_to(installed.parent)
    assert not (root / "therapy_analytics").exists()
