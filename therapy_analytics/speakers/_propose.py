"""What is proposed of a session: it is a function of the session alone, and changes nothing by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from therapy_analytics.language import annotate
from therapy_analytics.language.annotate import Batch
from therapy_analytics.language.english import LEAST_SHARE, LEAST_WORDS, english_shares
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.session import Role, Session, Turn
from therapy_analytics.speakers._boundaries import Move, moved, moves
from therapy_analytics.speakers._chain import therapist_probabilities
from therapy_analytics.speakers._changes import Change, Proposal
from therapy_analytics.speakers._exchanged import Stretch, exchanged, probability, two_speak, voices
from therapy_analytics.speakers._gaps import gap_scores
from therapy_analytics.speakers._model import SpeakerModel, load_speaker_model

UNSURE = "unsure"
"""The label of utterances that are given to nobody."""
_SWITCHED: dict[Role, Role] = {"therapist": "client", "client": "therapist", "other": "other"}
_FOREIGN = "The session does not seem to be in English; the models of speakers know no other language."
_FEW = "The session is too short to tell who speaks."
_CROWD = "More than two people speak, or one alone: exchanged labels are looked for where there are two."
_FEWEST = 4


def proposed(session: Session) -> Proposal:
    """Look for exchanged labels, and for words at the wrong side of a boundary.

    Parameters
    ----------
    session : Session
        With speakers, as `read` returns it. It is not changed.

    Returns
    -------
    Proposal
        What was found, and the session with all of it put right. Sessions that do not seem to be in English have none.
    """
    model, batch = load_speaker_model(), annotate([session], Matcher([]))
    if why := _not_looked_at(batch):
        return Proposal(session, abstained=why)
    two = two_speak(session)
    found = exchanged(voices(batch.turns, model), batch.turns.roles, model.exchanged) if two else []
    turns, changes = _exchanged(session.turns, found)
    shifted = moves(turns, model)
    turns, more = _shifted(turns, shifted)
    every = sorted([*changes, *more], key=lambda one: (one.turn, one.last_turn))
    right = replace(session, turns=_merged(turns) if found else turns)
    return Proposal(right, tuple(every), "" if two else _CROWD)


def repaired(session: Session) -> Session:
    """Return a session with everything that is proposed of it, and a note that says what was changed."""
    found = proposed(session)
    if not found.changes:
        return session
    told = tuple(_told(one) for one in found.changes if one.kind == "exchanged")
    n_moved = sum(one.kind == "words_moved" for one in found.changes)
    boundaries = (f"Words moved to the other speaker at {n_moved:,} boundaries between turns.",) if n_moved else ()
    return replace(found.session, notes=(*session.notes, *told, *boundaries))


def attributed(session: Session) -> Proposal:
    """Say whose the utterances of a session without speakers are.

    Parameters
    ----------
    session : Session
        A turn an utterance (a line, a segment of a recogniser), in order; speakers and roles are not looked at.

    Returns
    -------
    Proposal
        The utterances in their places, each of the therapist or the client, or of nobody (`UNSURE`) where neither is
        likely enough.
    """
    model, batch = load_speaker_model(), annotate([session], Matcher([]))
    if why := _not_looked_at(batch) or (_FEW if len(session.turns) < _FEWEST else ""):
        return Proposal(session, abstained=why)
    p = therapist_probabilities(voices(batch.turns, model), _changes_between(session.turns, model))
    turns, changes = [], []
    for turn, of_therapist in zip(session.turns, p.tolist(), strict=True):
        role: Role = "therapist" if of_therapist >= 0.5 else "client"
        sure = max(of_therapist, 1.0 - of_therapist)
        if sure < model.joint.least:
            role = "other"
        changes.append(_attribution(turn, role, sure))
        label = UNSURE if role == "other" else role
        turns.append(replace(turn, speaker=label, role=role, speaker_changed=changes[-1].kind))
    return Proposal(replace(session, turns=tuple(turns), role_method="speakers"), tuple(changes))


def _attribution(turn: Turn, role: Role, sure: float) -> Change:
    kind, after = ("unsure", "") if role == "other" else ("attributed", role)
    n_words = len(turn.text.split())
    return Change(kind, turn.index, turn.index, turn.first_row, n_words, "", after, sure)  # type: ignore[arg-type]


def _not_looked_at(batch: Batch) -> str:
    n_words = int(batch.turns.n_words.sum())
    if n_words >= LEAST_WORDS and english_shares(batch)[0] < LEAST_SHARE:
        return _FOREIGN
    return _FEW if n_words < LEAST_WORDS else ""


def _changes_between(turns: Sequence[Turn], model: SpeakerModel) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return what speaks for a change of the speaker behind each utterance but the last, in log-odds."""
    said = [turn.text.split() for turn in turns]
    scores = gap_scores([word for one in said for word in one], model).change
    if not len(scores):
        return np.zeros(max(len(turns) - 1, 0))
    ends = np.clip(np.cumsum([len(one) for one in said])[:-1] - 1, 0, len(scores) - 1)
    return np.asarray(model.joint.slope * scores[ends] + model.joint.intercept)


def _exchanged(turns: tuple[Turn, ...], found: Sequence[Stretch]) -> tuple[tuple[Turn, ...], list[Change]]:
    labels: dict[Role, str] = {turn.role: turn.speaker for turn in turns}
    changed, changes = list(turns), []
    for one in found:
        some = turns[one.begin : one.end]
        n_words = sum(len(turn.text.split()) for turn in some if turn.role != "other")
        changes.append(
            Change("exchanged", some[0].index, some[-1].index, some[0].first_row, n_words, "both", "both",
                   one.probability)
        )  # fmt: skip
        for at in range(one.begin, one.end):
            turn = changed[at]
            if turn.role != "other":
                role = _SWITCHED[turn.role]
                changed[at] = replace(turn, role=role, speaker=labels[role], speaker_changed="exchanged")
    return tuple(changed), changes


def _shifted(turns: tuple[Turn, ...], found: Sequence[Move]) -> tuple[tuple[Turn, ...], list[Change]]:
    changed, changes = list(turns), []
    for one in found:
        left, right = turns[one.turn], turns[one.turn + 1]
        loses, gains = (left, right) if one.words > 0 else (right, left)
        changes.append(
            Change("words_moved", left.index, right.index, left.first_row, abs(one.words), loses.role, gains.role,
                   one.probability)
        )  # fmt: skip
        pair = moved(changed[one.turn], changed[one.turn + 1], one.words)
        changed[one.turn : one.turn + 2] = [replace(turn, speaker_changed=_mark(turn, "words_moved")) for turn in pair]
    return tuple(changed), changes


def _mark(turn: Turn, kind: str) -> str:
    return ";".join(dict.fromkeys([*filter(None, turn.speaker_changed.split(";")), kind]))


def _merged(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Put neighbouring turns together that have one speaker now, and number all turns."""
    found: list[Turn] = []
    for turn in turns:
        if found and (found[-1].speaker, found[-1].role) == (turn.speaker, turn.role):
            found[-1] = _together(found[-1], turn)
        else:
            found.append(turn)
    return tuple(replace(turn, index=index) for index, turn in enumerate(found))


def _together(turn: Turn, after: Turn) -> Turn:
    begin = len(turn.text) + 1
    names = dict.fromkeys([*turn.gold, *after.gold])
    codes = {name: [one for one in (turn.gold.get(name), after.gold.get(name)) if one] for name in names}
    return replace(
        turn,
        text=f"{turn.text} {after.text}",
        end_s=after.end_s,
        marks=(*turn.marks, *(replace(mark, at=mark.at + begin) for mark in after.marks)),
        gold={name: ";".join(dict.fromkeys(some)) for name, some in codes.items()},
        speaker_changed=_mark(turn, after.speaker_changed) if after.speaker_changed else turn.speaker_changed,
    )


def _told(one: Change) -> str:
    sure = probability(one.probability)
    return f"The speakers of turns {one.turn} to {one.last_turn} were exchanged (probability {sure})."
