"""A small sentence encoder, trained further on counseling: what each turn means, next to the turn before it.

It is a transformer of six layers (MiniLM, Wang et al. 2020, arXiv:2002.10957) with eight-bit weights, run by
onnxruntime on the user's own processor. One turn is read at a time, so that a turn's scores do not depend on what
else is read along with it.
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

BEGIN, END = 101, 102
"""Ids of the marks around what is read."""
ROLE_MARKS: dict[Role, int] = {"therapist": 1, "client": 2}
"""Ids of pieces without a meaning of their own, which say whose turn it is."""
BEFORE = 32
"""So many pieces of the turn before are read, its last."""
FIRST, LAST = 48, 48
"""So many pieces of a turn are read at most: its first and its last."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """An encoder with a score for each of its heads.

    Attributes
    ----------
    session : onnxruntime.InferenceSession
        Takes ``pieces`` (1, n) and ``own`` (1, n), gives ``scores`` (1, n_heads).
    pieces : WordPiece
        The pieces that it knows.
    """

    session: Any
    pieces: WordPiece

    def scores(self, sessions: Sequence[Session]) -> NDArray[np.float64]:
        """Return the scores (log-odds) of all turns, (n_turns, n_heads); nan for turns without words or role."""
        n_heads = self.session.get_outputs()[0].shape[1]
        found = np.full((sum(len(one.turns) for one in sessions), n_heads), np.nan)
        read = list(self._inputs(sessions))
        with ThreadPoolExecutor(threads()) as pool:
            for (row, _, _), scores in zip(read, pool.map(self._run, read), strict=True):
                found[row] = scores
        return found

    def _inputs(self, sessions: Sequence[Session]) -> Iterator[tuple[int, list[int], int]]:
        row = -1
        for session in sessions:
            before: list[int] = []
            for turn in session.turns:
                row += 1
                pieces = self.pieces.ids(turn.text)
                if pieces and turn.role in ROLE_MARKS:
                    yield row, *framed(turn.role, before, pieces)
                before = pieces

    def _run(self, one: tuple[int, list[int], int]) -> NDArray[Any]:
        _, pieces, begins = one
        own = np.zeros((1, len(pieces)), dtype=np.float32)
        own[0, begins:-1] = 1
        scores: NDArray[Any] = self.session.run(None, {"pieces": np.array([pieces], dtype=np.int64), "own": own})[0][0]
        return scores


def framed(role: Role, before: list[int], pieces: list[int]) -> tuple[list[int], int]:
    """Put the pieces of a turn and of the one before into the form that is read; say where the turn begins."""
    if len(pieces) > FIRST + LAST:
        pieces = pieces[:FIRST] + pieces[-LAST:]
    head = [BEGIN, ROLE_MARKS[role], *before[-BEFORE:], END]
    return [*head, *pieces, END], len(head)


def encoder_of(model: bytes, pieces: bytes, path: Path, *, n_heads: int) -> Encoder:
    """Return the encoder of what is in ``encoder.onnx``, which stands at a path, and in ``vocabulary.txt``.

    Parameters
    ----------
    model, pieces : bytes
        What the two files hold.
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
        return Encoder(session, WordPiece(pieces.decode("utf-8").split("\n")))
    except (ValueError, KeyError) as error:
        raise _broken(path, error) from None


def inference_session(model: bytes, path: Path) -> Any:
    """Return an ``onnxruntime.InferenceSession`` of one thread for what is in a file, which stands at a path.

    Raises
    ------
    BadDataFileError
        The file is broken, or this machine cannot run the encoder.
    """
    try:
        onnxruntime = third_party.onnxruntime()  # costs a tenth of a second, and the fast tagger needs none
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # noqa: BLE001 (what onnxruntime raises is not said, and differs between versions)
        raise _broken(path, error) from None


def _broken(path: Path, error: Exception) -> BadDataFileError:
    problem = f"the encoder of the tagger cannot be loaded ({type(error).__name__})"
    remedy = "Install the package again, or choose --tagger fast, which does not need it"
    return BadDataFileError(str(path), problem, remedy)


def _check_form(session: Any, n_heads: int) -> None:
    """Refuse a model that takes or gives something else than an encoder does."""
    (given,) = session.get_outputs()
    if {one.name for one in session.get_inputs()} != {"pieces", "own"} or given.shape[1:] != [n_heads]:
        raise ValueError
