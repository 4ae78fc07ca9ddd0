"""The supervision sheet: turns are chosen by rules that can be checked by hand; change is told beyond noise alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.measures.intervals import wilsons
from therapy_analytics.report.moments import RULES, Moment, chosen_moments, moment_from, moments
from therapy_analytics.report.sheet import (
    FIRST_TIME,
    NO_SECOND,
    UNKNOWN,
    UNORDERED,
    changed_texts,
    changes,
    sheet_json,
)
from therapy_analytics.report.shown import chosen, strip_of
from therapy_analytics.stats.compare.sessions import Results, built_in_codebook

BOOK = built_in_codebook()
TITLES = [rule.title for rule in RULES]
RATES = ("therapist_question_rate", "therapist_reflection_rate", "client_change_rate")


def table(*turns: str) -> dict[str, list[str]]:
    """Return columns of turns of "C code=.7", as the page reads them: each a role, and codes with probabilities."""
    parsed = [(turn.split()[0], dict(one.split("=") for one in turn.split()[1:])) for turn in turns]
    codes = sorted({code for _, own in parsed for code in own})
    columns = {"role": [{"T": "therapist", "C": "client", "O": "other"}[role] for role, _ in parsed]}
    for code in codes:
        columns[code] = ["1" if code in own else "0" for _, own in parsed]
        columns[f"p_{code}"] = [own.get(code, "0.1") for _, own in parsed]
    return columns


def found(columns: dict[str, list[str]]) -> list[tuple[str, tuple[int, ...], tuple[int | None, ...]]]:
    return [(TITLES[one.rule], one.turns, one.per_cent) for one in moments(columns)]


def test_a_turn_of_danger_that_a_phrase_found_has_no_probability_of_the_code() -> None:
    columns = table("C process_risk_own=.8", "C", "C") | {"danger_turn": ["1", "1", "0"]}
    columns["p_process_risk_own"] = [".8", ".03", ".03"]
    assert found(columns) == [("Danger to read again", (0,), (80,)), ("Danger to read again", (1,), (None,))]


def test_the_sheet_names_the_rules_that_this_run_did_not_look_for() -> None:
    read = results([(6, 10, 10), (24, 11, 10)])

    def how(codes: Sequence[str]) -> str:
        pages = [{"moments": [], "p": {code: [] for code in codes}}] * len(read.sessions)
        return str(sheet_json(read, chosen(read), pages, changes(read, chosen(read))[0])["how"][0])

    some = ("process_feeling_negative", "process_advice", "mi_reflection", "mi_input", "mi_change", "mi_sustain")
    assert "danger that was passed over, words that may degrade, a possible rupture" in how(some)
    assert "advice right after a feeling" not in how(some).partition("did not look for")[2]
    every = [code for rule in RULES for step in rule.steps for code in step.codes]
    assert "did not look for" not in how([*every, "process_risk_asked", "process_risk_worsened"])


def test_each_rule_names_its_turns_and_their_probabilities() -> None:
    columns = table(
        "C process_feeling_negative=.7",  # 0
        "T process_advice=.8",  # 1: right after the feeling
        "C mi_sustain=.6",  # 2
        "T mi_reflection=.9",  # 3: meets sustain talk, and is answered by change talk
        "C mi_change=.5",  # 4
        "T process_advice=.8",  # 5: after no feeling
    )
    assert found(columns) == [
        ("Advice right after a feeling", (0, 1), (70, 80)),
        ("A reflection answered by change talk", (3, 4), (90, 50)),
        ("Sustain talk met by a reflection", (2, 3), (60, 90)),
    ]


def test_an_answer_is_the_next_turn_of_the_other() -> None:
    again = table("C process_feeling_negative=.7", "C mi_change=.7", "T process_advice=.8")
    assert found(again) == []
    others = table("C process_feeling_negative=.7", "O x=.5", "T process_advice=.8")
    assert [turns for _, turns, _ in found(others)] == [(0, 2)]


def test_danger_is_told_by_how_it_was_met() -> None:
    columns = table("C process_risk_own=.26", "T x=.5", "C process_risk_own=.4", "T x=.5")
    columns |= {"danger_turn": ["1", "", "1", ""], "danger_outcome": ["1", "", "0", ""]}
    assert found(columns) == [
        ("Danger that was passed over", (0,), (26,)),
        ("Danger to read again", (0,), (26,)),
        ("Danger to read again", (2,), (40,)),
    ]


def test_disclosure_counts_from_a_half() -> None:
    columns = table("T mi_reflection=.9", "C x=.5", "T mi_reflection=.9", "C x=.5")
    columns["disclosure_emotional_turn"] = ["", "0.49", "", "0.5"]
    assert found(columns) == [("A reflection answered by disclosure", (2, 3), (90, 50))]


def test_a_table_without_codes_has_no_moments() -> None:
    assert found({}) == []
    assert found(table("C x=.5", "T x=.5")) == []


def moment(title: str, *turns: int, sure: int = 80) -> Moment:
    return Moment(TITLES.index(title), turns, (sure,) * len(turns))


LOOK, BUILD = "Advice right after a feeling", "A reflection answered by change talk"


def titles(chosen_: Sequence[tuple[int, Moment]]) -> list[tuple[int, str, int]]:
    return [(session, TITLES[one.rule], one.turns[0]) for session, one in chosen_]


def test_the_two_sides_take_turns_and_danger_comes_first() -> None:
    given = [
        (0, moment(LOOK, 2, 3, sure=90)),
        (0, moment("Danger to read again", 20, sure=20)),
        (0, moment(BUILD, 5, 6, sure=60)),
        (0, moment(BUILD, 9, 10, sure=70)),
    ]
    assert titles(chosen_moments(given, 3)) == [(0, "Danger to read again", 20), (0, BUILD, 9), (0, LOOK, 2)]


def test_of_one_side_alone_the_surest_of_each_rule_come_first() -> None:
    sustain = "Sustain talk met by a reflection"
    given = [(0, moment(BUILD, 5, 6)), (0, moment(BUILD, 7, 8, sure=90)), (0, moment(sustain, 11, 12, sure=30))]
    assert titles(chosen_moments(given, 3)) == [(0, BUILD, 7), (0, sustain, 11), (0, BUILD, 5)]


def test_no_turn_is_shown_twice() -> None:
    given = [
        (0, moment(LOOK, 2, 3)),
        (0, moment("Advice or information after sustain talk", 2, 3)),
        (0, moment(BUILD, 3, 4)),
    ]
    assert titles(chosen_moments(given, 3)) == [(0, LOOK, 2)]


def test_of_several_sessions_each_has_a_say() -> None:
    given = [(0, moment(LOOK, 2, 3, sure=99)), (0, moment(LOOK, 6, 7, sure=98)), (1, moment(LOOK, 4, 5, sure=30))]
    assert titles(chosen_moments(given, 3)) == [(0, LOOK, 2), (1, LOOK, 4), (0, LOOK, 6)]


def test_a_moment_comes_back_from_the_page() -> None:
    one = moment(BUILD, 5, 6)
    assert moment_from(one.json()) == one


# What changed


def results(counts: Any, **about: Any) -> Results:
    """Return sessions of which `counts` (a row a session) of 30 turns have each of `RATES`; `about` is in columns."""
    n = 30
    frame: dict[str, Any] = {"session_id": [f"s{i}" for i in range(len(counts))], **about}
    for j, name in enumerate(RATES):
        k = np.array([row[j] for row in counts], dtype=float)
        _, low, high = wilsons(k, np.full(len(k), float(n)))
        frame |= {name: k / n, f"{name}_lo": low, f"{name}_hi": high}
    return Results(pd.DataFrame(frame), BOOK)


def texts(read: Results) -> list[str]:
    one, why = changes(read, chosen(read))
    return changed_texts(one, why, read.sessions)


def test_a_change_beyond_noise_is_told_with_its_interval() -> None:
    # 24 of 30 less 6 of 30: .6; Wilson .627 to .905 and .095 to .373; reach down sqrt(.173 ** 2 + .173 ** 2) = .245.
    read = results([(6, 10, 10), (24, 11, 10)], client=["Ann"] * 2, session_number=["1", "2"], date=["2025-01-01"] * 2)
    first, second = texts(read)
    assert first == FIRST_TIME
    assert second.startswith(
        "Asks: 80% (63 to 90%), after 20% (10 to 37%) in s0 of 2025-01-01. That is 60 points more (95% interval 36 to "
    )
    assert second.endswith(" points; p < .001 among all comparisons).")


def test_without_a_change_beyond_noise_nothing_is_claimed() -> None:
    read = results([(10, 10, 10), (13, 8, 12)], client=["Ann"] * 2, session_number=["1", "2"])
    assert texts(read)[1] == "No measure changed by more than the noise of few turns (3 measures compared with s0)."


def test_one_of_several_measures_must_hold_among_all() -> None:
    # 7 and 15 of 30: the interval of the difference just excludes 0 (p = .03); among three measures it does not hold.
    alone = changes(results([(7, 10, 10), (15, 10, 10)], client=["Ann"] * 2, session_number=["1", "2"]), _shown())[0]
    assert alone.difference[0, 0, 1] > 0
    assert 0.017 < alone.p[0, 0] < 0.05
    read = results([(7, 10, 10), (15, 10, 10)], client=["Ann"] * 2, session_number=["1", "2"])
    assert texts(read)[1].startswith("No measure changed")


def _shown() -> Any:
    return chosen(results([(1, 1, 1)]))


def test_sessions_are_compared_in_the_order_in_which_they_were_held() -> None:
    read = results([(24, 9, 9), (6, 9, 9), (7, 9, 9)], client=["Ann"] * 3, session_number=["3", "1", "2"])
    third, first, second = texts(read)
    assert first == FIRST_TIME
    assert second.startswith("No measure changed")
    assert "after 23% (12 to 41%) in s2." in third


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({}, UNKNOWN),
        ({"client": ["", ""]}, UNKNOWN),
        ({"client": ["Ann", "Bo"]}, FIRST_TIME),
        ({"client": ["Ann", "Ann"]}, UNORDERED),
    ],
)
def test_where_nothing_can_be_compared_the_sheet_says_why(about: dict[str, list[str]], why: str) -> None:
    assert texts(results([(6, 10, 10), (24, 10, 10)], **about)) == [why, why]


def test_dates_that_cannot_be_read_stop_no_page() -> None:
    read = results([(6, 10, 10), (24, 10, 10)], client=["Ann"] * 2, date=["3/4/2025", "5/6/2025"])
    assert texts(read) == [UNORDERED, UNORDERED]


def test_where_nothing_changed_few_sheets_say_that_something_did() -> None:
    rng = np.random.default_rng(4)
    n = 600
    counts = rng.binomial(30, [0.5, 0.3, 0.2], size=(2 * n, 3))
    clients, numbers = np.repeat([f"c{i}" for i in range(n)], 2), np.tile(["1", "2"], n)
    told = [text for text in texts(results(counts, client=clients, session_number=numbers)) if "points" in text]
    assert len(told) <= 0.05 * n


def test_a_counselor_has_means_turns_and_the_surest_change_of_any_client() -> None:
    read = results(
        [(6, 10, 10), (24, 10, 10), (9, 9, 9)],
        client=["Ann", "Ann", "Bo"], session_number=["1", "2", "1"], counselor=["Kim", "Kim", "Kim"],
    )  # fmt: skip
    sessions = [{"moments": [moment(LOOK, at, at + 1).json()]} for at in (2, 4)]  # the third has no view
    shown = chosen(read)
    sheet = sheet_json(read, shown, sessions, changes(read, shown)[0])
    (kim,) = sheet["counselors"]
    assert [one.name for one in strip_of(shown)] == list(RATES)
    # Ann's sessions count as one: (.5 + .3) / 2.
    assert (kim["name"], kim["n_sessions"], kim["unit"], kim["values"][0][0]) == ("Kim", 3, "client", 0.4)
    assert [one["session"] for one in kim["moments"]] == [0, 1]
    assert kim["changed"].startswith("With Ann: Asks: 80% (63 to 90%) in s1, after 20% (10 to 37%) in s0.")


def test_a_counselor_of_clients_seen_once_has_nothing_to_compare() -> None:
    read = results([(6, 10, 10)], client=["Ann"], session_number=["1"], counselor=["Kim"])
    shown = chosen(read)
    sheet = sheet_json(read, shown, [{"moments": []}], changes(read, shown)[0])
    assert sheet["counselors"][0]["changed"] == NO_SECOND
    assert sheet["counselors"][0]["unit"] == "session"  # of one client alone, each session counts
    nobody = results([(6, 10, 10)], counselor=[""])
    assert sheet_json(nobody, shown, [{"moments": []}], changes(nobody, shown)[0])["counselors"] == []
