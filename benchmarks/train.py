"""How well a tagger is learnt anew from AnnoMI's codes: ``python -m benchmarks.train [--data CORPORA]``.

Five folds by recording, without and with the package's tagger to begin at (which has seen AnnoMI, so that its
statistics are too good), and from 10, 20 and 40 sessions.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._corpora import sessions_of
from therapy_analytics.core.session import Session
from therapy_analytics.stats.training import Training, TrainOptions, train

ROOT = Path(__file__).resolve().parents[1]
CODES = ("mi_question", "mi_reflection", "mi_input")
SIZES = (10, 20, 40)
SEEDS = range(3)
COLUMNS = ["kappa", "kappa_lo", "kappa_hi", "auc", "calibration_error", "shipped_kappa"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    data = parser.parse_args().data
    sessions, codes = sessions_of(data, "annomi"), data / "annomi" / "annomi.csv"
    for warm in (False, True):
        begin = time.perf_counter()
        found = learnt(codes, sessions, warm=warm)
        print(f"\n{'begun at the tagger of the package' if warm else 'begun from nothing'}, all sessions:")
        print(f"{time.perf_counter() - begin:.0f} s, {time.process_time():.0f} s of the processor so far")
        print(found.scores.set_index("code")[COLUMNS].round(3).to_string())
    print("\nfrom some of the sessions (mean kappa of three draws; how often the code was learnt):")
    print(curve(codes, sessions).round(3).to_string())


def learnt(codes: Path, sessions: list[Session], *, warm: bool, seed: int = 0) -> Training:
    """Learn three codes; nothing is written."""
    options = TrainOptions(codebook="mi", only=CODES, group="source_group", warm_start=warm, beside="fast", seed=seed)
    return train(codes, sessions, None, options=options)


def curve(codes: Path, sessions: list[Session]) -> pd.DataFrame:
    """Return kappa by number of sessions, and how often there was enough to learn the code."""
    rows = []
    for n in SIZES:
        for seed in SEEDS:
            drawn = np.random.default_rng(seed).permutation(len(sessions))[:n]
            found = learnt(codes, [sessions[number] for number in sorted(drawn)], warm=False, seed=seed)
            rows += [
                {"sessions": n, "code": row["code"], "kappa": row["kappa"], "learnt": row["learnt"]}
                for row in found.scores.to_dict("records")
            ]
    return pd.DataFrame(rows).pivot_table(
        index="code", columns="sessions", values=["kappa", "learnt"], aggfunc="mean", sort=False
    )


if __name__ == "__main__":
    main()
