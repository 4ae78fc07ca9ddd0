"""What stands beside a comparison: rates corrected for the tagger's errors, MITI's and MISC's counts, codes by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from therapy_analytics.agreement import GoldOptions
from therapy_analytics.agreement._gold import gold_of
from therapy_analytics.agreement._machine import machine_of
from therapy_analytics.analysis import Analysis
from therapy_analytics.compare._corrected import TRANSFER, corrected_rates
from therapy_analytics.compare._groups import SESSION, Grouped
from therapy_analytics.compare._ppi import ASSUMPTION, powered_differences, powered_rates
from therapy_analytics.compare._summary_counts import NEVER, summary_counts
from therapy_analytics.errors import BadOptionError

_MOST_SAID, _FEW_GROUPS = 20, 3
"""More rates, or groups, than these are left to the table."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Asked:
    """What is known besides the sessions.

    Attributes
    ----------
    tagger : str
        ``accurate``, ``fast``, ``llm`` or "".
    aim : str
        What its decisions were for, as ``balanced``, or "".
    sources : tuple of Path or Analysis
        Where the turns are; none where a table of sessions was given.
    gold : Path or None
        Codes that people gave (``--gold``).
    """

    tagger: str
    aim: str = ""
    sources: tuple[Path | Analysis, ...] = ()
    gold: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class More:
    """A further table, written as ``<name>.csv``, and what it says in words (Markdown, without a heading)."""

    name: str
    title: str
    table: pd.DataFrame
    words: str


def parts(data: Grouped, asked: Asked) -> Iterator[More]:
    """Yield what can be said beside the comparison of these sessions."""
    sessions, cluster = _sessions(data)
    aim = asked.aim or "balanced"
    try:
        corrected = corrected_rates(sessions, tagger=asked.tagger, aim=aim, by=data.by, cluster=cluster)
        counts = summary_counts(sessions, tagger=asked.tagger, aim=aim, by=data.by, cluster=cluster)
    except BadOptionError:  # no codes among the columns: a table of the user's own
        return
    yield More("corrected", "The tagger's own error", corrected, f"{TRANSFER} The figures: corrected.csv.")
    yield More("summary_counts", "Summary counts of MITI 4.2 and MISC", counts, _counts_in_words(counts, data.by))
    if asked.gold is not None:
        yield from _by_hand(sessions, data.by, cluster, asked)


def _sessions(data: Grouped) -> tuple[pd.DataFrame, str | None]:
    """Return the sessions that are compared, and the column of what is independent, if there is one."""
    return data.sessions[data.group >= 0], None if data.clustered_by == SESSION else data.clustered_by


def _counts_in_words(counts: pd.DataFrame, by: str) -> str:
    said = counts[counts["value"].notna() & counts["summary"].eq("miti_reflections_to_questions")]
    rows = said.to_dict("records") if len(said) <= _FEW_GROUPS else []
    lines = [*(f"- **{row[by]}**: {row['sentence']}" for row in rows), *([""] if rows else [])]
    return "\n".join([*lines, f"summary_counts.csv has the counts of each group. {NEVER}"])


def _by_hand(sessions: pd.DataFrame, by: str, cluster: str | None, asked: Asked) -> Iterator[More]:
    """Yield the rates that codes of people stand behind, and how far groups are apart in them."""
    if len(asked.sources) != 1:
        raise BadOptionError(
            "--gold",
            "can be used with one folder of results or one analysis only",
            "Name the one that was coded",
        )
    machine = machine_of(asked.sources[0])
    people = gold_of(machine, asked.gold, GoldOptions())
    place = people.values["place"].to_numpy(np.int64)
    where = machine.turns[["session_id", "turn"]].iloc[place].reset_index(drop=True)
    gold = pd.concat([where, people.values[["code", "value", "coder"]].reset_index(drop=True)], axis=1)
    names = list(dict.fromkeys(["session_id", by, *([cluster] if cluster else [])]))
    turns = machine.turns.merge(sessions[names].astype({"session_id": str}), on="session_id")
    rates = powered_rates(turns, gold, by=by, cluster=cluster)
    words = [*_rates_in_words(rates, by), "", ASSUMPTION, *people.notes]
    yield More("gold", "With the turns that people coded", rates, "\n".join(words))
    yield More("gold_differences", "Differences of these rates", powered_differences(rates, by), "See the table.")


def _rates_in_words(rates: pd.DataFrame, by: str) -> list[str]:
    known = rates[rates["rate"].notna()]
    lines = [
        f"- {row['code']}, {row[by]}: {row['rate']:.0%} ({row['lo']:.0%} to {row['hi']:.0%}); by hand alone "
        f"{row['gold_rate']:.0%} ({row['gold_lo']:.0%} to {row['gold_hi']:.0%}), machine {row['machine_rate']:.0%}"
        for row in known.head(_MOST_SAID).to_dict("records")
    ]
    return lines or ["Too few sessions were coded by hand: see the notes in gold.csv."]
