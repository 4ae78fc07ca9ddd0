"""Lists of messages to sessions: rows with speaker, words, times, and what people coded beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from therapy_analytics.core.identity import names_person
from therapy_analytics.core.session import Role
from therapy_analytics.readers import _json_layouts as layouts
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_fields import (
    NOBODY,
    NOT_SPOKEN,
    OUR_ROLES,
    Left,
    Message,
    Numbered,
    Plan,
    field_plan,
    first,
    is_message,
    is_segment,
    n_words,
    notes,
    role_in,
    thinks_or_calls,
    times,
    who,
    words,
    words_of,
)
from therapy_analytics.readers._json_speech import (
    are_words,
    is_replaced,
    results_of_stream,
    spoken_words,
    text_and_time,
    words_apart,
)
from therapy_analytics.readers._label_forms import Line
from therapy_analytics.readers._labelled_lines import labelled_rows
from therapy_analytics.readers._timeline import timeline
from therapy_analytics.readers._times import FIRST_DATE, NEVER, Span, Time, on_day, resolved, since_1970
from therapy_analytics.readers.base import RawSession, Row
from therapy_analytics.readers.roles import is_first_name, role_of_label

_NO_CODE = re.compile(r".*(?:id|url|link|time|date|stamp|author|name|user|ip|role)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3}")
_OF_MODELS = frozenset({"user", "assistant", "human", "ai", "model", "gpt", "bot"})
_LONGEST_CODE = 40
_LISTS_OF_WORDS = ("words", "elements", "tokens", "terms", "alignment")
_FEW = 0.3
"""Where labels stand only where the speaker changes, at least this share of the rows has none."""
WORDS, SENTENCES, WEAK, STRONG = range(4)
"""How good a form of a session is, where several stand beside each other."""
SAMPLE = 300
_MOST_LINES = 2000
_NOTHING = object()
_FEWEST_LABELLED = 0.5


def rows_of(messages: Sequence[Numbered], left: Left) -> tuple[list[Row], tuple[str, ...], Time]:
    """Return the rows of a session, notes on times, and when it began; what is left out is counted in `left`."""
    rows: list[Row] = []
    spans: list[Span] = []
    for place, message in _on_their_days(messages):
        for row, when in _rows(place, message, left):
            rows.append(row)
            spans.append(when)
    found = timeline(spans, [row.text for row in rows])
    times = zip(rows, found.starts, found.ends, strict=True)
    rows = [replace(row, start_s=start, end_s=end) for row, start, end in times]
    return _without_names(_one_role_each(rows), left), found.told, found.began


def _on_their_days(messages: Sequence[Numbered]) -> Sequence[Numbered]:
    """Put the date of each message before its time of day, where there are several dates."""
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
    role = None if plan is None else role_in(message, plan)
    label = None if plan is None else who(message, plan, role)
    if plan is None or (label is None and not is_segment(message)):
        left["item"] += 1
        values = message.values() if isinstance(message, dict) else [message]
        texts = (item for item in values if isinstance(item, str) and " " in item)
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
    yield Row(label, text, place, None, None, _role(role, label), gold), when


def _content(message: Message, plan: Plan, left: Left) -> tuple[str, Span]:
    """Return words and time of a message; single words inside it tell both where nothing else does."""
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
    """Return whether a message says who speaks, for itself or for the single words inside it."""
    plan = field_plan(message)
    if plan is None:
        return False
    inside, role = message.get("words"), role_in(message, plan)
    return bool(who(message, plan, role) or role in OUR_ROLES) or (
        isinstance(inside, list) and any(map(_is_of_somebody, inside))
    )


def _by_words(place: int, inside: list[Any], text: str, label: str, when: Span) -> Iterator[tuple[Row, Span]]:
    """Yield the rows of a segment without a speaker by the speakers of its words, if these make up its text."""
    texts = text.split()
    named = [dict(word, speaker=str(word["speaker"])) if _is_of_somebody(word) else word for word in inside]
    names = {word["speaker"] for word in named if _is_of_somebody(word)}
    if len(names) < 2 or len(texts) != len(inside) or not all(isinstance(word, dict) for word in inside):
        yield Row(next(iter(names), label), text, place, role=_role(None, next(iter(names), label))), when
        return
    words = [{**word, "word": one, "punctuated_word": one} for word, one in zip(named, texts, strict=True)]
    for message in spoken_words(words) or ():
        yield Row(message["speaker"], message["content"], place), message["time"]


def _is_of_somebody(word: Any) -> bool:
    return isinstance(word, dict) and isinstance(word.get("speaker"), str | int)


def _role(role: str | None, label: str) -> Role | None:
    """Return the role that the format gives beside a name; None where all labels together are to tell it.

    A name that says its role in a word, such as *Interpreter*, wins over the role of a user or a model.
    """
    if not label.strip() and (role is None or role in OUR_ROLES):
        return role_of_label(role) if role else None
    if (role or "").lower() in NOT_SPOKEN or label.strip().casefold() in NOBODY:
        return "other"
    if role is None or role == label:
        return None
    own = None if is_first_name(label) or not _WORD.search(label) else role_of_label(label)
    return own if own and role.lower() in _OF_MODELS else role_of_label(role)


def _codes(message: Message, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield name and value of the codes that people gave a message, in fields named so or in an annotation."""
    for key in plan.codes:
        value = message[key]
        if not isinstance(value, dict):
            if key not in plan.speakers:
                yield key, _code(value)
            continue
        for name, item in value.items():
            if isinstance(item, str | list) and not _NO_CODE.fullmatch(name) and not names_person(name, [str(item)]):
                yield name, _code(item)


def _code(value: Any) -> str:
    """Return a code as text, several joined by a semicolon; empty for what is too long for one."""
    if isinstance(value, list):
        return ";".join(filter(None, map(_code, value[:_LONGEST_CODE])))
    short = isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) <= _LONGEST_CODE
    return str(value).strip() if short else ""


def _one_role_each(rows: list[Row]) -> list[Row]:
    """Use the roles as labels where one name has several roles, as that of a shared account has."""
    roles: dict[str, set[Role]] = {}
    for row in rows:
        if row.speaker and row.role in {"therapist", "client"}:
            roles.setdefault(row.speaker, set()).add(row.role)
    both = {name for name, known in roles.items() if len(known) > 1}
    if not both:
        return rows
    return [replace(row, speaker=row.role or row.speaker) if row.speaker in both else row for row in rows]


def _without_names(rows: list[Row], left: Left) -> list[Row]:
    """Give a row without a speaker the role other, or the speaker before where labels stand only at changes."""
    unnamed = [row for row in rows if not row.speaker.strip() and row.role is None]
    named = [row.speaker for row in rows if row.speaker.strip()]
    if not unnamed or not named:
        return rows
    at_changes = all(one != two for one, two in pairwise(named)) and len(named) > 2
    if not (at_changes and rows[0].speaker.strip() and len(unnamed) >= _FEW * len(rows)):
        left["nobody"] += len(unnamed)
        left["nobody words"] += sum(n_words(row.text) for row in unnamed)
        return [row if row.speaker.strip() or row.role else replace(row, role="other") for row in rows]
    left["carried"] += len(unnamed)
    name, role = "", None
    done: list[Row] = []
    for row in rows:
        name, role = (row.speaker, row.role) if row.speaker.strip() or row.role else (name, role)
        done.append(replace(row, speaker=name, role=role))
    return done


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session, how good its form is, and whether it is a list that stands directly under its key."""

    session: RawSession
    form: int = STRONG
    direct: bool = False


def session_of_list(items: list[Any]) -> list[FoundSession] | None:
    """Return the sessions that a list is, none where it is speech of nobody; None if it only may hold some."""
    sample = _sample(items)
    stream = words_apart({"results": results_of_stream(items)}) if results_of_stream(sample) else []
    if stream:
        return [session_of(stream, WORDS)]
    if most(sample, is_segment) or most(sample, is_message):
        return _of_speech(items)
    if most(sample, layouts.is_wrapped):
        return _of_messages(list(map(layouts.unwrapped, items)))
    if most(sample, layouts.is_pair):
        return of_pairs(items)
    return _of_other_items(items) or None


def _of_speech(items: list[Any]) -> list[FoundSession]:
    """Read messages or segments, or single words where none of these says who speaks."""
    if not are_words(_sample(items)):
        items = layouts.with_channels(items)
        if any(map(speaks, _sample(items))):
            return _of_messages(items)
    return _of_words(items)


def _of_words(items: list[Any]) -> list[FoundSession]:
    words = spoken_words(items)
    return [session_of(words, WORDS)] if words else []


def _of_other_items(items: list[Any]) -> list[FoundSession]:
    """Read turns that are named by their speakers, lines with labels, or words without times."""
    for layout in (layouts.turns_by_name, layouts.turns_in_twos):
        messages = layout(items)
        if messages:
            return [session_of(messages, WEAK)]
    sample = _sample(items)
    if all(isinstance(item, str) for item in sample):
        found = labelled(items)
        return [found] if found else []
    return _of_words(items) if are_words(sample) else []


def is_unnamed_speech(items: list[Any]) -> bool:
    """Tell a list of single words, or of messages or segments none of which says who speaks."""
    sample = _sample(items)
    if are_words(sample):
        return True
    is_speech = most(sample, is_segment) or most(sample, is_message)
    return is_speech and not any(map(speaks, _sample(layouts.with_channels(items))))


def _sample(items: list[Any]) -> list[Any]:
    return items[:: len(items) // SAMPLE + 1]


def labelled(texts: Sequence[Any]) -> FoundSession | None:
    """Read texts such as ``Therapist: ...`` as a file of such lines is read; most of them must have a label."""
    lines = [
        Line(place, line, line)
        for place, text in enumerate(texts, start=1)
        for line in (text.split("\n") if isinstance(text, str) else [""])
    ]
    if len(lines) > _MOST_LINES and labelled(texts[: _MOST_LINES // 10]) is None:
        return None
    found = labelled_rows(lines)
    if found is None or len(found.labels) < 2 or found.share <= _FEWEST_LABELLED:
        return None
    return FoundSession(RawSession("", found.rows, found.facts, found.notes, passed_over=found.passed_over), WEAK)


def most(sample: Sequence[Any], test: Callable[[Any], bool]) -> bool:
    return bool(sample) and 2 * sum(map(test, sample)) > len(sample)


def _of_messages(items: list[Any]) -> list[FoundSession]:
    """Read messages, which may each say of which session they are."""
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
        return SENTENCES
    return WEAK if 2 * sum(plan.weak for plan in plans) > len(plans) else STRONG


def read_messages(messages: list[Numbered], form: int, label: str = "", left: Left | None = None) -> FoundSession:
    left = Counter() if left is None else left
    ordered = _in_order(messages)
    rows, told, began = rows_of(ordered, left)
    plans = [(message, field_plan(message)) for _, message in ordered]
    timed = all(plan and first(message, plan.starts) is not None for message, plan in plans)
    by = "of their times" if timed else "in which they answer each other"
    moved = (f"The messages were put in the order {by}.",) if ordered is not messages else ()
    return FoundSession(RawSession(label, rows, notes=(*notes(left), *told, *moved), began=began), form)


def _in_order(messages: list[Numbered]) -> list[Numbered]:
    """Order messages by their dates, or by plain times where they name the message that they answer."""
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
    """Return which message another answers: None for the first of a talk, `_NOTHING` where it does not say."""
    return message.get("reply-to", message.get("reply_to", _NOTHING))


def _by_answers(messages: list[Numbered]) -> list[Numbered]:
    """Put each message behind the one that it answers, if none is answered twice and none is missing."""
    if not all(isinstance(_answered(message), str | int | None) for _, message in messages):
        return messages
    following = {str(_answered(one[1])): one for one in messages}
    if len(following) < len(messages) or "None" not in following:
        return messages
    order = [following["None"]]
    while len(order) < len(messages) and (after := following.get(str(order[-1][1].get("id")))):
        order.append(after)
    return order if len(order) == len(messages) and order != messages else messages


def session_of(messages: Sequence[Message], form: int) -> FoundSession:
    return read_messages(list(enumerate(messages, start=1)), form)


def of_pairs(pairs: list[Any]) -> list[FoundSession]:
    """Read pairs as the exchanges of one session, or as one session each where the same question comes again."""
    if all(map(layouts.stands_alone, pairs[:SAMPLE])):
        asked = [next(layouts.pair_messages([pair]), {}).get("content") for pair in pairs]
        if len(set(map(str, asked))) < len(asked):
            return [session_of(list(layouts.pair_messages([pair])), WEAK) for pair in pairs]
    found = session_of(list(layouts.pair_messages(pairs)), WEAK)
    what, was = ("pair", "was") if len(pairs) == 1 else ("pairs", "were")
    note = f"{len(pairs)} {what} of fields {was} read as the exchanges of one session."
    return [replace(found, session=replace(found.session, notes=(note, *found.session.notes)))]
