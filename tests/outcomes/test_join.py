"""Which session a score belongs to, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.stats.outcomes.join import match
from therapy_analytics.stats.outcomes.scales import scale_index
from therapy_analytics.stats.outcomes.scores import read_scores

SESSIONS = pd.DataFrame(
    {
        "session_id": ["ann_1", "ann_2", "ann_3", "Dr.-Lee-bo", "ann_b"],
        "client": ["Ann", "Ann", "Ann", "Bo", "Ann"],
        "counselor": ["Lee", "Lee", "Lee", "Lee", "Kim"],
        "date": ["2024-03-04", "2024-03-18", "2024-04", "2024-03-05", "2024-06-01"],
        "number": [1.0, 2.0, 4.0, 1.0, 1.0],
    }
)


def matched(frame):
    scores = read_scores(pd.DataFrame(frame), scale_index())
    found, unmatched = match(scores, SESSIONS)
    ids = np.append(SESSIONS["session_id"].to_numpy(), "")
    return ids[found["place"]].tolist(), unmatched


def test_ids_match_whatever_their_case_spaces_and_folders():
    ids = ["ANN_1", " ann_2 ", "transcripts/ann_3.txt", "Dr. Lee: bo"]
    assert matched({"session_id": ids, "ORS": [1, 2, 3, 4]})[0] == ["ann_1", "ann_2", "ann_3", "Dr.-Lee-bo"]


def test_clients_match_with_a_date_in_whole_or_in_part_or_a_number():
    frame = {"client": ["bo", "Ann", "Ann"], "therapist": ["", "Lee", "Lee"], "ORS": [1, 2, 3]}
    assert matched({**frame, "date": ["2024", "2024-03-18", "2024-04-11"]})[0] == ["Dr.-Lee-bo", "ann_2", "ann_3"]
    assert matched({**frame, "session_number": [1, 4, 2]})[0] == ["Dr.-Lee-bo", "ann_3", "ann_2"]
    assert matched({"client": ["BO"], "ORS": [1]})[0] == ["Dr.-Lee-bo"]  # the only session


def test_what_matches_nothing_is_listed_on_both_sides():
    found, left = matched(
        {
            "session_id": ["ann_1", "ann_9", "", ""],
            "client": ["", "", "Cy", "Bo"],
            "date": ["", "", "2024-03-04", "2024-07"],
            "ORS": [20, 21, 22, 23],
        }
    )
    assert found == ["ann_1", "", "", ""]
    assert left[["side", "row", "session_id", "why"]].fillna("").to_numpy().tolist() == [
        ["outcomes", 3, "ann_9", "the results have no session of that name"],
        ["outcomes", 4, "", "the results have no client of that name"],
        ["outcomes", 5, "", "the results have no session of that client with that date"],
        ["results", "", "ann_2", "the table has no score for it"],
        ["results", "", "ann_3", "the table has no score for it"],
        ["results", "", "Dr.-Lee-bo", "the table has no score for it"],
        ["results", "", "ann_b", "the table has no score for it"],
    ]


MISTAKES = [
    (
        {"client": ["Ann"], "therapist": ["Lee"], "date": ["2024-03"], "ORS": [20]},
        (
            "--outcomes: row 2 fits 2 sessions of the results (ann_1, ann_2). Say which: give its session_id, a whole "
            "date, or a session_number."
        ),
    ),
    (
        {"client": ["Bo", "Ann"], "ORS": [20, 21]},
        (
            "--outcomes: row 3 fits 4 sessions of the results (ann_1, ann_2, ann_3, ...). Say which: give its "
            "session_id, a whole date, or a session_number."
        ),
    ),
    (
        {"session_id": ["ann_1", "ann_2", "Ann_1"], "ORS": [20, 21, 22]},
        ("--outcomes: rows 2, 4 both give the ORS of the session ann_1. Keep one of them."),
    ),
    (
        {"session_id": ["ann_1"], "ORS": [20], "ors total": [21]},
        ("--outcomes: two columns give the ORS of the session ann_1 (row 2). Keep one of them."),
    ),
    (
        {"client": ["Bo", "Bo", "Bo"], "session_number": [1, 7, 7], "ORS": [20, 21, 22]},
        "--outcomes: rows 3, 4 both give the ORS of session 7 of Bo. Keep one of them.",
    ),
    (
        {"session_id": ["x"], "ORS": [20]},
        (
            "--outcomes: no row is about a session of these results (row 2: the results have no session of that name)."
            " Name sessions as sessions.csv does (ann_1, ann_2, ann_3, ...), or clients."
        ),
    ),
]


@pytest.mark.parametrize(("frame", "message"), MISTAKES)
def test_what_is_ambiguous_is_an_error_that_names_rows(frame, message):
    with pytest.raises(BadOptionError) as caught:
        matched(frame)
    assert str(caught.value) == message
