"""Repeated sessions: mixed models, variance within and between clients, and change over sessions."""

from __future__ import annotations

from math import isfinite, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, stats

from therapy_analytics.clusters import SESSION, Bools, Floats, Ints
from therapy_analytics.compare._effects import holm
from therapy_analytics.compare._groups import GroupContrast, Grouped
from therapy_analytics.compare._table import DIFFERS

FEWEST_A_SIDE, ENOUGH_REPEATS = 4, 5
"""A random effect needs this many counselors (clients, ...) in each group, and this many more sessions than
counselors."""
ENOUGH_CLIENTS = 6
"""Clients that standard errors robust to clients need."""
FEWEST_CLIENTS = 3
"""Clients with several sessions that an estimate of the variance between clients needs."""
MOST_MODELS = 20
FEWEST_TIMES = 4
"""Points in time that a slope needs: with three its interval is uninformative."""
_DAYS_A_MONTH = 30.4375
_CHANGE = ("group", "measure", "per", "n_sessions", "n_clients", "slope", "lo", "hi", "p", "p_adjusted", "errors")


def with_mixed_models(table: pd.DataFrame, data: Grouped, contrasts: list[GroupContrast]) -> pd.DataFrame:
    """Add a mixed model's difference to the rows of a comparison that differ.

    Columns ``mixed_difference``, ``mixed_lo``, ``mixed_hi``, ``mixed_p``, and ``mixed_random``, the random effect:
    counselors, else clients, else the cluster's own. At most the 20 largest differences are modelled. Empty where the
    effect has fewer than four levels a group, or hardly any of them repeats.
    """
    names = ("mixed_difference", "mixed_lo", "mixed_hi", "mixed_p")
    numbers = np.full((len(table), len(names)), nan)
    random = np.full(len(table), "", dtype=object)
    differing = table[table["finding"] == DIFFERS]
    largest = differing["hedges_g"].abs().sort_values(ascending=False, kind="stable").index[:MOST_MODELS]
    by_name = {(one.group, one.against): one for one in contrasts}
    places = {one.name: j for j, one in enumerate(data.measures)}
    for row in map(int, largest.tolist()):
        one = by_name[str(table.at[row, "group"]), str(table.at[row, "against"])]
        *numbers[row], random[row] = _mixed(data, one, places[str(table.at[row, "measure"])])
    return table.assign(**dict(zip(names, numbers.T, strict=True)), mixed_random=random)


def _mixed(data: Grouped, one: GroupContrast, j: int) -> tuple[float, float, float, float, str]:
    y = data.values[:, j]
    rows = (one.own | one.other) & ~np.isnan(y)
    name, levels = _random_effect(data, one, rows)
    slope, error, df = mixed_difference(y[rows], one.own[rows], levels) if name else (nan, nan, nan)
    if not (isfinite(slope) and error > 0 and df >= 1):
        return nan, nan, nan, nan, ""
    half, p = float(stats.t.ppf(0.975, df)) * error, float(2 * stats.t.sf(abs(slope) / error, df))
    return slope, slope - half, slope + half, p, name


def _random_effect(data: Grouped, one: GroupContrast, rows: Bools) -> tuple[str, Ints]:
    """Return the widest effect with enough levels, and their numbers on the rows; no name where there is none."""
    asked = [name for name in ("counselor", "client") if name != data.by]
    if data.clustered_by not in (*asked, SESSION, data.by):
        asked = [data.clustered_by]
    for name in asked:
        levels = _levels(data, name)[rows]
        sides = [len(np.unique(levels[mask[rows]])) for mask in (one.own, one.other)]
        repeats = len(levels) - len(np.unique(levels))
        if min(sides) >= FEWEST_A_SIDE and repeats >= ENOUGH_REPEATS and (levels >= 0).all():
            return name, levels
    return "", np.zeros(0, dtype=np.int64)


def mixed_difference(y: Floats, own: Bools, levels: Ints) -> tuple[float, float, float]:
    """Fit a difference of groups with a random intercept, by restricted maximum likelihood.

    From a value `y` a session, whether it is of the first group (`own`), and its level of the random effect (counselor,
    client), (n,) each. Returns the first group's mean less the second's, in the unit of `y`; its standard error; and
    Satterthwaite's degrees of freedom; nan where `y` does not vary. statsmodels' ``MixedLM`` has neither variances
    below 0 nor Satterthwaite's degrees of freedom, without which the test does not keep its level with few counselors.

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

    # Variances below 0 are allowed, as far as the covariance matrix of the largest level stays positive definite: cut
    # off at 0, the standard error is too large wherever sessions of a level are hardly alike.
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
    """Return the degrees of freedom of the slope, by how its variance depends on the two estimated variances."""
    weights = inverse @ design
    projection = inverse - weights @ covariance @ weights.T
    kinds = (same, np.eye(len(same)))
    slopes = np.array([(covariance @ weights.T @ kind @ weights @ covariance)[1, 1] for kind in kinds])
    products = [projection @ kind for kind in kinds]
    information = np.array([[0.5 * float((a * b.T).sum()) for b in products] for a in products])
    return float(2 * covariance[1, 1] ** 2 / (slopes @ np.linalg.solve(information, slopes)))


def _levels(data: Grouped, name: str) -> Ints:
    """Return the number of each session's counselor, or client within counselor (n,); -1 where unknown."""
    if name not in data.sessions:
        return np.full(len(data.sessions), -1, dtype=np.int64)
    labels = data.sessions[name]
    if name == "client" and "counselor" in data.sessions:
        labels = (data.sessions["counselor"] + "\x1f" + labels).where(labels != "", "")
    return np.asarray(pd.factorize(labels.where(labels != ""))[0], dtype=np.int64)


def within_between(data: Grouped) -> pd.DataFrame:
    """Return for each measure how much clients vary, and how much the sessions of one client do.

    Over clients with two sessions or more: ``between_sd`` and ``within_sd`` in the measure's unit, and
    ``share_between``, ICC(1): the share of variance between clients (0 where the estimate is negative). No rows for
    measures with fewer than three such clients.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Intraclass correlations. Psychological Bulletin, 86(2), 420-428 (one-way).
    """
    rows, levels = [], _levels(data, "client")
    for j, one in enumerate(data.measures):
        known = (levels >= 0) & ~np.isnan(data.values[:, j])
        clients = pd.Series(data.values[known, j]).groupby(levels[known]).filter(lambda own: len(own) > 1)
        level = levels[known][clients.index]
        if len(np.unique(level)) >= FEWEST_CLIENTS:
            rows.append((one.name, len(np.unique(level)), len(level), *_variances(clients.to_numpy(), level)))
    columns = ["measure", "n_clients", "n_sessions", "between_sd", "within_sd", "share_between"]
    return pd.DataFrame(rows, columns=columns)


def _variances(values: Floats, level: Ints) -> tuple[float, float, float]:
    """Return standard deviations between and within levels, and the share between, from mean squares."""
    _, place, n = np.unique(level, return_inverse=True, return_counts=True)
    means = np.bincount(place, values) / n
    within = float(((values - means[place]) ** 2).sum()) / (len(values) - len(n))
    square = float((n * (means - values.mean()) ** 2).sum()) / (len(n) - 1)
    mean_size = (n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1)
    between = max(0.0, (square - within) / float(mean_size))
    total = between + within
    return sqrt(between), sqrt(within), between / total if total > 0 else nan


def change(data: Grouped) -> pd.DataFrame:
    """Return the slope of each measure of a counselor over sessions, with its 95 % interval.

    ``per`` month where dates are known, else per session number; ``p_adjusted`` is over all rows (Holm). Standard
    errors are robust to clients where there are six or more and some have several sessions (``errors``). No rows with
    fewer than four points in time, or where groups are not counselors.
    """
    times, per = _times(data.sessions)
    rows: list[dict[str, Any]] = []
    if data.by == "counselor" and per:
        clients = _levels(data, "client")
        for i, name in enumerate(data.names):
            own = (data.group == i) & ~np.isnan(times)
            for j, one in enumerate(data.measures):
                known = own & ~np.isnan(data.values[:, j])
                slope = _slope(times[known], data.values[known, j], clients[known])
                rows += [{"group": name, "measure": one.name, "per": per} | slope] if slope else []
    table = pd.DataFrame(rows, columns=[name for name in _CHANGE if name != "p_adjusted"])
    return table.assign(p_adjusted=holm(table["p"].to_numpy(dtype=np.float64)))[list(_CHANGE)]


def _times(sessions: pd.DataFrame) -> tuple[Floats, str]:
    """Return the time of each session (n,), nan where unknown, and its unit, "" where none is known."""
    if "date" in sessions and (sessions["date"] != "").any():
        days = pd.to_datetime(sessions["date"], errors="coerce", format="ISO8601", utc=True)
        months = (days - days.min()).dt.total_seconds() / (86_400 * _DAYS_A_MONTH)
        if days.notna().any():
            return np.asarray(months.to_numpy(dtype=np.float64), dtype=np.float64), "month"
    if "session_number" in sessions:
        numbers = pd.to_numeric(sessions["session_number"], errors="coerce").to_numpy(dtype=np.float64)
        if not np.isnan(numbers).all():
            return np.asarray(numbers, dtype=np.float64), "session"
    return np.full(len(sessions), np.nan), ""


def _slope(time: Floats, value: Floats, client: Ints) -> dict[str, Any]:
    """Return the columns of a slope by least squares; nothing with too few points in time or equal values."""
    if len(np.unique(time)) < FEWEST_TIMES or np.ptp(value) == 0:
        return {}
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415 (slow)

    n_clients = len(np.unique(client[client >= 0]))
    robust = ENOUGH_CLIENTS <= n_clients < len(client) and bool((client >= 0).all())
    model = OLS(value, np.column_stack([np.ones_like(time), time]))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": client}, use_t=True) if robust else model.fit()
    low, high = fit.conf_int()[1]
    return {
        "n_sessions": len(time),
        "n_clients": n_clients,
        "slope": float(fit.params[1]),
        "lo": float(low),
        "hi": float(high),
        "p": float(fit.pvalues[1]),
        "errors": "robust to clients" if robust else "least squares",
    }
