"""Repeated sessions: variance within and between clients, and change over sessions."""

from __future__ import annotations

from math import nan, sqrt
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Floats, Ints
from therapy_analytics.stats.compare._effects import holm
from therapy_analytics.stats.compare._groups import Grouped

ENOUGH_CLIENTS = 6
"""Clients that standard errors robust to clients need."""
FEWEST_CLIENTS = 3
"""Clients with several sessions that an estimate of the variance between clients needs."""
FEWEST_TIMES = 4
"""Points in time that a slope needs: with three its interval is uninformative."""
_DAYS_A_MONTH = 30.4375
_CHANGE = ("group", "measure", "per", "n_sessions", "n_clients", "slope", "lo", "hi", "p", "p_adjusted", "errors")


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
