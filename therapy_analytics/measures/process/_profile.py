"""Where in the session each behaviour happens, as rows: the rate of each code in the whole session and its thirds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes import Code
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import Column
from therapy_analytics.measures._codes import shipped_codes
from therapy_analytics.measures.intervals import wilsons
from therapy_analytics.measures.process.behaviour_rates import EXPECTED, measure_of_code, rate_and_expected
from therapy_analytics.measures.rows import Row, as_part
from therapy_analytics.measures.turns import THIRDS, third_of
from therapy_analytics.text import AnnotatedSession

PARTS = ("whole", *THIRDS)


@cache
def _of_books() -> frozenset[str]:
    """Return the codes of the shipped codebooks that do not overlap another one."""
    return frozenset(code.column for code in shipped_codes())


def profiled(session: AnnotatedSession) -> tuple[str, ...]:
    """Return the codes that have rows: those of codebooks that do not overlap another one, and the user's own."""
    return tuple(code for code in session.decisions if code in _of_books() or code in session.rated)


def profile_columns(codes: Iterable[Code], known: Collection[str]) -> list[Column]:
    """Return what the measures of these codes mean that are in rows alone: no column of another measure (`known`)."""
    own = [code for code in codes if code.column in _of_books() and measure_of_code(code.column) not in known]
    return [column for code in own for column in rate_and_expected(code)]


def profile_rows(session: AnnotatedSession) -> list[Row]:
    """Return a row for each code and part of the session, and another of what its probabilities lead one to expect.

    Parts without turns of the role have rates of nan.
    """
    codes, third = profiled(session), third_of(session)
    ends = np.searchsorted(third, np.arange(len(THIRDS) + 1))
    places = [(0, len(session)), *zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    n_turns, n, likely = _sums(session, codes)
    alike = np.array([session.rated.get(code, correlation_of(code)) for code in codes])[:, None]
    rate, low, high = wilsons(n, n_turns, np.broadcast_to(alike, n.shape))
    found: list[Row] = []
    for i, code in enumerate(codes):
        measure = measure_of_code(code)
        for j, (part, (first, end)) in enumerate(zip(PARTS, places, strict=True)):
            numbers = {"value": rate[i, j], "n": n[i, j], "out_of": n_turns[i, j], "lo": low[i, j], "hi": high[i, j]}
            expected = likely[i, j] / n_turns[i, j] if n_turns[i, j] else np.nan
            rows: list[Row] = [
                {"measure": measure, "direction": "", **numbers},
                {"measure": f"{measure}{EXPECTED}", "direction": "", "value": expected},
            ]
            found += [as_part(row, part, first, max(end - 1, first)) for row in rows]
    return found


def _sums(
    session: AnnotatedSession, codes: tuple[str, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return turns of the role, turns with the code, and the sum of probabilities, (n_codes, n_parts) each."""
    third = third_of(session)
    parts = np.vstack([np.ones(len(session)), *(third == i for i in range(len(THIRDS)))]).T
    likely, hits = _tables(session, codes)
    of_role, with_code, sums = ((of @ parts) for of in ((~np.isnan(likely)).astype(float), hits, np.nan_to_num(likely)))
    return of_role, with_code, sums


def _tables(session: AnnotatedSession, codes: tuple[str, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return probabilities and decisions (n_codes, n_turns)."""
    shape = (len(codes), len(session))
    likely = np.array([session.probabilities[code] for code in codes], dtype=np.float64).reshape(shape)
    hits = np.array([session.decided(code) for code in codes], dtype=np.float64).reshape(shape)
    return likely, hits * ~np.isnan(likely)
