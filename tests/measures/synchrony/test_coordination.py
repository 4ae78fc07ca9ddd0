"""Coordination by hand, and cell for cell as ConvoKit has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.measures.synchrony.coordination import coordination, coordination_of, marks, mean_of_markers
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES

EIGHT = ["article", "auxverb", "conj", "adverb", "ppron", "ipron", "preps", "quant"]


def of_pairs(before: Any, after: Any) -> Any:
    """Coordination of each marker; rows are pairs."""
    return coordination_of(np.array(before, dtype=float), np.array(after, dtype=float))


# ---- by hand


def test_one_marker_in_four_replies() -> None:
    # In two turns before; in the reply to one of them, and in one other reply: 1/2 - 2/4.
    assert of_pairs([[1], [1], [0], [0]], [[1], [0], [1], [0]]).tolist() == [0]
    # In the replies to both and no other: 2/2 - 2/4. In no reply to them, but in both others: 0/2 - 2/4.
    assert of_pairs([[1], [1], [0], [0]], [[1], [1], [0], [0]]).tolist() == [0.5]
    assert of_pairs([[1], [1], [0], [0]], [[0], [0], [1], [1]]).tolist() == [-0.5]


def test_a_marker_that_no_turn_before_has_is_undefined() -> None:
    np.testing.assert_array_equal(of_pairs([[0, 1], [0, 1]], [[1, 1], [1, 0]]), [np.nan, 0])


def test_no_pairs() -> None:
    nothing = np.zeros((0, 9), dtype=np.uint8)
    assert np.isnan(of_pairs(nothing, nothing)).all()
    assert np.isnan(mean_of_markers(of_pairs(nothing, nothing)))


def test_markers_that_are_undefined_do_not_count() -> None:
    assert mean_of_markers(np.array([[0.2, 0.4], [np.nan, 0.4]])).tolist() == pytest.approx([0.3, 0.4])
    assert np.isnan(mean_of_markers(np.full((2, 3), np.nan))).all()


def test_a_session_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    """Articles alone, in T's turns 0 and 4; the client has one in the reply to 0 and not in the others: 1/2 - 1/3."""
    texts = ["the dog", "the cat", "dogs", "cats", "a dog", "cats"]
    session = make([("TC"[i % 2], text) for i, text in enumerate(texts)])
    assert marks(session)[:, CATEGORIES.index("function_words.articles")].tolist() == [1, 1, 0, 0, 1, 0]
    values = coordination(session)
    assert values["coordination_client"] == pytest.approx(1 / 2 - 1 / 3)
    # The therapist's replies are turns 2 and 4; turn 1 has an article, turn 2 has none, turn 4 has: 0/1 - 1/2.
    assert values["coordination_therapist"] == pytest.approx(-1 / 2)
    assert values["coordination"] == pytest.approx((1 / 2 - 1 / 3 - 1 / 2) / 2)
    assert values["coordination_difference"] == pytest.approx(-1 / 2 - (1 / 2 - 1 / 3))
    # Each reply to a turn with an article: 1 or 0, less how often the replies have one (1/3, 1/2).
    np.testing.assert_allclose(
        values["coordination_turn"], [np.nan, 1 - 1 / 3, 0 - 1 / 2, np.nan, np.nan, 0 - 1 / 3], rtol=1e-6
    )


def test_how_often_a_marker_is_said_in_a_turn_does_not_matter(of_counts: Any) -> None:
    generator = np.random.default_rng(0)
    counts = generator.integers(0, 3, (40, 9))
    single, often = (coordination(of_counts(np.full(40, 30), one)) for one in (np.minimum(counts, 1), counts))
    for name, value in single.items():
        np.testing.assert_array_equal(value, often[name])


def test_markers_that_are_always_or_never_there_are_0_or_undefined(of_counts: Any) -> None:
    always = coordination(of_counts(np.full(20, 9), np.ones((20, 9))))
    assert always["coordination"] == 0
    assert always["coordination_null_mean"] == 0
    assert always["coordination_p"] == 1
    assert np.isnan(always["coordination_z"])
    never = coordination(of_counts(np.full(20, 9)))
    assert all(np.isnan(value).all() for name, value in never.items() if not name.startswith("out_of_"))


# ---- ConvoKit


@pytest.mark.parametrize("merged", [False, True], ids=["rows as they stand", "rows of a speaker put together"])
def test_cell_for_cell_as_convokit(peer: Callable[[str], pd.DataFrame], merged: bool) -> None:
    markers, theirs = (
        peer("convokit_markers_turn.csv"),
        peer(f"convokit_coordination_{'turns' if merged else 'raw'}.csv"),
    )
    n_undefined = 0
    for session, rows in markers.groupby("transcript_id"):
        has, therapist = rows[EIGHT].to_numpy(float), (rows.speaker == "therapist").to_numpy()
        if merged:
            starts = np.flatnonzero(np.r_[True, therapist[1:] != therapist[:-1]])
            has, therapist = np.maximum.reduceat(has, starts), therapist[starts]
        for side, name in ((True, "T"), (False, "C")):
            replies = np.flatnonzero((therapist[1:] == side) & (therapist[:-1] != side)) + 1
            each = coordination_of(has[replies - 1], has[replies])
            (row,) = theirs[(theirs.transcript_id == session) & (theirs.speaker == name)].itertuples()
            wanted = np.array([getattr(row, marker) for marker in EIGHT])
            np.testing.assert_array_equal(np.isnan(each), np.isnan(wanted))
            np.testing.assert_allclose(each, wanted, rtol=0, atol=1e-12)
            assert mean_of_markers(each) == pytest.approx(row.mean_available, rel=0, abs=1e-12)
            assert np.count_nonzero(~np.isnan(each)) == row.n_markers
            n_undefined += np.isnan(each).sum()
    assert len(theirs) > 160
    assert n_undefined > 0
