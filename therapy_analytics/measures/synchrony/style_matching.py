"""Linguistic style matching: do the two use function words alike, and does one take up the other's."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Literal

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._chance import Floats, Ints
from therapy_analytics.measures.synchrony._columns import pairwise_columns, pairwise_values
from therapy_analytics.measures.synchrony._draws import Draws
from therapy_analytics.measures.synchrony._marks import codes_of, counted
from therapy_analytics.measures.synchrony._pairwise import Found, Pairwise, mean, pairwise, scores
from therapy_analytics.measures.synchrony._sums import Stretches
from therapy_analytics.measures.synchrony._whole import Side, Whole, whole, whole_columns, whole_values

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
    each = _alike(a, b)
    if absent == "matched":
        return np.asarray(each.sum(axis=-1) / each.shape[-1])
    return mean(scores(np.where((a > 0) | (b > 0), each, nan)).sum(axis=-2))


def _alike(a: Floats, b: Floats) -> Floats:
    """Return 1 - |a - b| / (a + b + 0.0001), with few arrays: many draws are compared at once."""
    found, total = np.asarray(a - b), np.asarray(a + b)
    np.abs(found, out=found)
    total += 0.0001
    found /= total
    return np.subtract(1.0, found, out=found)


def shares(session: AnnotatedSession) -> Floats:
    """Return per cent of each turn's words in each category, (n_turns, 9); 0 for turns without words."""
    return 100.0 * _counts(session) / np.maximum(session.n_words, 1)[:, None]


def _counts(session: AnnotatedSession) -> Floats:
    columns = [session.turns.column(category) for category in CATEGORIES]
    return session.turns.counts[:, columns].astype(np.float64, order="F")


def _by_category(table: Floats, turns: Ints) -> Floats:
    """Return rows of a table, category after category in memory.

    Sums over categories are then added in order, whatever other rows there are.
    """
    return np.moveaxis(table.T.take(turns, axis=1), 0, -1)


def lsm(absent: Absent = "matched") -> Pairwise:
    """Return LSM of neighbouring turns, with the other rule for categories that neither uses if so wished."""

    def score(before: Floats, after: Floats, anchors: Ints, replies: Ints) -> Floats:
        return matching(_by_category(before, anchors), _by_category(after, replies), absent=absent)

    def terms(before: Floats, after: Floats, anchors: Ints, replies: Ints) -> Floats:
        return scores(score(before, after, anchors, replies))

    return Pairwise(
        name="lsm_turn_mean",
        series="lsm_turn",
        meaning="Style matching of neighbouring turns (LSM)",
        unit="proportion",
        formula="mean over nine function-word categories of 1 - |a - b| / (a + b + 0.0001), a and b per cent of the "
        "words of a turn and of the turn before; a category that neither uses counts as matched",
        misleads=MISLEADS,
        source=_LSM,
        represent=shares,
        terms=terms,
        score=score,
        symmetric=True,
    )


def reciprocal(before: Floats, after: Floats, anchors: Ints, replies: Ints) -> Floats:
    """Return the matching of the categories that the turn before has, and which those are, (..., 18).

    Examples
    --------
    The turn before has 10 per cent of the first of two categories and none of the second:

    >>> said, reply = np.array([[10.0, 0.0]]), np.array([[5.0, 8.0]])
    >>> reciprocal(said, reply, np.array([0]), np.array([0])).round(3).tolist()
    [[0.667, 0.0, 1.0, 0.0]]
    """
    anchors, replies = np.broadcast_arrays(anchors, replies)
    found = np.moveaxis(_matched(before.T, after.T, anchors, replies), 0, -1)
    return np.concatenate([found, np.broadcast_to(before[anchors] > 0, found.shape)], axis=-1)


def _matched(before: Floats, after: Floats, anchors: Ints, replies: Ints) -> Floats:
    """Return the matching of the categories that the turn before has, else 0, (n_categories, ...)."""
    a, b = before.take(anchors, axis=1), after.take(replies, axis=1)
    found = _alike(a, b)
    found *= a > 0
    return found


def over_categories(sums: Floats) -> Floats:
    """Return the mean of each category over replies, then over categories, from sums of `reciprocal`."""
    total, n = np.split(sums, 2, axis=-1)
    return _over_both(np.moveaxis(total, -1, 0), np.moveaxis(n, -1, 0))


def _over_both(total: Floats, n: Floats | Ints) -> Floats:
    """Return the same from the sums of each category, (n_categories, ...), and from how many replies have it."""
    n_used = np.count_nonzero(n, axis=0)
    return np.where(n_used > 0, (total / np.maximum(n, 1)).sum(axis=0) / np.maximum(n_used, 1), nan)


def _reciprocal_draws(before: Floats, after: Floats, draws: Draws, stretches: Stretches) -> Found:
    """Return what gives `over_categories` of draws: which categories the turns before have is counted in whole numbers.

    Where the turns before are the same in all draws, this is done once.
    """
    anchors, replies = before.T.take(draws.anchors, axis=1), after.T.take(draws.replies, axis=1)
    n, of_anchor = len(anchors), codes_of(anchors.T)
    matched = _pairs_matched(anchors, replies, of_anchor, draws)

    def drawn(part: slice) -> tuple[Floats, Callable[[], Floats]]:
        found, each = matched(part)
        total = np.stack([*map(stretches.sums, found)])
        used = counted(of_anchor.take(draws.some(part)[0]), n, stretches)
        return _over_both(total, used.transpose(1, 0, 2)), each

    return drawn


def _of_each(found: Floats, codes: Ints) -> Floats:
    n_used = np.bitwise_count(codes)
    return np.where(n_used > 0, found.sum(axis=0) / np.maximum(n_used, 1), nan)


def _pairs_matched(
    anchors: Floats, replies: Floats, codes: Ints, draws: Draws
) -> Callable[[slice], tuple[Floats, Callable[[], Floats]]]:
    """Return what gives the matching of the pairs of some draws, (n_categories, n_pairs, n_draws), and that of each.

    Looked up in tables of all pairs, where that is less work. The codes are those of the anchors.
    """
    if draws.n_cells > draws.n_draws * draws.n_pairs:

        def computed(part: slice) -> tuple[Floats, Callable[[], Floats]]:
            at = draws.some(part)
            found = _matched(anchors, replies, *at)
            return found, lambda: _of_each(found, codes.take(at[0]))

        return computed
    cells, at = draws.cells(), draws.at()
    table = _matched(anchors, replies, *cells)
    each = _of_each(table, codes.take(cells[0]))
    return lambda part: (table.take(at[:, part], axis=1), lambda: each.take(at[:, part]))


LSM = pairwise(lsm())
RLSM = pairwise(
    Pairwise(
        name="rlsm",
        series="rlsm_turn",
        meaning="Reciprocal style matching (rLSM): how far a reply takes up the function words of the turn before",
        unit="proportion",
        formula="as lsm_turn, but over the categories that the turn before has; for a set of replies the mean of each "
        "category over replies, then over categories",
        misleads=MISLEADS,
        source=_RLSM,
        represent=shares,
        terms=reciprocal,
        over=over_categories,
        quick=_reciprocal_draws,
    )
)


def _of_all(side: Side) -> Floats:
    """Return per cent of all words of a side in each category, (..., 9); nan without words."""
    counts, n_words = side.represented
    total = n_words[side.turns].sum(axis=-1)[..., None]
    return np.asarray(100.0 * counts[side.turns].sum(axis=-2) / np.where(total > 0, total, nan))


def _many(therapist: Side, client: Side) -> Floats:
    """Style matching of all that each therapist says with all that each client says."""
    one, other = (np.atleast_2d(side.once(_of_all)) for side in (therapist, client))
    return matching(one[:, None], other)[..., None]


def _whole_session(therapist: Side, client: Side) -> list[float]:
    values: list[float] = _many(therapist, client)[0, 0].tolist()
    return values


def _counts_and_words(session: AnnotatedSession) -> tuple[Floats, Ints]:
    return _counts(session), session.n_words


WHOLE_LSM = whole(
    Whole(
        name="lsm",
        columns=(
            Column(
                name="lsm",
                meaning="Style matching of all that the therapist says with all that the client says (LSM)",
                unit="proportion",
                low=0,
                high=1,
                direction="higher is more alike",
                formula="mean over nine function-word categories of 1 - |a - b| / (a + b + 0.0001), a and b per cent "
                "of all words",
                misleads=MISLEADS,
                source=_LSM,
                evidence="supported",
            ),
        ),
        represent=_counts_and_words,
        values=_whole_session,
        many=_many,
    )
)


@measure(columns=[*whole_columns(WHOLE_LSM), *pairwise_columns(LSM), *pairwise_columns(RLSM)])
def style_matching(session: AnnotatedSession) -> dict[str, Value]:
    """Compare the shares of nine function-word categories (LSM, rLSM).

    High means that the two use articles, pronouns, prepositions and so on at like rates; for
    rLSM, that a reply has those that the turn before had. See `matching` and
    `reciprocal` for the formulas as examples.

    Notes
    -----
    The published formula of LSM calls a category matched (1) when neither uses it, which lifts
    the value of short turns; ``lsm(absent="left_out")`` is the other rule. The baselines have
    the same turns and so the same lift: what counts is the distance.

    References
    ----------
    Ireland, M. E., & Pennebaker, J. W. (2010). Language style matching in writing: Synchrony in
    essays, correspondence, and poetry. Journal of Personality and Social Psychology, 99, 549-571.

    Mueller-Frommeyer, L. C., Frommeyer, N. A. M., & Kauffeld, S. (2019). Introducing rLSM: An
    integrated metric assessing temporal reciprocity in language style matching. Behavior
    Research Methods, 51, 1343-1359.
    """
    return whole_values(WHOLE_LSM, session) | pairwise_values(LSM, session) | pairwise_values(RLSM, session)
