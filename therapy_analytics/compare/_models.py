"""Where sessions repeat: mixed models, what lies within and between clients, and change over sessions."""

from __future__ import annotations

import warnings
from math import isfinite, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.compare._groups import SESSION, Bools, Contrast, Floats, Grouped, Ints
from therapy_analytics.compare._statistics import DIFFERS
from therapy_analytics.compare._tests import across_all

ENOUGH_LEVELS, ENOUGH_REPEATS = 6, 5
"""A random effect takes so many counselors (clients, ...), and so many sessions more than there are of them."""
MOST_MODELS = 20
FEWEST_TIMES = 4
"""Points of time without which no slope is drawn: of three, its interval says nothing."""
_MONTH = 30.4375
WITHIN_COLUMNS = ("measure", "n_clients", "n_sessions", "between_sd", "within_sd", "share_between")
CHANGE_COLUMNS = ("group", "measure", "per", "n_sessions", "n_clients", "slope", "lo", "hi", "p", "q", "errors")


def with_mixed_models(table: pd.DataFrame, data: Grouped, contrasts: list[Contrast]) -> pd.DataFrame:
    """Return the comparison with a mixed model's difference for measures that differ.

    Columns ``mixed_difference``, ``_lo``, ``_hi``, ``_p``, and ``mixed_random``, the random effects. At most the 20
    largest differences are modelled. Empty where no effect has levels enough, or the model does not hold.
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
    factors = _random(data, rows)
    if not factors:
        return nan, nan, nan, nan, ""
    frame = pd.DataFrame({"y": y[rows], "x": one.own[rows].astype(np.float64)})
    slope, error = _fitted(frame, list(factors.values()))
    if not (isfinite(slope) and isfinite(error) and error > 0):
        return nan, nan, nan, nan, ""
    half, p = 1.959964 * error, float(2 * stats.norm.sf(abs(slope) / error))
    return slope, slope - half, slope + half, p, " and ".join(factors)


def _random(data: Grouped, rows: Bools) -> dict[str, Ints]:
    """Return the effects with levels enough, the wider first; the cluster's own where it is neither of the two."""
    asked = [name for name in ("counselor", "client") if name != data.by]
    if data.clustered_by not in (*asked, SESSION, data.by):
        asked = [data.clustered_by]
    found: dict[str, Ints] = {}
    for name in asked:
        levels = _levels(data, name)[rows] if name in data.sessions else np.zeros(0, dtype=np.int64)
        n = len(np.unique(levels[levels >= 0]))
        if n >= ENOUGH_LEVELS and len(levels) - n >= ENOUGH_REPEATS and (levels >= 0).all():
            found[name] = levels
    return found


def _levels(data: Grouped, name: str) -> Ints:
    """Return numbers of counselors, or clients within counselors; -1 where nothing is known."""
    labels = data.sessions[name]
    if name == "client" and "counselor" in data.sessions:
        labels = (data.sessions["counselor"] + "\x1f" + labels).where(labels != "", "")
    codes, _ = pd.factorize(labels.where(labels != ""), use_na_sentinel=True)
    return np.asarray(codes, dtype=np.int64)


def _fitted(frame: pd.DataFrame, levels: list[Ints]) -> tuple[float, float]:
    """Return the difference and its error: the wider effect makes the groups, the narrower a variance within them."""
    from statsmodels.regression.mixed_linear_model import MixedLM  # noqa: PLC0415 (slow)

    # In standard deviations: the search for variances stops too early on rates of a few per cent.
    scale = float(frame["y"].std())
    frame = frame.assign(outer=levels[0], inner=levels[-1], y=frame["y"] / scale)
    more: dict[str, Any] = {"vc_formula": {"inner": "0 + C(inner)"}, "re_formula": "1"} if len(levels) > 1 else {}
    model = MixedLM.from_formula("y ~ x", frame, groups="outer", **more)
    for method in ("lbfgs", "powell", "nm"):  # each fails on some variances near 0
        slope, error = _searched(model, method)
        if isfinite(slope) and isfinite(error):
            return slope * scale, error * scale
    return nan, nan


def _searched(model: Any, method: str) -> tuple[float, float]:
    """Fit by one way of searching; nan where it does not end well."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = model.fit(method=[method])
            # As in association.py: the fixed part of the Hessian, because the whole fails where a variance is near 0.
            hessian = np.asarray(model.hessian(result.params_object)[0])[:2, :2]
            slope, error = float(result.fe_params.iloc[1]), sqrt(float(np.linalg.inv(-hessian)[1, 1]))
        except (np.linalg.LinAlgError, ValueError, FloatingPointError):
            return nan, nan
    # A variance of nothing ("singular") is an answer: then sessions of one client are no more alike than others.
    return (slope, error) if result.converged else (nan, nan)


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
        A row a counselor and measure: ``per`` month where dates are known, else per session number; q is over all rows.
        Errors are robust to clients (statsmodels) where six or more of them have several sessions; no rows
        without four points of time, or where groups are not counselors.
    """
    times, per = _times(data.sessions)
    rows: list[dict[str, Any]] = []
    if data.by == "counselor" and per:
        clients = _levels(data, "client") if "client" in data.sessions else np.full(len(times), -1)
        for i, name in enumerate(data.names):
            own = (data.group == i) & ~np.isnan(times)
            for j, one in enumerate(data.measures):
                rows += _slope(name, one.name, per, (times[own], data.values[own, j], clients[own]))
    table = pd.DataFrame(rows, columns=[name for name in CHANGE_COLUMNS if name != "q"])
    return table.assign(q=across_all(table["p"].to_numpy(dtype=np.float64)))[list(CHANGE_COLUMNS)]


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
