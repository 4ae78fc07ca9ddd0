"""Does synchrony predict disclosure? What clients disclose after replies that are more or less in synchrony."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Floats, Ints
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.printable import counted

SYNCHRONY = ("semantic_similarity_turn", "lexical_alignment_turn", "lsm_turn", "rlsm_turn", "coordination_turn")
DISCLOSURE = ("disclosure_emotional_turn", "disclosure_informational_turn")
DIRECTIONS = ("after", "after_beyond_before", "before")
NEEDED = ("session_id", "turn", "role", "n_words")
STATISTICS = ("estimate", "lo", "hi", "p", "slope_sd", "within_slope", "null", "null_sd", "null_p")
FEWEST_SESSIONS, FEWEST_TURNS = 5, 30
DRAWS = 200
_TURNS = "turns"
_LEFT = 1e-9
"""A share of variance that is rounding."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Pairs:
    """Synchrony `x` and disclosure `y` (n,) of replies, in sessions numbered from 0; all but `session` within sessions.

    `x` and `y` have standard deviation 1 within sessions; `held` is orthonormal; `level` is `y` with sessions' means.
    """

    session: Ints
    x: Floats
    y: Floats
    level: Floats
    held: Floats


class _Fit(NamedTuple):
    """A slope, its standard error, its standard deviation between sessions, and a note on the model."""

    slope: float
    error: float
    spread: float = nan
    note: str = ""

    @property
    def sound(self) -> bool:
        return isfinite(self.slope) and isfinite(self.error) and self.error > 0


def disclosure_after_synchrony(
    turns: pd.DataFrame,
    *,
    synchrony: Sequence[str] | None = None,
    disclosure: Sequence[str] | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Test whether clients disclose more after replies that are more in synchrony with the client's turn before.

    For each reply of a therapist, turn t, between two turns of the client: its synchrony with turn t-1, and the
    client's disclosure at turn t+1. Sessions are pooled by a mixed model with random intercepts and slopes; only
    differences within sessions count.

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
          shuffles of synchrony among the replies of each session, and the share of shuffles as far from that mean.
        - ``note``: why statistics are missing (nan), or that the mixed model did not converge and ``estimate`` is
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

    Residuals of synchrony are shuffled, so that a shuffle keeps their variance. Shuffles take neighbouring replies as
    exchangeable: moods that come and go within a session make ``null_p`` too small. ``null_p`` is about these sessions;
    ``p`` about the average of others like them.

    An association in time is no proof that synchrony brings disclosure. A topic that goes on raises both: compare
    ``after`` with ``before`` and with ``after_beyond_before``. Of many rows, one in twenty has p < .05 by chance alone.

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
    >>> turns["disclosure_informational_turn"] = [0.2, nan, 0.4, nan, 0.3]
    >>> found = disclosure_after_synchrony(turns)
    >>> found[["direction", "n_turns", "note"]].to_numpy().tolist()[0]
    ['after', 2, '1 session with two replies or more, 5 are needed']
    """
    _require(turns, NEEDED)
    asked = product(_columns(turns, synchrony, SYNCHRONY), _columns(turns, disclosure, DISCLOSURE), DIRECTIONS)
    ordered = turns.sort_values(["session_id", "turn"], kind="stable", ignore_index=True)
    at, session, held = _replies(ordered)
    rows = []
    for x, y, direction in asked:
        before, after = (_numbers(ordered, y)[at + step] for step in (-1, 1))
        told = before if direction == "before" else after
        more = [before] if direction == "after_beyond_before" else []
        data = np.column_stack([_numbers(ordered, x)[at], told, held, *more])
        about = {"synchrony": x, "disclosure": y, "direction": direction}
        rows.append(about | _statistics(data, session, seed))
    return pd.DataFrame(rows)


def _require(turns: pd.DataFrame, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in turns.columns]
    if missing:
        raise BadOptionError(_TURNS, f"the table has no column {', '.join(missing)}", "Give the table of turns.csv")


def _columns(turns: pd.DataFrame, asked: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Return the columns that are asked for, or those of the known ones that are there."""
    if asked is not None:
        names = [asked] if isinstance(asked, str) else list(asked)
        _require(turns, names)
        return names
    found = [name for name in known if name in turns.columns]
    if not found:
        raise BadOptionError(_TURNS, f"the table has none of {', '.join(known)}", "Name the columns that it has")
    return found


def _numbers(turns: pd.DataFrame, name: str) -> Floats:
    return np.asarray(pd.to_numeric(turns[name], errors="coerce").to_numpy(dtype=np.float64, na_value=nan))


def _replies(turns: pd.DataFrame) -> tuple[Ints, Ints, Floats]:
    """Return the replies of therapists between two turns of the client, in ordered turns.

    They are rows `at` (n,), in sessions numbered ascending (n,), with covariates (n, 4): log words of the three turns,
    and the turn's number.
    """
    session = np.unique(turns["session_id"].astype(str).to_numpy(dtype=np.str_), return_inverse=True)[1]
    number, words = _numbers(turns, "turn"), np.log1p(_numbers(turns, "n_words"))
    role = turns["role"].to_numpy(dtype=object)
    client, therapist = role == "client", role == "therapist"
    follows = (np.diff(session) == 0) & (np.diff(number) == 1)
    at = np.flatnonzero(client[:-2] & therapist[1:-1] & client[2:] & follows[:-1] & follows[1:]) + 1
    return at, session[at], np.column_stack([words[at - 1], words[at], words[at + 1], number[at]])


def _statistics(data: Floats, session: Ints, seed: int) -> dict[str, Any]:
    """Return the statistics of a row, of synchrony, disclosure and covariates (n_replies, 2 + n)."""
    from scipy import stats  # noqa: PLC0415 (slow to import, and only associations need it)

    known = np.isfinite(data).all(axis=1)
    data, session = data[known], session[known]
    # Sessions of one reply say nothing of differences within sessions.
    _, own, counts = np.unique(session, return_inverse=True, return_counts=True)
    several = counts[own] > 1
    data, session = data[several], np.unique(own[several], return_inverse=True)[1]
    n = int(np.count_nonzero(counts > 1))
    found: dict[str, Any] = {"n_sessions": n, "n_turns": len(data)} | dict.fromkeys(STATISTICS, nan)
    pairs = _pairs(data, session, n)
    if isinstance(pairs, str):
        return found | {"note": pairs}
    fit = _mixed(pairs)
    fit = fit if fit.sound else _robust(pairs)
    found |= {"estimate": fit.slope, "slope_sd": fit.spread, "note": fit.note}
    if fit.sound:
        low, high = stats.t.interval(0.95, n - 1, loc=fit.slope, scale=fit.error)
        p = 2 * stats.t.sf(abs(fit.slope) / fit.error, n - 1)
        found |= {"lo": float(low), "hi": float(high), "p": float(p)}
    return found | _against_shuffles(pairs, seed)


def _pairs(data: Floats, session: Ints, n_sessions: int) -> _Pairs | str:
    """Return what a model needs, from columns x, y, and covariates; or why it would be undefined."""
    from scipy import linalg  # noqa: PLC0415 (slow to import, and only associations need it)

    if n_sessions < FEWEST_SESSIONS:
        return f"{counted(n_sessions, 'session')} with two replies or more, {FEWEST_SESSIONS} are needed"
    if len(data) < FEWEST_TURNS:
        return f"{len(data)} replies, {FEWEST_TURNS} are needed"
    sums = np.zeros((n_sessions, data.shape[1]))
    np.add.at(sums, session, data)
    within = data - (sums / np.bincount(session)[:, None])[session]
    spread = np.sqrt((within**2).sum(axis=0) / (len(data) - n_sessions))
    varies = spread > _LEFT * np.abs(data).max(axis=0)  # rounding leaves a trace of what is constant within sessions
    held = within[:, 2:][:, varies[2:]] / spread[2:][varies[2:]]
    held = linalg.orth(held, rcond=1e-6) if held.shape[1] else held
    for i, name in enumerate(("synchrony", "disclosure")):
        rest = within[:, i] - held @ (held.T @ within[:, i])
        if not varies[i] or rest @ rest <= _LEFT * (within[:, i] @ within[:, i]):
            return f"{name} does not vary within sessions, or only with what is held constant"
    x, y = (within[:, :2] / spread[:2]).T
    return _Pairs(session=session, x=x, y=y, level=(data[:, 1] - data[:, 1].mean()) / spread[1], held=held)


def _against_shuffles(pairs: _Pairs, seed: int) -> dict[str, float]:
    """Return the slope within sessions, and its null distribution over shuffles of synchrony within sessions."""
    x = pairs.x - pairs.held @ (pairs.held.T @ pairs.x)
    y = pairs.y - pairs.held @ (pairs.held.T @ pairs.y)
    # Replies are ordered by session, so that sorting by session and random numbers shuffles within sessions.
    random = np.random.default_rng(seed).random((DRAWS, len(x)))
    draws = x[np.argsort(pairs.session + random, axis=1)]
    slopes = draws @ y / (x @ x - ((draws @ pairs.held) ** 2).sum(axis=1))
    found, null = float(x @ y / (x @ x)), float(slopes.mean())
    as_far = np.count_nonzero(np.abs(slopes - null) >= abs(found - null) - 1e-12)  # ties differ by rounding
    p = (1 + as_far) / (1 + DRAWS)
    return {"within_slope": found, "null": null, "null_sd": float(slopes.std(ddof=1)), "null_p": p}


def _mixed(pairs: _Pairs) -> _Fit:
    """Fit the mixed model: fixed x and covariates, random intercept and slope of x by session."""
    from statsmodels.regression.mixed_linear_model import MixedLM  # noqa: PLC0415  # slow: only where it is used

    both = np.column_stack([np.ones(len(pairs.x)), pairs.x])
    fixed = np.column_stack([both, pairs.held * np.sqrt(len(pairs.x))])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = MixedLM(pairs.level, fixed, groups=pairs.session, exog_re=both)
            result = model.fit(method=["lbfgs", "powell"])
            # Errors from the fixed part of the Hessian alone, as in other packages: the whole of it, which `bse_fe`
            # inverts, gives errors up to three times as large where a variance is near 0.
            hessian = np.asarray(model.hessian(result.params_object)[0])[: fixed.shape[1], : fixed.shape[1]]
            slope, error = float(result.fe_params[1]), float(np.sqrt(np.linalg.inv(-hessian)[1, 1]))
        except (np.linalg.LinAlgError, ValueError, FloatingPointError):
            return _Fit(nan, nan)
    if not result.converged or any("singular" in str(one.message) for one in caught):
        return _Fit(nan, nan)
    variances = np.diag(np.asarray(result.cov_re))
    note = "hardly any variance between sessions, of level or slope" if variances.min() < 0.01 else ""
    return _Fit(slope, error, float(np.sqrt(max(variances[1], 0.0))), note)


def _robust(pairs: _Pairs) -> _Fit:
    """Return the slope within sessions with cluster-robust errors, for where the mixed model does not converge."""
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415  # slow: only where it is used

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OLS(pairs.y, np.column_stack([pairs.x, pairs.held]))
        result = model.fit(cov_type="cluster", cov_kwds={"groups": pairs.session}, use_t=True)
        slope, error = float(result.params[0]), float(result.bse[0])
    note = "the mixed model did not converge: slope within sessions, errors robust to clusters"
    return _Fit(slope, error, note=note)
