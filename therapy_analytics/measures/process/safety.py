"""Turns to review: client turns of present danger, and how the therapist met them. Never a sign that all is safe."""

from __future__ import annotations

from math import nan

import numpy as np

from therapy_analytics.codes.danger import CODE, danger_phrases
from therapy_analytics.measures import columns_of, measure
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.rates import counted_rate, marks
from therapy_analytics.measures.turns import WITHIN, Bools, Floats, any_in, given, next_turns, spoken
from therapy_analytics.text import AnnotatedSession

NOTHING, PASSED_OVER, ANSWERED, WORSENED = 0.0, 1.0, 2.0, 3.0
MOST_LOOKED_AT = 3
"""The most turns of a session to look at besides those that are marked."""


@measure(columns=lambda *_: columns_of(__file__, WITHIN=WITHIN, MOST=MOST_LOOKED_AT), core=11)
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
    client, therapist = spoken(session, "client"), spoken(session, "therapist")
    clear, possible = danger_phrases(session)
    likely, own = given(session, (CODE,))
    danger = (own | clear) & client
    windows = next_turns(danger, therapist)
    asked, helped, passed, worse = (
        given(session, (f"process_risk_{one}",))[1] for one in ("asked", "help", "passed_over", "worsened")
    )
    in_window = {"asked": asked, "help": helped, "passed": passed, "worse": worse}
    found = {name: any_in(windows, turns) for name, turns in in_window.items()}
    answered = found["asked"] | found["help"]

    missed = np.zeros(len(session), dtype=np.bool_)
    missed[windows[~answered][windows[~answered] >= 0]] = True
    missed = (missed & passed) | (worse & therapist)
    look = (possible | session.unsure.get(CODE, False)) & client & ~danger
    stigma = given(session, ("process_stigma",))[1] & therapist
    values: dict[str, Value] = {
        "n_danger_turns": float(np.count_nonzero(danger)) if client.any() else nan,
        "n_turns_to_review": float(np.count_nonzero(danger | missed)) if client.any() else nan,
        "danger_turn": marks(client, danger),
        "also_look_turn": np.where(client, _ranked(look, likely), nan),
        "danger_missed_turn": marks(
            therapist & _known(session, "process_risk_passed_over", "process_risk_worsened"), missed
        ),
        "stigma_turn": marks(therapist & _known(session, "process_stigma"), stigma),
    }
    for aside in ("past", "other", "denied"):
        code = f"process_risk_{aside}"
        n = np.count_nonzero(given(session, (code,))[1] & client)
        values[f"n_danger_{aside}_turns"] = float(n) if (client & _known(session, code)).any() else nan

    given_answers = session.has("process_risk_asked", "process_risk_help")
    followed = (windows >= 0).any(axis=1)
    outcome = np.select([found["worse"], answered, found["passed"]], [WORSENED, ANSWERED, PASSED_OVER], NOTHING)
    of_turns: Floats = np.full(len(session), nan)
    if given_answers:
        of_turns[np.flatnonzero(danger)[followed]] = outcome[followed]
    values["danger_outcome"] = of_turns
    for name, which in (("passed_over", PASSED_OVER), ("answered", ANSWERED), ("worsened", WORSENED)):
        n = np.count_nonzero(of_turns == which)
        values[f"n_danger_{name}_turns"] = float(n) if given_answers and client.any() else nan

    met = {
        "answered": answered,
        "asked": found["asked"],
        "help": found["help"],
        "passed_over": found["passed"] & ~answered,
        "worsened": found["worse"],
    }
    out_of = np.count_nonzero(followed) if given_answers else 0
    for name, hits in met.items():
        values |= counted_rate(
            f"danger_{name}_rate", float(np.count_nonzero(hits[followed])) if out_of else 0.0, float(out_of)
        )
    return values


def _known(session: AnnotatedSession, *codes: str) -> Bools:
    return ~np.isnan(given(session, codes)[0])


def _ranked(turns: Bools, likely: Floats) -> Floats:
    """Return the ranks of the likeliest of some turns, 0 for all others; (n_turns,)."""
    ranks: Floats = np.zeros(len(turns))
    at = np.flatnonzero(turns)
    first = at[np.argsort(-np.nan_to_num(likely[at]), kind="stable")][:MOST_LOOKED_AT]
    ranks[first] = np.arange(1, len(first) + 1)
    return ranks
