"""Lexical alignment: counted by hand, and against counters (`benchmarks.peers` sets it beside ALIGN)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.measures.null.surrogates import TokenRows
from therapy_analytics.measures.synchrony.alignment import cosine as lexical_cosine
from therapy_analytics.measures.synchrony.ngrams import count_ngrams
from therapy_analytics.measures.synchrony.whole_session import Side, total

Words = Sequence[str]


@dataclass(frozen=True)
class Talk:
    """Turns as arrays."""

    words: Any
    offsets: Any

    @property
    def rows(self) -> TokenRows:
        return TokenRows(self.words[:, None].astype(np.uint64), self.offsets)

    def lexical(self, n: int, one: Any, other: Any) -> Any:
        """Return the alignment of turns with turns, one by one."""
        counts = count_ngrams(self.rows, n)
        return lexical_cosine(counts[one], counts[other])

    def of_sides(self, n: int, one: Any, other: Any) -> float:
        """Return that of all turns of one side with all of the other."""
        counts, at = count_ngrams(self.rows, n), np.arange(1)
        return float(lexical_cosine(*(total(Side(i, counts[turns], at, at)) for i, turns in enumerate((one, other)))))


def talk(*turns: str) -> Talk:
    """Number the words of turns."""
    tokens = [token for turn in turns for token in turn.split()]
    words = {word: i for i, word in enumerate(dict.fromkeys(tokens))}
    offsets = np.cumsum([0, *(len(turn.split()) for turn in turns)])
    return Talk(np.array([words[word] for word in tokens], dtype=np.int32), offsets)


def lexical(n: int, *turns: str) -> Any:
    """Alignment of each turn with the next."""
    return talk(*turns).lexical(n, np.arange(len(turns) - 1), np.arange(1, len(turns))).tolist()


# ---- by hand


def test_words_are_counted() -> None:
    # "so so tired": so 2, tired 1; "so am I": so 1, am 1, I 1. Product 2, squares 5 and 3.
    assert lexical(1, "so so tired", "so am I") == pytest.approx([2 / np.sqrt(5 * 3)])


def test_bigrams_are_counted() -> None:
    # "it is it is": it-is 2, is-it 1. "it is late": it-is 1, is-late 1. Product 2, squares 5 and 2.
    assert lexical(2, "it is it is", "it is late") == pytest.approx([2 / np.sqrt(5 * 2)])


def test_trigrams_are_counted() -> None:
    # "a b c d": abc, bcd; "b c d": bcd. Product 1, squares 2 and 1.
    assert lexical(3, "a b c d", "b c d") == pytest.approx([1 / np.sqrt(2)])


def test_the_same_turn_is_1_and_other_words_are_0() -> None:
    assert lexical(1, "I am so so tired", "I am so so tired", "yes") == [1.0, 0.0]
    assert lexical(2, "dog bites man", "man bites dog") == [0.0]


def test_a_turn_too_short_for_an_n_gram_is_undefined() -> None:
    turns = ("yes yes", "yes", "", "yes yes")
    assert np.isnan(lexical(2, *turns)).all()
    np.testing.assert_array_equal(lexical(1, *turns), [1.0, np.nan, np.nan])


def test_whole_conversation_takes_sides_together() -> None:
    # T: "i see", "i know"; C: "you see", "see". T: i 2, see 1, know 1; C: you 1, see 2. Product 2, squares 6 and 5.
    turns = talk("i see", "you see", "i know", "see")
    assert turns.of_sides(1, [0, 2], [1, 3]) == pytest.approx(2 / np.sqrt(6 * 5))


def test_whole_conversation_without_an_n_gram_is_undefined() -> None:
    assert np.isnan(talk("i see", "you see").of_sides(3, [0], [1]))


def test_no_turns() -> None:
    for offsets in (np.array([0]), np.array([0, 0, 0])):
        nothing, some = Talk(np.zeros(0, dtype=np.int32), offsets), np.arange(len(offsets) - 1)
        assert np.isnan(nothing.lexical(2, some, some)).all()


# ---- against counters


def cosine(a: Counter[Any], b: Counter[Any]) -> float:
    dot = sum(a[key] * b[key] for key in a)
    squares = [sum(value * value for value in side.values()) for side in (a, b)]
    return dot / float(np.sqrt(squares[0] * squares[1])) if all(squares) else np.nan


def runs(tokens: Sequence[Any], n: int) -> list[tuple[Any, ...]]:
    return list(zip(*(tokens[step:] for step in range(n)), strict=False))


def counted_lexical(a: Sequence[Any], b: Sequence[Any], n: int) -> float:
    return cosine(*(Counter(runs(side, n)) for side in (a, b)))


TURN = st.lists(st.integers(0, 6), max_size=12)
DIALOGUE = st.lists(TURN, min_size=2, max_size=7)


def arrays(turns: Sequence[Sequence[int]]) -> Talk:
    words = np.array([word for turn in turns for word in turn], dtype=np.int32)
    return Talk(words, np.cumsum([0, *map(len, turns)]))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_as_counters_give_it(n: int) -> None:
    @settings(max_examples=40, deadline=None)
    @given(DIALOGUE)
    def check(turns: list[list[int]]) -> None:
        dialogue, every = arrays(turns), np.arange(len(turns))
        one, other = (at.ravel() for at in np.meshgrid(every, every, indexing="ij"))
        found = dialogue.lexical(n, one, other).reshape(len(turns), len(turns))
        wanted = [[counted_lexical(turns[i], turns[j], n) for j in every] for i in every]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
        assert (np.isnan(found) | ((found >= 0) & (found <= 1))).all()
        np.testing.assert_array_equal(found, found.T)
        own = np.diagonal(found)
        assert (np.isnan(own) | (own == 1)).all()

    check()


@settings(max_examples=40, deadline=None)
@given(DIALOGUE, st.data())
def test_sides_as_counters_give_them(turns: list[list[int]], data: st.DataObject) -> None:
    """Turns may come twice."""
    chosen = [data.draw(st.lists(st.integers(0, len(turns) - 1), min_size=1)) for _ in range(2)]
    for n in (1, 2):
        within = [Counter(run for i in rows for run in runs(turns[i], n)) for rows in chosen]
        np.testing.assert_allclose(arrays(turns).of_sides(n, *chosen), cosine(*within), rtol=0, atol=1e-12)
