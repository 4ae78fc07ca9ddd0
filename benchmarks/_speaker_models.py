"""The models of speakers, fitted on some sessions, and what they say of sessions that they have not seen.

References
----------
Kingma, D. P., & Ba, J. (2015). Adam: A method for stochastic optimization. International Conference on Learning
Representations. arXiv:1412.6980
Srivastava, N., Hinton, G., Krizhevsky, A., Sutskever, I., & Salakhutdinov, R. (2014). Dropout: A simple way to prevent
neural networks from overfitting. Journal of Machine Learning Research, 15, 1929-1958.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from benchmarks._speaker_talks import LEARNT, UNSEEN, Ints, Talk, Utterances
from therapy_analytics.codes.encoder import WIDTH
from therapy_analytics.core.session import CLIENT, THERAPIST
from therapy_analytics.speakers.models import GapNetwork, GapScores, Limit
from therapy_analytics.speakers.swapped import swapped_segments

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bools = NDArray[np.bool_]
FOLDS = 4
STRENGTH, STEPS, CUT_SHARE = 0.1, 35, 0.35
"""Of the model of voices: the inverse of the penalty on its weights, steps of its optimiser, and which share of the cut
utterances is learnt from."""
EVIDENT = 25.0
"""A session of HLQC whose labels are against the words by this score is taken for swapped: it is not learnt from."""
NEAR, INNER_SHARE = 8, 0.3
"""So many gaps on each side of a boundary are learnt from; and beside such a share of the boundaries, as many gaps in
the middle of a turn."""
UNITS, ROUNDS, AT_A_TIME, STEP, DECAY = 256, 8, 64, 2e-3, 0.02
"""Of the network of gaps: its units, how often it is shown everything, how many windows at a time, the first step of
the optimiser, and how much of the weights it takes off at each step."""
INPUTS_DROPPED, UNITS_DROPPED = 0.3, 0.5
"""Such shares are set to zero at random while the network learns (Srivastava et al., 2014)."""
CHANGE_COUNTS = 0.3
"""How much each gap by itself counts beside which of them the boundary is."""


def fit_voice(every: Sequence[Talk], spoken: Utterances, keep: Bools) -> Floats:
    """Fit the model of voices on the utterances of some sessions (bool (n_talks,)); return weights, intercept last."""
    rng = np.random.default_rng(2)
    rows = np.flatnonzero(keep[spoken.talk] & (~spoken.is_cut | (rng.random(len(spoken.talk)) < CUT_SHARE)))
    counts = np.array([LEARNT.get(talk.corpus, 0.0) for talk in every])[spoken.talk[rows]]
    model = LogisticRegression(C=STRENGTH, max_iter=STEPS, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so many steps were found to be enough
        model.fit(spoken.table[rows], spoken.roles[rows], sample_weight=counts)
    return np.append(model.coef_[0], model.intercept_)


class Windows(NamedTuple):
    """GapNetwork around boundaries, and around places where nobody stops.

    Attributes
    ----------
    rows : int64 array (n, 2 * NEAR + 1)
        Which gaps: rows of the vectors of all sessions.
    real : bool array (n, 2 * NEAR + 1)
        False for those that lie beyond the two turns.
    ends : bool array (n, 2 * NEAR + 1)
        Where the speaker changes.
    sign : float32 array (n,)
        1 where the therapist speaks first, -1 where the client does.
    counts : float32 array (n,)
        How much a window counts.
    """

    rows: Ints
    real: Bools
    ends: Bools
    sign: Singles
    counts: Singles

    def some(self, which: Ints) -> Windows:
        """Return some of them."""
        return Windows(self.rows[which], self.real[which], self.ends[which], self.sign[which], self.counts[which])


def windows(talk: Talk, first: int, rng: np.random.Generator) -> Iterator[tuple[Ints, Bools, Bools, float, float]]:
    """Yield the windows of a session whose gaps are the rows from `first` on."""
    steps, ends = np.arange(-NEAR, NEAR + 1), talk.ends
    for at in talk.boundaries.tolist():
        begin, end = int(ends[at - 1]) if at else 0, int(ends[at])
        gaps = end + steps
        about = 1.0 if talk.roles[at] else -1.0, LEARNT[talk.corpus]
        real = (gaps > begin) & (gaps < ends[at + 1])
        yield first + np.where(real, gaps, end) - 1, real, steps == 0, *about
        n_inner = end - begin - 2 * NEAR - 1
        if n_inner > 0 and rng.random() < INNER_SHARE:
            middle = begin + NEAR + 1 + int(rng.integers(n_inner))
            yield first + middle + steps - 1, np.ones_like(real), np.zeros_like(real), *about


def fit_gaps(every: Sequence[Talk], read: Sequence[NDArray[np.float16]], keep: Bools) -> GapNetwork:
    """Fit the network of gaps on some sessions.

    It learns which of the gaps around a boundary the boundary is, given who speaks before and after, and at the same
    time of each gap by itself whether the speaker changes.
    """
    rng = np.random.default_rng(3)
    kept = np.flatnonzero(keep & np.array([talk.corpus in LEARNT for talk in every])).tolist()
    vectors = np.concatenate([read[at] for at in kept])
    firsts = np.cumsum([0, *(len(read[at]) for at in kept)])
    found = [one for at, first in zip(kept, firsts, strict=False) for one in windows(every[at], int(first), rng)]
    rows, real, ends, sign, counts = (np.array(column) for column in zip(*found, strict=True))
    every_window = Windows(rows, real, ends, sign.astype(np.float32), counts.astype(np.float32))
    seen = vectors[rows[::20].ravel()].astype(np.float32)
    mean, spread = seen.mean(axis=0), seen.std(axis=0) + 1e-3
    hidden, hidden_bias, out, out_bias = _descended(vectors, every_window, mean, spread, rng)
    hidden /= spread[:, None]
    return GapNetwork(hidden, hidden_bias - mean @ hidden, out, out_bias)


def _descended(
    vectors: NDArray[np.float16], given: Windows, mean: Singles, spread: Singles, rng: np.random.Generator
) -> list[Singles]:
    """Return the weights of the network after all steps, for inputs made even."""
    weights = [
        rng.normal(0, (2 * WIDTH) ** -0.5, (2 * WIDTH, UNITS)).astype(np.float32), np.zeros(UNITS, dtype=np.float32),
        rng.normal(0, UNITS**-0.5, (UNITS, 3)).astype(np.float32), np.zeros(3, dtype=np.float32),
    ]  # fmt: skip
    n_batches = len(given.rows) // AT_A_TIME
    descent = _Descent(weights, ROUNDS * n_batches)
    for _ in range(ROUNDS):
        order = rng.permutation(len(given.rows))[: n_batches * AT_A_TIME]
        for batch in order.reshape(n_batches, AT_A_TIME):
            some = given.some(batch)
            x = (vectors[some.rows.ravel()].astype(np.float32) - mean) / spread
            descent.step(_slopes(weights, x, some, rng))
    return weights


class _Descent:
    """Adam (Kingma & Ba, 2015) with decay of the weights, in steps that grow at first and then become smaller."""

    def __init__(self, weights: list[Singles], n_steps: int) -> None:
        self._weights, self._n_steps, self._done = weights, n_steps, 0
        self._means, self._squares = ([np.zeros_like(one) for one in weights] for _ in range(2))

    def step(self, slopes: Sequence[Singles]) -> None:
        """Change the weights."""
        self._done += 1
        length = STEP * min(1.0, self._done / 200) * (1.0 - self._done / (self._n_steps + 1))
        for at, slope in enumerate(slopes):
            self._means[at] += 0.1 * (slope - self._means[at])
            self._squares[at] += 0.001 * (slope**2 - self._squares[at])
            mean = self._means[at] / (1 - 0.9**self._done)
            size = np.sqrt(self._squares[at] / (1 - 0.999**self._done)) + 1e-8
            decay = DECAY * self._weights[at] if slope.ndim == 2 else 0.0
            self._weights[at] -= length * (mean / size + decay)


def _slopes(weights: Sequence[Singles], x: Singles, some: Windows, rng: np.random.Generator) -> list[Singles]:
    """Return the slopes of the loss in all weights, with a share of the inputs and units left out."""
    hidden, hidden_bias, out, out_bias = weights
    x = x * _dropout(x.shape[1:], INPUTS_DROPPED, rng)
    sums = x @ hidden + hidden_bias
    passed = _dropout(sums.shape, UNITS_DROPPED, rng) * (sums > 0)
    units = sums * passed
    parts = np.asarray(units @ out + out_bias, dtype=np.float32).reshape(*some.rows.shape, 3)
    of_parts = _slopes_of_parts(parts, some).reshape(-1, 3)
    of_sums = (of_parts @ out.T) * passed
    return [x.T @ of_sums, of_sums.sum(axis=0), units.T @ of_parts, of_parts.sum(axis=0)]


def _slopes_of_parts(parts: Singles, some: Windows) -> Singles:
    """Return the slopes of the loss in the parts of the scores, (n, 2 * NEAR + 1, 3)."""
    sign, counts = some.sign[:, None], some.counts[:, None] / len(some.counts)
    score = parts[..., 0] + sign * (parts[..., 1] + np.cumsum(parts[..., 2], axis=1))
    score = np.where(some.real, score, -np.inf)
    likely = np.exp(score - score.max(axis=1, keepdims=True))
    likely /= likely.sum(axis=1, keepdims=True)
    which = (likely * some.ends.any(axis=1, keepdims=True) - some.ends) * counts
    alone = 1.0 / (1.0 + np.exp(-np.clip(parts[..., 0], -30, 30)))
    change = np.where(some.real, alone - some.ends, 0.0) * counts * CHANGE_COUNTS
    later = np.cumsum(which[:, ::-1], axis=1)[:, ::-1]
    return np.stack([which + change, sign * which, sign * later], axis=-1).astype(np.float32)


def _dropout(shape: tuple[int, ...], share: float, rng: np.random.Generator) -> Singles:
    return (rng.random(shape, dtype=np.float32) >= share).astype(np.float32) / np.float32(1.0 - share)


@dataclass(frozen=True, eq=False)
class Scored:
    """What models that have not seen a session say of it.

    Attributes
    ----------
    voice, cut : float64 array (n_turns,), (n_utterances,)
        The log-odds of its turns, and of the utterances that they are cut into, to be the therapist's.
    cut_ends, cut_roles : int64 array (n_utterances,)
        How many words stand before the end of each of these utterances; whose it is.
    gaps : GapScores
        What speaks for a change behind each word.
    """

    voice: Floats
    cut: Floats
    cut_ends: Ints
    cut_roles: Ints
    gaps: GapScores


def scored(
    every: Sequence[Talk], spoken: Utterances, read: Sequence[NDArray[np.float16]], keep: Bools, which: Iterable[int]
) -> dict[int, Scored]:
    """Fit on some sessions, and return what the models say of others (positions)."""
    weights, gaps = fit_voice(every, spoken, keep), fit_gaps(every, read, keep)
    found = {}
    for at in which:
        rows = np.flatnonzero(spoken.talk == at)
        scores = np.asarray(spoken.table[rows] @ weights[:-1] + weights[-1])
        cut = spoken.is_cut[rows]
        parts = GapScores.from_parts(gaps.parts(read[at].astype(np.float32)))
        found[at] = Scored(scores[~cut], scores[cut], spoken.end[rows][cut], spoken.roles[rows][cut], parts)
    return found


def folds(every: Sequence[Talk]) -> Ints:
    """Return the fold of each session, by recording."""
    groups = sorted({talk.group for talk in every})
    fold = dict(zip(groups, np.random.default_rng(0).integers(0, FOLDS, len(groups)), strict=True))
    return np.array([fold[talk.group] for talk in every])


def parts_left_out(every: Sequence[Talk], scheme: str) -> list[Bools]:
    """Return which sessions are left out together: a fold by ``recording``, or a ``corpus``; `UNSEEN` always is one."""
    corpora = np.array([talk.corpus for talk in every])
    if scheme == "corpus":
        return [corpora == name for name in ("annomi", "hlqc", "mibot", UNSEEN)]
    fold = np.where(corpora == UNSEEN, FOLDS, folds(every))
    return [fold == number for number in range(FOLDS + 1)]


def left_out(
    every: Sequence[Talk], spoken: Utterances, read: Sequence[NDArray[np.float16]], scheme: str, right: Bools
) -> dict[int, Scored]:
    """Return what models say of sessions that they have not seen.

    Parameters
    ----------
    every, said, read : as `talks`, `utterances` and `vectors` return them
    scheme : {"recording", "corpus"}
        What is left out. `UNSEEN` is judged with a model of all other corpora in both.
    right : bool array (n_talks,)
        Sessions that may be learnt from.
    """
    found: dict[int, Scored] = {}
    for mine in parts_left_out(every, scheme):
        found |= scored(every, spoken, read, right & ~mine, np.flatnonzero(mine).tolist())
    return found


def evident(every: Sequence[Talk], spoken: Utterances) -> Bools:
    """Return which sessions of HLQC have labels that are evidently swapped, by models that have not seen them."""
    fold = folds(every)
    wrong = np.zeros(len(every), dtype=np.bool_)
    limit = Limit(1.0, 0.0, EVIDENT)
    for number in range(FOLDS):
        learnt = np.array([talk.corpus in LEARNT for talk in every]) & (fold != number)
        weights = fit_voice(every, spoken, learnt)
        for at in np.flatnonzero(fold == number).tolist():
            rows = np.flatnonzero((spoken.talk == at) & ~spoken.is_cut)
            voice = np.asarray(spoken.table[rows] @ weights[:-1] + weights[-1])
            wrong[at] = every[at].corpus == "hlqc" and bool(swapped_segments(voice, roles_of(every[at].roles), limit))
    return wrong


def roles_of(is_therapist: Ints) -> Ints:
    """Return positions in `ROLES`."""
    return np.where(is_therapist == 1, THERAPIST, CLIENT)
