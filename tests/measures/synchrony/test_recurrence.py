"""Cross-recurrence by hand, and against a plot that is built point by point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from therapy_analytics.errors import BadOptionError
from therapy_analytics.measures.synchrony.recurrence import Recurrence, Series, cross_recurrence

VALUES = tuple(one.name for one in fields(Recurrence))

# --- by hand -------------------------------------------------------------------------------------------------------
#
# Therapist (down), one turn:  a b c a        Client (across), one turn:  b c a a d
#
#         b  c  a  a  d
#      a  .  .  *  *  .        recurrent points: 2 + 1 + 1 + 2 = 6 of 4 * 5 = 20 cells
#      b  *  .  .  .  .        one diagonal: b, c, a from row 2 and column 1 on, so 3 long; three points stand alone
#      c  .  *  .  .  .        vertical lines (one word of the therapist, neighbours of the client): a a twice
#      a  .  .  *  *  .
A, B, C, D = range(4)
DOWN = Series.of([A, B, C, A], [0, 0, 0, 0])
ACROSS = Series.of([B, C, A, A, D], [1, 1, 1, 1, 1])


def test_a_plot_that_a_reader_can_count() -> None:
    found = cross_recurrence(DOWN, ACROSS)
    assert found.n_points == 6
    assert found.rate == 6 / 20
    assert found.n_lines == 1
    assert found.determinism == 3 / 6
    assert found.mean_line == found.longest_line == 3
    assert found.entropy == 0  # one length
    assert np.isnan(found.relative_entropy)
    assert found.laminarity == 4 / 6
    assert found.trapping_time == 2
    assert np.isnan(found.balance)  # the client never speaks before the therapist


def test_the_transposed_plot_has_the_same_diagonals_and_other_verticals() -> None:
    found = cross_recurrence(ACROSS, DOWN)
    assert (found.rate, found.determinism, found.mean_line) == (6 / 20, 3 / 6, 3)
    # Columns of the plot above: b | c | a . . a | a . . a | nothing: no neighbours.
    assert found.laminarity == 0
    assert np.isnan(found.trapping_time)


#         a  b | a  b  c         Client: turns 1 and 3. Therapist: one turn, 2.
#      a  *  .   *  .  .
#      b  .  *   .  *  .         lines a b (2) and a b c (3)
#      c  .  .   .  .  *
def test_entropy_of_two_lengths() -> None:
    found = cross_recurrence(Series.of([A, B, C], [2, 2, 2]), Series.of([A, B, A, B, C], [1, 1, 3, 3, 3]))
    assert found.n_lines == 2
    assert found.mean_line == 2.5
    assert found.entropy == pytest.approx(log(2))  # two lengths, each once
    assert found.relative_entropy == pytest.approx(1)
    assert found.balance == pytest.approx(3 / 9 - 2 / 6)  # later: 3 of 3 x 3; earlier: 2 of 3 x 2


#         a | b         Therapist: a in turn 0, b in turn 2. Client: a in turn 1, b in turn 3.
#      a  *   .
#      -              the line a b runs over the ends of turns
#      b  .   *
def test_a_line_over_the_end_of_a_turn() -> None:
    x, y = Series.of([A, B], [0, 2]), Series.of([A, B], [1, 3])
    assert cross_recurrence(x, y).determinism == 1
    cut = cross_recurrence(x, y, cut_at_turns=True)
    assert (cut.n_points, cut.determinism, cut.n_lines) == (2, 0, 0)
    for undefined in (cut.mean_line, cut.longest_line, cut.entropy):
        assert np.isnan(undefined)
    # Turn 0 with turn 3 is three turns apart; that point of the plot (a, b) is empty: cells only.
    assert (cross_recurrence(x, y, reach=1).rate, cross_recurrence(x, y, reach=3).rate) == (2 / 3, 2 / 4)


def test_words_of_no_class_are_never_alike_but_are_words() -> None:
    found = cross_recurrence(Series.of([-1, A], [0, 0]), Series.of([-1, A], [1, 1]))
    assert (found.n_points, found.rate) == (1, 1 / 4)
    assert cross_recurrence(Series.of([-1, -2], [0, 0]), Series.of([-1, -2], [1, 1])).rate == 0


def test_nothing_said_is_undefined() -> None:
    nothing, empty = Series.of([], []), dict.fromkeys(VALUES, np.nan) | {"n_points": 0, "n_lines": 0}
    for x, y in ((nothing, nothing), (DOWN, nothing), (nothing, ACROSS), (DOWN, Series.of([A], [40]))):
        np.testing.assert_equal(asdict(cross_recurrence(x, y)), empty)


def test_points_without_lines_have_no_determinism_rather_than_an_undefined_one() -> None:
    found = cross_recurrence(Series.of([A], [0]), Series.of([A], [1]))
    assert (found.determinism, found.laminarity) == (0, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Series.of([1, 2], [0]),
        lambda: Series.of([1, 2], [1, 0]),
        lambda: Series.of([1], [-1]),
        lambda: cross_recurrence(DOWN, ACROSS, reach=0),
    ],
)
def test_what_cannot_be_used_is_said(wrong) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadOptionError):
        wrong()


# --- against a plot built point by point ----------------------------------------------------------------------------


def _runs(marks: Sequence[bool], breaks: Sequence[bool]) -> list[int]:
    """Lengths of runs of two or more; ``breaks[k]``: a run ends before k."""
    found, length = [], 0
    for mark, ends in zip([*marks, False], [*breaks, False], strict=True):
        if length and (not mark or ends):
            found.append(length)
            length = 0
        length += bool(mark)
    return [length for length in found if length >= 2]


def _dense(x: Series, y: Series, reach: int | None, *, cut: bool) -> dict[str, float]:
    """The definitions, on the whole matrix."""
    lag = y.turn[None] - x.turn[:, None]
    near = np.abs(lag) <= (10**9 if reach is None else reach)
    plot = (x.ids[:, None] == y.ids) & (x.ids[:, None] >= 0) & near
    new_x, new_y = (np.diff(one.turn, prepend=one.turn[:1]).astype(bool) & cut for one in (x, y))
    diagonal: list[int] = []
    for offset in range(1 - len(x), len(y)):
        i = np.arange(max(0, -offset), min(len(x), len(y) - offset))
        diagonal += _runs(plot[i, i + offset].tolist(), (new_x[i] | new_y[i + offset]).tolist())
    vertical = [length for row in plot.tolist() for length in _runs(row, new_y.tolist())]
    return _summed(plot, near, lag, diagonal, vertical)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else np.nan


def _summed(
    plot: NDArray[np.bool_], near: NDArray[np.bool_], lag: NDArray[np.int64], diagonal: list[int], vertical: list[int]
) -> dict[str, float]:
    n, shares = plot.sum(), np.unique(diagonal, return_counts=True)[1] / max(len(diagonal), 1)
    later, earlier = (_ratio((plot & side).sum(), (near & side).sum()) for side in (lag > 0, lag < 0))
    entropy = -sum(share * log(share) for share in shares) if diagonal else np.nan
    return {
        "rate": _ratio(n, near.sum()),
        "determinism": _ratio(sum(diagonal), n),
        "mean_line": _ratio(sum(diagonal), len(diagonal)),
        "longest_line": max(diagonal, default=np.nan),
        "entropy": entropy,
        "relative_entropy": entropy / log(len(shares)) if len(shares) > 1 else np.nan,
        "laminarity": _ratio(sum(vertical), n),
        "trapping_time": _ratio(sum(vertical), len(vertical)),
        "balance": later - earlier,
        "n_points": n,
        "n_lines": len(diagonal),
    }


def _talk(generator: np.random.Generator, *, turns: int = 20, words: float = 5, vocabulary: int = 12) -> list[Series]:
    """Two people who alternate and say what they like; some words are nothing."""
    turn = np.repeat(np.arange(turns), 1 + generator.poisson(words - 1, turns))
    ids = generator.integers(-1, vocabulary, len(turn))
    return [Series(ids[turn % 2 == side], turn[turn % 2 == side]) for side in (0, 1)]


def _assert_same(found: dict[str, float], expected: dict[str, float]) -> None:
    for name in VALUES:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("reach", [None, 1, 3, 10])
@pytest.mark.parametrize("vocabulary", [1, 3, 40])
def test_the_same_as_the_dense_plot(reach: int | None, cut: bool, vocabulary: int) -> None:
    x, y = _talk(np.random.default_rng(vocabulary), vocabulary=vocabulary)
    found = cross_recurrence(x, y, reach=reach, cut_at_turns=cut)
    _assert_same(asdict(found), _dense(x, y, reach, cut=cut))


words = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 6)), max_size=25)


@settings(max_examples=100, deadline=None)
@given(words, words, st.sampled_from([None, 1, 2, 5]), st.booleans())
def test_the_same_as_the_dense_plot_whatever_is_said(
    one: list[tuple[int, int]], other: list[tuple[int, int]], reach: int | None, cut: bool
) -> None:
    """Also where turns do not alternate, or both stand at one position."""
    x, y = (Series.of([word for word, _ in said], sorted(turn for _, turn in said)) for said in (one, other))
    _assert_same(asdict(cross_recurrence(x, y, reach=reach, cut_at_turns=cut)), _dense(x, y, reach, cut=cut))


# --- properties ------------------------------------------------------------------------------------------------------


def test_who_is_x_does_not_matter_to_points_and_diagonals() -> None:
    x, y = _talk(np.random.default_rng(2), vocabulary=4)
    one, other = asdict(cross_recurrence(x, y)), asdict(cross_recurrence(y, x))
    for name in set(VALUES) - {"laminarity", "trapping_time", "balance"}:
        assert one[name] == pytest.approx(other[name])
    assert one["balance"] == pytest.approx(-other["balance"])


def test_names_of_words_do_not_matter() -> None:
    x, y = _talk(np.random.default_rng(3), vocabulary=6)
    names = np.append(np.random.default_rng(0).permutation(6) * 10**15 + 7, -5)  # the last stands for -1
    renamed = [Series(names[one.ids], one.turn) for one in (x, y)]
    np.testing.assert_equal(asdict(cross_recurrence(*renamed)), asdict(cross_recurrence(x, y)))


def test_where_the_session_begins_does_not_matter() -> None:
    x, y = _talk(np.random.default_rng(3), vocabulary=6)
    moved = [Series(one.ids, one.turn + 1000) for one in (x, y)]
    np.testing.assert_equal(asdict(cross_recurrence(*moved)), asdict(cross_recurrence(x, y)))


def test_the_same_words_in_both_mouths_are_one_long_line() -> None:
    x = Series.of(np.arange(30), np.repeat(np.arange(0, 20, 2), 3))
    found = cross_recurrence(x, Series(x.ids, x.turn + 1))
    assert (found.longest_line, found.n_lines, found.determinism) == (30, 1, 1)
    assert cross_recurrence(x, Series(x.ids, x.turn + 1), cut_at_turns=True).longest_line == 3
