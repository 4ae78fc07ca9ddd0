"""Samples in the form that ``tanalyze sample`` writes, from sessions, and codes in the form that the pages hand out."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import therapy_analytics as ta
from therapy_analytics.codes import Code, codebook_named

CONTEXT = 8
FIELDS = ("session_id", "turn", "code", "value", "coder", "inclusion", "unsure", "note")
ASKS = ("How was the week with the new rota?", "Do you still swim on Fridays?", "What would a quiet evening look like?")
STATES = ("You kept the garden going all spring.", "That letter weighs on you.", "Here is how the group works.")
ANSWERS = ("I mean to ring my brother.", "It rained, so we stayed in.", "I cannot see myself stopping.")


def invented(n_sessions: int = 4, n_turns: int = 16) -> list[ta.Session]:
    """Return sessions in which a therapist asks, a client answers, and a therapist states."""
    found = []
    for number in range(n_sessions):
        lines = [(ASKS, STATES)[(at // 2 + number) % 2] if at % 2 == 0 else ANSWERS for at in range(n_turns)]
        words = [some[(at + number) % 3] for at, some in enumerate(lines)]
        roles = ("therapist", "client")
        turns = [
            ta.Turn(index=at, speaker="AB"[at % 2], role=roles[at % 2], text=text, first_row=at + 1)
            for at, text in enumerate(words)
        ]
        found.append(ta.Session(id=f"talk_{number}", source_file="", turns=tuple(turns)))
    return found


def sample_of(
    sessions: Iterable[ta.Session], folder: Path, *, n: int = 60, books: Sequence[str] = ("mi",), seed: int = 0
) -> Path:
    """Write a sample of turns of therapists and clients, about equally many a session."""
    folder.mkdir(parents=True, exist_ok=True)
    sessions, rng, rows, words = list(sessions), random.Random(seed), [], []
    for at, session in enumerate(sessions):
        coded = [turn.index for turn in session.turns if turn.role in ("therapist", "client")]
        wanted = (n - len(rows)) // (len(sessions) - at)
        drawn = sorted(rng.sample(coded, min(wanted, len(coded))))
        kept = {near for one in drawn for near in range(max(0, one - CONTEXT), one + 1)}
        rows += [
            (session.id, one, session.turns[one].role, f"{len(drawn) / len(coded):.6g}", "random") for one in drawn
        ]
        said = [{"turn": one.index, "role": one.role, "words": one.text} for one in session.turns if one.index in kept]
        words.append({"session_id": session.id, "turns": said})
    with (folder / "sample.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("session_id", "turn", "role", "inclusion", "why"), *rows])
    (folder / "turns.json").write_text(json.dumps({"sessions": words}), encoding="utf-8")
    design = {"format": "therapy-analytics sample", "version": 1, "books": list(books), "n_turns": len(rows)}
    (folder / "design.json").write_text(json.dumps(design), encoding="utf-8")
    return folder


def drawn(sample: Path) -> list[dict[str, str]]:
    """Return the rows of a sample."""
    with (sample / "sample.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def codes_of(
    sample: Path, path: Path, coder: str, has: Callable[[int, dict[str, str], Code], bool], *, book: str = "mi"
) -> Path:
    """Write the file of a coder who gives the codes that `has` says, by the number of the row in the sample."""
    rows: list[Sequence[object]] = [FIELDS]
    for at, row in enumerate(drawn(sample)):
        for code in (one for one in codebook_named(book).codes if one.role == row["role"]):
            about = (row["session_id"], row["turn"], code.column, int(has(at, row, code)))
            rows.append((*about, coder, row["inclusion"], int(at % 10 == 0), "hm" if at % 10 == 0 else ""))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path
