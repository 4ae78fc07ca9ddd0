"""Where in the session each behaviour happens, as rows: the rate of each code in the whole session and its thirds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures.base import Column
from therapy_analytics.measures.intervals import wilsons
from therapy_analytics.measures.process.behaviour_rates import EXPECTED, measure_of_code, rate_and_expected
from therapy_analytics.measures.rows import Row, as_part
from therapy_analytics.measures.turns import THIRDS, shipped_codes, third_of
from therapy_analytics.text import AnnotatedSession

PARTS = ("whole", *THIRDS)


def profile_columns(codes: Iterable[Code], known: Collection[str]) -> list[Column]:
    """Return what the measures of these codes mean that are in rows alone: no column of another measure (`known`)."""
    shipped = {code.column for code in shipped_codes()}
    own = [code for code in codes if code.column in shipped and measure_of_code(code.column) not in known]
    return [column for code in own for column in rate_and_expected(code)]


def profile_rows(session: AnnotatedSession) -> list[Row]:
    """Return a row for each code and part of the session, and another of what its probabilities lead one to expect.

    The codes are those of codebooks that do not overlap another one, and the user's own. Parts without turns of the
    role have rates of nan.
    """
    third, shipped = third_of(session), {code.column for code in shipped_codes()}
    parts = np.stack([np.ones(len(session)), *(third == i for i in range(len(THIRDS)))], axis=1)
    ends = np.searchsorted(third, np.arange(len(THIRDS) + 1)).tolist()
    places = [(0, len(session)), *pairwise(ends)]
    found: list[Row] = []
    for code in session.decisions:
        if code not in shipped and code not in session.rated:
            continue
        likely = session.probabilities[code]
        known, measure = ~np.isnan(likely), measure_of_code(code)
        n, out_of, expected = (session.decided(code) & known) @ parts, known @ parts, np.nan_to_num(likely) @ parts
        rate, low, high = wilsons(n, out_of, session.rated.get(code, correlation_of(code)))
        for j, (part, (first, end)) in enumerate(zip(PARTS, places, strict=True)):
            numbers = {"value": rate[j], "n": n[j], "out_of": out_of[j], "lo": low[j], "hi": high[j]}
            value = expected[j] / out_of[j] if out_of[j] else np.nan
            rows: list[Row] = [
                {"measure": measure, "direction": "", **numbers},
                {"measure": f"{measure}{EXPECTED}", "direction": "", "value": value},
            ]
            found += [as_part(row, part, first, max(end - 1, first)) for row in rows]
    return found
