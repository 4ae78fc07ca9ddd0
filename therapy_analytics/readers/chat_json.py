"""Chats and transcripts in JSON or JSON Lines.

OpenAI ``messages``, ShareGPT, account exports of chat programs, speech recognition with
speakers, ConvoKit, pairs of fields, lists of ``{speaker, text}``; one session in a file or
many, at any depth. What is a session is found in ``_json_walk``, by layout and not by the
names of products.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.readers import _limits
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._companions import with_companions
from therapy_analytics.readers._json_fields import is_message
from therapy_analytics.readers._json_layouts import is_pair, is_wrapped, stands_alone
from therapy_analytics.readers._json_messages import is_unnamed_speech
from therapy_analytics.readers._json_speech import results_of_stream
from therapy_analytics.readers._json_walk import sessions_in
from therapy_analytics.readers._times import name_and_unit
from therapy_analytics.readers.base import RawSession, Source, begins, reader

T = TypeVar("T")

_BEGINS = r"[\s\x1e]*(?:\{\s*[\"}]|\[\s*[\[{\"\]])"
"""JSON; a time stamp in brackets is none."""
_BETWEEN = re.compile(r"[\s\x1e\ufeff]*")
_MOST_VALUES = 8_000_000
_SAMPLE = 300
_NAME = re.compile(r'"([^"\\]{1,80})"\s*:')
_LARGE, _EXCERPT, _N_EXCERPTS = 4_000_000, 100_000, 8
_SHORTEST = 60
"""Characters of a message that has a name of its own."""
_COLUMNS = "If two of them are the speaker and the words, say which: --columns speaker=NAME,text=NAME"
_MESSAGES = 'A session is a list of messages such as {"speaker": ..., "text": ...} or {"role": ..., "content": ...}'
_OURS = {"text": "content", "speaker": "speaker", "session": "session_id", "start": "start", "end": "end"}
"""How fields that the user names are called for reading; other kinds have no meaning in JSON."""
_MOST_NAMES = 20
_MOST_OBJECTS = 5_000
_LONGEST_NAME = 40
_DEEPEST = 12


@reader("chat_json", suffixes=(".json", ".jsonl", ".ndjson", ".otr"), sniff=begins(_BEGINS, sure=0.95))
def read_chat_json(source: Source) -> Iterator[RawSession]:
    """JSON or JSON Lines of messages that say who speaks and what."""
    values, missing = _values(source), ""
    if _has_own_names(source):
        values, missing = renamed(values, source)
    if len(values) > 1 and _are_of_one_session(values):
        values = [values]
    sessions = [one.session for value in values for one in sessions_in(value)]
    if not any(session.rows for session in sessions):
        raise _no_session(source, values, missing)
    by_name = _has_own_names(source) and not missing
    sessions = [replace(one, of_table=by_name) for one in with_companions(sessions, source)]
    yield from (session for session in sessions if session.rows)


def _no_session(source: Source, values: list[Any], missing: str) -> UnreadableFileError:
    """Return why a file holds no session.

    The names of its fields are not told: what should be a name may be what somebody said.
    """
    if missing:
        return source.error(missing, "Check the names given with --columns")
    if any(is_unnamed_speech(items) for value in values for items in _containers(value, list, _DEEPEST)):
        return source.error(
            "this is recognised speech in which no segment says who speaks: the diarisation is missing",
            'Run the recogniser with diarisation (WhisperX: --diarize), or give each segment a "speaker"',
        )
    n_fields = len(field_names(values))
    if n_fields < 2:
        return source.error("no list of messages was found", _MESSAGES)
    return source.error(f"no list of messages was found; its objects have {n_fields} fields", _COLUMNS)


def _has_own_names(source: Source) -> bool:
    """Return whether the user names fields; for JSON in a cell of a table, the names are those of the columns."""
    return bool(source.options.columns and source.place)


def _has_a_name_for_everything(text: str) -> bool:
    """Tell a dictionary, in which nearly every value has a name of its own, from a transcript by some excerpts.

    Messages have few names of fields, and even those that are kept under an id each are longer. To decode such a file
    and search it would take half a minute.
    """
    step = len(text) // _N_EXCERPTS
    excerpts = [text[at : at + min(step, _EXCERPT)] for at in range(0, len(text), step)]
    names = {name for excerpt in excerpts for name in _NAME.findall(excerpt)}
    return len(names) * _SHORTEST > sum(map(len, excerpts))


def _are_of_one_session(values: list[Any]) -> bool:
    sample = values[:: len(values) // _SAMPLE + 1]
    turns = sum(is_message(value) or is_wrapped(value) or _is_turn(value) for value in sample)
    return 2 * turns > len(sample) or bool(results_of_stream(sample))


def _is_turn(value: Any) -> bool:
    return isinstance(value, dict) and is_pair(value) and not stands_alone(value)


def _values(source: Source) -> list[Any]:
    """Decode value after value, whatever stands between them: line feeds, record separators, nothing.

    Raises
    ------
    UnreadableFileError
        The JSON is broken, nested too deep, or has too many values for a transcript, or for one session.
    """
    text = source.text
    if sum(map(text.count, "{[,")) > _MOST_VALUES:
        raise source.error("the file holds more than 8 million JSON values", "Split it into several files")
    if len(text) > _LARGE and _has_a_name_for_everything(text):
        raise source.error("nearly every value of the file has a name of its own, as in a dictionary", _MESSAGES)
    decoder = json.JSONDecoder(object_pairs_hook=_Objects(source).take)
    values: list[Any] = []
    at = _after_space(text, 0)
    try:
        while at < len(text):
            value, end = decoder.raw_decode(text, at)
            values.append(value)
            if at <= _limits.LARGEST_SESSION < end and _is_one_session(values):
                _limits.refuse_large(str(source.path), len(text), _limits.LARGEST_SESSION)
            at = _after_space(text, end)
    except RecursionError:
        raise source.error("the JSON is nested too deep", "A session is a flat list of messages") from None
    except ValueError as error:
        place = text.count("\n", 0, getattr(error, "pos", at)) + 1
        raise source.error("the JSON is broken or breaks off here", "Export the file again", line=place) from None
    return values


def _is_one_session(values: list[Any]) -> bool:
    """Tell messages of one session, one after the other, from sessions, and from messages that name their session."""
    return (
        len(values) > 1
        and _are_of_one_session(values)
        and sum(1 for one in sessions_in(values) if one.session.rows) == 1
    )


@dataclass(slots=True)
class _Objects:
    """Takes the objects of a file as they are decoded, and refuses to collect messages beyond what a session has."""

    source: Source
    n_in_a_row: int = 0

    def take(self, pairs: list[tuple[str, Any]]) -> dict[str, Any] | list[Any]:
        """Return an object; what holds a list of objects, as a session does, begins the count anew."""
        holds_objects = any(isinstance(item, list) and item and isinstance(item[0], dict) for _, item in pairs)
        self.n_in_a_row = 0 if holds_objects else self.n_in_a_row + 1
        if self.n_in_a_row > _limits.MOST_ROWS:
            problem = f"more than {_limits.MOST_ROWS:,} messages stand in one list, the most of a session that are read"
            raise self.source.error(problem, "Split it into several files, or write JSON Lines with a session a line")
        return _object(pairs)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | list[Any]:
    """Return an object; one whose names come again, each time with a text, as a list of objects with one name each."""
    known = dict(pairs)
    if len(known) == len(pairs) or not all(isinstance(item, str) for _, item in pairs):
        return known
    return [{key: item} for key, item in pairs]


def _after_space(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return match.end() if match else at


def renamed(documents: list[Any], source: Source) -> tuple[list[Any], str]:
    """Return documents in which the fields that the user names have the names that are read, or what is missing.

    Parameters
    ----------
    documents : list
        As JSON gives them.
    source : Source
        With the option of columns.

    Returns
    -------
    list, str
        The documents as they were, and a sentence on it, where no object has the fields of the speaker and the words.
    """
    wanted = {kind: tuple(map(slug, name.split("."))) for kind, name in source.options.columns.items() if kind in _OURS}
    if not wanted:
        return documents, ""
    needed = {kind: path for kind, path in wanted.items() if kind in {"text", "speaker"}} or wanted
    met: Counter[str] = Counter()
    done = [_renamed(document, wanted, needed, met, _DEEPEST) for document in documents]
    missing = [source.options.columns[kind] for kind in needed if met[kind] == 0]
    if missing or not met["together"]:
        beside = [source.options.columns[kind] for kind in needed if met[kind]]
        names = " and ".join(missing or list(map(source.options.columns.__getitem__, needed)))
        where = f" beside {' and '.join(beside)}" if missing and beside else ""
        fields = ", ".join(field_names(documents))
        return documents, f"no object of the file has a field {names}{where}; its fields are {fields}"
    return done, ""


def _renamed(
    value: Any, wanted: Mapping[str, Sequence[str]], needed: Mapping[str, Sequence[str]], met: Counter[str], depth: int
) -> Any:
    if isinstance(value, list) and depth:
        return [_renamed(item, wanted, needed, met, depth - 1) for item in value]
    if not isinstance(value, dict) or not depth:
        return value
    there = {kind: found for kind, path in wanted.items() if (found := _at(value, path)) is not None}
    met.update(there)
    if not needed.keys() <= there.keys():
        return {key: _renamed(item, wanted, needed, met, depth - 1) for key, item in value.items()}
    met["together"] += 1
    rest = {key: item for key, item in value.items() if slug(key) not in {path[0] for path in wanted.values()}}
    return {**rest, **{_name(kind, source_name): item for kind, (item, source_name) in there.items()}}


def _name(kind: str, field: str) -> str:
    """Return our name of a field; a unit of time stays in it."""
    unit = name_and_unit(field)[1]
    return f"{_OURS[kind]}_ms" if kind in {"start", "end"} and unit == 1e-3 else _OURS[kind]


def _at(value: Any, path: Sequence[str]) -> tuple[Any, str] | None:
    """Return what stands under a name, or under a name in a name, and how its field is written."""
    name = ""
    for part in path:
        if not isinstance(value, dict):
            return None
        name = next((key for key in value if slug(key) == part), "")
        if not name:
            return None
        value = value[name]
    return None if value is None else (value, name)


def field_names(documents: list[Any]) -> list[str]:
    """Return the names of the fields that come again and again, the commonest first, none of which can be words.

    Parameters
    ----------
    documents : list
        As JSON gives them.

    Returns
    -------
    list of str
        At most 20, sorted; those of objects inside are left out where the outer ones are a table of ids.
    """
    counts: Counter[str] = Counter()
    n = 0
    for one in _containers(documents, dict, _DEEPEST):
        n += 1
        counts.update(one.keys())
        if n == _MOST_OBJECTS:
            break
    least = 1 if n < 3 else 2
    common = [name for name, often in counts.most_common(_MOST_NAMES) if often >= least and _is_name(name)]
    return sorted(common, key=str.casefold)


def _is_name(name: str) -> bool:
    """Tell the name of a field from words of the talk that stand where a name should."""
    return 0 < len(name) <= _LONGEST_NAME and len(name.split()) <= 3 and bool(slug(name)) and name.isprintable()


def _containers(value: Any, kind: type[T], depth: int) -> Iterator[T]:
    """Yield the lists, or the objects, inside a value, the outer before the inner."""
    if isinstance(value, kind):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inside if depth else ():
        if isinstance(item, list | dict):
            yield from _containers(item, kind, depth - 1)
