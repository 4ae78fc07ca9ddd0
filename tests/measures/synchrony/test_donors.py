"""Shuffles, donors and surrogate pairs: by hand, and what each draw must have."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from therapy_analytics.core.session import CLIENT, THERAPIST
from therapy_analytics.measures.null.summary import DRAWS, beside_shuffles, permutations
from therapy_analytics.measures.null.surrogates import FEWEST_DONORS, MOST_DONORS, donors_of, pool_of
from therapy_analytics.measures.synchrony.adjacent_turns import pairs_of, replies_of

CERTAIN = np.array(True)
ONE_SIDED, TWO_SIDED = np.array(False), np.array(True)


def pairs(session: Any, role: int, delay: int = 1) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in zip(*pairs_of(session, role, delay), strict=True)]


def beside(
    value: float, draws: Any, *, two_sided: Any = ONE_SIDED, closer: Any = "higher", asked: Any = CERTAIN
) -> Any:
    given = np.array(value), np.array(draws, dtype=float), asked
    return beside_shuffles(*given, closer=closer, two_sided=two_sided)


# ---- a value beside shuffles


def test_beside_shuffles_by_hand() -> None:
    found = beside(3, [1, 2, 3, 2])
    assert (found.mean, found.p) == (2, 2 / 5)
    assert found.sd == pytest.approx(np.sqrt(2 / 3))
    assert found.z == pytest.approx(1 / np.sqrt(2 / 3))
    assert beside(3, [1, 2, 3, 2], closer="lower").p == 1
    assert beside(3, [1, 2, 3, 2], two_sided=TWO_SIDED).p == pytest.approx(4 / 5)
    assert beside(2, [1, 2, 3, 2], two_sided=TWO_SIDED).p == 1


def test_what_has_no_null_distribution_is_undefined() -> None:
    alike = beside(2, [2, 2, 2])
    assert (alike.mean, alike.sd, alike.p) == (2, 0, 1)
    assert np.isnan(alike.z)
    for nothing in (beside(2, []), beside(2, [1]), beside(np.nan, [1, 2, 3]), beside(2, [1, 2], asked=~CERTAIN)):
        assert np.isnan([nothing.mean, nothing.sd, nothing.z, nothing.p]).all()
    # Undefined draws do not count; of more than half nothing is said.
    assert beside(3, [1, np.nan, 3, 2]).p == 2 / 4
    assert np.isnan(beside(3, [1, np.nan, np.nan, np.nan, 2]).p)


# ---- pairs


def test_pairs_are_neighbours_of_the_other_role(of_counts: Any) -> None:
    # Turn 3 is of somebody else, turn 5 has no words, turns 6 and 7 are of one role.
    session = of_counts([1, 2, 3, 4, 5, 0, 7, 8, 9], roles="TCTOTCTTC")
    assert pairs(session, THERAPIST) == [(1, 2)]
    assert pairs(session, CLIENT) == [(0, 1), (7, 8)]


def test_delay_goes_back_in_the_other_ones_turns(of_counts: Any) -> None:
    session = of_counts([1] * 7)
    assert pairs(session, CLIENT, 2) == [(0, 3), (2, 5)]
    assert pairs(session, THERAPIST, 2) == [(1, 4), (3, 6)]
    assert pairs(session, CLIENT, 3) == [(0, 5)]


@pytest.mark.parametrize(("n", "delay"), [*product(range(8), range(1, 6))])
def test_short_sessions_and_long_delays(of_counts: Any, n: int, delay: int) -> None:
    session, back = of_counts([1] * n), 2 * delay - 1
    for role in (THERAPIST, CLIENT):
        assert pairs(session, role, delay) == [(i - back, i) for i in range(back, n) if i % 2 == role]


# ---- shuffles


def test_the_first_draw_is_the_session_and_the_others_are_orders_of_the_replies(of_counts: Any) -> None:
    for replies in replies_of(of_counts(np.arange(1, 41))):
        assert replies.replies.shape == (len(replies.turns), 1 + DRAWS)
        np.testing.assert_array_equal(replies.replies[:, 0], replies.turns)
        np.testing.assert_array_equal(replies.anchors, np.repeat(replies.turns[:, None] - 1, 1 + DRAWS, axis=1))
        every = np.repeat(replies.turns[:, None], DRAWS + 1, axis=1)
        np.testing.assert_array_equal(np.sort(replies.replies, axis=0), every)
        assert len(np.unique(replies.replies, axis=1).T) > DRAWS - 5


def test_every_turn_comes_to_every_place() -> None:
    # 10 turns, 200 draws: each at each place about 20 times; 20 +- 5 standard deviations of 4.24.
    orders = permutations(np.arange(10), np.random.default_rng(0))
    times = np.stack([np.bincount(place, minlength=10) for place in orders.T])
    assert 0 < times.min() <= times.max() <= 42


def test_draws_depend_on_words_a_turn_and_seed_alone(of_counts: Any) -> None:
    def drawn(**about: Any) -> list[Any]:
        return replies_of(of_counts(np.arange(1, 21), **about))[0].replies.tolist()

    assert drawn() == drawn(counts=1)
    assert drawn() != drawn(seed=1)


def test_nobody_replies(of_counts: Any) -> None:
    for replies in replies_of(of_counts([1, 1, 1], roles="TTT")):
        assert replies.replies.shape == (0, 1 + DRAWS)


# ---- donors


def donors_of_lengths(of_counts: Any, donors_from: Any, n: int, words: Any) -> Any:
    """SurrogatePool of as many turns each, all of the same lengths."""
    return donors_from(of_counts(np.tile(words, n)), range(0, len(words) * (n + 1), len(words)))


def drawn(session: Any) -> tuple[Any, Any]:
    """Return the donors' turns in the place of the therapist's, and of the client's, as positions among all donors."""
    pool = pool_of(session)
    assert len(pool.donated)
    therapists, clients = (pool.donated[one[1:] - len(session)] for one in pool.speakers)
    return therapists, clients


def test_each_donor_gives_turns_of_one_role(of_counts: Any, donors_from: Any) -> None:
    generator = np.random.default_rng(0)
    donors = donors_of_lengths(of_counts, donors_from, 11, generator.integers(1, 30, 20))
    session = of_counts(generator.integers(1, 30, 15), donors=donors)
    for role, turns in zip((THERAPIST, CLIENT), drawn(session), strict=True):
        assert turns.shape == (5, len(range(role, 15, 2)))
        np.testing.assert_array_equal(turns // 20, np.broadcast_to(np.arange(role, 10, 2)[:, None], turns.shape))
        assert (donors.whole.turns.roles[turns] == role).all()
        assert (np.diff(np.sort(turns, axis=1), axis=1) > 0).all()  # no turn twice
    assert donors_of(session) == list(range(10))


def test_there_are_at_most_eight_donors_of_each_role(of_counts: Any, donors_from: Any) -> None:
    session = of_counts(np.full(12, 3), donors=donors_of_lengths(of_counts, donors_from, 20, np.full(20, 3)))
    assert donors_of(session) == list(range(2 * MOST_DONORS)) == list(range(16))
    assert [turns.shape for turns in drawn(session)] == [(8, 6), (8, 6)]


def test_each_therapist_meets_each_client(of_counts: Any, donors_from: Any) -> None:
    generator = np.random.default_rng(0)
    donors = donors_of_lengths(of_counts, donors_from, 6, generator.integers(1, 30, 40))
    session = of_counts(generator.integers(0, 9, 31), donors=donors)
    pool = pool_of(session)
    for delay, role in product((1, 2), (THERAPIST, CLIENT)):
        replies, (anchors, own) = replies_of(session, delay)[role], pairs_of(session, role, delay)
        sides = [(1 - role, anchors, replies.anchors), (role, own, replies.replies)]
        for draw, (therapist, client) in enumerate(product(range(4), range(4))):
            for of_role, turns, found in sides:
                speaker = therapist if of_role == THERAPIST else client
                place = np.searchsorted(pool.speakers[of_role][0], turns)
                np.testing.assert_array_equal(found[:, draw], pool.speakers[of_role][speaker, place])


def test_a_donors_turn_is_as_long_where_there_is_one(of_counts: Any, donors_from: Any) -> None:
    donors = donors_of_lengths(of_counts, donors_from, 16, np.repeat([1, 3, 9, 27, 81, 1, 3, 9, 27, 81], 2))
    for turns in drawn(of_counts([81, 81, 1, 1, 9, 9], donors=donors)):
        np.testing.assert_array_equal(donors.whole.n_words[turns], np.tile([81, 1, 9], (8, 1)))


def test_of_turns_as_long_one_of_the_same_place_is_taken(of_counts: Any, donors_from: Any) -> None:
    """The session has a quarter of the donors' turns: one of each four, in order, the first of the first four."""
    donors = donors_of_lengths(of_counts, donors_from, 16, np.full(80, 3))
    for role, turns in enumerate(drawn(of_counts(np.full(20, 3), donors=donors))):
        np.testing.assert_array_equal((turns % 80 - role) // 2 // 4, np.broadcast_to(np.arange(10), turns.shape))


def test_length_counts_for_more_than_place(of_counts: Any, donors_from: Any) -> None:
    """One long turn at the end of each donor's, and one at the session's beginning."""
    donors = donors_of_lengths(of_counts, donors_from, 16, [*np.full(18, 3), 30, 30])
    for role, turns in enumerate(drawn(of_counts([30, 30, *np.full(10, 3)], donors=donors))):
        assert (turns[:, 0] % 20 == 18 + role).all()


def test_a_donor_with_fewer_turns_gives_each_as_often_as_need_be(of_counts: Any, donors_from: Any) -> None:
    # 25 turns of each for the ten of each donor: two or three times each.
    donors = donors_of_lengths(of_counts, donors_from, 5, np.full(20, 3))
    for turns in drawn(of_counts(np.full(50, 3), donors=donors)):
        for draw in turns:
            assert np.unique(draw, return_counts=True)[1].max() <= 3


@pytest.mark.parametrize("n", range(FEWEST_DONORS + 1))
def test_under_five_others_there_are_no_surrogates(of_counts: Any, donors_from: Any, n: int) -> None:
    session = of_counts([3, 3, 3], donors=donors_of_lengths(of_counts, donors_from, n, np.full(20, 3)) if n else None)
    assert len(donors_of(session)) == (4 if n == 5 else 0)
    assert len(pool_of(session).speakers[0]) == (3 if n == 5 else 1)


@pytest.mark.parametrize(
    ("n_ample", "chosen"),
    [(9, range(14)), (10, [*range(4), *range(5, 15)]), (13, [*range(3), *range(5, 18)]), (18, range(5, 21))],
)
def test_those_with_as_many_turns_are_preferred(of_counts: Any, donors_from: Any, n_ample: int, chosen: Any) -> None:
    """Five donors of 6 turns, then some of 20; the session has 12."""
    ends = np.cumsum([0] + 5 * [6] + n_ample * [20])
    donors = donors_from(of_counts(np.full(ends[-1], 3)), ends)
    assert donors_of(of_counts(np.full(12, 3), donors=donors)) == list(chosen)
    # Six turns, three of each: all have as many.
    found = donors_of(of_counts(np.full(6, 3), donors=donors))
    assert found == list(range(min((5 + n_ample) // 2, 8) * 2))


def test_who_says_nothing_has_no_surrogate_pairs(of_counts: Any, donors_from: Any) -> None:
    donors = donors_of_lengths(of_counts, donors_from, 5, np.full(20, 3))
    assert [one.anchors.shape for one in replies_of(of_counts([3, 3], donors=donors))] == [(0, 209), (1, 209)]
    assert len(pool_of(of_counts([3, 0, 3], donors=donors)).donated) == 0


@pytest.mark.parametrize("n", [20, 30, 50])
def test_donors_turns_are_not_longer_on_the_whole(of_counts: Any, donors_from: Any, n: int) -> None:
    """Those that are taken already are got round on both sides: of 50 turns for 20, and where each is taken once."""
    generator = np.random.default_rng(n)
    taken = own = 0.0
    for _ in range(20):
        n_words = generator.geometric(0.1, 500)
        donors = donors_from(of_counts(n_words), range(0, 501, 50))
        session = of_counts(generator.geometric(0.1, n), donors=donors)
        taken += sum(n_words[turns].mean(axis=0).sum() for turns in drawn(session))
        own += session.n_words.sum()
    # 20 n turns of 10 words: one standard error is .95 / sqrt(20 n), .05 for the shortest.
    assert taken / own == pytest.approx(1, abs=0.1)
