"""Who answers how fast, and who begins while the other still speaks, where the transcript has times."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core.session import ROLES, Role
from therapy_analytics.measures import Column, measure, rate_columns
from therapy_analytics.measures.rates import counted_rate
from therapy_analytics.text import AnnotatedSession

LONG_S = 2.0
"""Seconds from which a gap is long; most gaps in conversation are under one."""
_ROLES: tuple[Role, Role] = ("therapist", "client")
_TIMES = (
    "Needs begin and end of each turn, to a tenth of a second or so; undefined without, and where every turn begins "
    "exactly when the one before ends, because such times were filled in. Captions and automatic transcripts are "
    "often off by a second, and cut pauses or overlaps away. "
)
_SOURCE = "This package's own; construct: Heldner & Edlund (2010), Pauses, gaps and overlaps in conversations"


def _columns(role: Role) -> list[Column]:
    other = _ROLES[1 - _ROLES.index(role)]
    latency = Column(
        name=f"{role}_response_gap_s",
        meaning=f"Median silence before the {role} answers the {other}",
        unit="seconds",
        low=0,
        high=inf,
        high_means="answers later",
        formula=f"median of begin of a {role} turn - end of the {other} turn just before, where that is not below 0",
        misleads=_TIMES + "Waiting can be care, thought or trouble. Not a quality score",
        source=_SOURCE,
    )
    long = Column(
        name=f"{role}_long_gap_rate",
        meaning=f"Share of the {role}'s answers that come after more than {LONG_S:g} seconds",
        unit="proportion",
        low=0,
        high=1,
        high_means="more long silences before answers",
        formula=f"answers of the {role} with a gap > {LONG_S:g} s / answers with times",
        misleads=_TIMES + "Waiting can be care, thought or trouble",
        source=_SOURCE,
    )
    overlap = Column(
        name=f"{role}_overlap_rate",
        meaning=f"Share of the {role}'s answers that begin while the {other} still speaks",
        unit="proportion",
        low=0,
        high=1,
        high_means="begins before the other ends more often",
        formula=f"answers of the {role} that begin before the {other} turn just before ends / answers with times",
        misleads=_TIMES + "Overlap is mostly listening aloud and quick accord, seldom interruption",
        source=_SOURCE,
    )
    answers = f"Answers of the {role}"
    return [
        latency,
        *rate_columns(long, counted=f"{answers} after more than {LONG_S:g} seconds"),
        *rate_columns(overlap, counted=f"{answers} that begin before the other ends"),
    ]


@measure(columns=[column for role in _ROLES for column in _columns(role)])
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
    for role in _ROLES:
        own = gaps[session.spoken_by(role) & ~np.isnan(gaps)]
        silent = own[own >= 0]
        values[f"{role}_response_gap_s"] = float(np.median(silent)) if len(silent) else float("nan")
        for name, k in (("long_gap", own > LONG_S), ("overlap", own < 0)):
            values.update(counted_rate(f"{role}_{name}_rate", float(np.count_nonzero(k)), float(len(own))))
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
