"""Copies of sessions, and what they teach: ``python -m benchmarks.copies [--data CORPORA]``.

Which sessions of the corpora are taken for copies of each other, and whether they are of one recording by the corpus's
own account; how often planted copies of AnnoMI's sessions are found, by what was done to them; and the kappa of codes
drawn at random, where each session stands there twice, with the copies in different folds and together. Prints
Markdown; takes a minute of the processor.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd

import therapy_analytics as ta
from benchmarks._corpora import sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.core.session import Session
from therapy_analytics.stats.training import TrainOptions, _groups, near_copies

ROOT = Path(__file__).resolve().parents[1]
CORPORA = ("annomi", "hlqc", "mibot", "vera_mh", "mindeval")
SEEDS = range(5)
N_SESSIONS = 40
Texts = list[str]
Change = Callable[[Texts, np.random.Generator, Texts], Texts]


def words_changed(share: float) -> Change:
    """Return what exchanges so many of the words for words of another session."""

    def change(texts: Texts, rng: np.random.Generator, others: Texts) -> Texts:
        pool = " ".join(others).split()
        return [
            " ".join(str(rng.choice(pool)) if rng.random() < share else word for word in text.split()) for text in texts
        ]

    return change


CHANGES: dict[str, Change] = {
    "as it is": lambda texts, _, __: texts,
    "small letters, no punctuation": lambda texts, _, __: [re.sub(r"[^\w\s]", "", one).lower() for one in texts],
    "capitalised words replaced by [NAME]": lambda texts, _, __: [
        re.sub(r"(?<=[a-z] )[A-Z]\w+", "[NAME]", one) for one in texts
    ],
    "10% of words changed": words_changed(0.1),
    "20% of words changed": words_changed(0.2),
    "30% of words changed": words_changed(0.3),
    "one speaker alone": lambda texts, _, __: texts[::2],
    "first half alone": lambda texts, _, __: texts[: len(texts) // 2],
    "first half, then another session": lambda texts, _, others: [
        *texts[: len(texts) // 2],
        *others[len(others) // 2 :],
    ],
    "first quarter, then another session": lambda texts, _, others: [
        *texts[: len(texts) // 4],
        *others[len(others) // 4 :],
    ],
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    data = parser.parse_args().data
    print("### Pairs of sessions that are taken for copies\n")
    print(
        markdown([["corpus", "sessions", "pairs", "of one recording", "pairs of one recording in all"], *found(data)])
    )
    sessions = sessions_of(data, "annomi")
    print("\n### Planted copies that are found\n")
    print(markdown([["what was done to the copy", "found"], *planted(sessions)]))
    print("\n### Kappa of codes drawn at random, and how often they were learnt\n")
    print(markdown([["copies", *(f"seed {seed}" for seed in SEEDS), "learnt"], *random_codes(sessions)]))


def found(data: Path) -> list[list[str]]:
    """Return a row a corpus."""
    rows = []
    for name in CORPORA:
        sessions = sessions_of(data, name)
        group = np.array([one.metadata.get("source_group") or f"session {one.id}" for one in sessions])
        pairs = near_copies([text_of(one) for one in sessions])
        same = int((group[pairs[:, 0]] == group[pairs[:, 1]]).sum())
        sizes = np.unique(group, return_counts=True)[1]
        rows.append([name, *map(str, (len(sessions), len(pairs), same, int((sizes * (sizes - 1) // 2).sum())))])
    return rows


def planted(sessions: Sequence[Session]) -> list[list[str]]:
    """Return a row a kind of copy; each session is copied once, beside all originals."""
    texts = [[turn.text for turn in one.turns] for one in sessions]
    rows = []
    for name, change in CHANGES.items():
        rng = np.random.default_rng(0)
        others = np.roll(np.arange(len(texts)), 1)
        copies = [change(own, rng, texts[others[at]]) for at, own in enumerate(texts)]
        pairs = near_copies([" ".join(one) for one in (*texts, *copies)]) % len(texts)
        own = len(np.unique(pairs[pairs[:, 0] == pairs[:, 1], 0]))
        rows.append([name, f"{own} of {len(texts)}"])
    return rows


def random_codes(sessions: Sequence[Session]) -> list[list[str]]:
    """Return the rows of copies apart and together."""
    rows = []
    for name, apart in (("apart, as before", True), ("together", False)):
        results = [_tried(sessions, seed, apart=apart) for seed in SEEDS]
        kappas = [f"{one.scores['kappa'].iloc[0]:.2f}" for one in results]
        rows.append([name, *kappas, f"{sum(bool(one.learnt) for one in results)} of {len(results)}"])
    return rows


def _tried(sessions: Sequence[Session], seed: int, *, apart: bool) -> ta.Training:
    rng = np.random.default_rng(seed)
    drawn = [sessions[at] for at in rng.permutation(len(sessions))[:N_SESSIONS]]
    originals = [replace(one, id=f"a{at}", metadata={}) for at, one in enumerate(drawn)]
    rows, copies = [], [replace(one, id=f"b{at}", metadata={}) for at, one in enumerate(drawn)]
    for pair in zip(originals, copies, strict=True):
        luck = rng.random(len(pair[0].turns)) < 0.4
        rows += [
            {"session_id": one.id, "turn": turn.index, "luck": int(luck[place])}
            for one in pair
            for place, turn in enumerate(one.turns)
            if turn.role == "therapist"
        ]
    options = TrainOptions(warm_start=False, beside="fast", seed=seed)
    none = np.zeros((0, 2), dtype=np.int64)
    with patch.object(_groups, "near_copies", lambda texts: none if apart else near_copies(texts)):
        return ta.train(pd.DataFrame(rows), [*originals, *copies], None, options=options)


def text_of(session: Session) -> str:
    """Return all that was said, as `groups_of` compares it."""
    return " ".join(turn.text for turn in session.turns)


if __name__ == "__main__":
    main()
