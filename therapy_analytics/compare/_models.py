"""Where sessions repeat: mixed models, what lies within and between clients, and change over sessions."""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, stats

from therapy_analytics.compare._groups import SESSION, Bools, Contrast, Floats, Grouped, Ints
from therapy_analytics.compare._statistics import DIFFERS
from therapy_analytics.compare._tests import holm

FEWEST_A_SIDE, ENOUGH_REPEATS = 4, 5
"""A random effect takes so many counselors (clients, ...) in each group, and so many sessions more than counselors."""
ENOUGH_LEVELS = 6
"""Clients, without which the errors of a slope are not made robust to them."""
MOST_MODELS = 20
FEWEST_TIMES = 4
"""Points of time without which no slope is drawn: of three, its interval says nothing."""
_MONTH = 30.4375
WITHIN_COLUMNS = ("measure", "n_clients", "n_sessions", "between_sd", "within_sd", "share_between")
_ENDS = ("slope", "lo", "hi", "p", "p_adjusted", "errors")
CHANGE_COLUMNS = ("group", "measure", "per", "n_sessions", "n_clients", *_ENDS)


def with_mixed_models(table: pd.DataFrame, data: Grouped, contrasts: list[Contrast]) -> pd.DataFrame:
    """Return the comparison with a mixed model's difference for measures that differ.

    Columns ``mixed_difference``, ``_lo``, ``_hi``, ``_p``, and ``mixed_random``, the random effect: counselors, else
    clients, else the cluster's own. At most the 20 largest differences are modelled. Empty where the effect has fewer
    than four levels a group or hardly any of them repeats.
    """
    names = ("mixed_difference", "mixed_lo", "mixed_hi", "mixed_p")
    figures = np.full((len(table), len(names)), nan)
    random = np.full(len(table), "", dtype=object)
    differing = table[table["finding"] == DIFFERS]
    largest = differing["hedges_g"].abs().sort_values(ascending=False, kind="stable").index[:MOST_MODELS]
    by_name = {(one.group, one.against): one for one in contrasts}
    places = {one.name: j for j, one in enumerate(data.measures)}
    for row in map(int, largest.tolist()):
        one = by_name[str(table.at[row, "group"]), str(table.at[row, "against"])]
        *figures[row], random[row] = _mixed(data, one, places[str(table.at[row, "measure"])])
    return table.assign(**dict(zip(names, figures.T, strict=True)), mixed_random=random)


def _mixed(data: Grouped, one: Contrast, j: int) -> tuple[float, float, float, float, str]:
    y = data.values[:, j]
    rows = (one.own | one.other) & ~np.isnan(y)
    name, levels = _random(data, one, rows)
    if not name:
        return nan, nan, nan, nan, ""
    slope, error, df = mixed_difference(y[rows], one.own[rows], levels)
    if not (isfinite(slope) and error > 0 and df >= 1):
        return nan, nan, nan, nan, ""
    half, p = float(stats.t.ppf(0.975, df)) * error, float(2 * stats.t.sf(abs(slope) / error, df))
    return slope, slope - half, slope + half, p, name


def _random(data: Grouped, one: Contrast, rows: Bools) -> tuple[str, Ints]:
    """Return the widest effect with levels enough and their numbers, or no name."""
    asked = [name for name in ("counselor", "client") if name != data.by]
    if data.clustered_by not in (*asked, SESSION, data.by):
        asked = [data.clustered_by]
    for name in asked:
        levels = _levels(data, name)[rows] if name in data.sessions else np.zeros(0, dtype=np.int64)
        sides = [len(np.unique(levels[mask[rows]])) if len(levels) else 0 for mask in (one.own, one.other)]
        repeats = len(levels) - len(np.unique(levels))
        if min(sides) >= FEWEST_A_SIDE and repeats >= ENOUGH_REPEATS and (levels >= 0).all():
            return name, levels
    return "", np.zeros(0, dtype=np.int64)


def mixed_difference(y: Floats, own: Bools, levels: Ints) -> tuple[float, float, float]:
    """Fit a difference of groups with a random intercept, by restricted maximum likelihood.

    Parameters
    ----------
    y : float array (n,)
        A value a session.
    own : bool array (n,)
        Whether the session is of the first group.
    levels : int array (n,)
        The level of the random effect (counselor, client) that each session has.

    Returns
    -------
    float, float, float
        The first group's mean less the second's, in the unit of `y`; its standard error; and Satterthwaite's degrees
        of freedom. nan where `y` does not vary.

    References
    ----------
    Stroup, W. W. (2013). Generalized linear mixed models. CRC Press (variances below 0 are kept).

    Giesbrecht, F. G., & Burns, J. C. (1985). Two-stage analysis based on a mixed model: large-sample asymptotic theory
    and small-sample simulation results. Biometrics, 41(2), 477-486 (degrees of freedom).
    """
    scale = float(y.std())
    if scale <= 0:
        return nan, nan, nan
    y, design = y / scale, np.column_stack([np.ones(len(y)), own]).astype(np.float64)
    same = (levels[:, None] == levels).astype(np.float64)

    def parts(ratio: float) -> tuple[Floats, Floats, float]:
        """Return the inverse of I + ratio J, the covariance of the effects over the residual variance, and that."""
        inverse = np.asarray(np.linalg.inv(np.eye(len(y)) + ratio * same), dtype=np.float64)
        covariance = np.asarray(np.linalg.inv(design.T @ inverse @ design), dtype=np.float64)
        left = y - design @ (covariance @ (design.T @ (inverse @ y)))
        return inverse, covariance, float(left @ inverse @ left) / (len(y) - 2)

    def deviance(ratio: float) -> float:
        inverse, covariance, variance = parts(ratio)
        logs = np.linalg.slogdet(inverse)[1] + np.linalg.slogdet(covariance)[1]
        return float((len(y) - 2) * np.log(max(variance, 1e-300)) - logs)

    # A variance below 0, down to where the covariances of the largest level end, keeps the error rate: cut off at 0,
    # the error is too large wherever levels are hardly alike.
    lowest = -0.95 / float(same.sum(axis=1).max())
    grid = np.concatenate([[lowest, lowest / 2], np.linspace(0, 7, 8) ** 2 / 10, [15, 50]])
    best = int(np.argmin([deviance(float(ratio)) for ratio in grid]))
    ends = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
    ratio = float(optimize.minimize_scalar(deviance, bounds=ends, method="bounded").x)
    inverse, covariance, variance = parts(ratio)
    slope = float((covariance @ (design.T @ (inverse @ y)))[1])
    error = sqrt(variance * covariance[1, 1])
    return slope * scale, error * scale, _satterthwaite(inverse / variance, design, covariance * variance, same)


def _satterthwaite(inverse: Floats, design: Floats, covariance: Floats, same: Floats) -> float:
    """Return the degrees of freedom of the slope's variance, as it hangs on the two variances that were estimated."""
    weights = inverse @ design
    projection = inverse - weights @ covariance @ weights.T
    kinds = (same, np.eye(len(same)))
    slopes = np.array([(covariance @ weights.T @ kind @ weights @ covariance)[1, 1] for kind in kinds])
    products = [projection @ kind for kind in kinds]
    information = np.array([[0.5 * float((a * b.T).sum()) for b in products] for a in products])
    return float(2 * covariance[1, 1] ** 2 / (slopes @ np.linalg.solve(information, slopes)))


def _levels(data: Grouped, name: str) -> Ints:
    """Return numbers of counselors, or clients within counselors; -1 where nothing is known."""
    labels = data.sessions[name]
    if name == "client" and "counselor" in data.sessions:
        labels = (data.sessions["counselor"] + "\x1f" + labels).where(labels != "", "")
    codes, _ = pd.factorize(labels.where(labels != ""), use_na_sentinel=True)
    return np.asarray(codes, dtype=np.int64)


def within_between(data: Grouped) -> pd.DataFrame:
    """Return for each measure how far clients differ, and how far the sessions of one client do.

    Returns
    -------
    DataFrame
        Over clients with two sessions or more: ``between_sd`` and ``within_sd`` in the measure's unit, and
        ``share_between``, ICC(1): the share of variance that lies between clients (0 where the estimate is negative).
        Without three such clients, no rows.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Intraclass correlations. Psychological Bulletin, 86(2), 420-428 (one-way).
    """
    rows = []
    levels = _levels(data, "client") if "client" in data.sessions else np.full(len(data.sessions), -1)
    for j, one in enumerate(data.measures):
        known = (levels >= 0) & ~np.isnan(data.values[:, j])
        numbers, place, counts = np.unique(levels[known], return_inverse=True, return_counts=True)
        several = counts[place] > 1
        if np.count_nonzero(counts > 1) >= 3:
            parts = _parts(data.values[known, j][several], numbers[place][several])
            rows.append((one.name, int(np.count_nonzero(counts > 1)), int(several.sum()), *parts))
    return pd.DataFrame(rows, columns=list(WITHIN_COLUMNS))


def _parts(values: Floats, level: Ints) -> tuple[float, float, float]:
    """Return standard deviations between and within levels, and the share between, from mean squares."""
    _, place, n = np.unique(level, return_inverse=True, return_counts=True)
    means = np.bincount(place, values) / n
    within = float(((values - means[place]) ** 2).sum()) / (len(values) - len(n))
    square = float((n * (means - values.mean()) ** 2).sum()) / (len(n) - 1)
    usual = (n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1)
    between = max(0.0, (square - within) / float(usual))
    total = between + within
    return sqrt(between), sqrt(within), between / total if total > 0 else nan


def change(data: Grouped) -> pd.DataFrame:
    """Return how each measure of a counselor changes over sessions: slope with its 95 % interval.

    Returns
    -------
    DataFrame
        A row a counselor and measure: ``per`` month where dates are known, else per session number;
        ``p_adjusted`` is over all rows (Holm). Errors are robust to clients (statsmodels) where six or more of them
        have several sessions; no rows without four points of time, or where groups are not counselors.
    """
    times, per = _times(data.sessions)
    rows: list[dict[str, Any]] = []
    if data.by == "counselor" and per:
        clients = _levels(data, "client") if "client" in data.sessions else np.full(len(times), -1)
        for i, name in enumerate(data.names):
            own = (data.group == i) & ~np.isnan(times)
            for j, one in enumerate(data.measures):
                rows += _slope(name, one.name, per, (times[own], data.values[own, j], clients[own]))
    table = pd.DataFrame(rows, columns=[name for name in CHANGE_COLUMNS if name != "p_adjusted"])
    return table.assign(p_adjusted=holm(table["p"].to_numpy(dtype=np.float64)))[list(CHANGE_COLUMNS)]


def _times(sessions: pd.DataFrame) -> tuple[Floats, str]:
    if "date" in sessions and (sessions["date"] != "").any():
        days = pd.to_datetime(sessions["date"], errors="coerce", format="ISO8601", utc=True)
        months = (days - days.min()).dt.total_seconds() / (86_400 * _MONTH)
        if days.notna().any():
            return np.asarray(months.to_numpy(dtype=np.float64), dtype=np.float64), "month"
    if "session_number" in sessions:
        numbers = pd.to_numeric(sessions["session_number"], errors="coerce").to_numpy(dtype=np.float64)
        if not np.isnan(numbers).all():
            return numbers, "session"
    return np.full(len(sessions), np.nan), ""


def _slope(name: str, measure: str, per: str, data: tuple[Floats, Floats, Ints]) -> list[dict[str, Any]]:
    known = ~np.isnan(data[1])
    time, value, client = data[0][known], data[1][known], data[2][known]
    if len(np.unique(time)) < FEWEST_TIMES or np.ptp(value) == 0:
        return []
    n_clients = len(np.unique(client[client >= 0]))
    robust = n_clients >= ENOUGH_LEVELS and n_clients < len(client) and bool((client >= 0).all())
    found = _robust(time, value, client) if robust else _simple(time, value)
    about: dict[str, Any] = {"group": name, "measure": measure, "per": per, "n_sessions": len(time)}
    errors = "robust to clients" if robust else "least squares"
    figures = dict(zip(("slope", "lo", "hi", "p"), found, strict=True))
    return [about | {"n_clients": n_clients} | figures | {"errors": errors}]


def _simple(time: Floats, value: Floats) -> tuple[float, float, float, float]:
    fit = stats.linregress(time, value)
    half = float(stats.t.ppf(0.975, len(time) - 2)) * float(fit.stderr)
    return float(fit.slope), float(fit.slope) - half, float(fit.slope) + half, float(fit.pvalue)


def _robust(time: Floats, value: Floats, client: Ints) -> tuple[float, float, float, float]:
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415 (slow)

    model = OLS(value, np.column_stack([np.ones_like(time), time]))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": client}, use_t=True)
    low, high = fit.conf_int()[1]
    return float(fit.params[1]), float(low), float(high), float(fit.pvalues[1])
