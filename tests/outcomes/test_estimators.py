"""Slopes: hand-countable cases, the formulas written out, least squares where nothing repeats, and statsmodels."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.regression.linear_model import OLS

from therapy_analytics.stats.outcomes.estimators import SHARED, nested_fit, robust_slope, trend, within


def _nested(seed: int, *, uneven: bool = True, spread: float = 1.0) -> tuple[np.ndarray, ...]:
    """Return scores, a design of three levels, clients and counselors."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, 60) if uneven else np.full(60, 3)
    client = np.repeat(np.arange(60), sizes)
    counselor = client // 5
    x = rng.normal(size=len(client)) + rng.normal(size=60)[client] + rng.normal(size=12)[counselor]
    means, owners = (pd.Series(x).groupby(who).transform("mean").to_numpy() for who in (client, counselor))
    design = np.column_stack([np.ones(len(x)), x - means, means - owners, owners])
    y = 0.3 * x + spread * (rng.normal(size=60)[client] + rng.normal(size=12)[counselor]) + rng.normal(size=len(x))
    return y, design, client, counselor


def test_before_and_after_is_the_paired_t_test_of_random_intercepts() -> None:
    # Five clients with two sessions: x is -1/2 and 1/2, so the slope is the mean difference
    first, second = np.array([10.0, 12, 9, 15, 11]), np.array([8.0, 11, 9, 11, 8])
    y, clients = np.concatenate([first, second]), np.tile(np.arange(5), 2)
    x = np.repeat([-0.5, 0.5], 5)
    fit = nested_fit(y, np.column_stack([np.ones(10), x]), clients, np.zeros(10, dtype=np.int64))
    expected = stats.ttest_rel(second, first)
    assert fit.slopes[1] == pytest.approx(-2.0)
    assert fit.slopes[1] / fit.errors[1] == pytest.approx(expected.statistic, rel=1e-4)
    assert fit.df[1] == pytest.approx(4, rel=1e-3)


def test_without_repeats_it_is_least_squares() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 20))
    design = np.column_stack([np.ones(20), x])
    fit, known = nested_fit(y, design, np.arange(20), np.zeros(20, dtype=np.int64)), OLS(y, design).fit()
    assert fit.slopes == pytest.approx(known.params)
    assert fit.errors == pytest.approx(known.bse)
    assert fit.df == pytest.approx([18, 18], rel=1e-3)
    assert (fit.client, fit.counselor) == (0, 0)


def test_between_clients_of_equally_many_sessions_it_is_least_squares_of_their_means() -> None:
    rng = np.random.default_rng(1)
    clients = np.repeat(np.arange(9), 4)
    x = rng.normal(size=9)
    y = rng.normal(size=9)[clients] + rng.normal(size=36)
    fit = nested_fit(y, np.column_stack([np.ones(36), x[clients]]), clients, np.zeros(36, dtype=np.int64))
    known = OLS(y.reshape(9, 4).mean(axis=1), np.column_stack([np.ones(9), x])).fit()
    assert fit.slopes == pytest.approx(known.params)
    assert fit.errors == pytest.approx(known.bse, rel=1e-3)
    assert fit.df == pytest.approx([7, 7], rel=1e-3)


def test_clients_alike_by_accident_keep_their_degrees_of_freedom() -> None:
    # The means of six clients are all the same: the variance between them is below 0, not 0 with 16 degrees of freedom
    clients = np.repeat(np.arange(6), 3)
    y = np.tile([-1.0, 0.0, 1.0], 6) + np.repeat([0.1, -0.1, 0.05, -0.05, 0.02, -0.02], 3)
    x = np.repeat([1.0, 2, 3, 4, 5, 7], 3)
    fit = nested_fit(y, np.column_stack([np.ones(18), x]), clients, np.zeros(18, dtype=np.int64))
    assert fit.client < 0
    assert fit.df[1] < 6


@pytest.mark.parametrize("uneven", [False, True])
def test_estimates_are_those_of_statsmodels(uneven: bool) -> None:
    y, design, clients, counselors = _nested(3, uneven=uneven)
    frame = pd.DataFrame(design[:, 1:], columns=["a", "b", "c"]).assign(y=y, client=clients, counselor=counselors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = smf.mixedlm(
            "y ~ a + b + c", frame, groups="counselor", re_formula="1", vc_formula={"client": "0 + C(client)"}
        ).fit()
    fit = nested_fit(y, design, clients, counselors)
    assert fit.slopes == pytest.approx(known.fe_params.to_numpy(), rel=1e-3, abs=1e-4)
    assert fit.errors == pytest.approx(known.bse_fe.to_numpy(), rel=1e-3)
    variances = (known.scale, known.vcomp[0], known.cov_re.to_numpy()[0, 0])
    assert (fit.residual, fit.client, fit.counselor) == pytest.approx(variances, rel=5e-3)


def test_units_and_order_make_no_difference() -> None:
    y, design, clients, counselors = _nested(5)
    fit = nested_fit(y, design, clients, counselors)
    order = np.random.default_rng(0).permutation(len(y))
    other = nested_fit(7 * y[order] + 100, design[order], clients[order] * 3, counselors[order] + 5)
    assert other.slopes[1:] == pytest.approx(7 * fit.slopes[1:], rel=1e-3)
    assert other.errors == pytest.approx(7 * fit.errors, rel=1e-3)
    assert other.df == pytest.approx(fit.df, rel=1e-2)


def test_what_cannot_be_fitted_is_undefined() -> None:
    design = np.column_stack([np.ones(4), np.arange(4.0)])
    none = np.zeros(4, dtype=np.int64)
    assert np.isnan(nested_fit(np.ones(4), design, np.arange(4), none).slopes).all()
    assert np.isnan(nested_fit(np.arange(2.0), design[:2], np.arange(2), none[:2]).errors).all()
    exact = nested_fit(2 * np.arange(4.0), design, np.arange(4), none)
    assert exact.slopes[1] == pytest.approx(2)
    assert np.isnan(exact.errors).all()


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


def test_before_and_after_is_the_paired_t_test_of_robust_errors() -> None:
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
