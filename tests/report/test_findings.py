"""What is said to stand out does, and nothing else; in words that judge nobody."""

from __future__ import annotations

import re
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from therapy_analytics.compare._results import Results, read_results
from therapy_analytics.references import reference_profiles
from therapy_analytics.report import _between, _findings, _outliers, _review
from therapy_analytics.report._data import report_data
from therapy_analytics.report._measures import SHOWN, chosen

TESTED = [one for one in SHOWN if one.tested]
PROFILES = reference_profiles("fast")
JUDGING = r"\b(good|bad|worse|better|poor|excellent|fails?|should|unsafe|safe|wrong|too (much|many|few|little))\b"


def spreads() -> dict[str, _outliers.Spread]:
    rows = PROFILES[PROFILES["group"] == "human_high"].to_dict("records")
    found = {str(row["measure"]): _outliers.spread(row) for row in rows}
    return {one.name: like for one in TESTED if (like := found[one.name]) is not None}


def drawn(read: Results, n: int, seed: int, *, counselors: int = 5) -> Results:
    """Return sessions that are drawn from the reference itself, each of a client of its own."""
    rng = np.random.default_rng(seed)
    of = rng.integers(8, 60, n).astype(float)
    data: dict[str, Any] = {"session_id": [f"s{i}" for i in range(n)]}
    data |= {"counselor": [f"c{i % counselors}" for i in range(n)], "client": data["session_id"], "source": "human"}
    for name, like in spreads().items():
        counts = rng.binomial(of.astype(int), rng.beta(like.a, like.b, n)).astype(float)
        data |= with_counts(name, counts, of)
    return replace(read, sessions=pd.DataFrame(data))


def with_counts(name: str, n: np.ndarray, of: np.ndarray) -> dict[str, np.ndarray]:
    from therapy_analytics.measures._intervals import wilsons

    rate, low, high = wilsons(n, of)
    return {name: rate, f"{name}_lo": low, f"{name}_hi": high, f"n_{name.removesuffix('_rate')}": n}


@pytest.fixture(scope="module")
def read(results: Path) -> Results:
    return read_results(results)


def singles(read: Results) -> list[_findings.Finding]:
    held = _findings.tested(chosen(read), read, PROFILES)
    assert held is not None
    return list(_findings.of_sessions(held, read, PROFILES))


def between(read: Results) -> list[_findings.Finding]:
    return _between.of_groups(chosen(read), read, ["counselor"], PROFILES)[0]


def test_sessions_of_the_reference_itself_hardly_ever_stand_out(read: Results) -> None:
    runs = 40
    found = sum(bool(singles(drawn(read, 15, seed))) for seed in range(runs))
    # Of 40 runs 2 would be one in twenty; 7 or more is then rarer than one in 200.
    assert found <= 6


def test_counselors_of_the_reference_itself_seldom_stand_out(read: Results) -> None:
    found = sum(bool(between(drawn(read, 15, seed, counselors=3))) for seed in range(4))
    assert found <= 2


def test_a_session_far_outside_is_found_and_told_with_its_numbers(read: Results) -> None:
    same = drawn(read, 15, 1).sessions
    name = "therapist_psychoeducation_rate"
    for column, values in with_counts(name, np.array([28.0]), np.array([30.0])).items():
        same.loc[4, column] = values[0]
    found = singles(replace(read, sessions=same))
    assert [(one.session, one.measure) for one in found] == [(4, name)]
    assert found[0].q < 0.001
    row = PROFILES[(PROFILES["group"] == "human_high") & (PROFILES["measure"] == name)].iloc[0]
    assert found[0].text.startswith("s4: explains psychology in 28 of 30 therapist turns (93%, 95% interval 79 to 98%)")
    assert f"the middle nine in ten lie between 0% and {100 * row['q95']:.0f}%" in found[0].text


def test_models_like_it_are_named(read: Results) -> None:
    same = drawn(read, 15, 1).sessions
    name = "therapist_normalizing_rate"
    for column, values in with_counts(name, np.array([24.0]), np.array([30.0])).items():
        same.loc[2, column] = values[0]
    text = next(one.text for one in singles(replace(read, sessions=same)) if one.measure == name)
    assert text.endswith("That lies within the middle nine in ten sessions of Claude Sonnet 4.")


def test_a_counselor_unlike_the_others_is_found(read: Results) -> None:
    same = drawn(read, 30, 3, counselors=2).sessions
    of = np.full(30, 40.0)
    counts = np.where(same["counselor"] == "c0", 34.0, 8.0) + np.arange(30) % 3
    same = same.assign(**with_counts("therapist_input_rate", counts, of))
    texts = [one.text for one in between(replace(read, sessions=same)) if one.measure == "therapist_input_rate"]
    assert any("more than in the other sessions" in text and "15 sessions of 15 clients" in text for text in texts)
    assert any("skilled people's sessions average" in text and "points more (95% interval" in text for text in texts)


def test_two_sessions_are_no_group(read: Results) -> None:
    assert between(drawn(read, 4, 0, counselors=2)) == []


def test_the_test_is_the_beta_binomial() -> None:
    like = _outliers.Spread(2.0, 6.0, 0.25, 0.144)
    beside = stats.betabinom(20, 2, 6)
    tail = beside.sf(13) + beside.pmf(13) / 2
    assert _outliers.two_sided(np.array([13.0]), np.array([20.0]), like)[0] == pytest.approx(2 * tail)
    assert np.isnan(_outliers.two_sided(np.array([nan, 1.0]), np.array([20.0, 0.0]), like)).all()


@pytest.mark.parametrize("row", [(0.0, 0.1), (1.0, 0.1), (0.3, 0.0), (nan, 0.1), (0.3, nan)])
def test_a_reference_without_spread_tells_nothing(row: tuple[float, float]) -> None:
    assert _outliers.spread({"mean": row[0], "sd": row[1], "n_sessions": 143}) is None


def test_the_spread_between_sessions_is_less_than_what_is_seen() -> None:
    row = {"mean": 0.4, "sd": 0.2, "n_sessions": 143}
    found = _outliers.spread(row)
    assert found is not None
    assert found.a / (found.a + found.b) == pytest.approx(0.4)
    assert stats.beta(found.a, found.b).std() == pytest.approx(found.sd)
    # Seen: what lies between sessions, and what few turns (53 in 1,000 as 1 / n) add to it.
    seen = found.sd**2 * 143 / 144 * (1 - _outliers.ONE_OVER_TURNS) + 0.24 * _outliers.ONE_OVER_TURNS
    assert seen**0.5 == pytest.approx(0.2)


def test_turns_to_review_come_first_and_say_which(read: Results) -> None:
    frame = read.sessions.assign(n_safety_cue_turns=[0, 1, 0, 2], n_self_harm_cue_turns=[0, 1, 0, 0])
    frame["n_suicide_passive_cue_turns"] = [0, 0, 0, 2]
    marks: list[dict[str, Any]] = [{"marks": []}, {"marks": [{"name": "safety_cue", "turns": [7]}]}, {"marks": []}]
    found = list(_review.to_review(replace(read, sessions=frame), marks))
    assert [one.session for one in found] == [3, 1]
    assert "2 turns to review for danger: phrases that may speak of a wish to be dead." in found[0].text
    assert "1 turn (turn 7) to review for danger: phrases that may speak of self-harm." in found[1].text
    assert all(one.text.endswith("no sign of safety.") for one in found)


def test_where_nothing_stands_out_that_is_said_with_what_could_not_be_seen(read: Results) -> None:
    held = _findings.tested(chosen(drawn(read, 15, 0)), drawn(read, 15, 0), PROFILES)
    assert held is not None
    text = _findings.nothing(_findings.unseen(held)).text
    assert text.startswith("No session and no group stands out beyond what chance gives. Among 360 comparisons")
    assert re.search(r"advises or informs (in \d+ or more|in all \d+)", text)
    assert text.endswith("What is less may be there and is not seen.")


def test_many_findings_are_cut_with_a_line_on_how_many_more() -> None:
    made = [_findings.Finding(f"f{i}", "m", 0.01 if i < 50 else 0.001, float(i)) for i in range(70)]
    kept, more = _findings.best(made)
    assert [one.text for one in kept[:2]] == ["f69", "f68"]
    assert len(kept) == _findings.MOST
    assert more == "10 more like these are not written out; the table has the numbers."
    assert _findings.best(made[:3])[1] == ""


def test_no_sentence_judges(results: Path, read: Results) -> None:
    overview, _ = report_data(results, most_sessions=300)
    texts = [one["text"] for one in overview["findings"]]
    same = drawn(read, 15, 1).sessions
    for one in TESTED:
        for column, values in with_counts(one.name, np.full(3, 39.0), np.full(3, 40.0)).items():
            same.loc[[0, 5, 10], column] = values
    odd = replace(read, sessions=same)
    texts += [one.text for one in (*singles(odd), *between(odd))]
    assert len(texts) > 20
    for text in texts:
        assert not re.search(JUDGING, text.lower().replace("no sign of safety", "")), text


def test_without_references_there_is_nothing_to_hold_sessions_against(read: Results) -> None:
    assert _findings.tested(chosen(read), read, None) is None
