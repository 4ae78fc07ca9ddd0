"""Linguistic style matching: do the two use function words alike."""

from __future__ import annotations

from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, mean_column, measure
from therapy_analytics.session import CLIENT, THERAPIST

CATEGORIES = tuple(
    f"function_words.{name}"
    for name in (
        "personal_pronouns",
        "impersonal_pronouns",
        "articles",
        "conjunctions",
        "prepositions",
        "auxiliary_verbs",
        "adverbs",
        "negations",
        "quantifiers",
    )
)
SHUFFLES = 200
_SOURCE = "Ireland, M. E., & Pennebaker, J. W. (2010). Language style matching in writing. JPSP 99"
_MISLEADS = (
    "Not a quality score: studies disagree on its sign, it grows with words per turn, and strangers score nearly as "
    "high (.83 against .85). Read it beside words per turn and its baseline"
)


def _column(name: str, meaning: str, formula: str, **change: object) -> Column:
    fields = {
        "unit": "proportion",
        "low": 0,
        "high": 1,
        "direction": "function words used more alike",
        "misleads": _MISLEADS,
        "source": _SOURCE,
        **change,
    }
    return Column(name=name, meaning=meaning, formula=formula, **fields)  # type: ignore[arg-type]


@measure(
    columns=[
        _column(
            "lsm",
            "Style matching of all that the therapist says with all that the client says",
            "mean over nine function-word categories of 1 - |a - b| / (a + b + 0.0001), a and b per cent of words",
        ),
        _column(
            "lsm_turn_mean",
            "Mean style matching of neighbouring turns of therapist and client",
            "mean of lsm_turn",
        ),
        _column(
            "lsm_turn_mean_null",
            "What lsm_turn_mean would be by chance: each reply put behind another turn of the same partner",
            f"mean over {SHUFFLES} seeded shuffles of the replies within the session, of the mean over pairs",
        ),
        _column(
            "lsm_turn_mean_z",
            "How far lsm_turn_mean lies above chance",
            "(lsm_turn_mean - lsm_turn_mean_null) / standard deviation over the shuffles",
            unit="standard deviations",
            low=-inf,
            high=inf,
        ),
        _column(
            "n_lsm_pairs",
            "Pairs of neighbouring turns that lsm_turn_mean rests on",
            "count of lsm_turn values",
            unit="pairs",
            high=inf,
            direction="more pairs, a steadier mean",
        ),
        _column(
            "lsm_turn",
            "Style matching of this turn with the turn before, when one is of the therapist and one of the client",
            "as lsm, for the two turns; a category that neither uses counts as matched",
            level="turn",
        ),
    ]
)
def style_matching(session: AnnotatedSession) -> dict[str, float | NDArray[np.float64]]:
    """Compare the shares of nine function-word categories (LSM).

    High means that the two use articles, pronouns, prepositions and so on at like rates. Per
    cent of words in one category, 10 for the one and 5 for the other:

    >>> round(float(matching(np.array([[10.0]]), np.array([[5.0]]))[0]), 3)
    0.667

    Notes
    -----
    The published formula calls a category matched (1) when neither uses it, which lifts the
    value of short turns. `lsm_turn_mean_null` has the same turns and so the same lift: what
    counts is the distance between the two.

    References
    ----------
    Ireland, M. E., & Pennebaker, J. W. (2010). Language style matching in writing: Synchrony in
    essays, correspondence, and poetry. Journal of Personality and Social Psychology, 99, 549-571.
    """
    shares = _percent(session)
    pairs = _pairs(session)
    per_turn = np.full(len(session), nan)
    per_turn[pairs] = matching(shares[pairs], shares[pairs - 1])
    mean, null, z = _against_chance(shares, pairs, session)
    return {
        "lsm": _whole_session(session),
        "lsm_turn_mean": mean,
        "lsm_turn_mean_null": null,
        "lsm_turn_mean_z": z,
        "n_lsm_pairs": float(len(pairs)),
        "lsm_turn": per_turn,
    }


def matching(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return LSM of two sets of per cent values, (..., n_categories) each, over the last axis."""
    return np.asarray(np.mean(1.0 - np.abs(a - b) / (a + b + 0.0001), axis=-1))


def _counts(session: AnnotatedSession) -> NDArray[np.float64]:
    columns = [session.turns.column(category) for category in CATEGORIES]
    return session.turns.counts[:, columns].astype(np.float64)


def _percent(session: AnnotatedSession) -> NDArray[np.float64]:
    """Per cent of each turn's words in each category, (n_turns, 9); 0 for turns without words."""
    return 100.0 * _counts(session) / np.maximum(session.n_words, 1)[:, None]


def _whole_session(session: AnnotatedSession) -> float:
    sides = []
    for of in (session.of("therapist"), session.of("client")):
        n_words = session.n_words[of].sum()
        if not n_words:
            return nan
        sides.append(100.0 * _counts(session)[of].sum(axis=0) / n_words)
    return float(matching(*sides))


def _pairs(session: AnnotatedSession) -> NDArray[np.int64]:
    """Return the turns with words that follow a turn with words of the other of the two."""
    roles, words = session.turns.roles, session.n_words > 0
    spoken = words & ((roles == THERAPIST) | (roles == CLIENT))
    return np.flatnonzero(spoken[1:] & spoken[:-1] & (roles[1:] != roles[:-1])) + 1


def _against_chance(
    shares: NDArray[np.float64], pairs: NDArray[np.int64], session: AnnotatedSession
) -> tuple[float, float, float]:
    """Mean over pairs, its mean under shuffled replies, and the distance in standard deviations."""
    mean = mean_column(matching(shares[pairs], shares[pairs - 1]))
    null = np.array(_shuffled_means(shares, pairs, session))
    if len(pairs) < 4 or not len(null):
        return mean, nan, nan
    spread = float(null.std(ddof=1))
    centre = float(null.mean())
    return mean, centre, (mean - centre) / spread if spread > 1e-12 else nan


def _shuffled_means(
    shares: NDArray[np.float64], pairs: NDArray[np.int64], session: AnnotatedSession
) -> NDArray[np.float64]:
    """Means over pairs with the replies of each role shuffled among themselves, (SHUFFLES,)."""
    generator = session.generator()
    replies = np.tile(pairs, (SHUFFLES, 1))
    for role in (THERAPIST, CLIENT):
        own = np.flatnonzero(session.turns.roles[pairs] == role)
        replies[:, own] = generator.permuted(replies[:, own], axis=1)
    return matching(shares[replies], shares[pairs - 1][None]).mean(axis=1) if len(pairs) else np.zeros(0)
