"""Drift: what therapist and client do more or less in the last third of the session than in the first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.said import Marks
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Evidence, Value
from therapy_analytics.measures._turns import third_of
from therapy_analytics.measures.process._change_of_thirds import (
    FEWEST,
    UNKNOWN,
    Change,
    change_of_mean,
    change_of_ratio,
    change_of_share,
)
from therapy_analytics.measures.process._word_meanings import Floats
from therapy_analytics.session import Role


@dataclass(frozen=True, slots=True)
class _Behaviour:
    """A column, whose it is, what is done, and the codes of which one is enough."""

    name: str
    role: Role
    doing: str
    codes: tuple[str, ...]
    evidence: Evidence = "untested"


_BEHAVIOURS = (
    _Behaviour("therapist_question", "therapist", "ask", ("mi_question",), "weak"),
    _Behaviour("therapist_reflection", "therapist", "reflect", ("mi_reflection",), "weak"),
    _Behaviour("therapist_input", "therapist", "give information, advice or options", ("mi_input",), "weak"),
    _Behaviour("therapist_advice", "therapist", "solve problems or plan", ("bolt_problem_solving", "bolt_planning")),
    _Behaviour("therapist_normalizing", "therapist", "normalize", ("bolt_normalizing",)),
    _Behaviour("therapist_psychoeducation", "therapist", "teach psychology", ("bolt_psychoeducation",)),
    _Behaviour("client_change", "client", "speak for change", ("mi_change",), "weak"),
    _Behaviour("client_sustain", "client", "speak against change", ("mi_sustain",), "weak"),
    _Behaviour("client_negative_feeling", "client", "tell a negative feeling", ("bolt_negative_feeling",)),
    _Behaviour("client_positive_feeling", "client", "tell a positive feeling", ("bolt_positive_feeling",)),
)
_SOURCE = "This package's own; interval: {}"
_MISLEADS = (
    "Thirds are by turns, not by time. Sessions end otherwise than they begin (greeting, summing up, "
    "planning), so that "
    "drift is no fault as such; turns are taken as independent. {}With thirteen changes a session, one of the "
    "intervals "
    "is likely to leave out 0 by chance every other session"
)


def _column(one: _Behaviour) -> Column:
    return Column(
        name=f"{one.name}_drift",
        meaning=f"Share of {one.role} turns that {one.doing}: last third of the session less the first",
        unit="proportion",
        low=-1,
        high=1,
        direction="more of it at the end than at the beginning (0: the same)",
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
    return [column, *(
        replace(
            column,
            name=f"{column.name}_{end}",
            meaning=f"{word} end of the 95% interval of {column.name}",
            direction="as the change",
        )
        for end, word in (("lo", "Lower"), ("hi", "Upper"))
    )]  # fmt: skip


@measure(columns=[one for column in _COLUMNS for one in _with_interval(column)])
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
    thirds = third_of(session)
    ends = (thirds == 0, thirds == 2)
    changes = {f"{one.name}_drift": _of_behaviour(session, one, ends) for one in _BEHAVIOURS}
    for role in ("therapist", "client"):
        spoken = session.of(role) & (session.n_words > 0)
        first, last = (session.n_words[spoken & end].astype(np.float64) for end in ends)
        changes[f"{role}_words_drift"] = change_of_mean(first, last)
    changes[_SHARE_COLUMN.name] = change_of_ratio(*(_pairs(session, end) for end in ends))
    named = ((f"{name}{end}", value) for name, all_ in changes.items() for end, value in zip(_ENDS, all_, strict=True))
    return dict(named)


_ENDS = ("", "_lo", "_hi")


def _of_behaviour(session: AnnotatedSession, one: _Behaviour, ends: tuple[Marks, Marks]) -> Change:
    if not session.has(*one.codes):
        return UNKNOWN
    given = np.any([session.decided(code) for code in one.codes], axis=0)
    of = session.of(one.role) & (session.n_words > 0)
    return change_of_share(given[of & ends[0]], given[of & ends[1]])


def _pairs(session: AnnotatedSession, end: Marks) -> Floats:
    """Return words of the therapist and of both, for pairs of neighbouring turns, which hang together."""
    therapist, both = session.of("therapist"), session.of("therapist") | session.of("client")
    turns = np.flatnonzero(both & end & (session.n_words > 0))
    if not (therapist[turns].any() and (~therapist[turns]).any()):
        return np.zeros((0, 2))
    starts = np.arange(0, len(turns), 2)
    words = np.column_stack([np.where(therapist, session.n_words, 0)[turns], session.n_words[turns]])
    return np.add.reduceat(words, starts, axis=0).astype(np.float64)
