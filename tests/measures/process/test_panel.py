"""Several therapists or clients: agreement without content, and who challenges whom. Counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.undefined import without_totals
from therapy_analytics.measures.process.panel import panel


def named(session, *names: str):  # type: ignore[no-untyped-def]
    """Return the session with these speakers, in the order of turns."""
    turns = tuple(replace(turn, speaker=name) for turn, name in zip(session.session.turns, names, strict=True))
    return replace(session, session=replace(session.session, turns=turns))


SAID = [(role, f"turn {at}") for at, role in enumerate("CTTCTTCT")]
CODES = {
    "process_challenges": [0, 1, 0, 0, 1, 1, 0, 1],
    "mi_reflection": [0, 0, 0, 0, 0, 0, 0, 1],
}
NAMES = ("Ada", "Bo", "Cy", "Dee", "Bo", "Cy", "Ada", "Bo")


def test_a_second_therapist_who_brings_nothing_agrees_silently(make) -> None:  # type: ignore[no-untyped-def]
    values = panel(named(make(SAID, CODES), *NAMES))
    assert values["silent_agreement_rate"] == 1 / 2  # Cy follows Bo in turns 2 (no code) and 5 (challenges)
    assert values["out_of_silent_agreement"] == 2


def test_who_challenges_whom(make) -> None:  # type: ignore[no-untyped-def]
    values = panel(named(make(SAID, CODES), *NAMES))
    assert values["main_challenger_rate"] == 3 / 4  # Bo in 1, 4 and 7, Cy in 5
    assert values["most_challenged_client_rate"] == 1 / 2  # Ada before 1 and 7, Dee before 4 and 5


def test_with_one_speaker_of_a_role_and_without_codes_it_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    alone = panel(named(make(SAID, CODES), "Ada", "Bo", "Bo", "Ada", "Bo", "Bo", "Ada", "Bo"))
    bare = panel(replace(named(make(SAID), *NAMES), decisions={}, probabilities={}))
    for values in (alone, bare, panel(make([]))):
        for name, value in without_totals(values).items():
            assert np.isnan(value), name
