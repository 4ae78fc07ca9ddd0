"""Time the main job: ``python -m benchmarks.speed [TRANSCRIPTS]``.

Medians of five runs with the machine they were taken on. Ratios are taken within one process,
against the floor that spaCy's blank tokeniser sets on the same turns. All with ``--tagger fast``,
but for what the accurate tagger costs beside it, once.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

RUNS = 5
ROOT = Path(__file__).resolve().parents[1]
ANNOMI = ROOT.parent / "shared" / "data" / "annomi" / "annomi.csv"


def main() -> None:
    """Print the table."""
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else ANNOMI
    source = given if given.exists() else ROOT / "sample_transcripts"
    print(f"machine: {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"input:   {source.name}; medians of {RUNS}\n")
    rows = [*_whole_commands(source), *_inside(source)]
    for what, value in rows:
        print(f"{what:<66} {value}")


def _whole_commands(source: Path) -> list[tuple[str, str]]:
    command = [sys.executable, "-c", "from therapy_analytics.cli import main; main()"]
    with tempfile.TemporaryDirectory() as folder:
        fresh = (f"{folder}/{i}" for i in count())  # what is done in a folder would not be done again
        accurate = [*command, "run", str(source), "--no-plots", "--no-report", "--out"]
        run = [*command, "run", str(source), "--no-plots", "--no-report", "--tagger", "fast", "--out"]
        start_up = _seconds(lambda: _call([*command, "--help"]))
        cold = _seconds(lambda: _call([*run, next(fresh)]))
        two = _seconds(lambda: _call([*run, next(fresh), "--processes", "2"]))
        slow = _seconds(lambda: _call([*accurate, next(fresh)]), runs=1)
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
    from therapy_analytics.behaviours import TaggerOptions
    from therapy_analytics.pipeline import Writing
    from therapy_analytics.plots import PLOTS
    from therapy_analytics.plots._save import save

    fast = TaggerOptions(kind="fast")
    settings = ta.Settings(tagger=fast)
    sessions = ta.read(source)
    texts = [turn.text for session in sessions for turn in session.turns]
    tokenizer = spacy.blank("en").tokenizer
    with tempfile.TemporaryDirectory() as folder:
        floor = _seconds(lambda: [tokenizer(text) for text in texts])
        reading = _seconds(lambda: ta.read(source))
        analysing = _seconds(lambda: ta.analyze(sessions, tagger=fast))
        fresh = (f"{folder}/{i}" for i in count())  # what is done in a folder would not be done again
        writing = Writing(figures=(), report=False)
        whole = _seconds(lambda: ta.run([source], next(fresh), settings=settings, writing=writing))
        turns = ta.analyze(sessions[:1], tagger=fast).turns
        drawing = _seconds(lambda: save(PLOTS["timeline"], turns, Path(folder) / "t.png"))
    n = len(texts)
    return [
        (f"floor: spaCy tokenises {n} turns", f"{floor:.3f} s ({1e6 * floor / n:.1f} us a turn)"),
        ("reading", f"{reading:.3f} s ({n / reading:,.0f} turns/s)"),
        (
            "analyze, sessions to tables",
            f"{analysing:.2f} s ({analysing / floor:.1f} x floor, {n / analysing:,.0f} turns/s)",
        ),
        ("run, files to files without figures", f"{whole:.2f} s ({whole / floor:.1f} x floor)"),
        (f"one timeline of {len(turns)} turns", f"{1000 * drawing:.0f} ms"),
    ]


def _call(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _seconds(work: Callable[[], object], runs: int = RUNS) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
