"""What a run has done so far, and what is left: sessions that an earlier run of the same kind has done are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from therapy_analytics.cells import csv_of_rows
from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.measures.process._responses import SHAPE, Pooled
from therapy_analytics.pipeline._work import Work
from therapy_analytics.results import Done, is_whole, read_done

if TYPE_CHECKING:
    from therapy_analytics.session import Session


_END = "\n"


@dataclass(slots=True)
class Going:
    """The sessions of a run, by their ids alone: the rest is in their folders.

    Attributes
    ----------
    work : Work
        What they are measured with.
    ids : list of str
        All that were read, in order.
    kept : int
        How many were done before.
    redraw : list of str
        Those that were, but for the formats of their figures.
    problems : list of UnreadableFileError
        What must be said of those that could not be measured.
    """

    work: Work
    ids: list[str] = field(default_factory=list)
    kept: int = 0
    redraw: list[str] = field(default_factory=list)
    problems: list[UnreadableFileError] = field(default_factory=list)

    def pending(self, sessions: Iterable[Session]) -> Iterator[Session]:
        """Yield the sessions that are to be measured."""
        for session in sessions:
            self.ids.append(session.id)
            found, key = self._done(session.id), self.work.key_of(session)
            if found is None or found.key.tables != key.tables:
                yield session
                continue
            self.kept += 1
            if found.key != key:
                self.redraw.append(session.id)

    def _done(self, name: str) -> Done | None:
        folder = self.work.folder / name
        found = read_done(folder)
        return found if found is not None and is_whole(found, folder) else None

    def done(self) -> Iterator[Done]:
        """Yield what is done, in the order in which it was read."""
        for name in self.ids:
            found = read_done(self.work.folder / name)
            if found is not None:
                yield found


@dataclass(slots=True)
class Totals:
    """What is known of all sessions together, and is small however many there are."""

    ids: set[str] = field(default_factory=set)
    about: dict[str, None] = field(default_factory=dict)
    gold: set[str] = field(default_factory=set)
    pooled: Pooled = field(default_factory=Pooled)
    counted: list[dict[str, int]] = field(default_factory=list)
    n_dyads: int = 0

    def add(self, done: Done) -> None:
        """Count one session in."""
        self.ids.add(done.about["session_id"])
        self.about |= dict.fromkeys(done.about)
        self.gold.update(done.gold)
        self.n_dyads += len(done.dyads)
        self.pooled.add(np.array(done.responses, dtype=np.float64).reshape(4, *SHAPE))
        if done.counted:
            self.counted.append(dict(done.counted))


def write_sessions(sessions: Iterable[Done], path: Path, about: Iterable[str], measures: list[str]) -> None:
    """Write sessions.csv, a session at a time."""
    names = list(about)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_of_rows([[*names, *measures]]))
        for one in sessions:
            cells = csv_of_rows([[one.about.get(name, "") for name in names]])
            file.write(f"{cells.removesuffix(_END)},{one.measures}{_END}")


def write_dyads(sessions: Iterable[Done], path: Path, measures: list[str]) -> None:
    """Write dyads.csv, a session at a time."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_of_rows([["session_id", "therapist", "client", *measures]]))
        for one in sessions:
            file.writelines(one.dyads)
