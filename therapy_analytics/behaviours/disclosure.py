"""How likely a turn tells of the speaker: feelings (emotional disclosure), and facts (informational disclosure).

A linear model over hashed words, counts by hand, and the mean of static word vectors reads one stretch of a turn at
a time: a sentence, or a window where speech recognisers wrote no full stops. It was trained on single sentences of a
forum (``disclosure_weights/NOTICE.md``) by ``tools/train_disclosure.py``, as written and without punctuation.

References
----------
Jaidka, K., Singh, I., Liu, J., Chhaya, N., & Ungar, L. (2020). A report of the CL-Aff OffMyChest shared task: Modeling
supportiveness and disclosure. Proceedings of the 3rd Workshop on Affective Content Analysis (AffCon), AAAI.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.behaviours._weights import read_arrays, read_file
from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.features import N_BUCKETS, featurize
from therapy_analytics.errors import BadDataFileError
from therapy_analytics.language import TurnArrays, annotate
from therapy_analytics.language.embeddings import DIMENSIONS, load_embeddings
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.session import Session, Turn

KINDS = ("emotional", "informational")
"""Columns of everything that the model gives."""
FORMAT = 1
WEIGHTS = Path(__file__).parent / "disclosure_weights"
LONGEST = 30
"""Sentences of more words are cut into even windows, as turns without punctuation are."""
SHORTEST = 4
"""A sentence of fewer words is read together with the one after it."""
MEANING_WEIGHT = 4.0
"""How much the mean vector counts beside the words."""
GRAM_WEIGHT = 0.5
"""How much pairs and triples of words count beside the words."""
_REMEDY = "Install the package again, or rebuild the weights with tools/train_disclosure.py"
_SHAPES = {
    "buckets": (N_BUCKETS, len(KINDS)),
    "hand": (len(HAND), len(KINDS)),
    "meaning": (DIMENSIONS, len(KINDS)),
    "bias": (len(KINDS),),
}
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """The sentences or windows of a run of turns.

    Attributes
    ----------
    turns : TurnArrays
        The stretches, as if each was a turn.
    turn_of : int64 array (n_stretches,)
        Whose they are.
    """

    turns: TurnArrays
    turn_of: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Disclosed:
    """What the model says of a run of turns.

    Attributes
    ----------
    turns : float64 array (n_turns, 2)
        The probability that some stretch of the turn discloses, as its likeliest stretch has it: for each of
        `KINDS`, 0 to 1; nan for turns without words.
    words : float64 array (n_turns,)
        Words of the turn in stretches that disclose feelings or facts, as expected if the two were independent.
    """

    turns: Floats
    words: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Disclosure:
    """The model.

    Attributes
    ----------
    version, digest : str
        Of the weights; the digest is a hash of their files.
    buckets, hand, meaning, bias : float64 arrays
        Weights of hashed words, of counts by hand, of the mean vector; intercepts. Calibration is in them.
    """

    version: str
    digest: str
    buckets: Floats
    hand: Floats
    meaning: Floats
    bias: Floats

    def predict(self, turns: TurnArrays) -> Disclosed:
        """Return what turns disclose; a turn's numbers do not depend, in any bit, on the other turns."""
        cut = stretches(turns)
        p = self.stretch_probabilities(cut.turns)
        best = np.zeros((len(turns), len(KINDS)))
        np.maximum.at(best, cut.turn_of, p)
        either = 1.0 - (1.0 - p[:, 0]) * (1.0 - p[:, 1])
        best[turns.n_words == 0] = np.nan
        return Disclosed(best, np.bincount(cut.turn_of, cut.turns.n_words * either, len(turns)).astype(np.float64))

    def stretch_probabilities(self, turns: TurnArrays) -> Floats:
        """Return the probabilities of stretches that are read as they are, (n, 2)."""
        if not len(turns):
            return np.zeros((0, len(KINDS)))
        features = featurize(turns, np.arange(len(turns) + 1))
        scores = features.words @ (features.types @ self.buckets) + features.grams @ (GRAM_WEIGHT * self.buckets)
        scores += features.hand @ self.hand + self.bias
        vectors = mean_vectors(turns)
        for k, weights in enumerate(np.ascontiguousarray(self.meaning.T)):
            scores[:, k] += (vectors * weights).sum(axis=1)  # a matrix product may differ with the number of rows
        return np.asarray(1.0 / (1.0 + np.exp(-scores)))

    def of_texts(self, texts: Sequence[str]) -> Floats:
        """Return the probabilities of texts, each read as a turn: (n_texts, 2), nan for texts without words.

        Examples
        --------
        >>> model = load_disclosure()
        >>> told, asked = model.of_texts(["I was so scared when my father left us.", "What would you like to do?"])
        >>> bool(told[0] > asked[0]), bool(told[1] > asked[1])
        (True, True)
        """
        return self.predict(turns_of(texts)).turns


def turns_of(texts: Sequence[str]) -> TurnArrays:
    """Return texts as turns of one speaker."""
    made = tuple(
        Turn(index=i, speaker="client", role="client", text=text, first_row=i + 1) for i, text in enumerate(texts)
    )
    return annotate([Session(id="texts", source_file="", turns=made)], Matcher([])).turns


def mean_vectors(turns: TurnArrays) -> Floats:
    """Return the direction of each turn's mean word vector times `MEANING_WEIGHT`; 0 where no word has a vector."""
    begin, end = int(turns.offsets[0]), int(turns.offsets[-1])
    used, ids = np.unique(turns.tokens.ids[begin:end], return_inverse=True)
    table = _vectors_of(tuple(turns.tokens.lower[i] for i in used.tolist()))
    # Each row is added up in the order of its tokens, whatever other rows there are
    rows = (np.ones(len(ids)), ids, turns.offsets - begin)
    sums = np.asarray(sparse.csr_array(rows, shape=(len(turns), len(used))) @ table)
    length = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    return np.asarray(sums * (MEANING_WEIGHT / np.where(length > 0, length, np.inf)))


@functools.lru_cache(maxsize=2)
def _vectors_of(words: tuple[str, ...]) -> Floats:
    """Return the vectors of words, 0 where one has none: cut once for a session's sentences and its turns."""
    return np.nan_to_num(load_embeddings().word_vectors(words)).astype(np.float64)


def stretches(turns: TurnArrays) -> Stretches:
    """Cut turns into sentences, and long sentences into even windows; turns without words have none.

    Examples
    --------
    A short sentence goes with the one after it; 62 words without a full stop are three windows:

    >>> cut = stretches(turns_of(["Yes. I told my mother. She cried all night.", "um " * 62, "..."]))
    >>> cut.turns.n_words.tolist(), cut.turn_of.tolist()
    ([5, 4, 21, 21, 20, 0], [0, 0, 1, 1, 1, 2])
    """
    begin, end = int(turns.offsets[0]), int(turns.offsets[-1])
    turn_of = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
    word = turns.tokens.word_start[begin:end]
    begins = np.diff(turn_of, prepend=-1) > 0
    after_end = np.concatenate([[False], turns.tokens.sentence_end[begin:end][:-1]])[: len(word)]
    begins = _joined(begins, begins | after_end, word)
    begins |= _window_begins(begins, word)
    at = np.append(np.flatnonzero(begins), len(word))
    n_words = np.diff(np.concatenate([[0], np.cumsum(word)])[at])
    # A stretch without words (signs behind the last sentence) goes with the one before
    kept = (n_words > 0) | (np.diff(turn_of[at[:-1]], prepend=-1) > 0)
    at, owner = np.append(at[:-1][kept], len(word)), turn_of[at[:-1][kept]]
    n_words = np.diff(np.concatenate([[0], np.cumsum(word)])[at])
    return _as_turns(turns, at + begin, n_words, owner)


def _joined(opens: NDArray[np.bool_], begins: NDArray[np.bool_], word: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Leave out the beginnings that follow a sentence of fewer than `SHORTEST` words; those of turns stay."""
    at = np.flatnonzero(begins)
    n_words = np.diff(np.concatenate([[0], np.cumsum(word)])[np.append(at, len(word))])
    found = opens.copy()
    found[at[1:]] |= n_words[:-1] >= SHORTEST
    return found


def _window_begins(begins: NDArray[np.bool_], word: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where the further windows of sentences of more than `LONGEST` words begin."""
    at = np.flatnonzero(begins)
    total = np.cumsum(word)
    n_words = np.diff(np.concatenate([[0], total])[np.append(at, len(word))])
    sentence = np.cumsum(begins) - 1
    n_windows = np.maximum(-(-n_words // LONGEST), 1)
    place = total - 1 - (np.concatenate([[0], total])[at])[sentence] if len(word) else total
    window = np.where(word, place, 0) * n_windows[sentence] // np.maximum(n_words, 1)[sentence]
    found = np.zeros(len(word), dtype=np.bool_)
    spoken = np.flatnonzero(word)
    changed = (np.diff(window[spoken], prepend=0) > 0) & (np.diff(sentence[spoken], prepend=0) == 0)
    found[spoken[changed]] = True
    return found


def _as_turns(turns: TurnArrays, offsets: Ints, n_words: Ints, owner: Ints) -> Stretches:
    made = replace(
        turns,
        offsets=offsets,
        roles=turns.roles[owner],
        n_words=n_words,
        n_sentences=np.minimum(n_words, 1),
        counts=turns.counts[owner],
        covered=turns.covered[owner],
        opens=turns.opens[owner],
    )
    return Stretches(made, owner)


def load_disclosure(folder: Path | None = None) -> Disclosure:
    """Load the model of the package (once), or that of a folder with ``model.json`` and ``weights.npz``.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or the two do not fit this version.
    """
    return _load(WEIGHTS) if folder is None else _load.__wrapped__(Path(folder))


@functools.cache
def _load(folder: Path) -> Disclosure:
    digest = hashlib.sha256()
    raw, data = (read_file(folder / name, digest) for name in ("model.json", "weights.npz"))
    try:
        model = json.loads(raw)
        if model["format"] != FORMAT:
            problem = f"format {model['format']!r} is not {FORMAT}, the one of this version"
            raise BadDataFileError(str(folder / "model.json"), problem, _REMEDY)
        version = str(model["version"])
    except (ValueError, KeyError, TypeError) as error:
        problem = f"not the description of a model of disclosure ({type(error).__name__})"
        raise BadDataFileError(str(folder / "model.json"), problem, _REMEDY) from None
    arrays = read_arrays(folder / "weights.npz", data, _SHAPES, remedy=_REMEDY)
    return Disclosure(version, digest.hexdigest(), **arrays)
