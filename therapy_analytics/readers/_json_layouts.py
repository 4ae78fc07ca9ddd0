"""Lists that are a session though their items are no messages: pairs, single turns, labelled lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from therapy_analytics.readers._json_fields import Message
from therapy_analytics.readers._labels import speakers
from therapy_analytics.readers._roles import role_of_label

_ASKS = ("input", "context", "question", "prompt", "query", "post", "instruction")
_ANSWERS = ("output", "response", "answer", "completion", "reply")
_ALONE = frozenset({"context", "question", "prompt", "query", "post", "instruction"})
"""Names of what is asked in collections of single exchanges that have nothing to do with each other."""
_NO_SPEAKERS = frozenset({"model", "subject", "ai", "system", "tool", "function", "other", "unknown"})
_MOST_FIELDS = 20
_LABEL = re.compile(r"[\s>#*_]*([^\W\d_][^:\uff1a\n]{0,39}?)[\s*_]*[:\uff1a][\s*_]*")
_SAMPLE = 200
_MOST_LINES = 2000


class Sides(NamedTuple):
    """The field of what the client says, that of the therapist, and what an instruction stands in."""

    client: str
    therapist: str
    instruction: str | None
    reactive: bool
    alone: bool


@lru_cache(maxsize=1024)
def sides_of(fields: tuple[str, ...]) -> Sides | None:
    """Return which fields of an object are the two sides of an exchange."""
    if len(fields) > _MOST_FIELDS:
        return None
    names = {field.strip().lower(): field for field in fields}
    asks, answers = [name for name in _ASKS if name in names], [name for name in _ANSWERS if name in names]
    clients = [name for name in names if _names(name, "client")] or asks
    therapists = [name for name in names if _names(name, "therapist")] or answers
    if len(therapists) != 1 or not clients or (len(clients) > 1 and clients is not asks):
        return None
    client, instruction = clients[0], "system" if "system" in names else None
    if clients is asks and len(asks) > 1:
        instruction = "instruction" if "instruction" in asks else None
        if instruction is None or len(asks) > 2:
            return None
    told = names[instruction] if instruction else None
    return Sides(names[client], names[therapists[0]], told, clients is asks, client in _ALONE)


def _names(name: str, role: str) -> bool:
    """Tell a field that is called as a speaker is; one called ``client_id`` is none."""
    return name not in _NO_SPEAKERS and len(re.findall(r"[^\W_]+", name)) == 1 and role_of_label(name) == role


def is_pair(value: Any) -> bool:
    """Return whether a value holds what both sides say once."""
    sides = sides_of(tuple(value)) if isinstance(value, dict) else None
    if sides is None:
        return False
    said = value[sides.client], value[sides.therapist]
    return all(words is None or isinstance(words, str) for words in said) and any(
        " " in (words or "") for words in said
    )


def stands_alone(value: Any) -> bool:
    """Return whether a pair is an exchange of its own, as a question and its answer are."""
    sides = sides_of(tuple(value)) if isinstance(value, dict) else None
    return sides is not None and sides.alone


def pair_messages(pairs: Sequence[Any]) -> Iterator[Message]:
    """Yield two messages for each pair, in the order in which they were said."""
    for pair in pairs:
        sides = sides_of(tuple(pair)) if isinstance(pair, dict) else None
        if sides is None:
            yield {}
            continue
        told = pair[sides.instruction] if sides.instruction else None
        if isinstance(told, str) and told.strip():
            yield {"role": "system", "content": told}
        order = [field for field in pair if field in sides[:2]]
        for field in [sides.client, sides.therapist] if sides.reactive else order:
            yield _side(field, "client" if field == sides.client else "therapist", pair[field])


def _side(field: str, role: str, said: Any) -> Message:
    named = {"role": field} if role_of_label(field) else {"speaker": field, "role": role}
    return {**named, "content": said}


def turns_by_name(items: Sequence[Any]) -> list[Message] | None:
    """Return the messages of a list such as ``[{"Therapist": ...}, {"Client": ...}]``."""
    return _of_two(items, lambda item: _only(item) if isinstance(item, dict) and len(item) == 1 else None)


def turns_in_twos(items: Sequence[Any]) -> list[Message] | None:
    """Return the messages of a list such as ``[["Therapist", ...], ["Client", ...]]``."""
    return _of_two(items, lambda item: tuple(item) if isinstance(item, list) and len(item) == 2 else None)


def _only(item: Mapping[str, Any]) -> tuple[Any, ...]:
    return next(iter(item.items()))


def _of_two(items: Sequence[Any], split: Callable[[Any], tuple[Any, ...] | None]) -> list[Message] | None:
    if not items or split(items[0]) is None:
        return None
    found = [split(item) for item in items]
    turns = [two if two and all(isinstance(one, str) for one in two) else None for two in found]
    labels = [turn[0].strip().lower() for turn in turns if turn and len(turn[0]) <= 40]
    if 2 * len(labels) <= len(items) or len(_speakers(labels)) < 2:
        return None
    return [{"speaker": turn[0], "content": turn[1]} if turn else {} for turn in turns]


def labelled(lines: Sequence[Any]) -> list[Message] | None:
    """Return the messages of a list such as ``["Therapist: ...", "Client: ..."]``; other lines go on with a turn."""
    if not all(isinstance(line, str) for line in lines[:_SAMPLE]):
        return None
    if len(lines) > _MOST_LINES and labelled(lines[:_SAMPLE]) is None:
        return None
    matches = [_LABEL.match(line) if isinstance(line, str) else None for line in lines]
    known = _speakers([match[1].strip().lower() for match in matches if match])
    if len(known) < 2:
        return None
    messages: list[Message] = []
    name = ""
    for line, match in zip(lines, matches, strict=True):
        begins = match is not None and match[1].strip().lower() in known
        name = match[1].strip() if begins and match else name
        words = line[match.end() :] if begins and match else line
        messages.append({"speaker": name, "content": words} if name else {})
    return messages if sum(map(bool, matches)) * 2 > len(lines) else None


def _speakers(labels: list[str]) -> frozenset[str]:
    """Return the labels that are speakers; those without a letter, which are none, were sorted out before."""
    lettered = [label for label in labels if re.search(r"[^\W\d_]", label)]
    return speakers(lettered)
