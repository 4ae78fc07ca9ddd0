"""Linguistic coordination: does a kind of function word in a turn make it likelier in the reply."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._chance import Floats, Ints
from therapy_analytics.measures.synchrony._columns import pairwise_columns, pairwise_values
from therapy_analytics.measures.synchrony._draws import Draws
from therapy_analytics.measures.synchrony._marks import bits_of, codes_of, counted
from therapy_analytics.measures.synchrony._pairwise import Found, Pairwise, mean, pairwise, scores
from therapy_analytics.measures.synchrony._sums import Stretches
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES

Aggregate = Literal["available", "complete", "filled"]
Marks = NDArray[np.uint8]


def marks(session: AnnotatedSession) -> Marks:
    """Return which function-word categories each turn has, 0 or 1, (n_turns, 9)."""
    columns = [session.turns.column(category) for category in CATEGORIES]
    return (session.turns.counts[:, columns] > 0).astype(np.uint8)


def _codes(session: AnnotatedSession) -> Ints:
    """Return the same as bits of numbers, (n_turns,): of strangers this is done once."""
    return codes_of(marks(session))


def terms(before: Marks | Floats, after: Marks | Floats, anchors: Ints, replies: Ints) -> Floats:
    """Return what pairs add up, (..., 28): for each marker whether the turn before has it, both have, the reply has.

    Then 1 for the pair.
    """
    a, b = np.broadcast_arrays(before[anchors].astype(np.float32), after[replies].astype(np.float32))
    return np.concatenate([a, a * b, b, np.ones((*a.shape[:-1], 1), a.dtype)], axis=-1)


def _terms(before: Ints, after: Ints, anchors: Ints, replies: Ints) -> Floats:
    """Return the same of turns given as bits."""
    bits = bits_of(len(CATEGORIES))
    return terms(bits[before], bits[after], anchors, replies)


def coordination_of(sums: Floats, *, fewest: int = 1) -> Floats:
    """Return P(marker in reply | marker in turn before) - P(marker in reply), for each marker.

    Parameters
    ----------
    sums : float64 array (..., 3 * n_markers + 1)
        Turns before that have each marker, pairs in which both have it, replies that have it; pairs.
    fewest : int
        Markers that fewer turns before have are undefined (the target threshold).

    Returns
    -------
    float64 array (..., n_markers)
        -1 to 1; nan where undefined.

    Examples
    --------
    Four replies. The marker is in two of the turns before and in the replies to both, and in
    one of the other replies: 2/2 - 3/4.

    >>> coordination_of(np.array([2, 2, 3, 4.0])).tolist()
    [0.25]
    """
    before, both, after = np.split(sums[..., :-1].astype(np.float64), 3, axis=-1)
    return _beyond(before, both, after, sums[..., -1:], fewest=fewest)


def _beyond(before: Floats, both: Floats, after: Floats, n: Floats, *, fewest: int = 1) -> Floats:
    enough = before >= max(fewest, 1)
    return np.where(enough, both / np.maximum(before, 1) - after / np.maximum(n, 1), nan)


def aggregate(markers: Floats, *, how: Aggregate = "available") -> Floats:
    """Return one number for several markers, (..., n_markers) to (...).

    Parameters
    ----------
    markers : float64 array (..., n_markers)
        As `coordination_of` returns them; for "filled", (n_speakers, n_markers).
    how : {"available", "complete", "filled"}
        The mean of the markers that are defined; the mean where all are, else nan; or the mean
        in which an undefined marker counts as that marker's mean over the speakers. The
        publication's three ways to treat speakers of whom little is known.

    Examples
    --------
    >>> two = np.array([[0.2, 0.4], [0.4, np.nan]])
    >>> [aggregate(two, how=how).round(2).tolist() for how in ("available", "complete", "filled")]
    [[0.3, 0.4], [0.3, nan], [0.3, 0.4]]
    """
    if how == "filled":
        markers = np.where(np.isnan(markers), mean(scores(markers).sum(axis=0)), markers)
    defined = ~np.isnan(markers)
    n, needed = np.count_nonzero(defined, axis=-1), markers.shape[-1] if how == "complete" else 1
    total = np.where(defined, markers, 0.0) @ np.ones(markers.shape[-1])
    return np.where(n >= needed, total / np.maximum(n, 1), nan)


def _over(sums: Floats) -> Floats:
    return aggregate(coordination_of(sums))


def _draws(before: Ints, after: Ints, draws: Draws, stretches: Stretches) -> Found:
    """Return what gives `_over` and `_each` of draws, from bits: which marks both have is the one and the other."""
    n_marks = len(CATEGORIES)
    codes = before.take(draws.anchors), after.take(draws.replies)
    n_pairs = np.maximum(stretches.lengths, 1)[..., None]
    own = [slice(first, stop) for first, stop in stretches.of_sessions.tolist()]

    def drawn(part: slice) -> tuple[Floats, Callable[[], Floats]]:
        of_anchor, of_reply = (code.take(at) for code, at in zip(codes, draws.some(part), strict=True))
        of_both = of_anchor & of_reply
        had, both, has = (counted(one, n_marks, stretches) for one in (of_anchor, of_both, of_reply))
        rates = has / n_pairs

        def each() -> Floats:
            by_session = zip(own, rates[stretches.wholes], strict=True)
            return np.concatenate([_above(of_anchor[some], of_both[some], expected) for some, expected in by_session])

        return _of_counts(had, both, rates), each

    return drawn


def _of_counts(had: Ints, both: Ints, rates: Floats) -> Floats:
    """Return the mean over the markers that a turn before has, from (n_stretches, n_markers, 1 or n_draws) each."""
    some = had > 0
    n_used = np.count_nonzero(some, axis=1)
    beyond = both / np.maximum(had, 1)
    beyond -= rates
    beyond *= some
    return np.where(n_used > 0, beyond.sum(axis=1) / np.maximum(n_used, 1), nan)


def _above(of_anchor: Ints, of_both: Ints, rates: Floats) -> Floats:
    """Return `_each` of turns given as bits, with the rate of each marker in the replies, (n_markers, 1 or n_draws)."""
    bits, same = bits_of(len(rates)), of_anchor.shape[1] == 1
    if same:
        expected = bits[of_anchor[:, 0]] @ rates
    else:
        by_code = np.broadcast_to(bits @ rates, (len(bits), of_anchor.shape[1]))
        expected = np.take_along_axis(by_code, of_anchor, axis=0)
    n = np.bitwise_count(of_anchor)
    return np.where(n > 0, (np.bitwise_count(of_both) - expected) / np.maximum(n, 1), nan)


def _each(terms: Floats) -> Floats:
    """Return by how much each reply exceeds its dialogue's rate of the markers that the turn before has."""
    before, both, after = np.split(terms[..., :-1], 3, axis=-1)
    n = before.sum(axis=-1)
    above = (both - before * after.mean(axis=0, dtype=np.float64)).sum(axis=-1)
    return np.where(n > 0, above / np.maximum(n, 1), nan)


COORDINATION = pairwise(
    Pairwise(
        name="coordination",
        series="coordination_turn",
        meaning="Coordination: how much likelier a kind of function word is in a reply when the turn before has it",
        unit="difference of proportions",
        formula="P(category in the reply | category in the turn before) - P(category in the reply), mean over the nine "
        "function-word categories that occur in a turn before; of one reply, the mean over the categories that the "
        "turn before has of (1 or 0) - P(category in the reply)",
        misleads="Few pairs leave wide error, and most sessions do not exceed chance; a long turn before has every "
        "category, which moves the value to 0. Not a quality score",
        source="Danescu-Niculescu-Mizil, C., Lee, L., Pang, B., & Kleinberg, J. (2012). Echoes of power. WWW '12",
        represent=_codes,
        terms=_terms,
        over=_over,
        each=_each,
        quick=_draws,
        low=-1.0,
        high=1.0,
    )
)


@measure(columns=pairwise_columns(COORDINATION))
def coordination(session: AnnotatedSession) -> dict[str, Value]:
    """Measure how kinds of function words call forth their like in the reply.

    High means that a reply has articles, pronouns and so on more often when the turn before
    had them than it has them at all; 0 that the turn before makes no difference. See
    `coordination_of` for the formula as an example.

    References
    ----------
    Danescu-Niculescu-Mizil, C., Lee, L., Pang, B., & Kleinberg, J. (2012). Echoes of power:
    Language effects and power differences in social interaction. Proceedings of WWW '12, 699-708.
    """
    return pairwise_values(COORDINATION, session)
