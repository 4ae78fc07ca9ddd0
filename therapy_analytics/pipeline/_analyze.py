"""Sessions in memory to tables in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from therapy_analytics.analysis import Analysis
from therapy_analytics.behaviours import TaggerOptions, recipe, with_codebooks_read
from therapy_analytics.engine import in_batches
from therapy_analytics.language import Extra, Lexicon
from therapy_analytics.language.company import choose_strangers
from therapy_analytics.pipeline._measured import (
    codebook,
    columns_of,
    frames,
    gold_names,
    measured,
    refuse_taken_names,
    with_gold,
)
from therapy_analytics.settings import Settings

if TYPE_CHECKING:
    from therapy_analytics.session import Session


def analyze(
    sessions: Iterable[Session],
    *,
    lexicons: Sequence[Lexicon] = (),
    seed: int = 0,
    quotes: bool = False,
    tagger: TaggerOptions | None = None,
    extras: Collection[Extra] = (),
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
    extras : collection of str, optional
        Measures besides the usual ones: ``"syntax"``, ``"nclid"``, ``"recurrence"``, ``"coupling"``.

    Returns
    -------
    Analysis
        DataFrames; the same for every order and grouping of the sessions but for their order.
        Columns that end in ``_strangers`` and their z and p rest on the other sessions; all
        other values of a session are its own.
    """
    coder = with_codebooks_read(tagger or TaggerOptions())
    settings = Settings(lexicons=tuple(lexicons), seed=seed, quotes=quotes, tagger=coder, extras=frozenset(extras))
    refuse_taken_names(settings)
    sessions = list(sessions)
    strangers = choose_strangers(sessions)
    batches = in_batches(sessions, settings.turns_per_batch)
    found = (measured(batch, settings, strangers) for batch in batches)
    parts = [frames(*one, settings) for one in found] or [frames((), {}, settings)]
    gold = sorted({name for part in parts for name in gold_names(part.turns)})
    parts = [part._replace(turns=with_gold(part.turns, gold)) for part in parts]
    by_session = _stacked([part.sessions for part in parts], settings)
    turns, dyads, profile, responses, feelings = (
        pd.concat([getattr(part, name) for part in parts], ignore_index=True)
        for name in ("turns", "dyads", "profile", "responses", "feelings")
    )
    book = codebook(settings, map(str, by_session), gold)
    coded_by = recipe(settings.tagger, [part.counts for part in parts])
    return Analysis(by_session, turns, dyads, profile, responses, feelings, book, seed, coded_by)


def _stacked(parts: Sequence[pd.DataFrame], settings: Settings) -> pd.DataFrame:
    """Put session tables under each other; metadata that a part lacks is empty, measures stay last."""
    measures = {column.name for _, column in columns_of(settings)}
    whole = pd.concat(parts, ignore_index=True)
    about = [name for name in whole if name not in measures]
    rest = [name for name in whole if name in measures]
    texts = {name: "" for name in about if name != "role_margin"}
    return whole[[*about, *rest]].fillna(texts)
