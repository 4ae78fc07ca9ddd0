"""What an object says of the session in it: its name, its date, short facts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import Any

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._facts import is_fact, may_be_fact, names_fact
from therapy_analytics.readers._json_words import Left, words_of
from therapy_analytics.readers._times import date_of, day

NAMES = (
    *("session_id", "id", "conversation_id", "conv_id", "dialogue_id", "dialog_id", "chat_id", "uuid"),
    *("session", "name", "title"),
)
_DATES = ("create_time", "created_at", "start_time", "started_at", "timestamp", "created")
_LONGEST_NAME = 100
"""Names, as those of models, may be longer than a fact in words: they have digits or signs, and no space."""
_NAME = re.compile(r"(?=.*[\d/_])\S+")
_PROMPTS = frozenset(
    {"system", "system_prompt", "system_message", "system_instruction", "system_instructions", "developer_prompt"}
)
_MOST = 60
_DEPTH = 2
_MOST_INSIDE = 4


def own_name(value: Mapping[str, Any]) -> str:
    """Return what an object calls itself, or nothing."""
    known = {slug(key): item for key, item in value.items() if isinstance(item, str | int)}
    names = (known[key] for key in NAMES if key in known)
    return next((str(name) for name in names if not isinstance(name, bool)), "")


def prompt(value: Mapping[str, Any]) -> str:
    """Return what is told to a model beside the messages of its talk, which nobody says in it.

    Examples
    --------
    >>> prompt({"system": "You are a kind listener.", "messages": []}), prompt({"system": "model-a"})
    ('You are a kind listener.', '')
    """
    told = [item for key, item in value.items() if slug(key) in _PROMPTS]
    left: Left = Counter()
    texts = [words_of(item, "content", left).strip() for item in told]
    return "\n".join(text for text in texts if not may_be_fact(text) or text.endswith("."))


def about(value: Mapping[str, Any], sessions: Container[str] = ()) -> dict[str, str]:
    """Return the short facts beside the sessions; those of an object inside carry its name before theirs.

    What is named for words that were said, or reads like them, is none. Objects that hold many objects are no facts
    about the session but tables of something else.

    Examples
    --------
    >>> about({"id": 7, "model": "m-1", "survey": {"empathy": 4}, "created_at": "2024-03-12T14:05:33Z"})
    {'model': 'm-1', 'survey_empathy': '4', 'date': '2024-03-12'}
    """
    facts = dict(_facts({key: item for key, item in value.items() if key not in sessions}, "", _DEPTH))
    when = next(((key, time) for key in _DATES if (time := date_of(value.get(key))) is not None), None)
    if when is not None and "date" not in facts and when[1] is not None:
        facts.pop(when[0], None)
        facts["date"] = day(when[1])
    return dict(list(facts.items())[:_MOST])


def _facts(value: Mapping[str, Any], before: str, depth: int) -> Iterator[tuple[str, str]]:
    inside = sum(isinstance(item, dict) for item in value.values())
    for key, item in value.items():
        if key.startswith("_") or slug(key) in _PROMPTS - {"system"} or (key == "system" and prompt(value)):
            continue
        if isinstance(item, dict) and depth > 0 and (depth == _DEPTH or inside <= _MOST_INSIDE):
            yield from _facts(item, f"{before}{key}_", depth - 1)
        elif (before or slug(key) not in NAMES) and _is_fact(f"{before}{key}", item):
            yield f"{before}{key}", str(item)


def _is_fact(name: str, item: object) -> bool:
    if not isinstance(item, str):
        return isinstance(item, int | float)
    is_long_name = len(item) <= _LONGEST_NAME and _NAME.fullmatch(item) is not None
    return item != "" and (names_fact(name) if is_long_name else is_fact(name, item))
