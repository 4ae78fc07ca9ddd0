"""Write hashes of the turns that the taggers learnt from, and of those behind the reference profiles of people.

Run from the root of the repository, with the corpora that docs/model_card.md names:

    python tools/build_learnt_turns.py --data CORPORA

Hashed are the turns and units as the taggers learnt them (`tagger_turns`), and all turns of the same sessions as the
package reads them. The project's own invented turns are left out. It prints how many sessions of each corpus, and of
KokoroChat, from which nothing was learnt, count as learnt from. Two runs write the same bytes; it takes a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import build_reference
import tagger_turns
from process_corpus import SESSIONS, name_of

import therapy_analytics as ta
from therapy_analytics.codes.learnt import FILE, HALF, Hashes, as_npz, learnt_turns, n_among, turn_hashes
from therapy_analytics.codes.weights import WEIGHTS
from therapy_analytics.core.session import Session

OWN = ("excerpts", "invented", "seed")
"""Sources of turns that this project invented."""


def main() -> None:
    """Read, hash, write, count."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=WEIGHTS / FILE)
    options = parser.parse_args()
    corpora = {name: ta.read(options.data / place) for name, place in SESSIONS.items()}
    table = tagger_turns.turns(options.data).table
    table = table[~table["corpus"].isin(OWN)]
    learnt = turn_hashes([*table["text"], *_read_whole(corpora, set(table["session"]))])
    of_reference: dict[str, list[str]] = {"skilled": [], "unskilled": [], "model": []}
    for _, session, group in build_reference.groups(corpora):
        kind = {"human_high": "skilled", "human_low": "unskilled"}.get(group, "model")
        of_reference[kind] += [turn.text for turn in session.turns]
    hashes = {kind: turn_hashes(texts) for kind, texts in of_reference.items()}
    options.out.write_bytes(as_npz(learnt=learnt, **hashes))
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")
    known = learnt_turns(options.out.parent)
    for name, sessions in (corpora | {"kokoro": ta.read(options.data / "kokoro" / "transcripts.csv")}).items():
        print(
            f"{name}: {sum(_counts(one, known) for one in sessions)} of {len(sessions)} sessions count as learnt from"
        )


def _read_whole(corpora: dict[str, Sequence[Session]], learnt: set[str]) -> Iterator[str]:
    """Yield the turns of the sessions of which some were learnt from, as the package reads them."""
    for name, sessions in corpora.items():
        for session in sessions:
            if name_of(name, session.id) in learnt:
                yield from (turn.text for turn in session.turns)


def _counts(session: Session, known: Hashes) -> bool:
    n, out_of = n_among(turn_hashes(turn.text for turn in session.turns), known)
    return n >= HALF * out_of


if __name__ == "__main__":
    main()
