"""Freeze what users see, so that code can be rebuilt under it: ``python tools/ledger.py write FILE``.

The ledger has a line for each number and text of a run of the samples (all tables and the data of the page), for each
session that is read of the files in ``tests/formats`` (speakers, roles, words and times, as hashes and counts), and for
the exit status of each command. ``python tools/ledger.py compare OLD NEW`` prints the lines that differ: texts must be
equal, numbers to 1e-6; lines that are in one file alone are listed apart, by their first words. It holds no words of
transcripts but those of the page of the samples.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from typing import Any

PROGRAM = "from therapy_analytics.cli import app; app()"
SCRIPT = re.compile(r'<script type="application/json" id="([^"]+)">(.*?)</script>', re.DOTALL)
ROOT = Path(__file__).resolve().parents[1]
COMMANDS = (
    "run sample_transcripts --out {out}/r --tagger fast --no-plots",
    "run nowhere --out {out}/n",
    "inspect sample_transcripts",
    "compare {out}/r --by source --no-plots",
    "compare {out}/r --by nobody --no-plots",
    "sample {out}/r --transcripts sample_transcripts --turns 40 --out {out}/s",
    "agree {out}/r tests/gold --no-plots --include-learnt",
    "export {out}/r --out {out}/e",
    "convert sample_transcripts --out {out}/c",
    "speakers sample_transcripts --out {out}/p",
    "report {out}/r --replace",
    "codebook",
    "unknown",
)
"""Commands whose exit status is kept, in an order in which they can be run."""


def main() -> None:
    """Write a ledger, or compare two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("write", "compare"))
    parser.add_argument("files", nargs="+", type=Path)
    asked = parser.parse_args()
    if asked.what == "write":
        lines = sorted(f"{key}\t{value}" for key, value in ledger())
        asked.files[0].write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{len(lines):,} lines")
    else:
        sys.exit(compare(*asked.files))


def ledger() -> Iterator[tuple[str, str]]:
    """Yield a key and a value for all that is kept."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        for command in COMMANDS:
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, *command.format(out=out).split()],
                cwd=ROOT,
                capture_output=True,
                check=False,
            )
            yield f"status {command}", str(done.returncode)
        yield from _tables(out / "r")
        yield from _page(out / "r" / "report.html")
    yield from _readings(ROOT / "tests" / "formats")


def _tables(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each cell of the tables of a run, by the first columns of its row."""
    for path in sorted(folder.rglob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        keys = [name for name in ("session_id", "measure", "direction", "part", "column", "table", "turn", "first_turn")
                if rows and name in rows[0]]  # fmt: skip
        for place, row in enumerate(rows):
            own = " ".join(row[name] for name in keys) or str(place)
            for name, value in row.items():
                yield f"table {path.relative_to(folder)} {own} {name}", json.dumps(value, ensure_ascii=False)


def _page(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each leaf of the data of the page."""
    found = re.findall(
        r'<script type="application/json" id="([^"]+)">(.*?)</script>', path.read_text("utf-8"), re.DOTALL
    )
    for name, text in found:
        yield from _leaves(f"page {name}", json.loads(text))


def _leaves(key: str, data: Any) -> Iterator[tuple[str, str]]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _leaves(f"{key}/{name}", value)
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from _leaves(f"{key}/{place}", value)
    else:
        yield key, json.dumps(data, ensure_ascii=False)


def _readings(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what is read of each file: of each session the speakers, roles, words and times of its turns."""
    import therapy_analytics as ta

    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".toml"))
    for path in files:
        key = f"reading {path.relative_to(folder)}"
        try:
            sessions = [one for reading in ta.read_files([path]) for one in reading.sessions]
        except Exception as error:  # noqa: BLE001 (whatever it is, it is kept)
            yield key, f"{type(error).__name__}"
            continue
        yield key, f"{len(sessions)} sessions"
        for place, one in enumerate(sessions):
            for name in ("speaker", "role", "text", "start_s", "end_s"):
                values = json.dumps([getattr(turn, name, None) for turn in one.turns], ensure_ascii=False)
                yield f"{key} {place} {name}", f"{len(one.turns)} {hashlib.sha256(values.encode()).hexdigest()[:16]}"


def compare(old: Path, new: Path) -> int:
    """Print what differs between two ledgers; return 1 if a line that both have does."""
    first, second = (dict(line.split("\t", 1) for line in path.read_text("utf-8").splitlines()) for path in (old, new))
    changed = [key for key in first if key in second and not _alike(first[key], second[key])]
    for key in changed[:200]:
        print(f"{key}\n  {first[key]}\n  {second[key]}")
    print(f"{len(changed):,} of {len(first.keys() & second.keys()):,} lines differ")
    for title, keys in (("gone", first.keys() - second.keys()), ("new", second.keys() - first.keys())):
        print(f"{title}: {len(keys):,}")
        for name, n in Counter(" ".join(key.split()[:2]) for key in keys).most_common(40):
            print(f"  {n:,} {name}")
    return int(bool(changed))


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return isclose(float(one.strip('"')), float(other.strip('"')), rel_tol=1e-6, abs_tol=1e-9)
    except ValueError:
        return False


if __name__ == "__main__":
    main()
