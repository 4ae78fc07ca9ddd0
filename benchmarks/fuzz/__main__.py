"""Mutate the samples and look at them: ``python -m benchmarks.fuzz [N] [--seed S]`` (10,000 files by default).

Every mutated file must end in sessions or in a foreseen problem, within 2 seconds of
processor time, and the whole in less than 1 GB. What does not is printed with its number,
and the exit status is 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import resource
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.fuzz.mutators import mutated
from benchmarks.fuzz.one_file import Outcome, outcome
from therapy_analytics.readers import ReadOptions, choose_reader
from therapy_analytics.readers.account import TablesWarning
from therapy_analytics.readers.base import READERS, load_source

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "sample_transcripts", ROOT / "tests" / "formats")
LARGEST_MB = 1000
_END_MB = 8000
"""What would take more is stopped, before the machine is."""
_DEADLOCK_S = 120
"""What even a signal does not end, for the time is spent in C, ends the process with a traceback."""

Samples = dict[str, list[Path]]


@dataclass(slots=True)
class Tally:
    """What became of the files, by the reader of the sample that each was made of."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    slowest: list[tuple[float, int, str]] = field(default_factory=list)
    growth: list[tuple[float, int, str]] = field(default_factory=list)
    peak: float = 0.0

    def add(self, number: int, reader: str, found: Outcome) -> None:
        """Count a file, and note it if it was slow or took memory."""
        self.counts.setdefault(reader, Counter())[found.state] += 1
        self.slowest = sorted([*self.slowest, (found.seconds, number, reader)], reverse=True)[:5]
        peak = peak_mb()
        if peak > self.peak:
            self.growth = sorted([*self.growth, (peak - self.peak, number, reader)], reverse=True)[:5]
            self.peak = peak


def main() -> None:
    """Run and print what became of the files."""
    given = _arguments()
    warnings.simplefilter("ignore", TablesWarning)  # a damaged table about the sessions fits none of them
    samples = samples_by_reader()
    resource.setrlimit(resource.RLIMIT_AS, (_END_MB * 2**20, resource.RLIM_INFINITY))
    tally = Tally(peak=peak_mb())
    numbers = [given.only] if given.only is not None else range(given.first, given.first + given.n)
    for number in numbers:
        keep = given.keep / f"{given.seed}-{number}" if given.keep else None
        reader, found = _one(random.Random(f"{given.seed}:{number}"), samples, keep, always=given.only is not None)
        tally.add(number, reader, found)
        if found.state == "FAILED" or given.only is not None:
            print(f"seed {given.seed}, number {number} ({reader}): {found.state} {found.why}", flush=True)
    _report(tally, len(numbers))
    failed = sum(counts["FAILED"] for counts in tally.counts.values())
    sys.exit(int(failed > 0 or tally.peak > LARGEST_MB))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("n", nargs="?", type=int, default=10_000, help="how many files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number to begin with")
    parser.add_argument("--only", type=int, help="one number, to look at it")
    parser.add_argument("--keep", type=Path, help="a folder for the files that failed, or for the only one")
    return parser.parse_args()


def samples_by_reader() -> Samples:
    """Return the samples that each reader wins; readers of folders have none."""
    samples: Samples = {one.name: [] for one in READERS}
    for path in sorted(path for folder in FOLDERS for path in folder.glob("*.*") if path.suffix not in {".py", ".pyc"}):
        samples[choose_reader(load_source(path, ReadOptions())).name].append(path)
    return {reader: paths for reader, paths in samples.items() if paths}


def peak_mb() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _one(dice: random.Random, samples: Samples, keep: Path | None, *, always: bool) -> tuple[str, Outcome]:
    reader = dice.choice(list(samples))
    sample = dice.choice(samples[reader])
    others = [dice.choice(samples[dice.choice(list(samples))]).read_bytes()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{sample.stem}{_suffix(sample, dice)}"
        path.write_bytes(mutated(sample.read_bytes(), dice, others))
        beside = _beside(sample, Path(folder), dice)
        options = _options(dice) if dice.random() < 0.1 else None
        faulthandler.dump_traceback_later(_DEADLOCK_S, exit=True)
        found = outcome(path, beside, options)
        faulthandler.cancel_dump_traceback_later()
        if keep is not None and (found.state == "FAILED" or always):
            shutil.copytree(folder, keep, dirs_exist_ok=True)
    return reader, found


def _suffix(sample: Path, dice: random.Random) -> str:
    """Return the sample's own ending, or, for one in seven, another's."""
    known = [suffix for one in READERS for suffix in one.suffixes]
    return dice.choice([*known, "", ".odd", sample.suffix.upper()]) if dice.random() < 0.15 else sample.suffix


def _beside(sample: Path, folder: Path, dice: random.Random) -> Sequence[Path]:
    """Put a damaged table about the sessions, or the good file itself, beside the damaged one."""
    what = dice.random()
    if what < 0.08:
        (folder / "sessions.csv").write_bytes(mutated((FOLDERS[0] / "sessions.csv").read_bytes(), dice))
    elif what < 0.12:
        return [Path(shutil.copy(sample, folder / f"twin{sample.suffix}"))]
    return []


def _options(dice: random.Random) -> ReadOptions:
    names = ("speaker", "text", "session", "start", "end", "utterance", "annotator")
    columns = {
        name: dice.choice((name, "Speaker", "content", "role", "")) for name in dice.sample(names, dice.randint(0, 3))
    }
    label = dice.choice((None, "T", "Aria", ""))
    return ReadOptions(columns=columns, therapist=label, pattern=dice.choice((None, "{counselor}_{client}")))


def _report(tally: Tally, n: int) -> None:
    for reader, counts in sorted(tally.counts.items()):
        print(f"{reader:<18} {counts['read']:>7} read {counts['refused']:>7} refused {counts['FAILED']:>5} FAILED")
    whole = sum(tally.counts.values(), Counter[str]())
    print(f"{n} files: {whole['read']} read, {whole['refused']} refused, {whole['FAILED']} FAILED")
    print("slowest: " + ", ".join(f"{seconds:.2f} s ({number}, {reader})" for seconds, number, reader in tally.slowest))
    grown = ", ".join(f"{mb:.0f} MB ({number}, {reader})" for mb, number, reader in tally.growth)
    print(f"peak memory {tally.peak:.0f} MB; it grew most by {grown}")


if __name__ == "__main__":
    main()
