"""A measure sees one session: its turns, and nothing of what stands beside it in the batch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from therapy_analytics.codes import load_tagger, with_codes
from therapy_analytics.core.session import Role, Session, Turn
from therapy_analytics.measures import MEASURES
from therapy_analytics.measures.rates import counted_rate
from therapy_analytics.measures.turns import last_of, next_of, third_of
from therapy_analytics.text import AnnotatedSession, Batch, annotate, builtin_lexicons
from therapy_analytics.text.lexicons import Matcher

ROLES: dict[str, Role] = {"T": "therapist", "C": "client", "O": "other"}
# The second has no turns, the third begins where the first would go on, "-" says nothing
SPOKEN = ("TCTC", "", "CCTO-T", "T")


def _session(spoken: str) -> Session:
    turns, role = [], "T"
    for i, one in enumerate(spoken):
        role = role if one == "-" else one
        text = "..." if one == "-" else f"You said that we could try it again {i}."
        turns.append(Turn(index=i, speaker=role, role=ROLES[role], text=text, first_row=i + 1))
    return Session(id="made", source_file="", turns=tuple(turns))


@pytest.fixture
def batch() -> Batch:
    return annotate([_session(one) for one in SPOKEN], Matcher(builtin_lexicons()))


def test_turns_before_and_after_are_of_the_same_session(batch: Batch) -> None:
    first, nothing, third, last = batch
    assert next_of(first, "therapist").tolist() == [2, 2, -1, -1]
    assert last_of(third, "client").tolist() == [-1, 0, 1, 1, 1, 1]
    assert last_of(third, "therapist").tolist() == [-1, -1, -1, 2, 2, 2]
    assert next_of(last, "therapist").tolist() == [-1]
    assert [third_of(one).tolist() for one in batch] == [[0, 0, 1, 2], [], [0, 0, 1, 1, 2, 2], [0]]
    assert next_of(nothing, "client").tolist() == []


def test_what_is_cached_is_computed_once_and_not_for_changed_copies(batch: Batch) -> None:
    asked = []

    def count(one: AnnotatedSession) -> int:
        asked.append(len(one))
        return len(one)

    first = next(iter(batch))
    assert [first.cached(count), first.cached(count), first.cached(count, key="another")] == [4, 4, 4]
    assert replace(first, seed=1).cached(count) == 4
    assert asked == [4, 4, 4]


def test_values_do_not_depend_on_the_batch(batch: Batch) -> None:
    roles: tuple[Role, Role] = ("therapist", "client")
    together, tagger = list(batch), load_tagger()
    codes = tagger.predict(batch)
    for i, session in enumerate(batch.sessions):
        by_itself = annotate([session], Matcher(builtin_lexicons()))
        one = with_codes(next(iter(by_itself)), tagger.predict(by_itself), 0, roles)
        beside = with_codes(together[i], codes, int(batch.starts[i]), roles)
        for measure in MEASURES:
            if measure.extra is None and measure.family != "synchrony":
                np.testing.assert_equal(dict(measure.compute(beside)), dict(measure.compute(one)), measure.name)


def test_rates_of_no_turns_are_undefined() -> None:
    np.testing.assert_equal(list(counted_rate("a_rate", 0, 0).values()), [*[np.nan] * 4, 0])
    found = counted_rate("a_rate", 0, 4)
    assert (found["a_rate"], found["a_rate_lo"], found["n_a"], found["out_of_a"]) == (0, 0, 0, 4)
