"""What can be done to the files of a model: to their bytes, words and values, and to the arrays of an archive."""

from __future__ import annotations

import io
import json
import random
import struct
import warnings
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.fuzz.mutators import BINARIES, TEXTS, values

Files = dict[str, bytes]
Mutation = Callable[[Files, random.Random], Files]


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
