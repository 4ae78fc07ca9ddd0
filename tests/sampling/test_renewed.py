"""A promise that is computed anew: nearer to what the sample buys where the machine errs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special

from benchmarks.coding_samples import calibrated
from therapy_analytics.stats.sampling import FEWEST_CODED
from therapy_analytics.stats.sampling.design import design, drawn, uncertainty, weights_in_rates
from therapy_analytics.stats.sampling.promise import differing, half_width, recalibrated


def promises(turns: pd.DataFrame, off: float, seed: int) -> tuple[float, float, float]:
    """Return half-widths: of the true probabilities, of a machine's that are off in log-odds, and computed anew."""
    rng = np.random.default_rng(seed)
    machine = special.expit(special.logit(turns["p_code"].clip(1e-6, 1 - 1e-6).to_numpy()) + off)
    inclusion = design(weights_in_rates(turns), uncertainty(machine[:, None]), 200).inclusion
    chosen = rng.permutation(drawn(turns, inclusion, rng))[:FEWEST_CODED]
    people = np.full(len(turns), np.nan)
    people[chosen] = turns["true_code"].to_numpy()[chosen]
    every = turns["p_code"].to_numpy(), machine, recalibrated(machine, people, pd.factorize(turns["session_id"])[0])
    true, first, now = (half_width(turns.assign(p=p), inclusion) for p in every)
    return true, first, now


def test_a_machine_that_sees_a_code_too_often_promises_too_much():
    turns = calibrated(np.random.default_rng(1), 0.1, 1.0).assign(cluster=lambda one: one["session_id"])
    true, first, now = np.array([promises(turns, 1.3, seed) for seed in range(15)]).T
    near = np.abs(np.log(now / true)) < np.abs(np.log(first / true))
    assert near.mean() > 0.9
    assert (np.abs(now / true - 1) <= 0.2).mean() > (np.abs(first / true - 1) <= 0.2).mean()
    assert (now < first).all()


def test_a_machine_that_is_right_keeps_its_promise():
    turns = calibrated(np.random.default_rng(2), 0.3, 1.0).assign(cluster=lambda one: one["session_id"])
    true, first, now = np.array([promises(turns, 0.0, seed) for seed in range(15)]).T
    assert first == pytest.approx(true)
    assert (np.abs(now / true - 1) < 0.1).mean() > 0.8


def test_without_codes_nothing_changes():
    p = np.array([0.1, 0.5, 0.9])
    assert recalibrated(p, np.full(3, np.nan), np.arange(3)) == pytest.approx(p)


def test_turns_of_one_session_say_less():
    p, people = np.full(40, 0.5), np.where(np.arange(40) < 20, 0.0, np.nan)
    apart, together = (recalibrated(p, people, session)[0] for session in (np.arange(40), np.arange(40) // 20))
    assert apart < together < 0.5


def test_share_of_turns_that_differ_is_that_of_its_kappa():
    # 30 of 100 by each, 20 by both: 20 differ; expected agreement .58, kappa (.8 - .58) / .42.
    assert differing(0.3, (0.8 - 0.58) / 0.42) == pytest.approx(0.2)
    assert np.isnan(differing(0.3, np.nan))
