"""Slopes from turns drawn with known probabilities: right on average, with intervals that hold, in simulations."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from scipy import special

from therapy_analytics.stats.outcomes.corrected import RATE_ON_SCORE, SCORE_ON_RATE, drawn_slopes, rates_of

RUNS = 60


def test_a_rate_from_drawn_turns_counts_each_by_its_probability() -> None:
    # Session a: two of four turns, each drawn with 1/2, one with the code: 1/2. Session b: both of two turns, none.
    turns = pd.DataFrame({"session_id": list("aaaabb"), "machine": 0.5, "inclusion": [0.5] * 4 + [1.0] * 2})
    turns["people"] = [1.0, 0.0, np.nan, np.nan, 0.0, 0.0]
    found = rates_of(turns, by_machine=False)
    assert found.rate == pytest.approx([0.5, 0.0])
    # All turns of b were read, so no draw adds to its rate. The level is 1/4: residuals of a are 3/4 and -1/4.
    assert found.noise == pytest.approx([0.5 * (0.75**2 + 0.25**2) / (0.5 * 4) ** 2, 0.0])


def test_coded_turns_stand_for_sessions_that_nobody_coded() -> None:
    # Four turns a session, drawn with 1/2. Two turns of a (with the code) and of b (without) are coded, not c, d.
    turns = pd.DataFrame({"session_id": list("aaaabbbbccccdddd"), "machine": 0.5, "inclusion": 0.5, "people": np.nan})
    turns.loc[[0, 1, 4, 5], "people"] = [1.0, 1.0, 0.0, 0.0]
    found = rates_of(turns, by_machine=False)
    # The level is 1/2, and what is left of a (1/2) and of b (-1/2) counts twice.
    assert found.reached == pytest.approx(0.5)
    assert found.rate == pytest.approx([1.5, -0.5, 0.5, 0.5])
    # The square of 1/2 is 1/16 too large on average, by the draw of turns; so 3/16 is how far rates differ in a and b,
    # and all the rest of the square of 1, which stands for two sessions, is noise.
    assert found.noise == pytest.approx([1 - 2 * 3 / 16] * 2 + [0, 0])


def test_coded_turns_stand_for_others_of_their_session() -> None:
    # One of the two drawn turns of each session is coded: as if drawn with 1/4.
    turns = pd.DataFrame({"session_id": list("aaaabbbb"), "machine": 0.5, "inclusion": 0.5, "people": np.nan})
    turns.loc[[0, 4], "people"] = [1.0, 0.0]
    found = rates_of(turns, by_machine=False)
    assert found.reached == pytest.approx(0.5)
    assert found.rate == pytest.approx([1.0, 0.0])
    assert found.noise == pytest.approx([0.75 * 0.5**2] * 2)


def _study(rng: np.random.Generator, n_sessions: int = 80, turns_coded: int = 300) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw sessions whose tagger sees more of the code where scores are low."""
    rate = rng.beta(3, 6, n_sessions)
    score = 20 + 10 * rate + rng.normal(0, 2, n_sessions)
    size = rng.integers(20, 60, n_sessions)
    session = np.repeat(np.arange(n_sessions), size)
    logit = special.logit(rate)[session] + rng.normal(0, 1.5, len(session))
    has = (rng.random(len(session)) < special.expit(logit)).astype(float)
    seen = special.expit(1.5 * logit + 1 - 0.3 * (score[session] - score.mean()) + rng.normal(0, 0.7, len(session)))
    # As `sample` draws: evenly over sessions, and more often where the machine is unsure
    even, unsure = 1 / size[session], np.sqrt(seen * (1 - seen)) / size[session]
    share = 0.3 * even / even.sum() + 0.7 * unsure / unsure.sum()
    inclusion = np.minimum(turns_coded * share, 1.0)
    people = np.where(rng.random(len(share)) < inclusion, has, np.nan)
    turns = pd.DataFrame({"session_id": session.astype(str), "machine": seen, "people": people, "inclusion": inclusion})
    joined = pd.DataFrame({"session_id": np.arange(n_sessions).astype(str), "score": score, "number": np.nan})
    joined["asks"] = turns.groupby("session_id", sort=False)["machine"].mean().to_numpy()
    return joined, turns


@functools.cache
def _true_slopes() -> dict[str, float]:
    """Return the slopes in very many sessions of the same kind, from all their turns."""
    rng = np.random.default_rng(0)
    rate = rng.beta(3, 6, 200_000)
    score = 20 + 10 * rate + rng.normal(0, 2, len(rate))
    logit = special.logit(rate)[:, None] + rng.normal(0, 1.5, (len(rate), 38))
    coded = (rng.random(logit.shape) < special.expit(logit)).mean(axis=1)
    together = np.cov(score, coded)
    return {SCORE_ON_RATE: together[0, 1] / together[1, 1], RATE_ON_SCORE: together[0, 1] / together[0, 0]}


def test_slopes_are_unbiased_and_their_intervals_hold() -> None:
    truth = _true_slopes()
    found: dict[str, list[tuple[float, bool, float]]] = {SCORE_ON_RATE: [], RATE_ON_SCORE: []}
    for seed in range(RUNS):
        joined, turns = _study(np.random.default_rng(seed))
        table = drawn_slopes(joined, {"asks": turns}, ["asks"], ["score"]).set_index("direction")
        for way, slopes in found.items():
            row = table.loc[way]
            slopes.append((row["slope"], row["lo"] <= truth[way] <= row["hi"], row["machine_slope"]))
    by_way = {way: np.array(slopes, dtype=float).T for way, slopes in found.items()}
    value, held, naive = by_way[RATE_ON_SCORE]
    assert value.mean() == pytest.approx(truth[RATE_ON_SCORE], abs=3 * value.std() / np.sqrt(RUNS))
    assert held.mean() >= 0.92
    assert naive.mean() < 0 < truth[RATE_ON_SCORE]  # the machine alone turns the sign
    value, held, _ = by_way[SCORE_ON_RATE]
    known = np.isfinite(value)
    assert known.mean() > 0.4  # in the others, four turns a session do not show how far rates differ
    assert held[known].mean() >= 0.92
    assert np.median(value[known]) == pytest.approx(truth[SCORE_ON_RATE], rel=0.25)


@pytest.mark.parametrize("stopped", ["after half of the sessions", "after half of the turns of each"])
def test_slopes_of_a_sample_that_is_half_coded_are_unbiased_and_their_intervals_hold(stopped: str) -> None:
    truth, found = _true_slopes(), []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        joined, turns = _study(rng, turns_coded=600)
        names = rng.permutation(joined["session_id"])[:40]
        kept = turns["session_id"].isin(names) if "sessions" in stopped else rng.random(len(turns)) < 0.5
        table = drawn_slopes(joined, {"asks": turns.assign(people=turns["people"].where(kept))}, ["asks"], ["score"])
        rows = table.set_index("direction")[["slope", "lo", "hi"]].astype(float)
        found.append([*rows.loc[RATE_ON_SCORE], *rows.loc[SCORE_ON_RATE]])
    slope, low, high, turned, turned_low, turned_high = np.array(found).T
    of_rate, of_score = truth[RATE_ON_SCORE], truth[SCORE_ON_RATE]
    assert slope.mean() == pytest.approx(of_rate, abs=3 * slope.std() / np.sqrt(len(slope)))
    assert np.mean((low <= of_rate) & (of_rate <= high)) >= 0.92
    known = np.isfinite(turned)
    assert np.mean((turned_low <= of_score) & (of_score <= turned_high), where=known) >= 0.92
    assert np.median(turned[known]) == pytest.approx(of_score, rel=0.25)


def test_a_sample_that_is_not_coded_to_its_end_is_noted() -> None:
    joined, turns = _study(np.random.default_rng(1))
    whole = drawn_slopes(joined, {"asks": turns}, ["asks"], ["score"])
    assert not whole["note"].str.contains("of all").any()
    half = turns.assign(people=turns["people"].where(turns["session_id"].astype(int) < 40))
    found = drawn_slopes(joined, {"asks": half}, ["asks"], ["score"])
    assert found["note"].str.contains(r"the coded turns stand for (?:4|5)\d% of all: is the sample").all()
    assert np.isfinite(found.set_index("direction").loc[RATE_ON_SCORE, "lo"])


def test_too_few_sessions_and_scores_that_do_not_vary_are_said() -> None:
    joined, turns = _study(np.random.default_rng(1), n_sessions=30)
    few = turns.assign(people=turns["people"].where(turns["session_id"].astype(int) < 5))
    assert set(drawn_slopes(joined, {"asks": few}, ["asks"], ["score"])["note"]) == {
        "5 sessions with coded turns have a score, 8 are needed"
    }
    same = drawn_slopes(joined.assign(score=1.0), {"asks": turns}, ["asks"], ["score"])
    assert set(same["note"]) == {"the score does not vary"}
    assert drawn_slopes(joined, {}, ["asks"], ["score"]).empty


def _course(seed: int, *, link: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw 25 clients with six sessions: rates rise and scores fall over them, and go together by `link` beside that.

    People code six of the 20 turns of each session. The machine misses more where scores are low.
    """
    rng = np.random.default_rng(seed)
    client, number = np.repeat(np.arange(25), 6), np.tile(np.arange(1.0, 7), 25)
    own = rng.normal(0, 0.12, 150)
    rate = np.clip(0.25 + 0.06 * number + 0.05 * rng.normal(size=25)[client] + own, 0.01, 0.99)
    score = 30 - 2 * number + 3 * rng.normal(size=25)[client] + link * own + rng.normal(0, 2, 150)
    has = (rng.random((150, 20)).argsort(axis=1) < np.round(20 * rate)[:, None]).astype(float)
    seen = np.clip(has * (0.6 - 0.02 * (score[:, None] - 23)) + 0.1 * rng.random((150, 20)), 0, 1)
    ids = [f"s{one}" for one in range(150)]
    coded = rng.random((150, 20)).argsort(axis=1) < 6
    turns = pd.DataFrame({"session_id": np.repeat(ids, 20), "machine": seen.ravel(), "inclusion": 0.3})
    turns["people"] = np.where(coded, has, np.nan).ravel()
    joined = pd.DataFrame({"session_id": ids, "client": client.astype(str), "counselor": "", "number": number})
    return joined.assign(score=score, asks=seen.mean(axis=1)), turns


def test_within_clients_the_trend_is_held_and_intervals_hold() -> None:
    held, naive = [], []
    for seed in range(24):
        link = 8.0 if seed % 2 else 0.0
        joined, turns = _course(seed, link=link)
        table = drawn_slopes(joined, {"asks": turns}, ["asks"], ["score"]).set_index(["level", "direction"])
        row = table.loc[("within_clients", SCORE_ON_RATE)]
        held += [row["lo"] <= link <= row["hi"]] if np.isfinite(row["lo"]) else []
        naive.append(row["machine_lo"] <= link <= row["machine_hi"])
    assert len(held) >= 18
    assert np.mean(held) >= 0.84
    assert np.mean(naive) < 0.6


def test_levels_are_those_that_the_sessions_have() -> None:
    joined, turns = _course(0, link=0.0)
    both = drawn_slopes(joined, {"asks": turns}, ["asks"], ["score"])
    assert both["level"].tolist() == ["within_clients"] * 2 + ["between_clients"] * 2
    assert drawn_slopes(joined.assign(number=np.nan), {"asks": turns}, ["asks"], ["score"])["level"].nunique() == 1
    few = drawn_slopes(joined[:24], {"asks": turns}, ["asks"], ["score"])
    assert set(few["note"]) == {"too few clients: 6 or more are needed"}
