"""What goes with what, the slopes that people's codes put right, and what that says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path

import pandas as pd

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.measures.process.learnt_turns import among
from therapy_analytics.results import form_of
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.stats.agreement import GoldOptions
from therapy_analytics.stats.compare._phrases import p_phrase, spaced
from therapy_analytics.stats.machine_codes import Machine, read_machine
from therapy_analytics.stats.outcomes._associations import associations
from therapy_analytics.stats.outcomes._drawn import DRAWN, SCORE_ON_RATE, drawn_slopes, drawn_turns
from therapy_analytics.stats.outcomes._findings import findings
from therapy_analytics.stats.outcomes._join import Joined
from therapy_analytics.stats.outcomes._levels import WITHIN
from therapy_analytics.stats.people_codes import Gold, read_gold

Sources = Analysis | pd.DataFrame | str | Path | Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Related:
    """What goes with what.

    Attributes
    ----------
    table : DataFrame
        As ``associations.csv``.
    corrected : DataFrame
        As ``corrected.csv``: slopes that hold however the tagger errs, where people coded drawn turns; else no rows.
    found, absent, open : tuple of str
        Sentences: what goes with what, what does not, and what cannot be told.
    by_hand : tuple of str
        Sentences on `corrected`.
    """

    table: pd.DataFrame
    corrected: pd.DataFrame
    found: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()


def related(
    data: Joined,
    results: Sources,
    *,
    gold: str | Path | pd.DataFrame | None = None,
    pseudonyms: Pseudonyms | None = None,
) -> Related:
    """Relate measures to scores.

    Parameters
    ----------
    data : Joined
        Sessions with scores and measures.
    results : Analysis, DataFrame, path, or sequence of paths
        Where they come from: the codes of turns are needed beside those of people.
    gold, pseudonyms :
        As in `therapy_analytics.stats.outcomes.OutcomeOptions`.

    Raises
    ------
    BadOptionError
        Codes of people are given, and the results are a table of sessions, or several folders; or the codes do not say
        with which probability their turns were drawn.
    """
    measures = [one.name for one in data.measures]
    better = {one.name: one.higher_is_better for one in data.scales}
    ordered = data.table.assign(number=data.table["number"].where(~data.table["guessed"]))
    table = associations(ordered, measures, list(better), better)
    labels = {one.name: one.label for one in data.scales}
    told = findings(table, better, labels=labels)
    corrected, rests_on = pd.DataFrame(), ""
    if gold is not None:
        source, why_not = _with_turns(results)
        if source is None:
            raise BadOptionError("--gold", f"codes by hand need the codes of turns, and {why_not}", "Name one folder")
        people = read_gold(machine := read_machine(source), gold, GoldOptions(pseudonyms=pseudonyms))
        if "inclusion" not in people.values:
            problem = "the codes do not say how their turns were drawn: there is no column inclusion"
            remedy = "Draw turns with tanalyze sample, and keep the column; of sessions that were coded whole it is 1"
            raise BadOptionError("--gold", problem, remedy)
        corrected, rests_on = _corrected(machine, people, ordered, measures, list(better))
    return Related(
        table=table,
        corrected=corrected,
        found=told.found,
        absent=told.absent,
        open=told.open,
        by_hand=tuple(_by_hand(corrected, labels, rests_on)),
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


def _corrected(
    machine: Machine, people: Gold, table: pd.DataFrame, measures: list[str], scales: list[str]
) -> tuple[pd.DataFrame, str]:
    """Return slopes that hold whatever the tagger does, from turns that people coded, and if what."""
    # The tagger errs less in sessions that it learnt from: both sides go without them, as in compare
    were = table["session_id"].astype(str).isin(machine.learnt or ())
    told = f" {among(were)}, and left out." if were.any() else ""
    kept = table[~were & (table["session_id"] != "")].reset_index(drop=True)
    return drawn_slopes(kept, drawn_turns(machine, people), measures, scales), f"{DRAWN}{told}"


def _by_hand(corrected: pd.DataFrame, labels: dict[str, str], rests_on: str) -> Iterator[str]:
    """Yield a sentence for each measure that people coded, and on what they rest."""
    if corrected.empty:
        return
    rows = corrected[corrected["direction"] == SCORE_ON_RATE]
    for row in rows.to_dict("records"):
        level = "within clients, with the trend held constant" if row["level"] == WITHIN else "between clients"
        what = f"{labels[row['scale']]} and {spaced(row['measure'])}, {level}"
        end = "" if not row["note"] or row["note"].endswith("?") else "."
        if isnan(row["lo"]):
            yield f"{what}: no slope, {row['note']}{end}"
            continue
        slope, low, high = (f"{row[name]:+.3g}" for name in ("slope", "lo", "hi"))
        yield (
            f"{what}: {slope} points from a rate of 0 to 1 (95% interval {low} to {high}, {p_phrase('p', row['p'])}; "
            f"{row['n_gold']} of {row['n_sessions']} sessions with turns by hand), "
            f"where the machine's codes alone give {row['machine_slope']:+.3g}."
            + (f" But {row['note']}{end}" if row["note"] else "")
        )
    yield rests_on
