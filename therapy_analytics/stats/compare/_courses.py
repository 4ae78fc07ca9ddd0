"""Which session of a client comes after which, and the interval of what changed from one to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Floats
from therapy_analytics.core.printable import counted
from therapy_analytics.stats.compare._dates import iso_dates

NUMBERS = ("session_number", "session_no", "number")
"""Columns of ``sessions.csv`` that may hold a session's number, the first that is there."""
_GIVEN, _DATES, _ORDER = "given", "dates", "order"
"""What gives sessions their numbers: the results, their dates, or nothing but their order in the results."""


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
