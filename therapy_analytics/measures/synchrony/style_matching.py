"""Linguistic style matching: do the two use function words alike, and does one take up the other's."""

from __future__ import annotations

from math import nan
from typing import Literal

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Curve, OnPage, Shown, Value
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.null.surrogates import Ints
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure, adjacent_turn_measure
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
    session_columns,
    session_values,
)
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure

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
Absent = Literal["matched", "left_out"]
"""What becomes of a category that neither of the two uses."""
_LSM = "Ireland, M. E., & Pennebaker, J. W. (2010). Language style matching in writing. JPSP 99"
_RLSM = (
    "Mueller-Frommeyer, L. C., Frommeyer, N. A. M., & Kauffeld, S. (2019). Introducing rLSM: An integrated metric "
    "assessing temporal reciprocity in language style matching. Behavior Research Methods 51"
)
MISLEADS = (
    "Not a quality score: studies disagree on its sign, it grows with words per turn, and strangers score nearly as "
    "high (.83 against .85). Read it beside words per turn and its baselines"
)


def matching(a: Floats, b: Floats, *, absent: Absent = "matched") -> Floats:
    """Return LSM of two sets of per cent values over the last axis.

    Parameters
    ----------
    a, b : float64 array (..., n_categories)
        Per cent of words in each category, 0 to 100.
    absent : {"matched", "left_out"}
        A category that neither uses counts as matched (1), as the published formula has it,
        or not at all (nan where none is used by either).

    Returns
    -------
    float64 array (...)
        0 to 1.

    Examples
    --------
    10 per cent for the one, 5 for the other, and a category that neither uses:

    >>> a, b = np.array([[10.0, 0.0]]), np.array([[5.0, 0.0]])
    >>> matching(a, b).round(3).tolist(), matching(a, b, absent="left_out").round(3).tolist()
    ([0.833], [0.667])
    """
    each = _matching(a, b)
    counted = np.ones(each.shape, dtype=np.bool_) if absent == "matched" else (a > 0) | (b > 0)
    n = counted.sum(axis=-1)
    return np.where(n > 0, np.where(counted, each, 0.0).sum(axis=-1) / np.maximum(n, 1), nan)


def _matching(a: Floats, b: Floats) -> Floats:
    """Return the matching of each category, 1 - |a - b| / (a + b + 0.0001), (..., n_categories)."""
    return np.asarray(1.0 - np.abs(a - b) / (a + b + 0.0001))


def counts_and_words(session: AnnotatedSession) -> Floats:
    """Return how often each turn has words of each category, and how many words, (n_turns, 10)."""
    columns = [session.turns.column(category) for category in CATEGORIES]
    return np.column_stack([session.turns.counts[:, columns], session.n_words]).astype(np.float64)


def shares(session: AnnotatedSession) -> Floats:
    """Return per cent of each turn's words in each category, (n_turns, 9); 0 for turns without words."""
    counts = counts_and_words(session)
    return np.asarray(100.0 * counts[:, :-1] / np.maximum(counts[:, -1:], 1))


def lsm(absent: Absent = "matched") -> AdjacentTurnMeasure:
    """Return LSM of adjacent turns, with the other rule for categories that neither uses if so wished."""

    def score(shares: Floats, anchors: Ints, replies: Ints) -> Floats:
        return matching(shares[anchors], shares[replies], absent=absent)

    return AdjacentTurnMeasure(
        name="lsm_turn_mean",
        series="lsm_turn",
        meaning="Style matching of neighbouring turns (LSM)",
        unit="proportion",
        formula="mean over nine function-word categories of 1 - |a - b| / (a + b + 0.0001), a and b per cent of the "
        "words of a turn and of the turn before; a category that neither uses counts as matched",
        misleads=MISLEADS,
        source=_LSM,
        represent=shares,
        score=score,
        core=True,
        shown=True,
    )


def reciprocal(a: Floats, b: Floats) -> Floats:
    """Return the matching of the categories that the turn before has, and which those are.

    Parameters
    ----------
    a, b : float64 array (..., n_categories)
        Per cent of the words of the turn before, and of the reply.

    Returns
    -------
    float64 array (..., 2 * n_categories)
        What replies add up: for each category its matching (0 where the turn before lacks it), then 1 or 0.

    Examples
    --------
    The turn before has 10 per cent of the first of two categories and none of the second:

    >>> reciprocal(np.array([10.0, 0.0]), np.array([5.0, 8.0])).round(3).tolist()
    [0.667, 0.0, 1.0, 0.0]
    """
    has = a > 0
    return np.concatenate([np.where(has, _matching(a, b), 0.0), has], axis=-1)


def over_categories(sums: Floats) -> Floats:
    """Return the mean of each category over replies, then over categories, from sums of `reciprocal`.

    Parameters
    ----------
    sums : float64 array (..., 2 * n_categories)

    Returns
    -------
    float64 array (...)
        0 to 1; nan where no turn before has any category.
    """
    total, n = np.split(sums, 2, axis=-1)
    n_used = np.count_nonzero(n, axis=-1)
    return np.where(n_used > 0, (total / np.maximum(n, 1)).sum(axis=-1) / np.maximum(n_used, 1), nan)


LSM = adjacent_turn_measure(lsm())
RLSM = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="rlsm",
        series="rlsm_turn",
        meaning="Reciprocal style matching (rLSM): how far a reply takes up the function words of the turn before",
        unit="proportion",
        formula="as lsm_turn, but over the categories that the turn before has; for a set of replies the mean of each "
        "category over replies, then over categories",
        misleads=MISLEADS,
        source=_RLSM,
        represent=shares,
        terms=lambda shares, anchors, replies: reciprocal(shares[anchors], shares[replies]),
        over=over_categories,
        core=True,
    )
)


def _per_cent(counts: Floats, side: Side) -> Floats:
    """Return per cent of all words of each speaker in each category, (n_speakers, 9); nan without words."""
    total = counts[side.turns].sum(axis=1)
    return np.asarray(100.0 * total[:, :-1] / np.where(total[:, -1:] > 0, total[:, -1:], nan))


def _of_all(counts: Floats, therapists: Side, clients: Side) -> Floats:
    """Return the style matching of all that each therapist says with all that each client says."""
    one, other = _per_cent(counts, therapists), _per_cent(counts, clients)
    return matching(one[:, None], other)[..., None]


WHOLE_LSM = session_measure(
    SessionMeasure(
        name="lsm",
        columns=(
            Column(
                name="lsm",
                meaning="Style matching of all that the therapist says with all that the client says (LSM)",
                unit="proportion",
                low=0,
                high=1,
                high_means="higher is more alike",
                formula="mean over nine function-word categories of 1 - |a - b| / (a + b + 0.0001), a and b per cent "
                "of all words",
                misleads=MISLEADS,
                source=_LSM,
                evidence="supported",
            ),
        ),
        represent=counts_and_words,
        values=_of_all,
        core=True,
    )
)


_PAGE: dict[str, Shown] = {
    "lsm_turn_mean": OnPage("together", "Style matching (LSM)"),
    "rlsm": OnPage("together", "Replies take up function words (rLSM)"),
    "lsm_turn": Curve("Style matching (LSM)", "synchrony", beside="lsm_turn_mean"),
}


@measure(columns=[*session_columns(WHOLE_LSM), *adjacent_columns(LSM), *adjacent_columns(RLSM)], core=9, page=_PAGE)
def style_matching(session: AnnotatedSession) -> dict[str, Value]:
    """Compare the shares of nine function-word categories (LSM, rLSM).

    High means that the two use articles, pronouns, prepositions and so on at like rates; for
    rLSM, that a reply has those that the turn before had. See `matching` and
    `reciprocal` for the formulas as examples.

    Notes
    -----
    The published formula of LSM calls a category matched (1) when neither uses it, which lifts
    the value of short turns; ``lsm(absent="left_out")`` is the other rule. The null distributions
    have the same turns and so the same lift: what counts is the distance.

    References
    ----------
    Ireland, M. E., & Pennebaker, J. W. (2010). Language style matching in writing: Synchrony in
    essays, correspondence, and poetry. Journal of Personality and Social Psychology, 99, 549-571.

    Mueller-Frommeyer, L. C., Frommeyer, N. A. M., & Kauffeld, S. (2019). Introducing rLSM: An
    integrated metric assessing temporal reciprocity in language style matching. Behavior
    Research Methods, 51, 1343-1359.
    """
    return session_values(WHOLE_LSM, session) | adjacent_values(LSM, session) | adjacent_values(RLSM, session)
