"""Synchrony alone: of sessions, of dialogues as spaCy Docs, of a ConvoKit corpus; no codes, one tidy table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from therapy_analytics.core.verbs import options_of
from therapy_analytics.measures.arrays import arrays_with_donors
from therapy_analytics.measures.settings import Settings
from therapy_analytics.measures.synchrony.tables import Kind, kinds
from therapy_analytics.readers import Account, ReadOptions, as_sessions
from therapy_analytics.results.tables import synchrony_table
from therapy_analytics.text.donors import choose_donors


def synchrony(
    dialogues: Any,
    /,
    *,
    measures: Sequence[str | Kind] | None = None,
    donors: Any = None,
    settings: Settings | None = None,
    options: ReadOptions | None = None,
) -> pd.DataFrame:
    """Measure how alike the two of each dialogue speak, beside shuffles and surrogate pairs.

    Parameters
    ----------
    dialogues : Session, spaCy Docs, ConvoKit Corpus, ...
        One dialogue or several, in any form that `read` returns or `as_sessions` knows: spaCy
        users give a list of Docs, one a turn; ConvoKit users their Corpus.
    measures : sequence of str or measures, optional
        Names, as ``["rlsm", "coordination"]``, or measures with options of their own, as
        ``[style_matching.lsm(absent="left_out")]``. By default all but
        those of ``settings.extras``.
    donors : dialogues, optional
        Dialogues whose turns make surrogate pairs, in the same forms; by default the
        dialogues themselves. With fewer than five others of like length there are none.
    settings : Settings, optional
        Seed, word lists, extras (``nclid``).
    options : ReadOptions, optional
        Who is the therapist, where the labels do not say it.

    Returns
    -------
    DataFrame
        A row for each dialogue, measure, direction (whose replies) and part (whole, thirds,
        windows): the value, the pairs of turns behind it, and where it lies beside shuffled turns and surrogate
        pairs. The columns are those of ``analysis.parts``.

    Raises
    ------
    UnknownNameError
        A name that no measure has.
    BadOptionError
        `dialogues` has no form that is known; files are for `read`.

    Examples
    --------
    >>> import therapy_analytics as ta
    >>> talk = [("therapist", "How are you?"), ("client", "I am tired of it."), ("therapist", "You are tired.")]
    >>> found = ta.synchrony(talk, measures=["lsm_turn_mean"])
    >>> found.query("part == 'whole' and measure == 'lsm_turn_mean'")[["direction", "out_of"]].to_numpy().tolist()
    [['both', 2.0], ['therapist', 1.0], ['client', 1.0], ['difference', 1.0]]
    """
    settings = options_of(Settings, settings, "settings")
    account = Account(options_of(ReadOptions, options))
    sessions = as_sessions(dialogues, options=options, account=account)
    others = sessions if donors is None else as_sessions(donors, options=options, account=account)
    account.refuse()
    account.warn()
    asked = kinds(measures, extras={"all", *settings.extras})
    settings = replace(settings, extras=settings.extras | {one.extra for one in asked if one.extra})
    arrays = arrays_with_donors(sessions, settings, choose_donors(others))
    return synchrony_table(arrays, asked)
