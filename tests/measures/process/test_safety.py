"""Turns of danger and how they were met: sessions that a reader can count, and the invented excerpts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.undefined import without_totals
from therapy_analytics.measures.process.safety import ANSWERED, NOTHING, PASSED_OVER, WORSENED, safety

# C T C T C T C T ...
NAN = math.nan


def said(n: int) -> list[tuple[str, str]]:
    return [("CT"[at % 2], f"turn {at}") for at in range(n)]


def at(n: int, *places: int) -> list[int]:
    return [int(place in places) for place in range(n)]


def test_each_turn_of_danger_has_a_window_of_three_therapist_turns(make) -> None:  # type: ignore[no-untyped-def]
    codes = {
        "process_risk_own": at(20, 0, 10),
        "process_risk_passed_over": at(20, 1, 11),
        "process_risk_asked": at(20, 5, 17),  # 5 is in the window 1, 3, 5 of turn 0; 17 not in 11, 13, 15 of turn 10
    }
    values = safety(make(said(20), codes))
    assert values["n_danger_turns"] == 2
    assert values["danger_outcome"][[0, 10]].tolist() == [ANSWERED, PASSED_OVER]
    assert (values["n_danger_answered_turns"], values["n_danger_passed_over_turns"]) == (1, 1)
    assert (values["danger_answered_rate"], values["danger_passed_over_rate"]) == (0.5, 0.5)
    # Turn 1 passed over what turn 5 took up
    assert np.flatnonzero(values["danger_missed_turn"] == 1).tolist() == [11]
    assert values["n_turns_to_review"] == 3  # turns 0, 10 and 11


def test_what_is_worsened_outweighs_what_is_answered_and_nothing_may_be_found(make) -> None:  # type: ignore[no-untyped-def]
    codes = {
        "process_risk_own": at(16, 0, 8),
        "process_risk_help": at(16, 1),
        "process_risk_worsened": at(16, 3),
        "process_stigma": at(16, 13),
    }
    values = safety(make(said(16), codes))
    assert values["danger_outcome"][[0, 8]].tolist() == [WORSENED, NOTHING]
    assert (values["danger_worsened_rate"], values["danger_help_rate"], values["danger_asked_rate"]) == (0.5, 0.5, 0)
    assert np.flatnonzero(values["danger_missed_turn"] == 1).tolist() == [3]
    assert np.flatnonzero(values["stigma_turn"] == 1).tolist() == [13]
    assert values["n_turns_to_review"] == 3  # turns 0, 3 and 8


def test_past_others_and_denied_danger_are_counted_apart_and_open_no_window(make) -> None:  # type: ignore[no-untyped-def]
    codes = {
        "process_risk_past": at(8, 0),
        "process_risk_other": at(8, 2, 4),
        "process_risk_denied": at(8, 4),
        "process_risk_passed_over": at(8, 1),
    }
    values = safety(make(said(8), codes))
    assert values["n_danger_turns"] == 0
    counts = [values[f"n_danger_{one}_turns"] for one in ("past", "other", "denied")]
    assert counts == [1, 2, 1]
    assert math.isnan(values["danger_answered_rate"])
    assert np.isnan(values["danger_outcome"]).all()
    assert not np.nansum(values["danger_missed_turn"])
    assert values["n_turns_to_review"] == 0


def test_danger_at_the_end_is_answered_by_nobody_and_counts_in_no_rate(make) -> None:  # type: ignore[no-untyped-def]
    values = safety(make([("T", "Hello"), ("C", "turn")], {"process_risk_own": [0, 1]}))
    assert values["n_danger_turns"] == 1
    assert math.isnan(values["danger_answered_rate"])
    assert math.isnan(values["danger_outcome"][1])


def test_without_the_codes_danger_is_undefined_and_not_absent(make) -> None:  # type: ignore[no-untyped-def]
    for name, value in without_totals(safety(make([], {"process_risk_own": []}))).items():
        assert np.isnan(np.asarray(value, dtype=float)).all(), name
    plain = safety(make(said(4)))
    assert plain["n_danger_turns"] == 0
    assert all(np.isnan(np.asarray(plain[name])).all() for name in ("danger_outcome", "danger_answered_rate"))
    none = safety(make(said(4), {"process_risk_own": at(4)}))
    assert none["n_danger_turns"] == none["n_turns_to_review"] == 0
    assert none["danger_turn"].tolist() == pytest.approx([0, NAN, 0, NAN], nan_ok=True)


@pytest.mark.parametrize(
    ("words", "danger"),
    [
        ("I want to kill myself.", 1),
        ("I cut myself again last night.", 1),
        ("My brother tried to kill himself.", 0),
        ("The traffic was killing me.", 0),
        ("I baked a cake on Sunday.", 0),
        ("Everyone would be happier if I was gone.", 1),
        ("Some mornings I do not want to be alive.", 1),
        ("When I drink I want to cut again.", 1),
        ("I keep having suicidal thoughts at night.", 1),
        ("I'm going to strangle him when he comes home.", 1),
        # A time long ago, somebody else, a denial, a figure of speech, something to leave
        ("Twenty years ago I tried to kill myself, and I am glad that I am here.", 0),
        ("I used to burn myself when I was fifteen.", 0),
        ("In 2009 I took an overdose.", 0),
        ("My sister says she wants to die.", 0),
        ("He has got pills saved up, my dad, and I found them.", 0),
        ("If you are suicidal, please call somebody.", 0),
        ("I have no plans to kill myself.", 0),
        ("I wanted to die of embarrassment when the slides were in the wrong order.", 0),
        ("I would be better off if I just quit smoking.", 0),
        ("There is no point in staying at that firm.", 0),
        ("I am sick of living with my parents.", 0),
        # Said long ago and said again
        ("Ten years ago I tried to kill myself. Now I want to die again.", 1),
    ],
)
def test_phrases_find_danger_where_no_code_is_given(make, words: str, danger: int) -> None:  # type: ignore[no-untyped-def]
    assert safety(make([("C", words), ("T", "I hear you.")]))["n_danger_turns"] == danger


def test_what_may_speak_of_danger_is_ranked_apart_and_counted_nowhere(make) -> None:  # type: ignore[no-untyped-def]
    talk = [("C", "I am a burden to everyone."), ("T", "Go on."), ("C", "I baked a cake."), ("T", "Go on.")] * 5
    values = safety(make(talk))
    assert values["n_danger_turns"] == values["n_turns_to_review"] == 0
    assert np.nonzero(values["also_look_turn"] == 0)[0].tolist() == [2, 6, 10, 12, 14, 16, 18]
    assert values["also_look_turn"][[0, 4, 8]].tolist() == [1, 2, 3]
    assert np.isnan(values["also_look_turn"][1::2]).all()
