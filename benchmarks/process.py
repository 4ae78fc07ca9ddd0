"""What the process measures cost: ``python -m benchmarks.process TRANSCRIPTS... [--turns 500]``.

A session of so many turns is put together from the transcripts. Prints the milliseconds of each process measure (best
of some runs, after a first one that loads lexicons and models), of all together, and of both taggers on the same turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import therapy_analytics as ta
from benchmarks._markdown import markdown
from therapy_analytics.codes import load_coder, with_codes
from therapy_analytics.core.session import ROLES, Session
from therapy_analytics.measures import MEASURES, Measure
from therapy_analytics.measures.arrays import read_as_arrays
from therapy_analytics.measures.settings import Settings
from therapy_analytics.text import AnnotatedSession

RUNS = 3


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--turns", type=int, default=500)
    options = parser.parse_args()
    session = joined(ta.read(*options.paths), options.turns)
    taggers = {kind: _best(partial(coded, session, kind)) for kind in ("fast", "accurate")}
    tagged = coded(session, "fast")
    family = [one for one in MEASURES if one.family == "process"]
    alone = {one.name: _best(partial(_computed, [one], tagged)) for one in family}
    together = _best(partial(_computed, family, tagged))
    rows = [[name, f"{1000 * cost:.1f}"] for name, cost in sorted(alone.items(), key=lambda item: -item[1])]
    rows += [["**all together**", f"{1000 * together:.1f}"]]
    rows += [[f"{kind} tagger", f"{1000 * cost:.1f}"] for kind, cost in taggers.items()]
    print(markdown([["process measure", f"ms for {len(session.turns)} turns"], *rows]))
    ratios = ", ".join(f"{together / cost:.2f} times the {kind} tagger" for kind, cost in taggers.items())
    print(f"\nAll together cost {ratios}.")


def joined(sessions: Sequence[Session], n_turns: int) -> Session:
    """Return the first turns of the sessions, one after another, as one session."""
    turns = [turn for session in sessions for turn in session.turns][:n_turns]
    return replace(sessions[0], turns=tuple(replace(turn, index=i) for i, turn in enumerate(turns)))


def coded(session: Session, kind: str) -> AnnotatedSession:
    """Read and tag a session."""
    settings = Settings(tagger=ta.TaggerOptions(kind=kind))
    arrays = read_as_arrays([session], settings)
    codes = load_coder(settings.tagger).predict(arrays)
    (one,) = arrays
    return with_codes(one, codes, 0, set(ROLES))


def _computed(measures: Sequence[Measure], tagged: AnnotatedSession) -> None:
    fresh = replace(tagged)  # nothing is known of it yet
    for one in measures:
        one.compute(fresh)


def _best(work: Callable[[], object]) -> float:
    found = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found[1:])


if __name__ == "__main__":
    main()
