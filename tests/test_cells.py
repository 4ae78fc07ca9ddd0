"""Cells of CSV: no spreadsheet runs what somebody talk, and every text comes back as it was."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import therapy_analytics as ta
from therapy_analytics.core.cells import csv_of_frame, csv_of_parts, csv_of_rows, defuse, defused, restore, restored
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.measures.settings import Settings
from therapy_analytics.readers._metadata import load_metadata
from therapy_analytics.readers.writers import WRITERS
from therapy_analytics.report.files import read_columns
from therapy_analytics.results import read_csv, write_csv
from therapy_analytics.run import Writing
from therapy_analytics.stats.compare.sessions import read_results
from therapy_analytics.stats.machine_codes import read_machine
from therapy_analytics.stats.people_tables import read_table

NASTY = [
    "=1+1", "'=1+1", "''=1", "@SUM(A1)", "-- well", "- no", "+49 30 1", "\tso", "\rso", "a\rb", "a\r\nb", "a\nb",
    "\x00", "'", "''", "'tis", "'-5", "-5", "-0.5e3", "1", "007", "NA", "", " ", "=", "'", '"', '=a"b', "=a,b",
    "=1\n=2", "\x7f", "\uff1d1", "=cmd|' /C calc'!A0", '=HYPERLINK("http://127.0.0.1","x")', "\ufeff=1", "\x85",
    "-1 to 1", "-1 to 1 =",
]  # fmt: skip
TEXTS = st.one_of(st.sampled_from(NASTY), st.text("'=+-@\t\r\n\x00 ,;\"a1.e", max_size=6), st.text(max_size=20))
SOME = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
STARTS = tuple("=+-@\t\r\n\x00\uff1d\uff0b\uff0d\uff20")


def harmless(cell: str) -> bool:
    """Tell whether a spreadsheet takes a cell for text or for a number."""
    try:
        float(cell)
    except ValueError:
        return not cell.startswith(STARTS) or all(
            part.replace(".", "").lstrip("+-").isdigit() for part in cell.split(" to ")
        )
    return True


@SOME
@given(TEXTS)
def test_what_is_written_is_harmless_and_comes_back(text: str) -> None:
    assert harmless(defused(text))
    assert restored(defused(text)) == text


@SOME
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_any_text_comes_back_through_a_table(texts: list[str]) -> None:
    frame = pd.DataFrame({"text": texts, "number": -1.5, "last": "z"})
    written = csv_of_frame(frame)
    assert written == csv_of_rows([list(frame), *frame.itertuples(index=False)])
    _, *rows = csv.reader(io.StringIO(written, newline=""))
    assert all(harmless(row[0]) for row in rows)
    assert [restored(row[0]) for row in rows] == texts
    back = pd.read_csv(io.BytesIO(written.encode()), dtype=str, keep_default_na=False)
    assert restore(back)["text"].tolist() == texts
    assert back["number"].tolist() == ["-1.5"] * len(texts)


@SOME
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_any_text_comes_back_through_the_files_of_a_run(tmp_path: Path, texts: list[str]) -> None:
    path = tmp_path / "t.csv"
    write_csv(pd.DataFrame({"text": texts, "last": "z"}), path)
    assert read_csv(path)["text"].tolist() == texts
    assert list(read_columns(path)["text"]) == texts
    assert path.read_bytes().count(b"\n") >= len(texts) + 1


def test_numbers_are_never_touched() -> None:
    frame = pd.DataFrame({
        "slope": [-1.5, np.nan, -np.inf],
        "count": pd.array([-1, None, 3], dtype="Int64"),
        "yes": [True, False, True],
        "text": ["-1.5", "-2", "-1 to 1"],
    })  # fmt: skip
    pd.testing.assert_frame_equal(defuse(frame), frame)
    pd.testing.assert_frame_equal(restore(frame), frame)
    assert csv_of_frame(frame, digits="%.6g").splitlines()[1:] == [
        "-1.5,-1,True,-1.5",
        ",,False,-2",
        "-inf,3,True,-1 to 1",
    ]


def test_texts_are_found_in_whatever_holds_them_and_the_table_is_not_changed() -> None:
    frame = pd.DataFrame({
        "text": pd.Series(["=a", None], dtype="str"),
        "object": pd.Series(["@b", 3], dtype=object),
        "kind": pd.Categorical(["-c", "d"], categories=["d", "-c"], ordered=True),
    })  # fmt: skip
    done = defuse(frame)
    assert frame.iloc[0].tolist() == ["=a", "@b", "-c"]
    assert done.iloc[0].tolist() == ["'=a", "'@b", "'-c"]
    assert done.iloc[1, 1:].tolist() == [3, "d"]
    assert done.dtypes[["text", "object"]].tolist() == frame.dtypes[["text", "object"]].tolist()
    assert done["kind"].cat.ordered
    pd.testing.assert_frame_equal(restore(done), frame)


def test_a_break_inside_a_cell_begins_no_row() -> None:
    assert csv_of_rows([["a\rb", 'say "x"'], ["c", None]]) == '"a\rb","say ""x"""\nc,\n'
    frame = pd.DataFrame({"text": ["a\rb"], "n": [1]})
    assert csv_of_frame(frame) == 'text,n\n"a\rb",1\n'
    assert pd.read_csv(io.StringIO(csv_of_frame(frame), newline=""))["n"].tolist() == [1]


NUMBERS = st.one_of(st.floats(), st.sampled_from([np.nan, -0.0, 1e300, 3.0, 1e16, -1e-7, 1 / 3, np.inf, -np.inf]))
SMALL = st.one_of(st.none(), st.integers(-128, 127))


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Tables of up to six rows with a column of every kind that is written, or some of these."""
    n = draw(st.integers(0, 6))

    def some(cells: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(cells, min_size=n, max_size=n))

    kinds = draw(st.lists(TEXTS, unique=True, max_size=4))
    whole = pd.DataFrame({
        "text": pd.Series(some(st.one_of(st.none(), TEXTS)), dtype="str"),
        "number": np.array(some(NUMBERS), dtype=np.float64),
        "single": np.array(some(st.floats(width=32)), dtype=np.float32),
        "of all, sorts": pd.Series(some(st.one_of(st.none(), TEXTS, NUMBERS, st.booleans())), dtype=object),
        "whole": np.array(some(st.integers(-(2**63), 2**63 - 1)), dtype=np.int64),
        "small": pd.array(some(SMALL), dtype="Int8"),
        "large": pd.array(some(SMALL), dtype="Int64"),
        "real": pd.array(some(st.one_of(st.none(), st.floats(-9, 9))), dtype="Float64"),
        "yes": np.array(some(st.booleans()), dtype=np.bool_),
        "kind": pd.Categorical(some(st.sampled_from([None, *kinds])), categories=kinds),
        "grade": pd.Categorical(some(st.sampled_from([None, 1, 2]))),
        "day": pd.to_datetime(pd.Series(some(st.sampled_from([None, "2026-01-31"])), dtype="str")),
    })  # fmt: skip
    return whole[draw(st.permutations(list(whole)))[: draw(st.integers(1, len(whole.columns)))]]


def cells_of(written: str) -> list[list[str]]:
    """Return the cells of CSV as any reader sees them, with what made them harmless taken away."""
    return [[restored(cell) for cell in row] for row in csv.reader(io.StringIO(written, newline=""))]


@SOME
@given(tables(), st.sampled_from([None, "%.6g", "%.3f"]), st.data())
def test_tables_come_back_whole_or_in_parts(frame: pd.DataFrame, digits: str | None, data: st.DataObject) -> None:
    written = csv_of_frame(frame, digits=digits)
    header, *rows = cells_of(written)
    assert (header, len(rows)) == (list(frame), len(frame))
    for name, column in zip(frame, zip(*rows, strict=True), strict=False):
        for cell, value in zip(column, frame[name], strict=True):
            if pd.isna(value):
                assert cell == ""
            elif isinstance(value, float) and frame[name].dtype != object:
                assert cell == (digits % value if digits else str(frame[name].dtype.type(value)))
            elif not isinstance(value, float | pd.Timestamp):
                assert cell == str(value)
    inner = sorted(data.draw(st.lists(st.integers(0, len(frame)), max_size=3)))
    starts = [0, *inner, len(frame)]
    head, parts = csv_of_parts(frame, starts, digits=digits)
    assert head + "".join(parts) == written
    for part, start, end in zip(parts, starts, starts[1:], strict=False):
        assert head + part == csv_of_frame(frame.iloc[start:end], digits=digits)


@SOME
@given(st.lists(st.lists(st.one_of(st.none(), TEXTS, st.floats(), st.integers()), max_size=3), max_size=4))
def test_rows_come_back(rows: list[list[Any]]) -> None:
    assert cells_of(csv_of_rows(rows)) == [["" if cell is None else str(cell) for cell in row] for row in rows]


@pytest.fixture(scope="module")
def talk() -> Session:
    """A session in which everything that is text begins badly."""
    texts = ["=1+1 is two", "'=1+1 is not", "- I was never asked", "+ and what else", "@home it was quiet", "''- so"]
    turns = tuple(
        Turn(
            index=at, speaker=("=Dr", "-P")[at % 2], role=("therapist", "client")[at % 2],  # type: ignore[arg-type]
            text=text, first_row=at + 1, gold={"stance": "=yes" if at % 3 else "'-no"},
        )
        for at, text in enumerate(texts * 2)
    )  # fmt: skip
    about = {"counselor": "=Lee", "client": "'@P", "site": "-north", "wave": "-1"}
    return Session(id="one", source_file="=one.json", turns=turns, metadata=about)


@pytest.fixture(scope="module")
def results(talk: Session, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cells")
    (folder / "in").mkdir()
    (folder / "in" / "one.csv").write_bytes(WRITERS["csv"].write(talk))
    (folder / "in" / "sessions.csv").write_text(
        csv_of_rows([["session_id", *talk.metadata], [talk.id, *talk.metadata.values()]]), newline=""
    )
    fast = Settings(tagger=ta.TaggerOptions(kind="fast"), quotes=True)
    ta.run([folder / "in"], folder / "r", settings=fast, writing=Writing(figures=(), report=False))
    return folder / "r"


def test_a_converted_transcript_is_harmless_and_read_as_it_was(talk: Session, results: Path) -> None:
    path = results.parent / "in" / "one.csv"
    with path.open(newline="", encoding="utf-8") as file:
        assert all(harmless(cell) for row in csv.reader(file) for cell in row)
    (back,) = ta.read(path)
    assert [(turn.speaker, turn.text, turn.gold) for turn in back.turns] == [
        (turn.speaker, turn.text, turn.gold) for turn in talk.turns
    ]
    assert dict(back.metadata) == dict(talk.metadata)
    assert load_metadata(path.with_name("sessions.csv")).rows["one"].facts == dict(talk.metadata)


def test_a_table_of_somebody_elses_keeps_its_quotation_marks(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("speaker,text\nT,'- so' you said\nC,well\n", encoding="utf-8")
    (one,) = ta.read(tmp_path / "a.csv")
    assert one.turns[0].text == "'- so' you said"


def test_results_are_harmless_and_loaded_as_they_were(talk: Session, results: Path) -> None:
    for path in results.rglob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            assert all(harmless(cell) for row in csv.reader(file) for cell in row), path.name
    loaded = ta.load(results)
    assert loaded.turns["text"].tolist() == [turn.text for turn in talk.turns]
    assert loaded.turns["speaker"].tolist() == [turn.speaker for turn in talk.turns]
    assert loaded.turns["gold_stance"].tolist() == [turn.gold["stance"] for turn in talk.turns]
    assert loaded.sessions[list(talk.metadata)].iloc[0].to_dict() == dict(talk.metadata)


def test_all_who_read_results_read_the_same(talk: Session, results: Path) -> None:
    table = read_results(results).sessions
    assert table[list(talk.metadata)].iloc[0].to_dict() == dict(talk.metadata)
    machine = read_machine(results)
    assert machine.turns["gold_stance"].tolist() == [turn.gold["stance"] for turn in talk.turns]
    assert machine.turns["text"].tolist() == [turn.text for turn in talk.turns]
    (turns,) = (results / "sessions").glob("*/turns.csv")
    assert list(read_columns(turns)["text"]) == [turn.text for turn in talk.turns]


def test_defused_ids_of_codes_by_people_are_matched(tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text("session_id,turn,code,value,coder\r\n'-a,0,mi_question,1,'=me\r\n")
    assert read_table(tmp_path / "codes.csv").iloc[0].tolist() == ["-a", "0", "mi_question", "1", "=me"]
