"""Feelings named and not expressed: turns that a reader can count, hand-made pairs, and the swap of clients."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from therapy_analytics import read_files
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process._feelings import mentions
from therapy_analytics.measures.process.unexpressed_feelings import unexpressed_feelings
from therapy_analytics.session import Session

Make = Callable[..., AnnotatedSession]
PAIRS = list(csv.DictReader((Path(__file__).parent / "feeling_pairs.csv").read_text(encoding="utf-8").splitlines()))
MARKS = {"development": 0.9, "held_out": 0.8, "fresh": 0.6}


def _label(make: Make, client: str, therapist: str) -> str:
    values = unexpressed_feelings(make([("C", client), ("T", therapist)]))
    for name in ("intensified", "unexpressed"):
        if np.asarray(values[f"{name}_feeling_turn"])[1] == 1:
            return name
    return "expressed" if np.asarray(values["named_feeling_turn"])[1] == 1 else "none"


def test_a_session_that_a_reader_can_count(make: Make) -> None:
    """Named in turns 1, 3 and 5; anger is not expressed; "terrified" steps "a bit nervous" up; 7 names nothing."""
    values = unexpressed_feelings(
        make(
            [
                ("C", "I am a bit nervous about the talk."),
                ("T", "You are terrified of it."),
                ("C", "It is on Monday at nine."),
                ("T", "You sound angry about that."),
                ("C", "I cried all weekend."),
                ("T", "You feel sad."),
                ("C", "Yes, I do."),
                ("T", "I am glad you came."),
            ]
        )
    )
    assert values["n_therapist_named_feeling"] == 3
    assert values["therapist_named_feeling_rate"] == pytest.approx(3 / 4)
    assert values["unexpressed_feeling_rate"] == pytest.approx(1 / 3)
    assert values["feeling_intensified_rate"] == 1
    turns = np.nan_to_num(np.asarray(values["unexpressed_feeling_turn"]), nan=-1)
    assert turns.tolist() == [
        -1,
        0,
        -1,
        1,
        -1,
        0,
        -1,
        -1,
    ]


def test_it_was_said_too_long_ago_for_the_one_and_not_for_the_other(make: Make) -> None:
    """Six client turns of four words lie between: outside the last five, inside the session so far."""
    idle = [("C", "The bus leaves at nine."), ("T", "Right.")] * 6
    values = unexpressed_feelings(make([("C", "I am so angry."), *idle, ("T", "You are angry.")]))
    assert values["unexpressed_feeling_rate"] == 1
    assert values["feeling_unexpressed_so_far_rate"] == 0


def test_without_a_feeling_rates_are_undefined(make: Make) -> None:
    """No feeling is named: a share of none is nan, the rate of naming 0; an empty session has neither."""
    values = unexpressed_feelings(make([("C", "Hello there."), ("T", "The bus is late.")]))
    assert np.isnan(values["unexpressed_feeling_rate"])
    assert values["therapist_named_feeling_rate"] == 0
    assert np.isnan(unexpressed_feelings(make([]))["therapist_named_feeling_rate"])


@pytest.mark.parametrize(
    "said",
    ["You are not angry.", "He was angry.", "If you felt angry you could leave.", "I am angry.", "Are you angry?"],
)
def test_what_names_no_feeling_of_the_client(make: Make, said: str) -> None:
    """Denied, another's, supposed, the therapist's own, asked."""
    assert _label(make, "I went home.", said) == "none"


@pytest.mark.parametrize("part", MARKS)
def test_pairs_written_by_hand(make: Make, part: str) -> None:
    """Most come out as expected; fewer of those written last, on purpose in other words."""
    some = [one for one in PAIRS if one["part"] == part]
    right = [_label(make, one["client"], one["therapist"]) == one["expected"] for one in some]
    assert np.mean(right) >= MARKS[part]


def test_with_another_client_more_is_unexpressed(corpora: Path) -> None:
    """Over AnnoMI sessions with five feelings, the mean rate rises by a quarter, and few single ones fall."""
    from benchmarks.feelings import recordings, swapped

    sessions = recordings([one for reading in read_files([corpora / "annomi"]) for one in reading.sessions])
    own, other = _rates(sessions), _rates(swapped(sessions))
    known = ~np.isnan(own) & ~np.isnan(other)
    assert known.sum() > 25
    assert np.mean(other[known] - own[known]) > 0.25
    assert np.mean(other[known] < own[known]) < 0.1


def _rates(sessions: list[Session]) -> np.ndarray:
    batch = annotate(sessions, Matcher(builtin_lexicons()))
    return np.array([float(unexpressed_feelings(one)["unexpressed_feeling_rate"]) for one in batch])


def test_words_of_a_family_are_read_in_order_of_degree(make: Make) -> None:
    """Annoyed 1, angry 2, furious 3; very adds and a bit takes half a step; "not happy" is weak sadness."""
    said = ("I am annoyed.", "I am very angry.", "I am a bit furious.", "I am not happy.")
    session = make([("C", text) for text in said])
    assert mentions(session).degree.tolist() == [1, 2.5, 2.5, 1]
