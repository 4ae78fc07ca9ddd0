"""Intervals against a library, and against what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from therapy_analytics.measures.intervals import ratio, wilson, wilsons


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 24), (7, 24), (24, 24), (3, 500), (250, 500)])
def test_wilson_is_the_librarys(k: int, n: int) -> None:
    assert wilson(k, n) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)


@pytest.mark.parametrize(("rate", "n"), [(0.05, 40), (0.2, 10), (0.5, 80)])
def test_widened_intervals_hold_the_rate_of_which_sessions_are_draws(rate: float, n: int) -> None:
    """Turns correlated by .1 make a session's own rate a draw; plain intervals hold its mean in .45 to .90."""
    random = np.random.default_rng(0)
    own = random.beta(rate * 9, (1 - rate) * 9, 4000)
    k, total = random.binomial(n, own).astype(float), np.full(4000, float(n))
    for correlation, least, most in ((0.1, 0.93, 0.98), (0.0, 0.4, 0.91)):
        _, low, high = wilsons(k, total, correlation)
        assert least <= np.mean((low <= rate) & (high >= rate)) <= most


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (3, 12), (0, 40), (17, 40)])
def test_the_interval_of_one_rate_is_that_of_arrays(k: int, n: int) -> None:
    both = wilsons(np.array([float(k)]), np.array([float(n)]), np.array([0.2]))
    assert wilson(k, n, 0.2) == pytest.approx((both[1][0], both[2][0]), abs=1e-12)


def test_a_session_never_tells_more_than_the_inverse_of_the_correlation() -> None:
    low, high = wilson(5e5, 1e6, correlation=0.1)
    assert (low, high) == pytest.approx(wilson(5, 10), abs=1e-3)


def test_nothing_of_nothing_is_undefined() -> None:
    assert all(map(math.isnan, wilson(0, 0)))


def test_a_ratio_over_zero_is_undefined_and_not_infinite() -> None:
    assert all(map(math.isnan, ratio(5, 0)))


def test_a_ratio_of_zero_has_an_upper_end() -> None:
    value, low, high = ratio(0, 6)
    assert (value, low) == (0, 0)
    assert 0 < high < 1


def test_the_ratios_interval_turns_over_with_the_ratio() -> None:
    _, low, high = ratio(9, 4)
    _, inverse_low, inverse_high = ratio(4, 9)
    assert (1 / high, 1 / low) == pytest.approx((inverse_low, inverse_high))


@pytest.mark.parametrize(("share_reflect", "share_ask"), [(0.35, 0.35), (0.2, 0.5), (0.5, 0.25)])
def test_the_ratios_interval_covers_the_true_ratio(share_reflect: float, share_ask: float) -> None:
    """In 24 turns that reflect, ask or do neither, 95% of intervals should hold the true ratio."""
    generator = np.random.default_rng(1)
    draws = generator.multinomial(24, [share_reflect, share_ask, 1 - share_reflect - share_ask], size=4000)
    truth = share_reflect / share_ask
    intervals = [ratio(a, b)[1:] for a, b, _ in draws.tolist() if b]
    covered = np.mean([low <= truth <= high for low, high in intervals])
    assert 0.93 <= covered <= 0.985
