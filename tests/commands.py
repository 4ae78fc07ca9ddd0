"""Commands as a person gives them, on real files; several in one process, because each start is slow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_SCRIPT = """
import contextlib, io, json, os, sys
from therapy_analytics.cli import main

def ends(words):
    sys.argv = ["tanalyze", *words]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0

found = []
for words in json.loads(sys.stdin.read()):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = ends(list(map(os.fsdecode, map(bytes.fromhex, words))))
    found.append((status, out.getvalue(), err.getvalue()))
sys.stdout.write(json.dumps(found))
"""


class Done(NamedTuple):
    """What a command did: its status, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """All that was printed, in words with one space between them."""
        return " ".join(f"{self.out} {self.err}".replace("\u2502", " ").split())


def commands(folder: Path, *calls: Sequence[str | bytes]) -> list[Done]:
    """Run `tanalyze` with these words, one call after the other, in a folder; warnings are errors."""
    words = [[os.fsencode(word).hex() for word in call] for call in calls]
    env = {**os.environ, "PYTHONWARNINGS": "error", "COLUMNS": "200", "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], cwd=folder, input=json.dumps(words), capture_output=True, text=True, env=env,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [Done(*one) for one in json.loads(done.stdout)]
