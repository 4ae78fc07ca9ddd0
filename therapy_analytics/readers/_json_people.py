"""Speakers that a file names apart from what they say: tables of names by number, channels, times of speakers alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from therapy_analytics.readers._base import Row
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_fields import Message, field_plan, first, is_segment, person, role_said, times, who
from therapy_analytics.readers._json_speech import Timed, is_word, joined, word_of
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.session import Role

_TABLE_WORDS = """
speakers participants users members people persons actors characters interlocutors attendees agents roles personas
speaker_names speaker_map speaker_mapping speaker_labels speaker_roles participant_map names
"""
_TABLES = frozenset(_TABLE_WORDS.split())
_IDS = ("id", "speaker_id", "participant_id", "user_id", "key", "tag", "index", "speaker", "speaker_label", "label")
_NAMES = (
    *("name", "display_name", "speaker_name", "participant_name", "full_name", "real_name", "user_name", "username"),
    "label",
)
_ROLES = ("role", "participant_role", "speaker_role")
_CHANNEL = ("channel", "channel_tag", "channel_id", "channel_index", "channel_label")
_NUMBERED = re.compile(r"(?:(?:ch|channel)[ _-]?)?\d{1,2}", re.IGNORECASE)
_APART_WORDS = """
diarization diarisation diarize diarized segmentation speakers speaker_segments paragraphs turns speaker_turns rttm
"""
_APART = frozenset(_APART_WORDS.split())
"""Names of what holds the times of speakers without their words."""
_SAMPLE = 200
_DEEPEST = 4

Person = tuple[str, Role | None]


def table_of_people(value: Mapping[str, Any]) -> dict[str, Person]:
    """Return the names, and roles where they are said, of the people that an object lists by their numbers or ids.

    Examples
    --------
    >>> table_of_people({"speakers": [{"id": 0, "name": "Dr Lee"}, {"id": 1, "name": "Tom"}], "text": []})
    {'0': ('Dr Lee', 'therapist'), '1': ('Tom', None)}
    >>> table_of_people({"speaker_map": {"SPEAKER_00": "Therapist", "SPEAKER_01": "Tom"}})
    {'SPEAKER_00': ('Therapist', 'therapist'), 'SPEAKER_01': ('Tom', None)}
    """
    people: dict[str, Person] = {}
    for key, item in value.items():
        if slug(key) in _TABLES and isinstance(item, list | dict):
            pairs = item.items() if isinstance(item, dict) else ((None, one) for one in item[:_SAMPLE])
            people.update(found for identity, one in pairs if (found := _one(identity, one)))
    return people


def _one(identity: str | None, one: Any) -> tuple[str, Person] | None:
    if isinstance(one, str):
        return (identity, (one, role_of_label(one))) if identity is not None and one.strip() else None
    if not isinstance(one, dict):
        return None
    inner = one.get("meta")
    known = {slug(key): item for key, item in (*(inner.items() if isinstance(inner, dict) else ()), *one.items())}
    identity = _text(known, _IDS) if identity is None else identity
    role = _text(known, _ROLES)
    name = _text(known, _NAMES) or role or identity
    return None if identity is None or name is None else (identity, (name, role_of_label(role or name)))


def _text(known: Mapping[str, Any], names: Sequence[str]) -> str | None:
    values = (known[name] for name in names if isinstance(known.get(name), str | int))
    return next((str(value) for value in values if not isinstance(value, bool) and str(value).strip()), None)


def named(rows: list[Row], people: Mapping[str, Person]) -> list[Row]:
    """Return rows with the names of a table instead of numbers, where it has nearly all speakers, each another name."""
    labels = {row.speaker for row in rows if row.speaker.strip()}
    known = labels & people.keys()
    if not known or 2 * len(known) <= len(labels) or len({people[label][0] for label in known}) < len(known):
        return rows
    return [_with_name(row, *people[row.speaker]) if row.speaker in known else row for row in rows]


def _with_name(row: Row, name: str, role: Role | None) -> Row:
    return replace(row, speaker=name, role=row.role or _told(name, role))


def _told(name: str, role: Role | None) -> Role | None:
    """Return the role that a table says beside a name; of a name that says it itself, all labels are looked at."""
    return None if role_of_label(name) == role else role


def with_channels(items: list[Any]) -> list[Any]:
    """Take the channels of a recording as its speakers where nothing else tells who speaks.

    Where each channel numbers its own speakers, the channel goes to the number.
    """
    channels = [_channel(item) for item in items]
    if len({channel for channel in channels if channel}) < 2:
        return items
    names = [None if (plan := field_plan(item)) is None else who(item, plan, role_said(item, plan)) for item in items]
    if not any(names):
        both = zip(items, channels, strict=True)
        return [{**item, "speaker": channel} if channel else item for item, channel in both]
    pairs = {(name, channel) for name, channel in zip(names, channels, strict=True) if name and channel}
    if not all(_NUMBERED.fullmatch(name) for name, _ in pairs) or len({name for name, _ in pairs}) == len(pairs):
        return items
    return [
        {**item, "speaker": f"{name} ({channel})"} if name and channel else item
        for item, name, channel in zip(items, names, channels, strict=True)
    ]


def _channel(item: Any) -> str:
    """Return the channel of a timed segment as a label."""
    if not isinstance(item, dict) or not is_segment(item):
        return ""
    known = {slug(key): value for key, value in item.items()}
    value = str(next((known[key] for key in _CHANNEL if isinstance(known.get(key), str | int)), ""))
    return f"channel {value}" if value.isdecimal() else value if _NUMBERED.fullmatch(value) else ""


def spoken_apart(value: Mapping[str, Any]) -> list[Message]:
    """Return what is said in an object that has words or segments of nobody, and apart from them who speaks when."""
    if not any(slug(key) in _APART for key in value):
        return []
    texts = max(_lists(value, _unnamed_texts), key=len, default=[])
    speakers = max(_lists(value, _times_of_speakers), key=len, default=[])
    return joined(texts, speakers) if texts and len({one.what for one in speakers}) > 1 else []


def _lists(value: Any, read: Any, depth: int = _DEEPEST) -> Iterator[list[Timed]]:
    if isinstance(value, list):
        found = read(value)
        if found:
            yield found
            return
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inside if depth else ():
        if isinstance(item, list | dict):
            yield from _lists(item, read, depth - 1)


def _unnamed_texts(items: list[Any]) -> list[Timed]:
    """Return words of nobody, or segments; words are better, as a segment may be of two speakers."""
    if not items or not all(is_segment(item) or is_word(item) for item in items[:_SAMPLE]):
        return []
    words = [word for item in items if (word := word_of(item, longest=None)) and word.speaker is None]
    spans = [(word.text, word.when) for word in words]
    return [Timed(text, when.start.at, when.end.at) for text, when in spans if when.start and when.end]


def _times_of_speakers(items: list[Any]) -> list[Timed]:
    """Return when whom is heard, of a list that says nothing else."""
    found: list[Timed] = []
    for item in items:
        if not isinstance(item, dict) or any(slug(key) in {"text", "word", "content", "transcript"} for key in item):
            return []
        plan = field_plan({**item, "text": ""})
        name = None if plan is None else person(first(item, plan.speakers))
        when = None if plan is None else times(item, plan)
        if name is None or when is None or when.start is None or when.end is None:
            return []
        found.append(Timed(name, when.start.at, when.end.at))
    return found
