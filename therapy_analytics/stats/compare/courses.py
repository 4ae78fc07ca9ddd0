"""Courses over sessions: their order and dates, what changes from one to the next, and along with time or a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import permutations as orders
from math import factorial, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import Floats, Ints
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.printable import counted
from therapy_analytics.stats.compare.effects import EXACT_UP_TO, cluster_means, holm
from therapy_analytics.stats.compare.groups import NAMES, SYNCHRONY, Grouped
from therapy_analytics.stats.compare.tables import DIFFERS, NOT_TESTED, TOO_FEW, UNCLEAR, beside_zero, lengths

NUMBERS = ("session_number", "session_no", "number")
"""Columns of ``sessions.csv`` that may hold a session's number, the first that is there."""
_GIVEN, _DATES, _ORDER = "given", "dates", "order"
"""What gives sessions their numbers: the results, their dates, or nothing but their order in the results."""
ENOUGH_CLIENTS, FEWEST_CLIENTS = 6, 3
"""Clients that standard errors robust to clients need, and clients with several sessions that an estimate of the
variance between clients needs."""
FEWEST_TIMES = 4
"""Points in time that a slope needs: with three its interval is uninformative."""
FEWEST_LEVELS, FEWEST_NUMBERS = 3, 5
"""Ordered levels that have a trend; and different numbers from which they are divided into thirds to be shown."""
FEWEST = 5
"""Clusters that a rank correlation needs to be tested."""
_LEVELS = (("low", "medium", "high"), ("low", "middle", "high"), ("low", "moderate", "high"))
"""Levels in words that have an order."""
_CHANGE = ("group", "measure", "per", "n_sessions", "n_clients", "slope", "lo", "hi", "p", "p_adjusted", "errors")
TREND_COLUMNS = (
    *("measure", "family", "evidence", "unit", "by", "finding", "n_sessions", "n_clusters", "rank_correlation"),
    *("lo", "hi", "p", "p_method", "p_adjusted", "at_like_length", "at_like_length_lo", "at_like_length_hi"),
)
"""Columns of ``trend.csv``."""
_DAYS_A_MONTH = 30.4375
_DATE_FORMS = (
    r"(?P<year>\d{4})(?:[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?)?(?:[T ]\d{1,2}:.*)?",
    r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})",
    r"(?P<month>\d{1,2})[/.](?P<year>\d{4})",
)
_DAY_FIRST = r"(?P<day>\d{1,2})[/-](?P<month>\d{1,2})[/-](?P<year>\d{4})(?: .*)?"
_MONTH_FIRST = r"(?P<month>\d{1,2})[/-](?P<day>\d{1,2})[/-](?P<year>\d{4})(?: .*)?"
_WRITTEN = {"%d %B %Y": 10, "%d %b %Y": 10, "%B %d %Y": 10, "%b %d %Y": 10, "%B %Y": 7, "%b %Y": 7}
"""Dates with the month as a word, and how much of their ISO form is known."""


# The order of sessions


@dataclass(frozen=True, slots=True)
class Sessions:
    """The sessions of the results, each with its number among the sessions of its client.

    Attributes
    ----------
    table : DataFrame
        A row a session, in the order of the results: ``session_id``, ``client``, ``counselor``, ``date`` (ISO, perhaps
        in part), all text and "" where unknown; ``number`` (float): which session of the client's it is, nan where
        the client is unknown; ``counted`` (bool): whether it was counted, as the results give no numbers; ``guessed``
        (bool): whether nothing but the order of the results says so, neither numbers nor dates.
    notes : tuple of str
        How sessions were numbered, where that is no matter of course.
    """

    table: pd.DataFrame
    notes: tuple[str, ...] = ()


def sessions_of(sessions: pd.DataFrame) -> Sessions:
    """Return the sessions of a results folder with their numbers.

    A client's sessions have the numbers that the results give them, where all of them have one and none has it twice;
    else they are counted from 1 by date; else, where dates are missing, in the order of the results.
    """
    table = pd.DataFrame({"session_id": sessions["session_id"].astype(str)})
    for name in ("client", "counselor"):
        table[name] = sessions[name].astype(str).str.strip() if name in sessions else ""
    table["date"] = iso_dates(sessions["date"].astype(str).tolist()) if "date" in sessions else ""
    given = next((sessions[name] for name in NUMBERS if name in sessions), pd.Series(np.nan, index=sessions.index))
    table["given"] = pd.to_numeric(given, errors="coerce").astype(float).to_numpy()
    return numbered(table)


def numbered(table: pd.DataFrame) -> Sessions:
    """Return sessions with a number for each of a known client: the one given, by date, or in the order of the table.

    Parameters
    ----------
    table : DataFrame
        A row a session: ``client``, ``counselor``, ``date`` and ``given`` (float, nan where unknown).
    """
    table = table.assign(number=np.nan, counted=False, guessed=False)
    guessed = 0
    for _, own in table[table["client"] != ""].groupby(["counselor", "client"], sort=False):
        numbers, how = _numbers(own)
        table.loc[own.index, "number"] = numbers
        table.loc[own.index, "counted"] = how != _GIVEN
        table.loc[own.index, "guessed"] = how == _ORDER
        guessed += how == _ORDER
    whose = counted(guessed, "client")
    note = f"Of {whose} neither dates nor numbers order the sessions: they are taken as the results have them."
    return Sessions(table.drop(columns="given"), (note,) if guessed else ())


def _numbers(own: pd.DataFrame) -> tuple[Floats, str]:
    """Return the numbers of a client's sessions (n,), and what gives them."""
    given = own["given"].to_numpy(dtype=np.float64)
    if not np.isnan(given).any() and len(set(given)) == len(given):
        return given, _GIVEN
    dates = own["date"]
    if (dates.str.len() == 10).all() and dates.is_unique:
        return np.asarray(dates.rank(), dtype=np.float64), _DATES
    return np.arange(1, len(own) + 1, dtype=np.float64), _ORDER if len(own) > 1 else _DATES


def iso_dates(cells: Sequence[str]) -> list[str]:
    """Return the dates of a column as ISO writes them, as much of each as is known; "" for a cell that is none.

    Parameters
    ----------
    cells : sequence of str
        The cells. Of ``3/4/2024`` the other cells of the column say whether the day or the month stands first.

    Raises
    ------
    BadOptionError
        Nothing in the column tells the day from the month, or two cells contradict each other.

    Examples
    --------
    >>> iso_dates(["2024-03-12", "12.3.2024", "March 2024", "2024", "13/3/2024", "3/4/2024", "soon"])
    ['2024-03-12', '2024-03-12', '2024-03', '2024', '2024-03-13', '2024-04-03', '']
    """
    stripped = [" ".join(cell.replace(",", " ").split()) for cell in cells]
    pairs = [(int(found[1]), int(found[2])) for cell in stripped if (found := re.fullmatch(_DAY_FIRST, cell))]
    day_first = any(first > 12 for first, _ in pairs)
    month_first = any(second > 12 for _, second in pairs)
    if pairs and day_first == month_first and any(first != second for first, second in pairs):
        problem = "dates such as 3/4/2024 stand in the table, and nothing tells the day from the month"
        remedy = "Write dates as 2024-04-03, or give a column session_id or session_number"
        raise BadOptionError("date", problem, remedy)
    forms = (*_DATE_FORMS, _DAY_FIRST if day_first else _MONTH_FIRST)
    return [_iso(cell, forms) for cell in stripped]


def _iso(cell: str, forms: Sequence[str]) -> str:
    """Return a date in ISO form, as much as is known; "" where it is in none of the forms, or there is no such day."""
    for form in forms:
        if found := re.fullmatch(form, cell):
            parts = found.groupdict()
            day, month = parts.get("day"), parts.get("month")
            try:
                whole = date(int(parts["year"]), int(month or 1), int(day or 1)).isoformat()
            except ValueError:
                return ""
            return whole[: 10 if day else 7 if month else 4]
    if re.fullmatch(r"[34]\d{4}(?:\.0)?", cell):  # the number that a spreadsheet holds for a date
        return (date(1899, 12, 30) + timedelta(days=int(float(cell)))).isoformat()
    for written, length in _WRITTEN.items():
        try:
            return datetime.strptime(cell, written).date().isoformat()[:length]
        except ValueError:
            continue
    return ""


def dates_fit(one: str, other: str) -> bool:
    """Return whether two dates, each known as a day, a month or a year, can be the same day.

    Examples
    --------
    >>> dates_fit("2024-03", "2024-03-12"), dates_fit("2024", "2024-03"), dates_fit("2024-03-12", "2024-04")
    (True, True, False)
    """
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


# What changes


def difference_interval(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Return both ends (n,) of the 95% interval of the difference of two values that have intervals of their own.

    Parameters
    ----------
    before, after : float64 arrays (n, 3)
        Value, lower end and upper end of its 95% interval, of n pairs of independent values; nan where unknown.

    Returns
    -------
    low, high : float64 arrays (n,)
        Ends of the interval of `after` less `before`; an interval without 0 is a change beyond sampling noise.

    References
    ----------
    Zou, G. Y., & Donner, A. (2008). Construction of confidence limits about effect measures: a general approach.
    Statistics in Medicine, 27(10), 1693-1702 (square-and-add; of two proportions it is Newcombe's interval).

    Examples
    --------
    >>> low, high = difference_interval(np.array([[0.2, 0.1, 0.3]]), np.array([[0.6, 0.5, 0.7]]))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)  # .4 -+ sqrt(.1 ** 2 + .1 ** 2)
    (0.259, 0.541)
    """
    (a, a_low, a_high), (b, b_low, b_high) = before.T, after.T
    difference: Floats = b - a
    low = difference - np.sqrt((b - b_low) ** 2 + (a_high - a) ** 2)
    high = difference + np.sqrt((b_high - b) ** 2 + (a - a_low) ** 2)
    return low, high


def within_between(data: Grouped) -> pd.DataFrame:
    """Return for each measure how much clients vary, and how much the sessions of one client do.

    Over clients with two sessions or more: ``between_sd`` and ``within_sd`` in the measure's unit, and
    ``share_between``, ICC(1): the share of variance between clients (0 where the estimate is negative). No rows for
    measures with fewer than three such clients.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Intraclass correlations. Psychological Bulletin, 86(2), 420-428 (one-way).
    """
    rows, clients = [], _clients(data)
    for j, one in enumerate(data.measures):
        own = pd.DataFrame({"client": clients, "value": data.values[:, j]})[clients >= 0].dropna()
        own = own[own.groupby("client")["value"].transform("size") > 1]
        values, of_client = own["value"], own.groupby("client")["value"]
        n, means = of_client.size(), of_client.mean()
        if len(n) < FEWEST_CLIENTS:
            continue
        within = float(((values - of_client.transform("mean")) ** 2).sum()) / (len(values) - len(n))
        square = float((n * (means - values.mean()) ** 2).sum()) / (len(n) - 1)
        mean_size = float(n.sum() - (n**2).sum() / n.sum()) / (len(n) - 1)
        between = max(0.0, (square - within) / mean_size)
        share = between / (between + within) if between + within > 0 else nan
        rows.append((one.name, len(n), len(values), sqrt(between), sqrt(within), share))
    columns = ["measure", "n_clients", "n_sessions", "between_sd", "within_sd", "share_between"]
    return pd.DataFrame(rows, columns=columns)


def _clients(data: Grouped) -> Ints:
    """Return the number of each session's client within counselor (n,); -1 where unknown."""
    if "client" not in data.sessions:
        return np.full(len(data.sessions), -1, dtype=np.int64)
    names = data.sessions["client"]
    if "counselor" in data.sessions:
        names = (data.sessions["counselor"] + "\x1f" + names).where(names != "", "")
    return np.asarray(pd.factorize(names.where(names != ""))[0], dtype=np.int64)


def change(data: Grouped) -> pd.DataFrame:
    """Return the slope of each measure of a counselor over sessions, with its 95 % interval.

    ``per`` month where dates are known, else per session number; ``p_adjusted`` is over all rows (Holm). Standard
    errors are robust to clients where there are six or more and some have several sessions (``errors``). No rows with
    fewer than four points in time, or where groups are not counselors.
    """
    times, per = _times(data.sessions)
    rows: list[dict[str, Any]] = []
    if data.by == "counselor" and per:
        clients = _clients(data)
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


# Along with a number or ordered levels: one rank correlation a measure instead of many groups


def levels_of(frame: pd.DataFrame, by: str) -> Floats | None:
    """Return the numbers, or the places in their order, of the values of a column (n,); None where it has none.

    Columns of names, such as ``counselor``, are never numbers.

    Examples
    --------
    >>> levels_of(pd.DataFrame({"years": ["1", "3", "12", "3"]}), "years").tolist()
    [1.0, 3.0, 12.0, 3.0]
    >>> levels_of(pd.DataFrame({"dose": ["low", "high", "medium"]}), "dose").tolist()
    [0.0, 2.0, 1.0]
    >>> levels_of(pd.DataFrame({"arm": ["a", "b"]}), "arm") is None
    True
    """
    if by in NAMES or by not in frame:
        return None
    column = frame[by].astype(str).str.strip()
    known = set(column) - {""}
    numbers = pd.to_numeric(column.where(column != ""), errors="coerce").to_numpy(dtype=np.float64)
    for words in _LEVELS:
        if known and {one.lower() for one in known} <= set(words):
            numbers = column.str.lower().map({word: float(i) for i, word in enumerate(words)}).to_numpy(np.float64)
    if np.isnan(numbers[(column != "").to_numpy()]).any() or len(np.unique(numbers)) < FEWEST_LEVELS:
        return None
    return np.asarray(numbers, dtype=np.float64)


def in_levels(data: Grouped, level: Floats) -> Grouped:
    """Return the sessions in groups of one level each; numbers of which there are many, in thirds of the sessions."""
    there = np.unique(level)
    if len(there) < FEWEST_NUMBERS:
        names = {float(one): str(data.sessions[data.by][level == one].iloc[0]) for one in there}
        return replace(data, names=tuple(names.values()), group=np.searchsorted(there, level).astype(np.int64))
    ends = np.unique(np.quantile(level, [1 / 3, 2 / 3], method="inverted_cdf"))
    group = np.searchsorted(ends, level).astype(np.int64)
    kept = np.unique(group)
    names_of = [f"{level[group == one].min():g} to {level[group == one].max():g}" for one in kept]
    return replace(data, names=tuple(names_of), group=np.searchsorted(kept, group).astype(np.int64))


def trend_table(data: Grouped, level: Floats, *, permutations: int, seed: int) -> pd.DataFrame:
    """Return the rank correlation of each measure with a number that is known of sessions, `level` (n,).

    A row for each measure with the columns `TREND_COLUMNS`. The correlation is Spearman's, of the means over each
    cluster (counselor, ...) of both; p is by permutation of whole clusters, adjusted for all measures (Holm), the
    interval by Fisher's transformation. ``at_like_length`` is the partial rank correlation, with the ranks of turns and
    of words per turn held constant; of synchrony a claim needs both.

    References
    ----------
    Bonett, D. G., & Wright, T. A. (2000). Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations. Psychometrika, 65(1), 23-28.
    """
    means = cluster_means(np.column_stack([level, lengths(data.sessions), data.values]), data.cluster)
    rows: list[dict[str, object]] = []
    for j, one in enumerate(data.measures):
        known = means[~np.isnan(means[:, 0]) & ~np.isnan(means[:, 3 + j])][:, [0, 3 + j, 1, 2]]
        ranks = stats.rankdata(known[:, :2], axis=0)
        n_sessions = int((~np.isnan(data.values[:, j]) & ~np.isnan(level)).sum())
        row: dict[str, object] = {"n_clusters": len(known), "n_sessions": n_sessions, "few": len(known) < FEWEST}
        if len(known) >= FEWEST and (np.ptp(ranks, axis=0) > 0).all():
            row |= dict(zip(("rank_correlation", "lo", "hi"), _correlation(ranks), strict=True))
            alike = _correlation(stats.rankdata(known[~np.isnan(known).any(axis=1)], axis=0))
            row |= dict(zip(("at_like_length", "at_like_length_lo", "at_like_length_hi"), alike, strict=True))
            row |= _permuted(ranks, permutations, seed) if one.claimed and not data.barred else {}
        rows.append(row)
    table = pd.DataFrame(data.about("family", "evidence", "unit")).assign(by=data.by).join(pd.DataFrame(rows))
    table = table.reindex(columns=[*TREND_COLUMNS, "few"])
    table["p_adjusted"] = holm(table["p"].to_numpy(dtype=np.float64))
    also = beside_zero(table, "at_like_length").eq(np.sign(table["rank_correlation"]))
    sure = (table["p_adjusted"] < 0.05) & (table["family"].ne(SYNCHRONY) | also)
    cases = [table["few"].astype(bool), table["p"].isna(), sure]
    table["finding"] = np.select(cases, [TOO_FEW, NOT_TESTED, DIFFERS], default=UNCLEAR)
    return table[list(TREND_COLUMNS)]


def _correlation(ranks: Floats) -> tuple[float, float, float]:
    """Return the correlation of the first two columns of ranks (n, 2 + held), the others held constant, as an interval.

    Value and both ends of its 95% interval; nan where undefined.
    """
    n, held = len(ranks), ranks.shape[1] - 2
    left = ranks[:, :2]
    if held:
        design = np.column_stack([np.ones(n), ranks[:, 2:]])
        if n < FEWEST + held or np.linalg.matrix_rank(design) < 1 + held:
            return nan, nan, nan
        left = left - design @ np.linalg.lstsq(design, left, rcond=None)[0]
        if np.ptp(left, axis=0).min() < 1e-9:
            return nan, nan, nan
    value = float(np.corrcoef(left[:, 0], left[:, 1])[0, 1])
    if n - held <= 3 or abs(value) >= 1:
        return value, nan, nan
    reach = 1.96 * np.sqrt((1 + value**2 / 2) / (n - held - 3))
    return value, float(np.tanh(np.arctanh(value) - reach)), float(np.tanh(np.arctanh(value) + reach))


def _permuted(ranks: Floats, n_random: int, seed: int) -> dict[str, object]:
    """Return the two-sided p of the correlation of two columns of ranks (n, 2), by permutation of the clusters."""
    x, y = (ranks - (len(ranks) + 1) / 2).T
    observed = abs(float(x @ y)) - 1e-9
    if factorial(len(x)) <= EXACT_UP_TO:
        every = np.array(list(orders(y.tolist())))
        return {"p": float((np.abs(every @ x) >= observed).mean()), "p_method": "permutation, exact"}
    drawn = np.random.default_rng(seed).permuted(np.tile(y, (n_random, 1)), axis=1)
    p = (1 + int((np.abs(drawn @ x) >= observed).sum())) / (1 + n_random)
    return {"p": p, "p_method": f"permutation, {n_random:,} drawn"}
