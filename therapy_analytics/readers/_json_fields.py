"""What a message looks like in JSON, under the many names of its fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._roles import role_of_label

Message = Mapping[str, Any]
Numbered = tuple[int, Message]
"""A message and its place in the file, from 1."""

_SESSION = (
    *("session_id", "conversation_id", "conv_id", "dialogue_id", "dialog_id", "chat_id", "thread_id"),
    *("session", "root"),
)
_ROLE = ("role", "from")
_SPEAKER = (
    *("speaker", "speaker_name", "speaker_label", "speaker_id", "interlocutor", "author", "sender", "sender_name"),
    *("participant", "participant_id", "participant_details", "name", "username", "user", "users", "who"),
)
_TEXT = (
    *("content", "text", "value", "message", "utterance", "utterance_text", "body", "transcript", "parts"),
    *("sentences", "elements", "n_best"),
)
_START = (
    *("start", "start_s", "start_time", "timestamp", "timestamps", "begin", "time", "ts", "create_time"),
    *("created_at", "timestamp_ms", "date", "datetime", "date_unixtime", "sent_at"),
    *("begin_audio_time", "begin_offset_millis", "offset_milliseconds", "offset_in_ticks"),
)
_END = ("end", "end_s", "end_time", "stop", "end_audio_time", "end_offset_millis")
_A_SECOND = {"begin_offset_millis": 1e3, "end_offset_millis": 1e3, "offset_milliseconds": 1e3, "offset_in_ticks": 1e7}
"""How many of the units of a time make a second."""
_CALLS = ("tool_calls", "function_call")
NOT_SPOKEN = frozenset({"system", "tool", "function", "developer"})
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_WITH_WORDS = frozenset((*_TEXT, *_CALLS, *_THOUGHTS))
_OF_THINGS = frozenset({"name", "username", "user"})
"""Fields that name other things than speakers as well: enough beside words, not beside a `value`."""
_INSIDE = ("role", "participant_role", "name", "display_name", "username", "user", "id")
_CODE = re.compile(
    r"(?:.*_)?(?:strateg(?:y|ies)|labels?|codes?|behaviou?rs?|(?:talk|sub)_?type|acts?|intent|emotions?|misc|miti)"
)
_CONTENT = (str, list, int, float, dict)
_CODED = frozenset({"annotation", "annotations", "meta"})
_MOST_FIELDS = 200


class Plan(NamedTuple):
    """Which fields of a message hold what; messages with the same fields share one."""

    roles: tuple[str, ...]
    speakers: tuple[str, ...]
    texts: tuple[str, ...]
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    sessions: tuple[str, ...]
    codes: tuple[str, ...]
    kind: str | None
    """The field called ``type``, which says a role only now and then."""
    weak: bool
    silent: bool
    """It may be no more than a thought of a model, or a call of a tool."""


@lru_cache(maxsize=4096)
def plan_of(fields: tuple[str, ...]) -> Plan | None:
    """Return what the fields of an object mean, if it can be a message."""
    if len(fields) > _MOST_FIELDS:
        return None
    names = {slug(field): field for field in fields}
    if _WITH_WORDS.isdisjoint(names):
        return None

    def known(wanted: Sequence[str]) -> tuple[str, ...]:
        return tuple(names[name] for name in wanted if name in names)

    roles, speakers, silent = known((*_ROLE, "type")), known(_SPEAKER), bool(known(_CALLS + _THOUGHTS))
    texts, weak = known(_TEXT), not known(_ROLE) and set(known(_SPEAKER)) <= set(known(tuple(_OF_THINGS)))
    if not (texts or silent) or (weak and texts == known(("value",))):
        return None
    codes = tuple(field for name, field in names.items() if name in _CODED or _CODE.fullmatch(name))
    times = known(_START), known(_END)
    return Plan(roles, speakers, texts, *times, known(_SESSION), codes, names.get("type"), weak, silent)


def field_plan(value: Any) -> Plan | None:
    """Return the plan of anything that can be a message."""
    return plan_of(tuple(value)) if isinstance(value, dict) else None


def first(message: Message, keys: Sequence[str]) -> Any:
    """Return the first value that is there."""
    for key in keys:
        if message[key] is not None:
            return message[key]
    return None


def times(message: Message, plan: Plan) -> tuple[Any, Any]:
    """Return begin and end as the message has them, in seconds where the names of the fields tell their units."""
    return _time(message, plan.starts), _time(message, plan.ends)


def _time(message: Message, keys: Sequence[str]) -> Any:
    key = next((key for key in keys if message[key] is not None), None)
    value = None if key is None else message[key]
    unit = None if key is None else _A_SECOND.get(slug(key))
    return value / unit if unit and isinstance(value, int | float) else value


def words(message: Message, plan: Plan) -> tuple[Any, str]:
    """Return the content of a message and the name of its field; an empty one gives way to another."""
    for key in plan.texts:
        if message[key]:
            return message[key], key
    return first(message, plan.texts), "content"


def who(message: Message, plan: Plan, role: str | None) -> str | None:
    """Return who speaks: by name if there is one beside the role, unless it is no person at all."""
    if not plan.speakers or (role is not None and role.lower() in NOT_SPOKEN):
        return role
    name = _person(first(message, plan.speakers))
    return role if name is None else name


def role_said(message: Message, plan: Plan) -> str | None:
    """Return what the message says of the speaker's role; a type says so only in the words of roles."""
    for key in plan.roles:
        said = _person(message[key])
        if said is not None and (key != plan.kind or role_of_label(said)):
            return said
    return None


def _person(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    for _ in range(3):
        if isinstance(value, list) and value:
            value = value[0]
        if not isinstance(value, dict):
            break
        known = {slug(key): one for key, one in value.items()}
        value = next((known[key] for key in _INSIDE if known.get(key) is not None), None)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def is_message(value: Any) -> bool:
    """Return whether a value says who speaks and what; what may be null, as where a model calls a tool."""
    plan = field_plan(value)
    if plan is None or (_person(first(value, plan.speakers)) is None and role_said(value, plan) is None):
        return False
    said, _ = words(value, plan)
    return said is None or isinstance(said, _CONTENT)


def is_segment(value: Any) -> bool:
    """Return whether a value is a piece of recognised speech: words with a time, perhaps of nobody."""
    plan = field_plan(value)
    return plan is not None and bool(plan.starts) and isinstance(words(value, plan)[0], str)
