"""How cost and memory go with the number of sessions: ``python -m benchmarks.scale [N ...] [options]``.

Makes transcripts by repeating and perturbing the samples (own words; no two sessions are alike), runs ``tanalyze run``
on them as a user would, and prints a row for each number of sessions: turns a second, processor time a turn and its
ratio to the floor that spaCy's blank tokeniser sets on the same words in the same minute, the largest memory of all its
processes together, and how long it takes until the first session is done.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from therapy_analytics import Turn

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-c", "from therapy_analytics.cli import main; main()", "run"]
NUMBERS = (100, 1_000, 10_000, 100_000)
PERTURBED = 0.1
"""So many of the words are replaced by another of the same speaker's."""
FLOOR_TURNS = 4_000
_KB = 1024
ROLES = ("therapist", "client")


@dataclass(frozen=True, slots=True)
class Row:
    """What one run took."""

    n_sessions: int
    n_turns: int
    wall_s: float
    processor_s: float
    first_s: float
    peak_mb: float
    largest_mb: float
    floor_us: float

    def cells(self, before: Row | None) -> list[str]:
        """Return its line of the table; what turns cost beyond those of the row before is without the start."""
        each = 1e6 * self.processor_s / self.n_turns
        more = "" if before is None else f"{self.beyond(before):,.0f}"
        return [
            f"{self.n_sessions:,}", f"{self.n_turns:,}", f"{self.wall_s:,.0f}", f"{self.n_turns / self.wall_s:,.0f}",
            f"{each:,.0f}", f"{each / self.floor_us:.0f}", more, f"{self.peak_mb:,.0f}", f"{self.largest_mb:,.0f}",
            f"{self.first_s:.1f}",
        ]  # fmt: skip

    def beyond(self, before: Row) -> float:
        """Return what each turn more took than in a smaller run, in microseconds."""
        return 1e6 * (self.processor_s - before.processor_s) / (self.n_turns - before.n_turns)


HEADER = (
    "sessions", "turns", "wall (s)", "turns/s", "processor time a turn (us)", "times the floor",
    "each turn more than in the row before (us)", "memory of all (MB)",
    "of the largest process (MB)", "first session after (s)",
)  # fmt: skip


def main() -> None:
    """Print the table."""
    asked = _parser().parse_args()
    if asked.make:
        write(asked.make, (asked.numbers or NUMBERS)[0], asked.turns, files=True)
        return
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {' '.join(_options(asked))}"
    )
    print("| " + " | ".join(HEADER) + " |\n|" + " ---: |" * len(HEADER), flush=True)
    before = None
    for n in asked.numbers or NUMBERS:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            row = _row(Path(folder), n, asked)
        print("| " + " | ".join(row.cells(before)) + " |", flush=True)
        before = row


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--turns", type=int, default=20, help="turns of each session")
    parser.add_argument("--files", action="store_true", help="a file a session, not one file for all")
    parser.add_argument("--output-format", default="parquet")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--tagger", default="fast")
    parser.add_argument("--folder", type=Path, help="where the transcripts and results are for the time being")
    parser.add_argument("--make", type=Path, help="only write the transcripts there, a file a session")
    return parser


def _options(asked: argparse.Namespace) -> list[str]:
    options = ["--output-format", asked.output_format, "--processes", str(asked.processes), "--tagger", asked.tagger]
    return [*options, "--no-plots"] if asked.output_format == "csv" else options


def _row(folder: Path, n: int, asked: argparse.Namespace) -> Row:
    talks, out = folder / "talks", folder / "results"
    n_turns = write(talks, n, asked.turns, files=asked.files)
    floor = _floor(n, asked.turns)
    began = time.monotonic()
    process = subprocess.Popen(
        [*COMMAND, str(talks), *_options(asked), "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    first = peak = largest = 0.0
    ended = 0
    while not ended:
        first = first or (time.monotonic() - began if _has_begun(out) else 0)
        memory = _memory(process.pid)
        peak, largest = max(peak, sum(memory)), max(largest, *memory)
        time.sleep(0.05 if not first else 0.5)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    wall = time.monotonic() - began
    if status:
        raise SystemExit(f"the run of {n} sessions ended with status {os.waitstatus_to_exitcode(status)}")
    used = usage.ru_utime + usage.ru_stime  # that of the processes that it started is counted in
    return Row(n, n_turns, wall, used, first or wall, peak, largest, (floor + _floor(n, asked.turns)) / 2)


def _has_begun(out: Path) -> bool:
    folder = out / "sessions"
    return folder.is_dir() and any(not path.name.startswith(".") for path in folder.iterdir())


def _memory(root: int) -> list[float]:
    """Return the memory of a process and of each that it started, in MB; what several share is divided among them."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    family, found = {root}, [0.0]
    for pid in sorted(parents):
        if parents[pid] in family:
            family.add(pid)
    for pid in family:
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            found.append(int(re.findall(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[0]) / _KB)
    return found


def _floor(n: int, turns: int) -> float:
    """Return how long spaCy's blank tokeniser takes for a turn of these sessions, in microseconds."""
    import spacy

    tokenizer = spacy.blank("en").tokenizer
    some = min(n, FLOOR_TURNS // turns)
    texts = [message["text"] for talk in _talks(some, turns) for message in talk["messages"]]
    for text in texts:
        tokenizer(text)
    began = time.process_time()
    for text in texts:
        tokenizer(text)
    return 1e6 * (time.process_time() - began) / len(texts)


def write(folder: Path, n: int, turns: int, *, files: bool) -> int:
    """Write transcripts, a file each or one JSON Lines file for all, and return how many turns they have."""
    folder.mkdir()
    made = 0
    lines = _talks(n, turns)
    if files:
        for at, talk in enumerate(lines):
            (folder / f"talk_{at:06d}.json").write_text(json.dumps(talk))
            made += len(talk["messages"])
        return made
    with (folder / "talks.jsonl").open("w") as file:
        for talk in lines:
            file.write(json.dumps(talk) + "\n")
            made += len(talk["messages"])
    return made


def _talks(n: int, turns: int) -> Iterator[dict[str, Any]]:
    """Yield sessions that no two of are alike: passages of the samples, some of their words replaced."""
    import therapy_analytics as ta

    turns_of = [session.turns for session in ta.read(ROOT / "sample_transcripts") if len(session.turns) >= 8]
    spoken = [turn for one in turns_of for turn in one if turn.role != "other"]
    words = {role: [w for turn in spoken if turn.role == role for w in turn.text.split()] for role in ROLES}
    for number in range(n):
        draw = random.Random(number)
        some: list[Turn] = []
        while len(some) < turns:
            one = draw.choice(turns_of)
            some += one[draw.randrange(len(one) // 2) :]
        messages = [
            {"speaker": turn.role, "text": _changed(turn.text, words[turn.role], draw)}
            for turn in some[:turns]
            if turn.role in ROLES
        ]
        yield {"id": f"talk_{number:06d}", "counselor": f"c{number % 50}", "messages": messages}


def _changed(text: str, words: Sequence[str], draw: random.Random) -> str:
    return " ".join(draw.choice(words) if draw.random() < PERTURBED else word for word in text.split())


if __name__ == "__main__":
    main()
