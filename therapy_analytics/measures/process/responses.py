"""How the therapist answers sustain talk, and feelings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan

import numpy as np

from therapy_analytics.behaviours.codebook import correlation_of
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate_columns
from therapy_analytics.measures._base import Mark, OnPage, Shown, Value
from therapy_analytics.measures._intervals import FEWEST, design_effect, odds_ratios
from therapy_analytics.measures._rates import counted_rate, interval_columns
from therapy_analytics.measures.process._counts import (
    SOLUTIONS,
    Bools,
    Floats,
    Ints,
    advised,
    given,
    replies,
)

_SOURCE = "This package's own; construct: Miller & Rollnick (2013), Motivational interviewing, 3rd ed."
_MISLEADS = (
    "Both codes are predictions, and feelings or sustain talk that were missed are missing here, too; "
    "a session often has fewer than ten such turns, so that the interval is wide"
)
_ADVICE = "mi_input with bolt_problem_solving, bolt_planning or an advice cue"
_FEELING = ("bolt_negative_feeling", "bolt_positive_feeling")
_SUSTAIN = ("mi_sustain",)
_BALANCE = "sustain_response_balance"
_FEWEST = 1.0
"""Expected client turns under which a value from probabilities rests on next to nothing."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer to look for: its name, what the therapist does, after what, by which codes."""

    name: str
    doing: str
    after: str
    client: tuple[str, ...]
    codes: str
    therapist: tuple[str, ...] = ()
    """Empty for advice, which is more than codes: see `advised`."""

    @property
    def column(self) -> str:
        return f"{self.name}_rate"


_AFTER_SUSTAIN, _AFTER_FEELING = "the client says sustain talk", "the client shares a feeling"
_ANSWERS = (
    _Answer("input_after_sustain", "informs or advises", _AFTER_SUSTAIN, _SUSTAIN, "mi_input", ("mi_input",)),
    _Answer("reflection_after_sustain", "reflects", _AFTER_SUSTAIN, _SUSTAIN, "mi_reflection", ("mi_reflection",)),
    _Answer("advice_after_sustain", "advises", _AFTER_SUSTAIN, _SUSTAIN, _ADVICE),
    _Answer("reflection_after_feeling", "reflects", _AFTER_FEELING, _FEELING, "mi_reflection", ("mi_reflection",)),
    _Answer("advice_after_feeling", "advises", _AFTER_FEELING, _FEELING, _ADVICE),
)
_WITH_ODDS = ("advice_after_sustain", "advice_after_feeling")
_CORE = ("input_after_sustain", "reflection_after_feeling")
_IN_TURNS = ("input_after_sustain", "advice_after_feeling")
_ODDS_ENDS = ("odds_ratio", "odds_ratio_lo", "odds_ratio_hi")
_BALANCED = ("mi_sustain", "mi_reflection", "mi_input")


def _columns(answer: _Answer) -> list[Column]:
    either = " or ".join(answer.client)
    main = Column(
        name=answer.column,
        meaning=f"How often the therapist {answer.doing} right after {answer.after}",
        unit="proportion",
        low=0,
        high=1,
        high_means=f"the therapist more often {answer.doing} at once",
        formula=f"client turns with {either} whose answer has {answer.codes} / such turns that are answered",
        misleads=_MISLEADS,
        source=_SOURCE,
        evidence="weak",
        core=answer.name in _CORE,
    )
    found = rate_columns(main, counted=f"Client turns after which the therapist {answer.doing}, where {answer.after}")
    if answer.name in _WITH_ODDS:
        found += _odds_columns(main)
    if answer.name in _IN_TURNS:
        found.append(_turn_column(main, answer))
    return found


def _odds_columns(main: Column) -> list[Column]:
    odds = replace(
        main,
        name=main.name.replace("_rate", "_odds_ratio"),
        meaning=f"Odds of {main.name.removesuffix('_rate')} against the odds after the client's other turns",
        unit="odds ratio",
        high=inf,
        high_means="over 1: such an answer comes more often then than otherwise",
        formula="odds of the answer after such client turns / odds after the others; undefined over zero, and with "
        f"fewer than {FEWEST} client turns or answers of either kind. Interval: exact with mid-p, widened for how "
        "alike turns of a session are",
        misleads=f"{_MISLEADS}. Over 1 only with a lower end over 1",
        source="Cornfield (1956); Agresti (2013)",
    )
    return [odds, *interval_columns(odds, odds.formula)]


def _turn_column(main: Column, answer: _Answer) -> Column:
    return replace(
        main,
        name=f"{answer.name}_turn",
        meaning=f"Whether the therapist {answer.doing} in this turn, right after {answer.after}",
        unit="0 or 1",
        high_means="1: such an answer",
        formula=f"1 with {answer.codes}, else 0; empty for turns that do not answer such a client turn",
        level="turn",
    )


_BALANCE_COLUMN = Column(
    name=_BALANCE,
    meaning="Whether sustain talk is met by reflections (towards 1) or by advice and information (towards -1)",
    unit="difference of proportions",
    low=-1,
    high=1,
    high_means="more reflecting and less informing or advising after sustain talk",
    formula="sum over answered client turns of p(mi_sustain) (p(mi_reflection) - p(mi_input) of the answer) / sum of "
    f"p(mi_sustain); undefined under {_FEWEST:g} expected turns",
    misleads=f"{_MISLEADS}. Where sustain talk is rare it tends to the same difference over all answers",
    source=_SOURCE,
    evidence="supported",
)


_PAGE: dict[str, Shown] = {
    "advice_after_feeling_rate": OnPage("together", "Advice right after a feeling", first=True),
    "reflection_after_feeling_rate": OnPage("together", "Reflection right after a feeling"),
    "input_after_sustain_rate": OnPage("together", "Advice or information after sustain talk"),
    "reflection_after_sustain_rate": OnPage("together", "Reflection after sustain talk"),
    "advice_after_feeling_turn": Mark("Advice right after a feeling"),
    "input_after_sustain_turn": Mark("Advice or information after sustain talk"),
}


@measure(columns=[*(column for answer in _ANSWERS for column in _columns(answer)), _BALANCE_COLUMN], core=8, page=_PAGE)
def responses(session: AnnotatedSession) -> dict[str, Value]:
    """Look at what the therapist does in the turn right after sustain talk or a feeling of the client.

    High rates mean that such an answer is usual. The answer is the therapist's next turn, unless the client speaks
    again before it. An odds ratio over 1 means that advice comes more often then than after other turns.

    Notes
    -----
    The rates rest on decisions. Input after sustain talk comes near to what human coders saw; reflections after
    it are found too often in poor sessions (.34 against .12), so that their rate hides some of the difference. The
    balance rests on probabilities: it is defined in more sessions, and tells good from poor ones better than decisions
    of the fast tagger do (AUC .93 against .79; accurate tagger: .92 and .93). All are descriptive: that advice follows
    sustain talk does not say that it caused anything.

    References
    ----------
    Miller, W. R., & Rollnick, S. (2013). Motivational interviewing (3rd ed.). Guilford. Agresti, A. (2013). Categorical
    data analysis (3rd ed.). Wiley.
    """
    client, reply = replies(session)
    after = np.stack([_coded(*given(session, answer.client))[client] for answer in _ANSWERS], axis=1)
    answers = np.stack([_gives(session, answer)[reply] for answer in _ANSWERS], axis=1)
    both = after[:, :, 0] * answers[:, :, 0]
    told, gives = both * after[:, :, 1], both * answers[:, :, 1]
    k, n, all_given, of = (marks.sum(axis=0) for marks in (told * gives, told, gives, both))
    told_of = np.array([correlation_of(*answer.client) for answer in _ANSWERS])
    answered = np.array([correlation_of(*(answer.therapist or SOLUTIONS)) for answer in _ANSWERS])
    odds = np.stack(odds_ratios(k, n, all_given - k, of - n, design_effect(of, told_of * answered)), axis=1).tolist()
    values: dict[str, Value] = {_BALANCE: _balance(session, client, reply)}
    for i, answer in enumerate(_ANSWERS):
        values |= counted_rate(answer.column, float(k[i]), float(n[i]), correlation=float(answered[i]))
        if answer.name in _WITH_ODDS:
            values |= {f"{answer.name}_{end}": value for end, value in zip(_ODDS_ENDS, odds[i], strict=True)}
        if answer.name in _IN_TURNS:
            values[f"{answer.name}_turn"] = _in_turns(len(session), reply, told[:, i], gives[:, i])
    return values


def _gives(session: AnnotatedSession, answer: _Answer) -> Floats:
    """Return of each turn whether it is known, and so, that it is such an answer: (n_turns, 2) of 0 and 1."""
    if answer.therapist:
        return _coded(*given(session, answer.therapist))
    advises, known = advised(session)
    return np.stack([known, advises], axis=1).astype(np.float64)


def _coded(likely: Floats, hits: Bools) -> Floats:
    return np.stack([~np.isnan(likely), hits], axis=1).astype(np.float64)


def _in_turns(n: int, reply: Ints, told: Floats, gives: Floats) -> Floats:
    """Return 1 or 0 for the turns that answer what was told, nan for all others; (n,)."""
    marks = np.full(n, nan)
    after = told > 0
    marks[reply[after]] = gives[after]
    return marks


def _balance(session: AnnotatedSession, client: Ints, reply: Ints) -> float:
    resists, reflects, directs = (given(session, (code,))[0] for code in _BALANCED)
    weights, differences = resists[client], reflects[reply] - directs[reply]
    known = ~np.isnan(weights * differences)
    total = float(weights[known].sum())
    return float(weights[known] @ differences[known] / total) if total >= _FEWEST else nan
