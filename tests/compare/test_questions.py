"""The comparisons that people ask for: long turns, groups of many, clients who are not named, rare codes, numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from talks import session

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.results import references
from therapy_analytics.stats.compare import CompareOptions, compare
from therapy_analytics.stats.compare.groups import choose, grouped
from therapy_analytics.stats.compare.reference import against_references
from therapy_analytics.stats.compare.sessions import Results, built_in_codebook
from therapy_analytics.stats.compare.tables import groups_table

FEW = CompareOptions(permutations=1_000)
CODES = ("therapist_question", "therapist_reflection", "therapist_input", "therapist_advice")
RATES = [f"{code}_rate" for code in CODES]


def counted(rates: np.ndarray, of: int = 40, **about: Any) -> pd.DataFrame:
    """Return sessions (a row each of rates) with counts out of so many therapist turns."""
    frame = pd.DataFrame({"session_id": [f"s{i}" for i in range(len(rates))], "n_turns_therapist": float(of), **about})
    for code, shares in zip(CODES, rates.T, strict=False):
        n = np.rint(shares * of)
        frame = frame.assign(**{f"n_{code}": n, f"{code}_rate": n / of})
    return frame


def dealt(clients: int, sessions: int, seed: int) -> pd.DataFrame:
    """Return sessions of two counselors who do not differ, but whose clients do."""
    rng, place = np.random.default_rng(seed), np.repeat(np.arange(2 * clients), sessions)
    level = rng.beta(2, 3, (2 * clients, 4))[place]
    names = {"counselor": np.where(place < clients, "Ann", "Bo"), "client": [f"client {i}" for i in place]}
    return counted(rng.binomial(40, level) / 40, **names)


def test_without_clients_nothing_is_claimed_of_counselors_and_the_first_lines_say_so() -> None:
    """Two counselors with two clients of six sessions: 45 to 60% of such tables claimed something."""
    found = compare(dealt(2, 6, 0).drop(columns="client"), measures=RATES, options=FEW)
    assert found.table["p"].isna().all()
    assert not (found.table["finding"] == "differs").any()
    independent = CompareOptions(permutations=1_000, cluster="session")
    assert compare(dealt(2, 6, 0), measures=RATES, options=independent).table["p"].notna().any()
    first = found.words.splitlines()[2]
    assert first.startswith("**Nothing is claimed of counselors, because no column says whose sessions these are")
    assert "Nothing is claimed; the first lines say why." in found.words
    assert "480" in found.words  # what was counted is shown all the same


def test_sessions_without_a_client_are_as_those_of_one() -> None:
    frame = dealt(6, 3, 1)
    some = frame.assign(client=frame["client"].where(frame.index % 3 > 0, ""))
    found = compare(some, measures=RATES, options=FEW)
    assert "12 sessions of a counselor without a client count as those of one client." in found.words
    assert set(found.table["n_clusters"]) == {7}


def test_clients_of_one_name_under_several_counselors_are_asked_about() -> None:
    """Eight standardised patients who see both counselors: they are eight, not sixteen."""
    frame = dealt(8, 1, 2).assign(client=[f"patient {i % 8}" for i in range(16)])
    asked = compare(frame, measures=RATES, options=FEW)
    assert "8 names of clients stand under several counselors" in asked.words
    assert asked.table["p"].isna().all()
    same = compare(frame, measures=RATES, options=replace(FEW, cluster="client", crossed=True)).table
    assert set(same["tested"]) == {"paired by client"}
    assert set(same["n_clusters"]) == {8}
    apart = compare(frame, measures=RATES, options=replace(FEW, cluster="client")).table
    assert set(apart["tested"]) == {"means by client"}
    assert set(apart["n_clusters"] + apart["n_clusters_against"]) == {16}


def test_a_models_sessions_count_one_by_one_though_the_counselor_is_the_model() -> None:
    rates = np.random.default_rng(0).beta(4, 6, (20, 4))
    models = np.where(np.arange(20) < 10, "one", "two")
    found = compare(counted(rates, counselor=models, model=models), by="model", measures=RATES, options=FEW).table
    assert set(found["tested"]) == {"sessions"}
    assert found["p"].notna().all()


def test_nothing_is_claimed_of_codes_that_are_hardly_expected() -> None:
    """A rate of .02, four counselors with a session against twelve with twelve: p < .05 came in up to 22%."""
    rng = np.random.default_rng(0)
    counselors = [*(f"a{i}" for i in range(4)), *np.repeat([f"b{i}" for i in range(12)], 12)]
    frame = counted(rng.binomial(30, 0.02, (148, 4)) / 30, of=30, counselor=counselors)
    frame["programme"] = frame["counselor"].str[0]
    found = compare(frame, by="programme", measures=RATES, options=FEW)
    assert set(found.table["finding"]) == {"too few"}
    assert "Fewer than five turns with the code, or without it, would be expected" in found.words
    more = compare(frame.assign(**dict.fromkeys(RATES, 0.3)), by="programme", measures=RATES, options=FEW)
    assert "Fewer than five" not in more.words


def test_three_clusters_a_side_are_shown_and_never_claimed() -> None:
    rates = np.repeat([[0.1] * 4, [0.9] * 4], 3, axis=0) + np.linspace(0, 0.05, 6)[:, None]
    found = compare(counted(rates, programme=list("aaabbb"), counselor=list("uvwxyz")), by="programme", options=FEW)
    assert set(found.table.loc[found.table["measure"].isin(RATES), "finding"]) == {"too few"}
    assert (
        "With fewer than four counselors on a side nothing is claimed, only shown: programme a, programme b."
        in found.words
    )
    assert "| therapist question rate | 11% (7.2 to 14; 13 of 120) | 94% (91 to 98; 113 of 120) |" in found.words
    assert "No difference was tested; what could not be compared says why." in found.words


def test_a_number_gets_one_rank_correlation() -> None:
    rng = np.random.default_rng(1)
    years = np.arange(1, 19)
    rates = np.clip(rng.normal(0.4, 0.08, (18, 4)), 0, 1)
    rates[:, 0] = np.clip(0.1 + 0.03 * years + rng.normal(0, 0.08, 18), 0, 1)
    frame = counted(np.repeat(rates, 3, axis=0), counselor=np.repeat([f"c{i}" for i in years], 3))
    frame["years"] = np.repeat(years, 3)
    found = compare(frame, by="years", measures=RATES, options=FEW)
    assert found.table.empty
    one = found.trend.set_index("measure").loc["therapist_question_rate"]
    assert (one["finding"], one["n_clusters"], one["n_sessions"]) == ("differs", 18, 54)
    assert one["lo"] < one["rank_correlation"] < one["hi"]
    assert one["rank_correlation"] > 0.8
    assert (found.trend["finding"] != "differs").sum() == 3
    assert "years is taken as a number or an order" in found.words
    groups = found.groups[found.groups["kind"] == "group"]
    assert set(groups["group"]) == {"1 to 6", "7 to 12", "13 to 18"}
    assert found.trend.shape[0] == len(RATES)
    groups = compare(frame, by="years", against="others", measures=RATES, options=FEW)
    assert groups.trend.empty
    assert len(groups.table) == 18 * 4


def test_ordered_levels_get_a_trend_and_names_do_not() -> None:
    rates = np.random.default_rng(2).beta(4, 6, (30, 4))
    levels = np.resize(["low", "medium", "high"], 30)
    counselors = [f"c{i}" for i in range(30)]
    found = compare(counted(rates, training=levels, counselor=counselors), by="training", measures=RATES, options=FEW)
    assert list(found.trend["measure"]) == RATES
    groups = found.groups[found.groups["kind"] == "group"]
    assert list(dict.fromkeys(groups["group"])) == ["low", "medium", "high"]
    numbers = [str(i % 6) for i in range(30)]
    named = compare(counted(rates, counselor=numbers, client=counselors), by="counselor", measures=RATES, options=FEW)
    assert named.trend.empty
    assert len(named.table) == 6 * 4


def test_the_correlation_is_that_of_scipy() -> None:
    from scipy import stats

    rng = np.random.default_rng(3)
    rates, dose = rng.random((6, 1)), rng.permutation(6).astype(float)
    frame = counted(np.rint(rates * 40) / 40, dose=dose, counselor=list("abcdef"))
    one = compare(frame, by="dose", measures=RATES[:1], options=FEW).trend.iloc[0]
    theirs = stats.spearmanr(dose, frame[RATES[0]])
    assert one["rank_correlation"] == pytest.approx(theirs.statistic)
    exact = stats.permutation_test(
        (dose,), lambda x: stats.spearmanr(x, frame[RATES[0]]).statistic, permutation_type="pairings", n_resamples=10**6
    )
    assert one["p"] == pytest.approx(exact.pvalue, abs=1e-9)
    assert one["p_method"] == "permutation, exact"


@pytest.fixture
def skilled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a reference of two corpora in the place of the shipped one: 19% of turns, standard deviation .16."""
    row = {"tagger": "accurate", "group": "human_high", "n_sessions": 143, "mean": 0.19, "mean_lo": 0.17}
    row |= {"mean_hi": 0.21, "sd": 0.16, "q05": 0.0, "q25": 0.05, "median": 0.15, "q75": 0.3, "q95": 0.5}
    pd.DataFrame([row | {"measure": name} for name in RATES]).to_csv(tmp_path / "profiles.csv", index=False)
    monkeypatch.setattr(references, "PROFILES", tmp_path / "profiles.csv")


@pytest.mark.usefixtures("skilled")
def test_many_people_are_not_held_against_a_reference_as_one() -> None:
    """55% of turns against 19% in eighteen recordings: of that nothing was said."""
    rng = np.random.default_rng(4)
    low = counted(rng.beta(3.3, 2.7, (18, 4)), of=20, skill="low", source_group=[f"r{i}" for i in range(18)])
    found = compare(low, by="skill", against="reference", measures=RATES, options=FEW)
    assert set(found.table["finding"]) == {"differs"}
    assert set(found.table["p_method"]) == {"t of 18 clusters, and corpora 0.072 apart"}
    assert "18 sessions of 18 recordings) against 19% (143 sessions); difference" in found.words
    few = compare(low[:3], by="skill", against="reference", measures=RATES, options=FEW)
    assert set(few.table["finding"]) == {"too few"}


@pytest.mark.usefixtures("skilled")
def test_groups_of_skilled_sessions_of_another_corpus_seldom_differ_from_a_reference() -> None:
    """Corpora whose means lie .07 apart (as those of the reference do) are one another's control."""
    rng, false, book = np.random.default_rng(5), 0, built_in_codebook()
    for _ in range(40):
        mean = np.clip(0.19 + rng.normal(0, 0.07, 4), 0.03, 0.5)
        rates = rng.beta(4 * mean, 4 * (1 - mean), (10, 4))
        read = Results(counted(rates, source_group=[f"r{i}" for i in range(10)], set="mine"), book)
        data = grouped(read, choose(read, RATES), by="set", cluster=None)
        table = against_references(data, groups_table(data), references.reference_profiles())
        false += bool((table["finding"] == "differs").any())
    assert false <= 5  # 2 of 40 is one in twenty; 6 or more is then rarer than one in 70


@pytest.fixture(scope="module")
def spoken() -> ta.Analysis:
    """Return sessions of two groups that ask alike often in turns of one length, and talk in turns of other lengths."""
    long = "Let me add that this has come up before and that we could look at it again some time, if it suits you well"
    said = {
        "short": (["I see.", "Right.", "How was that for you?", "Mm-hmm.", "Go on."] * 2, "It was fine."),
        "long": (
            [f"{long}.", f"{long}; what would help?", f"{long}.", f"{long}: how so?", "Right."] * 2,
            "It was fine.",
        ),
    }
    sessions = []
    for group, (turns, answer) in said.items():
        for i in range(6):
            texts = [text for turn in turns[i % 3 :] + turns[: i % 3] for text in (turn, answer)]
            sessions.append(replace(session(*texts, name=f"{group}{i}"), metadata={"arm": group}))
    return ta.analyze(sessions, tagger=ta.TaggerOptions(kind="fast"))


def test_beside_a_difference_of_rates_stands_that_at_like_length(spoken: ta.Analysis) -> None:
    found = compare(spoken, by="arm", measures=RATES, options=FEW)
    rates = found.table[found.table["like_length"] != ""].set_index("measure")
    assert set(rates["like_length"]) == {"within 5 bins of words"}
    row = rates.loc["therapist_question_rate"]
    assert row["words_per_turn"] > 1.5 * row["words_per_turn_against"]
    assert "**Therapist turns of arm long are longer** than those of arm short" in found.words
    turns = spoken.turns[spoken.turns["role"] == "therapist"]
    words = turns["n_words"].to_numpy(dtype=float)
    bins = np.searchsorted(np.quantile(words, [0.2, 0.4, 0.6, 0.8]), words)
    long = turns["session_id"].str.startswith("long").to_numpy()
    hit = turns["mi_question"].to_numpy(dtype=float)
    both = [k for k in range(5) if long[bins == k].any() and (~long)[bins == k].any()]
    apart = [hit[(bins == k) & long].mean() - hit[(bins == k) & ~long].mean() for k in both]
    weights = [(bins == k).sum() for k in both]
    assert row["at_like_length"] == pytest.approx(np.average(apart, weights=weights))


def test_synchrony_is_compared_as_excess_or_not_at_all() -> None:
    frame = pd.DataFrame({"session_id": [f"s{i}" for i in range(12)], "arm": ["a", "b"] * 6, "rlsm": 0.4})
    with pytest.raises(BadOptionError, match="grows with the length of turns"):
        compare(frame, by="arm", measures="rlsm", options=FEW)


def test_a_claim_on_synchrony_needs_the_difference_at_like_length() -> None:
    """Excess that follows the length of sessions alone, and excess that does not."""
    rng = np.random.default_rng(6)
    arm = np.repeat(["a", "b"], 20)
    words = np.where(arm == "a", 4_000.0, 2_000.0) * rng.lognormal(0, 0.2, 40)
    of_length = 0.1 * np.log(words / 60) + rng.normal(0, 0.005, 40)
    of_group = np.where(arm == "a", 0.1, 0.0) + rng.normal(0, 0.01, 40)
    about = {"session_id": [f"s{i}" for i in range(40)], "arm": arm, "n_turns": 60.0}
    about |= {"n_words_therapist": words / 2, "n_words_client": words / 2}
    for values, finding in ((of_length, "unclear"), (of_group, "differs")):
        frame = pd.DataFrame(about | {"lsm_turn_mean": 0.5 + values, "lsm_turn_mean_surrogate_mean": 0.5})
        frame["lsm_turn_mean_excess"] = values
        row = compare(frame, by="arm", measures="lsm_turn_mean", options=FEW).table.iloc[0]
        assert row["measure"] == "lsm_turn_mean_excess"
        assert row["p_adjusted"] < 0.05
        assert row["finding"] == finding
        assert row["like_length"] == "log turns and log words per turn held constant"


def test_shares_say_in_how_many_sessions_they_are_defined() -> None:
    rng = np.random.default_rng(7)
    frame = counted(rng.beta(4, 6, (20, 4)), counselor=["a", "b"] * 10, client=[f"c{i}" for i in range(20)])
    frame["open_question_rate"] = np.where(np.arange(20) < 5, np.nan, 0.5 + np.arange(20) / 100)
    words = compare(frame, options=FEW).words
    assert "defined in 7 of 10 sessions" in words
    assert "defined in 8 of 10 sessions" in words
