"""Courses that can be counted by hand: reliable change, change beyond noise, missing sessions, counselors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.stats.outcomes.course import reliable
from therapy_analytics.stats.outcomes.scales import Scale, scale_index

RATE = "therapist_reflection_rate"
SESSIONS = pd.DataFrame(
    {
        "session_id": ["a1", "a2", "a3", "b1", "b2", "x"],
        "client": ["Ann", "Ann", "Ann", "Bo", "Bo", ""],
        "counselor": ["Lee", "Lee", "Lee", "Lee", "Lee", "Kim"],
        "date": ["2024-01-01", "2024-01-08", "2024-01-22", "2024-01-05", "2024-01-12", "2024-02-01"],
        "session_number": ["1", "2", "4", "1", "2", ""],
        RATE: [0.2, 0.6, np.nan, 0.5, 0.4, 0.3],
        f"{RATE}_lo": [0.1, 0.5, np.nan, 0.3, 0.2, 0.1],
        f"{RATE}_hi": [0.3, 0.7, np.nan, 0.7, 0.6, 0.5],
        "n_danger_turns": [0, 2, 0, 0, 0, 0],
    }
)
PHQ9 = pd.DataFrame({"client": ["Ann"] * 4 + ["Bo"] * 2, "session": [1, 2, 3, 4, 1, 2],
                     "PHQ-9": [18, 14, 13, 12, 10, 15]})  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return ta.outcomes(SESSIONS, PHQ9)


def test_reliable_change_is_counted_in_points():
    scale = Scale(name="x", label="X", higher_is_better=False, reliable=6)
    change = pd.Series([-6.0, -5.9, 6.0, 5.9, np.nan])
    told = ["improved", "no reliable change", "worse", "no reliable change", ""]
    assert reliable(change, scale).tolist() == told
    unknown = Scale(name="x", label="X", higher_is_better=False)
    assert reliable(change, unknown).tolist() == [""] * 5
    assert reliable(change, scale_index()["ors"]).tolist() == ["worse", "worse", "improved", "improved", ""]


def test_the_course_has_a_row_a_client_and_session(found):
    course = found.course
    columns = ["client", "number", "session_id", "phq9", "phq9_change", "phq9_reliable"]
    rows = course[columns].astype(object).where(course[columns].notna(), None).to_numpy().tolist()
    assert rows == [
        ["Ann", 1.0, "a1", 18.0, None, ""],
        ["Ann", 2.0, "a2", 14.0, -4.0, "no reliable change"],
        ["Ann", 3.0, "", 13.0, -5.0, "no reliable change"],  # a score, and no transcript
        ["Ann", 4.0, "a3", 12.0, -6.0, "improved"],
        ["Bo", 1.0, "b1", 10.0, None, ""],
        ["Bo", 2.0, "b2", 15.0, 5.0, "no reliable change"],
    ]


def test_a_change_since_last_time_is_told_from_sampling_noise(found):
    # Ann: .2 (.1 to .3), then .6 (.5 to .7): .4, from .4 - sqrt(.1^2 + .1^2) = .26 on. Bo: -.1, -.38 to .18.
    told = found.course[[f"{RATE}_change", f"{RATE}_since_last"]]
    assert told[f"{RATE}_change"].round(6).fillna(9).tolist() == [9, 0.4, 9, 9, 9, -0.1]
    assert told[f"{RATE}_since_last"].tolist() == ["", "more", "", "", "", "within noise"]


def test_what_it_rests_on_is_said(found):
    words = str(found)
    assert "6 sessions of 2 clients with 1 counselor. PHQ-9 (lower is better), 6 scores." in words
    assert "- 1 session of unknown clients: related to scores, and in no course." in words
    assert "- 1 session with scores and without a transcript: in the course, with scores alone." in words
    assert "1 reliably improved, 0 reliably worse, 1 without reliable change (of 6 points)" in words
    assert "counted by date" not in words
    assert "In 1 session turns are marked that may be about danger: a2." in words
    assert "| Ann | 4 | 18 | 12 | improved |" in words


def test_sessions_have_the_numbers_of_the_results_or_are_counted_by_date():
    dates = ["2024-05-04", "2024-03-18", "2024-04-01", "2024", "2023", ""]
    numbers = ta.outcomes(SESSIONS.assign(session_number="", date=dates), PHQ9).joined.set_index("session_id")["number"]
    assert numbers[["a1", "a2", "a3", "b1", "b2"]].tolist() == [3, 1, 2, 1, 2]
    # Were the second of four sessions not recorded, the third would be taken for it
    words = str(ta.outcomes(SESSIONS.drop(columns="session_number"), PHQ9))
    assert "The table has more sessions of 1 client than the results, where sessions were counted by date" in words
    words = str(ta.outcomes(SESSIONS.drop(columns=["date", "session_number"]), PHQ9))
    assert (
        "- Of 2 clients neither dates nor numbers order the sessions: they are taken as the results have them." in words
    )


def test_unmatched_rows_are_listed_on_both_sides(found):
    assert found.unmatched[["side", "session_id", "client", "number"]].fillna("").to_numpy().tolist() == [
        ["outcomes", "", "Ann", 3.0],
        ["results", "x", "", ""],
    ]


def test_the_lines_of_the_figure_are_those_of_a_client(found):
    ann = found.lines[found.lines["who"] == "Ann"]
    scores = ann[ann["kind"] == "scale"]
    assert scores["value"].tolist() == [18, 14, 13, 12]
    assert (scores["lo"].unique().tolist(), scores["hi"].unique().tolist()) == ([12], [24])  # 18 -+ 6
    assert ann[ann["kind"] == "cutoff"]["value"].tolist() == [10]
    assert ann[ann["kind"] == "danger"][["number", "value"]].to_numpy().tolist() == [[2, 2]]
    assert ann[ann["kind"] == "measure"]["value"].tolist() == [0.2, 0.6]


def test_a_counselors_course_goes_over_clients_by_date():
    options = ta.OutcomeOptions(by="counselor")
    lines = ta.outcomes(SESSIONS, PHQ9[PHQ9["session"] != 3], options=options).lines
    rates = lines[lines["kind"] == "measure"]
    assert rates[["who", "number", "session_id"]].to_numpy().tolist() == [
        ["Lee", 1, "a1"], ["Lee", 2, "b1"], ["Lee", 3, "a2"], ["Lee", 4, "b2"],
    ]  # fmt: skip
    assert lines[lines["kind"] == "scale"]["lo"].isna().all()


def test_clients_of_one_name_are_told_apart_by_counselor():
    sessions = SESSIONS.assign(client="Ann", counselor=["Lee"] * 3 + ["Kim"] * 3)
    scores = pd.DataFrame({"session_id": SESSIONS["session_id"], "ORS": range(6)})
    course = ta.outcomes(sessions, scores).course
    assert course["client"].unique().tolist() == ["Ann (Kim)", "Ann (Lee)"]


def test_a_table_can_say_whose_the_sessions_are():
    scores = pd.DataFrame({"session_id": ["a1", "a2"], "client": "Ann", "time": [1, 2], "ORS": [20, 26]})
    course = ta.outcomes(SESSIONS[["session_id", RATE]], scores).course
    assert course[["client", "number", "ors_reliable"]].to_numpy().tolist() == [["Ann", 1, ""], ["Ann", 2, "improved"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "source"}, "--by: 'source' is not known. Known: client, counselor."),
        ({"show": ("nothing",)}, f"--show: no measure is named 'nothing'. Known: {RATE}."),
    ],
)
def test_options_that_cannot_be_used_say_why(options, message):
    with pytest.raises(BadOptionError) as caught:
        ta.outcomes(SESSIONS, PHQ9, options=ta.OutcomeOptions(**options))
    assert str(caught.value) == message


def test_a_scale_is_not_called_as_a_column_of_the_results():
    scores = pd.DataFrame({"session_id": ["a1"], RATE: [3]})
    with pytest.raises(BadOptionError, match="Call the column of the scores otherwise"):
        ta.outcomes(SESSIONS, scores, options=ta.OutcomeOptions(better=(RATE,)))


def test_sessions_of_unknown_clients_have_no_course() -> None:
    """Scores by session can be related to the talk all the same."""
    sessions = pd.DataFrame({"session_id": list("abc"), "therapist_question_rate": [0.5, 0.4, 0.6]})
    found = ta.outcomes(sessions, pd.DataFrame({"session_id": list("abc"), "PHQ-9": [14, 9, 11]}))
    assert (len(found.course), len(found.lines), len(found.joined)) == (0, 0, 3)
    assert list(found.files()) == ["associations.csv", "course.csv", "unmatched.csv", "outcomes.md", "outcomes.json"]
