"""Drift: what therapist and client do more or less in the last third of the session than in the first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.word_sequence import Ints, Marks
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Evidence, OnPage, Shown, Value
from therapy_analytics.measures._rates import interval_columns
from therapy_analytics.measures._turns import third_of
from therapy_analytics.measures.process._change_of_thirds import (
    FEWEST,
    Changes,
    changes_of_means,
    changes_of_ratios,
    changes_of_shares,
)
from therapy_analytics.measures.process._clauses import Floats
from therapy_analytics.session import Role


@dataclass(frozen=True, slots=True)
class _Course:
    """A column, whose it is, what is done, and the codes of which one is enough."""

    name: str
    role: Role
    doing: str
    codes: tuple[str, ...]
    evidence: Evidence = "untested"


_BEHAVIOURS = (
    _Course("therapist_question", "therapist", "ask", ("mi_question",), "weak"),
    _Course("therapist_reflection", "therapist", "reflect", ("mi_reflection",), "weak"),
    _Course("therapist_input", "therapist", "give information, advice or options", ("mi_input",), "weak"),
    _Course("therapist_advice", "therapist", "solve problems or plan", ("bolt_problem_solving", "bolt_planning")),
    _Course("therapist_normalizing", "therapist", "normalize", ("bolt_normalizing",)),
    _Course("therapist_psychoeducation", "therapist", "teach psychology", ("bolt_psychoeducation",)),
    _Course("client_change", "client", "speak for change", ("mi_change",), "weak"),
    _Course("client_sustain", "client", "speak against change", ("mi_sustain",), "weak"),
    _Course("client_negative_feeling", "client", "tell a negative feeling", ("bolt_negative_feeling",)),
    _Course("client_positive_feeling", "client", "tell a positive feeling", ("bolt_positive_feeling",)),
)
_SOURCE = "This package's own; interval: {}"
_MISLEADS = (
    "Thirds are by turns, not by time. Sessions end otherwise than they begin (greeting, summing up, "
    "planning), so that "
    "drift is no fault as such. The interval speaks of these turns, taken as independent: had the session gone on, "
    "it could have swung back. {}With thirteen changes a session, one of the "
    "intervals "
    "is likely to leave out 0 by chance every other session"
)


def _column(one: _Course) -> Column:
    return Column(
        name=f"{one.name}_drift",
        meaning=f"Share of {one.role} turns that {one.doing}: last third of the session less the first",
        unit="proportion",
        low=-1,
        high=1,
        high_means="more of it at the end than at the beginning (0: the same)",
        formula=f"share of {one.role} turns with {' or '.join(one.codes)} in the last third of turns - that in "
        f"the first; "
        f"undefined under {FEWEST} turns of the {one.role} in either",
        misleads=_MISLEADS.format("Only sampling error is in the interval, not the tagger's own. "),
        source=_SOURCE.format("Newcombe (1998), method 10"),
        evidence=one.evidence,
    )


def _words_column(role: Role) -> Column:
    return replace(
        _column(_BEHAVIOURS[0]),
        name=f"{role}_words_drift",
        meaning=f"Words per turn of the {role}: last third of the session less the first",
        unit="words",
        low=-np.inf,
        high=np.inf,
        formula=f"mean words of the {role}'s turns with words in the last third - that in the first; undefined under "
        f"{FEWEST} such turns in either",
        misleads=_MISLEADS.format("Few long turns weigh much. "),
        source=_SOURCE.format("Welch (1947)"),
        evidence="supported",
    )


_SHARE_COLUMN = replace(
    _words_column("therapist"),
    name="therapist_word_share_drift",
    meaning="Therapist's share of all words: last third of the session less the first",
    unit="proportion",
    low=-1,
    high=1,
    formula=(
        "therapist words / words of both in the last third - that in the first; interval over pairs of neighbouring "
        f"turns; undefined under {FEWEST} pairs in either"
    ),
    source=_SOURCE.format("Cochran (1977), ratio of sums over pairs of turns, Welch's degrees of freedom"),
)
_COLUMNS = (*map(_column, _BEHAVIOURS), _words_column("therapist"), _words_column("client"), _SHARE_COLUMN)


def _with_interval(column: Column) -> list[Column]:
    return [column, *interval_columns(column, column.formula)]


_PAGE: dict[str, Shown] = {
    "therapist_question_drift": OnPage("course", "Asks: last third less first"),
    "therapist_reflection_drift": OnPage("course", "Reflects: last third less first"),
    "therapist_input_drift": OnPage("course", "Advises or informs: last third less first"),
}


@measure(columns=[one for column in _COLUMNS for one in _with_interval(column)], page=_PAGE)
def drift(session: AnnotatedSession) -> dict[str, Value]:
    """Give the change of the main behaviours and of the amount of talk from the first to the last third.

    Above 0 there is more of it at the end than at the beginning.

    Notes
    -----
    The rates of each third stand in ``profile.csv``; here are only the changes.

    References
    ----------
    Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions. Statistics in
    Medicine, 17, 873-890.

    Welch, B. L. (1947). The generalization of Student's problem when several different population variances are
    involved. Biometrika, 34, 28-35.
    """
    third = third_of(session)
    ends = third == 0, third == 2
    given, of = _given(session)
    k, n = (np.stack([(one & end).sum(axis=1).astype(np.float64) for end in ends]) for one in (given & of, of))
    of_shares = np.stack(changes_of_shares(k, n), axis=1)
    changes: dict[str, Changes | Floats] = {f"{one.name}_drift": of_shares[i] for i, one in enumerate(_BEHAVIOURS)}
    for role in ("therapist", "client"):
        spoken = session.spoken_by(role) & (session.n_words > 0)
        changes[f"{role}_words_drift"] = changes_of_means(*(session.n_words[spoken & end] for end in ends))
    changes[_SHARE_COLUMN.name] = changes_of_ratios(*(_pairs(session, end) for end in ends))
    return {f"{name}{end}": float(all_[i]) for name, all_ in changes.items() for i, end in enumerate(_ENDS)}


_ENDS = ("", "_lo", "_hi")


def _given(session: AnnotatedSession) -> tuple[Marks, Marks]:
    """Return which turns have each behaviour, and which could: none without the codes; bool (n_behaviours, n_turns)."""
    given, of = np.zeros((2, len(_BEHAVIOURS), len(session)), dtype=np.bool_)
    spoken = {role: session.spoken_by(role) & (session.n_words > 0) for role in ("therapist", "client")}
    for i, one in enumerate(_BEHAVIOURS):
        if session.has(*one.codes):
            of[i] = spoken[one.role]
            for code in one.codes:
                given[i] |= session.decided(code)
    return given, of


def _pairs(session: AnnotatedSession, third: Marks) -> Ints:
    """Return words of the therapist and of both, for pairs of neighbouring turns of a third, which hang together.

    A third in which but one of the two speaks has none. (n_pairs, 2).
    """
    therapist, client = (session.spoken_by(role) & (session.n_words > 0) & third for role in ("therapist", "client"))
    if not (therapist.any() and client.any()):
        return np.zeros((0, 2), dtype=np.int64)
    turns = np.flatnonzero(therapist | client)
    words = np.column_stack([np.where(therapist, session.n_words, 0)[turns], session.n_words[turns]])
    return np.asarray(np.add.reduceat(words, np.arange(0, len(turns), 2), axis=0))
