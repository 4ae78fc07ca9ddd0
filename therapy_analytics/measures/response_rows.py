"""What the therapist does next after each thing that the client does, as rows: two codes, counts, rate, difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.core.session import Role
from therapy_analytics.measures.base import INTERVAL, Column
from therapy_analytics.measures.intervals import FEWEST, Z95, design_effect, matched_differences, wilsons
from therapy_analytics.measures.rows import row_column
from therapy_analytics.measures.turns import Floats, Ints, given, main_codes, replies
from therapy_analytics.text import AnnotatedSession

Rows = Mapping[str, NDArray[np.generic]]
FEWEST_SESSIONS = 3
"""Sessions with something to compare under which the pooled difference has no interval."""
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
    row_column("therapist_code", "What the therapist does in the answer, as the codes of turns.csv are called"),
)


_DIFFERENCE = replace(
    _RATE,
    name="difference",
    meaning="How much oftener the answer has therapist_code after client_code than after other client turns of the "
    "session, where both turns are about as long",
    low=-1,
    formula="Mantel and Haenszel's difference of the two rates over four strata: shorter or longer client turns (by "
    f"the session's median), shorter or longer answers; empty with fewer than {FEWEST} client turns or answers of "
    "either kind. Interval: Sato's variance with added turns, widened for how alike turns of a session are",
    misleads="How long an answer is may itself be an answer to what the client said; over a handful of turns the "
    "interval is wide",
    source="Greenland & Robins (1985); Sato (1989); Agresti & Caffo (2000)",
)
_POOLED_DIFFERENCE = replace(
    _DIFFERENCE,
    meaning="How much oftener the answer has therapist_code after client_code than after other client turns of the "
    "same session",
    formula="Mantel and Haenszel's difference of the two rates, a stratum a session; empty where fewer than "
    f"{FEWEST} client turns or answers of either kind are there in all. Interval: over sessions, with Student's t, and "
    "no shorter than that of turns",
    misleads="Lengths of turns are not matched; the interval is empty where fewer than three sessions tell anything",
    source="Greenland & Robins (1985); Sato (1989); interval over sessions: Liang & Zeger (1986)",
)


def _with_ends(difference: Column) -> list[Column]:
    words = {"lo": "Lower end", "hi": "Upper end"}
    ends = {f"difference_{end}": f"{word} of the 95% interval of difference" for end, word in words.items()}
    return [difference, *(replace(difference, name=name, meaning=meaning) for name, meaning in ends.items())]


RESPONSE_COLUMNS = (row_column("session_id", "The session"), *_NAMES, *_COUNTS, *_with_ends(_DIFFERENCE))
POOLED_COLUMNS = (
    *_NAMES,
    row_column(
        "n_sessions", "Sessions of the run with a client turn with client_code that is answered", "count", low=0
    ),
    *_COUNTS,
    *_with_ends(_POOLED_DIFFERENCE),
)


COUNTS = ("n_client", "n_both", "n_client_other", "n_both_other")
_STRATA = 4


def codes_of(role: Role) -> tuple[str, ...]:
    """Return the codes of a role that responses are about: the main ones of the shipped codebooks, in their order."""
    return tuple(code.column for code in main_codes() if code.role == role)


def counts_by_length(session: AnnotatedSession, after: Floats, gives: Floats) -> Floats:
    """Return the counts of a session by strata of length, (4 strata, 4 counts, n_client_kinds, n_therapist_kinds).

    The counts are those of `COUNTS`; replies count where both kinds are known. The strata: whether the client's turn,
    and the answer, has more words than half of those of the session.

    Parameters
    ----------
    session : AnnotatedSession
        The session.
    after, gives : float64 arrays (n_kinds, n_replies, 2)
        Of which client turns, and of which answers, each kind is known, and which have it: 0 and 1; see `marked`.
    """
    words = [session.n_words[turns] for turns in replies(session)]
    longer = [one > (np.median(one) if len(one) else 0) for one in words]
    found = []
    for stratum in range(_STRATA):
        here = 2 * longer[0] + longer[1] == stratum
        (known_client, has_client), (known, has) = (np.moveaxis(kind[:, here], -1, 0) for kind in (after, gives))
        without = known_client - has_client
        found.append(np.stack([has_client @ known.T, has_client @ has.T, without @ known.T, without @ has.T]))
    return np.stack(found)


def marked(session: AnnotatedSession, kinds: Iterable[Sequence[str]], turns: Ints) -> Floats:
    """Return of which turns each kind is known, and which have it: any of its codes; (n_kinds, n, 2) of 0 and 1."""
    found = [given(session, codes) for codes in kinds]
    return np.stack([np.stack([~np.isnan(likely), hits], axis=1)[turns] for likely, hits in found]).astype(np.float64)


def response_rows(session: AnnotatedSession) -> Rows:
    """Return the rows of a session as columns of one length, by the names of `RESPONSE_COLUMNS`.

    There is a row for each pair of codes that the run's coder gives.
    """
    client, therapist = codes_of("client"), codes_of("therapist")
    pairs = list(product(client, therapist))
    after, gives = (
        marked(session, [(code,) for code in codes], turns)
        for codes, turns in zip((client, therapist), replies(session), strict=True)
    )
    kept = np.array([session.has(*pair) for pair in pairs], dtype=np.bool_)
    strata = counts_by_length(session, after, gives).reshape(_STRATA, len(COUNTS), -1)[:, :, kept]
    counts, names = strata.sum(axis=0), np.array(pairs, dtype=object)[kept]
    told, answered = _correlations(names)
    n, both, n_other, _ = counts
    effect = design_effect(n + n_other, told * answered)
    differences = matched_differences(strata[:, 1], strata[:, 0], strata[:, 3], strata[:, 2], effect)
    values = _described(names, counts, wilsons(both, n, answered), differences)
    values["session_id"] = np.repeat(np.array([session.session.id], dtype=object), len(n))
    return {column.name: values[column.name] for column in RESPONSE_COLUMNS}


def _correlations(names: NDArray[np.object_]) -> Floats:
    """Return how alike turns are in having the code of the client, and of the therapist, (2, n_pairs)."""
    return np.array([[correlation_of(code) for code in codes] for codes in names.T.tolist()], dtype=np.float64)


def pooled_responses(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each client code and therapist code over all sessions of a table.

    Parameters
    ----------
    table : DataFrame
        As ``analysis.responses``, of several sessions.

    Returns
    -------
    DataFrame
        The counts added up; rates with intervals over sessions; the difference of Mantel and Haenszel, a stratum a
        session. Columns as `POOLED_COLUMNS`.

    References
    ----------
    Greenland, S., & Robins, J. M. (1985). Biometrics, 41, 55-68. Liang, K.-Y., & Zeger, S. L. (1986). Longitudinal data
    analysis using generalized linear models. Biometrika, 73, 13-22. Korn, E. L., & Graubard, B. I. (1998). Confidence
    intervals for proportions with small expected number of positive counts. Survey Methodology, 24, 193-201.
    """
    pair, pairs = pd.factorize(pd.MultiIndex.from_frame(table[["client_code", "therapist_code"]].astype(str)))
    session, _ = pd.factorize(table["session_id"])
    counts = np.zeros((int(session.max(initial=-1)) + 1, len(COUNTS), len(pairs)))
    counts[session, :, pair] = table[list(COUNTS)].to_numpy(dtype=np.float64)
    names = np.array(pairs.to_list(), dtype=object).reshape(-1, 2)
    told, answered = _correlations(names)
    rates, differences = _pooled_rates(counts, answered), _pooled_differences(counts, told * answered)
    values = _described(names, counts.sum(axis=0), rates, differences)
    values["n_sessions"] = (counts[:, 0] > 0).sum(axis=0)
    return pd.DataFrame({column.name: values[column.name] for column in POOLED_COLUMNS})


def _pooled_differences(counts: Floats, alike: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Mantel and Haenszel's differences, a stratum a session, of counts (n_sessions, 4, n_pairs)."""
    n, both, n_other, both_other = counts.swapaxes(0, 1)
    weight = n * n_other / np.maximum(n + n_other, 1)
    effect = (design_effect(n + n_other, alike) * weight).sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-9)
    value, *ends = matched_differences(both, n, both_other, n_other, np.maximum(effect, 1.0))
    told = (weight > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.where(weight > 0, weight * (both / n - both_other / n_other - value), 0.0)
        between = told / (told - 1) * (off**2).sum(axis=0) / weight.sum(axis=0) ** 2
    # Sessions that happen to be alike are not taken for surer than their turns
    reach = np.where(told >= FEWEST_SESSIONS, _t(told) * np.sqrt(between), np.nan)
    low, high = np.minimum(value - reach, ends[0] + 0 * reach), np.maximum(value + reach, ends[1] + 0 * reach)
    return value, low.clip(-1, 1), high.clip(-1, 1)


def _pooled_rates(counts: Floats, alike: Floats) -> tuple[Floats, Floats, Floats]:
    """Return rates over all sessions with intervals over as many turns as tell as much as the sessions do."""
    turns, hits = counts[:, 0], counts[:, 1]
    n, both, sessions = turns.sum(axis=0), hits.sum(axis=0), (turns > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = both / n
        spread = sessions / (sessions - 1) * ((hits - rate * turns) ** 2).sum(axis=0) / n**2
        effect = np.fmax(n * spread / (rate * (1 - rate)), 1.0) * (_t(sessions) / Z95) ** 2
    # Of one session they are the session's own
    correlation = np.where(sessions > 1, (effect - 1) / np.maximum(n - 1, 1), alike)
    return wilsons(both, n, correlation)


def _t(n: Floats | Ints) -> Floats:
    """Return the quantile of Student's t for intervals over n sessions."""
    return np.asarray(stdtrit(np.maximum(n - 1, 1), 0.975))


def _described(
    names: NDArray[np.object_], counts: Floats, rates: Sequence[Floats], differences: Sequence[Floats]
) -> dict[str, NDArray[np.generic]]:
    n, both, n_other, both_other = counts
    base_rate, _, _ = wilsons(both + both_other, n + n_other)
    return {
        **dict(zip(("client_code", "therapist_code"), names.T, strict=True)),
        **dict(zip(COUNTS, counts.astype(np.int64), strict=True)),
        **dict(zip(("rate", "lo", "hi"), rates, strict=True)),
        "base_rate": base_rate,
        **dict(zip(("difference", "difference_lo", "difference_hi"), differences, strict=True)),
    }
