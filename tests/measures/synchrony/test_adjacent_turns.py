"""The framework of adjacent-turn measures, with measures whose values can be read off."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.surrogate_tables import two_way
from therapy_analytics.measures.base import wide_name
from therapy_analytics.measures.null.summary import DRAWS, FEWEST_PAIRS
from therapy_analytics.measures.null.surrogates import pool_of
from therapy_analytics.measures.synchrony import adjacent_turns
from therapy_analytics.measures.synchrony.adjacent_turns import (
    DIRECTIONS,
    SLOPE,
    AdjacentTurnMeasure,
    adjacent_result,
    replies_of,
    segments_of,
    slopes,
)
from therapy_analytics.measures.synchrony.coordination import COORDINATION
from therapy_analytics.measures.synchrony.style_matching import LSM, RLSM
from therapy_analytics.measures.synchrony.tables import adjacent_columns, adjacent_values

BOTH, THERAPIST, CLIENT, DIFFERENCE = range(4)
KINDS = (LSM, RLSM, COORDINATION)


def words(session: Any) -> Any:
    return session.n_words.astype(float)


def beside_each_other(a: Any, b: Any) -> Any:
    """4 words and then 5 come to 45."""
    return 10 * a + b


def kind(**fields: Any) -> AdjacentTurnMeasure:
    return AdjacentTurnMeasure(
        **{
            "name": "digits",
            "series": "digits_turn",
            "meaning": "Digits beside each other",
            "unit": "digits",
            "formula": "10 a + b",
            "misleads": "Always",
            "source": "This test",
            "represent": words,
            "score": beside_each_other,
            **fields,
        }
    )


DIGITS = kind()


def column(found: Any, name: str) -> Any:
    """Values of a part in the four directions."""
    (at,) = (i for i, part in enumerate(found.segments) if part.name == name)
    return found.values[:, at]


def dialogue(of_counts: Any, n: int, seed: int = 0, **about: Any) -> Any:
    """A session of nine categories at different rates, some turns without words."""
    generator = np.random.default_rng(seed)
    n_words = generator.integers(0, 12, n)
    return of_counts(n_words, generator.binomial(n_words[:, None], np.linspace(0.02, 0.4, 9)), **about)


def with_donors(of_counts: Any, donors_from: Any, n: int = 40) -> Any:
    return dialogue(of_counts, n, donors=donors_from(dialogue(of_counts, 500, seed=1), range(0, 501, 50)))


# ---- values


def test_who_follows_whom_by_hand(of_counts: Any) -> None:
    """Turns of 1 to 6 words: the client replies 12, 34, 56, the therapist 23, 45."""
    found = adjacent_result(DIGITS, of_counts([1, 2, 3, 4, 5, 6]))
    np.testing.assert_array_equal(found.series, [np.nan, 12, 23, 34, 45, 56])
    assert DIRECTIONS == ("both", "therapist", "client", "difference")
    assert column(found, "whole").tolist() == [34, 34, 34, 0]
    np.testing.assert_array_equal(column(found, "third_1"), [12, np.nan, 12, np.nan])
    assert column(found, "third_2").tolist() == [28.5, 23, 34, -11]
    assert column(found, "third_3").tolist() == [50.5, 45, 56, -11]
    assert found.n_pairs[:, 0].tolist() == [5, 2, 3, 2]
    assert found.n_pairs[:, 1].tolist() == [1, 0, 1, 0]
    assert np.isnan(found.shuffled.p[CLIENT, 0])  # three pairs are too few to ask


def test_segments() -> None:
    assert [(part.name, part.first, part.last) for part in segments_of(7)] == [
        ("whole", 0, 6),
        ("third_1", 0, 2),
        ("third_2", 3, 4),
        ("third_3", 5, 6),
        ("slope", 0, 6),
    ]
    assert sum(part.name == "window" for part in segments_of(19)) == 0
    assert [(part.first, part.last) for part in segments_of(31) if part.name == "window"] == [
        (0, 19),
        (5, 24),
        (10, 29),
    ]


def test_a_reply_counts_where_it_stands(of_counts: Any) -> None:
    """The second third begins with a reply to the last turn of the first: 34, then 45."""
    found = adjacent_result(DIGITS, of_counts([1, 2, 3, 4, 5, 6, 7, 8, 9]))
    assert column(found, "third_2").tolist() == [(45 + (34 + 56) / 2) / 2, 45, (34 + 56) / 2, 45 - (34 + 56) / 2]


def test_delay(of_counts: Any) -> None:
    session = of_counts([1, 2, 3, 4, 5, 6])
    found = adjacent_result(replace(DIGITS, delay=2), session)
    np.testing.assert_array_equal(found.series, [np.nan, np.nan, np.nan, 14, 25, 36])
    np.testing.assert_array_equal(adjacent_result(DIGITS, session).series[1:], [12, 23, 34, 45, 56])


def test_pairs_without_a_value_are_not_counted(of_counts: Any) -> None:
    def score(a: Any, b: Any) -> Any:
        pair = beside_each_other(a, b)
        return np.where(pair == 34, np.nan, pair)

    found = adjacent_result(kind(score=score), of_counts([1, 2, 3, 4, 5, 6]))
    assert column(found, "whole").tolist() == [34, 34, 34, 0]
    assert found.n_pairs[:, 0].tolist() == [4, 2, 2, 2]
    np.testing.assert_array_equal(found.series, [np.nan, 12, 23, np.nan, 45, 56])


def test_one_of_them_never_replies(of_counts: Any) -> None:
    found = adjacent_result(DIGITS, of_counts([1, 2, 3, 4, 5, 6], roles="TCOTCO"))
    np.testing.assert_array_equal(column(found, "whole"), [(12 + 45) / 2, np.nan, (12 + 45) / 2, np.nan])
    assert found.n_pairs[:, 0].tolist() == [2, 0, 2, 0]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_a_session(of_counts: Any, n: int) -> None:
    for one in (DIGITS, *KINDS):
        found = adjacent_result(one, of_counts(np.arange(1, n + 1)))
        assert found.values.shape == (4, 5)
        assert len(found.series) == n
        assert np.isnan(found.values[THERAPIST]).all()
        assert np.isnan(found.shuffled.p).all()
        assert np.isnan(found.surrogate.p).all()


# ---- slope


def test_slope_by_hand(of_counts: Any) -> None:
    """The client's 12, 34, 56, 78 stand at 0, 1/3, 2/3, 1: 66. The therapist's three are too few."""
    found = adjacent_result(DIGITS, of_counts([1, 2, 3, 4, 5, 6, 7, 8]))
    np.testing.assert_allclose(column(found, "slope"), [66, np.nan, 66, np.nan])
    # With one more, the therapist's 23, 45, 67, 89 rise as much.
    found = adjacent_result(DIGITS, of_counts([1, 2, 3, 4, 5, 6, 7, 8, 9]))
    np.testing.assert_allclose(column(found, "slope"), [66, 66, 66, 0], atol=1e-12)
    assert found.n_pairs[:, -1].tolist() == [8, 4, 4, 4]


def test_slopes_are_those_of_least_squares() -> None:
    generator = np.random.default_rng(0)
    each = np.where(generator.random((12, 30)) < 0.4, np.nan, generator.normal(size=(12, 30)))
    at = np.linspace(0, 1, 12)
    for values, found in zip(each.T, slopes(each), strict=True):
        defined = ~np.isnan(values)
        if defined.sum() < FEWEST_PAIRS:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(np.polyfit(at[defined], values[defined], 1)[0], abs=1e-12)


# ---- sums, draws


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_values_of_segments_are_those_of_their_pairs(one: AdjacentTurnMeasure, of_counts: Any) -> None:
    session = dialogue(of_counts, 60)
    found, own = adjacent_result(one, session), one.represent(session)
    for row, role in ((THERAPIST, 0), (CLIENT, 1)):
        spoken = session.n_words > 0
        replies = np.array([i for i in range(1, 60) if i % 2 == role and spoken[i] and spoken[i - 1]])
        for at, part in enumerate(found.segments[:-1]):
            inside = replies[(replies >= part.first) & (replies <= part.last)]
            wanted = one.over(one.score(own[inside - 1], own[inside])[:, None])[0]
            np.testing.assert_allclose(found.values[row, at], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_a_few_pairs_at_a_time_give_the_same(
    one: AdjacentTurnMeasure, of_counts: Any, donors_from: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = with_donors(of_counts, donors_from)
    wanted = adjacent_result(one, session)
    monkeypatch.setattr(adjacent_turns, "_MOST_NUMBERS", 5000)
    found = adjacent_result(one, replace(session))
    np.testing.assert_allclose(found.values, wanted.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.shuffled.sd, wanted.shuffled.sd, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.surrogate.sd, wanted.surrogate.sd, rtol=0, atol=1e-12)


def test_shuffles_by_a_loop_over_draws(of_counts: Any) -> None:
    session = dialogue(of_counts, 40)
    own, found = LSM.represent(session), adjacent_result(LSM, session)
    drawn = np.array([np.nanmean(LSM.score(own[one.anchors], own[one.replies]), axis=0) for one in replies_of(session)])
    assert found.shuffled.mean[1:3, 0] == pytest.approx(drawn[:, 1:].mean(axis=1))
    assert found.shuffled.sd[1:3, 0] == pytest.approx(drawn[:, 1:].std(axis=1, ddof=1))
    both, difference = drawn.mean(axis=0), drawn[0] - drawn[1]
    assert found.shuffled.mean[BOTH, 0] == pytest.approx(both[1:].mean())
    assert found.shuffled.p[BOTH, 0] == pytest.approx(((both[1:] >= both[0] - 1e-12).sum() + 1) / (DRAWS + 1))
    ends = [((way * difference[1:] >= way * difference[0] - 1e-12).sum() + 1) / (DRAWS + 1) for way in (1, -1)]
    assert found.shuffled.p[DIFFERENCE, 0] == pytest.approx(min(1, 2 * min(ends)))


@pytest.mark.parametrize("one", [LSM, COORDINATION, DIGITS, replace(LSM, delay=2)], ids=lambda one: one.name)
def test_surrogate_pairs_by_a_loop_over_dialogues(one: AdjacentTurnMeasure, of_counts: Any, donors_from: Any) -> None:
    """Each dialogue as a session of its own, in which the turns of one are the donor's."""
    session = with_donors(of_counts, donors_from)
    pool, whole, n = pool_of(session), session.donors.whole, len(session)
    n_words = np.append(session.n_words, whole.n_words[pool.donated])
    counts = np.concatenate([session.turns.counts, whole.turns.counts[pool.donated]])
    found, tables = adjacent_result(one, session), np.empty((4, 6, 6))
    for therapist, client in np.ndindex(6, 6):
        turns = np.arange(n)
        therapists, clients = pool.speakers
        turns[therapists[0]], turns[clients[0]] = therapists[therapist], clients[client]
        tables[:, therapist, client] = adjacent_result(one, of_counts(n_words[turns], counts[turns])).values[:, 0]
    for direction in range(4):
        expected = two_way(tables[direction], two_sided=direction == DIFFERENCE)
        shown = [getattr(found.surrogate, name)[direction, 0] for name in ("mean", "sd", "p")]
        assert shown == pytest.approx([expected.mean, expected.sd, expected.p], abs=1e-8)


def test_one_who_never_replies_beside_surrogate_pairs(of_counts: Any, donors_from: Any) -> None:
    session = dialogue(of_counts, 40)
    others = donors_from(dialogue(of_counts, 500, seed=1), range(0, 501, 50))
    found = adjacent_result(LSM, of_counts(session.n_words + 1, session.turns.counts, roles="TCOO" * 10, donors=others))
    np.testing.assert_array_equal(np.isfinite(found.surrogate.p[:, 0]), [True, False, True, False])
    assert found.surrogate.mean[BOTH, 0] == found.surrogate.mean[CLIENT, 0]


def test_which_end_counts(of_counts: Any) -> None:
    session = dialogue(of_counts, 40)
    higher, lower = adjacent_result(DIGITS, session), adjacent_result(replace(DIGITS, closer="lower"), session)
    whole, slope = np.s_[:3, 0], np.s_[:, -1]
    # At least and at most this: all draws, those that are equal twice, and the session itself in both.
    assert (higher.shuffled.p[whole] + lower.shuffled.p[whole] >= 1 + 1 / (DRAWS + 1) - 1e-9).all()
    np.testing.assert_array_equal(higher.shuffled.p[slope], lower.shuffled.p[slope])
    np.testing.assert_array_equal(higher.shuffled.p[DIFFERENCE], lower.shuffled.p[DIFFERENCE])


def test_the_slope_of_what_only_rises_is_beyond_its_shuffles(of_counts: Any) -> None:
    """Two-sided: rising and falling alike, at best twice one of the draws with the session."""
    for order in (1, -1):
        session = of_counts(np.arange(1, 41)[::order])
        assert adjacent_result(DIGITS, session).shuffled.p[BOTH, -1] == pytest.approx(2 / (DRAWS + 1))


# ---- columns


def test_values_and_columns_have_the_same_names(of_counts: Any) -> None:
    session = dialogue(of_counts, 30)
    for one in (DIGITS, *KINDS):
        values = adjacent_values(one, session)
        assert sorted(values) == sorted(column.name for column in adjacent_columns(one))
        found = adjacent_result(one, session)
        places = {one.name: 0, f"{one.name}_{SLOPE}": len(found.segments) - 1}
        for (measure, segment), (row, direction) in product(places.items(), enumerate(DIRECTIONS)):
            shuffled, at = found.shuffled, (row, segment)
            wanted = {"value": found.values, "null_mean": shuffled.mean, "null_sd": shuffled.sd, "z": shuffled.z}
            for statistic, table in (wanted | {"p": shuffled.p}).items():
                np.testing.assert_array_equal(values[wide_name(measure, direction, statistic)], table[at])
            assert np.isnan(values[wide_name(measure, direction, "surrogate_mean")])
            if segment == 0:
                assert values[wide_name(measure, direction, "out_of")] == found.n_pairs[at]


# ---- is the null distribution what it says?


def test_p_is_uniform_where_turns_do_not_matter_to_each_other(of_counts: Any) -> None:
    """150 sessions of 24 turns that are drawn independently of each other: .05 +- .018, one standard deviation."""
    generator, found = np.random.default_rng(7), []
    for seed in range(150):
        n_words = generator.integers(2, 15, 24)
        session = of_counts(n_words, generator.binomial(n_words[:, None], np.linspace(0.02, 0.2, 9)), seed=seed)
        found.append([adjacent_result(one, session).shuffled.p[:, 0] for one in KINDS])
    p = np.array(found)
    assert np.isfinite(p).all()
    share = (p < 0.05).mean(axis=0)
    assert (share < 0.11).all()
    assert 0.03 < share.mean() < 0.07
    assert np.abs(np.quantile(p, [0.25, 0.5, 0.75], axis=0) - [[[0.25]], [[0.5]], [[0.75]]]).max() < 0.12


def test_following_is_found(of_counts: Any) -> None:
    """The client has the categories that the therapist had; the therapist has any."""
    generator = np.random.default_rng(1)
    counts = generator.binomial(10, 0.08, (60, 9))
    counts[1::2] = counts[::2]
    session = of_counts(np.full(60, 10), counts)
    for one in KINDS:
        p = adjacent_result(one, session).shuffled.p[:, 0]
        assert p[CLIENT] == pytest.approx(1 / (DRAWS + 1))
        assert p[THERAPIST] > 0.02
        assert p[DIFFERENCE] == pytest.approx(2 / (DRAWS + 1))
