"""What ``tanalyze train`` makes of the user's codes: a tagger beside that of the package, or a calibration of it."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.accurate import AccurateTagger
from therapy_analytics.codes.codebook import Codebook, builtin_codebooks, load_codebook, parents
from therapy_analytics.codes.tagger import Codes, Tagger, decided, load_tagger
from therapy_analytics.codes.weights import REMEDY
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.folders import finish_stopped
from therapy_analytics.text import Batch
from therapy_analytics.text.data_files import LARGEST_TEXT, json_list, json_object, parsing, read_bytes

MARK = "trained"
"""A field that only the description of such a model has."""
CODEBOOK = "codebook.toml"
"""Name of the file with the codebook of codes that are in no codebook of the package."""
CALIBRATION = "calibration.json"
_FORMAT = 1
_FLOOR = 1e-6
_WHAT = "the calibration of a tagger"
_AGAIN = "Make it again with tanalyze train --recalibrate"
_WIDEST = 20.0


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


# ---- a calibration


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedTagger:
    """A tagger of the package with other probabilities for some codes.

    Attributes
    ----------
    base : Tagger or AccurateTagger
        The package's tagger.
    lines : mapping of str to (float, float)
        By code: level and slope, see `on_line`. Codes without one are as the package gives them.
    sha256 : str
        Hash of tagger and lines.
    """

    base: Tagger | AccurateTagger = field(repr=False)
    lines: Mapping[str, tuple[float, float]]
    sha256: str

    @property
    def name(self) -> str:
        """Name of the tagger of the package."""
        return f"{self.base.name} recalibrated"

    @property
    def version(self) -> str:
        """Version of the tagger of the package, and the beginning of the hash."""
        return f"{self.base.version}+{self.sha256[:8]}"

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the codes."""
        return self.base.names

    def predict(self, batch: Batch) -> Codes:
        """Predict the codes of all turns of a batch; thresholds are those of the package."""
        probability = self.base.predict(batch).probability.copy()
        place = {name: at for at, name in enumerate(self.names)}
        for name, line in self.lines.items():
            if name in place:
                probability[:, place[name]] = on_line(probability[:, place[name]], *line)
        for kind, group in parents(builtin_codebooks()).items():  # a sub-code is not likelier than its parent
            if {kind, group} <= set(place) and {kind, group} & set(self.lines):
                pair = probability[:, place[kind]], probability[:, place[group]]
                probability[:, place[kind]] = np.minimum(*pair)
        return decided(self.names, probability, self.base.thresholds, batch.turns)


def on_line(p: NDArray[np.float64], level: float, slope: float) -> NDArray[np.float64]:
    """Return probabilities (n,) whose log-odds are ``level + slope * logit(p)``; nan stays nan.

    Examples
    --------
    >>> on_line(np.array([0.5, 0.8]), 0.0, 1.0).round(3).tolist()
    [0.5, 0.8]
    """
    return np.asarray(1.0 / (1.0 + np.exp(-(level + slope * log_odds(p)))))


def log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-odds of probabilities (n,), kept away from certainty."""
    kept = np.clip(p, _FLOOR, 1 - _FLOOR)
    return np.asarray(np.log(kept / (1 - kept)))


def calibration_text(base: Tagger | AccurateTagger, lines: Mapping[str, tuple[float, float]]) -> str:
    """Return the contents of the file that `load_calibrated` reads."""
    codes = [{"column": name, "level": round(one[0], 6), "slope": round(one[1], 6)} for name, one in lines.items()]
    tagger = {"name": base.name, "version": base.version}
    return json.dumps({"format": _FORMAT, "tagger": tagger, "codes": codes}, indent=1) + "\n"


def is_calibration(folder: Path) -> bool:
    """Return whether a folder has a calibration that ``tanalyze train --recalibrate`` wrote."""
    return (folder / CALIBRATION).is_file()


def load_calibrated(base: Tagger | AccurateTagger, folder: Path) -> CalibratedTagger:
    """Return a tagger of the package with the calibration of a folder.

    Raises
    ------
    BadOptionError
        The calibration was made for another tagger, or another version of it.
    BadDataFileError
        The file is broken.
    """
    path = folder / CALIBRATION
    data = read_bytes(path, LARGEST_TEXT, what=_WHAT, remedy=_AGAIN)
    with parsing(path, _WHAT, _AGAIN):
        whole = json_object(data)
        made_for = f"{whole['tagger']['name']} {whole['tagger']['version']}"
        rows = json_list(whole, "codes", dict)
        lines = {str(row["column"]): (float(row["level"]), float(row["slope"])) for row in rows}
        is_right = whole["format"] == _FORMAT and all(
            abs(level) < _WIDEST and 0 <= slope < _WIDEST for level, slope in lines.values()
        )
    if not is_right:
        raise BadDataFileError(str(path), "it is of another version, or its numbers are out of range", _AGAIN)
    if made_for != f"{base.name} {base.version}":
        problem = f"{folder} was made for the tagger {made_for}, and this is {base.name} {base.version}"
        raise BadOptionError("--model", problem, "Use that tagger (--tagger accurate or fast), or make it again")
    return CalibratedTagger(base, lines, sha256(base.sha256.encode() + data).hexdigest())
