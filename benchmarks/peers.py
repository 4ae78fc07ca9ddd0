"""Time the same measure in peers: ``python -m benchmarks.peers [TRANSCRIPTS] [--envs FOLDER] [--sessions N]``.

ConvoKit, ALIGN, the Team Communication Toolkit and TextDescriptives, each in an environment of its own under FOLDER
(made with pip where it is not there yet; a temporary one by default). Both sides of a pair stand in processes of their
own with the turns in memory, in their own data structures, and do one round each in turn; who begins alternates, and a
first round of both is not counted. Prints tables in Markdown: processor time and wall (medians), the median of the
ratios of the rounds, peak memory, how far values by session agree, what importing costs, and what does not run without
a download.

Without TRANSCRIPTS the samples. Words go to the processes through a temporary folder, which is deleted; Python's
sockets are shut in them. Environments take some 14 GB (torch), and minutes to make.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple

import numpy as np

from benchmarks._markdown import markdown
from benchmarks._peer_list import PEERS, Pair, Peer

ROOT = Path(__file__).resolve().parents[1]
THEIRS = ROOT / "benchmarks" / "_peer_side.py"
SAMPLES = ROOT / "sample_transcripts"
STARTS = 3
"""So often importing is timed, after once that is not counted."""
PATIENCE_S = 900
EQUAL = 1e-9
NO_CONNECTIONS = """
import socket
def refused(*_, **__):
    raise OSError("no connection may be opened here")
socket.socket.connect = socket.getaddrinfo = refused
"""


def main() -> None:
    """Print the tables."""
    asked = _asked()
    with tempfile.TemporaryDirectory() as made:
        envs = asked.envs or Path(made) / "envs"
        folder = Path(made) / "exchange"
        folder.mkdir(mode=0o700)
        n_sessions, n_turns = _hand_over(asked.transcripts, asked.sessions, folder)
        print(f"{_machine()} {n_sessions} sessions, {n_turns} turns; medians of {asked.rounds} rounds.\n")
        tables: list[list[list[str]]] = [[HEAD], [STARTING], [MISSING], [WHAT]]
        for peer in PEERS:
            for table, more in zip(tables, _rows_of(peer, envs, folder, asked.rounds), strict=True):
                table.extend(more)
        print("\n\n".join(markdown(table) for table in tables))


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Time the same measure in peers.")
    parser.add_argument("transcripts", nargs="?", type=Path, default=SAMPLES)
    parser.add_argument("--envs", type=Path, help="folder of the environments, used again if they are there")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sessions", type=int, help="the first so many alone")
    return parser.parse_args()


def _machine() -> str:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}{load};"


def _hand_over(transcripts: Path, most: int | None, folder: Path) -> tuple[int, int]:
    """Write the turns to where the processes read them."""
    import therapy_analytics as ta

    sessions = [one.turns for one in islice(ta.read(transcripts), most)]
    given = [
        {"id": f"s{i}", "roles": [turn.role for turn in turns], "texts": [turn.text for turn in turns]}
        for i, turns in enumerate(sessions)
    ]
    (folder / "given.json").write_text(json.dumps({"sessions": given}), encoding="utf-8")
    return len(given), sum(map(len, sessions))


# ---- environments


def environment(peer: Peer, envs: Path) -> tuple[Path, str]:
    """Return the Python of a peer's environment, made where it is not there, and why there is none."""
    python = envs / peer.package / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if _has(python, peer.package):
        return python, ""
    make = [sys.executable, "-m", "venv", str(envs / peer.package)]
    for command in (make, [str(python), "-m", "pip", "install", "--quiet", peer.package]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "Error"))]
            return python, errors[-1][:200] if errors else f"{command[2]} stopped"
    return python, ""


def _has(python: Path, package: str) -> bool:
    code = f"import importlib.metadata as m; m.version({package!r})"
    return python.exists() and subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def _surroundings(python: Path, folder: Path, *, own: bool) -> dict[str, str]:
    """Return environment variables: one thread, a home that is deleted, the environment's programs, no network."""
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    places = {"HOME": str(folder), "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    found = {**given, **nowhere, **single, **offline, **places}
    return {**found, "PYTHONPATH": str(ROOT)} if own else found


def _tried(peer: Peer, python: Path, folder: Path) -> list[list[str]]:
    """Return which parts of a peer run as they come, and what is used instead of those that do not."""
    rows = []
    for what, code in peer.needs.items():
        job = [str(python), "-c", f"{NO_CONNECTIONS}\n{code}"]
        around = _surroundings(python, folder, own=False)
        done = subprocess.run(job, env=around, cwd=folder, capture_output=True, text=True, check=False)
        rows.append([peer.name, what, _last_error(done.stderr) if done.returncode else "runs"])
    return [[*row, peer.instead if i == 0 else "as above"] for i, row in enumerate(rows)]


def _last_error(errors: str) -> str:
    """Return the kind of the last error of a traceback."""
    named = [line.split(":")[0] for line in errors.splitlines() if line[:1].isalpha() and "Error" in line.split(":")[0]]
    return f"needs a download ({named[-1].rpartition('.')[2]})" if named else "does not run"


# ---- processes


class FailedError(Exception):
    """A side that cannot do its part; says why."""


class Other:
    """The other end of a process of `_peer_side`."""

    def __init__(self, process: subprocess.Popen[str], side: str) -> None:
        self._process = process
        self._side = side
        self.start = self.answer()

    def ask(self, word: str) -> Any:
        """Say a word and return what comes back."""
        assert self._process.stdin
        with suppress(BrokenPipeError):  # then there is no answer either
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()
        return self.answer()

    def answer(self) -> Any:
        """Return the next answer, or raise `FailedError`."""
        assert self._process.stdout
        watch = Timer(PATIENCE_S, self._process.kill)
        watch.start()
        line = self._process.stdout.readline()
        watch.cancel()
        found = json.loads(line) if line.strip() else {"failed": "its process ended"}
        if "failed" in found:
            raise FailedError(f"{self._side}: {found['failed']}")
        return found


@contextmanager
def other(job: str, side: str, python: Path, folder: Path) -> Iterator[Other]:
    """Begin a process that has imported what it needs, and end it."""
    run = ["-m", "benchmarks._peer_ours"] if side == "ours" else [str(THEIRS)]
    command = [str(python), "-P", *run, job, str(folder)]
    around = _surroundings(python, folder, own=side == "ours")
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env=around, cwd=folder
    )
    try:
        yield Other(process, side)
    finally:
        process.kill()
        process.communicate()


# ---- figures


class Round(NamedTuple):
    """Seconds of the processor, and by the clock."""

    cpu: float
    wall: float


class Measured(NamedTuple):
    """What a side took in each round, its peak memory in all and when it had imported (MB), and values by session."""

    rounds: list[Round]
    peak: float
    before: float
    values: Mapping[str, Sequence[float]]


HEAD = ["peer", "measure", "ours, CPU (wall)", "theirs, CPU (wall)", "theirs / ours, CPU", "peak memory, ours; theirs"]
HEAD += ["values by session"]
STARTING = ["peer", "version", "ours, import CPU (wall)", "theirs, import CPU (wall)", "theirs / ours, CPU"]
MISSING = ["peer", "part", "without a download", "used instead"]
WHAT = ["peer", "measure", "ours", "theirs"]


def _rows_of(peer: Peer, envs: Path, folder: Path, rounds: int) -> tuple[list[list[str]], ...]:
    """Return what a peer adds to the tables."""
    python, problem = environment(peer, envs)
    what = [[peer.name, pair.what, pair.ours, pair.theirs] for pair in peer.pairs]
    if problem:
        return [[peer.name, pair.what, *["-"] * 4, f"not installed: {problem}"] for pair in peer.pairs], [], [], what
    times = [_guarded(peer, pair, lambda pair=pair: _timed(peer, pair, python, folder, rounds)) for pair in peer.pairs]  # type: ignore[misc]
    try:
        starts = [_starts(peer, python, folder)]
    except FailedError as why:
        starts = [[peer.name, "-", "-", "-", str(why)]]
    return times, starts, _tried(peer, python, folder), what


def _guarded(peer: Peer, pair: Pair, work: Callable[[], list[str]]) -> list[str]:
    try:
        return work()
    except FailedError as why:
        return [peer.name, pair.what, *["-"] * 4, f"does not run: {why}"]


def _timed(peer: Peer, pair: Pair, python: Path, folder: Path, rounds: int) -> list[str]:
    took: tuple[list[Round], list[Round]] = ([], [])
    with other(pair.job, "theirs", python, folder) as they:
        they.answer()  # first of the two: what it finds may be handed on
        with other(pair.job, "ours", Path(sys.executable), folder) as we:
            we.answer()
            for i in range(rounds + 1):
                in_turn = list(zip((we, they), took, strict=True))
                for side, times in in_turn if i % 2 else reversed(in_turn):
                    times.append(Round(*side.ask("round")["seconds"]))
            ours, theirs = (_measured(side, times[1:]) for side, times in zip((we, they), took, strict=True))
    return [peer.name, pair.what, *row(ours, theirs)]


def _measured(side: Other, rounds: list[Round]) -> Measured:
    found = side.ask("values")
    return Measured(rounds, found["peak"], side.start["peak"], found["values"])


def _starts(peer: Peer, python: Path, folder: Path) -> list[str]:
    """Return the row of what importing costs, by turns."""
    took: tuple[list[Round], list[Round]] = ([], [])
    version = ""
    for _ in range(STARTS + 1):
        for name, at, times in (("ours", Path(sys.executable), took[0]), ("theirs", python, took[1])):
            with other(peer.pairs[0].job, name, at, folder) as side:
                times.append(Round(*side.start["seconds"]))
                version = side.start["version"]
    ours, theirs = (times[1:] for times in took)
    return [peer.name, version, seconds(ours), seconds(theirs), f"{ratio(ours, theirs):.1f}"]


def row(ours: Measured, theirs: Measured) -> list[str]:
    """Return the cells of two sides: times, their ratio, memory, agreement."""
    memory = [f"{side.peak:.0f} MB ({side.peak - side.before:+.0f})" for side in (ours, theirs)]
    named = [f"{name}: {agreement(of, theirs.values[name])}" for name, of in ours.values.items()]
    times = [seconds(ours.rounds), seconds(theirs.rounds), f"{ratio(ours.rounds, theirs.rounds):.3g}"]
    return [*times, "; ".join(memory), "; ".join(named)]


def seconds(rounds: Sequence[Round]) -> str:
    """Return medians: ``0.120 s (0.131)``.

    >>> seconds([Round(0.1, 0.2), Round(0.3, 0.4), Round(0.2, 0.9)])
    '0.200 s (0.400)'
    """
    cpu, wall = map(statistics.median, zip(*rounds, strict=True))
    return f"{cpu:.3g} s ({wall:.3g})" if cpu >= 100 else f"{cpu:.3f} s ({wall:.3f})"


def ratio(ours: Sequence[Round], theirs: Sequence[Round]) -> float:
    """Return the median of how many times ours theirs took in each round, in processor time.

    >>> ratio([Round(1, 1), Round(2, 2), Round(1, 1)], [Round(3, 3), Round(2, 9), Round(2, 2)])
    2.0
    """
    return float(statistics.median(b.cpu / a.cpu for a, b in zip(ours, theirs, strict=True)))


def agreement(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Say how alike two sets of values by session are, where both are defined.

    >>> agreement([0.1, 0.2, 0.4], [0.1, 0.2, 0.4])
    'equal (n 3)'
    >>> agreement([0.1, 0.2, 0.4, float("nan")], [0.2, 0.3, 0.5, 0.1])
    'r 1.000, rho 1.000, largest difference 0.1 (n 3; defined on one side alone: 1)'
    """
    a, b = np.array(ours, dtype=np.float64), np.array(theirs, dtype=np.float64)
    both = ~(np.isnan(a) | np.isnan(b))
    n, alone = int(both.sum()), int((np.isnan(a) ^ np.isnan(b)).sum())
    counted = f"(n {n}; defined on one side alone: {alone})" if alone else f"(n {n})"
    if not n:
        return f"none to compare {counted}"
    apart = float(np.abs(a - b)[both].max())
    if apart < EQUAL:
        return f"equal {counted}"
    r, rho = _correlation(a[both], b[both]), _correlation(_ranks(a[both]), _ranks(b[both]))
    return f"r {r:.3f}, rho {rho:.3f}, largest difference {apart:.2g} {counted}"


def _correlation(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) and np.ptp(b) else float("nan")


def _ranks(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values))


if __name__ == "__main__":
    main()
