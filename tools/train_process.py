"""Rebuild the sequence model, which gives the codes of the codebook `process`.

Run from the root of the repository, with the research corpora that docs/model_card.md names:

    python tools/train_process.py --data CORPORA --work FOLDER --tables tables.txt

What is done is kept in the working folder, so that models can be fitted side by side (``--only NAME``, each in a
process of its own) and a run that was stopped goes on. Two to four minutes a model on one core, fifteen models. Needs
torch.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import process_model as model
import torch
from numpy.typing import NDArray
from process_corpus import BOOK, NAMES, SESSIONS, turns
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from tagger_fit import Array, best_threshold, rate_threshold

from therapy_analytics.behaviours import load_accurate
from therapy_analytics.behaviours.prevalence import with_prevalence
from therapy_analytics.session import Session, Turn

FOLDS, SEED = 5, 0
CHATBOTS = {"chatbot claude": "spiral_bench/(?!llama)", "chatbot llama": "spiral_bench/llama"}
"""The two chatbots of Spiral-Bench, and how the names of their sessions begin."""
HELD = [*SESSIONS, "invented", *(f"fold {fold}" for fold in range(FOLDS)), *CHATBOTS]
"""What is left out of a model: a whole corpus, all invented excerpts, a fifth of the recordings, a chatbot."""
FEWEST = 50
"""Turns with a code in the corpora of whole sessions, from which on its agreement is told."""
LIMIT, PULL = -0.8, 0.01
"""Log-odds from which on a turn has a code, where nothing speaks for another limit, and what a limit that is another by
1 must gain in kappa. Limits chosen for each code without that pull were worse in a corpus that they had not seen."""
LIMITS = np.arange(-2.5, 1.76, 0.25)
Bools = NDArray[np.bool_]


def main() -> None:
    """Cross-validate, fit on everything, decide on thresholds, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("therapy_analytics/behaviours/weights"))
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--only", choices=[*HELD, "whole"], default=None, help="fit this model alone, and stop")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    data = examples(options.data, options.work)
    for name in [*HELD, "whole"] if options.only is None else [options.only]:
        done(data, options.work, name)
    if options.only is None:
        with np.load(options.work / "whole.npz", allow_pickle=False) as arrays:
            np.savez_compressed(options.out / "process.npz", **arrays)
        unseen = {kind: together(data, options.work, kind) for kind in ("corpus", "fold")}
        codes = [described(data, unseen, at) for at in range(len(NAMES))]
        about = {"format": 1, "codes": codes}
        (options.out / "process.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        options.tables.write_text(table(data, unseen), encoding="utf-8")


def examples(data: Path, work: Path) -> model.Examples:
    """Return all turns and the vectors of their parts, encoded as the tagger does, unless that is done."""
    table, path = turns(data), work / "vectors.npz"
    if not path.exists():
        encoder = load_accurate().encoder
        found = encoder.read([session_of(rows) for _, rows in table.groupby("session", sort=False)])
        np.savez(path, vectors=found.vectors, turn_of=found.turn_of)
    with np.load(path, allow_pickle=False) as found:
        return model.Examples(table, found["vectors"], found["turn_of"])


def session_of(rows: pd.DataFrame) -> Session:
    """Return the turns of a session, without codes."""
    made = (
        Turn(index=at, first_row=at, role=row.role, speaker=row.role, text=row.text)
        for at, row in enumerate(rows.itertuples())
    )
    return Session(id=str(rows["session"].iloc[0]), source_file="corpus", turns=tuple(made))


def left_out(data: model.Examples, name: str) -> Bools:
    """Return the turns that a model has not seen: with a corpus, copies of its recordings in other corpora, too."""
    turns = data.turns
    if name in CHATBOTS:
        return turns["session"].str.match(CHATBOTS[name]).to_numpy()
    if kind_of(name) == "corpus":
        return turns["group"].isin(set(turns.loc[turns["corpus"] == name, "group"])).to_numpy()
    return turns["group"].map(_fold).eq(int(name.split()[1])).to_numpy()


def _fold(group: str) -> int:
    return int(hashlib.sha256(group.encode()).hexdigest()[:8], 16) % FOLDS


def kind_of(name: str) -> str:
    """Return what is left out: a corpus, a fold of recordings, or a chatbot."""
    return name.split(maxsplit=1)[0] if " " in name else "corpus"


def done(data: model.Examples, work: Path, name: str) -> None:
    """Fit a model and keep what it says of the turns that it has not seen, or its weights, unless that is done."""
    path = work / f"{name.replace(' ', '_')}.npz"
    if path.exists():
        return
    unseen = left_out(data, name) if name != "whole" else np.zeros(len(data.turns), dtype=bool)
    net = model.fit(data, ~unseen, SEED)
    if name == "whole":
        np.savez(path, allow_pickle=False, **net.arrays(data.centre))
    else:
        np.savez(path, allow_pickle=False, scores=model.scores(net, data, unseen))


def together(data: model.Examples, work: Path, kind: str) -> Array:
    """Return scores (n_turns, n_codes) by models that have not seen the corpus, or the recording."""
    found, judge = np.full((len(data.turns), len(NAMES)), np.nan), of_kind(data, kind)
    for at, name in enumerate(HELD):
        if kind_of(name) == kind:
            with np.load(work / f"{name.replace(' ', '_')}.npz", allow_pickle=False) as scores:
                found[judge == at] = scores["scores"][judge == at]
    return found


def of_kind(data: model.Examples, kind: str) -> NDArray[np.int64]:
    """Return, for each turn, which of the models of a kind judges it (its place in HELD), or -1."""
    found = np.full(len(data.turns), -1)
    for at, name in enumerate(HELD):
        if kind_of(name) == kind:
            own = data.turns["corpus"].eq(name).to_numpy() if kind == "corpus" else left_out(data, name)
            found[own] = at
    return found


def shifted(data: model.Examples, scores: Array, at: int) -> tuple[Array, float]:
    """Return the scores of a code, shifted by how common it seems in each session, and its share of turns."""
    counts = data.counts[:, at]
    share = float(np.clip(data.truth[counts, at].mean(), 1e-3, 0.5))
    found = scores[:, at].copy()
    for first, stop in data.sessions:
        own = first + np.flatnonzero(counts[first:stop])
        own = own[~np.isnan(found[own])]
        found[own] = with_prevalence(found[own], share)
    return found, share


def judged(data: model.Examples, at: int) -> Bools:
    """Return the turns that a code is judged on: read ones, of its role, of the corpora of whole sessions."""
    return data.counts[:, at] & data.turns["corpus"].isin(list(SESSIONS)).to_numpy()


def described(data: model.Examples, unseen: dict[str, Array], at: int) -> dict[str, Any]:
    """Return the entry of a code in ``process.json``: calibration and thresholds on turns that were not seen."""
    code, rows, truth = BOOK.codes[at], judged(data, at), data.truth[:, at]
    every = [shifted(data, one, at) for one in unseen.values()]
    scores, given = np.concatenate([one[rows] for one, _ in every]), np.tile(truth[rows], len(every))
    limit = limit_of([(truth[rows], one[rows]) for one, _ in every])
    if given.sum() >= FEWEST // 2:
        line = LogisticRegression(C=1e6).fit(scores[:, None], given)
        slope, intercept = max(0.2, float(line.coef_[0, 0])), float(line.intercept_[0])
    else:
        slope, intercept = 1.0, 0.0
    p = 1 / (1 + np.exp(-(slope * scores + intercept)))
    balanced = float(np.clip(1 / (1 + np.exp(-(slope * limit + intercept))), 0.01, 0.9))
    thresholds = {
        "balanced": round(balanced, 4),
        "precision": max(round(balanced, 4), best_threshold(p, given, score="F0.5")),
        "recall": min(round(balanced, 4), best_threshold(p, given, score="F2")),
        "rate": rate_threshold(p, np.ones(len(p))),
    }
    return {
        "column": code.column,
        "role": code.role,
        "slope": round(slope, 4),
        "intercept": round(intercept, 4),
        "share": round(every[0][1], 5),
        "thresholds": thresholds,
        "on_request": code.status == "experimental",
    }


def limit_of(judgements: Sequence[tuple[Bools, Array]]) -> float:
    """Return the limit with the best mean kappa over some truths and scores; LIMIT where cases are few."""
    if sum(int(truth.sum()) for truth, _ in judgements) < FEWEST // 2 * len(judgements):
        return LIMIT
    gained = [np.mean([cohen_kappa_score(truth, scores > limit) for truth, scores in judgements]) for limit in LIMITS]
    return float(LIMITS[int(np.argmax(np.array(gained) - PULL * (LIMITS - LIMIT) ** 2))])


def kappas(data: model.Examples, unseen: Array, kind: str, at: int) -> tuple[float, float, Bools, Bools]:
    """Return kappa and AUC of a code by scores that were not seen, the turns judged, and the decisions on all turns.

    The limit of a decision comes from turns that are not left out of the model that judges it.
    """
    scores, _ = shifted(data, unseen, at)
    truth, part = data.truth[:, at], of_kind(data, kind)
    rows = judged(data, at) & ~np.isnan(scores)
    found = np.zeros(len(scores), dtype=bool)
    for own in np.unique(part[part >= 0]):
        mine = (part == own) & ~np.isnan(scores)
        others = rows & ~left_out(data, HELD[own])
        found[mine] = scores[mine] > limit_of([(truth[others], scores[others])])
    auc = float(roc_auc_score(truth[rows], scores[rows])) if truth[rows].any() else np.nan
    return float(cohen_kappa_score(truth[rows], found[rows])), auc, rows, found


def table(data: model.Examples, unseen: dict[str, Array]) -> str:
    """Return the table of agreement with the readers, by code."""
    lines = [
        "| code | cases | kappa, recording left out | AUC | given | kappa, corpus left out | AUC | given |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    means: list[tuple[float, float]] = []
    order = np.argsort([-int(data.truth[judged(data, at), at].sum()) for at in range(len(NAMES))], kind="stable")
    for at in order:
        cases = int(data.truth[judged(data, at), at].sum())
        if cases < 3:
            continue
        parts = [f"`{NAMES[at]}`", str(cases)]
        both = [kappas(data, unseen[kind], kind, int(at)) for kind in ("fold", "corpus")]
        for kappa, auc, rows, found in both:
            parts += [f"{kappa:.2f}", f"{auc:.2f}", str(int(found[rows].sum()))]
        if cases >= FEWEST:
            means.append((both[0][0], both[1][0]))
        lines.append(f"| {' | '.join(parts)} |")
    mean = np.mean(means, axis=0)
    lines.append(f"\nMean over the {len(means)} codes with {FEWEST} cases or more: {mean[0]:.3f} and {mean[1]:.3f}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
