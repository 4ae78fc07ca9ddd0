"""Kill a run at random moments and start it again: ``python -m benchmarks.kills [HOW_OFTEN] [--sessions N]``.

Runs `tanalyze run` on the sample transcripts, or on a folder of so many sessions made from them (`benchmarks.scale`),
kills it (SIGKILL) at a moment drawn from the whole length of a run, and starts the same command again, so often. After
each kill every file under its final name must be that of a run which nobody disturbed, and in the end the whole folder
must be. Then, with the samples, the same on a small disk that fills up (a tmpfs, where this user may mount one).
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.scale import write

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-c", "from therapy_analytics.cli import main; main()", "run"]
ALWAYS = ["--tagger", "fast", "--no-report"]
TURNS = 20
"""Of each of many sessions."""
EVERY_S = 30
"""So often the last line that a long run says is told."""


def main() -> None:
    """Print how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("how_often", nargs="?", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sessions", type=int, help="of a folder that is made; without it, the samples")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--output-format", default="csv")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words = [*COMMAND, *_words(Path(folder), asked)]
        began = time.monotonic()
        still, killed = Path(folder) / "still" / "r", Path(folder) / "killed" / "r"  # as deep as the small disk's
        _run(words, still, tell=asked.sessions is not None)
        length, whole = time.monotonic() - began, _files(still)
        print(f"a run that nobody disturbs: {length:.1f} s, {len(whole)} files", flush=True)
        print(_killed(words, killed, whole, length, asked), flush=True)
        if asked.sessions is None:
            print(_on_a_small_disk(words, Path(folder) / "disk", whole))


def _words(folder: Path, asked: argparse.Namespace) -> list[str]:
    options = [*ALWAYS, "--processes", str(asked.processes), "--output-format", asked.output_format]
    if asked.sessions is None:
        return ["sample_transcripts", *options, "--figure-format", "svg"]
    write(folder / "talks", asked.sessions, TURNS, files=True)
    return [str(folder / "talks"), *options, "--no-plots"]


def _run(words: list[str], out: Path, *, tell: bool = False) -> int:
    with _started(words, out) as process:
        told, spoken = 0.0, ""
        assert process.stderr is not None
        for line in process.stderr:
            if tell and " to go" in line and (time.monotonic() - told > EVERY_S or not spoken):
                told, spoken = time.monotonic(), line
                print(f"  {line.strip()}", flush=True)
    return process.returncode


def _started(words: list[str], out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*words, "--out", str(out)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def _killed(words: list[str], out: Path, whole: dict[str, bytes], length: float, asked: argparse.Namespace) -> str:
    moments, ended, times = random.Random(asked.seed), 0, asked.how_often
    for _ in range(times):
        process = subprocess.Popen(
            [*words, "--out", str(out)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(moments.uniform(0, length))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:  # it came after the end: begin anew
            ended += 1
            shutil.rmtree(out)
        else:
            _check(out, whole)
            if asked.sessions is not None:
                print(f"  killed; of the sessions are done: {len(list((out / 'sessions').glob('[!.]*')))}", flush=True)
    status = _run(words, out, tell=asked.sessions is not None)
    same = _files(out) == whole
    return f"{times} kills ({ended} came after the end), then once more: status {status}, the same bytes: {same}"


def _check(out: Path, whole: dict[str, bytes]) -> None:
    for name, data in (_files(out) if out.exists() else {}).items():
        if not any(part.startswith(".") for part in Path(name).parts) and whole.get(name) != data:
            raise SystemExit(f"{name} is not as it should be")


def _on_a_small_disk(words: list[str], disk: Path, whole: dict[str, bytes]) -> str:
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return "no small disk: this user may not mount one"
    try:
        statuses = [_run(words, disk / "r")]
        _check(disk / "r", whole)
        there = len(_files(disk / "r"))
        subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
        statuses.append(_run(words, disk / "r"))
        same = _files(disk / "r") == whole
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    first, then = statuses
    return f"a disk full after {there} files: status {first}; with space: status {then}, the same bytes: {same}"


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


if __name__ == "__main__":
    main()
