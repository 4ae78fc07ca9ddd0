"""Stance: turns that a reader can count, and two contrasts on real sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from therapy_analytics import read_files
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process.relational_stance import relational_stance
from therapy_analytics.session import Session

Make = Callable[..., AnnotatedSession]


def test_a_session_that_a_reader_can_count(make: Make) -> None:
    """Of four statements one is hedged (1), one sure (3); of two states of mind one has a ground (5)."""
    values = relational_stance(
        make(
            [
                ("C", "My brother borrowed the money again last week."),
                ("T", "It sounds like you are in a difficult place."),
                ("C", "I have to pay rent on Friday."),
                ("T", "You are always late."),
                ("C", "I told him that the rent matters more."),
                ("T", "You want your brother to pay the rent."),
                ("C", "Yes, that is what I told him."),
                ("T", "You believe in miracles and astrology."),
            ]
        )
    )
    assert values["hedged_assertion_rate"] == pytest.approx(1 / 4)
    assert values["certain_assertion_rate"] == pytest.approx(1 / 4)
    assert values["therapist_perspective_taking_rate"] == pytest.approx(2 / 4)
    assert values["grounded_perspective_rate"] == pytest.approx(1 / 2)


def test_the_relationship_and_own_reactions(make: Make) -> None:
    """Immediacy in turn 1, a reaction of the therapist's own in turn 3, neither in turn 5."""
    values = relational_stance(
        make(
            [
                ("C", "I never told anybody."),
                ("T", "What is it like to tell me this?"),
                ("C", "Strange."),
                ("T", "I notice that I feel moved by what you say."),
                ("C", "Thank you."),
                ("T", "I am glad you came. How was the bus?"),
            ]
        )
    )
    assert np.asarray(values["immediacy_turn"])[1::2].tolist() == [1, 0, 0]
    assert np.asarray(values["owned_reaction_turn"])[1::2].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "said", ["Do you want to go?", "If you want to go, go.", "You should want it.", "He wants you."]
)
def test_what_ascribes_nothing(make: Make, said: str) -> None:
    """Asked, supposed, advised, and you as an object."""
    values = relational_stance(make([("C", "I went home early today."), ("T", said)]))
    assert values["therapist_perspective_taking_rate"] == 0


def test_without_turns_all_is_undefined(make: Make) -> None:
    """No therapist turn: no rate."""
    assert np.isnan(relational_stance(make([]))["hedged_assertion_rate"])
    assert np.isnan(relational_stance(make([("C", "Hello.")]))["therapist_immediacy_rate"])


def test_with_another_client_less_is_grounded(corpora: Path) -> None:
    """Over AnnoMI sessions with states of mind ascribed, the mean share falls to less than a half."""
    from benchmarks.feelings import recordings, swapped

    sessions = recordings([one for reading in read_files([corpora / "annomi"]) for one in reading.sessions])
    own, other = _rates(sessions), _rates(swapped(sessions))
    known = ~np.isnan(own) & ~np.isnan(other)
    assert known.sum() > 40
    assert np.mean(other[known]) < np.mean(own[known]) / 2


def _rates(sessions: list[Session]) -> np.ndarray:
    batch = annotate(sessions, Matcher(builtin_lexicons()))
    return np.array([float(relational_stance(one)["grounded_perspective_rate"]) for one in batch])


def test_reflections_are_more_tentative_than_advice_and_information(corpora: Path) -> None:
    """By human codes of thought units, in both corpora."""
    from benchmarks.feelings import hedges_table

    shares = [float(row[4].split()[0]) for row in hedges_table(corpora)[1:]]
    assert shares[0] > 2 * shares[1]
    assert shares[2] > shares[3]
