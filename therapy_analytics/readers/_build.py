"""From the rows of a file to a session: turns, roles, a safe id, metadata."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from therapy_analytics.readers._base import RawSession, ReadOptions, Row
from therapy_analytics.readers._labels import misspelled, unnumbered, without_number
from therapy_analytics.readers._marks import split_marks
from therapy_analytics.readers._notes import counted, passed_over_note
from therapy_analytics.readers._roles import Assignment, Hints, assign_roles, role_of_label
from therapy_analytics.session import Role, Session, SpeechMark, Turn

MAX_ID = 80
_FEWEST_NUMBERED = 5
_SEVERAL = 2
_SYSTEM = frozenset({"system"})
_WRITTEN = _SYSTEM | {"tool", "function", "developer"}
"""Labels of what is written to a model, or comes from a tool, in the log of a chat."""
_MODEL_WORDS = "user assistant human ai model gpt bot chatbot chatgpt claude gemini"
_OF_MODELS = _WRITTEN | frozenset(_MODEL_WORDS.split())
_MANNER = re.compile(r"(?<=\w) ?\((?:(?:through|via) [^()]{1,40}|in [A-Z][a-z]+|(?!sibling)[a-z]+(?:ing|ly))\)\s*\Z")
"""How something is said, behind a label: ``(crying)``, ``(through interpreter)``, ``(in English)``."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session comes from and what it is to be called."""

    source_file: str
    session_id: str


class _Label(NamedTuple):
    """What two spellings of one speaker have in common, and the label as turns carry it."""

    key: str
    written: str

    @classmethod
    def of(cls, label: str) -> _Label:
        words = _MANNER.sub("", label).split()
        return cls(" ".join(words).casefold(), _whole(" ".join(words)))


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
    filled = [row for row in raw.rows if row.text.strip()]
    spoken_rows, prompts = _without_prompts(filled)
    rows, slips = _spelled(_without_numbers(_without_empty_times(spoken_rows)))
    labels = {label: _Label.of(label) for label in {row.speaker for row in rows}}
    spoken = [list(group) for _, group in groupby(rows, key=lambda row: (labels[row.speaker].key, row.role))]
    found = _roles(spoken, labels, metadata, options)
    turns = [_turn(index, group, labels[group[0].speaker], found) for index, group in enumerate(spoken)]
    return Session(
        id=place.session_id,
        source_file=place.source_file,
        turns=tuple(turns),
        metadata=_facts(metadata),
        role_method=found.method,
        role_margin=found.margin,
        notes=(
            *raw.notes,
            *prompts,
            *passed_over_note(raw.passed_over),
            *_slips_note(slips),
            *_losses(len(raw.rows) - len(filled), rows),
            *found.notes,
        ),
        passed_over={**raw.passed_over, **slips},
    )


def _without_prompts(rows: list[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """Leave out what is written to a model, or by a tool of it, which nobody says; return a note that counts it.

    The system's messages are always left out, those of tools and developers where all speakers have labels of a chat
    with a model, or where the file tells that they are of neither role: a developer may be a client as well.
    """
    labels = {row.speaker: row.speaker.strip().casefold() for row in rows}
    written = _WRITTEN if set(labels.values()) <= _OF_MODELS else _SYSTEM
    gone = [labels[row.speaker] in (_WRITTEN if row.role == "other" else written) for row in rows]
    if not any(gone) or all(gone):
        return rows, ()
    out = [row for row, is_gone in zip(rows, gone, strict=True) if is_gone]
    n_words = counted(sum(len(row.text.split()) for row in out), "word")
    only_system = all(labels[row.speaker] in _SYSTEM for row in out)
    who = "system" if only_system else "system, a tool or a developer"
    note = f"{counted(len(out), 'message')} of the {who} ({n_words}) left out."
    return [row for row, is_gone in zip(rows, gone, strict=True) if not is_gone], (note,)


def _without_empty_times(rows: list[Row]) -> list[Row]:
    """Drop times that are 0 throughout: a form that must have times was given none."""
    times = {row.start_s for row in rows} | {row.end_s for row in rows}
    if times - {None} != {0.0} or (len(rows) < _SEVERAL and None in times):
        return rows
    return [replace(row, start_s=None, end_s=None) for row in rows]


def _without_numbers(rows: list[Row]) -> list[Row]:
    """Take the numbers of turns off their speakers; a turn may have several rows."""
    labels = [label for label, _ in groupby(row.speaker for row in rows)]
    plain = unnumbered(labels) if len(set(labels)) >= _FEWEST_NUMBERED else labels
    if plain is labels:
        return rows
    counted_off = {label: without_number(label) for label, other in zip(labels, plain, strict=True) if label != other}
    return [replace(row, speaker=counted_off.get(row.speaker, row.speaker)) for row in rows]


def _spelled(rows: list[Row]) -> tuple[list[Row], dict[str, int]]:
    """Give the turns with a misspelled role to that role; return what was misspelled, and how many turns had it."""
    labels = {speaker: _Label.of(speaker) for speaker in dict.fromkeys(row.speaker for row in rows)}
    turns = [key for key, _ in groupby(labels[row.speaker].key for row in rows)]
    meant = misspelled(turns)
    told = {labels[row.speaker].key for row in rows if row.role is not None} if meant else set()
    meant = {slip: role for slip, role in meant.items() if slip not in told}
    if not meant:
        return rows, {}
    written = {label.key: label.written for label in reversed(labels.values())}
    slips = {written[slip]: turns.count(slip) for slip in meant}
    keys = {label: meant.get(one.key) for label, one in labels.items()}
    return [replace(row, speaker=written[role]) if (role := keys[row.speaker]) else row for row in rows], slips


def _slips_note(slips: Mapping[str, int]) -> Iterator[str]:
    n = sum(slips.values())
    if n:
        was, that = ("was", "it") if n == 1 else ("were", "them")
        yield (
            f"{counted(n, 'turn')} whose label is one letter away from that of a role {was} read as of that role: "
            f"`tanalyze inspect` lists {that}."
        )


def _losses(n_empty: int, rows: Sequence[Row]) -> Iterator[str]:
    """Say what of the file's rows is not in the session, or not as it should be."""
    if n_empty:
        yield f"{counted(n_empty, 'row')} without words left out."
    unnamed = sum(not row.speaker.strip() for row in rows)
    if unnamed:
        yield f"{counted(unnamed, 'row')} without a speaker's name."
    starts = [row.start_s for row in rows if row.start_s is not None]
    manner = sum(row.speaker.endswith(")") and _MANNER.search(row.speaker) is not None for row in rows)
    if manner:
        yield f"What stands in brackets behind {counted(manner, 'label')} says how something was said, not who said it."
    back = sum(later < earlier for earlier, later in pairwise(starts))
    if back:
        yield f"Times run back at {counted(back, 'place')}; the order of the file was kept."


def fingerprint(session: Session) -> bytes:
    """Return a hash of the words, turn by turn: two sessions of one hash are one session under two names.

    Roles are left out: a table about sessions can decide them, and its rows go by ids, which this hash is to settle.
    """
    digest = hashlib.sha256()
    for turn in session.turns:
        digest.update(b"\n:")
        words = " ".join(turn.text.casefold().split())
        digest.update(f" {words}".encode("utf-8", "replace") if words else b"")
    return digest.digest()


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


def unique_id(wanted: str, stem: str, taken: dict[str, int]) -> str:
    """Return an id that no other session of the run has, upper and lower case aside, and take it.

    With each id goes the last number that was given to it, so that no number is tried twice.
    """
    for name in (wanted, safe_id(f"{stem}-{wanted}") if wanted != stem else wanted):
        if name.casefold() not in taken:
            taken[name.casefold()] = 1
            return name
    number = taken[wanted.casefold()] + 1
    while f"{wanted}-{number}".casefold() in taken:
        number += 1
    taken[wanted.casefold()] = number
    taken[f"{wanted}-{number}".casefold()] = 1
    return f"{wanted}-{number}"


def _roles(
    spoken: list[list[Row]], labels: Mapping[str, _Label], metadata: Mapping[str, str], options: ReadOptions
) -> Assignment:
    said: dict[str, list[str]] = {}
    told: dict[str, Role] = {}
    for group in spoken:
        role = group[0].role
        key = labels[group[0].speaker].key or role or ""  # of those without a name, each role is somebody
        if role != "other":
            said.setdefault(key, []).extend([row.text for row in group])
        if role is not None and role != "other":
            told[key] = role
    names = metadata.get("counselor", ""), metadata.get("client", "")
    return assign_roles(said, Hints(options.therapist, options.client, *names, told))


def _role(row: Row, label: _Label, found: Assignment) -> Role:
    if row.role is not None and (row.role == "other" or found.method == "file" or not label.key):
        return row.role
    return found.roles.get(label.key) or role_of_label(row.speaker) or "other"


def _whole(text: str) -> str:
    """Replace halves of a letter, which JSON can hold and no file can: they would stop the run when written."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _facts(said: Mapping[str, str]) -> dict[str, str]:
    return {_whole(name): _whole(value) for name, value in said.items()}


def _turn(index: int, rows: list[Row], label: _Label, found: Assignment) -> Turn:
    first = rows[0]
    text, marks = split_marks(_whole(first.text)) if len(rows) == 1 else _words_and_marks(rows)
    return Turn(
        index=index,
        speaker=label.written,
        role=_role(first, label, found),
        text=text,
        first_row=first.place,
        start_s=first.start_s,
        end_s=_end(rows),
        marks=marks,
        gold=_facts(_gold(rows)),
    )


def _end(rows: list[Row]) -> float | None:
    """Return when a turn ends; a row that ends when it begins, or before, says nothing of its end."""
    last = rows[-1]
    return last.end_s if last.end_s is None or last.start_s is None or last.end_s > last.start_s else None


def _words_and_marks(rows: list[Row]) -> tuple[str, tuple[SpeechMark, ...]]:
    """Join the words of a turn's rows and move the marks of each row along."""
    lines: list[str] = []
    marks: list[SpeechMark] = []
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
