"""Time the main job: ``python -m benchmarks.speed [TRANSCRIPTS] [--beside CHECKOUT]``.

Medians of three runs with the machine they were taken on. Ratios are of processor time, taken within one process
against the floor that spaCy's blank tokeniser sets on the same turns. All with ``--tagger fast``,
but for what the accurate tagger costs beside it, once. Before that the taggers alone, each in a fresh process, by turns
with those of another checkout of the package if one is named.
"""

from __future__ import annotations

import argparse
import functools
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from therapy_analytics import Session, Settings
    from therapy_analytics.measures.base import Value

RUNS = 3
ROOT = Path(__file__).resolve().parents[1]
ANNOMI = ROOT.parent / "shared" / "data" / "annomi" / "annomi.csv"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", nargs="?", type=Path, default=ANNOMI)
    parser.add_argument("--beside", type=Path, action="append", default=[], help="a checkout of another version")
    options = parser.parse_args()
    source = options.transcripts if options.transcripts.exists() else ROOT / "sample_transcripts"
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"input:   {source.name}; medians of {RUNS}\n")
    rows = [*_taggers(source, [ROOT, *options.beside]), *_whole_commands(source), *_inside(source)]
    for what, value in rows:
        print(f"{what:<66} {value}")


_TAGGERS = """
import sys, time
import therapy_analytics as ta
from therapy_analytics.codes import load_accurate, load_tagger
from therapy_analytics.text import annotate
from therapy_analytics.text.lexicons import Matcher
batch = annotate(ta.read(sys.argv[1]), Matcher([]))
n = len(batch.turns)
for load in (load_accurate, load_tagger):
    start = time.perf_counter()
    tagger = load()
    loaded = time.perf_counter()
    tagger.predict(batch)
    print(loaded - start, n / (time.perf_counter() - loaded))
"""
"""Prints, for the accurate tagger and the fast one: seconds to load, and turns a second on all cores with features."""


def _taggers(source: Path, checkouts: Sequence[Path]) -> list[tuple[str, str]]:
    """Time the taggers of some checkouts by turns."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(RUNS):
        for checkout in checkouts:
            command = [sys.executable, "-c", _TAGGERS, str(source.resolve())]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=checkout)
            for kind, line in zip(("accurate", "fast"), done.stdout.splitlines(), strict=True):
                loading, speed = map(float, line.split())
                found.setdefault((str(checkout), kind), []).append((loading, speed))
    return [
        (
            f"{name}: {kind} tagger, turns a second; loading",
            (
                f"{statistics.median(speed for _, speed in times):,.0f}; "
                f"{statistics.median(loading for loading, _ in times):.2f} s"
            ),
        )
        for (name, kind), times in found.items()
    ]


def _whole_commands(source: Path) -> list[tuple[str, str]]:
    command = [sys.executable, "-c", "from therapy_analytics.cli import main; main()"]
    with tempfile.TemporaryDirectory() as folder:
        fresh = (f"{folder}/{i}" for i in count())  # what is done in a folder would not be done again
        accurate = [*command, "run", str(source), "--no-plots", "--no-report", "--out"]
        run = [*command, "run", str(source), "--no-plots", "--no-report", "--tagger", "fast", "--out"]
        wall = functools.partial(_seconds, clock=time.perf_counter)
        start_up = wall(lambda: _call([*command, "--help"]))
        cold = wall(lambda: _call([*run, next(fresh)]))
        two = wall(lambda: _call([*run, next(fresh), "--processes", "2"]))
        slow = wall(lambda: _call([*accurate, next(fresh)]), runs=1)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return [
        ("tanalyze --help, wall", f"{start_up:.2f} s"),
        ("tanalyze run --no-plots, cold start, wall", f"{cold:.2f} s"),
        ("the same with --processes 2", f"{two:.2f} s"),
        ("the same with the accurate tagger, once", f"{slow:.1f} s"),
        ("peak memory of the largest process", f"{peak:.0f} MB"),
    ]


def _inside(source: Path) -> list[tuple[str, str]]:
    import spacy

    import therapy_analytics as ta
    from therapy_analytics.codes import TaggerOptions
    from therapy_analytics.plots import PLOTS
    from therapy_analytics.plots.files import save
    from therapy_analytics.run import Writing

    fast = TaggerOptions(kind="fast")
    settings = ta.Settings(tagger=fast)
    sessions = ta.read(source)
    texts = [turn.text for session in sessions for turn in session.turns]
    tokenizer = spacy.blank("en").tokenizer
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        # What is made is let go at once: to keep it would cost as much again, and make all else look better.
        floors: list[float] = []

        def seconds(work: Callable[[], object]) -> float:
            # Before each round of work, in whatever state the machine is then
            return _seconds(work, before=lambda: floors.append(_timed(lambda: deque(map(tokenizer, texts), maxlen=0))))

        deque(map(tokenizer, texts), maxlen=0)
        reading = seconds(lambda: ta.read(source))
        process = seconds(lambda: _without_synchrony(sessions, settings))
        analysing = seconds(lambda: ta.analyze(sessions, tagger=fast))
        fresh = (f"{folder}/{i}" for i in count())  # what is done in a folder would not be done again
        writing = Writing(plots="none", report=False)
        whole = seconds(lambda: ta.run([source], next(fresh), settings=settings, writing=writing))
        one = ta.analyze(sessions[:1], tagger=fast)
        drawing = _seconds(lambda: save(PLOTS["session"], one, Path(folder) / "t.png"))
        floor = statistics.median(floors)
    n = len(texts)

    def cost(seconds: float) -> str:
        return f"{seconds:.2f} s ({seconds / floor:.1f} x floor, {n / seconds:,.0f} turns/s)"

    return [
        (f"floor: spaCy tokenises {n} turns", f"{floor:.3f} s ({1e6 * floor / n:.1f} us a turn)"),
        ("reading", cost(reading)),
        ("reading, tagging, all measures but synchrony, tables", cost(reading + process)),
        ("analyze, sessions to tables", cost(analysing)),
        ("reading and analyze", cost(reading + analysing)),
        ("run, files to files without figures (every file is read twice)", cost(whole)),
        (f"the figure of a session of {len(one.turns)} turns", f"{1000 * drawing:.0f} ms"),
    ]


def _without_synchrony(sessions: Sequence[Session], settings: Settings) -> None:
    """Do what `analyze` does, but for the measures of synchrony, which are missing."""
    from therapy_analytics.codes import load_coder, with_codes
    from therapy_analytics.measures import MEASURES
    from therapy_analytics.measures.arrays import read_as_arrays
    from therapy_analytics.results.analysis import TABLES, MeasuredSessions, columns_of
    from therapy_analytics.results.tables import Measured
    from therapy_analytics.run import in_batches

    missing = {column.name: float("nan") for one, column in columns_of(settings) if one.family == "synchrony"}
    turns = {column.name for one, column in columns_of(settings) if column.level == "turn"}
    roles = {code.role for book in settings.codebooks for code in book.codes}
    for batch in in_batches(sessions, settings.turns_per_batch):
        arrays = read_as_arrays(batch, settings)
        codes = load_coder(settings.tagger).predict(arrays)
        found = []
        for position, session in enumerate(arrays):
            tagged = with_codes(session, codes, int(arrays.starts[position]), roles)
            none = np.full(len(tagged), float("nan"))
            values: dict[str, Value] = {name: none if name in turns else value for name, value in missing.items()}
            for one in MEASURES:
                if one.family != "synchrony" and one.extra is None:
                    values.update(one.compute(tagged))
            found.append(Measured(tagged, values, (), pd.DataFrame()))
        some = MeasuredSessions(found, settings, codes.counts)
        deque((one.make(some) for one in TABLES if one.in_analysis), maxlen=0)


def _call(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _seconds(
    work: Callable[[], object],
    *,
    runs: int = RUNS,
    clock: Callable[[], float] = time.process_time,
    before: Callable[[], object] = lambda: None,
) -> float:
    times = []
    for _ in range(runs):
        before()
        times.append(_timed(work, clock))
    return statistics.median(times)


def _timed(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    start = clock()
    work()
    return clock() - start


if __name__ == "__main__":
    main()
