"""Ruptures of the working relationship: how often, and whether they are taken up, end, or are passed by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._codes import coded, given
from therapy_analytics.measures.base import Mark, OnPage, Shown, Value
from therapy_analytics.measures.rates import mark_column, marks
from therapy_analytics.measures.turns import WITHIN, Bools, any_in, next_turns
from therapy_analytics.text import AnnotatedSession, Lexicon

MOVES_AWAY, MOVES_AGAINST = "process_rupture_withdrawal", "process_rupture_confrontation"
RUPTURE = (MOVES_AWAY, MOVES_AGAINST)
_MINIMAL = "conversation.minimal_responses"
TAKES_UP = ("process_repair", "process_immediacy", "process_feeling_expressed")
"""Codes of the therapist's turns that take a rupture up."""
_SOURCE = (
    "Construct: Safran & Muran (2000), Negotiating the therapeutic alliance; Eubanks, Muran & Safran (2015), rupture "
    "resolution rating system (3RS); codes of the codebook process, and no rating by that system"
)
_PROXY = "A prediction from words, to be read in the session, not a rating: tone, silence and politeness are not seen. "
_MEANT = "moves away from or against the therapist or the work"
_RUPTURES = Column(
    name="client_rupture_rate",
    meaning=f"Share of client turns in which the client {_MEANT} (withdrawal or confrontation)",
    unit="proportion",
    low=0,
    high=1,
    high_means="more turns with a rupture",
    formula=f"client turns with {' or '.join(RUPTURE)} / client turns with words that were coded with both",
    misleads=f"{_PROXY}Few or none is usual; a long session has more of them without being worse",
    source=_SOURCE,
)


def _outcome(name: str, meaning: str, high_means: str, formula: str, misleads: str) -> Column:
    return Column(
        name=name,
        meaning=meaning,
        unit="proportion",
        low=0,
        high=1,
        high_means=high_means,
        formula=formula,
        misleads=f"{_PROXY}{misleads}. Over few ruptures the interval is wide",
        source=_SOURCE,
    )


def _taken_up() -> Column:
    codes = ", ".join(TAKES_UP)
    return _outcome(
        "rupture_taken_up_rate",
        f"Share of the client's ruptures that the therapist takes up within {WITHIN} turns: takes responsibility or "
        "asks about the discontent, speaks of what happens between the two, or names a feeling",
        "more ruptures are spoken of",
        f"rupture turns after which one of the next {WITHIN} therapist turns has one of: {codes} / rupture turns with "
        "a coded therapist turn after them; turns that only say mm-hmm are passed over",
        "A feeling that is named need not be about the rupture, and therapists who name many do so after any turn",
    )


_ENDED = _outcome(
    "rupture_ended_rate",
    f"Share of the client's ruptures after which the next {WITHIN} client turns hold no further rupture",
    "ruptures are short",
    f"rupture turns with no rupture in the next {WITHIN} client turns / rupture turns with {WITHIN} client turns after "
    "them; turns that only say mm-hmm are passed over, unless they are ruptures themselves",
    "A client who has given up shows no further rupture either; ruptures at the end of a session are left out",
)
_PASSED_BY = _outcome(
    "rupture_passed_by_rate",
    "Share of the client's ruptures that go on without the therapist taking them up",
    "more ruptures go on unspoken of",
    "rupture turns that are neither taken up (rupture_taken_up_rate) nor ended (rupture_ended_rate) / rupture turns "
    f"with a coded therapist turn and {WITHIN} client turns after them",
    "Ruptures at the end of a session are left out",
)


def _rate_columns() -> list[Column]:
    found = rate_columns(_RUPTURES, counted=f"Client turns in which the client {_MEANT}")
    found += rate_columns(_taken_up(), counted="Ruptures that the therapist takes up")
    found += rate_columns(_ENDED, counted="Ruptures without another soon after")
    found += rate_columns(_PASSED_BY, counted="Ruptures that go on and are not taken up")
    return found


def _mark_of(code: str, name: str, does: str) -> Column:
    column = mark_column(_RUPTURES, name, f"Whether the client {does} the therapist or the work in the turn")
    return replace(column, formula=f"1 where the turn has {code}, else 0; empty for turns that were not coded with it")


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    return [
        *_rate_columns(),
        _mark_of(MOVES_AWAY, "rupture_withdrawal_turn", "moves away from"),
        _mark_of(MOVES_AGAINST, "rupture_confrontation_turn", "moves against"),
        mark_column(
            _taken_up(), "rupture_taken_up_turn", "Whether the client's rupture is taken up", empty=_NO_RUPTURE
        ),
        mark_column(_PASSED_BY, "rupture_passed_by_turn", "Whether the client's rupture goes on", empty=_NO_RUPTURE),
    ]


_NO_RUPTURE = "turns without a rupture, and ruptures too near to the end"
_PAGE: dict[str, Shown] = {
    "client_rupture_rate": OnPage("review", "Ruptures"),
    "rupture_taken_up_rate": OnPage("review", "Ruptures taken up"),
    "rupture_passed_by_rate": OnPage("review", "Ruptures passed by"),
    "rupture_withdrawal_turn": Mark("Possible rupture: moves away", also=True),
    "rupture_confrontation_turn": Mark("Possible rupture: moves against", also=True),
    "rupture_passed_by_turn": Mark("Possible rupture that is passed by", also=True),
}


@measure(columns=_columns, core=12, page=_PAGE)
def ruptures(session: AnnotatedSession) -> dict[str, Value]:
    """Count the client's ruptures, and those that the therapist takes up, that end, and that are passed by.

    High rates mean more turns in which the client moves away from or against the therapist or the work. Of two
    ruptures, the first answered by "I went too fast just now", the second by the next question and followed by a third,
    one is taken up and one is passed by.

    Notes
    -----
    Undefined where the coder gives no such codes, as the fast tagger. How often the client withdraws, and how often
    confronts, are rates of the two codes.

    References
    ----------
    Safran, J. D., & Muran, J. C. (2000). Negotiating the therapeutic alliance. Guilford.

    Eubanks, C. F., Muran, J. C., & Safran, J. D. (2015). Rupture resolution rating system (3RS): Manual. Only the
    constructs are taken from it, in other words.
    """
    among = coded(session, *RUPTURE)
    hits = given(session, RUPTURE)[1] & among
    answered, taken_up, observed, ended = _outcomes(session, hits, among)
    passed_by, whole = ~taken_up & ~ended, answered & observed
    return {
        **rate(_RUPTURES.name, hits, among, correlation=correlation_of(*RUPTURE)),
        **rate("rupture_taken_up_rate", taken_up, answered),
        **rate("rupture_ended_rate", ended, observed),
        **rate("rupture_passed_by_rate", passed_by, whole),
        "rupture_withdrawal_turn": marks(coded(session, MOVES_AWAY), given(session, [MOVES_AWAY])[1]),
        "rupture_confrontation_turn": marks(coded(session, MOVES_AGAINST), given(session, [MOVES_AGAINST])[1]),
        "rupture_taken_up_turn": marks(answered, taken_up),
        "rupture_passed_by_turn": marks(whole, passed_by),
    }


def _outcomes(session: AnnotatedSession, hits: Bools, client: Bools) -> tuple[Bools, Bools, Bools, Bools]:
    """Return which ruptures the therapist speaks after, which are taken up, which the client speaks after, which end.

    Parameters
    ----------
    session : AnnotatedSession
        With its codes.
    hits, client : bool array (n_turns,)
        The ruptures, and the client's turns that were coded.
    """
    therapist = next_turns(hits, coded(session, *TAKES_UP) & _says_something(session))
    later = next_turns(hits, client & (_says_something(session) | hits))
    answered, observed = therapist[:, 0] >= 0, later[:, -1] >= 0
    taken_up, ended = any_in(therapist, given(session, TAKES_UP)[1]), ~any_in(later, hits)
    return (
        _placed(hits, answered),
        _placed(hits, answered & taken_up),
        _placed(hits, observed),
        _placed(hits, observed & ended),
    )


def _says_something(session: AnnotatedSession) -> Bools:
    """Return which turns have words that are more than a minimal response such as "mm-hmm", bool (n_turns,)."""
    return np.asarray((session.n_words > 0) & ~session.consists_of(_MINIMAL))


def _placed(events: Bools, values: Bools) -> Bools:
    """Return a value of each event at the place of its turn, bool (n_turns,); False elsewhere."""
    found = np.zeros(len(events), dtype=np.bool_)
    found[events] = values
    return found
