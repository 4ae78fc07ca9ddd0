"""Time nCLiD with exact word mover's distances: ``python -m benchmarks.nclid [CORPORA [PEERS]]``.

All AnnoMI sessions, one after the other, rows of further annotators left out, every pair of turns of a
session. Reading and tokenising are not in the time. Where gensim is installed it does a few sessions in the same run,
scaled up by the number of pairs.
"""

from __future__ import annotations

import csv
import os
import platform
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from therapy_analytics.core.session import CLIENT, THERAPIST
from therapy_analytics.measures.synchrony.linguistic_distance import nclid, word_movers
from therapy_analytics.measures.synchrony.whole_session import Side

SHARED = Path(__file__).resolve().parents[2] / "shared"
RUNS = 3
GENSIM_PAIRS = 8_000
Sessions = dict[str, list[tuple[str, list[str]]]]


def main() -> None:
    """Print the table."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED / "data"
    peers = Path(sys.argv[2]) if len(sys.argv) > 2 else SHARED / "peers"
    with np.load(peers / "w2v_annomi100.npz", allow_pickle=False) as stored:
        words, vectors = stored["words"].tolist(), stored["vectors"]
    sessions = read(data / "annomi" / "annomi.csv", set(words))
    pairs = sum(len(turns) * (len(turns) - 1) // 2 for turns in sessions.values())
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {_load()}")
    print(f"input:   {len(sessions)} sessions, {pairs:,} pairs of turns; best of {RUNS}\n")
    place = {word: i for i, word in enumerate(words)}
    turns = [[np.array([place[w] for w in turn], dtype=np.int64) for _, turn in one] for one in sessions.values()]
    roles = [np.array([THERAPIST if role == "therapist" else CLIENT for role, _ in one]) for one in sessions.values()]
    matrices = report("distances", lambda: [word_movers(one, vectors) for one in turns])
    both = [_sides(*one) for one in zip(matrices, roles, strict=True)]
    report("nCLiD from distances", lambda: [nclid(*sides) for sides in both])
    against_gensim(sessions, dict(zip(words, vectors, strict=True)), pairs)


def _sides(distances: Any, roles: Any) -> list[Side]:
    at = [np.flatnonzero(roles == role) for role in (THERAPIST, CLIENT)]
    return [Side(distances[at[role]], at[role]) for role in (THERAPIST, CLIENT)]


def read(path: Path, known: set[str]) -> Sessions:
    """Return role and known words of each row of each session."""
    rows: dict[str, dict[str, tuple[str, list[str]]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            words = [word for word in re.findall(r"\w+", row["utterance_text"].lower()) if word in known]
            rows.setdefault(row["transcript_id"], {}).setdefault(row["utterance_id"], (row["interlocutor"], words))
    return {name: list(session.values()) for name, session in rows.items()}


def report(what: str, job: Any) -> Any:
    """Time a job, print seconds on the wall and of all cores, and return what it made."""
    best, result = (np.inf, np.inf), None
    for _ in range(RUNS):
        wall, cpu = time.perf_counter(), time.process_time()
        result = job()
        best = min(best, (time.perf_counter() - wall, time.process_time() - cpu))
    print(f"{what:<66} {best[0]:.2f} s wall, {best[1]:.2f} s CPU")
    return result


def against_gensim(sessions: Sessions, vectors: dict[str, Any], pairs: int) -> None:
    """Time gensim on sessions of up to `GENSIM_PAIRS` pairs in all."""
    try:
        from gensim.models import KeyedVectors  # type: ignore[import-not-found]
    except ImportError:
        print("gensim is not installed: no comparison")
        return
    model = KeyedVectors(len(next(iter(vectors.values()))))
    model.add_vectors(list(vectors), np.stack(list(vectors.values())))
    done, begin = 0, time.perf_counter()
    for session in sessions.values():
        if done + len(session) * (len(session) - 1) // 2 > GENSIM_PAIRS:
            break
        for i, (_, one) in enumerate(session):
            done += len([model.wmdistance(one, other) for _, other in session[:i]])
    seconds = time.perf_counter() - begin
    print(f"{f'gensim, {done:,} pairs in {seconds:.1f} s, so all pairs':<66} {seconds * pairs / done:.0f} s")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


if __name__ == "__main__":
    main()
