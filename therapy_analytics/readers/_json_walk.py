"""From a JSON value to the sessions in it, at whatever depth they are, each once, and what is said about them."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from therapy_analytics.readers import _json_layouts as layouts
from therapy_analytics.readers._base import Row
from therapy_analytics.readers._chat_markup import marked_messages
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._facts import is_fact, may_be_fact, names_fact
from therapy_analytics.readers._json_fields import Left, field_plan, is_message, words_of
from therapy_analytics.readers._json_messages import (
    PIECES,
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
from therapy_analytics.readers._json_speech import words_apart
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._times import date_of, day

DEEPEST = 12
_TALK = frozenset({"dialogue", "dialog", "conversation", "transcript", "session", "chat", "text", "content", "prompt"})
_END_OF_LINE = re.compile(r"</(?:p|div)>|<br ?/?>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_OF_WORDS = frozenset({"words", "word_segments", "items"})
_TRANSLATED = frozenset({"translation", "translations", "translated"})
_PARTS_OF_A_RUN = frozenset(
    {"input", "inputs", "prompt", "output", "outputs", "response", "events", "calls", "steps", "history", "trace"}
)
"""Of a model, whose log has the messages of the whole talk beside them."""
_ABOUT_WORDS = """
summary summaries highlights action_items key_points topics chapters quotes evaluation evaluations judge judges grader
graders scorer scores rubric rubrics critic rejected
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
"""Of what is written about a talk, or was not said in it, beside the talk."""
_WORD = re.compile(r"\w+")
_COMPLETED = frozenset({"completion", "chosen", "response"})
_N = 4
_FEWEST = 12
"""Sequences of four words, from which on two forms can be held against each other."""
_SAME = 0.8
_MOST_KEYS = 12
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
    if layouts.is_tree(value):
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
    messages = layouts.branch(value, left)
    if not messages:
        return []
    name = own_name(value)
    found = read_messages(messages, STRONG, name, left)
    return [replace(found, session=replace(found.session, metadata=layouts.about_tree(value)))]


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


def without_repeats(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Leave out what is no session, or the same one in another form, beside a list of messages.

    Parameters
    ----------
    inside : list of (str, Found)
        What was found under each key of an object.
    """
    keys = {slug(key) for key, _ in inside}
    if keys & _ABOUT and keys - _ABOUT:
        inside = _without_remarks(inside)
    inside = _one_run(inside)
    if len({key for key, _ in inside}) > 1:
        inside = _whole_ones(inside)
    kept = _best(inside)
    parts = [found for key, found in kept if key in _PARTS_OF_A_RUN]
    held = [part for part in parts if any(_holds(one, part) for _, one in kept)]
    return [(key, found) for key, found in kept if not any(found is part for part in held)]


def _without_remarks(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Leave out what is written about a talk; a note of the first session counts it."""
    rows = [row for key, found in inside if slug(key) in _ABOUT for row in found.session.rows]
    n_words = counted(sum(len(row.text.split()) for row in rows), "word")
    note = f"{counted(len(rows), 'message')} about the talk, or not said in it, left out ({n_words})."
    (key, first), *others = [one for one in inside if slug(one[0]) not in _ABOUT]
    session = replace(first.session, notes=(*first.session.notes, note))
    return [(key, replace(first, session=session)), *others]


def _one_run(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Put what a model was given and what came then together, where these are all that there is."""
    by_key = {slug(key): found for key, found in inside}
    if len(inside) != 2 or "prompt" not in by_key or not by_key.keys() & _COMPLETED:
        return inside
    begun, ended = by_key.pop("prompt").session, next(iter(by_key.values()))
    if begun.rows == ended.session.rows[: len(begun.rows)]:
        return inside
    rows, notes = [*begun.rows, *ended.session.rows], (*begun.notes, *ended.session.notes)
    return [("", replace(ended, session=replace(ended.session, rows=rows, notes=notes)))]


def _best(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    top = max(found.form for _, found in inside)
    least = min(WEAK, top)
    if any(found.form == STRONG and found.direct for _, found in inside):
        least = STRONG
    return [(key, found) for key, found in inside if found.form >= least]


def _whole_ones(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Leave out what is said again under another key, nearly all of it, of two equals the worse form."""
    if len({key for key, _ in inside}) > _MOST_KEYS:
        return inside
    order = sorted(inside, key=lambda one: _rank(one[1]), reverse=True)
    sequences = {id(found): _sequences(found) for _, found in inside}
    kept: list[tuple[str, Found]] = []
    for one in order:
        key, found = one
        own = sequences[id(found)]
        others = [sequences[id(other)] for name, other in kept if name != key]
        if len(own) < _FEWEST or not any(_is_in(own, other) for other in others):
            kept = [other for other in kept if other[0] == key or not _is_fragment(other[1], found, sequences)]
            kept.append(one)
    return [one for one in inside if any(one is other for other in kept)]


def _is_fragment(part: Found, whole: Found, sequences: dict[int, frozenset[tuple[str, ...]]]) -> bool:
    """Tell what is quoted from a talk that stands whole in another form: less than half of it."""
    own, all_said = sequences[id(part)], sequences[id(whole)]
    return len(own) >= _FEWEST and 2 * len(own) < len(all_said) and whole.form <= PIECES and _is_in(own, all_said)


def _is_in(own: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    return len(own & other) >= _SAME * len(own)


def _sequences(found: Found) -> frozenset[tuple[str, ...]]:
    words = [word for row in found.session.rows for word in _WORD.findall(row.text.casefold())]
    return frozenset(zip(*(words[at:] for at in range(_N)), strict=False))


def _rank(found: Found) -> tuple[bool, bool, int, int]:
    """Return what orders forms of one talk: messages before all others, then those with times."""
    return found.form == STRONG, _has_times(found), found.form, _n_speakers(found)


def _n_speakers(found: Found) -> int:
    return len({row.speaker for row in found.session.rows if row.speaker})


def _has_times(found: Found) -> bool:
    return any(row.start_s is not None for row in found.session.rows)


def _holds(whole: Found, part: Found) -> bool:
    """Tell whether all that is said in one session is said in a longer one, message after message."""
    said, inside = (_said(one) for one in (whole, part))
    places = range(len(said) - len(inside) + 1) if len(said) > len(inside) > 0 else ()
    return any(said[at] == inside[0] and said[at : at + len(inside)] == inside for at in places)


def _said(found: Found) -> Sequence[str]:
    return [row.text for row in found.session.rows]


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
