"""How many files a transcript passes through: ``python -m benchmarks.trace [TRANSCRIPT] [--list]``.

A transcript is run twice from file to page, so that everything is loaded, and the second time every function of the
package that is entered is noted, in all threads. Printed is how many files these functions stand in, by sub-package,
and how many files the package has; a reader who wants to follow a session must know them.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import therapy_analytics as ta

PACKAGE = Path(ta.__file__).parent
SAMPLE = Path(__file__).parents[1] / "sample_transcripts" / "lindqvist_omar.txt"


def entered(transcript: Path) -> set[Path]:
    """Return the files of the package whose functions a default run of one transcript enters."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    with tempfile.TemporaryDirectory() as folder:
        ta.run([transcript], Path(folder) / "first")
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            ta.run([transcript], Path(folder) / "second")
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return {path for path in map(Path, files) if PACKAGE in path.parents}


def main() -> None:
    """Print the number of files, by sub-package."""
    words = [word for word in sys.argv[1:] if word != "--list"]
    found = entered(Path(words[0]) if words else SAMPLE)
    counts = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in found)
    for folder, n in sorted(counts.items()):
        print(f"{folder:<24}{n:>5}")
    if "--list" in sys.argv:
        print(*sorted(path.relative_to(PACKAGE).as_posix() for path in found), sep="\n")
    print(f"{len(found)} of {len(list(PACKAGE.rglob('*.py')))} files")


if __name__ == "__main__":
    main()
