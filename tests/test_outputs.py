"""Commands that write a folder or a file of their own: none destroys what it was not asked to."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from folders import FAST, QUICK, files
from typer.testing import CliRunner

import therapy_analytics as ta
from therapy_analytics.cli import app
from therapy_analytics.core.errors import CannotWriteError
from therapy_analytics.results.exports import FORMS


@pytest.fixture(scope="module")
def here(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with results of some sessions, of others, and human codes for turns of the first."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "talks").mkdir()
    for name in ("nair_yuki.txt", "aria_ben.json", "lindqvist_omar.txt", "sessions.csv"):
        shutil.copy(samples / name, folder / "talks")
    ta.run([folder / "talks"], folder / "results", settings=FAST, writing=QUICK)
    ta.run([folder / "talks" / "nair_yuki.txt"], folder / "others", settings=FAST, writing=QUICK)
    rows = (f"{name},{turn},{turn % 4 // 2}" for name in ("nair_yuki", "aria_ben") for turn in range(20))
    (folder / "codes.csv").write_text("session_id,turn,question\n" + "\n".join(rows) + "\n")
    (folder / "other_codes.csv").write_bytes((folder / "codes.csv").read_bytes())
    return folder


@pytest.fixture(autouse=True)
def in_the_folder(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in here.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)


def told_by(*words: str) -> tuple[int, str]:
    """Run a command; return its status and all that it says, as one line."""
    done = CliRunner().invoke(app, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, " ".join(done.output.split())


COMPARE = ("compare", "--measures", "therapist_question_rate", "--no-plots", "--permutations", "1000", "--out", "o")
AGREE = ("agree", "--no-plots", "--out", "o")
EXPORT = ("export", "--out", "o")


@pytest.mark.parametrize(
    ("command", "one", "other", "what"),
    [
        (COMPARE, ("results",), ("others",), "a comparison"),
        (AGREE, ("results", "codes.csv"), ("results", "other_codes.csv"), "an agreement"),
        (EXPORT, ("results",), ("others",), "exported tables"),
    ],
    ids=["compare", "agree", "export"],
)
def test_what_was_made_from_others_is_replaced_only_where_that_is_asked_for(
    command: tuple[str, ...], one: tuple[str, ...], other: tuple[str, ...], what: str
) -> None:
    if command == EXPORT:
        pytest.importorskip("pyarrow")
    name, *options = command
    assert told_by(name, *one, *options)[0] == 0
    out = Path("o")
    before = files(out)
    status, told = told_by(name, *one, *options)
    assert (status, f"Replaced in o: {what} of 20" in told) == (0, True), told
    assert files(out) == before
    status, told = told_by(name, *other, *options)
    assert status == 2
    assert f"o holds {what} of 20" in told
    assert "made from other files or folders" in told
    assert "--replace" in told
    assert files(out) == before
    status, told = told_by(name, *other, *options, "--replace")
    assert (status, f"Replaced in o: {what} of 20" in told) == (0, True), told
    assert {path.name for path in out.iterdir()} == set(before)
    (out / ".made_from.json").unlink()
    status, told = told_by(name, *other, *options)
    assert status == 2, "without the note, it is not known what the files are"


@pytest.mark.parametrize(("command", "paths"), [(COMPARE, 1), (AGREE, 2), (EXPORT, 1)])
def test_other_files_in_the_folder_are_not_touched(command: tuple[str, ...], paths: int) -> None:
    """Among them the results themselves, which have files of the same names."""
    before = files(Path("results"))
    for out in ("results", "mine"):
        Path("mine").mkdir(exist_ok=True)
        Path("mine/sessions.csv").write_text("mine")
        Path("mine/thesis.docx").write_text("mine")
        name, *options = (*command[:-1], out)
        status, told = told_by(name, *("results", "codes.csv")[:paths], *options, "--replace")
        assert (status, "holds other things than" in told) == (2, True), told
    assert files(Path("results")) == before
    assert files(Path("mine")) == {"sessions.csv": b"mine", "thesis.docx": b"mine"}


def test_an_export_that_fails_leaves_the_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    ta.export("results", "o", to="parquet")
    before = files(Path("o"))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(FORMS, "parquet", replace(FORMS["parquet"], write=full))
    with pytest.raises(CannotWriteError, match="the disk is full"):
        ta.export("results", "o", to="parquet")
    assert files(Path("o")) == before


def test_another_form_of_export_stays_beside_one_of_the_same_results() -> None:
    pytest.importorskip("pyarrow")
    ta.export("results", "o", to="stata")
    ta.export("results", "o", to="parquet")
    assert Path("o/turns.dta").is_file()
    ta.export("others", "o", to="parquet", replace=True)
    assert not Path("o/turns.dta").exists()
    assert Path("o/turns.parquet").is_file()


def test_a_page_takes_the_place_of_no_other_file() -> None:
    Path("thesis.docx").write_text("mine")
    status, told = told_by("report", "results", "--out", "thesis.docx")
    assert (status, "is no page about these transcripts" in told) == (2, True), told
    assert Path("thesis.docx").read_text() == "mine"
    for _ in range(2):
        assert told_by("report", "results", "--out", "page.html")[0] == 0
    page = Path("page.html").read_bytes()
    assert told_by("report", "others", "--out", "page.html")[0] == 2
    assert Path("page.html").read_bytes() == page
    assert told_by("report", "others", "--out", "page.html", "--replace")[0] == 0
    assert Path("page.html").read_bytes() != page


@pytest.mark.parametrize("command", [("convert", "--to", "csv"), ("speakers",)])
def test_copies_overwrite_nothing(command: tuple[str, ...]) -> None:
    name, *options = command
    assert told_by(name, "talks", *options, "--out", "o")[0] == 0
    before = files(Path("o"))
    status, told = told_by(name, "talks", *options, "--out", "o")
    assert (status, "there already" in told) == (2, True), told
    assert files(Path("o")) == before
    Path("dangling").symlink_to("nowhere")
    status, told = told_by(name, "talks", *options, "--out", "dangling")
    assert (status, "dangling is a link to a folder that does not exist" in told) == (2, True), told


def test_a_model_of_other_codes_is_refused_before_anything_is_learnt() -> None:
    Path("m").mkdir()
    Path("m/model.json").write_text("mine")
    Path("m/.made_from.json").write_text('{"made_from": ["../elsewhere.csv", "../talks"]}')
    before = files(Path("m"))
    status, told = told_by("train", "codes.csv", "nowhere", "--out", "m")
    assert (status, "m holds a model of 20" in told) == (2, True), told
    assert "made from other files or folders" in told
    assert files(Path("m")) == before
