"""Write what sessions the tagger learnt from are like: ``python tools/build_training_talk.py --data CORPORA``.

Prints how far the sessions of each corpus lie off, those of AnnoMI and HLQC from the sessions of other recordings.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import process_corpus
import tagger_first
from numpy.typing import NDArray
from tagger_corpora import batch
from tagger_judged import FOLDS, folds
from train_tagger import SEED, command

from therapy_analytics.measures.process.training_distance import speakers
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.training_talk import FEWEST, N_DIRECTIONS, N_NUMBERS, PATH, TrainingTalk

LEARNT_FROM = ("annomi", "hlqc")
LENGTHS = (6, 8, 10, 14, 20, 28, 40, 56, 80)
"""Turns of the parts of sessions on which the limit is found."""
DRAWS = 3
RIDGE = 1e-3
"""So much of each variance is added to the covariance."""
Speakers = list[tuple[NDArray[np.float64], NDArray[np.int64]]]


def main() -> None:
    """Fit, write, print."""
    data = command(__doc__).parse_args().data
    table = process_corpus.turns(data)
    table = table[~table["corpus"].eq("invented")]
    corpus = table.drop_duplicates("session").set_index("session")["corpus"]
    sessions = list(batch(table, str))
    names = [one.session.id for one in sessions]
    of = np.array([corpus[name] for name in names])
    group = _recordings(data, names)
    learnt = np.isin(of, LEARNT_FROM)
    fold = np.where(learnt, folds(group, SEED), -1)
    described = [speakers(one) for one in sessions]
    by_fold = [
        fitted([one for one, mine in zip(described, learnt & (fold != at), strict=True) if mine]) for at in range(FOLDS)
    ]
    limit = _limit([(one, by_fold[at]) for one, at in zip(sessions, fold, strict=True) if at >= 0])
    whole = fitted([one for one, mine in zip(described, learnt, strict=True) if mine])
    models = [replace(one, limit=limit) for one in (*by_fold, whole)]
    np.savez_compressed(
        PATH,
        allow_pickle=False,
        **{name: getattr(models[-1], name).astype(np.float32) for name in TrainingTalk.__slots__},
    )
    far = [models[at].distance(one) for one, at in zip(described, fold, strict=True)]
    found = pd.DataFrame({"corpus": of, "distance": far, "over 1": np.array(far) > 1}).dropna()
    print(
        found.groupby("corpus")
        .agg(sessions=("distance", "size"), median=("distance", "median"), over_1=("over 1", "mean"))
        .round(2)
    )


def _recordings(data: Path, names: list[str]) -> NDArray[Any]:
    """Return the recording of each session; copies in other corpora share it."""
    turns = tagger_first.labelled(data).turns
    group = dict(zip(turns["session"].str.replace(" ", "/", n=1), turns["group"], strict=True))
    return np.array([group.get(name, name) for name in names])


def fitted(sessions: list[Speakers]) -> TrainingTalk:
    """Return what sessions are like, those with too few turns left out; its limit is still to be found."""
    some = [one for one in sessions if min(len(words) for _, words in one) >= FEWEST]
    means = np.array([[vectors.mean(axis=0) for vectors, _ in one] for one in some]).transpose(1, 0, 2)
    mean = means.mean(axis=1)
    directions = np.array(
        [np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:N_DIRECTIONS] for rows in means]
    )
    plain = TrainingTalk(mean, directions, np.zeros(N_NUMBERS), np.eye(N_NUMBERS), np.array([1.0, 0.0]))
    numbers = np.array([plain.numbers(one) for one in some])
    covariance = np.cov(numbers.T) + RIDGE * np.diag(numbers.var(axis=0))
    return replace(plain, usual=numbers.mean(axis=0), precision=np.linalg.inv(covariance))


def _limit(sessions: list[tuple[AnnotatedSession, TrainingTalk]]) -> NDArray[np.float64]:
    """Return the line of the 95% quantile of squared distances over 1 / n turns, from parts of sessions of n turns."""
    rng, points = np.random.default_rng(0), []
    for n in LENGTHS:
        far = []
        for session, model in sessions:
            for _ in range(DRAWS if len(session.n_words) >= n else 0):
                low = int(rng.integers(len(session.n_words) - n + 1))
                far.append(model.distance(speakers(session, slice(low, low + n))) ** 2)
        points.append((1.0, 1 / n, np.nanquantile(far, 0.95)))
    ones, inverse, quantile = np.array(points).T
    return np.linalg.lstsq(np.stack([ones, inverse], axis=1) / quantile[:, None], np.ones(len(quantile)))[0]


if __name__ == "__main__":
    main()
