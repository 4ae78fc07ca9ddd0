"""The folder of results: made private, emptied of an earlier run, written file by file."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.tables import DIGITS

WRITTEN = (
    "sessions",
    "sessions.csv",
    "responses.csv",
    "dyads.csv",
    "codebook.csv",
    "problems.csv",
    "run.json",
    "report.html",
    *(f"{name}.{kind}" for name in ("profile", "thirds", "responses") for kind in ("png", "svg", "pdf")),
)


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


@dataclass(frozen=True, slots=True)
class SessionTables:
    """The tables of one session.

    Attributes
    ----------
    turns, synchrony : DataFrame
        As ``turns.csv`` and ``synchrony.csv``.
    profile, responses : DataFrame
        Where in the session behaviours happen, and what the therapist does after each thing that the client does.
    feelings : DataFrame
        Feelings of the client's that the therapist names.
    evidence : DataFrame or None
        For the codes, where that is asked for.
    """

    turns: pd.DataFrame
    synchrony: pd.DataFrame
    profile: pd.DataFrame
    responses: pd.DataFrame
    feelings: pd.DataFrame
    evidence: pd.DataFrame | None = None


def write_session(tables: SessionTables, folder: Path, *, figures: Sequence[str]) -> None:
    """Write what there is of one session: its tables and its figures."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_csv(tables.turns, folder / "turns.csv")
    write_csv(tables.synchrony, folder / "synchrony.csv")
    write_csv(tables.profile, folder / "profile.csv")
    write_csv(tables.responses, folder / "responses.csv")
    write_csv(tables.feelings, folder / "feelings.csv")
    if tables.evidence is not None:
        write_csv(tables.evidence, folder / "evidence.csv")
    if figures:
        _draw(tables, folder, figures)


def _draw(tables: SessionTables, folder: Path, figures: Sequence[str]) -> None:
    from therapy_analytics.plots._figures import write_figures  # noqa: PLC0415 (matplotlib is slow to import)

    names = ("turns", "synchrony", "profile")
    write_figures({name: getattr(tables, name) for name in names}, folder, formats=figures)


def write_run_figures(out: Path, sessions: Sequence[str], figures: Sequence[str], tagger: str) -> None:
    """Draw what is seen over all sessions of a run, from the tables in its folder."""
    from therapy_analytics.plots._figures import write_run_figures as draw  # noqa: PLC0415

    profile = pd.concat([pd.read_csv(out / "sessions" / name / "profile.csv") for name in sessions], ignore_index=True)
    profile.attrs["tagger"] = tagger
    draw({"profile": profile, "responses": pd.read_csv(out / "responses.csv")}, out, formats=figures)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table, the same bytes on every system."""
    frame.to_csv(path, index=False, float_format=DIGITS, lineterminator="\n", encoding="utf-8")


def problems_table(problems: Sequence[UnreadableFileError]) -> pd.DataFrame:
    """Return a row for each file that could not be read."""
    rows = [(one.path, one.line, one.problem, one.remedy) for one in problems]
    frame = pd.DataFrame(rows, columns=["file", "line", "problem", "what_would_be_right"])
    return frame.astype({"line": "Int64"})
