"""Lists that are a session, or several: messages, pairs, single turns, labelled lines, words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from therapy_analytics.readers import _json_layouts as layouts
from therapy_analytics.readers._base import RawSession
from therapy_analytics.readers._json_fields import Numbered, Plan, field_plan, first, is_message, is_segment
from therapy_analytics.readers._json_messages import rows_of, speaker_of_words
from therapy_analytics.readers._json_speech import is_word, spoken_words
from therapy_analytics.readers._json_times import FIRST_DATE, span
from therapy_analytics.readers._json_words import Left, notes

WORDS, PIECES, WEAK, STRONG = range(4)
"""How good a form is, where several of one session stand beside each other."""
SAMPLE = 300
_UNWRAPPED = ("message", "data", "utterance")


@dataclass(frozen=True, slots=True)
class Found:
    """A session, how good its form is, and whether it is a list of messages right where it was looked for."""

    session: RawSession
    form: int = STRONG
    direct: bool = False


@dataclass(slots=True)
class Search:
    """What a search through a file has met besides sessions."""

    unnamed_segments: int = 0


def session_of_list(items: list[Any], search: Search) -> list[Found] | None:
    """Return the sessions that a list is; None if it only may hold some."""
    sample = items[:: len(items) // SAMPLE + 1]
    if most(sample, is_segment) and not any(map(_is_spoken, sample)):
        words = spoken_words(items)
        search.unnamed_segments += 0 if words else len(items)
        return [session_of(words, WORDS)] if words else []
    if most(sample, is_message) or (most(sample, is_segment) and any(map(_is_spoken, sample))):
        return _of_messages(items)
    if most(sample, _is_wrapped):
        return _of_messages(list(map(_unwrapped, items)))
    return _of_other_items(items, sample, search)


def _of_other_items(items: list[Any], sample: list[Any], search: Search) -> list[Found] | None:
    if most(sample, layouts.is_pair):
        return of_pairs(items)
    for layout in (layouts.turns_by_name, layouts.turns_in_twos, layouts.labelled):
        messages = layout(items)
        if messages:
            return [session_of(messages, WEAK)]
    words = spoken_words(items)
    if words is None and most(sample, is_word):
        search.unnamed_segments += len(items)
    return [session_of(words, WORDS)] if words else None


def most(sample: Sequence[Any], test: Callable[[Any], bool]) -> bool:
    return bool(sample) and 2 * sum(map(test, sample)) > len(sample)


def _is_spoken(value: Any) -> bool:
    """Return whether anything says who speaks, be it beside the single words alone."""
    return is_message(value) or (is_segment(value) and bool(speaker_of_words(value)))


def _is_wrapped(value: Any) -> bool:
    return bool(_unwrapped(value))


def _unwrapped(value: Any) -> dict[str, Any]:
    """Return the message inside a record of a message, with the plain fields around it, which may say who speaks."""
    if not isinstance(value, dict):
        return {}
    around = {key: item for key, item in value.items() if not isinstance(item, dict)}
    wrapped = ({**around, **value[key]} for key in _UNWRAPPED if isinstance(value.get(key), dict))
    return next(filter(is_message, wrapped), {})


def _of_messages(items: list[Any]) -> list[Found]:
    """Part messages that each say which session they are of."""
    parts: dict[str, list[Numbered]] = {}
    odd, last = 0, ""
    for place, message in enumerate(items, start=1):
        plan = field_plan(message)
        if plan is None:
            odd += 1
            continue
        own = first(message, plan.sessions) if plan.sessions else None
        if own is not None:
            last = str(own)
        elif last and is_message(message):
            last = ""
        parts.setdefault(last, []).append((place, message))
    plans = (field_plan(item) for item in items[:SAMPLE])
    form = _form([plan for plan in plans if plan])
    return [read_messages(part, form, label, Counter(item=odd)) for label, part in parts.items()]


def _form(plans: list[Plan]) -> int:
    if all(set(plan.texts) <= {"sentences", "elements"} for plan in plans):
        return PIECES
    return WEAK if 2 * sum(plan.weak for plan in plans) > len(plans) else STRONG


def read_messages(messages: list[Numbered], form: int, label: str = "", left: Left | None = None) -> Found:
    left = Counter() if left is None else left
    ordered = _in_time(messages)
    rows = rows_of(ordered, left)
    moved = ("The messages were put in the order of their times.",) if ordered is not messages else ()
    return Found(RawSession(label, rows, notes=(*notes(left), *moved)), form)


def _in_time(messages: list[Numbered]) -> list[Numbered]:
    """Order messages by their dates, or by the numbers that stand for dates where messages answer each other."""
    times = []
    for _, message in messages:
        plan = field_plan(message)
        time = span(first(message, plan.starts), None).start if plan and plan.starts else None
        if time is None or not (time >= FIRST_DATE or "reply_to" in message or "reply-to" in message):
            return messages
        times.append(time)
    if all(one <= two for one, two in pairwise(times)):
        return messages
    order = sorted(range(len(messages)), key=times.__getitem__)
    if times == sorted(times, reverse=True):  # newest first: messages of one second are turned around as well
        order = list(range(len(messages)))[::-1]
    return [messages[at] for at in order]


def session_of(messages: Sequence[Mapping[str, Any]], form: int) -> Found:
    return read_messages(list(enumerate(messages, start=1)), form)


def of_pairs(pairs: list[Any]) -> list[Found]:
    """Read pairs as the exchanges of one session; questions that come again are not of one session."""
    if all(map(layouts.stands_alone, pairs[:SAMPLE])):
        asked = [next(layouts.pair_messages([pair]), {}).get("content") for pair in pairs]
        if len(set(map(str, asked))) < len(asked):
            return [session_of(list(layouts.pair_messages([pair])), WEAK) for pair in pairs]
    found = session_of(list(layouts.pair_messages(pairs)), WEAK)
    note = f"{len(pairs)} pairs of fields were read as the exchanges of one session."
    return [replace(found, session=replace(found.session, notes=(note, *found.session.notes)))]
