"""What the synchrony measures find in corpora: ``python -m benchmarks.validity FOLDER ...`` prints Markdown tables.

Each folder is a corpus. For each measure: the mean over sessions and of its null distributions; the share of sessions
that exceed them at p < .05 (5 % would by chance alone); who follows whom; and, where sessions have a quality that
is not disputed (``mi_quality`` or ``quality`` in their metadata: high, low), how well the measure tells the two apart.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import therapy_analytics as ta
from benchmarks._markdown import markdown
from therapy_analytics.text import EXTRAS

QUALITY = ("mi_quality", "quality")
FEWEST = 10


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--extras", nargs="*", default=[], help="names of corpora that get the costly measures, too")
    given = parser.parse_args()
    found = {folder.name: _found(folder, extras=folder.name in given.extras) for folder in given.folders}
    print(", ".join(f"{name} {frame.session_id.nunique()}" for name, frame in found.items()), "sessions")
    both = {name: frame[frame.direction == "both"] for name, frame in found.items()}
    _say("Mean; by shuffles; with surrogate pairs", {name: _by_measure(frame, _means) for name, frame in both.items()})
    _say("Above shuffles; above surrogate pairs", {name: _by_measure(frame, _shares) for name, frame in both.items()})
    apart = {name: frame[frame.direction == "difference"] for name, frame in found.items()}
    _say("Therapist less client", {name: _by_measure(frame, _difference) for name, frame in apart.items()})
    _say("Rank correlation with words per turn", {name: _by_measure(frame, _rho) for name, frame in both.items()})
    _say("High above low quality (AUC)", {name: _by_measure(frame, _quality) for name, frame in both.items()})


def _found(folder: Path, *, extras: bool) -> pd.DataFrame:
    """Return the rows of whole sessions, with the quality of each."""
    sessions = [session for reading in ta.read_files([folder]) for session in reading.sessions]
    found = ta.synchrony(sessions, settings=ta.Settings(extras=frozenset(EXTRAS if extras else ())))
    quality = {
        one.id: next((one.metadata[key] for key in QUALITY if key in one.metadata), "")
        for one in sessions
        if one.metadata.get("quality_label_disputed") != "True"
    }
    return found[found.part == "whole"].assign(quality=found.session_id.map(quality))


def _by_measure(frame: pd.DataFrame, cell: object) -> pd.Series:
    cells = {str(name): cell(part) for name, part in frame.groupby("measure", sort=False)}  # type: ignore[operator]
    return pd.Series({name: text for name, text in cells.items() if text}, dtype=object)


def _say(title: str, columns: dict[str, pd.Series]) -> None:
    table = pd.DataFrame({name: column for name, column in columns.items() if len(column)}).fillna("")
    header = ["measure", *map(str, table)]
    rows = [[str(name), *row] for name, row in zip(table.index, table.to_numpy().tolist(), strict=True)]
    print(f"\n### {title}\n")
    print(markdown([header, *rows]))


def _means(part: pd.DataFrame) -> str:
    if not part.value.notna().any():
        return ""
    return "; ".join(_spoken(part[name].mean()) for name in ("value", "null_mean", "surrogate_mean"))


def _spoken(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _shares(part: pd.DataFrame) -> str:
    shares = [_share(part[name]) for name in ("p", "surrogate_p")]
    return "; ".join(shares) if set(shares) != {"-"} else ""


def _share(p: pd.Series) -> str:
    defined = p.dropna()
    return f"{(defined < 0.05).mean():.0%}" if len(defined) >= FEWEST else "-"


def _difference(part: pd.DataFrame) -> str:
    value, z = part.value.dropna(), part.z.dropna()
    return f"{value.mean():+.3f} (z {z.median():+.1f})" if len(z) >= FEWEST else ""


def _rho(part: pd.DataFrame) -> str:
    known = part[["value", "words_per_turn"]].dropna()
    if len(known) < FEWEST or known.value.nunique() < FEWEST:
        return ""
    return f"{stats.spearmanr(known.value, known.words_per_turn).statistic:+.2f}"


def _quality(part: pd.DataFrame) -> str:
    found = [_auc(part, name) for name in ("value", "z", "surrogate_z")]
    return "; ".join(found) if set(found) != {"-"} else ""


def _auc(part: pd.DataFrame, name: str) -> str:
    high, low = (part.loc[part.quality == one, name].dropna() for one in ("high", "low"))
    if min(len(high), len(low)) < FEWEST:
        return "-"
    return f"{stats.mannwhitneyu(high, low).statistic / (len(high) * len(low)):.2f}"


if __name__ == "__main__":
    main()
