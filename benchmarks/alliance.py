"""What the alliance proxies are worth: ``python -m benchmarks.alliance --data DATA`` prints Markdown tables.

``DATA`` holds the corpora ``annomi``, ``hlqc`` and ``mibot``. Of each proxy: how well it tells sessions of high from
those of low quality (AUC with its interval, one session a recording); and its rank correlation with the change of
clients' confidence, readiness and importance a week after the session, with intervals, corrected for multiple tests.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import therapy_analytics as ta
from benchmarks._markdown import markdown
from therapy_analytics.language import builtin_lexicons
from therapy_analytics.measures._base import all_columns

OUTCOMES = ("confidence", "readiness", "importance")
BESIDE = ("_lo", "_hi", "_p", "_z", "_null")
FEWEST, SEED = 8, 0


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    proxies = _proxies()
    print("### High above low quality: AUC [95 % interval]\n")
    print(_markdown(pd.DataFrame({name: _quality(data / name, proxies) for name in ("annomi", "hlqc")})))
    table, n = _outcomes(data / "mibot", proxies)
    print(f"\n### Change a week later, {n} sessions: Spearman's rho [95 % interval]\n")
    print(_markdown(table))


def _proxies() -> list[str]:
    """Return the session columns of the alliance measures that are values, not intervals or counts."""
    columns = [one for measure, one in all_columns(builtin_lexicons()) if measure.family == "alliance"]
    names = [one.name for one in columns if one.level == "session"]
    return [name for name in names if not name.endswith(BESIDE) and not name.startswith("n_")]


def _sessions(folder: Path) -> pd.DataFrame:
    found = [session for reading in ta.read_files([folder]) for session in reading.sessions]
    return ta.analyze(found, tagger=ta.TaggerOptions(kind="fast")).sessions


def _quality(folder: Path, proxies: list[str]) -> pd.Series:
    frame = _sessions(folder)
    frame = frame.rename(columns={"mi_quality": "quality"})
    frame = frame[frame["quality_label_disputed"] != "True"].drop_duplicates(["source_group", "quality"])
    return pd.Series({name: _auc(frame, name) for name in proxies})


def _auc(frame: pd.DataFrame, name: str) -> str:
    high, low = (frame.loc[frame["quality"] == one, name].dropna().to_numpy() for one in ("high", "low"))
    if min(len(high), len(low)) < FEWEST or np.ptp(np.append(high, low)) == 0:
        return ""
    found = stats.bootstrap(
        (high, low), _above, vectorized=False, n_resamples=500, method="percentile", rng=np.random.default_rng(SEED)
    ).confidence_interval
    return f"{_above(high, low):.2f} [{found.low:.2f}, {found.high:.2f}]"


def _above(high: np.ndarray, low: np.ndarray) -> float:
    return float(stats.mannwhitneyu(high, low).statistic / (len(high) * len(low)))


def _outcomes(folder: Path, proxies: list[str]) -> tuple[pd.DataFrame, int]:
    outcomes = pd.concat([pd.read_csv(path) for path in sorted(folder.glob("outcomes_*.csv"))])
    frame = _sessions(folder).merge(outcomes, left_on="session_id", right_on="session", suffixes=("", "_outcome"))
    for outcome in OUTCOMES:
        frame[f"change_{outcome}"] = frame[f"week_later_{outcome}"] - frame[f"pre_{outcome}"]
    tests = [
        (name, outcome, *_rho(frame[name], frame[f"change_{outcome}"])) for name in proxies for outcome in OUTCOMES
    ]
    table = pd.DataFrame(tests, columns=["proxy", "outcome", "rho", "low", "high", "p"]).dropna()
    table["q"] = stats.false_discovery_control(table["p"])
    cells = table.apply(lambda row: f"{row.rho:+.2f} [{row.low:+.2f}, {row.high:+.2f}]{'*' * (row.q < 0.05)}", axis=1)
    wide = table.assign(cell=cells).pivot_table(
        index="proxy", columns="outcome", values="cell", aggfunc="first", sort=False
    )
    print(f"\n{len(table)} tests on mibot: {(table.p < 0.05).sum()} with p < .05, {(table.q < 0.05).sum()} after")
    print("Benjamini and Hochberg's correction (marked *); by chance alone 5 % would have p < .05.")
    return wide, len(frame)


def _rho(a: pd.Series, b: pd.Series) -> tuple[float, float, float, float]:
    known = a.notna() & b.notna()
    n = int(known.sum())
    if n < FEWEST or a[known].nunique() < 3:
        return np.nan, np.nan, np.nan, np.nan
    found = stats.spearmanr(a[known], b[known])
    # Fisher's transformation, with the standard error of rank correlations (Bonett & Wright 2000).
    z, se = np.arctanh(found.statistic), np.sqrt((1 + found.statistic**2 / 2) / (n - 3))
    return float(found.statistic), float(np.tanh(z - 1.96 * se)), float(np.tanh(z + 1.96 * se)), float(found.pvalue)


def _markdown(table: pd.DataFrame) -> str:
    table = table.fillna("")
    header = ["proxy", *map(str, table)]
    rows = [[str(name), *map(str, row)] for name, row in zip(table.index, table.to_numpy().tolist(), strict=True)]
    return markdown([header, *rows])


if __name__ == "__main__":
    main()
