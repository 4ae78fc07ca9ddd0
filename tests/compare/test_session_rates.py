"""Rates of single sessions: cases that can be counted, and how often intervals hold in simulated sessions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.compare._session_rates import session_rates


def _turns(rng: np.random.Generator, n_sessions: int = 40, n: int = 30) -> tuple[pd.DataFrame, pd.Series]:
    """Return turns with the machine's probability, too high by a quarter, and people's codes; sessions differ."""
    session = np.repeat([f"s{i:02d}" for i in range(n_sessions)], n)
    level = np.repeat(rng.normal(0, 0.12, n_sessions), n)
    truth = np.clip(rng.beta(1, 2, n_sessions * n) + level, 0, 1)
    turns = pd.DataFrame({"session_id": session, "turn": np.tile(np.arange(n), n_sessions)})
    turns["p_mi_input"] = np.clip(truth - level + 0.25, 0, 1)
    return turns, pd.Series((rng.random(len(turns)) < truth).astype(float))


def _coded(turns: pd.DataFrame, people: pd.Series, chosen: np.ndarray, inclusion: float) -> pd.DataFrame:
    keys = turns.loc[chosen, ["session_id", "turn"]]
    return keys.assign(code="mi_input", value=people[chosen], inclusion=inclusion)


def test_where_all_turns_are_coded_it_is_what_people_gave() -> None:
    turns, people = _turns(np.random.default_rng(0))
    found = session_rates(turns, _coded(turns, people, np.arange(len(turns)), 1.0)).set_index("session_id")
    own = people.groupby(turns["session_id"]).mean()
    for name in ("rate", "lo", "hi"):
        np.testing.assert_allclose(found[name], own)
    assert (found["n_turns"] == found["n_gold_turns"]).all()


def test_sessions_that_do_not_differ_have_the_rates_that_the_line_predicts() -> None:
    # The machine says .8 or .4 of turns of which people code half and none: the line is 1.25 p - .5, cut at slope 1.
    n = 40
    turns = pd.DataFrame({"session_id": np.repeat(list("abcdefgh"), n), "turn": np.tile(np.arange(n), 8)})
    turns["p_mi_input"] = np.tile(np.repeat([0.8, 0.4], n // 2), 8)
    people = pd.Series(np.tile(np.concatenate([np.tile([1.0, 0.0], n // 4), np.zeros(n // 2)]), 8))
    chosen = np.flatnonzero(turns["turn"] % 4 < 2)
    found = session_rates(turns, _coded(turns, people, chosen, 0.5))
    # Coded: .25 of 20 turns. The others: .25 - (.8 + .4) / 2 = -.35 below p, so .45 and .05.
    assert found["rate"].tolist() == pytest.approx([(20 * 0.25 + 10 * 0.45 + 10 * 0.05) / 40] * 8)
    assert found["machine_rate"].tolist() == pytest.approx([0.6] * 8)
    assert ((found["lo"] < found["rate"]) & (found["rate"] < found["hi"])).all()


def test_intervals_hold_and_rates_come_nearer_than_the_machine() -> None:
    held, off, machine = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        turns, people = _turns(rng)
        chosen = np.sort(rng.choice(len(turns), 240, replace=False))
        found = session_rates(turns, _coded(turns, people, chosen, 0.2)).set_index("session_id")
        truth = people.groupby(turns["session_id"]).mean()
        held += ((found["lo"] <= truth) & (truth <= found["hi"])).tolist()
        off += (found["rate"] - truth).tolist()
        machine += (found["machine_rate"] - truth).tolist()
    assert 0.92 < np.mean(held) < 0.98
    assert abs(np.mean(off)) < 0.02
    assert np.std(off) < 0.11
    assert np.mean(machine) > 0.15


@pytest.mark.parametrize(
    ("n", "given", "note"),
    [
        (100, 1.0, "people coded 2.5 turns a session on average, 3 are needed"),
        (240, 0.0, "0 hand-coded turns with the code or without it, 5 are needed"),
    ],
)
def test_of_too_little_there_are_no_rates(n: int, given: float, note: str) -> None:
    turns, people = _turns(np.random.default_rng(1))
    found = session_rates(turns, _coded(turns, people * given, np.arange(0, len(turns), len(turns) // n)[:n], 0.1))
    assert found[["rate", "lo", "hi"]].isna().all(axis=None)
    assert set(found["note"]) == {note}
    assert found["machine_rate"].between(0, 1).all()


def test_the_order_of_sessions_and_turns_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    turns, people = _turns(rng)
    gold = _coded(turns, people, np.sort(rng.choice(len(turns), 240, replace=False)), 0.2)
    mixed = turns.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(session_rates(turns, gold), session_rates(mixed, gold.sample(frac=1, random_state=2)))


def test_a_code_that_no_turn_can_have_and_turns_without_a_probability_of_the_draw_are_left_out() -> None:
    turns, people = _turns(np.random.default_rng(4))
    turns["p_mi_change"] = np.nan
    gold = _coded(turns, people, np.arange(0, len(turns), 3), 0.3)
    found = session_rates(turns, pd.concat([gold, gold.assign(code="mi_change")]))
    assert set(found["code"]) == {"mi_input"}
    unknown = gold.assign(inclusion=np.nan)
    assert set(session_rates(turns, unknown)["n_gold_turns"]) == {0}


@pytest.mark.parametrize("kind", ["probabilities", "0 and 1"])
def test_intervals_hold_where_the_machine_knows_one_rate_for_all(kind: str) -> None:
    held = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        people = pd.Series((rng.random(2400) < np.repeat(rng.beta(3, 7, 40), 60)).astype(float))
        seen = 2 * people + rng.normal(size=2400)
        p = 1 / (1 + np.exp(-(np.log(3 / 7) + 2 * seen - 2)))
        turns = pd.DataFrame(
            {"session_id": np.repeat(np.arange(40).astype(str), 60), "turn": np.tile(np.arange(60), 40)}
        )
        turns["p_mi_input"] = p if kind == "probabilities" else (p > 0.5).astype(float)
        found = session_rates(turns, _coded(turns, people, np.flatnonzero(rng.random(2400) < 1 / 6), 1 / 6))
        truth = people.groupby(turns["session_id"]).mean()[found["session_id"]].to_numpy()
        held += ((found["lo"] <= truth + 1e-9) & (truth <= found["hi"] + 1e-9)).tolist()
    assert 0.9 < np.mean(held) < 0.99
