"""How the therapist answers feelings, sustain talk, untested claims, ruptures, danger and corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures import Column, columns_of, measure
from therapy_analytics.measures.base import Mark, OnPage, Shown, Value
from therapy_analytics.measures.intervals import FEWEST, design_effect, matched_differences
from therapy_analytics.measures.rates import counted_rate
from therapy_analytics.measures.response_rows import counts_by_length, marked
from therapy_analytics.measures.turns import given, replies
from therapy_analytics.text import AnnotatedSession, Lexicon

_FEWEST_EXPECTED = 1.0
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
_CHECKED = ("reflection_after_sustain", "input_after_sustain")


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    found = []
    for answer, event in PAIRS:
        name, does, after = f"{answer}_after_{event}", ANSWERS[answer], EVENTS[event]
        words = {"name": name, "answer": does.doing, "event": after.doing, "FEWEST": FEWEST}
        words |= {"answer_codes": " or ".join(does.codes), "event_codes": " or ".join(after.codes)}
        words |= {"evidence": "weak" if name in _CHECKED else "untested"}
        rate = columns_of(__file__, "rate", **words)
        found += [replace(one, core=name in _CORE and one.statistic != "out_of") for one in rate]
        found += columns_of(__file__, "difference", **words)
        found += columns_of(__file__, "turn", **words) if name in _IN_TURNS else []
    return found + columns_of(__file__, FEWEST_EXPECTED=_FEWEST_EXPECTED)


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


@measure(columns=_columns, core=8, page=_PAGE)
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
    values: dict[str, Value] = {}
    for answer, event in PAIRS:
        name, i, j = f"{answer}_after_{event}", list(EVENTS).index(event), list(ANSWERS).index(answer)
        n, k, n_other, k_other = np.moveaxis(counts[:, :, i, j], 1, 0)
        told, answered = (correlation_of(*one.codes) for one in (EVENTS[event], ANSWERS[answer]))
        values |= counted_rate(f"{name}_rate", float(k.sum()), float(n.sum()), correlation=answered)
        effect = design_effect(n.sum() + n_other.sum(), told * answered)
        found = matched_differences(k, n, k_other, n_other, effect)
        values |= {f"{name}_difference{end}": float(one) for end, one in zip(("", "_lo", "_hi"), found, strict=True)}
        if name in _IN_TURNS:
            asked, in_turns = (after[i, :, 1] > 0) & (gives[j, :, 0] > 0), np.full(len(session), nan)
            in_turns[reply[asked]] = gives[j, asked, 1] > 0
            values[f"{name}_turn"] = in_turns
    resists, reflects, directs = (given(session, (code,))[0] for code in ("mi_sustain", "mi_reflection", "mi_input"))
    weights, differences = resists[client], reflects[reply] - directs[reply]
    known = ~np.isnan(weights * differences)
    total = float(weights[known].sum())
    balance = float(weights[known] @ differences[known] / total) if total >= _FEWEST_EXPECTED else nan
    return values | {"sustain_response_balance": balance}
