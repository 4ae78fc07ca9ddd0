"""Which of a stranger's turns may be lent: by hand."""

from __future__ import annotations

import numpy as np

from therapy_analytics.measures.synchrony._lenders import NEAR, _Lenders

# Two strangers, the shortest turns first: of 1, 4, 4, 9 words, and of 2, 3.
LENDERS = _Lenders(turns=np.arange(6), starts=np.array([0, 4, 6]), order=np.array([1, 4, 4, 9, 13, 14]), step=11)


def test_the_nearest_are_the_same_number_to_either_side() -> None:
    # Five words fall between the third turn and the fourth: two places before, and three behind.
    low, high = LENDERS.nearest(np.array([0]), np.array([5]))
    assert (low.tolist(), high.tolist()) == ([[3 - NEAR]], [[3 + NEAR + 1]])


def test_each_stranger_is_asked_by_itself_also_for_turns_longer_than_any() -> None:
    low, high = LENDERS.nearest(np.array([1, 0]), np.array([100, 1]))
    # The second has two turns, which suffice for two; one word comes before both of them.
    assert low.tolist() == [[2 - NEAR, -NEAR], [4 - NEAR, -NEAR]]
    assert high.tolist() == [[2 + NEAR + 1, NEAR + 1], [4 + NEAR + 1, NEAR + 1]]


def test_who_has_too_few_turns_lends_them_several_times() -> None:
    assert LENDERS.times(np.array([0, 1]), 5).tolist() == [2, 3]
    # Three words: the second of the two, of which each stands three times.
    low, high = LENDERS.nearest(np.array([1]), np.full(5, 3))
    assert (low[0, 0], high[0, 0]) == (min(3, 4 - NEAR), max(6, 4 + NEAR + 1))
