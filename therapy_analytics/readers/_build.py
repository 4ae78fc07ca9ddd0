"""From the rows of a file to a session: turns, roles, a safe id, metadata."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from therapy_analytics.readers._base import RawSession, ReadOptions, Row
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import Assignment, Hints, assign_roles, role_of_label
from therapy_analytics.session import Role, Session, Turn

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
        Its turns are never empty, and neighbouring turns have different speakers.
    """
    rows = [row for row in raw.rows if row.text.strip()]
    notes = list(raw.notes)
    if len(rows) < len(raw.rows):
        notes.append(f"{counted(len(raw.rows) - len(rows), 'row')} without words left out.")
    unnamed = sum(not row.speaker.strip() for row in rows)
    if unnamed:
        notes.append(f"{counted(unnamed, 'row')} without a speaker's name.")
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
        notes=(*notes, *found.notes),
    )


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
    for group in spoken:
        if group[0].role is None:
            said.setdefault(_key(group[0].speaker), []).extend(row.text for row in group)
    hints = Hints(options.therapist, options.client, metadata.get("counselor", ""), metadata.get("client", ""))
    return assign_roles(said, hints)


def _role(row: Row, found: Assignment) -> Role:
    if row.role is not None:
        return row.role
    return found.roles.get(_key(row.speaker)) or role_of_label(row.speaker) or "other"


def _whole(text: str) -> str:
    """Replace halves of a letter, which JSON can hold and no file can: they would stop the run when written."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _turn(index: int, rows: list[Row], role: Role) -> Turn:
    return Turn(
        index=index,
        speaker=_whole(" ".join(rows[0].speaker.split())),
        role=role,
        text=_whole("\n".join(row.text.strip() for row in rows)),
        first_row=rows[0].place,
        start_s=rows[0].start_s,
        end_s=rows[-1].end_s,
    )
