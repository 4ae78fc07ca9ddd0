"""From which scores on `tanalyze speakers` proposes something, and how these scores are probabilities.

They are set on what models say of sessions that they have not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks._speaker_models import Bools, Floats, Scored
from benchmarks._speaker_talks import MANNERS, Ints, Talk
from therapy_analytics.speakers.boundaries import FARTHEST, is_written, likeliest
from therapy_analytics.speakers.models import Limit
from therapy_analytics.speakers.swapped import MOST, largest

LEAST_SURE = 0.75
"""Utterances without speakers are attributed from this probability on."""
FALSE_MOVES = 1 / 500
"""Boundaries of untouched sessions that may be moved. The limit is set on AnnoMI and MIBot: many boundaries of HLQC
stand a few words off in the corpus itself."""
TRUE_BOUNDARIES = ("annomi", "mibot")
SWAPPED_SHARE = MOVED_SHARE = 0.1
"""Probabilities are meant for such a share of sessions with swapped labels, and of boundaries that stand off. What is
less likely than not is not proposed."""


class Limits(NamedTuple):
    """All limits of a `SpeakerModel`, see there."""

    swapped: Limit
    moved: dict[str, Limit]
    joint: Limit


def limits_of(every: Sequence[Talk], found: dict[int, Scored], keep: Bools) -> Limits:
    """Return all limits, from what models that have not seen some sessions (bool (n_talks,)) say of them."""
    return Limits(
        swapped_limit(every, found, keep),
        {manner: moved_limit(every, found, keep, manner) for manner in MANNERS},
        joint_limit(found, keep),
    )


def swapped_limit(every: Sequence[Talk], found: dict[int, Scored], keep: Bools) -> Limit:
    """Return how the largest score of a session says that labels are swapped in it."""
    rng, scores, labels = np.random.default_rng(0), [], []
    for at in np.flatnonzero(keep).tolist():
        against = np.clip(found[at].voice, -MOST, MOST) * np.where(every[at].roles == 1, -1.0, 1.0)
        turned = against.copy()
        length = int(rng.integers(6, 21))
        begin = int(rng.integers(0, max(len(against) - length, 0) + 1))
        turned[begin : begin + length] *= -1
        for label, one in enumerate((against, turned)):
            best = largest(one)
            if best is not None:
                scores.append(best.score)
                labels.append(label)
    return _limit(np.array(scores), np.array(labels), SWAPPED_SHARE, np.array(labels))


def moved_limit(every: Sequence[Talk], found: dict[int, Scored], keep: Bools, manner: str) -> Limit:
    """Return how far likelier another gap must be for a boundary to be moved, and how the distance is a probability."""
    untouched, scores, labels = [], [], []
    for at in np.flatnonzero(keep).tolist():
        talk, ends = every[at], every[at].ends
        if talk.corpus not in TRUE_BOUNDARIES or is_written(talk.words) != (manner == "written"):
            continue
        after = [found[at].gaps.after(role) for role in (False, True)]
        for turn in talk.boundaries.tolist():
            gaps, end = after[talk.roles[turn]], int(ends[turn])
            low, high = (int(ends[turn - 1]) if turn else 0) + 1, int(ends[turn + 1]) - 1
            untouched.append(likeliest(gaps, end, low, high)[1])
            for moved in range(max(low, end - FARTHEST), min(high, end + FARTHEST) + 1):
                if moved != end:
                    best, score = likeliest(gaps, moved, low, high)
                    scores.append(score)
                    labels.append(int(best == end))
    is_moved = np.repeat([0, 1], [len(untouched), len(scores)])
    limit = _limit(np.array(untouched + scores), np.array([0] * len(untouched) + labels), MOVED_SHARE, is_moved)
    return replace(limit, least=max(limit.least, float(np.quantile(untouched, 1 - FALSE_MOVES))))


def joint_limit(found: dict[int, Scored], keep: Bools) -> Limit:
    """Return how the log-odds of a gap count between two utterances, beside how often the speaker changes."""
    scores, labels = [], []
    for at in np.flatnonzero(keep).tolist():
        own = found[at]
        scores.append(own.gaps.change[own.cut_ends[:-1] - 1])
        labels.append(own.cut_roles[1:] != own.cut_roles[:-1])
    x, y = np.concatenate(scores), np.concatenate(labels).astype(np.int64)
    model = LogisticRegression(C=1e6).fit(x[:, None], y)
    rate = float(np.log(y.mean() / (1 - y.mean())))
    return Limit(float(model.coef_[0, 0]), float(model.intercept_[0]) - rate, LEAST_SURE)


def _limit(scores: Floats, labels: Ints, share: float, is_wrong: NDArray[np.int64]) -> Limit:
    """Fit log-odds that a proposal is right, where such a share is wrong; the limit is where they are 0."""
    counts = np.where(is_wrong == 1, share / is_wrong.sum(), (1 - share) / (1 - is_wrong).sum()) * len(labels)
    model = LogisticRegression(C=1e6).fit(scores[:, None], labels, sample_weight=counts)
    slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
    return Limit(slope, intercept, -intercept / slope)
