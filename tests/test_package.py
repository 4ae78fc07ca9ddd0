"""The package as people meet it: what pyproject.toml, the citation file, the workflows and the changelog say agrees."""

from __future__ import annotations

import csv
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from therapy_analytics.measures.base import all_columns
from therapy_analytics.text import EXTRAS, builtin_lexicons

yaml = pytest.importorskip("yaml")  # comes with the extra docs


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


@pytest.fixture(scope="module")
def citation(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def pythons(project: dict[str, Any]) -> list[str]:
    return [one.rpartition(" ")[2] for one in project["classifiers"] if re.search(r"Python :: 3\.\d+$", one)]


def workflow(root: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((root / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    return found


def test_one_version_stands_everywhere(root: Path, project: dict[str, Any], citation: dict[str, Any]) -> None:
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    latest = re.findall(r"^## (\S+)", changes, flags=re.MULTILINE)[0]
    assert citation["version"] == latest == project["version"]


def test_the_citation_file_has_what_its_form_requires(project: dict[str, Any], citation: dict[str, Any]) -> None:
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "version", "type"} <= set(citation)
    assert citation["title"] == project["name"]
    assert citation["authors"] == project["authors"]


def test_classifiers_say_which_pythons_and_that_there_are_types(project: dict[str, Any], pythons: list[str]) -> None:
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == f">={pythons[0]}"
    assert "Typing :: Typed" in project["classifiers"]


def test_every_extra_says_what_it_is_for(root: Path, project: dict[str, Any]) -> None:
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    explained = re.findall(r"^# .+\n(\w+) = \[", text, flags=re.MULTILINE)
    assert explained == list(project["optional-dependencies"])


def test_every_python_is_tested_before_a_release_and_with_every_change(root: Path, pythons: list[str]) -> None:
    release, ci = workflow(root, "release.yml")["jobs"], workflow(root, "ci.yml")["jobs"]
    assert release["test"]["strategy"]["matrix"]["python"] == pythons
    first = ci["whole"]["steps"][1]["with"]["python-version"]
    assert [first, *ci["versions"]["strategy"]["matrix"]["python"]] == pythons
    assert any(step.get("run") == "bash .ci/run" for step in ci["whole"]["steps"])


def test_only_what_was_tested_is_published_and_without_a_password(root: Path) -> None:
    release = workflow(root, "release.yml")
    jobs = release["jobs"]
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML reads the key "on" as a truth value
    assert (jobs["test"]["needs"], jobs["publish"]["needs"]) == ("build", "test")
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert release["permissions"] == {"contents": "read"}
    assert "secrets." not in (root / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")


def test_columns_that_the_changelog_calls_removed_are_gone(root: Path) -> None:
    with (root / "docs" / "changes_0_4_0.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {column.name for _, column in all_columns(builtin_lexicons(), extras=EXTRAS)}
    removed = {row["before"] for row in rows if row["change"] == "removed" and row["of"] == "column"}
    changed = {row["before"] for row in rows if row["change"] == "numbers" and re.fullmatch(r"\w+", row["before"])}
    assert len(removed) > 100
    assert removed & columns == set()
    assert {"therapist_advice_rate", "unasked_advice_rate"} <= changed & columns
