"""How often the intervals and tests of ``compare`` are right: coverage, error rates and power, by simulation.

Run from the root: ``python -m benchmarks.compare_coverage [--results RESULTS]``. RESULTS is a folder that holds the
results of annomi and hlqc (``RESULTS/annomi/sessions.csv``): with it, real sessions are drawn too, and
the power is shown by the number of measures that are tested together.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Floats, Ints
from therapy_analytics.stats.compare.effects import findable, holm, sign_flips, two_samples
from therapy_analytics.stats.compare.groups import ComparedMeasure, Grouped, contrasts
from therapy_analytics.stats.compare.tables import comparison_table

SHAPES = ((3, 3), (4, 4), (6, 6), (12, 12), (3, 6), (3, 12), (4, 8), (6, 12))
SIZES = {"1": (1,), "30": (30,), "1 to 30": (30, 1, 5)}
N = 2_000
QUALITY = {"annomi": "mi_quality", "hlqc": "quality"}
FAMILY = (
    "therapist_question_rate",
    "therapist_reflection_rate",
    "therapist_input_rate",
    "therapist_talk_share",
    "therapist_words_per_turn",
    "reflection_to_question_ratio",
)


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, help="folder that holds the results of annomi and hlqc")
    asked = parser.parse_args()
    print(pd.DataFrame(coverage(np.random.default_rng(0))).to_string(index=False))
    print(pd.DataFrame(power(np.random.default_rng(2))).to_string(index=False))
    if asked.results is not None:
        pool = _pool(asked.results)
        print(pd.DataFrame(real_coverage(pool, np.random.default_rng(3))).to_string(index=False))
        print(pd.DataFrame(families(pool, np.random.default_rng(4))).to_string(index=False))


def coverage(rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """Yield how many 95 % intervals of a difference of nothing hold 0, and how many p are below .05."""
    for kind in ("normal", "rate .3", "rate .05"):
        for n, k in SHAPES:
            for name, other in (("1", "1"), ("30", "1"), ("1", "30"), ("1 to 30", "1 to 30")):
                sizes = np.concatenate([np.resize(SIZES[name], n), np.resize(SIZES[other], k)])
                data = _grouped(_sessions(kind, sizes, rng), sizes, n)
                found = comparison_table(data, contrasts(data, "pairs"), permutations=1_000)
                known = found["difference_lo"].notna()
                holds = (found["difference_lo"] <= 0) & (found["difference_hi"] >= 0)
                yield {
                    "values": kind, "clusters": f"{n} v {k}", "sessions": f"{name} v {other}",
                    "with an interval": round(float(known.mean()), 3), "coverage": round(float(holds[known].mean()), 3),
                    "p < .05": round(float((found["p"] < 0.05).mean()), 3),
                }  # fmt: skip


def _sessions(kind: str, sizes: Ints, rng: np.random.Generator) -> Floats:
    """Return values of sessions (n, N): a third of the variance lies between clusters."""
    place = np.repeat(np.arange(len(sizes)), sizes)
    if kind == "normal":
        level = rng.normal(0, np.sqrt(0.3), (len(sizes), N))[place]
        return np.asarray(level + rng.normal(0, np.sqrt(0.7), level.shape))
    rate, between, within = float(kind.split()[1]), 9.0, 15.0
    level = np.clip(rng.beta(rate * between, (1 - rate) * between, (len(sizes), N)), 1e-6, 1 - 1e-6)[place]
    return np.asarray(rng.binomial(30, rng.beta(level * within, (1 - level) * within)) / 30)


def _grouped(values: Floats, sizes: Ints, n: int) -> Grouped:
    """Return sessions of clusters, of which the first n are one group; each column is a repetition."""
    place = np.repeat(np.arange(len(sizes)), sizes)
    about: dict[str, Any] = {"family": "process", "meaning": "", "unit": "", "evidence": "supported"}
    return Grouped(
        sessions=pd.DataFrame({"session_id": place.astype(str)}),
        measures=tuple(
            ComparedMeasure(name=f"m{j}", low=-np.inf, high=np.inf, **about) for j in range(values.shape[1])
        ),
        values=values, by="programme", names=("a", "b"), group=np.where(place < n, 0, 1), cluster=place,
        clustered_by="counselor", turns=np.ones(len(place)), counts=np.full((*values.shape, 2), np.nan),
    )  # fmt: skip


def power(rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """Yield how often the difference that is said to be found in four of five is found."""
    for n, k in ((3, 4), (4, 4), (5, 5), (3, 6), (3, 12), (6, 6), (8, 8)):
        values = rng.normal(size=(n + k, N))
        values[:n] += findable(n, k)
        share = (two_samples(values[:n], values[n:], 2_000, 0)[0] < 0.05).mean()
        yield {"design": f"{n} v {k}", "difference": round(findable(n, k), 2), "found": round(float(share), 3)}
    for n in (6, 8, 12):
        share = (sign_flips(rng.normal(findable(n), 1, (n, N)), 2_000, 0)[0] < 0.05).mean()
        yield {"design": f"{n} pairs", "difference": round(findable(n), 2), "found": round(float(share), 3)}


def _pool(results: Path) -> pd.DataFrame:
    """Return one session of high quality of each recording."""
    parts = []
    for name, quality in QUALITY.items():
        frame = pd.read_csv(results / name / "sessions.csv", low_memory=False)
        kept = frame[(frame[quality] == "high") & (frame["quality_label_disputed"].astype(str) != "True")]
        parts.append(kept.drop_duplicates("source_group"))
    return pd.concat(parts, ignore_index=True)


def _rates(pool: pd.DataFrame) -> list[str]:
    rates = [name for name in map(str, pool.columns) if name.endswith("_rate") and pool[name].notna().mean() > 0.8]
    return [name for name in rates if pool[name].nunique() > 1]


def real_coverage(pool: pd.DataFrame, rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """Yield the coverage of differences between groups that are drawn from real sessions, by rate."""
    for n, k in ((3, 3), (6, 6), (12, 12), (3, 12)):
        for kind, common in (("in most sessions", True), ("in fewer", False)):
            names = [name for name in _rates(pool) if ((pool[name] > 0).mean() > 0.7) == common]
            found = [_covered(rng.choice(pool[name].dropna().to_numpy(), (n + k, N)), n) for name in names]
            low, middle, high = np.nanquantile(found, [0.1, 0.5, 0.9]).round(3)
            yield {
                "clusters": f"{n} v {k}",
                "code": kind,
                "rates": len(found),
                "10 %": low,
                "middle": middle,
                "90 %": high,
            }


def _covered(values: Floats, n: int) -> float:
    data = _grouped(values, np.ones(len(values), dtype=np.int64), n)
    found = comparison_table(data, contrasts(data, "pairs"), permutations=1_000)
    known = found["difference_lo"].notna()
    return float(((found["difference_lo"] <= 0) & (found["difference_hi"] >= 0))[known].mean())


def families(pool: pd.DataFrame, rng: np.random.Generator, repetitions: int = 600) -> Iterator[dict[str, object]]:
    """Yield how often six sessions against six show what is not there, and a shift of one measure by 1.5 deviations."""
    values = pool[list(FAMILY)].to_numpy(dtype=np.float64)
    deviation = np.nanstd(values, axis=0, ddof=1)
    for m in range(1, len(FAMILY) + 1):
        false, true = 0, 0
        for i in range(repetitions):
            drawn = values[rng.choice(len(values), 12, replace=False)][:, :m]
            false += bool(np.nanmin(holm(two_samples(drawn[:6], drawn[6:], 1_000, 0)[0])) < 0.05)
            j = i % min(m, 3)
            drawn[:6, j] += 1.5 * deviation[j]
            true += bool(holm(two_samples(drawn[:6], drawn[6:], 1_000, 0)[0])[j] < 0.05)
        yield {"measures": m, "any claim of nothing": false / repetitions, "1.5 deviations found": true / repetitions}


if __name__ == "__main__":
    main()
