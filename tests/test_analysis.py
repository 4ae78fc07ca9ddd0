"""An analysis as a whole: some of its sessions, and what takes it in place of a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError


@pytest.fixture(scope="module")
def analysis(samples: Path) -> ta.Analysis:
    names = ("nair_yuki.txt", "boyle_lucia.txt", "lindqvist_omar.txt")
    sessions = [session for name in names for session in ta.read(samples / name)]
    return ta.analyze(sessions, tagger=ta.TaggerOptions(kind="fast"))


def test_some_of_the_sessions_in_every_table(analysis: ta.Analysis) -> None:
    some = analysis.where("session_id != 'nair_yuki' and n_turns < 58")
    for name in (
        "sessions",
        "measures",
        "turns",
        "probabilities",
        "turn_measures",
        "parts",
        "responses",
        "profile",
    ):
        whole, part = getattr(analysis, name), getattr(some, name)
        assert set(part["session_id"]) == {"lindqvist_omar"}
        assert len(part) == (whole["session_id"] == "lindqvist_omar").sum()
        assert part.dtypes.equals(whole.dtypes)
    assert some.tagger["kind"] == "fast"
    assert len(analysis.where("n_turns > 1000").turns) == 0


@pytest.mark.parametrize("condition", ["no such thing", "no_column > 3", "n_turns >", "", "n_turns"])
def test_what_is_no_condition_is_refused(analysis: ta.Analysis, condition: str) -> None:
    with pytest.raises(BadOptionError, match="cannot be read"):
        analysis.where(condition)


def test_it_says_who_coded_when_groups_are_compared(analysis: ta.Analysis) -> None:
    found = ta.compare(analysis, by="session_id", measures="therapist_question_rate")
    assert found.recipe["taggers"][0]["kind"] == "fast"
    assert "Coded by: fast" in found.words


def test_codes_of_people_are_set_against_it(analysis: ta.Analysis) -> None:
    turns = analysis.turns.query("role == 'therapist'")
    gold = turns[["session_id", "turn"]].assign(code="mi_question", value=turns["mi_question"], coder="me")
    found = ta.agreement(analysis, gold)
    assert found.codes.set_index("code").loc["mi_question", "agreement"] == 1


def test_figures_know_whose_codes_they_show(analysis: ta.Analysis) -> None:
    assert analysis.where("n_turns > 50").profile.attrs["tagger"] == "fast"


def test_a_measure_whose_codes_were_not_given_has_no_row(analysis: ta.Analysis) -> None:
    numbers = analysis.measures.drop(columns=["session_id", "measure", "direction"])
    without = set(analysis.measures.loc[numbers.isna().all(axis=1), "measure"])
    assert without <= set(analysis.sessions)  # measures of the core, which every session has
    assert "advice_after_feeling_difference" not in set(analysis.measures["measure"])
    assert "therapist_question_rate" in set(analysis.measures["measure"])


def test_comparing_by_a_measure_without_a_number_says_so(analysis: ta.Analysis) -> None:
    with pytest.raises(BadOptionError, match="has no number in any of these sessions"):
        ta.compare(analysis, by="session_id", measures="n_danger_answered_turns")


def test_a_column_about_sessions_is_no_measure(analysis: ta.Analysis) -> None:
    with pytest.raises(BadOptionError, match="no measure of these results is named 'counselor'"):
        ta.compare(analysis, by="session_id", measures="counselor")


TALK = [("Therapist", "How are you?"), ("Client", "I am tired of it."), ("Therapist", "You are tired.")]


def test_dialogues_in_memory_and_the_name_of_a_tagger_will_do() -> None:
    pairs = ta.analyze(TALK, tagger="fast")
    frame = ta.analyze(pd.DataFrame(TALK, columns=["speaker", "text"]), tagger="fast")
    assert len(pairs.turns) == 3
    assert pairs.tagger["kind"] == "fast"
    pd.testing.assert_frame_equal(pairs.turns, frame.turns)


def test_what_is_not_understood_is_said_with_what_would_be(analysis: ta.Analysis, samples: Path) -> None:
    calls: list[tuple[str, Callable[[], object]]] = [
        ("NoneType is no path. Give the name of a file", lambda: ta.read(None)),
        ("list is no path.*read_files takes several", lambda: ta.read([samples])),
        ("str is no form of dialogue.*files are for read", lambda: ta.analyze(str(samples))),
        ("there is no tagger named 'fats'. Known: accurate, fast", lambda: ta.analyze(TALK, tagger="fats")),
        ("DataFrame is no folder", lambda: ta.wide(analysis.sessions)),
        ("NoneType is no folder", lambda: ta.load(None)),
        ("'session' does not draw an object of type str. Give it a table", lambda: ta.plots.session("results")),
        ("'comparison' does not draw .*Analysis. Give it a table", lambda: ta.plots.comparison(analysis)),
        *(
            (f"^{name}: it is of type dict. Give {kind}", lambda call=call: call({}))
            for name, kind, call in (
                ("options", "ReadOptions", lambda given: ta.read(samples, options=given)),
                ("options", "CompareOptions", lambda given: ta.compare(analysis, options=given)),
                ("options", "GoldOptions", lambda given: ta.agreement(analysis, pd.DataFrame(), options=given)),
                ("options", "OutcomeOptions", lambda given: ta.outcomes(analysis, pd.DataFrame(), options=given)),
                ("tagger", "TaggerOptions", lambda given: ta.analyze(TALK, tagger=given)),
                ("writing", "Writing", lambda given: ta.run(samples, "r", writing=given)),
            )
        ),
        ("the table has no rows", lambda: ta.agreement(analysis, pd.DataFrame({"session_id": [], "turn": []}))),
    ]
    for message, call in calls:
        with pytest.raises(BadOptionError, match=message):
            call()


def test_a_misspelt_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'analyze'"):
        _ = ta.analyse
    with pytest.raises(AttributeError, match="Did you mean 'thirds'"):
        _ = ta.plots.third


def test_a_comparison_is_drawn_as_it_is(analysis: ta.Analysis) -> None:
    found = ta.compare(analysis, by="counselor")
    assert ta.plots.comparison(found).get_figure() is not None
