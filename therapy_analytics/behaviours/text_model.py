"""Small models that read a text by itself, and the folder that such a model comes in.

The score of each kind is linear in hashed words, counts by hand, and the mean of static word vectors; a model may name
further numbers that its user gives it (``extras``). A folder holds ``model.json`` and ``weights.npz`` (no pickle), and
``NOTICE.md`` about what it was trained on; ``tools/text_models.py`` fits and writes them.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.behaviours._weights import check_format, read_file, short_text
from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.features import N_BUCKETS, Features, featurize
from therapy_analytics.language import AnnotatedSession, TurnArrays
from therapy_analytics.language.data_files import (
    LARGEST_ARRAYS,
    LARGEST_TEXT,
    Wanted,
    json_list,
    json_object,
    parsing,
    read_arrays,
)
from therapy_analytics.language.embeddings import DIMENSIONS, load_embeddings
from therapy_analytics.language.stretches import Stretches, stretches
from therapy_analytics.language.tokens import Tokens

FORMAT = 1
MEANING_WEIGHT = 4.0
"""How much the mean vector counts beside the words."""
GRAM_WEIGHT = 0.5
"""How much pairs and triples of words count beside the words."""
_REMEDY = "Install the package again, or rebuild the weights with the tool that NOTICE.md beside them names"
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TextModel:
    """A model of texts.

    Attributes
    ----------
    version, digest : str
        Of the weights; the digest is a hash of their files.
    kinds : tuple of str
        What it gives probabilities of.
    exclusive : bool
        Whether a text is of one kind (the probabilities add up to 1), or may be of several or none.
    extras : tuple of str
        The further numbers that it reads.
    buckets, hand, meaning, extra, bias : float64 arrays (n, n_kinds); bias (n_kinds,)
        Weights of hashed words, of counts by hand, of the mean vector, of extras; intercepts. Calibration is in them.
    """

    version: str
    digest: str
    kinds: tuple[str, ...]
    exclusive: bool
    extras: tuple[str, ...]
    buckets: Floats
    hand: Floats
    meaning: Floats
    extra: Floats
    bias: Floats

    def probabilities(self, texts: Texts, extra: Floats | None = None) -> Floats:
        """Return the probability of each kind, (n_texts, n_kinds); a text's do not depend, in any bit, on the others.

        Parameters
        ----------
        texts : Texts
            As `read_texts` returns them.
        extra : float64 array (n_texts, n_extras), optional
            The further numbers, for models that name some.
        """
        scores = self.scores(texts, extra)
        if not self.exclusive:
            return np.asarray(1.0 / (1.0 + np.exp(-scores)))
        odds = np.exp(scores - scores.max(axis=1, keepdims=True)) if len(scores) else scores
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def scores(self, texts: Texts, extra: Floats | None = None) -> Floats:
        """Return the score of each kind, (n_texts, n_kinds): log-odds, or what a softmax is taken of."""
        features = texts.features
        # The weight, a power of two, multiplies the few sums rather than all the buckets
        scores = features.words @ (features.types @ self.buckets) + GRAM_WEIGHT * (features.grams @ self.buckets)
        scores += features.hand @ self.hand + self.bias
        for dense, weights in ((texts.meaning, self.meaning), *([] if extra is None else [(extra, self.extra)])):
            # One product a row: those of whole matrices may differ with the number of rows
            scores += np.matmul(dense[:, None], weights)[:, 0]
        return np.asarray(scores)


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Texts as the models read them, whichever of them asks.

    Attributes
    ----------
    features : Features
        Of each text by itself.
    meaning : float64 array (n_texts, DIMENSIONS)
        See `mean_vectors`.
    """

    features: Features
    meaning: Floats


def read_texts(turns: TurnArrays) -> Texts:
    """Read texts, each a turn, for the models."""
    return Texts(featurize(turns, np.arange(len(turns) + 1)), mean_vectors(turns))


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Turns cut into stretches that are read.

    Attributes
    ----------
    turns : TurnArrays
        The turns.
    parts : Stretches
        Their sentences or windows.
    texts : Texts
        These as the models read them.
    """

    turns: TurnArrays
    parts: Stretches
    texts: Texts


def read_stretches(turns: TurnArrays) -> Cut:
    """Cut turns into stretches, and read these."""
    parts = stretches(turns)
    return Cut(turns, parts, read_texts(parts.turns))


def stretches_of(session: AnnotatedSession) -> Cut:
    """Return the stretches of a session's turns, read once for all models."""
    return session.cached(_cut)


def _cut(session: AnnotatedSession) -> Cut:
    return read_stretches(session.turns)


def mean_vectors(turns: TurnArrays) -> Floats:
    """Return the direction of each turn's mean word vector times `MEANING_WEIGHT`; 0 where no word has a vector."""
    if not len(turns):
        return np.zeros((0, DIMENSIONS))
    begin, end = int(turns.offsets[0]), int(turns.offsets[-1])
    table, ids = vectors_of(turns.tokens), turns.tokens.ids[begin:end]
    # Each row is added up in the order of its tokens, whatever other rows there are
    rows = (np.ones(len(ids)), ids, turns.offsets - begin)
    sums = np.asarray(sparse.csr_array(rows, shape=(len(turns), len(table))) @ table)
    length = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    return np.asarray(sums * (MEANING_WEIGHT / np.where(length > 0, length, np.inf)))


def turn_vectors(session: AnnotatedSession) -> Floats:
    """Return `mean_vectors` of a session's turns, added up once for all who ask."""
    return session.cached(_turn_vectors)


def _turn_vectors(session: AnnotatedSession) -> Floats:
    return mean_vectors(session.turns)


def vectors_of(tokens: Tokens) -> Floats:
    """Return the vector of each type of a batch's tokens, 0 where one has none: cut once for all who ask."""
    return _vectors_of(tokens.lower)


@functools.lru_cache(maxsize=2)
def _vectors_of(words: tuple[str, ...]) -> Floats:
    return np.nan_to_num(load_embeddings().word_vectors(words)).astype(np.float64)


def load_text_model(folder: Path) -> TextModel:
    """Load the model of a folder with ``model.json`` and ``weights.npz`` (once).

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or the two do not fit this version.
    """
    return _load(folder)


@functools.cache
def _load(folder: Path) -> TextModel:
    digest = hashlib.sha256()
    about = _about(folder / "model.json", read_file(folder / "model.json", digest, most=LARGEST_TEXT))
    arrays = folder / "weights.npz"
    data = read_file(arrays, digest, most=LARGEST_ARRAYS)
    rows = {"buckets": N_BUCKETS, "hand": len(HAND), "meaning": DIMENSIONS, "extra": len(about["extras"])}
    n_kinds = len(about["kinds"])
    wanted = {name: Wanted((n, n_kinds)) for name, n in rows.items()} | {"bias": Wanted((n_kinds,))}
    found = read_arrays(arrays, data, wanted, what="an archive of weights", remedy=_REMEDY)
    parts: dict[str, Any] = {**about, **found}
    return TextModel(digest=digest.hexdigest(), **parts)


def _about(path: Path, raw: bytes) -> dict[str, Any]:
    with parsing(path, "the description of a model of texts", _REMEDY):
        model = json_object(raw)
        check_format(model, FORMAT, path, _REMEDY)
        kinds, extras, exclusive = json_list(model, "kinds"), json_list(model, "extras"), model["exclusive"]
        if not kinds or len(set(kinds)) < len(kinds) or not isinstance(exclusive, bool):
            raise ValueError
        version = short_text(model, "version")
    return {"version": version, "kinds": tuple(kinds), "exclusive": exclusive, "extras": tuple(extras)}
