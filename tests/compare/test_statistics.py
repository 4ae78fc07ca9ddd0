"""The statistics of a comparison: published numbers, other libraries' numbers, and simulations."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from therapy_analytics.compare._tests import (
    across_all,
    effect,
    findable,
    rank_test,
    sessions_needed,
    summary,
    t_test,
)


def test_the_published_raters() -> None:
    """Scores of 6 and of 8 raters with U = 2: r = .917, and p = .003 exactly (.005 is the approximation)."""
    low, high = np.array([1.0, 2, 3, 4, 5, 7.5]), np.array([6.0, 7, 8, 9, 10, 11, 12, 13])
    found = rank_test(low, high)
    assert found.u == 2
    assert found.method == "exact"
    assert abs(found.r) == pytest.approx(0.917, abs=0.0005)
    assert found.p == pytest.approx(0.003, abs=0.0005)
    approximately = stats.mannwhitneyu(low, high, method="asymptotic", use_continuity=False).pvalue
    assert approximately == pytest.approx(0.005, abs=0.0005)
    turned = rank_test(high, low)
    assert (turned.u, turned.r, turned.p) == (46, pytest.approx(-found.r), found.p)


def test_ties_are_counted_exactly() -> None:
    """The p over all ways to part the values, counted one by one."""
    rng = np.random.default_rng(1)
    for n, k in ((2, 2), (3, 4), (5, 6), (6, 3)):
        x, y = rng.integers(0, 4, n).astype(float), rng.integers(1, 5, k).astype(float)
        both = stats.rankdata(np.concatenate([x, y]))
        sums = np.array([both[list(chosen)].sum() for chosen in combinations(range(n + k), n)])
        own = both[:n].sum()
        counted = min(1.0, 2 * min((sums <= own).mean(), (sums >= own).mean()))
        assert rank_test(x, y).p == pytest.approx(counted)


def test_ties_agree_with_scipys_permutations() -> None:
    x, y = np.array([1.0, 1, 2, 3]), np.array([2.0, 3, 3, 4, 5])

    def u(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(stats.mannwhitneyu(a, b, axis=axis, method="asymptotic").statistic)

    theirs = stats.permutation_test((x, y), u, n_resamples=np.inf, vectorized=True)
    assert rank_test(x, y).p == pytest.approx(theirs.pvalue)


def test_large_groups_are_approximated() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random(60), rng.random(70)
    found = rank_test(x, y)
    assert found.method == "asymptotic"
    assert found.p == pytest.approx(stats.mannwhitneyu(x, y).pvalue)
    assert rank_test(x[:5], y).method == "exact"
    assert rank_test(np.round(x[:5], 1), np.round(y, 1)).method == "exact, ties"


def test_g_and_its_interval() -> None:
    """Borenstein et al. (2009), p. 27: means 103 and 100, deviations 5.5 and 4.5, 50 each, give g = 0.5924."""
    found = effect((103.0, 5.5, 50), (100.0, 4.5, 50))
    assert found.g == pytest.approx(0.5924, abs=0.0005)
    assert (found.hi - found.lo) / 2 == pytest.approx(stats.t.ppf(0.975, 98) * np.sqrt(0.0418), abs=0.001)
    assert found.lo < found.inner_lo < found.g < found.inner_hi < found.hi
    assert np.isnan(effect((1.0, 0.0, 5), (1.0, 0.0, 5)).g)
    assert np.isnan(effect((1.0, 0.2, 1), (1.0, 0.3, 5)).g)


def test_alike_takes_many_sessions() -> None:
    assert effect((0.0, 1.0, 80), (0.0, 1.0, 80)).alike
    assert not effect((0.0, 1.0, 10), (0.0, 1.0, 10)).alike
    assert not effect((0.45, 1.0, 80), (0.0, 1.0, 80)).alike


def test_how_many_it_takes() -> None:
    """A t test of g = .5 takes 64 a group (Cohen, 1988)."""
    assert sessions_needed(0.5) == sessions_needed(-0.5) == 64
    assert sessions_needed(9.0) == 4
    assert sessions_needed(0.0) == sessions_needed(float("nan")) == 0
    assert findable(64, 64) == pytest.approx(0.5, abs=0.01)
    assert np.isnan(findable(2, 3))


def test_t_from_summaries_is_scipys() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=9), rng.normal(0.5, 2, 14)
    theirs = stats.ttest_ind(x, y, equal_var=False)
    reach, p, whose = t_test(summary(x), summary(y))
    assert whose == "Welch t"
    assert p == pytest.approx(theirs.pvalue)
    ends = theirs.confidence_interval()
    assert reach == pytest.approx((ends.high - ends.low) / 2)


def test_two_values_that_happen_to_be_close_prove_nothing() -> None:
    _, p, _ = t_test((0.55, 0.0001, 2), (0.5, 0.1, 70))
    assert p > 0.3


def test_q_is_over_all_that_were_tested() -> None:
    found = across_all(np.array([0.01, np.nan, 0.02, 0.9]))
    assert found[[0, 2, 3]] == pytest.approx([0.03, 0.03, 0.9])
    assert np.isnan(found[1])
    assert np.isnan(across_all(np.array([np.nan]))).all()
