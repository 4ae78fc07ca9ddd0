"""Slopes with cluster-robust errors: the formulas written out, cases counted by hand, and what is undefined."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from therapy_analytics.stats.outcomes._robust import SHARED, robust_slope, trend, within


def _sessions(seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    client = np.repeat(np.arange(7), rng.integers(1, 7, 7))
    number = pd.Series(client).groupby(client).cumcount().to_numpy() + 1.0
    x, y = rng.normal(size=(2, len(client))) + rng.normal(size=(2, 7))[:, client]
    return y, x, number, client


def test_error_and_degrees_of_freedom_are_those_of_the_whole_matrices() -> None:
    """Pustejovsky and Tipton (2018), with the intercepts of clients among the columns of the design."""
    y, x, number, client = _sessions(1)
    intercepts = (client[:, None] == np.arange(7)).astype(float)
    design = np.column_stack([x, number, np.log(number), intercepts])
    bread = np.linalg.inv(design.T @ design)
    maker = np.eye(len(y)) - design @ bread @ design.T
    left, vectors, sums = maker @ y, [], 0.0
    for one in range(7):
        own = client == one
        values, axes = np.linalg.eigh(maker[np.ix_(own, own)])
        root = axes @ np.diag([1 / np.sqrt(v) if v > 1e-9 else 0.0 for v in values]) @ axes.T
        weights = root @ design[own] @ bread[:, 0]
        sums += float(weights @ left[own]) ** 2
        vectors.append(maker[:, own] @ weights)
    products = np.array(vectors) @ np.array(vectors).T
    df = np.trace(products) ** 2 / (products**2).sum()
    deviations = within(np.column_stack([y, x, trend(number)]), client)
    found = robust_slope(deviations[:, 0], deviations[:, 1], deviations[:, 2:], client)
    assert found == pytest.approx(((bread @ design.T @ y)[0], np.sqrt(sums), df))


def test_before_and_after_is_the_paired_t_test() -> None:
    first, second = np.array([10.0, 12, 9, 15, 11]), np.array([8.0, 11, 9, 11, 8])
    client = np.tile(np.arange(5), 2)
    y, x = within(np.column_stack([np.concatenate([first, second]), np.repeat([0.0, 1.0], 5)]), client).T
    slope, error, df = robust_slope(y, x, np.zeros((10, 0)), client)
    expected = stats.ttest_rel(second, first)
    assert (slope, slope / error, df) == pytest.approx((-2.0, expected.statistic, 4))


def test_order_of_sessions_makes_no_difference() -> None:
    y, x, number, client = _sessions(2)
    order = np.random.default_rng(0).permutation(len(y))

    def found(at: np.ndarray) -> tuple[float, float, float]:
        deviations = within(np.column_stack([y, x, trend(number)])[at], client[at])
        return robust_slope(deviations[:, 0], deviations[:, 1], deviations[:, 2:], client[at])

    assert found(order) == pytest.approx(found(np.arange(len(y))))


def test_a_measure_that_is_a_trend_has_no_slope() -> None:
    y, _, number, client = _sessions(3)
    deviations = within(np.column_stack([y, 3 * number, trend(number)]), client)
    assert np.isnan(robust_slope(deviations[:, 0], deviations[:, 1], deviations[:, 2:], client)).all()


def test_numbers_of_many_sessions_are_levels() -> None:
    number = np.repeat([0.0, 1.0, 2.0], [SHARED, SHARED - 1, SHARED])
    assert trend(number).shape[1] == 2
    levels = trend(number, levels=True)[:, 2:]
    assert levels.sum(axis=0).tolist() == [SHARED, SHARED]
