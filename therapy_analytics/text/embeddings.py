"""Static word vectors: a text is the mean of the vectors of its subwords.

They were distilled once from a sentence encoder (``tools/build_vectors.py``): the encoder read each subword alone, its
outputs were reduced to principal components, frequent subwords were weighed down, and the component that all texts
share was removed. No encoder runs here: the order of words does not count, and a word has the same vector everywhere.

References
----------
Tulkens, S., & van Dongen, T. (2024). Model2Vec: Fast state-of-the-art static embeddings. doi:10.5281/zenodo.17270888
Arora, S., Liang, Y., & Ma, T. (2017). A simple but tough-to-beat baseline for sentence embeddings. ICLR.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.text.data_files import LARGEST_ARRAYS, LARGEST_TEXT, Wanted, read_arrays, read_bytes
from therapy_analytics.text.wordpiece import VOCABULARY, WordPiece

DIMENSIONS = 256
VECTORS = VOCABULARY.parent / "vectors.npz"
"""The vectors of the package, one a subword, in the order of `VOCABULARY`."""
_WHAT = "the word vectors"
_REMEDY = "Install the package again, or rebuild the vectors with tools/build_vectors.py"


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """The vectors of all subwords, in eight bits.

    Attributes
    ----------
    wordpiece : WordPiece
        Cuts texts into subwords.
    vectors : int8 array (n_subwords, DIMENSIONS)
        To be multiplied by `scales`.
    scales : float32 array (n_subwords,)
        The value of one step of each vector; 0 for subwords without a vector.
    """

    wordpiece: WordPiece = field(repr=False)
    vectors: NDArray[np.int8] = field(repr=False)
    scales: NDArray[np.float32] = field(repr=False)
    _known: frozenset[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", frozenset(np.flatnonzero(self.scales).tolist()))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the mean vector of each text's subwords.

        Parameters
        ----------
        texts : sequence of str
            Turns, sentences or words, as they are written.

        Returns
        -------
        float32 array (n_texts, DIMENSIONS)
            Rows of nan for texts without a known subword. A row does not depend, in any bit, on the other texts.

        Notes
        -----
        The vectors are not normalised to length one, as model2vec's ``encode`` does by default; cosines are the same.
        Punctuation counts, though it weighs next to nothing; typographic apostrophes are read as straight ones.

        Examples
        --------
        >>> vectors = load_embeddings().embed(["I feel so sad", "I am crying all day", "The train leaves at nine"])
        >>> a, b, c = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        >>> bool(a @ b > a @ c)
        True
        """
        straight = (text.replace("\u2019", "'") for text in texts)
        ids = [[one for one in self.wordpiece.ids(text) if one in self._known] for text in straight]
        lengths = np.array([len(one) for one in ids], dtype=np.int64)
        used, column = np.unique(np.array([one for some in ids for one in some], dtype=np.int64), return_inverse=True)
        vectors = self.vectors[used] * self.scales[used, None]
        # The sparse product adds the vectors of a text in its own order, whatever other texts there are
        rows = (np.ones(len(column), dtype=np.float32), column, np.append(0, np.cumsum(lengths)))
        sums: NDArray[np.float32] = sparse.csr_array(rows, shape=(len(ids), len(used))) @ vectors
        n = lengths.astype(np.float32)[:, None]
        return np.where(n > 0, sums / np.maximum(n, 1), np.float32(np.nan))


def load_embeddings(folder: Path | None = None) -> Embeddings:
    """Load the vectors of the package (cached), or those of a folder.

    Parameters
    ----------
    folder : Path, optional
        Holds ``vocabulary.txt`` and ``vectors.npz``, as ``tools/build_vectors.py`` writes them.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or the two do not belong together.
    """
    return _load(VECTORS.parent) if folder is None else _load.__wrapped__(Path(folder))


@functools.cache
def _load(folder: Path) -> Embeddings:
    vocabulary = _vocabulary(folder / VOCABULARY.name)
    path = folder / VECTORS.name
    wanted = {
        "vectors": Wanted((len(vocabulary), DIMENSIONS), ("int8",), "int8"),
        "scales": Wanted((len(vocabulary),), ("float32",), "float32"),
    }
    data = read_bytes(path, LARGEST_ARRAYS, what=_WHAT, remedy=_REMEDY)
    found = read_arrays(path, data, wanted, what="an archive of vectors", remedy=_REMEDY)
    if not (found["scales"] >= 0).all():
        raise BadDataFileError(str(path), "a scale is negative", _REMEDY)
    return Embeddings(WordPiece(vocabulary), found["vectors"], found["scales"])


def _vocabulary(path: Path) -> list[str]:
    try:
        vocabulary = read_bytes(path, LARGEST_TEXT, what=_WHAT, remedy=_REMEDY).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise BadDataFileError(str(path), "not text in UTF-8", _REMEDY) from None
    if "[UNK]" not in vocabulary:
        raise BadDataFileError(str(path), "not a vocabulary: [UNK] is missing", _REMEDY)
    return vocabulary
