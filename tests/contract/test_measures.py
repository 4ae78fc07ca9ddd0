"""What every registered measure owes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.behaviours import TaggerOptions
from therapy_analytics.language import EXTRAS, builtin_lexicons
from therapy_analytics.language.company import choose_strangers
from therapy_analytics.measures import MEASURES, Column, Measure
from therapy_analytics.measures._base import all_columns
from therapy_analytics.run import measure_sessions
from therapy_analytics.session import Session, Turn

EVERY = pytest.mark.parametrize("one", list(MEASURES), ids=lambda one: one.name)
FAST = TaggerOptions(kind="fast")
COLUMNS = [column for _, column in all_columns(builtin_lexicons())]
WITH_EXTRAS = [column for _, column in all_columns(builtin_lexicons(), extras=EXTRAS)]


def _session(said: Sequence[tuple[str, str]], name: str = "small") -> Session:
    role = {"T": "therapist", "C": "client", "O": "other"}
    turns = tuple(
        Turn(index=i, speaker=who, role=role[who], text=text, first_row=i + 1)  # type: ignore[arg-type]
        for i, (who, text) in enumerate(said)
    )
    return Session(id=name, source_file="small.txt", turns=turns)


ODD = {
    "no turns": [],
    "one turn": [("T", "How are you?")],
    "one speaker": [("T", "How are you?"), ("O", "Silence."), ("T", "Are you there?")],
    "client alone": [("C", "I want to stop drinking.")],
    "nobody's words": [("T", "..."), ("C", "!!")],
    "others alone": [("O", "one"), ("O", "two")],
    "emoji": [("T", "\U0001f600"), ("C", "\U0001f62d\U0001f62d")],
    "a wall of words": [("T", "so " * 5000), ("C", "mm")],
}


@pytest.fixture(scope="module")
def sessions(samples: Path) -> list[Session]:
    return ta.read(samples)


@EVERY
def test_it_says_what_it_is(one: Measure) -> None:
    text = inspect.getdoc(one.compute) or ""
    assert re.fullmatch(r"[a-z][a-z0-9_]*", one.name)
    assert one.family in {"process", "synchrony", "alliance"}
    assert "References" in text, "say the source, or that it is this package's own"
    assert text.split("\n")[0].endswith(".")


@EVERY
def test_its_file_is_named_after_it(one: Measure) -> None:
    assert Path(inspect.getfile(one.compute)).stem == one.name


def test_every_column_says_what_it_is() -> None:
    for column in WITH_EXTRAS:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", column.name), column.name
        texts = (column.meaning, column.unit, column.direction, column.formula, column.misleads, column.source)
        assert all(text.strip() for text in texts), column.name
        assert column.low < column.high, column.name
        assert not column.name.startswith("wai_")
        assert "alliance_score" not in column.name


def test_a_count_and_an_interval_stand_beside_every_rate() -> None:
    names = {column.name for column in COLUMNS}
    for name in names:
        # The recurrence rate is called so in its field; its pairs of words are no independent trials.
        if name.endswith(("_rate", "_per_100_words")) and not name.startswith("recurrence_"):
            count = "n_" + name.removesuffix("_rate").removesuffix("_per_100_words")
            assert {f"{name}_lo", f"{name}_hi", count} <= names


@pytest.mark.parametrize("said", ODD.values(), ids=ODD.keys())
def test_odd_sessions_give_declared_columns_in_range_or_nan(said: list[tuple[str, str]]) -> None:
    analysis = ta.analyze([_session(said)])
    _check_ranges(analysis)
    if not any(who == "C" for who, _ in said):
        client = [name for name in analysis.sessions if str(name).startswith("client_") and str(name) != "client_id"]
        assert analysis.sessions[client].isna().all(axis=None)


def test_values_are_in_their_range(sessions: list[Session]) -> None:
    _check_ranges(ta.analyze(sessions, extras=EXTRAS, tagger=FAST), WITH_EXTRAS)


def _check_ranges(analysis: ta.Analysis, columns: Sequence[Column] = COLUMNS) -> None:
    for column in columns:
        table = analysis.sessions if column.level == "session" else analysis.turns
        values = table[column.name].dropna()
        assert values.between(column.low, column.high).all(), column.name
        if f"{column.name}_lo" in table:
            low, high = table[f"{column.name}_lo"], table[f"{column.name}_hi"]
            inside = (low <= table[column.name] + 1e-12) & (table[column.name] <= high + 1e-12)
            assert (inside | table[column.name].isna()).all(), column.name


def test_batches_and_order_change_nothing(sessions: list[Session]) -> None:
    together = ta.analyze(sessions, tagger=FAST)
    alone = [ta.analyze([session], tagger=FAST) for session in reversed(sessions)]
    by_id = together.sessions.set_index("session_id")
    for single in alone:
        row = single.sessions.set_index("session_id")
        numbers = [name for name in row.select_dtypes("number").columns if not _of_strangers(str(name))]
        pd.testing.assert_frame_equal(row[numbers], by_id.loc[row.index, numbers], rtol=1e-9)
        turns = together.turns[together.turns["session_id"] == row.index[0]].reset_index(drop=True)
        pd.testing.assert_frame_equal(single.turns, turns, rtol=1e-9)


def _of_strangers(column: str) -> bool:
    return column.removesuffix("_z").removesuffix("_p").endswith("_strangers")


def test_with_the_same_strangers_batches_change_nothing(sessions: list[Session]) -> None:
    strangers = choose_strangers(sessions)
    together = measure_sessions(sessions, ta.Settings(tagger=FAST), strangers=strangers)
    seen = set()
    for one, session in zip(together, sessions, strict=True):
        (alone,) = measure_sessions([session], ta.Settings(tagger=FAST), strangers=strangers)
        assert alone.values.keys() == one.values.keys()
        for name, value in alone.values.items():
            np.testing.assert_array_equal(value, one.values[name], err_msg=name)
            seen |= {name} if _of_strangers(name) and np.isfinite(value).all() else set()
    assert {"lsm_strangers", "rlsm_strangers_p"} <= seen


def test_a_second_call_gives_the_same_and_leaves_its_input_alone(sessions: list[Session]) -> None:
    before = [(session.id, session.turns) for session in sessions]
    first, second = ta.analyze(sessions, tagger=FAST), ta.analyze(sessions, tagger=FAST)
    pd.testing.assert_frame_equal(first.sessions, second.sessions)
    pd.testing.assert_frame_equal(first.turns, second.turns)
    assert before == [(session.id, session.turns) for session in sessions]


def test_the_name_of_a_session_changes_no_number(sessions: list[Session]) -> None:
    renamed = ta.analyze([replace(sessions[0], id="another", source_file="elsewhere.txt")])
    first = ta.analyze([sessions[0]])
    numbers = first.sessions.select_dtypes("number").columns
    pd.testing.assert_frame_equal(first.sessions[numbers], renamed.sessions[numbers])


def test_another_seed_moves_the_shuffles_and_nothing_else(sessions: list[Session]) -> None:
    one, other = ta.analyze(sessions[:3]).sessions, ta.analyze(sessions[:3], seed=1).sessions
    moved = {name for name in one if not one[name].equals(other[name])}
    figures = re.compile(r"\w+_(null|z|p|strangers)")
    assert {"lsm_turn_mean_null", "rlsm_z", "rlsm_p"} <= moved
    assert all(figures.fullmatch(str(name)) for name in moved)


def test_the_list_of_columns_is_what_it_was(root: Path) -> None:
    """A column that appears, goes or is renamed is a change that users must be told of."""
    golden = (root / "tests" / "contract" / "columns.txt").read_text().split()
    assert [column.name for column in WITH_EXTRAS] == golden


def test_a_new_measure_is_one_new_decorated_function(sessions: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MEASURES, "_things", dict(MEASURES._things))
    column = replace(COLUMNS[0], name="my_own", meaning="A test")

    @ta.measure(columns=[column])
    def my_own(session: object) -> dict[str, float]:
        return {"my_own": 7.0}

    assert ta.analyze(sessions[:2]).sessions["my_own"].tolist() == [7.0, 7.0]


def test_frames_have_exactly_the_declared_columns(sessions: list[Session]) -> None:
    (measured,) = measure_sessions(sessions[:1], ta.Settings(extras=frozenset(EXTRAS), tagger=FAST))
    by_level = {"session": 0, "turn": 1}
    for one in MEASURES:
        values = one.compute(measured.session)
        declared = {column.name: by_level[column.level] for column in one.columns_for(())}
        assert {name: np.ndim(value) for name, value in values.items()} == declared


def test_two_measures_of_one_column_are_an_error_that_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MEASURES, "_things", dict(MEASURES._things))

    @ta.measure(columns=[COLUMNS[0]])
    def a_twin(session: object) -> dict[str, float]:
        return {}

    with pytest.raises(ta.errors.DuplicateNameError, match="a_twin"):
        ta.analyze([])


def test_values_are_floats(sessions: list[Session]) -> None:
    numbers = ta.analyze(sessions[:2]).sessions[[column.name for column in COLUMNS if column.level == "session"]]
    assert set(map(str, numbers.dtypes)) == {"float64"}
    assert not np.isinf(numbers.to_numpy()).any()
