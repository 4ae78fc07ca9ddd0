"""A batch of sessions as values, and as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from therapy_analytics import tables
from therapy_analytics.arrays import in_company, read_as_arrays
from therapy_analytics.behaviours import load_coder, meaning, with_codes
from therapy_analytics.language import EXTRAS
from therapy_analytics.language.company import Strangers, choose_strangers
from therapy_analytics.measures import Column, Measure, values_of
from therapy_analytics.measures._base import all_columns
from therapy_analytics.measures._dyads import dyads

if TYPE_CHECKING:
    from therapy_analytics.session import Session
    from therapy_analytics.settings import Settings


def measure_sessions(
    batch: Sequence[Session], settings: Settings, *, strangers: Strangers | None = None
) -> list[tables.Measured]:
    """Take one batch from sessions to values; its own sessions are the strangers by default."""
    return measured(batch, settings, choose_strangers(batch) if strangers is None else strangers)[0]


def measured(
    batch: Sequence[Session], settings: Settings, strangers: Strangers, *, course: bool = False
) -> tuple[list[tables.Measured], Mapping[str, int]]:
    """Return the values of a batch, and what the coder counted; see `AnnotatedSession.course`."""
    arrays = read_as_arrays(batch, settings)
    codes = load_coder(settings.tagger).predict(arrays)
    rated = {code.column: code.turn_correlation for code in settings.rated}
    roles = {code.role for book in settings.codebooks for code in book.codes}
    found = []
    for position, session in enumerate(arrays):
        tagged = with_codes(session, codes, int(arrays.starts[position]), roles)
        tagged = replace(in_company(tagged, settings, strangers), rated=rated, course=course)
        found.append(tables.Measured(tagged, values_of(tagged)))
    return found, codes.counts


class Frames(NamedTuple):
    """The tables of one batch."""

    sessions: pd.DataFrame
    turns: pd.DataFrame
    dyads: pd.DataFrame
    profile: pd.DataFrame
    responses: pd.DataFrame
    feelings: pd.DataFrame
    counts: Mapping[str, int]


def frames(values: Sequence[tables.Measured], counts: Mapping[str, int], settings: Settings) -> Frames:
    """Put the values of one batch into tables."""
    columns = [column for _, column in columns_of(settings)]
    all_codes = [code for book in settings.codebooks for code in book.codes]
    sessions = [one.session for one in values]
    pairs = [(dyad, values_of(dyad.session)) for session in sessions for dyad in dyads(session)]
    return Frames(
        tables.sessions_table(values, columns),
        tables.turns_table(values, columns, all_codes, quotes=settings.quotes, repaired=settings.repair_speakers),
        tables.dyads_table(pairs, columns),
        tables.profile_table(sessions),
        tables.responses_table(sessions),
        tables.feelings_table(sessions),
        counts,
    )


def columns_of(settings: Settings) -> list[tuple[Measure, Column]]:
    """Return the measures of a run, each with its columns."""
    return all_columns(settings.all_lexicons, settings.rated, extras=settings.extras)


def session_measures(settings: Settings) -> list[str]:
    """Return the columns of sessions.csv that measure something, in order."""
    return [column.name for _, column in columns_of(settings) if column.level == "session"]


def refuse_taken_names(settings: Settings) -> None:
    """Refuse codes of the user's books whose columns are there already."""
    others = all_columns(settings.all_lexicons, extras=EXTRAS)
    tables.refuse_taken_names(settings.rated, [column for _, column in others])


def codebook(settings: Settings, sessions: Iterable[str], gold: Iterable[str]) -> pd.DataFrame:
    """Return what each column means, of a sessions table with these columns and turns with these codes of people."""
    return tables.codebook_table(
        columns_of(settings), settings.codebooks, sessions=sessions, gold=gold, meaning=meaning(settings.tagger),
        repaired=settings.repair_speakers,
    )  # fmt: skip


def gold_names(turns: pd.DataFrame) -> list[str]:
    """Return the columns of codes that people gave."""
    return [name for name in map(str, turns) if name.startswith(tables.GOLD)]


def with_gold(turns: pd.DataFrame, gold: Sequence[str]) -> pd.DataFrame:
    """Return turns with these columns of codes that people gave, in place of its own."""
    names = [name for name in map(str, turns) if name not in set(gold_names(turns))]
    at = names.index(tables.UNSURE_COLUMN.name) + 1
    return turns.reindex(columns=[*names[:at], *gold, *names[at:]], fill_value="")
