"""The coefficients: numbers to count, published ones, and those of the libraries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import cohen_kappa_score, f1_score, precision_score, recall_score
from statsmodels.stats import inter_rater

from benchmarks.agreement_coverage import Case, simulated
from therapy_analytics.stats.agreement import agreement
from therapy_analytics.stats.agreement import coefficients as co
from therapy_analytics.stats.agreement.coefficients import icc2

# Krippendorff (2011), Computing Krippendorff's alpha-reliability: four observers, twelve units, nominal .743.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
)


def alpha_of(values, k):
    session = np.zeros(len(values), dtype=np.int64)
    return float(co.alpha(co.coincidences_of(values, session, (1, k)).sum(axis=0)))


def test_at_three_per_cent_kappa_and_ac1_say_different_things_of_one_table():
    # 30 of 1,000 by people, 35 by the machine, 4 by both: 943 agree.
    table = np.array([[939.0, 31], [26, 4]])
    assert co.percent_agreement(table) == pytest.approx(0.943)
    assert round(float(co.kappa(table)), 2) == 0.09
    assert round(float(co.ac1(table)), 2) == 0.94
    assert co.f1(table) == pytest.approx(8 / 65)
    assert co.precision(table) == pytest.approx(4 / 35)
    assert co.recall(table) == pytest.approx(4 / 30)


def test_ac1_counted_by_hand():
    # 118 and 0 agree of 125; mean share of yes is (2 + 5) / 250 = .028, so expected agreement is 2 x .028 x .972.
    table = np.array([[118.0, 5], [2, 0]])
    expected = 2 * 0.028 * 0.972
    assert co.ac1(table) == pytest.approx((118 / 125 - expected) / (1 - expected))
    assert float(co.kappa(table)) == pytest.approx(-0.0234, abs=5e-5)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_pairs_are_those_of_the_libraries(k):
    rng = np.random.default_rng(k)
    first = rng.integers(0, k, 200)
    second = np.where(rng.random(200) < 0.6, first, rng.integers(0, k, 200))
    table = co.tables_of(first, second, np.zeros(200, dtype=np.int64), (1, k))[0]
    assert co.kappa(table) == pytest.approx(cohen_kappa_score(first, second))
    assert co.kappa(table) == pytest.approx(inter_rater.cohens_kappa(table).kappa)
    if k == 2:
        assert co.precision(table) == pytest.approx(precision_score(first, second))
        assert co.recall(table) == pytest.approx(recall_score(first, second))
        assert co.f1(table) == pytest.approx(f1_score(first, second))


@pytest.mark.parametrize("k", [2, 4])
def test_ac1_is_that_of_irrcac(k):
    raw = pytest.importorskip("irrCAC.raw")
    rng = np.random.default_rng(k)
    first = rng.integers(0, k, 150)
    second = np.where(rng.random(150) < 0.7, first, rng.integers(0, k, 150))
    theirs = raw.CAC(pd.DataFrame({"a": first, "b": second})).gwet()["est"]["coefficient_value"]
    table = co.tables_of(first, second, np.zeros(150, dtype=np.int64), (1, k))[0]
    assert co.ac1(table) == pytest.approx(float(theirs), abs=1e-5)


def test_alpha_is_the_published_one():
    assert round(alpha_of(PUBLISHED.T - 1, 5), 3) == 0.743


@pytest.mark.parametrize("coders", [2, 3, 10])
def test_alpha_is_that_of_krippendorff(coders):
    library = pytest.importorskip("krippendorff")
    rng = np.random.default_rng(coders)
    truth = rng.integers(0, 3, 80)
    values = np.where(rng.random((80, coders)) < 0.7, truth[:, None], rng.integers(0, 3, (80, coders)))
    values[rng.random(values.shape) < 0.2] = -1
    theirs = library.alpha(np.where(values < 0, np.nan, values).T, level_of_measurement="nominal")
    assert alpha_of(values, 3) == pytest.approx(theirs)


def test_where_one_value_is_all_there_is_kappa_and_alpha_are_undefined_and_ac1_is_not():
    table = np.array([[50.0, 0], [0, 0]])
    assert np.isnan(co.kappa(table))
    assert np.isnan(co.f1(table))
    assert np.isnan(co.alpha(table))
    assert co.ac1(table) == 1
    assert np.isnan(co.percent_agreement(np.zeros((2, 2))))


def test_icc_is_that_of_shrout_and_fleiss():
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7.0]])
    assert round(icc2(ratings), 2) == 0.29


def test_icc_comes_from_the_mean_squares_of_an_analysis_of_variance():
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(0)
    ratings = rng.normal(size=(30, 1)) + rng.normal(0.2, 0.5, size=(30, 2))
    long = pd.DataFrame(ratings).rename_axis("unit").melt(ignore_index=False, var_name="coder").reset_index()
    squares = anova_lm(ols("value ~ C(unit) + C(coder)", long).fit())["mean_sq"]
    unit, coder, error = squares["C(unit)"], squares["C(coder)"], squares["Residual"]
    assert icc2(ratings) == pytest.approx((unit - error) / (unit + error + 2 * (coder - error) / 30))


def test_icc_is_undefined_where_nothing_varies():
    assert np.isnan(icc2(np.full((6, 2), 0.5)))
    assert np.isnan(icc2(np.zeros((1, 2))))
    assert icc2(np.column_stack([np.arange(6.0)] * 2)) == pytest.approx(1)


def test_limits_of_agreement_counted_by_hand():
    # Of 10 turns in each of five sessions; differences -.1, 0, .1, .2, .3: mean .1, standard deviation sqrt(.025).
    human, machine = np.array([5, 4, 3, 2, 1]), np.array([4, 4, 4, 4, 4])
    turns = pd.DataFrame({"session_id": np.repeat(list("abcde"), 10), "turn": np.tile(np.arange(10), 5)})
    given = [(turns["turn"] < np.repeat(n, 10)).astype(int) for n in (human, machine)]
    people = turns.assign(mi_question=given[0])
    turns = turns.assign(role="therapist", mi_question=given[1], p_mi_question=0.5)
    row = agreement(turns, people).sessions.iloc[0]
    sd = np.sqrt(0.025)
    assert row["mean_difference"] == pytest.approx(0.1)
    assert row["limit_high"] == pytest.approx(0.1 + 1.959964 * sd)
    assert row["mean_difference_hi"] == pytest.approx(0.1 + 2.776445 * sd / np.sqrt(5))  # t of 4 degrees
    assert row["limit_low_lo"] < row["limit_low"] < row["limit_low_hi"]
    # Two sessions of one counselor leave four clusters: no interval.
    paired = agreement(turns.assign(counselor=np.repeat(list("xxyzw"), 10)), people).sessions.iloc[0]
    assert paired["n_clusters"] == 4
    assert np.isnan(paired["mean_difference_lo"])


def test_bins_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(300), 2)
    truth = (rng.random(300) < p).astype(int)
    bins = co.bins_of(p)
    observed, mean = calibration_curve(truth, p, n_bins=10, strategy="quantile")
    assert pd.Series(truth).groupby(bins).mean().to_numpy() == pytest.approx(observed)
    assert pd.Series(p).groupby(bins).mean().to_numpy() == pytest.approx(mean)


def test_an_interval_counted_by_hand():
    # Agreement 90, 80, 70, 80 and 80 of 100: .8; without each .775, .8, .825, .8, .8. The jackknife's standard error is
    # sqrt(4/5 x .00125) = sqrt(.001), in logits over .8 x .2; t of 4 degrees of freedom is 2.776.
    tables = np.array([[[45.0 + d, 10 - d], [10 - d, 35 + d]] for d in (5, 0, -5, 0, 0)])
    value, low, high = co.estimate(co.percent_agreement, tables)
    reach = 2.776445 * np.sqrt(0.001) / 0.16
    assert value == pytest.approx(0.8)
    assert (low, high) == pytest.approx(
        tuple(1 / (1 + np.exp(-(np.log(4) + end))) for end in (-reach, reach)), abs=1e-6
    )
    assert co.jackknife(0.8, np.array([0.775, 0.8, 0.825, 0.8, 0.8]), None)[1] == pytest.approx(
        0.8 + 2.776445 * np.sqrt(0.001)
    )


@pytest.mark.parametrize("coefficient", [co.kappa, co.ac1])
def test_the_least_that_a_coefficient_can_be(coefficient):
    # Ten and twenty of a hundred: at worst no unit has both.
    worst = np.array([[70.0, 20], [10, 0]])
    least = co.LEAST[coefficient](np.array([[75.0, 15], [5, 5]]))
    assert least <= coefficient(worst) + 1e-12
    assert least == pytest.approx(coefficient(worst)) or coefficient is co.ac1


def test_no_interval_where_nothing_is_known_of_how_much_clusters_vary():
    four = np.array([[[5.0, 1], [1, 5]], [[4, 2], [1, 5]], [[5, 1], [2, 4]], [[6, 0], [1, 5]]])
    assert np.isnan(co.estimate(co.kappa, four)[1:]).all()
    alike = np.tile(np.array([[[5.0, 1], [1, 5]]]), (9, 1, 1))
    assert np.isnan(co.estimate(co.kappa, alike)[1:]).all()
    perfect = np.array([[[5.0 + one, 0], [0, 5]] for one in range(9)])
    assert co.estimate(co.kappa, perfect)[0] == 1
    assert np.isnan(co.estimate(co.kappa, perfect)[1:]).all()
    rare = np.tile(np.array([[[10.0, 0], [1, 0]]]), (9, 1, 1))
    rare[0, 1, 1] = 1  # one cluster of nine alone defines the precision
    assert co.estimate(co.precision, rare)[0] == 1
    assert np.isnan(co.estimate(co.precision, rare)[1:]).all()


@pytest.mark.parametrize(("n_clusters", "sessions_each"), [(5, 1), (8, 1), (6, 3)])
def test_intervals_of_kappa_cover_what_they_should(n_clusters, sessions_each):
    # benchmarks/agreement_coverage.py has all cases; percentiles of drawn sessions covered .83, .87 and .81 here.
    tables, truth = simulated(np.random.default_rng(7), 600, Case(n_clusters, sessions_each, 0.2))
    ends = np.array([co.estimate(co.kappa, one)[1:] for one in tables])
    covered = (ends[:, 0] <= co.kappa(truth)) & (co.kappa(truth) <= ends[:, 1])
    assert 0.925 <= covered.mean() <= 0.975


def test_perfect_probabilities_have_no_calibration_error():
    rng = np.random.default_rng(0)
    found, naive = [], []
    for _ in range(200):
        p = rng.beta(0.5, 2, 600)
        truth = (rng.random(600) < p).astype(float)
        found.append(co.calibration_error(p, truth, np.repeat(np.arange(12), 50))[0])
        gap = pd.Series(p - truth).groupby(co.bins_of(p)).mean()
        naive.append(gap.abs().mean())
    assert np.mean(naive) > 0.025
    assert np.mean(found) < np.mean(naive) / 2
    assert np.median(found) < np.mean(naive) / 3


def test_a_calibration_error_is_found():
    rng = np.random.default_rng(0)
    p = rng.random(4000)
    truth = (rng.random(4000) < p**2).astype(float)  # off by p - p^2: 1/30 is the mean square
    value, low, high = co.calibration_error(p, truth, np.repeat(np.arange(20), 200))
    assert value == pytest.approx(np.sqrt(1 / 30), abs=0.02)
    assert low < np.sqrt(1 / 30) < high
