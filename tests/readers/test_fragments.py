"""Files in parts: the sessions are those of the whole, and each part can be read by itself, anywhere."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from therapy_analytics.errors import BadDataFileError, NothingToReadError
from therapy_analytics.readers import FileReading, ReadOptions, _fragment_reading, _fragments, read_files
from therapy_analytics.readers._files import choose_reader
from therapy_analytics.readers._fragment_reading import Names, read_again, read_fragment
from therapy_analytics.readers._fragments import Fragment, find_fragments
from therapy_analytics.session import Session

pytestmark = pytest.mark.filterwarnings("ignore::therapy_analytics.readers.TablesWarning")
"""The tables beside these transcripts tell of other sessions as well."""

NO_ARROW = "pyarrow is not installed (extra: parquet)"
CHAT = "T: How are you?\nC: Well, I think.\n"
RANDOM = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SPOKEN = "so I was at home and then we talked of the week but it did not help me much"
WORDS = SPOKEN.split()
Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    """Let no test see what another has read."""
    yield
    _fragment_reading._LAST.clear()


def saying(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 12))).capitalize() + rng.choice(".?!")


def facts(reading: FileReading) -> tuple[object, ...]:
    """Everything of a file that was read; an undefined margin is equal to itself."""
    sessions = [(repr(asdict(one)), one.id, one.notes) for one in reading.sessions]
    return str(reading.path), reading.reader, reading.sha256, str(reading.problem), sessions


def read_both_ways(path: Path, size: int, **options: Any) -> tuple[FileReading, FileReading, int]:
    """Return a file read as a whole, and in parts of some size, and how many parts there were."""
    chosen = ReadOptions(**options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_fragments, "LARGE", 2**40)
        (whole,) = read_files([path], options=chosen)
        patch.setattr(_fragments, "LARGE", size)
        fragments = list(find_fragments([path], options=chosen))
        (parts,) = read_files([path], options=chosen)
    assert [fragment.part for fragment in fragments] == list(range(len(fragments)))
    assert all(one.end == two.begin for one, two in pairwise(fragments))
    return whole, parts, len(fragments)


def write_parquet(path: Path, rows: Rows, group: int) -> Path:
    """Write rows; a table about its sessions stands beside them."""
    pa, pq = pytest.importorskip("pyarrow", reason=NO_ARROW), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)
    (path.parent / "sessions.csv").write_text("session_id,site\ns1,North\na,West\nx-2,East\n")
    return path


def long_rows(rng: random.Random, n_sessions: int) -> Rows:
    """Return a row an utterance: facts, codes and roles that are such in some sessions alone, or in all but one."""
    rows: Rows = []
    lasting, number, odd = rng.random() < 0.5, rng.random() < 0.5, rng.randrange(n_sessions)
    for at in range(n_sessions):
        therapist, topic = rng.choice(["T", "Dr. Lee", "therapist"]), f"topic {at % 3}"
        for turn in range(rng.randint(1, 9)):
            speaker = "client" if turn % 2 else therapist
            rows.append(
                {
                    "session_id": at if number else f"s{at}",
                    "speaker": speaker,
                    "role": None if turn % 5 == 4 else "client" if turn % 2 else "counselor" if at != odd else "x?",
                    "text": saying(rng) if rng.random() < 0.9 else None,
                    "topic": topic if lasting or at != odd else f"{topic}{turn}",
                    "subtype": rng.choice(["q", "r", None]),
                    "kind": f"k{turn}",
                    "rating": float(turn % 4),
                    "seen": len(rows) + 0.5 if at < odd else 1.0,
                    "gold_act": rng.choice(["gc", "irq", ""]),
                    "start": turn * 1.5,
                    "comment": saying(rng) * 3,
                    "empty": None,
                }
            )
    return rows


def wide_rows(rng: random.Random, form: str, n_rows: int) -> Rows:
    def turn() -> str:
        return f"{saying(rng)} and so on."

    make: dict[str, Any] = {
        "alternating": lambda at: {"p1": turn(), "d1": turn(), "p2": turn(), "d2": turn(), "mood": at % 5},
        "questions": lambda at: {"questionText": turn(), "answerText": turn(), "topic": f"t{at % 4}"},
        "exchanges": lambda at: {"session": f"s{at // 5}", "therapist": turn(), "client": turn()},
        "messages": lambda at: {
            "id": f"k{at}",
            "messages": [{"role": "user", "content": turn()}, {"role": "assistant", "content": turn()}],
            "model": "m-1",
        },
        "labelled": lambda at: {"transcript": f"Therapist: {turn()}\nClient: {turn()}\nTherapist: {turn()}"},
    }
    return [make[form](at) for at in range(n_rows)]


@RANDOM
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), group=st.integers(1, 90), size=st.integers(100, 20_000))
@example(seed=0, n=40, group=7, size=100)
def test_a_row_an_utterance(seed: int, n: int, group: int, size: int, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "x.parquet", long_rows(random.Random(seed), n), group)
    whole, parts, n_parts = read_both_ways(path, size)
    assert facts(parts) == facts(whole)
    assert whole.problem is None
    assert n_parts > 1 or seed or n != 40


@RANDOM
@given(
    form=st.sampled_from(["alternating", "questions", "exchanges", "messages", "labelled"]),
    seed=st.integers(0, 10**6),
    n=st.integers(2, 80),
    group=st.integers(1, 50),
    size=st.integers(100, 20_000),
)
@example(form="messages", seed=0, n=60, group=1, size=100)
def test_sessions_in_rows(form: str, seed: int, n: int, group: int, size: int, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "x.parquet", wide_rows(random.Random(seed), form, n), group)
    whole, parts, _ = read_both_ways(path, size)
    assert facts(parts) == facts(whole)
    assert whole.problem is None


@pytest.mark.parametrize("form", ["alternating", "questions", "exchanges", "messages", "labelled"])
def test_each_form_is_cut(form: str, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "x.parquet", wide_rows(random.Random(1), form, 60), 10)
    whole, parts, n_parts = read_both_ways(path, 100)
    assert facts(parts) == facts(whole)
    assert n_parts > 3


def test_columns_that_the_user_names(tmp_path: Path) -> None:
    rows = [{f"my_{name}": value for name, value in row.items()} for row in long_rows(random.Random(3), 30)]
    path = write_parquet(tmp_path / "x.parquet", rows, 9)
    columns = {"session": "my_session_id", "text": "my_text", "speaker": "my_speaker"}
    whole, parts, n_parts = read_both_ways(path, 100, columns=columns)
    assert facts(parts) == facts(whole)
    assert n_parts > 3


def back_again(rows: Rows) -> Rows:
    return [*rows, {**rows[-1], "session_id": rows[0]["session_id"]}]


def with_a_gap(rows: Rows) -> Rows:
    return [*rows[:-1], {**rows[-1], "session_id": None}]


def of_one_session(rows: Rows) -> Rows:
    return [{name: row[name] for name in ("speaker", "text")} for row in rows]


@pytest.mark.parametrize("change", [back_again, with_a_gap, of_one_session])
def test_where_sessions_cannot_be_told_apart_by_their_rows_the_file_is_not_cut(change: Any, tmp_path: Path) -> None:
    rows = [
        {**row, "session_id": f"s{row['session_id']}".replace("ss", "s")} for row in long_rows(random.Random(5), 30)
    ]
    path = write_parquet(tmp_path / "x.parquet", change(rows), 10)
    whole, parts, n_parts = read_both_ways(path, 100)
    assert n_parts == 1
    assert facts(parts) == facts(whole)


@pytest.mark.parametrize("per_client", [1, 5, 60])
def test_the_number_of_a_session_goes_with_who_was_there(per_client: int, tmp_path: Path) -> None:
    rows = []
    for row in long_rows(random.Random(0), 60):
        client, number = divmod(int(str(row["session_id"]).removeprefix("s")), per_client)
        rows.append({**row, "session_id": number, "client_id": f"p{client}"})
    whole, parts, n_parts = read_both_ways(write_parquet(tmp_path / "x.parquet", rows, 10), 100)
    assert facts(parts) == facts(whole)
    assert n_parts > 3
    assert len(whole.sessions) == 60


def document(rng: random.Random, at: int) -> Any:
    messages = [{"role": role, "content": saying(rng)} for role in ("user", "assistant") * rng.randint(1, 5)]
    forms: tuple[Any, ...] = (
        {"id": f"k{at}", "messages": messages, "model": "m-1"},
        messages,
        {"messages": []},
        {"conversation": messages},
    )
    return rng.choice(forms) if at else forms[0]


def write_lines(path: Path, documents: list[Any], end: str = "\n", begin: str = "") -> Path:
    text = begin + "".join(json.dumps(one, ensure_ascii=bool(at % 2)) + end for at, one in enumerate(documents))
    path.write_bytes(text.encode())
    return path


FORMS = st.tuples(
    st.sampled_from(["\n", "\r\n", "\n\n", " \n\x1e"]),
    st.sampled_from(["", "\ufeff", "\n"]),
    st.sampled_from(["jsonl", "ndjson", "json"]),
)
"""How lines end, how the file begins, its suffix."""


@RANDOM
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), size=st.integers(50, 20_000), form=FORMS)
def test_lines_that_are_sessions(seed: int, n: int, size: int, form: tuple[str, str, str], tmp_path: Path) -> None:
    rng, (end, begin, suffix) = random.Random(seed), form
    path = write_lines(tmp_path / f"x.{suffix}", [document(rng, at) for at in range(n)], end, begin)
    (tmp_path / "sessions.csv").write_text("session_id,site\nk1,North\nx,West\nx-2,East\n")
    whole, parts, _ = read_both_ways(path, size)
    assert facts(parts) == facts(whole)


def test_json_lines_are_cut_at_ends_of_lines(tmp_path: Path) -> None:
    rng = random.Random(2)
    sessions = [{"id": f"é{at}", "messages": wide_rows(rng, "messages", 1)[0]["messages"]} for at in range(50)]
    path = write_lines(tmp_path / "x.jsonl", sessions)
    whole, parts, n_parts = read_both_ways(path, 700)
    assert n_parts > 5
    assert facts(parts) == facts(whole)
    assert len(parts.sessions) == 50


def messages(rng: random.Random, n: int) -> list[Any]:
    return [{"speaker": "TC"[at % 2], "text": saying(rng), "session_id": f"s{at // 9}"} for at in range(n)]


def one_value(rng: random.Random, n: int) -> list[Any]:
    return [[document(rng, at) for at in range(n)]]


def pairs(rng: random.Random, n: int) -> list[Any]:
    return [{"input": saying(rng), "output": saying(rng)} for _ in range(n)]


@pytest.mark.parametrize("make", [messages, one_value, pairs])
def test_lines_that_are_no_sessions_are_not_cut(make: Any, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", make(random.Random(4), 200))
    whole, parts, n_parts = read_both_ways(path, 500)
    assert n_parts == 1
    assert facts(parts) == facts(whole)


def test_values_of_many_lines_are_not_cut(tmp_path: Path) -> None:
    rng = random.Random(4)
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps(document(rng, at), indent=1) for at in range(60)))
    assert read_both_ways(path, 500)[2] == 1


def test_letters_of_two_bytes_are_not_cut(tmp_path: Path) -> None:
    rng = random.Random(4)
    path = write_lines(tmp_path / "x.jsonl", [document(rng, at) for at in range(60)])
    path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))
    assert read_both_ways(path, 500)[2] == 1


def test_a_damaged_part_is_a_problem_of_the_file_and_stops_no_other(tmp_path: Path) -> None:
    rng = random.Random(4)
    path = write_lines(tmp_path / "x.jsonl", [{"id": at, **wide_rows(rng, "messages", 1)[0]} for at in range(300)])
    lines = path.read_text().split("\n")
    lines[44] = lines[44][:30]
    path.write_text("\n".join(lines))
    whole, parts, n_parts = read_both_ways(path, 900)
    assert n_parts > 5
    assert str(parts.problem) == str(whole.problem)
    assert parts.problem is not None
    assert parts.problem.line == 45
    assert 290 < len(parts.sessions) < 300


def test_a_damaged_group_of_rows_stops_no_other(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "x.parquet", long_rows(random.Random(4), 60), 40)
    data = bytearray(path.read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_fragments, "LARGE", 100)
        fragments = list(find_fragments([path]))
        at = data.find(b"Dr. Lee", len(data) // 2)
        data[at - 60 : at + 60] = b"\xff" * 120
        path.write_bytes(data)
        readings = [read_fragment(fragment, ReadOptions()) for fragment in fragments]
    assert 1 <= sum(reading.problem is not None for reading in readings) <= 2
    assert all("damaged" in str(one.problem) or "no UTF-8" in str(one.problem) for one in readings if one.problem)


def test_nobody_speaks_in_any_part(tmp_path: Path) -> None:
    rows = [
        {**row, "text": "[laughs]" if at < 0 else "..."[:0]} for at, row in enumerate(long_rows(random.Random(1), 20))
    ]
    path = write_parquet(tmp_path / "x.parquet", rows, 9)
    whole, parts, n_parts = read_both_ways(path, 100)
    assert n_parts > 1
    assert facts(parts)[3:] == facts(whole)[3:]
    assert parts.problem is not None
    assert parts.problem.problem == "the file holds no spoken words"


def test_rows_that_hold_no_session_are_counted_part_by_part(tmp_path: Path) -> None:
    rows = wide_rows(random.Random(1), "labelled", 60)
    rows[7] = {"transcript": "nothing of the kind"}
    whole, parts, n_parts = read_both_ways(write_parquet(tmp_path / "x.parquet", rows, 30), 3000)
    assert n_parts == 2
    assert [replace(one, notes=()).turns for one in parts.sessions] == [one.turns for one in whole.sessions]
    assert {one.notes[:1] for one in whole.sessions} == {
        ("1 row of the file without labelled turns left out (4 words).",)
    }
    told = "1 row of this part of the file without labelled turns left out (4 words)."
    assert [told in one.notes for one in parts.sessions] == [True] * 29 + [False] * 30


def test_a_large_file_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fragments, "LARGE", 2**18)
    rng = random.Random(1)
    few = [{"id": at, **wide_rows(rng, "messages", 1)[0]} for at in range(20)]
    path = write_lines(tmp_path / "x.jsonl", few * 2500)
    assert path.stat().st_size > 8 * 2**20
    tracemalloc.start()
    first, *rest = find_fragments([path])
    _, most = tracemalloc.get_traced_memory()
    reading = read_fragment(first, ReadOptions())
    tracemalloc.stop()
    assert most < 4 * 2**20
    assert reading.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert sum(len(read_fragment(fragment, ReadOptions()).sessions) for fragment in rest[::10]) > 1000
    assert {read_fragment(fragment, ReadOptions()).sha256 for fragment in rest[:2]} == {""}


def test_a_fragment_travels_and_is_read_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(CHAT)
    monkeypatch.chdir(tmp_path)
    (fragment,) = find_fragments(["in"])
    assert (fragment.path, fragment.place) == (str(Path("in", "a.txt")), str(tmp_path / "in" / "a.txt"))
    sent = pickle.dumps(fragment)
    assert len(sent) < 500
    monkeypatch.chdir("/")
    reading = read_fragment(pickle.loads(sent), ReadOptions())
    assert reading.sessions[0].source_file == "a.txt"
    (copy,) = pickle.loads(pickle.dumps(reading)).sessions
    assert without_margin(copy) == without_margin(reading.sessions[0])


def test_fragments_are_found_one_after_the_other(tmp_path: Path) -> None:
    for at in range(3):
        (tmp_path / f"{at}.txt").write_text(CHAT)
    fragments = find_fragments([tmp_path])
    assert next(fragments).path.endswith("0.txt")
    (tmp_path / "1.txt").unlink()
    assert [read_fragment(fragment, ReadOptions()).problem is None for fragment in fragments] == [False, True]


def test_what_is_asked_of_the_options_is_asked_first(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CHAT)
    with pytest.raises(BadDataFileError, match="no such table"):
        next(find_fragments([tmp_path], options=ReadOptions(metadata=tmp_path / "b.csv")))
    with pytest.raises(NothingToReadError):
        next(find_fragments([]))


def test_ids_are_given_and_find_their_rows_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CHAT)
    (tmp_path / "sessions.csv").write_text("session_id,site\na,North\na-2,South\n")
    (fragment,) = find_fragments([tmp_path])
    wanted, given = read_fragment(fragment, ReadOptions()), read_fragment(fragment, ReadOptions(), ["a-2"])
    assert wanted.by_name
    assert [(one.id, dict(one.metadata)) for one in (*wanted.sessions, *given.sessions)] == [
        ("a", {"site": "North"}), ("a-2", {"site": "South"}),
    ]  # fmt: skip
    odd = read_fragment(fragment, ReadOptions(), ["a", "b"])
    assert odd.problem is not None
    assert "changed while it was read" in odd.problem.problem


def test_names_are_settled_over_a_run() -> None:
    names = Names()
    assert names.settle("a", "x", b"1") == ("a", ())
    assert names.settle("A", "x", b"2") == ("x-A", ())
    assert names.settle("b", "b", b"1") == ("b", ("The same words as in session a.",))


def test_the_last_reading_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(CHAT)
    fragment = Fragment("a.txt", str(path))
    first = read_again(fragment, ReadOptions())
    assert read_again(fragment, ReadOptions()) is first
    assert read_again(fragment, ReadOptions(therapist="C")) is not first
    path.write_text(CHAT.replace("Well", "Good"))
    assert read_again(fragment, ReadOptions()).sessions[0].turns[1].text.startswith("Good")
    path.unlink()
    assert read_again(fragment, ReadOptions()).problem is not None


def site(folder: Path) -> str | None:
    (reading,) = read_files([folder / "a.txt"])
    return reading.sessions[0].metadata.get("site")


def test_a_table_about_sessions_that_was_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CHAT)
    table = tmp_path / "sessions.csv"
    assert site(tmp_path) is None
    table.write_text("session_id,site\na,North\n")
    assert site(tmp_path) == "North"
    kept = table.stat()
    table.write_text("session_id,site\na,South\n")
    os.utime(table, ns=(kept.st_atime_ns, kept.st_mtime_ns + 1))
    assert site(tmp_path) == "South"
    table.unlink()
    assert site(tmp_path) is None


def test_a_table_about_sessions_is_read_once_for_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from therapy_analytics.readers import _metadata

    read: list[str] = []
    rows = _metadata._rows

    def counted(path: str, place: str) -> Any:
        read.append(path)
        return rows(path, place)

    monkeypatch.setattr(_metadata, "_rows", counted)
    for content in ("session_id,site\na,North\n", "name,site\na,North\n"):
        read.clear()
        (tmp_path / "sessions.csv").write_text(content)
        for at in range(20):
            (tmp_path / f"{at}.txt").write_text(CHAT)
        assert len(list(read_files([tmp_path]))) == 20
        assert len(read) <= 4


def test_sessions_of_parts_are_named_as_those_of_the_whole(tmp_path: Path) -> None:
    rng = random.Random(1)
    unnamed = [wide_rows(rng, "messages", 1)[0]["messages"] for _ in range(30)]
    path = write_lines(tmp_path / "x.jsonl", unnamed)
    whole, parts, n_parts = read_both_ways(path, 500)
    assert n_parts > 2
    assert [one.id for one in parts.sessions] == ["x", *(f"x-{at}" for at in range(2, 31))]
    assert list(map(without_margin, parts.sessions)) == list(map(without_margin, whole.sessions))


def without_margin(session: Session) -> Session:
    return replace(session, role_margin=0.0)


@pytest.mark.parametrize("content", [CHAT, ""], ids=["a transcript", "an empty file"])
def test_the_garbage_collector_waits_for_a_file_and_then_is_as_it_was(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text(content)
    seen: list[bool] = []
    monkeypatch.setattr(
        _fragment_reading, "choose_reader", lambda source: seen.append(gc.isenabled()) or choose_reader(source)
    )
    for on in (False, True):
        (gc.enable if on else gc.disable)()
        list(read_files([tmp_path]))
        assert gc.isenabled() is on
    assert not any(seen)
