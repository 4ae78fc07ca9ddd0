"""Ruptures: sessions that a reader can count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.undefined import without_totals
from therapy_analytics.codes import builtin_codebooks
from therapy_analytics.core.session import ROLES
from therapy_analytics.measures.alliance.ruptures import TAKES_UP, ruptures
from therapy_analytics.measures.turns import any_in, coded, next_turns
from therapy_analytics.text import AnnotatedSession

BOOK = next(book for book in builtin_codebooks() if book.id == "process")
SAID = "TCTCTCTCTCTC"
"""The therapist's turns have even places, the client's odd ones, up to 11."""
WITHDRAWS, CONFRONTS = "process_rupture_withdrawal", "process_rupture_confrontation"


def with_process(session: AnnotatedSession, codes: Mapping[str, Sequence[int]]) -> AnnotatedSession:
    """Return a session with all codes of the book process; those named at their turns, by place."""
    probabilities, decisions = dict(session.probabilities), dict(session.decisions)
    for code in BOOK.codes:
        own = session.turns.roles == ROLES.index(code.role)
        given = np.isin(np.arange(len(session)), codes.get(code.column, ())) & own
        decisions[code.column] = given
        probabilities[code.column] = np.where(own, np.where(given, 0.9, 0.1), np.nan)
    return replace(session, probabilities=probabilities, decisions=decisions)


@pytest.fixture
def talk(make):  # type: ignore[no-untyped-def]
    def build(codes: Mapping[str, Sequence[int]], who: Sequence[str] = SAID, words: str = "and so it went on"):  # type: ignore[no-untyped-def]
        return with_process(make([(one, words) for one in who]), codes)

    return build


def test_the_next_turns_of_a_kind() -> None:
    events = np.array([1, 0, 0, 1, 0], dtype=bool)
    among = np.array([1, 1, 0, 1, 1], dtype=bool)
    after = next_turns(events, among)
    assert after.tolist() == [[1, 3, 4], [4, -1, -1]]
    assert any_in(after, np.array([1, 0, 0, 1, 0], dtype=bool)).tolist() == [True, False]
    # A place of -1 is no turn, even where the last turn is a hit
    assert any_in(next_turns(events, among & False), np.ones(5, dtype=bool)).tolist() == [False, False]


def test_how_often(talk) -> None:  # type: ignore[no-untyped-def]
    values = ruptures(talk({WITHDRAWS: [1, 5], CONFRONTS: [5, 7, 2]}))
    assert values["client_rupture_rate"] == pytest.approx(3 / 6)  # turn 2 is the therapist's
    assert values["n_client_rupture"] == 3
    assert values["out_of_client_rupture"] == 6
    np.testing.assert_equal(values["rupture_withdrawal_turn"][:6], [np.nan, 1, np.nan, 0, np.nan, 1])  # type: ignore[index]


@pytest.mark.parametrize("move", TAKES_UP)
@pytest.mark.parametrize(("place", "taken_up"), [(0, 0), (2, 1), (4, 1), (6, 1), (8, 0)])
def test_taken_up_within_three_turns_of_the_therapist(talk, move: str, place: int, taken_up: int) -> None:  # type: ignore[no-untyped-def]
    values = ruptures(talk({CONFRONTS: [1], move: [place]}))
    assert values["rupture_taken_up_rate"] == taken_up
    assert values["n_rupture_taken_up"] == taken_up
    assert values["out_of_rupture_taken_up"] == 1


@pytest.mark.parametrize(("again", "ended"), [(3, 0), (5, 0), (7, 0), (9, 1)])
def test_ended_if_the_next_three_client_turns_hold_none(talk, again: int, ended: int) -> None:  # type: ignore[no-untyped-def]
    values = ruptures(talk({WITHDRAWS: [1], CONFRONTS: [again]}))
    # The second one is observed as well if three turns come after it: turns 5 to 9 after 3, 7 to 11 after 5
    observed = 2 if again <= 5 else 1
    assert values["out_of_rupture_ended"] == observed
    assert values["n_rupture_ended"] == ended + (observed - 1)


def test_passed_by_is_neither_taken_up_nor_ended(talk) -> None:  # type: ignore[no-untyped-def]
    # 1: goes on at 3, nothing said by turn 6. 3: goes on at 5, repaired at 8. 5: ends. 9, 11: too near to the end
    values = ruptures(talk({WITHDRAWS: [1, 3, 5], "process_repair": [8]}))
    assert values["rupture_passed_by_rate"] == pytest.approx(1 / 3)
    assert values["rupture_taken_up_rate"] == pytest.approx(2 / 3)
    assert values["rupture_ended_rate"] == pytest.approx(1 / 3)
    passed_by = np.asarray(values["rupture_passed_by_turn"])
    assert np.flatnonzero(passed_by == 1).tolist() == [1]
    assert np.flatnonzero(~np.isnan(passed_by)).tolist() == [1, 3, 5]


def test_the_last_turn_is_followed_by_nothing(talk) -> None:  # type: ignore[no-untyped-def]
    values = ruptures(talk({CONFRONTS: [11]}))
    assert values["client_rupture_rate"] == pytest.approx(1 / 6)
    for name in ("taken_up", "ended", "passed_by"):
        assert math.isnan(values[f"rupture_{name}_rate"])  # type: ignore[arg-type]
        assert values[f"out_of_rupture_{name}"] == 0


def test_turns_that_only_say_mm_hmm_are_passed_over(make) -> None:  # type: ignore[no-untyped-def]
    words = [("T", "What now?"), ("C", "This is a waste of time."), *[("T", "Mm-hmm."), ("C", "Yeah.")] * 4]
    said = [
        *words,
        *zip("TCTC", ["You are fed up with me.", "I am tired of it.", "So?", "It cannot go on."], strict=True),
    ]
    values = ruptures(with_process(make(said), {CONFRONTS: [1], "process_repair": [10]}))
    assert values["rupture_taken_up_rate"] == 1
    assert values["out_of_rupture_ended"] == 0  # two client turns of any content after it
    # A rupture of one word is one
    values = ruptures(with_process(make(said), {CONFRONTS: [1], WITHDRAWS: [3]}))
    assert values["client_rupture_rate"] == pytest.approx(2 / 7)
    assert values["out_of_rupture_ended"] == 1
    assert values["rupture_ended_rate"] == 0


def test_undefined_without_the_codes_or_the_turns(make, talk) -> None:  # type: ignore[no-untyped-def]
    for session in (make([("T", "Hello"), ("C", "You do not listen.")]), talk({}, ()), talk({}, ("T", "T"))):
        for name, value in without_totals(ruptures(session)).items():
            assert np.isnan(np.asarray(value, dtype=float)).all(), name


def test_turns_that_the_coder_could_not_code_are_left_out(talk) -> None:  # type: ignore[no-untyped-def]
    session = talk({CONFRONTS: [1], "process_repair": [4]})
    unknown = {name: values.copy() for name, values in session.probabilities.items()}
    for name in (CONFRONTS, "process_repair"):
        unknown[name][[2, 3]] = np.nan
    values = ruptures(replace(session, probabilities=unknown))
    assert values["out_of_client_rupture"] == 5
    assert values["rupture_taken_up_rate"] == 1
    assert coded(replace(session, probabilities=unknown), CONFRONTS).sum() == 5
