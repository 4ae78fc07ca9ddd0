"""The accurate tagger: codes from an encoder and a sequence model, weighed with the fast tagger where it has the code.

The weights of each code were fitted on turns that none of them had seen. What a turn gets depends on the turn and on
those before it, never on how common a code seems in the session: scores that were shifted by that gave a code to nearly
all turns of some sessions.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.danger import CODE as DANGER
from therapy_analytics.codes.danger import with_danger
from therapy_analytics.codes.encoder import Encoder, load_encoder
from therapy_analytics.codes.features import HAND, featurize
from therapy_analytics.codes.sequence import SequenceModel, sequence_model
from therapy_analytics.codes.tagger import STEEPEST, Codes, Tagger, decided, load_tagger
from therapy_analytics.codes.weights import (
    DEFAULT_AIM,
    WEIGHTS,
    GivenCode,
    check_format,
    given_fields,
    read_file,
    short_text,
)
from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.core.session import ROLES
from therapy_analytics.text import Batch
from therapy_analytics.text.data_files import (
    LARGEST_ARRAYS,
    LARGEST_ENCODER,
    LARGEST_TEXT,
    json_list,
    json_object,
    parsing,
)

FORMAT = 3
WAYS = ("clean", "plain")
"""Sessions with punctuation, and those without."""
_REMEDY = "Install the package again, or rebuild the weights with tools/train_accurate.py"
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Blended(GivenCode):
    """How the log-odds of a code are combined.

    Attributes
    ----------
    head : int
        The place of the code among the scores of the sequence model.
    lines : float64 array (2, 3)
        Weight of the fast tagger's log-odds (0 where it has no such code), weight of the sequence model's score, and
        intercept, in sessions with punctuation and in those without.
    group : str or None
        Its parent, whose probability bounds its own.
    """

    head: int
    lines: _Floats
    group: str | None


@dataclass(frozen=True, slots=True, eq=False)
class AccurateTagger:
    """An encoder and a sequence model, with the fast tagger beside them.

    Attributes
    ----------
    name, version : str
        Of the model.
    sha256 : str
        Hash of all files, including those of the fast tagger.
    fast : Tagger
        The fast tagger, with its codes that are given.
    encoder : Encoder
        Gives vectors of the parts of turns.
    sequence : SequenceModel
        Gives scores, from the vectors of a turn and of those before it.
    blends : tuple of Blended
        One for each code that is given: those of the fast tagger in its order, then the others.
    """

    name: str
    version: str
    sha256: str
    fast: Tagger
    encoder: Encoder = field(repr=False)
    sequence: SequenceModel = field(repr=False)
    blends: tuple[Blended, ...] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the codes."""
        return tuple(blend.column for blend in self.blends)

    @property
    def thresholds(self) -> _Floats:
        """The threshold of each code for the aim, float64 (n_codes,)."""
        return np.array([blend.thresholds[self.fast.aim] for blend in self.blends], dtype=np.float64)

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
            of the fast tagger, and none of the codes that it has not.
        """
        roles, starts = batch.turns.roles, batch.starts.tolist()
        features = featurize(batch.turns, batch.starts)
        plain = features.hand[:, [HAND.index("plain")]].toarray()[:, 0].astype(np.int64)
        fast = self.fast.probabilities(features, roles)
        n_others = len(self.blends) - fast.shape[1]
        odds = np.hstack([np.log(fast / (1.0 - fast)), np.zeros((len(roles), n_others))])
        score = self.sequence.scores(self.encoder.read(batch.sessions), starts, roles)
        score = score[:, [blend.head for blend in self.blends]]
        lines = np.array([blend.lines for blend in self.blends]).reshape(len(self.blends), 2, 3)
        of_fast, of_score, bias = lines[:, plain].transpose(2, 1, 0)
        odds = of_fast * odds + of_score * score + bias
        odds[roles[:, None] != np.array([ROLES.index(blend.role) for blend in self.blends])] = np.nan
        probability = 1.0 / (1.0 + np.exp(-np.clip(odds, -STEEPEST, STEEPEST)))
        wordless = np.isnan(probability[:, : fast.shape[1]])
        probability[:, : fast.shape[1]][wordless] = fast[wordless]
        for column, blend in enumerate(self.blends):
            if blend.group in self.names:
                group = probability[:, self.names.index(blend.group)]
                probability[:, column] = np.minimum(probability[:, column], group)
        codes = decided(self.names, probability, self.thresholds, batch.turns)
        limits = next((blend.thresholds for blend in self.blends if blend.column == DANGER), {})
        return with_danger(codes, batch, limits, self.fast.aim)


def load_accurate(folder: Path | None = None, *, aim: str = DEFAULT_AIM, all_codes: bool = False) -> AccurateTagger:
    """Load an accurate tagger, by default that of the package.

    Parameters
    ----------
    folder : Path, optional
        A folder of other weights: those of a fast tagger, ``encoder_lower.onnx``, ``encoder_upper.onnx``,
        ``sequence.npz`` and ``accurate.json``.
    aim, all_codes : optional
        As for `load_tagger`.

    Raises
    ------
    BadDataFileError
        The folder does not have the weights of a tagger, or they do not fit this version or machine.
    UnknownNameError
        There is no such aim.
    """
    fast = load_tagger(folder, aim=aim, all_codes=all_codes)
    model = _load(WEIGHTS) if folder is None else _load.__wrapped__(Path(folder))
    about = model.about
    missing = [name for name in fast.names if name not in about.blends]
    if missing:
        path = (folder or WEIGHTS) / "accurate.json"
        raise BadDataFileError(str(path), f"the code {missing[0]!r} of the fast tagger is missing", _REMEDY)
    digest = model.digest.copy()
    digest.update(fast.sha256.encode())
    blends = tuple(about.blends[name] for name in (*fast.names, *about.others(all_codes=all_codes)))
    return AccurateTagger(about.name, about.version, digest.hexdigest(), fast, model.encoder, model.sequence, blends)


def accurate_names(*, all_codes: bool) -> tuple[str, ...]:
    """Return the columns of the codes that the accurate tagger of the package gives, without loading it.

    Raises
    ------
    BadDataFileError
        Its files are missing or broken.
    """
    others = _load_about(WEIGHTS, hashlib.sha256()).others(all_codes=all_codes)
    return (*load_tagger(all_codes=all_codes).names, *others)


class _About(NamedTuple):
    """What ``accurate.json`` says; of the heads so many have lines over the encoder's vectors, the first ones."""

    name: str
    version: str
    lines: int
    heads: tuple[str, ...]
    blends: Mapping[str, Blended]

    def others(self, *, all_codes: bool) -> list[str]:
        """Return the columns of the codes that the fast tagger has not."""
        of_sequence = (blend for blend in self.blends.values() if not blend.lines[:, 0].any())
        return [blend.column for blend in of_sequence if all_codes or not blend.on_request]


class _Model(NamedTuple):
    """The files of the accurate tagger beside those of the fast one."""

    about: _About
    digest: Any
    encoder: Encoder
    sequence: SequenceModel


@functools.cache
def _load(folder: Path) -> _Model:
    digest = hashlib.sha256()
    about = _load_about(folder, digest)
    packed = folder / "sequence.npz"
    arrays = read_file(packed, digest, most=LARGEST_ARRAYS)
    n_codes = len(about.heads) - about.lines
    sequence = sequence_model(arrays, packed, n_lines=about.lines, n_codes=n_codes, remedy=_REMEDY)
    encoder = load_encoder(folder, functools.partial(read_file, digest=digest, most=LARGEST_ENCODER))
    return _Model(about, digest, encoder, sequence)


def _load_about(folder: Path, digest: Any) -> _About:
    path = folder / "accurate.json"
    raw = read_file(path, digest, most=LARGEST_TEXT)
    with parsing(path, "the description of a tagger", _REMEDY):
        model = json_object(raw)
        check_format(model, FORMAT, path, _REMEDY)
        lines = json_list(model, "heads_of_encoder")
        heads = (*lines, *json_list(model, "heads_of_sequence"))
        blends = [_blend(entry, heads) for entry in json_list(model, "codes", dict)]
        if len({blend.column for blend in blends}) < len(blends):
            raise ValueError
        by_column = {blend.column: blend for blend in blends}
        return _About(short_text(model, "name"), short_text(model, "version"), len(lines), heads, by_column)


def _blend(entry: dict[str, Any], heads: Sequence[str]) -> Blended:
    lines = np.array([entry["lines"][way] for way in WAYS], dtype=np.float64)
    group = entry["group"]
    if lines.shape != (2, 3) or not np.isfinite(lines).all() or not isinstance(group, str | None):
        raise ValueError
    return Blended(**given_fields(entry), head=heads.index(entry["head"]), lines=lines, group=group)
