"""Codes for other programs and back: `export --to qdpx`, `elan`, `codes_csv`, `codes_jsonl`; their files as gold."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import therapy_analytics as ta
from therapy_analytics.agreement import agreement
from therapy_analytics.agreement._coded_files import coded_table
from therapy_analytics.cli import app
from therapy_analytics.errors import BadDataFileError, BadOptionError
from therapy_analytics.exports import export
from therapy_analytics.run import run
from therapy_analytics.settings import Settings

CODES = """session_id,turn,code,value,coder,inclusion,unsure,note
nair_yuki,0,mi_question,1,Ann,0.5,0,Two in one.
nair_yuki,0,mi_reflection,0,Ann,0.5,0,Two in one.
nair_yuki,1,mi_change,0,Ann,0.7,1,
nair_yuki,1,mi_sustain,0,Ann,0.7,0,
nair_yuki,2,mi_question,0,Ann,0.5,0,
nair_yuki,2,mi_reflection,1,Ann,0.5,0,
"""
Results = tuple[Path, Path, Path]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Results:
    """Return results without words, their transcripts, and a table of codes."""
    folder = tmp_path_factory.mktemp("coded")
    (folder / "codes_Ann.csv").write_text(CODES)
    settings = Settings(tagger=ta.TaggerOptions(kind="fast"))
    run([samples / "nair_yuki.txt", samples / "aria_ben.json"], folder / "results", settings=settings)
    return folder / "results", samples, folder / "codes_Ann.csv"


@pytest.fixture
def told(results: Results, tmp_path: Path) -> Callable[..., str]:
    """Return a function from further arguments of `export` to what it prints."""

    def call(*arguments: str, expect: int = 0) -> str:
        done = CliRunner().invoke(app, ["export", *arguments])
        assert done.exit_code == expect, done.output
        return " ".join(done.output.split())

    return call


def rows_of(path: Path) -> list[list[str]]:
    return sorted(coded_table(path).to_numpy().tolist())


@pytest.mark.parametrize("form", ["qdpx", "elan"])
def test_codes_go_out_and_come_back(form: str, results: Results, tmp_path: Path) -> None:
    folder, transcripts, codes = results
    files = export(folder, tmp_path / "out", to=form, transcripts=transcripts, gold=[codes])
    assert [path.name for path in files] == (["project.qdpx"] if form == "qdpx" else ["nair_yuki.eaf", "aria_ben.eaf"])
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    given = pd.read_csv(codes, dtype=str, keep_default_na=False)
    given.loc[given["turn"] == "1", "note"] = "unsure"
    wanted = given[["session_id", "turn", "code", "value", "coder", "note"]].to_numpy().tolist()
    assert rows_of(tmp_path / "out") == sorted(wanted)
    back = {one.id: one for file in ta.read_files([tmp_path / "out"]) for one in file.sessions}
    for session in ta.read(transcripts / "nair_yuki.txt"):
        assert [(one.role, one.text) for one in back["nair_yuki"].turns] == [
            (one.role, one.text) for one in session.turns
        ]


@pytest.mark.parametrize("form", ["qdpx", "elan"])
def test_agreement_is_the_same_from_the_file_of_another_program(form: str, results: Results, tmp_path: Path) -> None:
    folder, transcripts, codes = results
    files = export(folder, tmp_path / "out", to=form, transcripts=transcripts, gold=[codes])
    one, two = agreement(folder, codes), agreement(folder, files[0])
    pd.testing.assert_frame_equal(one.codes, two.codes)


@pytest.mark.parametrize("form", ["codes_csv", "codes_jsonl"])
def test_tables_hold_peoples_codes_without_words(form: str, results: Results, tmp_path: Path) -> None:
    folder, transcripts, codes = results
    export(folder, tmp_path / "project", to="qdpx", transcripts=transcripts, gold=[codes])
    (table,) = export(tmp_path / "project" / "project.qdpx", tmp_path / "table", to=form)
    (same,) = export(folder, tmp_path / "same", to=form, gold=[codes])
    assert table.read_bytes() == same.read_bytes()
    assert "therapy-analytics" not in table.read_text()
    one, two = agreement(folder, codes), agreement(folder, table)
    pd.testing.assert_frame_equal(one.codes, two.codes)
    if form == "codes_jsonl":
        assert json.loads(table.read_text().splitlines()[0])["code"] == "mi_question"


def test_the_command_says_that_the_file_holds_words(results: Results, told: Callable[..., str], tmp_path: Path) -> None:
    folder, transcripts, codes = results
    out = str(tmp_path / "out")
    said = told(str(folder), "--to", "qdpx", "--transcripts", str(transcripts), "--gold", str(codes), "--out", out)
    assert "holds the words of the sessions" in said
    said = told(str(tmp_path / "out" / "project.qdpx"), "--to", "codes_csv", "--out", str(tmp_path / "table"))
    assert "holds the words" not in said


def test_words_must_be_somewhere_and_of_these_sessions(results: Results, tmp_path: Path) -> None:
    folder, transcripts, _ = results
    with pytest.raises(BadOptionError, match="hold no words"):
        export(folder, tmp_path / "out", to="qdpx")
    with pytest.raises(BadOptionError, match="session nair_yuki is not among them"):
        export(folder, tmp_path / "out", to="qdpx", transcripts=transcripts / "aria_ben.json")
    other = tmp_path / "nair_yuki.txt"
    other.write_text("T: One.\nC: Two.\n")
    with pytest.raises(BadOptionError, match="session nair_yuki has other turns there"):
        export(folder, tmp_path / "out", to="elan", transcripts=tmp_path)
    assert not (tmp_path / "out").exists()


def test_options_that_do_not_fit_the_form_are_refused(results: Results, tmp_path: Path) -> None:
    folder, _, codes = results
    with pytest.raises(BadOptionError, match="for tables of measures"):
        export(folder, tmp_path / "out", to="qdpx", wide=True)
    with pytest.raises(BadOptionError, match="for forms of codes"):
        export(folder, tmp_path / "out", to="stata", gold=[codes])
    with pytest.raises(BadOptionError, match="nobody but the machine"):
        export(folder, tmp_path / "out", to="codes_csv")


@pytest.mark.parametrize("form", ["qdpx", "codes_csv"])
def test_unblinded_corrections_become_no_codes_of_people(form: str, results: Results, tmp_path: Path) -> None:
    folder, transcripts, codes = results
    rows = pd.read_csv(codes, dtype=str, keep_default_na=False).assign(unblinded="1")
    rows.to_csv(tmp_path / "corrections.csv", index=False)
    words = transcripts if form == "qdpx" else None
    with pytest.raises(BadOptionError, match="unblinded corrections"):
        export(folder, tmp_path / "out", to=form, transcripts=words, gold=[tmp_path / "corrections.csv"])
    rows.assign(unblinded=1).to_json(tmp_path / "corrections.jsonl", orient="records", lines=True)
    with pytest.raises(BadOptionError, match="unblinded corrections"):
        export(tmp_path / "corrections.jsonl", tmp_path / "out", to="codes_csv")
    assert not (tmp_path / "out").exists()


def test_json_lines_are_written_by_the_names_of_their_columns(results: Results, tmp_path: Path) -> None:
    rows = pd.read_csv(results[2], dtype=str, keep_default_na=False)
    rows[rows.columns[::-1]].to_json(tmp_path / "codes.jsonl", orient="records", lines=True)
    (table,) = export(tmp_path / "codes.jsonl", tmp_path / "out", to="codes_csv")
    wanted = rows[["session_id", "turn", "code", "value", "coder", "note"]]
    pd.testing.assert_frame_equal(pd.read_csv(table, dtype=str, keep_default_na=False), wanted)


def test_json_lines_with_a_column_for_each_code_are_no_table_of_codes(tmp_path: Path) -> None:
    (tmp_path / "wide.jsonl").write_text('{"session_id": "a", "turn": 0, "coder": "Ann", "mi_question": 1}\n')
    with pytest.raises(BadDataFileError, match="its lines have no code: a line is a turn and one code"):
        export(tmp_path / "wide.jsonl", tmp_path / "out", to="codes_csv")
    assert not (tmp_path / "out").exists()


def test_an_analysis_in_memory(samples: Path, results: Results, tmp_path: Path) -> None:
    analysis = ta.analyze(ta.read(samples / "nair_yuki.txt"), tagger=ta.TaggerOptions(kind="fast"))
    export(analysis, tmp_path / "out", to="qdpx", transcripts=samples / "nair_yuki.txt", gold=[results[2]])
    assert len(rows_of(tmp_path / "out" / "project.qdpx")) == 6


@pytest.mark.parametrize("line", ["[1, 2]", "not json", '"words that were said"', "{"])
def test_json_lines_that_hold_no_codes_are_refused_without_words(line: str, tmp_path: Path) -> None:
    (tmp_path / "codes.jsonl").write_text(f"{line}\n")
    with pytest.raises(BadDataFileError) as caught:
        coded_table(tmp_path / "codes.jsonl")
    assert "said" not in str(caught.value)
