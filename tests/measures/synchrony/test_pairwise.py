"""The framework of pairwise measures, with measures whose values can be read off."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.surrogate_tables import table_of, two_way
from therapy_analytics.measures.synchrony import _pairwise
from therapy_analytics.measures.synchrony._chance import (
    DRAWS,
    EXCHANGES,
    FEWEST_PAIRS,
    directions,
    spoken_turns,
    stranger_turns,
)
from therapy_analytics.measures.synchrony._columns import SHOWN, pairwise_columns, pairwise_values
from therapy_analytics.measures.synchrony._marks import codes_of, counted
from therapy_analytics.measures.synchrony._pairwise import (
    DIRECTIONS,
    Pairwise,
    mean,
    outcome,
    scores,
)
from therapy_analytics.measures.synchrony._stretches import parts_of
from therapy_analytics.measures.synchrony._sums import Slopes, Stretches
from therapy_analytics.measures.synchrony.coordination import COORDINATION
from therapy_analytics.measures.synchrony.style_matching import LSM, RLSM

BOTH, THERAPIST, CLIENT, DIFFERENCE = range(4)
KINDS = (LSM, RLSM, COORDINATION)


def words(session: Any) -> Any:
    return session.n_words.astype(float)


def beside_each_other(before: Any, after: Any, anchors: Any, replies: Any) -> Any:
    """4 words and then 5 come to 45."""
    return scores(10 * before[anchors] + after[replies])


def kind(**fields: Any) -> Pairwise:
    return Pairwise(
        **{
            "name": "digits",
            "series": "digits_turn",
            "meaning": "Digits beside each other",
            "unit": "digits",
            "formula": "10 a + b",
            "misleads": "Always",
            "source": "This test",
            "represent": words,
            "terms": beside_each_other,
            **fields,
        }
    )


DIGITS = kind()


def column(found: Any, name: str) -> Any:
    """Values of a part in the four directions."""
    (at,) = (i for i, part in enumerate(found.parts) if part.name == name)
    return found.values[:, at]


def dialogue(of_counts: Any, n: int, seed: int = 0, **about: Any) -> Any:
    """A session of nine categories at different rates, some turns without words."""
    generator = np.random.default_rng(seed)
    n_words = generator.integers(0, 12, n)
    return of_counts(n_words, generator.binomial(n_words[:, None], np.linspace(0.02, 0.4, 9)), **about)


def in_company(of_counts: Any, company_of: Any, n: int = 40) -> Any:
    return dialogue(of_counts, n, company=company_of(dialogue(of_counts, 500, seed=1), range(0, 501, 50)))


# ---- values


def test_scores_and_their_mean() -> None:
    terms = scores(np.array([0.5, np.nan, 0.25]))
    assert terms.tolist() == [[0.5, 1], [0, 0], [0.25, 1]]
    assert mean(terms.sum(axis=0)) == 0.375
    assert np.isnan(mean(np.zeros(2)))


def test_who_follows_whom_by_hand(of_counts: Any) -> None:
    """Turns of 1 to 6 words: the client replies 12, 34, 56, the therapist 23, 45."""
    found = outcome(DIGITS, of_counts([1, 2, 3, 4, 5, 6]))
    np.testing.assert_array_equal(found.each, [np.nan, 12, 23, 34, 45, 56])
    assert DIRECTIONS == ("both", "therapist", "client", "difference")
    assert column(found, "whole").tolist() == [34, 34, 34, 0]
    np.testing.assert_array_equal(column(found, "third_1"), [12, np.nan, 12, np.nan])
    assert column(found, "third_2").tolist() == [28.5, 23, 34, -11]
    assert column(found, "third_3").tolist() == [50.5, 45, 56, -11]
    assert found.n_pairs[:, 0].tolist() == [5, 2, 3, 2]
    assert found.n_pairs[:, 1].tolist() == [1, 0, 1, 0]
    assert np.isnan(found.shuffled.p[CLIENT, 0])  # three pairs are too few to ask


def test_parts() -> None:
    assert [(part.name, part.first, part.last) for part in parts_of(7)] == [
        ("whole", 0, 6),
        ("third_1", 0, 2),
        ("third_2", 3, 4),
        ("third_3", 5, 6),
        ("slope", 0, 6),
    ]
    assert sum(part.name == "window" for part in parts_of(19)) == 0
    assert [(part.first, part.last) for part in parts_of(31) if part.name == "window"] == [(0, 19), (5, 24), (10, 29)]


@pytest.mark.parametrize("n", range(12))
def test_thirds_are_the_session(n: int) -> None:
    thirds = parts_of(n)[1:4]
    assert [i for part in thirds for i in range(part.first, part.last + 1)] == list(range(n))


def test_what_is_found_does_not_keep_the_draws_in_memory(of_counts: Any) -> None:
    # A view of them took 60 MB of a run
    found = outcome(DIGITS, of_counts([1, 2, 3, 4, 5, 6]))
    arrays = (found.values, found.n_pairs, found.each, found.shuffled.mean, found.strangers.sd)
    assert all(one.base is None or one.base.size <= 10 * 4 * 5 for one in arrays)


def test_a_reply_counts_where_it_stands(of_counts: Any) -> None:
    """The second third begins with a reply to the last turn of the first: 34, then 45."""
    found = outcome(DIGITS, of_counts([1, 2, 3, 4, 5, 6, 7, 8, 9]))
    assert column(found, "third_2").tolist() == [(45 + (34 + 56) / 2) / 2, 45, (34 + 56) / 2, 45 - (34 + 56) / 2]


def test_delay(of_counts: Any) -> None:
    session = of_counts([1, 2, 3, 4, 5, 6])
    found = outcome(replace(DIGITS, delay=2), session)
    np.testing.assert_array_equal(found.each, [np.nan, np.nan, np.nan, 14, 25, 36])
    np.testing.assert_array_equal(outcome(DIGITS, session).each[1:], [12, 23, 34, 45, 56])


def test_pairs_without_a_value_are_not_counted(of_counts: Any) -> None:
    def terms(before: Any, after: Any, anchors: Any, replies: Any) -> Any:
        pair = 10 * before[anchors] + after[replies]
        return scores(np.where(pair == 34, np.nan, pair))

    found = outcome(kind(terms=terms), of_counts([1, 2, 3, 4, 5, 6]))
    assert column(found, "whole").tolist() == [34, 34, 34, 0]
    assert found.n_pairs[:, 0].tolist() == [4, 2, 2, 2]
    np.testing.assert_array_equal(found.each, [np.nan, 12, 23, np.nan, 45, 56])


def test_one_of_them_never_replies(of_counts: Any) -> None:
    found = outcome(DIGITS, of_counts([1, 2, 3, 4, 5, 6], roles="TCOTCO"))
    np.testing.assert_array_equal(column(found, "whole"), [(12 + 45) / 2, np.nan, (12 + 45) / 2, np.nan])
    assert found.n_pairs[:, 0].tolist() == [2, 0, 2, 0]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_a_session(of_counts: Any, n: int) -> None:
    for one in (DIGITS, *KINDS):
        found = outcome(one, of_counts(np.arange(1, n + 1)))
        assert found.values.shape == (4, 5)
        assert len(found.each) == n
        assert np.isnan(found.values[THERAPIST]).all()
        assert np.isnan(found.shuffled.p).all()
        assert np.isnan(found.strangers.p).all()


# ---- slope


def test_slope_by_hand(of_counts: Any) -> None:
    """The client's 12, 34, 56, 78 stand at 0, 1/3, 2/3, 1: 66. The therapist's three are too few."""
    found = outcome(DIGITS, of_counts([1, 2, 3, 4, 5, 6, 7, 8]))
    np.testing.assert_allclose(column(found, "slope"), [66, np.nan, 66, np.nan])
    # With one more, the therapist's 23, 45, 67, 89 rise as much.
    found = outcome(DIGITS, of_counts([1, 2, 3, 4, 5, 6, 7, 8, 9]))
    np.testing.assert_allclose(column(found, "slope"), [66, 66, 66, 0], atol=1e-12)
    assert found.n_pairs[:, -1].tolist() == [8, 4, 4, 4]


def test_slopes_are_those_of_least_squares() -> None:
    generator = np.random.default_rng(0)
    each = np.where(generator.random((12, 30)) < 0.4, np.nan, generator.normal(size=(12, 30)))
    at = np.linspace(0, 1, 12)
    (slopes,) = Slopes.over(np.array([12])).of(each)
    for values, found in zip(each.T, slopes, strict=True):
        defined = ~np.isnan(values)
        if defined.sum() < FEWEST_PAIRS:
            assert np.isnan(found)
        else:
            assert found == pytest.approx(np.polyfit(at[defined], values[defined], 1)[0], abs=1e-12)


def test_slopes_are_the_same_beside_others_and_in_parts() -> None:
    generator, runs = np.random.default_rng(1), np.array([5, 0, 12, 3])
    each = generator.normal(size=(20, 6))
    each[:5][generator.random((5, 6)) < 0.2] = np.nan
    together, stops = Slopes.over(runs).of(each), np.cumsum(runs)
    for n, stop, found in zip(runs, stops, together, strict=True):
        own = Slopes.over(np.array([n]))
        np.testing.assert_array_equal(own.of(each[stop - n : stop])[0], found)
        np.testing.assert_array_equal(
            [own.of(one[stop - n : stop, None])[0, 0] for one in each.T[..., None][..., 0]], found
        )


@pytest.mark.parametrize("n", [1, 40])
def test_sums_counts_and_means_of_stretches(n: int) -> None:
    generator = np.random.default_rng(n)
    values = np.where(generator.random((n, 3)) < 0.3, np.nan, generator.integers(0, 9, (n, 3)))
    bounds = np.array([[0, 0, n // 2, n], [n, n // 2, n, n]])
    stretches = Stretches.of(bounds, np.array([0]), n)
    assert stretches.of_sessions.tolist() == [[0, n]]
    for few in (bounds, bounds[:, :1]):
        own = Stretches.of(few, np.array([0]), n)
        for (first, stop), *found in zip(few.T, own.counts(~np.isnan(values)), own.means(values), strict=True):
            defined = [column[~np.isnan(column)] for column in values[first:stop].T]
            assert found[0].tolist() == [len(one) for one in defined]
            np.testing.assert_array_equal(found[1], [one.mean() if len(one) else np.nan for one in defined])


# ---- sums, draws, ways


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_values_of_parts_are_sums_over_their_pairs(one: Pairwise, of_counts: Any) -> None:
    session = dialogue(of_counts, 60)
    found, own = outcome(one, session), one.represent(session)
    for row, role in ((THERAPIST, 0), (CLIENT, 1)):
        spoken = session.n_words > 0
        replies = np.array([i for i in range(1, 60) if i % 2 == role and spoken[i] and spoken[i - 1]])
        for at, part in enumerate(found.parts[:-1]):
            inside = replies[(replies >= part.first) & (replies <= part.last)]
            terms = one.terms(own, own, inside - 1, inside)
            np.testing.assert_allclose(found.values[row, at], one.over(terms.sum(axis=0)), rtol=0, atol=1e-12)
        if one is not COORDINATION:  # its single replies are not what a sum of one would come to
            alone = (one.each or one.over)(one.terms(own, own, replies - 1, replies))
            np.testing.assert_allclose(found.each[replies], alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
@pytest.mark.parametrize("n", [0, 1, 2, 9, 60])
def test_without_its_course_the_whole_is_the_same(one: Pairwise, n: int, of_counts: Any, company_of: Any) -> None:
    session = in_company(of_counts, company_of, n)
    of_course, alone = figures(one, session), figures(one, session, course=False)
    assert alone.shape[2] == 2
    assert of_course.shape[2] > 2
    shown = of_course[:, :, [0, -1]]
    shown[-3:, 1:], shown[-3:, :, 1:] = np.nan, np.nan  # of strangers, no table shows more than the whole of both
    np.testing.assert_array_equal(alone, shown)
    np.testing.assert_array_equal(outcome(one, session, course=False).each, outcome(one, session).each)


def test_a_course_that_will_be_asked_for_is_computed_at_once(of_counts: Any) -> None:
    session = dialogue(of_counts, 30, course=True)
    assert outcome(LSM, session, course=False) is outcome(LSM, session)


def figures(one: Pairwise, session: Any, **course: bool) -> Any:
    found = outcome(one, replace(session), **course)  # a copy has nothing computed yet
    both = [getattr(chance, name) for chance in (found.shuffled, found.strangers) for name in ("mean", "sd", "p")]
    return np.stack([found.values, found.n_pairs, *both])


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_tables_and_portions_give_the_same(
    one: Pairwise, of_counts: Any, company_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = in_company(of_counts, company_of)
    wanted = figures(one, session)
    assert np.isfinite(wanted[:, :3, 0]).all()
    for advantage, pairs in ((0, 100_000), (10**9, 100_000), (0, 1), (10**9, 500), (0, 500)):
        monkeypatch.setattr(_pairwise, "TABLE_ADVANTAGE", advantage)
        monkeypatch.setattr(_pairwise, "MOST_PAIRS", pairs)
        np.testing.assert_allclose(figures(one, session), wanted, rtol=0, atol=1e-6 if one is COORDINATION else 1e-12)


@pytest.mark.parametrize("roles", ["", "TCOO" * 10], ids=["both", "one never replies"])
def test_what_is_the_same_both_ways_may_be_asked_at_once(of_counts: Any, company_of: Any, roles: str) -> None:
    session = dialogue(of_counts, 40, roles=roles, company=in_company(of_counts, company_of).company)
    assert LSM.symmetric
    once, twice = figures(LSM, session), figures(replace(LSM, symmetric=False), session)
    assert np.isfinite(once).any()
    np.testing.assert_allclose(once, twice, rtol=0, atol=1e-12)


@pytest.mark.parametrize("roles", ["", "TCOO" * 10, "TC" * 150], ids=["both", "one never replies", "many pairs"])
@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_the_quick_ways_give_what_terms_give(one: Pairwise, of_counts: Any, company_of: Any, roles: str) -> None:
    session = dialogue(of_counts, len(roles) or 40, roles=roles, company=in_company(of_counts, company_of).company)
    assert one.quick or one.score
    quick, by_terms = figures(one, session), figures(replace(one, quick=None, score=None), session)
    assert np.isfinite(quick).any()
    np.testing.assert_allclose(quick, by_terms, rtol=0, atol=1e-6 if one is COORDINATION else 1e-12)


@pytest.mark.parametrize("n", [1, 127, 128, 600])
def test_marks_are_counted_whatever_their_number(n: int) -> None:
    has = np.random.default_rng(n).random((n, 2, 9)) < 0.8
    codes = np.stack([codes_of(has[:, draw]) for draw in range(2)], axis=1)
    bounds = np.array([[0, 0, n // 2], [n, 1, n]])
    for own in (bounds, bounds[:, :2], np.tile(bounds, n)):
        found = counted(codes, 9, Stretches.of(own, np.array([0]), n))
        np.testing.assert_array_equal(found, np.stack([has[first:stop].sum(axis=0).T for first, stop in own.T]))


def test_chance_by_a_loop_over_draws(of_counts: Any) -> None:
    session = dialogue(of_counts, 40)
    own, found = LSM.represent(session), outcome(LSM, session)
    nulls = []
    for direction in directions(session):
        replies = direction.shuffled.replies[direction.shuffled.reply_at].T
        nulls.append([mean(LSM.terms(own, own, direction.anchors, order).sum(axis=0)) for order in replies])
    drawn = np.array(nulls)
    assert found.shuffled.mean[1:3, 0] == pytest.approx(drawn[:, 1:].mean(axis=1))
    assert found.shuffled.sd[1:3, 0] == pytest.approx(drawn[:, 1:].std(axis=1, ddof=1))
    both, difference = drawn.mean(axis=0), drawn[0] - drawn[1]
    assert found.shuffled.mean[BOTH, 0] == pytest.approx(both[1:].mean())
    assert found.shuffled.p[BOTH, 0] == pytest.approx(((both[1:] >= both[0] - 1e-12).sum() + 1) / (DRAWS + 1))
    ends = [((way * difference[1:] >= way * difference[0] - 1e-12).sum() + 1) / (DRAWS + 1) for way in (1, -1)]
    assert found.shuffled.p[DIFFERENCE, 0] == pytest.approx(min(1, 2 * min(ends)))


@pytest.mark.parametrize("one", [LSM, COORDINATION, DIGITS, replace(LSM, delay=2)], ids=lambda one: one.name)
def test_strangers_by_a_loop_over_dialogues(one: Pairwise, of_counts: Any, company_of: Any) -> None:
    """Each dialogue as a session of its own, in which the turns of one are the stranger's."""
    session = in_company(of_counts, company_of)
    whole, drawn = session.company.whole, stranger_turns(session)
    assert drawn is not None
    found = outcome(one, session)
    parts = []
    for whose in EXCHANGES:
        donors = product(*(drawn[role] if role in whose else [None] for role in (0, 1)))
        dialogues = []
        for both in donors:
            n_words, counts = session.n_words.copy(), session.turns.counts.copy()
            for own, turns in zip(spoken_turns(session), both, strict=True):
                if turns is not None:
                    n_words[own], counts[own] = whole.n_words[turns], whole.turns.counts[turns]
            dialogues.append(outcome(one, of_counts(n_words, counts)).values[:, 0])
        parts.append(np.array(dialogues))
    assert [len(some) for some in parts] == [5, 5, 25]
    atol = 1e-6 if one is COORDINATION else 1e-9
    for direction in range(4):
        table = table_of(found.values[direction, 0], *(some[:, direction] for some in parts))
        expected = two_way(table, two_sided=direction == DIFFERENCE)
        shown = [getattr(found.strangers, name)[direction, 0] for name in ("mean", "sd", "p")]
        assert shown == pytest.approx([expected.mean, expected.sd, expected.p], abs=10 * atol)


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
@pytest.mark.parametrize("n", [4, 5, 9, 10])
def test_few_strangers(one: Pairwise, of_counts: Any, company_of: Any, n: int) -> None:
    """From 5 there is an expectation, from 10 a z and a p."""
    others = company_of(dialogue(of_counts, 50 * n, seed=1), range(0, 50 * n + 1, 50))
    found = outcome(one, dialogue(of_counts, 40, company=others))
    assert (np.isfinite([found.strangers.mean[:, 0], found.strangers.sd[:, 0]]) == (n >= 5)).all()
    assert (np.isfinite([found.strangers.z[:, 0], found.strangers.p[:, 0]]) == (n >= 10)).all()
    assert np.isfinite(found.shuffled.p[:, 0]).all()


def test_one_who_never_replies_beside_strangers(of_counts: Any, company_of: Any) -> None:
    session = dialogue(of_counts, 40)
    others = company_of(dialogue(of_counts, 500, seed=1), range(0, 501, 50))
    found = outcome(LSM, of_counts(session.n_words + 1, session.turns.counts, roles="TCOO" * 10, company=others))
    np.testing.assert_array_equal(np.isfinite(found.strangers.p[:, 0]), [True, False, True, False])
    assert found.strangers.mean[BOTH, 0] == found.strangers.mean[CLIENT, 0]


def test_which_end_counts(of_counts: Any) -> None:
    session = dialogue(of_counts, 40)
    higher, lower = outcome(DIGITS, session), outcome(replace(DIGITS, closer="lower"), session)
    whole, slope = np.s_[:3, 0], np.s_[:, -1]
    # At least and at most this: all draws, those that are equal twice, and the session itself in both.
    assert (higher.shuffled.p[whole] + lower.shuffled.p[whole] >= 1 + 1 / (DRAWS + 1) - 1e-9).all()
    np.testing.assert_array_equal(higher.shuffled.p[slope], lower.shuffled.p[slope])
    np.testing.assert_array_equal(higher.shuffled.p[DIFFERENCE], lower.shuffled.p[DIFFERENCE])


def test_the_slope_of_what_only_rises_is_beyond_chance(of_counts: Any) -> None:
    """Two-sided: rising and falling alike, at best twice one of the draws with the session."""
    for order in (1, -1):
        session = of_counts(np.arange(1, 41)[::order])
        assert outcome(DIGITS, session).shuffled.p[BOTH, -1] == pytest.approx(2 / (DRAWS + 1))


# ---- what must not matter


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_exchanged_roles_mirror_the_directions(one: Pairwise, of_counts: Any) -> None:
    session = dialogue(of_counts, 60)
    other = replace(session, turns=replace(session.turns, roles=1 - session.turns.roles))
    found, mirrored = outcome(one, session), outcome(one, other)
    np.testing.assert_array_equal(mirrored.values[[BOTH, CLIENT, THERAPIST]], found.values[[BOTH, THERAPIST, CLIENT]])
    np.testing.assert_array_equal(mirrored.values[DIFFERENCE], -found.values[DIFFERENCE])
    np.testing.assert_array_equal(mirrored.n_pairs[[0, 2, 1, 3]], found.n_pairs)
    np.testing.assert_array_equal(mirrored.each, found.each)


def test_it_is_computed_once(of_counts: Any) -> None:
    calls = []

    def counted(session: Any) -> Any:
        calls.append(1)
        return words(session)

    one, session = kind(represent=counted), of_counts(np.arange(1, 20))
    assert outcome(one, session) is outcome(one, session)
    outcome(replace(one, delay=2), session)
    assert len(calls) == 1


# ---- columns


def test_values_and_columns_have_the_same_names(of_counts: Any) -> None:
    session = dialogue(of_counts, 30)
    for one in (DIGITS, *KINDS):
        values = pairwise_values(one, session)
        assert sorted(values) == sorted(column.name for column in pairwise_columns(one))
        found = outcome(one, session)
        for end, (direction, part, shown) in SHOWN.items():
            np.testing.assert_array_equal(values[one.name + end], found.values[direction, part])
            if "p" in shown:
                assert values[f"{one.name}{end}_p"] == found.shuffled.p[direction, part]
        assert np.isnan(values[f"{one.name}_strangers"])


# ---- is chance what it says?


@pytest.fixture(scope="module")
def p_values(of_counts: Any) -> Any:
    """p of 400 sessions of 40 turns that are drawn independently of each other, (400, measures, 4 directions)."""
    generator = np.random.default_rng(7)
    found = []
    for seed in range(400):
        n_words = generator.integers(2, 15, 40)
        session = of_counts(n_words, generator.binomial(n_words[:, None], np.linspace(0.02, 0.2, 9)), seed=seed)
        found.append([outcome(one, session).shuffled.p[:, 0] for one in KINDS])
    return np.array(found)


@pytest.mark.parametrize("at", range(len(KINDS)), ids=[one.name for one in KINDS])
def test_p_is_uniform_where_turns_do_not_matter_to_each_other(p_values: Any, at: int) -> None:
    p = p_values[:, at]
    assert np.isfinite(p).all()
    share = (p < 0.05).mean(axis=0)
    # 400 values: .05 +- .011, one standard deviation.
    assert (share > 0.02).all()
    assert (share < 0.08).all()
    assert 0.03 < share.mean() < 0.07
    assert np.abs(np.quantile(p, [0.25, 0.5, 0.75], axis=0) - [[0.25], [0.5], [0.75]]).max() < 0.08


def people(generator: np.random.Generator, n: int, n_turns: int) -> tuple[Any, Any]:
    """Words and counts of people who each have rates of their own, (n * n_turns) and a row of nine for each."""
    n_words = generator.integers(2, 15, (n, n_turns // 2, 2))
    rates = np.linspace(0.02, 0.2, 9) * np.exp(0.3 * generator.standard_normal((n, 1, 2, 9)))
    return n_words.ravel(), generator.binomial(n_words[..., None], np.minimum(rates, 1)).reshape(-1, 9)


@pytest.fixture(scope="module")
def strangers_p(of_counts: Any, company_of: Any) -> Any:
    """p of 300 sessions beside strangers, of whom none follows anybody, (300, 4 directions)."""
    generator, found = np.random.default_rng(11), []
    for _ in range(15):
        words, counts = people(generator, 20, 18)
        others = company_of(of_counts(words, counts), range(0, 361, 18))
        for seed in range(20):
            session = of_counts(*people(generator, 1, 18), seed=seed, company=others)
            found.append(outcome(LSM, session).strangers.p[:, 0])
    return np.array(found)


def test_strangers_p_is_uniform_where_nobody_follows(strangers_p: Any) -> None:
    """Of 300, 15 are expected; the strangers are few and the same for 20 sessions, so that more and fewer happen."""
    assert np.isfinite(strangers_p).all()
    share = (strangers_p <= 0.05).mean(axis=0)
    assert (share < 0.09).all(), share
    assert (share > 0.01).all(), share
    assert 0.025 < share.mean() < 0.07, share
    assert np.abs(np.median(strangers_p, axis=0) - 0.5).max() < 0.12


def test_following_is_found(of_counts: Any) -> None:
    """The client has the categories that the therapist had; the therapist has any."""
    generator = np.random.default_rng(1)
    counts = generator.binomial(10, 0.08, (60, 9))
    counts[1::2] = counts[::2]
    session = of_counts(np.full(60, 10), counts)
    for one in KINDS:
        p = outcome(one, session).shuffled.p[:, 0]
        assert p[CLIENT] == pytest.approx(1 / (DRAWS + 1))
        assert p[THERAPIST] > 0.02
        assert p[DIFFERENCE] == pytest.approx(2 / (DRAWS + 1))
