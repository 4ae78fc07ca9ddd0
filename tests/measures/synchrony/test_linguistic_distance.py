"""nCLiD and word mover's distance: by hand, against linear programs, and against reference values on AnnoMI."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, linprog

from benchmarks import nclid as benchmark
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.session import CLIENT, OTHER, THERAPIST
from therapy_analytics.measures.synchrony.linguistic_distance import nclid, nearest_next, scale, uclid, word_movers
from therapy_analytics.measures.synchrony.whole_session import Side

T, C, X = THERAPIST, CLIENT, OTHER
APART = np.array(
    [
        [0.0, 0.2, 0.5, 0.7],
        [0.2, 0.0, 0.3, 0.6],
        [0.5, 0.3, 0.0, 0.4],
        [0.7, 0.6, 0.4, 0.0],
    ]
)
COLUMNS = ("uclid", "alpha_anchor", "alpha_coord", "alpha_between", "nclid")
Floats = NDArray[np.float64]


def sides(apart: Floats, roles: list[int]) -> tuple[Side, Side]:
    """Return the therapist and the client of a session whose turns are so far apart."""
    at = [np.flatnonzero(np.array(roles, dtype=np.int64) == role) for role in (T, C)]
    return Side(T, apart[at[T]], at[T], at[C]), Side(C, apart[at[C]], at[C], at[T])


def nearest(anchor: Side, other: Side, k: int = 3) -> list[float]:
    return nearest_next(anchor.rows[:, other.at], anchor.at, other.at, k=k).tolist()


def test_both_directions_by_hand() -> None:
    therapist, client = sides(APART, [T, C, T, C])
    # Therapist as anchor: turn 0 is min(.2, .7), turn 2 is .4.
    assert nearest(therapist, client) == [0.2, 0.4]
    assert uclid(therapist, client) == pytest.approx(0.3)
    assert scale(therapist, client) == pytest.approx(0.5 + 0.6 + (0.2 + 0.7 + 0.4) / 3)
    # Client as anchor: only turn 1 has a therapist's turn (2) after it.
    np.testing.assert_array_equal(nearest(client, therapist), [0.3, np.nan])
    assert uclid(client, therapist) == pytest.approx(0.3)
    assert scale(client, therapist) == pytest.approx(0.6 + 0.5 + 0.3)
    by_therapist, by_client = 0.3 / 1.4, 0.3 / (0.5 + 0.6 + 1.3 / 3)
    both = (by_therapist + by_client) / 2
    assert nclid(therapist, client) == pytest.approx([both, by_therapist, by_client, by_therapist - by_client, 0.3])


def test_k_is_how_far_it_looks() -> None:
    # Turns 1, 2, 3 are the client's; the nearest of the first one is .9, of two .5.
    apart = np.array([[0, 0.9, 0.5, 0.1], [0.9, 0, 0, 0], [0.5, 0, 0, 0], [0.1, 0, 0, 0]])
    for k, least in ((1, 0.9), (2, 0.5), (3, 0.1), (9, 0.1)):
        assert nearest(*sides(apart, [T, C, C, C]), k=k) == [least]


def test_turns_without_a_known_word_are_left_out() -> None:
    apart = APART.copy()
    apart[1] = apart[:, 1] = np.nan
    therapist, client = sides(apart, [T, C, T, C])
    assert uclid(therapist, client) == pytest.approx((0.7 + 0.4) / 2)
    assert np.isnan(scale(therapist, client))  # no two turns of the client are known
    assert np.isnan(nclid(therapist, client)).all()
    assert np.isnan(uclid(client, therapist))


def test_others_take_no_part() -> None:
    with_other = np.full((5, 5), 0.01)
    keep = np.array([0, 1, 3, 4])
    with_other[np.ix_(keep, keep)] = APART
    found, expected = nclid(*sides(with_other, [T, C, X, T, C])), nclid(*sides(APART, [T, C, T, C]))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("roles", [[T, C], [C, C, T]])
def test_undefined_is_nan(roles: list[int]) -> None:
    assert np.isnan(nclid(*sides(np.zeros((len(roles), len(roles))), roles))[:4]).all()


def test_replies_in_another_order() -> None:
    generator = np.random.default_rng(3)
    apart = generator.random((12, 12))
    therapist, client = sides(apart, generator.permutation(np.repeat([T, C], 6)).tolist())
    for order in generator.permuted(np.tile(client.at, (5, 1)), axis=1):
        moved = np.arange(12)
        moved[client.at] = order
        expected = nearest_next(apart[np.ix_(therapist.at, order)], therapist.at, client.at)
        assert uclid(therapist, client, order) == pytest.approx(expected[~np.isnan(expected)].mean())


def test_agrees_with_the_reference_on_annomi(corpora: Path) -> None:
    """The two shortest sessions: `benchmarks.nclid` reads all."""
    peers = corpora.parent / "peers"
    if not (peers / "nclid_reference_w2v100.csv").exists():
        pytest.skip("the reference values are not in ../shared/peers")
    with np.load(peers / "w2v_annomi100.npz", allow_pickle=False) as stored:
        vectors = dict(zip(stored["words"].tolist(), stored["vectors"], strict=True))
    with (peers / "nclid_reference_w2v100.csv").open(newline="") as file:
        reference = {(row["transcript_id"], row["dir"]): row for row in csv.DictReader(file)}
    sessions = benchmark.read(corpora / "annomi" / "annomi.csv", set(vectors))
    for name, turns in sorted(sessions.items(), key=lambda one: len(one[1]))[:2]:
        own = sorted({word for _, words in turns for word in words})
        bags = [np.array([own.index(word) for word in words], dtype=np.int64) for _, words in turns]
        apart = word_movers(bags, np.array([vectors[word] for word in own]))
        therapist, client = sides(apart, [T if role == "therapist" else C for role, _ in turns])
        for anchor, other, direction in ((therapist, client, "t2p"), (client, therapist, "p2t")):
            expected = {column: float(reference[name, direction][column]) for column in COLUMNS}
            alphas = expected["alpha_anchor"] + expected["alpha_coord"] + expected["alpha_between"]
            found = uclid(anchor, other), scale(anchor, other), uclid(anchor, other) / scale(anchor, other)
            np.testing.assert_allclose(found, [expected["uclid"], alphas, expected["nclid"]], atol=1e-6, rtol=0)


def test_without_the_package_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ot.lp.emd_wrap", None)
    with pytest.raises(BadOptionError) as raised:
        word_movers([np.array([0]), np.array([0, 1])], np.eye(2))
    assert "-m pip install POT" in str(raised.value)


# ---- word mover's distance

VECTORS = np.random.default_rng(5).normal(size=(60, 7))
UNIT = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
BETWEEN = np.linalg.norm(UNIT[:, None] - UNIT, axis=2)
HALF = np.sqrt(2)  # between two unit vectors at a right angle
EXACT = 1e-8


def bag(*words: int) -> np.ndarray:
    return np.array(words, dtype=np.int64)


def by_linear_program(one: np.ndarray, other: np.ndarray) -> float:
    (a, times_a), (b, times_b) = (np.unique(words, return_counts=True) for words in (one, other))
    rows = np.kron(np.eye(len(a)), np.ones(len(b)))
    columns = np.kron(np.ones(len(a)), np.eye(len(b)))
    sums = np.concatenate([times_a / times_a.sum(), times_b / times_b.sum()])
    found = linprog(BETWEEN[np.ix_(a, b)].ravel(), A_eq=np.vstack([rows, columns]), b_eq=sums, method="highs-ds")
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
    assert word_movers([bag(0, 1), bag(0, 2)], VECTORS)[0, 1] == pytest.approx(BETWEEN[1, 2] / 2, abs=EXACT)


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


@given(st.lists(bags, min_size=2, max_size=4))
@settings(max_examples=30, deadline=None)
def test_is_the_optimum_of_the_linear_program(turns):
    found = word_movers(turns, VECTORS)
    for i, one in enumerate(turns):
        for j, other in enumerate(turns[:i]):
            assert found[i, j] == pytest.approx(by_linear_program(one, other), abs=2e-8)


@pytest.mark.parametrize("size", [2, 33, 70])
def test_equal_masses_are_an_assignment(size):
    # Every basis of such a problem is degenerate
    vectors = np.random.default_rng(size).normal(size=(2 * size, 20))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    apart = np.linalg.norm(unit[:size, None] - unit[size:], axis=2)
    expected = apart[linear_sum_assignment(apart)].mean()
    found = word_movers([np.arange(size), np.arange(size, 2 * size)], vectors)
    assert found[0, 1] == pytest.approx(expected, abs=EXACT)
