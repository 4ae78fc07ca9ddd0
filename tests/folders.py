"""Folders of transcripts and of results, for tests that run files to files."""

from __future__ import annotations

import shutil
from pathlib import Path

import therapy_analytics as ta

NAMES = ("aria_ben.json", "boyle_lucia.txt", "lindqvist_omar.txt", "nair_yuki.txt", "nair_tomas.csv", "sessions.csv")
FAST = ta.Settings(tagger=ta.TaggerOptions(kind="fast"))
QUICK = ta.Writing(figures=(), report=False)


def copied(samples: Path, folder: Path, *more: str) -> Path:
    """Copy five sessions of the samples and the table about them, and more of them, into a folder."""
    for name in (*NAMES, *more):
        shutil.copy(samples / name, folder)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder, by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
