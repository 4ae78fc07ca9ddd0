"""What notebooks get: codes as categories, codes in long form, sessions and analyses as HTML."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from talks import TALK, session

import therapy_analytics as ta
from therapy_analytics.core.session import Turn
from therapy_analytics.results.codebook_table import FIRST
from therapy_analytics.results.frames import BEHAVIOUR_COLUMNS, behaviours_table, sessions_html, with_categories

NASTY = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def analysis(samples: Path) -> ta.Analysis:
    sessions = [one for name in ("aria_ben.json", "lindqvist_omar.txt") for one in ta.read(samples / name)]
    return ta.analyze(sessions, tagger="fast")


def _codes(*rows: tuple[float, float, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three turns with their codes, and the probabilities that a coder gave two codes there."""
    likely = pd.DataFrame(rows, columns=["our_joining", "our_hope", "unsure_codes"])
    likely.insert(0, "session_id", "s")
    likely.insert(1, "turn", range(len(likely)))
    turns = likely[["session_id", "turn"]].assign(role=["therapist", "client", "therapist"][: len(likely)])
    for code in ("our_joining", "our_hope"):
        turns[code] = (likely[code] > 0.5).astype("Int8").mask(likely[code].isna())
    return turns, likely


BOOK = pd.DataFrame(
    [
        ("our_hope", "turns", "Hope: the client expects something good"),
        ("our_hope", "probabilities", "Probability of our_hope"),
        ("our_joining", "probabilities", "Probability of our_joining"),
        ("our_joining", "turns", "Joining in: the therapist sides with the client"),
        ("our_joining", "measured", "not this one"),
        ("gone", "turns", "A code that the table does not have"),
    ],
    columns=["column", "table", "meaning"],
)


def test_the_long_form_can_be_counted_by_hand() -> None:
    # turn            0 therapist   1 client   2 therapist, no answer
    # joining             .9 (yes)      -             -
    # hope                 -          .4 (no, unsure)  -
    turns = _codes((0.9, np.nan, ""), (np.nan, 0.4, "our_hope;our_else"), (np.nan, np.nan, ""))
    table = behaviours_table(*turns, BOOK)
    assert list(table) == [column.name for column in BEHAVIOUR_COLUMNS]
    assert table.to_numpy().tolist() == [
        ["s", 0, "therapist", "our_joining", "Joining in", 0.9, True, False],
        ["s", 1, "client", "our_hope", "Hope", 0.4, False, True],
    ]
    assert list(table["code"].cat.categories) == ["our_hope", "our_joining"]  # the codebook's order
    assert list(table["role"].cat.categories) == ["therapist", "client", "other"]
    assert table["coded"].dtype == table["unsure"].dtype == bool


def test_codes_called_alike_keep_apart() -> None:
    alike = BOOK.assign(meaning=BOOK["meaning"].str.replace("Joining in", "Hope"))
    labels = behaviours_table(*_codes((0.9, np.nan, ""), (np.nan, 0.4, "")), alike)["label"]
    assert labels.tolist() == ["Hope (our_joining)", "Hope (our_hope)"]


def test_the_long_form_says_what_the_other_tables_say(analysis: ta.Analysis) -> None:
    long = analysis.behaviours
    turns = analysis.wide_turns.set_index(["session_id", "turn"])
    by_code = long.groupby("code", observed=True)
    assert by_code.size().sum() == len(long) > 1000
    for code, own in by_code:
        one = turns[str(code)].dropna()
        assert own["coded"].astype(int).tolist() == one.tolist()
        unsure = [code in names.split(";") for names in turns["unsure_codes"]]
        assert own["unsure"].sum() == sum(unsure)
    rates = long.groupby(["session_id", "code"], observed=True)["coded"].mean()
    profile = analysis.profile.query("part == 'whole' and n_turns > 0").set_index(["session_id", "code"])["rate"]
    assert len(profile) > 50
    found = dict(rates.items())
    assert all(found[key] == pytest.approx(rate) for key, rate in profile.items())


def test_codes_parts_and_roles_are_categories(analysis: ta.Analysis) -> None:
    named = {"turns": ["role"], "profile": ["code", "part"], "responses": ["client_code", "therapist_code"]}
    named["behaviours"] = ["role", "code", "label"]
    for table, columns in named.items():
        for column in columns:
            assert isinstance(getattr(analysis, table)[column].dtype, pd.CategoricalDtype), (table, column)
    part = analysis.profile["part"]
    assert part.cat.ordered
    assert list(part.cat.categories) == ["whole", "third_1", "third_2", "third_3", "window"]
    assert list(analysis.profile["code"].cat.categories) == list(analysis.profile["code"].unique())
    assert analysis.responses["therapist_code"].cat.categories[-1] == "epitome_exploration"


def test_a_value_that_this_version_does_not_know_is_kept() -> None:
    made = with_categories(pd.DataFrame({"role": ["observer", "client", None]}))["role"]
    assert made.tolist()[:2] == ["observer", "client"]
    assert made.isna().tolist() == [False, False, True]


def test_nothing_analysed_is_nothing_everywhere() -> None:
    empty = ta.analyze([])
    assert list(empty.behaviours) == [column.name for column in BEHAVIOUR_COLUMNS]
    assert len(empty.behaviours) == len(empty.profile) == 0
    assert empty.profile["part"].cat.ordered
    assert "0 sessions, 0 turns" in empty._repr_html_()


def test_a_session_in_a_notebook_shows_no_words_and_no_markup() -> None:
    turns = [replace(turn, speaker=NASTY if turn.role == "client" else "T") for turn in TALK.turns]
    timed = tuple(replace(turn, start_s=10.0 * turn.index, end_s=10.0 * turn.index + 9) for turn in turns)
    about = {"problem": f"sleep {NASTY}", NASTY: "x"}
    shown = replace(TALK, id=f"a{NASTY}", turns=timed, metadata=about, notes=("No <b>times</b>.",))._repr_html_()
    assert "<script" not in shown
    assert "<b>" not in shown
    cells = dict(re.findall(r'<th scope="row"[^>]*>(.*?)</th><td[^>]*>(.*?)</td>', shown))
    assert cells["turns"] == "6"
    assert cells["therapist"] == "T: 3 turns, 24 words"
    assert cells["client"].endswith(": 3 turns, 22 words")
    assert cells["duration"] == "0 min 59 s"
    assert cells["roles found by"] == "labels"
    assert cells["note"] == "No &lt;b&gt;times&lt;/b&gt;."
    for turn in TALK.turns:
        assert not any(word in shown for word in re.findall(r"[a-z]{5,}", turn.text) if word != "sleep")
    assert repr(TALK).startswith("Session(id='s'")


def test_a_session_without_times_or_turns_says_so() -> None:
    shown = session(name="nobody")._repr_html_()
    assert "unknown: no times" in shown
    assert shown.count("does not speak") == 2
    assert "other" not in shown


def test_an_analysis_in_a_notebook(analysis: ta.Analysis) -> None:
    shown = analysis._repr_html_()
    assert f"2 sessions, {len(analysis.turns)} turns, 26 codes" in shown
    assert all(f">{name}<" in shown for name in ("session_id", "therapist_reflection_rate"))
    row = analysis.sessions.iloc[0]
    value, low, high = (row[f"therapist_question_rate{end}"] for end in ("", "_lo", "_hi"))
    assert f">{value:.0%} ({low:.0%} to {high:.0%})<" in shown
    assert "more;" not in shown


def test_names_of_sessions_are_no_markup(analysis: ta.Analysis) -> None:
    many = pd.concat([analysis.sessions.assign(counselor=NASTY)] * 10, ignore_index=True)
    shown = sessions_html(many, NASTY)
    assert "<script" not in shown
    assert "and 10 more; rates with their 95% intervals" in shown


def test_what_is_asked_first_is_measured(analysis: ta.Analysis) -> None:
    known = analysis.codebook.query("table == 'sessions'")
    first = set(known.loc[known["page"].str.endswith(FIRST), "column"])
    assert {"therapist_talk_share", "therapist_question_rate", "therapist_reflection_rate"} <= first
    assert all(f'<th scope="col" style="text-align:left">{name}<' in analysis._repr_html_() for name in first)


def test_a_turn_is_no_more_than_it_was() -> None:
    assert "text" not in repr(Turn(index=0, speaker="T", role="therapist", text="secret", first_row=1))
