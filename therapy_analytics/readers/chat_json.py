"""Chats and transcripts in JSON or JSON Lines.

OpenAI ``messages``, ShareGPT ``conversations``, lists of ``{speaker, text}``; one session
in a file or many, at any depth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._times import seconds
from therapy_analytics.session import Role

_SPEAKER = ("role", "from", "speaker", "interlocutor", "author", "sender", "name", "who")
_TEXT = ("content", "text", "value", "message", "utterance", "utterance_text", "body")
_START = ("start", "start_s", "start_time", "timestamp", "begin", "time")
_END = ("end", "end_s", "end_time")
_NAME = ("session_id", "id", "conversation_id", "conv_id", "dialogue_id", "dialog_id", "name", "title")
_SESSION = tuple(key for key in _NAME if key not in {"id", "name", "title"})
_NOT_SPOKEN: Mapping[str, Role] = dict.fromkeys(("system", "tool", "function", "developer"), "other")
_BEGINS = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_DEEPEST = 6
_LONGEST_METADATA = 40


def sniff(source: Source) -> float:
    """Be nearly sure of a text that begins as JSON does: a stamp in brackets is none."""
    return 0.95 if _BEGINS.match(source.head.lstrip("\ufeff")) else 0.0


@reader("chat_json", suffixes=(".json", ".jsonl", ".ndjson"), sniff=sniff)
def read_chat_json(source: Source) -> Iterator[RawSession]:
    """JSON or JSON Lines of messages that say who speaks and what."""
    sessions = [session for document in _documents(source) for session in _sessions(document, "", _DEEPEST)]
    yield from sessions
    if not sessions:
        raise source.error(
            "no list of messages was found",
            'A session is a list of messages such as {"speaker": ..., "text": ...} or {"role": ..., "content": ...}',
        )


def _documents(source: Source) -> list[Any]:
    """Return the values of the file: one, or one a line; lines that are messages are one session."""
    text = source.text.lstrip("\ufeff")
    try:
        return [json.loads(text)]
    except RecursionError:
        raise source.error("the JSON is nested too deep", "A session is a flat list of messages") from None
    except ValueError as error:
        first_error = error
    lines = [(number, line) for number, line in enumerate(source.lines, start=1) if line.strip("\ufeff \t")]
    values: list[Any] = []
    for number, line in lines:
        try:
            values.append(json.loads(line.lstrip("\ufeff")))
        except (ValueError, RecursionError):
            place = number if values else getattr(first_error, "lineno", 1)
            raise source.error("the JSON is broken or breaks off here", "Export the file again", line=place) from None
    return [values] if values and all(map(_is_message, values)) else values


def _sessions(value: Any, name: str, depth: int) -> Iterator[RawSession]:
    """Walk down to the lists of messages."""
    if depth == 0:
        return
    if isinstance(value, list):
        if value and sum(map(_is_message, value)) * 2 > len(value):
            yield from _by_session(value, name)
        else:
            for item in value:
                yield from _sessions(item, name, depth - 1)
    elif isinstance(value, dict):
        yield from _in_dict(value, name, depth)


def _by_session(messages: list[Any], name: str) -> Iterator[RawSession]:
    """Part messages that each say which session they are of."""
    parts: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for place, message in enumerate(messages, start=1):
        if _is_message(message):
            own = _first(message, _SESSION)
            parts.setdefault(name if own is None else str(own), []).append((place, message))
    odd = len(messages) - sum(map(len, parts.values()))
    notes = (f"{counted(odd, 'item')} among the messages without a speaker or words left out.",) if odd else ()
    for label, part in parts.items():
        yield RawSession(label, [_row(*numbered) for numbered in part], notes=notes)


def _in_dict(value: Mapping[str, Any], name: str, depth: int) -> Iterator[RawSession]:
    own = next((str(value[key]) for key in _NAME if isinstance(value.get(key), str | int)), name)
    inside = [
        (key, session)
        for key, item in value.items()
        if isinstance(item, list | dict)
        for session in _sessions(item, own, depth - 1)
    ]
    about = _metadata(value)
    for key, session in inside:
        label = session.name or (key if len({key for key, _ in inside}) > 1 else "")
        yield RawSession(label, session.rows, {**about, **session.metadata}, session.notes)


def _metadata(value: Mapping[str, Any]) -> dict[str, str]:
    return {
        key: str(item)
        for key, item in value.items()
        if key not in _NAME and isinstance(item, str | int | float | bool) and len(str(item)) <= _LONGEST_METADATA
    }


def _first(message: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((message[key] for key in keys if message.get(key) is not None), None)


def _is_message(value: Any) -> bool:
    """Return whether a value says who speaks and what; what may be null, as where a model calls a tool."""
    if not isinstance(value, dict) or not any(key in value for key in _TEXT):
        return False
    words = _first(value, _TEXT)
    return isinstance(_speaker(value), str | int) and (words is None or isinstance(words, str | list | int | float))


def _speaker(message: Mapping[str, Any]) -> Any:
    who = _first(message, _SPEAKER)
    return _first(who, ("role", "name")) if isinstance(who, dict) else who


def _row(place: int, message: Mapping[str, Any]) -> Row:
    speaker = str(_speaker(message))
    start, end = seconds(_first(message, _START)), seconds(_first(message, _END))
    return Row(speaker, _text(_first(message, _TEXT)), place, start, end, _NOT_SPOKEN.get(speaker.lower()))


def _text(content: str | list[Any] | float | None) -> str:
    """Return the words of a message; of content parts, those of the text parts."""
    if not isinstance(content, list):
        return "" if content is None else str(content)
    parts = (part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | dict))
    return "\n".join(part for part in parts if isinstance(part, str))
