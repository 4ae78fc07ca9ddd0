"""How many files a transcript passes through: ``python -m benchmarks.trace [TRANSCRIPT] [--list]``.

A transcript is run twice from file to page with its figures, so that everything is loaded, and the second time every
function of the package that is entered is noted, in all threads. The same is done from a `Session` in memory to its row
of ``sessions.csv``. Printed is how many files these functions stand in, by package, and how many files the
program has; a reader who wants to follow a session must know them.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import therapy_analytics as ta

PACKAGE = Path(ta.__file__).parent
SAMPLE = Path(__file__).parents[1] / "sample_transcripts" / "lindqvist_omar.txt"


def entered(work: Callable[[Path], object]) -> set[Path]:
    """Return the files of the package whose functions some work enters when it is done for the second time.

    Parameters
    ----------
    work : callable
        Called twice, each time with the path of a folder that is not there yet.
    """
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    with tempfile.TemporaryDirectory() as folder:
        work(Path(folder) / "first")
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            work(Path(folder) / "second")
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return {path for path in map(Path, files) if PACKAGE in path.parents}


def main() -> None:
    """Print the number of files, by package."""
    words = [word for word in sys.argv[1:] if word != "--list"]
    transcript = Path(words[0]) if words else SAMPLE
    sessions = ta.read(transcript)

    ways = {
        "from transcript to page, with figures": entered(lambda folder: ta.run([transcript], folder)),
        "from Session to its row": entered(lambda _: ta.analyze(sessions).sessions),
    }
    for title, found in ways.items():
        print(f"\n{title}: {len(found)} of {len(list(PACKAGE.rglob('*.py')))} files")
        for package, n in sorted(Counter(path.relative_to(PACKAGE).parts[0] for path in found).items()):
            print(f"  {package:<16}{n:>5}")
        if "--list" in sys.argv:
            print(*(f"    {path.relative_to(PACKAGE).as_posix()}" for path in sorted(found)), sep="\n")


if __name__ == "__main__":
    main()
