"""Present danger: phrases and probabilities together, in sessions that a reader can check turn by turn."""

from __future__ import annotations

import numpy as np
import pytest
from talks import arrays, session

from therapy_analytics.codes import Codes, load_accurate
from therapy_analytics.codes.danger import CODE, with_danger

CLEAR = "I want to kill myself."
POSSIBLE = "There is no way out."
PLAIN = "I went to the shop."
LIMITS = {"balanced": 0.5, "recall": 0.3}


def decided(*turns: tuple[str, float]) -> tuple[list[int], list[int]]:
    """Return which client turns are marked and which unsure, where a therapist speaks between them."""
    texts = [text for words, _ in turns for text in ("And then?", words)]
    p = np.array([one for _, likely in turns for one in (np.nan, likely)])[:, None]
    batch = arrays(session(*texts, roles=["therapist", "client"] * len(turns)))
    none = np.zeros(p.shape, dtype=bool)
    codes = with_danger(Codes((CODE,), p, none, none), batch, LIMITS, "balanced")
    marked, unsure = (np.flatnonzero(found[1::2, 0]).tolist() for found in (codes.decision, codes.unsure))
    return marked, unsure


@pytest.mark.parametrize(
    ("turns", "marked", "unsure"),
    [
        ([(PLAIN, 0.9)] * 12, [], list(range(12))),  # the tagger alone marks nothing, however sure it is
        ([(CLEAR, 0.01), (PLAIN, 0.01)], [0], []),  # a clear phrase is enough
        ([(POSSIBLE, 0.1), (POSSIBLE, 0.6)], [1], [0]),  # a possible one needs a likely turn
        ([(PLAIN, 0.6), (CLEAR, 0.1), (PLAIN, 0.6), (POSSIBLE, 0.1), (PLAIN, 0.4)], [1, 2, 3], [0, 4]),
    ],
)
def test_a_turn_is_marked_by_what_it_says(turns: list[tuple[str, float]], marked: list[int], unsure: list[int]) -> None:
    assert decided(*turns) == (marked, unsure)


def test_sessions_do_not_mark_each_other() -> None:
    tagger = load_accurate()
    one = session("How was it?", CLEAR, "And now?", POSSIBLE, roles=("therapist", "client") * 2)
    other = session("How was it?", POSSIBLE, roles=("therapist", "client"))
    column = tagger.names.index(CODE)
    assert tagger.predict(arrays(one, other)).decision[:, column].tolist() == [False, True, False, True, False, False]


def test_a_letter_of_resignation_is_no_danger() -> None:
    talk = session(
        "What would you like to talk about today?",
        "I wrote my letter to the office last night, and I have told nobody but my wife.",
        "How did it feel to write it?",
        "Like it will all be over soon. On Friday I am done with them for good.",
        roles=("therapist", "client") * 2,
    )
    tagger = load_accurate()
    assert not tagger.predict(arrays(talk)).decision[:, tagger.names.index(CODE)].any()
