"""Draws of turns: by hand, and what each draw must have."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from therapy_analytics.measures.synchrony._chance import (
    DRAWS,
    EXCHANGES,
    FEWEST_STRANGERS,
    MOST_DONORS,
    against,
    directions,
    pairs_of,
    spoken_turns,
    stranger_turns,
    strangers_of,
)
from therapy_analytics.measures.synchrony._draws import Draws, Replies
from therapy_analytics.session import CLIENT, THERAPIST

CERTAIN = np.array(True)
ONE_SIDED, TWO_SIDED = np.array(False), np.array(True)


def pairs(session: Any, role: int, delay: int = 1) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in zip(*pairs_of(session, role, delay), strict=True)]


def chance(
    value: float, draws: Any, *, two_sided: Any = ONE_SIDED, closer: Any = "higher", asked: Any = CERTAIN
) -> Any:
    return against(np.array(value), np.array(draws, dtype=float), asked, closer=closer, two_sided=two_sided)


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


def test_delay_does_not_reach_over_a_break(of_counts: Any) -> None:
    # Turn 2 has no words: turn 3 answers nobody, and turns 5 and 6 have no unbroken three turns behind them but 4, 3.
    session = of_counts([1, 1, 0, 1, 1, 1, 1])
    assert pairs(session, CLIENT, 2) == []
    assert pairs(session, THERAPIST, 2) == [(3, 6)]


@pytest.mark.parametrize(("n", "delay"), [*product(range(8), range(1, 6))])
def test_short_sessions_and_long_delays(of_counts: Any, n: int, delay: int) -> None:
    session, back = of_counts([1] * n), 2 * delay - 1
    for role in (THERAPIST, CLIENT):
        assert pairs(session, role, delay) == [(i - back, i) for i in range(back, n) if i % 2 == role]


# ---- shuffles


def test_the_first_draw_is_the_session_and_the_others_are_orders_of_the_replies(of_counts: Any) -> None:
    for direction in directions(of_counts(np.arange(1, 41))):
        draws = direction.shuffled
        assert draws.n_draws == DRAWS + 1
        replies = draws.replies[draws.reply_at]
        np.testing.assert_array_equal(draws.anchors[draws.anchor_at[:, 0]], direction.anchors)
        np.testing.assert_array_equal(replies[:, 0], direction.replies)
        np.testing.assert_array_equal(
            np.sort(replies, axis=0), np.repeat(direction.replies[:, None], DRAWS + 1, axis=1)
        )
        assert len(np.unique(replies, axis=1).T) > DRAWS - 5
        assert direction.exchanged == {}
        assert len(direction) == len(direction.replies)


def test_every_reply_comes_to_every_place(of_counts: Any) -> None:
    # 10 replies, 200 draws: each reply at each place about 20 times; 20 +- 5 standard deviations of 4.24.
    direction = directions(of_counts(np.arange(1, 22)))[0]
    at = direction.shuffled.reply_at[:, 1:]  # all of the therapist's but the first, which answers nobody
    times = np.stack([np.bincount(place - 1, minlength=10) for place in at])
    assert times.shape == (10, 10)
    assert times.min() >= 0 < times.max() <= 42


def test_draws_depend_on_words_a_turn_and_seed_alone(of_counts: Any) -> None:
    words = np.arange(1, 21)

    def drawn(**about: Any) -> list[Any]:
        return directions(of_counts(words, **about))[0].shuffled.reply_at.tolist()

    assert drawn() == drawn(counts=1)
    assert drawn() != drawn(seed=1)


def of(anchors: Any, replies: Any, anchor_at: Any, reply_at: Any) -> Draws:
    return Draws.of(*map(np.array, (anchors, replies, anchor_at, reply_at)))


def test_portions_are_all_of_it() -> None:
    draws = of([2, 4], [1, 3, 5], [[1], [0], [1]], [[0, 2, 1, 0], [1, 0, 2, 2], [2, 1, 0, 1]])
    assert (draws.n_pairs, draws.n_draws, draws.n_cells) == (3, 4, 6)
    for most in (1, 3, 4, 9):
        parts = [draws.some(slice(start, start + most)) for start in range(0, 4, most)]
        assert all(anchor_at.shape == (3, 1) for anchor_at, _ in parts)
        np.testing.assert_array_equal(np.hstack([reply_at for _, reply_at in parts]), draws.reply_at)
    anchors, replies = draws.turns(slice(3, 6))
    assert (anchors.tolist(), replies.tolist()) == ([[4], [2], [4]], [[1], [5], [3]])


def test_each_pair_is_one_of_the_cells_of_its_session() -> None:
    one = of([2, 4], [1, 3, 5], [[1], [0]], [[0, 2], [1, 0]])
    other = of([0], [7, 8], [[0], [0], [0]], [[1, 0], [0, 1], [1, 1]])
    draws = Draws.joined([one, other], ([0, 10], [0, 100]))
    assert draws.anchors.tolist() == [2, 4, 10]
    assert draws.replies.tolist() == [1, 3, 5, 107, 108]
    assert draws.sizes.tolist() == [[2, 1], [3, 2], [2, 3]]
    assert [(a.T.tolist(), r.tolist()) for a, r in draws.tables()] == [([[2, 4]], [[1, 3, 5]]), ([[10]], [[107, 108]])]
    anchor, reply = draws.cells()
    tables = [(2, 1), (2, 3), (2, 5), (4, 1), (4, 3), (4, 5), (10, 107), (10, 108)]
    assert [*zip(draws.anchors[anchor].tolist(), draws.replies[reply].tolist(), strict=True)] == tables
    for those in (draws, draws.turned()):
        anchors, replies = (turns[at] for turns, at in zip((those.anchors, those.replies), those.cells(), strict=True))
        wanted = np.broadcast_arrays(*those.turns(slice(0, 2)))
        np.testing.assert_array_equal(anchors[those.at()], wanted[0])
        np.testing.assert_array_equal(replies[those.at()], wanted[1])


def test_the_replies_of_both_together() -> None:
    """2 is followed by 1 or 3; the client's reply 6, behind 1 or 3, stands in the same table, as an anchor."""
    therapist = of([2, 6], [1, 3], [[0]], [[0, 1]])
    client = of([1, 3], [2, 6], [[0, 1]], [[1]])
    both = Replies.of(therapist, client)
    assert both.n_draws == 2
    anchor, reply = therapist.cells()
    assert therapist.anchors[anchor][both.at].tolist() == [[2, 2], [6, 6]]
    assert therapist.replies[reply][both.at].tolist() == [[1, 3], [1, 3]]


def test_nobody_replies(of_counts: Any) -> None:
    for direction in directions(of_counts([1, 1, 1], roles="TTT")):
        assert len(direction) == 0
        assert direction.shuffled.n_draws == DRAWS + 1


# ---- strangers


def strangers(of_counts: Any, company_of: Any, n: int, words: Any) -> Any:
    """Strangers of as many turns each, all of the same lengths."""
    return company_of(of_counts(np.tile(words, n)), range(0, len(words) * (n + 1), len(words)))


def drawn(session: Any) -> tuple[Any, Any]:
    found = stranger_turns(session)
    assert found is not None
    return found


def test_each_donor_lends_turns_of_one_role(of_counts: Any, company_of: Any) -> None:
    generator = np.random.default_rng(0)
    company = strangers(of_counts, company_of, 11, generator.integers(1, 30, 20))
    session = of_counts(generator.integers(1, 30, 15), company=company)
    for role, turns in zip((THERAPIST, CLIENT), drawn(session), strict=True):
        assert turns.shape == (5, len(range(role, 15, 2)))
        np.testing.assert_array_equal(turns // 20, np.broadcast_to(np.arange(role, 10, 2)[:, None], turns.shape))
        assert (company.whole.turns.roles[turns] == role).all()
        assert (np.diff(np.sort(turns, axis=1), axis=1) > 0).all()  # no turn twice
    assert strangers_of(session) == list(range(10))


def test_there_are_at_most_eight_donors_of_each_role(of_counts: Any, company_of: Any) -> None:
    session = of_counts(np.full(12, 3), company=strangers(of_counts, company_of, 20, np.full(20, 3)))
    assert strangers_of(session) == list(range(2 * MOST_DONORS)) == list(range(16))
    assert [turns.shape for turns in drawn(session)] == [(8, 6), (8, 6)]


def test_donors_turns_are_the_same_in_both_directions_and_at_all_delays(of_counts: Any, company_of: Any) -> None:
    generator = np.random.default_rng(0)
    company = strangers(of_counts, company_of, 6, generator.integers(1, 30, 40))
    session = of_counts(generator.integers(0, 9, 31), company=company)
    sides, lent = spoken_turns(session), drawn(session)
    for delay, direction in product((1, 2), range(2)):
        one = directions(session, delay=delay)[direction]
        assert one.role == direction
        assert tuple(one.exchanged) == EXCHANGES == ((CLIENT,), (THERAPIST,), (THERAPIST, CLIENT))
        for whose, draws in one.exchanged.items():
            meetings = list(product(*(range(3) if role in whose else [None] for role in (THERAPIST, CLIENT))))
            assert draws.n_draws == len(meetings) == 3 ** len(whose)
            for role, turns, at, own in (
                (1 - one.role, draws.anchors, draws.anchor_at, one.anchors),
                (one.role, draws.replies, draws.reply_at, one.replies),
            ):
                for dialogue, donors in enumerate(meetings):
                    stand = own
                    if role in whose:
                        stand = lent[role][donors[role], np.searchsorted(sides[role], own)]
                    np.testing.assert_array_equal(turns[at[:, dialogue % at.shape[1]]], stand)


def test_a_strangers_turn_is_as_long_where_there_is_one(of_counts: Any, company_of: Any) -> None:
    company = strangers(of_counts, company_of, 16, np.repeat([1, 3, 9, 27, 81, 1, 3, 9, 27, 81], 2))
    for turns in drawn(of_counts([81, 81, 1, 1, 9, 9], company=company)):
        np.testing.assert_array_equal(company.whole.n_words[turns], np.tile([81, 1, 9], (8, 1)))


def test_of_turns_as_long_one_of_the_same_place_is_lent(of_counts: Any, company_of: Any) -> None:
    """The session has a quarter of the donors' turns: one of each four, in order, the first of the first four."""
    company = strangers(of_counts, company_of, 16, np.full(80, 3))
    for role, turns in enumerate(drawn(of_counts(np.full(20, 3), company=company))):
        np.testing.assert_array_equal((turns % 80 - role) // 2 // 4, np.broadcast_to(np.arange(10), turns.shape))


def test_length_counts_for_more_than_place(of_counts: Any, company_of: Any) -> None:
    """One long turn at the end of each donor's, and one at the session's beginning."""
    company = strangers(of_counts, company_of, 16, [*np.full(18, 3), 30, 30])
    for role, turns in enumerate(drawn(of_counts([30, 30, *np.full(10, 3)], company=company))):
        assert (turns[:, 0] % 20 == 18 + role).all()


def test_openings_are_set_beside_openings(of_counts: Any, company_of: Any) -> None:
    generator = np.random.default_rng(0)
    company = strangers(of_counts, company_of, 16, generator.integers(3, 6, 60))
    for turns in drawn(of_counts(generator.integers(3, 6, 60), company=company)):
        places = (turns % 60) // 2
        assert abs(places - np.arange(30)).mean() < 3  # 10 for turns from anywhere


def test_surrogates_do_not_depend_on_the_seed(of_counts: Any, company_of: Any) -> None:
    generator = np.random.default_rng(0)
    company = strangers(of_counts, company_of, 16, generator.integers(1, 30, 40))
    n_words = generator.integers(1, 30, 30)
    each = [drawn(of_counts(n_words, company=company, seed=seed)) for seed in (0, 1)]
    for one, other in zip(*each, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_stranger_with_fewer_turns_lends_each_as_often_as_need_be(of_counts: Any, company_of: Any) -> None:
    # 25 turns of each for the ten of each stranger: two or three times each.
    company = strangers(of_counts, company_of, 5, np.full(20, 3))
    for turns in drawn(of_counts(np.full(50, 3), company=company)):
        for draw in turns:
            assert np.unique(draw, return_counts=True)[1].max() <= 3


@pytest.mark.parametrize("n", range(FEWEST_STRANGERS + 1))
def test_under_five_others_there_are_no_surrogates(of_counts: Any, company_of: Any, n: int) -> None:
    session = of_counts([3, 3, 3], company=strangers(of_counts, company_of, n, np.full(20, 3)) if n else None)
    assert len(strangers_of(session)) == (4 if n == 5 else 0)
    assert (stranger_turns(session) is None) == (n < 5)
    assert all(bool(direction.exchanged) == (n == 5) for direction in directions(session))


@pytest.mark.parametrize(
    ("n_ample", "chosen"),
    [(9, range(14)), (10, [*range(4), *range(5, 15)]), (13, [*range(3), *range(5, 18)]), (18, range(5, 21))],
)
def test_those_with_as_many_turns_are_preferred(of_counts: Any, company_of: Any, n_ample: int, chosen: Any) -> None:
    """Five strangers of 6 turns, then some of 20; the session has 12."""
    ends = np.cumsum([0] + 5 * [6] + n_ample * [20])
    company = company_of(of_counts(np.full(ends[-1], 3)), ends)
    assert strangers_of(of_counts(np.full(12, 3), company=company)) == list(chosen)
    # Six turns, three of each: all have as many.
    found = strangers_of(of_counts(np.full(6, 3), company=company))
    assert found == list(range(min((5 + n_ample) // 2, 8) * 2))


def test_who_does_not_reply_has_no_dialogues(of_counts: Any, company_of: Any) -> None:
    company = strangers(of_counts, company_of, 5, np.full(20, 3))
    first, second = directions(of_counts([3, 3], company=company))
    assert [draws.n_pairs for draws in first.exchanged.values()] == [0, 0, 0]
    assert [draws.n_draws for draws in second.exchanged.values()] == [2, 2, 4]
    silent = of_counts([3, 0, 3], company=company)
    assert stranger_turns(silent) is None
    assert all(direction.exchanged == {} for direction in directions(silent))


@pytest.mark.parametrize("n", [20, 30, 50])
def test_strangers_turns_are_not_longer_on_the_whole(of_counts: Any, company_of: Any, n: int) -> None:
    """Those that are taken already are got round on both sides: of 50 turns for 20, and where each is taken once."""
    generator = np.random.default_rng(n)
    lent = own = 0.0
    for _ in range(20):
        n_words = generator.geometric(0.1, 500)
        company = company_of(of_counts(n_words), range(0, 501, 50))
        session = of_counts(generator.geometric(0.1, n), company=company)
        lent += sum(n_words[turns].mean(axis=0).sum() for turns in drawn(session))
        own += session.n_words.sum()
    # 20 n turns of 10 words: one standard error is .95 / sqrt(20 n), .05 for the shortest.
    assert lent / own == pytest.approx(1, abs=0.1)
