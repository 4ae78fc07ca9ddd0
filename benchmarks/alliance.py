"""What the alliance proxies are worth: ``python -m benchmarks.alliance --data DATA`` prints Markdown tables.

``DATA`` holds the corpora ``annomi``, ``hlqc``, ``mibot`` and ``misc_gold``. Of each proxy: how well it tells sessions
of high from those of low quality (AUC with its interval, one session a recording); and its rank correlation with the
change of clients' confidence, readiness and importance a week after the session, with intervals, corrected for multiple
tests. Then how well phrases and codes find what people coded by MISC; and what becomes of ruptures and corrections that
were read in sessions (``tools/process_codes``), by quality.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import therapy_analytics as ta
from benchmarks._markdown import markdown
from therapy_analytics.codes import builtin_codebooks, load_accurate
from therapy_analytics.core.session import ROLES, Role, Session, Turn
from therapy_analytics.measures.alliance.ruptures import ruptures
from therapy_analytics.measures.base import all_columns
from therapy_analytics.measures.process.responses import responses
from therapy_analytics.text import AnnotatedSession, Batch, annotate, builtin_lexicons
from therapy_analytics.text.lexicons import Matcher
from therapy_analytics.text.phrases import turns_with

OUTCOMES = ("confidence", "readiness", "importance")
BESIDE = ("_lo", "_hi", "_p", "_z", "_null")
COUNTS = ("n_", "out_of_")
FEWEST, SEED = 8, 0
READ = Path(__file__).resolve().parents[1] / "tools" / "process_codes"
_CORRECTED = ("repair_after_correction", "persisting_after_correction")
_FINDERS = {
    "affirmation (AF)": ({"AF"}, ("affirmation",), ("bolt_reflections_on_strengths", "miti_affirm")),
    "autonomy or permission (EC, ADP)": (
        {"EC", "ADP"},
        ("autonomy", "permission"),
        ("miti_emphasise_autonomy", "miti_seek_collaboration"),
    ),
}
"""Labels of MISC, the phrases that look for the same, and the codes that come near to it."""


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
    print("\n### Turns with what people coded by MISC\n")
    print(markdown([["what", "turns", "found by", "found", "right", "F1"], *_found(data / "misc_gold")]))
    print("\n### Ruptures and corrections that were read\n")
    read = {name: _read(data / name) for name in ("annomi", "hlqc")}
    columns = {f"{name}, {quality}": own for name, both in read.items() for quality, own in both.items()}
    print(_markdown(pd.DataFrame(columns)))


def _proxies() -> list[str]:
    """Return the session columns of the alliance measures that are values, not intervals or counts."""
    columns = [one for measure, one in all_columns(builtin_lexicons()) if measure.family == "alliance"]
    names = [one.name for one in columns if one.level == "session"]
    return [name for name in names if not name.endswith(BESIDE) and not name.startswith(COUNTS)]


def _sessions(folder: Path) -> pd.DataFrame:
    found = [session for reading in ta.read_files([folder]) for session in reading.sessions]
    return ta.wide(ta.analyze(found, measures="all", tagger=ta.TaggerOptions(kind="fast")))


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


def _found(folder: Path) -> list[list[str]]:
    """Return how well phrases and codes find turns with labels of MISC: a row a label and way of finding it."""
    units = pd.concat([pd.read_csv(folder / f"{name}.csv").assign(corpus=name) for name in ("hlqc", "mibot")])
    sessions, labels = [], []
    for name, one in units.groupby(["corpus", "conv_id"], sort=False):
        turns = [part for _, part in one.groupby("conv_vol_idx", sort=False)]
        labels += [set(part["t2_label_GT"].astype(str)) for part in turns]
        sessions.append(_session("/".join(map(str, name)), turns))
    batch = annotate(sessions, Matcher(builtin_lexicons()))
    codes = load_accurate(all_codes=True).predict(batch)
    own, decisions = batch.turns.roles == ROLES.index("therapist"), codes.by_name(codes.decision)
    rows = []
    for what, (wanted, phrases, names) in _FINDERS.items():
        true = own & np.array([bool(one & wanted) for one in labels])
        ways = {"phrases": [_hits(batch, one) for one in phrases], "codes": [decisions[one] for one in names]}
        for way, hits in ways.items():
            found = own & np.any(hits, axis=0)
            right = int((found & true).sum())
            f1 = 2 * right / (found.sum() + true.sum())
            rows.append([what, str(true.sum()), way, str(found.sum()), str(right), f"{f1:.2f}"])
    return rows


def _hits(batch: Batch, phrases: str) -> np.ndarray:
    return np.concatenate([turns_with(one, f"alliance.{phrases}", "therapist") for one in batch])


def _session(name: str, turns: list[pd.DataFrame]) -> Session:
    made = []
    for i, part in enumerate(turns):
        role: Role = "therapist" if part["speaker"].iloc[0].startswith("couns") else "client"
        made.append(Turn(index=i, speaker=role, role=role, text=" ".join(map(str, part["utt_text"])), first_row=i + 1))
    return Session(id=name, source_file="misc_gold", turns=tuple(made))


def _read(folder: Path) -> dict[str, pd.Series]:
    """Return how many of how many, in sessions of either quality, by the codes that were read in them."""
    totals: dict[str, defaultdict[str, float]] = {one: defaultdict(float) for one in ("high", "low")}
    for session in _coded(folder):
        about = session.session.metadata
        of = totals[about.get("mi_quality") or about["quality"]]
        answers = {name: one for name, one in responses(session).items() if name.endswith(_CORRECTED)}
        for name, value in {**ruptures(session), **answers}.items():
            if name.startswith(COUNTS):
                of[name] += float(np.nan_to_num(value))
    names = [name.removeprefix("n_") for name in totals["high"] if name.startswith("n_")]
    return {
        quality: pd.Series({name: f"{of[f'n_{name}']:.0f} of {of[f'out_of_{name}']:.0f}" for name in names})
        for quality, of in totals.items()
    }


def _coded(folder: Path) -> Iterator[AnnotatedSession]:
    """Yield the sessions of a corpus that were read, with the codes of the book process in the turns that were."""
    found = {session.id: session for reading in ta.read_files([folder]) for session in reading.sessions}
    codes: dict[str, dict[int, set[str]]] = defaultdict(dict)
    read: dict[str, list[range]] = defaultdict(list)
    for one in map(json.loads, (READ / "read.jsonl").read_text(encoding="utf-8").splitlines()):
        codes[one["session"]][one["turn"]] = {f"process_{code.removesuffix('?')}" for code in one["codes"]}
    for one in map(json.loads, (READ / "segments.jsonl").read_text(encoding="utf-8").splitlines()):
        read[one["session"]].append(range(one["from"], one["to"] + 1))
    book = next(one for one in builtin_codebooks() if one.id == "process")
    for name, turns in read.items():
        corpus, session = name.split("/", 1)
        if corpus == folder.name:
            one = next(iter(annotate([found[session]], Matcher(builtin_lexicons()))))
            places, given = np.concatenate(turns), codes[name]
            probabilities = {}
            for code in book.codes:
                hits = np.array([code.column in given.get(i, ()) for i in range(len(one))])
                known = np.isin(np.arange(len(one)), places) & one.spoken_by(code.role)
                probabilities[code.column] = np.where(known, np.where(hits, 0.9, 0.1), np.nan)
            decisions = {name: values > 0.5 for name, values in probabilities.items()}
            yield replace(one, probabilities=probabilities, decisions=decisions)


def _markdown(table: pd.DataFrame) -> str:
    table = table.fillna("")
    header = ["proxy", *map(str, table)]
    rows = [[str(name), *map(str, row)] for name, row in zip(table.index, table.to_numpy().tolist(), strict=True)]
    return markdown([header, *rows])


if __name__ == "__main__":
    main()
