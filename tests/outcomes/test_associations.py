"""What goes with what: levels and targets counted by hand, least squares as oracle, and what is said of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from therapy_analytics.stats.outcomes.associations import (
    ADJUSTED,
    BETTER,
    BOUND,
    NO_ORDER,
    NONE,
    OPEN,
    WORSE,
    associations,
)
from therapy_analytics.stats.outcomes.levels import (
    BEFORE,
    CLIENTS,
    CLIENTS_ALONE,
    COUNSELORS,
    SESSIONS,
    SESSIONS_ALONE,
    WITHIN,
    Y,
    nesting,
    target_rows,
    with_groups,
)
from therapy_analytics.stats.outcomes.scales import Scale
from therapy_analytics.stats.outcomes.words import NO_CAUSE, findings

ORS = [Scale(name="ors", label="ORS", higher_is_better=True)]


def _study(
    n_counselors: int, n_clients: int, n_sessions: int, *, seed: int = 0, slope: float = 0.0, n_measures: int = 1
) -> pd.DataFrame:
    """Return sessions with measures ``m0``, ..., a score ``ors`` and lengths; clients and counselors differ in all."""
    rng = np.random.default_rng(seed)
    client = np.repeat(np.arange(n_counselors * n_clients), n_sessions)
    counselor = client // n_clients
    n = len(client)

    def drawn() -> np.ndarray:
        of_client, of_counselor = rng.normal(size=client.max() + 1), rng.normal(size=n_counselors)
        return np.asarray(rng.normal(size=n) + of_client[client] + of_counselor[counselor])

    measures = {f"m{i}": drawn() for i in range(n_measures)}
    table = pd.DataFrame({"session_id": [f"s{i}" for i in range(n)], "client": [f"c{i}" for i in client]})
    table["counselor"], table["number"] = (
        [f"k{i}" for i in counselor],
        np.tile(np.arange(1.0, n_sessions + 1), client.max() + 1),
    )
    words = {name: rng.integers(200, 2_000, n).astype(float) for name in ("n_words_therapist", "n_words_client")}
    return table.assign(**measures, **words, ors=20 + 5 * drawn() + 5 * slope * measures["m0"])


def _found(table: pd.DataFrame, **options: object) -> pd.DataFrame:
    measures = [name for name in table if str(name).startswith("m")]
    return associations(table, measures, ["ors"], {"ors": True}, **options)  # type: ignore[arg-type]


def _row(table: pd.DataFrame, level: str, target: str = "session", adjusted: str = "") -> pd.Series:
    rows = table[(table["level"] == level) & (table["target"] == target) & (table["adjusted"] == adjusted)]
    assert len(rows) == 1
    return rows.iloc[0]


def test_a_measure_is_split_into_deviations() -> None:
    # Two counselors, four and eight clients, two sessions each
    client = np.repeat(np.arange(12), 2)
    counselor = (client >= 4).astype(np.int64)
    values = np.where(np.arange(24) % 2 == 0, 1.0, 3.0) + 10 * counselor + np.repeat(np.tile([-1.0, 1], 6), 2)
    nested = nesting(client, counselor)
    parts = nested.split(values)
    assert nested.free == {WITHIN: 12, CLIENTS: 10, COUNSELORS: 1}
    assert parts[WITHIN].tolist() == [-1.0, 1.0] * 12
    assert parts[CLIENTS].tolist() == [-1.0, -1, 1, 1] * 6
    assert sum(parts.values()) == pytest.approx(values - values.mean())
    # Deviations of ± 1: 24 squares over 12 sessions more than clients, 12 over 10 clients more than counselors
    spread = nested.spread(parts)
    assert (spread[WITHIN], spread[CLIENTS]) == pytest.approx((np.sqrt(2), np.sqrt(1.2)))


def test_levels_that_hardly_repeat_are_taken_together() -> None:
    alone = nesting(np.arange(20), np.arange(20) // 2)
    assert (alone.free, alone.note) == ({CLIENTS: 10, COUNSELORS: 9}, SESSIONS_ALONE)
    one_each = nesting(np.repeat(np.arange(10), 3), np.repeat(np.arange(10), 3))
    assert (one_each.free, one_each.note) == ({WITHIN: 20, CLIENTS: 9}, CLIENTS_ALONE)
    assert nesting(np.arange(20), np.zeros(20, dtype=np.int64), repeats=False).note == ""


def test_targets_by_hand() -> None:
    table = pd.DataFrame({"session_id": list("abcdefg"), "client": ["A", "A", "A", "A", "B", "B", ""]})
    table["counselor"], table["number"] = "", [1.0, 2, 4, 5, 2, 1, np.nan]
    table["ors"], table["m"] = [10.0, 12, np.nan, 20, 7, 5, 9], [1.0, 2, 6, np.nan, 8, 4, 3]
    grouped = with_groups(table)
    following = target_rows(grouped, "ors", "next", ["m"])
    # A: the second session after the first, the fifth after the fourth (third is missing); B: in the order of numbers
    assert following[[BEFORE, Y, "m"]].fillna(-1).to_numpy().tolist() == [[10, 12, 1], [-1, 20, 6], [5, 7, 4]]
    change = target_rows(grouped, "ors", "change", ["m"])
    assert change[[BEFORE, Y, "m", SESSIONS]].to_numpy().tolist() == [[10, 20, 3, 4], [5, 7, 6, 2]]
    assert len(target_rows(grouped, "ors", "session", ["m"])) == 7


def _courses(table: pd.DataFrame) -> np.ndarray:
    """Return a column for each client, the number and its logarithm."""
    dummies = pd.get_dummies(table["client"]).to_numpy(dtype=float)
    return np.column_stack([dummies, table["number"], np.log(table["number"])])


def test_within_clients_it_is_least_squares_with_a_column_for_each_client_and_the_trend() -> None:
    table = _study(1, 8, 5)
    row = _row(_found(table, targets=["session"]), WITHIN)
    known = OLS(table["ors"], np.column_stack([table["m0"], _courses(table)])).fit()
    within = [table[name] - table.groupby("client")[name].transform("mean") for name in ("m0", "ors")]
    scale = np.sqrt((within[0] ** 2).sum() / (within[1] ** 2).sum())
    assert row["slope"] == pytest.approx(known.params["x1"] * scale)
    assert 4 < row["df"] < 7  # of eight clients, not of forty sessions
    assert (row["n_sessions"], row["n_clients"], row["n_counselors"]) == (40, 8, 1)


def test_numbers_that_ten_sessions_have_are_levels() -> None:
    table = _study(1, 12, 5)
    row = _row(_found(table, targets=["session"]), WITHIN)
    clients, numbers = (pd.get_dummies(table[name]).to_numpy(dtype=float) for name in ("client", "number"))
    known = OLS(table["ors"], np.column_stack([table["m0"], clients, numbers[:, 1:]])).fit()
    within = [table[name] - table.groupby("client")[name].transform("mean") for name in ("m0", "ors")]
    scale = np.sqrt((within[0] ** 2).sum() / (within[1] ** 2).sum())
    assert row["slope"] == pytest.approx(known.params["x1"] * scale)


def test_two_trends_are_no_association() -> None:
    """Scores fall by two standard deviations over eight sessions, the measure drifts by one, at each client's own pace.

    Without the number of the session all twenty studies claim something; `benchmarks/outcomes_coverage.py` has more.
    """
    claims = without = 0
    for seed in range(20):
        table, rng = _study(1, 25, 8, seed=seed), np.random.default_rng(seed)
        done, client = (table["number"] - 1) / 7, np.repeat(np.arange(25), 8)
        pace = 1 + 0.5 * rng.normal(size=(2, 25))[:, client]
        table["m0"] += 1.5 * pace[0] * done
        table["ors"] -= 5 * 2 * pace[1] * done
        found = _found(table, targets=["session", "next"])
        claims += bool(found["finding"].isin((BETTER, WORSE)).any())
        dummies = pd.get_dummies(table["client"]).to_numpy(dtype=float)
        without += bool(OLS(table["ors"], np.column_stack([table["m0"], dummies])).fit().pvalues["x1"] < 0.05)
    assert without >= 14
    assert claims <= 3


def test_clients_with_more_sessions_do_not_pass_for_clients_with_more_of_a_measure() -> None:
    claims = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = _study(1, 30, 9, seed=seed)
        table = table[table["number"] <= rng.integers(3, 10, 30).repeat(9)].drop(columns="n_words_client")
        table["m0"] += 4 * (table["number"] - 1) / 8
        table["ors"] -= 5 * 6 * (table["number"] - 1) / 8
        claims += bool(_found(table)["finding"].isin((BETTER, WORSE)).any())
    assert claims <= 3


def test_a_link_beside_the_trend_is_found() -> None:
    table = _study(1, 25, 8, seed=1, slope=0.4)
    done = (table["number"] - 1) / 7
    row = _row(_found(table.assign(ors=table["ors"] - 10 * done), targets=["session"]), WITHIN)
    assert row["finding"] == BETTER
    assert row["lo"] > 0


def test_without_numbers_nothing_is_said_within_clients() -> None:
    found = _found(_study(1, 12, 5, slope=2.0).assign(number=np.nan))
    assert set(found.loc[found["level"] == WITHIN, "target"]) == {"session", "next"}
    unknown = found[(found["level"] == WITHIN) | (found["target"] == "change")]
    assert set(unknown["note"]) == {NO_ORDER}
    assert unknown["p"].isna().all()
    assert _row(found, CLIENTS)["finding"] == BETTER
    told = findings(found, ORS).open
    assert any("Between sessions of one client" in one and NO_ORDER in one for one in told)


def test_few_clients_say_nothing_of_sessions_of_others() -> None:
    found = _found(_study(1, 3, 20, slope=2.0), targets=["session"])
    assert "too few clients with several sessions" in _row(found, WITHIN)["note"]


def test_between_clients_it_is_the_correlation_of_their_means() -> None:
    table = _study(1, 15, 4, seed=2)
    row = _row(_found(table, targets=["session"]), CLIENTS)
    means = table.groupby("client")[["m0", "ors"]].mean()
    r, p = stats.pearsonr(means["m0"], means["ors"])
    assert (row["slope"], row["p"], row["df"]) == pytest.approx((r, p, 13), rel=1e-3)


def test_the_change_is_least_squares_of_the_last_on_the_first() -> None:
    table = _study(1, 20, 3, seed=3).drop(columns=["n_words_therapist", "n_words_client"])
    row = _row(_found(table, targets=["change"]), CLIENTS, "change")
    by_client = table.groupby("client", sort=False)
    first, last, x = by_client["ors"].first(), by_client["ors"].last(), by_client["m0"].mean()
    known = OLS(last, np.column_stack([x, first, np.ones(20)])).fit()
    assert row["slope"] == pytest.approx(known.params["x1"] * x.std() / last.std())
    assert (row["p"], row["df"]) == pytest.approx((known.pvalues["x1"], 17), rel=1e-3)
    assert (row["n_sessions"], row["n_clients"]) == (60, 20)


def test_the_next_score_is_of_sessions_of_one_client() -> None:
    table = _study(1, 10, 5, seed=3).drop(columns=["n_words_therapist", "n_words_client"])
    found = _found(table, targets=["next"])
    assert found["level"].tolist() == [WITHIN]
    by_client = table.groupby("client")["ors"]
    pairs = table.assign(y=by_client.shift(-1)).dropna()
    clients, numbers = (pd.get_dummies(pairs[name]).to_numpy(dtype=float) for name in ("client", "number"))
    known = OLS(pairs["y"], np.column_stack([pairs["m0"], pairs["ors"], clients, numbers[:, 1:]])).fit()
    within = [pairs[name] - pairs.groupby("client")[name].transform("mean") for name in ("m0", "y")]
    scale = np.sqrt((within[0] ** 2).sum() / (within[1] ** 2).sum())
    assert found["slope"].iloc[0] == pytest.approx(known.params["x1"] * scale)
    assert 4 < found["df"].iloc[0] < 9
    short = _found(table[table["number"] < 3], targets=["next"])
    assert short["note"].tolist() == ["too few: clients with three sessions or more are needed"]


def test_a_measure_of_its_own_session_does_not_seem_to_harm_the_next() -> None:
    slopes = [_found(_study(1, 20, 5, seed=seed, slope=1.5), targets=["next"])["slope"].iloc[0] for seed in range(20)]
    assert abs(np.mean(slopes)) < 0.08


def test_few_counselors_are_held_constant() -> None:
    table = _study(3, 6, 3, seed=4)
    found = _found(table, targets=["session"])
    row = _row(found, COUNSELORS)
    assert np.isnan(row["slope"])
    assert row["note"] == "too few: 3 more counselors are needed"
    means = table.groupby("client", sort=False)[["m0", "ors"]].mean()
    dummies = np.repeat(np.eye(3), 6, axis=0)
    known = OLS(means["ors"], np.column_stack([means["m0"], dummies])).fit()
    assert _row(found, CLIENTS)["p"] == pytest.approx(known.pvalues["x1"], rel=1e-3)


def test_three_levels_are_found_where_they_are() -> None:
    table = _study(12, 4, 4, seed=5, slope=2.0)
    found = _found(table, targets=["session"])
    assert [_row(found, level)["finding"] for level in (WITHIN, CLIENTS, COUNSELORS)] == [BETTER] * 3
    worse = associations(table, ["m0"], ["ors"], {"ors": False}, targets=["session"])
    assert set(worse["finding"]) == {WORSE}


def test_unknown_clients_are_sessions() -> None:
    table = _study(1, 30, 1, seed=6).assign(client="", counselor="")
    row = _row(_found(table, targets=["session"]), CLIENTS)
    r, p = stats.pearsonr(table["m0"], table["ors"])
    assert (row["slope"], row["p"], row["n_clients"], row["note"]) == (
        pytest.approx(r), pytest.approx(p, rel=1e-3), 0, SESSIONS_ALONE
    )  # fmt: skip


def test_q_is_over_all_rows() -> None:
    found = _found(_study(2, 8, 4, n_measures=4, slope=0.5))
    tested = found["p"].notna()
    assert found.loc[tested, "q"].to_numpy() == pytest.approx(stats.false_discovery_control(found.loc[tested, "p"]))
    assert found.loc[~tested, "q"].isna().all()
    claimed = found["finding"].isin((BETTER, WORSE))
    assert claimed.equals(found["q"] < 0.05)
    assert set(found.loc[~tested, "finding"]) == {""}


def test_no_association_needs_many_sessions() -> None:
    few, many = (_study(1, n, 1, seed=7).assign(client="", counselor="") for n in (40, 3_000))
    assert _row(_found(few, targets=["session"]), CLIENTS)["finding"] == OPEN
    row = _row(_found(many, targets=["session"]), CLIENTS)
    assert (row["equivalent"], row["finding"]) == (True, NONE)
    assert -BOUND < row["lo"] < row["hi"] < BOUND


def test_the_length_itself_is_not_adjusted_for_the_length() -> None:
    table = _study(1, 30, 1, seed=8).assign(client="", counselor="", m0=lambda one: one["n_words_client"])
    table["n_words_therapist"] = 0.0
    table["m0"] = np.log1p(table["n_words_client"])
    row = _row(_found(table, targets=["session"]), CLIENTS, adjusted=ADJUSTED)
    assert np.isnan(row["slope"])
    assert row["note"] == "the measure does not vary apart from what is held constant"


def test_what_goes_with_the_length_alone_is_not_shown_beyond_it() -> None:
    rng = np.random.default_rng(9)
    table = _study(1, 200, 1, seed=9).assign(client="", counselor="")
    length = np.log1p(table["n_words_therapist"] + table["n_words_client"])
    table = table.assign(m0=length + rng.normal(0, 0.2, 200), ors=5 * length + rng.normal(0, 1, 200))
    found = _found(table, targets=["session"])
    assert _row(found, CLIENTS)["finding"] == BETTER
    assert _row(found, CLIENTS, adjusted=ADJUSTED)["finding"] == OPEN
    (sentence,) = findings(found, ORS).found
    assert sentence.endswith("With the length of the session held constant it is not shown.")


def test_undefined_measures_and_scores() -> None:
    table = _study(1, 12, 3, seed=10).assign(m1=1.0, m2=np.nan)
    found = _found(table, targets=["session"])
    constant = found[(found["measure"] == "m1") & (found["adjusted"] == "")]
    assert set(constant["note"]) == {"the measure does not vary here"}
    assert set(found.loc[found["measure"] == "m2", "note"]) == {"0 with score and measure: too few"}
    assert found.loc[found["measure"] != "m0", "slope"].isna().all()


def test_order_of_rows_makes_no_difference() -> None:
    table = _study(6, 3, 4, seed=11)
    shuffled = table.sample(frac=1, random_state=0)
    numbers = ["slope", "lo", "hi", "p", "q", "df"]
    one, other = (_found(each)[numbers].to_numpy(dtype=float) for each in (table, shuffled))
    assert other == pytest.approx(one, rel=1e-3, abs=1e-4, nan_ok=True)


def test_findings_are_sentences() -> None:
    table = _study(1, 14, 5, seed=13, slope=1.5)
    found = _found(table)
    told = findings(found, ORS)
    within = [one for one in told.found if one.startswith("**In sessions with higher m0 than the client's others**")]
    assert len(within) == 1
    assert "the session's ORS was better (higher): +" in within[0]
    assert told.open[-1] == NO_CAUSE
    assert any("counselors nothing can be said" in one for one in told.open)
    few = findings(_found(_study(1, 3, 1).assign(client="")), ORS)
    assert few.found == []
    assert any("nothing can be said" in one for one in few.open)


def test_shuffled_scores_give_no_claim() -> None:
    claims = 0
    for seed in range(15):
        table = _study(1, 12, 4, seed=seed, n_measures=2, slope=1.0)
        order = np.random.default_rng(seed).permutation(len(table))
        found = _found(table.assign(ors=table["ors"].to_numpy()[order]), targets=["session"])
        claims += bool(found["finding"].isin((BETTER, WORSE)).any())
    assert claims <= 3
