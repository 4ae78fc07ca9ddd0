"""What is claimed of people: of the core measures alone, beside people like those of the reference, and seldom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.results import references
from therapy_analytics.stats.compare import CompareOptions, compare
from therapy_analytics.stats.compare.groups import choose, contrasts, grouped
from therapy_analytics.stats.compare.reference import against_references
from therapy_analytics.stats.compare.sessions import built_in_codebook, read_results
from therapy_analytics.stats.compare.tables import comparison_table, groups_table

_BOOK = built_in_codebook()
CLAIMED = tuple(_BOOK.index[_BOOK["compare"] == "tested"])
CORE = tuple(_BOOK.index[_BOOK["compare"].isin(["tested", "shown"])])
FEW = CompareOptions(permutations=1_000)
HIGH = references.reference_profiles().query("group == 'human_high'").set_index("measure")
SHARE = "therapist_input_rate"


def sessions(n: int, counselors: int, seed: int) -> pd.DataFrame:
    """Draw sessions of the core measures as those of the reference lie, and deal counselors to them."""
    rng = np.random.default_rng(seed)
    of = rng.integers(8, 60, n)
    frame: dict[str, Any] = {"session_id": [f"s{i}" for i in range(n)], "n_turns_therapist": of.astype(float)}
    frame["counselor"] = rng.permutation([f"c{i % counselors}" for i in range(n)])
    frame["client"] = frame["session_id"]
    for name in CORE:
        # Of codes that no tagger gives yet there are no references
        mean, sd = (HIGH.at[name, "mean"], HIGH.at[name, "sd"]) if HIGH.at[name, "n_sessions"] else (0.2, 0.1)
        if HIGH.at[name, "q95"] > 1:
            frame[name] = rng.gamma((mean / sd) ** 2, sd**2 / mean, n)
            continue
        total = mean * (1 - mean) / sd**2 - 1
        rates = rng.beta(mean * total, (1 - mean) * total, n)
        if name in CLAIMED and name.endswith("_rate"):
            frame[f"n_{name.removesuffix('_rate')}"] = rng.binomial(of, rates).astype(float)
            rates = frame[f"n_{name.removesuffix('_rate')}"] / of
        frame[name] = rates
    return pd.DataFrame(frame)


def test_by_default_the_core_is_shown_and_four_of_it_are_tested() -> None:
    found = compare(sessions(30, 2, 0), options=FEW)
    assert list(found.table["measure"]) == list(CORE)
    tested = found.table[found.table["p"].notna()]
    assert set(tested["measure"]) == set(CLAIMED)
    assert set(found.table.loc[found.table["p"].isna(), "finding"]) == {"not tested"}
    assert "Not tested, only shown: therapist words per turn, therapist talk share, open question rate" in found.words
    assert "Of measures that rest on codes, p-values and intervals concern the machine's codes" in found.words


def test_a_list_of_differences_is_announced_only_where_there_is_one() -> None:
    ids = [f"s{i}" for i in range(20)]
    frame = pd.DataFrame({"session_id": ids, "client": ids, "counselor": ["a", "b"] * 10})
    near, far = np.repeat(np.linspace(0.2, 0.6, 10), 2), np.tile([0.0, 0.09], 10)  # .09 is .7 standard deviations
    for rates, listed in ((near + far / 3, False), (near + far, True)):
        words = compare(frame.assign(**{SHARE: rates}), measures=[SHARE], options=FEW).words
        section = words.partition("## What is inconclusive")[2].partition("\n## ")[0]
        assert "would mostly show a difference" in section
        assert ("The differences that are listed here may be nothing" in section) is listed
        assert ("- **therapist input rate**" in section) is listed


def test_what_is_named_is_tested() -> None:
    found = compare(sessions(30, 2, 0), measures=["therapist_talk_share", SHARE], options=FEW).table
    assert found["p"].notna().all()
    whole = compare(sessions(30, 2, 0), measures="core", options=FEW).table
    assert whole["p"].notna().sum() == len(CLAIMED)


def test_a_measure_that_is_not_tested_takes_no_proof_from_the_others() -> None:
    frame = sessions(30, 2, 0)
    core = compare(frame, options=FEW).table.set_index("measure")["p_adjusted"]
    three = compare(frame, measures=list(CLAIMED), options=FEW).table.set_index("measure")["p_adjusted"]
    pd.testing.assert_series_equal(core[list(CLAIMED)], three[list(CLAIMED)])


def test_references_are_people_unless_another_is_named() -> None:
    frame = sessions(30, 2, 0)
    people = compare(frame, against="reference", options=FEW)
    assert set(people.table["against"]) == {"reference: human_high", "reference: human_low"}
    assert set(people.groups["group"]) == {"c0", "c1", "human_high", "human_low"}
    model = compare(frame, against="reference:gpt_5_chat", options=FEW)
    assert set(model.table["against"]) == {"reference: gpt_5_chat"}
    with pytest.raises(BadOptionError, match="human_high, human_low, mibot_a"):
        compare(frame, against="reference:gpt_99", options=FEW)


def test_shuffled_counselors_seldom_differ_from_each_other_or_from_people() -> None:
    false = 0
    some = read_results(sessions(30, 2, 0))
    for seed in range(8):
        read = replace(some, sessions=sessions(30, (7, 5, 3, 2)[seed % 4], seed).reindex(columns=some.sessions.columns))
        data = grouped(read, choose(read, list(CLAIMED)), by="counselor", cluster=None)
        others = comparison_table(data, contrasts(data, None), permutations=1_000)
        people = against_references(data, groups_table(data), HIGH.reset_index())
        false += sum(bool((found["finding"] == "differs").any()) for found in (others, people))
    # Of 16 tables .8 would be one in twenty; 4 or more is then rarer than one in 100.
    assert false <= 3
