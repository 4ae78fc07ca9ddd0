"""Contextual vectors of subwords, from the third layer of the package's encoder.

The first three layers are those of MiniLM, frozen when the encoder was fine-tuned: models on top of them do not rest on
the corpora of the tagger.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from therapy_analytics.codes.weights import WEIGHTS
from therapy_analytics.codes.encoder import load_lower
from therapy_analytics.text.wordpiece import VOCABULARY, WordPiece


@functools.cache
def lower_layers() -> tuple[Any, WordPiece]:
    """Return the lower half of the package's encoder, for `encoder.lower_vectors`, and its tokeniser.

    Raises
    ------
    BadDataFileError
        The encoder is broken, or this machine cannot run it.
    """
    return load_lower(WEIGHTS, Path.read_bytes), WordPiece(VOCABULARY.read_text(encoding="utf-8").split("\n"))
