"""Time the readers: ``python -m benchmarks.reading``.

Each form holds the same 20,000 turns in 200 sessions of invented words; the figure is turns a
second from bytes on disk to sessions, one process, median of five.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from therapy_analytics.core.session import Session
from therapy_analytics.readers import RawSession, ReadOptions, Row, read
from therapy_analytics.readers.build import build_session
from therapy_analytics.readers.writers import WRITERS

RUNS, SESSIONS, TURNS = 5, 200, 100
SPOKEN = ("So it has been a hard week, and you kept going.", "I think I did, but I don't know how long I can.")


def main() -> None:
    """Print turns a second for each form."""
    sessions = [_session(number) for number in range(SESSIONS)]
    print(f"{SESSIONS * TURNS} turns, medians of {RUNS}\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, files in _forms(sessions).items():
            place = Path(folder) / name
            place.mkdir()
            for file, data in files.items():
                (place / file).write_bytes(data)
            print(f"{name:<28} {SESSIONS * TURNS / _seconds(place):>9,.0f} turns/s")


def _session(number: int) -> Session:
    rows = [
        Row("TC"[turn % 2], f"{SPOKEN[turn % 2]} {number} {turn}.", turn + 1, 4.0 * turn, 4.0 * turn + 3)
        for turn in range(TURNS)
    ]
    return build_session(RawSession("", rows), f"s{number}", "x", {}, ReadOptions())


def _forms(sessions: list[Session]) -> dict[str, dict[str, bytes]]:
    forms = {f"{one.name}, a file a session": _each(sessions, one.name) for one in WRITERS}
    lines = (_text(session) for session in sessions)
    forms["text, a file a session"] = {f"{one.id}.txt": data for one, data in zip(sessions, lines, strict=True)}
    forms["csv, one file"] = {"all.csv": _one_table(sessions)}
    forms["jsonl, one file"] = {"all.jsonl": b"".join(WRITERS["jsonl"].write(one) for one in sessions)}
    return forms


def _each(sessions: list[Session], form: str) -> dict[str, bytes]:
    writer = WRITERS[form]
    return {f"{one.id}{writer.suffix}": writer.write(one) for one in sessions}


def _text(session: Session) -> bytes:
    return "".join(f"{turn.speaker}: {turn.text}\n\n" for turn in session.turns).encode()


def _one_table(sessions: list[Session]) -> bytes:
    rows = (f'{one.id},{turn.speaker},"{turn.text}"\n' for one in sessions for turn in one.turns)
    return ("session_id,speaker,text\n" + "".join(rows)).encode()


def _seconds(place: Path) -> float:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        assert sum(len(session.turns) for session in read(place)) == SESSIONS * TURNS
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
