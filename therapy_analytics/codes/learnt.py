"""Which turns a tagger learnt from, known by hashes of their words.

Agreement of a tagger with people on turns that it learnt from says little of how good it is on others. The package
ships 64 bits of a hash of each turn of eight words or more that its taggers learnt from, and of those behind the
reference profiles (``tools/build_learnt_turns.py``); ``tanalyze train`` writes such a file beside its model. No word
can be read from them; whoever has a text can test whether it is one of these turns.
"""

from __future__ import annotations

import functools
import io
import re
import unicodedata
from collections.abc import Iterable
from hashlib import sha256
from math import nan
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.weights import REMEDY, WEIGHTS
from therapy_analytics.text.data_files import LARGEST_TEXT, parsing, read_bytes

Hashes = NDArray[np.uint64]
FILE = "learnt_turns.npz"
"""The file of hashes beside the weights of a model."""
FEWEST_WORDS = 8
"""Shorter turns are said by many people, and tell nothing."""
FEWEST_TURNS = 3
"""Turns of so many words that it takes to know a session again."""
HALF = 0.5
"""The share of such turns from which on a session is known."""
_APOSTROPHES = re.compile("['\u2018\u2019\u02bc]")
_WORDS = re.compile(r"[^\W_]+")
_WHAT = "an archive of hashes"


def turn_hashes(texts: Iterable[str]) -> Hashes:
    """Return a hash of the words of each text that has `FEWEST_WORDS` or more, in order.

    Case, punctuation and apostrophes do not count.

    Examples
    --------
    >>> said = ["So you don't want that to go on at all?", "so you dont want that to go on at all", "Mm-hmm."]
    >>> found = turn_hashes(said)
    >>> len(found), bool(found[0] == found[1])
    (2, True)
    """
    plain = (_APOSTROPHES.sub("", unicodedata.normalize("NFKC", text).casefold()) for text in texts)
    words = (_WORDS.findall(text) for text in plain)
    long = (one for one in words if len(one) >= FEWEST_WORDS)
    return np.array([int.from_bytes(sha256(" ".join(one).encode()).digest()[:8], "little") for one in long], np.uint64)


def n_among(found: Hashes, known: Hashes) -> tuple[float, float]:
    """Return how many of a session's hashes are among known ones, which are sorted, and of how many.

    Both are nan where these are fewer than `FEWEST_TURNS`.
    """
    if len(found) < FEWEST_TURNS or not len(known):
        return nan, nan
    at = np.minimum(np.searchsorted(known, found), len(known) - 1)
    return float(np.count_nonzero(known[at] == found)), float(len(found))


def as_npz(**arrays: Hashes) -> bytes:
    """Return the contents of a file of hashes, each array sorted and without repetitions."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **{name: np.unique(one) for name, one in arrays.items()})
    return file.getvalue()


def learnt_turns(folder: Path = WEIGHTS) -> Hashes:
    """Return the hashes of the turns that the model of a folder learnt from, sorted (files are cached).

    Raises
    ------
    BadDataFileError
        There is no such file, or it is broken.
    """
    path = folder / FILE
    return _read(path, path.stat().st_mtime_ns if path.exists() else 0, "learnt")


def reference_turns(who: Literal["skilled", "unskilled", "model"]) -> Hashes:
    """Return the hashes of the turns behind the reference profiles of people, or of language models, sorted."""
    return _read(WEIGHTS / FILE, 0, who)


@functools.lru_cache(maxsize=8)
def _read(path: Path, _: int, name: str) -> Hashes:
    data = read_bytes(path, LARGEST_TEXT, what=_WHAT, remedy=REMEDY)
    with parsing(path, _WHAT, REMEDY), np.load(io.BytesIO(data), allow_pickle=False) as archive:
        if sum(one.file_size for one in archive.zip.infolist()) > LARGEST_TEXT:
            raise ValueError
        found: Hashes = archive[name]
        if found.dtype != np.uint64 or found.ndim != 1 or (found[1:] <= found[:-1]).any():
            raise ValueError
    return found
