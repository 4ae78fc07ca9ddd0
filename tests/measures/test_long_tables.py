"""The long table of measures, and the wide ones that are made of it: small ones that a reader can count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from therapy_analytics.measures.base import rate_columns
from therapy_analytics.measures.profile_rows import EXPECTED
from therapy_analytics.measures.rows import as_part, measure_rows, row_column
from therapy_analytics.results.frames import profile_table, wide, wide_turns

RATE = "therapist_question_rate"
NAN = np.nan


def test_a_rate_and_its_statistics_are_one_row() -> None:
    columns = rate_columns(row_column(RATE, "Share of questions", "proportion"), counted="Questions")
    numbers = {RATE: 0.4, f"{RATE}_lo": 0.2, f"{RATE}_hi": 0.6}
    counts = {"n_therapist_question": 4.0, "out_of_therapist_question": 10.0}
    assert measure_rows(columns, {**numbers, **counts}) == [
        {"measure": RATE, "direction": "", "value": 0.4, "lo": 0.2, "hi": 0.6, "n": 4.0, "out_of": 10.0}
    ]


def test_each_direction_is_a_row_and_values_of_turns_are_none() -> None:
    value = row_column("rlsm", "Style", "0 to 1")
    columns = [
        replace(value, direction="both"),
        replace(value, name="rlsm_client", measure="rlsm", direction="client"),
        replace(value, name="rlsm_client_z", measure="rlsm", direction="client", statistic="z"),
        replace(value, name="rlsm_turn", level="turn"),
    ]
    values = {"rlsm": 0.5, "rlsm_client": 0.6, "rlsm_client_z": 1.5, "rlsm_turn": np.array([NAN, 0.6])}
    rows = measure_rows(columns, values)
    assert rows == [
        {"measure": "rlsm", "direction": "both", "value": 0.5},
        {"measure": "rlsm", "direction": "client", "value": 0.6, "z": 1.5},
    ]
    assert as_part(rows[0], "third_1", 0, 4) == {**rows[0], "part": "third_1", "first_turn": 0, "last_turn": 4}
    assert "part" not in rows[0]


def test_the_wide_table_has_a_row_a_session_and_a_column_a_number() -> None:
    """Session b has no style matching; nobody has an interval of it, so that there is no column of one."""
    long = pd.DataFrame(
        [
            ("a", RATE, "", 0.4, 4.0, 10.0, 0.2, NAN),
            ("a", "rlsm", "both", 0.5, NAN, 9.0, NAN, 1.0),
            ("a", "rlsm", "client", 0.6, NAN, 5.0, NAN, 2.0),
            ("b", RATE, "", 0.1, 1.0, 10.0, 0.0, NAN),
        ],
        columns=["session_id", "measure", "direction", "value", "n", "out_of", "lo", "z"],
    )
    found = wide(long).set_index("session_id")
    assert list(found.index) == ["a", "b"]
    of_a, of_b = (found.loc[name] for name in found.index)
    assert of_a.to_dict() == {
        RATE: 0.4,
        "n_therapist_question": 4.0,
        "out_of_therapist_question": 10.0,
        f"{RATE}_lo": 0.2,
        "rlsm": 0.5,
        "out_of_rlsm": 9.0,
        "rlsm_z": 1.0,
        "rlsm_client": 0.6,
        "out_of_rlsm_client": 5.0,
        "rlsm_client_z": 2.0,
    }
    assert of_b.dropna().to_dict() == {
        RATE: 0.1,
        "n_therapist_question": 1.0,
        "out_of_therapist_question": 10.0,
        f"{RATE}_lo": 0.0,
    }


def test_an_undefined_value_keeps_its_column() -> None:
    long = pd.DataFrame({"session_id": ["a"], "measure": ["lsm"], "direction": ["both"], "value": [NAN], "z": [NAN]})
    assert list(wide(long)) == ["session_id", "lsm"]


def test_the_turns_in_one_table() -> None:
    keys = {"session_id": ["a", "a"], "turn": [0, 1]}
    found = wide_turns(
        pd.DataFrame({**keys, "role": ["therapist", "client"], "mi_question": [1, pd.NA]}),
        pd.DataFrame({**keys, "mi_question": [0.9, NAN], "unsure_codes": ["", ""]}, index=[5, 6]),
        pd.DataFrame({**keys, "n_sentences": [1, 2], "rlsm_turn": [NAN, 0.5]}),
    )
    names = ["session_id", "turn", "role", "mi_question", "p_mi_question", "unsure_codes", "n_sentences", "rlsm_turn"]
    assert list(found) == names
    assert len(found) == 2
    assert found["p_mi_question"].iloc[0] == 0.9
    assert found["rlsm_turn"].iloc[1] == 0.5


def test_the_profile_is_made_of_rates_with_what_is_expected_of_them() -> None:
    """Of three questions one falls in the first third; a rate without thirds is no code."""
    counts = {"whole": (3, 5), "third_1": (1, 2), "third_2": (0, 1), "third_3": (2, 2)}
    rows = []
    for part, (n, out_of) in counts.items():
        own = {"session_id": "a", "direction": "", "part": part, "first_turn": 0, "last_turn": 8}
        rate = {"value": n / out_of, "n": n, "out_of": out_of, "lo": 0.0, "hi": 1.0}
        rows += [{**own, "measure": RATE, **rate}, {**own, "measure": f"{RATE}{EXPECTED}", "value": 0.5}]
        rows.append({**own, "measure": "rlsm", "value": 0.7, "out_of": 4})
    found = profile_table(pd.DataFrame(rows))
    assert found["code"].tolist() == ["mi_question"] * 4
    assert found["part"].tolist() == list(counts)
    assert list(zip(found["n"], found["n_turns"], strict=True)) == list(counts.values())
    assert found["rate"].tolist() == [3 / 5, 1 / 2, 0, 1]
    assert found["expected"].tolist() == [0.5] * 4
    assert found["part"].cat.ordered
