"""Teach the model of ``tanalyze redact`` that reads words in their context: ``python tools/train_redact.py [--judge]``.

It learns from the invented talk in ``tools/redact_texts``, by writers who have not seen one another's texts, with what
identifies people marked as ``{KIND:words}`` (the form of ``benchmarks/redact.py``), and from the halves of
``benchmarks/redact_texts.txt`` that rules were made on. Written talk is read twice: as it is, and as a recogniser would
write it, without capitals and punctuation. With ``--judge``, each writer is left out once, and the share
of their marked words is printed that is found at several rates of other words; nothing is written.
Takes some two minutes on two cores.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from benchmarks.redact import Planted, load
from therapy_analytics.redact._classifier import MODEL, SessionWords, Thresholds, WordClassifier
from therapy_analytics.redact._found import KINDS
from therapy_analytics.redact._known import by_rules
from therapy_analytics.redact._tokens import without_capitals
from therapy_analytics.session import Turn

TEXTS = Path(__file__).with_name("redact_texts")
RULES_MADE_ON = Path(__file__).parents[1] / "benchmarks" / "redact_texts.txt"
HELD = "held"
"""The half of `RULES_MADE_ON` that nothing learns from."""
CLASSES = {
    "AGE": "AGE_OVER_89", "LICENSE": "LICENCE", "BIOMETRIC": "ID", "PHOTO": "FILE", "HANDLE": "ID", "CODE": "ID",
}  # fmt: skip
"""Kinds of the texts that have another name, or none, among the kinds that are removed."""
OTHER = "O"
"""The class of words that identify nobody."""
UNITS, PENALTY, ROUNDS, SORT_PENALTY = 48, 3.0, 6, 0.003
LIMITS = {
    "written": Thresholds(remove=0.55, plain=0.85, join=0.3, trust=0.1, look=0.08),
    "recognised": Thresholds(remove=0.7, plain=0.7, join=0.35, trust=0.25, look=0.1),
}
"""Chosen on writers that were left out: some four in a thousand other words are removed, and of words that are missed
some four in five stand in the review list."""
RATES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Words:
    """Words of one writer: what is known of them (n, d), their class, and whether they come without capitals."""

    known: NDArray[np.float32]
    classes: NDArray[np.str_]
    small: NDArray[np.bool_]


def words_of(file: Path) -> Words:
    """Read the words of a file, written talk in both manners."""
    rows = [_words(one) for given in load(file) if given.half != HELD for one in _manners(given)]
    return Words(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def _manners(given: Planted) -> list[Planted]:
    text = "".join(turn.text for turn in given.session.turns)
    return [given, _recognised(given)] if text != text.lower() else [given]


def _recognised(given: Planted) -> Planted:
    """Return a session without capitals and punctuation; a sign becomes a space, so that places stay what they were."""
    turns = tuple(replace(turn, text=_plain(turn.text)) for turn in given.session.turns)
    return replace(given, session=replace(given.session, turns=turns))


def _plain(text: str) -> str:
    return re.sub(r"[^\w\s'\u2019@.\-/:+]|(?<!\w)['\u2019]|[.:](?!\w)|['\u2019](?!\w)", " ", "".join(map(_lower, text)))


def _lower(sign: str) -> str:
    return sign.lower() if len(sign.lower()) == 1 else sign


def _words(given: Planted) -> tuple[NDArray[np.float32], NDArray[np.str_], NDArray[np.bool_]]:
    turns: tuple[Turn, ...] = given.session.turns
    small = without_capitals(turns)
    session = SessionWords(given.session)
    known = list(session.features(by_rules(given.session)))
    classes = []
    for turn, words in zip(turns, session.words, strict=True):
        marks = [(start, end, kind) for at, start, end, kind in given.plants if at == turn.index]
        classes += [
            next((_class(kind) for start, end, kind in marks if start <= one.start < end), OTHER) for one in words
        ]
    return np.concatenate(known), np.array(classes), np.full(len(classes), small)


def _class(kind: str) -> str:
    found = CLASSES.get(kind, kind)
    return found if found in KINDS else "ID"


def fit(words: list[Words]) -> WordClassifier:
    """Return a model that learnt from words."""
    known = np.concatenate([one.known for one in words])
    classes = np.concatenate([one.classes for one in words])
    mean, spread = known.mean(axis=0), known.std(axis=0) + 1e-3
    marked = classes != OTHER
    network = MLPClassifier((UNITS,), alpha=PENALTY, batch_size=512, max_iter=ROUNDS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so many rounds were found to be enough
        network.fit((known - mean) / spread, marked)
    sort = LogisticRegression(C=SORT_PENALTY, max_iter=300).fit(((known - mean) / spread)[marked], classes[marked])
    hidden, to_kinds = network.coefs_[0] / spread[:, None], (sort.coef_ / spread).T
    return WordClassifier(
        kinds=tuple(map(str, sort.classes_)),
        hidden=hidden.astype(np.float32),
        hidden_bias=(network.intercepts_[0] - mean @ hidden).astype(np.float32),
        out=network.coefs_[1][:, 0].astype(np.float32),
        out_bias=float(network.intercepts_[1][0]),
        sort=to_kinds.astype(np.float32),
        sort_bias=(sort.intercept_ - mean @ to_kinds).astype(np.float32),
        **LIMITS,
    )


def judge(by_writer: dict[str, list[Words]]) -> None:
    """Print what is found of a writer's marked words by a model that was taught with the others' texts."""
    print("| writer | manner | kinds | words | " + " | ".join(f"{rate} in 1,000" for rate in RATES) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(RATES))
    for writer, own in by_writer.items():
        model = fit([one for other, rows in by_writer.items() if other != writer for one in rows])
        doubt = model.identifies(np.concatenate([one.known for one in own]))
        truth, small = (np.concatenate([getattr(one, name) for one in own]) for name in ("classes", "small"))
        for manner, rows in (("written", ~small), ("recognised", small)):
            limits = [np.quantile(doubt[rows & (truth == OTHER)], 1.0 - rate / 1000) for rate in RATES]
            for name, some in {
                "names": truth == "NAME",
                "places": truth == "PLACE",
                "structured": ~np.isin(truth, [OTHER, "NAME", "PLACE"]),
            }.items():
                found = [(doubt[rows & some] > limit).mean() for limit in limits]
                print(
                    f"| {writer} | {manner} | {name} | {(rows & some).sum()} | "
                    + " | ".join(f"{x:.3f}" for x in found)
                    + " |"
                )


def main() -> None:
    """Teach the model, or judge it."""
    by_writer = {}
    for file in sorted(TEXTS.glob("*.txt")):
        by_writer.setdefault(file.stem.partition("_")[0], []).append(words_of(file))
    if "--judge" in sys.argv:
        judge(by_writer)
        return
    write(fit([words_of(RULES_MADE_ON), *(one for rows in by_writer.values() for one in rows)]))


def write(model: WordClassifier) -> None:
    """Write a model where `tanalyze redact` looks for it."""
    MODEL.mkdir(exist_ok=True)
    small = {name: getattr(model, name).astype(np.float16) for name in ("hidden", "out", "sort")}
    biases = {name: np.float32(getattr(model, name)) for name in ("hidden_bias", "out_bias", "sort_bias")}
    np.savez_compressed(MODEL / "weights.npz", **small, **biases)
    about = {
        "format": 1,
        "kinds": list(model.kinds),
        "units": UNITS,
        **{name: asdict(one) for name, one in LIMITS.items()},
    }
    (MODEL / "model.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
