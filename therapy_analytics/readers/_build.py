"""From the rows of a file to a session: turns, roles, a safe id, metadata."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from therapy_analytics.readers._base import RawSession, ReadOptions, Row
from therapy_analytics.readers._marks import split_marks
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import Assignment, Hints, assign_roles, role_of_label
from therapy_analytics.session import Mark, Role, Session, Turn

MAX_ID = 80
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session comes from and what it is to be called."""

    source_file: str
    session_id: str


def build_session(raw: RawSession, place: Place, metadata: Mapping[str, str], options: ReadOptions) -> Session:
    """Merge rows of one speaker into turns and settle the roles.

    Parameters
    ----------
    raw : RawSession
        As the reader found it.
    place : Place
        File and id.
    metadata : mapping
        What is known of the session from the file and from a table beside it.
    options : ReadOptions
        What the user says.

    Returns
    -------
    Session
        Its turns hold words or speech marks, and neighbouring turns have different speakers.
    """
    rows = _without_empty_times([row for row in raw.rows if row.text.strip()])
    spoken = [list(group) for _, group in groupby(rows, key=lambda row: (_key(row.speaker), row.role))]
    found = _roles(spoken, metadata, options)
    turns = tuple(_turn(index, group, _role(group[0], found)) for index, group in enumerate(spoken))
    return Session(
        id=place.session_id,
        source_file=place.source_file,
        turns=turns,
        metadata=dict(metadata),
        role_method=found.method,
        role_margin=found.margin,
        notes=(*raw.notes, *_losses(raw.rows, rows), *found.notes),
    )


def _without_empty_times(rows: list[Row]) -> list[Row]:
    """Drop times that are 0 throughout: a form that must have times was given none."""
    if len(rows) < 2 or any(row.start_s or row.end_s for row in rows):
        return rows
    return [replace(row, start_s=None, end_s=None) for row in rows]


def _losses(all_rows: Sequence[Row], rows: Sequence[Row]) -> Iterator[str]:
    """Say what of the file's rows is not in the session, or not as it should be."""
    if len(rows) < len(all_rows):
        yield f"{counted(len(all_rows) - len(rows), 'row')} without words left out."
    unnamed = sum(not row.speaker.strip() for row in rows)
    if unnamed:
        yield f"{counted(unnamed, 'row')} without a speaker's name."
    starts = [row.start_s for row in rows if row.start_s is not None]
    back = sum(later < earlier for earlier, later in pairwise(starts))
    if back:
        yield f"Times run back at {counted(back, 'place')}; the order of the file was kept."


def fingerprint(session: Session) -> bytes:
    """Return a hash of who says what: two sessions of one hash are one session under two names."""
    said = ((turn.role, turn.text.casefold().split()) for turn in session.turns)
    return hashlib.sha256(repr(list(said)).encode("utf-8", "replace")).digest()


def safe_id(name: str) -> str:
    """Return a name that is safe as a folder on every system.

    Examples
    --------
    >>> safe_id("../Dr. Lee: session #3"), safe_id("CON"), safe_id("")
    ('Dr.-Lee-session-3', 'CON-', 'session')
    """
    plain = unicodedata.normalize("NFKC", name)
    cleaned = re.sub(r"[^\w.-]+", "-", plain).strip("-._ ") or "session"
    if _DEVICE.fullmatch(cleaned):
        cleaned = f"{cleaned}-"
    if len(cleaned.encode()) <= MAX_ID:
        return cleaned
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return cleaned.encode()[: MAX_ID - 9].decode("utf-8", "ignore") + f"-{digest}"


def unique_id(wanted: str, stem: str, taken: set[str]) -> str:
    """Return an id that no other session of the run has, upper and lower case aside, and take it."""
    for name in (wanted, safe_id(f"{stem}-{wanted}") if wanted != stem else wanted):
        if name.casefold() not in taken:
            taken.add(name.casefold())
            return name
    number = 2
    while f"{wanted}-{number}".casefold() in taken:
        number += 1
    taken.add(f"{wanted}-{number}".casefold())
    return f"{wanted}-{number}"


def _key(speaker: str) -> str:
    return " ".join(speaker.casefold().split())


def _roles(spoken: list[list[Row]], metadata: Mapping[str, str], options: ReadOptions) -> Assignment:
    said: dict[str, list[str]] = {}
    told: dict[str, Role] = {}
    for group in spoken:
        row = group[0]
        if row.role != "other":
            said.setdefault(_key(row.speaker), []).extend(row.text for row in group)
        if row.role in {"therapist", "client"}:
            told[_key(row.speaker)] = row.role
    names = metadata.get("counselor", ""), metadata.get("client", "")
    return assign_roles(said, Hints(options.therapist, options.client, *names, told))


def _role(row: Row, found: Assignment) -> Role:
    if row.role is not None and (row.role == "other" or found.method == "file"):
        return row.role
    return found.roles.get(_key(row.speaker)) or role_of_label(row.speaker) or "other"


def _whole(text: str) -> str:
    """Replace halves of a letter, which JSON can hold and no file can: they would stop the run when written."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _turn(index: int, rows: list[Row], role: Role) -> Turn:
    text, marks = _words_and_marks(rows)
    return Turn(
        index=index,
        speaker=_whole(" ".join(rows[0].speaker.split())),
        role=role,
        text=text,
        first_row=rows[0].place,
        start_s=rows[0].start_s,
        end_s=_end(rows),
        marks=marks,
        gold=_gold(rows),
    )


def _end(rows: list[Row]) -> float | None:
    """Return when a turn ends; a row that ends when it begins, or before, says nothing of its end."""
    last = rows[-1]
    return last.end_s if last.end_s is None or last.start_s is None or last.end_s > last.start_s else None


def _words_and_marks(rows: list[Row]) -> tuple[str, tuple[Mark, ...]]:
    """Join the words of a turn's rows and move the marks of each row along."""
    lines: list[str] = []
    marks: list[Mark] = []
    length = 0
    for row in rows:
        words, found = split_marks(_whole(row.text))
        begin = length + bool(lines and words)
        marks.extend(replace(mark, at=begin + mark.at) for mark in found)
        if words:
            lines.append(words)
            length = begin + len(words)
    return " ".join(lines), tuple(marks)


def _gold(rows: list[Row]) -> Mapping[str, str]:
    """Join what people coded in the rows of a turn, each different code once, in order."""
    if len(rows) == 1 or not any(row.gold for row in rows):
        return rows[0].gold
    codes: dict[str, dict[str, None]] = {}
    for row in rows:
        for column, value in row.gold.items():
            codes.setdefault(column, {}).update(dict.fromkeys(value.split(";")))
    return {column: ";".join(filter(None, values)) for column, values in codes.items()}
