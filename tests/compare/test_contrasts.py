"""One quantity for test, difference, interval, size and words: the mean over clusters, tested by permutation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from therapy_analytics.core.clusters import Floats
from therapy_analytics.stats.compare import Comparison, compare
from therapy_analytics.stats.compare.effects import findable, sign_flips, two_samples
from therapy_analytics.stats.compare.groups import ComparedMeasure, Grouped, contrasts
from therapy_analytics.stats.compare.tables import comparison_table

MEASURE = "therapist_reflection_rate"


def of_clusters(group: str, values: Sequence[float], sizes: Sequence[int]) -> pd.DataFrame:
    """Return sessions of counselors of one group, each with the same value in so many sessions."""
    rows = [(f"{group}{i}", value) for i, (value, n) in enumerate(zip(values, sizes, strict=True)) for _ in range(n)]
    frame = pd.DataFrame(rows, columns=["counselor", MEASURE]).assign(programme=group)
    return frame.assign(session_id=[f"{group}_{i}" for i in range(len(frame))])


def compared(*parts: pd.DataFrame) -> Comparison:
    return compare(pd.concat(parts, ignore_index=True), by="programme", measures=MEASURE)


HIGH, LOW = (0.58, 0.6, 0.62, 0.6, 0.64, 0.3), (0.2, 0.22, 0.24, 0.26, 0.23, 0.45)
ONE_LARGE = (1, 1, 1, 1, 1, 40)


@pytest.mark.parametrize(("names", "sign", "word"), [("ab", 1, "is higher"), ("ba", -1, "is lower")])
def test_simpson_test_size_interval_and_words_point_one_way(names: str, sign: int, word: str) -> None:
    """Most counselors of one group are above those of the other; two with forty sessions turn the mean of sessions."""
    found = compared(of_clusters(names[0], HIGH, ONE_LARGE), of_clusters(names[1], LOW, ONE_LARGE))
    row = found.table.iloc[0]
    assert row["finding"] == "differs"
    assert row["difference"] == pytest.approx(sign * (np.mean(HIGH) - np.mean(LOW)))
    assert np.sign(row["session_mean"] - row["session_mean_against"]) == -sign
    assert np.sign([row["difference_lo"], row["difference_hi"], row["hedges_g"]]).tolist() == [sign] * 3
    assert row["mean"] - row["mean_against"] == pytest.approx(row["difference"])
    assert f"therapist reflection rate** {word}" in found.words
    means = found.groups.set_index("group")["mean"]
    assert means[row["group"]] == row["mean"]


def test_many_sessions_of_one_counselor_are_no_difference() -> None:
    """Equal counselors but for one with thirty sessions: the means of sessions are far apart, and nothing differs."""
    usual = (0.3, 0.35, 0.4, 0.45, 0.5, 0.9)
    found = compared(of_clusters("a", usual, (1, 1, 1, 1, 1, 30)), of_clusters("b", usual, (30, 1, 1, 1, 1, 1)))
    row = found.table.iloc[0]
    assert abs(row["session_mean"] - row["session_mean_against"]) > 0.4
    assert row["difference"] == pytest.approx(0, abs=1e-12)
    assert row["p"] == 1
    assert row["finding"] == "unclear"


def crossed(n: int, change: Sequence[float]) -> list[pd.DataFrame]:
    """Return n counselors with two sessions before and three after."""
    level = np.linspace(0.1, 0.7, n)
    before, after = (of_clusters("c", values, [k] * n) for values, k in ((level, 2), (level + np.array(change), 3)))
    return [after.assign(programme="after"), before.assign(programme="before", session_id="b" + before["session_id"])]


def test_counselors_on_both_sides_are_compared_with_themselves() -> None:
    found = compared(*crossed(8, 0.05 + np.linspace(-0.005, 0.005, 8)))
    row = found.table.iloc[0]
    assert row["tested"] == "paired by counselor"
    assert row["p"] == 2 / 2**8
    assert row["finding"] == "differs"
    assert 0.045 < row["difference_lo"] < row["difference"] < row["difference_hi"] < 0.055
    assert "paired by counselor, 8 of them on both sides" in found.words


def test_the_same_change_in_each_has_the_least_p_and_no_interval() -> None:
    for n in (6, 7, 12):
        row = compared(*crossed(n, [0.05] * n)).table.iloc[0]
        assert row["p"] == 2 / 2**n
        assert np.isnan(row["difference_lo"])
        assert row["finding"] == "unclear"


def test_those_on_one_side_only_are_left_out_or_all_are_unpaired() -> None:
    after, before = crossed(8, 0.05 + np.linspace(-0.01, 0.01, 8))
    half = compared(after, before[before["counselor"].isin(["c0", "c1", "c2", "c3", "c4", "c5"])])
    row = half.table.iloc[0]
    assert (row["tested"], row["n_clusters"], row["n_clusters_against"], row["n_left_out"]) == (
        "paired by counselor", 6, 6, 2,
    )  # fmt: skip
    assert row["n_sessions"] == 18
    assert "2 on one side only left out" in half.words
    renamed = before.assign(
        counselor=before["counselor"].where(before["counselor"].isin(["c0", "c1"]), "x" + before["counselor"])
    )
    apart = compared(after, renamed).table.iloc[0]
    assert (apart["tested"], apart["n_clusters"], apart["n_left_out"]) == ("means by counselor", 8, 0)


def test_without_any_variation_there_is_neither_interval_nor_claim() -> None:
    found = compared(of_clusters("a", [0.2] * 6, [2] * 6), of_clusters("b", [0.4] * 6, [2] * 6))
    row = found.table.iloc[0]
    assert row["finding"] == "unclear"
    assert row["p"] == pytest.approx(2 / 924)
    assert np.isnan([row["difference_lo"], row["difference_hi"], row["mean_lo"], row["hedges_g"]]).all()
    assert "-20 to -20" not in found.words


def test_intervals_stay_within_what_a_proportion_can_be() -> None:
    found = compared(of_clusters("a", [0.0, 1.0], [1] * 2), of_clusters("b", [0.1, 1.0], [1] * 2)).table.iloc[0]
    assert (found["difference_lo"], found["difference_hi"]) == (-1, 1)
    assert (found["mean_lo"], found["mean_hi"]) == (0, 1)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 7),
    k=st.integers(2, 7),
    levels=st.integers(1, 6),
    shift=st.integers(0, 5),
)
def test_what_differs_has_an_interval_beside_zero_and_one_sign(
    seed: int, n: int, k: int, levels: int, shift: int
) -> None:
    """Few levels give ties, and groups without variance."""
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.integers(0, levels, (n, 4)) + shift, rng.integers(0, levels, (k, 4))]) / 12
    sizes = rng.integers(1, 6, n + k)
    table = comparison_table(data := of_values(values, n, sizes), contrasts(data, "pairs"))
    sure = table[table["finding"] == "differs"]
    assert ((sure["difference_lo"] > 0) | (sure["difference_hi"] < 0)).all()
    assert (np.sign(sure["difference"]) == np.sign(sure["hedges_g"])).all()
    inside = table["difference_lo"].isna() | table["difference"].between(table["difference_lo"], table["difference_hi"])
    assert inside.all()
    assert (table["p_adjusted"].isna() | (table["p_adjusted"] >= table["p"])).all()


def of_values(values: Floats, n: int, sizes: Sequence[int] | None = None) -> Grouped:
    """Return clusters (a row each of values; the first n are one group) as sessions, so many for each."""
    place = np.repeat(np.arange(len(values)), 1 if sizes is None else sizes)
    about = {"family": "process", "meaning": "", "unit": "", "evidence": "supported"}
    return Grouped(
        sessions=pd.DataFrame({"session_id": np.arange(len(place)).astype(str)}),
        measures=tuple(
            ComparedMeasure(name=f"m{j}", low=-np.inf, high=np.inf, **about) for j in range(values.shape[1])
        ),
        values=np.asarray(values, dtype=float)[place],
        by="programme",
        names=("a", "b"),
        group=np.where(place < n, 0, 1),
        cluster=place,
        clustered_by="counselor",
        turns=np.ones(len(place)),
        counts=np.full((len(place), values.shape[1], 2), np.nan),
    )


def test_p_is_that_of_scipys_permutations() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(0.8, 1, 5), rng.normal(0, 1, 5)
    theirs = stats.permutation_test(
        (x, y), lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis), n_resamples=np.inf, vectorized=True
    )
    # With equal sizes the studentised difference orders the splits as the difference does.
    assert two_samples(x[:, None], y[:, None], 1_000, 0)[0][0] == pytest.approx(theirs.pvalue)
    ours = sign_flips((x - y)[:, None], 1_000, 0)[0][0]
    flips = stats.permutation_test(
        (x - y,), lambda d, axis: np.mean(d, axis=axis), permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert ours == pytest.approx(flips.pvalue)


def test_intervals_hold_the_difference_with_few_clusters_of_unequal_size() -> None:
    """Columns are repetitions: 800 intervals of four counselors against six, of 1 to 30 sessions each."""
    rng, sizes = np.random.default_rng(8), np.array([1, 30, 2, 5, 1, 1, 10, 30, 3, 2])
    spread = np.sqrt(0.3 + 0.7 / sizes)[:, None]
    data = of_values(rng.normal(size=(10, 800)) * spread, 4, sizes)
    table = comparison_table(data, contrasts(data, "pairs"))
    covered = ((table["difference_lo"] < 0) & (table["difference_hi"] > 0)).mean()
    assert 0.93 <= covered <= 0.975
    assert (table["p"] < 0.05).mean() == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize(("n", "k"), [(4, 4), (5, 5), (3, 6)])
def test_what_is_said_to_be_found_is_found_in_four_of_five(n: int, k: int) -> None:
    values = np.random.default_rng(9).normal(size=(n + k, 2_000))
    values[:n] += findable(n, k)
    found = two_samples(values[:n], values[n:], 1_000, 0)[0] < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.04)


def test_infinite_values_are_undefined_and_named() -> None:
    frame = pd.concat([of_clusters("a", HIGH, [1] * 6), of_clusters("b", LOW, [1] * 6)], ignore_index=True)
    frame.loc[2, MEASURE] = np.inf
    found = compare(frame, by="programme", measures=MEASURE)
    assert f"Infinite values are taken as undefined: {MEASURE} of a_2." in found.words
    assert found.table.iloc[0]["n_sessions"] == 5
    assert np.isfinite(found.table.iloc[0]["mean"])
