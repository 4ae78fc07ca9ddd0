"""What goes with what: slopes of scores on measures, within clients, between clients and between counselors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import Floats
from therapy_analytics.stats.outcomes.estimators import ALIKE, basis, nested_fit, robust_slope, trend, within
from therapy_analytics.stats.outcomes.levels import (
    BEFORE,
    CLIENT,
    CLIENTS,
    COUNSELOR,
    COUNSELORS,
    FEWEST_DF,
    KNOWN_CLIENT,
    KNOWN_COUNSELOR,
    LENGTH,
    LEVELS,
    NEXT,
    NUMBER,
    SESSION,
    SESSIONS,
    TARGETS,
    WITHIN,
    Nesting,
    Y,
    nesting,
    target_rows,
    with_groups,
)

BOUND = 0.10
"""Standard deviations of the score for one of the measure. A slope within ± this is called no association: Cohen's
small correlation, 1 % of the variance of its level, and less than what has been published of talk and outcome (.15 of
rated alliance, .32 of the next session's distress)."""
LEVEL = 0.05
"""A slope is claimed where its q is below."""
BETTER, WORSE, NONE, OPEN = "goes with better", "goes with worse", "no association", "inconclusive"
"""Findings; one that cannot be estimated is empty."""
ADJUSTED = "length"
COLUMNS = (
    *("scale", "measure", "level", "target", "adjusted", "slope", "lo", "hi", "p", "q", "df"),
    *("n_sessions", "n_clients", "n_counselors", "equivalent", "finding", "note"),
)
NO_ORDER = (
    "neither numbers nor dates say which session came when, so that a trend over sessions would pass for an association"
)
_NO_NEXT = "too few: clients with three sessions or more are needed"
_HELD = "the measure does not vary apart from what is held constant"
_FEW_CLIENTS = f"too few clients with several sessions: {FEWEST_DF + 1} or more are needed, and more where few count"


class _Slope(NamedTuple):
    """A standardised slope at a level, or why there is none."""

    value: float = nan
    error: float = nan
    df: float = nan
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Cases:
    """Cases without missing values, (n,) each: score, measure, number (nan where unknown), what is held beside it."""

    y: Floats
    x: Floats
    number: Floats
    beside: list[Floats]
    nested: Nesting


def associations(
    joined: pd.DataFrame,
    measures: Sequence[str],
    scales: Sequence[str],
    better: Mapping[str, bool],
    *,
    targets: Sequence[str] = TARGETS,
) -> pd.DataFrame:
    """Test whether scores go with measures of the talk.

    Parameters
    ----------
    joined : DataFrame
        A row a session: ``session_id``, ``client``, ``counselor`` ("" where unknown), ``number`` (1, 2, ... within the
        client; nan where neither numbers nor dates say it), the scales and the measures (nan where missing), and for
        the length ``n_words_therapist`` and ``n_words_client``, else ``n_turns``.
    measures, scales : sequence of str
        Columns of it.
    better : mapping of str to bool
        Of each scale, whether a higher score is better for the client.
    targets : sequence of str, optional
        Some of `TARGETS`.

    Returns
    -------
    DataFrame
        A row a scale, measure, target, adjustment and level:

        - ``level``: ``within_clients``, sessions of one client; ``between_clients``, clients of one counselor;
          ``between_counselors``. ``target``: ``session``, the session's score; ``next``, the next session's score given
          this one's, within clients alone; ``change``, a client's last score given the first, with means of the measure
          from first to last.
        - ``adjusted``: "" or ``length``: with the logarithm of the session's words held constant at every level.
        - ``slope``, ``lo``, ``hi``: standard deviations of the score for one of the measure, both of units of the
          level, with its 95 % interval; ``p``, two-sided, and ``df`` by Satterthwaite. Within clients, with the trend
          over sessions held constant.
        - ``q``: p by Benjamini and Hochberg over all rows of the table. Where nothing goes with anything, 2 to 5 of
          100 tables hold a q below .05 (docs/validity.md).
        - ``n_sessions``, ``n_clients``, ``n_counselors``: in the model; clients and counselors that are known.
        - ``equivalent``: whether the slope is shown to lie within ± `BOUND` by two one-sided tests at .05 each.
        - ``finding``: ``goes with better`` or ``worse`` scores where q is below .05; else ``no association`` where
          ``equivalent``, else ``inconclusive``; empty where there is no slope. ``note`` says why.

    Notes
    -----
    Measures are split into a session's deviation from its client's mean, the client's deviation from the counselor's
    mean, and the counselor's mean. A level with too few units for a slope is held constant instead (a column for each
    unit). Scores are taken as about normal around the slope.

    Within clients: scores fall over a treatment and what counselors do changes with it, so that any two trends go
    together. Held constant are the number of the session and its logarithm, and a level for each number that ten
    sessions have (`trend`); clients each have an intercept, and the error is robust to how a client's sessions depend
    on each other (`robust_slope`), so that clients may differ in how fast they change, and in the slope. Sessions whose
    number is unknown (nan) say nothing here. Between clients and counselors: intercepts of clients within counselors
    are random (`nested_fit`), with number and logarithm beside the measure, because clients with more sessions were
    measured later; unknown numbers are taken as the mean. For ``change`` these are of the number of sessions from first
    to last score.

    The tagger's error is in no interval: slopes on a rate that the machine counts are smaller than on the true one.

    The score that is given, and the length, are split as the measure is. So what is compared for ``next`` are sessions
    of one client. Were the given score not split, a measure that goes with the score of its own session would seem to
    go with a worse one next time, because of two sessions with one score the one with more of it is of the client who
    is otherwise worse. ``change``: the first score is as unsure as any, so that clients with the same first score can
    differ in how well they are; a measure of clients who are well all along goes with the last score, too.

    References
    ----------
    Enders, C. K., & Tofighi, D. (2007). Centering predictor variables in cross-sectional multilevel models.
    Psychological Methods, 12(2), 121-138. Curran, P. J., & Bauer, D. J. (2011). The disaggregation of within-person and
    between-person effects in longitudinal models of change. Annual Review of Psychology, 62, 583-619. Benjamini, Y., &
    Hochberg, Y. (1995). Controlling the false discovery rate. Journal of the Royal Statistical Society B, 57(1),
    289-300. Lakens, D. (2017). Equivalence tests. Social Psychological and Personality Science, 8(4), 355-362.

    Examples
    --------
    >>> sessions = pd.DataFrame({"session_id": [f"s{i}" for i in range(9)], "client": "", "counselor": "", "number": 1})
    >>> sessions["asks"], sessions["ors"] = np.arange(9.0), np.array([1.0, 3, 2, 4, 4, 6, 5, 7, 9])
    >>> found = associations(sessions, ["asks"], ["ors"], {"ors": True}, targets=["session"])
    >>> found[["level", "slope", "lo", "hi", "df", "finding"]].round(2).to_numpy().tolist()
    [['between_clients', 0.95, 0.66, 1.23, 7.0, 'goes with better']]
    """
    sessions = with_groups(joined)
    rows = [
        {"scale": scale, "target": target} | row
        for scale in scales
        for target in targets
        for row in _rows_of_target(sessions, scale, target, measures)
    ]
    table = pd.DataFrame(rows, columns=[name for name in COLUMNS if name not in ("q", "finding")])
    p = table["p"].to_numpy(dtype=np.float64)
    q, tested = np.full(len(p), nan), ~np.isnan(p)
    if tested.any():
        q[tested] = stats.false_discovery_control(p[tested])
    good = (table["slope"] > 0) == table["scale"].map(dict(better)).astype(bool)
    finding = np.where(q < LEVEL, np.where(good, BETTER, WORSE), np.where(table["equivalent"].eq(True), NONE, OPEN))
    return table.assign(q=q, finding=np.where(tested, finding, ""))[list(COLUMNS)]


def _rows_of_target(
    sessions: pd.DataFrame, scale: str, target: str, measures: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a scale and target: each measure without and with the length held, at each level."""
    rows = target_rows(sessions, scale, target, measures)
    ordered = bool(sessions["number"].notna().any())
    for name in measures:
        for adjusted in ("", ADJUSTED) if LENGTH in rows else ("",):
            beside = [*([BEFORE] if BEFORE in rows else []), *([LENGTH] if adjusted else [])]
            some = rows[rows[[Y, name, *beside]].notna().all(axis=1)]
            client, counselor = (some[column].to_numpy(dtype=np.int64) for column in (CLIENT, COUNSELOR))
            y, x, number, *held = (some[column].to_numpy(dtype=np.float64) for column in (Y, name, NUMBER, *beside))
            nested = nesting(client, counselor, repeats=not (rows[SESSIONS] > 1).any())
            slopes = _slopes(_Cases(y, x, number, held, nested), (WITHIN,) if target == NEXT else LEVELS)
            if not ordered and target != SESSION:
                slopes = {WITHIN if target == NEXT else CLIENTS: _Slope(note=NO_ORDER)}
            elif target == NEXT and not slopes:
                slopes = {WITHIN: _Slope(note=_NO_NEXT)}
            about = {
                "measure": name,
                "adjusted": adjusted,
                "n_sessions": int(some[SESSIONS].sum()),
                "n_clients": some.loc[some[KNOWN_CLIENT].astype(bool), CLIENT].nunique(),
                "n_counselors": some.loc[some[KNOWN_COUNSELOR].astype(bool), COUNSELOR].nunique(),
            }
            for level, slope in slopes.items():
                yield about | {"level": level} | _tested(slope)


def _slopes(cases: _Cases, levels: Sequence[str]) -> dict[str, _Slope]:
    """Return the slope of each of some levels that the cases have."""
    nested = cases.nested
    if not nested.free:
        nothing = _Slope(note=f"{len(cases.y)} with score and measure: too few")
        return {CLIENTS: nothing} if CLIENTS in levels else {}
    parts = nested.split(cases.x)
    of_x, of_y = nested.spread(parts), nested.spread(nested.split(cases.y))
    # Degrees of freedom that a slope would have in a balanced design
    lowest = min(nested.free, key=LEVELS.index)
    numbers = len(np.unique(cases.number[np.isfinite(cases.number)]))
    spare = {level: units - 1 - len(cases.beside) for level, units in nested.free.items()}
    spare[lowest] -= min(max(numbers - 1, 0), 2)
    found: dict[str, _Slope] = {}
    for level, df in spare.items():
        if df < FEWEST_DF:
            units = "counselors" if level == COUNSELORS else "clients or sessions"
            found[level] = _Slope(note=f"too few: {FEWEST_DF - df} more {units} are needed")
        elif not of_x[level] or not of_y[level]:
            found[level] = _Slope(note=f"the {'score' if of_x[level] else 'measure'} does not vary here")
    asked = {level: parts[level] / of_x[level] for level in spare if level not in found}
    few = [level for level in spare if spare[level] < FEWEST_DF and level != lowest]
    if set(asked) & (set(levels) - {WITHIN}):
        found |= _between(cases, asked, of_y, few)
    if WITHIN in asked:
        found[WITHIN] = _within(cases, of_x[WITHIN] / of_y[WITHIN])
    return {level: found[level] for level in levels if level in found}


def _within(cases: _Cases, scale: float) -> _Slope:
    """Return the slope within clients, with the trend over sessions held constant."""
    known = np.isfinite(cases.number)
    if not known.any():
        return _Slope(note=NO_ORDER)
    clients = np.unique(cases.nested.client[known], return_inverse=True)[1].astype(np.int64)
    columns = np.column_stack([cases.y, cases.x, *cases.beside])[known]
    y, x, *held = within(np.column_stack([columns, trend(cases.number[known], levels=True)]), clients).T
    slope, error, df = robust_slope(y, x, np.column_stack(held), clients)
    if np.isnan(slope):
        return _Slope(note=_HELD)
    if not df >= FEWEST_DF - 1e-6:
        return _Slope(note=_FEW_CLIENTS)
    return _Slope(slope * scale, error * scale, df, cases.nested.note)


def _between(
    cases: _Cases, parts: Mapping[str, Floats], of_y: Mapping[str, float], few: Sequence[str]
) -> dict[str, _Slope]:
    """Return the slopes between clients and counselors, from the standardised parts (n,) of the measure at each level.

    Beside them stand intercepts, the trend, and the parts of the given score and length; `few` are levels above
    sessions with too few units for a slope: there each unit has an intercept of its own.
    """
    nested, number = cases.nested, cases.number
    units = nested.counselor if COUNSELORS in few else np.zeros_like(nested.counselor)
    units = nested.client if CLIENTS in few else units
    columns = [(units == one).astype(np.float64) for one in np.unique(units)]
    for values in cases.beside:
        columns += [part for level, part in nested.split(values).items() if level not in few]
    known = np.isfinite(number)
    if known.any():
        columns += list(trend(np.where(known, number, number[known].mean())).T)
    held = np.asarray(basis(np.column_stack(columns)) * np.sqrt(len(units)))  # of the size of an intercept
    found, own = {}, dict(parts)
    for level, part in parts.items():
        rest = part - held @ np.linalg.lstsq(held, part, rcond=None)[0]
        if float(rest @ rest) <= (1 - ALIKE) * float(part @ part):
            found[level] = _Slope(note=_HELD)
            del own[level]
    if not own:
        return found
    clients = np.arange(len(cases.y)) if CLIENTS in few else nested.client
    counselors = np.zeros_like(nested.counselor) if COUNSELORS in few else nested.counselor
    fit = nested_fit(cases.y, np.column_stack([*own.values(), held]), clients, counselors)
    for level, slope, error, df in zip(own, fit.slopes, fit.errors, fit.df, strict=False):
        found[level] = _Slope(float(slope) / of_y[level], float(error) / of_y[level], float(df), nested.note)
    return found


def _tested(slope: _Slope) -> dict[str, Any]:
    """Return the columns of a slope."""
    if not (slope.error > 0 and np.isfinite(slope.value)):
        nothing = dict.fromkeys(("slope", "lo", "hi", "p", "df"), nan)
        return nothing | {"equivalent": "", "note": slope.note or "the model leaves nothing unexplained"}
    wide, narrow = (float(stats.t.ppf(level, slope.df)) * slope.error for level in (0.975, 0.95))
    return {
        "slope": slope.value,
        "lo": slope.value - wide,
        "hi": slope.value + wide,
        "p": float(2 * stats.t.sf(abs(slope.value) / slope.error, slope.df)),
        "df": slope.df,
        "equivalent": abs(slope.value) + narrow < BOUND,
        "note": slope.note,
    }
