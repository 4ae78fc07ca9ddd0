"""Prediction-powered rates: the published formula, and coverage in simulated sessions whatever the tagger does."""

from __future__ import annotations

from math import inf, isnan

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.stats.compare.powered import (
    FEWEST_EVENTS,
    Powered,
    powered_differences,
    powered_interval,
    powered_mean,
    powered_rates,
)

RUNS = 800


def test_the_published_estimate() -> None:
    # Independent turns, each a cluster. Angelopoulos, Duchi & Zrnic (2023), example of a mean: estimate and weight.
    draw = np.random.default_rng(0)
    n, rest = 300, 900
    truth = (draw.random(n + rest) < 0.4).astype(float)
    said = np.clip(0.3 + 0.2 * truth + draw.normal(0, 0.2, n + rest), 0, 1)
    coded = np.arange(n + rest) < n
    found = powered_mean(*_parts(truth, said, coded), np.arange(n + rest))
    y, f, other = truth[:n], said[:n], said[n:]
    weight = np.cov(y, f)[0, 1] / ((1 + n / rest) * np.var(said))
    value = y.mean() + weight * (other.mean() - f.mean())
    error = np.sqrt(np.var(y - weight * f) / n + weight**2 * np.var(other) / rest)
    assert 0 < weight < 1
    assert found.weight == pytest.approx(weight, rel=0.05)
    assert found.value == pytest.approx(value, abs=0.002)
    assert found.error == pytest.approx(error, rel=0.01)


def _parts(truth: np.ndarray, said: np.ndarray, coded: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.where(coded, truth, np.nan), np.where(coded, said, np.nan), np.where(coded, np.nan, said)


@pytest.mark.parametrize(
    ("sens", "spec", "options"),
    [
        pytest.param(0.85, 0.95, {}, id="a good tagger"),
        pytest.param(0.5, 0.7, {}, id="a bad tagger"),
        pytest.param(0.3, 0.4, {}, id="worse than random codes"),
        pytest.param(0.95, 0.6, {}, id="one that sees too much"),
        pytest.param(0.85, 0.95, {"partly": True}, id="half of the turns coded"),
        pytest.param(0.85, 0.95, {"per_cluster": 3}, id="three sessions a counselor"),
        pytest.param(0.85, 0.95, {"coded": 8}, id="eight coded sessions"),
    ],
)
def test_coverage(sens: float, spec: float, options: dict[str, int]) -> None:
    draw = np.random.default_rng(5)
    held, powered, alone = [], [], []
    for _ in range(RUNS):
        sessions, n = _sessions(draw, sens, spec, **options)
        found, by_hand = powered_mean(*sessions), powered_mean(*sessions, weight=0.0)
        low, high = powered_interval(found, inf if found.weight else n)
        ends = powered_interval(by_hand, n)
        held.append(low <= 0.3 <= high)
        powered.append(high - low)
        alone.append(ends[1] - ends[0])
    assert np.mean(held) >= 0.94
    assert np.mean(powered) <= 1.05 * np.mean(alone)
    if sens == 0.85:
        assert np.mean(powered) < 0.75 * np.mean(alone)


def _sessions(
    draw: np.random.Generator,
    sens: float,
    spec: float,
    *,
    coded: int = 21,
    partly: bool = False,
    per_cluster: int = 1,
    n: int = 90,
) -> tuple[tuple[np.ndarray, ...], float]:
    """Draw sessions of 8 to 41 turns at a true rate of .3, whose clusters and taggers' errors differ."""
    clusters = np.repeat(np.arange(n // per_cluster), per_cluster)
    rates = draw.beta(0.3 * 6, 0.7 * 6, n // per_cluster)[clusters]
    turns = draw.integers(8, 42, n)
    by_hand = clusters < coded // per_cluster
    first = turns // 2 if partly else np.where(by_hand, turns, 0)
    own = [np.clip(draw.normal(one, 0.1, n), 0, 1) for one in (sens, spec)]
    parts = []
    for count in (first, turns - first):
        has = draw.binomial(count, rates)
        seen = draw.binomial(has, own[0]) + draw.binomial(count - has, 1 - own[1])
        shares = [np.divide(one, count, out=np.full(n, np.nan), where=count > 0) for one in (has, seen)]
        parts.append([np.where(by_hand, shares[0], np.nan), shares[1]])
    (gold, beside), (_, rest) = parts
    if partly:
        return (gold, np.where(by_hand, beside, np.nan), rest, clusters), float(first[by_hand].sum())
    return (gold, beside, np.where(by_hand, np.nan, rest), clusters), float(turns[by_hand].sum())


def _tables(n: int = 12) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return sessions of ten turns, of which every second has the code, as the machine says, too; half are coded."""
    turns = pd.DataFrame({"session_id": np.repeat(np.arange(n).astype(str), 10), "turn": np.tile(np.arange(10), n)})
    turns["p_mi_question"], turns["all"] = np.tile([0.8, 0.1], 5 * n), "all"
    turns["who"] = np.repeat(np.where(np.arange(n) % 2, "x", "y"), 10)
    gold = turns.iloc[: 5 * n][["session_id", "turn"]].assign(code="mi_question", value=np.tile([1, 0], 5 * n // 2))
    return turns, gold


def test_hand_counted_tables() -> None:
    turns, gold = _tables()
    found = powered_rates(turns, gold, by="all").iloc[0]
    assert found[["n_sessions", "n_turns", "n_gold_sessions", "n_gold_turns"]].tolist() == [12, 120, 6, 60]
    assert found["rate"] == pytest.approx(0.5)
    assert found["machine_rate"] == pytest.approx(0.45)
    assert found["lo"] < 0.5 < found["hi"]


def test_two_coders_are_averaged_and_order_is_nothing() -> None:
    turns, gold = _tables()
    both = pd.concat([gold.assign(coder="a"), gold.assign(coder="b", value=0)]).sample(frac=1, random_state=1)
    assert powered_rates(turns, both, by="all").iloc[0]["gold_rate"] == pytest.approx(0.25)
    shuffled = turns.sample(frac=1, random_state=2)
    one, two = (powered_rates(part, gold, by="all") for part in (turns, shuffled))
    pd.testing.assert_frame_equal(one, two)


def test_groups_and_what_cannot_be_told() -> None:
    turns, gold = _tables()
    few = powered_rates(turns, gold, by="who").set_index("who")
    assert isnan(few.loc["x", "lo"])
    assert "4 are needed" in str(few.loc["x", "note"])
    turns, gold = _tables(30)
    rare = gold.assign(value=(np.arange(len(gold)) < FEWEST_EVENTS - 1).astype(int))
    found = powered_rates(turns, rare, by="all").iloc[0]
    assert found["weight"] == 0
    assert "people's codes alone" in found["note"]
    assert found["lo"] > 0
    uncoded = powered_rates(turns.assign(who=np.where(turns["session_id"].astype(int) > 20, "z", "a")), gold, by="who")
    assert "no turn of the group" in uncoded.set_index("who").loc["z", "note"]


def test_clients_of_two_counselors_are_two_clusters() -> None:
    # Six sessions: clients 1 and 2 of each of three counselors.
    turns, gold = _tables()
    place = turns["session_id"].astype(int)
    turns = turns.assign(counselor=(place % 6 // 2).astype(str), client=(place % 2).astype(str))
    found = powered_rates(turns, gold, by="all", cluster="client").iloc[0]
    assert found["df"] == 5
    assert found["lo"] < found["rate"] < found["hi"]


def test_sessions_without_a_counselor_are_clusters_of_their_own() -> None:
    turns, gold = _tables()
    named = turns.assign(counselor=turns["session_id"].where(turns["session_id"] == "0", ""))
    by_counselor, by_session = (powered_rates(named, gold, by="all", cluster=one) for one in ("counselor", None))
    pd.testing.assert_frame_equal(by_counselor.drop(columns="note"), by_session.drop(columns="note"))


def test_all_turns_coded_is_people_alone() -> None:
    turns, _ = _tables()
    whole = turns[["session_id", "turn"]].assign(code="mi_question", value=np.tile([1, 0, 0, 0, 0], 24))
    found = powered_rates(turns, whole, by="all").iloc[0]
    assert (found["weight"], found["rate"], found["gold_rate"]) == pytest.approx((0, 0.2, 0.2))


def test_differences_without_a_machine_are_welchs() -> None:
    draw = np.random.default_rng(4)
    turns = pd.DataFrame({"session_id": np.repeat(np.arange(24), 10), "turn": np.tile(np.arange(10), 24)})
    turns = turns.assign(p_mi_input=0.5, who=np.where(turns["session_id"] < 9, "x", "y"))
    gold = turns.assign(code="mi_input", value=draw.random(240) < np.where(turns["who"] == "x", 0.6, 0.3))
    rates = powered_rates(turns, gold, by="who")
    found = powered_differences(rates, "who").iloc[0]
    means = gold.groupby(["who", "session_id"])["value"].mean()
    welch = stats.ttest_ind(means["x"], means["y"], equal_var=False)
    ends = welch.confidence_interval()
    assert (found["lo"], found["hi"], found["p"]) == pytest.approx((ends.low, ends.high, welch.pvalue))


def test_codes_of_other_sessions_are_refused() -> None:
    turns, gold = _tables()
    with pytest.raises(BadOptionError, match="none of its turns"):
        powered_rates(turns, gold.assign(session_id="another"), by="all")


@pytest.mark.parametrize(("k", "n"), [(0, 20), (1, 20), (6, 20), (20, 20)])
def test_of_drawn_turns_each_end_leaves_out_half_of_what_was_seen_and_all_beyond(k: int, n: int) -> None:
    """The mid-P interval by its definition (Lancaster 1961), from sums of binomial probabilities."""
    low, high = powered_interval(Powered(k / n, 0.0, 0.0, 10**9), n, drawn=True)
    beyond = {end: stats.binom.sf(k, n, end) + stats.binom.pmf(k, n, end) / 2 for end in (low, high)}
    assert beyond[low] == pytest.approx(0.025, abs=1e-6) or (k, low) == (0, 0.0)
    assert 1 - beyond[high] == pytest.approx(0.025, abs=1e-6) or (k, high) == (n, 1.0)
    wider = powered_interval(Powered(k / n, 0.0, 0.0, 10**9), n)
    assert wider[0] <= low < high <= wider[1]
