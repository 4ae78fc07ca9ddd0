"""Teach the model of ``tanalyze redact`` that reads words in their context: ``python tools/train_redact.py [--judge]``.

It learns from the invented talk in ``tools/redact_texts``, by writers who have not seen one another's texts, with what
identifies people marked as ``{KIND:words}`` (the form of ``benchmarks/redact.py``). Written talk is read twice: as it
is, and as a recogniser would write it, without capitals and punctuation. With ``--judge``, each writer is left out once, and
the share of their marked words is printed that is found at several rates of other words; nothing is written.
Takes some two minutes on two cores.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.redact import Planted, load
from therapy_analytics.redact._found import KINDS
from therapy_analytics.redact._reader import MODEL, OTHER, features
from therapy_analytics.session import Turn

TEXTS = Path(__file__).with_name("redact_texts")
CLASSES = {
    "AGE": "AGE_OVER_89", "LICENSE": "LICENCE", "BIOMETRIC": "ID", "PHOTO": "FILE", "HANDLE": "ID", "CODE": "ID",
}  # fmt: skip
"""Kinds of the texts that have another name, or none, among the kinds that are removed."""
PENALTY = 0.003
REMOVE, JOIN, LOOK = 0.5, 0.25, 0.12
RATES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Words:
    """Words of one writer: what is known of them (n, d), their class, and whether they come without capitals."""

    known: NDArray[np.float32]
    classes: NDArray[np.str_]
    small: NDArray[np.bool_]


def words_of(file: Path) -> Words:
    """Read the words of a file, written talk in both manners."""
    rows = [_words(one) for given in load(file) for one in _manners(given)]
    return Words(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def _manners(given: Planted) -> list[Planted]:
    text = "".join(turn.text for turn in given.session.turns)
    return [given, _recognised(given)] if text != text.lower() else [given]


def _recognised(given: Planted) -> Planted:
    """Return a session without capitals and punctuation; each sign becomes a space, so that places stay what they were."""
    turns = tuple(replace(turn, text=_plain(turn.text)) for turn in given.session.turns)
    return replace(given, session=replace(given.session, turns=turns))


def _plain(text: str) -> str:
    return re.sub(r"[^\w\s'’@.\-/:+]|(?<!\w)['’]|[.:](?!\w)|['’](?!\w)", " ", "".join(map(_lower, text)))


def _lower(sign: str) -> str:
    return sign.lower() if len(sign.lower()) == 1 else sign


def _words(given: Planted) -> tuple[NDArray[np.float32], NDArray[np.str_], NDArray[np.bool_]]:
    turns: tuple[Turn, ...] = given.session.turns
    small = not any(sign.isupper() for turn in turns for sign in turn.text)
    known, classes = [], []
    for turn, (words, rows) in zip(turns, features(turns), strict=True):
        known.append(rows)
        marks = [(start, end, kind) for at, start, end, kind in given.plants if at == turn.index]
        classes += [
            next((_class(kind) for start, end, kind in marks if start <= one.start < end), OTHER) for one in words
        ]
    return np.concatenate(known), np.array(classes), np.full(len(classes), small)


def _class(kind: str) -> str:
    found = CLASSES.get(kind, kind)
    return found if found in KINDS else "ID"


def fit(words: list[Words]) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """Return classes, weights (d, n_classes) and bias of a logistic regression on what is known of the words."""
    known = np.concatenate([one.known for one in words])
    classes = np.concatenate([one.classes for one in words])
    mean, spread = known.mean(axis=0), known.std(axis=0) + 1e-3
    model = LogisticRegression(C=PENALTY, max_iter=300).fit((known - mean) / spread, classes)
    weights = (model.coef_ / spread).T
    return tuple(map(str, model.classes_)), weights, model.intercept_ - mean @ weights


def judge(by_writer: dict[str, list[Words]]) -> None:
    """Print what is found of a writer's marked words by a model that was taught with the others' texts."""
    print("| writer | manner | kinds | words | " + " | ".join(f"{rate} in 1,000" for rate in RATES) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(RATES))
    for writer, own in by_writer.items():
        classes, weights, bias = fit([one for other, rows in by_writer.items() if other != writer for one in rows])
        known = np.concatenate([one.known for one in own])
        score = known @ weights + bias
        shares = np.exp(score - score.max(axis=1, keepdims=True))
        doubt = 1.0 - (shares / shares.sum(axis=1, keepdims=True))[:, classes.index(OTHER)]
        truth, small = (np.concatenate([getattr(one, name) for one in own]) for name in ("classes", "small"))
        for manner, rows in (("written", ~small), ("recognised", small)):
            limits = [np.quantile(doubt[rows & (truth == OTHER)], 1.0 - rate / 1000) for rate in RATES]
            for name, some in {
                "names": truth == "NAME",
                "places": truth == "PLACE",
                "structured": ~np.isin(truth, [OTHER, "NAME", "PLACE"]),
            }.items():
                found = [(doubt[rows & some] > limit).mean() for limit in limits]
                print(f"| {writer} | {manner} | {name} | {(rows & some).sum()} | " + " | ".join(f"{x:.3f}" for x in found) + " |")


def main() -> None:
    """Teach the model, or judge it."""
    by_writer = {}
    for file in sorted(TEXTS.glob("*.txt")):
        by_writer.setdefault(file.stem.partition("_")[0], []).append(words_of(file))
    if "--judge" in sys.argv:
        judge(by_writer)
        return
    classes, weights, bias = fit([one for rows in by_writer.values() for one in rows])
    MODEL.mkdir(exist_ok=True)
    np.savez_compressed(MODEL / "weights.npz", weights=weights.astype(np.float16), bias=bias.astype(np.float32))
    about = {"format": 1, "classes": list(classes), "remove": REMOVE, "join": JOIN, "look": LOOK}
    (MODEL / "model.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
