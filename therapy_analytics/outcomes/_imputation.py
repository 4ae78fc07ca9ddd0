"""The error of the codes: codes drawn from their probabilities, measures recomputed, estimates combined."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, nan, pi, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from therapy_analytics.analysis import Analysis
from therapy_analytics.behaviours import builtin_codebooks
from therapy_analytics.behaviours.codebook import DEFAULT_CORRELATION
from therapy_analytics.behaviours.hierarchy import parents, without_contradictions
from therapy_analytics.clusters import Bools, Floats
from therapy_analytics.errors import BadOptionError
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.annotate import TurnArrays
from therapy_analytics.language.tokens import Tokens
from therapy_analytics.measures import MEASURES
from therapy_analytics.results import load
from therapy_analytics.session import ROLES, Session

IMPUTATIONS = 20
SHIFT = 1.0
"""Standard deviation between sessions of the shift of a code's log-odds. So much do the log-odds of giving a code by
mistake vary between recordings that the tagger had not seen (``compare/tagger_errors.csv``: the standard error of the
specificity between recordings beside that of independent turns; median over codes 1.05, middle half .9 to 1.25)."""
OF_CODES = ("behaviour_rates", "code_rates", "code_shares", "reflection_to_question", "responses")
"""Measures that rest on the codes of turns, roles and numbers of words alone."""
_LOGIT = 16 * sqrt(3) / (15 * pi)
"""The logistic function is about the normal distribution function of this times its argument."""


def imputed(
    results: Path | str | Analysis, m: int = IMPUTATIONS, seed: int = 0, *, shift: float = SHIFT
) -> list[pd.DataFrame]:
    """Return the sessions table with codes drawn from their probabilities, several times.

    Parameters
    ----------
    results : Path, str or Analysis
        A folder that ``tanalyze run`` wrote, or an analysis.
    m : int, optional
        How many data sets, 2 or more.
    seed : int, optional
        Random seed; the draws of a session depend on it, the session's id and the number of the data set alone.
    shift : float, optional
        Standard deviation of the session's shift of each code's log-odds.

    Returns
    -------
    list of DataFrame
        `m` tables with the rows and columns of ``sessions.csv``. In each, the columns of the measures in `OF_CODES`
        (rates with interval and count, shares, ratios, rates of answers) are those of drawn codes; all others are as
        they were, also those that rest on probabilities or phrases.

    Raises
    ------
    BadOptionError
        `m` is less than 2, or as `load` raises it.
    BadDataFileError
        As for `load`.

    Notes
    -----
    Errors of the turns of a session are alike, so independent draws would make measures of sessions look too certain:
    in each data set and session the log-odds of a code are shifted by one normal number, after they were scaled so
    that the mean over shifts is the probability. A sub-code is drawn only where its parent is, and of exclusive
    sub-codes one.

    The draws know nothing of any outcome. Where a measure predicts an outcome, slopes on the single data sets are too
    small, as the part of the measure that is drawn anew goes with nothing, and Rubin's rules cannot repair it: take the
    mean over the data sets as the predictor (regression calibration), as `associations` does. Where the measure itself
    is the outcome, Rubin's rules (`combined`) hold, but their intervals are too wide; the mean serves there as well.
    Either holds if the probabilities are calibrated where they are used: a tagger whose error goes with the outcome
    needs codes by hand (`corrected_slopes`). Coverage: ``benchmarks/outcomes_coverage.py``.

    References
    ----------
    Rubin, D. B. (1987). Multiple imputation for nonresponse in surveys. Wiley. Zeger, S. L., Liang, K.-Y., & Albert,
    P. S. (1988). Models for longitudinal data: A generalized estimating equation approach. Biometrics, 44, 1049-1060
    (the scale). Skrondal, A., & Laake, P. (2001). Regression among factor scores. Psychometrika, 66, 563-575.
    """
    if m < 2:
        option = "--imputations"
        raise BadOptionError(option, f"{m} is too few", f"Ask for 2 or more, such as {IMPUTATIONS}")
    found = results if isinstance(results, Analysis) else load(results)
    names = [str(name) for name in found.probabilities if name in found.turns and name not in ("session_id", "turn")]
    rated = {name: DEFAULT_CORRELATION for name in names if f"{name}_rate" in found.sessions}
    places = found.turns.groupby(found.turns["session_id"].astype(str), sort=False).indices
    values: list[list[dict[str, float]]] = [[] for _ in range(m)]
    for name in found.sessions["session_id"].astype(str):
        own = places.get(name, np.zeros(0, dtype=np.int64))
        bare = replace(_without_words(name, found.turns.iloc[own]), rated=rated)
        likely = found.probabilities[names].iloc[own].to_numpy(dtype=np.float64)
        for j, rows in enumerate(values):
            rng = np.random.default_rng([seed, j, zlib.crc32(name.encode())])
            rows.append(_measured(bare, names, likely, drawn_codes(names, likely, rng, shift)))
    tables = [pd.DataFrame(rows, index=found.sessions.index) for rows in values]
    return [found.sessions.assign(**one[[name for name in one if name in found.sessions]]) for one in tables]


def drawn_codes(names: Sequence[str], likely: Floats, rng: np.random.Generator, shift: float = SHIFT) -> Bools:
    """Draw the codes of the turns of a session.

    Parameters
    ----------
    names : sequence of str
        Columns of the codes, (n_codes,).
    likely : float64 array (n_turns, n_codes)
        Their probabilities; nan for turns that cannot have the code, which then do not get it.
    rng : Generator
        Of random numbers.
    shift : float
        As for `imputed`.

    Returns
    -------
    bool array (n_turns, n_codes)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> drawn_codes(["mi_question", "mi_question_open"], np.tile([1.0, 0.0], (3, 1)), rng).astype(int).tolist()
    [[1, 0], [1, 0], [1, 0]]
    """
    books = builtin_codebooks()
    parent = parents(books)
    # One number a turn for a code and its sub-codes: who has the sub-code then has the code, each with its probability
    family = [names.index(parent[name]) if parent.get(name) in names else i for i, name in enumerate(names)]
    exclusive = {code.column for book in books for code in book.codes if code.exclusive}
    moves = rng.normal(0.0, shift, len(names))[family]
    chosen = special.expit(special.logit(likely) * sqrt(1 + (_LOGIT * shift) ** 2) + moves)
    random, low = rng.random(likely.shape)[:, family], np.zeros_like(likely)
    for i, name in enumerate(names):
        before = [j for j in range(i) if parent.get(name) in exclusive and parent.get(names[j]) == parent[name]]
        low[:, i] = chosen[:, before].sum(axis=1)
    drawn = (random >= low) & (random < low + chosen)
    return without_contradictions(names, drawn, chosen, np.ones(len(likely), dtype=np.int64), books)


def _without_words(name: str, turns: pd.DataFrame) -> AnnotatedSession:
    """Return a session of which only the roles and lengths of its turns are known."""
    n, nothing = len(turns), np.zeros(0, dtype=np.bool_)
    tokens = Tokens((), (), nothing.astype(np.uint64), nothing, nothing.astype(np.int32), np.zeros(1, dtype=np.int64),
                    nothing, nothing)  # fmt: skip
    arrays = TurnArrays(
        tokens=tokens,
        offsets=np.zeros(n + 1, dtype=np.int64),
        roles=np.array([ROLES.index(role) for role in turns["role"].astype(str)], dtype=np.int8),
        n_words=turns["n_words"].fillna(1).to_numpy(dtype=np.int64),  # words that cannot be counted are there
        n_sentences=np.zeros(n, dtype=np.int64),
        categories={},
        counts=np.zeros((n, 0), dtype=np.int32),
        covered=np.zeros((n, 0), dtype=np.int32),
    )
    return AnnotatedSession(Session(id=name, source_file="", turns=()), arrays)


def _measured(bare: AnnotatedSession, names: Sequence[str], likely: Floats, drawn: Bools) -> dict[str, float]:
    """Return the session's numbers of the measures in `OF_CODES`, with drawn codes (n_turns, n_codes)."""
    known = np.where(np.isnan(likely), nan, drawn.astype(np.float64))
    session = replace(bare, probabilities=dict(zip(names, known.T, strict=True)),
                      decisions=dict(zip(names, drawn.T, strict=True)))  # fmt: skip
    values = {name: value for one in OF_CODES for name, value in MEASURES[one].compute(session).items()}
    return {name: float(value) for name, value in values.items() if np.ndim(value) == 0}


@dataclass(frozen=True, slots=True)
class Combined:
    """An estimate over imputed data sets: value, standard error, degrees of freedom.

    `missing` is the share of its information, 0 to 1, that is lost because the values are not known.
    """

    value: float
    error: float
    df: float
    missing: float


def combined(values: Sequence[float], errors: Sequence[float], df: float = inf) -> Combined:
    """Combine an estimate over imputed data sets by Rubin's rules.

    Parameters
    ----------
    values, errors : sequences of float
        The estimate and its standard error in each of two or more data sets.
    df : float, optional
        Degrees of freedom that the estimate would have if all values were known.

    Returns
    -------
    Combined
        nan where a value or error is.

    Raises
    ------
    BadOptionError
        There are fewer than two.

    References
    ----------
    Barnard, J., & Rubin, D. B. (1999). Small-sample degrees of freedom with multiple imputation. Biometrika, 86(4),
    948-955.

    Examples
    --------
    Means 1, 2 and 3, each with an error of 1: the variance is 1 + (1 + 1/3) * 1.

    >>> found = combined([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], df=20)
    >>> round(found.value, 3), round(found.error**2, 3), round(found.df, 2), round(found.missing, 3)
    (2.0, 2.333, 3.44, 0.571)
    """
    m = len(values)
    if m < 2:
        option = "imputations"
        raise BadOptionError(option, f"{m} data set has no variance between data sets", "Give two or more")
    estimates = np.asarray(values, dtype=np.float64)
    within, between = float(np.mean(np.square(errors))), float(estimates.var(ddof=1))
    total = within + (1 + 1 / m) * between
    if not isfinite(total) or total <= 0:
        return Combined(nan, nan, nan, nan)
    missing = (1 + 1 / m) * between / total
    seen = df if df == inf else (df + 1) / (df + 3) * df * (1 - missing)
    drawn = (m - 1) / missing**2 if missing > 0 else inf
    both = 0.0 if seen == drawn == inf else 1 / seen + 1 / drawn
    return Combined(float(estimates.mean()), sqrt(total), 1 / both if both else inf, missing)
