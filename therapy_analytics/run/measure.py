"""Sessions in memory to tables: coded and measured a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from therapy_analytics.codes import TaggerOptions, learnt_by, load_coder, recipe, with_codebooks_read, with_codes
from therapy_analytics.core.verbs import options_of
from therapy_analytics.measures.arrays import read_as_arrays, with_donors
from therapy_analytics.measures.base import all_columns
from therapy_analytics.measures.settings import CORE, Settings, extras_of
from therapy_analytics.readers import as_sessions
from therapy_analytics.results import tables
from therapy_analytics.results.analysis import (
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
from therapy_analytics.text import EXTRAS, Lexicon
from therapy_analytics.text.donors import SurrogatePool, choose_donors

if TYPE_CHECKING:
    from therapy_analytics.core.session import Session

One = TypeVar("One")

TURNS_OF_A_SESSION = 10
"""A session takes as much memory, besides that of its turns, as so many turns."""


def analyze(
    sessions: Any,
    *,
    lexicons: Sequence[Lexicon] = (),
    seed: int = 0,
    quotes: bool = False,
    tagger: TaggerOptions | str | None = None,
    measures: str | Collection[str] = CORE,
) -> Analysis:
    """Code and measure sessions.

    Parameters
    ----------
    sessions : iterable of Session, or dialogues in memory
        As `read` returns them. One session, (speaker, text) pairs, a DataFrame with columns speaker and text, and
        whatever else `synchrony` takes will do as well.
    lexicons : sequence of Lexicon, optional
        More word lists, see `load_lexicon`.
    seed : int, optional
        Random seed of all shuffles.
    quotes : bool, optional
        Whether the turns table gets a column ``text``.
    tagger : TaggerOptions or str, optional
        What codes the turns: ``"accurate"``, the default; ``"fast"``; or `TaggerOptions`, which also hold the aim, your
        own codes, and an outside coder.
    measures : str or collection of str, optional
        What is measured: ``"core"``, the default; ``"all"``, everything except what is asked for by name; and by name
        ``"nclid"``.

    Returns
    -------
    Analysis
        The tables. The rows of a session do not depend on the order of the sessions; only its statistics of surrogate
        pairs depend on which other sessions there are.

    Raises
    ------
    UnknownNameError
        `measures` has an unknown name.
    BadOptionError
        `sessions` has no form that is known (files are for `read`), or `tagger` is none.
    """
    options = TaggerOptions(kind=tagger) if isinstance(tagger, str) else options_of(TaggerOptions, tagger, "tagger")
    coder = with_codebooks_read(options)
    settings = Settings(lexicons=tuple(lexicons), seed=seed, quotes=quotes, tagger=coder, extras=extras_of(measures))
    refuse_taken_names(settings)
    sessions = as_sessions(sessions)
    pool = choose_donors(sessions)
    nothing = MeasuredSessions((), settings)
    batches = list(in_batches(sessions, settings.turns_per_batch)) or [()]
    found, counts = [], []
    for batch in batches:
        measured = measure_batch(batch, settings, pool) if batch else nothing
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
    batch: Sequence[Session], settings: Settings, *, pool: SurrogatePool | None = None
) -> list[tables.Measured]:
    """Code and measure one batch; the donors of surrogate pairs are its own sessions by default."""
    return list(measure_batch(batch, settings, choose_donors(batch) if pool is None else pool).measured)


def measure_batch(batch: Sequence[Session], settings: Settings, pool: SurrogatePool) -> MeasuredSessions:
    """Code and measure the sessions of a batch."""
    arrays = read_as_arrays(batch, settings)
    codes = load_coder(settings.tagger).predict(arrays)
    rated = {code.column: code.turn_correlation for code in settings.rated}
    roles = {code.role for book in settings.codebooks for code in book.codes}
    columns = [column for _, column in columns_of(settings)]
    learnt = learnt_by(settings.tagger)
    found = []
    for position, session in enumerate(arrays):
        tagged = with_codes(session, codes, int(arrays.starts[position]), roles)
        tagged = replace(with_donors(tagged, settings, pool), rated=rated, learnt=learnt)
        found.append(tables.measured(tagged, columns))
    return MeasuredSessions(found, settings, codes.counts)


def in_batches(
    some: Iterable[One], n_turns: int, *, turns_of: Callable[[Any], int] = lambda session: len(session.turns)
) -> Iterator[tuple[One, ...]]:
    """Group sessions, or what stands for them, into batches of about `n_turns` turns, fewer where they are short."""
    batch: list[One] = []
    n = 0
    for one in some:
        batch.append(one)
        n += turns_of(one) + TURNS_OF_A_SESSION
        if n >= n_turns:
            yield tuple(batch)
            batch, n = [], 0
    if batch:
        yield tuple(batch)


def refuse_taken_names(settings: Settings) -> None:
    """Refuse codes of the user's codebooks whose columns have the names of others."""
    others = all_columns(settings.all_lexicons, extras=EXTRAS)
    tables.refuse_taken_names(settings.rated, [column for _, column in others])
