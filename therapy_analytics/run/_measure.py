"""Sessions in memory to tables: tagged and measured a batch at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from therapy_analytics import tables
from therapy_analytics.analysis import (
    IN_ANALYSIS,
    TABLES,
    Analysis,
    MeasuredSessions,
    codebook,
    columns_of,
    core_measures,
    gold_names,
    joined_tables,
)
from therapy_analytics.arrays import read_as_arrays, with_donors
from therapy_analytics.behaviours import TaggerOptions, load_coder, recipe, with_codebooks_read, with_codes
from therapy_analytics.language import EXTRAS, Lexicon
from therapy_analytics.language.donors import SurrogatePool, choose_donors
from therapy_analytics.measures._base import all_columns
from therapy_analytics.settings import CORE, Settings, extras_of

if TYPE_CHECKING:
    from therapy_analytics.session import Session

TURNS_OF_A_SESSION = 10
"""What is held of a session, however short it is, takes as much memory as what is held of so many turns."""


def analyze(
    sessions: Iterable[Session],
    *,
    lexicons: Sequence[Lexicon] = (),
    seed: int = 0,
    quotes: bool = False,
    tagger: TaggerOptions | None = None,
    measures: str | Collection[str] = CORE,
) -> Analysis:
    """Tag and measure sessions.

    Parameters
    ----------
    sessions : iterable of Session
        As `read` returns them.
    lexicons : sequence of Lexicon, optional
        More word lists, see `load_lexicon`.
    seed : int, optional
        Of all shuffles.
    quotes : bool, optional
        Whether the turns table gets a column ``text``.
    tagger : TaggerOptions, optional
        Who codes the turns, when it is not the tagger of the package.
    measures : str or collection of str, optional
        What is measured: ``"core"``, which is the default; ``"all"``, everything but what is asked for by name; by
        name ``"syntax"``, ``"nclid"``, ``"recurrence"``, ``"coupling"``.

    Returns
    -------
    Analysis
        DataFrames; the same for every order and grouping of the sessions but for their order.
        The statistics of surrogate pairs rest on the other sessions; all other values of a session are its own.

    Raises
    ------
    UnknownNameError
        `measures` has a name that is not known.
    """
    coder = with_codebooks_read(tagger or TaggerOptions())
    settings = Settings(lexicons=tuple(lexicons), seed=seed, quotes=quotes, tagger=coder, extras=extras_of(measures))
    refuse_taken_names(settings)
    sessions = list(sessions)
    strangers = choose_donors(sessions)
    nothing = MeasuredSessions((), settings)
    batches = list(in_batches(sessions, settings.turns_per_batch)) or [()]
    found, counts = [], []
    for batch in batches:
        measured = measure_batch(batch, settings, strangers) if batch else nothing
        found.append({one.name: one.make(measured) for one in TABLES if one.in_analysis})
        counts.append(measured.counts)
    core = core_measures(settings)
    about = dict.fromkeys(name for one in found for name in map(str, one["sessions"]) if name not in set(core))
    gold = sorted({name for one in found for name in gold_names(one["turns"])})
    whole = joined_tables(found, list(about), gold, core)
    return Analysis(
        **{name: whole[name] for name in IN_ANALYSIS},
        codebook=codebook(settings, about, gold),
        seed=seed,
        tagger=recipe(settings.tagger, counts),
    )


def measure_sessions(
    batch: Sequence[Session], settings: Settings, *, strangers: SurrogatePool | None = None
) -> list[tables.Measured]:
    """Take one batch from sessions to values; its own sessions are the strangers by default."""
    return list(measure_batch(batch, settings, choose_donors(batch) if strangers is None else strangers).measured)


def measure_batch(batch: Sequence[Session], settings: Settings, strangers: SurrogatePool) -> MeasuredSessions:
    """Tag and measure the sessions of a batch."""
    arrays = read_as_arrays(batch, settings)
    codes = load_coder(settings.tagger).predict(arrays)
    rated = {code.column: code.turn_correlation for code in settings.rated}
    roles = {code.role for book in settings.codebooks for code in book.codes}
    columns = [column for _, column in columns_of(settings)]
    found = []
    for position, session in enumerate(arrays):
        tagged = with_codes(session, codes, int(arrays.starts[position]), roles)
        tagged = replace(with_donors(tagged, settings, strangers), rated=rated)
        found.append(tables.measured(tagged, columns))
    return MeasuredSessions(found, settings, codes.counts)


def in_batches(sessions: Iterable[Session], n_turns: int) -> Iterator[tuple[Session, ...]]:
    """Group sessions, in order, so that each group but the last has about so many turns: fewer of short sessions."""
    batch: list[Session] = []
    n = 0
    for session in sessions:
        batch.append(session)
        n += len(session.turns) + TURNS_OF_A_SESSION
        if n >= n_turns:
            yield tuple(batch)
            batch, n = [], 0
    if batch:
        yield tuple(batch)


def refuse_taken_names(settings: Settings) -> None:
    """Refuse codes of the user's books whose columns are there already."""
    others = all_columns(settings.all_lexicons, extras=EXTRAS)
    tables.refuse_taken_names(settings.rated, [column for _, column in others])
