"""What a writer is, and what a form can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from therapy_analytics.readers import join_marks
from therapy_analytics.registry import Registry
from therapy_analytics.session import Session, Turn

Write = Callable[[Session], bytes]

FEATURES: dict[str, tuple[str, Callable[[Turn], bool]]] = {
    "times": ("times", lambda turn: turn.start_s is not None or turn.end_s is not None),
    "ends": ("times of turns whose start is not known", lambda turn: turn.start_s is None and turn.end_s is not None),
    "codes": ("codes by people", lambda turn: bool(turn.gold)),
    "lines": ("line breaks inside turns", lambda turn: "\n" in turn.text),
    "others": ("turns that are neither the therapist's nor the client's", lambda turn: turn.role == "other"),
}
"""What a turn can have that not every form holds: its name for the user, and how to see it."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A registered form."""

    name: str
    suffix: str
    holds: frozenset[str]
    write: Write
    description: str

    def losses(self, session: Session) -> Iterator[str]:
        """Yield what the session has and this form cannot hold."""
        for feature, (what, has) in FEATURES.items():
            if feature not in self.holds and any(map(has, session.turns)):
                yield what


def clock(seconds: float | None) -> str:
    """Return a time as captions and people write it, to the millisecond; without one, the start.

    Examples
    --------
    >>> clock(3723.5), clock(None)
    ('01:02:03.500', '00:00:00.000')
    """
    whole = round(1000 * (seconds or 0))
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02}.{whole % 1000:03}"


def table_of(session: Session, *, times: tuple[str, str], write_time: Callable[[float], str]) -> list[list[str]]:
    """Return a session as a table: a header, then a row a turn with its marks back in the words.

    Where speakers were changed, the last column says how.

    Parameters
    ----------
    session : Session
        Any.
    times : tuple of str
        What the columns of starts and ends are called.
    write_time : callable
        Seconds to a cell; a turn without a time has an empty one.
    """
    codes = list(dict.fromkeys(name for turn in session.turns for name in turn.gold))
    changed = any(turn.speaker_changed for turn in session.turns)
    marks = ["speaker_changed"] if changed else []
    rows = [["speaker", "role", *times, "text", *(f"gold_{name}" for name in codes), *marks]]
    for turn in session.turns:
        when = ("" if time is None else write_time(time) for time in (turn.start_s, turn.end_s))
        given = (turn.gold.get(name, "") for name in codes)
        mark = [turn.speaker_changed] if changed else []
        rows.append([turn.speaker, turn.role, *when, join_marks(turn.text, turn.marks), *given, *mark])
    return rows


WRITERS: Registry[Writer] = Registry("form", package="therapy_analytics.writers")


def writer(name: str, *, suffix: str, holds: set[str]) -> Callable[[Write], Write]:
    """Register a function as the writer of a form.

    Parameters
    ----------
    name : str
        As in ``--to NAME``.
    suffix : str
        Ending of its files, as in ``.csv``.
    holds : set of str
        Those of `FEATURES` that survive.
    """

    def register(write: Write) -> Write:
        description = (write.__doc__ or "").strip().split("\n", maxsplit=1)[0]
        WRITERS.add(name, Writer(name, suffix, frozenset(holds), write, description), module=write.__module__)
        return write

    return register
