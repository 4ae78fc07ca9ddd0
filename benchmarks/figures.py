"""What writing a session's figures costs: ``python -m benchmarks.figures [RUNS]``.

Sessions of 60 and of 500 turns are put together from the turns of the sample transcripts. Medians of processor
time in one warm process, so that what else the machine does counts less. Those of a run are of one session here.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from benchmarks._markdown import markdown
from therapy_analytics.plots.files import FORMATS, run_figures, save, session_figures, write_figures

if TYPE_CHECKING:
    import pandas as pd

    import therapy_analytics as ta

LENGTHS = (60, 500)
RUNS = 9
SAMPLES = Path(__file__).resolve().parents[1] / "sample_transcripts"


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    heads = [f"{kind}, {n} turns" for n in LENGTHS for kind in FORMATS]
    columns = [_milliseconds(tables, kind, runs) for tables in map(tables_of, LENGTHS) for kind in FORMATS]
    rows = [[name, *(f"{column[name]:.0f}" for column in columns)] for name in columns[0]]
    print(f"Milliseconds for a figure, drawn and written; medians of {runs}.\n")
    print(markdown([["figure", *heads], *rows]))


def session_of(n_turns: int) -> ta.Session:
    """Return a session of so many turns, which says again and again what the first sample session says."""
    import therapy_analytics as ta

    sample = ta.read(SAMPLES)[0]
    turns = (
        replace(turn, index=i, first_row=i + 1, start_s=None, end_s=None, marks=(), gold={})
        for i, turn in enumerate(islice(cycle(sample.turns), n_turns))
    )
    return replace(sample, id=f"session_of_{n_turns}", turns=tuple(turns))


def tables_of(n_turns: int) -> Mapping[str, pd.DataFrame]:
    """Return the tables that plots take, of a session of so many turns, by their names in `Analysis`."""
    import therapy_analytics as ta
    from therapy_analytics.codes import TaggerOptions

    sessions = [session_of(n_turns)]
    found = ta.analyze(sessions, tagger=TaggerOptions(kind="fast"))
    return {name: getattr(found, name) for name in ("wide_turns", "parts", "profile", "responses")}


def _milliseconds(tables: Mapping[str, pd.DataFrame], kind: str, runs: int) -> dict[str, float]:
    """Return the median milliseconds of each figure in one format, and of all of a session, or of a run, together."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for whose, plots in (("session", session_figures()), ("run", run_figures())):
            for one in plots:
                path = Path(folder) / f"{one.__name__}.{kind}"
                draw = partial(save, one, SimpleNamespace(**tables), path)
                found[f"{one.__name__} of a {whose}"] = _median(draw, runs)
            found[f"**all of a {whose}**"] = _median(
                partial(write_figures, plots, tables, folder, formats=[kind]), runs
            )
    return found


def _median(work: Callable[[], object], runs: int) -> float:
    times = []
    for _ in range(runs + 1):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    # The first is not warm.
    return 1000 * statistics.median(times[1:])


if __name__ == "__main__":
    main()
