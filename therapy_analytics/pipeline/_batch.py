"""The tables of one batch, and what the files of each of its sessions hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from therapy_analytics import tables
from therapy_analytics.behaviours.explain import explain
from therapy_analytics.cells import csv_of_parts
from therapy_analytics.language.company import Strangers
from therapy_analytics.measures.process._responses import response_counts
from therapy_analytics.measures.synchrony.tables import kinds
from therapy_analytics.pipeline._measured import Frames, frames, gold_names, measured, session_measures, with_gold
from therapy_analytics.results import Done, Key
from therapy_analytics.settings import Settings
from therapy_analytics.speakers import repaired
from therapy_analytics.tables import DIGITS

if TYPE_CHECKING:
    from therapy_analytics.session import Session


@dataclass(frozen=True, slots=True)
class BatchTables:
    """All that is written of a batch.

    Attributes
    ----------
    sessions : tuple of Session
        With what was noted about their language.
    found : Frames
        Its tables, as an analysis has them.
    synchrony : DataFrame
        As ``synchrony.csv``.
    evidence : DataFrame or None
        As ``evidence.csv``, where that is asked for.
    answers : list of tuple of int
        Of each session, what the therapist answers to what: `response_counts` in one row.
    measures : list of str
        The columns of the sessions that measure something.
    """

    sessions: tuple[Session, ...]
    found: Frames
    synchrony: pd.DataFrame
    evidence: pd.DataFrame | None
    answers: list[tuple[int, ...]]
    measures: list[str]

    @property
    def of_sessions(self) -> dict[str, pd.DataFrame]:
        """Return the tables that each session has its own of, by the names of their files."""
        found = self.found
        every = {
            "turns": found.turns, "synchrony": self.synchrony, "profile": found.profile, "responses": found.responses,
            "feelings": found.feelings, "evidence": self.evidence,
        }  # fmt: skip
        return {name: table for name, table in every.items() if table is not None}


def tables_of(batch: Sequence[Session], settings: Settings, strangers: Strangers, *, explained: bool) -> BatchTables:
    """Measure a batch; where the settings say so, with the speakers that the words of each session propose."""
    if settings.repair_speakers:
        batch = [repaired(session) for session in batch]
    values, counts = measured(batch, settings, strangers, course=True)
    arrays = [one.session for one in values]
    return BatchTables(
        tuple(one.session for one in arrays),
        frames(values, counts, settings),
        tables.synchrony_table(arrays, kinds(extras=settings.extras)),
        explain(batch, quotes=settings.quotes, tagger=settings.tagger) if explained else None,
        [tuple(response_counts(one).astype(np.int64).ravel().tolist()) for one in arrays],
        session_measures(settings),
    )


def session_files(batch: BatchTables, keys: Mapping[str, Key]) -> Iterator[tuple[str, dict[str, str], Done]]:
    """Yield of each session its id, the texts of its tables, and what is kept of it."""
    ids = [session.id for session in batch.sessions]
    texts = {name: _texts(table, ids) for name, table in batch.of_sessions.items() if name != "turns"}
    texts["turns"] = _texts_of_turns(batch)
    dyads = batch.found.dyads
    pairs = csv_of_parts(dyads, range(len(dyads) + 1), digits=DIGITS)[1]  # one by one: a label may hold a line's end
    owners = dyads["session_id"].tolist()
    cells = csv_of_parts(batch.found.sessions[batch.measures], range(len(ids) + 1), digits=DIGITS)[1]
    measures = set(batch.measures)
    for at, session in enumerate(batch.sessions):
        done = Done(
            key=keys[session.id],
            about={name: text for name, text in tables.about(session).items() if name not in measures},
            measures=cells[at].removesuffix("\n"),
            dyads=tuple(pair for pair, owner in zip(pairs, owners, strict=True) if owner == session.id),
            counted=dict(batch.found.counts) if at == 0 else {},
            responses=batch.answers[at],
        )
        yield session.id, {name: one[at] for name, one in texts.items()}, done


def _texts(table: pd.DataFrame, ids: Sequence[str]) -> list[str]:
    """Return the text of each session's table, from one whose sessions stand in the order of their ids."""
    head, rows = csv_of_parts(table, _starts(table, ids), digits=DIGITS)
    return [head + one for one in rows]


def _starts(table: pd.DataFrame, ids: Sequence[str]) -> list[int]:
    rows = {name: sum(1 for _ in group) for name, group in groupby(table["session_id"].tolist())}
    return [0, *np.cumsum([rows.get(name, 0) for name in ids]).tolist()]


def _texts_of_turns(batch: BatchTables) -> list[str]:
    """Return the text of each session's turns: codes that people gave in others are no columns of it."""
    turns, gold = batch.found.turns, gold_names(batch.found.turns)
    bounds = list(pairwise(_starts(turns, [session.id for session in batch.sessions])))
    given = turns[gold].to_numpy() != ""
    lacking = [tuple(np.array(gold)[~given[begin:end].any(axis=0)]) for begin, end in bounds]
    texts = [""] * len(bounds)
    for names in dict.fromkeys(lacking):  # sessions of one corpus mostly have the same codes
        alike = [at for at, one in enumerate(lacking) if one == names]
        rows = np.concatenate([np.arange(*bounds[at]) for at in alike])
        starts = np.cumsum([0, *(bounds[at][1] - bounds[at][0] for at in alike)]).tolist()
        head, parts = csv_of_parts(turns.iloc[rows].drop(columns=list(names)), starts, digits=DIGITS)
        for at, part in zip(alike, parts, strict=True):
            texts[at] = head + part
    return texts


def part_tables(batches: Sequence[BatchTables], about: Sequence[str], gold: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the tables of batches together, with the columns that those of all sessions of the run have."""
    measures = batches[0].measures
    every: dict[str, list[pd.DataFrame]] = {
        "sessions": [batch.found.sessions.reindex(columns=[*about, *measures]) for batch in batches],
        "dyads": [batch.found.dyads for batch in batches],
    }
    for batch in batches:
        for name, table in batch.of_sessions.items():
            every.setdefault(name, []).append(with_gold(table, gold) if name == "turns" else table)
    whole = {name: pd.concat(some, ignore_index=True) for name, some in every.items()}
    return {name: _filled(table, [*about, *gold]) for name, table in whole.items()}


def _filled(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return a table whose texts are nowhere missing."""
    own = [name for name in names if name in table and name != "role_margin"]
    texts = table[own].astype(object)
    return table.assign(**texts.where(texts.notna(), ""))
