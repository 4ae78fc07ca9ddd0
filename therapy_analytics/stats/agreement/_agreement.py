"""`agreement`: machine against people, people against each other, as tables, a report and figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core import private
from therapy_analytics.core.cells import csv_of_frame
from therapy_analytics.core.folders import Made, replaced_in, sources_of
from therapy_analytics.core.verbs import options_of
from therapy_analytics.readers.account import Remark
from therapy_analytics.results import PROBLEMS, write_not_drawn
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.results.tables import DIGITS
from therapy_analytics.stats.agreement._gold import GoldOptions, read_gold
from therapy_analytics.stats.agreement._learnt import SetApart, set_apart, with_cross_validated, with_left_out
from therapy_analytics.stats.agreement._machine import Machine, read_machine
from therapy_analytics.stats.agreement._report import WEIGHTED, Facts, clusters_in_words, report, summary
from therapy_analytics.stats.agreement._tables import (
    calibration_table,
    coded,
    codes_table,
    confusion_table,
    pairs_table,
    rates_table,
    sessions_table,
)

TABLES = ("codes", "pairs", "sessions", "calibration", "confusion", "rates")
FIGURES = {"confusion": "confusion_matrix", "calibration": "calibration_curve", "rates": "limits_of_agreement"}
"""Tables and the plots that show them."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the machine's codes agree with people's, and people's with each other's.

    Attributes
    ----------
    codes : DataFrame
        A row a code or set: the machine against what most people gave, with the counts of both; beside it people's own
        agreement, and the kappa of the same tagger on recordings that it had not seen (``cross_validated_kappa``).
    pairs : DataFrame
        A row a code and pair of coders.
    sessions : DataFrame
        A row a rate: ICC(2,1), mean difference, limits of agreement.
    calibration, confusion, rates : DataFrame
        What the plots show: bins of probabilities, counts of human and machine values, rates of sessions.
    text : str
        All that in words (Markdown), with the definition of each statistic and the recipe.
    summary : tuple of str
        The same in a few lines.
    sources : tuple of str
        The folders and files that it was made from; none where that were tables in memory.

    Notes
    -----
    The column ``learnt_sessions`` of all tables says whether sessions that the tagger learnt from were ``left out`` or
    ``counted``, or whether there were ``none``; else it is ``unknown``.
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
        on_problem: Callable[[str], None] = lambda _: None,
    ) -> list[Path]:
        """Write the tables as CSV, ``agreement.md`` and then the figures; return the files.

        A figure that cannot be drawn is a line of ``problems.csv``.

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
        on_problem : callable, optional
            Told in a sentence that figures could not be drawn.

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
        names = {*texts, *(f"{name}.png" for name in FIGURES), PROBLEMS}
        made = Made(what="an agreement", names=names, sources=self.sources, replace=replace, say=on_before)
        with replaced_in(folder, made) as part:
            for name, text in texts.items():
                private.write(part / name, text)
            if figures and len(self.rates):
                write_not_drawn(self._draw(part), part, folder, on_problem)
            written = [folder / name for name in [*texts, *(f"{name}.png" for name in FIGURES), PROBLEMS]]
        return [path for path in written if path.is_file()]

    def _draw(self, folder: Path) -> list[Remark]:
        """Draw the figures; return which could not be drawn."""
        from therapy_analytics.plots import PLOTS  # noqa: PLC0415  # matplotlib is slow to import
        from therapy_analytics.plots.files import tables_first  # noqa: PLC0415

        failed: list[Remark] = []
        for name, plot in FIGURES.items():
            path = folder / f"{name}.png"
            with tables_first(failed, path):
                from therapy_analytics.plots.files import save  # noqa: PLC0415

                save(PLOTS[plot], getattr(self, name), private.fresh(path))
        return failed


def agreement(
    results: Analysis | Path | str | pd.DataFrame,
    gold: Path | str | pd.DataFrame | None = None,
    *,
    options: GoldOptions | None = None,
    learnt: bool = False,
) -> Agreement:
    """Compare the machine's codes with those that people gave, and people with each other.

    Parameters
    ----------
    results : Analysis, path or DataFrame
        What `analyze` returned, a folder that ``tanalyze run`` wrote, or ``analysis.wide_turns``.
    gold : path or DataFrame, optional
        Codes by people: see `GoldOptions`. Without it, those that the transcripts brought (``gold_...``).
    options : GoldOptions, optional
        How the table of human codes is read.
    learnt : bool, optional
        Whether sessions that the tagger learnt from are counted. Agreement on them is no evidence of how good its codes
        are on other sessions, so that they are left out by default.

    Returns
    -------
    Agreement
        ``codes`` has a row for each code: agreement (0 to 1), kappa, AC1 and alpha (up to 1; 0 is guessing), precision,
        recall and F1, each with its 95% interval. ``sessions`` compares rates of sessions, ``text`` is a report in
        Markdown with the source of each statistic, and ``.write(folder)`` writes everything.

    Raises
    ------
    BadOptionError
        No results, no human codes, or nothing that identifies turns.
    BadDataFileError
        A file that is not a table.

    Notes
    -----
    Intervals hold for other clusters (counselors where the sessions name several, else recordings, clients, or
    sessions), and for these coders: Student's t with the jackknife's standard error over clusters, in the logit of the
    statistic. They are missing with fewer than five clusters; kappa, AC1 and alpha with fewer than 30 turns, kappa and
    alpha also where a coder gave the code, or no code, to fewer than five; the column ``note`` says so.

    With a column ``inclusion`` of human codes (`tanalyze sample`), each turn counts 1 / inclusion. Counts (``n_...``)
    are of turns. Agreement, kappa, AC1 and alpha of a kind of a code (the column ``among`` names that code) are among
    the turns to which both gave the code: that both saw no question says nothing of open questions.

    Examples
    --------
    >>> turns = pd.DataFrame({"session_id": "a", "turn": range(40), "role": "therapist"})
    >>> turns["p_mi_question"], turns["mi_question"] = [0.9, 0.8, 0.2, 0.1] * 10, [1, 1, 0, 0] * 10
    >>> human = pd.DataFrame({"session_id": "a", "turn": range(40), "question": [1, 0, 0, 0] * 10})
    >>> found = agreement(turns, human).codes
    >>> found[["code", "agreement", "kappa"]].to_numpy().tolist()
    [['mi_question', 0.75, 0.5]]
    """
    options = options_of(GoldOptions, options)
    machine = read_machine(results)
    people = read_gold(machine, gold, options)
    in_memory, brought = "a table in memory", "gold_... of turns.csv"
    source = in_memory if isinstance(gold, pd.DataFrame) else Path(gold).name if gold else brought
    recipe = {"human codes": source, "blank cells": options.blank, "codebook": options.book or "found out"}
    apart = set_apart(machine, people, counted=learnt)
    return dataclasses.replace(_agreement(machine, apart, recipe), sources=sources_of(results, gold))


def _agreement(machine: Machine, apart: SetApart, recipe: Mapping[str, Any]) -> Agreement:
    people = apart.people
    place = np.unique(people.values["place"].to_numpy(dtype=np.int64))
    sessions = list(dict.fromkeys(machine.turns["session_id"].to_numpy()[place]))
    cluster_of, clustered_by = machine.clusters(sessions)
    found = coded(machine, people, cluster_of)
    rates = rates_table(found)
    codes = codes_table(found) if found else pd.DataFrame({"code": []}, dtype=str)
    codes = with_cross_validated(with_left_out(codes, apart.left_out), machine.recipe)
    of_sessions = sessions_table(rates, cluster_of)
    over = [clusters_in_words(clustered_by, len(set(cluster_of.values())))] if found else []
    weighted = [WEIGHTED] if "inclusion" in people.values else []
    facts = Facts(machine.recipe, (*apart.words, *people.notes, *weighted, *over), recipe)
    tables: dict[str, Any] = {
        "codes": codes,
        "pairs": pairs_table(found),
        "sessions": of_sessions,
        "calibration": calibration_table(found),
        "confusion": confusion_table(found),
        "rates": rates,
    }
    return Agreement(
        **{name: table.assign(learnt_sessions=apart.how) for name, table in tables.items()},
        text=report(codes, of_sessions, facts),
        summary=tuple(summary(codes, facts)),
    )
