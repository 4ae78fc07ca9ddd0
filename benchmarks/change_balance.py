"""What the balance of change and sustain talk is worth: ``python -m benchmarks.change_balance --data DATA``.

``DATA`` holds ``annomi``, ``hlqc`` and ``mibot``; ``--unseen FILE.csv`` has what both taggers say of turns of AnnoMI
that they had not seen (columns ``source``, ``session``, ``role``, ``fast_mi_change``, ...). Prints Markdown: balances
of sessions of high and low quality; what goes with confidence, readiness and importance a week later; coverage of the
slope's interval.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from benchmarks._corpora import of_quality, sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.codes import load_tagger, with_codes
from therapy_analytics.core.session import Session
from therapy_analytics.measures.process.change_balance import balance, change_balance
from therapy_analytics.measures.turns import slope
from therapy_analytics.text import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.text.lexicons import Matcher

Floats = NDArray[np.float64]
TIERS = ("fast", "accurate")
OUTCOMES = ("confidence", "readiness", "importance")
COURSE = ("change_balance_first", "change_balance_last", "change_balance_slope")
UNTRACKED = "(the tagger's p_mi_change - p_mi_sustain, last third)"
DRAWS, SEED = 500, 0
FEWEST, BATCH = 8, 20


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--unseen", type=Path)
    given = parser.parse_args()
    if given.unseen:
        title = "High above low quality, AnnoMI, sessions the tagger had not seen: AUC [95 %]"
        _show(title, _unseen_quality(given.unseen, given.data))
    _show("High above low quality, HLQC: AUC [95 %] (n high, n low)", _hlqc(given.data))
    _show("MIBOT, a week later: Spearman's rho [95 %]", _outcomes(given.data / "mibot"))
    _show("Simulated", simulated())


def _show(title: str, table: str) -> None:
    print(f"### {title}\n\n{table}\n")


def _thirds(series: Floats) -> tuple[float, float]:
    n = len(series)
    if n < 3:
        return np.nan, np.nan
    return float(series[: round(n / 3)].mean()), float(series[round(2 * n / 3) :].mean())


def _unseen_quality(path: Path, data: Path) -> str:
    frame = pd.read_csv(path, low_memory=False)
    frame = frame[(frame["source"] == "annomi") & frame["truth_mi_change"].notna()]
    by_session = {str(name).split()[-1]: part for name, part in frame.groupby("session", sort=False)}
    course: dict[tuple[str, str], Floats] = {}
    for tier in TIERS:
        for quality, sessions in of_quality(data, "annomi").items():
            parts = [by_session[one.id] for one in sessions]
            lean = [
                balance(*(part[f"{tier}_mi_{kind}"].to_numpy() for kind in ("change", "sustain"))) for part in parts
            ]
            course[tier, quality] = np.array([[*_thirds(one), slope(one)[0]] for one in lean])
    cells = {
        name: [_auc(course[tier, "high"][:, j], course[tier, "low"][:, j]) for tier in TIERS]
        for j, name in enumerate(COURSE)
    }
    return markdown([["column", *TIERS], *([name, *found] for name, found in cells.items())])


def _hlqc(data: Path) -> str:
    found = {quality: _values(sessions) for quality, sessions in of_quality(data, "hlqc").items()}
    return markdown([["column", "fast"], *([n, _auc(found["high"][n], found["low"][n])] for n in found["high"])])


def coded_sessions(sessions: Sequence[Session]) -> Iterator[AnnotatedSession]:
    """Yield sessions with the fast tagger's codes, and nothing that this benchmark does not need."""
    for start in range(0, len(sessions), BATCH):
        batch = annotate(sessions[start : start + BATCH], Matcher(builtin_lexicons()))
        codes = load_tagger().predict(batch)
        for i, one in enumerate(batch):
            yield with_codes(one, codes, int(batch.starts[i]), ("therapist", "client"))


def _values(sessions: Sequence[Session]) -> dict[str, Floats]:
    rows = []
    for one in coded_sessions(sessions):
        untracked = (one.probabilities["mi_change"] - one.probabilities["mi_sustain"])[one.n_words > 0]
        values = change_balance(one)
        rows.append([*(values[name] for name in COURSE), _thirds(untracked[~np.isnan(untracked)])[1]])
    return dict(zip((*COURSE, UNTRACKED), np.array(rows).T, strict=True))


def _auc(high: Floats, low: Floats) -> str:
    high, low = high[~np.isnan(high)], low[~np.isnan(low)]
    if min(len(high), len(low)) < FEWEST:
        return ""
    rng = np.random.default_rng(SEED)
    drawn = [_above(rng.choice(high, len(high)), rng.choice(low, len(low))) for _ in range(DRAWS)]
    ends = np.quantile(drawn, [0.025, 0.975])
    return f"{_above(high, low):.2f} [{ends[0]:.2f}, {ends[1]:.2f}] ({len(high)}, {len(low)})"


def _above(high: Floats, low: Floats) -> float:
    return float((np.sign(high[:, None] - low) / 2 + 0.5).mean())


def _outcomes(folder: Path) -> str:
    sessions = sessions_of(folder.parent, folder.name)
    frame = pd.DataFrame(_values(sessions)).assign(session=[one.id for one in sessions])
    frame = frame.merge(pd.concat([pd.read_csv(path) for path in sorted(folder.glob("outcomes_*.csv"))]), on="session")
    names = (*COURSE, UNTRACKED)
    rows = [[name, outcome, *_later(frame, name, outcome)] for name in names for outcome in OUTCOMES]
    table = pd.DataFrame(rows, columns=["column", "outcome", "n", "change", "p", "later", "p later"])
    own = table["column"] != UNTRACKED
    for family, among in (("q of the end", table["column"] == COURSE[1]), ("q of all", own)):
        q = stats.false_discovery_control(table.loc[among, ["p", "p later"]].to_numpy().ravel()).reshape(-1, 2)
        table.loc[among, family] = [f"{a:.2f}, {b:.2f}" for a, b in q]
    table[["p", "p later"]] = table[["p", "p later"]].map("{:.3f}".format)
    head = ["column", "outcome", "n", "with the change", "p", "with the later one, given the earlier", "p"]
    about = [*head, "q among the 6 of the end", "q among all"]
    return markdown([about, *table.fillna("").astype(str).to_numpy().tolist()])


def _later(frame: pd.DataFrame, name: str, outcome: str) -> tuple[int, str, float, str, float]:
    before, later = frame[f"pre_{outcome}"], frame[f"week_later_{outcome}"]
    return (*_rho(frame[name], later - before), *_rho(frame[name], later, before)[1:])


def _rho(a: pd.Series, b: pd.Series, given: pd.Series | None = None) -> tuple[int, str, float]:
    """Return n, Spearman's rho with its interval (partial where something is given), and p."""
    parts = [a, b] if given is None else [a, b, given]
    ranks = pd.concat(parts, axis=1).dropna().rank().to_numpy()
    n, r = len(ranks), np.corrcoef(ranks.T)
    rho = r[0, 1]
    if given is not None:
        rho = (rho - r[0, 2] * r[1, 2]) / np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    # Fisher's transformation, with the standard error of rank correlations (Bonett & Wright 2000).
    z, se = np.arctanh(rho), np.sqrt((1 + rho**2 / 2) / (n - len(parts) - 1))
    p = 2 * stats.norm.sf(abs(z) / se)
    return n, f"{rho:+.2f} [{np.tanh(z - 1.96 * se):+.2f}, {np.tanh(z + 1.96 * se):+.2f}]", float(p)


def simulated(repeats: int = 400) -> str:
    """Return how often the slope's interval covers a slope of 0."""
    rng = np.random.default_rng(SEED)
    rows = [["simulated", "n", "figure"]]
    for n, memory in ((10, 0.0), (30, 0.0), (30, 0.5), (100, 0.5)):
        covered = 0
        for _ in range(repeats):
            noise = rng.standard_normal(n)
            for i in range(1, n):
                noise[i] = memory * noise[i - 1] + np.sqrt(1 - memory**2) * noise[i]
            _, low, high = slope(noise)
            covered += low <= 0 <= high
        rows.append([f"no slope, {n} turns, neighbours correlate {memory}", str(repeats), f"{covered / repeats:.2f}"])
    return markdown(rows)


if __name__ == "__main__":
    main()
