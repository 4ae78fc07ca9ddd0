"""Who speaks, by the words: speakers where there are none, swapped labels, words at the wrong side of a turn.

`proposed` reads one session and changes nothing; `repaired` returns the session with what it proposes; `attributed`
is for utterances without speakers; `speakers` does all that for files. Two small models say what the words tell: how
likely an utterance is the therapist's, and how likely the speaker changes between two words (`models`). `swapped`,
`boundaries` and `chain` look for one thing each.
"""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.speakers._files import Speakers, speakers
from therapy_analytics.speakers._propose import KINDS, Change, Proposal, attributed, proposed, repaired
from therapy_analytics.speakers.swapped import with_speaker_notes

__all__ = [
    "KINDS",
    "Change",
    "Proposal",
    "Speakers",
    "attributed",
    "proposed",
    "repaired",
    "speakers",
    "with_speaker_notes",
]

call_by_name(__name__)
