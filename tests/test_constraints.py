"""The versions that were tested, with their hashes: every dependency is among them."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def pinned(root: Path) -> dict[str, tuple[str, list[str]]]:
    """Return the version of each package, and the hashes of its files."""
    lines = (root / "constraints.txt").read_text(encoding="utf-8").split("\n")
    text = "\n".join(line for line in lines if not line.startswith("#"))
    assert "://" not in text
    found = {}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        name, version, rest = re.fullmatch(r"([\w.-]+)==([\w.]+)(.*)", entry, re.DOTALL).groups()
        found[canonicalize_name(name)] = version, re.findall(r"--hash=sha256:([0-9a-f]{64})\b", rest)
    return found


@pytest.fixture(scope="module")
def needed(root: Path) -> list[Requirement]:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(one) for one in project["dependencies"]]


def test_every_dependency_is_pinned_within_its_range(pinned, needed) -> None:
    assert len(needed) > 10
    for one in needed:
        version, _ = pinned[canonicalize_name(one.name)]
        assert one.specifier.contains(version), f"{one} and {version}"


def test_every_version_has_hashes(pinned) -> None:
    assert len(pinned) > 50
    assert [name for name, (_, hashes) in pinned.items() if not hashes] == []
    compiled = ("numpy", "pandas", "spacy", "onnxruntime")  # a wheel for each system and Python
    assert [name for name in compiled if len(set(pinned[name][1])) < 10] == []


def test_the_versions_here_are_those_that_were_tested(pinned, needed) -> None:
    here = {one.name: metadata.version(one.name) for one in needed}
    other = {name: version for name, version in here.items() if version != pinned[canonicalize_name(name)][0]}
    if other:
        pytest.skip(f"other versions are installed than constraints.txt names: {other}")
