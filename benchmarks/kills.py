"""Kill a run at random moments and start it again: ``python -m benchmarks.kills [HOW_OFTEN] [--seed N]``.

Runs `tanalyze run` on the sample transcripts, kills it (SIGKILL) at a moment drawn from the whole length of a run, and
starts the same command again, so often. After each kill every file under its final name must be that of a run which
nobody disturbed, and in the end the whole folder must be. Then the same on a small disk that fills up (a tmpfs, where
this user may mount one).
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

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-c", "from therapy_analytics.cli import main; main()", "run", "sample_transcripts"]
OPTIONS = ["--tagger", "fast", "--no-report", "--figure-format", "svg"]


def main() -> None:
    """Print how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("how_often", nargs="?", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        _run(Path(folder) / "undisturbed")
        length, whole = time.monotonic() - began, _files(Path(folder) / "undisturbed")
        print(f"a run that nobody disturbs: {length:.1f} s, {len(whole)} files")
        print(_killed(Path(folder) / "killed", whole, length, random.Random(asked.seed), asked.how_often))
        print(_on_a_small_disk(Path(folder) / "disk", whole))


def _run(out: Path) -> int:
    return subprocess.run(
        [*COMMAND, *OPTIONS, "--out", str(out)], cwd=ROOT, capture_output=True, check=False
    ).returncode


def _killed(out: Path, whole: dict[str, bytes], length: float, moments: random.Random, times: int) -> str:
    ended = 0
    for _ in range(times):
        process = subprocess.Popen(
            [*COMMAND, *OPTIONS, "--out", str(out)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(moments.uniform(0, length))
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:  # it came after the end: begin anew
            ended += 1
            shutil.rmtree(out)
        else:
            _check(out, whole)
    status = _run(out)
    same = _files(out) == whole
    return f"{times} kills ({ended} came after the end), then once more: status {status}, the same bytes: {same}"


def _check(out: Path, whole: dict[str, bytes]) -> None:
    for name, data in (_files(out) if out.exists() else {}).items():
        if not any(part.startswith(".") for part in Path(name).parts) and whole.get(name) != data:
            raise SystemExit(f"{name} is not as it should be")


def _on_a_small_disk(disk: Path, whole: dict[str, bytes]) -> str:
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return "no small disk: this user may not mount one"
    try:
        statuses = [_run(disk / "r")]
        _check(disk / "r", whole)
        there = len(_files(disk / "r"))
        subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
        statuses.append(_run(disk / "r"))
        same = _files(disk / "r") == whole
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    first, then = statuses
    return f"a disk that fills up after {there} files: status {first}; with room: status {then}, the same bytes: {same}"


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


if __name__ == "__main__":
    main()
