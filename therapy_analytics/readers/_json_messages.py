"""Messages in JSON to rows: speaker, words, times, and what people coded beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from therapy_analytics.readers._base import Row
from therapy_analytics.readers._json_fields import (
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
from therapy_analytics.readers._json_times import Span, from_first, span
from therapy_analytics.readers._json_words import Left, thinks_or_calls, words_of
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.session import Role

_NO_CODE = re.compile(r".*(?:id|url|link|time|date|stamp|author|name|user|ip)", re.IGNORECASE)
_LONGEST_CODE = 40
_NEVER = Span(None, None)


def rows_of(messages: Sequence[Numbered], left: Left) -> list[Row]:
    """Return the rows of a session; what is left out is counted.

    Parameters
    ----------
    messages : sequence of (int, mapping)
        In order, each with its place.
    left : Counter
        Of what was left out, added to.
    """
    rows: list[Row] = []
    spans: list[Span] = []
    for place, message in messages:
        found = _row(place, message, left)
        if found is not None:
            rows.append(found[0])
            spans.append(found[1])
    rows = _timed(rows, spans)
    return _carried_forward(_one_role_each(rows), left)


def _row(place: int, message: Message, left: Left) -> tuple[Row, Span] | None:
    plan = field_plan(message)
    said = None if plan is None else role_said(message, plan)
    label = None if plan is None else who(message, plan, said)
    if plan is None or (label is None and not is_segment(message)):
        left["item"] += 1
        return None
    content, key = words(message, plan)
    text = content if isinstance(content, str) and "<" not in content else words_of(content, key.strip().lower(), left)
    if plan.silent and thinks_or_calls(message, text, left):
        return None
    when = span(*times(message, plan)) if plan.starts else _NEVER
    gold = {name: code for name, code in _codes(message, plan) if code} if plan.codes else {}
    label = label or speaker_of_words(message)
    role = None if said is None else _role(said, label, named=bool(plan.speakers))
    return Row(label, text, place, None, None, role, gold), when


def speaker_of_words(message: Message) -> str:
    """Return who speaks most of the words of a segment, where only the words say it."""
    inside = message.get("words")
    said = Counter(str(word["speaker"]) for word in inside if _is_word(word)) if isinstance(inside, list) else Counter()
    return max(said, key=said.__getitem__, default="")


def _is_word(word: Any) -> bool:
    return isinstance(word, dict) and isinstance(word.get("speaker"), str | int)


def _role(said: str, label: str, *, named: bool) -> Role | None:
    """Return the role that stands beside a name; a role that is the label itself is found with all labels."""
    if said.lower() in NOT_SPOKEN:
        return "other"
    return role_of_label(said) if named and said != label else None


def _codes(message: Message, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the codes that people gave a message: short words under a name that says so, or in an annotation."""
    for key in plan.codes:
        value = message[key]
        if not isinstance(value, dict):
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


def _timed(rows: list[Row], spans: list[Span]) -> list[Row]:
    if not any(one.start is not None or one.end is not None for one in spans):
        return rows
    settled = from_first(spans, sum(row.text.count(" ") + 1 for row in rows))
    return [
        Row(row.speaker, row.text, row.place, when.start, when.end, row.role, row.gold)
        for row, when in zip(rows, settled, strict=True)
    ]


def _one_role_each(rows: list[Row]) -> list[Row]:
    """Go back to the roles as labels where one name stands beside several roles, as the name of an account does."""
    roles: dict[str, set[Role]] = {}
    for row in rows:
        if row.role in {"therapist", "client"}:
            roles.setdefault(row.speaker, set()).add(row.role)
    if all(len(known) == 1 for known in roles.values()):
        return rows
    return [replace(row, speaker=row.role or row.speaker) for row in rows]


def _carried_forward(rows: list[Row], left: Left) -> list[Row]:
    """Give a segment without a speaker to the speaker before it (or, at the start, the next)."""
    unnamed = sum(not row.speaker for row in rows)
    if not unnamed or unnamed == len(rows):
        return rows
    left["carried"] += unnamed
    name = next(row.speaker for row in rows if row.speaker)
    done: list[Row] = []
    for row in rows:
        name = row.speaker or name
        done.append(row if row.speaker else replace(row, speaker=name))
    return done
