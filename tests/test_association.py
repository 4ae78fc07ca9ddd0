"""Disclosure after synchrony: what is planted is found, and nothing else."""

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.association import DIRECTIONS, disclosure_after_synchrony

NAN = np.nan
ONE = {"synchrony": ["lsm_turn"], "disclosure": ["told"]}


def blocks(x, before, after, *, words=10.0):
    """Make sessions of client, therapist, client, client, therapist, client, ...: x, before, after are (sessions, n).

    As two turns of the client stand between two replies, what comes before a reply is not what came after another.
    `words` is one number, or (sessions, n, 3).
    """
    sessions, n = np.shape(x)
    each = np.full((sessions, n), NAN)
    return pd.DataFrame(
        {
            "session_id": np.repeat([f"s{i:02}" for i in range(sessions)], 3 * n),
            "turn": np.tile(np.arange(3 * n), sessions),
            "role": np.tile(["client", "therapist", "client"], sessions * n),
            "n_words": np.broadcast_to(words, (sessions, n, 3)).ravel(),
            "lsm_turn": np.stack([each, x, each], axis=-1).ravel(),
            "told": np.stack([before, each, after], axis=-1).ravel(),
        }
    )


def simulated(seed, *, slope=0.0, slope_sd=0.1, by_words=0.0, between=0.0, size=(10, 14)):
    """Draw sessions; disclosure before replies is unknown, so that only one direction is fitted."""
    rng = np.random.default_rng(seed)
    words = rng.lognormal(2.5, 0.6, size=(*size, 3)).round() + 1
    spoken = by_words * (np.log1p(words[..., [0, 2]]) - 2.5).sum(axis=-1) / 0.6
    level = rng.normal(size=(size[0], 1))
    x = rng.normal(size=size) + spoken + between * level
    slopes = slope + slope_sd * rng.normal(size=(size[0], 1))
    y = slopes * x + spoken + rng.normal(size=size) + between * level + rng.normal(size=(size[0], 1))
    return blocks(x, np.full(size, NAN), y, words=words)


def first(turns, **options):
    return disclosure_after_synchrony(turns, **(ONE | options)).iloc[0]


def many(n, **planted):
    return pd.DataFrame([first(simulated(seed, **planted)) for seed in range(n)])


# By hand

X = np.array([1.0, -2, 1, 1, -2, 1])  # mean 0, and no trend: 0 - 2 + 2 + 3 - 8 + 5 = 0
REST = np.array([1.0, 0, -1, -1, 0, 1])  # the same: 0 - 2 - 3 + 5 = 0; and 1 - 1 - 1 + 1 = 0, so that X tells nothing


def by_hand(slope, sessions=5, levels=None):
    levels = np.arange(sessions)[:, None] if levels is None else levels
    return blocks(np.tile(X, (sessions, 1)), np.full((sessions, 6), NAN), slope * X + REST + levels)


def test_the_slope_within_sessions_can_be_counted():
    # X has squares 1 + 4 + 1 + 1 + 4 + 1 = 12, REST 4: with slope 1, sd of y is sqrt(16 / 12) of that of x.
    # 1 / sqrt(16 / 12) = .866
    found = first(by_hand(1.0))
    assert found.within_slope == pytest.approx(np.sqrt(12 / 16))
    assert found.estimate == pytest.approx(np.sqrt(12 / 16))
    assert (found.direction, found.n_sessions, found.n_turns) == ("after", 5, 30)


def test_nothing_is_found_where_nothing_is():
    found = first(by_hand(0.0))
    assert found.within_slope == pytest.approx(0, abs=1e-12)
    assert found.lo < 0 < found.hi
    assert found.null_p == pytest.approx(1)


def test_robust_errors_are_as_statsmodels_has_them_for_the_slope_within():
    # A perfect fit but for REST, the same in every session: no variance between, which the mixed model may not like;
    # whatever the errors are, the slope is that within sessions.
    found = first(by_hand(2.0, levels=np.zeros((5, 1))))
    assert found.estimate == pytest.approx(2 * np.sqrt(12 / (4 * 12 + 4)))


def test_only_replies_between_two_turns_of_the_client_count():
    # The client opens and closes; turn 3 is another person's; turn 7 follows a gap (turn 6 was taken out).
    roles = ["client", "therapist", "client", "other", "client", "therapist", "client", "therapist", "client"]
    turns = pd.DataFrame({"session_id": "a", "turn": range(9), "role": roles, "n_words": 5})
    turns["lsm_turn"], turns["told"] = np.linspace(0, 1, 9), np.linspace(1, 2, 9)
    assert first(turns).n_turns == 3
    assert first(turns[turns["turn"] != 6]).n_turns == 0


def test_rows_may_stand_in_any_order_and_types_be_those_of_pandas():
    turns = simulated(1, slope=0.3)
    other = turns.sample(frac=1, random_state=0).astype({"told": "Float64", "n_words": "Int64", "role": "category"})
    pd.testing.assert_frame_equal(disclosure_after_synchrony(turns, **ONE), disclosure_after_synchrony(other, **ONE))


def test_the_table_is_left_as_it_is_and_the_seed_decides():
    turns = simulated(1)
    before = turns.copy(deep=True)
    again = [first(turns, seed=seed) for seed in (0, 0, 1)]
    pd.testing.assert_frame_equal(turns, before)
    pd.testing.assert_series_equal(again[0], again[1])
    assert again[0].null_sd != again[2].null_sd
    assert again[0].estimate == again[2].estimate


# Planted


def test_the_planted_slope_is_covered_as_often_as_the_interval_says():
    # Within sessions x has variance 1 and y .4^2 + .3^2 + 1.
    found = many(40, slope=0.4, slope_sd=0.3)
    true = 0.4 / np.sqrt(0.4**2 + 0.3**2 + 1)
    assert ((found.lo <= true) & (true <= found.hi)).mean() >= 0.9
    assert found.estimate.mean() == pytest.approx(true, abs=0.03)
    assert (found.null_p < 0.05).mean() > 0.9
    assert (found.lo < found.estimate).all()


def test_words_that_raise_both_are_no_association():
    # Left alone, they would make x and y correlate by 2 / 3: both are two parts words and one part noise.
    found = many(25, by_words=1.0)
    assert found.estimate.mean() == pytest.approx(0, abs=0.03)
    assert (found.p < 0.05).sum() <= 3
    assert (found.null_p < 0.05).sum() <= 3
    assert found.null.mean() == pytest.approx(0, abs=0.005)
    assert found.null_sd.mean() == pytest.approx(found.within_slope.std(), rel=0.3)


def test_differences_between_sessions_do_not_leak():
    found = many(8, between=10.0)
    assert abs(found.estimate).max() < 0.3
    assert found.estimate.mean() == pytest.approx(0, abs=0.08)


def test_a_topic_that_goes_on_is_seen_before_the_reply_and_not_beyond_it():
    rng = np.random.default_rng(0)
    topic = rng.normal(size=(20, 25))
    x, after = (topic + rng.normal(size=topic.shape) for _ in range(2))
    found = disclosure_after_synchrony(blocks(x, topic, after), **ONE).set_index("direction")
    assert list(found.index) == list(DIRECTIONS)
    assert found.loc["after", "lo"] > 0.3
    assert found.loc["before", "lo"] > 0.5
    assert found.loc["after_beyond_before", "lo"] < 0 < found.loc["after_beyond_before", "hi"]


def test_slopes_that_differ_between_sessions_are_told():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(25, 20))
    y = rng.normal(0.2, 0.6, size=(25, 1)) * x + rng.normal(size=x.shape) + rng.normal(size=(25, 1))
    found = first(blocks(x, np.full(x.shape, NAN), y))
    assert found.slope_sd == pytest.approx(0.6 / np.sqrt(1.4), rel=0.3)


# Undefined


@pytest.mark.parametrize(
    ("turns", "note"),
    [
        (by_hand(1.0, sessions=4), "4 sessions with two replies or more, 5 are needed"),
        (by_hand(1.0)[lambda t: t["turn"] < 15], "25 replies, 30 are needed"),
        (by_hand(1.0).head(0), "0 sessions with two replies or more, 5 are needed"),
        (by_hand(1.0).head(2), "0 sessions with two replies or more, 5 are needed"),
        (by_hand(1.0).assign(lsm_turn=0.1), "synchrony does not vary within sessions"),
        (by_hand(1.0).assign(told=0.1), "disclosure does not vary within sessions"),
        (by_hand(1.0).assign(lsm_turn=lambda t: 0.1 * t["turn"]), "or only with what is held constant"),
        (by_hand(1.0).assign(lsm_turn=np.inf), "0 sessions"),
    ],
)
def test_undefined_is_nan_and_says_why(turns, note):
    found = first(turns)
    assert note in found.note
    assert found[["estimate", "lo", "hi", "p", "slope_sd", "null", "null_sd", "null_p"]].isna().all()


def test_where_the_mixed_model_does_not_hold_errors_are_robust(monkeypatch):
    from statsmodels.regression.linear_model import OLS
    from statsmodels.regression.mixed_linear_model import MixedLM

    def fails(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(MixedLM, "fit", fails)
    turns = simulated(3, slope=0.3)
    found = first(turns)
    assert "errors robust to clusters" in found.note
    assert found.estimate == pytest.approx(found.within_slope)
    assert np.isnan(found.slope_sd)
    # The same from dummies of sessions, as a textbook has it; the errors differ by the count of the dummies alone.
    told = turns[turns["role"] == "therapist"]
    words = np.log1p(turns["n_words"].to_numpy().reshape(-1, 3))
    y = turns["told"].to_numpy().reshape(-1, 3)[:, 2]
    held = np.column_stack([told["lsm_turn"], words, told["turn"], pd.get_dummies(told["session_id"]).astype(float)])
    clusters = pd.factorize(told["session_id"])[0]
    whole = OLS(y, held).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    assert found.p == pytest.approx(whole.pvalues[0], abs=0.01)
    assert found.lo / found.estimate == pytest.approx(whole.conf_int()[0, 0] / whole.params[0], abs=0.1)


def test_a_perfect_fit_leaks_no_warning():
    x = np.random.default_rng(0).normal(size=(6, 8))
    found = first(blocks(x, np.full(x.shape, NAN), 2 * x))
    assert found.within_slope == pytest.approx(1)
    assert found.null_p == pytest.approx(1 / 201)


def test_columns_are_those_that_are_there_or_named():
    turns = by_hand(1.0).rename(columns={"told": "disclosure_informational_turn"})
    found = disclosure_after_synchrony(turns)
    assert found[["synchrony", "disclosure"]].drop_duplicates().to_numpy().tolist() == [
        ["lsm_turn", "disclosure_informational_turn"]
    ]
    with pytest.raises(BadOptionError, match="no column rlsm_turn"):
        disclosure_after_synchrony(turns, synchrony=["rlsm_turn"])
    with pytest.raises(BadOptionError, match="none of disclosure_emotional_turn"):
        disclosure_after_synchrony(by_hand(1.0))
    with pytest.raises(BadOptionError, match="no column role, n_words"):
        disclosure_after_synchrony(turns.drop(columns=["role", "n_words"]))
