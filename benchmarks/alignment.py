"""Time alignment on surrogate dialogues: ``python -m benchmarks.alignment [TRANSCRIPTS]``.

The therapist's turns of one session are put before the client's of another, turn by turn, and all
neighbours are compared: words and pairs of words. Where ALIGN is installed, it gets the same tokens
of some of the same dialogues, and the values are compared.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import therapy_analytics as ta
from therapy_analytics.measures.null.surrogates import TokenRows
from therapy_analytics.measures.synchrony import alignment
from therapy_analytics.measures.synchrony.ngrams import count_ngrams
from therapy_analytics.text.tokens import tokenize

DIALOGUES = 1000
WITH_PEER = 50
ROOT = Path(__file__).resolve().parents[1]
ANNOMI = ROOT.parent / "shared" / "data" / "annomi" / "annomi.csv"

Ints = NDArray[np.int64]
Columns = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Corpus:
    """Tokens of all turns, and the turns of each session by role."""

    words: NDArray[np.int32]
    offsets: Ints
    sides: list[tuple[Ints, Ints]]


def main() -> None:
    """Print the figures."""
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else ANNOMI
    corpus = _corpus(given if given.exists() else ROOT / "sample_transcripts")
    dialogues = list(_dialogues(corpus))
    anchors, replies = (np.concatenate(side) for side in zip(*dialogues, strict=True))
    start = time.perf_counter()
    ours = _ours(corpus, anchors, replies)
    seconds = time.perf_counter() - start
    print(f"{len(corpus.sides)} sessions, {len(corpus.offsets) - 1} turns, {len(corpus.words)} tokens")
    print(f"{len(dialogues)} surrogate dialogues, {len(anchors)} pairs: {seconds:.2f} s, n-grams of all turns included")
    print(f"one dialogue: {1000 * seconds / len(dialogues):.2f} ms")
    for name, values in ours.items():
        print(f"  {name}: mean {np.nanmean(values):.3f}, undefined {np.isnan(values).mean():.1%}")
    _beside_align(corpus, dialogues[:WITH_PEER], ours)


def _corpus(source: Path) -> Corpus:
    sessions = ta.read(source)
    turns = [(i, turn.role, turn.text) for i, session in enumerate(sessions) for turn in session.turns]
    tokens = tokenize([text for *_, text in turns])
    session, role = np.array([i for i, *_ in turns]), np.array([role for _, role, _ in turns])
    of = {name: [np.flatnonzero((session == i) & (role == name)) for i in range(len(sessions))] for name in set(role)}
    return Corpus(tokens.ids, tokens.offsets, list(zip(of["therapist"], of["client"], strict=True)))


def _dialogues(corpus: Corpus) -> Iterator[tuple[Ints, Ints]]:
    """Therapist of one session, client of another, in turn: each turn with the next."""
    n = len(corpus.sides)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    for pick in np.random.default_rng(1).permutation(len(pairs))[:DIALOGUES]:
        i, j = pairs[pick]
        therapist, client = corpus.sides[i][0], corpus.sides[j][1]
        length = min(len(therapist), len(client))
        turns = np.stack([therapist[:length], client[:length]], axis=1).ravel()
        yield turns[:-1], turns[1:]


def _ours(corpus: Corpus, anchors: Ints, replies: Ints) -> Columns:
    values = {}
    rows = TokenRows(corpus.words[:, None].astype(np.uint64), corpus.offsets)
    for n in (1, 2):
        words = count_ngrams(rows, n)
        values[f"lexical {n}"] = alignment.cosine(words[anchors], words[replies])
    return values


def _beside_align(corpus: Corpus, dialogues: list[tuple[Ints, Ints]], ours: Columns) -> None:
    try:
        from align.calculate_alignment import get_cosine, ngram_lexical  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        print("ALIGN is not installed: no comparison")
        return
    words = [f"w{i}" for i in corpus.words]
    turns = [words[a:b] for a, b in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)]
    pairs = [(turns[a], turns[b]) for dialogue in dialogues for a, b in zip(*dialogue, strict=True)]
    start = time.perf_counter()
    theirs = {f"lexical {n}": [get_cosine(*ngram_lexical(a, b, ngramsize=n)) for a, b in pairs] for n in (1, 2)}
    each = 1000 * (time.perf_counter() - start) / len(dialogues)
    print(f"ALIGN, its counting and cosines alone, on {len(dialogues)} of them: {each:.2f} ms a dialogue")
    for name, values in theirs.items():
        gap = np.abs(np.nan_to_num(ours[name][: len(pairs)]) - values).max()
        print(f"  {name}: largest difference {gap:.1e}")


if __name__ == "__main__":
    main()
