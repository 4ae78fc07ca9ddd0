"""How much of a session is among the turns that the tagger learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import pandas as pd

from therapy_analytics.codes import Code
from therapy_analytics.codes.learnt import HALF, n_among, reference_turns, turn_hashes
from therapy_analytics.core.printable import counted
from therapy_analytics.measures import Column, columns_of, measure
from therapy_analytics.text import AnnotatedSession, Lexicon

_THOSE = {
    "learnt_turns": "those that the tagger learnt from",
    "skilled_reference_turns": "those of the reference profile of skilled people",
    "unskilled_reference_turns": "those of the reference profile of unskilled people",
    "model_reference_turns": "those of the reference profiles of language models",
}
NAMES = tuple(_THOSE)
OF_REFERENCES = NAMES[1:]
UNKNOWN = (
    "It is not known which of these sessions the tagger learnt from (results of an earlier version, or a table in "
    "memory): agreement on such sessions is not evidence."
)


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    found = [one for name, those in _THOSE.items() for one in columns_of(__file__, name=name, those=those)]
    return [replace(one, core=one.name == "learnt_turns") for one in found]


@measure(columns=_columns, core=22)
def learnt_turns(session: AnnotatedSession) -> dict[str, float]:
    """Count the turns of eight words or more whose words are, by their hash, among those that the tagger learnt from.

    High means that the tagger was trained on this session: its codes there agree better with people's than on others.

    Notes
    -----
    Hashes are of words without case, punctuation and apostrophes.

    References
    ----------
    This package's own.
    """
    found = turn_hashes(turn.text for turn in session.session.turns)
    references = (reference_turns("skilled"), reference_turns("unskilled"), reference_turns("model"))
    values: dict[str, float] = {}
    for name, known in zip(NAMES, (session.learnt, *references), strict=True):
        n, out_of = (nan, nan) if known is None else n_among(found, known)
        values |= {name: n / out_of, f"n_{name}": n, f"out_of_{name}": out_of}
    return values


def were_learnt_from(sessions: pd.DataFrame, column: str = "learnt_turns") -> pd.Series | None:
    """Return which sessions (n,) of a table with this measure the tagger learnt from; None where that is not known.

    It is not known of results of earlier versions, which lack the measure, and of an outside coder's.
    """
    if column not in sessions:
        return None
    share = pd.to_numeric(sessions[column], errors="coerce")
    return None if share.isna().all() else share >= HALF


def among(were: pd.Series, what: str = "those that the tagger learnt from", one: str = "session") -> str:
    """Return how many sessions are among some, as a clause.

    Examples
    --------
    >>> among(pd.Series([True, False, True, True]), "the read")
    '3 of 4 sessions are among the read'
    """
    n = int(were.sum())
    return f"{n or 'None'} of {counted(len(were), one)} {'is' if n < 2 else 'are'} among {what}"
