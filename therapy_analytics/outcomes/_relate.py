"""What goes with what, with the error of the codes as far as it can enter, and what that says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path

import pandas as pd

from therapy_analytics.agreement import GoldOptions
from therapy_analytics.agreement._gold import Gold, read_gold
from therapy_analytics.agreement._machine import Machine, read_machine
from therapy_analytics.analysis import Analysis
from therapy_analytics.compare._phrases import p_phrase, spaced
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.errors import BadOptionError
from therapy_analytics.measures.process.learnt_turns import among
from therapy_analytics.outcomes._associations import associations
from therapy_analytics.outcomes._drawn import DRAWN, drawn_slopes, drawn_turns
from therapy_analytics.outcomes._findings import findings
from therapy_analytics.outcomes._gold import ASSUMPTION, SCORE_ON_RATE, corrected_slopes, rates_by_hand
from therapy_analytics.outcomes._imputation import imputed
from therapy_analytics.outcomes._join import Joined
from therapy_analytics.results import form_of

Sources = Analysis | pd.DataFrame | str | Path | Sequence[str | Path]
_NO_ERROR = "The error of the codes is not in the slopes: {why}."


@dataclass(frozen=True, slots=True)
class Related:
    """What goes with what.

    Attributes
    ----------
    table : DataFrame
        As ``associations.csv``.
    corrected : DataFrame
        As ``corrected.csv``: slopes that hold however the tagger errs, where people coded some sessions; else no rows.
    found, absent, open : tuple of str
        Sentences: what goes with what, what does not, and what cannot be told.
    by_hand : tuple of str
        Sentences on `corrected`.
    imputations : int
        How many times codes were imputed, 0 where their error is not in the table.
    notes : tuple of str
        Why it is not.
    """

    table: pd.DataFrame
    corrected: pd.DataFrame
    found: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    imputations: int = 0
    notes: tuple[str, ...] = ()


def related(
    data: Joined,
    results: Sources,
    *,
    imputations: int = 0,
    gold: str | Path | pd.DataFrame | None = None,
    seed: int = 0,
    pseudonyms: Pseudonyms | None = None,
) -> Related:
    """Relate measures to scores.

    Parameters
    ----------
    data : Joined
        Sessions with scores and measures.
    results : Analysis, DataFrame, path, or sequence of paths
        Where they come from: probabilities and codes of turns are needed for the error of the codes.
    imputations, gold, seed, pseudonyms :
        As in `therapy_analytics.outcomes.OutcomeOptions`.

    Raises
    ------
    BadOptionError
        Codes of people are given, and the results are a table of sessions, or several folders.
    """
    measures = [one.name for one in data.measures]
    better = {one.name: one.higher_is_better for one in data.scales}
    source, why_not = _with_turns(results)
    drawn = imputed(source, imputations, seed) if imputations and source is not None else []
    table = associations(data.table, measures, list(better), better, imputations=drawn or None)
    labels = {one.name: one.label for one in data.scales}
    told = findings(table, better, labels=labels)
    corrected, rests_on = pd.DataFrame(), ""
    if gold is not None:
        if source is None:
            raise BadOptionError("--gold", f"codes by hand need the codes of turns, and {why_not}", "Name one folder")
        people = read_gold(machine := read_machine(source), gold, GoldOptions(pseudonyms=pseudonyms))
        corrected, rests_on = _corrected(machine, people, data, list(better), seed)
    note = _NO_ERROR.format(why=why_not if source is None else "no imputations were asked for")
    return Related(
        table=table,
        corrected=corrected,
        found=told.found,
        absent=told.absent,
        open=told.open,
        by_hand=tuple(_by_hand(corrected, labels, rests_on)),
        imputations=len(drawn),
        notes=() if drawn else (note,),
    )


def _with_turns(results: Sources) -> tuple[Analysis | Path | None, str]:
    """Return the one source that has the codes of turns; None where there is none, and why."""
    if isinstance(results, Analysis):
        return results, ""
    if isinstance(results, pd.DataFrame):
        return None, "a table of sessions has no turns"
    paths = [results] if isinstance(results, str | Path) else list(results)
    folders = [path.parent if path.name == "sessions.csv" else path for path in map(Path, paths)]
    if len(folders) > 1:
        return None, "several folders were given"
    whole = form_of(folders[0]) == "parquet" or (folders[0] / "codebook.csv").is_file()
    return (folders[0], "") if whole else (None, "the folder holds a table of sessions alone")


def _corrected(machine: Machine, people: Gold, data: Joined, scales: list[str], seed: int) -> tuple[pd.DataFrame, str]:
    """Return slopes that hold whatever the tagger does, from sessions or turns that people coded, and if what."""
    measures = [one.name for one in data.measures]
    # The tagger errs less in sessions that it learnt from: both sides go without them, as in compare
    were = data.recorded["session_id"].astype(str).isin(machine.learnt or ())
    told = f" {among(were)}, and left out." if were.any() else ""
    kept = data.recorded[~were].reset_index(drop=True)
    if "inclusion" in people.values:
        turns = drawn_turns(machine, people)
        return drawn_slopes(kept, turns, measures, scales), f"{DRAWN}{told}"
    return corrected_slopes(kept, rates_by_hand(machine, people), measures, scales, seed=seed), f"{ASSUMPTION}{told}"


def _by_hand(corrected: pd.DataFrame, labels: dict[str, str], rests_on: str) -> Iterator[str]:
    """Yield a sentence for each measure that people coded, and on what they rest."""
    if corrected.empty:
        return
    rows = corrected[corrected["direction"] == SCORE_ON_RATE]
    for row in rows.to_dict("records"):
        what = f"{labels[row['scale']]} and {spaced(row['measure'])}"
        end = "" if not row["note"] or row["note"].endswith("?") else "."
        if isnan(row["lo"]):
            yield f"{what}: no slope, {row['note']}{end}"
            continue
        slope, low, high = (f"{row[name]:+.3g}" for name in ("slope", "lo", "hi"))
        yield (
            f"{what}: {slope} points from a rate of 0 to 1 (95% interval {low} to {high}, {p_phrase('p', row['p'])}; "
            f"{row['n_gold']} of {row['n_sessions']} sessions by hand), where the machine's codes alone give "
            f"{row['machine_slope']:+.3g}." + (f" But {row['note']}{end}" if row["note"] else "")
        )
    yield rests_on
