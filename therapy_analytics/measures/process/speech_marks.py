"""Pauses, laughter and what could not be heard, as the transcriber noted them."""

from __future__ import annotations

from math import inf, nan

from therapy_analytics.core.session import Role, Turn
from therapy_analytics.measures import Column, measure
from therapy_analytics.text import AnnotatedSession

_ROLES: tuple[Role, Role] = ("therapist", "client")
_COUNTED: dict[str, tuple[frozenset[str], str]] = {
    "pauses": (frozenset({"pause", "silence"}), "Pauses and silences"),
    "laughs": (frozenset({"laughter"}), "Laughs"),
    "unclear": (frozenset({"unclear", "overlap"}), "Places that the transcriber could not make out"),
}
_MISLEADS = (
    "Says how the transcriber writes as much as how the two talk; undefined (empty) where the transcript has no such "
    "marks at all. Captions and chats have none"
)
_SOURCE = "This package's own count"


def _columns(role: Role) -> list[Column]:
    counts = [
        Column(
            name=f"n_{name}_{role}",
            meaning=f"{what} marked in turns of the {role}",
            unit="count",
            low=0,
            high=inf,
            high_means="more of them",
            formula=f"count of marks of the kinds {', '.join(sorted(kinds))}",
            misleads=_MISLEADS,
            source=_SOURCE,
            evidence="supported",
        )
        for name, (kinds, what) in _COUNTED.items()
    ]
    seconds = Column(
        name=f"pause_s_{role}",
        meaning=f"Seconds of marked pauses and silences in turns of the {role}, where the marks say how long",
        unit="seconds",
        low=0,
        high=inf,
        high_means="longer pauses",
        formula="sum of the seconds of marks of the kinds pause, silence",
        misleads=_MISLEADS,
        source=_SOURCE,
        evidence="supported",
    )
    return [*counts, seconds]


_COLUMNS = [column for role in _ROLES for column in _columns(role)]
_NAMES = tuple(column.name for column in _COLUMNS)


@measure(columns=_COLUMNS)
def speech_marks(session: AnnotatedSession) -> dict[str, float]:
    """Count what the transcriber noted: ``[laughs]``, ``(pause 3s)``, ``[inaudible]``.

    High means that more was noted. In "I [laughs] know (pause 3s) it" there is one laugh, one
    pause, and 3 seconds of pause.

    Notes
    -----
    A session without any mark may have had no pauses, or a transcriber who writes none: all
    counts are undefined then, not 0.

    References
    ----------
    This package's own.
    """
    turns = session.session.turns
    if not any(turn.marks for turn in turns):
        return dict.fromkeys(_NAMES, nan)
    values: dict[str, float] = {}
    for role in _ROLES:
        own = [turn for turn in turns if turn.role == role]
        for name, (kinds, _) in _COUNTED.items():
            values[f"n_{name}_{role}"] = float(_count(own, kinds)) if own else nan
        timed = [mark.seconds for turn in own for mark in turn.marks if mark.seconds is not None]
        values[f"pause_s_{role}"] = float(sum(timed)) if timed else nan
    return values


def _count(turns: list[Turn], kinds: frozenset[str]) -> int:
    return sum(mark.kind in kinds for turn in turns for mark in turn.marks)
