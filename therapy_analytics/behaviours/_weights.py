"""The files of a trained tagger: ``model.json`` says what ``weights.npz`` means."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.features import N_BUCKETS
from therapy_analytics.errors import BadDataFileError
from therapy_analytics.session import ROLES, Role

FORMAT = 3
"""Raised whenever features change: weights fit the features that they were trained on, and no others."""
AIMS = {
    "balanced": "decisions agree most with human coders",
    "precision": "a coded turn is right most often",
    "recall": "few turns with the code are missed",
    "rate": "as many turns are decided as the probabilities expect",
}
"""What thresholds can be chosen for, and what each means."""
DEFAULT_AIM = "balanced"
WEIGHTS = Path(__file__).parent / "weights"
"""The weights of the package."""
_REMEDY = "Install the package again, or rebuild the weights with tools/train_tagger.py"


@dataclass(frozen=True, slots=True)
class Coded:
    """How a code comes about.

    Attributes
    ----------
    column : str
        ``mi_question``, ``bolt_planning``, ...
    role : {"therapist", "client"}
        Whose turns can have it.
    heads : tuple of str
        The heads whose probabilities are multiplied: P(group), P(kind given the group).
    thresholds : mapping of str to float
        For each of `AIMS`: a turn has the code when its probability is at least this.
    on_request : bool
        Whether it is given only when all codes are asked for.
    """

    column: str
    role: Role
    heads: tuple[str, ...]
    thresholds: Mapping[str, float]
    on_request: bool


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The arrays of a linear model with two layers of heads.

    Attributes
    ----------
    heads : tuple of str
        What each head is called: like the code that it decides, alone or of the kinds of a group.
    n_context : int
        So many of them, the first layer, read the turns before and after, too.
    buckets : float64 array (N_BUCKETS, 3 * n_context + n_others)
        First layer's weights for the turn, the turn before, the turn after; then the second layer's.
    hand : float64 array (len(HAND), n_context + n_others)
        Weights of the features by hand.
    lift : float64 array (n_context, n_others)
        What the second layer takes from the scores of the first.
    bias : float64 array (n_context + n_others,)
        Added to the scores.
    """

    heads: tuple[str, ...]
    n_context: int
    buckets: NDArray[np.float64]
    hand: NDArray[np.float64]
    lift: NDArray[np.float64]
    bias: NDArray[np.float64]

    def only(self, heads: Collection[int]) -> Weights:
        """Return the first layer, and those of the other heads that are named."""
        n = self.n_context
        others = [head for head in range(n, len(self.heads)) if head in heads]
        kept = [*range(n), *others]
        below = [head - n for head in others]
        columns = [*range(3 * n), *(3 * n + column for column in below)]
        names = tuple(self.heads[head] for head in kept)
        # Columns taken out stand one after the other in memory: a sparse product would bring them into rows each time
        buckets = np.ascontiguousarray(self.buckets[:, columns])
        return Weights(names, n, buckets, self.hand[:, kept], self.lift[:, below], self.bias[kept])


def load_weights(folder: Path) -> tuple[str, str, str, tuple[Coded, ...], Weights]:
    """Read a folder of weights: name, version, hash, codes, arrays.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or the two do not fit each other or this version.
    """
    digest = hashlib.sha256()
    raw = [read_file(folder / name, digest) for name in ("model.json", "weights.npz")]
    try:
        model = json.loads(raw[0])
        if model["format"] != FORMAT:
            problem = f"format {model['format']!r} is not {FORMAT}, the one of this version"
            raise BadDataFileError(str(folder / "model.json"), problem, _REMEDY)
        heads = [*model["context_heads"], *model["heads"]]
        codes = tuple(_coded(entry, heads) for entry in model["codes"])
        name, version, n_context = str(model["name"]), str(model["version"]), len(model["context_heads"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"not the description of a tagger ({type(error).__name__})"
        raise BadDataFileError(str(folder / "model.json"), problem, _REMEDY) from None
    return (
        name,
        version,
        digest.hexdigest(),
        codes,
        _arrays(folder / "weights.npz", raw[1], n_context, heads),
    )


def read_file(path: Path, digest: Any) -> bytes:
    """Return what is in a file of the weights, and put it into a hash.

    Raises
    ------
    BadDataFileError
        It cannot be opened.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadDataFileError(str(path), "the weights of the tagger cannot be opened", str(error.strerror)) from None
    digest.update(data)
    return data


def _coded(entry: dict[str, Any], heads: list[str]) -> Coded:
    role, on_request = entry["role"], entry["on_request"]
    if role not in ROLES or not isinstance(on_request, bool):
        raise ValueError
    if not set(entry["heads"]) <= set(heads):
        raise ValueError
    return Coded(str(entry["column"]), role, tuple(entry["heads"]), thresholds_of(entry), on_request)


def thresholds_of(entry: dict[str, Any]) -> dict[str, float]:
    """Return a code's threshold for each aim.

    Raises
    ------
    ValueError, KeyError, TypeError
        One is missing, or lies outside 0 and 1.
    """
    thresholds = {aim: float(entry["thresholds"][aim]) for aim in AIMS}
    if not all(0 < threshold < 1 for threshold in thresholds.values()):
        raise ValueError
    return thresholds


def _arrays(path: Path, data: bytes, n_context: int, heads: list[str]) -> Weights:
    n_heads = len(heads)
    n_others = n_heads - n_context
    shapes = {
        "buckets": (N_BUCKETS, 3 * n_context + n_others),
        "hand": (len(HAND), n_heads),
        "lift": (n_context, n_others),
        "bias": (n_heads,),
    }
    return Weights(heads=tuple(heads), n_context=n_context, **read_arrays(path, data, shapes, remedy=_REMEDY))


def read_arrays(
    path: Path, data: bytes, shapes: Mapping[str, tuple[int, ...]], *, remedy: str
) -> dict[str, NDArray[np.float64]]:
    """Return the arrays of an ``.npz`` archive of weights.

    Parameters
    ----------
    path, data : Path, bytes
        Where the archive stands, and what is in it.
    shapes : mapping of str to tuple of int
        The arrays that it must hold.
    remedy : str
        What to do where it does not.

    Raises
    ------
    BadDataFileError
        It is broken, or an array is missing, of another shape, or not finite.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name].astype(np.float64) for name in shapes}
    except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise BadDataFileError(str(path), f"not an archive of weights ({type(error).__name__})", remedy) from None
    for name, shape in shapes.items():
        if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
            problem = f"the array {name!r} does not have finite numbers of shape {shape}"
            raise BadDataFileError(str(path), problem, remedy)
    return arrays
