"""All sessions of a batch measured at once: as each by itself, whatever stands beside it."""

from __future__ import annotations

import numpy as np
import pytest

from therapy_analytics.behaviours import load_tagger, with_codes
from therapy_analytics.language import AnnotatedSession, Batch, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures._together import counted_rates, counts, means, of_each, rates, slopes, sums
from therapy_analytics.measures._turns import last_of, next_of, third_of
from therapy_analytics.measures.process._change_of_thirds import (
    changes_of_means,
    changes_of_ratios,
)
from therapy_analytics.session import Role, Session, Turn

ROLES: dict[str, Role] = {"T": "therapist", "C": "client", "O": "other"}
# The second has no turns, the third begins where the first would go on, "-" says nothing
SAID = ("TCTC", "", "CCTO-T", "T")


def _session(said: str) -> Session:
    turns, role = [], "T"
    for i, one in enumerate(said):
        role = role if one == "-" else one
        text = "..." if one == "-" else f"You said that we could try it again {i}."
        turns.append(Turn(index=i, speaker=role, role=ROLES[role], text=text, first_row=i + 1))
    return Session(id="made", source_file="", turns=tuple(turns))


@pytest.fixture
def batch() -> Batch:
    return annotate([_session(one) for one in SAID], Matcher(builtin_lexicons()))


def _whole(batch: Batch) -> AnnotatedSession:
    place = next(iter(batch)).in_batch
    assert place is not None
    return place.whole


def _alone(batch: Batch) -> list[AnnotatedSession]:
    return [next(iter(annotate([one], Matcher(builtin_lexicons())))) for one in batch.sessions]


def test_turns_before_and_after_are_of_the_same_session(batch: Batch) -> None:
    first, _, third, last = batch
    assert next_of(first, "therapist").tolist() == [2, 2, -1, -1]
    assert last_of(third, "client").tolist() == [-1, 0, 1, 1, 1, 1]
    assert last_of(third, "therapist").tolist() == [-1, -1, -1, 2, 2, 2]
    assert next_of(last, "therapist").tolist() == [-1]
    whole = _whole(batch)
    assert next_of(whole, "client").tolist() == [1, 3, 3, -1, 5, -1, -1, -1, -1, -1, -1]
    assert third_of(whole).tolist() == [0, 0, 1, 2, 0, 0, 1, 1, 2, 2, 0]


def test_what_is_counted_in_each_session(batch: Batch) -> None:
    whole = _whole(batch)
    own = whole.of("client")
    assert counts(whole, own).tolist() == [2, 0, 2, 0]
    assert counts(whole, np.stack([own, ~own])).tolist() == [[2, 0, 2, 0], [2, 0, 4, 1]]
    values = np.arange(11.0)
    assert sums(whole, values).tolist() == [6, 0, 39, 10]
    np.testing.assert_equal(means(whole, values, own), [2, np.nan, 4.5, np.nan])
    found = rates(whole, {"client_rate": (own, np.ones(11, dtype=np.bool_))})
    np.testing.assert_equal(found["client_rate"], [0.5, np.nan, 1 / 3, 0])
    np.testing.assert_equal(found["n_client"], [2, np.nan, 2, 0])
    each = of_each(whole, found, {"place": values})
    assert [one["place"].tolist() for one in each] == [[0, 1, 2, 3], [], [4, 5, 6, 7, 8, 9], [10]]  # type: ignore[union-attr]
    assert each[0]["n_client"] == 2


def test_a_session_asks_for_its_own(batch: Batch) -> None:
    asked = []

    def count(one: AnnotatedSession) -> list[int]:
        asked.append(len(one))
        return np.diff(one.bounds).tolist()

    assert [one.by_session(count) for one in batch] == [4, 0, 6, 1]
    assert asked == [11]
    # Copies of a changed session are no more of the batch
    assert [one.by_session(count) for one in _alone(batch)] == [4, 0, 6, 1]


def test_values_do_not_depend_on_the_batch(batch: Batch) -> None:
    from therapy_analytics.measures import MEASURES

    roles: tuple[Role, Role] = ("therapist", "client")
    together, tagger = list(batch), load_tagger()
    codes = tagger.predict(batch)
    for i, alone in enumerate(_alone(batch)):
        by_itself = annotate([batch.sessions[i]], Matcher(builtin_lexicons()))
        one = with_codes(alone, tagger.predict(by_itself), 0, roles)
        beside = with_codes(together[i], codes, int(batch.starts[i]), roles)
        for measure in MEASURES:
            if measure.extra is None and measure.family != "synchrony":
                np.testing.assert_equal(dict(measure.compute(beside)), dict(measure.compute(one)), measure.name)


def test_rates_of_no_turns_are_undefined() -> None:
    found = counted_rates(("a_rate",), np.array([[0.0, 0.0]]), np.array([[0.0, 4.0]]))
    np.testing.assert_equal(found["a_rate_lo"], [np.nan, 0.0])
    np.testing.assert_equal(found["n_a"], [np.nan, 0.0])


def test_slopes_are_those_of_a_fit() -> None:
    generator = np.random.default_rng(0)
    row = np.sort(generator.integers(0, 5, 60))
    places, values = generator.random(60), generator.random((60, 3))
    found = slopes(places, values, row, 5)
    for i in range(5):
        np.testing.assert_allclose(found[i], np.polyfit(places[row == i], values[row == i], 1)[0])


def test_changes_of_many_are_those_of_each() -> None:
    generator = np.random.default_rng(0)
    row = generator.permutation(np.repeat(np.arange(8), [5, 2, 7, 4, 9, 6, 3, 0]))
    values = generator.integers(1, 30, size=(len(row), 2)) + np.array([0.0, 30.0])
    for changes, cells in ((changes_of_means, values[:, 0]), (changes_of_ratios, values)):
        together = np.stack(changes(cells, row, 4))
        for i in range(4):
            own = row % 4 == i
            np.testing.assert_allclose(together[:, [i]], changes(cells[own], row[own] // 4, 1))
