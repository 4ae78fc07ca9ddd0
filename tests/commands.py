"""Commands as a person gives them, on real files, in this process: to start another one each time is slow.

What only a process of its own can show (Ctrl-C, pipes, what is loaded) has tests that start one.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from typer import rich_utils

from therapy_analytics.cli import main

PLAIN = ("--tagger", "fast", "--no-plots", "--no-report")
"""Words of a run that is quick."""


class Done(NamedTuple):
    """What a command did: its status, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that was printed, in words with one space between them."""
        return " ".join(f"{self.out} {self.err}".replace("\u2502", " ").split())


def commands(folder: Path, *calls: Sequence[str | bytes]) -> list[Done]:
    """Run `tanalyze` with these words, one call after the other, in a folder; each ends with a sentence."""
    return [tanalyze(*call, folder=folder) for call in calls]


def tanalyze(*words: str | bytes | Path, folder: Path | None = None) -> Done:
    """Run `tanalyze` with these words; warnings are errors, as in all tests, and nothing fails unforeseen."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder or Path.cwd()),
        patch.dict(os.environ, COLUMNS="200", TERM="dumb"),
        patch.object(sys, "argv", ["tanalyze", *map(os.fsdecode, words)]),
        patch.object(rich_utils, "Console", rich_utils.Console),  # the command may put another one in its place
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
    done = Done(status, out.getvalue(), err.getvalue())
    assert "A defect of this program" not in done.err, done.err
    return done
