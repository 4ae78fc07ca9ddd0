"""No turn has codes that contradict each other: what a codebook says of kinds of a code is kept by every coder.

A kind is given only where its code is (`Code.parent`), and of kinds that exclude each other one alone, or one for each
question of the turn (`Code.exclusive`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.codebook import Codebook
from therapy_analytics.language import TurnArrays

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEWEST_WORDS = 2
"""A question of fewer words ("Right?") only looks for assent."""


def parents(books: Iterable[Codebook]) -> dict[str, str]:
    """Return the code that each kind is a kind of, by columns."""
    return {code.column: f"{code.book}_{code.parent}" for book in books for code in book.codes if code.parent}


def without_contradictions(
    names: Sequence[str], decision: Bools, strength: Floats, asked: Ints, books: Iterable[Codebook]
) -> Bools:
    """Take back decisions that contradict others of the same turn.

    A kind without its code is taken back. So are the weakest of kinds that exclude each other, until one is left, or as
    many as the turn has questions with a question mark. Of equally strong ones the last in the book is left.

    Parameters
    ----------
    names : sequence of str
        Columns of the codes, (n_codes,).
    decision : bool array (n_turns, n_codes)
        What was decided of each code by itself.
    strength : float64 array (n_turns, n_codes)
        How clearly; only compared within a turn.
    asked : int64 array (n_turns,)
        How many questions each turn has, see `n_questions`.
    books : iterable of Codebook
        Where the codes stand.
    """
    found, place, books = decision.copy(), {name: at for at, name in enumerate(names)}, tuple(books)
    above = {kind: code for kind, code in parents(books).items() if kind in place}
    for kind, code in above.items():
        if code in place:
            found[:, place[kind]] &= found[:, place[code]]
    for one in (code for book in books for code in book.codes if code.exclusive):
        own = np.array([place[kind] for kind, code in above.items() if code == one.column], np.int64)
        row = np.flatnonzero(found[:, own].sum(axis=1) > 1)
        if len(row):
            most = np.maximum(asked[row], 1) if one.exclusive == "question" else np.ones(len(row), np.int64)
            cells = np.ix_(row, own)
            found[cells] &= _rank(np.where(found[cells], strength[cells], -np.inf)) < most[:, None]
    return found


def _rank(strength: Floats) -> Ints:
    """Return how many of its row are stronger than each, (n_rows, n_kinds); of equal ones the last is the strongest."""
    order = np.argsort(strength, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(strength.shape[1])[None, ::-1], axis=1)
    return rank


def n_questions(turns: TurnArrays) -> Ints:
    """Return how many sentences of two words or more with a question mark each turn has, (n_turns,)."""
    own = slice(int(turns.offsets[0]), int(turns.offsets[-1]))
    marks = np.array(["?" in norm for norm in turns.tokens.norm], np.bool_)[turns.tokens.ids[own]]
    turn_of = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
    sentence = sentences_of(turns, turn_of)
    words = np.bincount(sentence, turns.tokens.word_start[own])
    asks = (np.bincount(sentence, marks) > 0) & (words >= FEWEST_WORDS)
    first = np.flatnonzero(np.diff(sentence, prepend=-1))
    return np.bincount(turn_of[first], asks, len(turns)).astype(np.int64)


def sentences_of(turns: TurnArrays, turn_of: Ints) -> Ints:
    """Return the sentence of each token, counted through all turns from 0, (n_tokens,); `turn_of` is their turns."""
    ends = turns.tokens.sentence_end[int(turns.offsets[0]) : int(turns.offsets[-1])]
    opens = np.append(True, ends[:-1] | (np.diff(turn_of) > 0))[: len(turn_of)]
    return np.cumsum(opens, dtype=np.int64) - 1
