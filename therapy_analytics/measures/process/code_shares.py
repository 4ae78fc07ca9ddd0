"""How much of a behaviour is of one kind: of advice what was asked for, of questions what is open or Socratic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, nan

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._codes import (
    NOT_GIVEN,
    PREDICTED,
    SOURCE,
    Bools,
    columns_with,
    given,
    lengths_of_runs,
    spoken,
)
from therapy_analytics.measures.base import Evidence, OnPage, Value
from therapy_analytics.text import AnnotatedSession, Lexicon

_FEW = "Over few turns of the kind the interval is wide"


@dataclass(frozen=True, slots=True)
class KindShare:
    """A share: its name, what it is of what, the codes of either, what the page calls it, what a check showed.

    Where two kinds exclude each other, a turn counts if it is likelier of the one than of the other (`less`).
    `strip` is its place among the numbers on top of a session.
    """

    name: str
    kind: str
    whole: str
    kinds: tuple[str, ...]
    wholes: tuple[str, ...]
    label: str
    source: str = SOURCE
    evidence: Evidence = "untested"
    core: bool = False
    less: str = ""
    strip: int = 0

    @property
    def column(self) -> Column:
        """The column of the share."""
        kinds, wholes = " or ".join(self.kinds), " or ".join(self.wholes)
        those = f"likelier {kinds} than {self.less}" if self.less else f"with {kinds}"
        return Column(
            name=self.name,
            meaning=f"Share of {self.whole} that {self.kind}",
            unit="proportion",
            low=0,
            high=1,
            high_means=f"more of {self.whole} that {self.kind}",
            formula=f"turns {those} / turns with {wholes}",
            misleads=f"{PREDICTED}; {NOT_GIVEN}. {_FEW}",
            source=self.source,
            evidence=self.evidence,
            core=self.core,
            compare="shown" if self.core else "",
            page=OnPage("therapist", self.label, first=self.core, strip=self.strip),
        )


def shares() -> list[KindShare]:
    """Return the shares; their codes are those of the codebooks' groups and lanes."""
    socratic, named = columns_with("process", lane="socratic question"), columns_with("process", group="reflection")
    advice = ("process_advice",)
    mi = "Codes: AnnoMI (Wu et al. 2022)"
    paul = "Construct: Paul & Elder (2007); Overholser (1993); codes: codebook process"
    asked = ("mi_question", *socratic)
    return [
        KindShare(
            "open_question_rate", "ask an open one", "turns with a question", ("mi_question_open",), ("mi_question",),
            "Open questions (share of questions)", mi, "weak", core=True, less="mi_question_closed",
            strip=3,
        ),
        KindShare(
            "socratic_question_rate", "ask a Socratic one", "turns with a question", socratic, asked,
            "Socratic questions (share of questions)", paul,
        ),
        KindShare(
            "leading_question_rate", "ask a leading one", "turns with a question", ("process_leading_question",),
            (*asked, "process_leading_question"), "Leading questions (share of questions)",
        ),
        KindShare(
            "invited_advice_rate", "the client asked for or agreed to hear", "turns with advice",
            ("process_advice_invited",), advice, "Invited advice (share of advice)",
        ),
        KindShare(
            "repeated_advice_rate", "repeat what was advised before", "turns with advice", ("process_advice_again",),
            advice, "Repeated advice (share of advice)",
        ),
        KindShare(
            "unexpressed_feeling_rate", "name one that the client did not express",
            "turns that name a feeling of the client", ("process_feeling_unexpressed",), named,
            "Feelings named that were not expressed (share of those named)",
        ),
        KindShare(
            "intensified_feeling_rate", "name it more strongly than the client did",
            "turns that name a feeling of the client", ("process_feeling_intensified",), named,
            "Feelings named too strongly (share of those named)",
        ),
    ]  # fmt: skip


_CHAIN = Column(
    name="socratic_chain_rate",
    meaning="Share of Socratic questions that stand in a chain: the therapist's turn before or after asks one, too",
    unit="proportion",
    low=0,
    high=1,
    high_means="Socratic questions follow each other, so that a thought is examined step by step",
    formula="therapist turns with a Socratic question in runs of two or more such turns in a row (turns of others "
    "between them do not count) / therapist turns with a Socratic question",
    misleads=f"{PREDICTED}; {NOT_GIVEN}. Where such questions are frequent, some stand in a row by chance",
    source="Construct: Paul & Elder (2007); the rule is this package's own",
    page=OnPage("therapist", "Socratic questions in chains (share)"),
)
_LONGEST = replace(
    _CHAIN,
    name="socratic_chain_longest",
    meaning="Most therapist turns in a row that each ask a Socratic question",
    unit="turns",
    high=inf,
    high_means="a longer chain",
    formula="length of the longest run of therapist turns with a Socratic question; 0 without any",
    page=None,
)


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    own = [
        column
        for one in shares()
        for column in rate_columns(one.column, counted=f"{one.whole.capitalize()} that {one.kind}")
    ]
    return [*own, *rate_columns(_CHAIN, counted="Socratic questions in chains"), _LONGEST]


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
    for one in shares():
        known, of_kind = given(session, one.kinds)
        _, whole = given(session, one.wholes)
        if one.less:
            other, _ = given(session, (one.less,))
            known, of_kind = known + other, known > other
        among = whole & ~np.isnan(known)
        values |= rate(one.name, of_kind, among, correlation=correlation_of(*one.kinds))
    return values | _chains(session)


def _chains(session: AnnotatedSession) -> dict[str, Value]:
    known, asks = given(session, columns_with("process", lane="socratic question"))
    turns = spoken(session, "therapist") & ~np.isnan(known)
    chained: Bools = np.zeros(len(session), dtype=np.bool_)
    runs = lengths_of_runs(asks[turns])
    own = np.flatnonzero(turns & asks)
    chained[own[np.repeat(runs > 1, runs)]] = True
    return {
        **rate(_CHAIN.name, chained, turns & asks),
        _LONGEST.name: float(runs.max(initial=0)) if turns.any() else nan,
    }
