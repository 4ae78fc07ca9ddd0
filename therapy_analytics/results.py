"""The folder of results: made private, emptied of an earlier run, written file by file."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.tables import DIGITS

WRITTEN = ("sessions", "sessions.csv", "dyads.csv", "codebook.csv", "problems.csv", "run.json")


def prepare(out: Path) -> None:
    """Make the folder private and empty of an earlier run's results; touch nothing else."""
    if out.exists() and not out.is_dir():
        raise BadOptionError("--out", f"{out} is a file", "Name a folder")
    strangers = sorted(path.name for path in out.iterdir() if path.name not in WRITTEN) if out.is_dir() else []
    if strangers:
        raise BadOptionError(
            "--out",
            f"{out} holds other things than results ({strangers[0]}, ...)",
            "Name a new or an empty folder",
        )
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    out.chmod(0o700)
    shutil.rmtree(out / "sessions", ignore_errors=True)
    for name in WRITTEN[1:]:
        (out / name).unlink(missing_ok=True)
    (out / "sessions").mkdir(mode=0o700)


def write_session(turns: pd.DataFrame, folder: Path, *, plots: bool, evidence: pd.DataFrame | None = None) -> None:
    """Write what there is of one session: the table of its turns, the evidence for its codes, and its figures."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_csv(turns, folder / "turns.csv")
    if evidence is not None:
        write_csv(evidence, folder / "evidence.csv")
    if plots:
        _draw(turns, folder)


def _draw(turns: pd.DataFrame, folder: Path) -> None:
    from therapy_analytics.plots import PLOTS  # noqa: PLC0415 (matplotlib is slow to import)
    from therapy_analytics.plots._save import save  # noqa: PLC0415

    save(PLOTS["timeline"], turns, folder / "timeline.png")


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table, the same bytes on every system."""
    frame.to_csv(path, index=False, float_format=DIGITS, lineterminator="\n", encoding="utf-8")


def problems_table(problems: Sequence[UnreadableFileError]) -> pd.DataFrame:
    """Return a row for each file that could not be read."""
    rows = [(one.path, one.line, one.problem, one.remedy) for one in problems]
    frame = pd.DataFrame(rows, columns=["file", "line", "problem", "what_would_be_right"])
    return frame.astype({"line": "Int64"})
