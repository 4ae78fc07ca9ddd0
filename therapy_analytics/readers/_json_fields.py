"""What one message in JSON says: who speaks, what, and when, under the many names of its fields.

Thoughts of a model, pictures and calls of tools are no words of it; they are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._times import NEVER, Span, name_and_unit, span

Message = Mapping[str, Any]
Numbered = tuple[int, Message]
"""A message and its place in the file, from 1."""

_SESSION = (
    *("session_id", "conversation_id", "conv_id", "dialogue_id", "dialog_id", "chat_id", "thread_id"),
    *("session", "root"),
)
_ROLE = ("role", "participant_role", "speaker_role", "author_role", "sender_role", "from")
_NAMED = (
    *("speaker_name", "speaker_display_name", "display_name", "sender_name", "author_name", "participant_name"),
    *("user_name",),
)
_SPEAKER = (
    *_NAMED,
    *("speaker", "speaker_label", "speaker_tag", "speaker_id", "interlocutor", "author", "sender"),
    *("participant", "participant_details", "voice", "name", "username", "user", "users", "who", "from"),
    *("participant_id", "sender_id", "character", "agent"),
)
_TEXT = (
    *("content", "text", "value", "message", "utterance", "utterance_text", "body", "transcript", "parts"),
    *("spoken_text", "display_text", "sentence", "transcription", "sentences", "elements", "n_best", "words", "turn"),
)
_START = (
    *("start", "start_time", "start_date_time", "start_offset", "timestamp", "timestamps", "begin", "time", "ts"),
    *("create_time", "created_at", "created_date_time", "date", "datetime", "sent_at", "time_begin", "data_start"),
    *("begin_audio_time", "begin_offset", "begin_time", "offset", "adjusted_start", "instances"),
)
_END = (
    *("end", "end_time", "end_date_time", "end_offset", "stop", "time_end", "data_end", "end_audio_time"),
    *("stop_time", "adjusted_end"),
)
_LASTS = ("duration", "dur")
_CALLS = ("tool_calls", "function_call")
NOT_SPOKEN = frozenset({"system", "tool", "function", "developer"})
NOBODY = frozenset({"", "?", "uu", "unknown", "unk", "none", "null", "n/a"})
"""What stands for a speaker whom a recogniser could not tell."""
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_WITH_WORDS = frozenset((*_TEXT, *_CALLS, *_THOUGHTS))
_OF_THINGS = frozenset({"name", "username", "user", "character", "agent"})
"""Fields that name other things than speakers as well: enough beside words, not beside a `value`."""
_LISTS_OF_WORDS = frozenset({"words", "turn"})
"""Fields that are of the speech only where they hold a text, or all that there is of it."""
_PARTS = frozenset({"n_best", "sentences", "elements", "words"})
"""Fields that hold a list of what is said in one segment, or of what may have been."""
_INSIDE = ("name", "display_name", "real_name", "username", "user", "speaker_name", "id")
_ROLE_INSIDE = ("role", "participant_role")
_CODE = re.compile(
    r"(?:.*_)?(?:strateg(?:y|ies)|labels?|codes?|behaviou?rs?|(?:talk|sub)_?type|acts?|intent|emotions?|misc|miti)"
)
_CONTENT = (str, list, int, float, dict)
_CODED = frozenset({"annotation", "annotations", "meta"})
_MOST_FIELDS = 200
_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THINKING_KINDS = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thoughts", "reasoning_recap"}
)
_TOOLS = frozenset({"tool_use", "tool_call", "tool_result", "function_call", "server_tool_use"})
_WORDS_OF_PART = ("text", "refusal", "transcript", "value", "display")
_OF_THOUGHTS = frozenset({"thinking", "text", "reasoning", "content", "summary"})
_BY_LINE = frozenset({"content", "parts", "message"})
_BY_SPACE = frozenset({"sentences", "words", "turn"})
_LIKELIEST_FIRST = "n_best"
_AT_CHANGES = "names stand only where the speaker changes"
_ORDER = {
    "item": ("item", "among the messages without a speaker or words", "left out."),
    "hidden": ("message", "that the chat does not show, or that weigh nothing,", "left out."),
    "branch": ("message", "of branches that were edited or tried again", "left out."),
    "thought": ("part", "in which a model thinks to itself", "left out."),
    "picture": ("part", "without text (a picture, sound, a file)", "left out."),
    "tool": ("call", "of a tool", "left out."),
    "replaced": ("segment", "that a later one takes the place of", "left out."),
    "carried": ("segment", "without a speaker", f"went to the speaker before: {_AT_CHANGES}."),
    "nobody": ("segment", "without a speaker", "stayed without one, in neither role."),
}
Left = Counter[str]
"""What was left out, by kind, and how many words of the kinds where there are any."""


class Plan(NamedTuple):
    """Which fields of a message hold what; messages with the same fields share one."""

    roles: tuple[str, ...]
    speakers: tuple[str, ...]
    texts: tuple[str, ...]
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    lasts: tuple[str, ...]
    sessions: tuple[str, ...]
    codes: tuple[str, ...]
    kinds: frozenset[str]
    """The fields called ``type`` or ``from``, which say a role only now and then."""
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
    starts, ends, lasts = (_of_times(fields, wanted) for wanted in (_START, _END, _LASTS))
    return Plan(
        roles,
        speakers,
        texts,
        starts,
        ends,
        lasts,
        known(_SESSION),
        codes,
        frozenset(known(("type", "from"))),
        weak,
        silent,
    )


def _of_times(fields: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the fields of times, by their names without units; those that tell a unit are before others of a name."""
    ranks = {name: rank for rank, name in enumerate(wanted)}
    known = ((name_and_unit(field), field) for field in fields)
    found = [(ranks[name], unit is None, field) for (name, unit), field in known if name in ranks]
    return tuple(field for *_, field in sorted(found))


def field_plan(value: Any) -> Plan | None:
    """Return the plan of anything that can be a message."""
    return plan_of(tuple(value)) if isinstance(value, dict) else None


def first(message: Message, keys: Sequence[str]) -> Any:
    """Return the first value that is there."""
    for key in keys:
        if message[key] is not None:
            return message[key]
    return None


def times(message: Message, plan: Plan) -> Span:
    """Return when a message is said."""
    if not plan.starts and not plan.ends:
        return NEVER
    known = (plan.starts, plan.ends, plan.lasts)
    keys = [next((key for key in some if message[key] is not None), None) for some in known]
    units = [None if key is None else name_and_unit(key)[1] for key in keys]
    start, end, lasts = (None if key is None else message[key] for key in keys)
    return start if isinstance(start, Span) else span(*_begin_and_end(start, end), lasts, units)


def _begin_and_end(start: Any, end: Any) -> tuple[Any, Any]:
    """Take begin and end out of one list or object, into which some files put them."""
    if isinstance(start, list) and start and isinstance(start[0], dict):
        start = start[0]  # of the places where something is said, the first
    if isinstance(start, dict) and start.keys() & {"from", "start", "to", "end"}:
        return start.get("from", start.get("start")), start.get("to", start.get("end"))
    return (*start, None, None)[:2] if isinstance(start, list) else (start, end)


def words(message: Message, plan: Plan) -> tuple[Any, str]:
    """Return the content of a message and the name of its field; an empty one gives way to another."""
    for key in plan.texts:
        if message[key] and not (slug(key) in _LISTS_OF_WORDS and not isinstance(message[key], str)):
            return message[key], key
    return first(message, plan.texts), "content"


OUR_ROLES = frozenset({"therapist", "client", "other"})
"""Roles as this package writes them; beside an empty name they tell the role of somebody without one."""


def who(message: Message, plan: Plan, role: str | None) -> str | None:
    """Return who speaks: by name if there is one beside the role, unless it is no person at all."""
    if role is not None and role.lower() in NOT_SPOKEN:
        return role
    names = [name for key in plan.speakers if (name := person(message[key])) is not None]
    nameless = "" if names and (role is None or role in OUR_ROLES) else role
    return next(filter(str.strip, names), nameless)


def role_said(message: Message, plan: Plan) -> str | None:
    """Return what the message says of the speaker's role, beside or inside the speaker's name.

    A type says so only in the words of roles, and so does a field called ``from``, which may name a person.
    """
    for key in plan.roles:
        said = person(message[key], (*_ROLE_INSIDE, *_INSIDE))
        if said is not None and (key not in plan.kinds or role_of_label(said)):
            return said
    inside = (message[key] for key in (*plan.speakers, *plan.codes) if key in plan.speakers or slug(key) == "meta")
    return next((role for one in inside if isinstance(one, dict) and (role := person(one, _ROLE_INSIDE))), None)


def person(value: Any, wanted: Sequence[str] = _INSIDE) -> str | None:
    """Return a name; of an object the first of what is wanted of it."""
    for _ in range(3):
        if isinstance(value, list) and value:
            value = value[0]
        if not isinstance(value, dict):
            break
        known = {slug(key): one for key, one in value.items()}
        value = next((known[key] for key in wanted if known.get(key) is not None), None)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def is_message(value: Any) -> bool:
    """Return whether a value says who speaks and what; what may be null, as where a model calls a tool."""
    plan = field_plan(value)
    if plan is None or (who(value, plan, None) is None and role_said(value, plan) is None):
        return False
    said, _ = words(value, plan)
    return said is None or isinstance(said, _CONTENT)


def is_segment(value: Any) -> bool:
    """Return whether a value is a piece of recognised speech: words with a time, perhaps of nobody."""
    plan = field_plan(value)
    if plan is None or not plan.starts:
        return False
    said, key = words(value, plan)
    return isinstance(said, str) or (isinstance(said, list) and slug(key) in _PARTS)


def n_words(text: str) -> int:
    """Return how many words a text has, as spaces part them."""
    return len(text.split())


def notes(left: Left) -> tuple[str, ...]:
    """Say what was left out.

    Examples
    --------
    >>> notes(Counter({"thought": 2, "thought words": 7}))
    ('2 parts in which a model thinks to itself (7 words) left out.',)
    """
    return tuple(_note(left, kind) for kind in _ORDER if left[kind])


def _note(left: Left, kind: str) -> str:
    what, which, rest = _ORDER[kind]
    words = left[f"{kind} words"]
    number = f"({counted(words, 'word')}) " if words else ""
    return f"{counted(left[kind], what)} {which} {number}{rest}"


def words_of(content: Any, key: str, left: Left) -> str:
    """Return the words of a message's content, which may be a text, parts, or a wrapper around either.

    Parts under `content` are paragraphs; elsewhere (as in Telegram's `text`) they are pieces of one sentence.
    """
    if isinstance(content, str):
        return without_thoughts(content, left) if "<" in content else content
    if isinstance(content, dict):
        kind = str(content.get("content_type", content.get("type", "")))
        inner = content.get("parts", content.get("text", content.get("content", content.get("body"))))
        return _of_part(content, left) if kind in _THINKING_KINDS or inner is None else words_of(inner, "parts", left)
    if isinstance(content, list):
        content = content[:1] if key == _LIKELIEST_FIRST else content
        parts = list(filter(None, _parts(content, left)))
        in_one = any(part[-1:] == " " or part[:1] == " " for part in parts)
        glue = "" if in_one else "\n" if key in _BY_LINE else " " if key in _BY_SPACE else ""
        return glue.join(parts)
    return "" if content is None or isinstance(content, bool) else str(content)


def _parts(content: list[Any], left: Left) -> Iterator[str]:
    for part in content:
        if isinstance(part, str):
            yield without_thoughts(part, left) if "<" in part else part
        elif isinstance(part, dict):
            yield _of_part(part, left)


def _of_part(part: Mapping[str, Any], left: Left) -> str:
    kind = str(part.get("type", part.get("content_type", "")))
    if kind in _THINKING_KINDS or part.get("thought") is True:
        left["thought"] += 1
        thoughts = (item for key, item in part.items() if key in _OF_THOUGHTS and isinstance(item, str))
        left["thought words"] += sum(map(n_words, thoughts))
        return ""
    if kind in _TOOLS:
        left["tool"] += 1
        return ""
    words = next((part[name] for name in _WORDS_OF_PART if isinstance(part.get(name), str)), None)
    if words is None:
        left["picture"] += 1
        return ""
    return without_thoughts(words, left) if "<" in words else words


def without_thoughts(text: str, left: Left) -> str:
    """Cut out what a model thinks to itself; a thought that is never opened began with the message.

    Examples
    --------
    >>> left = Counter()
    >>> without_thoughts("<think>be kind</think>Hello.", left), without_thoughts("be kind</think>Hello.", left)
    ('Hello.', 'Hello.')
    >>> left["thought"]
    2
    """
    kept: list[str] = []
    begin, inside = 0, False
    for tag in _THINKING.finditer(text):
        closes = bool(tag[1])
        if not inside and not (closes and not kept):
            kept.append(text[begin : tag.start()])
        left["thought"] += not inside and (not closes or not kept)
        if inside or (closes and not kept):
            left["thought words"] += n_words(text[begin : tag.start()])
        begin, inside = tag.end(), not closes
    left["thought words"] += n_words(text[begin:]) if inside else 0
    return "".join(kept if inside else [*kept, text[begin:]]).strip()


def thinks_or_calls(message: Mapping[str, Any], words: str, left: Left) -> bool:
    """Count what a model does beside speaking; tell whether the message is nothing else."""
    only = False
    thoughts = [message[key] for key in _THOUGHTS if message.get(key)]
    if thoughts:
        left["thought"] += 1
        left["thought words"] += sum(n_words(one) for one in thoughts if isinstance(one, str))
        only = not words
    for key in _CALLS:
        calls = message.get(key)
        if calls:
            left["tool"] += len(calls) if isinstance(calls, list) else 1
            only = not words
    return only
