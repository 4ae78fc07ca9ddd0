"""Time synchrony: ``python -m benchmarks.synchrony [TRANSCRIPTS]``, in one process, after the turns are tokenised.

Coordination alone, without shuffles; LSM and rLSM with their shuffles; then every measure with shuffles and
surrogate pairs. Beside the floor that spaCy's blank tokeniser sets on the same turns and, where ConvoKit is
installed, its Coordination on the same corpus. Without TRANSCRIPTS the samples, repeated.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import spacy
from numpy.typing import NDArray

import therapy_analytics as ta
from therapy_analytics.core.session import CLIENT, THERAPIST, Session
from therapy_analytics.measures.arrays import arrays_with_donors
from therapy_analytics.measures.settings import Settings
from therapy_analytics.measures.synchrony.adjacent_turns import adjacent_result, pairs_of, replies_of
from therapy_analytics.measures.synchrony.coordination import coordination_of, marks, mean_of_markers
from therapy_analytics.measures.synchrony.style_matching import LSM, RLSM
from therapy_analytics.measures.synchrony.tables import Kind, kinds
from therapy_analytics.results.tables import synchrony_table
from therapy_analytics.text import EXTRAS, AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.text.donors import choose_donors
from therapy_analytics.text.lexicons import Matcher

RUNS = 5
SESSIONS = 80
"""So many at least, the samples repeated."""
MARK_COORDINATION, MARK_STYLE = "mark: 30 ms", "mark: 1500 ms"
"""For all sessions of AnnoMI."""
SAMPLES = Path(__file__).resolve().parents[1] / "sample_transcripts"


class Cost(NamedTuple):
    """Seconds of the processor, and by the clock."""

    cpu: float
    wall: float


def main() -> None:
    """Print the table."""
    sessions = _sessions()
    texts = [turn.text for session in sessions for turn in session.turns]
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"input:   {len(sessions)} sessions, {len(texts)} turns; medians of {RUNS}, single measures once\n")
    print(f"{'':<64}{'CPU':>10}{'wall':>10}{'x floor':>9}")
    tokenizer, matcher = spacy.blank("en").tokenizer, Matcher(builtin_lexicons())
    floor = _cost(lambda: [tokenizer(text) for text in texts])
    _print("floor: spacy.blank('en') tokenises", floor, floor)
    arrays = list(annotate(sessions, matcher))
    _print("turns to arrays (tokens, word lists)", _cost(lambda: annotate(sessions, matcher)), floor)
    _beside_marks(arrays, floor)
    _beside_convokit(sessions, arrays, floor)
    _each_measure(sessions, floor)


def _sessions() -> list[Session]:
    if len(sys.argv) > 1:
        return ta.read(Path(sys.argv[1]))
    samples = ta.read(SAMPLES)
    return [replace(one, id=f"{one.id}_{k}") for k in range(-(-SESSIONS // len(samples))) for one in samples]


def _cost(work: Callable[[], object], runs: int = RUNS) -> Cost:
    costs = []
    for _ in range(runs):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        costs.append((time.process_time() - cpu, time.perf_counter() - wall))
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def _print(what: str, cost: Cost, floor: Cost, more: str = "") -> None:
    ratio = f"{cost.cpu / floor.cpu:.2f}" if floor.cpu else ""
    print(f"{what:<64}{1000 * cost.cpu:>7.1f} ms{1000 * cost.wall:>7.1f} ms{ratio:>9} {more}".rstrip())


# ---- with marks


def _beside_marks(arrays: Sequence[AnnotatedSession], floor: Cost) -> None:
    style = _cost(lambda: _style(arrays))
    drawing = _cost(lambda: [replies_of(replace(one)) for one in arrays])
    _print(
        "coordination, each speaker and marker, no shuffles", _cost(lambda: _markers(arrays)), floor, MARK_COORDINATION
    )
    _print("LSM and rLSM of turns, 200 shuffles each", style, floor, MARK_STYLE)
    _print("  of which drawing the shuffles", drawing, floor)


def _markers(arrays: Sequence[AnnotatedSession]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coordination of the therapist's replies and the client's in each session, each marker and their mean."""
    had = [(session, marks(session)) for session in arrays]
    pairs = [[has[at] for at in pairs_of(one, role)] for one, has in had for role in (THERAPIST, CLIENT)]
    each = np.stack([coordination_of(*turns) for turns in pairs])
    return each, mean_of_markers(each)


def _style(arrays: Sequence[AnnotatedSession]) -> None:
    for session in arrays:
        anew = replace(session)  # a copy has nothing computed yet
        adjacent_result(LSM, anew)
        adjacent_result(RLSM, anew)


# ---- beside ConvoKit


def _beside_convokit(sessions: Sequence[Session], arrays: Sequence[AnnotatedSession], floor: Cost) -> None:
    try:
        from convokit import Coordination, Corpus, Speaker, Utterance  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        print("ConvoKit is not installed: no comparison")
        return
    utterances = []
    for session in sessions:
        who = {role: Speaker(id=f"{session.id}/{role}") for role in ("therapist", "client", "other")}
        names = [f"{session.id}/{turn.index}" for turn in session.turns]
        for turn, name, before in zip(session.turns, names, [None, *names[:-1]], strict=True):
            about = {"conversation_id": names[0], "reply_to": before, "timestamp": turn.index}
            utterances.append(Utterance(id=name, speaker=who[turn.role], text=turn.text, **about))
    corpus = Corpus(utterances=utterances)

    def theirs() -> None:
        coordination = Coordination(target_thresh=1)
        coordination.fit(corpus)
        coordination.transform(corpus)

    matcher = Matcher(builtin_lexicons())
    _print("ConvoKit: Coordination, fit and transform, from texts", _cost(theirs, runs=3), floor)
    ours = _cost(lambda: _markers(list(annotate(sessions, matcher))), runs=3)
    _print("coordination from texts, tokens and word lists included", ours, floor)
    _print("coordination again", _cost(lambda: _markers(arrays)), floor)


# ---- everything


def _each_measure(sessions: Sequence[Session], floor: Cost) -> None:
    """Time all measures; the first of a family also makes what the others of it use."""
    settings = Settings(extras=frozenset(EXTRAS))
    found: list[AnnotatedSession] = []
    cost = _cost(
        lambda: found.extend(arrays_with_donors(sessions, settings, choose_donors(sessions))),
        runs=1,
    )
    print()
    _print("turns to arrays, donors chosen and read", cost, floor)
    total = _cost(lambda: [replies_of(session) for session in found], runs=1)
    _print("drawing shuffles and surrogate pairs", total, floor)
    for kind in kinds(extras=EXTRAS):
        each = _cost(lambda kind=kind: _rows(found, kind), runs=1)  # type: ignore[misc]
        _print(f"  {kind.name}", each, floor, f"{1000 * each.cpu / len(found):.2f} ms a session")
        total = Cost(total.cpu + each.cpu, total.wall + each.wall)
    _print(
        "all measures, all null distributions, as rows",
        total,
        floor,
        f"{1000 * total.cpu / len(found):.2f} ms a session",
    )


def _rows(sessions: Sequence[AnnotatedSession], kind: Kind) -> None:
    synchrony_table(sessions, [kind])


if __name__ == "__main__":
    main()
