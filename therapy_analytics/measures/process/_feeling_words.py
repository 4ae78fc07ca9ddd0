"""The lexicon of feelings, compiled: words and idioms by family and degree (``lexicons/feelings.toml``)."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language.lexicons import lexicon_folder

Words = tuple[str, ...]
Entry = tuple[Words, int, float]
"""Words, family and degree; the degree of signs is 0."""
DEGREES: Mapping[str, float] = {"weak": 1.0, "plain": 2.0, "strong": 3.0}
"""Words of a family by degree; a word that makes stronger or weaker moves by half a step."""
IGNORED = -1
"""Family of idioms that hide the words in them."""


@dataclass(frozen=True, slots=True, eq=False)
class Families:
    """The lexicon, compiled.

    Attributes
    ----------
    names : tuple of str
        The families; a mention's family is a position here.
    entries : mapping of str to list of (words, family, degree)
        By their first word; degree is 0 for signs, which express a feeling without naming it.
    prefixes : mapping of str to list of (words, family, degree)
        Single words that end in ``*``, by the letters before it.
    near : bool array (n_families, n_families)
        Whether who expressed the second is taken to have expressed the first.
    denied : int64 array (n_families,)
        The family that is expressed when one of a pleasant family is denied; -1 for unpleasant families.
    slots : mapping of str to frozenset of str
        Words that change what follows.
    """

    names: tuple[str, ...]
    entries: Mapping[str, list[Entry]] = field(repr=False)
    prefixes: Mapping[str, list[tuple[int, float]]] = field(repr=False)
    near: NDArray[np.bool_] = field(repr=False)
    denied: NDArray[np.int64] = field(repr=False)
    slots: Mapping[str, frozenset[str]] = field(repr=False)


@functools.cache
def families() -> Families:
    """Read the lexicon that comes with the package."""
    data = tomllib.loads((lexicon_folder() / "feelings.toml").read_text(encoding="utf-8"))
    tables: Mapping[str, Any] = data["families"]
    names = tuple(tables)
    entries: dict[str, list[Entry]] = {}
    prefixes: dict[str, list[tuple[int, float]]] = {}
    for words, family, degree in _entries(data):
        if len(words) == 1 and words[0].endswith("*"):
            prefixes.setdefault(words[0][:-1], []).append((family, degree))
        else:
            entries.setdefault(words[0], []).append((words, family, degree))
    near = np.eye(len(names), dtype=np.bool_)
    for row, table in enumerate(tables.values()):
        near[row, [names.index(one) for one in table["near"]]] = True
    denied = [names.index(table["negated"]) if "negated" in table else -1 for table in tables.values()]
    slots = {name: frozenset(one["words"]) for name, one in data["categories"].items()}
    return Families(names, entries, prefixes, near, np.array(denied), slots)


def _entries(data: Mapping[str, Any]) -> Iterator[Entry]:
    for row, table in enumerate(data["families"].values()):
        for kind, degree in (*DEGREES.items(), ("signs", 0.0)):
            for entry in table[kind]:
                yield from ((words, row, degree) for words in _ways(entry))
    for entry in data["ignored"]:
        yield from ((words, IGNORED, 0.0) for words in _ways(entry))


def _ways(entry: str) -> Iterator[tuple[str, ...]]:
    """Return what an idiom stands for: every choice of its alternatives."""
    return product(*(part.split("|") for part in entry.split()))


@functools.lru_cache(maxsize=1 << 15)
def of_word(word: str) -> tuple[tuple[int, float], ...]:
    """Return the families and degrees of a single word."""
    known = families()
    exact = [(family, degree) for words, family, degree in known.entries.get(word, []) if len(words) == 1]
    starts = (known.prefixes.get(word[:n], []) for n in range(3, len(word) + 1))
    found: dict[int, float] = {}
    for family, degree in (*(one for some in starts for one in some), *exact):
        found[family] = max(degree, found.get(family, 0.0))
    return tuple(found.items())


@dataclass(frozen=True, slots=True, eq=False)
class Idioms:
    """The entries of several words, to be looked up word by word.

    Attributes
    ----------
    entries : mapping of words to list of (words, family, degree)
        By all their words, the last of which may end in ``*``.
    open_ends : mapping of words to list of str
        Last words that may go on, without the ``*``, by the words before them.
    begins : set of words
        The first words, one or more, of longer entries.
    openings : tuple of words
        The first three words of all entries, or their two; the last may end in ``*``.
    """

    entries: Mapping[Words, list[Entry]] = field(repr=False)
    open_ends: Mapping[Words, list[str]] = field(repr=False)
    begins: frozenset[Words] = field(repr=False)
    openings: tuple[Words, ...] = field(repr=False)

    def entries_of(self, words: Words) -> list[Entry]:
        """Return the entries that these words are, from the first to the last."""
        found = self.entries.get(words, [])
        ends = (end for end in self.open_ends.get(words[:-1], ()) if words[-1].startswith(end))
        return [*found, *(one for end in ends for one in self.entries[*words[:-1], f"{end}*"])]


@functools.cache
def idioms() -> Idioms:
    """Return the entries of several words."""
    entries: dict[Words, list[Entry]] = {}
    for entry in (one for some in families().entries.values() for one in some if len(one[0]) > 1):
        entries.setdefault(entry[0], []).append(entry)
    open_ends: dict[Words, list[str]] = {}
    for *head, last in entries:
        if last.endswith("*"):
            open_ends.setdefault(tuple(head), []).append(last[:-1])
    begins = frozenset(words[:n] for words in entries for n in range(1, len(words)))
    return Idioms(entries, open_ends, begins, tuple(dict.fromkeys(words[:3] for words in entries)))


def names_a_feeling(word: str) -> bool:
    """Return whether a single word is of a family, signs included."""
    return bool(of_word(word))
