"""What is said in a message: text parts joined; thoughts, pictures and tool calls left out and counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from therapy_analytics.readers._notes import counted

_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHTS = frozenset(
    {"thinking", "redacted_thinking", "reasoning", "reasoning_content", "thoughts", "reasoning_recap"}
)
_TOOLS = frozenset({"tool_use", "tool_call", "tool_result", "function_call", "server_tool_use"})
_WORDS_OF_PART = ("text", "refusal", "transcript", "value", "display")
_CALLS = ("tool_calls", "function_call")
_OF_THOUGHTS = frozenset({"thinking", "text", "reasoning", "content", "summary"})
_REASONING = ("reasoning_content", "reasoning", "thinking")
_BY_LINE = frozenset({"content", "parts", "message"})
_BY_SPACE = frozenset({"sentences", "words", "turn"})

_LIKELIEST_FIRST = "n_best"
_AT_CHANGES = "names stand only where the speaker changes"
_ORDER = {
    "item": ("item", "among the messages without a speaker or words", "left out."),
    "hidden": ("message", "that the chat does not show, or that weigh nothing,", "left out."),
    "branch": ("message", "of branches that were edited or tried again", "left out."),
    "thought": ("part", "in which a model thinks to itself", "left out."),
    "picture": ("part", "without text (a picture, sound, a file)", "left out."),
    "tool": ("call", "of a tool", "left out."),
    "replaced": ("segment", "that a later one takes the place of", "left out."),
    "carried": ("segment", "without a speaker", f"went to the speaker before: {_AT_CHANGES}."),
    "nobody": ("segment", "without a speaker", "stayed without one, in neither role."),
}

Left = Counter[str]
"""What was left out, by kind, and how many words of the kinds where there are any."""


def n_words(text: str) -> int:
    """Return how many words a text has, as spaces part them."""
    return len(text.split())


def notes(left: Left) -> tuple[str, ...]:
    """Say what was left out.

    Examples
    --------
    >>> notes(Counter({"thought": 2, "thought words": 7}))
    ('2 parts in which a model thinks to itself (7 words) left out.',)
    """
    return tuple(_note(left, kind) for kind in _ORDER if left[kind])


def _note(left: Left, kind: str) -> str:
    what, which, rest = _ORDER[kind]
    words = left[f"{kind} words"]
    number = f"({counted(words, 'word')}) " if words else ""
    return f"{counted(left[kind], what)} {which} {number}{rest}"


def words_of(content: Any, key: str, left: Left) -> str:
    """Return the words of a message's content, which may be a text, parts, or a wrapper around either.

    Parts under `content` are paragraphs; elsewhere (as in Telegram's `text`) they are pieces of one sentence.
    """
    if isinstance(content, str):
        return without_thoughts(content, left) if "<" in content else content
    if isinstance(content, dict):
        kind = str(content.get("content_type", content.get("type", "")))
        inner = content.get("parts", content.get("text", content.get("content", content.get("body"))))
        return _of_part(content, left) if kind in _THOUGHTS or inner is None else words_of(inner, "parts", left)
    if isinstance(content, list):
        content = content[:1] if key == _LIKELIEST_FIRST else content
        parts = list(filter(None, _parts(content, left)))
        in_one = any(part[-1:] == " " or part[:1] == " " for part in parts)
        glue = "" if in_one else "\n" if key in _BY_LINE else " " if key in _BY_SPACE else ""
        return glue.join(parts)
    return "" if content is None or isinstance(content, bool) else str(content)


def _parts(content: list[Any], left: Left) -> Iterator[str]:
    for part in content:
        if isinstance(part, str):
            yield without_thoughts(part, left) if "<" in part else part
        elif isinstance(part, dict):
            yield _of_part(part, left)


def _of_part(part: Mapping[str, Any], left: Left) -> str:
    kind = str(part.get("type", part.get("content_type", "")))
    if kind in _THOUGHTS or part.get("thought") is True:
        left["thought"] += 1
        thoughts = (item for key, item in part.items() if key in _OF_THOUGHTS and isinstance(item, str))
        left["thought words"] += sum(map(n_words, thoughts))
        return ""
    if kind in _TOOLS:
        left["tool"] += 1
        return ""
    words = next((part[name] for name in _WORDS_OF_PART if isinstance(part.get(name), str)), None)
    if words is None:
        left["picture"] += 1
        return ""
    return without_thoughts(words, left) if "<" in words else words


def without_thoughts(text: str, left: Left) -> str:
    """Cut out what a model thinks to itself; a thought that is never opened began with the message.

    Examples
    --------
    >>> left = Counter()
    >>> without_thoughts("<think>be kind</think>Hello.", left), without_thoughts("be kind</think>Hello.", left)
    ('Hello.', 'Hello.')
    >>> left["thought"]
    2
    """
    kept: list[str] = []
    begin, inside = 0, False
    for tag in _THINKING.finditer(text):
        closes = bool(tag[1])
        if not inside and not (closes and not kept):
            kept.append(text[begin : tag.start()])
        left["thought"] += not inside and (not closes or not kept)
        if inside or (closes and not kept):
            left["thought words"] += n_words(text[begin : tag.start()])
        begin, inside = tag.end(), not closes
    left["thought words"] += n_words(text[begin:]) if inside else 0
    return "".join(kept if inside else [*kept, text[begin:]]).strip()


def thinks_or_calls(message: Mapping[str, Any], words: str, left: Left) -> bool:
    """Count what a model does beside speaking; tell whether the message is nothing else."""
    only = False
    thoughts = [message[key] for key in _REASONING if message.get(key)]
    if thoughts:
        left["thought"] += 1
        left["thought words"] += sum(n_words(one) for one in thoughts if isinstance(one, str))
        only = not words
    for key in _CALLS:
        calls = message.get(key)
        if calls:
            left["tool"] += len(calls) if isinstance(calls, list) else 1
            only = not words
    return only
