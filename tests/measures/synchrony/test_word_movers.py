"""Word mover's distance: by hand, against linear programs, as a metric, and on shapes that lanes share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, linprog

from therapy_analytics.measures.synchrony.linguistic_distance import word_movers

VECTORS = np.random.default_rng(5).normal(size=(60, 7))
UNIT = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
APART = np.linalg.norm(UNIT[:, None] - UNIT, axis=2)
HALF = np.sqrt(2)  # between two unit vectors at a right angle
EXACT = 1e-8


def bag(*words: int) -> np.ndarray:
    return np.array(words, dtype=np.int64)


def by_linear_program(one: np.ndarray, other: np.ndarray) -> float:
    (a, times_a), (b, times_b) = (np.unique(words, return_counts=True) for words in (one, other))
    rows = np.kron(np.eye(len(a)), np.ones(len(b)))
    columns = np.kron(np.ones(len(a)), np.eye(len(b)))
    sums = np.concatenate([times_a / times_a.sum(), times_b / times_b.sum()])
    found = linprog(APART[np.ix_(a, b)].ravel(), A_eq=np.vstack([rows, columns]), b_eq=sums, method="highs-ds")
    assert found.status == 0
    return float(found.fun)


bags = st.lists(st.integers(0, 59), min_size=1, max_size=14).map(lambda words: bag(*words))


def test_one_word_is_moved_to_each_word_of_the_other():
    # Three words at 0 (itself), at a right angle and at the opposite end (2): (0 + sqrt 2 + 2) / 3.
    vectors = np.array([[1.0, 0], [0, 1], [-1, 0]])
    assert word_movers([bag(0), bag(0, 1, 2)], vectors)[0, 1] == pytest.approx((0 + HALF + 2) / 3, abs=EXACT)


def test_two_words_share_out_what_the_other_has():
    # {0, 0, 1}: 2/3 and 1/3. {2, 3}: 1/2 each. 0 lies 0.4 nearer to 2 than to 3, 1 lies 0.1 nearer to 2: so 0 fills
    # all of 2 (1/2), has 1/6 left for 3, and 1 brings 1/3 to 3.
    angles = np.array([0.0, 3.0, 0.5, 1.1])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    d = np.linalg.norm(vectors[:, None] - vectors, axis=2)
    other_way = 1 / 3 * d[1, 2] + 1 / 6 * d[0, 2] + 1 / 2 * d[0, 3]
    best = min(1 / 2 * d[0, 2] + 1 / 6 * d[0, 3] + 1 / 3 * d[1, 3], other_way)
    assert word_movers([bag(0, 0, 1), bag(2, 3)], vectors)[0, 1] == pytest.approx(best, abs=EXACT)


def test_words_in_common_stay_where_they_are():
    # {0, 1} and {0, 2}: half the mass goes from 1 to 2.
    assert word_movers([bag(0, 1), bag(0, 2)], VECTORS)[0, 1] == pytest.approx(APART[1, 2] / 2, abs=EXACT)


def test_length_of_vectors_does_not_count():
    longer = VECTORS * np.arange(1, 61)[:, None]
    pair = [bag(0, 1, 2), bag(3, 4)]
    np.testing.assert_allclose(word_movers(pair, longer), word_movers(pair, VECTORS), atol=EXACT)


def test_same_proportions_are_at_distance_zero_and_an_empty_bag_at_none():
    found = word_movers([bag(1, 2), bag(2, 1, 1, 2), bag(), bag(1)], VECTORS)
    assert found[0, 1] == 0
    assert np.isnan(found[2]).all()
    assert np.isnan(found[:, 2]).all()
    assert (np.diag(found)[[0, 1, 3]] == 0).all()


@pytest.mark.parametrize("bags", [[], [bag()], [bag(3)]])
def test_nothing_to_compare(bags):
    assert word_movers(bags, VECTORS).shape == (len(bags), len(bags))


@given(st.lists(bags, min_size=2, max_size=4))
@settings(max_examples=60, deadline=None)
def test_is_the_optimum_of_the_linear_program(turns):
    found = word_movers(turns, VECTORS)
    for i, one in enumerate(turns):
        for j, other in enumerate(turns[:i]):
            assert found[i, j] == pytest.approx(by_linear_program(one, other), abs=2e-8)


@given(st.lists(bags, min_size=3, max_size=6))
@settings(max_examples=60, deadline=None)
def test_is_a_metric(turns):
    found = word_movers(turns, VECTORS)
    assert (found == found.T).all()
    assert (np.diag(found) == 0).all()
    assert (found >= 0).all()
    assert (found <= 2 + EXACT).all()
    through = found[:, :, None] + found[None]  # i to j to k
    assert (found[:, None] <= through + 3 * EXACT).all()


@pytest.mark.parametrize("size", [2, 17, 33, 64, 70, 150])
def test_equal_masses_are_an_assignment(size):
    # Every basis of such a problem is degenerate; from 33 words on, arcs need more than one word of bits.
    vectors = np.random.default_rng(size).normal(size=(2 * size, 20))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    apart = np.linalg.norm(unit[:size, None] - unit[size:], axis=2)
    expected = apart[linear_sum_assignment(apart)].mean()
    found = word_movers([np.arange(size), np.arange(size, 2 * size)], vectors)
    assert found[0, 1] == pytest.approx(expected, abs=EXACT)


def test_ties_do_not_make_it_turn_in_circles():
    # All words at a right angle to each other: every plan that keeps common words costs the same.
    found = word_movers([np.arange(20), np.arange(20, 60), np.arange(10, 50)], np.eye(60))
    # 10 of 40 in common with weights 1/20 and 1/40: 10/40 stay. 30 of 40 with 1/40 each: 30/40 stay.
    np.testing.assert_allclose(found[[0, 0, 1], [1, 2, 2]], HALF * np.array([1, 3 / 4, 1 / 4]), atol=EXACT)
