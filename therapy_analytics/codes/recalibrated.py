"""A tagger of the package with probabilities shifted and stretched to a clinic's talk (``train --recalibrate``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.accurate import AccurateTagger
from therapy_analytics.codes.codebook import builtin_codebooks
from therapy_analytics.codes.hierarchy import parents
from therapy_analytics.codes.tagger import Codes, Tagger, decided
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.text import Batch
from therapy_analytics.text.data_files import LARGEST_TEXT, json_list, json_object, parsing, read_bytes

FILE = "calibration.json"
FORMAT = 1
_FLOOR = 1e-6
_WHAT = "the calibration of a tagger"
_REMEDY = "Make it again with tanalyze train --recalibrate"
_WIDEST = 20.0


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
    return json.dumps({"format": FORMAT, "tagger": tagger, "codes": codes}, indent=1) + "\n"


def is_calibration(folder: Path) -> bool:
    """Return whether a folder has a calibration that ``tanalyze train --recalibrate`` wrote."""
    return (folder / FILE).is_file()


def load_calibrated(base: Tagger | AccurateTagger, folder: Path) -> CalibratedTagger:
    """Return a tagger of the package with the calibration of a folder.

    Raises
    ------
    BadOptionError
        The calibration was made for another tagger, or another version of it.
    BadDataFileError
        The file is broken.
    """
    path = folder / FILE
    data = read_bytes(path, LARGEST_TEXT, what=_WHAT, remedy=_REMEDY)
    with parsing(path, _WHAT, _REMEDY):
        whole = json_object(data)
        made_for = f"{whole['tagger']['name']} {whole['tagger']['version']}"
        rows = json_list(whole, "codes", dict)
        lines = {str(row["column"]): (float(row["level"]), float(row["slope"])) for row in rows}
        is_right = whole["format"] == FORMAT and all(
            abs(level) < _WIDEST and 0 <= slope < _WIDEST for level, slope in lines.values()
        )
    if not is_right:
        raise BadDataFileError(str(path), "it is of another version, or its numbers are out of range", _REMEDY)
    if made_for != f"{base.name} {base.version}":
        problem = f"{folder} was made for the tagger {made_for}, and this is {base.name} {base.version}"
        raise BadOptionError("--model", problem, "Use that tagger (--tagger accurate or fast), or make it again")
    return CalibratedTagger(base, lines, sha256(base.sha256.encode() + data).hexdigest())
