"""Further tables of a comparison, where people coded some turns: rates that hold whatever the tagger does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from therapy_analytics.core.clusters import COLUMNS, cluster_column
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.stats.agreement import GoldOptions
from therapy_analytics.stats.compare._groups import ALL, TOGETHER, Grouped
from therapy_analytics.stats.compare._phrases import p_phrase
from therapy_analytics.stats.compare._ppi import ASSUMPTION, DRAWN, powered_differences, powered_rates
from therapy_analytics.stats.compare._ppi import COLUMNS as POWERED
from therapy_analytics.stats.compare._results import Results
from therapy_analytics.stats.machine_codes import Machine, read_machine
from therapy_analytics.stats.people_codes import LISTED, Gold, read_gold

_BY_HAND = "With the turns that people coded"
_MOST_LISTED = 20
"""Further rates stand in the table alone."""


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
    """Yield the tables of rates that rest on the turns that people coded, where they did.

    `sources` are where the turns of the results are; none if a table of sessions was given. Without a column of
    clusters that the user named, that of all sessions together is chosen anew, because counselors who are compared with
    each other are not clusters, and of all sessions together they are.
    """
    gold = by_hand.gold
    if gold is None:
        return
    if len(sources) != 1:
        problem = "can be used with one folder of results or one analysis only"
        raise BadOptionError("--gold", problem, "Name the one that was coded")
    sessions = data.sessions[data.group >= 0]
    of_all = by_hand.cluster or cluster_column(sessions[read.about])
    machine = read_machine(sources[0])
    people = read_gold(machine, gold, by_hand.options)
    yield from _by_hand(sessions, data.by, (data.clustered_by, of_all), machine, people, by_hand.left_out)


def coder_of(read: Results) -> str:
    """Return who coded the turns. A table from memory does not say; `analyze` takes the accurate tagger by default."""
    return read.tagger if read.recipes else "accurate"


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
    if drawn and by != ALL:
        whole = powered_rates(turns.assign(**{ALL: TOGETHER}), coded, by=ALL, cluster=clusters[1])
        words = "\n".join(_rates_in_words(whole, ALL))
        yield FurtherTable("gold_all", f"{_BY_HAND}, all sessions together", whole, words)


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
