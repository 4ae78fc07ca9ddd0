"""A folder that ``tanalyze sample`` wrote: which turns to code, by which books, and the words of these turns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.core.cells import restore
from therapy_analytics.core.clusters import COLUMNS
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.folders import finish_stopped
from therapy_analytics.stats.sampling import DESIGN, DRAWN, WORDS

NEEDED = ("session_id", "turn", "role")
_AGAIN = "Make the sample again: tanalyze sample"


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """What was said in one turn, and by whom (therapist, client or other)."""

    role: str
    words: str


@dataclass(frozen=True, slots=True)
class SampleToCode:
    """The turns that are to be coded.

    Attributes
    ----------
    drawn : DataFrame
        A row a turn, by session and in order: ``session_id``, ``turn`` (whole number), ``role``, ``inclusion`` as it
        is written in the file ("" where it is not), and what it says of clusters (``counselor``, ...), as text.
    sessions : mapping
        The words of each session's turns that the folder holds, by the number of the turn.
    about : mapping
        What coders are told of each session; "" for nothing.
    books : tuple of str
        The codebooks that it was drawn for.
    sha256 : str
        Of the list of turns and the books: pages about the same sample know each other by it.
    """

    drawn: pd.DataFrame
    sessions: Mapping[str, Mapping[int, SpokenTurn]]
    about: Mapping[str, str]
    books: tuple[str, ...]
    sha256: str


def read_sample(folder: str | Path) -> SampleToCode:
    """Read a sample.

    Raises
    ------
    BadOptionError
        The folder holds no sample.
    BadDataFileError
        A file of it is broken, or has no words for a turn that was drawn.
    """
    folder = Path(folder)
    finish_stopped(folder)
    missing = [name for name in (DRAWN, DESIGN, WORDS) if not (folder / name).is_file()]
    if missing:
        problem = f"{folder} holds no sample (there is no {missing[0]})"
        raise BadOptionError("SAMPLE", problem, "Name the folder that tanalyze sample wrote")
    drawn, (sessions, about) = _drawn(folder / DRAWN), _words(folder / WORDS)
    books = _books(folder / DESIGN)
    keys = list(zip(drawn["session_id"], drawn["turn"], strict=True))
    without = sum(turn not in sessions.get(session, {}) for session, turn in keys)
    if without:
        raise BadDataFileError(str(folder / WORDS), f"it lacks the words of {without} turns of {DRAWN}", _AGAIN)
    order = {session: at for at, session in enumerate(sessions)}
    drawn = drawn.assign(order=drawn["session_id"].map(order)).sort_values(["order", "turn"], kind="stable")
    text = json.dumps([sorted(keys), sorted(books)])
    digest = hashlib.sha256(text.encode()).hexdigest()
    return SampleToCode(drawn.drop(columns="order").reset_index(drop=True), sessions, about, books, digest)


def _drawn(path: Path) -> pd.DataFrame:
    try:
        table = restore(pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig"))
    except (ValueError, OSError):
        raise BadDataFileError(str(path), "it is no table that can be read", _AGAIN) from None
    lacking = [name for name in NEEDED if name not in table]
    if lacking:
        raise BadDataFileError(str(path), f"it has no column {', '.join(lacking)}", _AGAIN)
    turn = pd.to_numeric(table["turn"], errors="coerce")
    if table.empty or turn.isna().any() or (turn % 1 != 0).any() or table.duplicated(["session_id", "turn"]).any():
        raise BadDataFileError(str(path), "it lists no turns, or some without a number or twice", _AGAIN)
    kept = [name for name in (*NEEDED, *COLUMNS) if name in table]
    inclusion = table.get("inclusion", "")
    return table[kept].assign(turn=turn.astype("int64"), inclusion=inclusion)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        raise BadDataFileError(str(path), "it cannot be read as JSON", _AGAIN) from None


def _words(path: Path) -> tuple[dict[str, dict[int, SpokenTurn]], dict[str, str]]:
    """Return the words of each session, and what it is about."""
    try:
        read = {str(one["session_id"]): one for one in _json(path)["sessions"]}
        words = {
            name: {int(turn["turn"]): SpokenTurn(str(turn["role"]), str(turn["words"])) for turn in one["turns"]}
            for name, one in read.items()
        }
        return words, {name: str(one.get("about", "")) for name, one in read.items()}
    except (KeyError, TypeError, ValueError):
        raise BadDataFileError(str(path), "it does not have the form of a sample's words", _AGAIN) from None


def _books(path: Path) -> tuple[str, ...]:
    design = _json(path)
    books = design.get("books") if isinstance(design, dict) else None
    if not isinstance(books, list) or not books or not all(isinstance(one, str) for one in books):
        raise BadDataFileError(str(path), "it names no codebooks", _AGAIN)
    return tuple(books)
