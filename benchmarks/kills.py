"""Kill commands at random moments and start them again: ``python -m benchmarks.kills [HOW_OFTEN] [--commands NAMES]``.

Each command that writes a folder (`COMMANDS`) is killed (SIGKILL) so often while it replaces what it wrote of other
sources: by turns at a moment drawn from its whole length, while it writes, and twice at one of its last system calls
that rename or remove a file (strace). The same command must then end with the bytes of one that nobody disturbed; a
reader must see all old or all new files, unless the folder says that it is to be finished; and while another command
holds the folder, it must say so.

With ``--run`` or ``--sessions N``, only `tanalyze run`, on the samples or on so many sessions made from them
(`benchmarks.scale`): after each kill every file under its final name must be that of a run which nobody disturbed;
then, with the samples, the same on a small disk that fills up (a tmpfs, where this user may mount one).
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from benchmarks.scale import write
from therapy_analytics.core.folders import alone_in, is_left

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = [sys.executable, "-c", "from therapy_analytics.cli import main; main()"]
COMMAND = [*PROGRAM, "run"]
ALWAYS = ["--tagger", "fast", "--no-report"]
TURNS = 20
"""Of each of many sessions."""
EVERY_S = 30
"""So often the last line that a long run says is told."""
CALLS = "rename,renameat,renameat2,unlink,unlinkat,rmdir"


class Killed(NamedTuple):
    """A command that is killed while it writes a folder ``o``.

    Attributes
    ----------
    words : str
        The command.
    before : str
        The command that wrote what stands there before, of other sources; or the folder that is copied; or nothing.
    """

    words: str
    before: str = ""


_QUICK = "--tagger fast --no-plots --no-report"
_COMPARE = (
    "--by session_number --cluster session --measures therapist_question_rate --permutations 1000 --no-plots --out o"
)
_TRAIN = "sample_transcripts --only mi_question --beside fast --out o"
COMMANDS: Mapping[str, Killed] = {
    "run": Killed(f"run talks {_QUICK} --out o --replace", f"run other {_QUICK} --out o"),
    "export": Killed("export results --out o --replace", "export others --out o"),
    "compare": Killed(f"compare results {_COMPARE} --replace", f"compare others {_COMPARE}"),
    "outcomes": Killed(
        "outcomes results --outcomes scores.csv --out o --replace",
        "outcomes others --outcomes scores.csv --out o",
    ),
    "sample": Killed("sample results --turns 30 --out o --replace", "sample others --turns 20 --out o"),
    "agree": Killed("agree results codes.csv --out o --replace", "agree results other_codes.csv --no-plots --out o"),
    "agree, two people": Killed("agree Ann.csv Ben.csv --page --out o --replace", "agree Ben.csv Cy.csv --out o"),
    "train": Killed(f"train people.csv {_TRAIN} --replace", f"train other_people.csv {_TRAIN}"),
    "code": Killed("code o --coder Ann", "drawn"),
    "report": Killed("report o", "results"),
    "convert": Killed("convert talks --to csv --out o"),
    "speakers": Killed("speakers talks --out o"),
}


def workspace(folder: Path) -> Path:
    """Make what the commands take: transcripts, results, codes by people, scores."""
    shutil.copytree(ROOT / "sample_course" / "transcripts", folder / "talks")
    shutil.copytree(ROOT / "sample_transcripts", folder / "sample_transcripts")
    (folder / "other").mkdir()
    for path in (*sorted((folder / "talks").glob("*.txt"))[::2], folder / "talks" / "sessions.csv"):
        shutil.copy(path, folder / "other")
    shutil.copy(ROOT / "sample_course" / "outcomes.csv", folder / "scores.csv")
    people = pd.read_csv(ROOT / "notebooks" / "codes" / "therapist_codes.csv")
    people.to_csv(folder / "people.csv", index=False)
    people.iloc[:-9].to_csv(folder / "other_people.csv", index=False)
    for out, talks in (("results", "talks"), ("others", "other")):
        _done(f"run {talks} {_QUICK} --quotes --out {out}", folder)
    turns = pd.concat([pd.read_csv(path) for path in (folder / "results" / "sessions").glob("*/turns.csv")])
    turns = turns.loc[turns["role"] == "therapist", ["session_id", "turn", "mi_question"]]
    turns.to_csv(folder / "codes.csv", index=False)
    turns[:-9].to_csv(folder / "other_codes.csv", index=False)
    for n, coder in enumerate(("Ann", "Ben", "Cy"), start=2):
        given = turns["mi_question"].where(turns["turn"] % n > 0, 1 - turns["mi_question"])
        codes = turns.assign(code="mi_question", value=given, coder=coder).drop(columns="mi_question")
        codes.to_csv(folder / f"{coder}.csv", index=False)
    _done("sample results --turns 30 --out drawn", folder)
    return folder


def _done(words: str, folder: Path) -> float:
    """Run a command to its end; return how long it took."""
    began = time.monotonic()
    status, told = _ended(_begun(words.split(), folder))
    if status:
        raise SystemExit(f"tanalyze {words}: status {status}: {told}")
    return time.monotonic() - began


def check_command(name: str, folder: Path, how_often: int, seed: int = 0) -> str:
    """Kill a command so often in the folder of `workspace`; return how it went.

    Raises
    ------
    SystemExit
        Something was not as it should be.
    """
    one, out = COMMANDS[name], folder / "o"
    old = _before(one, folder)
    length = _done(one.words, folder)
    new = files(out)
    _before(one, folder)
    calls = _calls(one.words, folder)
    _before(one, folder)
    seen, moments = Counter[str](), random.Random(seed)
    for at in range(3 * how_often):
        process = _kill(one.words, folder, at % 4, moments, length, calls)
        state = _seen_after(process, one, folder, old, new)
        seen[state] += 1
        if state == "new" and at % 3:
            _before(one, folder)
        if seen.total() - seen["ended before"] == how_often:
            break
    if seen["mixed"] and name != "run":
        raise SystemExit(f"{name}: a reader saw old and new files side by side, and nothing said so: {dict(seen)}")
    _, told = _ended(_begun(one.words.split(), folder))
    if files(out) != new:
        raise SystemExit(f"{name}: not the same bytes: {sorted(set(files(out)) ^ set(new))}. {told}")
    with alone_in(out):
        status, told = _ended(_begun(one.words.split(), folder))
    if status != 2 or f"another command is writing into {out.name}" not in told:
        raise SystemExit(f"{name}: two at once: status {status}: {told}")
    return f"{name}: {how_often} kills {dict(seen)}; then the same bytes; two at once say so"


def _before(one: Killed, folder: Path) -> dict[str, bytes]:
    """Make what stands in the folder before; return its files."""
    shutil.rmtree(folder / "o", ignore_errors=True)
    if (folder / one.before).is_dir() and one.before:
        shutil.copytree(folder / one.before, folder / "o")
    elif one.before and not (folder / "kept" / one.before).is_dir():
        _done(one.before, folder)
        shutil.copytree(folder / "o", folder / "kept" / one.before)
    elif one.before:
        shutil.copytree(folder / "kept" / one.before, folder / "o")
    return files(folder / "o")


def _begun(words: Sequence[str], folder: Path, *through: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*through, *PROGRAM, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def _ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for a command; return its status, and what it said at last."""
    _, told = process.communicate()
    return process.returncode, " ".join(told.split())[-500:]


class _Calls(NamedTuple):
    """The calls of a command that rename or remove files of its folder, as strace is told of them; none without it.

    Attributes
    ----------
    writing, moving : list of str
        Those before and from the first that gives a file or folder its final place.
    """

    writing: list[str]
    moving: list[str]


def _calls(words: str, folder: Path) -> _Calls:
    if shutil.which("strace") is None:
        return _Calls([], [])
    with tempfile.NamedTemporaryFile("r") as trace:
        _ended(_begun(words.split(), folder, "strace", "-qq", "-o", trace.name, "-e", f"trace={CALLS}"))
        called = [line for line in trace.read().splitlines() if line.partition("(")[0] in CALLS.split(",")]
    found, count = _Calls([], []), Counter[str]()
    for line in called:
        name = line.partition("(")[0]
        count[name] += 1
        if re.search(r'"(\S*/)?o/', line):
            is_moving = found.moving or re.match(r'rename.*, "(\S*/)?o/[^/"]+"', line)
            (found.moving if is_moving else found.writing).append(f"{name}:signal=KILL:when={count[name]}")
    return found


def _kill(
    words: str, folder: Path, how: int, moments: random.Random, length: float, calls: _Calls
) -> subprocess.Popen[str]:
    """Begin a command and kill it: while it writes (0), while it moves files (1, 3), or at any moment (2)."""
    if how != 2 and calls.moving:
        call = moments.choice(calls.moving if how % 2 else calls.writing or calls.moving)
        trace = ("strace", "-qq", "-o", str(folder / "trace"), "-e", f"trace={CALLS}", "-e", f"inject={call}")
        return _begun(words.split(), folder, *trace)
    process = _begun(words.split(), folder)
    time.sleep(moments.uniform(0.2, 1) * length)
    process.send_signal(signal.SIGKILL)
    return process


def _seen_after(
    process: subprocess.Popen[str], one: Killed, folder: Path, old: Mapping[str, bytes], new: Mapping[str, bytes]
) -> str:
    """Return what a reader of the folder sees after a kill; if it came after the end, begin anew."""
    out = folder / "o"
    status, told = _ended(process)
    if status == 0 or (not one.before and "is there already" in told and files(out) == new):
        _before(one, folder)
        return "ended before"
    if status != -signal.SIGKILL:
        raise SystemExit(f"tanalyze {one.words}: status {status} instead of a kill: {told}")
    if (out / ".whole.part").is_dir():
        return "to be finished"
    seen = {path: data for path, data in files(out).items() if not is_left(Path(path).parts[0])}
    return "new" if seen == new else "old" if seen == old else "mixed"


def main() -> None:
    """Print how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("how_often", nargs="?", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--run", action="store_true", help="tanalyze run on the samples, and on a small disk")
    parser.add_argument("--sessions", type=int, help="tanalyze run on a folder of so many that is made")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--output-format", default="csv")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if asked.run or asked.sessions is not None:
            _check_run(Path(folder), asked)
            return
        made = workspace(Path(folder))
        for name in asked.commands:
            print(check_command(name, made, asked.how_often, asked.seed), flush=True)


def _check_run(folder: Path, asked: argparse.Namespace) -> None:
    words = [*COMMAND, *_words(folder, asked)]
    began = time.monotonic()
    still, killed = folder / "still" / "r", folder / "killed" / "r"  # as deep as the small disk's
    _run(words, still, tell=asked.sessions is not None)
    length, whole = time.monotonic() - began, files(still)
    print(f"a run that nobody disturbs: {length:.1f} s, {len(whole)} files", flush=True)
    print(_killed(words, killed, whole, length, asked), flush=True)
    if asked.sessions is None:
        print(_on_a_small_disk(words, folder / "disk", whole))


def _words(folder: Path, asked: argparse.Namespace) -> list[str]:
    options = [*ALWAYS, "--processes", str(asked.processes), "--output-format", asked.output_format]
    if asked.sessions is None:
        return [
            "sample_transcripts",
            *options,
            *([] if asked.output_format == "parquet" else ["--figure-format", "svg"]),
        ]
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
    same = files(out) == whole
    return f"{times} kills ({ended} came after the end), then once more: status {status}, the same bytes: {same}"


def _check(out: Path, whole: dict[str, bytes]) -> None:
    for name, data in (files(out) if out.exists() else {}).items():
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
        there = len(files(disk / "r"))
        subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
        statuses.append(_run(words, disk / "r"))
        same = files(disk / "r") == whole
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    first, then = statuses
    return f"a disk full after {there} files: status {first}; with space: status {then}, the same bytes: {same}"


def files(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder, by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


if __name__ == "__main__":
    main()
