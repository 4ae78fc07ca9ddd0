"""Codes counted: the codes of the shipped codebooks, which turns have one, and which came after which."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes import Code, builtin_codebooks
from therapy_analytics.core.session import Role
from therapy_analytics.measures.turns import last_of, next_of
from therapy_analytics.text import AnnotatedSession

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SOURCE = "This package's own; codes: codebook process"
PREDICTED = "Codes are predictions (docs/tagger.md), and turns that were missed are missing here, too"
NOT_GIVEN = "undefined where the run's coder does not give the codes"


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
        return np.full(len(session), np.nan), np.zeros(len(session), np.bool_)
    likely: Floats = np.max([session.probabilities[code] for code in there], axis=0)
    return likely, np.any([session.decided(code) for code in there], axis=0) & ~np.isnan(likely)


def coded(session: AnnotatedSession, *codes: str) -> Bools:
    """Return which turns with words were coded with all of some codes, bool (n_turns,); none if a code is missing."""
    if not session.has(*codes):
        return np.zeros(len(session), np.bool_)
    unknown = np.any([np.isnan(session.probabilities[one]) for one in codes], axis=0)
    return np.asarray(~unknown & (session.n_words > 0))


def spoken(session: AnnotatedSession, role: Role) -> Bools:
    """Return the turns of a role that have words, bool (n_turns,)."""
    return session.spoken_by(role) & (session.n_words > 0)


def lengths_of_runs(hits: Bools) -> Ints:
    """Return how many marks stand in a row, for each row of marks; int64 (n_runs,).

    Examples
    --------
    >>> lengths_of_runs(np.array([1, 1, 0, 1, 0, 0, 1, 1, 1], dtype=bool)).tolist()
    [2, 1, 3]
    """
    edges = np.diff(np.concatenate([[0], hits.astype(np.int64), [0]]))
    return np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)


def replies(session: AnnotatedSession) -> tuple[Ints, Ints]:
    """Return the client turns that the therapist answers, and the answers: two arrays of places, one pair a reply.

    The answer is the therapist's next turn with words, unless the client speaks again before it (after somebody else).
    """
    return session.cached(_replies)


def _replies(session: AnnotatedSession) -> tuple[Ints, Ints]:
    client = np.flatnonzero(spoken(session, "client"))
    answer = next_of(session, "therapist")[client]
    answered = answer >= 0
    client, answer = client[answered], answer[answered]
    last = last_of(session, "client")[answer] == client
    return client[last], answer[last]
