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

from therapy_analytics.report import _between, _findings, _look_first
from therapy_analytics.report.data import report_data, standing_out
from therapy_analytics.report.overview import who
from therapy_analytics.report.shown import Shown, chosen
from therapy_analytics.results.references import reference_profiles
from therapy_analytics.stats.compare import reference
from therapy_analytics.stats.compare.sessions import Results, built_in_codebook, read_results

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
    from therapy_analytics.measures.intervals import wilsons

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


def test_shuffled_counselors_hardly_ever_give_a_page_with_a_finding(read: Results) -> None:
    """By the page's own text; `benchmarks.null_claims` asks the same of real sessions, in hundreds of runs."""
    runs = [drawn(read, 30, seed, counselors=(5, 3, 2)[seed % 3]) for seed in range(6)]
    # Of 6 runs .3 would be one in twenty; 3 or more is then rarer than one in 400.
    assert sum(bool(standing_out(run)["findings"]) for run in runs) <= 2


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
    assert found[0].under == ("counselor", "c2")
    low, high = (f"{100 * HIGH[name][end]:.0f}%" for end in ("q05", "q95"))
    assert found[0].line.startswith(
        f"s2: advises or informs in 100% of turns [94, 100], most sessions of skilled people between {low} and {high}; "
    )
    text = found[0].detail
    assert text.startswith("s2: advises or informs in 60 of 60 therapist turns (100%, 95% interval 94 to 100%); ")
    assert f"the central 90% of skilled people's sessions lie between {low} and {high} " in text
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
    found = [one for one in between(odd) if one.measure == name]
    assert {one.under for one in found} == {("counselor", "c0")}
    rest = next(one for one in found if "than c1" in one.detail)
    line = r"Advises or informs in 93% of turns \[\d+, \d+\], c1 20% \[\d+, \d+\]; p < \.001"
    assert re.fullmatch(line, rest.line)
    assert rest.detail.startswith("c0: Advises or informs, more than c1: on average 93% (")
    assert "15 sessions of 15 clients" in rest.detail
    assert "a difference of 73 points, 95% interval " in rest.detail
    assert "(permutation test; p < .001 among all comparisons)." in rest.detail
    people = next(one for one in found if "than skilled people" in one.detail)
    line = r"Advises or informs in 93% of turns \[\d+, \d+\], sessions of skilled people \d+% on average; p < \.001"
    assert re.fullmatch(line, people.line)
    assert people.detail.startswith("c0: Advises or informs, more than skilled people: on average 93% (")
    assert "in 143 sessions shown as good practice; a difference of" in people.detail
    assert "which also holds how far corpora of like skill lie apart (t test; p < .001" in people.detail


def test_of_several_counselors_the_others_are_called_so(read: Results) -> None:
    same = drawn(read, 30, 3, counselors=3)
    where = np.flatnonzero(same.sessions["counselor"] == "c0").tolist()
    odd = changed(same, "therapist_input_rate", where, 39.0, 40.0)
    lines = [one.line for one in between(odd) if one.under == ("counselor", "c0")]
    assert any(", other counselors " in line for line in lines)


def test_a_finding_without_an_interval_of_its_mean_has_that_of_its_difference() -> None:
    row = {"group": "A", "difference": 0.4, "difference_lo": 0.1, "difference_hi": 0.7, "tested": "x"}
    row |= {"mean": 0.6, "mean_lo": nan, "mean_hi": nan, "mean_against": 0.2, "mean_against_lo": 0.1}
    row |= {"mean_against_hi": 0.3, "n_sessions": 4, "n_clusters": 2, "n_sessions_against": 9, "n_clusters_against": 5}
    row |= {"at_like_length": nan}

    class Data:
        by, names, clustered_by = "counselor", ("A", "B", "C"), "client"

    line, _ = _between._of_rest(Shown("x", "Asks", "", does="asks"), row, Data())  # type: ignore[arg-type]
    assert line == "Asks in 60% of turns, other counselors 20% [10, 30], a difference of 40 points [10, 70]"


def test_equal_values_are_no_certainty(read: Results) -> None:
    """A counselor whose sessions are all alike had no variance, and any distance from the reference was a claim."""
    same = drawn(read, 18, 5, counselors=3)
    where = np.flatnonzero(same.sessions["counselor"] == "c1").tolist()
    alike = changed(same, "therapist_question_rate", where, 3.0, 20.0)
    assert [one.detail for one in between(alike) if "skilled people" in one.detail] == []


def test_two_sessions_are_no_group(read: Results) -> None:
    assert between(drawn(read, 4, 0, counselors=2)) == []


def test_the_test_is_the_beta_binomial() -> None:
    like = reference.Spread(2.0, 6.0, 0.25, 0.144)
    beside = stats.betabinom(20, 2, 6)
    tail = beside.sf(13) + beside.pmf(13) / 2
    assert reference.two_sided(np.array([13.0]), np.array([20.0]), like)[0] == pytest.approx(2 * tail)
    assert np.isnan(reference.two_sided(np.array([nan, 1.0]), np.array([20.0, 0.0]), like)).all()


@pytest.mark.parametrize("row", [(0.0, 0.1), (1.0, 0.1), (0.3, 0.0), (nan, 0.1), (0.3, nan)])
def test_a_reference_without_spread_tells_nothing(row: tuple[float, float]) -> None:
    assert reference.spread({"mean": row[0], "sd": row[1], "n_sessions": 143}) is None


def test_the_spread_between_sessions_is_that_seen_less_what_few_turns_add_widened_for_other_corpora() -> None:
    row = {"mean": 0.4, "sd": 0.2, "n_sessions": 143}
    found = reference.spread(row)
    assert found is not None
    assert found.a / (found.a + found.b) == pytest.approx(0.4)
    assert stats.beta(found.a, found.b).std() == pytest.approx(found.sd)
    # Seen: what lies between sessions, and what few turns (53 in 1,000 as 1 / n) add to it.
    between_sessions = found.sd**2 / reference.WIDER * 143 / 144
    seen = between_sessions * (1 - reference.ONE_OVER_TURNS) + 0.24 * reference.ONE_OVER_TURNS
    assert seen**0.5 == pytest.approx(0.2)


def looked(read: Results, frame: pd.DataFrame, sessions: list[dict[str, Any]]) -> dict[str, Any]:
    danger = [{"column": "danger_turn", "measure": "n_danger_turns"}, {"column": "lapse_turn", "measure": ""}]
    found = replace(read, sessions=frame)
    return _look_first.look_first(chosen(found), found, sessions, danger)


def test_sessions_to_look_at_first_name_their_turns_danger_before_all_else(read: Results) -> None:
    frame = read.sessions.assign(counselor="", n_danger_turns=[0, 1, 0, 2], n_danger_answered_turns=[0, 1, 0, 1])
    frame["n_danger_passed_over_turns"] = [0, 0, 0, 1]
    rupture = [{"name": "rupture_withdrawal_turn", "turns": [3, 9]}, {"name": "rupture_passed_by_turn", "turns": [9]}]
    pages: list[dict[str, Any]] = [{"marks": rupture}, {"marks": [{"name": "danger_turn", "turns": [7]}]}]
    pages.append({"marks": [], "on": {"process_goes_along": [4, 6]}, "p": {"process_goes_along": []}})
    found = looked(read, frame, pages)
    texts = [(row["session"], [(one["text"], one["turns"]) for one in row["reasons"]]) for row in found["rows"]]
    assert texts == [
        (3, [("2 turns to review for danger (1 passed over and 1 answered)", [])]),
        (1, [("1 turn to review for danger (1 answered)", [7])]),
        (0, [("2 possible ruptures, 1 passed by", [9])]),
        (2, [("goes along with untested claims in 2 turns", [4, 6])]),
    ]
    assert any("no sign of safety" in note for note in found["notes"])
    assert any(
        "did not look for ruptures; the accurate tagger with --all-codes does" in note for note in found["notes"]
    )


def test_at_most_eight_sessions_are_listed_and_each_reason_has_its_place(read: Results) -> None:
    frame = drawn(read, 20, 0).sessions.assign(counselor="", n_danger_turns=[1.0] * 12 + [0.0] * 8)
    pages: list[dict[str, Any]] = [{"marks": []} for _ in range(20)]
    for i in (13, 14):
        pages[i] = {"marks": [{"name": "rupture_confrontation_turn", "turns": [2]}]}
    found = looked(read, frame, pages)
    assert [row["session"] for row in found["rows"]] == [0, 1, 2, 3, 4, 5, 13, 14]
    assert found["notes"][0].startswith("Not listed: 6 more with turns to review for danger. ")


def test_the_session_furthest_from_the_same_counselors_others_is_described(read: Results) -> None:
    frame = drawn(read, 15, 2, counselors=3).sessions.assign(n_danger_turns=0)
    turns, name = frame["n_turns_therapist"].to_numpy(), "therapist_question_rate"
    frame = frame.assign(**with_counts(name, np.rint(turns * 0.3), turns))
    for other in ("therapist_reflection_rate", "therapist_input_rate"):
        frame = frame.assign(**with_counts(other, np.rint(turns * 0.5), turns))
    odd = changed(replace(read, sessions=frame), name, [4], 38.0, 40.0).sessions
    pages: list[dict[str, Any]] = [{"marks": [], "on": {"mi_question": [1, 3]}} for _ in range(15)]
    first, *_ = looked(read, odd, pages)["rows"]
    assert first["session"] == 4
    (reason,) = first["reasons"]
    others = odd.loc[[1, 7, 10, 13]]
    n, of = others["n_therapist_question"].sum(), others["n_turns_therapist"].sum()
    told = "asks in 38 of 40 turns, in the counselor's 4 other sessions in"
    assert reason["text"] == f"{told} {n:.0f} of {of:.0f}"
    assert reason["turns"] == [1, 3]
    alone = odd.assign(counselor=[f"c{i}" for i in range(15)])
    assert looked(read, alone, pages)["rows"] == []


@pytest.mark.parametrize(("n", "most"), [(4, 0), (5, 1), (19, 1), (20, 2), (60, 3)])
def test_of_shuffled_counselors_few_sessions_are_said_to_be_furthest(read: Results, n: int, most: int) -> None:
    """A ranking names as many sessions of a counselor whose sessions are all alike as of any other, and no more."""
    frame = drawn(read, 2 * n, n, counselors=2).sessions.assign(n_danger_turns=0)
    for seed in range(3):
        shuffled = frame.assign(counselor=np.random.default_rng(seed).permutation(frame["counselor"]))
        rows = looked(read, shuffled, [{"marks": []} for _ in range(2 * n)])["rows"]
        named = shuffled["counselor"].iloc[[row["session"] for row in rows]].value_counts()
        assert len(rows) == 2 * most
        assert (named <= most).all()
        assert not any(re.search(r"\[|%|interval|test", reason["text"]) for row in rows for reason in row["reasons"])


def test_how_far_out_a_session_must_lie_is_said(read: Results) -> None:
    held = _findings.tested(chosen(drawn(read, 15, 0)), drawn(read, 15, 0), PROFILES)
    assert held is not None
    text = _findings.unseen(held)
    assert text.startswith("With 45 comparisons, a single session of ")
    assert re.search(r"advises or informs(: no count would do| in \d+ or more| in all \d+)", text)
    assert text.endswith("may be real and are not seen.")


def test_the_page_says_whose_sessions_it_holds_models_apart_and_only_if_there_are_any(read: Results) -> None:
    frame = pd.DataFrame({"session_id": list("abc"), "counselor": ["R", "R", "x"], "client": ["D", "E", "D"]})
    told = who(replace(read, sessions=frame.assign(source=["human", "human", "llm"])))
    assert told == "3 sessions: 1 counselor with 2 clients, 1 language model with 1 client"
    assert who(replace(read, sessions=frame.assign(source=""))) == "3 sessions: 2 counselors with 2 clients"
    assert who(replace(read, sessions=frame[["session_id"]])) == "3 sessions"


def test_many_findings_are_cut_with_a_line_on_how_many_more() -> None:
    made = [
        _findings.Finding(f"f{i}", "", "m", 0.01 if i < 50 else 0.001, float(i), ("counselor", "c")) for i in range(70)
    ]
    kept, more = _findings.best(made)
    assert [one.line for one in kept[:2]] == ["f69", "f68"]
    assert len(kept) == _findings.MOST
    assert more == "10 more like these are not written out; the table has the numbers."
    assert _findings.best(made[:3])[1] == ""


def test_no_sentence_judges(results: Path, read: Results) -> None:
    overview, _ = report_data(results, most_sessions=300)
    texts = [text for row in overview["look_first"]["rows"] for text in (one["text"] for one in row["reasons"])]
    texts += overview["look_first"]["notes"]
    odd = drawn(read, 12, 1, counselors=2)
    for one in RATES:
        odd = changed(odd, one, [0, 2, 4, 6, 8, 10], 59.0, 60.0)
        odd = changed(odd, one, [1, 3, 5, 7, 9, 11], 1.0, 60.0)
    texts += [text for one in (*singles(odd), *between(odd)) for text in (one.line, one.detail)]
    assert len(texts) > 6
    for text in texts:
        assert not re.search(JUDGING, text.lower().replace("no sign of safety", "").replace("as good practice", "")), (
            text
        )


def test_without_references_there_is_nothing_to_hold_sessions_against(read: Results) -> None:
    assert _findings.tested(chosen(read), read, None) is None
