"""Turns to review: client turns of present danger, and how the therapist met them. Never a sign that all is safe."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np

from therapy_analytics.codes.danger import CODE, danger_phrases
from therapy_analytics.measures import Column, KindOf, Mark, OnPage, measure, rate_columns
from therapy_analytics.measures._codes import NOT_GIVEN, SOURCE, Bools, Floats, Ints, given, spoken
from therapy_analytics.measures.base import Shown, Value
from therapy_analytics.measures.rates import counted_rate, mark_column, marks
from therapy_analytics.measures.turns import WITHIN, any_in, next_turns
from therapy_analytics.text import AnnotatedSession

NOTHING, PASSED_OVER, ANSWERED, WORSENED = 0.0, 1.0, 2.0, 3.0
MOST_LOOKED_AT = 3
"""The most turns of a session to look at besides those that are marked."""
_WARNING = (
    "A list of turns to review, no assessment of risk: codes are predictions, and most danger is missed. None found "
    "never means that there is none. Where the run's coder does not give the codes, phrases alone mark turns, and what "
    "the therapist did is undefined. "
)
_DANGER = Column(
    name="n_danger_turns",
    meaning="Client turns that speak of present danger of the client's own; 0 means none found, never that there is "
    "none",
    unit="count",
    low=0,
    high=inf,
    high_means="more turns to review",
    formula="client turns with process_risk_own, or with a clear phrase of lexicons/safety.toml about suicide, "
    "self-harm or harm to others",
    misleads=f"{_WARNING}Grows with the length of the session and with how plainly the client speaks",
    source=SOURCE,
)
_OUTCOMES = {
    PASSED_OVER: ("passed_over", "pass over the danger, and none asks about it or names help", "passed over"),
    ANSWERED: ("answered", "ask about the danger or name help, and none makes it worse", "answered"),
    WORSENED: ("worsened", "make the danger worse", "made worse"),
}
_WINDOW = f"of the therapist's {WITHIN} turns after a turn of danger (n_danger_turns)"
_FORMULA = (
    f"worsened where one {_WINDOW} has process_risk_worsened; else answered where one has process_risk_asked or "
    "process_risk_help; else passed over where one has process_risk_passed_over; else nothing"
)
_NUMBER = {
    outcome: replace(
        _DANGER,
        name=f"n_danger_{name}_turns",
        meaning=f"Client turns of own danger after which the therapist's turns {words}",
        formula=f"{_FORMULA}. This counts: {label}",
    )
    for outcome, (name, words, label) in _OUTCOMES.items()
}
_ASIDE = {
    code: replace(
        _DANGER,
        name=f"n_danger_{code.removeprefix('process_risk_')}_turns",
        meaning=f"Client turns that {words}; they call for no answer of their own",
        formula=f"client turns with {code}",
    )
    for code, words in {
        "process_risk_past": "tell of a danger of their own that is over",
        "process_risk_other": "speak of another person's danger",
        "process_risk_denied": "deny danger",
    }.items()
}
_REVIEW = replace(
    _DANGER,
    name="n_turns_to_review",
    meaning="Turns that somebody should read for danger or its handling; 0 means none found, never that there is none",
    formula="client turns of danger (n_danger_turns), and therapist turns that pass danger over or make it worse",
    core=True,
)


def _rate(name: str, meaning: str, formula: str) -> Column:
    return replace(
        _DANGER,
        name=name,
        meaning=f"Share of client turns of own danger after which the therapist {meaning} within {WITHIN} turns",
        unit="proportion",
        high=1,
        high_means="a larger share of these turns",
        formula=f"turns of danger (n_danger_turns) with {formula} in their window / those with a therapist's turn "
        "after them",
        misleads=f"{_WARNING}Turns close together share their answers, so that the interval is too narrow",
    )


_RATES = (
    _rate("danger_answered_rate", "asks or names help", "process_risk_asked or process_risk_help"),
    _rate("danger_asked_rate", "asks directly about the danger", "process_risk_asked"),
    _rate("danger_help_rate", "names help", "process_risk_help"),
    _rate(
        "danger_passed_over_rate",
        "passes the danger over and neither asks nor names help",
        "process_risk_passed_over and neither process_risk_asked nor process_risk_help",
    ),
    _rate("danger_worsened_rate", "makes the danger worse", "process_risk_worsened"),
)
_TURN = mark_column(
    _DANGER,
    "danger_turn",
    "Whether the client's turn speaks of present danger of the client's own; 0 tells nothing about safety",
)
_LOOK = replace(
    _DANGER,
    name="also_look_turn",
    meaning="Whether the client's turn may speak of danger, less surely than a marked one: 1 for the likeliest such "
    f"turn of the session, 2 for the next, at most {MOST_LOOKED_AT}; else 0",
    unit="rank",
    high=MOST_LOOKED_AT,
    high_means="0 none of these, 1 the likeliest",
    formula="unmarked client turns with a possible phrase of lexicons/safety.toml, or in which process_risk_own is "
    "unsure, ranked by its probability; empty for turns of others",
    level="turn",
)
_OUTCOME = replace(
    _TURN,
    name="danger_outcome",
    meaning="How the therapist met the danger of the client's turn",
    unit="code",
    high=WORSENED,
    high_means="0 nothing found, 1 passed over, 2 answered, 3 made worse",
    formula=f"{_FORMULA}; empty for turns without own danger, and where no therapist turn follows",
)
_MISSED = replace(
    _TURN,
    name="danger_missed_turn",
    meaning="Whether the therapist's turn passes danger over that none of the turns beside it takes up, or worsens it",
    formula="1 for turns with process_risk_passed_over in the window of a client turn whose danger_outcome is 1, and "
    "for turns with process_risk_worsened; else 0; empty for turns of others",
)
_STIGMA = replace(
    _TURN,
    name="stigma_turn",
    meaning="Whether the therapist's turn speaks of people with an illness or addiction in a degrading way",
    formula="1 with process_stigma, else 0; empty for turns of others",
    misleads=f"Words change their standing; read the turn. {NOT_GIVEN[0].upper()}{NOT_GIVEN[1:]}",
)
_PAGE: dict[str, Shown] = {
    "n_turns_to_review": OnPage("review", "Turns to review (danger)", first=True, strip=11),
    "n_danger_turns": OnPage("review", "Turns of danger"),
    "danger_answered_rate": OnPage("review", "Danger answered (asked about, or help named)"),
    "danger_passed_over_rate": OnPage("review", "Danger passed over"),
    **{column.name: KindOf(_OUTCOMES[outcome][2], "n_danger_turns") for outcome, column in _NUMBER.items()},
    "danger_turn": Mark("Danger: review", danger="n_danger_turns"),
    "also_look_turn": Mark("It may speak of danger", also=True),
    "danger_missed_turn": Mark("Danger passed over or made worse"),
    "stigma_turn": Mark("Stigmatising words", also=True),
}


@measure(
    columns=[
        _DANGER,
        *_NUMBER.values(),
        *_ASIDE.values(),
        *(column for one in _RATES for column in rate_columns(one, counted="Such turns of danger")),
        _REVIEW,
        _TURN,
        _LOOK,
        _OUTCOME,
        _MISSED,
        _STIGMA,
    ],
    core=11,
    page=_PAGE,
)
def safety(session: AnnotatedSession) -> dict[str, Value]:
    """Find client turns of present danger, and say whether the therapist asked, named help, passed over or worsened it.

    High counts mean more turns to read. Each turn of danger opens a window of the therapist's next three turns; what
    lies in the past, is another person's or is denied is counted apart and opens none. Turns that may speak of danger,
    but less surely, are ranked apart and counted nowhere.

    Notes
    -----
    No value says that a session or a person is safe. Nothing here assesses risk, and no decision about a person may
    rest on it.

    References
    ----------
    This package's own.
    """
    client, therapist = (spoken(session, role) for role in ("client", "therapist"))
    likely, own = given(session, (CODE,))
    clear, possible = danger_phrases(session)
    own = own | clear
    look = possible | session.unsure.get(CODE, False)
    looked = client & (session.n_words > 0)
    asked, helped, passed, worse = (_has(session, f"process_risk_{one}") for one in _ANSWERS)
    danger = np.flatnonzero(own & looked)
    windows = next_turns(own & looked, therapist)
    found = np.stack([any_in(windows, one) for one in (asked, helped, passed, worse)], axis=1)
    followed = np.asarray((windows >= 0).any(axis=1))
    missed = _missed(windows, passed, found) | (worse & therapist)
    aside = {code: _has(session, code) & client for code in _ASIDE}
    stigma = _has(session, "process_stigma") & therapist
    review = (own & looked) | missed
    values: dict[str, Value] = {
        _DANGER.name: float(len(danger)) if looked.any() else nan,
        _REVIEW.name: float(np.count_nonzero(review)) if looked.any() else nan,
        _TURN.name: marks(looked, own),
        _LOOK.name: np.where(looked, _ranked(looked & look & ~own, likely), nan),
        _MISSED.name: marks(therapist & _known(session, "process_risk_passed_over", "process_risk_worsened"), missed),
        _STIGMA.name: marks(therapist & _known(session, "process_stigma"), stigma),
    }
    for code, turns in aside.items():
        values[_ASIDE[code].name] = float(np.count_nonzero(turns)) if (client & _known(session, code)).any() else nan
    return values | _outcomes(session, danger, found, followed) | _answer_rates(session, found[followed])


_ANSWERS = ("asked", "help", "passed_over", "worsened")


def _known(session: AnnotatedSession, *codes: str) -> Bools:
    return ~np.isnan(given(session, codes)[0])


def _has(session: AnnotatedSession, code: str) -> Bools:
    return given(session, (code,))[1]


def _ranked(turns: Bools, likely: Floats) -> Floats:
    """Return the ranks of the likeliest of some turns, 0 for all others; (n_turns,)."""
    ranks: Floats = np.zeros(len(turns))
    at = np.flatnonzero(turns)
    first = at[np.argsort(-np.nan_to_num(likely[at]), kind="stable")][:MOST_LOOKED_AT]
    ranks[first] = np.arange(1, len(first) + 1)
    return ranks


def _missed(windows: Ints, passed: Bools, found: Bools) -> Bools:
    """Return the turns that pass danger over in windows in which none asks, helps; (n_turns,).

    Parameters
    ----------
    windows : int64 array (n_danger, WITHIN)
        The therapist's turns after each turn of danger, as `next_turns` returns them.
    passed : bool array (n_turns,)
        Turns that pass danger over.
    found : bool array (n_danger, 4)
        Which of `_ANSWERS` stand in each window.
    """
    unanswered = windows[~found[:, :2].any(axis=1)]
    missed = np.zeros(len(passed), dtype=np.bool_)
    missed[unanswered[unanswered >= 0]] = True
    return missed & passed


def _outcomes(session: AnnotatedSession, danger: Ints, found: Bools, followed: Bools) -> dict[str, Value]:
    """Return the outcome of each turn of danger, and how many have each; undefined where codes are not given."""
    asked, helped, passed, worse = found.T
    outcome = np.select([worse, asked | helped, passed], [WORSENED, ANSWERED, PASSED_OVER], NOTHING)
    of_turns: Floats = np.full(len(session), nan)
    known = spoken(session, "client").any() and _answers_are_given(session)
    if known:
        of_turns[danger[followed]] = outcome[followed]
    counts = {
        column.name: float(np.count_nonzero(of_turns == which)) if known else nan for which, column in _NUMBER.items()
    }
    return {_OUTCOME.name: of_turns, **counts}


def _answers_are_given(session: AnnotatedSession) -> bool:
    return session.has("process_risk_asked", "process_risk_help")


def _answer_rates(session: AnnotatedSession, found: Bools) -> dict[str, Value]:
    asked, helped, passed, worse = found.T
    hits = (asked | helped, asked, helped, passed & ~(asked | helped), worse)
    n = len(found) if _answers_are_given(session) else 0
    values: dict[str, Value] = {}
    for column, one in zip(_RATES, hits, strict=True):
        values |= counted_rate(column.name, float(np.count_nonzero(one)) if n else 0.0, float(n))
    return values
