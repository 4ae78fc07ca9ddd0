"""A small model that reads each word where it stands and says whether it identifies somebody.

Rules know forms: digits, cues, titles. Much of what identifies people in real talk has no form, above all where a
recogniser wrote it without capitals: *then marisol walks in*, *i'm at kettle and crane four nights a week*. This model
reads the words around. What it knows of a word is the vector that the lower half of the package's encoder gives it in
its context, and what the lists of names, places and words say of it and its neighbours. It was taught with invented
talk by several writers (``tools/train_redact.py``); ``docs/redact.md`` says how often it is right on talk by others.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours._weights import WEIGHTS
from therapy_analytics.behaviours.encoder import BEGIN, END, ROLE_MARKS, inference_session
from therapy_analytics.language.cores import threads
from therapy_analytics.language.wordpiece import PIECES, WordPiece
from therapy_analytics.redact._found import Found
from therapy_analytics.redact._tokens import Token, straight, tokens, word_list
from therapy_analytics.session import Role, Session, Turn

Floats = NDArray[np.float32]

MODEL = Path(__file__).with_name("reader")
LOWER = "/layer.2/output/LayerNorm/LayerNormalization_output_0"
"""The output of the encoder's third layer. Its first three layers are those of MiniLM, whatever is trained above."""
WIDTH = 384
BEFORE, AT_ONCE = 32, 300
"""How many pieces of the turn before are read along, and how many of a turn at a time."""
OTHER = "O"
"""The class of words that identify nobody; all other classes are kinds of `_found.KINDS`."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The model.

    Attributes
    ----------
    classes : tuple of str
        `OTHER` and kinds.
    weights : float32 array (n_features, n_classes)
        Of the features as `features` gives them.
    bias : float32 array (n_classes,)
        Log-odds before anything is known of a word.
    remove, join, look : float
        From which probability on a word is removed; is removed because the word beside it is; is worth a look.
    """

    classes: tuple[str, ...]
    weights: Floats = field(repr=False)
    bias: Floats = field(repr=False)
    remove: float
    join: float
    look: float

    def probabilities(self, known: Floats) -> Floats:
        """Return the probability of each class for words, (n_words, n_classes), of their features."""
        score = known @ self.weights + self.bias
        score = np.exp(score - score.max(axis=1, keepdims=True))
        shares: Floats = score / score.sum(axis=1, keepdims=True)
        return shares


def read(session: Session) -> tuple[list[Found], ...]:
    """Return what the model finds in each turn of a session, in order.

    Findings whose ``sure`` is "likely" are to be removed; those that are "unsure" are for the review list.
    """
    reader = load()
    found = []
    for words, known in features(session.turns):
        shares = reader.probabilities(known)
        found.append(list(_spans(words, shares, reader)) if words else [])
    return tuple(found)


def _spans(words: Sequence[Token], shares: Floats, reader: Reader) -> Iterator[Found]:
    """Yield rows of words that belong together: at least one is surely enough, and its neighbours nearly."""
    doubt = 1.0 - shares[:, reader.classes.index(OTHER)]
    kinds = [one for one in reader.classes if one != OTHER]
    kept = shares[:, [reader.classes.index(one) for one in kinds]]
    edges = np.flatnonzero(np.diff(np.concatenate([[0], doubt >= reader.join, [0]])))
    taken = np.zeros(len(words), dtype=bool)
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if doubt[start:end].max() >= reader.remove:
            kind = kinds[int(kept[start:end].sum(axis=0).argmax())]
            taken[start:end] = True
            yield Found(words[start].start, words[end - 1].end, kind, "likely", "read")
    for at in np.flatnonzero((doubt >= reader.look) & ~taken):
        yield Found(words[at].start, words[at].end, kinds[int(kept[at].argmax())], "unsure", "read")


@functools.cache
def load() -> Reader:
    """Return the model of the package."""
    about = json.loads((MODEL / "model.json").read_text(encoding="utf-8"))
    with np.load(MODEL / "weights.npz", allow_pickle=False) as arrays:
        weights, bias = arrays["weights"].astype(np.float32), arrays["bias"].astype(np.float32)
    return Reader(tuple(about["classes"]), weights, bias, about["remove"], about["join"], about["look"])


def features(turns: Sequence[Turn]) -> Iterator[tuple[list[Token], Floats]]:
    """Yield for each turn its words and what is known of them.

    Parameters
    ----------
    turns : sequence of Turn
        Of one session, in order: the end of the turn before is read along.

    Yields
    ------
    words : list of Token
        As `tokens` returns them.
    known : float32 array (n_words, n_features)
        Vectors of a word and of its two neighbours in their context, and what lists say of the three.
    """
    small = not any(sign.isupper() for turn in turns for sign in turn.text)
    cut = [tokens(turn.text) for turn in turns]
    befores = ["", *(turn.text for turn in turns[:-1])]
    vectors = _Vectors()
    with ThreadPoolExecutor(threads()) as pool:
        for words, of_words in zip(cut, pool.map(vectors.of_turn, turns, befores, cut), strict=True):
            yield words, np.hstack([_beside(of_words), _beside(_listed(words, small=small))])


def _beside(rows: Floats) -> Floats:
    """Put what stands before and after each row beside it, zeros at the ends: (n, d) becomes (n, 3 d)."""
    blank = np.zeros_like(rows[:1])
    return np.hstack([rows, np.vstack([blank, rows[:-1]])[: len(rows)], np.vstack([rows[1:], blank])[: len(rows)]])


def _listed(words: Sequence[Token], *, small: bool) -> Floats:
    """Return what lists and the writing say of words, (n_words, 11)."""
    rows = [
        (
            one.first, one.last, one.common, one.ordinary, one.kept, one.unknown, one.word in word_list("places"),
            one.capital and not one.opens, one.capital and one.opens, one.word.isdigit(), small,
        )
        for one in words
    ]  # fmt: skip
    return np.array(rows, dtype=np.float32).reshape(len(words), 11)


class _Vectors:
    """Gives each word of a turn its vector in context."""

    def __init__(self) -> None:
        self._encoder, self._pieces = _encoder()

    def of_turn(self, turn: Turn, before: str, words: Sequence[Token]) -> Floats:
        """Return the mean vectors of the pieces of each word, (n_words, WIDTH)."""
        pieces, places = self._cut(straight(turn.text), words)
        found = np.zeros((len(words), WIDTH), dtype=np.float32)
        context = self._pieces.ids(before)[-BEFORE:]
        for start in range(0, len(pieces), AT_ONCE):
            some = pieces[start : start + AT_ONCE]
            vectors = self._read(turn.role, context, some)
            np.add.at(found, [at for at in places[start : start + AT_ONCE] if at >= 0],
                      vectors[[at >= 0 for at in places[start : start + AT_ONCE]]])  # fmt: skip
            context = some[-BEFORE:]
        counts = np.bincount([at for at in places if at >= 0], minlength=len(words))
        return found / np.maximum(counts, 1)[:, None].astype(np.float32)

    def _cut(self, text: str, words: Sequence[Token]) -> tuple[list[int], list[int]]:
        """Return the ids of a text's pieces, and of each the word that it belongs to, -1 between words."""
        pieces: list[int] = []
        places: list[int] = []
        end = 0
        for at, word in enumerate(words):
            for some, place in ((text[end : word.start], -1), (text[word.start : word.end], at)):
                new = self._pieces.ids(some)
                pieces += new
                places += [place] * len(new)
            end = word.end
        return pieces, places

    def _read(self, role: Role, before: list[int], pieces: list[int]) -> Floats:
        head = [BEGIN, ROLE_MARKS.get(role, ROLE_MARKS["client"]), *before, END]
        own = np.zeros((1, len(head) + len(pieces) + 1), dtype=np.float32)
        own[0, len(head) : -1] = 1
        given = {"pieces": np.array([[*head, *pieces, END]], dtype=np.int64), "own": own}
        vectors: Floats = self._encoder.run([LOWER], given)[0][0, len(head) : -1]
        return vectors


@functools.cache
def _encoder() -> tuple[Any, WordPiece]:
    """Return the encoder of the package, which also gives `LOWER`, and its pieces."""
    path = WEIGHTS / "encoder.onnx"
    session = inference_session(path.read_bytes() + _also_gives(LOWER), path)
    return session, WordPiece(PIECES.read_text(encoding="utf-8").split("\n"))


def _also_gives(output: str) -> bytes:
    """Return what to append to an ONNX model so that it gives another of its values.

    The bytes say: a model, whose graph (field 7) has an output (field 12) with this name (field 1), a tensor (1.1.1) of
    floats (1). Protocol buffers that stand one after the other are read as one, and repeated fields are put together.
    """
    name = output.encode()
    value = b"\x0a" + _sized(name) + b"\x12" + _sized(b"\x0a" + _sized(b"\x08\x01"))
    return b"\x3a" + _sized(b"\x62" + _sized(value))


def _sized(message: bytes) -> bytes:
    """Return a message after its length, which has less than 128 in it."""
    return bytes([len(message)]) + message


