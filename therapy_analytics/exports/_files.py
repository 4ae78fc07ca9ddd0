"""The folder of an export, and the files in it: private, and with no other's among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from therapy_analytics.errors import BadOptionError
from therapy_analytics.private import folder

OUT = "--out"


def prepare(out: Path, own: Iterable[str], *, known: Collection[str]) -> None:
    """Make the folder and empty it of an earlier export of these files; refuse one that holds anything else."""
    if out.exists() and not out.is_dir():
        raise BadOptionError(OUT, f"{out} is a file", "Name a folder")
    strangers = sorted(path.name for path in out.iterdir() if path.name not in set(known)) if out.is_dir() else []
    if strangers:
        problem = f"{out} holds other things than exported tables ({strangers[0]}, ...)"
        raise BadOptionError(OUT, problem, "Name a new or an empty folder")
    folder(out)
    for name in own:
        (out / name).unlink(missing_ok=True)
