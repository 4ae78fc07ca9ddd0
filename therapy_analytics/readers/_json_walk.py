"""From a JSON value to the sessions in it, at whatever depth they are."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from therapy_analytics.readers import _json_layouts as layouts
from therapy_analytics.readers import _json_trees as trees
from therapy_analytics.readers._base import Row
from therapy_analytics.readers._chat_markup import marked_messages
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_about import about, own_name, prompt
from therapy_analytics.readers._json_apart import words_apart
from therapy_analytics.readers._json_fields import field_plan, is_message
from therapy_analytics.readers._json_lists import (
    SAMPLE,
    STRONG,
    WEAK,
    WORDS,
    Found,
    Search,
    labelled,
    most,
    of_pairs,
    read_messages,
    session_of,
    session_of_list,
)
from therapy_analytics.readers._json_people import Person, named, spoken_apart, table_of_people
from therapy_analytics.readers._json_same import without_repeats
from therapy_analytics.readers._json_words import Left

DEEPEST = 12
_TALK = frozenset({"dialogue", "dialog", "conversation", "transcript", "session", "chat", "text", "content", "prompt"})
_END_OF_LINE = re.compile(r"</(?:p|div)>|<br ?/?>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_OF_WORDS = frozenset({"words", "word_segments", "items"})
_TRANSLATED = frozenset({"translation", "translations", "translated"})


def sessions_in(value: Any, search: Search, depth: int = DEEPEST) -> list[Found]:
    """Walk down to the sessions of a value.

    Parameters
    ----------
    value : object
        As JSON gives it.
    search : Search
        Notes what else is met.
    depth : int
        How many levels to go down.
    """
    if depth == 0 or not value:
        return []
    if isinstance(value, list):
        return _in_list(value, search, depth)
    return _in_dict(value, search, depth) if isinstance(value, dict) else []


def _in_list(items: list[Any], search: Search, depth: int) -> list[Found]:
    found = session_of_list(items, search)
    if found is None:
        return [one for item in items if isinstance(item, list | dict) for one in sessions_in(item, search, depth - 1)]
    return found


def _in_dict(value: dict[str, Any], search: Search, depth: int) -> list[Found]:
    if trees.is_tree(value):
        return _of_tree(value)
    own = _of_dict(value, search)
    inside = [("", one) for one in own] if own else list(_below(value, search, depth))
    if not inside:
        apart = spoken_apart(value)
        inside = [("", session_of(apart, WORDS))] if apart else []
    if not inside:
        return of_pairs([value]) if layouts.is_pair(value) else []
    inside = without_repeats(inside)
    facts = about(value, {key for key, _ in inside} if not own else _containers(value))
    names = _names(inside, own_name(value))
    people, told = table_of_people(value), prompt(value)
    return [_told(one, name, facts, people, told) for (_, one), name in zip(inside, names, strict=True)]


def _containers(value: Mapping[str, Any]) -> set[str]:
    return {key for key, item in value.items() if isinstance(item, list | dict)}


def _told(one: Found, name: str, facts: Mapping[str, str], people: Mapping[str, Person], told: str) -> Found:
    """Add what the object around a session says of it, of its speakers, and to the model that speaks in it."""
    rows = named(one.session.rows, people) if people else one.session.rows
    rows = [Row("system", told, 1, role="other"), *rows] if told else rows
    metadata = {**facts, **one.session.metadata}
    return replace(one, session=replace(one.session, name=name, rows=rows, metadata=metadata))


def _of_tree(value: Mapping[str, Any]) -> list[Found]:
    left: Left = Counter()
    messages = trees.branch(value, left)
    if not messages:
        return []
    name = own_name(value)
    found = read_messages(messages, STRONG, name, left)
    return [replace(found, session=replace(found.session, metadata=trees.about(value)))]


def _of_dict(value: dict[str, Any], search: Search) -> list[Found]:
    """Return the session that an object is whose values are messages, or whose fields are columns or hold words."""
    spoken = words_apart(value)
    if spoken:
        return [session_of(spoken, WORDS)]
    items = list(value.values())
    if len(items) > 1 and most(items[:SAMPLE], is_message) and all(isinstance(item, dict) for item in items):
        return session_of_list(items, search) or []
    plan = field_plan(value)
    if plan is None or not (plan.speakers or plan.roles) or not plan.texts:
        return []
    columns = {key: item for key, item in value.items() if isinstance(item, list | dict)}
    speakers = next((columns[key] for key in (*plan.speakers, *plan.roles) if key in columns), None)
    texts = columns.get(plan.texts[0])
    if speakers is None or texts is None or type(speakers) is not type(texts) or len(speakers) != len(texts):
        return []
    same = [key for key, item in columns.items() if type(item) is type(texts) and len(item) == len(texts)]
    lists = [list(item.values()) if isinstance(item := columns[key], dict) else item for key in same]
    rows = [dict(zip(same, row, strict=True)) for row in zip(*lists, strict=True)]
    return session_of_list(rows, search) or [] if most(rows[:SAMPLE], is_message) else []


def _below(value: Mapping[str, Any], search: Search, depth: int) -> Iterator[tuple[str, Found]]:
    for key, item in value.items():
        if isinstance(item, str):
            found = _in_text(item) if slug(key) in _TALK else None
            if found:
                yield key, found
        elif isinstance(item, list | dict) and slug(key) not in _TRANSLATED:
            for one in sessions_in(item, search, depth - 1):
                form = WORDS if key.lower() in _OF_WORDS else one.form
                yield key, replace(one, form=form, direct=isinstance(item, list))


def _in_text(text: str) -> Found | None:
    """Read a text with labels or with the marks of a model's chat."""
    messages = marked_messages(text)
    if messages:
        return session_of(messages, WEAK)
    text = html.unescape(_TAG.sub("", _END_OF_LINE.sub("\n", text))) if _END_OF_LINE.search(text) else text
    lines = [line for line in text.split("\n") if line.strip()]
    return labelled(lines) if len(lines) > 1 else None


def _names(inside: list[tuple[str, Found]], own: str) -> list[str]:
    """Name sessions by what names them in the file, by their key among several, or by the object around them."""
    several = len({key for key, _ in inside}) > 1
    names = [one.session.name or (key if several else "") for key, one in inside]
    if len(names) == 1:
        return [names[0] if names[0] and not (own and names[0].isdecimal()) else own]
    return [
        f"{own}-{name or number}" if own and (not name or name.isdecimal()) else name
        for number, name in enumerate(names, start=1)
    ]
