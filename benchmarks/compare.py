"""How long a comparison takes, what it finds by quality, and how often it finds what is not there.

Run from the root: ``python -m benchmarks.compare ../shared/data``. Coded by the fast tagger.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import therapy_analytics as ta
from benchmarks._corpora import FAST, sessions_of
from therapy_analytics.stats.compare import CompareOptions, Comparison, compare
from therapy_analytics.stats.compare.groups import Grouped, choose, contrasts, grouped
from therapy_analytics.stats.compare.sessions import read_results
from therapy_analytics.stats.compare.tables import comparison_table

SPLITS = 200
QUALITY = {"annomi": "mi_quality", "hlqc": "quality"}
ASKED = (
    "therapist_input_rate",
    "therapist_advice_rate",
    "therapist_reflection_rate",
    "reflection_to_question_ratio",
    "open_question_rate",
)


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", default=Path("../shared/data"))
    parser.add_argument("--results", type=Path, help="folder that holds results of annomi and hlqc, as r_annomi")
    asked = parser.parse_args()
    print(speed())
    tables = {name: _sessions(asked.data, name, asked.results) for name in QUALITY}
    for name, by in QUALITY.items():
        print(by_quality(name, tables[name], by))
    print(false_discoveries(tables))


def _sessions(data: Path, name: str, results: Path | None) -> pd.DataFrame:
    if results is not None:
        return pd.read_csv(results / f"r_{name}" / "sessions.csv")
    return ta.analyze(sessions_of(data, name), tagger=FAST).sessions


def speed(n: int = 200, m: int = 50) -> str:
    """Time a comparison of invented sessions."""
    rng = np.random.default_rng(0)
    names = _names(m)
    frame = pd.DataFrame(rng.beta(2, 5, (n, m)), columns=names)
    frame["session_id"] = [f"s{i}" for i in range(n)]
    frame["counselor"] = [f"c{i % 40}" for i in range(n)]
    frame["quality"] = np.where(np.arange(n) % 40 < 20, "high", "low")
    start = time.perf_counter()
    compare(frame, by="quality", measures=names)
    return f"A comparison of {m} measures, {n} sessions of 40 counselors: {time.perf_counter() - start:.1f} s"


def _names(m: int) -> list[str]:
    read = read_results(pd.DataFrame({"session_id": ["a"]}))
    book = read.codebook
    return [str(name) for name in book.index[(book["unit"] == "proportion") & ~book["family"].isin(["fixed"])][:m]]


def _data(frame: pd.DataFrame, by: str, measures: Sequence[str] | None = None, cluster: str | None = None) -> Grouped:
    read = read_results(frame)
    return grouped(read, choose(read, measures), by=by, cluster=cluster)


def by_quality(name: str, frame: pd.DataFrame, by: str) -> str:
    """Compare a corpus by quality."""
    options = CompareOptions(where=("quality_label_disputed=False",))
    found = compare(frame, by=by, options=options)
    return f"\n{name} by {by}: {_counts(found)}\n{_rows(found)}"


def _counts(found: Comparison) -> str:
    return ", ".join(f"{count} {name}" for name, count in found.table["finding"].value_counts().items())


def _rows(found: Comparison) -> str:
    shown = [
        "mean",
        "mean_against",
        "difference",
        "difference_lo",
        "difference_hi",
        "p_adjusted",
        "hedges_g",
        "finding",
    ]
    return str(found.table.set_index("measure").loc[list(ASKED), shown].round(3).to_string())


def false_discoveries(tables: dict[str, pd.DataFrame], n_splits: int = SPLITS) -> str:
    """Split the sessions of high quality at random, recordings together, so often; nothing is there to be found."""
    parts = []
    for name, by in QUALITY.items():
        frame = tables[name]
        high = frame[(frame[by] == "high") & ~frame["quality_label_disputed"].astype(str).eq("True")]
        known = name + high["source_group"].astype(str)
        columns = high.drop(columns=["source_group", "counselor", "client"])
        parts.append(pd.concat([columns, known.rename("source_group")], axis=1))
    pool = pd.concat(parts, ignore_index=True)
    shares = [false_share(pool, seed) for seed in range(n_splits)]
    some = np.mean([share > 0 for share in shares])
    # Whatever is found here is false: the proportion of false discoveries is 1 where anything is found, else 0.
    return (
        f"\n{n_splits} random splits of {len(pool)} sessions of high quality: anything found in {some:.1%} "
        f"(the false discovery rate), of all tests {np.mean(shares):.3%}"
    )


def false_share(pool: pd.DataFrame, seed: int) -> float:
    """Return the share of measures that are called different between two random halves of the recordings."""
    rng = np.random.default_rng(seed)
    groups = pool["source_group"].unique()
    first = set(rng.permutation(groups)[: len(groups) // 2])
    half = pd.Series(["a" if one in first else "b" for one in pool["source_group"]], name="split")
    data = _data(pd.concat([pool, half], axis=1), "split")
    table = comparison_table(data, contrasts(data, None), permutations=2_000)
    return float((table["finding"] == "differs").mean())


if __name__ == "__main__":
    main()
