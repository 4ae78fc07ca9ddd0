"""Turns that strangers lend in the place of a session's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language.company import Company

Ints = NDArray[np.int64]

NEAR = 2
"""A stranger's turn is one of the ``2 * NEAR + 1`` nearest in length, or one of all that are just as long."""


@dataclass(frozen=True, slots=True, eq=False)
class _Lenders:
    """The turns with words of all strangers of a length class in one role.

    Attributes
    ----------
    turns : int64 array (n_turns,)
        Stranger after stranger, the shortest first.
    starts : int64 array (n_strangers + 1,)
        Stranger ``s`` owns ``turns[starts[s]:starts[s + 1]]``.
    order : int64 array (n_turns,)
        The words of each, and `step` more for each stranger before its own: rising over all.
    step : int
        More than the words of any, and one.
    """

    turns: Ints
    starts: Ints
    order: Ints
    step: int

    def nearest(self, others: Ints, wanted: Ints) -> tuple[Ints, Ints]:
        """Return from which to before which of their turns one of each length may be drawn, (n_others, n_turns)."""
        at_least = others[:, None] * self.step + np.minimum(wanted, self.step - 1)
        first = self.starts[others][:, None]
        left, right = np.searchsorted(self.order, at_least) - first, np.searchsorted(self.order, at_least + 1) - first
        times = self.times(others, len(wanted))[:, None]
        left, right = left * times, right * times
        middle = (left + right) // 2
        # Where more turns than the nearest few are of that very length, each of them may be drawn.
        return np.minimum(left, middle - NEAR), np.maximum(right, middle + NEAR + 1)

    @property
    def sizes(self) -> Ints:
        """How many turns each has, (n_strangers,)."""
        return np.diff(self.starts)

    def times(self, others: Ints, n: int) -> Ints:
        """Return how often each must lend each of its turns, so that there are `n` at least, (n_others,)."""
        return -(-n // self.sizes[others])


def _lenders_of(company: Company, n_words: Ints, role: int) -> _Lenders:
    each = [company.by_length[stranger, role] for stranger in range(len(company.digests))]
    turns, sizes = np.concatenate(each), [len(one) for one in each]
    lengths = n_words[turns]
    step = int(lengths.max(initial=0)) + 2
    order = np.repeat(np.arange(len(each)), sizes) * step + lengths
    return _Lenders(turns, np.append(0, np.cumsum(sizes)), order, step)


def turns_like(wanted: Ints, company: Company, role: int, others: Ints, generator: np.random.Generator) -> Ints:
    """Return turns of donors about as long as a session's own, (n_others, n_turns), as positions of `Company.whole`.

    Of one donor no turn is taken twice, unless the donor has fewer: a dialogue in which the same turns recur would be
    less rich than any real one.

    Parameters
    ----------
    wanted : int64 array (n_turns,)
        The words of the session's turns of one role.
    company : Company
        The donors.
    role : int
        Whose turns they lend, `THERAPIST` or `CLIENT`.
    others : int64 array (n_others,)
        Which of them lend.
    generator : Generator
        Draws them.
    """
    lenders = company.whole.once(lambda whole: _lenders_of(company, whole.n_words, role), key=("lenders", role))
    low, high = lenders.nearest(others, wanted)
    at, noise = low + generator.integers(high - low), generator.random(low.shape)
    times, sizes = lenders.times(others, len(wanted)), lenders.sizes[others]
    at = _untaken(at, (sizes * times - len(wanted))[:, None])
    lent = lenders.turns[lenders.starts[others, None] + at // times[:, None]]
    found = np.empty_like(at)
    np.put_along_axis(found, np.argsort(wanted + noise, axis=1), lent, axis=1)
    return found


def _untaken(at: Ints, last: Ints) -> Ints:
    """Return places of turns, (n_draws, n), rising from 0 to at most `last` more than the least that there can be.

    Where turns are taken already, the next ones or the ones before: midway, or all would become longer than wanted.
    """
    each = np.arange(at.shape[1])
    at = np.sort(at, axis=1) - each
    following = np.maximum.accumulate(at, axis=1)
    preceding = np.minimum.accumulate(at[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.maximum(np.minimum((following + preceding) // 2, last), 0) + each)
