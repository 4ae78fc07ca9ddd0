"""Rows of synchrony, from dialogues in memory to the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.core.errors import UnknownNameError
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.measures.null.summary import DRAWS
from therapy_analytics.measures.rows import PART_COLUMNS
from therapy_analytics.measures.synchrony.adjacent_turns import ADJACENT, DIRECTIONS
from therapy_analytics.measures.synchrony.coordination import COORDINATION
from therapy_analytics.measures.synchrony.style_matching import LSM, RLSM, WHOLE_LSM, lsm
from therapy_analytics.measures.synchrony.tables import kinds
from therapy_analytics.measures.synchrony.whole_session import SESSION_MEASURES
from therapy_analytics.text import EXTRAS

FUNCTION_WORDS = "the a I you it of in to and but not no very so just many some all have is was will"
WORDS = (FUNCTION_WORDS + " dog garden work sleep tired walk talk money sister night bread river").split(" ")
NAMES = ["lsm", "lsm_turn_mean", "rlsm", "coordination"]
SHUFFLED = ["null_mean", "null_sd", "z", "p"]
SURROGATE = ["surrogate_mean", "surrogate_sd", "excess", "surrogate_z", "surrogate_p"]
SLOPES = [f"{name}_slope" for name in NAMES[1:]]
N_PARTS = 1 + 1 + 3
"""The whole, the slope, and the thirds."""


def dialogue(seed: int, n: int = 41, **about: Any) -> Session:
    """A session of words at random; turn 6 is of somebody else, turn 9 has no words."""
    generator = np.random.default_rng(seed)
    turns = []
    for i in range(n):
        words = generator.choice(WORDS, generator.integers(1, 9)).tolist()
        role = "other" if i == 6 else ("therapist", "client")[i % 2]
        turns.append(
            Turn(index=i, speaker=role, role=role, text="..." if i == 9 else " ".join(words), first_row=i + 1)  # type: ignore[arg-type]
        )
    return Session(id=f"session_{seed}", source_file="s.txt", turns=tuple(turns), **about)


DIALOGUES = [dialogue(seed) for seed in range(12)]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return ta.synchrony(DIALOGUES, measures=NAMES)


def rows_with(table: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """Rows that have these values."""
    for name, value in wanted.items():
        table = table[table[name] == value]
    return table


def same(a: pd.DataFrame, b: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(a.reset_index(drop=True), b.reset_index(drop=True))


# ---- measures


def test_all_measures_by_name() -> None:
    known = {one.name for registry in (SESSION_MEASURES, ADJACENT) for one in registry}
    assert set(NAMES) < known
    assert {one.name for one in kinds(extras=EXTRAS)} == known
    assert not any(one.extra for one in kinds(extras=["all"]))
    assert {one.name for one in kinds()} == {one.name for one in kinds(extras=["all"]) if one.core}
    assert kinds(["rlsm", LSM, "lsm"]) == [RLSM, LSM, WHOLE_LSM]


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(UnknownNameError) as raised:
        ta.synchrony(DIALOGUES[0], measures=["rlsm", "rslm"])
    assert "rslm" in str(raised.value)
    assert "rlsm" in str(raised.value)


@pytest.mark.parametrize("extra", [one for one in EXTRAS if one != "all"])
def test_a_measure_of_an_extra_is_computed_where_it_is_named(extra: str) -> None:
    name = next(one.name for one in kinds(extras=EXTRAS) if one.extra == extra)
    found = ta.synchrony(DIALOGUES[0], measures=[name, "rlsm"])
    assert found.value[found.measure != "rlsm"].notna().any()
    assert found.measure.iloc[-1] == "rlsm"


def test_measures_with_options() -> None:
    left_out, delayed = lsm(absent="left_out"), replace(LSM, delay=2, name="lsm_later")
    found = ta.synchrony(DIALOGUES[:1], measures=["lsm_turn_mean", replace(left_out, name="lsm_used"), delayed])
    whole = rows_with(found, part="whole", direction="both").set_index("measure")
    whole = whole[whole.out_of.notna()]  # without their slopes
    assert list(whole.index) == ["lsm_turn_mean", "lsm_used", "lsm_later"]
    # What neither uses lifts the value by the published formula.
    assert whole.value["lsm_used"] < whole.value["lsm_turn_mean"]
    assert whole.value["lsm_later"] != whole.value["lsm_turn_mean"]
    # 41 turns; turn 6 breaks pairs 5-6, 6-7, turn 9 pairs 8-9, 9-10: 36 of 40. Three turns back: 3-5, 10-40.
    assert whole.out_of[["lsm_turn_mean", "lsm_later"]].tolist() == [36, 3 + 28]
    assert whole.out_of["lsm_used"] <= 36


def test_no_measures_and_no_dialogues() -> None:
    names = [column.name for column in PART_COLUMNS]
    for empty in (ta.synchrony([], measures=NAMES), ta.synchrony(DIALOGUES, measures=[])):
        assert list(empty) == names
        assert len(empty) == 0
    nothing = ta.synchrony(replace(DIALOGUES[0], turns=()), measures=NAMES)
    assert len(nothing) == 1 + 3 * 4 * N_PARTS
    assert nothing[["value", "p", "surrogate_p"]].isna().all(axis=None)
    assert (nothing.out_of.dropna() == 0).all()


# ---- the table


def test_rows_and_columns(table: pd.DataFrame) -> None:
    assert list(table) == [column.name for column in PART_COLUMNS]
    # 41 turns: three thirds, windows from 0, 5, ..., 20; the slope is a measure of its own, of the whole.
    parts = ["third_1", "third_2", "third_3", *["window"] * 5]
    assert len(table) == 12 * (1 + 3 * 4 * (1 + 1 + len(parts)))
    assert table.session_id.unique().tolist() == [one.id for one in DIALOGUES]
    own = rows_with(table, session_id="session_0", measure="rlsm")
    assert rows_with(own, part="whole").direction.tolist() == list(DIRECTIONS)
    for way in DIRECTIONS:
        assert sorted(rows_with(own, direction=way).part) == sorted(["whole", *parts])
        assert own[(own.direction == way) & (own.part != "whole")].part.tolist() == parts
    assert rows_with(own, part="window", direction="both")[["first_turn", "last_turn"]].to_numpy().tolist() == [
        [first, first + 19] for first in (0, 5, 10, 15, 20)
    ]
    slope = rows_with(table, session_id="session_0", measure="rlsm_slope")
    assert slope.direction.tolist() == list(DIRECTIONS)
    assert (slope.part == "whole").all()
    assert slope[["first_turn", "last_turn"]].drop_duplicates().to_numpy().tolist() == [[0, 40]]
    assert slope.out_of.isna().all()
    whole = rows_with(table, session_id="session_0", measure="lsm")
    assert (len(whole), whole.out_of.isna().all(), whole.part.item()) == (1, True, "whole")
    assert table.dtypes[["first_turn", "last_turn"]].eq(np.int64).all()
    assert table[["n", "lo", "hi"]].isna().all(axis=None)


def test_a_value_stands_beside_its_null_distributions(table: pd.DataFrame) -> None:
    """Every value of these dialogues has surrogate pairs; shuffles are made of replies alone, not of whole sessions."""
    adjacent = table[table.value.notna() & (table.measure != "lsm")]
    whole = adjacent[adjacent.part == "whole"]
    assert whole[SHUFFLED + SURROGATE].notna().all(axis=None)
    style = rows_with(table, measure="lsm")
    assert style[SHUFFLED].isna().all(axis=None)
    assert style[SURROGATE].notna().all(axis=None)


@pytest.mark.parametrize("kind", [LSM, RLSM, COORDINATION], ids=lambda one: one.name)
def test_thirds_and_windows_by_a_loop(table: pd.DataFrame, kind: Any, make: Any) -> None:
    letters: Mapping[str, str] = {"therapist": "T", "client": "C", "other": "O"}
    session = make([(letters[turn.role], turn.text) for turn in DIALOGUES[2].turns])
    own, roles = kind.represent(session), [turn.role for turn in DIALOGUES[2].turns]
    for row in rows_with(table, session_id="session_2", measure=kind.name).itertuples():
        if row.direction not in ("therapist", "client"):
            continue
        other = "client" if row.direction == "therapist" else "therapist"
        inside = range(max(row.first_turn, 1), row.last_turn + 1)
        replies = [i for i in inside if roles[i] == row.direction and roles[i - 1] == other and 9 not in (i, i - 1)]
        at = np.array(replies)
        scores = kind.score(own[at - 1], own[at])[:, None]
        each, (value,) = kind.each(scores) if kind.each else scores, kind.over(scores)
        assert row.value == pytest.approx(value, abs=1e-12)
        assert row.out_of == np.count_nonzero(~np.isnan(each))


def test_both_and_difference(table: pd.DataFrame) -> None:
    wide = table[~table.measure.isin(["lsm", *SLOPES])].pivot_table(
        index=["session_id", "measure", "part", "first_turn"], columns="direction", values="value"
    )
    np.testing.assert_allclose(wide["both"], (wide.therapist + wide.client) / 2, atol=1e-12)
    np.testing.assert_allclose(wide.difference, wide.therapist - wide.client, atol=1e-12)


def test_ranges(table: pd.DataFrame) -> None:
    for column in PART_COLUMNS:
        if column.unit != "text":
            assert table[column.name].dropna().between(column.low, column.high).all()
    values = table[table.direction != "difference"]
    for name, low in (("lsm", 0), ("lsm_turn_mean", 0), ("rlsm", 0), ("coordination", -1)):
        assert rows_with(values, measure=name).value.dropna().between(low, 1).all()
    # Each has surrogates of five therapists and five clients of the other sessions.
    for one, n in (("p", DRAWS + 1), ("surrogate_p", (5 + 1) ** 2)):
        rows = table[table[one].notna() & (table.measure != "lsm")]
        # A share of the draws with the session, or of the pairs of all therapists and clients; of those defined.
        times = rows[one] * n
        assert len(times) > 300
        assert (times.round(6) % 1 == 0).mean() > 0.9


def test_z_is_the_distance_in_standard_deviations(table: pd.DataFrame) -> None:
    rows = table[table.z.notna()]
    assert len(rows) > 100
    np.testing.assert_allclose(rows.z, (rows.value - rows.null_mean) / rows.null_sd)
    rows = table[table.surrogate_z.notna()]
    assert len(rows) > 100
    np.testing.assert_allclose(rows.surrogate_z, rows.excess / rows.surrogate_sd)
    np.testing.assert_array_equal(rows.excess, rows.value - rows.surrogate_mean)


# ---- what must not matter, and what must


def test_names_batch_mates_and_order_do_not_matter(table: pd.DataFrame) -> None:
    renamed = [replace(one, id=f"x{i}", source_file="y") for i, one in enumerate(DIALOGUES)]
    same(ta.synchrony(renamed, measures=NAMES).drop(columns="session_id"), table.drop(columns="session_id"))
    alone = ta.synchrony(DIALOGUES[3], measures=NAMES, donors=DIALOGUES)
    same(alone, rows_with(table, session_id="session_3"))
    backwards = ta.synchrony(DIALOGUES[::-1], measures=NAMES[::-1], donors=DIALOGUES[::-1])
    same(rows_with(backwards, session_id="session_3", measure="rlsm"), rows_with(alone, measure="rlsm"))


def test_the_seed_matters_to_shuffles_alone(table: pd.DataFrame) -> None:
    other = ta.synchrony(DIALOGUES, measures=NAMES, settings=ta.Settings(seed=1))
    same(other.drop(columns=SHUFFLED), table.drop(columns=SHUFFLED))
    adjacent = rows_with(table, part="whole", direction="both", measure="rlsm").index
    assert (other.null_mean[adjacent] != table.null_mean[adjacent]).all()


def test_swapped_roles_mirror_directions(table: pd.DataFrame) -> None:
    swap: Any = {"therapist": "client", "client": "therapist", "other": "other"}
    mirrored = ta.synchrony(
        [replace(one, turns=tuple(replace(turn, role=swap[turn.role]) for turn in one.turns)) for one in DIALOGUES],
        measures=NAMES,
    )
    mirrored.direction = mirrored.direction.replace({"therapist": "client", "client": "therapist"})
    mirrored.value *= np.where(mirrored.direction == "difference", -1, 1)
    key = ["session_id", "measure", "direction", "part", "first_turn"]
    kept = [*key, "last_turn", "out_of", "value"]
    pd.testing.assert_frame_equal(
        mirrored.sort_values(key)[kept].reset_index(drop=True),
        table.sort_values(key)[kept].reset_index(drop=True),
        check_exact=True,
    )


# ---- surrogate pairs


def test_donors_may_be_given(table: pd.DataFrame) -> None:
    others = [dialogue(seed) for seed in range(20, 30)]
    found = ta.synchrony(DIALOGUES, measures=NAMES, donors=others)
    same(found.drop(columns=SURROGATE), table.drop(columns=SURROGATE))
    beside = found.surrogate_mean.notna() & table.surrogate_mean.notna()
    assert (found.surrogate_mean[beside] != table.surrogate_mean[beside]).mean() > 0.9
    # A session that is among them is no donor to itself; with five it has four others, which are too few.
    mine = ta.synchrony(DIALOGUES[0], measures=["rlsm"], donors=[DIALOGUES[0], *others])
    same(mine, ta.synchrony(DIALOGUES[0], measures=["rlsm"], donors=others))
    few = ta.synchrony(DIALOGUES[0], measures=["rlsm"], donors=[DIALOGUES[0], *others[:4]])
    assert few[SURROGATE].isna().all(axis=None)
    assert few.p.notna().any()


def test_the_same_client_is_no_donor() -> None:
    """Asked first without names: what is kept of that must not be used again.

    Eleven others are enough for p; two of them are the client of the first three sessions, and nine are too few.
    """
    nameless = ta.synchrony(DIALOGUES, measures=["rlsm"])
    named = [replace(one, metadata={"client": "Ada" if i < 3 else f"c{i}"}) for i, one in enumerate(DIALOGUES)]
    found = ta.synchrony(named, measures=["rlsm"])
    known = [one.groupby("session_id", sort=False).surrogate_p.count() > 0 for one in (nameless, found)]
    assert known[0].tolist() == [True] * 12
    assert known[1].tolist() == [False] * 3 + [True] * 9


def test_donors_who_say_nothing_but_signs() -> None:
    spoken = [("therapist", "the dog"), ("client", "...")] * 8
    found = ta.synchrony([*DIALOGUES, spoken], measures=NAMES)
    whole = rows_with(found, session_id="session_0", part="whole")
    assert whole.surrogate_p.notna().eq(whole.value.notna()).all()
