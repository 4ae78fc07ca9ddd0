"""What goes with what: slopes of scores on measures, within clients, between clients and between counselors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import Bools, Floats
from therapy_analytics.stats.outcomes._levels import CLIENTS, COUNSELORS, FEWEST_DF, LEVELS, WITHIN, Nesting, nesting
from therapy_analytics.stats.outcomes._mixed import nested_fit
from therapy_analytics.stats.outcomes._robust import ALIKE, basis, robust_slope, trend, within
from therapy_analytics.stats.outcomes._targets import (
    BEFORE,
    CLIENT,
    COUNSELOR,
    KNOWN_CLIENT,
    KNOWN_COUNSELOR,
    LENGTH,
    NEXT,
    NUMBER,
    SESSION,
    SESSIONS,
    TARGETS,
    Y,
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
_NUMBERS = ("slope", "lo", "hi", "p", "df")
_NO_NEXT = "too few: clients with three sessions or more are needed"
NO_ORDER = (
    "neither numbers nor dates say which session came when, so that a trend over sessions would pass for an association"
)
_HELD = "the measure does not vary apart from what is held constant"
_ROUNDING = 1e-6
_FEW_CLIENTS = f"too few clients with several sessions: {FEWEST_DF + 1} or more are needed, and more where few count"


@dataclass(frozen=True, slots=True, eq=False)
class _Cases:
    """The cases of a model: its rows without missing values.

    `y`, `x` (n,); `number` (n,), nan where unknown; `before`, `length` (n,) or None.
    """

    y: Floats
    x: Floats
    number: Floats
    before: Floats | None
    length: Floats | None
    nested: Nesting

    @property
    def spare(self) -> dict[str, int]:
        """Degrees of freedom that a slope at each level would have in a balanced design."""
        lowest = min(self.nested.free, key=LEVELS.index, default="")
        numbers = len(np.unique(self.number[np.isfinite(self.number)]))
        of_trend = min(max(numbers - 1, 0), 2)
        taken = 1 + len(self.beside)
        return {level: units - taken - of_trend * (level == lowest) for level, units in self.nested.free.items()}

    @property
    def beside(self) -> list[Floats]:
        """The given score and the length, where they are held constant."""
        return [one for one in (self.before, self.length) if one is not None]


@dataclass(frozen=True, slots=True)
class _Slope:
    """A standardised slope at a level, or why there is none."""

    value: float = nan
    error: float = nan
    df: float = nan
    notes: tuple[str, ...] = field(default=())


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
    table = with_groups(joined)
    rows = [
        {"scale": scale, "measure": name, "target": target, "adjusted": adjusted} | row
        for scale in scales
        for target in targets
        for name, adjusted, row in _rows_of_target(table, scale, target, measures)
    ]
    found = pd.DataFrame(rows, columns=[name for name in COLUMNS if name not in ("q", "finding")])
    return with_findings(found, better)


def with_findings(table: pd.DataFrame, better: Mapping[str, bool]) -> pd.DataFrame:
    """Add ``q`` and ``finding`` to rows that have ``scale``, ``slope``, ``p`` and ``equivalent``."""
    p = table["p"].to_numpy(dtype=np.float64)
    q, tested = np.full(len(p), nan), ~np.isnan(p)
    if tested.any():
        q[tested] = stats.false_discovery_control(p[tested])
    good = (table["slope"] > 0) == table["scale"].map(dict(better)).astype(bool)
    finding = np.where(q < LEVEL, np.where(good, BETTER, WORSE), np.where(table["equivalent"].eq(True), NONE, OPEN))
    return table.assign(q=q, finding=np.where(tested, finding, ""))[list(COLUMNS)]


def _rows_of_target(
    table: pd.DataFrame, scale: str, target: str, measures: Sequence[str]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield measure, adjustment and the columns of each row of a scale and target."""
    rows = target_rows(table, scale, target, measures)
    ordered = bool(table["number"].notna().any())
    for name in measures:
        for adjusted in ("", ADJUSTED) if LENGTH in rows else ("",):
            needed = [Y, name, *([BEFORE] if BEFORE in rows else []), *([LENGTH] if adjusted else [])]
            kept = rows[needed].notna().all(axis=1).to_numpy(dtype=np.bool_)
            about = _counts(rows, kept)
            model = _cases(rows, kept, name, adjusted=bool(adjusted))
            slopes = _slopes(model, (WITHIN,) if target == NEXT else LEVELS)
            if not ordered and target != SESSION:
                slopes = {WITHIN if target == NEXT else CLIENTS: _Slope(notes=(NO_ORDER,))}
            elif target == NEXT and not slopes:
                slopes = {WITHIN: _Slope(notes=(_NO_NEXT,))}
            for level, slope in slopes.items():
                yield name, adjusted, {"level": level} | about | _row(slope)


def _counts(rows: pd.DataFrame, kept: Bools) -> dict[str, int]:
    """Return how many sessions, known clients and known counselors a model rests on."""
    some = rows[kept]
    n_clients = some.loc[some[KNOWN_CLIENT].astype(bool), CLIENT].nunique()
    n_counselors = some.loc[some[KNOWN_COUNSELOR].astype(bool), COUNSELOR].nunique()
    return {"n_sessions": int(some[SESSIONS].sum()), "n_clients": n_clients, "n_counselors": n_counselors}


def _cases(rows: pd.DataFrame, kept: Bools, name: str, *, adjusted: bool) -> _Cases:
    """Return the cases of the model of a measure."""

    def numbers(column: str) -> Floats:
        return rows[column].to_numpy(dtype=np.float64)[kept]

    people = [rows[column].to_numpy(dtype=np.int64)[kept] for column in (CLIENT, COUNSELOR)]
    return _Cases(
        y=numbers(Y),
        x=numbers(name),
        number=numbers(NUMBER),
        before=numbers(BEFORE) if BEFORE in rows else None,
        length=numbers(LENGTH) if adjusted else None,
        nested=nesting(*people, repeats=not (rows[SESSIONS] > 1).any()),
    )


def _slopes(model: _Cases, levels: Sequence[str]) -> dict[str, _Slope]:
    """Return the slope of each of some levels that the cases have."""
    if not model.nested.free:
        return (
            {CLIENTS: _Slope(notes=(f"{len(model.y)} with score and measure: too few",))} if CLIENTS in levels else {}
        )
    nested = model.nested
    parts = nested.split(model.x)
    spreads = {"x": nested.spread(parts), "y": nested.spread(nested.split(model.y))}
    why = {level: _why_not(model, level, spreads) for level in model.spare}
    found = {level: _Slope(notes=(why[level],)) for level in why if why[level]}
    asked = {level: parts[level] for level in why if not why[level]}
    if set(asked) & (set(levels) - {WITHIN}):
        found |= _between(model, dict(asked), spreads)
    if WITHIN in asked:
        found[WITHIN] = _within(model, spreads)
    return {level: found[level] for level in levels if level in found}


def _within(model: _Cases, spreads: Mapping[str, Mapping[str, float]]) -> _Slope:
    """Return the slope within clients, with the trend over sessions held constant."""
    known = np.isfinite(model.number)
    if not known.any():
        return _Slope(notes=(NO_ORDER,))
    clients = np.unique(model.nested.client[known], return_inverse=True)[1].astype(np.int64)
    number = model.number[known]
    columns = np.column_stack([model.y, model.x, *model.beside])[known]
    deviations = within(np.column_stack([columns, trend(number, levels=True)]), clients)
    slope, error, df = robust_slope(deviations[:, 0], deviations[:, 1], deviations[:, 2:], clients)
    if np.isnan(slope):
        return _Slope(notes=(_HELD,))
    if not df >= FEWEST_DF - _ROUNDING:
        return _Slope(notes=(_FEW_CLIENTS,))
    scale = spreads["x"][WITHIN] / spreads["y"][WITHIN]
    return _Slope(slope * scale, error * scale, df, (model.nested.note,) if model.nested.note else ())


def _why_not(model: _Cases, level: str, spreads: Mapping[str, Mapping[str, float]]) -> str:
    """Return why there is no slope at a level, empty if there is."""
    if model.spare[level] < FEWEST_DF:
        missing = FEWEST_DF - model.spare[level]
        return f"too few: {missing} more {'counselors' if level == COUNSELORS else 'clients or sessions'} are needed"
    if not spreads["x"][level]:
        return "the measure does not vary here"
    if not spreads["y"][level]:
        return "the score does not vary here"
    return ""


def _between(model: _Cases, parts: dict[str, Floats], spreads: Mapping[str, Mapping[str, float]]) -> dict[str, _Slope]:
    """Return the slopes between clients and counselors, from the parts (n,) of the measure at each level."""
    nested, held = model.nested, _held_constant(model)
    found: dict[str, _Slope] = {}
    for level, part in list(parts.items()):
        rest = part - held @ np.linalg.lstsq(held, part, rcond=None)[0]
        if float(rest @ rest) <= (1 - ALIKE) * float(part @ part):
            found[level] = _Slope(notes=(_HELD,))
            del parts[level]
    if not parts:
        return found
    levels = list(parts)
    columns = [parts[level] / spreads["x"][level] for level in levels]
    few = _few(model)
    clients = np.arange(len(model.y)) if CLIENTS in few else nested.client
    counselors = np.zeros_like(nested.counselor) if COUNSELORS in few else nested.counselor
    fit = nested_fit(model.y, np.column_stack([*columns, held]), clients, counselors)
    notes = (nested.note,) if nested.note else ()
    for j, level in enumerate(levels):
        scale = spreads["y"][level]
        found[level] = _Slope(float(fit.slopes[j]) / scale, float(fit.errors[j]) / scale, float(fit.df[j]), notes)
    return found


def _few(model: _Cases) -> list[str]:
    """Return the levels above sessions with too few units for a slope: each of these has an intercept of its own."""
    return [
        level
        for level, spare in model.spare.items()
        if spare < FEWEST_DF and level != min(model.spare, key=LEVELS.index)
    ]


def _held_constant(model: _Cases) -> Floats:
    """Return the columns beside the measure, of full rank: intercepts, trend, parts of the given score and length.

    Where a level has too few units for a slope, each of its units has an intercept.
    """
    nested, few = model.nested, _few(model)
    units = nested.counselor if COUNSELORS in few else np.zeros_like(nested.counselor)
    units = nested.client if CLIENTS in few else units
    columns = [(units == one).astype(np.float64) for one in np.unique(units)]
    for held in model.beside:
        columns += [part for level, part in nested.split(held).items() if level not in few]
    known = np.isfinite(model.number)
    if known.any():
        columns += list(trend(np.where(known, model.number, model.number[known].mean())).T)
    return np.asarray(basis(np.column_stack(columns)) * np.sqrt(len(units)))  # of the size of an intercept


def _row(slope: _Slope) -> dict[str, Any]:
    """Return the columns of a slope."""
    note = "; ".join(slope.notes)
    if not (slope.error > 0 and np.isfinite(slope.value)):
        return dict.fromkeys(_NUMBERS, nan) | {"equivalent": "", "note": note or "the model leaves nothing unexplained"}
    wide, narrow = (float(stats.t.ppf(level, slope.df)) * slope.error for level in (0.975, 0.95))
    return {
        "slope": slope.value,
        "lo": slope.value - wide,
        "hi": slope.value + wide,
        "p": float(2 * stats.t.sf(abs(slope.value) / slope.error, slope.df)),
        "df": slope.df,
        "equivalent": abs(slope.value) + narrow < BOUND,
        "note": note,
    }
