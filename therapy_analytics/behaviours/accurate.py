"""The accurate tagger: a weighted sum of the log-odds of the fast tagger and of an encoder, and a sequence model.

The weights of each code were fitted on turns that neither had seen. The codes of the codebook ``process`` come from
the sequence model alone, which reads the encoder's vectors of a turn and of those before it.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours._weights import (
    DEFAULT_AIM,
    WEIGHTS,
    check_format,
    read_file,
    short_text,
    thresholds_of,
)
from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.encoder import Encoder, load_encoder
from therapy_analytics.behaviours.features import featurize
from therapy_analytics.behaviours.sequence import SequenceModel, load_sequence
from therapy_analytics.behaviours.tagger import STEEPEST, Codes, Tagger, decided, load_tagger
from therapy_analytics.errors import BadDataFileError
from therapy_analytics.language import Batch
from therapy_analytics.language.data_files import LARGEST_ENCODER, LARGEST_TEXT, json_list, json_object, parsing
from therapy_analytics.language.wordpiece import VOCABULARY

FORMAT = 1
_REMEDY = "Install the package again, or rebuild the weights with tools/train_accurate.py"


@dataclass(frozen=True, slots=True)
class Blended:
    """How the log-odds of a code are combined.

    Attributes
    ----------
    column : str
        As in the fast tagger.
    head : int
        The encoder's head for the code.
    lines : float64 array (2, 3)
        Weight of the fast tagger, weight of the encoder, and intercept, in sessions with punctuation and in those
        without.
    group : str or None
        Its parent, whose probability bounds its own.
    thresholds : mapping of str to float
        For each aim: a turn has the code when its probability is at least this.
    """

    column: str
    head: int
    lines: NDArray[np.float64]
    group: str | None
    thresholds: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class AccurateTagger:
    """The fast tagger with an encoder beside it.

    Attributes
    ----------
    name, version : str
        Of the model.
    sha256 : str
        Hash of all files, including those of the fast tagger.
    fast : Tagger
        The fast tagger, with the codes that are given.
    encoder : Encoder
        The encoder.
    blends : tuple of Blended
        One for each code of the fast tagger, in its order.
    sequence : SequenceModel
        Gives the codes that need what was said before.
    """

    name: str
    version: str
    sha256: str
    fast: Tagger
    encoder: Encoder = field(repr=False)
    blends: tuple[Blended, ...] = field(repr=False)
    sequence: SequenceModel = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the codes: those of the fast tagger, then those of the sequence model."""
        return (*self.fast.names, *self.sequence.names)

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The threshold of each code for the aim, float64 (n_codes,)."""
        blended = [blend.thresholds[self.fast.aim] for blend in self.blends]
        return np.array([*blended, *self.sequence.thresholds(self.fast.aim)], dtype=np.float64)

    def predict(self, batch: Batch) -> Codes:
        """Predict the codes of all turns of a batch.

        Parameters
        ----------
        batch : Batch
            Annotated sessions, with any lexicons or none.

        Returns
        -------
        Codes
            The codes of a session do not depend on the other sessions. Turns without words have the probabilities
            of the fast tagger.
        """
        return self.weighed(batch, with_terms=False)[0]

    def weighed(self, batch: Batch, *, with_terms: bool = True) -> tuple[Codes, NDArray[np.float64]]:
        """Predict the codes of all turns of a batch, and return the terms of their log-odds.

        Parameters
        ----------
        batch : Batch
            Annotated sessions.
        with_terms : bool, optional
            Whether the terms of the sequence model's codes are wanted, which take as long as the codes.

        Returns
        -------
        codes : Codes
            As `predict` returns them.
        terms : float64 array (n_turns, n_codes, 3)
            Terms of the fast tagger, of the encoder and of the intercept; for codes of the sequence model see
            `SequenceModel.terms`. Nan where a turn has no words, or its role cannot have the code.
        """
        features = featurize(batch.turns, batch.starts)
        fast = self.fast.probabilities(features, batch.turns.roles)
        encoded = self.encoder.read(batch.sessions)
        read = encoded.scores[:, [blend.head for blend in self.blends]]
        plain = features.hand[:, [HAND.index("plain")]].toarray()[:, 0].astype(np.int64)
        lines = np.array([blend.lines for blend in self.blends]).reshape(len(self.blends), 2, 3)
        of_turn = lines[:, plain].swapaxes(0, 1)
        shares = of_turn * np.stack([np.log(fast / (1.0 - fast)), read, np.ones_like(fast)], axis=2)
        shares[np.isnan(shares).any(axis=2)] = np.nan
        score = np.clip(shares.sum(axis=2), -STEEPEST, STEEPEST)
        probability = np.where(np.isnan(score), fast, 1.0 / (1.0 + np.exp(-score)))
        for column, blend in enumerate(self.blends):
            if blend.group in self.names:
                group = probability[:, self.names.index(blend.group)]
                probability[:, column] = np.minimum(probability[:, column], group)
        given = (encoded, batch.starts.tolist(), batch.turns.roles)
        probability = np.hstack([probability, self.sequence.probabilities(*given)])
        codes = decided(self.names, probability, self.thresholds, batch.turns)
        return codes, np.hstack([shares, self.sequence.terms(*given)]) if with_terms else shares


def load_accurate(folder: Path | None = None, *, aim: str = DEFAULT_AIM, all_codes: bool = False) -> AccurateTagger:
    """Load an accurate tagger, by default that of the package.

    Parameters
    ----------
    folder : Path, optional
        A folder of other weights: those of a fast tagger, ``encoder.onnx`` and ``accurate.json``.
    aim : {"balanced", "precision", "recall", "rate"}, optional
        Aim of the decisions, see ``docs/tagger.md``.
    all_codes : bool, optional
        Whether to give also the codes that are given only on request.

    Raises
    ------
    BadDataFileError
        The folder does not have the weights of a tagger, or they do not fit this version or machine.
    UnknownNameError
        There is no such aim.
    """
    fast = load_tagger(folder, aim=aim, all_codes=all_codes)
    model = _load(WEIGHTS) if folder is None else _load.__wrapped__(Path(folder))
    missing = [name for name in fast.names if name not in model.blends]
    if missing:
        path = (folder or WEIGHTS) / "accurate.json"
        raise BadDataFileError(str(path), f"the code {missing[0]!r} of the fast tagger is missing", _REMEDY)
    digest = model.digest.copy()
    sequence = load_sequence() if folder is None else load_sequence.__wrapped__(Path(folder))
    sequence = sequence.with_requested(all_codes)
    digest.update((fast.sha256 + sequence.sha256).encode())
    blends = tuple(model.blends[name] for name in fast.names)
    return AccurateTagger(model.name, model.version, digest.hexdigest(), fast, model.encoder, blends, sequence)


class _Model(NamedTuple):
    """The files of the accurate tagger beside those of the fast one."""

    name: str
    version: str
    digest: Any
    encoder: Encoder
    blends: Mapping[str, Blended]


@functools.cache
def _load(folder: Path) -> _Model:
    path = folder / "accurate.json"
    digest = hashlib.sha256()
    onnx = folder / "encoder.onnx"
    files = {path: LARGEST_TEXT, onnx: LARGEST_ENCODER, VOCABULARY: LARGEST_TEXT}
    raw = [read_file(file, digest, most=most) for file, most in files.items()]
    with parsing(path, "the description of a tagger", _REMEDY):
        model = json_object(raw[0])
        check_format(model, FORMAT, path, _REMEDY)
        heads = json_list(model, "heads")
        blends = {blend.column: blend for blend in (_blend(entry, heads) for entry in json_list(model, "codes", dict))}
        name, version = short_text(model, "name"), short_text(model, "version")
    return _Model(name, version, digest, load_encoder(raw[1], raw[2], onnx, n_heads=len(heads)), blends)


def _blend(entry: dict[str, Any], heads: list[str]) -> Blended:
    lines = np.array([entry["lines"][way] for way in ("clean", "plain")], dtype=np.float64)
    group = entry["group"]
    if lines.shape != (2, 3) or not np.isfinite(lines).all() or not isinstance(group, str | None):
        raise ValueError
    return Blended(
        short_text(entry, "column"),
        heads.index(entry["head"]),
        lines,
        group,
        thresholds_of(entry),
    )
