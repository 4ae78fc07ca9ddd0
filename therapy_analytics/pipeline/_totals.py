"""What is said of all sessions together, from the records of what is done: nothing holds all sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from therapy_analytics.cells import csv_of_rows
from therapy_analytics.measures.process._responses import SHAPE, Pooled
from therapy_analytics.results import Done, Part, read_done

_END = "\n"


@dataclass(slots=True)
class Totals:
    """What is known of all sessions together, and is small however many there are.

    Attributes
    ----------
    ids : list of str
        Of those that are done.
    pooled : Pooled
        What therapists answer to what.
    counted : list of mapping
        What an outside coder counted.
    n_dyads : int
        How many pairs there are in sessions of several.
    """

    ids: list[str] = field(default_factory=list)
    pooled: Pooled = field(default_factory=Pooled)
    counted: list[Mapping[str, int]] = field(default_factory=list)
    n_dyads: int = 0

    def add_session(self, one: Done) -> None:
        """Count a session in."""
        self._add([one.about["session_id"]], [one.responses], one.counted, len(one.dyads))

    def add_part(self, one: Part) -> None:
        """Count the sessions of a part in."""
        self._add(one.ids, one.responses, one.counted, one.n_dyads)

    def _add(
        self, ids: Iterable[str], responses: Iterable[Sequence[int]], counted: Mapping[str, int], n_dyads: int
    ) -> None:
        self.ids += ids
        self.n_dyads += n_dyads
        for row in responses:
            self.pooled.add(np.array(row, dtype=np.float64).reshape(4, *SHAPE))
        if counted:
            self.counted.append(counted)


def done_in(folder: Path, ids: Iterable[str]) -> Iterator[Done]:
    """Yield what is done of these sessions, in order, from their folders."""
    return (one for one in (read_done(folder / name) for name in ids) if one is not None)


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
