"""From a value of JSON to the sessions in it, at whatever depth, each of them one time, with the facts beside them."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from therapy_analytics.core.identity import against_id, may_be_fact
from therapy_analytics.core.printable import counted
from therapy_analytics.core.session import Role
from therapy_analytics.readers import _json_layouts as layouts
from therapy_analytics.readers._chat_markup import marked_messages
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_fields import Left, field_plan, is_message, words_of
from therapy_analytics.readers._json_messages import (
    SAMPLE,
    STRONG,
    WEAK,
    WORDS,
    FoundSession,
    labelled,
    most,
    of_pairs,
    read_messages,
    session_of,
    session_of_list,
)
from therapy_analytics.readers._json_speech import spoken_apart, words_apart
from therapy_analytics.readers._times import date_of, day
from therapy_analytics.readers.base import Row
from therapy_analytics.readers.roles import role_of_label

DEEPEST = 12
_TALK = frozenset({"dialogue", "dialog", "conversation", "transcript", "session", "chat", "text", "content", "prompt"})
_END_OF_LINE = re.compile(r"</(?:p|div)>|<br ?/?>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_OF_WORDS = frozenset({"words", "word_segments", "items"})
_TRANSLATED = frozenset({"translation", "translations", "translated"})
_CALLS = frozenset(
    {"input", "inputs", "prompt", "output", "outputs", "response", "events", "calls", "steps", "history", "trace"}
)
"""Keys of single calls of a model, in logs that have the messages of the whole talk beside them."""
_ABOUT_WORDS = """
summary summaries highlights action_items key_points topics chapters quotes evaluation evaluations judge judges grader
graders scorer scores rubric rubrics critic rejected
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
"""Keys of what is written about a talk, or was not said in it."""
_WORD = re.compile(r"\w+")
_COMPLETED = frozenset({"completion", "chosen", "response"})
_N = 4
"""Words of an n-gram, by which two forms are compared."""
_FEWEST = 12
"""N-grams without which a session is too short to be compared."""
_SAME = 0.8
NAMES = (
    *("session_id", "id", "conversation_id", "conv_id", "dialogue_id", "dialog_id", "chat_id", "uuid"),
    "session",
)
"""Names of fields with the id of a session, of which a title is none."""
_DATES = ("create_time", "created_at", "start_time", "started_at", "timestamp", "created")
_PROMPTS = frozenset(
    {"system", "system_prompt", "system_message", "system_instruction", "system_instructions", "developer_prompt"}
)
_TABLE_WORDS = """
speakers participants users members people persons actors characters interlocutors attendees agents roles personas
speaker_names speaker_map speaker_mapping speaker_labels speaker_roles participant_map names
"""
_TABLES = frozenset(_TABLE_WORDS.split())
_IDS_OF_PEOPLE = (
    "id",
    "speaker_id",
    "participant_id",
    "user_id",
    "key",
    "tag",
    "index",
    "speaker",
    "speaker_label",
    "label",
)
_NAMES_OF_PEOPLE = (
    *("name", "display_name", "speaker_name", "participant_name", "full_name", "real_name", "user_name", "username"),
    "label",
)
_ROLES_OF_PEOPLE = ("role", "participant_role", "speaker_role")
_MOST = 60
_DEPTH = 2
_MOST_INSIDE = 4


Person = tuple[str, Role | None]
"""A name, and a role where it is known."""
Keyed = tuple[str, FoundSession]
"""A session and the key of an object under which it stands."""


def sessions_in(value: Any, depth: int = DEEPEST) -> list[FoundSession]:
    """Walk down to the sessions of a value of JSON, at most `depth` levels."""
    if isinstance(value, dict) and depth:
        return _in_object(value, depth)
    if not isinstance(value, list) or not value or not depth:
        return []
    found = session_of_list(value)
    return [one for item in value for one in sessions_in(item, depth - 1)] if found is None else found


def _in_object(value: dict[str, Any], depth: int) -> list[FoundSession]:
    """Return the sessions that an object is or holds, with what it says about them, their speakers and the model."""
    if layouts.is_tree(value):
        return _of_tree(value)
    own = _of_object(value)
    inside = [("", one) for one in own] if own else list(_below(value, depth))
    if not inside:
        apart = spoken_apart(value)
        inside = [("", session_of(apart, WORDS))] if apart else []
    if not inside:
        return of_pairs([value]) if layouts.is_pair(value) else []
    inside = without_repeats(inside)
    containers = {key for key, item in value.items() if isinstance(item, list | dict)}
    facts = about(value, containers if own else {key for key, _ in inside})
    names = _names(inside, own_name(value))
    people, told = table_of_people(value), prompt(value)
    return [_with_context(one, name, facts, people, told) for (_, one), name in zip(inside, names, strict=True)]


def _with_context(
    one: FoundSession, name: str, facts: Mapping[str, str], people: Mapping[str, Person], told: str
) -> FoundSession:
    rows = with_names(one.session.rows, people) if people else one.session.rows
    rows = [Row("system", told, 1, role="other"), *rows] if told else rows
    metadata = {**facts, **one.session.metadata}
    return replace(one, session=replace(one.session, name=name, rows=rows, metadata=metadata))


def _of_tree(value: Mapping[str, Any]) -> list[FoundSession]:
    left: Left = Counter()
    messages = layouts.branch(value, left)
    if not messages:
        return []
    name = own_name(value)
    found = read_messages(messages, STRONG, name, left)
    return [replace(found, session=replace(found.session, metadata=layouts.about_tree(value)))]


def _of_object(value: dict[str, Any]) -> list[FoundSession]:
    """Return the session that an object is whose values are messages, or whose fields are columns or hold words."""
    spoken = words_apart(value)
    if spoken:
        return [session_of(spoken, WORDS)]
    items = list(value.values())
    if len(items) > 1 and most(items[:SAMPLE], is_message) and all(isinstance(item, dict) for item in items):
        return session_of_list(items) or []
    rows = _rows_of_columns(value)
    return session_of_list(rows) or [] if most(rows[:SAMPLE], is_message) else []


def _rows_of_columns(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table that is written as a list, or an object, for each column; none for other objects."""
    plan = field_plan(value)
    if plan is None or not (plan.speakers or plan.roles) or not plan.texts:
        return []
    columns = {key: item for key, item in value.items() if isinstance(item, list | dict)}
    speakers = next((columns[key] for key in (*plan.speakers, *plan.roles) if key in columns), None)
    texts = columns.get(plan.texts[0])
    if speakers is None or texts is None or type(speakers) is not type(texts) or len(speakers) != len(texts):
        return []
    same = {key: item for key, item in columns.items() if type(item) is type(texts) and len(item) == len(texts)}
    lists = [list(item.values()) if isinstance(item, dict) else item for item in same.values()]
    return [dict(zip(same, row, strict=True)) for row in zip(*lists, strict=True)]


def _below(value: Mapping[str, Any], depth: int) -> Iterator[Keyed]:
    """Yield the sessions under each key of an object."""
    for key, item in value.items():
        if isinstance(item, str):
            found = _in_text(item) if slug(key) in _TALK else None
            if found:
                yield key, found
        elif isinstance(item, list | dict) and slug(key) not in _TRANSLATED:
            for one in sessions_in(item, depth - 1):
                form = WORDS if key.lower() in _OF_WORDS else one.form
                yield key, replace(one, form=form, direct=isinstance(item, list))


def _in_text(text: str) -> FoundSession | None:
    """Read a text with labelled lines, or with the marks of a chat template."""
    messages = marked_messages(text)
    if messages:
        return session_of(messages, WEAK)
    text = html.unescape(_TAG.sub("", _END_OF_LINE.sub("\n", text))) if _END_OF_LINE.search(text) else text
    lines = [line for line in text.split("\n") if line.strip()]
    return labelled(lines) if len(lines) > 1 else None


def _names(inside: list[tuple[str, FoundSession]], own: str) -> list[str]:
    """Return the names of sessions: their own, their key among several, or that of the object around them."""
    several = len({key for key, _ in inside}) > 1
    names = [one.session.name or (key if several else "") for key, one in inside]
    if len(names) == 1:
        return [names[0] if names[0] and not (own and names[0].isdecimal()) else own]
    return [
        f"{own}-{name or number}" if own and (not name or name.isdecimal()) else name
        for number, name in enumerate(names, start=1)
    ]


def without_repeats(inside: list[Keyed]) -> list[Keyed]:
    """Leave out what is no session, or the same one in another form, of what was found under each key of an object."""
    for step in (_without_remarks, _one_run, _without_copies, _best_forms, _without_parts):
        inside = step(inside)
    return inside


def _without_remarks(inside: list[Keyed]) -> list[Keyed]:
    """Leave out what is written about a talk, where there is one; a note of the first session counts it."""
    talk = [one for one in inside if slug(one[0]) not in _ABOUT]
    if not talk or len(talk) == len(inside):
        return inside
    rows = [row for key, found in inside if slug(key) in _ABOUT for row in found.session.rows]
    n_words = counted(sum(len(row.text.split()) for row in rows), "word")
    note = f"{counted(len(rows), 'message')} about the talk, or not said in it, left out ({n_words})."
    (key, first), *others = talk
    session = replace(first.session, notes=(*first.session.notes, note))
    return [(key, replace(first, session=session)), *others]


def _one_run(inside: list[Keyed]) -> list[Keyed]:
    """Join what a model was given and what it answered, where these are all that there is."""
    by_key = {slug(key): found for key, found in inside}
    if len(inside) != 2 or "prompt" not in by_key or not by_key.keys() & _COMPLETED:
        return inside
    begun, ended = by_key.pop("prompt").session, next(iter(by_key.values()))
    if begun.rows == ended.session.rows[: len(begun.rows)]:
        return inside
    rows, notes = [*begun.rows, *ended.session.rows], (*begun.notes, *ended.session.notes)
    return [("", replace(ended, session=replace(ended.session, rows=rows, notes=notes)))]


def _without_copies(inside: list[Keyed]) -> list[Keyed]:
    """Leave out a session of which another key holds nearly all words; of two equals the worse form."""
    if len({key for key, _ in inside}) < 2:
        return inside
    kept: list[tuple[str, FoundSession, frozenset[tuple[str, ...]]]] = []
    for key, found in sorted(inside, key=lambda one: _rank(one[1]), reverse=True):
        own = _n_grams(found)
        others = [n_grams for name, _, n_grams in kept if name != key]
        if len(own) < _FEWEST or not any(len(own & other) >= _SAME * len(own) for other in others):
            kept.append((key, found, own))
    return [(key, found) for key, found in inside if any(found is other for _, other, _ in kept)]


def _n_grams(found: FoundSession) -> frozenset[tuple[str, ...]]:
    words = [word for row in found.session.rows for word in _WORD.findall(row.text.casefold())]
    return frozenset(zip(*(words[at:] for at in range(_N)), strict=False))


def _rank(found: FoundSession) -> tuple[bool, bool, int, int]:
    """Return a sort key for forms of one talk: messages first, then those with times."""
    rows = found.session.rows
    has_times = any(row.start_s is not None for row in rows)
    return found.form == STRONG, has_times, found.form, len({row.speaker for row in rows if row.speaker})


def _best_forms(inside: list[Keyed]) -> list[Keyed]:
    """Leave out single words beside messages, and forms that may be something else beside a list of messages."""
    is_list = any(found.form == STRONG and found.direct for _, found in inside)
    least = STRONG if is_list else min(WEAK, max(found.form for _, found in inside))
    return [(key, found) for key, found in inside if found.form >= least]


def _without_parts(inside: list[Keyed]) -> list[Keyed]:
    """Leave out single calls of a model beside the talk that holds their messages."""
    return [
        (key, found)
        for key, found in inside
        if key not in _CALLS or not any(_holds(whole, found) for _, whole in inside)
    ]


def _holds(whole: FoundSession, part: FoundSession) -> bool:
    """Return whether a longer session has all messages of another, in a row."""
    texts, inside = ([row.text for row in one.session.rows] for one in (whole, part))
    places = range(len(texts) - len(inside) + 1) if len(texts) > len(inside) > 0 else ()
    return any(texts[at : at + len(inside)] == inside for at in places)


def own_name(value: Mapping[str, Any]) -> str:
    """Return the id of an object, at best one that says nothing of a person; empty where it has none."""
    known = {
        slug(key): str(item)
        for key, item in value.items()
        if isinstance(item, str | int) and not isinstance(item, bool)
    }
    names = [known[key] for key in NAMES if known.get(key)]
    return next((name for name in names if not against_id(name)), next(iter(names), ""))


def prompt(value: Mapping[str, Any]) -> str:
    """Return the system prompt that stands beside the messages of a talk with a model.

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
    """Return what stands beside the sessions; fields of an inner object are prefixed with its name.

    Objects that hold many objects are tables of something else.

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
        elif (before or slug(key) not in NAMES) and isinstance(item, str | int | float) and str(item).strip():
            yield f"{before}{key}", str(item)


def table_of_people(value: Mapping[str, Any]) -> dict[str, Person]:
    """Return names, and roles if given, of the people whom an object lists by their numbers or ids.

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
            pairs = item.items() if isinstance(item, dict) else ((None, one) for one in item[:SAMPLE])
            people.update(found for identity, one in pairs if (found := _person_of(identity, one)))
    return people


def _person_of(identity: str | None, one: Any) -> tuple[str, Person] | None:
    if isinstance(one, str):
        return (identity, (one, role_of_label(one))) if identity is not None and one.strip() else None
    if not isinstance(one, dict):
        return None
    inner = one.get("meta")
    known = {slug(key): item for key, item in (*(inner.items() if isinstance(inner, dict) else ()), *one.items())}
    identity = _text_of(known, _IDS_OF_PEOPLE) if identity is None else identity
    role = _text_of(known, _ROLES_OF_PEOPLE)
    name = _text_of(known, _NAMES_OF_PEOPLE) or role or identity
    return None if identity is None or name is None else (identity, (name, role_of_label(role or name)))


def _text_of(known: Mapping[str, Any], names: Sequence[str]) -> str | None:
    values = (known[name] for name in names if isinstance(known.get(name), str | int))
    return next((str(value) for value in values if not isinstance(value, bool) and str(value).strip()), None)


def with_names(rows: list[Row], people: Mapping[str, Person]) -> list[Row]:
    """Replace numbers of speakers by names, if the table names most speakers, and all of them differently."""
    labels = {row.speaker for row in rows if row.speaker.strip()}
    known = labels & people.keys()
    if not known or 2 * len(known) <= len(labels) or len({people[label][0] for label in known}) < len(known):
        return rows
    return [_with_name(row, *people[row.speaker]) if row.speaker in known else row for row in rows]


def _with_name(row: Row, name: str, role: Role | None) -> Row:
    """Give a row a name, and its role unless the name says it itself: then all labels together tell the roles."""
    return replace(row, speaker=name, role=row.role or (None if role_of_label(name) == role else role))
