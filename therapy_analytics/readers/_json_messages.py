"""Messages in JSON to rows: speaker, words, times, and what people coded beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from therapy_analytics.readers._base import Row
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_fields import (
    NOBODY,
    NOT_SPOKEN,
    Message,
    Numbered,
    Plan,
    field_plan,
    is_segment,
    role_said,
    times,
    who,
    words,
)
from therapy_analytics.readers._json_speech import is_replaced, spoken_words, text_and_time
from therapy_analytics.readers._json_words import Left, n_words, thinks_or_calls, words_of
from therapy_analytics.readers._roles import is_first_name, role_of_label
from therapy_analytics.readers._timeline import timeline
from therapy_analytics.readers._times import Span, Time, on_day
from therapy_analytics.session import Role

_NO_CODE = re.compile(r".*(?:id|url|link|time|date|stamp|author|name|user|ip|role)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3}")
_OF_MODELS = frozenset({"user", "assistant", "human", "ai", "model", "gpt", "bot"})
_LONGEST_CODE = 40
_LISTS_OF_WORDS = ("words", "elements", "tokens", "terms", "alignment")
_FEW = 0.3
"""Of the rows at least so many have no label where labels stand only where the speaker changes."""


def rows_of(messages: Sequence[Numbered], left: Left) -> tuple[list[Row], tuple[str, ...], Time]:
    """Return the rows of a session, what to tell of their times, and when they began; what is left out is counted.

    Parameters
    ----------
    messages : sequence of (int, mapping)
        In order, each with its place.
    left : Counter
        Of what was left out, added to.
    """
    rows: list[Row] = []
    spans: list[Span] = []
    for place, message in _on_their_days(messages):
        for row, when in _rows(place, message, left):
            rows.append(row)
            spans.append(when)
    rows, told, began = _timed(rows, spans)
    return _without_names(_one_role_each(rows), left), told, began


def _on_their_days(messages: Sequence[Numbered]) -> Sequence[Numbered]:
    """Put the date of each message before its time of day, where the messages are of several days."""
    days = [message.get("date") for _, message in messages if isinstance(message, dict)]
    if len(set(filter(None, map(str, days)))) < 2 or not all(isinstance(day, str) for day in days):
        return messages
    clocks = [message.get("time") for _, message in messages]
    if not all(isinstance(clock, str) for clock in clocks):
        return messages
    both = zip(messages, clocks, days, strict=True)
    return [(place, {**message, "time": on_day(str(clock), str(day))}) for (place, message), clock, day in both]


def _rows(place: int, message: Message, left: Left) -> Iterator[tuple[Row, Span]]:
    plan = field_plan(message)
    said = None if plan is None else role_said(message, plan)
    label = None if plan is None else who(message, plan, said)
    if plan is None or (label is None and not is_segment(message)):
        left["item"] += 1
        texts = (item for item in _values(message) if isinstance(item, str) and " " in item)
        left["item words"] += sum(map(n_words, texts))
        return
    text, when = _content(message, plan, left)
    if is_replaced(message):
        left["replaced"] += 1
        left["replaced words"] += n_words(text)
        return
    if plan.silent and thinks_or_calls(message, text, left):
        return
    label = label or ""
    if label.strip().casefold() in NOBODY and (inside := message.get("words")) and isinstance(inside, list):
        yield from _by_words(place, inside, text, label, when)
        return
    gold = {name: code for name, code in _codes(message, plan) if code} if plan.codes else {}
    yield Row(label, text, place, None, None, _role(said, label), gold), when


def _values(message: object) -> Iterator[object]:
    if isinstance(message, dict):
        yield from message.values()
    else:
        yield message


def _content(message: Message, plan: Plan, left: Left) -> tuple[str, Span]:
    """Return what is said and when; single words inside tell both where nothing else does."""
    content, key = words(message, plan)
    if isinstance(content, str) and "<" not in content:
        text = content
    else:
        text = text_and_time(content)[0] or words_of(content, slug(key), left)
    when = times(message, plan)
    if when.start is None:
        inside = next((item for name in _LISTS_OF_WORDS if isinstance(item := message.get(name), list)), None)
        when = text_and_time(inside)[1] if inside else when
    return text, when


def speaks(message: Any) -> bool:
    """Tell whether a message says who speaks, be it beside the single words alone."""
    plan = field_plan(message)
    if plan is None:
        return False
    inside = message.get("words")
    return bool(who(message, plan, role_said(message, plan))) or (
        isinstance(inside, list) and any(map(_is_of_somebody, inside))
    )


def _by_words(place: int, inside: list[Any], text: str, label: str, when: Span) -> Iterator[tuple[Row, Span]]:
    """Yield the rows of a segment without a speaker whose words have some, where the words are those of the segment."""
    said = text.split()
    named = [dict(word, speaker=str(word["speaker"])) if _is_of_somebody(word) else word for word in inside]
    names = {word["speaker"] for word in named if _is_of_somebody(word)}
    if len(names) < 2 or len(said) != len(inside) or not all(isinstance(word, dict) for word in inside):
        yield Row(next(iter(names), label), text, place, role=_role(None, next(iter(names), label))), when
        return
    words = [{**word, "word": one, "punctuated_word": one} for word, one in zip(named, said, strict=True)]
    for message in spoken_words(words) or ():
        yield Row(message["speaker"], message["content"], place), message["time"]


def _is_of_somebody(word: Any) -> bool:
    return isinstance(word, dict) and isinstance(word.get("speaker"), str | int)


def _role(said: str | None, label: str) -> Role | None:
    """Return the role that stands beside a name; a role that is the label itself is found with all labels.

    A name that says its role in a word, as that of an interpreter does, is right about it where the role is no more
    than that of a user or a model.
    """
    if (said or "").lower() in NOT_SPOKEN or label.strip().casefold() in NOBODY:
        return "other"
    if said is None or said == label:
        return None
    own = None if is_first_name(label) or not _WORD.search(label) else role_of_label(label)
    return own if own and said.lower() in _OF_MODELS else role_of_label(said)


def _codes(message: Message, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the codes that people gave a message: short words under a name that says so, or in an annotation."""
    for key in plan.codes:
        value = message[key]
        if not isinstance(value, dict):
            if key not in plan.speakers:
                yield key, _code(value)
            continue
        for name, item in value.items():
            if isinstance(item, str | list) and not _NO_CODE.fullmatch(name):
                yield name, _code(item)


def _code(value: Any) -> str:
    """Return a code as a word; several are joined as everywhere, by a semicolon."""
    if isinstance(value, list):
        return ";".join(filter(None, map(_code, value[:_LONGEST_CODE])))
    short = isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) <= _LONGEST_CODE
    return str(value).strip() if short else ""


def _timed(rows: list[Row], spans: list[Span]) -> tuple[list[Row], tuple[str, ...], Time]:
    if not any(one.start is not None or one.end is not None or one.n_unread for one in spans):
        return rows, (), None
    found = timeline(spans, [row.text for row in rows])
    timed = [
        Row(row.speaker, row.text, row.place, start, end, row.role, row.gold)
        for row, start, end in zip(rows, found.starts, found.ends, strict=True)
    ]
    return timed, found.told, found.began


def _one_role_each(rows: list[Row]) -> list[Row]:
    """Go back to the roles as labels where one name stands beside several roles, as the name of an account does."""
    roles: dict[str, set[Role]] = {}
    for row in rows:
        if row.role in {"therapist", "client"}:
            roles.setdefault(row.speaker, set()).add(row.role)
    both = {name for name, known in roles.items() if len(known) > 1}
    if not both:
        return rows
    return [replace(row, speaker=row.role or row.speaker) if row.speaker in both else row for row in rows]


def _without_names(rows: list[Row], left: Left) -> list[Row]:
    """Leave a segment without a speaker with nobody, unless labels stand only where the speaker changes."""
    unnamed = [row for row in rows if not row.speaker.strip()]
    named = [row.speaker for row in rows if row.speaker.strip()]
    if not unnamed or not named:
        return rows
    at_changes = all(one != two for one, two in pairwise(named)) and len(named) > 2
    if not (at_changes and rows[0].speaker.strip() and len(unnamed) >= _FEW * len(rows)):
        left["nobody"] += len(unnamed)
        left["nobody words"] += sum(n_words(row.text) for row in unnamed)
        return [row if row.speaker.strip() else replace(row, role="other") for row in rows]
    left["carried"] += len(unnamed)
    name, role = "", None
    done: list[Row] = []
    for row in rows:
        name, role = (row.speaker, row.role) if row.speaker.strip() else (name, role)
        done.append(replace(row, speaker=name, role=role))
    return done
