"""What is proposed of a session: a function of that session alone, which changes nothing by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from therapy_analytics.core.session import Role, Session, Turn
from therapy_analytics.speakers.boundaries import Move, moved, moves
from therapy_analytics.speakers.chain import Floats, therapist_probabilities
from therapy_analytics.speakers.models import SpeakerModel, gap_scores, load_speaker_model
from therapy_analytics.speakers.swapped import SwappedSegment, swapped_segments, two_digits, two_speak, voice_log_odds
from therapy_analytics.text import annotate
from therapy_analytics.text.annotate import Batch
from therapy_analytics.text.english import LEAST_SHARE, LEAST_WORDS, english_shares, undivided
from therapy_analytics.text.lexicons import Matcher

Kind = Literal["attributed", "unsure", "swapped", "words_moved"]
KINDS: dict[str, str] = {
    "attributed": "utterances without a speaker given to one",
    "unsure": "utterances left without a speaker",
    "swapped": "segments of turns whose labels were swapped",
    "words_moved": "boundaries between turns moved by some words",
}
"""What is proposed, and what the command calls it behind the number of such proposals."""
UNSURE = "unsure"
"""The label of utterances that are given to nobody."""
_SWITCHED: dict[Role, Role] = {"therapist": "client", "client": "therapist", "other": "other"}
_FOREIGN = "The session does not seem to be in English; the models of speakers know no other language."
_FEW = "The session is too short to tell who speaks."
_CROWD = "More than two people speak, or one alone: swapped labels are looked for where there are two."
_FEWEST = 4


@dataclass(frozen=True, slots=True)
class Change:
    """One proposal; it holds no words.

    Attributes
    ----------
    kind : str
        ``attributed``: an utterance without a speaker is given one. ``unsure``: it is left without. ``swapped``: the
        labels of therapist and client are swapped in successive turns. ``words_moved``: the last words of a turn go to
        the next, or the first words of a turn to the one before.
    turn, last_turn : int
        The first and last turn concerned, as `Turn.index` in the session as it was read.
    row : int
        Where the first of them begins in the file, see `Turn.first_row`.
    words : int
        How many words get another speaker.
    before, after : str
        The role that has these words, and the one that gets them; empty for none, ``both`` for swapped labels.
    probability : float
        That the proposal is right, between 0 and 1.
    """

    kind: Kind
    turn: int
    last_turn: int
    row: int
    words: int
    before: str
    after: str
    probability: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed of one session.

    Attributes
    ----------
    session : Session
        With all changes made; each turn that they touch has its mark in `Turn.speaker_changed`.
    changes : tuple of Change
        In the order of the session.
    abstained : str
        Why nothing was looked for, in a sentence; empty otherwise.
    """

    session: Session
    changes: tuple[Change, ...] = ()
    abstained: str = ""


def proposed(session: Session) -> Proposal:
    """Look for swapped labels, and for words at the wrong side of a boundary.

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
    found = swapped_segments(voice_log_odds(batch.turns, model), batch.turns.roles, model.swapped) if two else []
    turns, swaps = _with_swaps(session.turns, found)
    turns, shifts = _with_moves(turns, moves(turns, model))
    changes = sorted([*swaps, *shifts], key=lambda one: (one.turn, one.last_turn))
    right = replace(session, turns=_merged(turns) if found else turns)
    return Proposal(right, tuple(changes), "" if two else _CROWD)


def repaired(session: Session) -> Session:
    """Return a session with everything that is proposed of it, and a note that says what was changed."""
    found = proposed(session)
    if not found.changes:
        return session
    swaps = [one for one in found.changes if one.kind == "swapped"]
    notes = [
        f"The speakers of turns {one.turn} to {one.last_turn} were swapped (probability {two_digits(one.probability)})."
        for one in swaps
    ]
    n_moved = len(found.changes) - len(swaps)
    if n_moved:
        notes.append(f"Words moved to the other speaker at {n_moved:,} boundaries between turns.")
    return replace(found.session, notes=(*session.notes, *notes))


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
    p = therapist_probabilities(voice_log_odds(batch.turns, model), _changes_between(session.turns, model))
    turns, changes = [], []
    for turn, of_therapist in zip(session.turns, p.tolist(), strict=True):
        sure = max(of_therapist, 1.0 - of_therapist)
        role: Role = "other" if sure < model.joint.least else "therapist" if of_therapist >= 0.5 else "client"
        kind: Kind = "unsure" if role == "other" else "attributed"
        label, after = (UNSURE, "") if role == "other" else (role, role)
        changes.append(Change(kind, turn.index, turn.index, turn.first_row, _n_words(turn), "", after, sure))
        turns.append(replace(turn, speaker=label, role=role, speaker_changed=kind))
    return Proposal(replace(session, turns=tuple(turns), role_method="speakers"), tuple(changes))


def _not_looked_at(batch: Batch) -> str:
    if any(map(undivided, batch.sessions)):
        return _FOREIGN
    n_words = int(batch.turns.n_words.sum())
    if n_words < LEAST_WORDS:
        return _FEW
    return _FOREIGN if english_shares(batch)[0] < LEAST_SHARE else ""


def _changes_between(turns: Sequence[Turn], model: SpeakerModel) -> Floats:
    """Return the log-odds of a change of speaker behind each utterance but the last, (n_turns - 1,)."""
    words = [turn.text.split() for turn in turns]
    scores = gap_scores([word for one in words for word in one], model.gaps).change
    if not len(scores):
        return np.zeros(max(len(turns) - 1, 0))
    ends = np.clip(np.cumsum([len(one) for one in words])[:-1] - 1, 0, len(scores) - 1)
    return np.asarray(model.joint.slope * scores[ends] + model.joint.intercept)


def _n_words(turn: Turn) -> int:
    return len(turn.text.split())


def _with_swaps(turns: tuple[Turn, ...], found: Sequence[SwappedSegment]) -> tuple[tuple[Turn, ...], list[Change]]:
    labels: dict[Role, str] = {turn.role: turn.speaker for turn in turns}
    done, changes = list(turns), []
    for one in found:
        some = [at for at in range(one.begin, one.end) if turns[at].role != "other"]
        first, last = turns[one.begin], turns[one.end - 1]
        n_words = sum(_n_words(turns[at]) for at in some)
        changes.append(
            Change("swapped", first.index, last.index, first.first_row, n_words, "both", "both", one.probability)
        )
        for at in some:
            role = _SWITCHED[turns[at].role]
            done[at] = replace(turns[at], role=role, speaker=labels[role], speaker_changed="swapped")
    return tuple(done), changes


def _with_moves(turns: tuple[Turn, ...], found: Sequence[Move]) -> tuple[tuple[Turn, ...], list[Change]]:
    done, changes = list(turns), []
    for at, words, _, probability in found:
        left, right = turns[at], turns[at + 1]
        loses, gains = (left, right) if words > 0 else (right, left)
        changes.append(
            Change("words_moved", left.index, right.index, left.first_row, abs(words), loses.role, gains.role,
                   probability)
        )  # fmt: skip
        pair = moved(done[at], done[at + 1], words)
        done[at : at + 2] = [
            replace(turn, speaker_changed=_joined(turn.speaker_changed, "words_moved")) for turn in pair
        ]
    return tuple(done), changes


def _joined(*values: str) -> str:
    """Join lists of values that are separated by semicolons, without repetitions."""
    return ";".join(dict.fromkeys(one for value in values for one in value.split(";") if one))


def _merged(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Join successive turns that have one speaker now, and number all turns."""
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
    return replace(
        turn,
        text=f"{turn.text} {after.text}",
        end_s=after.end_s,
        marks=(*turn.marks, *(replace(mark, at=mark.at + begin) for mark in after.marks)),
        gold={name: ";".join(filter(None, dict.fromkeys([turn.gold.get(name, ""), after.gold.get(name, "")])))
              for name in names},
        speaker_changed=_joined(turn.speaker_changed, after.speaker_changed),
    )  # fmt: skip
