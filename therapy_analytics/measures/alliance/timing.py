"""Who answers how fast, and who begins while the other still speaks, where the transcript has times."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes import Code
from therapy_analytics.core.session import ROLES
from therapy_analytics.measures import Column, columns_of, measure
from therapy_analytics.measures.rates import counted_rate
from therapy_analytics.measures.turns import PAIR
from therapy_analytics.text import AnnotatedSession, Lexicon

LONG_S = 2.0
"""Seconds from which a gap is long; most gaps in conversation are under one."""


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    both = zip(PAIR, PAIR[::-1], strict=True)
    return [one for role, other in both for one in columns_of(__file__, role=role, other=other, LONG_S=LONG_S)]


@measure(columns=_columns)
def timing(session: AnnotatedSession) -> dict[str, float]:
    """Measure the silence before each answers the other, and how often one begins before the other ends.

    High gaps mean slow answers. A turn that begins 0.5 s after the other's end has a gap of 0.5; one that begins 1 s
    before it overlaps.

    Notes
    -----
    Only changes between therapist and client count. Overlaps have no gap; they are in the base of both rates.

    References
    ----------
    Heldner, M., & Edlund, J. (2010). Pauses, gaps and overlaps in conversations. Journal of Phonetics, 38, 555-568.
    """
    gaps = _gaps(session)
    values: dict[str, float] = {}
    for role in PAIR:
        own = gaps[session.spoken_by(role) & ~np.isnan(gaps)]
        silent = own[own >= 0]
        values[f"{role}_response_gap_s"] = float(np.median(silent)) if len(silent) else nan
        for name, k in (("long_gap", own > LONG_S), ("overlap", own < 0)):
            values |= counted_rate(f"{role}_{name}_rate", float(np.count_nonzero(k)), float(len(own)))
    return values


def _gaps(session: AnnotatedSession) -> NDArray[np.float64]:
    """Return the seconds between each turn and the turn of the other before it; nan where there are none."""
    turns = session.session.turns
    starts = np.array([turn.start_s for turn in turns], dtype=np.float64)
    ends = np.array([turn.end_s for turn in turns], dtype=np.float64)
    gaps = np.full(len(turns), np.nan)
    gaps[1:] = np.round(starts[1:] - ends[:-1], 6)
    # Roles 0 and 1 are therapist and client; a change between them adds up to 1
    pair = session.turns.roles[1:].astype(np.int64) + session.turns.roles[:-1]
    both = np.maximum(session.turns.roles[1:], session.turns.roles[:-1]) < ROLES.index("other")
    gaps[1:][~(both & (pair == 1))] = np.nan
    known = gaps[~np.isnan(gaps)]
    return np.full(len(turns), np.nan) if len(known) > 1 and not known.any() else gaps
