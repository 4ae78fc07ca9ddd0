"""What the lower half of the package's encoder says of the pieces of words in their context.

Its first three layers are those of MiniLM, whatever is trained above: what a small model learns from them does not rest
on the corpora that the tagger was trained on.
"""

from __future__ import annotations

import functools
from typing import Any

from therapy_analytics.behaviours._weights import WEIGHTS
from therapy_analytics.behaviours.encoder import inference_session
from therapy_analytics.language.wordpiece import VOCABULARY, WordPiece

LOWER = "/layer.2/output/LayerNorm/LayerNormalization_output_0"
"""The output of the encoder's third layer."""
WIDTH = 384
"""How many numbers it says of a piece."""


@functools.cache
def lower_layers() -> tuple[Any, WordPiece]:
    """Return the encoder of the package, which also gives `LOWER`, (1, n_pieces, WIDTH), and its pieces.

    Raises
    ------
    BadDataFileError
        The encoder is broken, or this machine cannot run it.
    """
    path = WEIGHTS / "encoder.onnx"
    session = inference_session(path.read_bytes() + _also_gives(LOWER), path)
    return session, WordPiece(VOCABULARY.read_text(encoding="utf-8").split("\n"))


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
