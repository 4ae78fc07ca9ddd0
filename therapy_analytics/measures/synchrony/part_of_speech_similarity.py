"""Similarity of parts of speech: do the two use nouns, verbs, pronouns, ... in like shares."""

from __future__ import annotations

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.syntax import UPOS
from therapy_analytics.measures import measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.synchrony.adjacent_turns import AdjacentTurnMeasure, adjacent_turn_measure
from therapy_analytics.measures.synchrony.tables import (
    adjacent_columns,
    adjacent_values,
    session_columns,
    session_values,
)
from therapy_analytics.measures.synchrony.whole_session import of_whole_sides, session_measure

_SHAPIRA = (
    "Shapira, N., Atzil-Slonim, D., Tuval Mashiach, R., & Shapira, O. (2022). Measuring linguistic synchrony in "
    "psychotherapy. CLPsych 2022 (there the distance, its square root); divergence: Lin, J. (1991). IEEE "
    "Transactions on Information Theory 37"
)
_FORMULA = (
    "1 - Jensen-Shannon divergence, in bits, of the shares p and q of the universal part-of-speech tags of the words "
    "and parts of contractions (signs left out): 1 - (H((p + q) / 2) - (H(p) + H(q)) / 2), H(p) = -sum p log2 p"
)
_MISLEADS = (
    "The divergence of short turns is large whoever speaks (a turn of one word has one tag), so that the value grows "
    "with words per turn; with few tags people who never met are alike too. Read it beside words per turn and its null "
    "distributions. Tags are a tagger's, and less sure in short or broken talk. Not a quality score"
)
_TINY = np.finfo(np.float64).tiny


def tag_counts(session: AnnotatedSession) -> Floats:
    """Return how many words of each turn have each part of speech, float64 (n_turns, 17); signs are no words."""
    turns = session.turns
    counts = np.zeros((len(session), len(UPOS)))
    if turns.tags is None or not len(session):
        return counts
    first, last = int(turns.offsets[0]), int(turns.offsets[-1])
    tags, of_turn = turns.tags[first:last], np.repeat(np.arange(len(session)), np.diff(turns.offsets))
    counted = turns.tokens.verbal[turns.tokens.ids[first:last]] & (tags >= 0)
    np.add.at(counts, (of_turn[counted], tags[counted]), 1.0)
    return counts


def divergence(p: Floats, q: Floats) -> Floats:
    """Return the Jensen-Shannon divergence of shares, in bits.

    Parameters
    ----------
    p, q : float64 array (..., n_tags)
        Shares that add up to 1 over the last axis, or all 0 where there is nothing to share.

    Returns
    -------
    float64 array (...)
        0 (the same shares) to 1 (nothing in common); nan where a side has nothing.

    Examples
    --------
    Half nouns and half verbs, against nouns alone. The shares of both together are 3/4 and 1/4, whose
    entropy is 0.811 bits; those of the two are 1 and 0 bits: 0.811 - 0.5.

    >>> float(divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0])).round(3))
    0.311
    """
    return np.clip(_entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2, 0.0, 1.0)


def _entropy(shares: Floats) -> Floats:
    """Return the entropy of shares over the last axis, in bits; nan of nothing."""
    bits = -(shares * np.log2(np.maximum(shares, _TINY))).sum(axis=-1)
    return np.where(shares.any(axis=-1), bits, np.nan)


def similarity(a: Floats, b: Floats) -> Floats:
    """Return 1 less the divergence of the parts of speech of turns, or of all that two people say.

    Parameters
    ----------
    a, b : float64 array (..., n_tags)
        Words of each part of speech.

    Returns
    -------
    float64 array (...)
        0 to 1; nan where one of the two has no tagged word.
    """
    one, other = (counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1) for counts in (a, b))
    return np.asarray(1.0 - divergence(one, other))


SIMILARITY = adjacent_turn_measure(
    AdjacentTurnMeasure(
        name="pos_similarity_turn_mean",
        series="pos_similarity_turn",
        meaning="Similarity of parts of speech of neighbouring turns",
        unit="1 - bits",
        formula=_FORMULA,
        misleads=_MISLEADS,
        source=_SHAPIRA,
        represent=tag_counts,
        score=similarity,
        extra="syntax",
    )
)


WHOLE_SIMILARITY = session_measure(
    of_whole_sides(
        SIMILARITY,
        "pos_similarity",
        "Similarity of parts of speech of all that the therapist says and all that the client says",
        _FORMULA,
        misleads="Near 1 for almost any two people who say some hundred words; only the distance from surrogate pairs "
        f"tells. {_MISLEADS}",
    )
)


@measure(columns=[*session_columns(WHOLE_SIMILARITY), *adjacent_columns(SIMILARITY)], extra="syntax")
def part_of_speech_similarity(session: AnnotatedSession) -> dict[str, Value]:
    """Compare the shares of parts of speech, of neighbouring turns and of all talk.

    High means that the two build their talk of nouns, verbs, pronouns and so on in like shares. See `divergence` for
    the formula as an example.

    Notes
    -----
    The divergence is given as 1 less its value, so that higher is more alike. Shapira et al. take the Jensen-Shannon
    distance, which is the root of the divergence: of two whole dialogues, the one more alike by the one is so by the
    other. In their 872 sessions similarity went with alliance and, over the treatment, with less improvement: no sign
    of quality.

    The shares are those counted: short turns are far apart by accident. Donors' turns are as long as those
    that they stand for, but shuffled replies are not: where long and short turns alternate, neighbours are less alike
    than shuffled turns for that reason alone (median z -1.1 over 40 sessions of motivational interviewing; -0.2 from
    surrogate pairs).

    References
    ----------
    Shapira, N., Atzil-Slonim, D., Tuval Mashiach, R., & Shapira, O. (2022). Measuring linguistic synchrony in
    psychotherapy. Proceedings of the Eighth Workshop on Computational Linguistics and Clinical Psychology, 158-176.

    Lin, J. (1991). Divergence measures based on the Shannon entropy. IEEE Transactions on Information Theory, 37,
    145-151.
    """
    return session_values(WHOLE_SIMILARITY, session) | adjacent_values(SIMILARITY, session)
