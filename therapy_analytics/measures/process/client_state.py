"""The client's talk for and against change, and their opening up, tracked through the session."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.disclosure import disclosed
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate_columns
from therapy_analytics.measures._base import Curve, Mark, OnPage, Shown, Value
from therapy_analytics.measures._rates import counted_rate, interval_columns
from therapy_analytics.measures._turns import last_of
from therapy_analytics.measures.process._client_state import (
    FEWEST,
    HOLDS,
    HYSTERESIS,
    Floats,
    Ints,
    opening_parameters,
    rising,
    slope,
    talk_parameters,
    thirds,
    three_way,
    tracked,
    turning_points,
)

Bools = NDArray[np.bool_]

_KINDS = {"change": "for change", "sustain": "against change", "neutral": "neither for nor against change"}
_CODES = ("mi_change", "mi_sustain")
_CHAIN = (
    "Hidden Markov model: Rabiner (1989); codes: AnnoMI (Wu et al. 2022); chain and parameters are this package's own "
    "(measures/process/client_state.toml)"
)
_TALK = "Change talk and its course over a session: Amrhein et al. (2003); Gaume et al. (2016)"
_MISLEADS = (
    "Rests on the coder's probabilities, which are often wrong on single turns (docs/tagger.md), and on demonstrations "
    "of motivational interviewing: where no change of behaviour is talked about it means nothing"
)
_FEW = "Few are usual, and many of them are noise: read the turns around them"


def _state_column(kind: str) -> Column:
    return Column(
        name=f"state_{kind}",
        meaning=f"Probability that the client's turn speaks {_KINDS[kind]}, given this turn and those before (live)",
        unit="probability",
        low=0,
        high=1,
        high_means=f"more surely {kind} talk",
        formula="forward estimate of a hidden Markov model over the client's coded turns, from p_mi_change and "
        "p_mi_sustain; the three state_... add up to 1; empty for other turns",
        misleads=f"{_MISLEADS}. Hardly better than the tagger's own probability, which has read the neighbours; in "
        "other corpora a little worse. No later estimate is used, but the tagger itself reads the next turn",
        source=_CHAIN,
        level="turn",
        evidence="weak",
    )


_BALANCE = replace(
    _state_column("change"),
    name="state_balance",
    meaning="How far the client's talk leans to change (above 0) or against it (below 0), seen from the whole session",
    unit="difference of probabilities",
    low=-1,
    high_means="leans more to change",
    formula="probability of change minus that of sustain talk, estimated from all turns of the session (smoothed)",
    misleads=f"{_MISLEADS}. Turns that come later change it: for what was known at the time read state_change",
)
_TURNING = replace(
    _BALANCE,
    name="turning_point_turn",
    meaning="Whether the client's talk turns here: 1 from sustain to change, -1 from change to sustain",
    unit="code",
    high_means="1: to change; -1: to sustain; 0: no turning point",
    formula=f"where state_balance comes to a side (beyond {HYSTERESIS} or -{HYSTERESIS}), holds it for {HOLDS} client "
    "turns or more, and the last side so held was the other; the first side is no turning point",
    misleads=f"{_MISLEADS}. {_FEW}",
    source=f"{_TALK}; the rule is this package's own",
    evidence="untested",
)
_OPENING = Column(
    name="opening_trend",
    meaning="Probability that the client is opening up rather than closing, given this turn and those before (live)",
    unit="probability",
    low=0,
    high=1,
    high_means="above .5 opening up, below .5 closing up",
    formula="probability of a positive slope by a Kalman filter (local linear trend) over log2(1 + words in sentences "
    "that disclose feelings or facts) of the client's turns; .5 at the first",
    misleads="Longer answers disclose more words; a story that was asked for looks like opening up. It says how "
    "the turns so far ran and hardly foretells the next (AUC .54)",
    source="Local linear trend: Harvey (1989); disclosure: this package's own model, see self_disclosure",
    level="turn",
    evidence="weak",
)


def _balance_columns() -> list[Column]:
    third = Column(
        name="change_balance_first",
        meaning="How far the client's talk leans to change (above 0) or against it, first third of the client's turns",
        unit="difference of probabilities",
        low=-1,
        high=1,
        high_means="leans more to change",
        formula="mean of state_balance over the first third of the client's coded turns (by number)",
        misleads=f"{_MISLEADS}. Few turns make it unsteady",
        source=f"{_TALK}; {_CHAIN}",
        evidence="weak",
        compare="part",
    )
    last = replace(
        third,
        name="change_balance_last",
        meaning="How far the client's talk leans to change (above 0) or against it, last third of the client's turns",
        formula="mean of state_balance over the last third of the client's coded turns (by number)",
    )
    return [third, last, *_slope_columns(replace(third, name="change_balance_slope", core=True), "the lean to change")]


def _slope_columns(like: Column, what: str) -> list[Column]:
    series = "state_balance" if like.name.startswith("change") else "log2(1 + words disclosed)"
    main = replace(
        like,
        meaning=f"How {what} moves from the client's first turn to the last",
        low=-np.inf,
        high=np.inf,
        high_means="above 0: rises along the session",
        compare="part",
        formula=f"slope of least squares of {series} on the place among the client's turns, 0 to 1; from {FEWEST} on",
        misleads=f"{like.misleads}. A straight line hides a fall and rise",
    )
    interval = "95% interval with Newey and West's (1987) standard error, which allows for likeness of neighbours"
    misleads = "Covers 80 to 90 of 100, not 95, where turns are few or alike; the coder's own error is not in it"
    ends = interval_columns(replace(main, misleads=misleads, core=False), interval, source="Newey & West (1987)")
    return [main, *ends]


def _count_column(kind: str, other: str) -> Column:
    return Column(
        name=f"n_turning_points_to_{kind}",
        meaning=f"Turning points at which the client's talk goes over from {other} to {kind}",
        unit="count",
        low=0,
        high=np.inf,
        high_means=f"turns to {kind} more often",
        formula=f"client turns with turning_point_turn {'1' if kind == 'change' else '-1'}",
        misleads=f"{_MISLEADS}. {_FEW}. Grows with the length of the session",
        source=_TURNING.source,
        evidence="untested",
    )


def _before_columns(code: str, kind: str) -> list[Column]:
    column = Column(
        name=f"{code}_before_turn_to_{kind}_rate",
        meaning=f"Share of the client's turning points to {kind} just before which the therapist gave {code}",
        unit="proportion",
        low=0,
        high=1,
        high_means=f"more turning points to {kind} come after {code}",
        formula=f"turning points to {kind} whose last therapist turn before has mi_{code} / those with one before",
        misleads=f"{_FEW}; the interval is wide. What comes before need not be the cause, and must be read beside how "
        f"often the therapist gives {code} at all (therapist_{code}_rate)",
        source=_TURNING.source,
    )
    return rate_columns(column, counted=f"Turning points to {kind} with {code} just before")


_BEFORE = (("reflection", "change", 1), ("input", "sustain", -1))


_PAGE: dict[str, Shown] = {
    "change_balance_first": OnPage("course", "Lean to change at the start"),
    "change_balance_last": OnPage("course", "Lean to change at the end"),
    "change_balance_slope": OnPage("course", "Lean to change, start to end"),
    "n_turning_points_to_change": OnPage("course", "Turning points to change"),
    "n_turning_points_to_sustain": OnPage("course", "Turning points against change"),
    "state_change": Curve("Change talk", "client", side="above"),
    "state_sustain": Curve("Sustain talk", "client", side="below"),
    "state_neutral": Curve("Neither", "client"),
    "turning_point_turn": Mark("Turning point to change", "Turning point against change", also=True),
}


@measure(
    columns=[
        *_balance_columns(),
        _count_column("change", "sustain"),
        _count_column("sustain", "change"),
        *(column for code, kind, _ in _BEFORE for column in _before_columns(code, kind)),
        *_slope_columns(
            replace(_OPENING, name="opening_slope", unit="doublings of words", level="session"),
            "what the client discloses",
        ),
        *(_state_column(kind) for kind in _KINDS),
        _BALANCE,
        _TURNING,
        _OPENING,
    ],
    core=7,
    page=_PAGE,
)
def client_state(session: AnnotatedSession) -> dict[str, Value]:
    """Track the client's talk for and against change through the session, and whether the client opens up.

    High balances mean that the client speaks more for change than against it; a rising one went with change of
    behaviour in studies of motivational interviewing. A turning point is where the talk goes over to the other side and
    holds it.

    Notes
    -----
    The chain gains little over the tagger, which has read the neighbouring turns: log-loss on AnnoMI recordings that it
    was not fitted to .746 for .748 (fast) and .719 for .722 (accurate), intervals of the difference cover 0; on 379
    turns with codes of the MISC it loses .005. What it adds are lines that can be drawn.

    Turns that the coder did not code are passed over; without codes of client talk everything but opening up is
    undefined. A coder that says yes or no is taken for .9 or .05.

    References
    ----------
    Rabiner, L. R. (1989). A tutorial on hidden Markov models and selected applications in speech recognition.
    Proceedings of the IEEE, 77(2), 257-286.

    Amrhein, P. C., Miller, W. R., Yahne, C. E., Palmer, M., & Fulcher, L. (2003). Client commitment language during
    motivational interviewing predicts drug use outcomes. Journal of Consulting and Clinical Psychology, 71(5), 862-878.

    Gaume, J., Magill, M., Mastroleo, N. R., Longabaugh, R., Bertholet, N., Gmel, G., & Daeppen, J.-B. (2016). Change
    talk during brief motivational intervention with young adult males: Strength matters. Journal of Substance Abuse
    Treatment, 65, 58-65.

    Harvey, A. C. (1989). Forecasting, structural time series models and the Kalman filter. Cambridge University Press.

    Newey, W. K., & West, K. D. (1987). A simple, positive semi-definite, heteroskedasticity and autocorrelation
    consistent covariance matrix. Econometrica, 55(3), 703-708.
    """
    return _talk(session) | _opening(session)


def _talk(session: AnnotatedSession) -> dict[str, Value]:
    turns = coded_turns(session)
    found = (
        tracked(three_way(*(session.probabilities[code][turns] for code in _CODES)), talk_parameters())
        if len(turns)
        else None
    )
    live, balance = (found.live, found.balance) if found else (np.zeros((0, 3)), np.zeros(0))
    points = turning_points(balance)
    values: dict[str, Value] = {
        f"state_{kind}": _placed(session, turns, column) for kind, column in zip(_KINDS, live.T, strict=True)
    }
    values["state_balance"] = _placed(session, turns, balance)
    values["turning_point_turn"] = _placed(session, turns, points.astype(np.float64))
    values["change_balance_first"], values["change_balance_last"] = thirds(balance)
    values |= _named("change_balance_slope", slope(balance))
    for kind, sign in (("change", 1), ("sustain", -1)):
        values[f"n_turning_points_to_{kind}"] = float(np.count_nonzero(points == sign)) if len(turns) else np.nan
    for code, kind, sign in _BEFORE:
        values |= _just_before(session, code, kind, turns[points == sign])
    return values


def coded_turns(session: AnnotatedSession) -> Ints:
    """Return the client's turns with words that the coder coded for change and sustain talk, (n,)."""
    return np.flatnonzero(session.cached(_is_coded)) if session.has(*_CODES) else np.zeros(0, dtype=np.int64)


def _is_coded(session: AnnotatedSession) -> Bools:
    known = np.all([~np.isnan(session.probabilities[code]) for code in _CODES], axis=0)
    return np.asarray(session.spoken_by("client") & (session.n_words > 0) & known)


def _just_before(session: AnnotatedSession, code: str, kind: str, points: Ints) -> dict[str, float]:
    name = f"{code}_before_turn_to_{kind}_rate"
    if not session.has(f"mi_{code}"):
        return counted_rate(name, 0.0, 0.0)
    asked = last_of(session, "therapist")[points]
    asked = asked[asked >= 0]
    return counted_rate(name, float(np.count_nonzero(session.decided(f"mi_{code}")[asked])), float(len(asked)))


def _opening(session: AnnotatedSession) -> dict[str, Value]:
    turns = np.flatnonzero(session.spoken_by("client") & (session.n_words > 0))
    series = np.log2(1 + disclosed(session).words[turns])
    values: dict[str, Value] = {"opening_trend": _placed(session, turns, rising(series, opening_parameters()))}
    return values | _named("opening_slope", slope(series))


def _named(name: str, found: tuple[float, float, float]) -> dict[str, Value]:
    return dict(zip((name, f"{name}_lo", f"{name}_hi"), found, strict=True))


def _placed(session: AnnotatedSession, turns: Ints, values: Floats) -> Floats:
    placed = np.full(len(session), np.nan)
    placed[turns] = values
    return placed
