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
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import therapy_analytics as ta
from therapy_analytics.core.session import CLIENT, ROLES, THERAPIST
from therapy_analytics.measures.null.surrogates import TokenRows
from therapy_analytics.measures.synchrony import shared_expressions as ours
from therapy_analytics.measures.synchrony.ngrams import ngrams_in
from therapy_analytics.measures.synchrony.whole_session import Side
from therapy_analytics.text.tokens import tokenize

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
    surrogates = _seconds(lambda: _surrogates(talks), runs=1)
    each = 1e3 * surrogates / len(talks)
    return [
        ("shared expressions", f"{_seconds(lambda: [_expressions(talk) for talk in talks]):.3f} s"),
        ("self repetition of both", f"{_seconds(lambda: [_self_repetition(talk) for talk in talks]):.3f} s"),
        (f"each with {SURROGATES} clients of others, once", f"{surrogates:.2f} s ({each:.2f} ms a session)"),
    ]


def _rows(talk: Talk) -> TokenRows:
    ids, offsets, _ = talk
    return TokenRows(np.stack([ids.astype(np.uint64), np.ones(len(ids), dtype=np.uint64)], axis=1), offsets)


def _expressions(talk: Talk) -> ours.SharedExpressions:
    rows, at = ngrams_in(_rows(talk)), [np.flatnonzero(talk[2] == role) for role in (THERAPIST, CLIENT)]
    sides = (Side(role, rows[at[role]], at[role], at[1 - role]) for role in (THERAPIST, CLIENT))
    return ours.expressions_of(*(ours.of_speaker(side) for side in sides))


def _self_repetition(talk: Talk) -> list[float]:
    rows, at = ngrams_in(_rows(talk)), [np.flatnonzero(talk[2] == role) for role in (THERAPIST, CLIENT)]
    sides = (Side(role, rows[at[role]], at[role], at[1 - role]) for role in (THERAPIST, CLIENT))
    return [ours.self_repetition(ours.of_speaker(side)) for side in sides]


def _surrogates(talks: list[Talk]) -> None:
    """Each therapist with the next clients, whose turns stand in order where the session's own stood."""
    for i, talk in enumerate(talks):
        rows, (therapist, client) = _rows(talk), (np.flatnonzero(talk[2] == role) for role in (THERAPIST, CLIENT))
        clients = [client]
        for step in range(1, SURROGATES + 1):
            other = talks[(i + step) % len(talks)]
            turns = np.flatnonzero(other[2] == CLIENT)
            if len(turns):
                clients.append(len(rows) + np.resize(turns, len(client)))
                rows = rows.followed_by(_rows(other))
        ngrams = ngrams_in(rows)
        own = ours.of_speaker(Side(THERAPIST, ngrams[therapist], therapist, client))
        for turns in clients:
            ours.expressions_of(own, ours.of_speaker(Side(CLIENT, ngrams[turns], client, therapist)))


def _growth() -> list[tuple[str, str]]:
    rows = []
    for n_turns in (500, 1_000, 2_000):
        generator = np.random.default_rng(0)
        sizes = generator.poisson(20, n_turns)
        ids = (generator.zipf(1.3, sizes.sum()) % 5_000).astype(np.int32)
        talk = ids, np.concatenate([[0], np.cumsum(sizes)]), (np.arange(n_turns) % 2).astype(np.int8)
        seconds = _seconds(lambda talk=talk: _expressions(talk))  # type: ignore[misc]
        rows.append((f"one session of {n_turns} turns, {len(ids)} tokens", f"{seconds:.3f} s"))
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
        ("largest difference in EV, ER, ENTR, L, IE_S of the therapist, ER_S", f"{off:.1e}"),
    ]


def _speaking(talk: Talk) -> Talk:
    """Leave out turns of others and turns without tokens, which pydialign does not take, or counts as a token."""
    ids, offsets, roles = talk
    kept = (np.diff(offsets) > 0) & np.isin(roles, (THERAPIST, CLIENT))
    sizes = np.diff(offsets)
    return ids[np.repeat(kept, sizes)], np.concatenate([[0], np.cumsum(sizes[kept])]), roles[kept]


def _our_values(talk: Talk) -> tuple[float, ...]:
    one = _expressions(talk)
    found = one.variety, one.repetition, one.entropy, one.mean_length, one.initiated, *one.repetition_by
    return tuple(float(value) for value in found)


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
        one.entr * np.log(2) if one.num_expressions else np.nan,
        one.average_expression_length,
        one.initiated_expressions_by(both[0]),
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
