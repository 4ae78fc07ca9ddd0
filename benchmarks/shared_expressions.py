"""Time shared expressions: ``python -m benchmarks.shared_expressions [TRANSCRIPTS]``.

Medians of five runs of processor time over all sessions, on tokens that are made before. The program of the papers'
author (``pip install pydialign``) runs beside it on the same tokens where it is installed, with the largest difference
between the two in any value of any session.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import therapy_analytics as ta
from therapy_analytics.language.tokens import tokenize
from therapy_analytics.measures.synchrony import shared_expressions as ours
from therapy_analytics.session import CLIENT, ROLES, THERAPIST

RUNS, SURROGATES = 5, 20
ROOT = Path(__file__).resolve().parents[1]
ANNOMI = ROOT.parent / "shared" / "data" / "annomi" / "annomi.csv"
Talk = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int8]]
"""Ids, offsets, roles."""


def main() -> None:
    """Print the table."""
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else ANNOMI
    source = given if given.exists() else ROOT / "sample_transcripts"
    talks = _talks(source)
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    n_turns, n_tokens = sum(len(roles) for *_, roles in talks), sum(len(ids) for ids, *_ in talks)
    print(f"input:   {source.name}: {len(talks)} sessions, {n_turns} turns, {n_tokens} tokens; medians of {RUNS}\n")
    for what, value in [*_own(talks), *_growth(), *_beside_the_author(talks)]:
        print(f"{what:<66} {value}")


def _talks(source: Path) -> list[Talk]:
    sessions = ta.read(source)
    tokens = tokenize([turn.text for session in sessions for turn in session.turns])
    talks, begin = [], 0
    for session in sessions:
        offsets = tokens.offsets[begin : begin + len(session.turns) + 1]
        begin += len(session.turns)
        roles = np.array([ROLES.index(turn.role) for turn in session.turns], dtype=np.int8)
        talks.append((tokens.ids[offsets[0] : offsets[-1]], offsets - offsets[0], roles))
    return talks


def _own(talks: list[Talk]) -> list[tuple[str, str]]:
    def of_one() -> None:
        for talk in talks:
            for role in (THERAPIST, CLIENT):
                ours.self_expressions(*talk, role=role)

    surrogates = _seconds(lambda: _surrogates(talks), runs=1)
    each = 1e3 * surrogates / (SURROGATES * len(talks))
    return [
        ("shared expressions", f"{_seconds(lambda: [ours.expressions_of_dialogue(*talk) for talk in talks]):.3f} s"),
        ("self expressions of both", f"{_seconds(of_one):.3f} s"),
        (f"{SURROGATES} surrogates a session, once", f"{surrogates:.2f} s ({each:.2f} ms each)"),
    ]


def _surrogates(talks: list[Talk]) -> None:
    """Each therapist with the next clients; the order of all turns is made once."""
    ids = np.concatenate([ids for ids, *_ in talks])
    sizes = np.concatenate([np.diff(offsets) for _, offsets, _ in talks])
    roles = np.concatenate([roles for *_, roles in talks])
    order = ours.order_turns(ids, np.concatenate([[0], np.cumsum(sizes)]))
    starts = np.cumsum([0, *(len(roles) for *_, roles in talks)])
    turns = [np.arange(begin, end) for begin, end in pairwise(starts)]
    for i, own in enumerate(turns):
        for step in range(1, SURROGATES + 1):
            ours.paired_expressions(order, roles, therapist_of=own, client_of=turns[(i + step) % len(turns)])


def _growth() -> list[tuple[str, str]]:
    rows = []
    for n_turns in (1_000, 10_000, 20_000):
        generator = np.random.default_rng(0)
        sizes = generator.poisson(20, n_turns)
        ids = (generator.zipf(1.3, sizes.sum()) % 5_000).astype(np.int32)
        talk = ids, np.concatenate([[0], np.cumsum(sizes)]), (np.arange(n_turns) % 2).astype(np.int8)
        seconds = _seconds(lambda talk=talk: ours.expressions_of_dialogue(*talk))  # type: ignore[misc]
        rows.append((f"one session of {n_turns} turns, {len(ids)} tokens", f"{seconds:.3f} s"))
    same = np.zeros(10_000, dtype=np.int32), np.array([0, 5_000, 10_000]), np.array([0, 1], dtype=np.int8)
    rows.append(
        ("one word 5,000 times in each of two turns", f"{_seconds(lambda: ours.expressions_of_dialogue(*same)):.3f} s")
    )
    return rows


def _beside_the_author(talks: list[Talk]) -> list[tuple[str, str]]:
    if importlib.util.find_spec("pydialign") is None:
        return [("pydialign", "not installed")]
    talks = [_speaking(talk) for talk in talks]
    found: list[list[tuple[float, ...]]] = [[], []]
    mine = _seconds(lambda: found[0].extend(map(_our_values, talks)), runs=1)
    theirs = _seconds(lambda: found[1].extend(map(_their_values, talks)), runs=1)
    off = np.nanmax(np.abs(np.array(found[0]) - np.array(found[1])))
    return [
        ("pydialign, shared expressions, once", f"{theirs:.2f} s ({theirs / mine:.0f} times ours)"),
        ("largest difference in EV, ER, ENTR, L, LMAX, IE_S, ER_S", f"{off:.1e}"),
    ]


def _speaking(talk: Talk) -> Talk:
    """Leave out turns of others and turns without tokens, which pydialign does not take, or counts as a token."""
    ids, offsets, roles = talk
    kept = (np.diff(offsets) > 0) & np.isin(roles, (THERAPIST, CLIENT))
    sizes = np.diff(offsets)
    return ids[np.repeat(kept, sizes)], np.concatenate([[0], np.cumsum(sizes[kept])]), roles[kept]


def _our_values(talk: Talk) -> tuple[float, ...]:
    one = ours.expressions_of_dialogue(*talk)
    lengths = one.entropy, one.mean_length, one.max_length
    return one.variety, one.repetition, *lengths, *one.initiated, *one.repetition_by


def _their_values(talk: Talk) -> tuple[float, ...]:
    build: Any = importlib.import_module("pydialign").build_lexicon
    offline: Any = importlib.import_module("pydialign.metrics.offline")
    both: Any = tuple(importlib.import_module("pydialign.speaker").Speaker)
    ids, offsets, roles = talk
    turns = [tuple(map(str, part)) for part in np.split(ids, offsets[1:-1])]
    one = offline.DialogueLexiconMeasures(
        build(turns, lambda turn: both[roles[turn]], is_valid_sequence=lambda sequence: len(sequence) > 0)
    )
    return (
        one.expression_variety,
        one.expression_repetition,
        one.entr if one.num_expressions else np.nan,
        one.average_expression_length,
        one.max_expression_length if one.num_expressions else np.nan,
        *map(one.initiated_expressions_by, both),
        *map(one.expression_repetition_by, both),
    )


def _seconds(work: Callable[[], object], runs: int = RUNS) -> float:
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
