"""Chats that are kept as a tree, as in the account export of ChatGPT: the branch that the user last saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from therapy_analytics.readers._json_fields import Numbered
from therapy_analytics.readers._json_words import Left
from therapy_analytics.readers._times import date_of, day

_FOR_THE_MODEL = ("user_editable_context", "model_editable_context")
_NOT_SHOWN = ("is_visually_hidden_from_conversation", "is_user_system_message", "rebase_system_message")
_LONGEST_TITLE = 80


def is_tree(value: Mapping[str, Any]) -> bool:
    """Tell a chat whose messages hang on each other by ``parent``."""
    nodes = value.get("mapping")
    return isinstance(nodes, dict) and ("current_node" in value or any(map(_is_node, list(nodes.values())[:9])))


def branch(value: Mapping[str, Any], left: Left) -> list[Numbered]:
    """Return the messages from the root to the current node; those hidden or elsewhere are counted."""
    nodes = {key: node for key, node in value["mapping"].items() if isinstance(node, dict)}
    path = _path(nodes, value.get("current_node"))
    messages = [node["message"] for node in path if isinstance(node.get("message"), dict)]
    shown = [message for message in messages if not _left_out(message, left)]
    on_path = {id(node) for node in path}
    others = (node.get("message") for node in nodes.values() if id(node) not in on_path)
    left["branch"] += sum(isinstance(one, dict) and not _is_hidden(one) for one in others)
    return list(enumerate(shown, start=1))


def about(value: Mapping[str, Any]) -> dict[str, str]:
    """Return title, date and model of a chat."""
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
    """Follow the parents up from a node; a circle ends where it closes."""
    at = leaf if isinstance(leaf, str) and leaf in nodes else _newest_leaf(nodes)
    path: dict[str, Mapping[str, Any]] = {}
    while isinstance(at, str) and at in nodes and at not in path:
        path[at] = nodes[at]
        at = nodes[at].get("parent")
    return list(path.values())[::-1]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    """Return the last written node without children, where no node is said to be the current one."""
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
    left["hidden"] += hidden and any(_texts(message))
    return hidden


def _is_hidden(message: Mapping[str, Any]) -> bool:
    """Tell what the user never saw: without words, without weight, or written for the model alone."""
    content, more = message.get("content"), message.get("metadata")
    kind = content.get("content_type") if isinstance(content, dict) else None
    flagged = isinstance(more, dict) and any(more.get(flag) is True for flag in _NOT_SHOWN)
    return flagged or message.get("weight") == 0 or kind in _FOR_THE_MODEL or not any(_texts(message))


def _texts(message: Mapping[str, Any]) -> Iterator[object]:
    """Yield whatever a message holds."""
    content = message.get("content")
    if not isinstance(content, dict):
        yield content
        return
    for key, value in content.items():
        if key in {"parts", "thoughts"} and isinstance(value, list):
            yield from (part.strip() if isinstance(part, str) else part for part in value)
        elif key not in {"content_type", "language", "response_format_name"}:
            yield value
