"""Forms of a talk in JSON that are no plain list of messages: each is turned into one.

Pairs of fields (question and answer), turns keyed by their speaker, trees of messages, messages inside
records, and channels of a recording as speakers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_fields import (
    Left,
    Message,
    Numbered,
    field_plan,
    is_message,
    is_segment,
    role_in,
    who,
)
from therapy_analytics.readers._labels import speakers
from therapy_analytics.readers._times import date_of, day, name_and_unit
from therapy_analytics.readers.roles import is_relative, role_of_label

_ASKS = ("input", "context", "question", "prompt", "query", "post", "instruction")
_ANSWERS = ("output", "response", "answer", "completion", "reply")
_ALONE = frozenset({"context", "question", "prompt", "query", "post", "instruction"})
"""Names of the question in collections of single exchanges that are independent of each other."""
_NO_SPEAKERS = frozenset({"model", "subject", "ai", "system", "tool", "function", "other", "unknown"})
_MOST_FIELDS = 20
_MOST_BESIDE = 5
_BESIDE = frozenset({"time", "timestamp", "start", "end", "begin", "date", "ts", "id", "turn", "index", "duration"})
_LETTERS = frozenset("abcdefgh")
_UNWRAPPED = ("message", "data", "utterance", "transcript", "utterance_event", "kwargs")
_FOR_THE_MODEL = ("user_editable_context", "model_editable_context")
_NOT_SHOWN = ("is_visually_hidden_from_conversation", "is_user_system_message", "rebase_system_message")
_LONGEST_TITLE = 80
_CHANNEL = ("channel", "channel_tag", "channel_id", "channel_index", "channel_label")
_CHANNEL_NUMBER = re.compile(r"(?:(?:ch|channel)[ _-]?)?\d{1,2}", re.IGNORECASE)


class Sides(NamedTuple):
    """The fields of an exchange.

    Attributes
    ----------
    people : tuple of str
        What each side says, the client first and the therapist second.
    told : tuple of str
        Instructions to a model.
    reactive : bool
        They are named as question and answer, not by who speaks.
    alone : bool
        Each pair is an exchange of its own.
    """

    people: tuple[str, ...]
    told: tuple[str, ...]
    reactive: bool
    alone: bool


@lru_cache(maxsize=1024)
def sides_of(fields: tuple[str, ...]) -> Sides | None:
    """Return which fields of an object are the sides of an exchange; None where there are none, or too many."""
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
    """Tell whether a field has the name of a role, perhaps with a number or letter; ``client_id`` has not."""
    parts = re.findall(r"[^\W_]+", name)
    single = len(parts) == 1 or (len(parts) == 2 and (parts[1].isdecimal() or parts[1] in _LETTERS))
    return name not in _NO_SPEAKERS and single and role_of_label(name) == role


def _is_person(name: str) -> bool:
    """Tell whether a field has the name of somebody beside therapist and client, such as a relative."""
    return name not in _NO_SPEAKERS and (is_relative(name) or role_of_label(name) == "other")


def is_pair(value: Any) -> bool:
    """Return whether a value is an object with a field for what each side says."""
    sides = sides_of(tuple(value)) if isinstance(value, dict) else None
    if sides is None:
        return False
    texts = [value[field] for field in sides.people]
    are_texts = all(text is None or isinstance(text, str) for text in texts)
    return are_texts and any(" " in (text or "") for text in texts)


def stands_alone(value: Any) -> bool:
    """Return whether a value is a pair that is independent of others, as a question and its answer are."""
    sides = sides_of(tuple(value)) if isinstance(value, dict) else None
    return sides is not None and sides.alone


def pair_messages(pairs: Sequence[Any]) -> Iterator[Message]:
    """Yield a message for each side of each pair, in the order in which they speak."""
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


def _side(field: str, role: str, text: Any) -> Message:
    named = (
        {"speaker": field} if role_of_label(field) or _is_person(field.lower()) else {"speaker": field, "role": role}
    )
    return {**named, "content": text}


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
    """Return the one field, beside times and ids, whose name can be a speaker and its value the words."""
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


def _speakers(labels: list[str]) -> frozenset[str]:
    """Return the labels that are speakers; those without a letter are none."""
    lettered = [label for label in labels if re.search(r"[^\W\d_]", label)]
    return speakers(lettered)


def is_tree(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a chat whose messages form a tree, each with its ``parent``."""
    nodes = value.get("mapping")
    return isinstance(nodes, dict) and ("current_node" in value or any(map(_is_node, list(nodes.values())[:9])))


def branch(value: Mapping[str, Any], left: Left) -> list[Numbered]:
    """Return the messages from the root to the current node; hidden ones and those of other branches are counted."""
    nodes = {key: node for key, node in value["mapping"].items() if isinstance(node, dict)}
    path = _path(nodes, value.get("current_node"))
    messages = [node["message"] for node in path if isinstance(node.get("message"), dict)]
    shown = [message for message in messages if not _left_out(message, left)]
    on_path = {id(node) for node in path}
    others = (node.get("message") for node in nodes.values() if id(node) not in on_path)
    left["branch"] += sum(isinstance(one, dict) and not _is_hidden(one) for one in others)
    return list(enumerate(shown, start=1))


def about_tree(value: Mapping[str, Any]) -> dict[str, str]:
    """Return title, date and model of a tree, as far as they are there."""
    facts = {}
    title, made, model = value.get("title"), date_of(value.get("create_time")), value.get("default_model_slug")
    if isinstance(title, str) and len(title) <= _LONGEST_TITLE:
        facts["title"] = title
    if made is not None:
        facts["date"] = day(made)
    if isinstance(model, str):
        facts["model"] = model
    return facts


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and "message" in value and ("parent" in value or "children" in value)


def _path(nodes: Mapping[str, Any], leaf: Any) -> list[Mapping[str, Any]]:
    """Return the nodes from the root to a node; where parents form a circle, all of it."""
    at = leaf if isinstance(leaf, str) and leaf in nodes else _newest_leaf(nodes)
    path: dict[str, Mapping[str, Any]] = {}
    while isinstance(at, str) and at in nodes and at not in path:
        path[at] = nodes[at]
        at = nodes[at].get("parent")
    return list(path.values())[::-1]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    """Return the newest node without children."""
    parents = {node["parent"] for node in nodes.values() if isinstance(node.get("parent"), str)}
    leaves = [key for key in nodes if key not in parents]
    return max(leaves, key=lambda key: (_written(nodes[key]), leaves.index(key)), default=None) if leaves else None


def _written(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    return (date_of(message.get("create_time")) or 0.0) if isinstance(message, dict) else 0.0


def _left_out(message: Mapping[str, Any], left: Left) -> bool:
    if message.get("recipient", "all") not in ("all", None):
        left["tool"] += 1
        return True
    hidden = _is_hidden(message)
    left["hidden"] += hidden and any(_texts_of_node(message))
    return hidden


def _is_hidden(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is one that the user never saw: empty, of weight 0, or written for the model alone."""
    content, more = message.get("content"), message.get("metadata")
    kind = content.get("content_type") if isinstance(content, dict) else None
    flagged = isinstance(more, dict) and any(more.get(flag) is True for flag in _NOT_SHOWN)
    return flagged or message.get("weight") == 0 or kind in _FOR_THE_MODEL or not any(_texts_of_node(message))


def _texts_of_node(message: Mapping[str, Any]) -> Iterator[object]:
    """Yield the values that a message holds, empty ones among them."""
    content = message.get("content")
    if not isinstance(content, dict):
        yield content
        return
    for key, value in content.items():
        if key in {"parts", "thoughts"} and isinstance(value, list):
            yield from (part.strip() if isinstance(part, str) else part for part in value)
        elif key not in {"content_type", "language", "response_format_name"}:
            yield value


def is_wrapped(value: Any) -> bool:
    """Tell whether a value is a record with a message inside."""
    return bool(unwrapped(value))


def unwrapped(value: Any) -> dict[str, Any]:
    """Return the message inside a record, with the plain fields around it, which may say who speaks; else ``{}``."""
    if not isinstance(value, dict):
        return {}
    around = {key: item for key, item in value.items() if not isinstance(item, dict)}
    kind = value.get("id")
    if isinstance(kind, list) and kind and isinstance(kind[-1], str):  # the class of a message of LangChain
        around["type"] = kind[-1].lower().removesuffix("chunk").removesuffix("message")
    inside = ({**around, **item} for key, item in value.items() if slug(key) in _UNWRAPPED and isinstance(item, dict))
    return next(filter(is_message, inside), {})


def with_channels(items: list[Any]) -> list[Any]:
    """Take the channels of a recording as its speakers where nothing else tells who speaks.

    Where each channel numbers its own speakers, the label is the number and the channel.
    """
    channels = [_channel(item) for item in items]
    if len(set(channels) - {""}) < 2:
        return items
    names = [None if (plan := field_plan(item)) is None else who(item, plan, role_in(item, plan)) for item in items]
    pairs = {(name, channel) for name, channel in zip(names, channels, strict=True) if name and channel}
    numbered = all(_CHANNEL_NUMBER.fullmatch(name) for name, _ in pairs)
    if any(names) and (not numbered or len({name for name, _ in pairs}) == len(pairs)):
        return items
    labels = [f"{name} ({channel})" if name else channel for name, channel in zip(names, channels, strict=True)]
    return [
        {**item, "speaker": label} if channel and (name or not any(names)) else item
        for item, name, channel, label in zip(items, names, channels, labels, strict=True)
    ]


def _channel(item: Any) -> str:
    """Return the channel of a timed segment as a label; empty where there is none."""
    if not is_segment(item):
        return ""
    known = {slug(key): value for key, value in item.items()}
    value = str(next((known[key] for key in _CHANNEL if isinstance(known.get(key), str | int)), ""))
    return f"channel {value}" if value.isdecimal() else value if _CHANNEL_NUMBER.fullmatch(value) else ""
