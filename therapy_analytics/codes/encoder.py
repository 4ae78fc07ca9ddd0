"""The sentence encoder of the accurate tagger, which gives a vector for each part of a turn.

It is a transformer of six layers (MiniLM, Wang et al. 2020, arXiv:2002.10957) with eight-bit weights, run by
onnxruntime on the CPU. A turn is read once, part by part: each part is some sentences. The lower three layers are those
of MiniLM and read a part by itself. The upper three were fine-tuned on counseling; they read the part together with
what the lower ones say of the end of the turn before.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.weights import WEIGHTS
from therapy_analytics.core import third_party
from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.core.session import Role, Session
from therapy_analytics.text.wordpiece import VOCABULARY, WordPiece

CLS, SEP = 101, 102
"""Ids of BERT's marks around a text."""
ROLE_MARKS: dict[Role, int] = {"therapist": 1, "client": 2}
"""Ids of unused subwords that mark the role of a turn."""
BEFORE = 32
"""How many subwords of the turn before are read with a part, its last."""
PART = 64
"""The most subwords of a part of a turn."""
AT_ONCE, IN_MEMORY = 16, 200
"""The most parts, of the same number of subwords, that are read side by side; the most of which the lower layers'
vectors are kept until the upper layers have read them."""
WIDTH = 384
"""Dimensions of a subword's vectors."""
LOWER, UPPER = "encoder_lower.onnx", "encoder_upper.onnx"
"""Names of the files."""
_BEGINS = 2
"""Where the own subwords of what is read begin, see `framed`."""
_SLOWER = ["SkipLayerNormFusion"]
"""Operations that onnxruntime would put together into one that takes five times as long."""
_REMEDY = "Install the package again, or choose --tagger fast, which does not need it"
_Floats = NDArray[np.float32]
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026])\s+|\n+")


def framed(role: Role, subwords: Sequence[int]) -> list[int]:
    """Return the ids that are read for some subwords of a turn; a turn of role "other" is read as a client's."""
    return [CLS, ROLE_MARKS.get(role, ROLE_MARKS["client"]), *subwords, SEP]


def parts_of(text: str, wordpiece: WordPiece) -> list[list[int]]:
    """Return the subwords of a text in parts of whole sentences, as long as `PART` allows.

    A sentence of more subwords is cut into parts of about equal length.
    """
    parts: list[list[int]] = []
    current: list[int] = []
    for sentence in filter(None, map(wordpiece.ids, _SENTENCE_END.split(text))):
        if len(current) + len(sentence) > PART and current:
            parts.append(current)
            current = []
        n_parts = -(-len(sentence) // PART)
        size = -(-len(sentence) // n_parts)
        *cut, last = [sentence[start : start + size] for start in range(0, len(sentence), size)]
        parts.extend(cut)
        current = current + last
    return [*parts, current] if current else parts


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What the encoder says of the turns of a batch.

    Attributes
    ----------
    vectors : float32 array (n_parts, 3 * WIDTH)
        A vector for each part of the turns that have words and a role, in their order: the mean of the last layer over
        the part's own subwords, the same with the marks around it, and the mean of the third layer over its own.
    turn_of : int64 array (n_parts,)
        The turn of each part.
    """

    vectors: NDArray[np.float32]
    turn_of: NDArray[np.int64]


class _Part(NamedTuple):
    """A part of a turn: its place among all parts, its turn, the turn before (or -1), and what is read."""

    place: int
    turn: int
    before: int
    ids: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """A trained encoder.

    Attributes
    ----------
    lower, upper : onnxruntime.InferenceSession
        The two halves of the model, see `lower_vectors` and `upper_vectors`.
    wordpiece : WordPiece
        Cuts texts into subwords.
    """

    lower: Any
    upper: Any
    wordpiece: WordPiece

    def read(self, sessions: Sequence[Session]) -> Encoded:
        """Return the vectors of the parts of all turns of some sessions.

        Those of a turn depend on the turn and on the one before, to the last bit, and on nothing else that is read.
        """
        parts = [_Part(place, *one) for place, one in enumerate(self._parts(sessions))]
        vectors = np.empty((len(parts), 3 * WIDTH), dtype=np.float32)
        tails: dict[int, _Floats] = {}
        with ThreadPoolExecutor(third_party.threads()) as workers:
            for start in range(0, len(parts), IN_MEMORY):
                some = parts[start : start + IN_MEMORY]
                below = self._below(some, workers)
                for one in some:
                    own = below[one.place][_BEGINS:-1]
                    tails[one.turn] = np.concatenate([tails.get(one.turn, own[:0]), own])[-BEFORE:]
                run = functools.partial(self._above, below=below, tails=tails)
                for places, found in workers.map(run, _batches(some)):
                    vectors[places] = found
                tails = {turn: tail for turn, tail in tails.items() if turn >= some[-1].before}
        return Encoded(vectors, np.array([one.turn for one in parts], dtype=np.int64))

    def _above(
        self, parts: Sequence[_Part], below: Mapping[int, _Floats], tails: Mapping[int, _Floats]
    ) -> tuple[list[int], _Floats]:
        """Return the places and vectors of parts of the same length, by what the lower layers say of them."""
        places = [one.place for one in parts]
        given = np.stack([below[place] for place in places])
        return places, upper_vectors(self.upper, given, [tails.get(one.before) for one in parts])

    def _below(self, parts: Sequence[_Part], workers: ThreadPoolExecutor) -> dict[int, _Floats]:
        """Return what the lower layers say of each part, by its place."""

        def run(batch: list[_Part]) -> Iterator[tuple[int, _Floats]]:
            found = lower_vectors(self.lower, [one.ids for one in batch])
            return zip([one.place for one in batch], found, strict=True)

        return dict(chain.from_iterable(workers.map(run, _batches(parts))))

    def _parts(self, sessions: Sequence[Session]) -> Iterator[tuple[int, int, list[int]]]:
        """Yield the turn of each part, the last turn with words before it in its session, and what is read."""
        row = 0
        for session in sessions:
            before = -1
            for turn in session.turns:
                parts = parts_of(turn.text, self.wordpiece) if turn.role in ROLE_MARKS else []
                yield from ((row, before, framed(turn.role, part)) for part in parts)
                before = row if parts else before
                row += 1


def lower_vectors(lower: Any, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return what the lower layers say of texts, float32 (n_texts, n_ids, WIDTH).

    Parameters
    ----------
    lower : onnxruntime.InferenceSession
        `Encoder.lower`.
    ids : sequence of sequence of int
        Of each text, see `framed`; all of the same length.
    """
    found: NDArray[np.float32] = lower.run(["lower"], {"subwords": np.array(ids, dtype=np.int64)})[0]
    return found


def upper_vectors(upper: Any, below: _Floats, tails: Sequence[_Floats | None]) -> _Floats:
    """Return the vectors of texts of the same length, float32 (n_texts, 3 * WIDTH).

    Parameters
    ----------
    upper : onnxruntime.InferenceSession
        `Encoder.upper`. It reads ``lower`` (n_texts, n_ids, WIDTH); ``before`` (n_texts, BEFORE, WIDTH), filled up with
        zeros; and ``there``, int32 (n_texts, BEFORE + n_ids), 0 at what is filled up and else 1.
    below : float32 array (n_texts, n_ids, WIDTH)
        As `lower_vectors` returns them.
    tails : sequence of array or None
        The lower layers' vectors of the last subwords of the turn before each.
    """
    before = np.zeros((len(below), BEFORE, WIDTH), dtype=np.float32)
    there = np.ones((len(below), BEFORE + below.shape[1]), dtype=np.int32)
    for row, tail in enumerate(tails):
        n = 0 if tail is None else len(tail)
        there[row, n:BEFORE] = 0
        if tail is not None:
            before[row, :n] = tail
    found: _Floats = upper.run(["vector"], {"lower": below, "before": before, "there": there})[0]
    return found


def _batches(parts: Sequence[_Part]) -> Iterator[list[_Part]]:
    """Put parts of the same length together, the longest first."""
    for _, same in groupby(sorted(parts, key=lambda one: -len(one.ids)), key=lambda one: len(one.ids)):
        some = list(same)
        yield from (some[start : start + AT_ONCE] for start in range(0, len(some), AT_ONCE))


def load_encoder(folder: Path, read: Callable[[Path], bytes]) -> Encoder:
    """Return the encoder of a folder with ``encoder_lower.onnx`` and ``encoder_upper.onnx``.

    Parameters
    ----------
    folder : Path
    read : callable
        Gives the contents of a file.

    Raises
    ------
    BadDataFileError
        A file is broken, or this machine cannot run the encoder.
    """
    lower, upper = load_lower(folder, read), load_upper(read(folder / UPPER), folder / UPPER)
    return Encoder(lower, upper, WordPiece(read(VOCABULARY).decode("utf-8").split("\n")))


def load_lower(folder: Path, read: Callable[[Path], bytes]) -> Any:
    """Return the lower half of the encoder of a folder, ``encoder_lower.onnx``, as `load_encoder` loads it."""
    return _inference_session(read(folder / LOWER), folder / LOWER, {"subwords"}, ("lower", WIDTH))


@functools.cache
def lower_layers() -> tuple[Any, WordPiece]:
    """Return the lower half of the package's encoder, for `lower_vectors`, and its tokeniser.

    The first three layers are those of MiniLM, frozen when the encoder was fine-tuned: models on top of them do not
    rest on the corpora of the tagger.

    Raises
    ------
    BadDataFileError
        The encoder is broken, or this machine cannot run it.
    """
    return load_lower(WEIGHTS, Path.read_bytes), WordPiece(VOCABULARY.read_text(encoding="utf-8").split("\n"))


def load_upper(model: bytes, path: Path) -> Any:
    """Return the upper half of an encoder from the contents of its file; the path is for errors."""
    return _inference_session(model, path, {"lower", "before", "there"}, ("vector", 3 * WIDTH))


def _inference_session(model: bytes, path: Path, inputs: Collection[str], output: tuple[str, int]) -> Any:
    """Return a single-threaded ``onnxruntime.InferenceSession`` with these inputs and this output (name, width)."""
    try:
        onnxruntime = third_party.onnxruntime()  # takes a tenth of a second, and the fast tagger does not need it
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"], disabled_optimizers=_SLOWER
        )
    except Exception as error:  # noqa: BLE001 (what onnxruntime raises is not documented and differs between versions)
        problem = f"the encoder of the tagger cannot be loaded ({type(error).__name__})"
        raise BadDataFileError(str(path), problem, _REMEDY) from None
    found = [(one.name, one.shape[-1]) for one in session.get_outputs()]
    if {one.name for one in session.get_inputs()} != set(inputs) or found != [output]:
        raise BadDataFileError(str(path), "the encoder of the tagger cannot be loaded (ValueError)", _REMEDY)
    return session
