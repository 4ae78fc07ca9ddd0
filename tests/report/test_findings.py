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

from therapy_analytics.compare import _reference
from therapy_analytics.compare._results import Results, built_in_codebook, read_results
from therapy_analytics.references import reference_profiles
from therapy_analytics.report import _between, _findings
from therapy_analytics.report._codebook import chosen
from therapy_analytics.report._data import report_data

_BOOK = built_in_codebook()
CLAIMED = tuple(_BOOK.index[_BOOK["compare"] == "tested"])
RATES = tuple(_BOOK.index[_BOOK["does"] != ""])
PROFILES = reference_profiles("fast")
HIGH = {str(row["measure"]): row for row in PROFILES[PROFILES["group"] == "human_high"].to_dict("records")}
JUDGING = r"\b(good|bad|worse|better|poor|excellent|fails?|should|unsafe|safe|wrong|too (much|many|few|little))\b"


def drawn(read: Results, n: int, seed: int, *, counselors: int = 5) -> Results:
    """Return sessions that are drawn from the reference itself, each of a client of its own."""
    rng = np.random.default_rng(seed)
    turns = {"therapist": rng.integers(8, 60, n).astype(float), "client": rng.integers(8, 60, n).astype(float)}
    data: dict[str, Any] = {"session_id": [f"s{i}" for i in range(n)]}
    data |= {"counselor": [f"c{i % counselors}" for i in range(n)], "client": data["session_id"], "source": "human"}
    data |= {f"n_turns_{role}": of for role, of in turns.items()}
    share = HIGH["therapist_talk_share"]
    data["therapist_talk_share"] = np.clip(rng.normal(share["mean"], share["sd"], n), 0.02, 0.98)
    for one in RATES:
        mean, sd = HIGH[one]["mean"], HIGH[one]["sd"]
        total = max(mean * (1 - mean) / sd**2 - 1, 0.05)
        of = turns[one.partition("_")[0]]
        rates = rng.beta(mean * total, (1 - mean) * total, n)
        data |= with_counts(one, rng.binomial(of.astype(int), rates).astype(float), of)
    return replace(read, sessions=pd.DataFrame(data))


def with_counts(name: str, n: np.ndarray, of: np.ndarray) -> dict[str, np.ndarray]:
    from therapy_analytics.measures._intervals import wilsons

    rate, low, high = wilsons(n, of)
    role = name.partition("_")[0]
    return {
        name: rate,
        f"{name}_lo": low,
        f"{name}_hi": high,
        f"n_{name.removesuffix('_rate')}": n,
        f"n_turns_{role}": of,
    }


def changed(read: Results, name: str, where: list[int], n: float, of: float) -> Results:
    """Return the sessions of which some have n of so many turns with a code."""
    frame = read.sessions.copy()
    for column, values in with_counts(name, np.full(len(where), n), np.full(len(where), of)).items():
        if column.startswith("n_turns"):  # longer sessions, with the rates that they have
            other = [one for one in RATES if one.startswith(name.partition("_")[0]) and one != name]
            for each in other:
                frame.loc[where, f"n_{each.removesuffix('_rate')}"] = frame.loc[where, each] * of
        frame.loc[where, column] = values
    return replace(read, sessions=frame)


@pytest.fixture(scope="module")
def read(results: Path) -> Results:
    return read_results(results)


def singles(read: Results) -> list[_findings.Finding]:
    held = _findings.tested(chosen(read), read, PROFILES)
    assert held is not None
    return list(_findings.of_sessions(held, read, PROFILES))


def between(read: Results) -> list[_findings.Finding]:
    return _between.of_groups(chosen(read), read, ["counselor"], PROFILES)[0]


def test_sessions_and_counselors_of_the_reference_itself_hardly_ever_stand_out(read: Results) -> None:
    runs = [drawn(read, 30, seed, counselors=(5, 3, 2)[seed % 3]) for seed in range(18)]
    # Of 18 runs .9 would be one in twenty; 5 or more is then rarer than one in 500.
    assert sum(bool(singles(run)) for run in runs) <= 4
    assert sum(bool(between(run)) for run in runs) <= 4


def test_rare_codes_lead_to_no_claim_whatever_their_rates(read: Results) -> None:
    """Rates that are 0 in every session of one counselor were claims, however ordinary that is for rare codes."""
    same = drawn(read, 18, 0, counselors=3).sessions
    third = np.flatnonzero(same["counselor"] == "c0").tolist()
    for name in [name for name in RATES if name not in CLAIMED]:
        for at, n in ((third, 0.0), ([1, 4, 7], 1.0)):
            rate = n * same.loc[at, f"n_turns_{name.partition('_')[0]}"].to_numpy()
            same.loc[at, [name, f"n_{name.removesuffix('_rate')}"]] = np.column_stack([np.full(len(at), n), rate])
    odd = replace(read, sessions=same)
    assert {one.measure for one in (*singles(odd), *between(odd))} <= set(CLAIMED)


def test_a_session_far_outside_is_found_and_told_with_its_numbers(read: Results) -> None:
    name = "therapist_input_rate"
    found = singles(changed(drawn(read, 4, 1), name, [2], 60.0, 60.0))
    assert [(one.session, one.measure) for one in found] == [(2, name)]
    text = found[0].text
    assert text.startswith("s2: advises or informs in 60 of 60 therapist turns (100%, 95% interval 94 to 100%); ")
    ends = (f"{100 * HIGH[name][end]:.0f}%" for end in ("q05", "q95"))
    assert f"the central 90% of skilled people's sessions lie between {' and '.join(ends)} " in text
    assert text.endswith("among all comparisons).")
    assert found[0].p < 0.05


def test_a_counselor_unlike_the_others_and_skilled_people_is_found(read: Results) -> None:
    same = drawn(read, 30, 3, counselors=2)
    high = np.flatnonzero(same.sessions["counselor"] == "c0").tolist()
    low = np.flatnonzero(same.sessions["counselor"] == "c1").tolist()
    name = "therapist_input_rate"
    odd = same
    for where, n in ((high, 36.0), (low, 7.0)):
        for i in range(3):
            odd = changed(odd, name, where[i::3], n + i, 40.0)
    texts = [one.text for one in between(odd) if one.measure == name]
    rest = next(text for text in texts if "than in the other sessions" in text)
    assert rest.startswith("counselor c0: Advises or informs, more than in the other sessions: on average 93% (")
    assert "15 sessions of 15 clients" in rest
    assert "a difference of 73 points, 95% interval " in rest
    assert "(permutation test; p < .001 among all comparisons)." in rest
    people = next(text for text in texts if "than skilled people" in text)
    assert people.startswith("counselor c0: Advises or informs, more than skilled people: on average 93% (")
    assert "95% would average 1 to 65% (" in people
    assert "(beta-binomial distribution of their sessions; p = ." in people


def test_equal_values_are_no_certainty(read: Results) -> None:
    """A counselor whose sessions are all alike had no variance, and any distance from the reference was a claim."""
    same = drawn(read, 18, 5, counselors=3)
    where = np.flatnonzero(same.sessions["counselor"] == "c1").tolist()
    alike = changed(same, "therapist_question_rate", where, 3.0, 20.0)
    assert [one.text for one in between(alike) if "skilled people" in one.text] == []


def test_two_sessions_are_no_group(read: Results) -> None:
    assert between(drawn(read, 4, 0, counselors=2)) == []


def test_the_test_is_the_beta_binomial() -> None:
    like = _reference.Spread(2.0, 6.0, 0.25, 0.144)
    beside = stats.betabinom(20, 2, 6)
    tail = beside.sf(13) + beside.pmf(13) / 2
    assert _reference.two_sided(np.array([13.0]), np.array([20.0]), like)[0] == pytest.approx(2 * tail)
    assert np.isnan(_reference.two_sided(np.array([nan, 1.0]), np.array([20.0, 0.0]), like)).all()


@pytest.mark.parametrize("row", [(0.0, 0.1), (1.0, 0.1), (0.3, 0.0), (nan, 0.1), (0.3, nan)])
def test_a_reference_without_spread_tells_nothing(row: tuple[float, float]) -> None:
    assert _reference.spread({"mean": row[0], "sd": row[1], "n_sessions": 143}) is None


def test_the_spread_between_sessions_is_that_seen_less_what_few_turns_add_widened_for_other_corpora() -> None:
    row = {"mean": 0.4, "sd": 0.2, "n_sessions": 143}
    found = _reference.spread(row)
    assert found is not None
    assert found.a / (found.a + found.b) == pytest.approx(0.4)
    assert stats.beta(found.a, found.b).std() == pytest.approx(found.sd)
    # Seen: what lies between sessions, and what few turns (53 in 1,000 as 1 / n) add to it.
    between_sessions = found.sd**2 / _reference.WIDER * 143 / 144
    seen = between_sessions * (1 - _reference.ONE_OVER_TURNS) + 0.24 * _reference.ONE_OVER_TURNS
    assert seen**0.5 == pytest.approx(0.2)


def test_turns_to_review_come_first_and_say_which(read: Results) -> None:
    frame = read.sessions.assign(n_danger_turns=[0, 1, 0, 2], n_danger_answered_turns=[0, 1, 0, 1])
    frame["n_danger_passed_over_turns"] = [0, 0, 0, 1]
    marks: list[dict[str, Any]] = [{"marks": []}, {"marks": [{"name": "danger_turn", "turns": [7]}]}, {"marks": []}]
    danger = [{"column": "danger_turn", "measure": "n_danger_turns"}, {"column": "lapse_turn", "measure": ""}]
    found = list(_findings.to_review(replace(read, sessions=frame), marks, danger))
    assert [one.session for one in found] == [3, 1]
    assert "2 turns to review for danger: 1 passed over and 1 answered." in found[0].text
    assert "1 turn (turn 7) to review for danger: 1 answered." in found[1].text
    assert all(one.text.endswith("no sign of safety.") for one in found)


def test_where_nothing_stands_out_that_is_said_with_what_could_not_be_seen(read: Results) -> None:
    held = _findings.tested(chosen(drawn(read, 15, 0)), drawn(read, 15, 0), PROFILES)
    assert held is not None
    text = _findings.nothing(_findings.unseen(held)).text
    assert text.startswith("No session and no group stands out. Among 45 comparisons")
    assert re.search(r"advises or informs(: no count would do| in \d+ or more| in all \d+)", text)
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
    odd = drawn(read, 12, 1, counselors=2)
    for one in RATES:
        odd = changed(odd, one, [0, 2, 4, 6, 8, 10], 59.0, 60.0)
        odd = changed(odd, one, [1, 3, 5, 7, 9, 11], 1.0, 60.0)
    texts += [one.text for one in (*singles(odd), *between(odd))]
    assert len(texts) > 6
    for text in texts:
        assert not re.search(JUDGING, text.lower().replace("no sign of safety", "").replace("as good practice", "")), (
            text
        )


def test_without_references_there_is_nothing_to_hold_sessions_against(read: Results) -> None:
    assert _findings.tested(chosen(read), read, None) is None
