"""What is proposed of a session's speakers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from therapy_analytics.session import Session

Kind = Literal["attributed", "unsure", "exchanged", "words_moved"]
KINDS: dict[str, str] = {
    "attributed": "utterances without a speaker given to one",
    "unsure": "utterances left without a speaker",
    "exchanged": "stretches of turns whose labels were exchanged",
    "words_moved": "boundaries between turns moved by some words",
}
"""What is proposed, and how the number of such proposals is told."""


@dataclass(frozen=True, slots=True)
class Change:
    """One proposal; it holds no words.

    Attributes
    ----------
    kind : str
        ``attributed``: an utterance without a speaker is given one. ``unsure``: it is left without. ``exchanged``: the
        labels of therapist and client are exchanged in a row of turns. ``words_moved``: the last words of a turn go to
        the next, or the first words of a turn to the one before.
    turn, last_turn : int
        The first and last turn concerned, as `Turn.index` in the session as it was read.
    row : int
        Where the first of them begins in the file, see `Turn.first_row`.
    words : int
        How many words get another speaker.
    before, after : str
        The role that has these words, and the one that gets them; empty for none, ``both`` for exchanged turns.
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
