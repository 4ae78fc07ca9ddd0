"""What goes with what: slopes of scores on measures, within clients, between clients and between counselors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.clusters import Bools, Floats
from therapy_analytics.outcomes._levels import CLIENTS, COUNSELORS, FEWEST_DF, LEVELS, WITHIN, Nesting, nesting
from therapy_analytics.outcomes._mixed import nested_fit
from therapy_analytics.outcomes._targets import (
    BEFORE,
    CLIENT,
    COUNSELOR,
    KNOWN_CLIENT,
    KNOWN_COUNSELOR,
    LENGTH,
    NEXT,
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
_ALIKE = 0.999
"""Where a measure's variance is explained by the length to this share, it is the length."""


@dataclass(frozen=True, slots=True, eq=False)
class _Cases:
    """The cases of a model: its rows without missing values.

    `y`, `x` (n,); `before`, `length` (n,) or None; `draws` (n, n_imputations), imputed values of the measure, without
    columns where it was not imputed.
    """

    y: Floats
    x: Floats
    before: Floats | None
    length: Floats | None
    draws: Floats
    nested: Nesting

    @property
    def spare(self) -> dict[str, int]:
        """Degrees of freedom that a slope at each level would have in a balanced design."""
        taken = 1 + (self.length is not None) + (self.before is not None)
        return {level: units - taken for level, units in self.nested.free.items()}


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
    imputations: Sequence[pd.DataFrame] | None = None,
    targets: Sequence[str] = TARGETS,
) -> pd.DataFrame:
    """Test whether scores go with measures of the talk.

    Parameters
    ----------
    joined : DataFrame
        A row a session: ``session_id``, ``client``, ``counselor`` ("" where unknown), ``number`` (1, 2, ... within the
        client; nan where unknown), the scales and the measures (nan where missing), and for the length
        ``n_words_therapist`` and ``n_words_client``, else ``n_turns``.
    measures, scales : sequence of str
        Columns of it.
    better : mapping of str to bool
        Of each scale, whether a higher score is better for the client.
    imputations : sequence of DataFrame, optional
        As `imputed` returns them: measures that they hold are taken from them, by ``session_id``.
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
          level, with its 95 % interval; ``p``, two-sided, and ``df`` by Satterthwaite.
        - ``q``: p by Benjamini and Hochberg over all rows of the table. Where nothing goes with anything, 2 to 5 of
          100 tables hold a q below .05 (docs/validity.md).
        - ``n_sessions``, ``n_clients``, ``n_counselors``: in the model; clients and counselors that are known.
        - ``equivalent``: whether the slope is shown to lie within ± `BOUND` by two one-sided tests at .05 each.
        - ``finding``: ``goes with better`` or ``worse`` scores where q is below .05; else ``no association`` where
          ``equivalent``, else ``inconclusive``; empty where there is no slope. ``note`` says why.

    Notes
    -----
    Measures are split into a session's deviation from its client's mean, the client's deviation from the counselor's
    mean, and the counselor's mean. Intercepts of clients within counselors are random. A level with too few units for a
    slope is held constant instead (a column for each unit). Scores are taken as about normal around the slope, and one
    slope for all clients: where clients differ in it, an interval within clients speaks of more sessions of these
    clients, and held the mean slope of all clients like them in 88 % of simulated studies
    (``benchmarks/outcomes_coverage.py``, where all other intervals held in 93 % or more).

    A measure that was imputed is replaced by its mean over the imputed data sets, and the spread is that of the imputed
    values. This is regression calibration: with calibrated probabilities the slope is that on the true rates, whereas
    slopes on each imputed data set fall short of it, because the imputations know nothing of the score. Rubin's rules
    cannot repair that; the interval holds the error of the codes as a part of what the model leaves unexplained.

    The score that is given, and the length, are split as the measure is. So what is compared for ``next`` are sessions
    of one client. Were the given score not split, a measure that goes with the score of its own session would seem to
    go with a worse one next time, because of two sessions with one score the one with more of it is of the client who
    is otherwise worse. ``change``: the first score is as unsure as any, so that clients with the same first score can
    differ in how well they are; a measure of clients who are well all along goes with the last score, too.

    References
    ----------
    Enders, C. K., & Tofighi, D. (2007). Centering predictor variables in cross-sectional multilevel models.
    Psychological Methods, 12(2), 121-138. Benjamini, Y., & Hochberg, Y. (1995). Controlling the false discovery rate.
    Journal of the Royal Statistical Society B, 57(1), 289-300. Lakens, D. (2017). Equivalence tests. Social
    Psychological and Personality Science, 8(4), 355-362. Carroll, R. J., Ruppert, D., Stefanski, L. A., & Crainiceanu,
    C. M. (2006). Measurement error in nonlinear models (chapter 4). Chapman & Hall.

    Examples
    --------
    >>> sessions = pd.DataFrame({"session_id": [f"s{i}" for i in range(9)], "client": "", "counselor": "", "number": 1})
    >>> sessions["asks"], sessions["ors"] = np.arange(9.0), np.array([1.0, 3, 2, 4, 4, 6, 5, 7, 9])
    >>> found = associations(sessions, ["asks"], ["ors"], {"ors": True}, targets=["session"])
    >>> found[["level", "slope", "lo", "hi", "df", "finding"]].round(2).to_numpy().tolist()
    [['between_clients', 0.95, 0.66, 1.23, 7.0, 'goes with better']]
    """
    table, drawn = _with_imputed(with_groups(joined), measures, imputations or ())
    rows = [
        {"scale": scale, "measure": name, "target": target, "adjusted": adjusted} | row
        for scale in scales
        for target in targets
        for name, adjusted, row in _rows_of_target(table, drawn, scale, target, measures)
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


def _with_imputed(
    table: pd.DataFrame, measures: Sequence[str], imputations: Sequence[pd.DataFrame]
) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """Return the sessions with the means of imputed measures, and the sessions with each of the imputed values."""
    held = [name for name in measures if imputations and name in imputations[0]]
    if not held:
        return table, []
    ids = table["session_id"].astype(str)
    values = np.stack([one.set_index(one["session_id"].astype(str))[held].reindex(ids) for one in imputations])
    values = values.astype(np.float64)
    # A share of no turns, or a ratio over none, is undefined in some draws: known where at least half define it
    n = np.isfinite(values).sum(axis=0)
    means = np.where(2 * n >= len(values), np.nansum(values, axis=0) / np.maximum(n, 1), nan)
    drawn = [np.where(np.isfinite(one), one, means) for one in values]
    return _replaced(table, held, means), [_replaced(table, held, one) for one in drawn]


def _replaced(table: pd.DataFrame, names: Sequence[str], values: Floats) -> pd.DataFrame:
    """Return the table with other values (n_rows, n_names) in some columns."""
    return table.assign(**dict(zip(names, values.T, strict=True)))


def _rows_of_target(
    table: pd.DataFrame, drawn: Sequence[pd.DataFrame], scale: str, target: str, measures: Sequence[str]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield measure, adjustment and the columns of each row of a scale and target."""
    rows = target_rows(table, scale, target, measures)
    draws = [target_rows(one, scale, target, measures) for one in drawn]
    for name in measures:
        for adjusted in ("", ADJUSTED) if LENGTH in rows else ("",):
            needed = [Y, name, *([BEFORE] if BEFORE in rows else []), *([LENGTH] if adjusted else [])]
            kept = rows[needed].notna().all(axis=1).to_numpy(dtype=np.bool_)
            about = _counts(rows, kept)
            slopes = _slopes(_cases(rows, draws, kept, name, adjusted=bool(adjusted)))
            if target == NEXT:
                slopes = {WITHIN: slopes.get(WITHIN, _Slope(notes=(_NO_NEXT,)))}
            for level, slope in slopes.items():
                yield name, adjusted, {"level": level} | about | _row(slope)


def _counts(rows: pd.DataFrame, kept: Bools) -> dict[str, int]:
    """Return how many sessions, known clients and known counselors a model rests on."""
    some = rows[kept]
    n_clients = some.loc[some[KNOWN_CLIENT].astype(bool), CLIENT].nunique()
    n_counselors = some.loc[some[KNOWN_COUNSELOR].astype(bool), COUNSELOR].nunique()
    return {"n_sessions": int(some[SESSIONS].sum()), "n_clients": n_clients, "n_counselors": n_counselors}


def _cases(rows: pd.DataFrame, draws: Sequence[pd.DataFrame], kept: Bools, name: str, *, adjusted: bool) -> _Cases:
    """Return the cases of the model of a measure."""

    def numbers(column: str, frame: pd.DataFrame = rows) -> Floats:
        return frame[column].to_numpy(dtype=np.float64)[kept]

    people = [rows[column].to_numpy(dtype=np.int64)[kept] for column in (CLIENT, COUNSELOR)]
    return _Cases(
        y=numbers(Y),
        x=numbers(name),
        before=numbers(BEFORE) if BEFORE in rows else None,
        length=numbers(LENGTH) if adjusted else None,
        draws=np.column_stack([numbers(name, one) for one in draws]) if draws else np.zeros((int(kept.sum()), 0)),
        nested=nesting(*people, repeats=not (rows[SESSIONS] > 1).any()),
    )


def _slopes(model: _Cases) -> dict[str, _Slope]:
    """Return the slope of each level that the cases have."""
    if not model.nested.free:
        return {CLIENTS: _Slope(notes=(f"{len(model.y)} with score and measure: too few",))}
    spare, nested = model.spare, model.nested
    parts = nested.split(model.x)
    spreads = {"x": _spreads(model, parts), "y": nested.spread(nested.split(model.y))}
    why = {level: _why_not(model, level, spreads) for level in spare}
    asked = [level for level in spare if not why[level]]
    found = {level: _Slope(notes=(why[level],)) for level in spare if why[level]}
    found |= _fitted(model, {level: parts[level] for level in asked}, spreads)
    return {level: found[level] for level in LEVELS if level in found}


def _spreads(model: _Cases, parts: dict[str, Floats]) -> dict[str, float]:
    """Return the measure's standard deviation at each level; of imputed values, where there are any."""
    own = model.nested.spread(parts)
    if not model.draws.shape[1]:
        return own
    each = [model.nested.spread(model.nested.split(one)) for one in model.draws.T]
    return {level: float(np.sqrt(np.mean([one[level] ** 2 for one in each]))) if own[level] else 0.0 for level in own}


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


def _fitted(model: _Cases, parts: dict[str, Floats], spreads: Mapping[str, Mapping[str, float]]) -> dict[str, _Slope]:
    """Return the slopes of the levels whose parts (n,) of the measure are given."""
    nested, held = model.nested, _held_constant(model)
    found: dict[str, _Slope] = {}
    for level, part in list(parts.items()):
        rest = part - held @ np.linalg.lstsq(held, part, rcond=None)[0]
        if float(rest @ rest) <= (1 - _ALIKE) * float(part @ part):
            found[level] = _Slope(notes=("the measure does not vary apart from what is held constant",))
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
    """Return the columns beside the measure, of full rank: intercepts, and the parts of the given score and length.

    Where a level has too few units for a slope, each of its units has an intercept.
    """
    nested, few = model.nested, _few(model)
    units = nested.counselor if COUNSELORS in few else np.zeros_like(nested.counselor)
    units = nested.client if CLIENTS in few else units
    columns = [(units == one).astype(np.float64) for one in np.unique(units)]
    for held in (model.before, model.length):
        if held is not None:
            columns += [part for level, part in nested.split(held).items() if level not in few]
    return _independent(np.column_stack(columns))


def _independent(columns: Floats) -> Floats:
    """Return an orthonormal basis of what the columns (n, k) span, scaled to the size of an intercept."""
    left, sizes, _ = np.linalg.svd(columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300), full_matrices=False)
    return np.asarray(left[:, sizes > 1e-7 * sizes[0]] * np.sqrt(len(columns)))


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
