"""What a program asks of the operating system, as strace records it, and what it leaves behind in somebody's home."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

STRACE = ("strace", "--seccomp-bpf", "-f", "-qq", "-e", "trace=%network")
"""Of a process and all its children, native code included, the calls that have to do with a network."""
INTERNET = re.compile(r"AF_INET6?\b")
"""Addresses of version 4 and 6."""
USES = re.compile(r"\b(connect|bind|sendto|sendmsg|sendmmsg)\(")
OWN = re.compile(r'"(127\.[\d.]+|::1)"')
PLACES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR")
"""Where programs keep what outlives them, or should not."""


@functools.cache
def can_record() -> bool:
    """Tell whether strace is installed and may record here: some containers forbid it."""
    if shutil.which("strace") is None:
        return False
    return subprocess.run([*STRACE, "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0


def need_strace() -> None:
    """Skip a test where system calls cannot be recorded."""
    if not can_record():
        pytest.skip("strace, which records system calls, is not installed (apt-get install strace) or not permitted")


@dataclass(frozen=True)
class Traced:
    """What a program did: its exit status, what it printed, internet sockets, and files it left in the user's home."""

    status: int
    output: str
    sockets: list[str]
    left: list[str]


def traced(*command: str, work: Path, **env: str) -> Traced:
    """Run a command with an empty home, cache and temporary folder, and see what it does with them."""
    home = work / "home"
    shutil.rmtree(home, ignore_errors=True)
    for name in PLACES:
        (home / name).mkdir(parents=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    told = {**kept, "PYTHONDONTWRITEBYTECODE": "1", **{name: str(home / name) for name in PLACES}, **env}
    calls = work / "calls.txt"
    done = subprocess.run(
        [*STRACE, "-o", str(calls), *command],
        cwd=work, env=told, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return Traced(done.returncode, done.stdout, sockets(calls), left_in(home))


def sockets(calls: Path) -> list[str]:
    """Return the recorded calls that have to do with addresses of the internet."""
    return [line for line in calls.read_text(errors="replace").splitlines() if INTERNET.search(line)]


def beyond_this_machine(calls: Path) -> list[str]:
    """Return the recorded calls that use an address of another machine; a look-up of a name asks one."""
    return [line for line in sockets(calls) if USES.search(line) and not OWN.search(line)]


def left_in(home: Path) -> list[str]:
    """Return what stands in a folder that holds the places of `PLACES`, each of which was empty."""
    return sorted(str(one.relative_to(home)) for one in home.rglob("*") if one not in {home / name for name in PLACES})


def tanalyze() -> str:
    """Return the path of the installed command."""
    return str(Path(sys.executable).with_name("tanalyze"))
