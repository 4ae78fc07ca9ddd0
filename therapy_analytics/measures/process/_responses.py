"""What the therapist does next after each thing that the client does, as rows: two codes, counts, rate, odds ratio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from therapy_analytics.behaviours.codebook import correlation_of
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures._intervals import FEWEST, Z95, design_effect, odds_ratios, wilsons
from therapy_analytics.measures._rates import INTERVAL
from therapy_analytics.measures._rows import row_column
from therapy_analytics.measures.process._counts import Floats, given, replies

Rows = Mapping[str, NDArray[np.generic]]
Kinds = Mapping[str, tuple[str, ...]]
"""What a row is called, and the codes of which any counts."""

_FEELS = ("bolt_changing", "bolt_sustaining", "bolt_negative_feeling", "bolt_positive_feeling")
_REFLECTS = tuple(
    f"bolt_reflections_on_{what}" for what in ("needs", "emotions", "values", "consequences", "conflicts", "strengths")
)
_ASKS = tuple(f"bolt_questions_on_{what}" for what in ("experiences", "perspectives", "emotions"))
_OFFERS = ("bolt_problem_solving", "bolt_planning", "bolt_normalizing", "bolt_psychoeducation")
CLIENT: Kinds = {
    code: (code,) for code in (*_FEELS, "bolt_gained_insight", "bolt_life_event", "mi_change", "mi_sustain")
}
THERAPIST: Kinds = {
    **{code: (code,) for code in (*_REFLECTS, *_ASKS, *_OFFERS, "mi_question", "mi_reflection", "mi_input")},
    "advice": ("bolt_problem_solving", "bolt_planning"),
}
SHAPE = (len(CLIENT), len(THERAPIST))

FEWEST_SESSIONS = 3
"""Sessions with something to compare under which the pooled odds ratio has no interval."""
_RATE = row_column("rate", "How often the therapist's answer has therapist_code after client_code: n_both / n_client")
_RATE = replace(_RATE, unit="proportion", low=0, high=1, misleads="Codes are predictions; few turns, wide interval")
_LOW = replace(
    _RATE,
    name="lo",
    meaning="Lower end of the 95% interval of the rate",
    formula=f"{INTERVAL}; of several sessions, over as many turns as tell as much as the sessions do",
    source="Wilson (1927); Korn & Graubard (1998)",
)
_COUNTS = (
    row_column("n_client", "Client turns with client_code that the therapist answers", "count", low=0),
    row_column("n_both", "Those of them whose answer has therapist_code", "count", low=0),
    row_column("n_client_other", "Client turns without client_code that the therapist answers", "count", low=0),
    row_column("n_both_other", "Those of them whose answer has therapist_code", "count", low=0),
    _RATE,
    _LOW,
    replace(_LOW, name="hi", meaning="Upper end of the 95% interval of the rate"),
    replace(
        _RATE,
        name="base_rate",
        meaning="How often the therapist's answer has therapist_code after any client turn",
    ),
)
_NAMES = (
    row_column("client_code", "What the client does in the turn, as the codes of turns.csv are called"),
    row_column(
        "therapist_code", "What the therapist does in the answer; advice is problem_solving or planning of BOLT"
    ),
)
_ODDS = replace(
    row_column("odds_ratio", "Odds of therapist_code after client_code against its odds after other client turns"),
    unit="ratio",
    low=0,
    formula=f"n_both (n_client_other - n_both_other) / ((n_client - n_both) n_both_other); empty over zero, and with "
    f"fewer than {FEWEST} client turns or answers of either kind. Interval: exact with mid-p, widened for how alike "
    "turns of a session are",
    misleads="Over a handful of turns the interval is wide",
    source="Cornfield (1956); Agresti (2013)",
)
_POOLED_ODDS = replace(
    _ODDS,
    meaning="Odds of therapist_code after client_code against its odds after other client turns of the same session",
    formula="Mantel and Haenszel's, a stratum a session; empty where no session has anything to compare",
    misleads="The interval is one over sessions, with Student's t: empty where fewer than three tell anything",
    source="Mantel & Haenszel (1959); interval: Liang (1985)",
)


def _ends(name: str) -> tuple[str, str]:
    return f"{name}_lo", f"{name}_hi"


_EDGES = tuple(
    replace(_ODDS, name=name, meaning=f"{word} end of the 95% interval of odds_ratio")
    for name, word in zip(_ends("odds_ratio"), ("Lower", "Upper"), strict=True)
)
RESPONSE_COLUMNS = (row_column("session_id", "The session"), *_NAMES, *_COUNTS, _ODDS, *_EDGES)
POOLED_COLUMNS = (
    *_NAMES,
    row_column(
        "n_sessions", "Sessions of the run with a client turn with client_code that is answered", "count", low=0
    ),
    *_COUNTS,
    _POOLED_ODDS,
    *(replace(_POOLED_ODDS, name=edge.name, meaning=edge.meaning) for edge in _EDGES),
)


def response_counts(session: AnnotatedSession) -> Floats:
    """Return the counts of a session, (4, n_client_codes, n_therapist_codes).

    They are ``n_client``, ``n_both``, ``n_client_other``, ``n_both_other``. Pairs count where both codes are known;
    codes that the run's coder does not give have counts of 0.
    """
    return session.cached(_response_counts)


def _response_counts(session: AnnotatedSession) -> Floats:
    client, answer = replies(session)
    known_client, has_client = _coded(session, client, slice(len(CLIENT)))
    known, has = _coded(session, answer, slice(len(CLIENT), None))
    without = known_client - has_client
    return np.stack([has_client @ known.T, has_client @ has.T, without @ known.T, without @ has.T])


def _coded(session: AnnotatedSession, turns: NDArray[np.int64], kinds: slice) -> tuple[Floats, Floats]:
    """Return of which turns a code is known, and which have it: two arrays (n_kinds, n) of 0 and 1."""
    known, has = np.moveaxis(session.cached(_table)[turns, kinds], -1, 0)
    return known.T, has.T


def _table(session: AnnotatedSession) -> Floats:
    """Return of which turns each code is known, and which have it: (n_turns, n_kinds, 2) of 0 and 1."""
    found = [given(session, codes) for codes in (*CLIENT.values(), *THERAPIST.values())]
    known = np.stack([~np.isnan(likely) for likely, _ in found], axis=1)
    return np.stack([known, known & np.stack([hits for _, hits in found], axis=1)], axis=2).astype(np.float64)


def response_rows(session: AnnotatedSession) -> Rows:
    """Return the rows of a session as columns of one length, by the names of `RESPONSE_COLUMNS`."""
    counts = response_counts(session).reshape(4, -1)
    told, answered = _correlations()
    n, both, n_other, both_other = counts
    effect = design_effect(n + n_other, told * answered)
    values = _described(counts, wilsons(both, n, answered)) | _odds(odds_ratios(both, n, both_other, n_other, effect))
    values["session_id"] = np.repeat(np.array([session.session.id], dtype=object), SHAPE[0] * SHAPE[1])
    return {column.name: values[column.name] for column in RESPONSE_COLUMNS}


@cache
def _correlations() -> Floats:
    """Return how alike turns are in having the codes of the client and of the therapist, (2, n_cells)."""
    client, therapist = ([correlation_of(*codes) for codes in kinds.values()] for kinds in (CLIENT, THERAPIST))
    return np.stack([np.repeat(client, SHAPE[1]), np.tile(therapist, SHAPE[0])])


@dataclass(slots=True)
class Pooled:
    """Sums over sessions, a cell for each client and therapist code: all that is kept of them.

    Attributes
    ----------
    counts : float64 array (4, n_client_codes, n_therapist_codes)
        As `response_counts`, added up.
    n_sessions : float64 array (n_client_codes, n_therapist_codes)
        Sessions with the client code.
    squares : float64 array (3, n_client_codes, n_therapist_codes)
        Sums over sessions of the squares and the product of ``n_both`` and ``n_client``.
    strata : float64 array (9, n_client_codes, n_therapist_codes)
        Sums over sessions of Mantel and Haenszel's R and S, of their squares and product, of sessions with either, and
        of PR, PS + QR and QS of Robins and others (1986).
    """

    counts: Floats = field(default_factory=lambda: np.zeros((4, *SHAPE)))
    n_sessions: Floats = field(default_factory=lambda: np.zeros(SHAPE))
    squares: Floats = field(default_factory=lambda: np.zeros((3, *SHAPE)))
    strata: Floats = field(default_factory=lambda: np.zeros((9, *SHAPE)))

    def add(self, counts: Floats) -> None:
        """Add the counts of one session; one at a time, so that sums do not depend on batches."""
        self.counts += counts
        self.n_sessions += counts[0] > 0
        self.squares += _squares(counts[1], counts[0])
        self.strata += _stratum(counts)


COUNTS = ("n_client", "n_both", "n_client_other", "n_both_other")


def pooled_responses(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each client code and therapist code over all sessions of a table.

    Parameters
    ----------
    table : DataFrame
        As ``analysis.responses``, of several sessions.

    Returns
    -------
    DataFrame
        The counts added up; rates with intervals over sessions; the odds ratio of Mantel and Haenszel, a stratum a
        session. Columns as `POOLED_COLUMNS`.
    """
    rows, columns = ({code: i for i, code in enumerate(one)} for one in (CLIENT, THERAPIST))
    at = [rows[str(code)] for code in table["client_code"]], [columns[str(code)] for code in table["therapist_code"]]
    session, _ = pd.factorize(table["session_id"])
    counts = np.zeros((int(session.max(initial=-1)) + 1, len(COUNTS), *SHAPE))
    counts[session, :, at[0], at[1]] = table[list(COUNTS)].to_numpy(dtype=np.float64)
    pooled = Pooled()
    for one in counts:
        pooled.add(one)
    return pd.DataFrame(dict(pooled_rows(pooled)))


def _stratum(counts: Floats) -> Floats:
    """Return what a session adds to the odds ratio of Mantel and Haenszel and its variance."""
    n, a, n_other, b = counts
    total = np.maximum(n + n_other, 1)
    c, d = n - a, n_other - b
    r, s = a * d / total, b * c / total
    p, q = (a + d) / total, (b + c) / total
    return np.stack([r, s, *_squares(r, s), (r > 0) | (s > 0), p * r, p * s + q * r, q * s])


def _squares(one: Floats, other: Floats) -> Floats:
    return np.stack([one * one, one * other, other * other])


def pooled_rows(pooled: Pooled) -> Rows:
    """Return the rows of all sessions together as columns of one length, by the names of `POOLED_COLUMNS`.

    References
    ----------
    Mantel, N., & Haenszel, W. (1959). Journal of the National Cancer Institute, 22, 719-748. Liang, K.-Y. (1985). Odds
    ratio inference with dependent data. Biometrika, 72, 678-682. Robins, J., Breslow, N., & Greenland, S. (1986).
    Estimators of the Mantel-Haenszel variance. Biometrics, 42, 311-323. Korn, E. L., & Graubard, B. I. (1998).
    Confidence intervals for proportions with small expected number of positive counts. Survey Methodology, 24, 193-201.
    """
    counts, odds = pooled.counts.reshape(4, -1), _mantel_haenszel(pooled.strata.reshape(9, -1))
    values = _described(counts, _pooled_rates(pooled)) | _odds(odds)
    values["n_sessions"] = pooled.n_sessions.ravel().astype(np.int64)
    return {column.name: values[column.name] for column in POOLED_COLUMNS}


def _mantel_haenszel(strata: Floats) -> tuple[Floats, Floats, Floats]:
    r, s, rr, rs, ss, n, pr, mixed, qs = strata
    told = (r > 0) & (s > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.where(told, r / s, np.nan)
        between = n / (n - 1) * np.maximum(rr - 2 * odds * rs + odds**2 * ss, 0) / r**2
        of_turns = pr / (2 * r**2) + mixed / (2 * r * s) + qs / (2 * s**2)
    # Sessions that happen to be alike are not taken for surer than their turns
    reach = np.where(n >= FEWEST_SESSIONS, np.fmax(_t(n) * np.sqrt(between), Z95 * np.sqrt(of_turns)), np.nan)
    return odds, odds * np.exp(-reach), odds * np.exp(reach)


def _pooled_rates(pooled: Pooled) -> tuple[Floats, Floats, Floats]:
    """Return rates over all sessions with intervals over as many turns as tell as much as the sessions do."""
    n, both = pooled.counts.reshape(4, -1)[:2]
    sessions = pooled.n_sessions.ravel()
    kk, kn, nn = pooled.squares.reshape(3, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = both / n
        spread = sessions / (sessions - 1) * np.maximum(kk - 2 * rate * kn + rate**2 * nn, 0) / n**2
        effect = np.fmax(n * spread / (rate * (1 - rate)), 1.0) * (_t(sessions) / Z95) ** 2
    # Of one session they are the session's own
    correlation = np.where(sessions > 1, (effect - 1) / np.maximum(n - 1, 1), _correlations()[1])
    return wilsons(both, n, correlation)


def _t(n: Floats) -> Floats:
    """Return the quantile of Student's t for intervals over n sessions."""
    return np.asarray(stdtrit(np.maximum(n - 1, 1), 0.975))


def _described(counts: Floats, rates: tuple[Floats, Floats, Floats]) -> dict[str, NDArray[np.generic]]:
    n, both, n_other, both_other = counts
    rate, low, high = rates
    base, _, _ = wilsons(both + both_other, n + n_other)
    whole = {"n_client": n, "n_both": both, "n_client_other": n_other, "n_both_other": both_other}
    n_tables = len(n) // (SHAPE[0] * SHAPE[1])
    return {
        "client_code": np.tile(np.repeat(np.array(list(CLIENT), dtype=object), len(THERAPIST)), n_tables),
        "therapist_code": np.tile(np.array(list(THERAPIST), dtype=object), len(CLIENT) * n_tables),
        **{name: values.astype(np.int64) for name, values in whole.items()},
        "rate": rate,
        "lo": low,
        "hi": high,
        "base_rate": base,
    }


def _odds(found: tuple[Floats, Floats, Floats]) -> dict[str, NDArray[np.generic]]:
    return dict(zip(("odds_ratio", *_ends("odds_ratio")), found, strict=True))
