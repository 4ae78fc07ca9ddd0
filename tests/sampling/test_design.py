"""Inclusion probabilities that a reader can count, draws that keep them, and estimates that are right on average."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.stats.compare.powered import powered_interval, powered_rates, weighted_mean
from therapy_analytics.stats.sampling.design import (
    design,
    drawn,
    inclusion_probabilities,
    uncertainty,
    weights_in_rates,
)
from therapy_analytics.stats.sampling.promise import half_width

DRAWS = 500


def _turns() -> pd.DataFrame:
    """Return 12 turns: group x has sessions a (4) and b (2), group y session c (6); of each, half are the client's."""
    frame = pd.DataFrame({"session_id": list("aaaabbcccccc"), "group": list("xxxxxxyyyyyy")})
    frame["role"] = ["therapist", "client"] * 6
    frame["turn"] = frame.groupby("session_id").cumcount()
    return frame


def test_probabilities_can_be_counted_by_hand() -> None:
    turns = _turns()
    weights = weights_in_rates(turns)
    # of a role, a turn of a counts 1 / (2 sessions x 2 turns), of b 1 / (2 x 1), of c 1 / (1 x 3)
    assert weights.tolist() == pytest.approx([0.25] * 4 + [0.5] * 2 + [1 / 3] * 6)
    even = design(weights, np.ones(12), 4, floor=1.0).inclusion
    # four groups and roles, one turn for each
    assert even.tolist() == pytest.approx([0.25] * 4 + [0.5] * 2 + [1 / 3] * 6)
    unsure = np.array([0.4] + [0.1] * 11)
    found = design(weights, unsure, 4, floor=0.5)
    share = weights * unsure / (weights * unsure).sum()
    assert found.inclusion == pytest.approx(2 * even / 4 + 2 * share)
    assert found.unsure.tolist() == [True] + [False] * 11
    assert found.inclusion.sum() == pytest.approx(4)


def test_nobody_is_drawn_more_than_surely() -> None:
    assert inclusion_probabilities(np.array([100.0, 10.0, 1.0, 1.0]), 3).tolist() == pytest.approx([1, 1, 0.5, 0.5])
    assert inclusion_probabilities(np.array([5.0, 1.0]), 2).tolist() == [1, 1]


def test_a_machine_without_doubt_leaves_an_even_sample() -> None:
    weights = weights_in_rates(_turns())
    certain = design(weights, np.zeros(12), 4)
    assert certain.inclusion == pytest.approx(design(weights, np.ones(12), 4, floor=1.0).inclusion)
    assert not certain.unsure.any()


def test_draws_have_the_size_the_shares_and_the_probabilities() -> None:
    rng = np.random.default_rng(0)
    turns = _turns()
    inclusion = design(weights_in_rates(turns), rng.random(12), 4).inclusion
    counts = np.zeros(12)
    sums = pd.Series(inclusion).groupby([turns["group"], turns["role"]]).sum()
    for _ in range(DRAWS):
        chosen = drawn(turns, inclusion, rng)
        assert len(set(chosen)) == 4
        counts[chosen] += 1
        own = turns.iloc[chosen].groupby(["group", "role"]).size().reindex(sums.index, fill_value=0)
        assert (own >= np.floor(sums)).all()
        assert (own <= np.ceil(sums)).all()
    error = np.sqrt(inclusion * (1 - inclusion) / DRAWS)
    assert (np.abs(counts / DRAWS - inclusion) < 4 * error).all()


def test_certain_turns_are_always_drawn_and_a_census_is_all() -> None:
    rng = np.random.default_rng(1)
    inclusion = np.array([1.0, *[3 / 11] * 11])
    assert all(0 in drawn(_turns(), inclusion, rng) for _ in range(50))
    assert drawn(_turns(), np.ones(12), rng).tolist() == list(range(12))


def test_the_estimate_is_right_on_average_whatever_the_tagger_says() -> None:
    rng = np.random.default_rng(2)
    n = 60
    turns = pd.DataFrame({"session_id": np.repeat(np.arange(12), 5), "turn": np.tile(np.arange(5), 12)})
    turns = turns.assign(role="therapist", group="all", p_mi_input=np.clip(rng.beta(2, 1, n), 0.01, 0.99))
    truth = (rng.random(n) < 0.3).astype(float)  # the machine says .67 and knows nothing
    inclusion = design(weights_in_rates(turns), uncertainty(turns[["p_mi_input"]].to_numpy()), 20).inclusion
    total = []
    for _ in range(DRAWS):
        chosen = drawn(turns, inclusion, rng)
        times = np.zeros(n)
        times[chosen] = 1 / inclusion[chosen]
        total.append(turns["p_mi_input"].mean() + (times * (truth - turns["p_mi_input"])).mean())
    assert np.mean(total) == pytest.approx(truth.mean(), abs=4 * np.std(total) / sqrt(DRAWS))
    ratio = []
    for _ in range(100):
        chosen = drawn(turns, inclusion, rng)
        gold = turns.iloc[chosen][["session_id", "turn"]].assign(
            code="mi_input", value=truth[chosen], inclusion=inclusion[chosen]
        )
        ratio.append(powered_rates(turns, gold, by="group")["rate"].iloc[0])
    assert np.mean(ratio) == pytest.approx(truth.mean(), abs=4 * np.std(ratio) / 10 + 0.01)


def test_weights_of_one_are_the_mean_of_sessions() -> None:
    # All turns coded: people's means of two sessions, .5 and 0; the machine's .75 and .25 cancel.
    people, machine = np.array([0.5, 0.0, 0.2, 0.1]), np.array([0.75, 0.25, 0.3, 0.3])
    found = weighted_mean(people, machine, np.ones(4), machine, np.arange(4), weight=1.0)
    assert found.value == pytest.approx(0.2)
    left = people - 0.2
    assert found.error == pytest.approx(sqrt(4 / 2 * float(left @ left)) / 4)


def test_a_sample_that_is_not_coded_to_its_end_is_noted() -> None:
    turns = pd.DataFrame({"session_id": np.repeat(np.arange(20), 10), "turn": np.tile(np.arange(10), 20), "all": "all"})
    turns["p_mi_input"] = np.tile([0.8, 0.2], 100)
    gold = turns[turns["turn"] < 5][["session_id", "turn"]].assign(code="mi_input", inclusion=0.5)
    gold["value"] = np.tile([1, 0, 1, 0, 0], 20)
    assert "is the sample" not in powered_rates(turns, gold, by="all")["note"].iloc[0]
    part = powered_rates(turns, gold[gold["session_id"] < 12], by="all")["note"].iloc[0]
    assert "the coded turns stand for 60% of all: is the sample coded to its end?" in part


def test_an_expected_interval_is_that_of_the_estimate() -> None:
    # 40 sessions of 10 turns with p = .5 and inclusion 1/4: no variance between the machine's rates; a turn adds
    # .25 / .25, so a session 10 / 10^2; what the machine does not see adds .1 x .25: all 40 x .125 / 40^2 = .003125.
    turns = pd.DataFrame({"p": np.tile([0.5001, 0.4999], 200), "session_id": np.repeat(np.arange(40), 10)})
    turns["cluster"] = turns["session_id"].astype(str)
    coded = 40 * (1 - 0.75**10)
    error = sqrt(0.003125 * coded / (coded - 2))
    found = weighted_mean(*(np.full(40, one) for one in (0.5, 0.5, 1.0, 0.5)), np.arange(40), weight=1.0)
    low, high = powered_interval(type(found)(0.5, error, 1.0, round(coded)), np.inf, drawn=True)
    assert half_width(turns, np.full(400, 0.25)) == pytest.approx((high - low) / 2, rel=1e-3)
    assert half_width(turns, np.full(400, 0.5)) < half_width(turns, np.full(400, 0.25))
    assert np.isnan(half_width(turns[turns["session_id"] < 3], np.full(30, 0.5)))
