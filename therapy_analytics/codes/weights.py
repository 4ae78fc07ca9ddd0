"""The files of a trained tagger: ``model.json`` (a description) and ``weights.npz`` (arrays)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.features import HAND, N_BUCKETS
from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.core.session import ROLES, Role
from therapy_analytics.text.data_files import (
    LARGEST_ARRAYS,
    LARGEST_TEXT,
    Wanted,
    json_list,
    json_object,
    parsing,
    read_arrays,
    read_bytes,
)

FORMAT = 3
"""Raised whenever features change, because weights only fit the features that they were trained on."""
AIMS = {
    "balanced": "decisions agree most with human coders",
    "precision": "a coded turn is right most often",
    "recall": "few turns with the code are missed",
    "rate": "as many turns are decided as the probabilities expect",
}
"""Aims that thresholds are chosen for, and their meaning."""
DEFAULT_AIM = "balanced"
WEIGHTS = Path(__file__).parent / "weights"
"""The weights of the package."""
REMEDY = "Install the package again; if the model is your own, train it again with tanalyze train"
_SHORT = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}")


@dataclass(frozen=True, slots=True)
class GivenCode:
    """A code that a tagger gives.

    Attributes
    ----------
    column : str
        ``mi_question``, ``process_advice``, ...
    role : {"therapist", "client"}
        Role of the turns that can have it.
    thresholds : mapping of str to float
        For each of `AIMS`: a turn has the code when its probability is at least this.
    on_request : bool
        Whether it is given only where all codes are asked for.
    """

    column: str
    role: Role
    thresholds: Mapping[str, float]
    on_request: bool


@dataclass(frozen=True, slots=True)
class Coded(GivenCode):
    """How the fast tagger gives a code.

    Attributes
    ----------
    heads : tuple of str
        Heads whose probabilities are multiplied: P(parent), P(sub-code given the parent).
    """

    heads: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The arrays of a linear model with two layers of heads.

    Attributes
    ----------
    heads : tuple of str
        Names of the heads, those of their codes.
    n_context : int
        How many heads are in the first layer, which also reads the turns before and after.
    buckets : float64 array (N_BUCKETS, 3 * n_context + n_others)
        Weights of the first layer for the turn, the turn before and the turn after, then of the second layer.
    hand : float64 array (len(HAND), n_context + n_others)
        Weights of the hand-crafted features.
    lift : float64 array (n_context, n_others)
        Weights of the first layer's scores in the second.
    bias : float64 array (n_context + n_others,)
        Intercepts.
    """

    heads: tuple[str, ...]
    n_context: int
    buckets: NDArray[np.float64]
    hand: NDArray[np.float64]
    lift: NDArray[np.float64]
    bias: NDArray[np.float64]

    def only(self, heads: Collection[int]) -> Weights:
        """Return the first layer, and of the second layer the heads with these numbers."""
        n = self.n_context
        others = [head for head in range(n, len(self.heads)) if head in heads]
        kept = [*range(n), *others]
        below = [head - n for head in others]
        columns = [*range(3 * n), *(3 * n + column for column in below)]
        names = tuple(self.heads[head] for head in kept)
        # Selected columns are not contiguous in memory, and every sparse product would copy them
        buckets = np.ascontiguousarray(self.buckets[:, columns])
        return Weights(names, n, buckets, self.hand[:, kept], self.lift[:, below], self.bias[kept])


def load_weights(folder: Path) -> tuple[str, str, str, tuple[Coded, ...], Weights]:
    """Return name, version, hash, codes and arrays of a folder of weights.

    Raises
    ------
    BadDataFileError
        A file is missing, broken or too large, or they do not fit each other or this version.
    """
    digest = hashlib.sha256()
    about = folder / "model.json"
    raw = read_file(about, digest, most=LARGEST_TEXT)
    with parsing(about, "the description of a tagger", REMEDY):
        model = json_object(raw)
        check_format(model, FORMAT, about, REMEDY)
        context, others = json_list(model, "context_heads"), json_list(model, "heads")
        heads = [*context, *others]
        entries = json_list(model, "codes", dict)
        codes = tuple(Coded(**given_fields(entry), heads=tuple(json_list(entry, "heads"))) for entry in entries)
        if not codes or len(set(heads)) < len(heads) or len({code.column for code in codes}) < len(codes):
            raise ValueError
        if not all(code.heads and set(code.heads) <= set(heads) for code in codes):
            raise ValueError
        name, version = short_text(model, "name"), short_text(model, "version")
    arrays, n, n_others = folder / "weights.npz", len(context), len(others)
    packed = read_file(arrays, digest, most=LARGEST_ARRAYS)
    shapes = {
        "buckets": (N_BUCKETS, 3 * n + n_others),
        "hand": (len(HAND), n + n_others),
        "lift": (n, n_others),
        "bias": (n + n_others,),
    }
    wanted = {field: Wanted(shape) for field, shape in shapes.items()}
    found = read_arrays(arrays, packed, wanted, what="an archive of weights", remedy=REMEDY)
    return name, version, digest.hexdigest(), codes, Weights(tuple(heads), n, **found)


def read_file(path: Path, digest: Any, *, most: int) -> bytes:
    """Return the contents of a file of weights, and add them to a hash.

    Raises
    ------
    BadDataFileError
        It cannot be opened, or is too large.
    """
    data = read_bytes(path, most, what="the file of a model", remedy=REMEDY)
    digest.update(data)
    return data


def check_format(model: Mapping[str, Any], wanted: int, path: Path, remedy: str) -> None:
    """Refuse a description of another format version.

    Raises
    ------
    BadDataFileError
        It has another format version.
    """
    if model["format"] != wanted:
        problem = f"the model is not of format {wanted}, the one of this version"
        raise BadDataFileError(str(path), problem, remedy)


def short_text(model: Mapping[str, Any], field: str) -> str:
    """Return a field that must be a short text on one line; call it within `parsing`."""
    value = model[field]
    if not isinstance(value, str) or not _SHORT.fullmatch(value):
        raise ValueError
    return value


def given_fields(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a `GivenCode` from its entry in a description; call it within `parsing`.

    Raises
    ------
    ValueError, KeyError, TypeError, OverflowError
        One is missing, or is not what it must be.
    """
    role, on_request = entry["role"], entry["on_request"]
    thresholds = {aim: float(entry["thresholds"][aim]) for aim in AIMS}
    if role not in ROLES or not isinstance(on_request, bool) or not all(0 < one < 1 for one in thresholds.values()):
        raise ValueError
    column = short_text(entry, "column")
    return {"column": column, "role": role, "thresholds": thresholds, "on_request": on_request}
