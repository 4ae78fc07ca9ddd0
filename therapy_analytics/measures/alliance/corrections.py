"""What the therapist does after the client has put something right: repairs it, or persists."""

from __future__ import annotations

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import OnPage, Shown, Value
from therapy_analytics.measures._rates import mark_column, marks
from therapy_analytics.measures.alliance._answers import (
    WITHIN,
    any_in,
    any_of,
    coded,
    next_turns,
    placed,
    says_something,
)

CORRECTS = "process_corrects"
_ANSWERS = {
    "repaired": ("process_repair", "takes responsibility for it", "more is put right"),
    "persists": (
        "process_persists",
        "goes on with the reading, topic or plan that was corrected, or asks again for what was told",
        "the therapist holds on to what was corrected",
    ),
}


def _name(answer: str) -> str:
    return f"correction_{answer}_rate"


def _column(answer: str) -> Column:
    code, meaning, high_means = _ANSWERS[answer]
    return Column(
        name=_name(answer),
        meaning=f"Share of the client's corrections after which the therapist {meaning}, within {WITHIN} turns",
        unit="proportion",
        low=0,
        high=1,
        high_means=high_means,
        formula=f"client turns with {CORRECTS} after which one of the next {WITHIN} therapist turns has {code} / such "
        "turns with a coded therapist turn after them; turns that only say mm-hmm are passed over",
        misleads="A prediction from words. A slip that is put right in passing ('your aunt, yes') can be neither, and "
        "one answer can be both. Corrections are few in most sessions: the interval is wide",
        source="This package's own, from codes of the codebook process",
    )


_PASSED_OVER = "other turns, and corrections that the therapist does not speak after"
_PAGE: dict[str, Shown] = {
    "correction_repaired_rate": OnPage("review", "Corrections put right"),
    "correction_persists_rate": OnPage("review", "Corrections not heeded"),
}


@measure(
    columns=[
        *(one for answer in _ANSWERS for one in rate_columns(_column(answer), counted=f"Corrections: {answer}")),
        mark_column(
            _column("persists"),
            "correction_persists_turn",
            "Whether the therapist persists after the client's correction",
            empty=_PASSED_OVER,
        ),
    ],
    core=13,
    page=_PAGE,
)
def corrections(session: AnnotatedSession) -> dict[str, Value]:
    """Count the client's corrections that the therapist repairs, and those after which the therapist persists.

    High rates mean that more is put right, or that the therapist holds on. Of "No, it was my aunt", answered by "Your
    aunt, I got that wrong", and "I never said that", answered by the same claim again, one of two is repaired and one
    of two persists.

    Notes
    -----
    Undefined where the coder gives no such codes, as the fast tagger, and where the client corrects nothing.

    References
    ----------
    This package's own. How often a client corrects is a rate of the code.
    """
    values: dict[str, Value] = {}
    hits = any_of(session, CORRECTS) & coded(session, CORRECTS)
    for answer, (code, _, _) in _ANSWERS.items():
        turns = next_turns(hits, coded(session, code) & says_something(session))
        answered = placed(hits, turns[:, 0] >= 0)
        found = placed(hits, any_in(turns, any_of(session, code)))
        values |= rate(_name(answer), found, answered)
        if answer == "persists":
            values["correction_persists_turn"] = marks(answered, found)
    return values
