"""Tables of scores: every form gives the same scores, and what cannot be used is named."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.stats.outcomes.scales import built_in_scales, reliable_change, scale_index
from therapy_analytics.stats.outcomes.scores import read_scores

KNOWN = scale_index()


def scores_of(frame, index=KNOWN, **options):
    found = read_scores(pd.DataFrame(frame), index, **options)
    rows = found.table
    return [tuple(row) for row in rows[["client", "number", "scale", "score"]].itertuples(index=False)], found


EXPECTED = [("Ann", 1.0, "phq9", 18.0), ("Ann", 3.0, "phq9", 9.0), ("Bo", 1.0, "phq9", 12.0)]
FORMS = {
    "a row a session": {"client": ["Ann", "Ann", "Bo"], "session_number": [1, 3, 1], "PHQ-9": [18, 9, 12]},
    "numbers in a column session": {
        "Patient ID": ["Ann", "Ann", "Bo"],
        "Session": [1, 3, 1],
        "phq9_total": [18, 9, 12],
    },
    "a row a score": {"client": ["Ann", "Ann", "Bo"], "time": [1, 3, 1], "scale": ["PHQ9"] * 3, "score": [18, 9, 12]},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_scores(form):
    found, _ = scores_of(FORMS[form])
    assert sorted(found) == EXPECTED


@pytest.mark.parametrize("suffix", ["csv", "tsv", "xlsx", "sav", "dta"])
def test_every_kind_of_file_gives_the_same_scores(suffix, tmp_path):
    frame, path = pd.DataFrame(FORMS["a row a session"]), tmp_path / f"scores.{suffix}"
    if suffix == "xlsx":
        frame.to_excel(path, index=False)
    elif suffix in ("sav", "dta"):
        pyreadstat = pytest.importorskip("pyreadstat")
        frame = frame.rename(columns={"PHQ-9": "PHQ9"})
        (pyreadstat.write_sav if suffix == "sav" else pyreadstat.write_dta)(frame, str(path))
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ";")
    rows = read_scores(path, KNOWN).table
    assert sorted(rows[["client", "number", "scale", "score"]].itertuples(index=False, name=None)) == EXPECTED


def test_several_scales_and_a_decimal_comma():
    found, read = scores_of({"session_id": ["a"], "client": ["Ann"], "ORS": ["21,5"], "SRS score": ["38"]})
    assert [(scale, score) for _, _, scale, score in found] == [("ors", 21.5), ("srs", 38.0)]
    assert [(one.label, one.better) for one in read.scales] == [("ORS", "higher"), ("SRS", "higher")]


def test_a_scale_of_ones_own_is_said_once_and_others_are_left_out():
    frame = {"session_id": ["a"], "mood": [3], "age": [41], "GAD-7": [5]}
    _, without = scores_of(frame)
    assert [one.name for one in without.scales] == ["gad7"]
    assert without.notes == (
        "Columns that are no known scale were left out: mood, age (--better or --worse names a scale).",
    )
    _, found = scores_of(frame, scale_index(better=["Mood"]))
    assert [(one.name, one.higher_is_better) for one in found.scales] == [("mood", True), ("gad7", False)]


def test_columns_are_named_where_their_names_do_not_say():
    found, _ = scores_of({"Klient": ["Ann"], "Nr": [1], "PHQ-9": [18]}, columns={"client": "Klient", "number": "Nr"})
    assert found == [("Ann", 1.0, "phq9", 18.0)]
    with pytest.raises(BadOptionError, match="'Fall' is not known"):
        scores_of({"client": ["Ann"], "PHQ-9": [18]}, columns={"client": "Fall"})


def test_dates_are_read_in_whole_or_in_part():
    cells = ["March 2024", "4 Mar 2024", "03/2024", "2024/3/4", "45355", "2024-02-30", "2024-03-04 00:00:00"]
    wanted = ["2024-03", "2024-03-04", "2024-03", "2024-03-04", "2024-03-04", "", "2024-03-04"]
    _, found = scores_of({"client": "Ann", "date": cells, "ORS": 20})
    assert found.table["date"].tolist() == wanted


def test_scores_that_a_scale_cannot_have_are_named_and_not_used():
    frame = {"session_id": ["a", "b", "c", "d"], "PHQ-9": ["12", "99", "high", ""]}
    _, found = scores_of(frame)
    assert found.table["score"].tolist() == [12.0]
    assert found.refused[["row", "session_id", "score", "why"]].to_numpy().tolist() == [
        [3, "b", "99", "the score lies outside what the scale can have"],
        [4, "c", "high", "the score is no number"],
    ]
    assert found.notes == (
        "1 cell of phq9 left out, because the score lies outside what the scale can have: row 3 of the table.",
        "1 cell of phq9 left out, because the score is no number: row 4 of the table.",
    )


MISTAKES = [
    (
        {"PHQ-9": [3]},
        (
            "--outcomes: no column says whose the scores are (the table has 1 column). Give a column session_id, or "
            "client with date or session_number; --columns client=Case names it."
        ),
    ),
    (
        {"client": ["Ann"], "mood": [3]},
        (
            "--outcomes: no column is a scale that is known (its columns: mood). Known: PHQ-9, GAD-7, ORS, SRS, "
            "CORE-10, CORE-OM, OQ-45, WAI-SR, K10, BDI-II. Of another, --better NAME or --worse NAME says what a "
            "higher score is."
        ),
    ),
    (
        {"client": ["Ann"], "phq9_1": [18], "PHQ-9 session 3": [9]},
        (
            "--outcomes: no column is a scale that is known (its columns: phq9_1, PHQ-9 session 3). Of columns such as "
            "phq9_1, phq9_2 make rows: client, session_number, and one column a scale."
        ),
    ),
    (
        {"client": ["Ann"], "date": ["3/4/2024"], "ORS": [20]},
        (
            "date: dates such as 3/4/2024 stand in the table, and nothing tells the day from the month. Write dates as"
            " 2024-04-03, or give a column session_id or session_number."
        ),
    ),
    (
        {"session_id": list("abc"), "WAI-SR": [4.5, 4.1, 3.9]},
        (
            "--outcomes: 3 of 3 scores of the WAI-SR lie outside 12 to 60. Give totals as the scale is scored; of "
            "another scale, name the column so, and say --better or --worse."
        ),
    ),
    (
        {"session_id": ["a"], "ORS": ["-"]},
        ("--outcomes: the table holds no score that can be used. All its cells are empty."),
    ),
]


@pytest.mark.parametrize(("frame", "message"), MISTAKES)
def test_mistakes_are_told_in_words(frame, message):
    with pytest.raises((BadOptionError, BadDataFileError)) as caught:
        scores_of(frame)
    assert str(caught.value) == message


def test_a_file_that_is_no_table_is_said_to_be_none(tmp_path: Path):
    path = tmp_path / "scores.sav"
    path.write_bytes(b"nothing")
    with pytest.raises(BadDataFileError, match=r"it is no table that can be read. Save it as CSV \(UTF-8\) or xlsx"):
        read_scores(path, KNOWN)


def test_directions_are_said_once():
    with pytest.raises(BadOptionError, match="'mood' stands in both --better and --worse"):
        scale_index(better=["Mood"], worse=["mood"])
    with pytest.raises(BadOptionError, match="of the PHQ-9 a lower score is better"):
        scale_index(better=["PHQ-9"])
    assert scale_index(worse=["PHQ-9"])["phq9"].label == "PHQ-9"


def test_a_table_of_scales_goes_before_what_the_package_knows(tmp_path):
    path = tmp_path / "scales.csv"
    path.write_text("Name,Better,Low,High,SD,Reliability\nmood,higher,0,10,2,0.875\nPHQ-9,lower,0,27,,\n")
    index = scale_index(own=path)
    assert index["mood"].reliable == pytest.approx(1.96 * 2 * 0.5)  # sqrt(2 * (1 - .875)) = .5
    assert not index["phq9"].reliable > 0
    for text, message in {
        "name,better\nmood,up\n": "row 2 has no name, or does not say what is better",
        "name,label\nmood,Mood\n": "it has no column better",
        "name,better,low\nmood,lower,x\n": "low in row 2 is no number",
        "name,better,sd,reliability\nmood,lower,1,3\n": "the reliability in row 2 is not between 0 and 1",
    }.items():
        path.write_text(text)
        with pytest.raises(BadDataFileError, match=message):
            scale_index(own=path)


def test_built_in_scales_have_a_source_and_numbers_that_fit_their_range():
    assert [one.name for one in built_in_scales()] == [
        "phq9", "gad7", "ors", "srs", "core10", "core_om", "oq45", "wai_sr", "k10", "bdi2",
    ]  # fmt: skip
    for one in built_in_scales():
        assert one.source
        assert re.search(r"\(\d{4}\)|NHS England", one.source)
        assert one.low < one.high
        assert not one.cutoff <= one.low
        assert not one.reliable >= (one.high - one.low) / 2
    errors = {one.name: one.by_error for one in built_in_scales() if one.by_error > 0}
    assert errors == {"core10": pytest.approx(0.1), "bdi2": pytest.approx(0.05)}
    assert reliable_change(12.75, 0.93) == pytest.approx(9.35, abs=0.005)  # 1.96 * 12.75 * sqrt(.14)
