"""Rebuild the models of ``tanalyze speakers``: ``python tools/train_speakers.py [--data CORPORA] [--cache FOLDER]``.

Run from the root of the repository, with the corpora that ``therapy_analytics/speakers/weights/NOTICE.md`` names. The
models are fitted on all of them but KokoroChat; the limits from which something is proposed, and the probabilities,
come from models that have not seen the recording (see ``benchmarks/speakers.py``). Takes some twenty minutes on two
cores, ten of them for what the encoder reads, which ``--cache`` keeps.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from text_models import write
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.speakers import (
    LEARNT,
    MANNERS,
    NETWORKS,
    UNITS,
    Scored,
    Talk,
    evident,
    fit_gaps,
    fit_voice,
    left_out,
    talks,
    utterances,
    vectors,
)
from therapy_analytics.speakers._boundaries import FARTHEST, is_written, likeliest
from therapy_analytics.speakers._exchanged import MOST, largest
from therapy_analytics.speakers._model import WEIGHTS, Gaps, Limit

VERSION = "0.1.0"
LEAST_SURE = 0.75
"""Utterances without speakers are attributed from this probability on."""
FALSE_MOVES = 1 / 250
"""Boundaries of untouched sessions that may be moved. The limit is set on AnnoMI and MIBot: many boundaries of HLQC
stand a few words off in the corpus itself."""
TRUE_BOUNDARIES = ("annomi", "mibot")
EXCHANGED_SHARE = MOVED_SHARE = 0.1
"""Probabilities are meant for such a share of sessions with exchanged labels, and of boundaries that stand off. What is
less likely than not is not proposed."""


def main() -> None:
    """Cross-validate for the limits, fit on everything, write."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    every = talks(options.data)
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        said, read = utterances(every), vectors(every, options.cache)
        wrong = evident(every, said)
        right = ~wrong & np.array([talk.corpus in LEARNT for talk in every])
        limits = limits_of(every, left_out(every, said, read, "recording", wrong), right)
        weights, gaps = fit_voice(every, said, right), fit_gaps(every, read, right)
    write(options.out, weights[:, None], {}, kinds=["therapist"], version=VERSION)
    write_gaps(options.out, gaps)
    about = {"units": UNITS * NETWORKS, **limits}
    (options.out / "speakers.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    print(f"{int(wrong.sum())} sessions with labels that are evidently exchanged were left out")
    print(json.dumps(about, indent=1))


def limits_of(every: Sequence[Talk], found: dict[int, Scored], right: NDArray[np.bool_]) -> dict[str, Any]:
    """Return all limits, from what models that have not seen the recordings say of the sessions that are right."""
    return {
        "exchanged": asdict(exchanged_limit(every, found, right)),
        "moved": {manner: asdict(moved_limit(every, found, manner)) for manner in MANNERS},
        "joint": asdict(joint_limit(found, right)),
    }


def write_gaps(folder: Path, gaps: Gaps) -> None:
    """Write ``gaps.npz``."""
    small = {name: getattr(gaps, name).astype(np.float16) for name in ("hidden", "out")}
    bias = {name: np.float32(getattr(gaps, name)) for name in ("hidden_bias", "out_bias")}
    np.savez_compressed(folder / "gaps.npz", **small, **bias)


def exchanged_limit(every: Sequence[Talk], found: dict[int, Scored], right: NDArray[np.bool_]) -> Limit:
    """Return how the largest score of a session says that labels are exchanged in it."""
    rng, scores, labels = np.random.default_rng(0), [], []
    for at in np.flatnonzero(right).tolist():
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
    return _limit(np.array(scores), np.array(labels), EXCHANGED_SHARE, np.array(labels))


def moved_limit(every: Sequence[Talk], found: dict[int, Scored], manner: str) -> Limit:
    """Return how far likelier another gap must be for a boundary to be moved, and how the distance is a probability."""
    untouched, scores, labels = [], [], []
    for at, talk in enumerate(every):
        words = [word for one in talk.said for word in one]
        if talk.corpus not in TRUE_BOUNDARIES or is_written(words) != (manner == "written"):
            continue
        ends, gaps = talk.ends, found[at].gaps
        for turn in range(len(ends) - 1):
            low, high = (int(ends[turn - 1]) if turn else 0) + 1, int(ends[turn + 1]) - 1
            end = int(ends[turn])
            untouched.append(likeliest(gaps, end, low, high)[1])
            for moved in range(max(low, end - FARTHEST), min(high, end + FARTHEST) + 1):
                if moved != end:
                    best, score = likeliest(gaps, moved, low, high)
                    scores.append(score)
                    labels.append(int(best == end))
    is_moved = np.repeat([0, 1], [len(untouched), len(scores)])
    limit = _limit(np.array(untouched + scores), np.array([0] * len(untouched) + labels), MOVED_SHARE, is_moved)
    return replace(limit, least=max(limit.least, float(np.quantile(untouched, 1 - FALSE_MOVES))))


def joint_limit(found: dict[int, Scored], right: NDArray[np.bool_]) -> Limit:
    """Return how the log-odds of a gap count where two pieces of talk meet, beside how often the speaker changes."""
    scores, labels = [], []
    for at in np.flatnonzero(right).tolist():
        own = found[at]
        scores.append(own.gaps[own.piece_ends[:-1] - 1])
        labels.append(own.piece_roles[1:] != own.piece_roles[:-1])
    x, y = np.concatenate(scores), np.concatenate(labels).astype(np.int64)
    model = LogisticRegression(C=1e6).fit(x[:, None], y)
    rate = float(np.log(y.mean() / (1 - y.mean())))
    return Limit(float(model.coef_[0, 0]), float(model.intercept_[0]) - rate, LEAST_SURE)


def _limit(scores: NDArray[np.float64], labels: NDArray[np.int64], share: float, is_wrong: NDArray[np.int64]) -> Limit:
    """Fit log-odds that a proposal is right, where such a share is wrong; the limit is where they are 0."""
    counts = np.where(is_wrong == 1, share / is_wrong.sum(), (1 - share) / (1 - is_wrong).sum()) * len(labels)
    model = LogisticRegression(C=1e6).fit(scores[:, None], labels, sample_weight=counts)
    slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
    return Limit(slope, intercept, -intercept / slope)


if __name__ == "__main__":
    main()
