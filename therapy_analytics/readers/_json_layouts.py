"""Lists that are a session though their items are no messages: pairs, single turns, labelled lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from therapy_analytics.readers._json_fields import Message
from therapy_analytics.readers._labels import speakers
from therapy_analytics.readers._roles import is_relative, role_of_label
from therapy_analytics.readers._times import name_and_unit

_ASKS = ("input", "context", "question", "prompt", "query", "post", "instruction")
_ANSWERS = ("output", "response", "answer", "completion", "reply")
_ALONE = frozenset({"context", "question", "prompt", "query", "post", "instruction"})
"""Names of what is asked in collections of single exchanges that have nothing to do with each other."""
_NO_SPEAKERS = frozenset({"model", "subject", "ai", "system", "tool", "function", "other", "unknown"})
_MOST_FIELDS = 20
_MOST_BESIDE = 5
_BESIDE = frozenset({"time", "timestamp", "start", "end", "begin", "date", "ts", "id", "turn", "index", "duration"})
_LABEL = re.compile(r"[\s>#*_\[]*([^\W\d_][^:\uff1a\n\]]{0,39}?)[\s*_\]]*[:\uff1a][\s*_]*")
_NEARLY_ALL = 0.8
_LETTERS = frozenset("abcdefgh")


class Sides(NamedTuple):
    """The fields of what each side says, the client's first and the therapist's second, and those of instructions."""

    people: tuple[str, ...]
    told: tuple[str, ...]
    reactive: bool
    alone: bool


@lru_cache(maxsize=1024)
def sides_of(fields: tuple[str, ...]) -> Sides | None:
    """Return which fields of an object are the sides of an exchange."""
    if len(fields) > _MOST_FIELDS:
        return None
    names = {field.strip().lower(): field for field in fields}
    asks, answers = [name for name in _ASKS if name in names], [name for name in _ANSWERS if name in names]
    clients = [name for name in names if _names(name, "client")]
    therapists = [name for name in names if _names(name, "therapist")]
    others = [name for name in names if name not in clients and _is_person(name)]
    clients += [] if clients or len(others) < 2 else [others.pop(0)]  # a couple, each by a name of the family
    reactive = not clients or not therapists
    clients, therapists = clients or asks, therapists or answers
    several = len(therapists) > 1 or (clients is not asks and len(clients) > 1)
    if not clients or not therapists or (reactive and several):
        return None
    told = [name for name in ("system",) if name in names]
    if clients is asks and len(asks) > 1:
        if "instruction" not in asks or len(asks) > 2:
            return None
        told.append("instruction")
        clients = asks[:1]
    people = [clients[0], therapists[0], *clients[1:], *therapists[1:], *([] if reactive else others)]
    instructions = tuple(names[name] for name in told)
    return Sides(tuple(names[name] for name in people), instructions, clients[0] in asks, clients[0] in _ALONE)


def _names(name: str, role: str) -> bool:
    """Tell a field that is called as a speaker is, with a number where there are several; ``client_id`` is none."""
    parts = re.findall(r"[^\W_]+", name)
    single = len(parts) == 1 or (len(parts) == 2 and (parts[1].isdecimal() or parts[1] in _LETTERS))
    return name not in _NO_SPEAKERS and single and role_of_label(name) == role


def _is_person(name: str) -> bool:
    """Tell a field that is called as somebody is who takes part beside therapist and client."""
    return name not in _NO_SPEAKERS and (is_relative(name) or role_of_label(name) == "other")


def is_pair(value: Any) -> bool:
    """Return whether a value holds what each side says once."""
    sides = sides_of(tuple(value)) if isinstance(value, dict) else None
    if sides is None:
        return False
    said = [value[field] for field in sides.people]
    return all(words is None or isinstance(words, str) for words in said) and any(
        " " in (words or "") for words in said
    )


def stands_alone(value: Any) -> bool:
    """Return whether a pair is an exchange of its own, as a question and its answer are."""
    sides = sides_of(tuple(value)) if isinstance(value, dict) else None
    return sides is not None and sides.alone


def pair_messages(pairs: Sequence[Any]) -> Iterator[Message]:
    """Yield a message for each side of each pair, in the order in which they were said."""
    for pair in pairs:
        sides = sides_of(tuple(pair)) if isinstance(pair, dict) else None
        if sides is None:
            yield {}
            continue
        asked, answered = sides.people[:2]
        told = [text for field in sides.told if isinstance(text := pair[field], str) and text.strip()]
        if not pair[asked] and told and sides.told[-1].strip().lower() in _ALONE:
            pair = {**pair, asked: told.pop()}  # an instruction without an input is what is asked  # noqa: PLW2901
        yield from ({"role": "system", "content": text} for text in told)
        for before in pair.get("history") or () if sides.reactive else ():
            if isinstance(before, list) and len(before) == 2:
                yield from (_side(asked, "client", before[0]), _side(answered, "therapist", before[1]))
        order = sides.people if sides.reactive else [field for field in pair if field in sides.people]
        for field in order:
            if len(sides.people) == 2 or pair[field]:
                yield _side(field, "client" if field == sides.people[0] else "therapist", pair[field])


def _side(field: str, role: str, said: Any) -> Message:
    named = (
        {"speaker": field} if role_of_label(field) or _is_person(field.lower()) else {"speaker": field, "role": role}
    )
    return {**named, "content": said}


def turns_by_name(items: Sequence[Any]) -> list[Message] | None:
    """Return the messages of a list such as ``[{"Therapist": ...}, {"Client": ...}]``."""
    turns = _of_two(items, _only)
    return turns and [
        {**{key: value for key, value in item.items() if key != turn.get("speaker")}, **turn} if turn else turn
        for item, turn in zip(items, turns, strict=True)
    ]


def turns_in_twos(items: Sequence[Any]) -> list[Message] | None:
    """Return the messages of a list such as ``[["Therapist", ...], ["Client", ...]]``."""
    return _of_two(items, lambda item: tuple(item) if isinstance(item, list) and len(item) == 2 else None)


def _only(item: Any) -> tuple[Any, ...] | None:
    """Return the one field of an object that can be a name and its words; times and ids may stand beside it."""
    if not isinstance(item, dict) or len(item) > _MOST_BESIDE:
        return None
    named = [(key, value) for key, value in item.items() if isinstance(value, str) and not _is_beside(key)]
    return named[0] if len(named) == 1 else None


def _is_beside(field: str) -> bool:
    parts = set(name_and_unit(field)[0].split("_"))
    return not parts.isdisjoint(_BESIDE)


def _of_two(items: Sequence[Any], split: Callable[[Any], tuple[Any, ...] | None]) -> list[Message] | None:
    if not items or split(items[0]) is None:
        return None
    found = [split(item) for item in items]
    turns = [two if two and all(isinstance(one, str) for one in two) else None for two in found]
    labels = [turn[0].strip().lower() for turn in turns if turn and len(turn[0]) <= 40]
    if 2 * len(labels) <= len(items) or len(_speakers(labels)) < 2:
        return None
    return [{"speaker": turn[0], "content": turn[1]} if turn else {} for turn in turns]


def labelled_turns(lines: Sequence[Any]) -> list[Message] | None:
    """Return the messages of a list such as ``["Therapist: ...", "Client: ..."]``, in which nearly each has a label.

    A label is a name in capitals, names a role or a relation, or comes again; in such a list it is a speaker however
    seldom they speak. What has none goes on with the turn before.
    """
    matches = [_LABEL.match(line) if isinstance(line, str) else None for line in lines]
    labels = [" ".join(match[1].casefold().split()) for match in matches if match]
    if len(labels) < _NEARLY_ALL * len(lines) or len(_speakers(labels)) < 2:
        return None
    again = {label for label, n in Counter(labels).items() if n > 1}
    messages: list[Message] = []
    for line, match in zip(lines, matches, strict=True):
        if match and (_may_be_name(match[1]) or " ".join(match[1].casefold().split()) in again):
            messages.append({"speaker": match[1].strip(), "content": line[match.end() :]})
        elif not messages or not isinstance(line, str):
            return None
        else:
            messages.append({"speaker": messages[-1]["speaker"], "content": line})
    return messages


def _may_be_name(label: str) -> bool:
    words = label.split()
    known = role_of_label(label) is not None or _is_person(label.lower())
    return known or all(word[:1].isupper() or not word[:1].isalpha() for word in words) or len(words) == 1


def _speakers(labels: list[str]) -> frozenset[str]:
    """Return the labels that are speakers; those without a letter, which are none, were sorted out before."""
    lettered = [label for label in labels if re.search(r"[^\W\d_]", label)]
    return speakers(lettered)
