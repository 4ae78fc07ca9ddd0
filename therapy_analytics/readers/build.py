"""From the rows of a file to a session: turns, roles, a safe id, metadata."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice, pairwise

from therapy_analytics.core.printable import counted
from therapy_analytics.core.session import Role, Session, SpeechMark, Turn
from therapy_analytics.readers._labels import misspelled, unnumbered, without_number
from therapy_analytics.readers._notes import passed_over_note
from therapy_analytics.readers.base import RawSession, ReadOptions, Row
from therapy_analytics.readers.marks import split_marks
from therapy_analytics.readers.roles import Assignment, Hints, assign_roles, role_of_label

_FEWEST_NUMBERED = 5
_SYSTEM = frozenset({"system"})
_WRITTEN = _SYSTEM | {"tool", "function", "developer"}
"""Labels of what is written to a model, or comes from a tool, in the log of a chat."""
_MODEL_WORDS = "user assistant human ai model gpt bot chatbot chatgpt claude gemini"
_IN_MODEL_CHATS = _WRITTEN | frozenset(_MODEL_WORDS.split())
_MANNER = re.compile(r"(?<=\w) ?\((?:(?:through|via) [^()]{1,40}|in [A-Z][a-z]+|(?!sibling)[a-z]+(?:ing|ly))\)\s*\Z")
"""How something is said, behind a label: ``(crying)``, ``(through interpreter)``, ``(in English)``."""
_AT_A_TIME = 10_000
_WORD = re.compile(r"\S+")


def build_session(
    raw: RawSession, session_id: str, source_file: str, metadata: Mapping[str, str], options: ReadOptions
) -> Session:
    """Merge rows of one speaker into turns and assign the roles.

    Parameters
    ----------
    raw : RawSession
        As the reader found it.
    session_id, source_file : str
        The id of the session, and the file as results and messages show it.
    metadata : mapping of str to str
        What is known of the session from the file and from tables about sessions.
    options : ReadOptions
        Of the run.

    Returns
    -------
    Session
        Its turns hold words or speech marks, and successive turns have different speakers.
    """
    filled = [row for row in raw.rows if row.text.strip()]
    rows, prompts = _without_prompts(filled)
    rows, misspellings = _with_spelled_roles(_without_turn_numbers(_without_zero_times(rows)))
    keys = {label: _key(label) for label in {row.speaker for row in rows}}
    written = {label: _written(label) for label in keys}
    groups = [list(group) for _, group in groupby(rows, key=lambda row: (keys[row.speaker], row.role))]
    found = _roles(groups, keys, metadata, options)
    return Session(
        id=session_id,
        source_file=source_file,
        turns=tuple(
            _turn(index, group, written[group[0].speaker], _role(group[0], keys[group[0].speaker], found))
            for index, group in enumerate(groups)
        ),
        metadata=_storable_texts(metadata),
        role_method=found.method,
        role_margin=found.margin,
        notes=(
            *raw.notes,
            *prompts,
            *passed_over_note(raw.passed_over),
            *_misspelling_note(sum(misspellings.values())),
            *_row_notes(len(raw.rows) - len(filled), rows),
            *found.notes,
        ),
        passed_over={**raw.passed_over, **misspellings},
    )


def _key(label: str) -> str:
    """Return what all spellings of one speaker have in common."""
    return " ".join(_MANNER.sub("", label).split()).casefold()


def _written(label: str) -> str:
    """Return a label as turns carry it."""
    return _storable(" ".join(_MANNER.sub("", label).split()))


def _without_prompts(rows: list[Row]) -> tuple[list[Row], tuple[str, ...]]:
    """Leave out what is written to a model, or by a tool of it, which nobody says; return a note that counts it.

    Messages of the system are always left out, those of tools and developers where all speakers have labels of a chat
    with a model, or where the file says that they are of neither role: a developer may be a client as well.
    """
    labels = {row.speaker: row.speaker.strip().casefold() for row in rows}
    written = _WRITTEN if set(labels.values()) <= _IN_MODEL_CHATS else _SYSTEM
    kept: list[Row] = []
    out: list[Row] = []
    for row in rows:
        is_prompt = labels[row.speaker] in (_WRITTEN if row.role == "other" else written)
        (out if is_prompt else kept).append(row)
    if not out or not kept:
        return rows, ()
    n_words = counted(sum(len(row.text.split()) for row in out), "word")
    only_system = all(labels[row.speaker] in _SYSTEM for row in out)
    who = "system" if only_system else "system, a tool or a developer"
    return kept, (f"{counted(len(out), 'message')} of the {who} ({n_words}) left out.",)


def _without_zero_times(rows: list[Row]) -> list[Row]:
    """Drop times that are 0 throughout: a format that must have times was given none."""
    times = {time for row in rows for time in (row.start_s, row.end_s)}
    if times - {None} != {0.0} or (len(rows) == 1 and None in times):
        return rows
    return [replace(row, start_s=None, end_s=None) for row in rows]


def _without_turn_numbers(rows: list[Row]) -> list[Row]:
    """Take the numbers of turns off labels such as T1, C1, T2, C2; a turn may have several rows."""
    labels = [label for label, _ in groupby(row.speaker for row in rows)]
    plain = unnumbered(labels) if len(set(labels)) >= _FEWEST_NUMBERED else labels
    if plain == labels:
        return rows
    counting = {label: without_number(label) for label, other in zip(labels, plain, strict=True) if label != other}
    return [replace(row, speaker=counting.get(row.speaker, row.speaker)) for row in rows]


def _with_spelled_roles(rows: list[Row]) -> tuple[list[Row], dict[str, int]]:
    """Give turns with a misspelled role to that role; return the misspelled labels with their numbers of turns."""
    keys = {label: _key(label) for label in dict.fromkeys(row.speaker for row in rows)}
    turns = [key for key, _ in groupby(keys[row.speaker] for row in rows)]
    meant = misspelled(turns)
    if meant:
        with_role = {keys[row.speaker] for row in rows if row.role is not None}
        meant = {label: role for label, role in meant.items() if label not in with_role}
    if not meant:
        return rows, {}
    written = {keys[label]: _written(label) for label in reversed(keys)}
    spelled = {label: written[meant[key]] for label, key in keys.items() if key in meant}
    rows = [replace(row, speaker=spelled[row.speaker]) if row.speaker in spelled else row for row in rows]
    return rows, {written[label]: turns.count(label) for label in meant}


def _misspelling_note(n: int) -> Iterator[str]:
    if n:
        was, them = ("was", "it") if n == 1 else ("were", "them")
        yield (
            f"{counted(n, 'turn')} whose label is one letter away from that of a role {was} read as of that role: "
            f"`tanalyze inspect` lists {them}."
        )


def _row_notes(n_empty: int, rows: Sequence[Row]) -> Iterator[str]:
    """Say which rows of the file are not in the session, or not as they should be."""
    if n_empty:
        yield f"{counted(n_empty, 'row')} without words left out."
    unnamed = sum(not row.speaker.strip() for row in rows)
    if unnamed:
        yield f"{counted(unnamed, 'row')} without a speaker's name."
    manner = sum(row.speaker.endswith(")") and _MANNER.search(row.speaker) is not None for row in rows)
    if manner:
        yield f"What stands in brackets behind {counted(manner, 'label')} says how something was said, not who said it."
    starts = [row.start_s for row in rows if row.start_s is not None]
    back = sum(later < earlier for earlier, later in pairwise(starts))
    if back:
        yield f"Times run back at {counted(back, 'place')}; the order of the file was kept."


def _roles(
    groups: list[list[Row]], keys: Mapping[str, str], metadata: Mapping[str, str], options: ReadOptions
) -> Assignment:
    texts: dict[str, list[str]] = {}
    told: dict[str, Role] = {}
    for group in groups:
        role = group[0].role
        key = keys[group[0].speaker] or role or ""  # of those without a name, each role is somebody
        if role != "other":
            texts.setdefault(key, []).extend(row.text for row in group)
        if role is not None and role != "other":
            told[key] = role
    names = metadata.get("counselor", ""), metadata.get("client", "")
    return assign_roles(texts, Hints(options.therapist, options.client, *names, told))


def _role(row: Row, key: str, found: Assignment) -> Role:
    if row.role is not None and (row.role == "other" or found.method == "file" or not key):
        return row.role
    return found.roles.get(key) or role_of_label(row.speaker) or "other"


def _turn(index: int, rows: list[Row], speaker: str, role: Role) -> Turn:
    first, last = rows[0], rows[-1]
    text, marks = _words_and_marks(rows)
    no_length = last.end_s is not None and last.start_s is not None and last.end_s <= last.start_s
    return Turn(
        index=index,
        speaker=speaker,
        role=role,
        text=text,
        first_row=first.place,
        start_s=first.start_s,
        end_s=None if no_length else last.end_s,
        marks=marks,
        gold=_storable_texts(_gold(rows)),
    )


def _words_and_marks(rows: list[Row]) -> tuple[str, tuple[SpeechMark, ...]]:
    """Join the words of a turn's rows and move the marks of each row along."""
    lines: list[str] = []
    marks: list[SpeechMark] = []
    length = 0
    for row in rows:
        words, found = split_marks(_storable(row.text))
        begin = length + bool(lines and words)
        marks.extend(replace(mark, at=begin + mark.at) for mark in found)
        if words:
            lines.append(words)
            length = begin + len(words)
    return " ".join(lines), tuple(marks)


def _gold(rows: list[Row]) -> Mapping[str, str]:
    """Join what people coded in the rows of a turn, each different code one time, in order."""
    if len(rows) == 1 or not any(row.gold for row in rows):
        return rows[0].gold
    codes: dict[str, dict[str, None]] = {}
    for row in rows:
        for column, value in row.gold.items():
            codes.setdefault(column, {}).update(dict.fromkeys(value.split(";")))
    return {column: ";".join(filter(None, values)) for column, values in codes.items()}


def _storable(text: str) -> str:
    """Replace halves of a surrogate pair, which JSON can hold and no file can."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _storable_texts(texts: Mapping[str, str]) -> dict[str, str]:
    return {_storable(name): _storable(value) for name, value in texts.items()}


def fingerprint(session: Session) -> bytes:
    """Return a hash of the words, turn by turn: two sessions of one hash are one session under two names.

    Roles are left out: a table about sessions can decide them by the ids, which depend on this hash.
    """
    digest = hashlib.sha256()
    for turn in session.turns:
        digest.update(b"\n:")
        words = (word[0] for word in _WORD.finditer(turn.text.casefold()))
        while some := " ".join(islice(words, _AT_A_TIME)):  # all words of a long turn would take much memory
            digest.update(f" {some}".encode("utf-8", "replace"))
    return digest.digest()
