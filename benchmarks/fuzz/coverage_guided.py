"""Let libFuzzer look for files that break one reader: ``python -m benchmarks.fuzz.coverage_guided --reader NAME``.

Any exception that is not of this package's own family is a finding, and so are 2 seconds or
1 GB for one file. How to run it stands in ``benchmarks/fuzz/__init__.py``.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from benchmarks.fuzz.mutators import mutated

LIMITS = ("-timeout=2", "-rss_limit_mb=1024", "-max_len=65536")
FOLDER = Path(__file__).resolve().parents[2] / "build" / "fuzz"
_KNOWING = 0.4
"""How many of the mutations know the form; the others are libFuzzer's own."""


def main() -> None:
    """Instrument the package, seed a corpus with the samples of the reader, and go on until something breaks."""
    import atheris

    with atheris.instrument_imports(include=["therapy_analytics"]):
        from therapy_analytics.readers.base import READERS

        names = [one.name for one in READERS]  # which imports them all
    given, flags = _arguments(names)
    corpus = given.folder / given.reader
    _seed(corpus, given.reader)
    target = _target(given.reader)
    own = _mutator(atheris)
    atheris.Setup(
        [sys.argv[0], *LIMITS, f"-artifact_prefix={given.folder}/", *flags, *_corpus(corpus, flags)],
        target,
        custom_mutator=own,
    )
    atheris.Fuzz()


def _arguments(names: list[str]) -> tuple[argparse.Namespace, list[str]]:
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz.coverage_guided", description=__doc__)
    parser.add_argument("--reader", choices=names, required=True)
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="for what reaches new lines, and what breaks a reader"
    )
    return parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]


def _corpus(corpus: Path, flags: list[str]) -> list[str]:
    """Return the folder to learn from, unless a file is named that shall be looked at alone."""
    return [] if any(not flag.startswith("-") for flag in flags) else [str(corpus)]


def _seed(corpus: Path, reader: str) -> None:
    from benchmarks.fuzz.__main__ import samples_by_reader

    corpus.mkdir(parents=True, exist_ok=True)
    for sample in samples_by_reader()[reader]:
        shutil.copy(sample, corpus)


def _target(name: str) -> Callable[[bytes], None]:
    """Return what libFuzzer calls: all that a run does with a file that this reader may win."""
    from therapy_analytics.core.errors import TherapyAnalyticsError
    from therapy_analytics.core.ids import safe_id
    from therapy_analytics.readers.base import READERS, ReadOptions, decoded
    from therapy_analytics.readers.build import build_session, fingerprint

    reader, options = READERS[name], ReadOptions()
    path = Path(f"case{reader.suffixes[0]}")

    def target(data: bytes) -> None:
        try:
            source = decoded(path, data, options)
            for raw in reader.read(source) if reader.sniff(source) > 0 else ():
                session = build_session(raw, safe_id(raw.name), str(path), raw.metadata, options)
                fingerprint(session)
                "".join((*session.metadata.values(), *(turn.text for turn in session.turns))).encode()
        except TherapyAnalyticsError as error:
            str(error).encode()

    return target


def _mutator(atheris: ModuleType) -> Callable[[bytes, int, int], bytes]:
    """Return a mutator that takes turns with libFuzzer's own, which is there only once it runs."""

    def mutator(data: bytes, largest: int, seed: int) -> bytes:
        dice = random.Random(seed)
        changed = mutated(data, dice) if dice.random() < _KNOWING else b""
        return changed if 0 < len(changed) <= largest else bytes(atheris.Mutate(data, largest))

    return mutator


if __name__ == "__main__":
    main()
