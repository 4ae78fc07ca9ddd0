"""Further tables of a comparison: rates corrected for the tagger's errors, summary counts, rates from codes by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from therapy_analytics.agreement import GoldOptions
from therapy_analytics.agreement._cells import LISTED
from therapy_analytics.agreement._gold import Gold, read_gold
from therapy_analytics.agreement._machine import Machine, read_machine
from therapy_analytics.analysis import Analysis
from therapy_analytics.clusters import COLUMNS, cluster_column
from therapy_analytics.compare._corrected import TRANSFER, corrected_rates
from therapy_analytics.compare._groups import ALL, TOGETHER, Grouped
from therapy_analytics.compare._phrases import p_phrase
from therapy_analytics.compare._ppi import ASSUMPTION, DRAWN, powered_differences, powered_rates
from therapy_analytics.compare._ppi import COLUMNS as POWERED
from therapy_analytics.compare._results import Results
from therapy_analytics.compare._session_rates import session_rates
from therapy_analytics.compare._summary_counts import NEVER, summary_counts
from therapy_analytics.errors import BadOptionError

_BY_HAND = "With the turns that people coded"
_MOST_LISTED, _FEW_GROUPS = 20, 3
"""Further rates, or groups, stand in the table alone."""


@dataclass(frozen=True, slots=True, eq=False)
class FurtherTable:
    """A table that is written as ``<name>.csv``, and what it shows in words (Markdown, without a heading)."""

    name: str
    title: str
    table: pd.DataFrame
    words: str


class ByHand(NamedTuple):
    """What people coded, and how rates that rest on it are told.

    Attributes
    ----------
    gold : Path or None
        The codes; None for none.
    options : GoldOptions
        How they are read.
    cluster : str or None
        The column of clusters that the user named.
    left_out : frozenset of str
        Sessions without part in these rates.
    """

    gold: Path | None
    options: GoldOptions
    cluster: str | None
    left_out: frozenset[str]


def further_tables(
    data: Grouped,
    read: Results,
    sources: tuple[Path | Analysis, ...],
    by_hand: ByHand,
) -> Iterator[FurtherTable]:
    """Yield the tables of rates and counts, if there are codes; where people coded, the rates that rest on that.

    `read` says who coded the sessions, and `sources` where their turns are; none if a table of sessions was given.
    Without a column of clusters that the user named, that of all sessions together is chosen anew, because counselors
    who are compared with each other are not clusters, and of all sessions together they are.
    """
    gold = by_hand.gold
    if gold is not None and len(sources) != 1:
        problem = "can be used with one folder of results or one analysis only"
        raise BadOptionError("--gold", problem, "Name the one that was coded")
    sessions, cluster = data.sessions[data.group >= 0], data.clustered_by
    tagger, aim = "" if read.own_codes else coder_of(read), read.aim or "balanced"
    try:
        corrected = corrected_rates(sessions, by=data.by, cluster=cluster, tagger=tagger, aim=aim)
        counts = summary_counts(sessions, by=data.by, cluster=cluster, tagger=tagger, aim=aim)
    except BadOptionError:  # no codes among the columns: a table of the user's own
        pass
    else:
        yield FurtherTable("corrected", "The tagger's own error", corrected, f"{TRANSFER} The rates: corrected.csv.")
        words = _counts_in_words(counts, data.by)
        yield FurtherTable("summary_counts", "Summary counts of MITI 4.2 and MISC", counts, words)
    if gold is not None:
        of_all = by_hand.cluster or cluster_column(sessions[read.about])
        machine = read_machine(sources[0])
        people = read_gold(machine, gold, by_hand.options)
        yield from _by_hand(sessions, data.by, (cluster, of_all), machine, people, by_hand.left_out)


def coder_of(read: Results) -> str:
    """Return who coded the turns. A table from memory does not say; `analyze` takes the accurate tagger by default."""
    return read.tagger if read.recipes else "accurate"


def _counts_in_words(counts: pd.DataFrame, by: str) -> str:
    ratios = counts[counts["value"].notna() & counts["summary"].eq("miti_reflections_to_questions")]
    rows = ratios.to_dict("records") if len(ratios) <= _FEW_GROUPS else []
    lines = [*(f"- **{row[by]}**: {row['sentence']}" for row in rows), *([""] if rows else [])]
    return "\n".join([*lines, f"summary_counts.csv has the counts of each group. {NEVER}"])


def _by_hand(
    sessions: pd.DataFrame,
    by: str,
    clusters: tuple[str, str],
    machine: Machine,
    people: Gold,
    left_out: frozenset[str],
) -> Iterator[FurtherTable]:
    """Yield the rates that rest on people's codes, and their differences.

    `clusters` are the columns of clusters within groups, and of all sessions together; `left_out` sessions that have no
    part in them.
    """
    where = machine.turns[["session_id", "turn"]].iloc[people.values["place"].astype(int)].reset_index(drop=True)
    coded = pd.concat([where, people.values.drop(columns="place").reset_index(drop=True)], axis=1)
    drawn = "inclusion" in coded
    notes = [one for one in people.notes if not (drawn and one == LISTED)]
    # All columns of clusters, because clients are told apart by counselor
    names = [name for name in dict.fromkeys(("session_id", by, *clusters, *COLUMNS)) if name in sessions]
    turns = machine.turns.merge(sessions[names].astype({"session_id": str}), on="session_id")
    turns, coded = (one[~one["session_id"].isin(left_out)].reset_index(drop=True) for one in (turns, coded))
    if left_out and coded.empty:
        yield FurtherTable("gold", _BY_HAND, pd.DataFrame(columns=[by, *POWERED]), "No coded session is left.")
        return
    rates = powered_rates(turns, coded, by=by, cluster=clusters[0])
    words = "\n".join([*_rates_in_words(rates, by), "", DRAWN if drawn else ASSUMPTION, *notes])
    yield FurtherTable("gold", _BY_HAND, rates, words)
    differences = powered_differences(rates, by)
    yield FurtherTable("gold_differences", "Differences of these rates", differences, _apart_in_words(differences))
    if drawn:
        each = session_rates(turns, coded)
        yield FurtherTable("gold_sessions", "Rates of single sessions", each, _each_in_words(each))
    if drawn and by != ALL:
        whole = powered_rates(turns.assign(**{ALL: TOGETHER}), coded, by=ALL, cluster=clusters[1])
        words = "\n".join(_rates_in_words(whole, ALL))
        yield FurtherTable("gold_all", f"{_BY_HAND}, all sessions together", whole, words)


def _each_in_words(rates: pd.DataFrame) -> str:
    known = rates.dropna(subset="rate")["code"].nunique()
    if not known:
        return f"None: {rates['note'].iloc[0]} (gold_sessions.csv)." if len(rates) else "None."
    of = "each session's rate" if known == rates["code"].nunique() else f"the rates of {known} codes in each session"
    return f"gold_sessions.csv has {of}, from its coded turns and the machine's codes of the others."


def _apart_in_words(differences: pd.DataFrame) -> str:
    known = differences[differences["lo"].notna()]
    lines = [
        f"- {row['code']}, {row['group']} less {row['against']}: {100 * row['difference']:+.0f} points "
        f"({100 * row['lo']:+.0f} to {100 * row['hi']:+.0f}), {p_phrase('p', row['p'])}"
        for row in known.head(_MOST_LISTED).to_dict("records")
    ]
    return "\n".join([*lines, *([""] if lines else []), "gold_differences.csv has each two groups."])


def _rates_in_words(rates: pd.DataFrame, by: str) -> list[str]:
    lines = [
        f"- {row['code']}, {row[by]}: {row['rate']:.0%} ({_interval(row['lo'], row['hi'])}); by hand alone "
        f"{row['gold_rate']:.0%} ({_interval(row['gold_lo'], row['gold_hi'])}), machine {row['machine_rate']:.0%}"
        for row in rates[rates["rate"].notna()].head(_MOST_LISTED).to_dict("records")
    ]
    return lines or ["Too few sessions were coded by hand: see the notes in gold.csv."]


def _interval(low: float, high: float) -> str:
    return f"{low:.0%} to {high:.0%}" if isfinite(low) else "no interval"
