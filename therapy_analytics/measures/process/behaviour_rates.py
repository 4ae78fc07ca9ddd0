"""How often therapist and client do what the codes of the shipped codebooks name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import Column, OnPage, columns_of, mean_column, measure, rate, rate_columns
from therapy_analytics.measures.base import Value, texts_beside
from therapy_analytics.measures.turns import given, main_codes
from therapy_analytics.text import AnnotatedSession, Lexicon

EXPECTED = "_expected"
"""The ending of the measure that is the mean probability of a code, beside that of its rate."""


@cache
def _measures() -> dict[str, str]:
    return {code.column: f"{code.role}_{code.id}_rate" for code in main_codes()}


def measure_of_code(code: str) -> str:
    """Return the measure that is the rate of a code.

    Examples
    --------
    >>> measure_of_code("mi_question"), measure_of_code("process_advice"), measure_of_code("mi_question_open")
    ('therapist_question_rate', 'therapist_advice_rate', 'mi_question_open_rate')
    """
    return _measures().get(code, f"{code}_rate")


def code_of_measure(measure: str) -> str:
    """Return the code whose rate a measure is, as `measure_of_code` names it."""
    codes = {name: code for code, name in _measures().items()}
    return codes.get(measure, measure.removesuffix("_rate"))


def rate_and_expected(code: Code) -> tuple[Column, Column]:
    """Return what the rate of a code is, and the rate that its probabilities imply."""
    own = texts_beside(__file__)["codes"].get(code.column, {})
    words = {
        "name": measure_of_code(code.column),
        "role": code.role,
        "code": code.column,
        "called": code.name,
        "source": code.source,
        "evidence": own.get("evidence", "untested"),
        "compare": own.get("compare", ""),
    }
    heading = "review" if code.group == "risk" else code.role
    page = None
    if not code.parent and heading != "other":
        page = OnPage(code.role, **own["page"]) if "page" in own else OnPage(heading, code.name)  # type: ignore[arg-type]
    (main,), (expected,) = (columns_of(__file__, group, **words) for group in ("rate", "expected"))
    return replace(main, core=own.get("core", False), page=page), expected


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    found = []
    for code in main_codes():
        main, expected = rate_and_expected(code)
        columns = rate_columns(main, counted=f"{code.role.title()} turns with {code.column}")
        if "core_count" in texts_beside(__file__)["codes"].get(code.column, {}):
            columns = [replace(one, core=one.statistic == "n") for one in columns]
        found += [*columns, expected]
    return found


@measure(columns=_columns, core=2)
def behaviour_rates(session: AnnotatedSession) -> dict[str, Value]:
    """Count the turns of a role that have a code, over all turns of the role, for each code of the shipped codebooks.

    High means that the behaviour is frequent. Each rate stands beside its count, its 95%
    interval, and the rate that the tagger's probabilities imply.

    Notes
    -----
    The interval speaks of the pair's way of talking: where the rate would lie had the session gone on. It is widened
    for how alike the turns of a session are (`Code.turn_correlation`). The tagger's error comes on top; where the rate
    and its ``_expected`` lie far apart, trust neither. Turns that an outside coder did not code are left out of the
    rates; codes that it was not asked for leave them undefined. Kinds of other codes, and codes of books that overlap
    another, have rates of their own in the long table where they are given.

    References
    ----------
    Wu, Z., et al. (2022). AnnoMI. ICASSP. Chiu, Y. Y., et al. (2024). A computational framework
    for behavioral assessment of LLM therapists. arXiv:2401.00820.
    """
    values: dict[str, Value] = {}
    for code in main_codes():
        name = measure_of_code(code.column)
        likely, hits = given(session, (code.column,))
        among = session.spoken_by(code.role) & ~np.isnan(likely)
        values |= rate(name, hits, among, correlation=correlation_of(code.column))
        values[f"{name}{EXPECTED}"] = mean_column(likely[among])
    return values
