"""Contextual vectors of subwords, from the third layer of the package's encoder.

The first three layers are those of MiniLM, frozen when the encoder was fine-tuned: models on top of them do not rest on
the corpora of the tagger.
"""

from __future__ import annotations

import functools
from typing import Any

from therapy_analytics.behaviours._weights import WEIGHTS
from therapy_analytics.behaviours.encoder import inference_session
from therapy_analytics.language.wordpiece import VOCABULARY, WordPiece

LOWER = "/layer.2/output/LayerNorm/LayerNormalization_output_0"
"""Name of the third layer's output."""
WIDTH = 384
"""Dimensions of its vectors."""


@functools.cache
def lower_layers() -> tuple[Any, WordPiece]:
    """Return the encoder of the package with the further output `LOWER`, (1, n_subwords, WIDTH), and its tokeniser.

    Raises
    ------
    BadDataFileError
        The encoder is broken, or this machine cannot run it.
    """
    path = WEIGHTS / "encoder.onnx"
    session = inference_session(path.read_bytes() + _also_gives(LOWER), path)
    return session, WordPiece(VOCABULARY.read_text(encoding="utf-8").split("\n"))


def _also_gives(output: str) -> bytes:
    """Return the bytes that, appended to an ONNX model, make one of its values an output.

    They encode a model whose graph (field 7) has an output (field 12) with this name (field 1), a tensor (1.1.1) of
    floats (1). Concatenated protocol buffers are read as one message, in which repeated fields are merged.
    """
    name = output.encode()
    value = b"\x0a" + _sized(name) + b"\x12" + _sized(b"\x0a" + _sized(b"\x08\x01"))
    return b"\x3a" + _sized(b"\x62" + _sized(value))


def _sized(message: bytes) -> bytes:
    """Return a message of fewer than 128 bytes with its length before it."""
    return bytes([len(message)]) + message
