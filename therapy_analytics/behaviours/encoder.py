"""The sentence encoder of the accurate tagger, which reads a turn together with the end of the turn before.

It is a transformer of six layers (MiniLM, Wang et al. 2020, arXiv:2002.10957), fine-tuned on counseling, with eight-bit
weights, run by onnxruntime on the CPU. Turns are read one at a time, so that the scores of a turn do not depend on what
else is in the batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    """Return the input of the ONNX model: ids, int64 (1, n), and which are the turn's own, float32 (1, n)."""
    own = np.zeros((1, len(ids)), dtype=np.float32)
    own[0, begins:-1] = 1
    return {"tokens": np.array([ids], dtype=np.int64), "own": own}


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """An encoder with a score for each of its heads.

    Attributes
    ----------
    session : onnxruntime.InferenceSession
        The model, see `model_input`; its output is ``scores`` (1, n_heads).
    wordpiece : WordPiece
        Cuts texts into subwords.
    """

    session: Any
    wordpiece: WordPiece

    def scores(self, sessions: Sequence[Session]) -> NDArray[np.float64]:
        """Return the log-odds of all turns, float64 (n_turns, n_heads); nan for turns without words or role."""
        n_heads = self.session.get_outputs()[0].shape[1]
        found = np.full((sum(len(one.turns) for one in sessions), n_heads), np.nan)
        read = list(self._inputs(sessions))
        with ThreadPoolExecutor(threads()) as pool:
            for (row, _), scores in zip(read, pool.map(self._run, [given for _, given in read]), strict=True):
                found[row] = scores
        return found

    def _inputs(self, sessions: Sequence[Session]) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
        """Yield the row and the model's input of each turn with words and a role."""
        row = -1
        for session in sessions:
            before: list[int] = []
            for turn in session.turns:
                row += 1
                subwords = self.wordpiece.ids(turn.text)
                if subwords and turn.role in ROLE_MARKS:
                    yield row, model_input(*framed(turn.role, before, shortened(subwords)))
                before = subwords

    def _run(self, given: dict[str, NDArray[Any]]) -> NDArray[Any]:
        scores: NDArray[Any] = self.session.run(None, given)[0][0]
        return scores


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
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 (what onnxruntime raises is not documented and differs between versions)
        raise _broken(path, error) from None


def _broken(path: Path, error: Exception) -> BadDataFileError:
    problem = f"the encoder of the tagger cannot be loaded ({type(error).__name__})"
    remedy = "Install the package again, or choose --tagger fast, which does not need it"
    return BadDataFileError(str(path), problem, remedy)


def _check_form(session: Any, n_heads: int) -> None:
    """Refuse a model with other inputs or outputs."""
    (given,) = session.get_outputs()
    if {one.name for one in session.get_inputs()} != {"tokens", "own"} or given.shape[1:] != [n_heads]:
        raise ValueError
