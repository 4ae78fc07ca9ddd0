"""Does synchrony predict disclosure? ``python -m benchmarks.disclosure FOLDER ...`` prints Markdown tables.

Each folder is a corpus. For each measure of synchrony and of disclosure: the slope with its 95 % interval of the
client's disclosure after the therapist's reply, the same beyond disclosure before it, and disclosure before it (the
control), each beside the mean of 200 shuffles and its p. ``*``: the interval excludes 0; ``+``: the slope within
sessions, because the mixed model did not converge; ``-``: undefined.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import therapy_analytics as ta
from benchmarks._markdown import markdown
from therapy_analytics.measures.association import DIRECTIONS, disclosure_after_synchrony


def main() -> None:
    """Print a table for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--disclosure", nargs="*", help="columns of turns.csv, instead of those of disclosure")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", type=Path, help="a file for all figures")
    given = parser.parse_args()
    found = {folder.name: _found(folder, given.disclosure, given.seed) for folder in given.folders}
    for name, table in found.items():
        print(f"\n### {name}: {table.n_sessions.max()} sessions, up to {table.n_turns.max()} replies\n")
        print(markdown(_cells(table)))
        print(f"\n{_counts(table)}")
    if given.csv:
        pd.concat(found, names=["corpus"]).reset_index("corpus").to_csv(given.csv, index=False)


def _found(folder: Path, disclosure: list[str] | None, seed: int) -> pd.DataFrame:
    """Return the table of a corpus; of copies of one recording (``source_group``) only the first counts."""
    sessions = [session for reading in ta.read_files([folder]) for session in reading.sessions]
    first = {one.metadata.get("source_group", one.id): one for one in reversed(sessions)}
    turns = ta.analyze(list(first.values()), tagger=ta.TaggerOptions(kind="fast"), seed=seed, measures="all").wide_turns
    return disclosure_after_synchrony(turns, disclosure=disclosure, seed=seed)


def _cells(table: pd.DataFrame) -> list[list[str]]:
    rows = [["disclosure", "synchrony", *(f"{one.replace('_', ' ')}; shuffles (p)" for one in DIRECTIONS)]]
    for (disclosure, synchrony), part in table.groupby(["disclosure", "synchrony"], sort=False):
        own = {row["direction"]: row for row in part.to_dict("records")}
        rows.append([f"`{disclosure}`", f"`{synchrony}`", *(_cell(pd.Series(own[one])) for one in DIRECTIONS)])
    return rows


def _cell(row: pd.Series) -> str:
    if np.isnan(row.estimate):
        return "-"
    marks = "*" * int(row.lo > 0 or row.hi < 0) + "+" * int("did not converge" in row.note)
    return f"{row.estimate:+.3f} [{row.lo:+.3f}, {row.hi:+.3f}]{marks}; {row.null:+.3f} ({row.null_p:.3f})"


def _counts(table: pd.DataFrame) -> str:
    """Return how many intervals exclude 0, above and below, for each direction: one in forty by chance on each side."""
    counts = []
    for direction in DIRECTIONS:
        own = table[(table.direction == direction) & table.estimate.notna()]
        above, below, among = int((own.lo > 0).sum()), int((own.hi < 0).sum()), int((own.null_p < 0.05).sum())
        counts.append(
            f"{direction.replace('_', ' ')}: {above} above 0, {below} below, of {len(own)}; {among} beyond shuffles"
        )
    return ". ".join(counts) + "."


if __name__ == "__main__":
    main()
