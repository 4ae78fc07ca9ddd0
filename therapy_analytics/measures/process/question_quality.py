"""How well the therapist's questions are put: clear, specific, to the point, easy to answer, one at a time, open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.behaviours.text_model import vectors_of
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.integers import distinct
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.measures import Column, mean_column, measure, rate, rate_columns
from therapy_analytics.measures._base import OnPage, Shown, Value
from therapy_analytics.measures.process._question_links import links
from therapy_analytics.measures.process._questions import (
    Bools,
    Floats,
    Questions,
    asking,
    mean_by_turn,
    questions,
)

_SOURCE = "This package's own; construct: Hill (2020), Helping skills; Sudman & Bradburn (1982), Asking questions"
_EASY_WORDS, _HARD_WORDS = 12, 40
"""Up to so many words a question is short; from so many on it is as long as counts."""
_CLAUSES, _FILLERS, _NEGATIONS = 4.0, 3.0, 2
"""So many count as many."""


def _column(name: str, meaning: str, direction: str, formula: str, misleads: str, **about: object) -> Column:
    column = Column(
        name=name,
        meaning=meaning,
        unit="index",
        low=0,
        high=1,
        high_means=direction,
        formula=formula,
        misleads=misleads,
        source=_SOURCE,
        evidence="weak",
    )
    return replace(column, **about)  # type: ignore[arg-type]


_CLARITY = _column(
    "question_clarity",
    "How easy the therapist's questions are to follow, by their form",
    "shorter, simpler questions without fillers and double negation",
    f"mean over questions of the mean of four parts from 0 to 1: words (1 to {_EASY_WORDS}, 0 from {_HARD_WORDS}), "
    "clauses inside (0 from 4), fillers (0 from 3), double negation (0 with two negations)",
    "Short is not clear in itself; transcribed speech has more fillers than edited text",
)
_SPECIFICITY = _column(
    "question_specificity",
    "How specific the therapist's questions are",
    "rarer, more concrete words, times, places and people",
    "mean over questions of the mean weight of their words in the package's vectors (common words "
    "weigh little; 0 to 1), "
    "plus .1 with a time, a place, a person or a number, less .1 for each vague word, up to .3",
    "Technical words weigh as much as concrete ones; a specific question may be beside the point",
    evidence="weak",
)
_RELEVANCE = _column(
    "question_relevance",
    "How much closer in meaning the therapist's questions are to the client's last turn than to the "
    "client's other turns",
    "questions that go with what was just said; 0: no more than with any other turn",
    "cosine of the turn's questions with the last client turn, less the mean over all client turns; mean over turns "
    "with a question",
    "Closeness is not understanding; where the client stays on one subject, every question is about as close",
    unit="difference of cosines",
    low=-2,
    high=2,
    evidence="supported",
)
_ANSWERABLE = _column(
    "question_answerability",
    "Share of the therapist's questions that a client can answer as they stand",
    "more questions with one thing to answer, short enough, that neither lead nor reproach",
    "mean over questions of 1 where the question asks one thing, has at most 30 words, no double negation, and stands "
    "in a turn without a leading or confronting phrase; else 0",
    "Whether the client knows the answer is not seen",
    unit="proportion",
)
_FOCUS = _column(
    "question_focus",
    "Whether the therapist asks one thing at a time",
    "one thing at a time",
    "mean over turns with a question of 1 / things asked in the turn (questions of four words or "
    "more, and what is joined "
    "to them by and or or)",
    "A question put again in other words counts as two; without question marks the number is guessed",
)
_OPEN = _column(
    "open_question_rate",
    "Share of the therapist's turns with a question that invite an account",
    "more open questions",
    "turns that are likelier open than closed by the tagger (mi_question_open, mi_question_closed), "
    "by their form where "
    "the run's coder does not say / turns with a question",
    "Closed questions may open much, and open ones little; people agree on the line only moderately",
    unit="proportion",
    core=True,
    compare="shown",
)
_TURNS = [
    replace(one, name=f"{one.name}_turn", meaning=f"{what} of the turn's questions", level="turn", formula=f"{how}")
    for one, what, how in (
        (_CLARITY, "Clarity", "as question_clarity, mean over the turn's questions; empty without a question"),
        (_RELEVANCE, "Relevance", "as question_relevance, for the turn; empty without a question"),
        (_FOCUS, "Focus", "1 / things asked in the turn; empty without a question"),
    )
]
_OPEN_TURN = replace(
    _OPEN,
    name="question_open_turn",
    meaning="Whether the turn's question is open",
    unit="0 or 1",
    formula="1 or 0; empty for turns without a question",
    level="turn",
)


_PAGE: dict[str, Shown] = {
    "open_question_rate": OnPage("therapist", "Open questions (share of questions)", first=True),
}


@measure(
    columns=[
        _CLARITY,
        _SPECIFICITY,
        _RELEVANCE,
        _ANSWERABLE,
        _FOCUS,
        *rate_columns(_OPEN, counted="Turns with an open question"),
        *_TURNS,
        _OPEN_TURN,
    ],
    core=3,
    page=_PAGE,
)
def question_quality(session: AnnotatedSession) -> dict[str, Value]:
    """Tell how well the therapist's questions are put, by form and by nearness to the client's words.

    High values mean clearer, more specific, more relevant questions, that can be answered, one at a time, and open.

    Notes
    -----
    Form is not quality: raters of sessions see tone and timing. n_therapist_questions says over how many the means are.

    References
    ----------
    Hill, C. E. (2020). Helping skills: Facilitating exploration, insight, and action (5th ed.). APA.
    """
    own, clear, near = questions(session), _clarity(questions(session)), _relevance(session)
    has = np.bincount(own.turn_of, minlength=len(session)) > 0
    things = np.bincount(own.turn_of, _things(own), len(session))
    focus = np.where(has, 1.0 / np.maximum(things, 1.0), np.nan)
    is_open = np.where(has, _open(session, own), np.nan)
    values: dict[str, Value] = {
        "question_clarity": mean_column(clear),
        "question_specificity": mean_column(_specificity(own)),
        "question_relevance": mean_column(near),
        "question_answerability": mean_column((_simple(own) & ~_hard(session)[own.turn_of]).astype(np.float64)),
        "question_focus": mean_column(focus),
        "question_clarity_turn": mean_by_turn(session, clear),
        "question_relevance_turn": near,
        "question_focus_turn": focus,
        "question_open_turn": is_open,
    }
    return values | rate("open_question_rate", is_open > 0, ~np.isnan(is_open))


def _clarity(own: Questions) -> Floats:
    n = own.turns.n_words
    parts = (
        1.0 - np.clip((n - _EASY_WORDS) / (_HARD_WORDS - _EASY_WORDS), 0.0, 1.0),
        1.0 - np.clip(own.count("clause") / _CLAUSES, 0.0, 1.0),
        1.0 - np.clip(own.count("filler") / _FILLERS, 0.0, 1.0),
        own.count("negation") < _NEGATIONS,
    )
    return np.asarray(np.mean([np.asarray(one, dtype=np.float64) for one in parts], axis=0))


def _specificity(own: Questions) -> Floats:
    """Return how much the words of each question weigh, with bonus and malus."""
    if not len(own):
        return np.zeros(0)
    tokens = own.turns.tokens
    used, place = distinct(tokens.ids, len(tokens.norm))
    length = np.sqrt((vectors_of(tokens)[used] ** 2).sum(axis=1))
    verbal = tokens.verbal[tokens.ids]
    owner = np.repeat(np.arange(len(own)), np.diff(own.turns.offsets))
    n = np.maximum(np.bincount(owner, verbal, len(own)), 1)
    weight = np.bincount(owner, np.minimum(length, 1.0)[place] * verbal, len(own)) / n
    bonus = 0.1 * (own.count("now") > 0) - 0.1 * np.minimum(own.count("vague"), 3)
    return np.clip(weight + bonus, 0.0, 1.0)


def _relevance(session: AnnotatedSession) -> Floats:
    """Return the excess of closeness over the session's client turns, for turns with questions; else nan."""
    found, near = links(session), np.full(len(session), np.nan)
    near[found.asked] = found.meaning_excess[0]
    return near


def _things(own: Questions) -> Floats:
    """Return how many things each question asks; those of few words ("Is that right?") beside others ask nothing."""
    return np.asarray(own.asks * (own.turns.n_words >= 4), dtype=np.float64)


def _hard(session: AnnotatedSession) -> Bools:
    """Return which turns lead or reproach."""
    return turns_with(session, "questions.leading", "therapist") | turns_with(
        session, "questions.confronting", "therapist"
    )


def _simple(own: Questions) -> Bools:
    return np.asarray((own.asks == 1) & (own.turns.n_words <= 30) & (own.count("negation") < _NEGATIONS))


def _open(session: AnnotatedSession, own: Questions) -> Bools:
    """Return which turns ask an open question."""
    if session.probabilities.keys() >= {"mi_question_open", "mi_question_closed"}:
        wide = session.probabilities["mi_question_open"] > session.probabilities["mi_question_closed"]
        return np.asarray(wide & asking(session))
    found = np.zeros(len(session), dtype=np.bool_)
    found[own.turn_of[own.is_open]] = True
    return found
