"""Damaged models, codebooks and word lists: ``python -m benchmarks.fuzz.models [N] [--seed S]`` (3,000 by default).

Each must either load to something that works, or end in an error of the package that says in one line which file it
is and what to do; soon, and in little memory. What does not is printed with its number, and the exit status is 1.
``--only NUMBER`` looks at one again.
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.model_mutators import MUTATIONS, Files
from therapy_analytics.codes import TaggerOptions, accurate, load_accurate, load_codebook, load_coder, text_model
from therapy_analytics.codes.choice import chosen_codebooks, meaning
from therapy_analytics.codes.features import HAND, N_BUCKETS
from therapy_analytics.codes.weights import AIMS, FORMAT
from therapy_analytics.core.errors import TherapyAnalyticsError
from therapy_analytics.core.session import Role, Session, Turn
from therapy_analytics.text import Batch, annotate, embeddings
from therapy_analytics.text.lexicons import Matcher, load_lexicon

SLOWEST_S = 5.0
LARGEST_MB = 1_500
LONGEST = 600
"""Letters of an error: what is longer quotes the file."""
PACKAGE = Path(text_model.__file__).resolve().parents[1]
BOOK = """id = "clinic"
name = "Our form"
definition = "What we listen for."
source = "Our clinic"

[[codes]]
id = "greets"
name = "Greets"
role = "therapist"
group = "support"
definition = "The therapist greets."
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model: its sound files, and how one is loaded from a folder and used; odds are how often it comes."""

    files: Callable[[], Files]
    use: Callable[[Path], None]
    odds: int


def tiny_model(n_codes: int = 2) -> Files:
    """Return the files of a model as ``tanalyze train`` writes them, small and by hand."""
    columns = ["clinic_greets", "mi_question", "mi_change"][:n_codes]
    roles = ["therapist", "therapist", "client"]
    codes = [
        {
            "column": column,
            "role": role,
            "heads": [column],
            "thresholds": dict.fromkeys(AIMS, 0.4),
            "on_request": False,
        }
        for column, role in zip(columns, roles, strict=False)
    ]
    about = {"format": FORMAT, "name": "own", "version": "1a2b3c4d", "trained": {"sessions": 8, "seed": 0}}
    model = {**about, "context_heads": columns, "heads": [], "codes": codes}
    arrays: dict[str, Any] = {
        "buckets": np.zeros((N_BUCKETS, 3 * n_codes), np.float16),
        "hand": np.full((len(HAND), n_codes), 0.01, np.float32),
        "lift": np.zeros((n_codes, 0), np.float32),
        "bias": np.full(n_codes, -1.0, np.float32),
    }
    packed = io.BytesIO()
    np.savez_compressed(packed, allow_pickle=False, **arrays)
    return {
        "model.json": json.dumps(model, indent=1).encode(),
        "weights.npz": packed.getvalue(),
        "codebook.toml": BOOK.encode(),
    }


def _folder(path: Path) -> Files:
    return {one.relative_to(path).as_posix(): one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file()}


def write(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write the files of a model into a folder, which is made, and return it."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@functools.cache
def _batch() -> Batch:
    texts = ("Hello, what brings you here?", "I want to sleep.", "You want to rest.", "Maybe.")
    roles: tuple[Role, ...] = ("therapist", "client") * 2
    turns = [
        Turn(index=at, speaker=role, role=role, text=text, first_row=at + 1)
        for at, (role, text) in enumerate(zip(roles, texts, strict=True))
    ]
    return annotate([Session(id="s", source_file="s.txt", turns=tuple(turns))], Matcher([]))


def _sound(probability: Any) -> None:
    known = probability[~np.isnan(probability)]
    assert ((known >= 0) & (known <= 1)).all(), "a probability outside 0 and 1"


def use_own(folder: Path) -> None:
    """Do what a run does with the folder that ``--model`` names."""
    options = TaggerOptions(kind="fast", model=str(folder))
    coder = load_coder(options)
    codes = coder.predict(_batch())
    _sound(codes.probability)
    known = ~np.isnan(codes.probability)
    assert all(known[:, codes.names.index(code.column)].any() for code in coder.own.codes), "a code without any turn"  # type: ignore[attr-defined]
    chosen_codebooks(options), meaning(options)


def _use_accurate(folder: Path) -> None:
    codes = load_accurate(folder).predict(_batch())
    _sound(codes.probability)


def _use_text_model(folder: Path) -> None:
    text_model._load.cache_clear()  # noqa: SLF001 (a folder of this name held another model a moment ago)
    model = text_model.load_text_model(folder)
    extra = np.zeros((len(_batch().turns), len(model.extras))) if model.extras else None
    found = model.probabilities(text_model.read_texts(_batch().turns), extra)
    assert np.isfinite(found).all()
    _sound(found)


def _use_vectors(folder: Path) -> None:
    assert np.isfinite(embeddings.load_embeddings(folder).embed(["I slept well"])).any()


def _use_book(folder: Path) -> None:
    load_codebook(folder / "book.toml")


def _use_words(folder: Path) -> None:
    for path in folder.iterdir():
        annotate(_batch().sessions, Matcher([load_lexicon(path)]))


def _words() -> Files:
    plain = 'name = "sleep"\n[categories.bad]\nwords = ["awake", "tired*", "no sleep"]\n'
    return {"sleep.toml": plain.encode()}


def _dictionary() -> Files:
    return {"sleep.dic": b"%\n1\tposemo\n2\tnegemo\n%\nhappy\t1\nsad*\t2\nso so\t1\t2\n"}


KINDS: dict[str, Kind] = {
    "own": Kind(tiny_model, use_own, 10),
    "texts": Kind(functools.partial(_folder, PACKAGE / "codes" / "disclosure_weights"), _use_text_model, 4),
    "codebook": Kind(lambda: {"book.toml": BOOK.encode()}, _use_book, 4),
    "lexicon": Kind(_words, _use_words, 2),
    "dictionary": Kind(_dictionary, _use_words, 2),
    "vectors": Kind(functools.partial(_folder, PACKAGE / "text" / "vectors"), _use_vectors, 1),
    "accurate": Kind(functools.partial(_folder, PACKAGE / "codes" / "weights"), _use_accurate, 1),
}


def one(kind: str, dice: random.Random, folder: Path) -> str:
    """Damage a model of a kind and use it; return what became of it: ``loaded``, ``refused``, or why it failed."""
    files = dice.choice(MUTATIONS)(_sound_files(kind), dice)
    write(files, folder)
    began = time.process_time()
    try:
        with warnings.catch_warnings(action="error"):
            KINDS[kind].use(folder)
        state = "loaded"
    except TherapyAnalyticsError as error:
        message = str(error)
        message.encode()
        state = (
            "refused"
            if len(message) - len(str(folder)) < LONGEST and message.isprintable()
            else f"FAILED: says {message[:900]!r}"
        )
    except Exception as error:  # noqa: BLE001 (that is what is looked for)
        last = traceback.extract_tb(error.__traceback__)[-1]
        state = f"FAILED: {type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"
    seconds = time.process_time() - began
    return state if seconds < SLOWEST_S else f"FAILED: took {seconds:.1f} s ({state})"


@functools.cache
def _sound_files(kind: str) -> Files:
    return KINDS[kind].files()


def main() -> None:
    """Damage so many models, and print what became of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz.models", description=__doc__)
    parser.add_argument("n", nargs="?", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    asked = parser.parse_args()
    warm_up()
    base, counts = _peak_mb(), dict[str, Counter[str]]()
    for number in [asked.only] if asked.only is not None else range(asked.n):
        kind, state = numbered(asked.seed, number)
        counts.setdefault(kind, Counter())[state.partition(":")[0]] += 1
        if state.startswith("FAILED") or asked.only is not None:
            print(f"seed {asked.seed}, number {number} ({kind}): {state}", flush=True)
    for kind, found in sorted(counts.items()):
        print(f"{kind:<12} {found['loaded']:>6} loaded {found['refused']:>6} refused {found['FAILED']:>5} FAILED")
    whole = sum(counts.values(), Counter[str]())
    print(f"{whole.total()} models: {whole['loaded']} loaded, {whole['refused']} refused, {whole['FAILED']} FAILED")
    print(f"peak memory {_peak_mb():.0f} MB, {base:.0f} of it before the first")
    sys.exit(int(whole["FAILED"] > 0 or _peak_mb() > LARGEST_MB))


def warm_up() -> None:
    """Use each kind of model once as it is: all of them must load, and what they share is loaded then."""
    for kind in KINDS.values():
        with tempfile.TemporaryDirectory() as folder:
            kind.use(write(kind.files(), Path(folder)))
    accurate._load.cache_clear()  # noqa: SLF001 (an encoder takes memory)


def numbered(seed: int, number: int, kinds: Sequence[str] = tuple(KINDS)) -> tuple[str, str]:
    """Damage the model of a number; return its kind, and what became of it."""
    dice = random.Random(f"models:{seed}:{number}")
    kind = dice.choices(kinds, [KINDS[kind].odds for kind in kinds])[0]
    folder = Path(tempfile.mkdtemp())
    try:
        return kind, one(kind, dice, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
