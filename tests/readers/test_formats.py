"""Every form of transcript in ``tests/formats`` reads right, turn by turn, and so does what is written of it.

Each folder there holds files of one kind, in our own words, and ``expected.txt``, which says what they hold::

    # A line like this is a remark.
    == couple.txt- couple.vtt
    T Therapist @0-3.5 | What brings the two of you here?
    C Wife @3.5-6 | He forgets.\\nI remind him.
    O Grandmother @6- | So do I.
    note: 1 line (2 words) before the first speaker label left out.

The line with ``==`` names files that hold the same turns; a file whose name ends in ``-`` has no times, a name that
ends in ``/`` is a folder that is read whole, and ``with therapist=Ann columns.text=Quote`` at the end gives options. A
turn is its role (Therapist, Client, Other), its label, its times in seconds where it has any, and its words. ``--``
begins another session, with its id. ``note:`` is a note that the session must have, ``refused:`` a part of the message
with which the file is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import ReadOptions, join_marks, read, read_files
from therapy_analytics.readers.writers import WRITERS

FORMATS = Path(__file__).resolve().parents[1] / "formats"
ROLES = {"T": "therapist", "C": "client", "O": "other"}
TURN = re.compile(
    r"(?P<role>[TCO])(?: (?P<label>[^|@]*?))?"
    r"(?: @(?P<start>[\d.]*)-(?P<end>[\d.]*))? \|(?: (?P<text>.*))?"
)
pytestmark = pytest.mark.filterwarnings("ignore::therapy_analytics.readers.TablesWarning")

Spoken = tuple[str, str, float | None, float | None, str]


@dataclass
class Expected:
    """What a file holds: the turns of its sessions by id, the notes of all, or with which words it is refused."""

    path: Path
    options: ReadOptions
    times: bool
    sessions: list[tuple[str, list[Spoken]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refused: str = ""


def expectations(table: Path) -> list[Expected]:
    found: list[Expected] = []
    now: list[Expected] = []
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("== "):
            now = begun(table.parent, line[3:])
            found += now
        else:
            for one in now:
                add(one, line, f"{table.parent.name}/{table.name}, line {number}")
    return found


def begun(folder: Path, line: str) -> list[Expected]:
    names, _, given = line.partition(" with ")
    pairs = dict(pair.split("=", 1) for pair in given.split())
    columns = {key.removeprefix("columns."): pairs.pop(key) for key in list(pairs) if key.startswith("columns.")}
    options = ReadOptions(**pairs, columns=columns)  # type: ignore[arg-type]
    return [Expected(folder / name.rstrip("-"), options, not name.endswith("-")) for name in names.split()]


def add(one: Expected, line: str, where: str) -> None:
    if line.startswith("-- "):
        one.sessions.append((line[3:], []))
    elif line.startswith("note: "):
        one.notes.append(line[6:])
    elif line.startswith("refused: "):
        one.refused = line[9:]
    else:
        match = TURN.fullmatch(line)
        assert match, f"{where}: this is no turn"
        times = [float(match[name]) if one.times and match[name] else None for name in ("start", "end")]
        text = (match["text"] or "").replace("\\n", "\n")
        if not one.sessions:
            one.sessions.append(("", []))
        one.sessions[-1][1].append((ROLES[match["role"]], match["label"] or "", times[0], times[1], text))


def spoken(session: Session) -> list[Spoken]:
    """Return who says what in a session, times to the hundredth of a second, marks back in the words."""
    return [
        (turn.role, turn.speaker, rounded(turn.start_s), rounded(turn.end_s), join_marks(turn.text, turn.marks))
        for turn in session.turns
    ]


def rounded(time: float | None) -> float | None:
    return None if time is None else round(time, 2)


EXPECTED = [one for table in sorted(FORMATS.glob("*/expected.txt")) for one in expectations(table)]


def named(one: Any) -> str:
    return str(one.path.relative_to(FORMATS)) if isinstance(one, Expected) else str(one)


def test_there_are_enough_and_each_says_what_it_holds() -> None:
    told = {one.path for one in EXPECTED}
    folders = {path for path in told if path.is_dir()}
    there = {path for path in FORMATS.glob("*/*") if path.name != "expected.txt" and path.suffix != ".py"}
    untold = {path for path in there - told if not path.name.startswith(".") and path.name != "__pycache__"}
    assert untold == set(), "say in expected.txt what these hold"
    assert all(path.exists() for path in told)
    assert folders <= there


@pytest.mark.parametrize("one", EXPECTED, ids=named)
def test_every_turn_is_who_said_what_and_when(one: Expected) -> None:
    if one.refused:
        problems = [reading.problem for reading in read_files([one.path], options=one.options)]
        assert all(isinstance(problem, UnreadableFileError) for problem in problems)
        assert any(one.refused in f"{problem.problem}. {problem.remedy}" for problem in problems if problem)
        return
    sessions = read(one.path, options=one.options)
    assert [spoken(session) for session in sessions] == [turns for _, turns in one.sessions]
    assert [name for name, _ in one.sessions if name] in ([], [session.id for session in sessions])
    notes = [note for session in sessions for note in session.notes]
    assert [note for note in one.notes if note not in notes] == [], notes


@pytest.mark.parametrize("one", [one for one in EXPECTED if not one.refused], ids=named)
def test_what_is_written_reads_back(one: Expected, tmp_path: Path) -> None:
    options = replace(one.options, columns={}, split_by=None)
    for session in read(one.path, options=one.options):
        for writer in WRITERS:
            path = tmp_path / f"back{writer.suffix}"
            path.write_bytes(writer.write(session))
            (again,) = read(path, options=options)
            assert spoken(again) == spoken(session), path
