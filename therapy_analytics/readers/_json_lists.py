"""Lists that are a session, or several: messages, pairs, single turns, labelled lines, words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from therapy_analytics.readers import _json_layouts as layouts
from therapy_analytics.readers._base import RawSession
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_apart import results_of_stream, words_apart
from therapy_analytics.readers._json_fields import Numbered, Plan, field_plan, first, is_message, is_segment, times
from therapy_analytics.readers._json_messages import rows_of, speaks
from therapy_analytics.readers._json_people import with_channels
from therapy_analytics.readers._json_speech import are_words, spoken_words
from therapy_analytics.readers._json_words import Left, notes
from therapy_analytics.readers._label_forms import Line
from therapy_analytics.readers._labelled_lines import labelled_rows
from therapy_analytics.readers._times import FIRST_DATE, NEVER, resolved, since_1970

WORDS, PIECES, WEAK, STRONG = range(4)
"""How good a form is, where several of one session stand beside each other."""
SAMPLE = 300
_UNWRAPPED = ("message", "data", "utterance", "transcript", "utterance_event", "kwargs")
_MOST_LINES = 2000
_NOTHING = object()
_FEWEST_LABELLED = 0.5


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
    missing: str = ""
    """Which of the fields that the user names are not there."""


def session_of_list(items: list[Any], search: Search) -> list[Found] | None:
    """Return the sessions that a list is; None if it only may hold some."""
    sample = items[:: len(items) // SAMPLE + 1]
    stream = words_apart({"results": results_of_stream(items)}) if results_of_stream(sample) else []
    if stream:
        return [session_of(stream, WORDS)]
    if most(sample, is_segment) or most(sample, is_message):
        if are_words(sample):
            return _of_words(items, search)
        items = with_channels(items)
        sample = items[:: len(items) // SAMPLE + 1]
        if not any(map(speaks, sample)):
            return _of_words(items, search)
        return _of_messages(items)
    if most(sample, is_wrapped):
        return _of_messages(list(map(_unwrapped, items)))
    return _of_other_items(items, sample, search)


def _of_words(items: list[Any], search: Search) -> list[Found]:
    words = spoken_words(items)
    search.unnamed_segments += 0 if words else len(items)
    return [session_of(words, WORDS)] if words else []


def _of_other_items(items: list[Any], sample: list[Any], search: Search) -> list[Found] | None:
    if most(sample, layouts.is_pair):
        return of_pairs(items)
    for layout in (layouts.turns_by_name, layouts.turns_in_twos, layouts.labelled_turns):
        messages = layout(items)
        if messages:
            return [session_of(messages, WEAK)]
    if all(isinstance(item, str) for item in sample):
        found = labelled(items)
        return [found] if found else None
    return _of_words(items, search) or None if are_words(sample) else None


def labelled(lines: Sequence[Any]) -> Found | None:
    """Read lines such as ``Therapist: ...`` as a text with labels is read; most of them must have one."""
    texts = [line if isinstance(line, str) else "" for line in lines]
    if len(texts) > _MOST_LINES and labelled(texts[: _MOST_LINES // 10]) is None:
        return None
    found = labelled_rows([Line(place, text, text) for place, text in enumerate(texts, start=1)])
    if found is None or len(found.labels) < 2 or found.share <= _FEWEST_LABELLED:
        return None
    return Found(RawSession("", found.rows, found.facts, found.notes, passed_over=found.passed_over), WEAK)


def most(sample: Sequence[Any], test: Callable[[Any], bool]) -> bool:
    return bool(sample) and 2 * sum(map(test, sample)) > len(sample)


def is_wrapped(value: Any) -> bool:
    """Tell a record of a message, which has the message inside."""
    return bool(_unwrapped(value))


def _unwrapped(value: Any) -> dict[str, Any]:
    """Return the message inside a record of a message, with the plain fields around it, which may say who speaks."""
    if not isinstance(value, dict):
        return {}
    around = {key: item for key, item in value.items() if not isinstance(item, dict)}
    kind = value.get("id")
    if isinstance(kind, list) and kind and isinstance(kind[-1], str):  # the class of a message of LangChain
        around["type"] = kind[-1].lower().removesuffix("chunk").removesuffix("message")
    inside = ({**around, **item} for key, item in value.items() if slug(key) in _UNWRAPPED and isinstance(item, dict))
    return next(filter(is_message, inside), {})


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
    ordered = _in_order(messages)
    rows, told, began = rows_of(ordered, left)
    moved = (_moved(ordered),) if ordered is not messages else ()
    return Found(RawSession(label, rows, notes=(*notes(left), *told, *moved), began=began), form)


def _moved(messages: list[Numbered]) -> str:
    timed = all(
        plan and first(message, plan.starts) is not None for _, message in messages for plan in [field_plan(message)]
    )
    return f"The messages were put in the order {'of their times' if timed else 'in which they answer each other'}."


def _in_order(messages: list[Numbered]) -> list[Numbered]:
    """Order messages by their dates, or by the numbers that stand for dates where messages answer each other."""
    plans = [(message, field_plan(message)) for _, message in messages]
    spans = resolved([times(message, plan) if plan and plan.starts else NEVER for message, plan in plans])
    starts = [one.start for one in spans if one.start is not None]
    numbered = all(_answered(message) is not _NOTHING for _, message in messages)
    dated = all(mark.kind == "date" or mark.at >= FIRST_DATE for mark in starts)
    if len(starts) < len(messages) or not (dated or numbered):
        return _by_answers(messages)
    moments = [since_1970(mark.at) if dated else mark.at for mark in starts]
    if all(one <= two for one, two in pairwise(moments)):
        return messages
    order = sorted(range(len(messages)), key=moments.__getitem__)
    if moments == sorted(moments, reverse=True):  # newest first: messages of one second are turned around as well
        order = list(range(len(messages)))[::-1]
    return [messages[at] for at in order]


def _answered(message: Mapping[str, Any]) -> object:
    """Return which message another answers, None for the first of a talk."""
    return message.get("reply-to", message.get("reply_to", _NOTHING))


def _by_answers(messages: list[Numbered]) -> list[Numbered]:
    """Put messages that name what they answer behind it, where each is answered once at most, and none is missing."""
    if not all(isinstance(_answered(message), str | int | None) for _, message in messages):
        return messages
    following = {str(_answered(one[1])): one for one in messages}
    if len(following) < len(messages) or "None" not in following:
        return messages
    order = [following["None"]]
    while len(order) < len(messages) and (after := following.get(str(order[-1][1].get("id")))):
        order.append(after)
    return order if len(order) == len(messages) and order != messages else messages


def session_of(messages: Sequence[Mapping[str, Any]], form: int) -> Found:
    return read_messages(list(enumerate(messages, start=1)), form)


def of_pairs(pairs: list[Any]) -> list[Found]:
    """Read pairs as the exchanges of one session; questions that come again are not of one session."""
    if all(map(layouts.stands_alone, pairs[:SAMPLE])):
        asked = [next(layouts.pair_messages([pair]), {}).get("content") for pair in pairs]
        if len(set(map(str, asked))) < len(asked):
            return [session_of(list(layouts.pair_messages([pair])), WEAK) for pair in pairs]
    found = session_of(list(layouts.pair_messages(pairs)), WEAK)
    what, was = ("pair", "was") if len(pairs) == 1 else ("pairs", "were")
    note = f"{len(pairs)} {what} of fields {was} read as the exchanges of one session."
    return [replace(found, session=replace(found.session, notes=(note, *found.session.notes)))]
