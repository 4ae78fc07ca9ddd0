"""The summary counts of MITI 4.2 and MISC, counted by hand; bands only where they can be told."""

from __future__ import annotations

from math import isnan

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.compare._summary_counts import NEVER, SUMMARIES, summary_counts
from therapy_analytics.errors import BadOptionError, UnknownNameError
from therapy_analytics.measures._intervals import ratio
from therapy_analytics.measures.process.reflection_to_question import RATIO_CORRELATION

RQ, CR = "miti_reflections_to_questions", "miti_percent_complex_reflections"


def session(reflections: int, questions: int, turns: int = 400, **more: object) -> dict[str, object]:
    return {
        "session_id": f"{reflections}_{questions}",
        "n_therapist_reflection": reflections,
        "n_therapist_question": questions,
        "n_turns_therapist": turns,
        **more,
    }


def of(rows: list[dict[str, object]], name: str = RQ, **options: str) -> pd.Series:
    found = summary_counts(pd.DataFrame(rows), **options)
    return found[found["summary"] == name].iloc[0]


def ten(reflections: int, questions: int, turns: int = 400) -> list[dict[str, object]]:
    """Return ten such sessions of one group."""
    return [session(reflections, questions, turns, session_id=f"s{i}", who="x") for i in range(10)]


@pytest.mark.parametrize(
    ("reflections", "questions", "band", "of_ten"),
    [
        (150, 30, "good", "good"),
        (30, 20, "", "fair"),
        (15, 8, "", "fair or better"),
        (50, 120, "below fair", "below fair"),
        (12, 12, "", ""),
        # Turns of one session are alike, so that the longest tells no more than some fifty that are not
        (150, 100, "", "fair"),
    ],
)
def test_bands_where_the_interval_lies_on_one_side(reflections: int, questions: int, band: str, of_ten: str) -> None:
    found = of([session(reflections, questions)])
    assert found["band"] == band
    assert found["value"] == pytest.approx(reflections / questions)
    assert found["lo"] < found["value"] < found["hi"]
    assert found["n"] == reflections + questions
    if not band:
        assert "No band, as the interval holds the line" in found["sentence"]
    assert of(ten(reflections, questions), by="who")["band"] == of_ten


def test_the_interval_of_a_session_is_that_of_the_session_table() -> None:
    found = of([session(20, 12)])
    assert (found["value"], found["lo"], found["hi"]) == pytest.approx(ratio(20, 12, RATIO_CORRELATION))


def test_the_taggers_errors_can_take_a_band_away() -> None:
    rows = ten(30, 22, 104)
    assert of(rows, by="who")["band"] == "fair"
    unsure = of(rows, by="who", tagger="accurate")
    assert unsure["band"] == ""
    assert "the tagger's own errors could move it over the line" in unsure["sentence"]
    assert unsure["corrected_lo"] < unsure["corrected"] < unsure["corrected_hi"]
    sure = of(ten(60, 6, 104), by="who", tagger="accurate")
    assert sure["band"] == "good"
    assert isnan(of(rows, by="who", tagger="llm")["corrected"])


def test_no_questions_is_undefined_and_said() -> None:
    found = of([session(5, 0)])
    assert isnan(found["value"])
    assert "undefined" in found["sentence"]


def test_groups_add_up_and_clusters_count() -> None:
    rows = [
        session(30, 10, who="x", client="a"),
        session(10, 30, who="x", client="b"),
        session(20, 22, who="y", client="c"),
    ]
    found = summary_counts(pd.DataFrame(rows), by="who")
    ratios = found[found["summary"] == RQ].set_index("who")
    assert ratios.loc["x", "value"] == 1.0
    # Two sessions that differ so much say hardly anything.
    assert ratios.loc["x", "hi"] > ratios.loc["y", "hi"]


def turns() -> pd.DataFrame:
    """Return five therapist turns: two with both kinds of reflection, one simple, one open question, one closed."""
    table = pd.DataFrame({"session_id": "a", "turn": np.arange(8), "role": ["therapist"] * 5 + ["client"] * 3})
    codes = {
        "mi_reflection": [1, 1, 1, 0, 0],
        "mi_reflection_complex": [1, 1, 0, 0, 0],
        "mi_reflection_simple": [1, 0, 1, 0, 0],
        "mi_question": [0, 0, 0, 1, 1],
        "question_open_turn": [np.nan, np.nan, np.nan, 1, 0],
        "miti_affirm": [1, 0, 0, 0, 0],
        "miti_seek_collaboration": [1, 0, 0, 1, 0],
        "miti_emphasise_autonomy": [0, 0, 0, 0, 0],
        "miti_persuade": [0, 0, 0, 0, 1],
        "miti_confront": [0, 0, 0, 0, 0],
        "misc_mi_inconsistent": [0, 0, 0, 0, 1],
    }
    for name, values in codes.items():
        table[name] = [*values, np.nan, np.nan, np.nan]
    table["mi_change"] = [np.nan] * 5 + [1, 1, 0]
    table["mi_sustain"] = [np.nan] * 5 + [0, 1, 0]
    return table


def test_counted_by_hand_from_turns() -> None:
    found = summary_counts(turns()).set_index("summary")
    assert found["value"].to_dict() == pytest.approx(
        {
            RQ: 1.5,  # 3 to 2
            CR: 100 * 2 / 3,  # the turn with both is complex alone
            "miti_total_mi_adherent": 3,
            "miti_total_mi_non_adherent": 1,
            "misc_percent_open_questions": 50,
            "misc_percent_change_talk": 100 * 2 / 3,
            "misc_mi_inconsistent": 1,
        }
    )
    assert "2 complex and 1 simple" in found.loc[CR, "sentence"]
    assert "ICC .16" in found.loc[CR, "sentence"]


def test_what_is_not_there_is_said() -> None:
    found = summary_counts(turns().drop(columns="mi_reflection_complex")).set_index("summary")
    assert isnan(found.loc[CR, "value"])
    assert "--all-codes" in found.loc[CR, "sentence"]


def test_turns_and_sessions_agree() -> None:
    rows = {"n_client_change": 2, "n_client_sustain": 1, "n_open_question": 1, "open_question_rate": 0.5}
    sessions = pd.DataFrame([session(3, 2, 5, n_turns_client=3, **rows)]).assign(session_id="a")
    one, two = summary_counts(sessions).set_index("summary"), summary_counts(turns()).set_index("summary")
    for name in (RQ, "misc_percent_open_questions", "misc_percent_change_talk"):
        columns = ["value", "lo", "hi", "n", "band"]
        assert one.loc[name, columns].tolist() == two.loc[name, columns].tolist()


def test_no_score_that_people_alone_can_give() -> None:
    names = {summary.name for summary in SUMMARIES}
    assert not any("global" in name or "relational" in name or "technical" in name for name in names)
    assert not {"miti_percent_open_questions", "miti_percent_mi_adherent"} & names
    assert "ratings by people" in NEVER


def test_errors_that_help() -> None:
    with pytest.raises(BadOptionError, match="no codes"):
        summary_counts(pd.DataFrame({"session_id": ["a"], "n_turns_therapist": [3]}))
    with pytest.raises(BadOptionError, match="counselor"):
        summary_counts(pd.DataFrame([session(1, 1)]), by="counselor")
    with pytest.raises(UnknownNameError):
        summary_counts(pd.DataFrame([session(1, 1)]), tagger="slow")
