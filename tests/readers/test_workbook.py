"""Excel workbooks: sheets, odd cells, and archives that mean harm."""

from __future__ import annotations

import datetime as dt
import io
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import FileReading, ReadOptions, Source, _zip, bounded_zip, read_files

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

SAMPLE = Path(__file__).resolve().parents[1] / "formats" / "two_visits.xlsx"
SessionOf = Callable[..., Session]
Sessions = Callable[..., tuple[Session, ...]]
Problem = Callable[..., UnreadableFileError]
MANGLED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
HEAD = ["Speaker", "Utterance"]
TWO = [HEAD, ["T", "Hello."], ["C", "Hi."]]


def book(**sheets: Sequence[Sequence[object]]) -> bytes:
    workbook = Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    out = io.BytesIO()
    workbook.save(out)
    return out.getvalue()


def with_parts(data: bytes, **changed: Callable[[bytes], bytes]) -> bytes:
    """Change the parts whose name ends in a key (dots written as two underscores)."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            change = next((one for key, one in changed.items() if name.endswith(key.replace("__", "."))), None)
            new.writestr(name, change(old.read(name)) if change else old.read(name))
    return out.getvalue()


def read_quickly(data: bytes, folder: Path, name: str = "a.xlsx") -> FileReading:
    (folder / name).write_bytes(data)
    began = time.process_time()
    (reading,) = read_files([folder / name])
    assert time.process_time() - began < HANG_S
    assert reading.problem is None or "could not be understood" not in reading.problem.problem
    return reading


def test_a_sheet_is_read_as_a_csv_of_it_would_be(sessions: Sessions) -> None:
    rows = [["id", "Speaker", "Utterance", "Code", "start"], [1, "T", "Hello.", "q", 1.5], [2, "C", "Hi.", "n", 2]]
    (by_book,) = sessions(book(one=rows), "a.xlsx")
    (by_text,) = sessions("\n".join(",".join(map(str, row)) for row in rows), "a.csv")
    assert by_book.turns == by_text.turns
    assert by_book.turns[0].gold == {"Code": "q"}
    assert by_book.id == "a"


def test_merged_and_empty_cells(session: SessionOf) -> None:
    rows = [["A visit", None], [None, None], HEAD, ["T", "One."], [None, "Two."], [None, None], ["C", "Three."]]
    one = session(book(one=rows), "a.xlsx")
    assert [(turn.speaker, turn.text, turn.first_row) for turn in one.turns] == [
        ("T", "One. Two.", 1),
        ("C", "Three.", 4),
    ]
    assert "1 row without a speaker went to the speaker before." in one.notes


def test_times_dates_numbers_and_errors(session: SessionOf) -> None:
    rows = [
        ["Speaker", "Utterance", "Start", "End", "date"],
        [1, 7, dt.time(0, 1, 2), dt.timedelta(seconds=63.5), dt.date(2024, 5, 1)],
        [2.0, "=A1", None, None, dt.date(2024, 5, 1)],
        [2, "#N/A", None, None, dt.date(2024, 5, 1)],
        [2, "Yes._x000D_", None, None, dt.date(2024, 5, 1)],
    ]
    one = session(book(one=rows), "a.xlsx")
    assert [(turn.speaker, turn.text) for turn in one.turns] == [("1", "7"), ("2", "Yes.")]
    assert (one.turns[0].start_s, one.turns[0].end_s) == (62.0, 63.5)
    assert str(one.metadata["date"]).startswith("2024-05-01")


def test_every_sheet_that_is_a_transcript(sessions: Sessions) -> None:
    one, two = sessions(book(first=TWO, key=[["Code", "Meaning"], ["q", "asks"]], empty=[], last=TWO), "a.xlsx")
    assert (one.id, two.id) == ("first", "last")
    assert all(
        "1 sheet of the workbook without a transcript left out (4 words)." in session.notes for session in (one, two)
    )


def test_sessions_of_a_sheet_keep_their_names(sessions: Sessions) -> None:
    rows = [["Session", *HEAD], ["x", "T", "Hello."], ["x", "C", "Hi."], ["y", "T", "So."], ["y", "C", "Well."]]
    assert [one.id for one in sessions(book(first=rows, last=TWO), "a.xlsx")] == ["x", "y", "last"]


def test_a_sheet_that_lies_about_its_size(session: SessionOf) -> None:
    data = with_parts(book(one=TWO), sheet1__xml=lambda part: part.replace(b'ref="A1:B3"', b'ref="A1"'))
    assert [turn.text for turn in session(data, "a.xlsx").turns] == ["Hello.", "Hi."]


def test_a_workbook_without_its_suffix_or_with_another(sessions: Sessions) -> None:
    assert len(sessions(book(one=TWO), "a")) == len(sessions(book(one=TWO), "a.txt")) == 1


def test_a_workbook_without_a_transcript_says_what_is_missing(problem: Problem) -> None:
    error = problem(book(key=[["secret", "Meaning"], ["q", "asks"]]), "a.xlsx")
    assert "hold what is said or who speaks" in error.problem
    assert "secret" not in str(error)


def test_an_empty_workbook(problem: Problem) -> None:
    assert "no sheet with cells" in problem(book(one=[]), "a.xlsx").problem


@pytest.mark.parametrize("data", [b"\xd0\xcf\x11\xe0" + bytes(600)])
def test_a_locked_workbook(data: bytes, problem: Problem) -> None:
    assert "locked by a password" in problem(data, "a.xlsx").problem


# ---- harm


def archive(parts: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as new:
        for name, part in parts.items():
            new.writestr(name, part)
    return out.getvalue()


def refusal(data: bytes) -> str:
    with pytest.raises(UnreadableFileError) as caught:
        bounded_zip(Source(Path("a.xlsx"), "", ReadOptions(), data, "binary"))
    return caught.value.problem


def test_zip_bombs_are_refused_before_they_are_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_zip, "LARGEST_FILE", 10 * 2**20)
    zeros, noise = bytes(2 * 2**20), bytes(range(256)) * 4_000
    assert "100 times" in refusal(archive({"xl/workbook.xml": zeros}))
    assert "at most 10 MB" in refusal(archive({f"{at}": zeros for at in range(10)}))
    assert "no office program" in refusal(archive({"xl/workbook.xml": zeros}, zipfile.ZIP_BZIP2))
    assert "no office program" in refusal(archive({"xl/workbook.xml": zeros}, zipfile.ZIP_LZMA))
    assert "100 times" in refusal(archive({"bomb": noise, "other": noise}))


def test_an_archive_within_bounds_is_opened() -> None:
    data = archive({"a": b"words " * 10_000})
    with bounded_zip(Source(Path("a.xlsx"), "", ReadOptions(), data, "binary")) as opened:
        assert len(opened.read("a")) == 60_000


def test_a_locked_or_broken_archive() -> None:
    data = archive({"a": b"words"})
    at = data.index(b"PK\x01\x02") + 8
    assert "password" in refusal(data[:at] + b"\x01" + data[at + 1 :])
    assert "damaged or breaks off" in refusal(data[: len(data) // 2])
    assert "damaged or breaks off" in refusal(b"PK\x03\x04" + bytes(100))


ENTITIES = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]>'
EXTERNAL = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("entities", [ENTITIES, EXTERNAL])
@pytest.mark.parametrize("part", ["sheet1__xml", "workbook__xml", "styles__xml", "workbook__xml__rels"])
def test_xml_entities_are_refused(entities: bytes, part: str, problem: Problem) -> None:
    def change(old: bytes) -> bytes:
        return entities + old[old.index(b"?>") + 2 if old.startswith(b"<?xml") else 0 :]

    assert "XML entities" in problem(with_parts(book(one=TWO), **{part: change}), "a.xlsx").problem


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'<row r="2"', b'<row r="1048576"'),
        (b'<row r="2"', b'<row r="99999999999999999"'),
        (b'<row r="2"', b'<row r="x"'),
        (b'r="A2"', b'r="ZZZ2"'),
        (b'r="A2"', b'r="?"'),
        (b'r="A2" t="inlineStr">', b'r="A2" t="s"><v>9999</v>'),
        (b"</sheetData>", b""),
        (b"<sheetData>", b"<sheetData>" + b"<a>" * 100_000),
    ],
    ids=["last_row", "far_row", "odd_row", "far_column", "odd_cell", "no_string", "unclosed", "deep"],
)
def test_hostile_sheets_end_soon(old: bytes, new: bytes, tmp_path: Path) -> None:
    data = with_parts(book(one=TWO), sheet1__xml=lambda part: part.replace(old, new))
    read_quickly(data, tmp_path)


def test_a_million_wide_cells_are_refused(tmp_path: Path) -> None:
    rows = b"".join(
        b'<row><c r="ZZZ%d" t="inlineStr"><is><t>%d</t></is></c></row>' % (at, at * 7919) for at in range(1, 3000)
    )
    data = with_parts(book(one=TWO), sheet1__xml=lambda part: part.replace(b"</sheetData>", rows + b"</sheetData>"))
    problem = read_quickly(data, tmp_path).problem
    assert problem is not None
    assert "30 million cells" in problem.problem


@MANGLED
@given(cut=st.tuples(st.floats(0, 1), st.floats(0, 1)), put=st.binary(max_size=6))
def test_cut_and_changed_workbooks(cut: tuple[float, float], put: bytes, tmp_path: Path) -> None:
    data = SAMPLE.read_bytes()
    begin, end = sorted(round(part * len(data)) for part in cut)
    for changed in (data[:begin] + put + data[end:], data[:begin] + put + data[begin + len(put) :], data[:begin]):
        reading = read_quickly(changed, tmp_path)
        assert reading.problem is not None or reading.sessions


def test_openpyxl_is_loaded_only_for_workbooks(session: SessionOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert session("speaker,text\nT,Hello.\nC,Hi.\n", "a.csv").turns
