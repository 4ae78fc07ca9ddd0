"""Fields with names of their own, which the user says: ``--columns speaker=Who,text=said.words``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from therapy_analytics.readers._base import Source
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._times import name_and_unit

_OURS = {"text": "content", "speaker": "speaker", "session": "session_id", "start": "start", "end": "end"}
"""What each kind of field is called when it is read; others have no meaning in JSON."""
_MOST_NAMES = 20
_MOST_OBJECTS = 5_000
_LONGEST_NAME = 40
_DEEPEST = 12


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
    for one in _objects(documents, _DEEPEST):
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


def _objects(value: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inside if depth else ():
        if isinstance(item, list | dict):
            yield from _objects(item, depth - 1)
