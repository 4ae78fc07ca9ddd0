"""Mutate the samples and read them: ``python -m benchmarks.fuzz [N]`` (10,000 files unless said).

Every mutated file must end in sessions or in a foreseen problem, within 2 seconds, and the whole
in less than 1 GB. What does not is printed with its seed, and the exit status is 1.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from therapy_analytics.readers import read_files

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT / "sample_transcripts", ROOT / "tests" / "formats")
TOKENS = (
    b"\x00",
    b"\xff\xfe",
    b"\r",
    b"\n\n",
    b'"',
    b"{",
    b"[" * 50,
    b"<",
    b"-->",
    b"T: ",
    b",,,,",
    b"\x15",
    b"]]>",
    b"&a;",
)
SLOWEST_S, LARGEST_MB = 2.0, 1000


def main() -> None:
    """Run and print what became of the files."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    samples = [path for folder in FOLDERS for path in sorted(folder.glob("*.*")) if path.suffix != ".py"]
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(n):
            outcome = _one(seed, random.Random(seed), samples, Path(folder))
            outcomes[outcome.split(":")[0]] += 1
            if outcome.startswith("FAILED"):
                print(f"seed {seed}: {outcome}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{n} files: {dict(outcomes)}; peak memory {peak:.0f} MB")
    sys.exit(int(outcomes["FAILED"] > 0 or peak > LARGEST_MB))


def _one(seed: int, dice: random.Random, samples: list[Path], folder: Path) -> str:
    sample = dice.choice(samples)
    path = folder / f"{seed}{sample.suffix}"
    path.write_bytes(_mutated(sample.read_bytes(), dice))
    began = time.process_time()
    try:
        (reading,) = read_files([path])
    except Exception as error:  # noqa: BLE001 (that is what is looked for)
        return f"FAILED: {sample.name} raised {type(error).__name__}"
    finally:
        path.unlink()
    if time.process_time() - began > SLOWEST_S:
        return f"FAILED: {sample.name} took {time.process_time() - began:.1f} s"
    if reading.problem is None:
        return "read"
    unforeseen = "could not be understood" in reading.problem.problem
    return f"FAILED: {sample.name}: {reading.problem.problem}" if unforeseen else "refused"


def _mutated(data: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.randint(1, 6)):
        at, to = sorted((dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)))
        to = min(to, at + 400)
        data = dice.choice(
            (
                data[:at],
                data[at:],
                data[:at] + data[to:],
                data[:to] + data[at:to] * dice.randint(1, 20) + data[to:],
                data[:at] + dice.choice(TOKENS) + data[at:],
                data[:at] + dice.randbytes(dice.randint(1, 8)) + data[at + 1 :],
            )
        )
    return data or b"T"


if __name__ == "__main__":
    main()
