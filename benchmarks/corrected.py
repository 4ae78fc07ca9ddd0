"""Do corrected rates come nearer to people's? ``python -m benchmarks.corrected --data DATA --unseen FILE``.

It prints Markdown. On AnnoMI, with codes of recordings that the taggers had not seen (``tools/unseen_codes.py`` makes
the file): recordings are split in two at random, a hundred times. From one half come the tagger's sensitivity and
specificity; in the other the rates of the sessions of high and of low quality are corrected by them and held against
people's codes of these very sessions. Beside it stand the mean probability, and prediction-powered rates from people's
codes of ten recordings of the group (of six where it has fewer than fifteen), drawn from all recordings at random.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks._markdown import markdown
from benchmarks.coding_samples import with_quality
from therapy_analytics.compare._corrected import PEOPLE, adjusted_interval, errors_of_row, mean_share
from therapy_analytics.compare._ppi import powered_interval, powered_mean

Floats = NDArray[np.float64]
CODES = ("mi_question", "mi_reflection", "mi_input", "mi_question_open", "mi_change", "mi_sustain")
KEPT = ["session", "group", "quality"]
SPLITS, BY_HAND, FEW, FEWER = 100, 10, 15, 6


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--unseen", type=Path, required=True)
    parser.add_argument("--tools", type=Path, default=Path(__file__).resolve().parents[1] / "tools")
    parser.add_argument("--aim", default="balanced")
    given = parser.parse_args()
    sys.path.insert(0, str(given.tools))
    tools = import_module("build_tagger_errors")
    turns = with_quality(pd.read_csv(given.unseen, low_memory=False), given.data)
    for tagger in ("accurate", "fast"):
        rows = [
            row
            for name, aim, code, source, threshold, p in tools.decisions(turns)
            if (name, aim) == (tagger, given.aim) and code in CODES
            for row in rows_of(
                turns[KEPT].assign(p=p, decided=p >= threshold, truth=turns[f"truth_{source}"]), code, tools
            )
        ]
        print(f"### {tagger}, aim {given.aim}\n")
        print(markdown([HEADS, *rows, _means(rows)]) + "\n")


HEADS = [
    *("code", "quality", "sensitivity", "specificity", "people", "machine", "mean p", "corrected"),
    *("off: machine", "off: mean p", "off: corrected", "within corrected interval"),
    *("prediction-powered: off", "width", "by hand alone: off", "width"),
]


def _means(rows: list[list[str]]) -> list[str]:
    """Return the row of means over codes and qualities, of what is off and of widths."""
    first = HEADS.index("off: machine")
    values = np.array([row[first:] for row in rows], dtype=np.float64).mean(axis=0)
    return ["mean", *[""] * (first - 1), *(f"{one:.3f}" for one in values)]


def rows_of(turns: pd.DataFrame, code: str, tools: Any) -> Iterator[list[str]]:
    """Yield the row of each quality."""
    turns = turns[turns["truth"].notna() & turns["p"].notna()]
    for quality, part in turns.groupby("quality"):
        found = pd.DataFrame(splits(turns, str(quality), tools)).mean()
        by_hand = pd.DataFrame(hand_coded(_by_session(part))).mean()
        own = tools.errors_of(part["truth"].to_numpy(), part["decided"].to_numpy(), part["group"].to_numpy())
        numbers = [own["sensitivity"], own["specificity"], *found.tolist(), *by_hand.tolist()]
        yield [code, str(quality), *(f"{one:.3f}" for one in numbers)]


def _by_session(part: pd.DataFrame) -> pd.DataFrame:
    """Return the rates of each session, and its recording."""
    means = part.groupby("session")[["truth", "decided", "p"]].mean()
    return means.assign(n=part.groupby("session").size(), group=part.groupby("session")["group"].first())


def splits(turns: pd.DataFrame, quality: str, tools: Any) -> Iterator[dict[str, float]]:
    """Yield rates of a quality in half of the recordings, corrected by what the other half says of the tagger."""
    draw = np.random.default_rng(11)
    recordings = turns["group"].unique()
    for _ in range(SPLITS):
        half = turns["group"].isin(draw.permutation(recordings)[: len(recordings) // 2])
        other = turns[~half]
        known = tools.errors_of(other["truth"].to_numpy(), other["decided"].to_numpy(), other["group"].to_numpy())
        errors = errors_of_row(known | {"truth": PEOPLE})
        part = _by_session(turns[half & turns["quality"].eq(quality)])
        if len(part) < 3:
            continue
        share, _ = mean_share(part["decided"].to_numpy(), part["n"].to_numpy(float), part["group"].to_numpy())
        people, p = float(part["truth"].mean()), float(part["p"].mean())
        corrected = min(max(errors.true_rate(share.value), 0.0), 1.0)
        low, high = adjusted_interval(share, errors)
        off = {name: abs(one - people) for name, one in (("m", share.value), ("e", p), ("c", corrected))}
        yield (
            {"people": people, "machine": share.value, "p": p, "corrected": corrected}
            | off
            | {"within": float(low <= people <= high)}
        )


def hand_coded(part: pd.DataFrame) -> Iterator[dict[str, float]]:
    """Yield how far off rates are, and how wide their intervals, with people's codes of a few recordings."""
    draw = np.random.default_rng(12)
    recordings = part["group"].unique()
    n = BY_HAND if len(recordings) >= FEW else FEWER
    for _ in range(SPLITS):
        coded = part["group"].isin(draw.permutation(recordings)[:n]).to_numpy()
        truth, p = part["truth"].to_numpy(), part["p"].to_numpy()
        parts = (np.where(coded, truth, np.nan), np.where(coded, p, np.nan), np.where(coded, np.nan, p))
        found: dict[str, float] = {}
        for name, weight in (("powered", None), ("alone", 0.0)):
            one = powered_mean(*parts, part["group"].to_numpy(), weight=weight)
            low, high = powered_interval(one, np.inf if one.weight else float(part["n"][coded].sum()))
            found |= {f"{name} off": abs(one.value - float(truth.mean())), f"{name} width": high - low}
        yield found


if __name__ == "__main__":
    main()
