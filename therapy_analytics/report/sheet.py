"""The supervision sheet: what changed since last time beyond noise, and what there is of each counselor."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import Floats
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.report._look_first import LOOKS
from therapy_analytics.report._words import interval, p_words, per_cent, plural
from therapy_analytics.report.moments import RULES, SHOWN, chosen_moments, moment_from, rules_json
from therapy_analytics.report.overview import groups_json, units_json
from therapy_analytics.report.shown import Shown, strip_of
from therapy_analytics.stats.compare.courses import difference_interval, sessions_of
from therapy_analytics.stats.compare.reference import LEVEL
from therapy_analytics.stats.compare.sessions import Results

Json = dict[str, Any]
Z95 = 1.96
HOW = (
    "How the turns were chosen: by rules. Worth another look: danger, degrading words, ruptures, untested claims gone "
    "along with, advice right after a feeling, advice or information after sustain talk. Worth building on: ruptures "
    "taken up, claims examined, feelings named, reflections answered by change talk or disclosure, sustain talk met by "
    "a reflection. Both kinds alternate; of each rule those turns come first of which the coder is surest."
)
CHANGE_HOW = (
    "A measure is said to have changed where the 95% interval of the difference between two sessions of a client "
    "excludes 0 and p, adjusted for all measures compared, is below .05. The noise is that of few turns; how a "
    "client's days differ is not in it."
)
UNKNOWN = "Nothing to compare with: these results do not say who the client is."
UNORDERED = "Nothing is compared: neither dates nor numbers say in which order this client's sessions were held."
FIRST_TIME = "Nothing to compare with: no earlier session of this client is in these results."
NO_SECOND = "Nothing to compare with: of no client are two sessions in these results whose order is known."


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Pairs of sessions of a client that follow each other, and what lies between them.

    Attributes
    ----------
    before, after : list of int
        The rows of the k pairs in the table of sessions.
    measures : list of Shown
        The m measures that are compared: those of the strip that are shares with an interval.
    values : float array (2, k, m, 3)
        Value and both ends of its 95% interval, of the earlier and the later session.
    difference : float array (k, m, 3)
        Later less earlier, with both ends of its 95% interval.
    p : float array (k, m)
        Two-sided, of the same interval; nan where a value is not defined.
    """

    before: list[int]
    after: list[int]
    measures: list[Shown]
    values: Floats
    difference: Floats
    p: Floats


def changes(results: Results, shown: Sequence[Shown]) -> tuple[Changes, list[str]]:
    """Compare each session with the client's session before, and say of which sessions nothing can be compared.

    The interval is that of the course of a client (`difference_interval`); p is the level at which an interval of the
    same shape would just reach 0.
    """
    before, why = _before(results.sessions)
    after = [i for i, place in enumerate(before) if place is not None]
    earlier = [place for place in before if place is not None]
    frame = results.sessions
    measures = [one for one in strip_of(shown) if one.name.endswith("_rate") and f"{one.name}_lo" in frame]
    names = [[one.name, f"{one.name}_lo", f"{one.name}_hi"] for one in measures]
    every = frame[[name for own in names for name in own]].to_numpy(dtype=np.float64).reshape(len(frame), -1, 3)
    values = np.stack([every[earlier], every[after]])
    rows = values.reshape(2, -1, 3)
    low, high = difference_interval(rows[0], rows[1])
    difference = rows[1, :, 0] - rows[0, :, 0]
    reach = np.where(difference > 0, difference - low, high - difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(difference == 0, 1.0, 2 * stats.norm.sf(Z95 * np.abs(difference) / reach))
    p[~(np.isfinite(low) & np.isfinite(high))] = np.nan
    shape = values.shape[1:3]
    whole = np.stack([difference, low, high], axis=-1).reshape(*shape, 3)
    return Changes(earlier, after, measures, values, whole, p.reshape(shape)), why


def _before(frame: pd.DataFrame) -> tuple[list[int | None], list[str]]:
    """Return for each session the row of the client's session before, or None and why there is none."""
    try:
        table = sessions_of(frame).table
    except BadOptionError:  # dates in which nothing tells the day from the month
        table = sessions_of(frame.drop(columns="date")).table
    before: list[int | None] = [None] * len(frame)
    why = [UNKNOWN] * len(frame)
    for _, own in table[table["client"] != ""].groupby(["counselor", "client"], sort=False):
        order = own.sort_values("number", kind="stable").index.tolist()
        for at, i in enumerate(order):
            why[i] = UNORDERED if own["guessed"].any() else FIRST_TIME if at == 0 else ""
            before[i] = None if why[i] else order[at - 1]
    return before, why


def changed_texts(found: Changes, why: Sequence[str], frame: pd.DataFrame) -> list[str]:
    """Return for each session the sentence on what changed since the client's session before."""
    texts = list(why)
    for at, i in enumerate(found.after):
        texts[i] = _told(found, [at], frame) or _nothing(found, at, frame)
    return texts


def _nothing(found: Changes, at: int, frame: pd.DataFrame) -> str:
    n = int(np.isfinite(found.p[at]).sum())
    compared = f"{n} {plural(n, 'measure', 'measures')} compared with {_session(frame, found.before[at])}"
    return f"No measure changed by more than the noise of few turns ({compared})."


def _told(found: Changes, pairs: Sequence[int], frame: pd.DataFrame, *, named: bool = False) -> str:
    """Return the surest change among some pairs in words; empty where none is beyond noise."""
    if not pairs or not np.isfinite(found.p[pairs]).any():
        return ""
    compared = found.p[pairs]
    row, j = np.unravel_index(np.nanargmin(compared), compared.shape)
    p = float(compared[row, j]) * int(np.isfinite(compared).sum())  # Holm's first step: of the smallest of them
    if p >= LEVEL:
        return ""
    at = pairs[int(row)]
    (before, after), (difference, low, high) = found.values[:, at, j], found.difference[at, j]
    more = "more" if difference > 0 else "less"
    ends = sorted((abs(low), abs(high)))
    now = f" in {_session(frame, found.after[at])}" if named else ""
    whose = f"With {frame['client'].iloc[found.after[at]]}: " if named else ""
    return (
        f"{whose}{found.measures[j].label}: {_share(after)}{now}, after {_share(before)} in "
        f"{_session(frame, found.before[at])}. That is {100 * abs(difference):.0f} points {more} (95% interval "
        f"{100 * ends[0]:.0f} to {100 * ends[1]:.0f} points; {p_words(p)}"
    )


def _share(value: Floats) -> str:
    share, low, high = (float(one) for one in value)
    return f"{per_cent(share)} ({interval(low, high)})"


def _session(frame: pd.DataFrame, row: int) -> str:
    date = str(frame["date"].iloc[row]) if "date" in frame else ""
    return f"{frame['session_id'].iloc[row]}{f' of {date}' if date else ''}"


def sheet_json(results: Results, shown: Sequence[Shown], sessions: Sequence[Mapping[str, Any]], found: Changes) -> Json:
    """Return what the sheets need besides the sessions: rules, words, and the counselors.

    Parameters
    ----------
    results : Results
        The results.
    shown : sequence of Shown
        The measures of the page.
    sessions : sequence of mapping
        The sessions that have a view, with their ``moments``.
    found : Changes
        As `changes`.
    """
    strip = strip_of(shown)
    counselors = list(_counselors(results, strip, sessions, found)) if "counselor" in results.about else []
    how = [HOW + _not_looked_for({code for one in sessions for code in one.get("p", ())}), CHANGE_HOW]
    return {"rules": rules_json(), "how": how, "counselors": counselors}


def _not_looked_for(given: Container[str]) -> str:
    """Return which rules can find nothing, as no turn of these sessions has their codes."""
    missing = [
        f"{one.title[0].lower()}{one.title[1:]}"
        for one in RULES
        if not all(any(code in given for code in codes) for codes in one.needs)
    ]
    return f" This run did not look for {', '.join(missing)}; {LOOKS}." if missing else ""


def _counselors(
    results: Results, strip: Sequence[Shown], sessions: Sequence[Mapping[str, Any]], found: Changes
) -> Iterator[Json]:
    """Yield what the sheet of each counselor shows: means over clients, turns of all sessions, the surest change."""
    names = results.sessions["counselor"]
    if not (names != "").any():
        return
    unit = units_json(results, ["counselor"])["counselor"]
    for group in groups_json(strip, results, ["counselor"])["counselor"]:
        rows = np.flatnonzero(names == group["name"]).tolist()
        own = [(i, moment_from(one)) for i in rows if i < len(sessions) for one in sessions[i]["moments"]]
        last = {int(i): at for at, i in enumerate(found.after) if i in rows and i not in found.before}
        told = _told(found, list(last.values()), results.sessions, named=True)
        yield {
            **group,
            "unit": unit,
            "sessions": rows,
            "moments": [{**one.json(), "session": i} for i, one in chosen_moments(own, SHOWN)],
            "changed": told or _nothing_of(found, list(last.values())),
        }


def _nothing_of(found: Changes, pairs: Sequence[int]) -> str:
    if not pairs:
        return NO_SECOND
    n = int(np.isfinite(found.p[list(pairs)]).sum())
    clients = f"{len(pairs)} {plural(len(pairs), 'client', 'clients')}"
    return (
        f"No measure changed by more than the noise of few turns ({n} {plural(n, 'comparison', 'comparisons')}: the "
        f"last session of {clients} with the one before)."
    )
