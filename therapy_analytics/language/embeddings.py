"""Static vectors of meaning: a text is the mean of the vectors of its pieces of words.

They were distilled once from a sentence encoder (``tools/build_vectors.py``): it read each piece alone, what it said
was reduced to principal components, common pieces were made to weigh less, and what all texts have in common was taken
off. No encoder runs here, so the order of words counts for nothing, and a word means the same wherever it stands.

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

from therapy_analytics.errors import BadDataFileError
from therapy_analytics.language.data_files import LARGEST_ARRAYS, LARGEST_TEXT, Wanted, read_arrays, read_bytes
from therapy_analytics.language.wordpiece import PIECES, WordPiece, words

DIMENSIONS = 256
MOST_KNOWN = 50_000
"""So many words are remembered with their pieces, some 10 MB; then the memory begins anew."""
VECTORS = PIECES.parent / "vectors.npz"
"""The vectors of the package, one a piece, in the order of `PIECES`."""
_WHAT = "the word vectors"
_REMEDY = "Install the package again, or rebuild the vectors with tools/build_vectors.py"


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """The vectors of all pieces, in eight bits.

    Attributes
    ----------
    pieces : WordPiece
        Cuts texts into pieces.
    vectors : int8 array (n_pieces, DIMENSIONS)
        To be multiplied by `scales`.
    scales : float32 array (n_pieces,)
        What one step of each piece's vector is worth; 0 for pieces without a vector.
    cut_before : dict of str to list of int
        The known pieces of what was cut already: most of what a session says, others said before.
    """

    pieces: WordPiece = field(repr=False)
    vectors: NDArray[np.int8] = field(repr=False)
    scales: NDArray[np.float32] = field(repr=False)
    cut_before: dict[str, list[int]] = field(default_factory=dict, repr=False)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts: of each, the mean over its pieces.

        Parameters
        ----------
        texts : sequence of str
            Turns, sentences or words, as they are written.

        Returns
        -------
        float32 array (n_texts, DIMENSIONS)
            Rows of nan for texts without a known piece. A row does not depend, in any bit, on the other texts.

        Notes
        -----
        The vectors are not brought to length one, as model2vec's ``encode`` does by default; cosines are the same.
        Signs count as pieces, though they weigh next to nothing; typographic apostrophes are read as straight ones.

        Examples
        --------
        >>> said = load_embeddings().embed(["I feel so sad", "I am crying all day", "The train leaves at nine"])
        >>> a, b, c = said / np.linalg.norm(said, axis=1, keepdims=True)
        >>> bool(a @ b > a @ c)
        True
        """
        ids, bounds = self._cut(texts)
        return self._means(ids, bounds)

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of words: of each, the mean over the pieces that it is cut into.

        Parameters
        ----------
        words : sequence of str
            As they are written.

        Returns
        -------
        float32 array (n_words, DIMENSIONS)
            Rows of nan for words without a known piece. What `embed` gives for a text of that word alone: a text's
            vector is the mean of those of its words, each counted as often as it has pieces.
        """
        return self.embed(words)

    def _cut(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the known pieces of all texts, and where those of each text begin and end (n_texts + 1,)."""
        # Cut at spaces first, so that the slow way letter by letter is gone once for each different stretch
        known = self.cut_before
        if len(known) > MOST_KNOWN:
            known.clear()
        found: list[int] = []
        bounds = [0]
        for text in texts:
            for stretch in text.split(" "):
                ids = known.get(stretch)
                if ids is None:
                    ids = known[stretch] = self._known(stretch)
                found += ids
            bounds.append(len(found))
        return np.array(found, dtype=np.int64), np.array(bounds, dtype=np.int64)

    def _known(self, stretch: str) -> list[int]:
        straight = stretch.replace("\u2019", "'")
        return [piece for word in words(straight) for piece in self.pieces.cut(word) if self.scales[piece]]

    def _means(self, ids: NDArray[np.int64], bounds: NDArray[np.int64]) -> NDArray[np.float32]:
        # The product adds each text's vectors up in the order of its pieces, whatever other texts there are
        occurs = np.zeros(len(self.scales), dtype=np.bool_)
        occurs[ids] = True
        used, place = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[ids]
        vectors = self.vectors[used] * self.scales[used, None]
        rows = (np.ones(len(ids), dtype=np.float32), place, bounds)
        sums: NDArray[np.float32] = sparse.csr_array(rows, shape=(len(bounds) - 1, len(used))) @ vectors
        n_pieces = np.diff(bounds).astype(np.float32)[:, None]
        return np.where(n_pieces > 0, sums / np.maximum(n_pieces, 1), np.float32(np.nan))


def load_embeddings(folder: Path | None = None) -> Embeddings:
    """Load the vectors of the package (once), or those of a folder.

    Parameters
    ----------
    folder : Path, optional
        Holds ``pieces.txt`` and ``vectors.npz``, as ``tools/build_vectors.py`` writes them.

    Raises
    ------
    BadDataFileError
        A file is missing or broken, or the two do not fit each other.
    """
    return _load(VECTORS.parent) if folder is None else _load.__wrapped__(Path(folder))


@functools.cache
def _load(folder: Path) -> Embeddings:
    pieces = _pieces(folder / PIECES.name)
    path = folder / VECTORS.name
    wanted = {
        "vectors": Wanted((len(pieces), DIMENSIONS), ("int8",), "int8"),
        "scales": Wanted((len(pieces),), ("float32",), "float32"),
    }
    data = read_bytes(path, LARGEST_ARRAYS, what=_WHAT, remedy=_REMEDY)
    found = read_arrays(path, data, wanted, what="an archive of vectors", remedy=_REMEDY)
    if not (found["scales"] >= 0).all():
        raise BadDataFileError(str(path), "a scale is negative", _REMEDY)
    return Embeddings(WordPiece(pieces), found["vectors"], found["scales"])


def _pieces(path: Path) -> list[str]:
    try:
        pieces = read_bytes(path, LARGEST_TEXT, what=_WHAT, remedy=_REMEDY).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise BadDataFileError(str(path), "not text in UTF-8", _REMEDY) from None
    if "[UNK]" not in pieces:
        raise BadDataFileError(str(path), "not a list of pieces: [UNK] is missing", _REMEDY)
    return pieces
