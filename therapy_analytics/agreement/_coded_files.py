"""Codes by people in files of other programs: REFI-QDA projects, ELAN files, JSON Lines; as a row a turn and code."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from therapy_analytics.errors import BadDataFileError, UnreadableFileError
from therapy_analytics.readers import ReadOptions, read_files
from therapy_analytics.readers._account import Account
from therapy_analytics.readers._base import load_source
from therapy_analytics.readers._coded import PEOPLE, CodedSession, CodesOfTurn, is_machine, merged
from therapy_analytics.readers._limits import whole_file
from therapy_analytics.readers.elan import coded_rows as of_elan
from therapy_analytics.readers.refi_qda import coded_rows as of_project
from therapy_analytics.session import Session
from therapy_analytics.tables import GOLD

COLUMNS = ("session_id", "turn", "code", "value", "coder", "note")
"""A row says of a turn (from 0) whether a coder gave it a code (1) or not (0)."""
JSON_LINES = ".jsonl"
_PROGRAMS = {".qdpx": of_project, ".eaf": of_elan}
UNNAMED = "unnamed coder"
_REMEDY = "Give a table (CSV, xlsx, JSON Lines), a REFI-QDA project (.qdpx) or an ELAN file (.eaf)"


def holds_codes(path: Path) -> bool:
    """Return whether a path is a file of such a program, or a folder with some of them."""
    return path.suffix.lower() in {*_PROGRAMS, JSON_LINES} or path.is_dir()


def coded_table(path: Path) -> pd.DataFrame:
    """Return the codes by people in a file, or in all files of a folder, as text: the columns `COLUMNS`.

    Codes of the machine that such a file holds, too, are left out. Where the file does not say which turns a coder
    looked at, these are all turns of the sessions in which the coder gave any code, and a code that the coder gives
    somewhere is absent wherever it was not given.

    Raises
    ------
    BadDataFileError
        It cannot be read, or nobody gave a code in it.
    """
    if path.suffix.lower() == JSON_LINES:
        return _json_lines(path)
    names = {suffix.lower() for suffix in _PROGRAMS}
    paths = sorted(one for one in path.iterdir() if one.suffix.lower() in names) if path.is_dir() else [path]
    try:
        sessions = [one for file in _readings(paths) for one in file]
    except UnreadableFileError as error:
        raise BadDataFileError(error.path, error.problem, error.remedy) from None
    rows = list(code_rows(sessions))
    if not rows:
        raise BadDataFileError(str(path), "nobody gave a code in it", _REMEDY)
    return pd.DataFrame(rows, columns=COLUMNS)


def _readings(paths: Sequence[Path]) -> Iterator[list[CodedSession]]:
    if not paths:
        return
    for reading in read_files(paths, account=Account(ReadOptions())):
        if reading.problem is not None:
            raise reading.problem
        found = _PROGRAMS[reading.path.suffix.lower()](load_source(reading.path, ReadOptions()))
        yield [
            _by_turn(session, [row.place for row in raw.rows], given)
            for session, (raw, given) in zip(reading.sessions, found, strict=True)
        ]


def _by_turn(session: Session, places: Sequence[int], given: Sequence[Sequence[CodesOfTurn]]) -> CodedSession:
    """Return a session with the codes of its rows: a turn has those of all rows of it."""
    begins = [turn.first_row for turn in session.turns]
    turns: list[list[CodesOfTurn]] = [[] for _ in session.turns]
    for place, row in zip(places, given, strict=True):
        at = bisect_right(begins, place) - 1
        if at >= 0:
            turns[at] += [replace(one, coder=_name(one.coder)) for one in row]
    return CodedSession(session.id, session.turns, tuple(map(merged, turns)))


def _name(coder: str) -> str:
    """Return the name of a coder; columns of labels that a transcript brought are of people without a name."""
    return PEOPLE if coder.startswith(GOLD) else coder or UNNAMED


def code_rows(sessions: Sequence[CodedSession]) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Yield a row for each turn, coder and code of people, with 1 or 0; see `coded_table`."""
    every = [one for session in sessions for row in session.given for one in row]
    used: dict[str, dict[str, None]] = {}
    for one in every:
        used.setdefault(one.coder, {}).update(dict.fromkeys(one.codes))
    told = {one.coder for one in every if one.known is not None}
    for session in sessions:
        here = dict.fromkeys(one.coder for row in session.given for one in row if one.codes or one.known)
        for turn, row in zip(session.turns, session.given, strict=True):
            given = {one.coder: one for one in row}
            for coder in (name for name in here if not is_machine(name)):
                one = given.get(coder, CodesOfTurn(coder))
                known = (one.known or ()) if coder in told else tuple(used[coder])
                for code in dict.fromkeys((*known, *one.codes)):
                    value = "1" if code in one.codes else "0"
                    yield session.id, str(turn.index), code, value, coder, one.note


def _json_lines(path: Path) -> pd.DataFrame:
    try:
        lines = whole_file(str(path), str(path)).decode("utf-8-sig").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        frame = pd.DataFrame(rows)
    except (ValueError, RecursionError, AttributeError, UnreadableFileError):
        raise BadDataFileError(
            str(path), "it is no table that can be read: JSON Lines with an object a line", _REMEDY
        ) from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise BadDataFileError(str(path), "its lines are not objects with a code each", _REMEDY)
    return frame
