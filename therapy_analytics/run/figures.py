"""The figures of a run: of each session in its folder, and of all together, from the numbers in their files."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

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
            asked = session_figures(plots)
            tables = _tables([folder], tagger, {one.takes for one in asked})
            tables["wide_turns"] = wide_turns(*turns)
            write_figures(asked, tables, folder, formats=formats, width_mm=width_mm, failed=failed)
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
            asked = run_figures()
            tables = _tables([folders / name for name in sessions], tagger, {one.takes for one in asked})
            if (out / NAMED["sessions"].csv).is_file():
                tables["sessions"] = pd.read_csv(out / NAMED["sessions"].csv)
            for path in write_figures(asked, tables, part, formats=formats, width_mm=width_mm, failed=failed):
                path.replace(out / path.name)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return failed


def _tables(folders: Collection[Path], tagger: str, wanted: Collection[str]) -> dict[str, pd.DataFrame]:
    """Return the tables of sessions that plots take, by their names in `Analysis`: the parts, and others if wanted."""
    empty: dict[str, list[str]] = {name: [""] for name in STATISTICS}
    of_parts = {"keep_default_na": False, "na_values": empty}
    tables = {"parts": _joined(folders, "parts", **of_parts)}
    if "responses" in wanted:
        tables["responses"] = _joined(folders, "responses")
    if "profile" in wanted:
        tables["profile"] = profile_table(tables["parts"])
        tables["profile"].attrs["tagger"] = tagger
    return tables


def _joined(folders: Collection[Path], name: str, **how: Any) -> pd.DataFrame:
    tables: list[pd.DataFrame] = [pd.read_csv(folder / NAMED[name].csv, **how) for folder in folders]
    return pd.concat(tables, ignore_index=True)
