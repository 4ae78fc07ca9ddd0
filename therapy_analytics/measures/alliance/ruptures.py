"""Ruptures of the working relationship: how often, and whether they are taken up, end, or are passed by."""

from __future__ import annotations

import numpy as np

from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import columns_of, measure, rate
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.rates import marks
from therapy_analytics.measures.turns import WITHIN, Bools, any_in, coded, given, next_turns
from therapy_analytics.text import AnnotatedSession

MOVES_AWAY, MOVES_AGAINST = "process_rupture_withdrawal", "process_rupture_confrontation"
RUPTURE = (MOVES_AWAY, MOVES_AGAINST)
TAKES_UP = ("process_repair", "process_immediacy", "process_feeling_expressed")
"""Codes of the therapist's turns that take a rupture up."""


@measure(columns=lambda *_: columns_of(__file__, WITHIN=WITHIN, taken_up=", ".join(TAKES_UP)), core=12)
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
    # Turns that only say "mm-hmm" are passed over, unless they are ruptures
    says_something = (session.n_words > 0) & ~session.consists_of("conversation.minimal_responses")
    therapist = next_turns(hits, coded(session, *TAKES_UP) & says_something)
    later = next_turns(hits, among & (says_something | hits))
    answered, observed = _placed(hits, therapist[:, 0] >= 0), _placed(hits, later[:, -1] >= 0)
    taken_up = answered & _placed(hits, any_in(therapist, given(session, TAKES_UP)[1]))
    ended = observed & _placed(hits, ~any_in(later, hits))
    passed_by, whole = ~taken_up & ~ended, answered & observed
    return {
        **rate("client_rupture_rate", hits, among, correlation=correlation_of(*RUPTURE)),
        **rate("rupture_taken_up_rate", taken_up, answered),
        **rate("rupture_ended_rate", ended, observed),
        **rate("rupture_passed_by_rate", passed_by, whole),
        "rupture_withdrawal_turn": marks(coded(session, MOVES_AWAY), given(session, [MOVES_AWAY])[1]),
        "rupture_confrontation_turn": marks(coded(session, MOVES_AGAINST), given(session, [MOVES_AGAINST])[1]),
        "rupture_taken_up_turn": marks(answered, taken_up),
        "rupture_passed_by_turn": marks(whole, passed_by),
    }


def _placed(events: Bools, values: Bools) -> Bools:
    """Return a value of each event at the place of its turn, bool (n_turns,); False elsewhere."""
    found = np.zeros(len(events), dtype=np.bool_)
    found[events] = values
    return found
