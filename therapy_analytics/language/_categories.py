"""How often the categories of lexicons occur in each turn, counted from the few places where they do."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language.integers import consecutive
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.language.tokens import Tokens

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Found(NamedTuple):
    """What turns hold of each category, each (n_turns, n_categories): see `TurnArrays`."""

    counts: NDArray[np.int32]
    covered: NDArray[np.int32]
    opens: Bools


class _Words(NamedTuple):
    """Which categories each type belongs to: type ``i`` has ``columns[bounds[i]:bounds[i + 1]]``, and so ``table``."""

    columns: Ints
    bounds: Ints
    table: Bools


class _Cells(NamedTuple):
    """Tokens that phrases cover, each with the category and whether that begins there; sorted, none twice."""

    token: Ints
    column: Ints
    begins: Bools


def find_categories(tokens: Tokens, matcher: Matcher, turn_of: Ints, first: Ints) -> Found:
    """Find words and phrases; a phrase counts once, and not its words again, nor phrases before it in the order.

    Parameters
    ----------
    tokens : Tokens
        Of all turns.
    matcher : Matcher
        The compiled lexicons.
    turn_of : int64 array (n_tokens,)
        The turn of each token.
    first : int64 array (n_turns,)
        The first word of each turn, the turn's end or beyond where it has none.
    """
    words = _words(tokens.norm, matcher)
    cells = _cells(tokens, matcher, turn_of)
    shape = (len(first), len(matcher.categories))
    token, column = _each_word(tokens, words)
    at = turn_of[token] * shape[1] + column
    counts = np.bincount(at, minlength=shape[0] * shape[1])
    covered = np.bincount(at[tokens.word_start[token]], minlength=shape[0] * shape[1])
    opens = np.zeros(shape, dtype=np.bool_)
    has_word = first < tokens.offsets[1:]
    opens[has_word] = words.table[tokens.ids[first[has_word]]]

    known = words.table[tokens.ids[cells.token], cells.column]
    turn = turn_of[cells.token]
    at = turn * shape[1] + cells.column
    np.add.at(counts, at, cells.begins.astype(np.int64) - known)
    np.add.at(covered, at, tokens.word_start[cells.token] & ~known)
    leads = first[turn] == cells.token
    opens[turn[leads], cells.column[leads]] = cells.begins[leads]
    return Found(counts.reshape(shape).astype(np.int32), covered.reshape(shape).astype(np.int32), opens)


def _words(types: Sequence[str], matcher: Matcher) -> _Words:
    of_type = [matcher.columns_of(word) for word in types]
    lengths = np.array([len(some) for some in of_type], dtype=np.int64)
    bounds = np.append(0, np.cumsum(lengths))
    columns = np.fromiter(chain.from_iterable(of_type), np.int64, bounds[-1])
    table = np.zeros((len(types), len(matcher.categories)), dtype=np.bool_)
    table[np.repeat(np.arange(len(types)), lengths), columns] = True
    return _Words(columns, bounds, table)


def _each_word(tokens: Tokens, words: _Words) -> tuple[Ints, Ints]:
    """Return each token with each of its own categories."""
    begin = words.bounds[tokens.ids]
    where, token = consecutive(begin, words.bounds[tokens.ids + 1] - begin)
    return token, words.columns[where]


def _cells(tokens: Tokens, matcher: Matcher, turn_of: Ints) -> _Cells:
    """Return what phrases cover: where those of a category overlap, the last in order says whether it begins there."""
    phrase, place, length, column = _places(tokens, matcher, turn_of)
    token, match = consecutive(place, length[phrase])
    begins = token == place[match]
    width = max(len(matcher.categories), 1)
    cell = token * width + column[phrase[match]]
    order = np.lexsort((begins, phrase[match], cell))
    last = order[np.diff(cell[order], append=-1) != 0]
    return _Cells(cell[last] // width, cell[last] % width, begins[last])


def _places(tokens: Tokens, matcher: Matcher, turn_of: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Find all phrases at once, none of them across turns.

    Returns
    -------
    phrase, place : int64 arrays (n_found,)
        Which phrase occurs, ascending, and its first token.
    length, column : int64 arrays (n_phrases,)
        Of the phrases whose words are there: how many they are, and the category.
    """
    words = sorted(set(tokens.norm))
    index = {word: i for i, word in enumerate(words)}
    low, high = np.array([_range(word, words, index) for word in matcher.phrase_words], dtype=np.int64).reshape(-1, 2).T
    there = np.append(low <= high, True)  # the last is what stands behind the end of a phrase
    some = np.flatnonzero(there[matcher.phrases].all(axis=1))
    own, column = matcher.phrases[some], matcher.phrase_columns[some]
    length = np.count_nonzero(own >= 0, axis=1)
    if not len(some):
        return length, length, length, column
    low, high = np.append(low, 0)[own], np.append(high, 0)[own]
    ids = np.array([index[word] for word in tokens.norm], dtype=np.int64)[tokens.ids]
    leads = np.zeros(len(words), dtype=np.bool_)
    leads[low[:, 0]] = True
    at = np.flatnonzero(leads[ids[:-1]])
    pairs = ids[at] * len(words) + ids[at + 1]
    order = np.argsort(pairs)
    begin, end = np.searchsorted(pairs[order], low[:, 0] * len(words) + np.stack([low[:, 1], high[:, 1] + 1]))
    where, phrase = consecutive(begin, end - begin)
    place = at[order[where]]
    final = place + length[phrase] - 1
    inside = final < len(ids)
    phrase, place, final = phrase[inside], place[inside], final[inside]
    good = turn_of[place] == turn_of[final]
    for step in range(2, low.shape[1]):
        word = ids[np.minimum(place + step, final)]
        longer = place + step <= final
        good &= ~longer | ((low[phrase, step] <= word) & (word <= high[phrase, step]))
    return phrase[good], place[good], length, column


def _range(word: str, words: list[str], index: Mapping[str, int]) -> tuple[int, int]:
    """Return the first and last of the sorted words that a word of a phrase takes: one with a star takes several."""
    if not word.endswith("*"):
        return index.get(word, 0), index.get(word, -1)
    stem = word[:-1]
    return bisect_left(words, stem), bisect_right(words, stem, key=lambda known: known[: len(stem)]) - 1
