"""The sentence encoder of the accurate tagger, which gives a vector for each part of a turn.

It is a transformer of six layers (MiniLM, Wang et al. 2020, arXiv:2002.10957), fine-tuned on counseling, with eight-bit
weights, run by onnxruntime on the CPU. A turn is read once, part by part: each part is some sentences, and is read by
itself. What was said before is left to the sequence model (`therapy_analytics.behaviours.sequence`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics import third_party
from therapy_analytics.errors import BadDataFileError
from therapy_analytics.language.cores import threads
from therapy_analytics.language.wordpiece import WordPiece
from therapy_analytics.session import Role, Session

CLS, SEP = 101, 102
"""Ids of BERT's marks around a text."""
ROLE_MARKS: dict[Role, int] = {"therapist": 1, "client": 2}
"""Ids of unused subwords that mark the role of a turn."""
BEFORE = 32
"""How many subwords of the text before can be read with a text, its last."""
PART = 64
"""The most subwords of a part of a turn."""
AT_ONCE = 16
"""The most parts, of the same number of subwords, that are read side by side."""
WIDTH = 384
"""Dimensions of a subword's vectors."""
LOWER = "lower"
"""Name of the output of the third layer, (n_parts, n_subwords, WIDTH)."""
_SLOWER = ["SkipLayerNormFusion"]
"""Operations that onnxruntime would put together into one that takes five times as long."""
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026])\s+|\n+")


def framed(role: Role, subwords: Sequence[int], before: Sequence[int] = ()) -> tuple[list[int], int]:
    """Return the ids that are read for a text, and where its own begin.

    Parameters
    ----------
    role : str
        Of the turn; "other" is read as "client".
    subwords, before : sequence of int
        Ids of the text, and of the text before, of which the last are read with it.
    """
    begin = [CLS, ROLE_MARKS.get(role, ROLE_MARKS["client"]), *before[-BEFORE:], SEP]
    return [*begin, *subwords, SEP], len(begin)


def model_input(ids: Sequence[Sequence[int]], begins: int = 1) -> dict[str, NDArray[Any]]:
    """Return the input of the model for texts of the same number of ids.

    Parameters
    ----------
    ids : sequence of sequence of int
        Of each text.
    begins : int, optional
        Where the texts' own ids begin.

    Returns
    -------
    dict
        ``subwords``: the ids, int64 (n_texts, n_ids); ``own``: 1 at the texts' own, else 0, float32 (1, n_ids).
    """
    subwords = np.array(ids, dtype=np.int64)
    own = np.zeros((1, subwords.shape[1]), dtype=np.float32)
    own[0, begins:-1] = 1
    return {"subwords": subwords, "own": own}


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
        the part's own subwords, the same over all that was read with it, and the mean of the third layer over its own.
    turn_of : int64 array (n_parts,)
        The turn of each part.
    """

    vectors: NDArray[np.float32]
    turn_of: NDArray[np.int64]


class _Given(NamedTuple):
    """A part of a turn: its place among all parts, and what the model reads."""

    place: int
    ids: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """A trained encoder.

    Attributes
    ----------
    session : onnxruntime.InferenceSession
        The model, see `model_input`; it gives the ``vector`` of each text (n_texts, 3 * WIDTH), and `LOWER`.
    wordpiece : WordPiece
        Cuts texts into subwords.
    """

    session: Any
    wordpiece: WordPiece

    def read(self, sessions: Sequence[Session]) -> Encoded:
        """Return the vectors of the parts of all turns of some sessions; none depends on the other parts."""
        parts = list(self._parts(sessions))
        vectors = np.empty((len(parts), 3 * WIDTH), dtype=np.float32)
        begins = framed("client", [])[1]

        def run(batch: list[_Given]) -> None:
            given = model_input([one.ids for one in batch], begins)
            (found,) = self.session.run(["vector"], given)
            vectors[[one.place for one in batch]] = found

        with ThreadPoolExecutor(threads()) as workers:
            for _ in workers.map(run, _batches([_Given(place, ids) for place, (_, ids) in enumerate(parts)])):
                pass
        return Encoded(vectors, np.array([turn for turn, _ in parts], dtype=np.int64))

    def _parts(self, sessions: Sequence[Session]) -> Iterator[tuple[int, list[int]]]:
        """Yield the turn of each part, and what is read."""
        for row, turn in enumerate(turn for session in sessions for turn in session.turns):
            if turn.role in ROLE_MARKS:
                yield from ((row, framed(turn.role, part)[0]) for part in parts_of(turn.text, self.wordpiece))


def _batches(parts: Sequence[_Given]) -> Iterator[list[_Given]]:
    """Put parts of the same length together, the longest first."""
    for _, same in groupby(sorted(parts, key=lambda one: -len(one.ids)), key=lambda one: len(one.ids)):
        some = list(same)
        yield from (some[start : start + AT_ONCE] for start in range(0, len(some), AT_ONCE))


def load_encoder(model: bytes, vocabulary: bytes, path: Path) -> Encoder:
    """Return an encoder from the contents of ``encoder.onnx`` and ``vocabulary.txt``.

    Parameters
    ----------
    model, vocabulary : bytes
        Contents of the two files.
    path : Path
        Of the first, for errors.

    Raises
    ------
    BadDataFileError
        One is broken, or this machine cannot run the encoder.
    """
    session = inference_session(model, path)
    try:
        _check_form(session)
        return Encoder(session, WordPiece(vocabulary.decode("utf-8").split("\n")))
    except (ValueError, KeyError) as error:
        raise _broken(path, error) from None


def inference_session(model: bytes, path: Path) -> Any:
    """Return a single-threaded ``onnxruntime.InferenceSession`` from the contents of a file.

    Raises
    ------
    BadDataFileError
        The file is broken, or this machine cannot run the encoder.
    """
    try:
        onnxruntime = third_party.onnxruntime()  # takes a tenth of a second, and the fast tagger does not need it
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        return onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"], disabled_optimizers=_SLOWER
        )
    except Exception as error:  # noqa: BLE001 (what onnxruntime raises is not documented and differs between versions)
        raise _broken(path, error) from None


def _broken(path: Path, error: Exception) -> BadDataFileError:
    problem = f"the encoder of the tagger cannot be loaded ({type(error).__name__})"
    remedy = "Install the package again, or choose --tagger fast, which does not need it"
    return BadDataFileError(str(path), problem, remedy)


def _check_form(session: Any) -> None:
    """Refuse a model with other inputs or outputs."""
    given = {one.name for one in session.get_inputs()}
    found = [(one.name, one.shape[-1:]) for one in session.get_outputs()]
    if given != {"subwords", "own"} or found != [("vector", [3 * WIDTH]), (LOWER, [WIDTH])]:
        raise ValueError
