"""Similarity of meaning, forward flow and return: counted by hand, against loops, and beside any donors."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, islice, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.talks import arrays, session
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.donors import choose_donors, donors_by_length, length_class
from therapy_analytics.language.embeddings import load_embeddings
from therapy_analytics.language.meanings import STEPS, Meanings, cosines, meanings
from therapy_analytics.measures import MEASURES
from therapy_analytics.measures.synchrony.semantic_course import (
    context,
    flow_in_orders,
    forward_flow,
    returns,
    semantic_course,
)
from therapy_analytics.measures.synchrony.semantic_similarity import semantic_similarity
from therapy_analytics.measures.synchrony.whole_session import Side
from therapy_analytics.session import Session

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


def table_of(spoken: Meanings) -> NDArray[np.float64]:
    """Return the cosines of turns that all have a meaning, each with each."""
    return spoken.vectors @ spoken.vectors.T / STEPS**2


def flow_of(spoken: Meanings) -> NDArray[np.float64]:
    """Return the forward flow of one session and speaker."""
    return forward_flow(table_of(spoken))


def in_order(alike: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `returns` of blocks as they come."""
    return returns(alike, np.arange(len(alike)))


def alone(one: Session) -> AnnotatedSession:
    """Return the arrays of a session without donors."""
    return next(iter(arrays(one)))


def values(one: AnnotatedSession) -> dict[str, Any]:
    """Return what the measure gives."""
    return {**semantic_similarity(one), **semantic_course(one)}


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
    found = cosines(spoken, spoken, np.zeros(5, dtype=np.int64), np.arange(5))
    assert found.tolist() == pytest.approx([1, 1, -1, 0, 0.6], abs=1e-5)
    assert found[:2].tolist() == [1.0, 1.0]


def test_what_has_no_meaning_is_undefined() -> None:
    spoken = units([1, 0], [0, 0], [NAN, NAN])
    assert np.isnan(cosines(spoken, spoken, np.array([0, 0, 1]), np.array([1, 2, 1]))).all()
    assert spoken.vectors[1:].tolist() == [[0, 0], [0, 0]]


def test_forward_flow_by_hand() -> None:
    # Third: distances 1 and 1. Fourth, opposite to the first two: 2, 2, and 1 to the third.
    spoken = units([1, 0], [1, 0], [0, 1], [-1, 0])
    np.testing.assert_allclose(flow_of(spoken), [NAN, 0, 1, 5 / 3], atol=1e-5)
    assert np.isnan(flow_of(units([1, 0]))).all()
    assert flow_of(Meanings.units(np.zeros((0, 3)))).shape == (0,)


def test_talk_that_leaves_and_returns_has_more_return() -> None:
    def table(*topics: int) -> NDArray[np.float64]:
        return np.equal.outer(topics, topics).astype(np.float64)

    # A B A: the third is A (1) after B (0). A B B A: 0 - 1 for the second B, then 1 - 0. A A A: 1 - 1.
    assert in_order(table(1, 2, 1)) == 1
    assert in_order(table(1, 2, 2, 1)) == 0
    assert in_order(table(1, 1, 1)) == 0
    # A B C D: 0 - 0 twice. A B A B: 1 - 0 twice.
    assert in_order(table(1, 2, 3, 4)) == 0
    assert in_order(table(1, 2, 1, 2)) == 1


def test_return_of_undefined_segments() -> None:
    alike = np.eye(4)
    assert np.isnan(in_order(alike[:2, :2]))
    alike[2] = NAN  # the third segment is silent: only the fourth counts, and the segment before it is known
    alike[3] = [0.5, NAN, 0.1, 1]
    assert in_order(alike) == pytest.approx(0.5 - 0.1)
    alike[3, 2] = NAN
    assert np.isnan(in_order(alike))


# ---- arithmetic


def test_returns_in_orders_are_those_of_tables_in_these_orders() -> None:
    generator = np.random.default_rng(8)
    alike = generator.uniform(-1, 1, (7, 7, 2))
    alike[3, :, 1] = NAN
    for order in generator.permuted(np.tile(np.arange(7), (20, 1)), axis=1):
        table = alike[np.ix_(order, order)]
        expected = [slow_return(table[..., 0]), slow_return(table[..., 1])]
        np.testing.assert_allclose(returns(alike, order), expected, rtol=1e-12)


def slow_return(table: NDArray[np.float64]) -> float:
    """Return `returns` of one table, segment by segment."""
    found = [np.nanmax([*table[i, : i - 1], -9]) - table[i, i - 1] for i in range(2, len(table))]
    return float(np.nanmean([one for one in found if not one < -3]))


def test_context_is_the_sum_of_the_earlier_turns_of_the_other() -> None:
    vectors = Meanings.units(np.random.default_rng(11).normal(size=(11, 16))).vectors
    vectors[[3, 4]] = 0
    at = np.array([0, 1, 3, 6, 9]), np.array([2, 4, 5, 7, 8, 10])
    sides = [Side(role, vectors[at[role]], at[role], at[1 - role]) for role in (0, 1)]
    for own, other in (sides, sides[::-1]):
        for place, found in zip(own.at, context(own, other), strict=True):
            heard = vectors[other.at[other.at < place]].sum(axis=0)
            lengths = np.sqrt((vectors[place] @ vectors[place]) * (heard @ heard))
            expected = vectors[place] @ heard / lengths if lengths else NAN
            np.testing.assert_allclose(found, expected, atol=1e-12)


VECTORS = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=n, max_size=n)
)


@settings(max_examples=60, deadline=None)
@given(VECTORS)
def test_cosines_are_symmetric_and_in_range(rows: list[list[int]]) -> None:
    spoken, every = units(*rows), np.arange(len(rows))
    found = cosines(spoken, spoken, every[:, None], every[None])
    np.testing.assert_array_equal(found, found.T)
    wide = np.array(rows, dtype=np.float64)
    length = np.linalg.norm(wide, axis=1)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(found, wide @ wide.T / np.outer(length, length), atol=5e-5)
    assert (np.isnan(found) | (np.abs(found) <= 1)).all()
    assert set(found.diagonal()[length > 0].tolist()) <= {1.0}
    known = length > 0
    flow, near = flow_of(spoken[known]), found[known][:, known]
    expected = [NAN, *(np.mean(1 - near[t, :t]) for t in range(1, len(near)))][: len(near)]
    np.testing.assert_allclose(flow, expected, atol=5e-5)


@pytest.mark.parametrize("n", [4, 5, 6])
def test_null_of_forward_flow_is_that_of_all_orders(n: int) -> None:
    spoken = Meanings.units(np.random.default_rng(n).normal(size=(n, 3)))
    every = [np.nanmean(flow_of(spoken[np.array(order)])) for order in permutations(range(n))]
    assert flow_in_orders(table_of(spoken)) == pytest.approx((np.mean(every), np.std(every)), abs=1e-5)


def test_null_of_forward_flow_when_turns_outnumber_dimensions() -> None:
    generator = np.random.default_rng(1)
    spoken = Meanings.units(generator.normal(size=(30, 4)))
    drawn = [np.nanmean(flow_of(spoken[generator.permutation(30)])) for _ in range(4000)]
    mean, sd = flow_in_orders(table_of(spoken))
    assert mean == pytest.approx(np.mean(drawn), abs=4 * sd / 60)
    assert sd == pytest.approx(np.std(drawn), rel=0.06)
    assert np.isnan(flow_in_orders(table_of(spoken[np.arange(3)]))).all()


def test_all_turns_the_same_have_no_spread() -> None:
    mean, sd = flow_in_orders(table_of(units(*[[1, 2]] * 50)))
    assert (mean, sd) == pytest.approx((0, 0), abs=1e-5)


# ---- sessions


def test_neighbours_are_compared_by_the_shipped_vectors() -> None:
    texts = ["I feel sad", "I am so sad and cry", "The train leaves at nine", "Which train is it?"]
    found = values(alone(session(*texts)))["semantic_similarity_turn"]
    vectors = load_embeddings().embed(texts).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = [NAN, *(float(vectors[i] @ vectors[i + 1]) for i in range(3))]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert found[1] > found[2] < found[3]


def test_turns_without_words_have_no_meaning() -> None:
    spoken = alone(session("I feel sad", "...", "Why?", "No idea"))
    assert meanings(spoken).squares[1] == 0
    found = values(spoken)
    assert np.isnan(found["semantic_similarity_turn"][:3]).all()
    assert np.isnan(found["semantic_context_turn"][[0, 1, 2]]).all()
    assert not np.isnan(found["semantic_context_turn"][3])
    # The therapist's second turn has one before it; the client's only turn with words has none.
    assert np.isnan(found["forward_flow_turn"]).tolist() == [True, True, False, True]


def test_context_of_a_session_is_per_direction() -> None:
    # Only the client has spoken anything before the therapist's turns 1 and 3 here.
    spoken = session(
        "I lost my job", "What job?", "At the office", "Office work is hard", roles=("client", "therapist")
    )
    found, vectors = values(alone(spoken)), meanings(alone(spoken)).vectors / STEPS
    context = vectors[0] + vectors[2]
    assert found["semantic_context_turn"][3] == pytest.approx(vectors[3] @ context / np.linalg.norm(context), abs=1e-4)
    assert found["semantic_context_turn"][2] == pytest.approx(vectors[2] @ vectors[1], abs=1e-4)
    assert found["semantic_context_therapist"] == pytest.approx(np.mean(found["semantic_context_turn"][[1, 3]]))
    assert found["semantic_context_client"] == pytest.approx(found["semantic_context_turn"][2])


def test_staying_moving_on_and_coming_back() -> None:
    stays, moves, comes = (
        values(alone(about(*topics)))
        for topics in (["work"] * 6, ["work", "dog", "food", "sea", "dog", "food"], ["work", "dog"] * 3)
    )
    for who in ("therapist", "client", "session"):
        assert stays[f"{who}_forward_flow"] < 0.05 < comes[f"{who}_forward_flow"] < moves[f"{who}_forward_flow"]
        # Turns are near to what was just spoken, so the order counts.
        assert moves[f"{who}_forward_flow_z"] < -2
    for name in ("therapist_topic_return", "client_topic_return", "therapist_own_topic_return"):
        assert abs(stays[name]) < 0.02
        assert comes[name] > 0.5
        assert comes[f"{name}_z"] > 1
        assert comes[f"{name}_p"] < 0.2


def test_forward_flow_of_random_order_is_that_of_its_null() -> None:
    generator, z = np.random.default_rng(6), []
    for _ in range(200):
        spoken = Meanings.units(generator.normal(0.5, size=(25, 6)))
        mean, sd = flow_in_orders(table_of(spoken))
        z.append((np.nanmean(flow_of(spoken)) - mean) / sd)
    assert abs(np.mean(z)) < 0.25
    assert 0.85 < np.std(z) < 1.15


def test_no_return_without_enough_talk() -> None:
    found = values(alone(about("work", "dog")))
    assert all(np.isnan(found[f"therapist_topic_return{end}"]) for end in ("", "_null_mean", "_z", "_p"))
    found = values(alone(about("work", "dog", "work")))
    assert found["therapist_topic_return"] > 0.5
    assert np.isnan(found["therapist_topic_return_z"])


@pytest.mark.parametrize("texts", [(), ("one",), ("...", "!"), ("yes", "yes")])
def test_small_sessions_have_the_declared_columns(texts: Sequence[str]) -> None:
    found = values(alone(session(*texts)))
    both = (MEASURES[name] for name in ("semantic_similarity", "semantic_course"))
    declared = {column.name for one in both for column in one.columns_for(())}
    assert found.keys() == declared
    assert found["session_forward_flow"] == pytest.approx(0, abs=1e-4) or np.isnan(found["session_forward_flow"])


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
        by_itself, with_donors = values(alone(one)), values(in_batch)
        single = values(replace(alone(one), donors=donors[length_class(one)]))
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
    found = values(replace(alone(one), donors=next(iter(donors.values()))))
    assert found["semantic_similarity_z"] > 3
    assert found["semantic_similarity_p"] < 0.01


def test_a_long_session_in_bounded_memory() -> None:
    words = np.array(" ".join(TOPICS.values()).split())
    drawn = np.random.default_rng(4).integers(0, len(words), (1000, 5))
    one = alone(session(*map(" ".join, words[drawn])))
    one.cached(meanings)
    tracemalloc.start()
    found = values(one)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200e6
    assert all(np.isfinite(found[name]) for name in ("semantic_similarity_z", "client_topic_return_z"))
    assert abs(found["session_forward_flow_z"]) < 4
    assert found["semantic_similarity_p"] > 0.001
