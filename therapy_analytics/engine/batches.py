"""Sessions in groups of about one size, so that memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from therapy_analytics.session import Session


def in_batches(sessions: Iterable[Session], n_turns: int) -> Iterator[tuple[Session, ...]]:
    """Group sessions, in order, so that each group but the last has at least so many turns, and not many more."""
    batch: list[Session] = []
    n = 0
    for session in sessions:
        batch.append(session)
        n += len(session.turns)
        if n >= n_turns:
            yield tuple(batch)
            batch, n = [], 0
    if batch:
        yield tuple(batch)
