"""Turns: who answers whom, which have a code, in which third they stand, and slopes along a session."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from therapy_analytics.codes import Code, builtin_codebooks
from therapy_analytics.core.session import Role
from therapy_analytics.text import AnnotatedSession

THIRDS = ("third_1", "third_2", "third_3")
PAIR: tuple[Role, Role] = ("therapist", "client")
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
WITHIN = 3
"""Turns of a role after an event among which an answer is looked for."""
FEWEST_FOR_SLOPE = 8
"""Turns under which a slope and its interval are left undefined."""
_NOBODY = -1


# ---- who speaks, and who answers


def spoken(session: AnnotatedSession, role: Role) -> Bools:
    """Return the turns of a role that have words, bool (n_turns,)."""
    return session.spoken_by(role) & (session.n_words > 0)


def next_of(session: AnnotatedSession, role: Role) -> Ints:
    """Return for each turn the next turn of a role that has words, -1 where there is none; int64 (n_turns,)."""
    n = len(session)
    own = np.where(spoken(session, role), np.arange(n), n)
    after = np.append(np.minimum.accumulate(own[::-1])[::-1][1:], n)[:n]
    return np.where(after < n, after, _NOBODY)


def last_of(session: AnnotatedSession, role: Role) -> Ints:
    """Return for each turn the last earlier turn of a role that has words, -1 where there is none; int64 (n_turns,)."""
    own = np.where(spoken(session, role), np.arange(len(session)), _NOBODY)
    return np.append(_NOBODY, np.maximum.accumulate(own))[: len(session)]


def replies(session: AnnotatedSession) -> tuple[Ints, Ints]:
    """Return the client turns that the therapist answers, and the answers: two arrays of places, one pair a reply.

    The answer is the therapist's next turn with words, unless the client speaks again before it (after somebody else).
    """
    client = np.flatnonzero(spoken(session, "client"))
    answer = next_of(session, "therapist")[client]
    answered = (answer >= 0) & (last_of(session, "client")[answer] == client)
    return client[answered], answer[answered]


def next_turns(events: Bools, among: Bools, n: int = WITHIN) -> Ints:
    """Return for each event the places of the next turns of a kind, in order; -1 where the session has no more.

    Parameters
    ----------
    events, among : bool array (n_turns,)
        The turns that are followed, and the turns that may follow them.
    n : int
        How many of them.

    Returns
    -------
    int64 array (n_events, n)

    Examples
    --------
    >>> next_turns(np.array([True, False, False, True]), np.array([False, True, True, False]), n=3).tolist()
    [[1, 2, -1], [-1, -1, -1]]
    """
    following = np.append(np.flatnonzero(among), np.full(n, _NOBODY))
    first = np.searchsorted(following[:-n], np.flatnonzero(events), side="right")
    return np.asarray(following[first[:, None] + np.arange(n)])


def any_in(turns: Ints, hits: Bools) -> Bools:
    """Return for each event whether one of the turns after it is a hit, bool (n_events,).

    Parameters
    ----------
    turns : int64 array (n_events, n)
        As `next_turns` returns them.
    hits : bool array (n_turns,)
        Turns that are looked for.
    """
    return np.asarray((np.append(hits, False)[turns] & (turns != _NOBODY)).any(axis=1))


def third_of(session: AnnotatedSession) -> Ints:
    """Return the third of the session, by turns, that each turn stands in: 0, 1 or 2; int64 (n_turns,)."""
    return np.arange(len(session)) * len(THIRDS) // max(len(session), 1)


# ---- codes


@cache
def shipped_codes() -> tuple[Code, ...]:
    """Return the codes of the shipped codebooks that overlap no other, the therapist's first, in the order of books."""
    books = sorted((book for book in builtin_codebooks() if not book.overlaps), key=lambda book: (book.place, book.id))
    return tuple(sorted((code for book in books for code in book.codes), key=lambda code: code.role != "therapist"))


@cache
def main_codes() -> tuple[Code, ...]:
    """Return those of them that are no kinds of others and have a lane, which talk of no kind (other) has not."""
    return tuple(code for code in shipped_codes() if code.lane and not code.parent)


@cache
def columns_with(book: str, *, group: str = "", lane: str = "") -> tuple[str, ...]:
    """Return the columns of the main codes of a book with a group, or with a lane."""
    wanted = [code for code in main_codes() if code.book == book]
    return tuple(code.column for code in wanted if group in ("", code.group) and lane in ("", code.lane))


def given(session: AnnotatedSession, codes: Sequence[str]) -> tuple[Floats, Bools]:
    """Return for each turn the largest probability of some codes, and whether it has any of them.

    Codes that the run's coder does not give are passed over.

    Returns
    -------
    likely : float64 array (n_turns,)
        nan for turns that were not coded, and for all where none of the codes is given.
    hits : bool array (n_turns,)
    """
    there = [code for code in codes if session.has(code)]
    if not there:
        return np.full(len(session), nan), np.zeros(len(session), np.bool_)
    likely: Floats = np.max([session.probabilities[code] for code in there], axis=0)
    return likely, np.any([session.decided(code) for code in there], axis=0) & ~np.isnan(likely)


def coded(session: AnnotatedSession, *codes: str) -> Bools:
    """Return which turns with words were coded with all of some codes, bool (n_turns,); none if a code is missing."""
    if not session.has(*codes):
        return np.zeros(len(session), np.bool_)
    unknown = np.any([np.isnan(session.probabilities[one]) for one in codes], axis=0)
    return np.asarray(~unknown & (session.n_words > 0))


def lengths_of_runs(hits: Bools) -> Ints:
    """Return how many marks stand in a row, for each row of marks; int64 (n_runs,).

    Examples
    --------
    >>> lengths_of_runs(np.array([1, 1, 0, 1, 0, 0, 1, 1, 1], dtype=bool)).tolist()
    [2, 1, 3]
    """
    edges = np.diff(np.concatenate([[0], hits.astype(np.int64), [0]]))
    return np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)


# ---- along the session


def slope(series: Floats) -> tuple[float, float, float]:
    """Return the slope from the first value (0) to the last (1) with its 95% interval; nan under `FEWEST_FOR_SLOPE`.

    Neighbouring turns are alike, which the usual standard error leaves out: this is Newey and West's (1987), with
    neighbours as far as 4 (n / 100)^(2/9) turns away, and Student's t.

    Examples
    --------
    >>> [round(x, 2) for x in slope(np.linspace(-0.5, 0.5, 10))]
    [1.0, 1.0, 1.0]
    """
    n = len(series)
    if n < FEWEST_FOR_SLOPE:
        return nan, nan, nan
    place = np.linspace(-0.5, 0.5, n)
    spread = float((place * place).sum())
    found = float((place * series).sum()) / spread
    scores = place * (series - series.mean() - found * place)
    variance = float((scores * scores).sum())
    reach = int(4 * (n / 100) ** (2 / 9))
    for lag in range(1, reach + 1):
        variance += 2 * (1 - lag / (reach + 1)) * float((scores[lag:] * scores[:-lag]).sum())
    # The kernel may bring the sum a little under 0 by rounding alone.
    error = sqrt(max(variance, 0.0) * n / (n - 2)) / spread
    half = float(stdtrit(n - 2, 0.975)) * error
    return found, found - half, found + half
