"""`agreement`: machine against people, people against each other, as tables and a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from therapy_analytics.core.cells import csv_of_frame
from therapy_analytics.core.folders import sources_of
from therapy_analytics.core.verbs import options_of
from therapy_analytics.measures.process.learnt_turns import UNKNOWN, among
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.results.references import cross_validated
from therapy_analytics.results.tables import DIGITS
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
from therapy_analytics.stats.code_labels import SETS
from therapy_analytics.stats.machine_codes import Machine, read_machine
from therapy_analytics.stats.people_codes import Gold, GoldOptions, read_gold

TABLES = ("codes", "pairs", "sessions", "calibration", "confusion", "rates")
ALL_LEFT_OUT = "all coded sessions were learnt from"
CROSS_VALIDATED = (
    "Cross-validated kappas are of the same tagger, on recordings of AnnoMI and HLQC that it had not seen (five folds)."
)


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

    def files(self) -> dict[str, str]:
        """Return the text of each file in which it is kept: the tables as CSV, and ``agreement.md``."""
        tables = {f"{name}.csv": csv_of_frame(getattr(self, name), digits=DIGITS) for name in TABLES}
        return {**tables, "agreement.md": self.text}


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
        Codes by people, a row a turn and code or a column a code (``docs/coding.md``). Without it, those that the
        transcripts brought (``gold_...``).
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
        Markdown with the source of each statistic, and ``ta.write(found, folder)`` writes everything.

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
    people, how, words, left_out = _set_apart(machine, read_gold(machine, gold, options), counted=learnt)
    place = np.unique(people.values["place"].to_numpy(dtype=np.int64))
    sessions = list(dict.fromkeys(machine.turns["session_id"].to_numpy()[place]))
    cluster_of, clustered_by = machine.clusters(sessions)
    found = coded(machine, people, cluster_of)
    rates = rates_table(found)
    of_sessions = sessions_table(rates, cluster_of)
    codes = _with_left_out(codes_table(found), left_out)
    known = cross_validated(machine.recipe.get("tagger", {})).reindex(codes["code"])
    codes = codes.assign(
        cross_validated_kappa=known["kappa"].to_numpy(), cross_validated_by=known["coded_by"].fillna("").to_numpy()
    )
    tables = {
        "codes": codes,
        "pairs": pairs_table(found),
        "sessions": of_sessions,
        "calibration": calibration_table(found),
        "confusion": confusion_table(found),
        "rates": rates,
    }
    weighted = [WEIGHTED] if "inclusion" in people.values else []
    over = [clusters_in_words(clustered_by, len(set(cluster_of.values())))] if found else []
    in_memory, brought = "a table in memory", "gold_... of turns.csv"
    source = in_memory if isinstance(gold, pd.DataFrame) else Path(gold).name if gold else brought
    read = {"human codes": source, "blank cells": options.blank, "codebook": options.book or "found out"}
    facts = Facts(machine.recipe, (*words, *people.notes, *weighted, *over), read)
    return Agreement(
        **{name: table.assign(learnt_sessions=how) for name, table in tables.items()},
        text=report(codes, of_sessions, facts),
        summary=tuple(summary(codes, facts)),
        sources=sources_of(results, gold),
    )


def _set_apart(machine: Machine, people: Gold, *, counted: bool) -> tuple[Gold, str, tuple[str, ...], tuple[str, ...]]:
    """Leave codes of sessions that the tagger learnt from out, or count them, and say so.

    Returns people's codes that are left; ``none``, ``left out``, ``counted`` or ``unknown``; the same in sentences; and
    the codes and sets of which turns were left out.
    """
    if machine.learnt is None:
        of_model = machine.recipe.get("tagger", {}).get("kind") == "llm"
        return people, "unknown", () if of_model else (UNKNOWN,), ()
    session = machine.turns["session_id"].to_numpy()
    parts = {name: getattr(people, name) for name in ("values", "sets")}
    of_part = {name: pd.Series(session[part["place"].to_numpy(int)], part.index) for name, part in parts.items()}
    every = set().union(*map(set, of_part.values()))
    own = every & machine.learnt
    head = among(pd.Series([one in own for one in every], dtype=bool), one="coded session")
    if not own:
        return people, "none", (f"{head}.",), ()
    if counted:
        told = f"{head}, and counted as asked: agreement on these is not evidence of how good its codes are."
        return people, "counted", (told, CROSS_VALIDATED), ()
    nothing = "" if own < every else " No agreement is left to tell."
    told = f"{head}: agreement there is not evidence, and they are left out (--include-learnt counts them).{nothing}"
    gone = {name: of_part[name].isin(own) for name in parts}
    codes = {code for name, part in parts.items() for code in part["code"][gone[name]]}
    sets = [name for name, (of_set, _) in SETS.items() if set(of_set) <= set(machine.codes)]
    left = {name: part[~gone[name]].reset_index(drop=True) for name, part in parts.items()}
    left_out = tuple(code for code in (*machine.codes, *sets) if code in codes)
    return replace(people, **left), "left out", (told, CROSS_VALIDATED), left_out


def _with_left_out(codes: pd.DataFrame, left_out: Sequence[str]) -> pd.DataFrame:
    """Add rows without turns for the codes of which nothing is left."""
    rows = codes.set_index("code").reindex(pd.Index([*codes["code"], *left_out], name="code").unique()).reset_index()
    known = rows["code"].isin(codes["code"])
    numbers, notes = (rows.get(name, pd.Series(np.nan, index=rows.index)) for name in ("n_turns", "note"))
    return rows.assign(n_turns=numbers.where(known, 0.0), note=notes.astype(object).where(known, ALL_LEFT_OUT))
