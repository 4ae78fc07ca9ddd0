"""The statistics of a comparison: published numbers, other libraries' numbers, and simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from therapy_analytics.core.clusters import Floats
from therapy_analytics.stats.compare.effects import findable, hedges_g, holm, sessions_needed


def values(mean: float, deviation: float, n: int) -> Floats:
    """Return n values (n, 1) with this mean and standard deviation."""
    spread = np.linspace(-1, 1, n)
    return (mean + deviation * spread / max(float(spread.std(ddof=1)), 1e-9))[:, None]


def test_g_and_its_interval() -> None:
    """Borenstein et al. (2009), p. 27: means 103 and 100, deviations 5.5 and 4.5, 50 each, give g = 0.5924."""
    found = hedges_g(values(103.0, 5.5, 50), values(100.0, 4.5, 50), paired=False)
    assert found["hedges_g"][0] == pytest.approx(0.5924, abs=0.0005)
    half = (found["hedges_g_hi"] - found["hedges_g_lo"])[0] / 2
    assert half == pytest.approx(stats.t.ppf(0.975, 98) * np.sqrt(0.0418), abs=0.001)
    for few in ((values(1.0, 0.0, 5), values(1.0, 0.0, 5)), (np.array([[1.0]]), values(1.0, 0.3, 5))):
        assert np.isnan(hedges_g(*few, paired=False)["hedges_g"][0])


def test_g_of_pairs() -> None:
    """The mean difference in standard deviations of single values, with the bias taken off; equal changes have none."""
    x, change = values(5.0, 2.0, 10), np.tile([0.5, 1.5], 5)[:, None]
    found = hedges_g(x + change, x, paired=True)
    deviation = np.sqrt(((x + change).var(ddof=1) + x.var(ddof=1)) / 2)
    assert found["hedges_g"][0] == pytest.approx((1 - 3 / 35) / deviation)
    assert found["hedges_g_lo"][0] < found["hedges_g"][0] < found["hedges_g_hi"][0]
    assert np.isnan(hedges_g(x + 1, x, paired=True)["hedges_g_lo"][0])


def test_alike_takes_many_sessions() -> None:
    for mean, n, alike in ((0.0, 80, True), (0.0, 10, False), (0.45, 80, False)):
        assert hedges_g(values(mean, 1.0, n), values(0.0, 1.0, n), paired=False)["shown_alike"][0] == alike


def test_how_many_it_takes() -> None:
    """A t test of g = .5 takes 64 a group (Cohen, 1988)."""
    assert sessions_needed(0.5) == sessions_needed(-0.5) == 64
    assert sessions_needed(9.0) == 4
    assert sessions_needed(0.0) == sessions_needed(float("nan")) == 0
    assert findable(64, 64) == pytest.approx(0.5, abs=0.01)
    assert np.isnan(findable(2, 3))


def test_p_is_adjusted_for_all_that_were_tested() -> None:
    found = holm(np.array([0.01, np.nan, 0.02, 0.9]))
    assert found[[0, 2, 3]] == pytest.approx([0.03, 0.04, 0.9])
    assert np.isnan(found[1])
    assert np.isnan(holm(np.array([np.nan]))).all()


def test_large_groups_have_a_smallest_difference_too() -> None:
    """With 156 against 160 values the noncentral t was not a number, and a comparison ended in an error."""
    assert findable(156, 160) == pytest.approx(2.8 * (1 / 156 + 1 / 160) ** 0.5, rel=0.01)
    sizes = [findable(n, n) for n in (60, 75, 77, 90, 400)]
    assert sizes == sorted(sizes, reverse=True)
