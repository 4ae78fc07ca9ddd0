"""Linguistic style matching: do the two use function words alike, and does one take up the other's."""

from __future__ import annotations

from functools import partial
from math import nan
from typing import Literal

import numpy as np

from therapy_analytics.measures import measure
from therapy_analytics.measures.base import Curve, OnPage, Shown, Value
from therapy_analytics.measures.synchrony.adjacent_turns import (
    AdjacentTurnMeasure,
    adjacent_turn_measure,
    mean_of_defined,
)
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
    session_columns,
    session_values,
    value_column,
)
from therapy_analytics.measures.synchrony.whole_session import of_whole_sides, session_measure
from therapy_analytics.measures.turns import Floats
from therapy_analytics.text import AnnotatedSession

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
    "Not a quality score: studies disagree on its sign, it grows with words per turn, and surrogate pairs score "
    "nearly as high (.83 against .85). Read it beside words per turn and its null distributions"
)


def counts_and_words(session: AnnotatedSession) -> Floats:
    """Return how many words of each category each turn has, then how many words, float64 (n_turns, 10)."""
    columns = [session.turns.column(category) for category in CATEGORIES]
    return np.column_stack([session.turns.counts[:, columns], session.n_words]).astype(np.float64)


def per_cent(counts: Floats) -> Floats:
    """Return per cent of words in each category, (..., n_categories + 1) to (..., n_categories); 0 without words."""
    return np.asarray(100.0 * counts[..., :-1] / np.maximum(counts[..., -1:], 1))


def _matching(a: Floats, b: Floats) -> Floats:
    """Return the matching of each category, from per cent of words, float64 (..., n_categories)."""
    return np.asarray(1.0 - np.abs(a - b) / (a + b + 0.0001))


def matching(a: Floats, b: Floats, *, absent: Absent = "matched") -> Floats:
    """Return the style matching (LSM) of turns, or of all that two people say.

    Parameters
    ----------
    a, b : float64 array (..., n_categories + 1)
        Words of each category, then words of all kinds.
    absent : {"matched", "left_out"}
        A category that neither uses counts as matched (1), as the published formula has it,
        or not at all (nan where none is used by either).

    Returns
    -------
    float64 array (...)
        0 to 1.

    Examples
    --------
    10 per cent of the one's words, 5 of the other's, and a category that neither uses:

    >>> a, b = np.array([1.0, 0, 10]), np.array([1.0, 0, 20])
    >>> float(matching(a, b).round(3)), float(matching(a, b, absent="left_out").round(3))
    (0.833, 0.667)
    """
    each = _matching(per_cent(a), per_cent(b))
    counted = np.full(each.shape, absent == "matched") | (a[..., :-1] > 0) | (b[..., :-1] > 0)
    n = counted.sum(axis=-1)
    return np.where(n > 0, np.where(counted, each, 0.0).sum(axis=-1) / np.maximum(n, 1), nan)


def reciprocal(a: Floats, b: Floats) -> Floats:
    """Return the matching (rLSM) of each category that the turn before has.

    Parameters
    ----------
    a, b : float64 array (..., n_categories + 1)
        As for `matching`, of the turn before and of the reply.

    Returns
    -------
    float64 array (..., n_categories)
        0 to 1; nan where the turn before lacks the category. Several replies have the mean of each category over
        replies, then over categories.

    Examples
    --------
    The turn before has 10 per cent of the first of two categories and none of the second:

    >>> reciprocal(np.array([1.0, 0, 10]), np.array([1.0, 2, 20])).round(3).tolist()
    [0.667, nan]
    """
    return np.where(a[..., :-1] > 0, _matching(per_cent(a), per_cent(b)), nan)


def over_categories(categories: Floats) -> Floats:
    """Return the mean of the defined categories, (..., n_categories) to (...)."""
    return mean_of_defined(np.moveaxis(categories, -1, 0))


def lsm(absent: Absent = "matched") -> AdjacentTurnMeasure:
    """Return LSM of adjacent turns, with the other rule for categories that neither uses if so wished."""
    return AdjacentTurnMeasure(
        name="lsm_turn_mean",
        series="lsm_turn",
        meaning="Style matching of neighbouring turns (LSM)",
        unit="proportion",
        formula="mean over nine function-word categories of 1 - |a - b| / (a + b + 0.0001), a and b per cent of the "
        "words of a turn and of the turn before; a category that neither uses counts as matched",
        misleads=MISLEADS,
        source=_LSM,
        represent=counts_and_words,
        score=partial(matching, absent=absent),
        core=True,
        shown=True,
    )


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
        represent=counts_and_words,
        score=reciprocal,
        over=lambda scores: over_categories(mean_of_defined(scores)),
        each=over_categories,
        core=True,
    )
)
WHOLE_LSM = session_measure(of_whole_sides(LSM, "lsm"))
_WHOLE = value_column(
    LSM,
    "lsm",
    meaning="Style matching of all that the therapist says with all that the client says (LSM)",
    formula="mean over nine function-word categories of 1 - |a - b| / (a + b + 0.0001), a and b per cent of all words",
)
_PAGE: dict[str, Shown] = {
    "lsm_turn_mean": OnPage("together", "Style matching (LSM)"),
    "rlsm": OnPage("together", "Replies take up function words (rLSM)"),
    "lsm_turn": Curve("Style matching (LSM)", beside="lsm_turn_mean"),
}


@measure(
    columns=[*session_columns(WHOLE_LSM, [_WHOLE]), *adjacent_columns(LSM), *adjacent_columns(RLSM)],
    core=9,
    page=_PAGE,
)
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
