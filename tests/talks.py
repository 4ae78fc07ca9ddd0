"""Sessions made by hand, for tests of several packages."""

from __future__ import annotations

from collections.abc import Sequence

from therapy_analytics.codes import Codes, load_accurate
from therapy_analytics.core.session import Role, Session, Turn
from therapy_analytics.text import Batch, annotate
from therapy_analytics.text.lexicons import Matcher

PAIR: tuple[Role, Role] = ("therapist", "client")
THINGS = (
    "tea",
    "rain",
    "bread",
    "music",
    "trains",
    "paint",
    "dogs",
    "letters",
    "snow",
    "songs",
    "maps",
    "shoes",
    "boats",
)
"""What invented turns are about, so that no two of them are alike."""


def session(*texts: str, roles: Sequence[Role] = PAIR, name: str = "s") -> Session:
    """Return a session whose turns go round the roles."""
    turns = (
        Turn(index=i, speaker=roles[i % len(roles)], role=roles[i % len(roles)], text=text, first_row=i + 1)
        for i, text in enumerate(texts)
    )
    return Session(id=name, source_file="s.txt", turns=tuple(turns))


def arrays(*sessions: Session) -> Batch:
    """Return sessions as arrays, without lexicons."""
    return annotate(sessions, Matcher([]))


def accurate_codes(batch: Batch) -> Codes:
    """Return what the accurate tagger says; a process of its own can find this function."""
    return load_accurate().predict(batch)


TALK = session(
    "Hello, what brings you here today?",
    "My doctor sent me. I have not been sleeping.",
    "You have not been sleeping, and it worries you.",
    "Yes. I want to change that, but I cannot stop working late.",
    "You could try to leave the laptop at work.",
    "Maybe.",
)
