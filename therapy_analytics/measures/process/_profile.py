"""Where in the session each behaviour happens, as rows: a code, a third or the whole, counts and rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.codebook import correlation_of
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column
from therapy_analytics.measures._base import INTERVAL
from therapy_analytics.measures._intervals import wilsons
from therapy_analytics.measures._turns import THIRDS, third_of

Rows = Mapping[str, NDArray[np.generic]]

PARTS = ("whole", *THIRDS)
BOOKS = ("bolt_", "mi_")


def row_column(name: str, meaning: str, unit: str = "text", *, low: float = -np.inf, high: float = np.inf) -> Column:
    """Return what a column of rows means."""
    return Column(
        name=name,
        meaning=meaning,
        unit=unit,
        low=low,
        high=high,
        direction="",
        formula="as the meaning says",
        misleads="",
        source="This package's own",
        evidence="",
    )


_RATE = row_column("rate", "Share of the turns with the code: n / n_turns", "proportion", low=0, high=1)
_LOW = replace(
    _RATE,
    name="lo",
    meaning="Lower end of the 95% interval of the rate",
    formula=INTERVAL,
    source="Wilson (1927)",
)
PROFILE_COLUMNS = (
    row_column("session_id", "The session"),
    row_column("code", "The behaviour, as the codes of turns.csv are called"),
    row_column("part", "The whole session, or its first, middle or last third by turns of all speakers"),
    row_column("n_turns", "Turns of the code's role in the part that the coder coded", "count", low=0),
    row_column("n", "Those of them with the code", "count", low=0),
    _RATE,
    _LOW,
    replace(_LOW, name="hi", meaning="Upper end of the 95% interval of the rate"),
    row_column(
        "expected",
        "Mean probability of the code over the turns: the gap to the rate shows the tagger's own error",
        "proportion",
        low=0,
        high=1,
    ),
)


def profiled(session: AnnotatedSession) -> tuple[str, ...]:
    """Return the codes that have rows: those of BOLT and of motivational interviewing, and the user's own."""
    return tuple(code for code in session.decisions if code.startswith(BOOKS) or code in session.rated)


def profile_rows(*sessions: AnnotatedSession) -> Rows:
    """Return the rows of sessions as columns of one length, by the names of `PROFILE_COLUMNS`.

    Parts without turns of the role have rates of nan.
    """
    codes = [profiled(session) for session in sessions]
    n_turns, n, sums = np.hstack([_sums(session, own) for session, own in zip(sessions, codes, strict=True)])
    alike = [
        session.rated.get(code, correlation_of(code))
        for session, own in zip(sessions, codes, strict=True)
        for code in own
    ]
    rate, low, high = wilsons(n, n_turns, np.repeat(alike, len(PARTS)))
    values = {
        "session_id": np.repeat(ids_of(sessions), [len(own) * len(PARTS) for own in codes]),
        "code": np.repeat(np.array([code for own in codes for code in own], dtype=object), len(PARTS)),
        "part": np.tile(np.array(PARTS, dtype=object), sum(map(len, codes))),
        "n_turns": n_turns.astype(np.int64),
        "n": n.astype(np.int64),
        "rate": rate,
        "lo": low,
        "hi": high,
        "expected": np.divide(sums, n_turns, out=np.full(len(n), np.nan), where=n_turns > 0),
    }
    return {column.name: values[column.name] for column in PROFILE_COLUMNS}


def ids_of(sessions: Sequence[AnnotatedSession]) -> NDArray[np.object_]:
    """Return what sessions are called."""
    return np.array([session.session.id for session in sessions], dtype=object)


def _sums(session: AnnotatedSession, codes: tuple[str, ...]) -> NDArray[np.float64]:
    """Return turns of the role, turns with the code and the sum of probabilities: (3, n_codes * n_parts)."""
    third = third_of(session)
    stretch = np.vstack([np.ones(len(session)), *(third == i for i in range(len(THIRDS)))]).T
    likely, hits = _tables(session, codes)
    return np.stack([(of @ stretch).ravel() for of in (~np.isnan(likely), hits, np.nan_to_num(likely))])


def _tables(session: AnnotatedSession, codes: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return probabilities and decisions (n_codes, n_turns)."""
    shape = (len(codes), len(session))
    likely = np.array([session.probabilities[code] for code in codes], dtype=np.float64).reshape(shape)
    hits = np.array([session.decided(code) for code in codes], dtype=np.float64).reshape(shape)
    return likely, hits * ~np.isnan(likely)
