"""A study as a user does it: from transcripts and a table of scores to a paragraph and a page, in two commands."""

from __future__ import annotations

import json
import re
import shutil
import stat
from html import escape
from pathlib import Path

import pandas as pd
import pytest
from commands import tanalyze
from course_study import WORSE, write_study

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError

FEW = ("--measures", "therapist_reflection_rate,open_question_rate")
"""Where what is tested does not depend on the measures: the fewer, the faster."""


def invoke(*words: object):
    return tanalyze(*(str(one) for one in words))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with results of 12 clients with 6 sessions, their scores, and what was found."""
    folder = tmp_path_factory.mktemp("study")
    transcripts, scores = write_study(folder)
    words = ["run", transcripts, "--out", folder / "results", "--tagger", "fast", "--no-plots", "--processes", 1]
    measured = invoke(*words)
    assert measured.status == 0, measured.err
    done = invoke("outcomes", folder / "results", "--outcomes", scores, "--out", folder / "out")
    assert done.status == 0, done.err
    (folder / "printed.txt").write_text(done.out, encoding="utf-8")
    return folder


def test_the_command_prints_who_got_worse_and_what_goes_with_what(study: Path) -> None:
    printed = " ".join((study / "printed.txt").read_text(encoding="utf-8").split())
    assert "72 sessions of 12 clients with 3 counselors. PHQ-9 (lower is better), 72 scores." in printed
    assert "10 reliably improved, 2 reliably worse (p03, p09), 0 without reliable change" in printed
    assert "In 1 session turns are marked that may be about danger: p03_4. Read these first." in printed
    assert "In sessions with higher therapist reflection rate than the client's others" in printed


def test_a_reliable_change_is_claimed_only_with_a_source_that_is_named(study: Path, tmp_path: Path) -> None:
    scores = pd.read_csv(study / "phq9.csv").rename(columns={"PHQ-9": "CORE-10"})
    scores.assign(**{"CORE-OM": scores["CORE-10"]}).to_csv(tmp_path / "scores.csv", index=False)
    words = ("--outcomes", tmp_path / "scores.csv", "--out", tmp_path / "out", "--no-plots", *FEW)
    done = invoke("outcomes", study / "results", *words)
    assert done.status == 0, done.err
    printed = " ".join(done.out.split())
    # 12 clients, of whom one in ten lies beyond the ends of a 90% interval, half of them below.
    assert "Had none changed, error of measurement alone would make 0.6 worse." in printed
    assert "How large a reliable change of the CORE-OM is, is not known" in printed
    text = (tmp_path / "out" / "outcomes.md").read_text(encoding="utf-8")
    assert "- CORE-10: a change of 6 points or more is called reliable; cutoff 11. Barkham" in text
    assert "- CORE-OM: no change is called reliable; cutoff 10. Evans" in text
    of_phq = (study / "out" / "outcomes.md").read_text(encoding="utf-8")
    assert "error of measurement alone would make" not in of_phq
    assert "Jacobson & Truax, 1991: 6 points" not in of_phq


def test_the_files_are_there_and_private(study: Path) -> None:
    names = {path.name for path in (study / "out").iterdir()}
    figures = {f"course_p{n:02d}.png" for n in range(1, 13)}
    tables = {"associations.csv", "course.csv", "unmatched.csv"}
    assert names == {*figures, *tables, "outcomes.md", "outcomes.json", "course.html", ".made_from.json"}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in (study / "out").iterdir())
    recipe = json.loads((study / "out" / "outcomes.json").read_text(encoding="utf-8"))
    assert recipe["scales"]["phq9"]["better"] == "lower"
    assert "Kroenke" in recipe["scales"]["phq9"]["source"]


def test_the_course_says_who_got_worse(study: Path) -> None:
    course = pd.read_csv(study / "out" / "course.csv", keep_default_na=False)
    assert len(course) == 72
    last = course.groupby("client").tail(1).set_index("client")["phq9_reliable"]
    assert set(last[last == "worse"].index) == set(WORSE)
    assert set(course["therapist_reflection_rate_since_last"]) >= {"", "more", "within noise"}


def test_the_paragraph_has_methods_and_numbers(study: Path) -> None:
    words = (study / "out" / "outcomes.md").read_text(encoding="utf-8")
    told = words.partition("## For a paper")[2].partition("##")[0]
    assert "10 of 12 clients had improved and 2 were worse by 6 points or more (source: see Scales)" in told
    assert "the error of the tagger is not in these numbers" in told
    assert re.search(r"b = -0\.\d\d \[-\d\.\d\d, -0\.\d\d\], t\(\d+\) = -\d+\.\d\d, p (= |below )\.\d+", told)


def test_the_page_shows_who_got_worse_first_and_leads_to_the_turns(study: Path) -> None:
    page = (study / "out" / "course.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2>(p\d+)</h2>", page)[:2] == list(WORSE)
    assert len(re.findall(r'<img alt="Course of p\d+ over sessions', page)) == 12
    assert (
        'Turns are marked that may be about danger in <a href="../results/report.html#session/p03_4">p03_4</a>' in page
    )
    assert "default-src &#x27;none&#x27;" in page
    assert "<script" not in page
    assert "killing" not in page  # no word of a transcript


def test_that_the_error_of_the_tagger_is_in_no_interval_is_said_everywhere(study: Path) -> None:
    recipe = json.loads((study / "out" / "outcomes.json").read_text(encoding="utf-8"))
    said = recipe["error_of_the_tagger"]
    assert "No interval here holds the tagger's error" in said
    assert said in (study / "out" / "outcomes.md").read_text(encoding="utf-8")
    assert escape(said) in (study / "out" / "course.html").read_text(encoding="utf-8")


def test_it_goes_on_in_its_own_folder_alone(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study / "out", study / "again")
    words = ["outcomes", study / "results", "--out", study / "again", "--no-plots", *FEW]
    again = invoke(*words, "--outcomes", study / "phq9.csv")
    assert again.status == 0, again.err
    assert {path.suffix for path in (study / "again").iterdir()} == {".csv", ".md", ".json"}
    other = tmp_path / "other.csv"
    other.write_text("session_id,ORS\np01_1,20\n", encoding="utf-8")
    refused = invoke(*words, "--outcomes", other)
    assert refused.status == 2
    assert "courses and outcomes" in refused.err


def test_counselors_have_a_course_too(study: Path, tmp_path: Path) -> None:
    options = ["--outcomes", study / "phq9.csv", "--by", "counselor", "--show", "open_question_rate", *FEW]
    done = invoke("outcomes", study / "results", *options, "--out", tmp_path / "out")
    assert done.status == 0, done.err
    assert sorted(path.name for path in (tmp_path / "out").glob("*.png")) == [
        "course_Ash.png", "course_Brook.png", "course_Cole.png",
    ]  # fmt: skip


def test_clients_whom_the_scores_alone_name_have_courses_in_the_order_of_the_results(
    study: Path, tmp_path: Path
) -> None:
    sessions = pd.read_csv(study / "results" / "sessions.csv").drop(columns=["client", "session_number", "date"])
    sessions.assign(counselor="").to_csv(tmp_path / "sessions.csv", index=False)
    scores = pd.read_csv(study / "phq9.csv")
    scores["client"] = scores["session_id"].str.partition("_")[0]
    scores.to_csv(tmp_path / "scores.csv", index=False)
    words = ["outcomes", tmp_path / "sessions.csv", "--no-plots", *FEW]
    done = invoke(*words, "--outcomes", tmp_path / "scores.csv", "--out", tmp_path / "out")
    assert done.status == 0, done.err
    assert "Of 12 clients neither dates nor numbers order the sessions" in done.text
    assert pd.read_csv(tmp_path / "out" / "course.csv")["number"].tolist() == [1, 2, 3, 4, 5, 6] * 12


def test_a_client_whom_two_counselors_saw_is_said_to_count_twice(study: Path, tmp_path: Path) -> None:
    scores = pd.read_csv(study / "phq9.csv")
    client, _, number = (scores["session_id"].str.partition("_")[at] for at in range(3))
    sessions = pd.read_csv(study / "results" / "sessions.csv").drop(columns=["client", "counselor"])
    sessions.to_csv(tmp_path / "sessions.csv", index=False)
    scores["client"] = client
    scores["counselor"] = number.astype(int).gt(3).map({True: "Ash", False: "Brook"}).where(client < "p06", "Cole")
    scores.to_csv(tmp_path / "scores.csv", index=False)
    words = ["outcomes", tmp_path / "sessions.csv", "--no-plots", *FEW]
    done = invoke(*words, "--outcomes", tmp_path / "scores.csv", "--out", tmp_path / "out")
    assert done.status == 0, done.err
    told = (
        "72 sessions of 12 clients with 3 counselors. 5 of the clients were seen by more than one counselor: in all "
        "that follows, each of the 17 pairs of client and counselor counts as a client, with a course of its own."
    )
    assert told in done.text
    assert told in (tmp_path / "out" / "outcomes.md").read_text(encoding="utf-8")


def test_the_page_says_whom_it_leaves_out(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("therapy_analytics.run.folders.MOST_COURSES", 2)
    options = ta.OutcomeOptions(measures=("therapist_reflection_rate",))
    ta.write(ta.outcomes(study / "results", study / "phq9.csv", options=options), tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == {f"course_{name}.png" for name in WORSE}
    page = (tmp_path / "out" / "course.html").read_text(encoding="utf-8")
    assert "Shown are 2 of 12, those who got worse first" in page


def test_a_mistake_is_a_sentence(study: Path, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("client,Score of mood\np01,3\n", encoding="utf-8")
    done = invoke("outcomes", study / "results", "--outcomes", table, "--out", tmp_path / "out")
    assert done.status == 2
    assert "no column is a scale that is known" in done.err
    assert not (tmp_path / "out").exists()


def test_slopes_of_a_sample_that_is_half_coded_are_said_with_a_question(study: Path) -> None:
    turns = ta.load(study / "results").turns
    coded = turns[turns["session_id"].astype(str).str.endswith(("_1", "_3", "_5")) & (turns["role"] == "therapist")]
    gold = coded[["session_id", "turn"]].assign(
        code="mi_reflection", value=coded["mi_reflection"].astype(int), inclusion=1.0
    )
    options = ta.OutcomeOptions(gold=gold, measures=("therapist_reflection_rate",))
    found = str(ta.outcomes(study / "results", study / "phq9.csv", options=options))
    assert "of 72 sessions with turns by hand), where the machine's codes alone give" in found
    assert "But the coded turns stand for 50% of all: is the sample coded to its end?\n" in found
    assert "or left some out by chance alone" in found


def test_codes_by_hand_must_say_how_their_turns_were_drawn(study: Path) -> None:
    turns = ta.load(study / "results").turns
    coded = turns[turns["role"] == "therapist"]
    gold = coded[["session_id", "turn"]].assign(reflection=coded["mi_reflection"].astype(int))
    options = ta.OutcomeOptions(gold=gold, measures=("therapist_reflection_rate",))
    with pytest.raises(BadOptionError, match="there is no column inclusion"):
        ta.outcomes(study / "results", study / "phq9.csv", options=options)


def test_where_nothing_orders_sessions_nothing_is_claimed_within_clients(study: Path, tmp_path: Path) -> None:
    sessions = pd.read_csv(study / "results" / "sessions.csv").drop(columns=["session_number", "date"])
    options = ta.OutcomeOptions(measures=("therapist_reflection_rate",))
    found = ta.outcomes(sessions, study / "phq9.csv", options=options)
    table = found.associations
    within = table[table["level"] == "within_clients"]
    assert set(within["target"]) == {"session", "next"}
    assert within["p"].isna().all()
    assert table.loc[table["target"] == "change", "p"].isna().all()
    assert table.loc[table["level"] == "between_clients", "p"].notna().any()
    told = "a trend over sessions would pass for an association"
    assert told in found.words
    # A number beside each session's id in the table of scores orders them
    scores = pd.read_csv(study / "phq9.csv")
    scores["session_number"] = scores["session_id"].str.partition("_")[2].astype(int)
    known = ta.outcomes(sessions, scores, options=options)
    assert told not in known.words
    assert known.associations.loc[known.associations["level"] == "within_clients", "p"].notna().any()


def test_raw_synchrony_is_not_related_to_scores(study: Path) -> None:
    options = ta.OutcomeOptions(measures=("lsm_turn_mean_z", "semantic_similarity"))
    asked = ta.outcomes(study / "results", study / "phq9.csv", options=options).associations
    assert set(asked["measure"]) == {"lsm_turn_mean_excess", "semantic_similarity_excess"}
    table = pd.read_csv(study / "out" / "associations.csv")
    assert not table["measure"].isin(["lsm_turn_mean", "semantic_similarity"]).any()
