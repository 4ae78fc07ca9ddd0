"""How feelings are looked up: idioms word by word, and what stands near a marked word, counted by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures.process._clauses import clauses
from therapy_analytics.measures.process._feeling_words import families, idioms

Make = Callable[..., AnnotatedSession]


def test_every_entry_of_several_words_is_found_by_its_words() -> None:
    known = idioms()
    for words, entry in ((one[0], one) for some in families().entries.values() for one in some if len(one[0]) > 1):
        said = (*words[:-1], words[-1].replace("*", "ing"))
        assert entry in known.entries_of(said)
        assert all(said[:n] in known.begins for n in range(1, len(said)))
        assert words[:3] in known.openings


@pytest.mark.parametrize(
    ("back", "ahead", "near"),
    [
        (2, -1, "..xx...."),  # the two words after the marked one
        (-1, 1, "x......."),  # the word before it
        (1, 1, "xxx....."),
        (9, 9, "xxxx...."),  # not beyond the sentence
    ],
)
def test_near_stays_in_the_sentence(make: Make, back: int, ahead: int, near: str) -> None:
    row = clauses(make([("C", "We saw old boats. They were red ones.")]))
    found = row.near(np.array([mark == "x" for mark in ".x......"]), back, ahead)
    assert "".join(".x"[one] for one in found.tolist()) == near
