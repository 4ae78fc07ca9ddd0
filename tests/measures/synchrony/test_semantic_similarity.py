"""Similarity of meaning: counted by hand, against loops, and beside any donors."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.talks import arrays, session
from therapy_analytics.core.session import Session
from therapy_analytics.measures import MEASURES
from therapy_analytics.measures.synchrony.semantic_similarity import semantic_similarity
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.donors import choose_donors, donors_by_length, length_class
from therapy_analytics.text.embeddings import load_embeddings
from therapy_analytics.text.meanings import Meanings, divided, dots, meanings

NAN = float("nan")
TOPICS = {
    "work": "My boss shouts at the office and my job and salary and career are gone",
    "dog": "The puppy barks at the cat and the dog runs in the park with a leash",
    "food": "We cook soup and bread and eat pasta with cheese for dinner in the kitchen",
    "sea": "The ship sails on the ocean and waves hit the boat near the harbour and beach",
}


def units(*rows: Sequence[float]) -> Meanings:
    """Return hand-made vectors."""
    return Meanings.units(np.array(rows, dtype=np.float64).reshape(len(rows), -1))


def cosines(spoken: Meanings, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the cosines of some rows with others."""
    one, other = spoken[rows], spoken[columns]
    return divided(dots(one.vectors, other.vectors), one.squares * other.squares)


def alone(one: Session) -> AnnotatedSession:
    """Return the arrays of a session without donors."""
    return next(iter(arrays(one)))


def about(*topics: str, turns: int = 10) -> Session:
    """Return a dialogue that stays with each topic for some turns; each turn has the topic's words, turned round."""
    texts = []
    for topic in topics:
        words = TOPICS[topic].split()
        texts += [" ".join(islice(cycle(words), at, at + len(words))) for at in range(turns)]
    return session(*texts)


# ---- by hand


def test_cosines_of_hand_made_vectors() -> None:
    # Lengths do not count: (3, 4) with (30, 40) is 1, with (-3, -4) -1, with (4, -3) 0, with (1, 0) 3/5.
    spoken = units([3, 4], [30, 40], [-3, -4], [4, -3], [1, 0])
    found = cosines(spoken, np.zeros(5, dtype=np.int64), np.arange(5))
    assert found.tolist() == pytest.approx([1, 1, -1, 0, 0.6], abs=1e-5)
    assert found[:2].tolist() == [1.0, 1.0]


def test_what_has_no_meaning_is_undefined() -> None:
    spoken = units([1, 0], [0, 0], [NAN, NAN])
    assert np.isnan(cosines(spoken, np.array([0, 0, 1]), np.array([1, 2, 1]))).all()
    assert spoken.vectors[1:].tolist() == [[0, 0], [0, 0]]


# ---- arithmetic


VECTORS = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=n, max_size=n)
)


@settings(max_examples=60, deadline=None)
@given(VECTORS)
def test_cosines_are_symmetric_and_in_range(rows: list[list[int]]) -> None:
    spoken, every = units(*rows), np.arange(len(rows))
    found = cosines(spoken, every[:, None], every[None])
    np.testing.assert_array_equal(found, found.T)
    wide = np.array(rows, dtype=np.float64)
    length = np.linalg.norm(wide, axis=1)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found, wide @ wide.T / np.outer(length, length), atol=5e-5)
    assert (np.isnan(found) | (np.abs(found) <= 1)).all()
    assert set(found.diagonal()[length > 0].tolist()) <= {1.0}


# ---- sessions


def test_neighbours_are_compared_by_the_shipped_vectors() -> None:
    texts = ["I feel sad", "I am so sad and cry", "The train leaves at nine", "Which train is it?"]
    found = semantic_similarity(alone(session(*texts)))["semantic_similarity_turn"]
    vectors = load_embeddings().embed(texts).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = [NAN, *(float(vectors[i] @ vectors[i + 1]) for i in range(3))]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert found[1] > found[2] < found[3]


def test_turns_without_words_have_no_meaning() -> None:
    spoken = alone(session("I feel sad", "...", "Why?", "No idea"))
    assert meanings(spoken).squares[1] == 0
    found = semantic_similarity(spoken)
    assert np.isnan(found["semantic_similarity_turn"][:3]).all()


@pytest.mark.parametrize("texts", [(), ("one",), ("...", "!"), ("yes", "yes")])
def test_small_sessions_have_the_declared_columns(texts: Sequence[str]) -> None:
    found = semantic_similarity(alone(session(*texts)))
    assert found.keys() == {column.name for column in MEASURES["semantic_similarity"].columns_for(())}


# ---- donors


def crowd(n: int = 12) -> list[Session]:
    """Return sessions of random words of the four topics, alike in length."""
    generator = np.random.default_rng(3)
    words = np.array(" ".join(TOPICS.values()).split())
    return [
        session(*(" ".join(generator.choice(words, generator.integers(4, 9))) for _ in range(64)), name=f"s{i}")
        for i in range(n)
    ]


def read_donors(sessions: Sequence[Session]) -> Any:
    return arrays(*sessions)


def test_batch_and_donors_change_no_bit() -> None:
    sessions = crowd()
    donors = donors_by_length(choose_donors(sessions), read_donors)
    batch = [replace(one, donors=donors[length_class(one.session)]) for one in arrays(*sessions)]
    for one, in_batch in list(zip(sessions, batch, strict=True))[:3]:
        by_itself, with_donors = semantic_similarity(alone(one)), semantic_similarity(in_batch)
        single = semantic_similarity(replace(alone(one), donors=donors[length_class(one)]))
        for name, value in with_donors.items():
            np.testing.assert_array_equal(value, single[name])
            if "surrogate" in name or name.endswith("_excess"):
                assert np.isfinite(value)
                assert np.isnan(by_itself[name])
            else:
                np.testing.assert_allclose(value, by_itself[name], rtol=1e-12)
                assert np.isfinite(value).any()


def test_partners_who_share_topics_are_nearer_than_shuffles() -> None:
    others = crowd()
    one = about("dog", "sea", "food", "work", turns=16)
    donors = donors_by_length(choose_donors([*others, one]), read_donors)
    found = semantic_similarity(replace(alone(one), donors=next(iter(donors.values()))))
    assert found["semantic_similarity_z"] > 3
    assert found["semantic_similarity_p"] < 0.01


def test_a_long_session_in_bounded_memory() -> None:
    words = np.array(" ".join(TOPICS.values()).split())
    drawn = np.random.default_rng(4).integers(0, len(words), (1000, 5))
    one = alone(session(*map(" ".join, words[drawn])))
    one.cached(meanings)
    tracemalloc.start()
    found = semantic_similarity(one)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200e6
    assert np.isfinite(found["semantic_similarity_z"])
    assert found["semantic_similarity_p"] > 0.001
