"""How often the categories of lexicons occur in each turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.text.lexicons import Matcher
from therapy_analytics.text.tokens import Tokens

Bools = NDArray[np.bool_]


class CategoryCounts(NamedTuple):
    """Categories of turns, arrays of shape (n_turns, n_categories): see `TurnArrays`."""

    counts: NDArray[np.int32]
    covered: NDArray[np.int32]


def count_categories(tokens: Tokens, matcher: Matcher, turn_of: NDArray[np.int64]) -> CategoryCounts:
    """Count the words and phrases of each category; a phrase counts once, and its words do not count again.

    Where phrases of one category overlap, the longer one counts.

    Parameters
    ----------
    tokens : Tokens
        The tokens of all turns.
    matcher : Matcher
        The compiled lexicons.
    turn_of : int64 array (n_tokens,)
        The turn of each token.
    """
    types = np.zeros((len(tokens.norm), len(matcher.categories)), dtype=np.bool_)
    for row, word in enumerate(tokens.norm):
        types[row, list(matcher.columns_of(word))] = True
    begins = types[tokens.ids]  # (n_tokens, n_categories)
    covers = begins.copy()
    for first, last, column in _phrases(tokens, matcher, turn_of):
        covers[first:last, column] = True
        begins[first:last, column] = False
        begins[first, column] = True
    covers &= tokens.word_start[:, None]
    return CategoryCounts(_per_turn(begins, turn_of, tokens), _per_turn(covers, turn_of, tokens))


def _per_turn(marks: Bools, turn_of: NDArray[np.int64], tokens: Tokens) -> NDArray[np.int32]:
    """Count the marked tokens of each turn, (n_tokens, n_categories) to (n_turns, n_categories)."""
    shape = (len(tokens.offsets) - 1, marks.shape[1])
    token, column = np.nonzero(marks)
    counts = np.bincount(turn_of[token] * shape[1] + column, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.int32)


def _phrases(tokens: Tokens, matcher: Matcher, turn_of: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Return first token, last token (exclusive) and column of each phrase that occurs, the shortest phrases first."""
    index: dict[str, list[int]] = {}
    for number, norm in enumerate(tokens.norm):
        index.setdefault(norm, []).append(number)
    beginning: dict[tuple[int, int], list[tuple[int, list[frozenset[int]], int]]] = {}
    for number, (phrase, column) in enumerate(matcher.phrases):
        words = [_types_of(word, index) for word in phrase]
        for one, other in product(words[0], words[1]) if all(words) else ():
            beginning.setdefault((one, other), []).append((number, words, column))
    ids, turns = tokens.ids.tolist(), turn_of.tolist()
    found = []
    for first, pair in enumerate(pairwise(ids)):
        for number, words, column in beginning.get(pair, ()):
            last = first + len(words)
            inside = last <= len(ids) and turns[last - 1] == turns[first]
            if inside and all(id_ in word for id_, word in zip(ids[first:last], words, strict=True)):
                found.append((number, first, last, column))
    return [(first, last, column) for _, first, last, column in sorted(found)]


def _types_of(word: str, index: Mapping[str, Sequence[int]]) -> frozenset[int]:
    """Return the token types that fit a word of a phrase; ``*`` at its end stands for any continuation."""
    norms = [norm for norm in index if norm.startswith(word[:-1])] if word.endswith("*") else [word]
    return frozenset(number for norm in norms for number in index.get(norm, ()))
