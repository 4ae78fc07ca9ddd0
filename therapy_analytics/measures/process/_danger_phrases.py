"""Client turns in which phrases speak of suicide, self-harm or harm to others.

They stand beside the code ``process_risk_own``, because on corpora that the tagger had not seen the code alone missed
more than both together (docs/tagger.md). The phrases stand in ``lexicons/safety.toml``. A turn that also holds a figure
of speech, or somebody else's danger, is looked at sentence by sentence.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.behaviours.text_model import session_segments
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.measures._codes import Bools

PHRASES = (
    "suicide_active",
    "suicide_signs",
    "suicide_passive",
    "death_in_mind",
    "suicide_indirect",
    "self_harm",
    "self_harm_past",
    "harm_others",
    "harm_others_possible",
)
_OF_ONESELF = frozenset({"suicide_active", "suicide_signs", "self_harm", "self_harm_past"})
"""What is not the client's own in a sentence about somebody else's danger."""
_DISOWNABLE = frozenset({"suicide_active", "suicide_signs", "self_harm", "harm_others", "death_in_mind"})


def danger_phrases(session: AnnotatedSession) -> Bools:
    """Return which client turns speak of danger by a phrase, bool (n_turns,)."""
    found = {name: _spoken(session, name) for name in PHRASES}
    any_found = np.any([*found.values()], axis=0)
    mixed = any_found & np.any([_spoken(session, name) for name in ("idiom", "disowned", "others")], axis=0)
    if not mixed.any():
        return np.asarray(any_found)
    parts = session_segments(session).segments
    cut = replace(session, turns=parts.turns, probabilities={}, decisions={}, unsure={})
    against = {name: _spoken(cut, name) for name in ("idiom", "disowned", "others")}
    kept = np.zeros(len(session), dtype=np.bool_)
    for name in PHRASES:
        blocked = against["idiom"] | (against["others"] & (name in _OF_ONESELF))
        blocked |= against["disowned"] & (name in _DISOWNABLE)
        kept |= np.bincount(parts.turn_of, _spoken(cut, name) & ~blocked, minlength=len(session)) > 0
    return np.where(mixed, kept, any_found)


def _spoken(session: AnnotatedSession, phrase: str) -> Bools:
    return np.asarray(turns_with(session, f"safety.{phrase}", "client"))
