"""What a therapist announces, and whether the next turns keep or break it.

The phrases stand in ``lexicons/announcements.toml``; what is said here is what keeps and what breaks each kind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.language.word_sequence import Ints, Marks
from therapy_analytics.measures.process._word_meanings import Floats

WITHIN = 3
"""Therapist turns after an announcement that keep or break it."""
_MINIMAL = "conversation.minimal_responses"
OPEN, KEPT, BROKEN = 0.0, 1.0, 2.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of announcement.

    Attributes
    ----------
    name : str
        Its phrases in the lexicon.
    keeps, breaks : tuple of str
        Moves of `moves` of which one keeps or breaks it. The first turn with either decides; a turn with both breaks
        it, unless `at_best`.
    abstains : bool
        Whether it is kept by doing nothing of the kind in `WITHIN` turns.
    fails : bool
        Whether it is broken by doing nothing of the kind in `WITHIN` turns.
    at_once : bool
        Whether the announcing turn itself may keep it (a question announced and asked).
    at_best : bool
        Whether a turn that both keeps and breaks it keeps it.
    """

    name: str
    keeps: tuple[str, ...]
    breaks: tuple[str, ...]
    abstains: bool = False
    fails: bool = False
    at_once: bool = False
    at_best: bool = False


KINDS = (
    Kind("no_advice", (), ("advice", "directive"), abstains=True),
    Kind("understand_first", ("question", "reflection"), ("advice",), at_once=True),
    Kind("look_at_plan", ("planning", "question"), (), fails=True, at_once=True, at_best=True),
    Kind("up_to_you", (), ("directive", "hurry"), abstains=True),
    Kind("not_judge", (), ("judgement",), abstains=True),
    Kind("slowly", (), ("hurry",), abstains=True),
    Kind("will_ask", ("question",), (), fails=True, at_once=True, at_best=True),
    Kind("hear_from_you", ("question", "reflection"), ("input",), at_once=True, at_best=True),
)
"""What stands for 1, 2, ... in ``announcement_turn``; the first that a turn has."""


@dataclass(frozen=True, slots=True, eq=False)
class Announced:
    """The announcements of a session, in order of turns and kinds.

    Attributes
    ----------
    turns, kinds : int64 arrays (n,)
        Where each stands, and its position in `KINDS`.
    outcomes : float64 array (n,)
        `KEPT`, `BROKEN` or `OPEN`.
    """

    turns: Ints
    kinds: Ints
    outcomes: Floats


def announced(session: AnnotatedSession) -> Announced:
    """Return what the therapist announces and what comes of it."""
    found = [turns_with(session, f"announcements.{kind.name}", "therapist") for kind in KINDS]
    turns, kinds = np.nonzero(np.array(found).T.reshape(len(session), len(KINDS)))
    # One kind a turn: the first, as announcement_turn has it
    turns, first = np.unique(turns, return_index=True)
    kinds = kinds[first]
    does = moves(session) if len(turns) else {}
    after = _after(session, turns)
    outcomes = [
        _outcome(KINDS[kind], turn, row[row >= 0], does)
        for turn, kind, row in zip(turns.tolist(), kinds.tolist(), after, strict=True)
    ]
    return Announced(turns, kinds, np.array(outcomes, dtype=np.float64))


def moves(session: AnnotatedSession) -> dict[str, Marks]:
    """Return which therapist turns make which move, bool (n_turns,) each; none where there are no such codes."""
    advice = _decided(session, "bolt_problem_solving", "bolt_planning")
    directive, hurry, judgement = (
        turns_with(session, f"announcements.{name}", "therapist") for name in ("directives", "hurry", "judgements")
    )
    told = _decided(session, "mi_input")
    question = _decided(session, "mi_question")
    return {
        "question": question,
        "reflection": _decided(session, "mi_reflection"),
        "planning": advice | told,
        "input": told & ~question,
        # A question how the client would solve it is no advice
        "advice": (advice & told) | (directive & (advice | told)),
        "directive": directive & (advice | told),
        "hurry": hurry,
        "judgement": judgement,
    }


def _decided(session: AnnotatedSession, *codes: str) -> Marks:
    given = [session.decided(code) for code in codes if session.has(code)]
    own = session.spoken_by("therapist")
    return np.asarray(np.any(given, axis=0) & own if given else np.zeros(len(session), dtype=np.bool_))


def _after(session: AnnotatedSession, turns: Ints) -> Ints:
    """Return the therapist's next turns that say something, -1 where there are no more: (n, WITHIN)."""
    says = session.spoken_by("therapist") & (session.n_words > 0) & ~session.consists_of(_MINIMAL)
    places = np.append(np.flatnonzero(says), np.full(WITHIN, -1))
    begins = np.searchsorted(places[: len(places) - WITHIN], turns, side="right")
    after = places[begins[:, None] + np.arange(WITHIN)]
    return np.where(after < len(session), after, -1)


def _outcome(kind: Kind, turn: int, after: Ints, does: dict[str, Marks]) -> float:
    # What is announced and done in one breath is kept, unless the turn breaks it too
    if (
        kind.at_once
        and any(does[name][turn] for name in kind.keeps)
        and not any(does[name][turn] for name in kind.breaks)
    ):
        return KEPT
    for one in after.tolist():
        keeps, breaks = (any(does[name][one] for name in names) for names in (kind.keeps, kind.breaks))
        if breaks and not (keeps and kind.at_best):
            return BROKEN
        if keeps:
            return KEPT
    if len(after) < (1 if kind.abstains else WITHIN):
        return OPEN
    return KEPT if kind.abstains else BROKEN if kind.fails else OPEN
