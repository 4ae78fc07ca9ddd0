"""Client turns of present danger: decided from phrases and the tagger together, never by the tagger alone.

On talk that it had not seen, the tagger's score follows the subject more than what the client says of it: of 38
sentences of an open forum with the highest scores none spoke of danger. Phrases (``lexicons/safety.toml``) say it.
Clear ones are enough; possible ones, which may mean something else, need a likely turn or an earlier mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.tagger import Codes
from therapy_analytics.codes.text_model import session_segments
from therapy_analytics.text import AnnotatedSession, Batch
from therapy_analytics.text.phrases import turns_with

CODE = "process_risk_own"
Bools = NDArray[np.bool_]
_CLEAR = ("suicide_active", "suicide_passive", "self_harm", "harm_others")
_POSSIBLE = ("suicide_signs", "death_in_mind", "suicide_indirect", "self_harm_past", "harm_others_possible", "harmed")
_ALL = frozenset((*_CLEAR, *_POSSIBLE))
_AGAINST = {
    "idiom": _ALL,
    "over": _ALL,
    "others": _ALL - {"harm_others", "harm_others_possible", "harmed"},
    "disowned": frozenset({"suicide_active", "suicide_signs", "self_harm", "harm_others", "death_in_mind"}),
}
"""Which phrases are no cue in a sentence with a figure of speech, a time long ago, others' danger, a denial."""


def danger_phrases(session: AnnotatedSession) -> tuple[Bools, Bools]:
    """Return which client turns speak of danger by a clear phrase, and which by a possible one alone.

    A turn that also holds a figure of speech, somebody else's danger, a denial or a time long ago is looked at sentence
    by sentence.

    Returns
    -------
    clear, possible : bool array (n_turns,)
        No turn is both.
    """
    return session.cached(_phrases, key=danger_phrases)


def _phrases(session: AnnotatedSession) -> tuple[Bools, Bools]:
    found = {name: _spoken(session, name) for name in sorted(_ALL)}
    against = np.any([_spoken(session, name) for name in _AGAINST], axis=0)
    if (against & np.any([*found.values()], axis=0)).any():
        parts = session_segments(session).segments
        cut = replace(session, turns=parts.turns, probabilities={}, decisions={}, unsure={})
        blocked = {name: _spoken(cut, name) for name in _AGAINST}
        for name, whole in found.items():
            no_cue = np.any([blocked[one] for one, names in _AGAINST.items() if name in names], axis=0)
            kept = np.bincount(parts.turn_of, _spoken(cut, name) & ~no_cue, minlength=len(session)) > 0
            found[name] = np.where(against, kept, whole)
    clear, possible = (np.any([found[name] for name in names], axis=0) for names in (_CLEAR, _POSSIBLE))
    return np.asarray(clear), np.asarray(possible & ~clear)


def _spoken(session: AnnotatedSession, phrase: str) -> Bools:
    return np.asarray(turns_with(session, f"safety.{phrase}", "client"))


def with_danger(codes: Codes, batch: Batch, thresholds: Mapping[str, float], aim: str) -> Codes:
    """Return codes in which present danger of the client's own is decided from phrases and probabilities together.

    A turn has the code if it has a clear phrase; if it is likely and has a possible phrase; or, once a turn of the
    session has it, if it is likely or has a possible phrase. It is unsure if it has none, but a possible phrase or a
    probability at which the aim of a high recall would call it likely.

    Parameters
    ----------
    codes : Codes
        As the tagger decided them; without the code they are returned as they are.
    batch : Batch
        The annotated sessions.
    thresholds : mapping of str to float
        By aim: a turn is likely when the probability of the code is at least this.
    aim : str
        The aim of the decisions.
    """
    if CODE not in codes.names:
        return codes
    at = codes.names.index(CODE)
    decision, unsure = codes.decision.copy(), codes.unsure.copy()
    for session, start in zip(batch, batch.starts.tolist(), strict=False):
        rows = slice(start, start + len(session))
        p = codes.probability[rows, at]
        clear, possible = danger_phrases(session)
        likely = p >= thresholds[aim]
        marked = clear | (likely & possible)
        after = np.concatenate([[False], np.logical_or.accumulate(marked)[:-1]]) if len(marked) else marked
        marked |= after & (likely | possible)
        decision[rows, at] = marked & ~np.isnan(p)
        unsure[rows, at] = ~marked & (possible | (p >= thresholds["recall"])) & ~np.isnan(p)
    return replace(codes, decision=decision, unsure=unsure)
