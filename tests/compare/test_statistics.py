"""The statistics of a comparison: published numbers, other libraries' numbers, and simulations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from therapy_analytics.stats.compare._effects import effect, findable, holm, sessions_needed


def test_g_and_its_interval() -> None:
    """Borenstein et al. (2009), p. 27: means 103 and 100, deviations 5.5 and 4.5, 50 each, give g = 0.5924."""
    found = effect((103.0, 5.5, 50), (100.0, 4.5, 50))
    assert found.g == pytest.approx(0.5924, abs=0.0005)
    assert (found.hi - found.lo) / 2 == pytest.approx(stats.t.ppf(0.975, 98) * np.sqrt(0.0418), abs=0.001)
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
