"""A small study for tests: invented clients with short sessions, and their scores."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

ASKS = (
    "What has this week been like for you?", "How did that feel?", "What would you like to be different?",
    "When did you first notice it?", "What happened then?", "How do you sleep at the moment?",
)  # fmt: skip
REFLECTS = (
    "It sounds like you are worn out.", "You feel torn between the two.", "So part of you wants to try it again.",
    "You are proud that you went there.", "It hurts that nobody asked you.",
)  # fmt: skip
ADVISES = (
    "You should go to bed earlier.",
    "I would write a list every evening.",
    "Try to walk for half an hour a day.",
)
HOPES = (
    "I want to get out of this.", "I called my sister and it helped.", "I think I can do that next week.",
    "I have started to cook again.", "I am ready to try.",
)  # fmt: skip
DOUBTS = (
    "I just feel sad all day.", "I can't see how that would work.", "Nothing changes anyway.",
    "I don't want to go there.", "It is too much for me right now.",
)  # fmt: skip
DANGER = "Some nights I think about killing myself."
WORSE = ("p03", "p09")


def write_study(folder: Path, *, clients: int = 12, sessions: int = 6, seed: int = 5) -> tuple[Path, Path]:
    """Write transcripts with a table about them, and PHQ-9 scores; return the folder and the table of scores.

    Clients p01, p02, ... of three counselors; p03 and p09 get worse by ten points, the others better by eight. In
    sessions with lower scores the therapist reflects more, also beside the client's trend. Client p03 speaks of danger
    in the fourth session.
    """
    rng = random.Random(seed)
    transcripts = folder / "transcripts"
    transcripts.mkdir(parents=True)
    about, scores = [], []
    for c in range(1, clients + 1):
        client, counselor = f"p{c:02d}", ("Ash", "Brook", "Cole")[c % 3]
        for s in range(1, sessions + 1):
            share = (s - 1) / max(sessions - 1, 1)
            apart = rng.choice((-6, 0, 6)) if 1 < s < sessions else rng.choice((-1, 0, 1))
            score = min(round(15 + (10 if client in WORSE else -8) * share) + apart, 27)
            warm = 1 - score / 27 + rng.uniform(-0.1, 0.1)
            name = f"{client}_{s}"
            (transcripts / f"{name}.txt").write_text(
                _talk(rng, warm, danger=(client, s) == ("p03", 4)), encoding="utf-8"
            )
            about.append((name, client, counselor, f"2025-{s + 1:02d}-{c:02d}", s, "human"))
            scores.append((name, score))
    columns = ["session_id", "client", "counselor", "date", "session_number", "source"]
    pd.DataFrame(about, columns=columns).to_csv(transcripts / "sessions.csv", index=False)
    table = folder / "phq9.csv"
    pd.DataFrame(scores, columns=["session_id", "PHQ-9"]).to_csv(table, index=False)
    return transcripts, table


def _talk(rng: random.Random, warm: float, *, danger: bool, pairs: int = 10) -> str:
    lines: list[str] = []
    for i in range(pairs):
        does: Sequence[str] = REFLECTS if rng.random() < warm else rng.choice((ASKS, ASKS, ADVISES))
        answers: Sequence[str] = HOPES if rng.random() < warm else DOUBTS
        lines += [f"T: {rng.choice(does)}", f"C: {DANGER if danger and i == 4 else rng.choice(answers)}"]
    return "\n".join(lines) + "\n"
