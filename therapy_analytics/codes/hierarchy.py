"""Consistency of the codes of a turn, whoever gave them.

A turn has a sub-code only where it has the parent (`Code.parent`), and of mutually exclusive sub-codes only one, or
one for each of its questions (`Code.exclusive`). Of codes that are alternatives (`Code.one_of`) it has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.codebook import Codebook
from therapy_analytics.text import TurnArrays

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEWEST_WORDS = 2
"""A question of fewer words ("Right?") only asks for assent."""


def parents(books: Iterable[Codebook]) -> dict[str, str]:
    """Return the parent of each sub-code, both as column names."""
    return {code.column: f"{code.book}_{code.parent}" for book in books for code in book.codes if code.parent}


def without_contradictions(
    names: Sequence[str], decision: Bools, strength: Floats, asked: Ints, books: Iterable[Codebook]
) -> Bools:
    """Withdraw decisions that contradict others of the same turn.

    A sub-code without its parent is withdrawn. Of mutually exclusive sub-codes only the strongest are kept: one, or as
    many as the turn has questions with a question mark. Of equally strong ones the last in the codebook is kept.

    Parameters
    ----------
    names : sequence of str
        Columns of the codes, (n_codes,).
    decision : bool array (n_turns, n_codes)
        The decision on each code by itself.
    strength : float64 array (n_turns, n_codes)
        Its strength, compared only within a turn.
    asked : int64 array (n_turns,)
        Questions of each turn, see `n_questions`.
    books : iterable of Codebook
        Codebooks that define the codes.

    Returns
    -------
    bool array (n_turns, n_codes)
    """
    found, column, books = decision.copy(), {name: at for at, name in enumerate(names)}, tuple(books)
    parent_of = {code: parent for code, parent in parents(books).items() if code in column}
    for code, parent in parent_of.items():
        if parent in column:
            found[:, column[code]] &= found[:, column[parent]]
    for one in (code for book in books for code in book.codes if code.exclusive):
        own = [column[code] for code, parent in parent_of.items() if parent == one.column]
        most = np.maximum(asked, 1) if one.exclusive == "question" else np.ones(len(asked), np.int64)
        _keep_strongest(found, strength, own, most)
    for one_of in _alternatives(books):
        own = [column[code] for code in one_of if code in column]
        _keep_strongest(found, strength, own, np.ones(len(asked), np.int64))
    return found


def _keep_strongest(found: Bools, strength: Floats, own: list[int], most: Ints) -> None:
    """Withdraw in some columns all decisions of a turn but the strongest, as many as ``most`` (n_turns,) says."""
    if own:
        found[:, own] &= _rank(np.where(found[:, own], strength[:, own], -np.inf)) < most[:, None]


def _alternatives(books: Iterable[Codebook]) -> list[list[str]]:
    """Return the sets of codes, as column names, of which a turn has one at most."""
    sets: dict[tuple[str, str], list[str]] = {}
    for code in (code for book in books for code in book.codes if code.one_of):
        sets.setdefault((code.book, code.one_of), []).append(code.column)
    return list(sets.values())


def _rank(strength: Floats) -> Ints:
    """Return ranks within rows, 0 for the largest and of equal ones for the last, int64 (n_rows, n_codes)."""
    order = np.argsort(strength, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(strength.shape[1])[None, ::-1], axis=1)
    return rank


def n_questions(turns: TurnArrays) -> Ints:
    """Return how many sentences of two words or more with a question mark each turn has, int64 (n_turns,)."""
    sentence = turns.sentence_of
    n_words = np.bincount(sentence, turns.tokens.word_start[turns.span])
    asks = (np.bincount(sentence, turns.asks) > 0) & (n_words >= FEWEST_WORDS)
    first = np.flatnonzero(np.diff(sentence, prepend=-1))
    return np.bincount(turns.turn_of[first], asks, len(turns)).astype(np.int64)
