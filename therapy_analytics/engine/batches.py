"""Sessions in groups of about one size, so that memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from therapy_analytics.session import Session


OF_A_SESSION = 10
"""What is held of a session, however short it is, takes as much memory as what is held of so many turns."""


def in_batches(sessions: Iterable[Session], n_turns: int) -> Iterator[tuple[Session, ...]]:
    """Group sessions, in order, so that each group but the last has about so many turns: fewer of short sessions."""
    batch: list[Session] = []
    n = 0
    for session in sessions:
        batch.append(session)
        n += len(session.turns) + OF_A_SESSION
        if n >= n_turns:
            yield tuple(batch)
            batch, n = [], 0
    if batch:
        yield tuple(batch)
