"""Parquet tables: the same layouts, nested lists, no pyarrow, and files that lie."""

from __future__ import annotations

import datetime as dt
import io
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from therapy_analytics.core.errors import UnreadableFileError, how_to_install
from therapy_analytics.core.session import Session
from therapy_analytics.readers import parquet as parquet_reader
from therapy_analytics.readers import read_files

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SAMPLE = Path(__file__).resolve().parents[1] / "formats" / "lake_and_shore.parquet"
SessionOf = Callable[..., Session]
Sessions = Callable[..., tuple[Session, ...]]
Problem = Callable[..., UnreadableFileError]
MANGLED = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def parquet(rows: list[dict[str, Any]], **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, **options)
    return out.getvalue()


def test_a_row_an_utterance(session: SessionOf) -> None:
    rows = [
        {"speaker": "T", "text": "Hello.", "start": 1.5, "code": "q", "at": dt.datetime(2024, 5, 1), "n": 1},
        {"speaker": "C", "text": None, "start": None, "code": None, "at": dt.datetime(2024, 5, 1), "n": 2},
        {"speaker": "C", "text": "Hi.", "start": 3.0, "code": "n", "at": dt.datetime(2024, 5, 1), "n": 3},
    ]
    one = session(parquet(rows), "a.parquet", keep=("at",))
    assert [(turn.speaker, turn.text, turn.first_row, turn.start_s, turn.gold) for turn in one.turns] == [
        ("T", "Hello.", 1, 1.5, {"code": "q"}),
        ("C", "Hi.", 3, 3.0, {"code": "n"}),
    ]
    assert one.metadata == {"at": "2024-05-01T00:00:00"}


def test_text_that_is_stored_in_other_ways(session: SessionOf) -> None:
    schema = pa.schema(
        [("speaker", pa.dictionary(pa.int8(), pa.string())), ("text", pa.large_string()), ("x", pa.binary())]
    )
    table = pa.Table.from_pylist([{"speaker": "T", "text": "Hello.", "x": b"1"}, {"speaker": "C", "text": "Hi.", "x": b"2"}], schema=schema)  # fmt: skip # noqa: E501
    out = io.BytesIO()
    pq.write_table(table, out)
    assert [(turn.speaker, turn.text) for turn in session(out.getvalue(), "a").turns] == [("T", "Hello."), ("C", "Hi.")]


def test_a_list_of_messages_in_a_row_is_a_session(sessions: Sessions) -> None:
    messages = [{"role": "user", "content": "I am tired."}, {"role": "assistant", "content": "Since when?"}]
    rows = [{"id": f"k{at}", "messages": messages} for at in (1, 2)]
    first, second = sessions(parquet(rows), "a.parquet")
    assert (first.id, second.id) == ("k1", "k2")
    assert [(turn.role, turn.text, turn.first_row) for turn in second.turns] == [
        ("client", "I am tired.", 2), ("therapist", "Since when?", 2),
    ]  # fmt: skip


def test_without_pyarrow_the_error_says_what_to_type(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    error = problem(SAMPLE.read_bytes(), "a.parquet")
    assert "pyarrow, which is not installed" in error.problem
    assert error.remedy == f"Install it with: {how_to_install('pyarrow')}"


def test_a_table_that_is_no_transcript(problem: Problem) -> None:
    error = problem(parquet([{"prompt": "secret", "completion": "words"}]), "a.parquet")
    assert "who speaks" in error.problem
    assert "secret" not in str(error)


def test_no_rows(problem: Problem) -> None:
    table = pa.table({"speaker": pa.array([], pa.string()), "text": pa.array([], pa.string())})
    out = io.BytesIO()
    pq.write_table(table, out)
    assert problem(out.getvalue(), "a.parquet").problem == "the table has a header and no rows"


@pytest.mark.parametrize("texts", ["dictionary", "nested"])
def test_a_long_text_that_comes_many_times(texts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_reader, "LARGEST_FILE", 10 * 2**20)
    words = "word " * 2_000
    value: Any = words if texts == "dictionary" else [words]
    table = pa.table({"speaker": ["T"] * 3000, "text": pa.array([value] * 3000)})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    del table
    began = time.process_time()
    (reading,) = read_files([tmp_path / "a.parquet"])
    assert time.process_time() - began < HANG_S
    assert reading.problem is not None
    assert "at most 10 MB" in reading.problem.problem


def read_quickly(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    began = time.process_time()
    (reading,) = read_files([path])
    assert time.process_time() - began < HANG_S
    assert reading.sessions or reading.problem is not None
    assert reading.problem is None or "could not be understood" not in reading.problem.problem


@MANGLED
@given(at=st.floats(0, 1), put=st.binary(min_size=1, max_size=8))
def test_cut_and_changed_files(at: float, put: bytes, tmp_path: Path) -> None:
    data = SAMPLE.read_bytes()
    place = round(at * len(data))
    read_quickly(data[:place], tmp_path / "a.parquet")
    read_quickly(data[:place] + put + data[place + len(put) :], tmp_path / "a.parquet")
    read_quickly(data[:4] + put + data[place:], tmp_path / "a.parquet")
