"""Does synchrony predict disclosure? What the client discloses after replies that follow the client more or less."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.errors import BadOptionError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SYNCHRONY = ("semantic_similarity_turn", "lexical_alignment_turn", "lsm_turn", "rlsm_turn", "coordination_turn")
DISCLOSURE = ("disclosure_emotional_turn", "disclosure_informational_turn", "disclosure_depth_turn")
DIRECTIONS = ("after", "after_beyond_before", "before")
NEEDED = ("session_id", "turn", "role", "n_words")
FIGURES = ("estimate", "lo", "hi", "p", "slope_sd", "within_slope", "null", "null_sd", "null_p")
FEWEST_SESSIONS, FEWEST_TURNS = 5, 30
DRAWS = 200
_LEFT = 1e-9
"""A share of variance below which nothing is left but rounding."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Triples:
    """Replies of therapists that stand between two turns of the client; rows of the table by session and turn.

    Attributes
    ----------
    at, before, after : int array (n,)
        Rows of the reply, of the client's turn before it, and of the one after it.
    session : int array (n,)
        Number of the session, rising.
    held : float array (n, 4)
        What is held constant: log words of the three turns, and the turn's number.
    """

    at: Ints
    before: Ints
    after: Ints
    session: Ints
    held: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Pairs:
    """Synchrony `x` and disclosure `y` of n replies, sessions numbered from 0; all but `session` within sessions.

    `x`, `y` have standard deviation 1 within sessions; `held` is orthonormal; `level` is `y` with the sessions' means.
    """

    session: Ints
    x: Floats
    y: Floats
    level: Floats
    held: Floats


@dataclass(frozen=True, slots=True)
class _Fit:
    """A slope, its standard error, its standard deviation between sessions, and what must be said of it."""

    slope: float
    error: float
    spread: float = nan
    note: str = ""

    @property
    def sound(self) -> bool:
        return isfinite(self.slope) and isfinite(self.error) and self.error > 0


class _Undefined(Exception):  # noqa: N818  # an outcome, not an error: it never leaves this file
    """Why a row has no figures."""


def disclosure_after_synchrony(
    turns: pd.DataFrame,
    *,
    synchrony: Sequence[str] | None = None,
    disclosure: Sequence[str] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Ask whether clients disclose more after replies that are more in synchrony with what they said before.

    For each reply of a therapist, turn t, that stands between two turns of the client: its synchrony with
    turn t-1, and the client's disclosure at turn t+1. Sessions are pooled by a mixed model in which each
    has its own level and its own slope; only differences within sessions count.

    Parameters
    ----------
    turns : DataFrame
        The turns table of one or many sessions (``turns.csv``), with ``session_id``, ``turn``, ``role``, ``n_words``.
    synchrony, disclosure : sequence of str, optional
        Columns of it; by default those of `SYNCHRONY` and `DISCLOSURE` that it has.
    seed : int, optional
        Of the shuffles.

    Returns
    -------
    DataFrame
        A row for each column of synchrony, column of disclosure, and direction:

        - ``direction``: ``after`` (disclosure at t+1), ``after_beyond_before`` (the same with disclosure at t-1 held
          constant as well), ``before`` (disclosure at t-1: a reply cannot have caused it, so this is the control).
        - ``n_sessions``, ``n_turns``: sessions with two replies or more, and their replies.
        - ``estimate``, ``lo``, ``hi``, ``p``: standard deviations of disclosure for one of synchrony, both within
          sessions; 95% interval and two-sided p by t with ``n_sessions`` - 1 degrees of freedom.
        - ``slope_sd``: standard deviation of the sessions' own slopes around it.
        - ``within_slope``: the slope within sessions by least squares, one for all sessions.
        - ``null``, ``null_sd``, ``null_p``: mean and standard deviation of ``within_slope`` over 200
          shuffles of synchrony among the replies of each session; how often a shuffle is as far from that mean.
        - ``note``: why figures are missing (nan), or that the mixed model did not hold and ``estimate`` is
          ``within_slope``, with errors that are robust to clusters (sessions).

    Raises
    ------
    BadOptionError
        The table lacks a column that is needed, or one that was asked for.

    Notes
    -----
    Held constant, as differences from the session's mean: log(1 + words) of turns t-1, t and t+1, and the turn's
    number. Synchrony and disclosure both grow with words, in measure and in fact. Undefined with fewer
    than 5 sessions or 30 replies, and where nothing varies within sessions.

    What is shuffled is what these leave of synchrony, so that a shuffle keeps its variance. Shuffles take neighbouring
    replies for exchangeable: moods that come and go within a session make ``null_p`` too small. It asks
    whether there is anything in these sessions; ``p``, whether there would be on average in others like them.

    An association in time is no proof that synchrony brings disclosure. A topic that goes on raises both: compare
    ``after`` with ``before`` and with ``after_beyond_before``. Of many rows, chance finds one in twenty at p < .05.

    References
    ----------
    Bolger, N., & Laurenceau, J.-P. (2013). Intensive longitudinal methods. Guilford (lagged effects within persons).

    Frisch, R., & Waugh, F. V. (1933). Partial time regressions as compared with individual trends. Econometrica, 1(4),
    387-401 (the slope from residuals).

    Winkler, A. M., et al. (2014). Permutation inference for the general linear model. NeuroImage, 92, 381-397 (shuffled
    residuals).

    Examples
    --------
    >>> turns = pd.DataFrame({"session_id": "a", "turn": range(5), "n_words": [9, 5, 12, 4, 8]})
    >>> turns["role"] = ["client", "therapist", "client", "therapist", "client"]
    >>> turns["rlsm_turn"] = [nan, 0.8, 0.7, 0.9, 0.6]
    >>> turns["disclosure_depth_turn"] = [0.2, nan, 0.4, nan, 0.3]
    >>> found = disclosure_after_synchrony(turns)
    >>> found[["direction", "n_turns", "note"]].to_numpy().tolist()[0]
    ['after', 2, '1 session with two replies or more, 5 are needed']
    """
    _require(turns, NEEDED)
    asked = product(_columns(turns, synchrony, SYNCHRONY), _columns(turns, disclosure, DISCLOSURE), DIRECTIONS)
    ordered = turns.sort_values(["session_id", "turn"], kind="stable", ignore_index=True)
    triples = _triples(ordered)
    rows = [
        {"synchrony": x, "disclosure": y, "direction": direction}
        | _row(triples, _numbers(ordered, x), _numbers(ordered, y), direction, seed)
        for x, y, direction in asked
    ]
    return pd.DataFrame(rows)


def _require(turns: pd.DataFrame, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in turns.columns]
    if missing:
        option = "turns"
        raise BadOptionError(option, f"the table has no column {', '.join(missing)}", "Give the table of turns.csv")


def _columns(turns: pd.DataFrame, asked: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Return the columns that are asked for, or those of the known ones that are there."""
    if asked is not None:
        names = [asked] if isinstance(asked, str) else list(asked)
        _require(turns, names)
        return names
    found = [name for name in known if name in turns.columns]
    if not found:
        option = "turns"
        raise BadOptionError(option, f"the table has none of {', '.join(known)}", "Name the columns that it has")
    return found


def _numbers(turns: pd.DataFrame, name: str) -> Floats:
    return np.asarray(pd.to_numeric(turns[name], errors="coerce").to_numpy(dtype=np.float64, na_value=nan))


def _triples(turns: pd.DataFrame) -> _Triples:
    """Find the replies: the turns must be ordered."""
    session = np.unique(turns["session_id"].astype(str).to_numpy(dtype=np.str_), return_inverse=True)[1]
    number, words = _numbers(turns, "turn"), np.log1p(_numbers(turns, "n_words"))
    role = turns["role"].to_numpy(dtype=object)
    client, therapist = role == "client", role == "therapist"
    follows = (np.diff(session) == 0) & (np.diff(number) == 1)
    middle = client[:-2] & therapist[1:-1] & client[2:] & follows[:-1] & follows[1:]
    at = np.flatnonzero(middle) + 1
    held = np.column_stack([words[at - 1], words[at], words[at + 1], number[at]])
    return _Triples(at=at, before=at - 1, after=at + 1, session=session[at], held=held)


def _row(triples: _Triples, x: Floats, y: Floats, direction: str, seed: int) -> dict[str, Any]:
    """Return the figures of a row, of the reply's `x` and the client's `y`."""
    of = y[triples.before if direction == "before" else triples.after]
    more = [y[triples.before]] if direction == "after_beyond_before" else []
    data = np.column_stack([x[triples.at], of, triples.held, *more])
    known = np.isfinite(data).all(axis=1)
    data, session, n = _in_company(data[known], triples.session[known])
    found: dict[str, Any] = {"n_sessions": n, "n_turns": len(data)} | dict.fromkeys(FIGURES, nan) | {"note": ""}
    try:
        return found | _figures(_pairs(data, session, n), seed)
    except _Undefined as why:
        return found | {"note": str(why)}


def _in_company(data: Floats, session: Ints) -> tuple[Floats, Ints, int]:
    """Leave out sessions of one reply, which tell nothing of differences within; number the others from 0."""
    _, own, counts = np.unique(session, return_inverse=True, return_counts=True)
    several = counts[own] > 1
    session = np.unique(own[several], return_inverse=True)[1]
    return data[several], session, int(np.count_nonzero(counts > 1))


def _pairs(data: Floats, session: Ints, n_sessions: int) -> _Pairs:
    """Return what a model needs, from columns x, y, and what is held constant; say where it would be undefined."""
    from scipy import linalg  # noqa: PLC0415 (slow to import, and only associations need it)

    if n_sessions < FEWEST_SESSIONS:
        plural = "" if n_sessions == 1 else "s"
        raise _Undefined(f"{n_sessions} session{plural} with two replies or more, {FEWEST_SESSIONS} are needed")
    if len(data) < FEWEST_TURNS:
        raise _Undefined(f"{len(data)} replies, {FEWEST_TURNS} are needed")
    within = _centred(data, session)
    # Rounding leaves a trace of what is constant within sessions.
    spread = np.sqrt((within**2).sum(axis=0) / (len(data) - n_sessions))
    varies = spread > _LEFT * np.abs(data).max(axis=0)
    held = within[:, 2:][:, varies[2:]] / spread[2:][varies[2:]]
    held = linalg.orth(held, rcond=1e-6) if held.shape[1] else held
    for i, name in enumerate(("synchrony", "disclosure")):
        rest = within[:, i] - held @ (held.T @ within[:, i])
        if not varies[i] or rest @ rest <= _LEFT * (within[:, i] @ within[:, i]):
            raise _Undefined(f"{name} does not vary within sessions, or only with what is held constant")
    x, y = (within[:, :2] / spread[:2]).T
    return _Pairs(session=session, x=x, y=y, level=(data[:, 1] - data[:, 1].mean()) / spread[1], held=held)


def _centred(values: Floats, session: Ints) -> Floats:
    """Return values (n,) or (n, k) less the mean of their session."""
    sums = np.zeros((session.max() + 1, *values.shape[1:]))
    np.add.at(sums, session, values)
    counts = np.bincount(session).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(values - (sums / counts)[session])


def _figures(pairs: _Pairs, seed: int) -> dict[str, float | str]:
    from scipy import stats  # noqa: PLC0415 (the same)

    fit = _fit(pairs)
    df = int(pairs.session.max())
    low, high = stats.t.interval(0.95, df, loc=fit.slope, scale=fit.error) if fit.sound else (nan, nan)
    p = 2 * stats.t.sf(abs(fit.slope) / fit.error, df) if fit.sound else nan
    found: dict[str, float | str] = {"estimate": fit.slope, "lo": float(low), "hi": float(high), "p": float(p)}
    return found | {"slope_sd": fit.spread, "note": fit.note} | _against_shuffles(pairs, seed)


def _against_shuffles(pairs: _Pairs, seed: int) -> dict[str, float]:
    """Return the slope within sessions, and what shuffles of synchrony within sessions make of it."""
    x = pairs.x - pairs.held @ (pairs.held.T @ pairs.x)
    y = pairs.y - pairs.held @ (pairs.held.T @ pairs.y)
    # Sessions stand behind one another, so that sorting by session and chance shuffles within them.
    chance = np.random.default_rng(seed).random((DRAWS, len(x)))
    draws = x[np.argsort(pairs.session + chance, axis=1)]
    slopes = draws @ y / (x @ x - ((draws @ pairs.held) ** 2).sum(axis=1))
    found = float(x @ y / (x @ x))
    null = float(slopes.mean())
    # A hair's breadth, so that rounding does not part a shuffle from its equal.
    as_far = np.count_nonzero(np.abs(slopes - null) >= abs(found - null) - 1e-12)
    p = (1 + as_far) / (1 + DRAWS)
    return {"within_slope": found, "null": null, "null_sd": float(slopes.std(ddof=1)), "null_p": p}


def _fit(pairs: _Pairs) -> _Fit:
    """Return the slope of the mixed model, or that within sessions with robust errors where the model does not hold."""
    fit = _mixed(pairs)
    return fit if fit.sound else _robust(pairs)


def _mixed(pairs: _Pairs) -> _Fit:
    """Fit the mixed model: fixed x and what is held, random level and slope of x by session."""
    from statsmodels.regression.mixed_linear_model import MixedLM  # noqa: PLC0415  # slow: only where it is used

    both = np.column_stack([np.ones(len(pairs.x)), pairs.x])
    fixed = np.column_stack([both, pairs.held * np.sqrt(len(pairs.x))])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model = MixedLM(pairs.level, fixed, groups=pairs.session, exog_re=both)
            result = model.fit(method=["lbfgs", "powell"])
            # Errors from the fixed part of the Hessian alone, as other packages have them: the whole of it, which
            # `bse_fe` inverts, is no good where a variance is near 0 (errors up to three times as large).
            hessian = np.asarray(model.hessian(result.params_object)[0])[: fixed.shape[1], : fixed.shape[1]]
            slope, error = float(result.fe_params[1]), float(np.sqrt(np.linalg.inv(-hessian)[1, 1]))
        except (np.linalg.LinAlgError, ValueError, FloatingPointError):
            return _Fit(nan, nan)
    if not result.converged or any("singular" in str(one.message) for one in told):
        return _Fit(nan, nan)
    variances = np.diag(np.asarray(result.cov_re))
    note = "hardly any variance between sessions, of level or slope" if variances.min() < 0.01 else ""
    return _Fit(slope, error, float(np.sqrt(max(variances[1], 0.0))), note)


def _robust(pairs: _Pairs) -> _Fit:
    """Return the slope within sessions with errors robust to whatever goes on within a session."""
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415  # slow: only where it is used

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OLS(pairs.y, np.column_stack([pairs.x, pairs.held]))
        result = model.fit(cov_type="cluster", cov_kwds={"groups": pairs.session}, use_t=True)
        slope, error = float(result.params[0]), float(result.bse[0])
    note = "the mixed model did not hold: slope within sessions, errors robust to clusters"
    return _Fit(slope, error, note=note)
