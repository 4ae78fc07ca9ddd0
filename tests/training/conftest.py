"""Invented sessions in which some codes can be told from the words, and some cannot."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.talks import THINGS
from therapy_analytics.core.session import Role, Session, Turn

HELLO = ("hello there", "welcome back", "hello again", "welcome in")
TALK = ("tell me about the week", "how did that go", "what was it like", "go on", "what else", "say more about work")
REPLY = ("it was a long week", "i slept badly", "we went to the lake", "my boss called me", "i am not sure")


def talk(number: int, seed: int = 0) -> Session:
    """Return a session of 16 turns; a third of the therapist's greet."""
    rng = np.random.default_rng([seed, number])
    turns = []
    for index in range(16):
        role: Role = "therapist" if index % 2 == 0 else "client"
        said = rng.choice(REPLY) if role == "client" else rng.choice(TALK)
        if role == "therapist" and rng.random() < 1 / 3:
            said = f"{rng.choice(HELLO)}, {said}"
        said = f"{said} {' '.join(rng.choice(THINGS, 4))}"  # without these words all sessions would be copies
        turns.append(Turn(index=index, speaker=role, role=role, text=said, first_row=index + 1))
    return Session(id=f"s{number}", source_file="s.txt", turns=tuple(turns), metadata={"counselor": f"c{number // 2}"})


def codes_of(sessions: list[Session], seed: int = 0) -> pd.DataFrame:
    """Return what a coder gave therapist turns: greets (by the words), luck (by chance), and speaks (always)."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "session_id": one.id,
            "turn": turn.index,
            "greets": int(turn.text.startswith(("hello", "welcome"))),
            "luck": int(rng.random() < 0.4),
        }
        for one in sessions
        for turn in one.turns
        if turn.role == "therapist"
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def sessions() -> list[Session]:
    """Twelve sessions of six counselors."""
    return [talk(number) for number in range(12)]


@pytest.fixture(scope="session")
def coded(sessions: list[Session]) -> pd.DataFrame:
    """Their codes."""
    return codes_of(sessions)
