"""The client's state: a chain worked out by hand, where turning points stand, and what may not move the numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.undefined import without_totals
from therapy_analytics import read
from therapy_analytics.behaviours import load_tagger, with_codes
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process._client_state import (
    FEWEST,
    Opening,
    Talk,
    rising,
    slope,
    talk_parameters,
    thirds,
    three_way,
    tracked,
    turning_points,
)
from therapy_analytics.measures.process.client_state import client_state

EVEN = (1 / 3, 1 / 3, 1 / 3)
STATES = ("state_change", "state_sustain", "state_neutral")


def test_a_chain_worked_out_by_hand() -> None:
    # Base rates of a third cancel, pull 1: the phase is the talk. With stay .4, of what was p before the next turn
    # expects .4 p + .6 / 3 = .4 p + .2 of each kind.
    talk = Talk(EVEN, exponent=1.0, stay=0.4, pull=1.0)
    found = tracked(np.array([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4]]), talk)
    # First turn, live: what was said. Then expected: .4, .3, .3; times .2, .4, .4: .08, .12, .12, of .32 in all.
    np.testing.assert_allclose(found.live, [[0.5, 0.25, 0.25], [0.25, 0.375, 0.375]])
    # Looking back, the second turn speaks for a phase before it with .4 x its own + .2 x 1: .28, .36, .36.
    # Times .5, .25, .25: .14, .09, .09, of .32. The last turn has nothing after it.
    np.testing.assert_allclose(found.smoothed, [[0.4375, 0.28125, 0.28125], [0.25, 0.375, 0.375]])


def test_a_phase_that_draws_talk_by_half() -> None:
    # The words of the first turn speak for change alone (near enough). A phase of change has talk of change with
    # .5 + .5 / 3 = 2/3, another with 1/6: phases 4/6, 1/6, 1/6. With stay .5 the next expects .5 p + 1/6:
    # 1/2, 1/4, 1/4. Its words say nothing (a third each): talk of change .5 x .5 + .5 / 3 = .41667.
    p = np.array([[1 - 2e-9, 1e-9, 1e-9], EVEN])
    found = tracked(p, Talk(EVEN, exponent=1.0, stay=0.5, pull=0.5))
    np.testing.assert_allclose(found.live[1], [0.41667, 0.29167, 0.29167], atol=1e-5)


def test_without_memory_it_is_what_the_coder_said() -> None:
    p = np.random.default_rng(0).dirichlet((1, 1, 2), size=30)
    base = talk_parameters().base_rates
    for talk in (Talk(base, 1.0, stay=0.0, pull=0.5), Talk(base, 1.0, stay=0.5, pull=0.0)):
        found = tracked(p, talk)
        np.testing.assert_allclose(found.live, p)
        np.testing.assert_allclose(found.smoothed, p)


def test_probabilities_add_up_and_neighbours_pull() -> None:
    p = np.tile([0.1, 0.1, 0.8], (9, 1))
    p[[3, 5]] = [0.8, 0.1, 0.1]
    found = tracked(p, talk_parameters())
    np.testing.assert_allclose(found.live.sum(axis=1), 1)
    np.testing.assert_allclose(found.smoothed.sum(axis=1), 1)
    assert found.live[4, 0] > found.live[2, 0]  # a turn after talk of change
    assert found.smoothed[4, 0] > found.live[4, 0]  # and before it, which only the whole session shows
    assert found.smoothed[2, 0] > found.live[2, 0]


def test_a_live_estimate_does_not_know_what_comes() -> None:
    p = np.random.default_rng(1).dirichlet((1, 1, 2), size=50)
    whole, begun = tracked(p, talk_parameters()), tracked(p[:30], talk_parameters())
    np.testing.assert_array_equal(whole.live[:30], begun.live)
    assert not np.allclose(whole.smoothed[:30], begun.smoothed)


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_turn_is_found_where_it_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    like = np.array([[0.15, 0.5, 0.35]] * 20 + [[0.5, 0.15, 0.35]] * 20)
    noisy = like * np.exp(rng.normal(scale=0.4, size=like.shape))
    balance = tracked(noisy / noisy.sum(axis=1, keepdims=True), talk_parameters()).balance
    points = turning_points(balance)
    (at,) = np.flatnonzero(points)
    assert abs(at - 20) <= 2
    assert points[at] == 1
    assert turning_points(-balance)[at] == -1
    first, last = thirds(balance)
    assert first < -0.15 < 0.15 < last
    assert slope(balance)[1] > 0


def test_turning_points_hold_and_dips_do_not_count() -> None:
    assert not turning_points(np.array([0.5, 0.1, -0.1, 0.2, -0.14, 0.3])).any()  # never beyond -.15
    assert not turning_points(np.array([0.5, 0.5, 0.5, -0.5, -0.5, 0.5, 0.5, 0.5])).any()  # two turns only
    assert np.flatnonzero(turning_points(np.array([0.5, 0.5, 0.5, -0.5, 0.0, -0.1, 0.5, 0.5, 0.5]))).tolist() == [3, 6]
    assert not turning_points(np.array([0.5, 0.5, 0.5, -0.5, -0.5])).any()  # the end comes before it has held
    assert not turning_points(np.zeros(0)).any()


def test_the_slope_is_that_of_least_squares() -> None:
    series = np.random.default_rng(2).normal(size=40)
    found, low, high = slope(series)
    assert found == pytest.approx(np.polyfit(np.linspace(0, 1, 40), series, 1)[0])
    assert low < found < high
    assert np.isnan(slope(series[: FEWEST - 1])).all()


def test_opening_rises_and_falls() -> None:
    opening = Opening(start=0.02, level=0.02, slope=0.0005, noise=2.0)
    ramp = np.linspace(0, 6, 30)
    assert rising(ramp, opening)[-1] > 0.9
    np.testing.assert_allclose(rising(ramp, opening), 1 - rising(-ramp, opening))
    np.testing.assert_allclose(rising(np.ones(20), opening), 0.5)


SAID = [
    ("T", "What do you make of it?"),  # 0
    ("C", "I could not give it up."),  # 1 sustain
    ("C", "There is no way that I would."),  # 2 sustain, said on
    ("T", "It is part of you."),  # 3 reflection
    ("C", "No, I like it too much."),  # 4 sustain
    ("T", "And yet you are here."),  # 5 reflection
    ("C", "Well, I want to stop for my son."),  # 6 change
    ("T", "Go on."),  # 7
    ("C", "I will throw them out today."),  # 8 change
    ("C", "And I will tell my wife."),  # 9 change
]
CODES = {
    "mi_sustain": [0, 1, 1, 0, 1, 0, 0, 0, 0, 0],
    "mi_change": [0, 0, 0, 0, 0, 0, 1, 0, 1, 1],
    "mi_reflection": [0, 0, 0, 1, 0, 1, 0, 0, 0, 0],
}
CLIENT = [1, 2, 4, 6, 8, 9]


def test_a_session_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = client_state(make(SAID, CODES))
    # Sustain in 1, 2 and 4, then change in 6, 8 and 9: one turning point, in 6, after the reflection in 5.
    np.testing.assert_equal(np.asarray(values["turning_point_turn"])[CLIENT], [0, 0, 0, 1, 0, 0])
    assert values["n_turning_points_to_change"] == 1
    assert values["n_turning_points_to_sustain"] == 0
    assert values["n_reflection_before_turn_to_change"] == 1
    assert values["reflection_before_turn_to_change_rate"] == 1
    assert np.isnan(values["input_before_turn_to_sustain_rate"])
    balance = np.asarray(values["state_balance"])
    assert values["change_balance_first"] == pytest.approx(balance[[1, 2]].mean())
    assert values["change_balance_last"] == pytest.approx(balance[[8, 9]].mean())
    assert np.isnan(values["change_balance_slope"])  # six turns


def test_only_coded_turns_of_the_client_have_a_state(make) -> None:  # type: ignore[no-untyped-def]
    session = make([*SAID, ("C", "...")], {name: [*given, 0] for name, given in CODES.items()})
    values = client_state(session)
    states = np.array([values[name] for name in STATES])
    assert np.flatnonzero(~np.isnan(states).any(axis=0)).tolist() == CLIENT
    np.testing.assert_allclose(states[:, CLIENT].sum(axis=0), 1)
    uncoded = {name: p.copy() for name, p in session.probabilities.items()}
    uncoded["mi_change"][4] = np.nan
    found = client_state(replace(session, probabilities=uncoded))
    assert np.isnan(np.asarray(found["state_change"])[4])
    assert not np.isnan(np.asarray(found["state_change"])[CLIENT[:2] + CLIENT[3:]]).any()


def test_a_coder_that_says_yes_or_no(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, CODES)
    plain = {name: np.where(np.isnan(p), p, np.round(p)) for name, p in session.probabilities.items()}
    values = client_state(replace(session, probabilities=plain))
    states = np.array([values[name] for name in STATES])[:, CLIENT]
    assert ((states > 0) & (states < 1)).all()
    assert values["n_turning_points_to_change"] == 1
    np.testing.assert_allclose(three_way(np.ones(1), np.ones(1)).sum(axis=1), 1)


def test_undefined_without_codes_or_a_client(make) -> None:  # type: ignore[no-untyped-def]
    bare = client_state(replace(make(SAID), probabilities={}, decisions={}))
    assert {
        name for name, value in without_totals(bare).items() if not np.isnan(np.asarray(value, dtype=float)).all()
    } == {"opening_trend"}
    for said in ([], [("T", "Hello there, how are you?")], [("T", "Hello"), ("C", "...")]):
        for name, value in without_totals(client_state(make(said))).items():
            assert np.isnan(np.asarray(value, dtype=float)).all(), name


def test_what_is_said_after_does_not_change_live_values(make) -> None:  # type: ignore[no-untyped-def]
    begun, whole = client_state(make(SAID[:7], _first(7))), client_state(make(SAID, CODES))
    for name in (*STATES, "opening_trend"):
        np.testing.assert_array_equal(np.asarray(whole[name])[:7], begun[name], err_msg=name)


def _first(n: int) -> dict[str, list[int]]:
    return {name: given[:n] for name, given in CODES.items()}


def _coded(corpora: Path, name: str, n: int) -> list[AnnotatedSession]:
    batch = annotate(
        sorted(read(corpora / name / f"{name}.csv"), key=lambda one: one.id)[:n], Matcher(builtin_lexicons())
    )
    codes = load_tagger().predict(batch)
    return [with_codes(one, codes, int(batch.starts[i]), ("therapist", "client")) for i, one in enumerate(batch)]


def test_no_value_depends_on_the_batch(corpora: Path) -> None:
    together = _coded(corpora, "mibot", 4)
    for session in together:
        batch = annotate([session.session], Matcher(builtin_lexicons()))
        alone = with_codes(next(iter(batch)), load_tagger().predict(batch), 0, ("therapist", "client"))
        other = client_state(alone)
        for name, value in client_state(session).items():
            np.testing.assert_array_equal(value, other[name], err_msg=name)


def test_clients_lean_more_to_change_at_the_end(corpora: Path) -> None:
    """Demonstrations of motivational interviewing end with talk of change: 24 sessions of HLQC and MIBOT."""
    values = [client_state(one) for name in ("hlqc", "mibot") for one in _coded(corpora, name, 12)]
    gaps = np.array([one["change_balance_last"] - one["change_balance_first"] for one in values])
    assert np.nanmean(gaps) > 0
