"""Which turn of the results each row of a table of codes is about: a code must never land on another turn."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import PurePath

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Ints
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.ids import safe_id
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.readers.base import READERS

SHIFTED = 0.05
"""If the words of a larger share of a session's rows differ from those of their turn, its numbers have shifted."""
HALF = 0.5
_GOLD = "gold"
_RECORDINGS = frozenset((".wav", ".mp3", ".m4a", ".mp4", ".mov", ".avi", ".flac", ".ogg", ".wma", ".webm", ".doc"))
_BRACKETED = re.compile(r"\[[^\]]*\]|\([^)]*\)|<[^>]*>")
_WHOLE = re.compile(r"(\d+)\.0")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Matched:
    """The row of the turns table of each row of codes, `place` (n_rows,), -1 for none, and notes on the matching."""

    place: Ints
    notes: tuple[str, ...]


def match(rows: pd.DataFrame, turns: pd.DataFrame, pseudonyms: Pseudonyms | None = None, lacking: str = "") -> Matched:
    """Find the turn of each row: by number, by first row, or by words where the numbers have shifted.

    Rows have ``session_id``, at least one of ``turn``, ``first_row``, ``text``, and perhaps ``coder``; turns are those
    of `Machine`. Raises `BadOptionError` where the two have no columns in common that identify turns. `pseudonyms` is
    the key that the turns were read with; `lacking` says what to do where it is for want of it that nothing matches.
    """
    session, notes = _sessions(rows, turns, pseudonyms, lacking)
    rows = rows.assign(session_id=session)
    words = "text" in rows and "text" in turns
    if "turn" in rows:
        place, how = _by_number(rows, turns, "turn")
        if words:
            place, how = _mended(rows, turns, place, how)
    elif "first_row" in rows and "first_row" in turns:
        place, how = _by_number(rows, turns, "first_row")
    elif words:
        place, how = _by_words(rows, turns), "by their words, in order"
    else:
        problem = "no column of the human codes says which turn a row is about"
        if "text" in rows:
            problem = "the human codes have words but no turn numbers, and the results hold no words to match them with"
        raise BadOptionError(_GOLD, problem, "Give a column turn (from 0, as in turns.csv), or the transcripts")
    lost = int((place < 0).sum())
    counts = [f"Of {len(rows):,} rows of the human codes {len(rows) - lost:,} were matched to a turn, {how}."]
    left = f"{counted(lost, 'row')} matched to no turn ({lost / max(len(rows), 1):.1%}): left out."
    return Matched(place, (*notes, *counts, *([left] if lost else [])))


def _sessions(
    rows: pd.DataFrame, turns: pd.DataFrame, pseudonyms: Pseudonyms | None, lacking: str
) -> tuple[list[str], list[str]]:
    """Return the session of each row as the results name it, and a note on sessions that the results do not have."""
    known = list(dict.fromkeys(turns["session_id"]))
    if "session_id" not in rows:
        if len(known) == 1:
            return known * len(rows), []
        raise BadOptionError(_GOLD, "the human codes have no column of sessions", "Give a column session_id")
    by_plain: dict[str, list[str]] = {}
    for name in known:
        by_plain.setdefault(plain_id(name), []).append(name)
    exact, given = set(known), session_names(rows["session_id"].astype(str).str.strip(), known, pseudonyms)
    fits = {name: [name] if name in exact else by_plain.get(plain_id(name), []) for name in given.unique()}
    found = [fits[name][0] if len(fits[name]) == 1 else "" for name in given]
    unknown, unclear = sum(not some for some in fits.values()), sum(len(some) > 1 for some in fits.values())
    if fits and not any(found):
        remedy = lacking or f"Name them as sessions.csv does ({known[0]}, ...)"
        raise BadOptionError(_GOLD, "none of its sessions can be matched to one of the results", remedy)
    notes = [f"{counted(unknown, 'session')} of the human codes not among the results."] if unknown else []
    if unclear:
        several = "not matched: the name fits several sessions of the results"
        notes.append(f"{counted(unclear, 'session')} of the human codes {several}.")
    return found, notes


def session_names(names: pd.Series, known: Collection[str], pseudonyms: Pseudonyms | None) -> pd.Series:
    """Return the names of sessions as results have them that were made with a key, where it is given.

    Parameters
    ----------
    names : Series of str
        As people write them.
    known : collection of str
        The sessions of the results.
    pseudonyms : Pseudonyms or None
        The key; None: the names stay.
    """
    if pseudonyms is None:
        return names
    found = {}
    for name in names.unique():
        written = [safe_id(one) if one else "" for one in (name, plain_id(name))]  # a name may end as a file does
        made = [pseudonyms.name_for("session", one) for one in written]
        found[name] = next((one for one in made if one in known), made[-1])
    return names.map(found)


def plain_id(name: object) -> str:
    """Return a session's name in lower case, of a file without its folders and ending; 7 and 7.0 are one.

    Examples
    --------
    >>> plain_id("talks/Ann.docx"), plain_id("S01.wav"), plain_id("2024.03.01_Ann"), plain_id(7.0)
    ('ann', 's01', '2024.03.01_ann', '7')
    """
    text = str(name).strip().casefold()
    whole = _WHOLE.fullmatch(text)
    path = PurePath(text.replace("\\", "/"))
    return whole[1] if whole else path.stem if path.suffix in _endings() else text


@cache
def _endings() -> frozenset[str]:
    """Return the endings of files that can be read, and of recordings."""
    return frozenset(suffix for one in READERS for suffix in one.suffixes) | _RECORDINGS


def _by_number(rows: pd.DataFrame, turns: pd.DataFrame, name: str) -> tuple[Ints, str]:
    number = pd.to_numeric(rows[name], errors="coerce").replace([np.inf, -np.inf], -1).fillna(-1).astype(np.int64)
    index = pd.MultiIndex.from_frame(turns[["session_id", name]])
    first = np.flatnonzero(~index.duplicated())

    def found(numbers: pd.Series) -> Ints:
        own = index[first].get_indexer(pd.MultiIndex.from_arrays([rows["session_id"], numbers]))
        return np.where(own >= 0, first[own], -1).astype(np.int64)

    place, how = found(number), f"by session and {name}"
    # Turns may be counted from 1 where none is 0, and some session has one more than its last turn.
    last = rows["session_id"].map(turns.groupby("session_id")[name].max())
    if name == "turn" and (number != 0).all() and (number == last + 1).any():
        before = found(number - 1)
        # Of drawn turns, the last is not that of the session: a number beyond it says little.
        if (before >= 0).sum() > (place >= 0).sum():
            return before, f"{how} (counted from 1 there)"
    return place, how


def _mended(rows: pd.DataFrame, turns: pd.DataFrame, place: Ints, how: str) -> tuple[Ints, str]:
    """Match by words those sessions whose numbers lead to other words."""
    mine, theirs = ([" ".join(_words(text)) for text in one["text"]] for one in (rows, turns))
    # A row may be a part of its turn.
    fits = np.array([at >= 0 and one in theirs[at] for one, at in zip(mine, place, strict=True)], dtype=bool)
    wrong = pd.Series(~fits).groupby(rows["session_id"].to_numpy()).mean()
    shifted = set(wrong.index[wrong > SHIFTED]) - {""}
    if not shifted:
        return place, how
    own = rows["session_id"].isin(shifted).to_numpy()
    place = place.copy()
    place[own] = _by_words(rows[own], turns)
    return place, f"{how}; in {len(shifted)} sessions, whose numbers have shifted, by their words"


def _words(text: object) -> list[str]:
    return _WORD.findall(_BRACKETED.sub(" ", str(text)).casefold().replace("'", "").replace("\u2019", ""))


def _by_words(rows: pd.DataFrame, turns: pd.DataFrame) -> Ints:
    """Align the rows of each session and coder with its turns; the same rows of several coders are aligned once."""
    place = np.full(len(rows), -1, dtype=np.int64)
    at = {session: np.asarray(own) for session, own in turns.groupby("session_id", sort=False).indices.items()}
    theirs = {session: [_words(text) for text in turns["text"].iloc[own]] for session, own in at.items()}
    done: dict[tuple[object, ...], Ints] = {}
    coder = rows["coder"] if "coder" in rows else pd.Series("", index=rows.index)
    for own in rows.groupby([rows["session_id"], coder], sort=False).indices.values():
        session = rows["session_id"].iloc[own[0]]
        if session not in at:
            continue
        mine = [_words(text) for text in rows["text"].iloc[own]]
        key = (session, *map(" ".join, mine))
        if key not in done:
            done[key] = aligned(mine, theirs[session])
        found = done[key]
        place[own] = np.where(found >= 0, at[session][found], -1)
    return place


def aligned(rows: Sequence[Sequence[str]], turns: Sequence[Sequence[str]]) -> Ints:
    """Return the turn of each row (n_rows,), both as word sequences in order; -1 if it holds less than half its words.

    Rows may be parts of turns, and turns parts of rows. Whole rows that equal whole turns are settled first; what lies
    between is aligned word by word.

    Examples
    --------
    >>> aligned([["so"], ["how", "are", "you"], ["well"]], [["so", "how", "are", "you"], ["well"]]).tolist()
    [0, 0, 1]
    """
    found = np.full(len(rows), -1, dtype=np.int64)
    whole = SequenceMatcher(None, [" ".join(one) for one in rows], [" ".join(one) for one in turns], autojunk=False)
    for kind, i, j, k, m in whole.get_opcodes():
        if kind == "equal":
            found[i:j] = np.arange(k, m)
        elif kind == "replace":
            inner = _by_word(rows[i:j], turns[k:m])
            found[i:j] = np.where(inner >= 0, inner + k, -1)
    return found


def _by_word(rows: Sequence[Sequence[str]], turns: Sequence[Sequence[str]]) -> Ints:
    mine = [(word, at) for at, row in enumerate(rows) for word in row]
    theirs = [(word, at) for at, turn in enumerate(turns) for word in turn]
    votes = np.zeros((len(rows), len(turns)), dtype=np.int64)
    matcher = SequenceMatcher(None, [word for word, _ in mine], [word for word, _ in theirs], autojunk=False)
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            votes[mine[block.a + step][1], theirs[block.b + step][1]] += 1
    enough = votes.sum(axis=1) >= np.maximum(1, HALF * np.array([len(row) for row in rows]))
    return np.where(enough, votes.argmax(axis=1), -1).astype(np.int64)
