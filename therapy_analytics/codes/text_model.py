"""Small models that read one text at a time, and their folders of weights.

The score of each kind is linear in hashed words, hand-crafted features, and the mean of static word vectors; a model
may name further inputs (``extras``). A folder has ``model.json``, ``weights.npz`` (no pickle) and ``NOTICE.md``, which
names the training data; ``tools/text_models.py`` fits and writes such folders.
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

from therapy_analytics.codes.features import HAND, N_BUCKETS, Features, featurize
from therapy_analytics.codes.weights import check_format, read_file, short_text
from therapy_analytics.text import AnnotatedSession, TurnArrays
from therapy_analytics.text.data_files import (
    LARGEST_ARRAYS,
    LARGEST_TEXT,
    Wanted,
    json_list,
    json_object,
    parsing,
    read_arrays,
)
from therapy_analytics.text.embeddings import DIMENSIONS, load_embeddings
from therapy_analytics.text.segments import Segments, segments
from therapy_analytics.text.tokens import Tokens

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
        Version of the weights, and the hash of their files.
    kinds : tuple of str
        The kinds that it gives probabilities of.
    exclusive : bool
        Whether a text is of one kind (probabilities add up to 1), or may be of several or none.
    extras : tuple of str
        Names of further inputs.
    buckets, hand, meaning, extra : float64 array (n_inputs, n_kinds)
        Weights of hashed words, of hand-crafted features, of the mean vector, of extras; calibration is in them.
    bias : float64 array (n_kinds,)
        Intercepts.
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
        """Return the probability of each kind, float64 (n_texts, n_kinds); no bit of it depends on the other texts.

        Parameters
        ----------
        texts : Texts
            The features of the texts, see `read_texts`.
        extra : float64 array (n_texts, n_extras), optional
            The further inputs, for models that name some.
        """
        scores = self.scores(texts, extra)
        if not self.exclusive:
            return np.asarray(1.0 / (1.0 + np.exp(-scores)))
        odds = np.exp(scores - scores.max(axis=1, keepdims=True)) if len(scores) else scores
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def scores(self, texts: Texts, extra: Floats | None = None) -> Floats:
        """Return the score of each kind, float64 (n_texts, n_kinds): log-odds, or logits of a softmax."""
        features = texts.features
        scores = features.words @ (features.types @ self.buckets) + GRAM_WEIGHT * (features.grams @ self.buckets)
        scores += features.hand @ self.hand + self.bias
        for dense, weights in ((texts.meaning, self.meaning), *([] if extra is None else [(extra, self.extra)])):
            # One product a row, because products of whole matrices may round differently with their number of rows
            scores += np.matmul(dense[:, None], weights)[:, 0]
        return np.asarray(scores)


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Features of texts, the same for all models.

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
    """Return the features of texts, each a turn."""
    return Texts(featurize(turns, np.arange(len(turns) + 1)), mean_vectors(turns))


@dataclass(frozen=True, slots=True, eq=False)
class SegmentedTurns:
    """Turns, their segments, and the features of these.

    Attributes
    ----------
    turns : TurnArrays
        The turns.
    segments : Segments
        Their sentences or windows.
    texts : Texts
        The features of the segments.
    """

    turns: TurnArrays
    segments: Segments
    texts: Texts


def read_segments(turns: TurnArrays) -> SegmentedTurns:
    """Cut turns into segments and compute their features."""
    found = segments(turns)
    return SegmentedTurns(turns, found, read_texts(found.turns))


def session_segments(session: AnnotatedSession) -> SegmentedTurns:
    """Return the segments of a session's turns, read once for all models."""
    return session.cached(lambda one: read_segments(one.turns), key=session_segments)


def mean_vectors(turns: TurnArrays) -> Floats:
    """Return each turn's mean word vector, scaled to length `MEANING_WEIGHT`; 0 where no word has a vector.

    Returns
    -------
    float64 array (n_turns, DIMENSIONS)
    """
    table = vectors_of(turns.tokens)
    # The sparse product adds the vectors of a turn in its own order, whatever other turns there are
    rows = (np.ones(len(turns.ids)), turns.ids, turns.offsets - turns.span.start)
    sums = np.asarray(sparse.csr_array(rows, shape=(len(turns), len(table))) @ table)
    length = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    return np.asarray(sums * (MEANING_WEIGHT / np.where(length > 0, length, np.inf)))


def turn_vectors(session: AnnotatedSession) -> Floats:
    """Return `mean_vectors` of a session's turns, computed once."""
    return session.cached(lambda one: mean_vectors(one.turns), key=turn_vectors)


def vectors_of(tokens: Tokens) -> Floats:
    """Return the vector of each token type, float64 (n_types, DIMENSIONS); 0 for types without one. Cached."""
    return _vectors_of(tokens.lower)


@functools.lru_cache(maxsize=2)
def _vectors_of(words: tuple[str, ...]) -> Floats:
    return np.nan_to_num(load_embeddings().embed(words)).astype(np.float64)


def load_text_model(folder: Path) -> TextModel:
    """Load the model of a folder with ``model.json`` and ``weights.npz`` (cached).

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or they do not fit this version.
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
