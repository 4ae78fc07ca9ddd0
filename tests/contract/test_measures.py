"""What every registered measure owes."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.codes import TaggerOptions
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.measures import MEASURES, Column, Measure
from therapy_analytics.measures.base import STATISTICS, all_columns, wide_name
from therapy_analytics.measures.settings import extras_of
from therapy_analytics.results.analysis import IN_ANALYSIS
from therapy_analytics.results.tables import SESSION_COLUMNS
from therapy_analytics.run import measure_sessions
from therapy_analytics.text import EXTRAS, builtin_lexicons
from therapy_analytics.text.donors import choose_donors

EVERY = pytest.mark.parametrize("one", list(MEASURES), ids=lambda one: one.name)
FAST = TaggerOptions(kind="fast")
COLUMNS = [column for _, column in all_columns(builtin_lexicons())]
"""What is measured by default."""
ALL = [column for _, column in all_columns(builtin_lexicons(), extras=["all"])]
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


@pytest.fixture(scope="module")
def some(sessions: list[Session]) -> list[Session]:
    """Return a third of the sessions, for what must hold of every single one."""
    return sessions[::3]


@pytest.fixture(scope="module")
def with_extras(some: list[Session]) -> ta.Analysis:
    return ta.analyze(some, measures=EXTRAS, tagger=FAST)


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
        texts = (column.meaning, column.unit, column.high_means, column.formula, column.misleads, column.source)
        assert all(text.strip() for text in texts), column.name
        assert column.low < column.high, column.name
        assert not column.name.startswith("wai_")
        assert "alliance_score" not in column.name


def test_a_count_and_an_interval_stand_beside_every_rate() -> None:
    names = {column.name for column in WITH_EXTRAS if column.level == "session"}
    rates = [column for column in WITH_EXTRAS if column.level == "session" and column.statistic == "value"]
    for name in (column.name for column in rates):
        if name.endswith(("_rate", "_per_100_words")):
            count = "n_" + name.removesuffix("_rate").removesuffix("_per_100_words")
            total = f"out_of_{count.removeprefix('n_')}"
            assert {f"{name}_lo", f"{name}_hi", count, total} <= names, name


def test_a_column_has_the_name_that_its_place_in_the_long_table_gives() -> None:
    columns = [column for column in WITH_EXTRAS if column.level == "session"]
    places = [(*column.row, column.statistic) for column in columns]
    assert [column.name for column in columns] == [wide_name(*place) for place in places]
    assert [place for place, n in Counter(places).items() if n > 1] == []


def test_every_measure_has_a_value_beside_its_statistics() -> None:
    columns = [column for column in WITH_EXTRAS if column.level == "session"]
    with_value = {column.row for column in columns if column.statistic == "value"}
    assert {column.row for column in columns} == with_value
    assert {column.statistic for column in columns} == set(STATISTICS)


@pytest.mark.parametrize("said", ODD.values(), ids=ODD.keys())
def test_odd_sessions_give_declared_columns_in_range_or_nan(said: list[tuple[str, str]]) -> None:
    analysis = ta.analyze([_session(said)], measures="all")
    _check_ranges(analysis, ALL)
    if not any(who == "C" for who, _ in said):
        wide = ta.wide(analysis)
        client = [name for name in wide if str(name).startswith("client_")]
        values = {column.name for column in ALL if column.core and column.statistic == "value"}
        assert {name for name in values if name.startswith("client_")} <= set(client)
        assert wide[client].isna().all(axis=None)


def test_values_are_in_their_range(with_extras: ta.Analysis) -> None:
    _check_ranges(with_extras, WITH_EXTRAS)


def test_every_measure_has_a_number_in_some_sample(sessions: list[Session]) -> None:
    found = ta.analyze(sessions, measures="all").measures
    rows = set(zip(found["measure"], found["direction"], strict=True))
    missing = {column.row[0] for column in ALL if column.level == "session" and column.row not in rows}
    after = {f"{answer}_after_claim_difference" for answer in ("challenge", "going_along")}
    after |= {f"risk_{answer}_after_risk_difference" for answer in ("asked", "help", "passed_over")}
    assert missing <= {*after, "pause_s_client", "pause_s_therapist"}  # too few claims, risks and times


def _check_ranges(analysis: ta.Analysis, columns: Sequence[Column]) -> None:
    tables = {"session": ta.wide(analysis), "turn": analysis.turn_measures}
    for column in columns:
        table = tables[column.level]
        if column.name not in table:  # no session has such a number
            assert not column.core or column.statistic != "value", column.name
            continue
        values = table[column.name].dropna()
        assert values.between(column.low, column.high).all(), column.name
        if f"{column.name}_lo" in table:
            low, high = table[f"{column.name}_lo"], table[f"{column.name}_hi"]
            inside = (low <= table[column.name] + 1e-12) & (table[column.name] <= high + 1e-12)
            assert (inside | table[column.name].isna()).all(), column.name


def test_the_wide_table_holds_what_the_measures_compute(some: list[Session], with_extras: ta.Analysis) -> None:
    settings = ta.Settings(extras=frozenset(EXTRAS), tagger=FAST)
    pool = choose_donors(some)
    wide = ta.wide(with_extras).set_index("session_id")
    turns = with_extras.turn_measures.groupby("session_id")
    for session in some[:3]:
        (measured,) = measure_sessions([session], settings, pool=pool)
        row, of_turns = wide.loc[session.id], turns.get_group(session.id)
        for one in MEASURES:
            values = one.compute(measured.session)
            for column in one.columns_for(()):
                given = values[column.name]
                if column.level == "turn":
                    np.testing.assert_array_equal(of_turns[column.name], given, err_msg=column.name)
                elif column.name in wide:
                    np.testing.assert_array_equal(row[column.name], given, err_msg=column.name)
                else:
                    assert np.isnan(given), column.name


def test_only_the_core_is_measured_unless_all_is_asked_for(sessions: list[Session]) -> None:
    core = {one.name for one in MEASURES if one.core}
    asked = {one.name for one in MEASURES if one.core or one.extra is None}
    assert len(core) < len(asked) < len(list(MEASURES))
    for measures, names in (("core", core), ("all", asked)):
        found = ta.analyze(sessions[:1], measures=measures, tagger=FAST)
        columns = [column for one in MEASURES if one.name in names for column in one.columns_for(())]
        expected = {column.row for column in columns if column.level == "session"}
        rows = set(zip(found.measures["measure"], found.measures["direction"], strict=True))
        of_codes = [measure for measure, _ in rows - expected if not measure.startswith(("mi_", "bolt_"))]
        assert [measure for measure in of_codes if not measure.endswith("_expected")] == []
        series = {column.name for column in columns if column.level == "turn"}
        assert set(found.turn_measures) == {"session_id", "turn", "n_sentences", *series}
        (measured,) = measure_sessions(sessions[:1], ta.Settings(extras=extras_of(measures), tagger=FAST))
        assert set(measured.values) == {column.name for column in columns}
        of_sessions = [column for column in columns if column.level == "session"]
        with_number = {one.row for one in of_sessions if one.core or not np.isnan(measured.values[one.name])}
        assert rows & expected == with_number


def test_sessions_have_few_columns_in_the_order_in_which_people_ask(with_extras: ta.Analysis) -> None:
    names = list(with_extras.sessions)
    assert len(names) <= 72
    fixed = [column.name for column in SESSION_COLUMNS]
    assert names[: len(fixed)] == fixed
    core = [column.name for column in WITH_EXTRAS if column.level == "session" and column.core]
    assert names[-len(core) :] == core  # between them stands what the files say of the sessions
    assert core[:3] == ["n_turns", "n_words_therapist", "n_words_client"]
    about = dict.fromkeys(column.name for column in MEASURES["talk"].columns_for(()) if column.core)
    assert core[: len(about)] == list(about)
    wide = ta.wide(with_extras).set_index("session_id").loc[with_extras.sessions["session_id"]].reset_index()
    for name in core:
        values = wide[name] if name in wide else pd.Series(np.nan, index=wide.index, name=name)
        pd.testing.assert_series_equal(with_extras.sessions[name], values)


def test_batches_and_order_change_nothing(some: list[Session]) -> None:
    together = ta.analyze(some, tagger=FAST, measures="all")
    alone = [ta.analyze([session], tagger=FAST, measures="all") for session in reversed(some)]
    by_id = ta.wide(together).set_index("session_id")
    for single in alone:
        row = ta.wide(single).set_index("session_id")
        numbers = [name for name in row.select_dtypes("number") if not _of_surrogates(str(name))]
        assert len(numbers) > 500
        pd.testing.assert_frame_equal(row[numbers], by_id.loc[row.index, numbers], rtol=1e-9)
        for name in ("turns", "probabilities", "turn_measures"):
            whole, own = getattr(together, name), getattr(single, name)
            rows = whole[whole["session_id"] == row.index[0]].reset_index(drop=True)
            pd.testing.assert_frame_equal(own, rows, rtol=1e-9)


def _of_surrogates(column: str) -> bool:
    return column.endswith(("_surrogate_mean", "_surrogate_sd", "_excess", "_surrogate_z", "_surrogate_p"))


def test_with_the_same_donors_batches_change_nothing(sessions: list[Session], some: list[Session]) -> None:
    pool, settings = choose_donors(sessions), ta.Settings(tagger=FAST, extras=frozenset({"all"}))
    together = measure_sessions(some, settings, pool=pool)
    seen = set()
    for one, session in zip(together, some, strict=True):
        (alone,) = measure_sessions([session], settings, pool=pool)
        assert alone.values.keys() == one.values.keys()
        for name, value in alone.values.items():
            np.testing.assert_array_equal(value, one.values[name], err_msg=name)
            seen |= {name} if _of_surrogates(name) and np.isfinite(value).all() else set()
        pd.testing.assert_frame_equal(pd.DataFrame(alone.parts), pd.DataFrame(one.parts))
    assert {"lsm_surrogate_mean", "rlsm_surrogate_p"} <= seen


def test_a_second_call_gives_the_same_and_leaves_its_input_alone(some: list[Session]) -> None:
    before = [(session.id, session.turns) for session in some]
    first, second = (ta.analyze(some, tagger=FAST, measures="all") for _ in range(2))
    for name in IN_ANALYSIS:
        pd.testing.assert_frame_equal(getattr(first, name), getattr(second, name))
    assert before == [(session.id, session.turns) for session in some]


def test_the_name_of_a_session_changes_no_number(sessions: list[Session]) -> None:
    first, renamed = (
        ta.analyze([one], measures="all").measures.drop(columns="session_id")
        for one in (sessions[0], replace(sessions[0], id="another", source_file="elsewhere.txt"))
    )
    pd.testing.assert_frame_equal(first, renamed)


def test_another_seed_moves_the_shuffles_and_nothing_else(sessions: list[Session]) -> None:
    one, other = (ta.wide(ta.analyze(sessions[:3], measures="all", seed=seed)) for seed in (0, 1))
    assert list(one) == list(other)
    moved = {name for name in one if not one[name].equals(other[name])}
    numbers = re.compile(r"\w+_(null_mean|null_sd|z|p|surrogate_mean)")
    assert {"lsm_turn_mean_null_mean", "lsm_turn_mean_null_sd", "rlsm_z", "rlsm_p"} <= moved
    assert [name for name in moved if not numbers.fullmatch(str(name))] == []


def test_the_list_of_columns_is_what_it_was(root: Path) -> None:
    """A column that appears, goes or is renamed is a change that users must be told of."""
    golden = (root / "tests" / "contract" / "columns.txt").read_text().split()
    assert [column.name for column in WITH_EXTRAS] == golden


def test_a_new_measure_is_one_new_decorated_function(sessions: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MEASURES, "_things", dict(MEASURES._things))
    column = replace(COLUMNS[0], name="my_own", meaning="A test", core=False)

    @ta.measure(columns=[column])
    def my_own(session: object) -> dict[str, float]:
        return {"my_own": 7.0}

    assert "my_own" not in ta.wide(ta.analyze(sessions[:1], tagger=FAST))
    analysis = ta.analyze(sessions[:2], tagger=FAST, measures="all")
    assert ta.wide(analysis)["my_own"].tolist() == [7.0, 7.0]
    assert "my_own" not in analysis.sessions

    ta.measure(columns=[replace(column, core=True)], core=30)(my_own)
    assert ta.analyze(sessions[:2], tagger=FAST).sessions["my_own"].tolist() == [7.0, 7.0]


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
    analysis = ta.analyze(sessions[:2], tagger=FAST, measures="all")
    core = analysis.sessions[[column.name for column in COLUMNS if column.level == "session" and column.core]]
    wide = [column.name for column in COLUMNS if column.level == "session" and column.statistic == "value"]
    measured = ta.wide(analysis)
    for numbers in (core, analysis.measures[list(STATISTICS)], measured[[name for name in wide if name in measured]]):
        assert set(map(str, numbers.dtypes)) == {"float64"}
        assert not np.isinf(numbers.to_numpy()).any()
