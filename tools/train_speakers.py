"""Rebuild the models of ``tanalyze speakers``: ``python tools/train_speakers.py [--data CORPORA] [--cache FOLDER]``.

Run from the root of the repository, with the corpora that ``therapy_analytics/speakers/weights/NOTICE.md`` names. The
models are fitted on all of them but KokoroChat; the limits from which something is proposed, and the probabilities,
come from models that have not seen the recording (see ``benchmarks/speakers.py``). Takes some twenty minutes on two
cores, ten of them for what the encoder reads, which ``--cache`` keeps.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from text_models import write
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks._speaker_limits import limits_of
from benchmarks._speaker_models import UNITS, evident, fit_gaps, fit_voice, left_out
from benchmarks._speaker_talks import LEARNT, talks, utterances, vectors
from therapy_analytics.speakers.models import WEIGHTS, GapNetwork

VERSION = "0.2.0"


def main() -> None:
    """Cross-validate for the limits, fit on everything, write."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    every = talks(options.data)
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        spoken, read = utterances(every), vectors(every, options.cache)
        wrong = evident(every, spoken)
        right = ~wrong & np.array([talk.corpus in LEARNT for talk in every])
        limits = limits_of(every, left_out(every, spoken, read, "recording", right), right)
        weights, gaps = fit_voice(every, spoken, right), fit_gaps(every, read, right)
    write(options.out, weights[:, None], {}, kinds=["therapist"], version=VERSION)
    write_gaps(options.out, gaps)
    moved = {manner: asdict(limit) for manner, limit in limits.moved.items()}
    about = {"units": UNITS, "swapped": asdict(limits.swapped), "moved": moved, "joint": asdict(limits.joint)}
    (options.out / "speakers.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    print(f"{int(wrong.sum())} sessions with labels that are evidently swapped were left out")
    print(json.dumps(about, indent=1))


def write_gaps(folder: Path, gaps: GapNetwork) -> None:
    """Write ``gaps.npz``."""
    small = {name: getattr(gaps, name).astype(np.float16) for name in ("hidden", "out")}
    bias = {name: getattr(gaps, name) for name in ("hidden_bias", "out_bias")}
    np.savez_compressed(folder / "gaps.npz", **small, **bias)


if __name__ == "__main__":
    main()
