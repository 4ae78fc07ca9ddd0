"""The user's own tagger, trained by ``tanalyze train``, together with that of the package."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.weights import REMEDY
from therapy_analytics.codes.accurate import AccurateTagger
from therapy_analytics.codes.codebook import Codebook, builtin_codebooks, load_codebook
from therapy_analytics.codes.hierarchy import parents
from therapy_analytics.codes.tagger import Codes, Tagger, decided, load_tagger
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.folders import finish_stopped
from therapy_analytics.text import Batch
from therapy_analytics.text.data_files import LARGEST_TEXT, json_object, parsing, read_bytes

MARK = "trained"
"""A field that only the description of such a model has."""
CODEBOOK = "codebook.toml"
"""Name of the file with the codebook of codes that are in no codebook of the package."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnTagger:
    """The tagger of the package and the user's own; of codes that both have, the user's are given.

    Attributes
    ----------
    base : Tagger or AccurateTagger
        The package's tagger.
    own : Tagger
        The user's tagger.
    books : tuple of Codebook
        The codebook of codes that are in no codebook of the package, if there are any.
    """

    base: Tagger | AccurateTagger = field(repr=False)
    own: Tagger = field(repr=False)
    books: tuple[Codebook, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """Names of both."""
        return f"{self.base.name} and {self.own.name}"

    @property
    def version(self) -> str:
        """Versions of both."""
        return f"{self.base.version} and {self.own.version}"

    @property
    def sha256(self) -> str:
        """Hash of all files of both."""
        return sha256(f"{self.base.sha256} {self.own.sha256}".encode()).hexdigest()

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the codes: those of the package, then those of only the user's model."""
        return tuple(dict.fromkeys((*self.base.names, *self.own.names)))

    def predict(self, batch: Batch) -> Codes:
        """Predict the codes of all turns of a batch.

        Returns
        -------
        Codes
            The codes of a session do not depend on the other sessions. A sub-code is not likelier than its parent,
            though the two may come from different models.
        """
        found: dict[str, NDArray[np.float64]] = {}
        limits: dict[str, float] = {}
        for tagger in (self.base, self.own):
            p = tagger.predict(batch).probability
            found |= dict(zip(tagger.names, p.T, strict=True))
            limits |= dict(zip(tagger.names, tagger.thresholds.tolist(), strict=True))
        for kind, group in parents((*builtin_codebooks(), *self.books)).items():
            if {kind, group} <= set(found) and {kind, group} & set(self.own.names):
                found[kind] = np.minimum(found[kind], found[group])
        names = self.names
        probability = np.stack([found[name] for name in names], axis=1)
        return decided(names, probability, np.array([limits[name] for name in names]), batch.turns, self.books)


def is_own(folder: Path) -> bool:
    """Return whether a folder has a model that ``tanalyze train`` wrote."""
    finish_stopped(folder)
    path = folder / "model.json"
    try:
        data = read_bytes(path, LARGEST_TEXT, what="the description of a model", remedy=REMEDY)
        with parsing(path, "the description of a model", REMEDY):
            return MARK in json_object(data)
    except BadDataFileError:
        return False


def load_own(base: Tagger | AccurateTagger, folder: Path, *, aim: str) -> OwnTagger:
    """Combine the model of a folder with a tagger of the package (models are cached).

    Raises
    ------
    BadOptionError
        The folder does not have a model that ``tanalyze train`` wrote.
    BadDataFileError
        Its files are broken, or of another version.
    """
    if not is_own(folder):
        option, problem = "--model", f"{folder} holds no model that tanalyze train wrote"
        raise BadOptionError(option, problem, "Name such a folder, or add --tagger llm to name a server's model")
    book = codebook_of(folder)
    return OwnTagger(base, replace(_loaded(folder.resolve(), _stamp(folder)), aim=aim), (book,) if book else ())


def codebook_of(folder: Path) -> Codebook | None:
    """Return the codebook in the folder of a model, reduced to the codes that the model gives."""
    names = _loaded(folder.resolve(), _stamp(folder)).names
    book = _book(folder)
    return None if book is None else replace(book, codes=tuple(code for code in book.codes if code.column in names))


def _book(folder: Path) -> Codebook | None:
    path = folder / CODEBOOK
    return load_codebook(path) if path.is_file() else None


def _stamp(folder: Path) -> tuple[int, ...]:
    stats = [(folder / name).stat() for name in ("model.json", "weights.npz", CODEBOOK) if (folder / name).exists()]
    return tuple(number for one in stats for number in (one.st_mtime_ns, one.st_size))


@functools.lru_cache(maxsize=4)
def _loaded(folder: Path, _: tuple[int, ...]) -> Tagger:
    """Load a model; all of its codes must be defined in a codebook."""
    tagger = load_tagger(folder)
    own = _book(folder)
    books = (*builtin_codebooks(), *((own,) if own else ()))
    known = {code.column: code.role for book in books for code in book.codes}
    if any(known.get(code.column) != code.role for code in tagger.codes):
        problem = "a code of the model stands in no codebook, or for another role"
        raise BadDataFileError(str(folder / "model.json"), problem, REMEDY)
    return tagger
