"""The sentence encoder of the accurate tagger, which reads a turn together with the end of the turn before.

It is a transformer of six layers (MiniLM, Wang et al. 2020, arXiv:2002.10957), fine-tuned on counseling, with eight-bit
weights, run by onnxruntime on the CPU. Turns are read one at a time, so that the scores of a turn do not depend on what
else is in the batch.

For the scores, a long turn is read by its beginning and its end. For the sequence model it is read once more, part by
part: each part is some sentences, and is read together with the end of the turn before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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
"""How many subwords of the turn before are read, its last."""
FIRST, LAST = 48, 48
"""How many subwords of a turn are read: its first and its last."""
PART = 64
"""The most subwords of a part of a turn."""
WIDTH = 384
"""Dimensions of a subword's vectors."""
LOWER = "lower"
"""Name of the output of the third layer, (1, n_subwords, WIDTH)."""
_SLOWER = ["SkipLayerNormFusion"]
"""Operations that onnxruntime would put together into one that takes five times as long."""
_SENTENCE_END = re.compile(r"(?<=[.!?\u2026])\s+|\n+")


def framed(role: Role, before: Sequence[int], subwords: Sequence[int]) -> tuple[list[int], int]:
    """Return the ids that are read for a turn, and where its own begin.

    Parameters
    ----------
    role : str
        Of the turn; "other" is read as "client".
    before, subwords : sequence of int
        Ids of the turn before and of the turn.
    """
    begin = [CLS, ROLE_MARKS.get(role, ROLE_MARKS["client"]), *before[-BEFORE:], SEP]
    return [*begin, *subwords, SEP], len(begin)


def shortened(subwords: Sequence[int]) -> Sequence[int]:
    """Return the first and last subwords of a turn that has more than are read."""
    return subwords if len(subwords) <= FIRST + LAST else [*subwords[:FIRST], *subwords[-LAST:]]


def model_input(ids: Sequence[int], begins: int = 1) -> dict[str, NDArray[Any]]:
    """Return the input of the model: ids, int64 (1, n), and which of them are the turn's own, float32 (1, n)."""
    own = np.zeros((1, len(ids)), dtype=np.float32)
    own[0, begins:-1] = 1
    return {"subwords": np.array([ids], dtype=np.int64), "own": own}


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
    scores : float64 array (n_turns, n_heads)
        Log-odds of each head; nan for turns without words or role.
    vectors : float32 array (n_parts, 3 * WIDTH)
        A vector for each part of these turns, in their order: the mean of the last layer over the part's own subwords,
        the same over all that was read with it, and the mean of the third layer over its own.
    turn_of : int64 array (n_parts,)
        The turn of each part.
    """

    scores: NDArray[np.float64]
    vectors: NDArray[np.float32]
    turn_of: NDArray[np.int64]


class _Given(NamedTuple):
    """What the model reads at once: the row of the turn, subwords, where the turn's own begin, and what is wanted."""

    row: int
    subwords: list[int]
    begins: int
    whole: bool
    part: bool


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """An encoder with a score for each of its heads.

    Attributes
    ----------
    session : onnxruntime.InferenceSession
        The model, see `model_input`; it gives ``scores`` (1, n_heads), the ``vector`` of what it read as a part
        (1, 3 * WIDTH), and `LOWER`.
    wordpiece : WordPiece
        Cuts texts into subwords.
    """

    session: Any
    wordpiece: WordPiece

    def read(self, sessions: Sequence[Session]) -> Encoded:
        """Return the scores of all turns of some sessions, and the vectors of their parts."""
        n_heads = self.session.get_outputs()[0].shape[1]
        scores = np.full((sum(len(one.turns) for one in sessions), n_heads), np.nan)
        vectors: list[NDArray[np.float32]] = []
        turn_of: list[int] = []
        given = list(self._inputs(sessions))
        with ThreadPoolExecutor(threads()) as workers:
            found = workers.map(self._run, given)
            for one, (of_turn, of_part) in zip(given, found, strict=True):
                if of_turn is not None:
                    scores[one.row] = of_turn
                if of_part is not None:
                    vectors.append(of_part)
                    turn_of.append(one.row)
        stacked = np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)
        return Encoded(scores, stacked, np.array(turn_of, dtype=np.int64))

    def _inputs(self, sessions: Sequence[Session]) -> Iterator[_Given]:
        """Yield what is read: a turn of one part once, a longer one as a whole and part by part."""
        row = -1
        for session in sessions:
            before: list[int] = []
            for turn in session.turns:
                row += 1
                parts = parts_of(turn.text, self.wordpiece)
                subwords = [subword for part in parts for subword in part]
                if parts and turn.role in ROLE_MARKS:
                    yield _Given(row, *framed(turn.role, before, shortened(subwords)), whole=True, part=len(parts) == 1)
                    for part in parts if len(parts) > 1 else []:
                        yield _Given(row, *framed(turn.role, before, part), whole=False, part=True)
                before = subwords

    def _run(self, given: _Given) -> tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]:
        """Return the scores, if a whole turn is given, and the vector, if a part of a turn is."""
        wanted = ["scores"] * given.whole + ["vector"] * given.part
        run = self.session.run(wanted, model_input(given.subwords, given.begins))
        found = {name: values[0] for name, values in zip(wanted, run, strict=True)}
        return found.get("scores"), found.get("vector")


def load_encoder(model: bytes, vocabulary: bytes, path: Path, *, n_heads: int) -> Encoder:
    """Return an encoder from the contents of ``encoder.onnx`` and ``vocabulary.txt``.

    Parameters
    ----------
    model, vocabulary : bytes
        Contents of the two files.
    path : Path
        Of the first, for errors.
    n_heads : int
        How many scores it must give for a turn.

    Raises
    ------
    BadDataFileError
        One is broken, or this machine cannot run the encoder.
    """
    session = inference_session(model, path)
    try:
        _check_form(session, n_heads)
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


def _check_form(session: Any, n_heads: int) -> None:
    """Refuse a model with other inputs or outputs."""
    given = {one.name for one in session.get_inputs()}
    found = [(one.name, one.shape[-1:]) for one in session.get_outputs()]
    if given != {"subwords", "own"} or found != [("scores", [n_heads]), ("vector", [3 * WIDTH]), (LOWER, [WIDTH])]:
        raise ValueError
