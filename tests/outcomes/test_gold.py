"""Slopes with some sessions coded by hand: limits that are known, a biased tagger, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.agreement import GoldOptions
from therapy_analytics.agreement._gold import read_gold
from therapy_analytics.agreement._machine import read_machine
from therapy_analytics.outcomes._gold import (
    FEWEST_GOLD,
    RATE_ON_SCORE,
    SCORE_ON_RATE,
    corrected_slopes,
    rates_by_hand,
)


def _study(n: int, seed: int, *, lean: float = 0.0) -> pd.DataFrame:
    """Return true rates, those of the machine (`lean` says how far with the score), and scores."""
    rng = np.random.default_rng(seed)
    true = rng.binomial(40, rng.beta(4, 6, n)) / 40
    score = 20 + 10 * true + rng.normal(0, 2, n)
    machine = 0.1 + 0.7 * true + lean * (score - 24) + rng.normal(0, 0.05, n)
    return pd.DataFrame({"session_id": [f"s{i}" for i in range(n)], "true": true, "asks": machine, "ors": score})


def _found(study: pd.DataFrame, n_gold: int, seed: int = 0) -> pd.DataFrame:
    people = study[["session_id", "true"]].sample(n_gold, random_state=seed).rename(columns={"true": "asks"})
    return corrected_slopes(study, people, ["asks"], ["ors"]).set_index("direction")


def test_a_machine_that_makes_no_error_is_believed() -> None:
    study = _study(100, 1)
    found = _found(study.assign(asks=study["true"] + np.random.default_rng(0).normal(0, 1e-6, 100)), 20)
    for direction in (SCORE_ON_RATE, RATE_ON_SCORE):
        row = found.loc[direction]
        assert row["slope"] == pytest.approx(row["machine_slope"], rel=0.03)
        assert row["hi"] - row["lo"] == pytest.approx(row["machine_hi"] - row["machine_lo"], rel=0.08)


def test_a_machine_that_knows_nothing_leaves_what_people_coded() -> None:
    study = _study(400, 2).assign(asks=np.random.default_rng(1).normal(0.5, 0.1, 400))
    row = _found(study, 60).loc[RATE_ON_SCORE]
    assert row["slope"] == pytest.approx(row["gold_slope"], abs=0.003)
    assert row["hi"] - row["lo"] == pytest.approx(row["gold_hi"] - row["gold_lo"], rel=0.1)


def test_a_tagger_that_leans_with_the_score_is_set_right() -> None:
    study = _study(200, 3, lean=0.04)
    found = _found(study, 40).loc[SCORE_ON_RATE]
    true = np.polyfit(study["true"], study["ors"], 1)[0]
    assert found["machine_lo"] > true
    assert found["lo"] < true < found["hi"]


def test_intervals_hold_with_ten_sessions_by_hand() -> None:
    large = _study(200_000, 0, lean=0.04)
    both = np.cov(large["true"], large["ors"])
    truth = {SCORE_ON_RATE: both[0, 1] / both[0, 0], RATE_ON_SCORE: both[0, 1] / both[1, 1]}
    inside, naive = [], []
    for seed in range(60):
        found = _found(_study(60, seed, lean=0.04), 10, seed)
        inside += [row["lo"] <= truth[way] <= row["hi"] for way, row in found.iterrows()]
        naive += [row["machine_lo"] <= truth[way] <= row["machine_hi"] for way, row in found.iterrows()]
    assert 0.88 <= np.mean(inside) <= 0.99
    assert np.mean(naive) < 0.5


def test_what_is_too_little_is_said() -> None:
    study = _study(40, 4)
    few = _found(study, FEWEST_GOLD - 1)
    assert few[["slope", "lo", "hi", "p"]].isna().all(axis=None)
    assert set(few["note"]) == {"7 sessions coded by hand have a score, 8 are needed"}
    assert set(_found(study, 35)["note"]) == {"nearly all sessions are coded by hand: see gold_slope"}
    assert set(_found(study.assign(true=0.5), 10)["note"]) == {
        "score or rate do not vary over the sessions coded by hand"
    }
    assert corrected_slopes(study, study[["session_id"]], ["asks"], ["ors"]).empty


def test_scores_that_are_missing_are_left_out() -> None:
    study = _study(60, 5)
    study.loc[:9, "ors"] = np.nan
    row = _found(study, 30).loc[SCORE_ON_RATE]
    assert row["n_sessions"] == 50
    assert row["n_gold"] < 30


def test_rates_by_hand_are_means_of_sessions_that_were_coded_whole() -> None:
    turns = pd.DataFrame({"session_id": ["a"] * 4 + ["b"] * 4, "turn": [0, 1, 2, 3] * 2})
    turns["role"] = ["therapist", "client"] * 4
    of_therapist = turns["role"] == "therapist"
    turns["mi_question"], turns["p_mi_question"] = (
        np.where(of_therapist, 1, np.nan),
        np.where(of_therapist, 0.9, np.nan),
    )
    gold = pd.DataFrame({"session_id": ["a", "a", "a", "b"], "turn": [0, 0, 2, 0], "coder": ["x", "y", "x", "x"]})
    gold["code"], gold["value"] = "mi_question", ["1", "0", "1", "1"]
    machine = read_machine(turns)
    found = rates_by_hand(machine, read_gold(machine, gold, GoldOptions())).set_index("session_id")[
        "therapist_question_rate"
    ]
    # a: turns of (1 + 0) / 2 and 1; of b only one of two turns was coded
    assert found["a"] == 0.75
    assert np.isnan(found["b"])
