"""The figures of a run: of each session in its folder, and of all together, from the numbers in their files."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import pandas as pd

from therapy_analytics.core import private
from therapy_analytics.core.folders import unique_part
from therapy_analytics.measures.base import STATISTICS
from therapy_analytics.plots.files import FORMATS, Plots, run_figures, session_figures, tables_first, write_figures
from therapy_analytics.readers.account import Remark
from therapy_analytics.results.analysis import NAMED
from therapy_analytics.results.frames import profile_table, wide_turns


def files_of_run() -> dict[str, list[str]]:
    """Return the files of the figures of a whole run, by format."""
    return {kind: [f"{one.__name__}.{kind}" for one in run_figures()] for kind in FORMATS}


def draw_session(
    folder: Path, *, plots: Plots, formats: Sequence[str], width_mm: float | None, tagger: str
) -> list[Remark]:
    """Draw the figures of a session into its folder; return which could not be drawn, and why."""
    failed: list[Remark] = []
    if formats:
        with tables_first(failed, folder / "figures"):
            turns = [pd.read_csv(folder / NAMED[name].csv) for name in ("turns", "probabilities", "turn_measures")]
            tables = {"wide_turns": wide_turns(*turns), **_tables([folder], tagger)}
            write_figures(session_figures(plots), tables, folder, formats=formats, width_mm=width_mm, failed=failed)
    return failed


def draw_run(
    folders: Path, out: Path, sessions: Collection[str], *, formats: Sequence[str], width_mm: float | None, tagger: str
) -> list[Remark]:
    """Draw the figures of a whole run into `out`, of the sessions that have their folders in `folders`."""
    failed: list[Remark] = []
    part = unique_part(folders / "figures")
    part.mkdir(mode=private.FOLDER)
    try:
        with tables_first(failed, out / "figures"):
            tables = _tables((folders / name for name in sessions), tagger)
            if (out / NAMED["sessions"].csv).is_file():
                tables["sessions"] = pd.read_csv(out / NAMED["sessions"].csv)
            for path in write_figures(run_figures(), tables, part, formats=formats, width_mm=width_mm, failed=failed):
                path.replace(out / path.name)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return failed


def _tables(folders: Iterable[Path], tagger: str) -> dict[str, pd.DataFrame]:
    """Return the tables of sessions that plots take, by their names in `Analysis`."""
    empty: dict[str, list[str]] = {name: [""] for name in STATISTICS}
    parts, responses = [], []
    for folder in folders:
        parts.append(pd.read_csv(folder / NAMED["parts"].csv, keep_default_na=False, na_values=empty))
        responses.append(pd.read_csv(folder / NAMED["responses"].csv))
    tables = {
        "parts": pd.concat(parts, ignore_index=True),
        "responses": pd.concat(responses, ignore_index=True),
    }
    tables["profile"] = profile_table(tables["parts"])
    tables["profile"].attrs["tagger"] = tagger
    return tables
