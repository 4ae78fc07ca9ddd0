"""From a JSON value to the sessions in it, at whatever depth they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from therapy_analytics.readers import _json_layouts as layouts
from therapy_analytics.readers import _json_trees as trees
from therapy_analytics.readers._json_about import about, own_name
from therapy_analytics.readers._json_fields import field_plan, is_message
from therapy_analytics.readers._json_lists import (
    SAMPLE,
    STRONG,
    WEAK,
    WORDS,
    Found,
    Search,
    most,
    of_pairs,
    read_messages,
    session_of,
    session_of_list,
)
from therapy_analytics.readers._json_speech import spoken_words, words_apart
from therapy_analytics.readers._json_words import Left

DEEPEST = 12
_TALK = frozenset({"dialogue", "dialog", "conversation", "transcript", "session", "chat", "text", "content"})
_PARTS_OF_A_RUN = frozenset({"input", "inputs", "prompt", "output", "outputs", "response"})
"""Of a model, whose log has the messages of the whole talk beside them."""
_OF_WORDS = frozenset({"words", "word_segments", "items"})


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
        return of_pairs([value]) if layouts.is_pair(value) else []
    inside = _best(inside)
    facts = about(value, {key for key, _ in inside})
    names = _names(inside, own_name(value))
    return [_told(one, name, facts) for (_, one), name in zip(inside, names, strict=True)]


def _told(one: Found, name: str, facts: Mapping[str, str]) -> Found:
    """Add what the object around a session says of it."""
    return replace(one, session=replace(one.session, name=name, metadata={**facts, **one.session.metadata}))


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
    spoken = spoken_words(words_apart(value) or ())
    if spoken:
        return [session_of(spoken, WORDS)]
    items = list(value.values())
    if len(items) > 1 and most(items[:SAMPLE], is_message) and all(isinstance(item, dict) for item in items):
        return session_of_list(items, search) or []
    plan = field_plan(value)
    if plan is None or not (plan.speakers or plan.roles) or not plan.texts:
        return []
    columns = {key: item for key, item in value.items() if isinstance(item, list | dict)}
    speakers = columns.get((*plan.speakers, *plan.roles)[0])
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
            lines = item.split("\n") if key.lower() in _TALK and "\n" in item else []
            messages = layouts.labelled([line for line in lines if line.strip()]) if lines else None
            if messages:
                yield key, replace(session_of(messages, WEAK), direct=False)
        elif isinstance(item, list | dict):
            for found in sessions_in(item, search, depth - 1):
                form = WORDS if key.lower() in _OF_WORDS else found.form
                yield key, replace(found, form=form, direct=isinstance(item, list))


def _best(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Leave out what is no session, or the same one in another form, beside a list of messages."""
    top = max(found.form for _, found in inside)
    least = min(WEAK, top)
    if any(found.form == STRONG and found.direct for _, found in inside):
        least = STRONG
    kept = [(key, found) for key, found in inside if found.form >= least]
    parts = [found for key, found in kept if key in _PARTS_OF_A_RUN]
    held = [part for part in parts if any(_holds(one, part) for _, one in kept)]
    return [(key, found) for key, found in kept if not any(found is part for part in held)]


def _holds(whole: Found, part: Found) -> bool:
    """Tell whether a longer session begins or ends with all that is said in another."""
    said, inside = ([row.text for row in one.session.rows] for one in (whole, part))
    return len(said) > len(inside) and inside in (said[: len(inside)], said[-len(inside) :])


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
