"""Damaged models, codebooks and word lists: ``python -m benchmarks.fuzz.models [N] [--seed S]`` (3,000 unless said).

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
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.mutators import BINARIES, TEXTS, values
from therapy_analytics.behaviours import TaggerOptions, accurate, load_accurate, load_codebook, load_coder, text_model
from therapy_analytics.behaviours._weights import AIMS, FORMAT
from therapy_analytics.behaviours.choice import chosen_codebooks, meaning
from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.features import N_BUCKETS
from therapy_analytics.errors import TherapyAnalyticsError
from therapy_analytics.language import Batch, annotate, embeddings, syntax
from therapy_analytics.language.lexicons import Matcher, load_lexicon
from therapy_analytics.session import Role, Session, Turn

SLOWEST_S = 5.0
LARGEST_MB = 1_500
LONGEST = 600
"""Letters of an error: what is longer quotes the file."""
PACKAGE = Path(text_model.__file__).resolve().parents[1]
Files = dict[str, bytes]
Mutation = Callable[[Files, random.Random], Files]
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
    said = ("Hello, what brings you here?", "I want to sleep.", "You want to rest.", "Maybe.")
    roles: tuple[Role, ...] = ("therapist", "client") * 2
    turns = [
        Turn(index=at, speaker=role, role=role, text=text, first_row=at + 1)
        for at, (role, text) in enumerate(zip(roles, said, strict=True))
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


def _use_pipeline(folder: Path) -> None:
    syntax._load.cache_clear()  # noqa: SLF001 (as above)
    syntax.tag(["I slept well"], model=str(folder))


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
    "texts": Kind(functools.partial(_folder, PACKAGE / "behaviours" / "disclosure_weights"), _use_text_model, 4),
    "codebook": Kind(lambda: {"book.toml": BOOK.encode()}, _use_book, 4),
    "lexicon": Kind(_words, _use_words, 2),
    "dictionary": Kind(_dictionary, _use_words, 2),
    "vectors": Kind(functools.partial(_folder, PACKAGE / "language" / "vectors"), _use_vectors, 1),
    "accurate": Kind(functools.partial(_folder, PACKAGE / "behaviours" / "weights"), _use_accurate, 1),
    "pipeline": Kind(functools.partial(_folder, PACKAGE / "language" / "syntax_model"), _use_pipeline, 1),
}


def _pick(files: Files, dice: random.Random, *suffixes: str) -> str:
    fitting = [name for name in files if name.endswith(suffixes)]
    return dice.choice(fitting or list(files))


def change_bytes(files: Files, dice: random.Random) -> Files:
    """Flip, cut off, insert or repeat bytes of a file."""
    name = _pick(files, dice)
    data = files[name]
    for _ in range(dice.choice((1, 1, 2, 4))):
        data = dice.choice(BINARIES)(data, dice)
    return {**files, name: data}


def change_text(files: Files, dice: random.Random) -> Files:
    """Change words, numbers or lines of a description."""
    name = _pick(files, dice, ".json", ".toml", ".dic", ".txt", ".cfg")
    return {**files, name: dice.choice(TEXTS)(files[name], dice)}


def change_values(files: Files, dice: random.Random) -> Files:
    """Change, remove or rename values of a JSON file."""
    name = _pick(files, dice, ".json")
    data = files[name]
    for _ in range(dice.choice((1, 1, 2, 3))):
        data = values(data, dice)
    return {**files, name: data}


_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2,
    1e308,
    10**400,
    float("nan"),
    float("inf"),
    "",
    "x" * 5000,
    "a\nb",
    [],
    {},
    [[1]],
    "\ud800",
)


def change_field(files: Files, dice: random.Random) -> Files:
    """Remove a field of the description, or give it a value of another type, at the top or in one of its codes."""
    name = _pick(files, dice, ".json")
    try:
        whole = json.loads(files[name])
        codes = whole.get("codes") or [whole]
        here = dice.choice((whole, dice.choice(codes)))
        here = here["thresholds"] if dice.random() < 0.3 and "thresholds" in here else here
        field = dice.choice(list(here))
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
        return change_bytes(files, dice)
    if dice.random() < 0.3:
        del here[field]
    else:
        old = here[field]
        here[field] = dice.choice((*_ODD, [old], str(old), {"a": old}, old[:1] if isinstance(old, list | str) else 7))
    return {**files, name: json.dumps(whole).encode()}


def nest(files: Files, dice: random.Random) -> Files:
    """Nest a description deeper than any parser goes."""
    name = _pick(files, dice, ".json", ".toml")
    deep = dice.choice((200, 5_000, 100_000))
    if name.endswith(".toml"):
        return {**files, name: files[name] + b"\nodd = " + b"[" * deep + b"]" * deep}
    return {**files, name: files[name].rstrip()[:-1] + b', "odd": ' + b"[" * deep + b"]" * deep + b"}"}


def lose_file(files: Files, dice: random.Random) -> Files:
    """Leave a file out, empty it, or put another in its place."""
    name = _pick(files, dice)
    others = {one: data for one, data in files.items() if one != name}
    if not others or dice.random() < 0.3:
        return {**files, name: b""}
    return others if dice.random() < 0.5 else {**others, name: dice.choice(list(others.values()))}


def change_archive(files: Files, dice: random.Random) -> Files:
    """Remove, rename, double or change an array of an archive, or what its header claims."""
    name = _pick(files, dice, ".npz")
    try:
        with zipfile.ZipFile(io.BytesIO(files[name])) as archive:
            parts = [(one, archive.read(one)) for one in archive.namelist()]
    except (zipfile.BadZipFile, OSError, ValueError):
        return change_bytes(files, dice)
    at = dice.randrange(len(parts))
    part, data = parts[at]
    parts[at : at + 1] = dice.choice(
        (
            list,
            lambda: [(dice.choice(("odd.npy", part.upper(), f"../{part}", part.removesuffix(".npy"))), data)],
            lambda: [(part, data), (part, dice.choice((data, b"", data[:40])))],
            lambda: [(part, data[: dice.randrange(len(data))])],
            lambda: [(part, _other_header(data, dice))],
            lambda: [(part, _other_header(data, dice))],
            lambda: [(part, _other_array(data, dice))],
            lambda: [(part, _other_array(data, dice))],
            lambda: [(part, _other_array(data, dice))],
        )
    )()
    return {**files, name: _lying(_zipped(parts, dice), dice)}


def _zipped(parts: Sequence[tuple[str, bytes]], dice: random.Random) -> bytes:
    out, way = io.BytesIO(), dice.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2))
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(out, "w", way) as archive:
        for name, data in parts:
            archive.writestr(name, data)
    return out.getvalue()


def _lying(data: bytes, dice: random.Random) -> bytes:
    """Let the directory of an archive claim other sizes, ways of packing or flags, now and then."""
    at = data.rfind(b"PK\x01\x02")
    if at < 0 or dice.random() < 0.8:
        return data
    place, value = dice.choice(((24, 2**31), (20, 2**31), (24, 0), (10, 99), (8, 1), (42, 2**30), (16, 7)))
    size = 4 if place in {16, 20, 24, 42} else 2
    return data[: at + place] + struct.pack("<I", value)[:size] + data[at + place + size :]


def _other_header(data: bytes, dice: random.Random) -> bytes:
    """Let the header of an array claim another type or shape, or be no header."""
    types = (
        "'<f4'",
        "'|O'",
        "'<f8'",
        "'<c16'",
        "'|S100000'",
        "[('a', '<f4')]",
        "'<M8[ns]'",
        "'|V9'",
        "1",
        "None",
        "'?'",
    )
    shapes = (
        "(400000000,)",
        "(65536, 99999999)",
        "(0,)",
        "()",
        "(-1, 2)",
        "(1,)",
        "(10**30,)",
        "(2.5,)",
        "'x'",
        "(True,)",
    )
    text = dice.choice(
        (
            f"{{'descr': {dice.choice(types)}, 'fortran_order': False, 'shape': {dice.choice(shapes)}, }}",
            f"{{'descr': '<f4', 'fortran_order': {dice.choice(('1', 'None'))}, 'shape': {dice.choice(shapes)}}}",
            "(" * dice.choice((100, 3_000, 60_000)),
            "{" + "'a': 1, " * 500 + "}",
            "__import__('os')",
            "\x00\xff",
        )
    ).encode("latin-1")
    version = dice.choice((1, 1, 1, 2, 3, 9))
    claimed = min(len(text) + dice.choice((0, 0, 0, 5, 60_000)), 65_535)
    length = struct.pack("<H" if version == 1 else "<I", claimed)
    return b"\x93NUMPY" + bytes((version, 0)) + length + text + data[128:]


def _other_array(data: bytes, dice: random.Random) -> bytes:
    """Give an array another shape, another type, or numbers that are none."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    flat = array.reshape(-1).astype(np.float64)
    if flat.size and dice.random() < 0.4:
        flat[dice.randrange(flat.size)] = dice.choice((np.nan, np.inf, -np.inf, 1e300, -1e300, 1e30))
        array = flat.reshape(array.shape)
    changed: Any = dice.choice(
        (
            lambda: array,
            lambda: array.T,
            lambda: array[:-1],
            lambda: array.astype(">f8"),
            lambda: array.astype(np.complex128),
            lambda: np.asarray(array, dtype=str) if array.size < 10_000 else array[..., None],
            lambda: np.zeros(array.shape, dtype=bool),
            lambda: np.zeros(array.shape, dtype=np.int64),
            lambda: np.concatenate([array, array]) if array.ndim else array,
            lambda: np.zeros((2,) * 20),
        )
    )()
    out = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):
        np.lib.format.write_array(out, np.asarray(changed), allow_pickle=False)
    return out.getvalue()


MUTATIONS: tuple[Mutation, ...] = (
    change_bytes, change_bytes, change_text, change_text, change_values, change_values, change_field, change_field,
    change_field, nest, lose_file, change_archive, change_archive, change_archive, change_archive,
)  # fmt: skip


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
        said = str(error)
        said.encode()
        state = (
            "refused"
            if len(said) - len(str(folder)) < LONGEST and said.isprintable()
            else f"FAILED: says {said[:900]!r}"
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
    accurate._load.cache_clear()  # noqa: SLF001 (an encoder takes its room)


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
