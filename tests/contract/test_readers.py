"""What every reader must do, over whatever is registered and the samples that it wins."""

from __future__ import annotations

import pickle
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from therapy_analytics.core.errors import DuplicateNameError, UnreadableFileError
from therapy_analytics.core.registry import Registry
from therapy_analytics.core.session import ROLES, Session
from therapy_analytics.readers import FileReading, RawSession, ReadOptions, Source, _files, choose_reader, read_files
from therapy_analytics.readers._metadata import is_metadata
from therapy_analytics.readers.base import BINARY, READERS, Reader, load_source

pytestmark = pytest.mark.filterwarnings("ignore::therapy_analytics.readers.TablesWarning")
"""The tables beside these transcripts tell of other sessions as well."""

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "sample_transcripts", ROOT / "tests" / "formats")
SAMPLES = sorted(
    path
    for folder in FOLDERS
    for path in folder.glob("*.*")
    if path.suffix not in {".py", ".pyc"} and not path.name.startswith(".") and not is_metadata(path)
)
TEXTS = [path for path in SAMPLES if load_source(path, ReadOptions()).encoding != BINARY]
N_CUTS = 40

Change = Callable[[bytes], bytes]

CHANGES: dict[str, Change] = {
    "bom": lambda data: b"\xef\xbb\xbf" + data,
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "cr": lambda data: data.replace(b"\n", b"\r"),
    "crlf_and_lf": lambda data: data.replace(b"\n", b"\r\n", data.count(b"\n") // 2),
    "utf_16": lambda data: data.decode().encode("utf-16"),
    "utf_16_be": lambda data: ("\ufeff" + data.decode()).encode("utf-16-be"),
    "utf_32": lambda data: data.decode().encode("utf-32"),
    "no_last_newline": lambda data: data.rstrip(b"\n"),
    "trailing_blank_lines": lambda data: data + b"\n\n \n\n",
}


def winner(path: Path) -> Reader:
    return choose_reader(load_source(path, ReadOptions()))


def reading_of(path: Path) -> FileReading:
    (reading,) = read_files([path])
    return reading


def sessions_of(path: Path) -> tuple[Session, ...]:
    reading = reading_of(path)
    assert reading.problem is None, str(reading.problem)
    return reading.sessions


def rewritten(sample: Path, folder: Path, data: bytes) -> Path:
    """Write other bytes under the sample's name, beside the same table about sessions, if there is one."""
    if (table := sample.with_name("sessions.csv")).is_file():
        shutil.copy(table, folder)
    path = folder / sample.name
    path.write_bytes(data)
    return path


def facts(sessions: tuple[Session, ...]) -> list[tuple[object, ...]]:
    """Everything of the sessions but where the file lies."""
    return [
        (one.id, one.turns, dict(one.metadata), one.role_method, str(one.role_margin), one.notes) for one in sessions
    ]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def runs_of_three(sessions: tuple[Session, ...]) -> set[tuple[str, ...]]:
    spoken = [words(turn.text) for session in sessions for turn in session.turns]
    return {tuple(one[at : at + 3]) for one in spoken for at in range(len(one) - 2)}


def assert_private(problem: UnreadableFileError, said: set[tuple[str, ...]]) -> None:
    told = words(f"{problem.problem} {problem.remedy} {problem!r}")
    assert not said & {tuple(told[at : at + 3]) for at in range(len(told) - 2)}


def assert_clean(problem: UnreadableFileError) -> None:
    """It was foreseen (nothing fell through to the last net), and survives pickling."""
    assert isinstance(problem, UnreadableFileError)
    assert "could not be understood" not in problem.problem
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)


each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
each_text = pytest.mark.parametrize("sample", TEXTS, ids=lambda path: path.name)
each_reader = pytest.mark.parametrize("one", list(READERS), ids=lambda one: one.name)


@each_reader
def test_a_reader_has_a_sample(one: Reader) -> None:
    """One that is a folder of several files stands below the folders of `tests/formats`."""
    folders = (ROOT / "tests" / "formats").glob("*/*/text")
    samples = [path.name for path in (*SAMPLES, *folders) if winner(path).name == one.name]
    assert samples, f"write a sample for {one.name}"


@each_reader
def test_a_reader_says_what_it_reads(one: Reader) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", one.name)
    assert len(one.description.split()) >= 5
    assert one.suffixes
    assert all(re.fullmatch(r"\.[a-z]+", suffix) for suffix in one.suffixes)


@each_sample
def test_each_sample_is_won_by_one_reader_alone(sample: Path) -> None:
    source = load_source(sample, ReadOptions())
    bids = [one.sniff(source) for one in READERS]
    assert all(0 <= bid <= 1 for bid in bids)
    assert bids.count(max(bids)) == 1


@each_sample
def test_a_sniff_does_not_depend_on_the_suffix_alone(sample: Path, tmp_path: Path) -> None:
    path = rewritten(sample, tmp_path, sample.read_bytes()).rename(tmp_path / "without_suffix")
    source = load_source(path, ReadOptions())
    assert [one.name for one in READERS if one.sniff(source) > 0.5] == [winner(sample).name]


@each_sample
def test_reading_twice_gives_the_same(sample: Path) -> None:
    assert sessions_of(sample) == sessions_of(sample)


@each_text
@pytest.mark.parametrize("change", CHANGES)
def test_the_same_words_in_other_bytes_are_the_same_sessions(sample: Path, change: str, tmp_path: Path) -> None:
    changed = rewritten(sample, tmp_path, CHANGES[change](sample.read_bytes()))
    assert changed.read_bytes() != sample.read_bytes() or change == "no_last_newline"
    assert facts(sessions_of(changed)) == facts(sessions_of(sample))


@each_sample
def test_a_cut_file_gives_sessions_or_a_plain_problem_quickly(sample: Path, tmp_path: Path) -> None:
    data = sample.read_bytes()
    whole = sessions_of(sample)
    said = runs_of_three(whole)
    for n in range(N_CUTS):
        cut = rewritten(sample, tmp_path, data[: len(data) * n // N_CUTS])
        began = time.process_time()
        reading = reading_of(cut)
        assert time.process_time() - began < HANG_S
        if reading.problem is None:
            assert 1 <= len([one for one in reading.sessions if one.turns]) <= len(whole)
            assert sum(len(one.turns) for one in reading.sessions) <= sum(len(one.turns) for one in whole)
        else:
            assert_clean(reading.problem)
            assert_private(reading.problem, said)


@each_sample
def test_a_file_with_nothing_in_it_is_empty(sample: Path, tmp_path: Path) -> None:
    for data in (b"", b" \n\t\r\n  ", b"\0" * 64, b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe\0\0" * 9):
        problem = reading_of(rewritten(sample, tmp_path, data)).problem
        assert problem is not None
        assert_clean(problem)
        assert problem.problem == "the file is empty"


@each_sample
def test_turns_are_sound(sample: Path) -> None:
    for session in sessions_of(sample):
        assert [turn.index for turn in session.turns] == list(range(len(session.turns)))
        assert all(turn.text.strip() == turn.text and (turn.text or turn.marks) for turn in session.turns)
        assert {turn.role for turn in session.turns} <= set(ROLES)
        assert {"therapist", "client"} <= {turn.role for turn in session.turns}
        neighbours = list(zip(session.turns, session.turns[1:], strict=False))
        assert all(one.speaker.casefold() != two.speaker.casefold() for one, two in neighbours)
        # Turns of a wide table share a row.
        assert all(one.first_row <= two.first_row for one, two in neighbours)


@each_sample
def test_a_repr_holds_no_words(sample: Path) -> None:
    for session in sessions_of(sample):
        assert session.turns[0].speaker in repr(session)
        longest = max(session.turns, key=lambda turn: len(turn.text))
        assert longest.text not in repr(session)


def begins(line: str, turn_text: str) -> bool:
    """Tell whether the first four words of a turn stand in this order in a line (or a cell, or a message)."""
    first = re.findall(r"\w+", turn_text.split("\n", maxsplit=1)[0])[:2]
    return re.search(r"\b.*\b".join(first), line, re.DOTALL) is not None


@pytest.mark.parametrize(
    "sample", [path for path in SAMPLES if winner(path).name in {"labelled_text", "webvtt"}], ids=lambda path: path.name
)
def test_first_row_is_the_line_where_the_turn_begins(sample: Path) -> None:
    lines = sample.read_text(encoding="utf-8").split("\n")
    for session in sessions_of(sample):
        for turn in session.turns:
            assert begins(lines[turn.first_row - 1], turn.text)


@pytest.mark.parametrize(
    "sample", [path for path in SAMPLES if winner(path).name == "delimited"], ids=lambda path: path.name
)
def test_first_row_is_the_data_row_where_the_turn_begins(sample: Path) -> None:
    import csv

    with sample.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for session in sessions_of(sample):
        for turn in session.turns:
            # The row holds the turn's first word; the second may stand in the next row of the same speaker.
            first = turn.text.split(maxsplit=1)[:1]
            assert not first or any(begins(cell, first[0]) for cell in rows[turn.first_row - 1].values())


def spoken_strings(value: object) -> Iterator[str]:
    """Yield every string of a JSON value, at any depth."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from spoken_strings(item)


@pytest.mark.parametrize(
    "sample", [path for path in SAMPLES if winner(path).name == "chat_json"], ids=lambda path: path.name
)
def test_the_words_of_every_turn_stand_in_the_file(sample: Path) -> None:
    import json

    text = sample.read_text(encoding="utf-8")
    values = list(map(json.loads, text.splitlines())) if sample.suffix == ".jsonl" else [json.loads(text)]
    strings = list(spoken_strings(values))
    for session in sessions_of(sample):
        assert all(turn.first_row >= 1 for turn in session.turns)
        assert all(any(begins(one, turn.text) for one in strings) for turn in session.turns)


def nothing(_source: Source) -> Iterator[RawSession]:
    """Read nothing, as a stand-in."""
    yield from ()


def fake(name: str, certainty: float, suffixes: tuple[str, ...] = ()) -> Reader:
    return Reader(name, suffixes, lambda _source: certainty, nothing, "a stand-in")


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry[Reader]:
    """Put a registry of stand-ins in the place of the real one; it walks an empty shelf."""
    shelf: Registry[Reader] = Registry("reader", package="therapy_analytics.run")
    monkeypatch.setattr(_files, "READERS", shelf)
    return shelf


def test_a_tie_is_an_error_that_names_both(registry: Registry[Reader]) -> None:
    registry.add("first_fake", fake("first_fake", 0.7), module="one")
    registry.add("second_fake", fake("second_fake", 0.7), module="two")
    registry.add("unsure", fake("unsure", 0.6), module="three")
    with pytest.raises(UnreadableFileError, match=r"in two ways \(first_fake and second_fake\)"):
        choose_reader(Source(Path("a.odd"), "words"))


def test_a_known_suffix_breaks_a_tie(registry: Registry[Reader]) -> None:
    registry.add("first_fake", fake("first_fake", 0.7, (".odd",)), module="one")
    registry.add("second_fake", fake("second_fake", 0.7, (".even",)), module="two")
    assert choose_reader(Source(Path("a.odd"), "words")).name == "first_fake"
    assert choose_reader(Source(Path("a.EVEN"), "words")).name == "second_fake"


def test_the_surer_reader_wins_whatever_the_suffix(registry: Registry[Reader]) -> None:
    registry.add("suffix", fake("suffix", 0.6, (".odd",)), module="one")
    registry.add("sure", fake("sure", 0.7), module="two")
    assert choose_reader(Source(Path("a.odd"), "words")).name == "sure"


def test_a_file_that_no_reader_wants_is_refused_with_the_known_forms(registry: Registry[Reader]) -> None:
    registry.add("uninterested", fake("uninterested", 0.0), module="one")
    with pytest.raises(UnreadableFileError, match="no way to read this file was found") as caught:
        choose_reader(Source(Path("a.odd"), "secret words here"))
    assert "secret" not in str(caught.value)


def test_two_readers_of_one_name_are_an_error_that_names_both(registry: Registry[Reader]) -> None:
    registry.add("twin", fake("twin", 0.5), module="one.py")
    registry.add("twin", fake("twin", 0.5), module="one.py")
    with pytest.raises(DuplicateNameError, match=r"one\.py and in two\.py"):
        registry.add("twin", fake("twin", 0.5), module="two.py")
