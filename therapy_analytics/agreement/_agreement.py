"""`agreement`: machine against people, people against each other, as tables, a report and figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics import private
from therapy_analytics.agreement._coefficients import Resampling
from therapy_analytics.agreement._gold import Gold, GoldOptions, gold_of
from therapy_analytics.agreement._machine import Machine, machine_of
from therapy_analytics.agreement._report import Facts, report, summary
from therapy_analytics.agreement._sessions import rates_table, sessions_table
from therapy_analytics.agreement._statistics import (
    calibration_table,
    coded,
    codes_table,
    confusion_table,
    pairs_table,
)
from therapy_analytics.analysis import Analysis
from therapy_analytics.cells import csv_of_frame
from therapy_analytics.errors import BadOptionError
from therapy_analytics.outputs import Made, replaced_in, sources_of
from therapy_analytics.tables import DIGITS

TABLES = ("codes", "pairs", "sessions", "calibration", "confusion", "rates")
FIGURES = {"confusion": "confusion_matrix", "calibration": "calibration_curve", "rates": "limits_of_agreement"}
"""Tables and the plots that show them."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the machine's codes agree with people's, and people's with each other's.

    Attributes
    ----------
    codes : DataFrame
        A row a code or set: the machine against what most people gave, and beside what people reach together.
    pairs : DataFrame
        A row a code and pair of coders.
    sessions : DataFrame
        A row a rate: ICC(2,1), mean difference, limits of agreement.
    calibration, confusion, rates : DataFrame
        What the figures show: bins of probabilities, counts of human and machine values, rates of sessions.
    text : str
        All that in words (Markdown), with the form of each statistic and the recipe.
    summary : tuple of str
        The same in a few lines.
    sources : tuple of str
        The folders and files that it was made from; none where that were tables in memory.
    """

    codes: pd.DataFrame
    pairs: pd.DataFrame
    sessions: pd.DataFrame
    calibration: pd.DataFrame
    confusion: pd.DataFrame
    rates: pd.DataFrame
    text: str
    summary: tuple[str, ...]
    sources: tuple[str, ...] = ()

    def write(
        self,
        folder: Path | str,
        *,
        figures: bool = True,
        replace: bool = False,
        on_before: Callable[[str], None] = lambda _: None,
    ) -> list[Path]:
        """Write the tables as CSV, ``agreement.md`` and the figures; return the files.

        Parameters
        ----------
        folder : str or Path
            Made private. What was written there of the same results and human codes is replaced.
        figures : bool, optional
            Whether figures are drawn.
        replace : bool, optional
            Whether what was written there of other results or codes is replaced as well.
        on_before : callable, optional
            Told in a sentence what was replaced.

        Raises
        ------
        BadOptionError
            The folder holds anything else, or the agreement of others that may not be replaced.
        CannotWriteError
            The system refused to write.
        """
        folder = Path(folder)
        texts = {f"{name}.csv": csv_of_frame(getattr(self, name), digits=DIGITS) for name in TABLES}
        texts |= {"agreement.md": self.text}
        names = {*texts, *(f"{name}.png" for name in FIGURES)}
        made = Made(what="an agreement", names=names, sources=self.sources, replace=replace, say=on_before)
        with replaced_in(folder, made) as part:
            paths = [private.write(part / name, text) for name, text in texts.items()]
            paths += self._draw(part) if figures else []
        return [folder / path.name for path in paths]

    def _draw(self, folder: Path) -> list[Path]:
        from therapy_analytics.plots import PLOTS  # noqa: PLC0415  # matplotlib is slow to import
        from therapy_analytics.plots._blocks import sheet_size  # noqa: PLC0415
        from therapy_analytics.plots._save import save  # noqa: PLC0415

        found = []
        for name, plot in FIGURES.items():
            table = getattr(self, name)
            size = sheet_size(table["code"].nunique())
            found.append(save(PLOTS[plot], table, private.fresh(folder / f"{name}.png"), figsize=size))
        return found


def agreement(
    results: Analysis | Path | str | pd.DataFrame,
    gold: Path | str | pd.DataFrame | None = None,
    *,
    options: GoldOptions | None = None,
    seed: int = 0,
    draws: int = 2000,
) -> Agreement:
    """Compare the machine's codes with those that people gave, and people with each other.

    Parameters
    ----------
    results : Analysis, path or DataFrame
        What `analyze` returned, a folder that ``tanalyze run`` wrote, or a turns table.
    gold : path or DataFrame, optional
        Codes by people: see `GoldOptions`. Without it, those that the transcripts brought (``gold_...``).
    options : GoldOptions, optional
        How the table of human codes is to be read.
    seed : int
        Of the bootstrap.
    draws : int
        How often sessions are drawn again.

    Returns
    -------
    Agreement
        Tables and text; ``.write(folder)`` writes them.

    Raises
    ------
    BadOptionError
        No results, no human codes, or nothing that tells which turn is which.
    BadDataFileError
        A file that is no table.

    Notes
    -----
    Intervals are percentiles of a bootstrap of whole sessions, and missing with fewer than five of them. They hold
    for other sessions, and for these coders.

    Examples
    --------
    >>> turns = pd.DataFrame({"session_id": "a", "turn": range(4), "role": "therapist"})
    >>> turns["p_mi_question"], turns["mi_question"] = [0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0]
    >>> human = pd.DataFrame({"session_id": "a", "turn": range(4), "question": [1, 0, 0, 0]})
    >>> found = agreement(turns, human).codes
    >>> found[["code", "agreement", "kappa"]].to_numpy().tolist()
    [['mi_question', 0.75, 0.5]]
    """
    if draws < 1 or seed < 0:
        option = "draws" if draws < 1 else "seed"
        raise BadOptionError(option, "it is too small", "Give a whole number, such as 2000")
    machine = machine_of(results)
    people = gold_of(machine, gold, options or GoldOptions())
    found = _agreement(machine, people, Resampling(seed, draws), _recipe(gold, options or GoldOptions()))
    return dataclasses.replace(found, sources=sources_of(results, gold))


def _recipe(gold: Path | str | pd.DataFrame | None, options: GoldOptions) -> dict[str, Any]:
    named = (
        "a table in memory" if isinstance(gold, pd.DataFrame) else Path(gold).name if gold else "gold_... of turns.csv"
    )
    return {"human codes": named, "blank cells": options.blank, "codebook": options.book or "found out"}


def _agreement(machine: Machine, people: Gold, how: Resampling, recipe: dict[str, Any]) -> Agreement:
    found = coded(machine, people)
    rates = rates_table(found, [_names(machine, people, one.code) for one in found])
    codes, sessions = codes_table(found, how), sessions_table(rates, how)
    facts = Facts(machine.recipe, people.notes, how, recipe)
    return Agreement(
        codes=codes,
        pairs=pairs_table(found, how),
        sessions=sessions,
        calibration=calibration_table(found, how),
        confusion=confusion_table(found),
        rates=rates,
        text=report(codes, sessions, facts),
        summary=tuple(summary(codes, people.notes)),
    )


def _names(machine: Machine, people: Gold, code: str) -> list[str]:
    """Return the sessions of a code in the order of their numbers: of the first coded turn."""
    source = people.values if code in machine.codes else people.sets
    place = np.unique(source.loc[source["code"] == code, "place"].to_numpy(dtype=np.int64))
    return list(dict.fromkeys(machine.turns["session_id"].to_numpy()[place]))
