"""The examples of docs/commands.md do what the page shows, in the order of the page, in one folder."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
import typer.main
from typer.testing import CliRunner

from therapy_analytics.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


class Example(NamedTuple):
    """A command, and what the page says that it prints."""

    words: tuple[str, ...]
    shown: str


def examples() -> Iterator[Example]:
    """Yield the examples: each begins with a dollar in a block of the kind console."""
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            name, *words = shlex.split(command)
            assert name == "tanalyze", command
            yield Example(tuple(words), shown)


EXAMPLES = sorted(examples(), key=lambda one: one.words[0] != "run" or "--model" in one.words)
"""Those that make what the others take come first."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Go to a folder like the program's, for as long as the examples run."""
    made = tmp_path_factory.mktemp("program")
    for name in ("sample_transcripts", "sample_course"):
        shutil.copytree(ROOT / name, made / name)
    shutil.copytree(ROOT / "notebooks" / "codes", made / "notebooks" / "codes")
    here, mask = Path.cwd(), os.umask(0o077)
    os.chdir(made)
    yield made
    os.chdir(here)
    os.umask(mask)


@pytest.fixture(scope="module")
def printed(folder: Path) -> list[tuple[Example, int, str]]:
    """Run all examples, in their order: each may take what one before it wrote."""
    found = []
    for example in EXAMPLES:
        done = CliRunner().invoke(app, example.words)
        found.append((example, done.exit_code, done.output))
    return found


def plain(output: str) -> str:
    """Return the words of an output, without the lines of its tables."""
    return " ".join(re.sub(r"[\u2500-\u257f]", " ", output).split())


@pytest.mark.parametrize("index", range(len(EXAMPLES)), ids=[" ".join(one.words[:2]) for one in EXAMPLES])
def test_an_example_prints_what_the_page_shows(index: int, printed: list[tuple[Example, int, str]]) -> None:
    example, status, output = printed[index]
    assert status == 0, output
    place, words = 0, plain(output)
    for part in re.split(r"\.\.\.", example.shown):
        wanted = " ".join(part.split())
        at = words.find(wanted, place)
        assert at >= 0, f"{wanted!r} is not in what follows: {words[place : place + 600]}"
        place = at + len(wanted)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    assert any(one.words[0] == name for one in EXAMPLES)


def test_files_that_the_page_names_are_written(printed: list[tuple[Example, int, str]], folder: Path) -> None:
    for name in (
        "results/sessions.csv",
        "results/sessions/boyle_lucia/turns.csv",
        "comparison/comparison.md",
        "agreement/agreement.md",
        "my_model/model_card.md",
        "converted/lindqvist_dana_1.cha",
    ):
        assert (folder / name).is_file(), name


WRITTEN = ("comparison/comparison", "comparison/corrected", "comparison/summary_counts", "comparison/groups")
WRITTEN += ("course_outcomes/associations", "course_outcomes/course", "course_outcomes/unmatched", "my_model/scores")
WRITTEN += ("agreement/codes", "agreement/pairs", "agreement/sessions", "agreement/calibration", "agreement/confusion")
WRITTEN += ("results/measures", "results/problems", "speakers/changes", "redacted/review")


@pytest.mark.parametrize("name", WRITTEN)
def test_columns_of_what_is_written_are_explained(name: str, printed: list[Example], folder: Path) -> None:
    """docs/output_columns.csv has them; of a pair of sides or an interval, the first is enough."""
    assert printed
    page = pd.read_csv(ROOT / "docs" / "output_columns.csv")
    file = f"{name.rpartition('/')[2]}.csv"
    explained = set(" ".join(page.loc[page["file"] == file, "columns"]).split())
    explained |= {"session_id", *(stem for stem in explained if "..." not in stem)}
    columns = pd.read_csv(folder / f"{name}.csv").columns
    stems = {re.sub(r"_(against|lo|hi|change|reliable|since_last)$", "", one) for one in columns}
    missing = stems - explained - {re.sub(r"_(lo|hi)$", "", one) for one in explained}
    if file == "course.csv":  # a column for each scale and measure
        missing = {one for one in missing if f"therapist_{one}" in explained}
    assert not missing
