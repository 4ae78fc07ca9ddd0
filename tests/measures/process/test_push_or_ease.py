"""Pushing and easing off, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.undefined import without_totals
from therapy_analytics.measures.process.push_or_ease import push_or_ease

# C T C T C T C T
SAID = [("CT"[at % 2], f"turn {at}") for at in range(8)]
CODES = {
    "mi_sustain": [1, 0, 0, 0, 0, 0, 1, 0],
    "mi_change": [0, 0, 0, 0, 1, 0, 0, 0],
    "process_rupture_confrontation": [0, 0, 1, 0, 0, 0, 0, 0],
    "mi_input": [0, 1, 0, 0, 0, 1, 0, 0],
    "process_persists": [0, 0, 0, 1, 0, 0, 0, 0],
    "mi_reflection": [0, 0, 0, 1, 0, 0, 0, 1],  # 3 pushes as well, and counts as a push
}


def test_rates_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = push_or_ease(make(SAID, CODES))
    assert values["push_after_sustain_rate"] == 2 / 3  # 0 and the rupture 2 are met by a push, 6 by easing off
    assert values["ease_after_sustain_rate"] == 1 / 3
    assert values["push_after_change_rate"] == 1
    assert values["sustain_after_push_rate"] == 2 / 3  # the pushes 1, 3 and 5 are followed by 2, 4 and 6
    assert values["push_turn"][[1, 3, 5, 7]].tolist() == [1, 1, 1, -1]


def test_it_does_without_the_process_codes_and_not_without_those_of_talk(make) -> None:  # type: ignore[no-untyped-def]
    plain = {code: one for code, one in CODES.items() if code.startswith("mi_")}
    assert push_or_ease(make(SAID, plain))["push_after_sustain_rate"] == 1 / 2
    for session in (make([]), replace(make(SAID), decisions={}, probabilities={})):
        for name, value in without_totals(push_or_ease(session)).items():
            assert np.isnan(np.asarray(value)).all(), name
