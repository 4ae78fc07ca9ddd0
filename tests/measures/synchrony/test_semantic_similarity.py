"""Similarity of meaning: counted by hand, against loops, and beside any donors."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from tests.talks import arrays, session
from therapy_analytics.core.session import Session
from therapy_analytics.measures.synchrony.semantic_similarity import cosines, semantic_similarity
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.donors import choose_donors, donors_by_length, length_class
from therapy_analytics.text.embeddings import load_embeddings
from therapy_analytics.text.meanings import Meanings, meanings

NAN = float("nan")
TOPICS = {
    "work": "My boss shouts at the office and my job and salary and career are gone",
    "dog": "The puppy barks at the cat and the dog runs in the park with a leash",
    "food": "We cook soup and bread and eat pasta with cheese for dinner in the kitchen",
    "sea": "The ship sails on the ocean and waves hit the boat near the harbour and beach",
}


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
    """Lengths do not count: (3, 4) with (30, 40) is 1, with (-3, -4) -1, with (4, -3) 0, with (1, 0) 3/5."""
    spoken = Meanings.units(np.array([[3, 4], [30, 40], [-3, -4], [4, -3], [1, 0], [0, 0], [NAN, NAN]]))
    rows = np.column_stack([spoken.vectors, spoken.squares])
    found = cosines(rows[0], rows)
    np.testing.assert_allclose(found, [1, 1, -1, 0, 0.6, NAN, NAN], atol=1e-5)
    assert found[:2].tolist() == [1.0, 1.0]
    np.testing.assert_array_equal(cosines(rows, rows[0]), found)


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
