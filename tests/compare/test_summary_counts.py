"""The summary counts of MITI 4.2 and MISC, counted by hand; bands only where they can be told."""

from __future__ import annotations

from math import isnan

import pandas as pd
import pytest

from therapy_analytics.compare._summary_counts import NEVER, SUMMARIES, summary_counts
from therapy_analytics.errors import BadOptionError, UnknownNameError
from therapy_analytics.measures._intervals import ratio
from therapy_analytics.measures.process.reflection_to_question import RATIO_CORRELATION

RQ = "miti_reflections_to_questions"


def session(reflections: int, questions: int, turns: int = 400, **more: object) -> dict[str, object]:
    return {
        "session_id": f"{reflections}_{questions}",
        "n_therapist_reflection": reflections,
        "n_therapist_question": questions,
        "n_turns_therapist": turns,
        **more,
    }


def counted(rows: list[dict[str, object]], name: str = RQ, **options: str) -> pd.Series:
    found = summary_counts(pd.DataFrame(rows), **({"by": "session_id"} | options))
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
    found = counted([session(reflections, questions)])
    assert found["band"] == band
    assert found["value"] == pytest.approx(reflections / questions)
    assert found["lo"] < found["value"] < found["hi"]
    assert found["n"] == reflections + questions
    if not band:
        assert "No band, as the interval holds the line" in found["sentence"]
    assert counted(ten(reflections, questions), by="who")["band"] == of_ten


def test_the_interval_of_a_session_is_that_of_the_session_table() -> None:
    found = counted([session(20, 12)])
    assert (found["value"], found["lo"], found["hi"]) == pytest.approx(ratio(20, 12, RATIO_CORRELATION))


def test_the_taggers_errors_can_take_a_band_away() -> None:
    rows = ten(30, 22, 104)
    assert counted(rows, by="who")["band"] == "fair"
    unsure = counted(rows, by="who", tagger="accurate")
    assert unsure["band"] == ""
    assert "the tagger's own errors could move it over the line" in unsure["sentence"]
    assert unsure["corrected_lo"] < unsure["corrected"] < unsure["corrected_hi"]
    sure = counted(ten(80, 4, 104), by="who", tagger="accurate")
    assert sure["band"] == "good"
    assert isnan(counted(rows, by="who", tagger="llm")["corrected"])


def test_no_questions_is_undefined_and_said() -> None:
    found = counted([session(5, 0)])
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


def test_a_client_is_one_of_a_counselor() -> None:
    named = [{"counselor": "a", "client": "1"}, {"counselor": "b", "client": "1"}]
    rows = [session(30, 10, who="x", **named[0]), session(10, 30, who="x", **named[1])]
    assert counted(rows, by="who", cluster="client")["lo"] == counted(rows, by="who")["lo"]


def test_counted_by_hand() -> None:
    rows = {"n_client_change": 2, "n_client_sustain": 1, "n_open_question": 1, "open_question_rate": 0.5}
    found = summary_counts(pd.DataFrame([session(3, 2, 5, **rows)]), by="session_id").set_index("summary")
    assert found["value"].to_dict() == pytest.approx(
        {
            RQ: 1.5,  # 3 to 2
            "misc_percent_open_questions": 50,  # of two questions one
            "misc_percent_change_talk": 100 * 2 / 3,
        }
    )
    assert "3 turns with a reflection and 2 turns with a question" in found.loc[RQ, "sentence"]
    assert (
        "2 client turns with change talk and 1 with sustain talk" in found.loc["misc_percent_change_talk", "sentence"]
    )


def test_what_is_not_there_is_said() -> None:
    found = counted([session(3, 2)], "misc_percent_change_talk")
    assert isnan(found["value"])
    assert "not known, as the codes are not there" in found["sentence"]


def test_no_score_that_people_alone_can_give() -> None:
    names = {summary.name for summary in SUMMARIES}
    assert not any("global" in name or "relational" in name or "technical" in name for name in names)
    assert not {"miti_percent_open_questions", "miti_percent_mi_adherent"} & names
    assert "ratings by people" in NEVER


def test_errors_that_help() -> None:
    with pytest.raises(BadOptionError, match="no codes"):
        summary_counts(pd.DataFrame({"session_id": ["a"], "n_turns_therapist": [3]}), by="session_id")
    with pytest.raises(UnknownNameError):
        summary_counts(pd.DataFrame([session(1, 1)]), by="session_id", tagger="slow")
