"""The framework of measures of whole dialogues, with a measure that counts words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import therapy_analytics as ta
from tests.surrogate_tables import two_way
from therapy_analytics.measures.arrays import arrays_with_donors
from therapy_analytics.measures.null.summary import DRAWS, FEWEST_PAIRS
from therapy_analytics.measures.null.surrogates import pool_of, spoken_turns
from therapy_analytics.measures.rows import row_column
from therapy_analytics.measures.settings import Settings
from therapy_analytics.measures.synchrony.style_matching import WHOLE_LSM, matching
from therapy_analytics.measures.synchrony.tables import session_columns, session_values
from therapy_analytics.measures.synchrony.whole_session import (
    SESSION_MEASURES,
    SessionMeasure,
    session_result,
    speakers_in,
    total,
)
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.donors import choose_donors


def words(session: Any) -> Any:
    return session.n_words.astype(float)


def product_and_difference(one: Any, other: Any) -> Any:
    return np.array([one * other, one - other])


COUNT = SessionMeasure(
    name="count",
    values=("count_product", "count_difference"),
    represent=words,
    speaker=total,
    score=product_and_difference,
    two_sided=("count_difference",),
)


def donors(of_counts: Any, donors_from: Any, words_of_each: Any) -> Any:
    return donors_from(of_counts(np.repeat(words_of_each, 10)), [10 * s for s in range(len(words_of_each) + 1)])


def test_values_by_hand(of_counts: Any) -> None:
    # The therapist says 1 + 3 + 5, the client 2 + 4; others, and turns without words, are neither's.
    session = of_counts([1, 2, 3, 4, 0, 9, 5], roles="TCTCCOT")
    found = session_result(COUNT, session)
    assert found.values.tolist() == [9 * 6, 9 - 6]
    assert [side.tolist() for side in spoken_turns(session)] == [[0, 2, 6], [1, 3]]
    assert np.isnan(found.shuffled.p).all()
    assert np.isnan(found.surrogate.p).all()


@pytest.mark.parametrize("roles", ["", "T", "CC", "OO"])
def test_without_one_of_the_two_it_is_undefined(of_counts: Any, roles: str) -> None:
    found = session_result(COUNT, of_counts([5] * len(roles), roles=roles))
    for values in (found.values, found.shuffled.mean, found.surrogate.z):
        assert np.isnan(values).all()
        assert values.shape == (2,)


def test_donors_take_the_place_of_one_of_the_two_and_of_both(of_counts: Any, donors_from: Any) -> None:
    """Own turns have 12 words, four each. Donors' have 1 to 10, so that a dialogue says who it is with.

    Donors of the therapist's turns have 1, 3, ..., 9, those of the client's 2, 4, ..., 10. The product of a dialogue
    is 16 times that of the words of its turns: 16 * 12 * 12 are found. Expected are, with 5 and 6 words in the mean,
    16 * (12 * 6 + 12 * 5 - 5 * 6); the differences are the sum of two effects.
    """
    session = of_counts(np.full(8, 12), donors=donors(of_counts, donors_from, range(1, 11)))
    found, (of_therapists, of_clients) = session_result(COUNT, session), speakers_in(COUNT, session, surrogates=True)
    therapists, clients = range(1, 10, 2), range(2, 11, 2)
    assert of_therapists == [4 * n for n in (12, *therapists)]
    assert of_clients == [4 * n for n in (12, *clients)]
    table = 16.0 * np.outer([12, *therapists], [12, *clients])
    expected = two_way(table)
    assert expected.mean == pytest.approx(16 * (12 * 6 + 12 * 5 - 5 * 6))
    assert found.surrogate.mean == pytest.approx([expected.mean, 0], abs=1e-9)
    assert [found.surrogate.sd[0], found.surrogate.z[0], found.surrogate.p[0]] == pytest.approx(expected[1:])


@pytest.mark.parametrize("name", [one.name for one in SESSION_MEASURES if one.surrogates])
def test_surrogate_pairs_do_not_change_the_values(name: str, sample_with_donors: AnnotatedSession) -> None:
    """The session's own two get what they get where no donors stand in the pool."""
    kind, session = SESSION_MEASURES[name], sample_with_donors
    found, alone = session_result(kind, session), session_result(kind, replace(session, donors=None))
    assert len(pool_of(session).speakers[0]) > 1
    np.testing.assert_allclose(found.values, alone.values, rtol=0, atol=1e-12)
    assert np.isfinite(found.surrogate.mean).any()


@pytest.fixture(scope="module")
def sample_with_donors(samples: Path) -> AnnotatedSession:
    sessions = ta.read(samples)
    return arrays_with_donors(sessions[:1], Settings(), choose_donors(sessions))[0]


@pytest.mark.parametrize("end", [1, -1])
def test_both_ends_can_be_rare(of_counts: Any, donors_from: Any, end: int) -> None:
    """The value is farther from what is expected than any other pair is, but for one as far below that is as far."""
    session = of_counts(np.full(8, 12), donors=donors(of_counts, donors_from, range(1, 11)))

    found = session_result(replace(COUNT, score=lambda one, other: np.array([1, end]) * one * other), session)
    assert found.surrogate.p == pytest.approx([1 / 36, 2 / 36])


def test_shuffles(of_counts: Any) -> None:
    def shuffled(one: Any, other: Any, generator: np.random.Generator) -> Any:
        assert (one, other) == (40, 40)
        return np.stack([generator.permuted(np.arange(DRAWS) - 1.0), np.arange(DRAWS) - DRAWS / 2], axis=1)

    kind = replace(COUNT, shuffled=shuffled)
    found = session_result(kind, of_counts(np.full(8, 10)))
    assert found.values.tolist() == [1600, 0]
    assert found.shuffled.p == pytest.approx([1 / (DRAWS + 1), 1])
    assert found.shuffled.mean == pytest.approx([98.5, -0.5])
    columns = [row_column(name, "Words", "words") for name in COUNT.values]
    names = [one.name for one in session_columns(kind, columns)]
    assert {"count_product_null_mean", "count_product_null_sd", "count_product_z", "count_difference_p"} < set(names)
    without = [one.name for one in session_columns(COUNT, columns)]
    assert not any(name.endswith(("null_mean", "null_sd", "product_p")) for name in without)


def test_few_turns_have_no_null_distribution(of_counts: Any, donors_from: Any) -> None:
    others = donors(of_counts, donors_from, range(1, 11))
    few, enough = (
        session_result(COUNT, of_counts(np.full(2 * n, 10), donors=others)) for n in (FEWEST_PAIRS - 1, FEWEST_PAIRS)
    )
    assert np.isfinite(few.values).all()
    assert np.isnan(few.surrogate.p).all()
    assert np.isfinite(enough.surrogate.p).all()


def test_values_and_columns_have_the_same_names(of_counts: Any) -> None:
    for kind in (COUNT, WHOLE_LSM):
        columns = [row_column(name, "Words", "words") for name in kind.values]
        assert list(session_values(kind, of_counts([5] * 9))) == [one.name for one in session_columns(kind, columns)]


def test_style_matching_of_the_whole(of_counts: Any, donors_from: Any) -> None:
    generator = np.random.default_rng(0)
    n_words = generator.integers(1, 20, 550)
    counts = generator.binomial(n_words[:, None], 0.1, (550, 9))
    others = donors_from(of_counts(n_words[50:], counts[50:]), range(0, 501, 50))
    session = of_counts(n_words[:50], counts[:50], donors=others)
    found = session_result(WHOLE_LSM, session)
    sides = [np.append(counts[start:50:2].sum(axis=0), n_words[start:50:2].sum()) for start in (0, 1)]
    assert found.values[0] == pytest.approx(matching(*sides))
    assert 0 < found.surrogate.sd[0] < 0.2
    mirrored = replace(session, turns=replace(session.turns, roles=1 - session.turns.roles))
    assert session_result(WHOLE_LSM, mirrored).values[0] == found.values[0]
