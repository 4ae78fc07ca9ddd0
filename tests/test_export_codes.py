"""Codes by people as tables without words: `export --to codes_csv`, `codes_jsonl`; and these tables as gold."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import therapy_analytics as ta
from therapy_analytics.cli import app
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.measures.settings import Settings
from therapy_analytics.run import run
from therapy_analytics.stats.agreement import agreement
from therapy_analytics.stats.exports import export

CODES = """session_id,turn,code,value,coder,inclusion,unsure,note
nair_yuki,0,mi_question,1,Ann,0.5,0,Two in one.
nair_yuki,0,mi_reflection,0,Ann,0.5,0,Two in one.
nair_yuki,1,mi_change,0,Ann,0.7,1,
nair_yuki,1,mi_sustain,0,Ann,0.7,0,
nair_yuki,2,mi_question,0,Ann,0.5,0,
nair_yuki,2,mi_reflection,1,Ann,0.5,0,
"""
FAST = ta.TaggerOptions(kind="fast")
Results = tuple[Path, Path]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Results:
    """Return results without words, and a table of codes."""
    folder = tmp_path_factory.mktemp("coded")
    (folder / "codes_Ann.csv").write_text(CODES)
    run([samples / "nair_yuki.txt", samples / "aria_ben.json"], folder / "results", settings=Settings(tagger=FAST))
    return folder / "results", folder / "codes_Ann.csv"


def rows_of(path: Path) -> list[list[str]]:
    return sorted(pd.read_csv(path, dtype=str, keep_default_na=False).to_numpy().tolist())


def test_a_table_has_a_row_for_each_turn_coder_and_code(results: Results, tmp_path: Path) -> None:
    folder, codes = results
    (table,) = export(folder, tmp_path / "out", to="codes_csv", gold=[codes])
    assert table.name == "codes.csv"
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    given = pd.read_csv(codes, dtype=str, keep_default_na=False)
    given.loc[given["turn"] == "1", "note"] = "unsure"
    wanted = given[["session_id", "turn", "code", "value", "coder", "note"]].to_numpy().tolist()
    assert rows_of(table) == sorted(wanted)
    (same,) = export(folder, tmp_path / "same", to="codes_csv", gold=[table])
    assert same.read_bytes() == table.read_bytes()


@pytest.mark.parametrize("form", ["codes_csv", "codes_jsonl"])
def test_agreement_with_the_table_is_that_with_the_codes(form: str, results: Results, tmp_path: Path) -> None:
    folder, codes = results
    (table,) = export(folder, tmp_path / "out", to=form, gold=[codes])
    one, two = agreement(folder, codes), agreement(folder, table)
    pd.testing.assert_frame_equal(one.codes, two.codes)
    if form == "codes_jsonl":
        assert json.loads(table.read_text().splitlines()[0])["code"] == "mi_question"


def test_codes_that_the_transcripts_brought_need_no_table(tmp_path: Path) -> None:
    lines = ["speaker,text,gold_open,gold_coder_ann", "T,Why?,1,question;open", "C,Because.,0,", "T,I see.,,listens"]
    (tmp_path / "talk.csv").write_text("\n".join(lines) + "\n")
    analysis = ta.analyze(ta.read(tmp_path / "talk.csv"), tagger=FAST)
    (table,) = export(analysis, tmp_path / "out", to="codes_csv")
    assert rows_of(table) == sorted(
        [
            ["talk", "0", "open", "1", "people", ""],
            ["talk", "1", "open", "0", "people", ""],
            *(["talk", "0", code, "01"[code != "listens"], "ann", ""] for code in ("question", "open", "listens")),
            *(["talk", "1", code, "0", "ann", ""] for code in ("question", "open", "listens")),
            *(["talk", "2", code, "01"[code == "listens"], "ann", ""] for code in ("question", "open", "listens")),
        ]
    )


def test_the_command_writes_the_table(results: Results, tmp_path: Path) -> None:
    folder, codes = results
    done = CliRunner().invoke(
        app, ["export", str(folder), "--to", "codes_csv", "--gold", str(codes), "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "codes.csv").is_file()


def test_options_that_do_not_fit_the_form_are_refused(results: Results, tmp_path: Path) -> None:
    folder, codes = results
    with pytest.raises(BadOptionError, match="for tables of measures"):
        export(folder, tmp_path / "out", to="codes_csv", wide=True)
    with pytest.raises(BadOptionError, match="for forms of codes"):
        export(folder, tmp_path / "out", to="stata", gold=[codes])
    with pytest.raises(BadOptionError, match="nobody but the machine"):
        export(folder, tmp_path / "out", to="codes_csv")


def test_unblinded_corrections_become_no_codes_of_people(results: Results, tmp_path: Path) -> None:
    folder, codes = results
    rows = pd.read_csv(codes, dtype=str, keep_default_na=False).assign(unblinded="1")
    rows.to_csv(tmp_path / "corrections.csv", index=False)
    with pytest.raises(BadOptionError, match="unblinded corrections"):
        export(folder, tmp_path / "out", to="codes_csv", gold=[tmp_path / "corrections.csv"])
    rows.assign(unblinded=1).to_json(tmp_path / "corrections.jsonl", orient="records", lines=True)
    with pytest.raises(BadOptionError, match="unblinded corrections"):
        export(folder, tmp_path / "out", to="codes_csv", gold=[tmp_path / "corrections.jsonl"])
    assert not (tmp_path / "out").exists()


def test_json_lines_are_read_by_the_names_of_their_columns(results: Results, tmp_path: Path) -> None:
    folder, codes = results
    rows = pd.read_csv(codes, dtype=str, keep_default_na=False)
    rows[rows.columns[::-1]].to_json(tmp_path / "codes.jsonl", orient="records", lines=True)
    (one,) = export(folder, tmp_path / "one", to="codes_csv", gold=[tmp_path / "codes.jsonl"])
    (two,) = export(folder, tmp_path / "two", to="codes_csv", gold=[codes])
    assert rows_of(one) == rows_of(two)


@pytest.mark.parametrize("line", ["[1, 2]", "not json", '"words that were said"', "{"])
def test_json_lines_that_hold_no_codes_are_refused_without_words(line: str, results: Results, tmp_path: Path) -> None:
    (tmp_path / "codes.jsonl").write_text(f"{line}\n")
    with pytest.raises(BadDataFileError) as caught:
        agreement(results[0], tmp_path / "codes.jsonl")
    assert "said" not in str(caught.value)


@pytest.mark.parametrize(("name", "export_of_it"), [("case.eaf", "tab-delimited text"), ("case.qdpx", "as a table")])
def test_a_file_of_another_program_is_refused_with_the_export_that_is_read(
    name: str, export_of_it: str, results: Results, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(BadDataFileError, match=export_of_it):
        agreement(results[0], tmp_path / name)
