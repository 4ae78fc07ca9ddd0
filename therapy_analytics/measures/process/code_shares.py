"""How much of a behaviour is of one kind: of advice what was asked for, of questions what is open or Socratic."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import Column, columns_of, measure, rate
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.turns import columns_with, given, lengths_of_runs, spoken
from therapy_analytics.text import AnnotatedSession, Lexicon

Codes = tuple[str, ...]


def socratic() -> Codes:
    """Return the codes of Socratic questions."""
    return columns_with("process", lane="socratic question")


def shares() -> dict[str, tuple[Codes, Codes]]:
    """Return for each share the codes of the kind, and those of the behaviour that it is a kind of."""
    named, asked = columns_with("process", group="reflection"), ("mi_question", *socratic())
    advice = ("process_advice",)
    return {
        "open_question_rate": (("mi_question_open",), ("mi_question",)),
        "socratic_question_rate": (socratic(), asked),
        "leading_question_rate": (("process_leading_question",), (*asked, "process_leading_question")),
        "invited_advice_rate": (("process_advice_invited",), advice),
        "repeated_advice_rate": (("process_advice_again",), advice),
        "unexpressed_feeling_rate": (("process_feeling_unexpressed",), named),
        "intensified_feeling_rate": (("process_feeling_intensified",), named),
    }


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    named = columns_with("process", group="reflection")
    return columns_of(__file__, socratic=" or ".join(socratic()), named=" or ".join(named))


@measure(columns=_columns, core=3)
def code_shares(session: AnnotatedSession) -> dict[str, Value]:
    """Give the shares of some behaviours that are of one kind, and say how far Socratic questions come in chains.

    A high share means that much of the behaviour is of that kind, however rare or frequent the behaviour itself is.

    Notes
    -----
    A share is undefined where the behaviour does not occur, and where the run's coder does not give its kind.

    References
    ----------
    Paul, R., & Elder, L. (2007). The art of Socratic questioning. Foundation for Critical Thinking. Overholser, J. C.
    (1993). Elements of the Socratic method: I. Systematic questioning. Psychotherapy, 30, 67-74.
    """
    values: dict[str, Value] = {}
    for name, (kinds, wholes) in shares().items():
        known, of_kind = given(session, kinds)
        _, whole = given(session, wholes)
        if name == "open_question_rate":  # open and closed exclude each other: a question is what is likelier
            closed, _ = given(session, ("mi_question_closed",))
            known, of_kind = known + closed, known > closed
        values |= rate(name, of_kind, whole & ~np.isnan(known), correlation=correlation_of(*kinds))
    known, asks = given(session, socratic())
    turns = spoken(session, "therapist") & ~np.isnan(known)
    runs = lengths_of_runs(asks[turns])
    chained = np.zeros(len(session), dtype=np.bool_)
    chained[np.flatnonzero(turns & asks)[np.repeat(runs > 1, runs)]] = True
    longest = float(runs.max(initial=0)) if turns.any() else nan
    return values | rate("socratic_chain_rate", chained, turns & asks) | {"socratic_chain_longest": longest}
