"""One message in JSON: who speaks, what is said, and when, under the many names that its fields may have.

Reasoning of a model, pictures and tool calls are not part of the words; they are counted in a `Left`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._times import NEVER, Span, name_and_unit, span
from therapy_analytics.readers.roles import role_of_label

Message = Mapping[str, Any]
Numbered = tuple[int, Message]
"""A message and its place in the list, from 1."""
Left = Counter[str]
"""How many messages, or parts of messages, were left out, by kind (see `_LEFT_OUT`); under ``KIND words``, how many
words they have."""

_FIELDS = {
    "session": "session_id conversation_id conv_id dialogue_id dialog_id chat_id thread_id session root",
    "role": "role participant_role speaker_role author_role sender_role from type",
    "speaker": """
        speaker_name speaker_display_name display_name sender_name author_name participant_name user_name speaker
        speaker_label speaker_tag speaker_id interlocutor author sender participant participant_details voice name
        username user users who from participant_id sender_id character agent
    """,
    "text": """
        content text value message utterance utterance_text body transcript parts spoken_text display_text sentence
        transcription sentences elements n_best words turn
    """,
    "start": """
        start start_time start_date_time start_offset timestamp timestamps begin time ts create_time created_at
        created_date_time date datetime sent_at time_begin data_start begin_audio_time begin_offset begin_time offset
        adjusted_start instances
    """,
    "end": """
        end end_time end_date_time end_offset stop time_end data_end end_audio_time stop_time adjusted_end end_ts
    """,
    "duration": "duration dur",
    "call": "tool_calls function_call",
    "thought": "reasoning_content reasoning thinking",
    "word": "punctuated_word word text value content",
    "word_kind": "type",
    "word_speaker": "speaker speaker_label speaker_id speaker_tag",
    "word_start": "start start_time start_offset time_begin data_start ts begin_offset from",
    "word_end": "end end_time end_offset time_end data_end end_ts to",
}
"""Known names of fields by what they hold, the likeliest first; those of times without their units."""
FIELDS: Mapping[str, tuple[str, ...]] = {kind: tuple(names.split()) for kind, names in _FIELDS.items()}
_WITH_WORDS = frozenset(FIELDS["text"] + FIELDS["call"] + FIELDS["thought"])
_OF_THINGS = frozenset({"name", "username", "user", "character", "agent"})
"""Fields that do not always name a speaker: they are enough beside words, but not beside a field called `value`."""
_ROLES_NOW_AND_THEN = frozenset({"type", "from"})
_CODE = re.compile(
    r"(?:.*_)?(?:strateg(?:y|ies)|labels?|codes?|behaviou?rs?|(?:talk|sub)_?type|acts?|intent|emotions?|misc|miti)"
)
_CODED = frozenset({"annotation", "annotations", "meta"})
_MOST_FIELDS = 200
_LISTS_OF_WORDS = frozenset({"words", "turn"})
"""Fields that are taken for the words only where they hold a text, or where there is no other."""
_PARTS = frozenset({"n_best", "sentences", "elements", "words"})
"""Fields that hold a list: the sentences or words of one segment, or the alternatives that were recognised."""
_INSIDE = ("name", "display_name", "real_name", "username", "user", "speaker_name", "id")
_ROLE_INSIDE = ("role", "participant_role")
NOT_SPOKEN = frozenset({"system", "tool", "function", "developer"})
NOBODY = frozenset({"", "?", "uu", "unknown", "unk", "none", "null", "n/a"})
"""Labels of a speaker whom a recogniser could not identify."""
OUR_ROLES = frozenset({"therapist", "client", "other"})
"""Roles as this package writes them; beside an empty name they are the role of a speaker without a name."""
_CONTENT = (str, list, int, float, dict)
_TAG = "(?:think|thinking|thought|reasoning)>"
_THOUGHT = re.compile(
    rf"<{_TAG}(?P<closed>.*?)(?:</{_TAG}|\Z)|\A(?P<begun>(?:(?!<{_TAG}).)*)</{_TAG}|</{_TAG}", re.IGNORECASE | re.DOTALL
)
_THINKING_KINDS = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thoughts", "reasoning_recap"}
)
_TOOLS = frozenset({"tool_use", "tool_call", "tool_result", "function_call", "server_tool_use"})
_WORDS_OF_PART = ("text", "refusal", "transcript", "value", "display")
_OF_THOUGHTS = frozenset({"thinking", "text", "reasoning", "content", "summary"})
_GLUE = {
    **dict.fromkeys(("content", "parts", "message"), "\n"),
    **dict.fromkeys(("sentences", "words", "turn"), " "),
}
"""What joins the parts of a list of words, by the name of its field; others are joined by nothing."""
_LEFT_OUT = {
    "item": ("item", "among the messages without a speaker or words", "left out."),
    "hidden": ("message", "that the chat does not show, or that weigh nothing,", "left out."),
    "branch": ("message", "of branches that were edited or tried again", "left out."),
    "thought": ("part", "in which a model thinks to itself", "left out."),
    "picture": ("part", "without text (a picture, sound, a file)", "left out."),
    "tool": ("call", "of a tool", "left out."),
    "replaced": ("segment", "that a later one takes the place of", "left out."),
    "carried": (
        "segment",
        "without a speaker",
        "went to the speaker before: names stand only where the speaker changes.",
    ),
    "nobody": ("segment", "without a speaker", "stayed without one, in neither role."),
}


class Plan(NamedTuple):
    """Which fields of an object hold what, the likeliest first; objects with the same fields share one plan.

    `weak`: the fields that say who speaks may say something else. `silent`: the object may hold nothing but reasoning
    of a model, or a tool call.
    """

    roles: tuple[str, ...]
    speakers: tuple[str, ...]
    texts: tuple[str, ...]
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    lasts: tuple[str, ...]
    sessions: tuple[str, ...]
    codes: tuple[str, ...]
    weak: bool
    silent: bool


def _known(fields: Sequence[str], *kinds: str) -> tuple[str, ...]:
    """Return the fields of some kinds."""
    names = {slug(field): field for field in fields}
    return tuple(names[name] for kind in kinds for name in FIELDS[kind] if name in names)


def _times(fields: Sequence[str], kind: str) -> tuple[str, ...]:
    """Return the fields of times, known by their names without units; of two with one name, that with a unit first."""
    ranks = {name: rank for rank, name in enumerate(FIELDS[kind])}
    known = ((name_and_unit(field), field) for field in fields)
    found = [(ranks[name], unit is None, field) for (name, unit), field in known if name in ranks]
    return tuple(field for *_, field in sorted(found))


@lru_cache(maxsize=4096)
def plan_of(fields: tuple[str, ...]) -> Plan | None:
    """Return what the fields of an object mean; None if it cannot be a message."""
    if len(fields) > _MOST_FIELDS or _WITH_WORDS.isdisjoint(map(slug, fields)):
        return None
    roles, speakers, texts = (_known(fields, kind) for kind in ("role", "speaker", "text"))
    weak = all(slug(role) == "type" for role in roles) and _OF_THINGS.issuperset(map(slug, speakers))
    if weak and {"value"}.issuperset(map(slug, texts)):
        return None
    codes = tuple(field for field in fields if slug(field) in _CODED or _CODE.fullmatch(slug(field)))
    starts, ends, lasts = (_times(fields, kind) for kind in ("start", "end", "duration"))
    silent = bool(_known(fields, "call", "thought"))
    return Plan(roles, speakers, texts, starts, ends, lasts, _known(fields, "session"), codes, weak, silent)


def field_plan(value: Any) -> Plan | None:
    """Return the plan of any value; None if it cannot be a message."""
    return plan_of(tuple(value)) if isinstance(value, dict) else None


@lru_cache(maxsize=1024)
def word_plan(fields: tuple[str, ...]) -> Plan:
    """Return what the fields of a recognised word mean; `roles` are those that tell a word from a punctuation mark."""
    texts, speakers = _known(fields, "word"), _known(fields, "word_speaker")
    starts, ends, lasts = (_times(fields, kind) for kind in ("word_start", "word_end", "duration"))
    kinds = _known(fields, "word_kind")
    return Plan(kinds, speakers, texts, starts, ends, lasts, (), (), weak=False, silent=False)


def first(message: Message, keys: Sequence[str]) -> Any:
    """Return the first value that is not null."""
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
    """Return start and end, which some files put together into one list or object."""
    if isinstance(start, list) and start and isinstance(start[0], dict):
        start = start[0]  # the first of several occurrences
    if isinstance(start, dict) and start.keys() & {"from", "start", "to", "end"}:
        return start.get("from", start.get("start")), start.get("to", start.get("end"))
    return (*start, None, None)[:2] if isinstance(start, list) else (start, end)


def words(message: Message, plan: Plan) -> tuple[Any, str]:
    """Return the content of a message and the name of its field: the first that is not empty."""
    for key in plan.texts:
        if message[key] and not (slug(key) in _LISTS_OF_WORDS and not isinstance(message[key], str)):
            return message[key], key
    return first(message, plan.texts), "content"


def who(message: Message, plan: Plan, role: str | None) -> str | None:
    """Return who speaks: the name if there is one, else the role; the role also where it is that of no person."""
    if role is not None and role.lower() in NOT_SPOKEN:
        return role
    names = [name for key in plan.speakers if (name := person(message[key])) is not None]
    nameless = "" if names and (role is None or role in OUR_ROLES) else role
    return next(filter(str.strip, names), nameless)


def role_in(message: Message, plan: Plan) -> str | None:
    """Return the role of the speaker as the message gives it, in a field of its own or inside that of the speaker.

    Fields called ``type`` and ``from`` count only where their value is a known role: they may hold something else.
    """
    for key in plan.roles:
        role = person(message[key], (*_ROLE_INSIDE, *_INSIDE))
        if role is not None and (slug(key) not in _ROLES_NOW_AND_THEN or role_of_label(role)):
            return role
    inside = (message[key] for key in (*plan.speakers, *plan.codes) if key in plan.speakers or slug(key) == "meta")
    roles = (person(one, _ROLE_INSIDE) for one in inside if isinstance(one, dict))
    return next(filter(None, roles), None)


def person(value: Any, wanted: Sequence[str] = _INSIDE) -> str | None:
    """Return a name as a text; of an object, the first of the `wanted` fields."""
    for _ in range(3):
        if isinstance(value, list) and value:
            value = value[0]
        if not isinstance(value, dict):
            break
        known = {slug(key): one for key, one in value.items()}
        value = next((known[key] for key in wanted if known.get(key) is not None), None)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def is_message(value: Any) -> bool:
    """Return whether a value says who speaks and what; the words may be null, as where a model calls a tool."""
    plan = field_plan(value)
    if plan is None or (who(value, plan, None) is None and role_in(value, plan) is None):
        return False
    content, _ = words(value, plan)
    return content is None or isinstance(content, _CONTENT)


def is_segment(value: Any) -> bool:
    """Return whether a value is a segment of recognised speech: words with a time, perhaps of nobody."""
    plan = field_plan(value)
    if plan is None or not plan.starts:
        return False
    content, key = words(value, plan)
    return isinstance(content, str) or (isinstance(content, list) and slug(key) in _PARTS)


def n_words(text: str) -> int:
    """Return how many words a text has, divided at white space."""
    return len(text.split())


def notes(left: Left) -> tuple[str, ...]:
    """Return a note on each kind of what was left out.

    Examples
    --------
    >>> notes(Counter({"thought": 2, "thought words": 7}))
    ('2 parts in which a model thinks to itself (7 words) left out.',)
    """
    return tuple(_note(left, kind) for kind in _LEFT_OUT if left[kind])


def _note(left: Left, kind: str) -> str:
    what, which, rest = _LEFT_OUT[kind]
    words = left[f"{kind} words"]
    number = f"({counted(words, 'word')}) " if words else ""
    return f"{counted(left[kind], what)} {which} {number}{rest}"


def words_of(content: Any, key: str, left: Left) -> str:
    """Return the words of a message's content, which may be a text, a list of parts, or an object around either.

    Parts under `content` are paragraphs; elsewhere (as in Telegram's `text`) they are transcripts of one sentence.
    """
    if isinstance(content, str):
        return without_thoughts(content, left) if "<" in content else content
    if isinstance(content, dict):
        kind = str(content.get("content_type", content.get("type", "")))
        inner = content.get("parts", content.get("text", content.get("content", content.get("body"))))
        return _of_part(content, left) if kind in _THINKING_KINDS or inner is None else words_of(inner, "parts", left)
    if isinstance(content, list):
        content = content[:1] if key == "n_best" else content  # the likeliest comes first
        parts = list(filter(None, _parts(content, left)))
        have_spaces = any(part[-1:] == " " or part[:1] == " " for part in parts)
        return ("" if have_spaces else _GLUE.get(key, "")).join(parts)
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
    """Cut out the reasoning of a model in tags; where only the end tag is there, it began with the message.

    Examples
    --------
    >>> left = Counter()
    >>> without_thoughts("<think>be kind</think>Hello.", left), without_thoughts("be kind</think>Hello.", left)
    ('Hello.', 'Hello.')
    >>> left["thought"]
    2
    """
    for thought in _THOUGHT.finditer(text):
        words = thought["closed"] if thought["closed"] is not None else thought["begun"]
        left["thought"] += words is not None
        left["thought words"] += n_words(words or "")
    return _THOUGHT.sub("", text).strip()


def thinks_or_calls(message: Mapping[str, Any], words: str, left: Left) -> bool:
    """Count reasoning and tool calls beside the words; return whether the message is nothing else."""
    thoughts = [message[key] for key in FIELDS["thought"] if message.get(key)]
    calls = [message[key] for key in FIELDS["call"] if message.get(key)]
    left["thought"] += bool(thoughts)
    left["thought words"] += sum(n_words(one) for one in thoughts if isinstance(one, str))
    left["tool"] += sum(len(call) if isinstance(call, list) else 1 for call in calls)
    return bool(thoughts or calls) and not words
