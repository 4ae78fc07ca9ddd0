"""Coefficients of agreement from tables of counts or rates, and their intervals over clusters.

A table is a float64 array (..., K, K): rows are the reference's values, columns the other's. The libraries
(scikit-learn, statsmodels, krippendorff, irrCAC) take one table at a time; an interval needs a table for each cluster
left out, of every pair and code. Tests compare these formulas with the libraries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import special

from therapy_analytics.core.clusters import Floats, Ints

Coefficient = Callable[[Floats], Floats]
Estimate = tuple[float, float, float]
"""A value and the ends of its 95 % interval."""
UNDEFINED: Estimate = (np.nan, np.nan, np.nan)
FEWEST_CLUSTERS = 5
"""Clusters that an interval needs: fewer say too little of how much others would vary."""
FEWEST_TURNS = 30
"""Turns that kappa, AC1 and alpha need: of fewer, a single turn changes them by tenths."""
FEWEST_POSITIVES = 5
"""Turns with the code, and without it, that kappa and alpha need of either coder: of fewer, they rest on one or two."""
BINS = 10


def over(top: Floats, bottom: Floats) -> Floats:
    """Divide arrays (...), with nan where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.abs(bottom) > 1e-12, top / np.where(bottom == 0, 1, bottom), np.nan))


def percent_agreement(tables: Floats) -> Floats:
    """Return the share of units on which both agree, (...,) from tables (..., K, K)."""
    return over(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def kappa(tables: Floats) -> Floats:
    """Return Cohen's kappa, unweighted, (...,) from tables (..., K, K); nan where both use one value only.

    References
    ----------
    Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement, 20,
    37-46.
    """
    n = tables.sum(axis=(-2, -1))
    expected = over((tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1), n**2)
    return over(percent_agreement(tables) - expected, 1 - expected)


def ac1(tables: Floats) -> Floats:
    """Return Gwet's AC1 of two coders, (...,) from tables (..., K, K): expected agreement is low where a value is rare.

    References
    ----------
    Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement. British
    Journal of Mathematical and Statistical Psychology, 61, 29-48.
    """
    n = tables.sum(axis=(-2, -1))
    share = over((tables.sum(axis=-1) + tables.sum(axis=-2)) / 2, n[..., None])
    expected = (share * (1 - share)).sum(axis=-1) / (tables.shape[-1] - 1)
    return over(percent_agreement(tables) - expected, 1 - expected)


def precision(tables: Floats) -> Floats:
    """Return precision, (...,) from tables (..., 2, 2): of the other's positives, the share of the reference's."""
    return over(tables[..., 1, 1], tables[..., :, 1].sum(axis=-1))


def recall(tables: Floats) -> Floats:
    """Return recall, (...,) from tables (..., 2, 2): of the reference's positives, the share of the other's."""
    return over(tables[..., 1, 1], tables[..., 1, :].sum(axis=-1))


def f1(tables: Floats) -> Floats:
    """Return F1, (...,) from tables (..., 2, 2): harmonic mean of precision and recall, whoever is the reference."""
    both = tables[..., 1, 1]
    return over(2 * both, tables[..., 1, :].sum(axis=-1) + tables[..., :, 1].sum(axis=-1))


def alpha(coincidences: Floats) -> Floats:
    """Return Krippendorff's alpha for nominal values, (...,) from coincidences (..., K, K) (`coincidences_of`).

    References
    ----------
    Krippendorff, K. (2019). Content analysis: An introduction to its methodology (4th ed.). Sage, chapter 12.
    """
    values = coincidences.sum(axis=-1)
    n = values.sum(axis=-1)
    observed = n - np.trace(coincidences, axis1=-2, axis2=-1)
    return 1 - over((n - 1) * observed, n**2 - (values**2).sum(axis=-1))


def icc2(ratings: Floats) -> float:
    """Return ICC(2,1) of ratings (n_sessions, n_coders): absolute agreement of single, exchangeable coders.

    From below 0 to 1; nan with fewer than two rows or columns, or where nothing varies.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Intraclass correlations: Uses in assessing rater reliability. Psychological
    Bulletin, 86, 420-428.

    Examples
    --------
    >>> round(icc2(np.array([[1.0, 2], [3, 3], [5, 6], [7, 9]])), 2)
    0.91
    """
    n, k = ratings.shape
    if n < 2 or k < 2:
        return np.nan
    row, column, whole = ratings.mean(axis=1), ratings.mean(axis=0), ratings.mean()
    between = k * ((row - whole) ** 2).sum() / (n - 1)
    coders = n * ((column - whole) ** 2).sum() / (k - 1)
    error = ((ratings - row[:, None] - column + whole) ** 2).sum() / ((n - 1) * (k - 1))
    bottom = between + (k - 1) * error + k * (coders - error) / n
    return float((between - error) / bottom) if min(bottom, between) > 1e-12 else np.nan


def mean_difference(both: Floats) -> float:
    """Return the mean of the second column of `both` (n_sessions, 2) less the first."""
    return float((both[:, 1] - both[:, 0]).mean()) if len(both) else np.nan


def limit_of_agreement(both: Floats, end: float) -> float:
    """Return the mean difference of the columns of `both` (n_sessions, 2) plus `end` standard deviations of it.

    References
    ----------
    Bland, J. M., & Altman, D. G. (1986). Statistical methods for assessing agreement between two methods of clinical
    measurement. Lancet, 327, 307-310.
    """
    difference = both[:, 1] - both[:, 0]
    return float(difference.mean() + end * difference.std(ddof=1)) if len(both) > 1 else np.nan


def tables_of(first: Ints, second: Ints, cluster: Ints, shape: tuple[int, int], weight: Floats | None = None) -> Floats:
    """Count pairs of values by cluster, (n_clusters, K, K), from values and clusters (n,) that begin at 0.

    Units without a value (-1) are left out. `shape` are the number of clusters and K. With a `weight` of each unit
    (n,), such as 1 / its probability of being drawn, each counts as many times as that.
    """
    n, k = shape
    known = (first >= 0) & (second >= 0)
    place = (cluster[known] * k + first[known]) * k + second[known]
    times = None if weight is None else weight[known]
    return np.bincount(place, times, minlength=n * k * k).reshape(n, k, k).astype(np.float64)


def coincidences_of(values: Ints, cluster: Ints, shape: tuple[int, int], weight: Floats | None = None) -> Floats:
    """Return Krippendorff's coincidences by cluster (n_clusters, K, K), of values (n_units, n_coders), -1 for none.

    With a `weight` of each unit (n_units,), its coincidences count as many times as that.
    """
    n, k = shape
    counts = (values[:, :, None] == np.arange(k)).sum(axis=1).astype(np.float64)
    several = counts.sum(axis=1) > 1
    counts, cluster = counts[several], cluster[several]
    times = np.ones(len(counts)) if weight is None else weight[several]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(k)
    found = np.zeros((n, k, k))
    np.add.at(found, cluster, pairs * (times / (counts.sum(axis=1) - 1))[:, None, None])
    return found


def _least_kappa(table: Floats) -> float:
    """Return the least kappa that these shares of values allow."""
    rows, columns = (table.sum(axis=axis) / table.sum() for axis in (-1, -2))
    expected = (rows * columns).sum()
    return float(over(max(0.0, (rows + columns - 1).max()) - expected, 1 - expected))


def _least_ac1(table: Floats) -> float:
    share = (table.sum(axis=-1) + table.sum(axis=-2)) / 2 / table.sum()
    expected = (share * (1 - share)).sum() / (len(table) - 1)
    return float(over(-expected, 1 - expected))


def _least_alpha(coincidences: Floats) -> float:
    values = coincidences.sum(axis=-1)
    n = values.sum()
    observed = n * (1 - max(0.0, (2 * values / n - 1).max()))
    return float(1 - over((n - 1) * observed, n**2 - (values**2).sum()))


LEAST: Mapping[Coefficient, Callable[[Floats], float]] = {kappa: _least_kappa, ac1: _least_ac1, alpha: _least_alpha}
"""The minimum of a coefficient where it depends on how common the values are; 0 for all others."""


def jackknife(
    value: float, left_out: Floats, bounds: tuple[float, float] | None = (0.0, 1.0), level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a statistic over clusters: Student's t with the jackknife's standard error.

    nan with fewer than `FEWEST_CLUSTERS` clusters, where the statistic is undefined without one of them, and where all
    clusters agree wholly (nothing varies, or it equals one of its bounds): then nothing is known of how much others
    would vary. `value` is the statistic of all clusters, `left_out` (n_clusters,) the same without each of them. With
    `bounds`, its range, the interval is symmetrical in the logit of the statistic; without (differences), as it stands.

    References
    ----------
    Efron, B., & Stein, C. (1981). The jackknife estimate of variance. Annals of Statistics, 9, 586-596. Cameron, A. C.,
    & Miller, D. L. (2015). A practitioner's guide to cluster-robust inference. Journal of Human Resources, 50, 317-372
    (t with clusters less one degrees of freedom).

    Examples
    --------
    >>> [round(end, 2) for end in jackknife(0.8, np.array([0.78, 0.79, 0.8, 0.81, 0.82]))]
    [0.71, 0.87]
    """
    n = len(left_out)
    if n < FEWEST_CLUSTERS or np.isnan(left_out).any() or np.isnan(value):
        return np.nan, np.nan
    reach = special.stdtrit(n - 1, (1 + level) / 2) * np.sqrt((n - 1) / n * ((left_out - value) ** 2).sum())
    low, high = bounds or (value - 1, value + 1)
    if reach < 1e-12 or min(value - low, high - value) < 1e-12:
        return np.nan, np.nan
    if bounds is None:
        return float(value - reach), float(value + reach)
    share = (value - low) / (high - low)
    reach /= (high - low) * share * (1 - share)
    ends = special.expit(special.logit(share) + np.array([-reach, reach]))
    return float(low + (high - low) * ends[0]), float(low + (high - low) * ends[1])


def estimate(coefficient: Coefficient, clusters: Floats, *, bounded: bool = True, level: float = 0.95) -> Estimate:
    """Return a coefficient of all clusters with its interval over clusters (`jackknife`).

    The coefficient is a function of sums of counts (..., *shape), and `clusters` (n_clusters, *shape) the counts of
    each cluster; empty ones are left out. If `bounded`, it lies between its minimum (`LEAST`) and 1; differences do
    not.
    """
    held = clusters[(clusters != 0).reshape(len(clusters), -1).any(axis=1)]
    total = held.sum(axis=0)
    value = float(coefficient(total))
    if len(held) < FEWEST_CLUSTERS:
        return value, np.nan, np.nan
    least = LEAST[coefficient](total) if coefficient in LEAST else 0.0
    bounds = (least, 1.0) if bounded else None
    return value, *jackknife(value, coefficient(np.round(total - held, 9)), bounds, level)


def interval_columns(name: str, numbers: tuple[float, ...]) -> dict[str, float]:
    """Return the columns of an estimate: ``kappa``, ``kappa_lo``, ``kappa_hi``."""
    return dict(zip((name, f"{name}_lo", f"{name}_hi"), numbers, strict=True))


def with_interval(row: Mapping[Any, Any], name: str) -> str:
    """Return a number of a row in words, with its interval where there is one.

    Examples
    --------
    >>> with_interval({"kappa": 0.514, "kappa_lo": 0.4, "kappa_hi": 0.6}, "kappa")
    '.51 [.40, .60]'
    >>> with_interval({"kappa": float("nan")}, "kappa")
    'undefined'
    """
    value, low, high = (row.get(f"{name}{end}") for end in ("", "_lo", "_hi"))
    if value is None or np.isnan(value):
        return "undefined"
    if row.get("n_differ") == 0 and value == 1:
        return f"0 of {row['n_turns']:,.0f} turns differ"
    interval = "" if low is None or high is None or np.isnan(low) else f" [{short(low)}, {short(high)}]"
    return f"{short(value)}{interval}"


def short(value: float) -> str:
    """Return two digits of a number, without a zero before them."""
    text = f"{value:.2f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def bins_of(p: Floats) -> Ints:
    """Return the bin of each probability (n,): about equally many in each of `BINS`, equal probabilities together."""
    edges = np.percentile(p, np.linspace(0, 100, BINS + 1)[1:-1])
    return np.searchsorted(edges, p)


def calibration_error(p: Floats, truth: Floats, cluster: Ints, weight: Floats | None = None) -> Estimate:
    """Return the calibration error with its 95 % interval over clusters.

    The root of the mean squared distance between probability and share, over bins of about equally many units. From
    each square its sampling variance is subtracted (over clusters where a bin is in `FEWEST_CLUSTERS` or more, else
    over units), so that perfect probabilities give 0 on average. From probabilities, what people gave (0, 1, or the
    share of people who gave the code), clusters from 0, and how much each unit counts (1 by default), (n,) each.

    References
    ----------
    Kumar, A., Liang, P., & Ma, T. (2019). Verified uncertainty calibration. Advances in Neural Information Processing
    Systems, 32 (the debiased estimator).
    """
    if not len(p):
        return UNDEFINED
    gap, w = p - truth, np.ones(len(p)) if weight is None else weight
    sums = np.zeros((int(cluster.max()) + 1, BINS, 6))
    of_units = [w, w * gap, np.ones(len(p)), w**2, w**2 * gap, (w * gap) ** 2]
    np.add.at(sums, (cluster, bins_of(p)), np.column_stack(of_units))
    n, gaps = sums[..., 0], sums[..., 1]
    of_clusters = np.stack([n > 0, n**2, gaps * n, gaps**2], axis=-1)
    moments = np.concatenate([sums, of_clusters], axis=-1)
    value, low, high = np.sqrt(np.clip(estimate(_squared_error, moments, bounded=False), 0.0, 1.0)).tolist()
    return value, low, high


def _squared_error(moments: Floats) -> Floats:
    """Return the debiased squared calibration error of sums over clusters (..., bins, 10).

    Weights and weighted gaps; then of units and of clusters their number, and the sums of the squares of weights, of
    the products of weight and weighted gap, and of the squares of weighted gaps.
    """
    n, gap = moments[..., 0], moments[..., 1]
    mean = over(gap, n)
    variances = []
    for at in (2, 6):
        number, squares, crossed, gaps = np.moveaxis(moments[..., at : at + 4], -1, 0)
        variances.append(over(number * (gaps - 2 * mean * crossed + mean**2 * squares), (number - 1) * n**2))
    variance = np.where(moments[..., 6] >= FEWEST_CLUSTERS, variances[1], variances[0])
    return over(np.nansum(n * (mean**2 - variance), axis=-1), n.sum(axis=-1))
