"""Commands that are killed bar nothing: the same command ends with the same bytes, and two at once say so."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commands import PLAIN, commands, tanalyze
from folders import files

import therapy_analytics as ta
from benchmarks import kills
from therapy_analytics.core.errors import BadOptionError


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kills.workspace(tmp_path_factory.mktemp("work"))


@pytest.mark.parametrize("name", kills.COMMANDS)
def test_a_command_that_was_killed_ends_with_the_same_bytes(name: str, work: Path) -> None:
    """Once while it writes and, where strace is installed, while it renames; forty: ``python -m benchmarks.kills``."""
    kills.check_command(name, work, 2)


def test_what_a_command_of_an_earlier_version_left_bars_nothing(work: Path, tmp_path: Path) -> None:
    for left in (".0a1b2c3d.part", ".sample.csv.0a1b2c3d.part"):
        (tmp_path / "o" / left).mkdir(parents=True)
        (tmp_path / "o" / left / "sample.csv").write_text("half")
    done = tanalyze("sample", work / "results", "--turns", "20", "--out", "o", folder=tmp_path)
    assert done.status == 0, done.text
    assert set(files(tmp_path / "o")) == {".made_from.json", "design.json", "sample.csv", "turns.json"}


def test_no_journal_leads_out_of_its_folder(work: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    names = ["../mine.txt", "..", "", ".", 7, str(tmp_path / "mine.txt")]
    for journal in ({"remove": names, "undo": []}, {"remove": [], "undo": names}, {"remove": 7}, [], {}):
        whole = tmp_path / "o" / ".whole.part"
        whole.mkdir(parents=True)
        (whole / ".journal.json").write_text(json.dumps(journal))
        done = tanalyze("sample", work / "results", "--turns", "20", "--out", "o", folder=tmp_path)
        assert done.status == 0, done.text
        assert (tmp_path / "mine.txt").read_text() == "mine"


def test_what_a_killed_command_had_finished_is_read_whole(work: Path, tmp_path: Path) -> None:
    """The sample was written and none of its files moved: a page for a coder is made of all of it."""
    drawn = shutil.copytree(work / "drawn", tmp_path / "drawn")
    (drawn / ".whole.part").mkdir()
    for name in ("sample.csv", "turns.json", "design.json"):
        (drawn / name).rename(drawn / ".whole.part" / name)
    (drawn / "sample.csv").write_text("of another sample")
    (drawn / ".whole.part" / ".journal.json").write_text('{"remove": [], "undo": []}')
    done = tanalyze("code", "drawn", "--coder", "Ann", folder=tmp_path)
    assert done.status == 0, done.text
    page = drawn / "code_Ann.html"
    assert page.is_file()
    page.unlink()
    assert files(drawn) == files(work / "drawn")


# Where commands write


@pytest.fixture
def here(work: Path, tmp_path: Path) -> Path:
    """Return a folder in which somebody stands, beside one with results and what belongs to them."""
    for name in ("talks", "other", "results"):
        shutil.copytree(work / name, tmp_path / "study" / name)
    for name in ("scores.csv", "codes.csv", "Ann.csv", "Ben.csv"):
        shutil.copy(work / name, tmp_path / "study")
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "elsewhere"


COMPARE = (
    *("compare", "../study/results", "--by", "session_number", "--cluster", "session", "--no-plots"),
    *("--measures", "therapist_question_rate", "--permutations", "1000"),
)
OUTCOMES = ("outcomes", "../study/results", "--outcomes", "../study/scores.csv", "--no-plots")
AGREE = ("agree", "../study/results/sessions.csv", "../study/codes.csv", "--no-plots")


def test_commands_write_beside_what_they_are_about(here: Path) -> None:
    study = here.parent / "study"
    before = {path.name for path in study.iterdir()}
    in_results = {path.name for path in (study / "results").iterdir()}
    done = commands(
        here,
        COMPARE,
        (*COMPARE[:2], "../study/results/", *COMPARE[2:]),
        OUTCOMES,
        (*AGREE[:1], "../study/results", *AGREE[2:]),
        ("agree", "../study/Ann.csv", "../study/Ben.csv"),
        ("sample", "../study/results/", "--turns", "20"),
        ("export", "../study/results"),
        ("report", "../study/results"),
        ("compare", "../study/nowhere"),
        ("agree", "nowhere.csv", "../study/Ben.csv"),
    )
    assert [one.status for one in done] == [0, 0, 0, 0, 0, 0, 0, 0, 2, 2], [one.text[-300:] for one in done]
    assert not list(here.iterdir())
    assert {path.name for path in study.iterdir()} - before == {"agreement", "results_sample", "results_export"}
    assert {path.name for path in (study / "results").iterdir()} - in_results == {
        *("comparison", "outcomes", "agreement", "report.html")
    }
    assert "../study/results/comparison: comparison.md" in done[0].text
    for name in ("scores.csv", "codes.csv", "Ann.csv", "Ben.csv"):
        (study / name).unlink()
    (found,) = commands(study, ("inspect", "."))
    assert (found.status, "results" in found.out, "agreement" in found.out) == (0, False, False), found.out


@pytest.fixture
def compared(here: Path) -> Path:
    """Return results in which a comparison stands."""
    assert tanalyze(*COMPARE, folder=here).status == 0
    return here.parent / "study" / "results"


def test_what_was_made_from_results_bars_neither_a_run_nor_those_who_read_them(compared: Path) -> None:
    study, whole = compared.parent, files(compared)
    (again,) = commands(study, ("run", "talks", *PLAIN, "--quotes"))
    assert (again.status, "comparison" in again.text) == (0, False), again.text
    assert files(compared) == whole
    shutil.rmtree(compared / "comparison")
    (compared / "comparison" / ".new.part").mkdir(parents=True)  # a comparison that was killed
    (compared / "comparison" / ".lock").touch()
    (again,) = commands(study, ("run", "talks", *PLAIN, "--quotes"))
    assert again.status == 0, again.text
    assert len(ta.load(compared).sessions) == 5
    shutil.rmtree(compared / "comparison")
    assert tanalyze(*COMPARE, folder=study.parent / "elsewhere").status == 0
    assert files(compared) == whole


def test_a_run_with_other_settings_says_that_a_comparison_is_of_the_numbers_before(compared: Path) -> None:
    before = files(compared / "comparison")
    (other,) = commands(compared.parent, ("run", "talks", *PLAIN, "--seed", "7"))
    assert other.status == 0, other.text
    assert "Made from the results before this run, and kept: comparison/." in other.text
    assert files(compared / "comparison") == before


def test_a_run_that_replaces_results_removes_what_was_made_from_them(compared: Path) -> None:
    study, run = compared.parent, ("run", "other", *PLAIN, "--replace")
    (compared / "comparison" / "thesis.docx").write_text("mine")
    whole = files(compared)
    (barred,) = commands(study, run)
    assert barred.status == 2
    assert "comparison holds other things than a command wrote there (thesis.docx, ...)" in barred.text
    assert files(compared) == whole
    (compared / "comparison" / "thesis.docx").unlink()
    with kills.alone_in(compared / "comparison"):
        status, told = kills._ended(kills._begun(run, study))
    assert status == 2
    assert "another command is writing into results/comparison" in told
    (done,) = commands(study, run)
    assert done.status == 0, done.text
    assert "Removed with them, because it was made from them: comparison/." in done.text
    assert not (compared / "comparison").exists()


def test_the_same_process_says_so_too(compared: Path) -> None:
    with ThreadPoolExecutor(1) as other, kills.alone_in(compared):
        refusal = other.submit(ta.report, compared).exception()
    assert isinstance(refusal, BadOptionError)
    assert "another command is writing into" in str(refusal)
    assert ta.report(compared).is_file()
