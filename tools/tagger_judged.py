"""What a tagger says of the turns that it is judged on, by models that have not seen them; thresholds and figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, cohen_kappa_score, f1_score, roc_auc_score
from tagger_corpora import FLAGS, MAIN, SPEAKERS, TALK, batch
from tagger_fit import Array, aims, best_threshold, rate_threshold

from therapy_analytics.codes import Codes
from therapy_analytics.core.session import Role
from therapy_analytics.text import Batch

FOLDS = 5
PRIOR = 0.75
"""How much of the commoner classes' lead is taken away where one class is chosen."""
MUST: dict[str, tuple[float, float]] = {
    "therapist, 4 classes, macro-F1": (0.79, 0.82),
    "therapist, 4 classes, kappa": (0.745, 0.78),
    "therapist, 4 classes, no case or punctuation, macro-F1": (0.77, 0.80),
    "therapist, 4 classes, low-quality sessions, macro-F1": (0.68, 0.74),
    "question exists, kappa": (0.85, 0.87),
    "reflection exists, kappa": (0.67, 0.70),
    "input exists, kappa": (0.57, 0.64),
    "question open or closed, kappa": (0.52, 0.58),
    "client talk, 3 classes, macro-F1": (0.58, 0.63),
    "client talk, 3 classes, kappa": (0.40, 0.47),
    "MISC coarse, therapist, kappa": (0.62, 0.68),
    "MISC coarse, client, kappa": (0.42, 0.48),
    "BOLT, therapist, macro-F1": (0.55, 0.62),
    "BOLT, client, macro-F1": (0.66, 0.72),
    "PAIR, pairs in order": (0.85, 0.92),
    "sessions, input share, Pearson": (0.88, 0.92),
    "sessions, question share, Pearson": (0.92, 0.95),
    "sessions, reflection share, Pearson": (0.85, 0.90),
    "high or low quality by input share, AUC": (0.90, 0.93),
    "high or low quality by R:Q, AUC": (0.72, 0.78),
    "high or low quality by all shares, AUC": (0.91, 0.94),
    "EPITOME, emotional reaction, 3 classes, macro-F1": (0.715, 0.745),
    "EPITOME, interpretation, 3 classes, macro-F1": (0.596, 0.626),
    "EPITOME, exploration, 3 classes, macro-F1": (0.696, 0.726),
    "annomi left out, reflection exists, kappa": (0.50, 0.60),
    "hlqc left out, reflection exists, kappa": (0.50, 0.60),
    "OffMyChest, emotional, macro-F1": (0.70, 0.73),
    "OffMyChest, informational, macro-F1": (0.70, 0.73),
}
"""What each figure must reach, and what would be a great deal more."""
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """A code on the turns that it is judged on, in each of some ways of writing, one way after the other.

    Attributes
    ----------
    column, role, group
        The code, whose it is, and the code that it is a kind of.
    rows : int64 array (n_turns,)
        Places in the corpus.
    ways : tuple of str
        Ways of writing: all arrays below have ``len(ways) * n_turns`` places.
    truth : float64 array
        How many of the coders gave it.
    p : float64 array
        The probability by models that have not seen the recording.
    weights, spread : float64 arrays
        How much a turn counts where hits and misses are weighed, and where rates are to be right.
    recording : array
        Where the turns are from.
    """

    column: str
    role: Role
    group: str | None
    rows: NDArray[np.int64]
    ways: tuple[str, ...]
    truth: Array
    p: Array
    weights: Array
    spread: Array
    recording: NDArray[Any]

    @property
    def book(self) -> str:
        """The codebook of the code."""
        return self.column.split("_", maxsplit=1)[0]

    def written(self, way: str) -> Judged:
        """Return what is judged on turns written in one way."""
        n = len(self.rows)
        part = slice(self.ways.index(way) * n, (self.ways.index(way) + 1) * n)
        names = ("truth", "p", "weights", "spread", "recording")
        return replace(self, ways=(way,), **{name: getattr(self, name)[part] for name in names})

    def only(self, keep: Bools) -> Judged:
        """Return what is judged on some turns (of one way of writing)."""
        names = ("rows", "truth", "p", "weights", "spread", "recording")
        return replace(self, **{name: getattr(self, name)[keep] for name in names})

    def limits(self) -> dict[str, float]:
        """Return the thresholds for each aim.

        The balanced one agrees most with the coders. For BOLT's codes it lies half-way (on a log scale) between two
        that each go wrong alone: the one of highest F1 on BOLT's rows fires too often in whole sessions, where a code
        is rarer than in BOLT's selection; the one that decides as often as the probabilities say finds too little.
        """
        truth = self.truth >= 0.5
        if self.book == "bolt":
            best = best_threshold(self.p, truth, self.weights) * rate_threshold(self.p, self.spread)
            balanced = round(float(np.sqrt(best)), 3)
        else:
            balanced = best_threshold(self.p, truth, self.weights, score="kappa")
        return aims(self.p, truth, balanced=balanced, weights=self.weights, spread=self.spread)


Findings = dict[str, Judged]
"""What is judged, by column."""


class Predicts(Protocol):
    """A tagger."""

    def predict(self, batch: Batch) -> Codes:
        """Code all turns of a batch."""


def folds(groups: NDArray[Any], seed: int) -> NDArray[np.int64]:
    """Deal groups out to folds in random order, each to the smallest; other seeds give other folds."""
    names, index, sizes = np.unique(groups.astype(str), return_inverse=True, return_counts=True)
    load, fold = np.zeros(FOLDS), np.zeros(len(names), dtype=np.int64)
    for name in np.random.default_rng(seed).permutation(len(names)):
        fold[name] = int(load.argmin())
        load[fold[name]] += sizes[name]
    return fold[index]


def parts(groups: NDArray[Any], seed: int) -> Iterator[Bools]:
    """Yield which rows are in each fold."""
    fold = folds(groups, seed)
    for k in range(FOLDS):
        yield fold == k


def figures(found: Findings, turns: pd.DataFrame, about: pd.DataFrame) -> dict[str, float]:
    """Return the figures of `MUST`, but for PAIR and those of posts (`tagger_posts`).

    Parameters
    ----------
    found : Findings
        Of one tagger and partition; the codes of AnnoMI's main behaviour, which are not kept, too.
    turns : DataFrame
        The corpus.
    about : DataFrame
        AnnoMI's transcripts, with their quality.
    """
    clean = {name: one.written("clean") for name, one in found.items() if "clean" in one.ways}
    plain = {name: one.written("plain") for name, one in found.items() if "plain" in one.ways}
    mains = [f"mi_main_{name}" for name in MAIN]
    low = about["mi_quality"].reindex(transcripts(turns, clean[mains[0]])).eq("low").to_numpy()
    worse = {name: clean[name].only(low) for name in mains}
    result = {}
    for name, part in (("", clean), (", no case or punctuation", plain), (", low-quality sessions", worse)):
        truth, guess = chosen([part[main] for main in mains], [clean[main] for main in mains])
        result[f"therapist, 4 classes{name}, macro-F1"] = float(f1_score(truth, guess, average="macro"))
        result[f"therapist, 4 classes{name}, kappa"] = float(cohen_kappa_score(truth, guess))
    for name in FLAGS:
        one = clean[f"mi_{name}"]
        result[f"{name} exists, kappa"] = _kappa(one, found[f"mi_{name}"].limits()["balanced"])
    kinds = [clean[f"mi_question_{kind}"] for kind in ("open", "closed")]
    asked = (kinds[0].truth + kinds[1].truth) > 0
    result["question open or closed, kappa"] = float(
        cohen_kappa_score(kinds[0].truth[asked] >= 0.5, kinds[0].p[asked] > kinds[1].p[asked])
    )
    texts = [clean[f"mi_{name}"] for name in TALK]
    truth, guess = chosen(texts, texts)
    result["client talk, 3 classes, macro-F1"] = float(f1_score(truth, guess, average="macro"))
    result["client talk, 3 classes, kappa"] = float(cohen_kappa_score(truth, guess))
    for role in SPEAKERS:
        units = [one for one in clean.values() if one.book == "misc" and one.role == role]
        result[f"MISC coarse, {role}, kappa"] = float(cohen_kappa_score(*chosen(units, units)))
        codes = [one for one in found.values() if one.book == "bolt" and one.role == role]
        result[f"BOLT, {role}, macro-F1"] = float(np.mean([bolt_f1(one, turns) for one in codes]))
    return result | _sessions(clean, found, turns, about)


def chosen(codes: list[Judged], usual: list[Judged]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of some codes each turn has, and which is the likeliest, rarer ones a little favoured."""
    often = np.array([one.truth.mean() for one in usual])
    p = np.stack([one.p for one in codes], axis=1).clip(1e-9, 1 - 1e-9)
    scores = np.log(p / (1 - p)) - PRIOR * np.log(often / (1 - often))
    return np.stack([one.truth for one in codes], axis=1).argmax(axis=1), scores.argmax(axis=1)


def bolt_f1(one: Judged, turns: pd.DataFrame, seed: int = 101) -> float:
    """Return F1 on BOLT's rows, by balanced thresholds from other recordings."""
    rows = turns["source"].to_numpy()[one.rows] == "bolt"
    guess = np.zeros(len(rows), dtype=np.bool_)
    for mine in parts(one.recording, seed):
        guess[mine] = one.p[mine] >= one.only(~mine).limits()["balanced"]
    return float(f1_score(one.truth[rows] >= 0.5, guess[rows], zero_division=0.0))


def table(found: Findings, turns: pd.DataFrame) -> pd.DataFrame:
    """Return figures of each code with its balanced threshold, as people write and as speech recognisers do."""
    rows = []
    for name, one in found.items():
        limit, sources = one.limits()["balanced"], turns["source"].to_numpy()[one.rows]
        for way in one.ways:
            whole = one.written(way)
            places = {"": whole}
            if one.book == "bolt":
                places = {"BOLT's rows": whole.only(sources == "bolt"), "sessions": whole.only(sources != "bolt")}
            for where, part in places.items():
                truth, guess = part.truth >= 0.5, part.p >= limit
                rows.append(
                    {
                        "code": name,
                        "on": where or way,
                        "turns": int(truth.sum()),
                        "F1": f1_score(truth, guess, zero_division=0.0),
                        "kappa": _kappa(part, limit),
                        "average precision": average_precision_score(truth, part.p),
                        "true rate": part.truth.mean(),
                        "decided rate": guess.mean(),
                        "mean p": part.p.mean(),
                        "calibration error": calibration_error(part.p, part.truth),
                    }
                )
    return pd.DataFrame(rows).set_index(["code", "on"])


def _kappa(one: Judged, limit: float) -> float:
    return float(cohen_kappa_score(one.truth >= 0.5, one.p >= limit))


def calibration_error(p: Array, labels: Array, bins: int = 10) -> float:
    """Return the mean distance of stated and true frequency over bins of equal size."""
    parts = np.array_split(np.argsort(p, kind="stable"), bins)
    return float(np.mean([abs(p[part].mean() - labels[part].mean()) for part in parts]))


def transcripts(turns: pd.DataFrame, one: Judged) -> NDArray[np.int64]:
    """Return AnnoMI's number of the transcript of each turn."""
    names = turns["session"].iloc[one.rows].str.removeprefix("annomi ").astype(int)
    return names.to_numpy()


def _sessions(clean: Findings, found: Findings, turns: pd.DataFrame, about: pd.DataFrame) -> dict[str, float]:
    """Compare the shares of the therapist's turns that have a behaviour with those by people's codes, by session."""
    shares = {}
    for name in FLAGS:
        one, limit = clean[f"mi_{name}"], found[f"mi_{name}"].limits()["rate"]
        frame = pd.DataFrame({"session": transcripts(turns, one), "machine": one.p >= limit, "human": one.truth})
        shares[name] = frame.groupby("session").mean()
    result = {
        f"sessions, {name} share, Pearson": float(np.corrcoef(one["machine"], one["human"])[0, 1])
        for name, one in shares.items()
    }
    about = about.loc[shares["question"].index]
    kept = ~about["quality_label_disputed"].to_numpy(dtype=bool)
    high = about["mi_quality"].eq("high").to_numpy()[kept]
    machine = np.stack([shares[name]["machine"].to_numpy()[kept] for name in FLAGS], axis=1)
    ratio = machine[:, 1] / np.maximum(machine[:, 0], 1e-9)
    result["high or low quality by input share, AUC"] = float(roc_auc_score(high, -machine[:, 2]))
    result["high or low quality by R:Q, AUC"] = float(roc_auc_score(high, ratio))
    groups = about["source_group"].to_numpy()[kept]
    result["high or low quality by all shares, AUC"] = _separated(machine, high, groups)
    return result


def _separated(shares: Array, high: Bools, groups: NDArray[Any]) -> float:
    """Return the AUC of a logistic regression that has not seen the session's source; mean of five partitions."""
    found = []
    for seed in range(5):
        p = np.zeros(len(high))
        for mine in parts(groups, seed):
            model = LogisticRegression(C=10).fit(shares[~mine], high[~mine])
            p[mine] = model.predict_proba(shares[mine])[:, 1]
        found.append(roc_auc_score(high, p))
    return float(np.mean(found))


def pairs(folder: Path, tagger: Predicts) -> float:
    """Return the share of PAIR's pairs of replies to one prompt that a depth of listening puts in order.

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
    codes = tagger.predict(batch(pd.DataFrame(turns), str))
    p = {name: codes.probability[:, i] for i, name in enumerate(codes.names)}
    depth = (p["misc_complex_listening"] + 0.5 * p["misc_simple_listening"])[1::2].reshape(len(rows), len(ranks))
    better = [(a, b) for (a, x), (b, y) in product(enumerate(ranks.values()), repeat=2) if x > y]
    return float(np.mean([depth[:, a] > depth[:, b] for a, b in better]))
