"""The figures by which the tagger is judged: cross-validated by source, in one table."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tagger_first
import tagger_misc
import tagger_second
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from tagger_corpora import LABELS, batch
from tagger_first import First, Lines, Scores, folds, judged, main_behaviour
from tagger_fit import Array
from tagger_meaning import learn
from train_tagger import ROLES, kept

from therapy_analytics.behaviours import load_tagger

MUST: dict[str, tuple[float, float]] = {
    "therapist, 4 classes, macro-F1": (0.77, 0.81),
    "therapist, 4 classes, kappa": (0.725, 0.76),
    "therapist, 4 classes, no case or punctuation, macro-F1": (0.74, 0.78),
    "therapist, 4 classes, low-quality sessions, macro-F1": (0.68, 0.74),
    "question exists, kappa": (0.85, 0.87),
    "reflection exists, kappa": (0.60, 0.66),
    "input exists, kappa": (0.55, 0.64),
    "question open or closed, kappa": (0.52, 0.58),
    "client talk, 3 classes, macro-F1": (0.55, 0.60),
    "client talk, 3 classes, kappa": (0.36, 0.44),
    "MISC coarse, therapist, kappa": (0.55, 0.65),
    "MISC coarse, client, kappa": (0.35, 0.42),
    "BOLT, therapist, macro-F1": (0.50, 0.58),
    "BOLT, client, macro-F1": (0.61, 0.68),
    "PAIR, pairs in order": (0.85, 0.92),
    "sessions, input share, Pearson": (0.87, 0.92),
    "sessions, question share, Pearson": (0.92, 0.95),
    "sessions, reflection share, Pearson": (0.85, 0.90),
    "high or low quality by input share, AUC": (0.90, 0.93),
    "high or low quality by R:Q, AUC": (0.70, 0.78),
    "high or low quality by all shares, AUC": (0.91, 0.94),
}
"""What each figure must reach, and what would be a great deal more."""
FLAGS = ("question", "reflection", "input")


def table(folder: Path, seeds: tuple[int, ...]) -> pd.DataFrame:
    """Return a row a figure: mean over partitions, lowest and highest, what it must reach."""
    directions = learn(folder)
    first = tagger_first.first_layer(folder, directions)
    about = pd.read_csv(folder / "annomi" / "annomi.csv").drop_duplicates("transcript_id").set_index("transcript_id")
    found = []
    for seed in seeds:
        scores = first.out_of_fold(seed)
        lines = tagger_first.calibrate(first, scores)
        found.append(
            _turns(first, scores, lines, about)
            | _sessions(first, scores, lines, about)
            | _other_books(folder, first, lines, scores, directions, seed)
        )
    frame = pd.DataFrame(found)
    frame["PAIR, pairs in order"] = _pairs(folder)
    rows = [
        {"figure": name, "reached": frame[name].mean(), "lowest": frame[name].min(), "highest": frame[name].max()}
        | {"must": must, "moonshot": moonshot}
        for name, (must, moonshot) in MUST.items()
    ]
    return pd.DataFrame(rows).set_index("figure")


def _turns(first: First, scores: Scores, lines: Lines, about: pd.DataFrame) -> dict[str, float]:
    whole = np.ones(first.n, dtype=np.bool_)
    low = about["mi_quality"].reindex(_transcripts(first)).eq("low").to_numpy()
    clean, plain, worse = (
        main_behaviour(first, scores[way], rows) for way, rows in (("clean", whole), ("plain", whole), ("clean", low))
    )
    figures = tagger_first.figures(first, scores, lines, "clean")
    mine, labels = first.known("question_open")
    p = scores["clean"][mine][:, [LABELS.index(name) for name in ("question_open", "question_closed")]]
    return {
        "therapist, 4 classes, macro-F1": clean[0],
        "therapist, 4 classes, kappa": clean[1],
        "therapist, 4 classes, no case or punctuation, macro-F1": plain[0],
        "therapist, 4 classes, low-quality sessions, macro-F1": worse[0],
        "question open or closed, kappa": float(cohen_kappa_score(labels >= 0.5, p[:, 0] > p[:, 1])),
        "client talk, 3 classes, macro-F1": figures["client 3 classes macro-F1"],
        "client talk, 3 classes, kappa": figures["client 3 classes kappa"],
    } | {f"{name} exists, kappa": figures[f"{name} kappa"] for name in FLAGS}


def _transcripts(first: First) -> NDArray[np.int64]:
    names: NDArray[np.int64] = (
        first.corpus.turns["session"][: first.n].str.removeprefix("annomi").astype(int).to_numpy()
    )
    return names


def _sessions(first: First, scores: Scores, lines: Lines, about: pd.DataFrame) -> dict[str, float]:
    """Compare the shares of the therapist's turns that have a behaviour with those by people's codes, by session."""
    shares = {}
    for name in FLAGS:
        mine, p, labels = judged(first, name, scores["clean"], lines)
        frame = pd.DataFrame(
            {"session": _transcripts(first)[mine], "machine": p >= lines[name][2]["rate"], "human": labels}
        )
        shares[name] = frame.groupby("session").mean()
    found = {
        f"sessions, {name} share, Pearson": float(np.corrcoef(one["machine"], one["human"])[0, 1])
        for name, one in shares.items()
    }
    about = about.loc[shares["question"].index]
    kept_ = ~about["quality_label_disputed"].to_numpy(dtype=bool)
    high = about["mi_quality"].eq("high").to_numpy()[kept_]
    machine = np.stack([shares[name]["machine"].to_numpy()[kept_] for name in FLAGS], axis=1)
    groups = about["source_group"].to_numpy()[kept_]
    ratio = machine[:, 1] / np.maximum(machine[:, 0], 1e-9)
    found["high or low quality by input share, AUC"] = float(roc_auc_score(high, -machine[:, 2]))
    found["high or low quality by R:Q, AUC"] = float(roc_auc_score(high, ratio))
    found["high or low quality by all shares, AUC"] = _separated(machine, high, groups)
    return found


def _separated(shares: Array, high: NDArray[np.bool_], groups: NDArray[Any]) -> float:
    """Return the AUC of a logistic regression that has not seen the session's source; mean of five partitions."""
    found = []
    for seed in range(5):
        fold, p = folds(groups, seed), np.zeros(len(high))
        for k in range(5):
            model = LogisticRegression(C=10).fit(shares[fold != k], high[fold != k])
            p[fold == k] = model.predict_proba(shares[fold == k])[:, 1]
        found.append(roc_auc_score(high, p))
    return float(np.mean(found))


def _other_books(
    folder: Path, first: First, lines: Lines, scores: Scores, directions: Array, seed: int
) -> dict[str, float]:
    head, calibrated = kept(first, lines, scores, directions)
    found = {}
    for role in ROLES:
        second = tagger_second.second_layer(folder, role, first, head, calibrated["plain"], directions)
        found[f"BOLT, {role}, macro-F1"] = float(tagger_second.table(second, (seed,)).loc["mean of codes", "best F1"])
        misc = tagger_misc.misc_layer(folder, role, first, calibrated, directions)
        found[f"MISC coarse, {role}, kappa"] = float(tagger_misc.table(misc, (seed,)).loc["coarse kappa", "value"])
    return found


def _pairs(folder: Path) -> float:
    """Return the share of pairs of replies to one prompt that a depth of listening puts in order.

    The depth, chosen beforehand: the probability of MISC's complex listening and half that of simple listening.
    """
    rows = pd.read_csv(folder / "pair" / "reflections.csv")
    ranks = {name: {"h": 2, "m": 1, "l": 0}[name[0]] for name in rows.columns if name != "prompt"}
    turns = [
        {"session": f"{i} {name}", "role": role, "text": str(text)}
        for i, row in rows.iterrows()
        for name in ranks
        for role, text in (("client", row["prompt"]), ("therapist", row[name]))
    ]
    codes = load_tagger().predict(batch(pd.DataFrame(turns), str))
    p = {name: codes.probability[:, i] for i, name in enumerate(codes.names)}
    depth = (p["misc_complex_listening"] + 0.5 * p["misc_simple_listening"])[1::2].reshape(len(rows), len(ranks))
    better = [(a, b) for (a, x), (b, y) in product(enumerate(ranks.values()), repeat=2) if x > y]
    return float(np.mean([depth[:, a] > depth[:, b] for a, b in better]))
