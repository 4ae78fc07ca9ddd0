"""Questions that make the client think: kinds, chains on what was just said, and questions that carry their answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.behaviours.question_kinds import KINDS, load_question_kinds
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.phrases import turns_with
from therapy_analytics.measures import Column, mean_column, measure, rate, rate_columns
from therapy_analytics.measures._base import Mark, OnPage, Shown, Value
from therapy_analytics.measures.process._question_links import links, runs, takes_up
from therapy_analytics.measures.process._questions import Bools, Floats, Questions, asking, questions

_SOURCE = (
    "Construct: Paul & Elder (2007); Overholser (1993), Elements of the Socratic method; kinds: a "
    "model of this package's "
    "own, trained on Ang et al. (2023)"
)
_OWN = "This package's own; construct: Hill (2020), Helping skills"
_DEPTH = slice(1, 5)
"""Assumptions, evidence, viewpoints, implications: what asks for more than what was meant."""
_PERSPECTIVES = "bolt_questions_on_perspectives"
_SHORTEST = 4
"""A question of fewer words ("Is that right?") beside another one makes no stack."""
_SOCRATIC = Column(
    name="socratic_question_rate",
    meaning="Share of the therapist's turns with a question that is likely Socratic in the strict sense: it asks for "
    "assumptions, reasons and evidence, another viewpoint, or what follows",
    unit="proportion",
    low=0,
    high=1,
    high_means="more questions that ask the client to think, fewer for facts, routine or plans",
    formula="turns with question_socratic_turn of .5 or more / turns with a question (mi_question)",
    misleads="The kinds were learnt from debates and invented sessions. A question for reasons may be a reproach; see "
    "leading_question_rate. Of 13 turns so found in sessions 8 were judged right, and 8 of 16 found; "
    "without question marks more are found",
    source=_SOURCE,
    evidence="weak",
)
_SHARES = [
    Column(
        name=f"question_{kind}_share",
        meaning=f"Expected share of the therapist's questions that {about}",
        unit="proportion",
        low=0,
        high=1,
        high_means=f"more questions of {kind}",
        formula=f"mean over questions of the probability of {kind}; what is missing to 1 over the five kinds is other",
        misleads="An expectation over uncertain kinds; learnt from debates, so that the kinds are less sure in "
        "sessions",
        source=_SOURCE,
        evidence="weak",
    )
    for kind, about in zip(
        KINDS,
        (
            "ask what is meant",
            "ask what is taken for granted",
            "ask for reasons or evidence",
            "ask for another viewpoint",
            "ask what follows",
        ),
        strict=False,
    )
]
_COUNT = Column(
    name="n_therapist_questions",
    meaning="Questions of the therapist: sentences that ask, in turns that ask",
    unit="count",
    low=0,
    high=np.inf,
    high_means="more questions",
    formula="count; the base of the means and shares over questions",
    misleads="Where no question marks were written, where a question begins and ends is guessed from its form",
    source=_OWN,
)
_CHAIN = Column(
    name="question_chain_rate",
    meaning="Share of the therapist's turns with a question that stand in a chain: two or more running, each taking up "
    "what the client has just said",
    unit="proportion",
    low=0,
    high=1,
    high_means="more questions that go on from the client's answers",
    formula="turns with a question that takes up the last client turn (a tenth more of its rare words, or one standard "
    "deviation closer in meaning, than the session's client turns on average), in runs of two or more (mm-hmm passed "
    "over) / turns with a question after a client turn",
    misleads="Repeating words is not understanding; pronouns ('what makes you say that?') take up without words. About "
    "one question in six would take up any turn by chance",
    source="This package's own",
    evidence="supported",
)
_LONGEST = replace(
    _CHAIN,
    name="question_longest_chain",
    meaning="Questions in the longest chain of questions that each take up what the client has just said",
    unit="turns",
    high=np.inf,
    formula="longest run of such turns; 0 where there is none of two",
    misleads="Grows with the length of the session. " + _CHAIN.misleads,
    evidence="weak",
)
_UPTAKE = Column(
    name="question_uptake",
    meaning="How much more of its rare words a question shares with the client's last turn than with other "
    "client turns",
    unit="difference of proportions",
    low=-1,
    high=1,
    high_means="questions go on from what the client has just said; 0: no more than from any other turn",
    formula="share of the question's words, weighted by rarity in the session, that the last client turn has, less the "
    "mean of that share over all client turns; mean over turns with a question",
    misleads="Words only; a new subject in the client's words counts as uptake. Undefined under three client turns",
    source="This package's own",
    evidence="supported",
)
_LEADING = Column(
    name="leading_question_rate",
    meaning="Share of the therapist's turns with a question that hold one which carries its answer or advice",
    unit="proportion",
    low=0,
    high=1,
    high_means="more questions that lead",
    formula="turns with a phrase of 'leading' (lexicons/questions.toml) / turns with a question",
    misleads="Found by phrases, so that most leading questions in other words are missed; some that match are asked "
    "openly. Read the turns",
    source=_OWN,
    evidence="weak",
)
_STACKED = Column(
    name="stacked_question_rate",
    meaning="Share of the therapist's turns with a question that ask several at once",
    unit="proportion",
    low=0,
    high=1,
    high_means="more turns with several questions",
    formula="turns with two or more questions of four words or more / turns with a question",
    misleads="A question said again in other words counts as two; without question marks the number is guessed",
    source=_OWN,
    evidence="weak",
)


def _turn(column: Column, name: str, meaning: str, formula: str, unit: str = "0 or 1") -> Column:
    return replace(column, name=name, meaning=meaning, formula=formula, unit=unit, level="turn")


_TURNS = [
    _turn(
        _SOCRATIC,
        "question_socratic_turn",
        "How likely the turn's most Socratic question is Socratic in the strict sense",
        "mean of the highest probability of the four kinds together over its questions, and of the "
        "tagger's probability of "
        "bolt_questions_on_perspectives (the former alone without it); empty for turns without a question",
        "probability",
    ),
    replace(
        _turn(
            _SOCRATIC,
            "question_kind_turn",
            "The likeliest kind of the turn's most Socratic question",
            "; ".join(f"{k} {kind}" for k, kind in enumerate(KINDS, start=1)) + "; empty for turns without a question",
            "code",
        ),
        low=1,
        high=len(KINDS),
        high_means="a number for a kind, not an amount",
        evidence="weak",
    ),
    _turn(
        _UPTAKE,
        "question_uptake_turn",
        "How much more of its rare words the turn's questions share with the client's last turn than with others",
        "as question_uptake, for the turn; empty for turns without a question",
        "difference of proportions",
    ),
    _turn(
        _CHAIN,
        "question_chain_turn",
        "Whether the turn's question stands in a chain of questions that take up the client's answers",
        "1 or 0; empty for turns without a question after a client turn",
    ),
    _turn(
        _LEADING,
        "question_leading_turn",
        "Whether the turn has a question that carries its answer or advice",
        "1 or 0; empty for turns without a question",
    ),
    replace(
        _turn(
            _STACKED,
            "question_count_turn",
            "Questions of four words or more in the turn",
            "count; two or more are a stack; empty for turns without a question",
            "count",
        ),
        high=np.inf,
    ),
]


_PAGE: dict[str, Shown] = {
    "socratic_question_rate": OnPage("therapist", "Socratic questions (share of questions)"),
    "leading_question_rate": OnPage("therapist", "Leading questions (share of questions)"),
    "stacked_question_rate": OnPage("therapist", "Several questions at once"),
    "question_leading_turn": Mark("Leading question"),
}


@measure(
    columns=[
        _COUNT,
        *rate_columns(_SOCRATIC, counted="Turns with a question that is likely Socratic"),
        *_SHARES,
        _UPTAKE,
        *rate_columns(_CHAIN, counted="Turns with a question that stands in a chain"),
        _LONGEST,
        *rate_columns(_LEADING, counted="Turns with a question that leads"),
        *rate_columns(_STACKED, counted="Turns with several questions"),
        *_TURNS,
    ],
    page=_PAGE,
)
def socratic_questions(session: AnnotatedSession) -> dict[str, Value]:
    """Tell the therapist's questions apart by kind, by what they take up, and by whether they lead or pile up.

    High rates mean more Socratic questions, more chains of questions that go on from the client's answers, more
    leading questions, and more turns with several questions; the columns say which.

    Notes
    -----
    Every column reads how questions are worded, not how they are meant. The kinds come from a model that was trained
    on debates and invented sessions; without question marks, questions are found by their form.

    References
    ----------
    Overholser, J. C. (1993). Elements of the Socratic method: I. Systematic questioning. Psychotherapy, 30(1), 67-74.

    Braun, J. D., Strunk, D. R., Sasso, K. E., & Cooper, A. A. (2015). Therapist use of Socratic questioning predicts
    session-to-session symptom change in cognitive therapy for depression. Behaviour Research and Therapy, 70, 32-37.
    """
    own, p, ask = questions(session), _kinds(questions(session)), _asks(session)
    socratic, kind = _deepest(session, p)
    leading = np.where(ask, turns_with(session, "questions.leading", "therapist"), np.nan)
    long = own.turn_of[own.turns.n_words >= _SHORTEST]
    count = np.where(ask, np.bincount(long, minlength=len(session)).astype(np.float64), np.nan)
    values: dict[str, Value] = {
        "n_therapist_questions": float(len(p)) if session.spoken_by("therapist").any() else np.nan,
        **{f"question_{name}_share": mean_column(p[:, k]) for k, name in enumerate(KINDS[:-1])},
        "question_socratic_turn": socratic,
        "question_kind_turn": kind,
        "question_leading_turn": leading,
        "question_count_turn": count,
    }
    values |= rate("socratic_question_rate", socratic >= 0.5, ask)
    values |= rate("leading_question_rate", leading > 0, ask) | rate("stacked_question_rate", count >= 2, ask)
    return values | _chained(session)


def _kinds(own: Questions) -> Floats:
    return load_question_kinds().of_read(own.turns, own.texts)


def _asks(session: AnnotatedSession) -> Bools:
    """Return which turns have a question that was found."""
    found = np.zeros(len(session), dtype=np.bool_)
    found[questions(session).turn_of] = True
    return found & asking(session)


def _deepest(session: AnnotatedSession, p: Floats) -> tuple[Floats, Floats]:
    """Return for each turn the probability and kind of the question that is likeliest Socratic."""
    owner, strict = questions(session).turn_of, p[:, _DEPTH].sum(axis=1).clip(0.0, 1.0)
    best, kind = (np.full(len(session), np.nan) for _ in range(2))
    order = np.argsort(strict, kind="stable")  # of several writes to one turn the last, the highest, stays
    best[owner[order]] = strict[order]
    kind[owner[order]] = 1.0 + p[order].argmax(axis=1)
    if _PERSPECTIVES in session.probabilities:
        best = (best + session.probabilities[_PERSPECTIVES]) / 2
    return best, kind


def _chained(session: AnnotatedSession) -> dict[str, Value]:
    """Return uptake and chains."""
    found = links(session)
    above = found.words_excess[0]
    uptake, chain, asked = np.full(len(session), np.nan), np.zeros(len(session)), np.zeros(len(session), dtype=np.bool_)
    uptake[found.asked] = above
    asked[found.asked[~np.isnan(above)]] = True
    turns = found.asked[takes_up(found)]
    chain[turns] = runs(session, turns)
    longest = float(np.where(chain >= 2, chain, 0.0).max(initial=0.0)) if asked.any() else np.nan
    values: dict[str, Value] = {
        "question_uptake": mean_column(above),
        "question_uptake_turn": uptake,
        "question_longest_chain": longest,
        "question_chain_turn": np.where(asked, chain >= 2, np.nan),
    }
    return values | rate("question_chain_rate", chain >= 2, asked)
