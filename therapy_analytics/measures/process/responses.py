"""How the therapist answers feelings, sustain talk, untested claims, ruptures, danger and corrections."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan

import numpy as np

from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import Column, measure, rate_columns
from therapy_analytics.measures._codes import NOT_GIVEN, Bools, Floats, Ints, given, replies
from therapy_analytics.measures.base import Evidence, Mark, OnPage, Shown, Value
from therapy_analytics.measures.intervals import FEWEST, design_effect, matched_differences
from therapy_analytics.measures.process._responses import counts_by_length, marked
from therapy_analytics.measures.rates import counted_rate, interval_columns
from therapy_analytics.text import AnnotatedSession

_SOURCE = "This package's own; construct: Miller & Rollnick (2013), Motivational interviewing, 3rd ed."
_MISLEADS = (
    "Both codes are predictions, and client turns that were missed are missing here, too; a session often has fewer "
    f"than ten such turns, so that the interval is wide; {NOT_GIVEN}"
)
_BALANCE = "sustain_response_balance"
_FEWEST = 1.0
"""Expected client turns under which a value from probabilities rests on next to nothing."""


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody does, in words that follow the person's name, and the codes of which one is enough."""

    doing: str
    codes: tuple[str, ...]


EVENTS = {
    "feeling": Act("shows a negative feeling", ("process_feeling_negative",)),
    "sustain": Act("says sustain talk", ("mi_sustain",)),
    "claim": Act("voices an untested claim", ("process_untested_claim",)),
    "rupture": Act("withdraws or confronts", ("process_rupture_withdrawal", "process_rupture_confrontation")),
    "risk": Act("speaks of own danger", ("process_risk_own",)),
    "correction": Act("corrects the therapist", ("process_corrects",)),
}
"""What the client does."""
ANSWERS = {
    "reflection": Act("reflects", ("mi_reflection",)),
    "question": Act("asks", ("mi_question",)),
    "input": Act("informs or advises", ("mi_input",)),
    "advice": Act("advises", ("process_advice",)),
    "named_feeling": Act("names a feeling that was expressed", ("process_feeling_expressed",)),
    "going_along": Act("goes along with a claim", ("process_goes_along",)),
    "challenge": Act("challenges a claim", ("process_challenges",)),
    "persisting": Act("persists against the client", ("process_persists",)),
    "repair": Act("repairs", ("process_repair",)),
    "risk_asked": Act("asks about danger", ("process_risk_asked",)),
    "risk_help": Act("names help in danger", ("process_risk_help",)),
    "risk_passed_over": Act("passes over danger", ("process_risk_passed_over",)),
}
"""What the therapist does next."""
PAIRS = (
    *((answer, "feeling") for answer in ("reflection", "question", "named_feeling", "advice")),
    *((answer, "sustain") for answer in ("reflection", "input", "advice", "challenge")),
    *((answer, "claim") for answer in ("reflection", "going_along", "challenge")),
    *((answer, "rupture") for answer in ("reflection", "question", "advice", "repair", "persisting")),
    *((answer, "risk") for answer in ("risk_asked", "risk_help", "risk_passed_over")),
    *((answer, "correction") for answer in ("reflection", "advice", "repair", "persisting")),
)
"""Answers and events that have columns; all codes of both are in the table of responses."""
_CORE = ("input_after_sustain", "reflection_after_feeling")
_IN_TURNS = ("input_after_sustain", "advice_after_feeling")
_BALANCED = ("mi_sustain", "mi_reflection", "mi_input")


def _columns(answer: str, event: str) -> list[Column]:
    name, does, after = f"{answer}_after_{event}", ANSWERS[answer], EVENTS[event]
    evidence: Evidence = "weak" if event == "sustain" and answer in ("reflection", "input") else "untested"
    theirs, ours = " or ".join(after.codes), " or ".join(does.codes)
    main = Column(
        name=f"{name}_rate",
        meaning=f"How often the therapist {does.doing} right after the client {after.doing}",
        unit="proportion",
        low=0,
        high=1,
        high_means=f"the therapist more often {does.doing} at once",
        formula=f"client turns with {theirs} whose answer has {ours} / such turns that are answered",
        misleads=_MISLEADS,
        source=_SOURCE,
        evidence=evidence,
        core=name in _CORE,
    )
    found = rate_columns(main, counted=f"Turns in which the client {after.doing}, whose answer {does.doing}")
    found += _difference_columns(main, name, f"the therapist {does.doing} after the client {after.doing}")
    if name in _IN_TURNS:
        found.append(
            _turn_column(main, name, f"the therapist {does.doing} in this turn after the client {after.doing}")
        )
    return found


def _difference_columns(main: Column, name: str, words: str) -> list[Column]:
    difference = replace(
        main,
        name=f"{name}_difference",
        meaning=f"How much more often {words} than after other client turns, at like lengths of both turns",
        unit="difference of proportions",
        low=-1,
        high_means="above 0: such an answer is special to such turns, and no mere habit",
        formula="rate after such client turns - rate after the others, Mantel and Haenszel's mean over four strata: "
        "shorter or longer client turns (by the session's median), shorter or longer answers; undefined with fewer "
        f"than {FEWEST} client turns or answers of either kind. Interval: Sato's variance with added turns, widened "
        "for how alike turns of a session are",
        misleads=f"{_MISLEADS}. How long an answer is may itself be an answer. Above 0 only with a lower end above 0",
        source="Greenland & Robins (1985); Sato (1989); Agresti & Caffo (2000)",
        evidence="untested",
        core=False,
    )
    return [difference, *interval_columns(difference, difference.formula)]


def _turn_column(main: Column, name: str, words: str) -> Column:
    return replace(
        main,
        name=f"{name}_turn",
        meaning=f"Whether {words}",
        unit="0 or 1",
        high_means="1: such an answer",
        formula=f"1 where the turn counts for {main.name}, else 0; empty for turns that answer no such client turn",
        level="turn",
        core=False,
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
    "advice_after_feeling_rate": OnPage("together", "Advice right after a negative feeling", first=True),
    "advice_after_feeling_difference": OnPage("together", "Advice: after a negative feeling less after other turns"),
    "reflection_after_feeling_rate": OnPage("together", "Reflection right after a negative feeling"),
    "named_feeling_after_feeling_rate": OnPage("together", "Names the feeling right after it"),
    "input_after_sustain_rate": OnPage("together", "Advice or information after sustain talk"),
    "reflection_after_sustain_rate": OnPage("together", "Reflection after sustain talk"),
    "going_along_after_claim_rate": OnPage("together", "Goes along right after an untested claim"),
    "challenge_after_claim_rate": OnPage("together", "Challenges right after an untested claim"),
    "repair_after_rupture_rate": OnPage("together", "Repairs right after a rupture"),
    "repair_after_correction_rate": OnPage("review", "Corrections put right at once"),
    "persisting_after_correction_rate": OnPage("review", "Corrections not heeded"),
    "advice_after_feeling_turn": Mark("Advice right after a negative feeling", also=True),
    "input_after_sustain_turn": Mark("Advice or information after sustain talk", also=True),
}


@measure(columns=[*(column for pair in PAIRS for column in _columns(*pair)), _BALANCE_COLUMN], core=8, page=_PAGE)
def responses(session: AnnotatedSession) -> dict[str, Value]:
    """Look at what the therapist does in the turn right after something that the client does.

    High rates mean that such an answer is usual then. The answer is the therapist's next turn, unless the client speaks
    again before it. A difference above 0 means that it comes more often then than after the client's other turns of
    about the same length: that it is special to them.

    Notes
    -----
    Long turns hold more of everything, and clients who show a feeling talk longer: so the difference compares replies
    of which both turns are shorter, or longer, than half of the session's. The balance of responses to sustain talk
    rests on probabilities: it is defined in more sessions, and tells good from poor ones better than decisions of the
    fast tagger do (AUC .93 against .79; accurate tagger: .92 and .93). All are descriptive: that advice follows sustain
    talk does not say that it caused anything.

    References
    ----------
    Miller, W. R., & Rollnick, S. (2013). Motivational interviewing (3rd ed.). Guilford. Greenland, S., & Robins, J. M.
    (1985). Estimation of a common effect parameter from sparse follow-up data. Biometrics, 41, 55-68. Sato, T. (1989).
    On the variance estimator for the Mantel-Haenszel risk difference. Biometrics, 45, 1323-1324.
    """
    client, reply = replies(session)
    after = marked(session, [one.codes for one in EVENTS.values()], client)
    gives = marked(session, [one.codes for one in ANSWERS.values()], reply)
    counts = counts_by_length(session, after, gives)
    values: dict[str, Value] = {_BALANCE: _balance(session, client, reply)}
    for answer, event in PAIRS:
        name, i, j = f"{answer}_after_{event}", list(EVENTS).index(event), list(ANSWERS).index(answer)
        n, k, n_other, k_other = np.moveaxis(counts[:, :, i, j], 1, 0)
        told, answered = (correlation_of(*one.codes) for one in (EVENTS[event], ANSWERS[answer]))
        values |= counted_rate(f"{name}_rate", float(k.sum()), float(n.sum()), correlation=answered)
        effect = design_effect(n.sum() + n_other.sum(), told * answered)
        found = matched_differences(k, n, k_other, n_other, effect)
        values |= {f"{name}_difference{end}": float(one) for end, one in zip(("", "_lo", "_hi"), found, strict=True)}
        if name in _IN_TURNS:
            asked = (after[i, :, 1] > 0) & (gives[j, :, 0] > 0)
            values[f"{name}_turn"] = _in_turns(len(session), reply[asked], gives[j, asked, 1] > 0)
    return values


def _in_turns(n: int, reply: Ints, gives: Bools) -> Floats:
    """Return 1 or 0 for the turns that answer what was told, nan for all others; (n,)."""
    marks = np.full(n, nan)
    marks[reply] = gives
    return marks


def _balance(session: AnnotatedSession, client: Ints, reply: Ints) -> float:
    resists, reflects, directs = (given(session, (code,))[0] for code in _BALANCED)
    weights, differences = resists[client], reflects[reply] - directs[reply]
    known = ~np.isnan(weights * differences)
    total = float(weights[known].sum())
    return float(weights[known] @ differences[known] / total) if total >= _FEWEST else nan
