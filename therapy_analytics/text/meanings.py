"""Meanings of turns: static vectors of their words, and cosines between them.

Unit vectors are rounded to whole steps of 1 / `STEPS`. Their dot products are then whole numbers, which float64 holds
exactly in whatever order they are added: no value depends, in any bit, on what else is computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.text.annotate import AnnotatedSession
from therapy_analytics.text.embeddings import DIMENSIONS, load_embeddings

Floats = NDArray[np.float64]

STEPS = 2.0**16
"""Steps to 1 of a coordinate of a unit vector; rounding moves a cosine by about 1e-5."""


@dataclass(frozen=True, slots=True, eq=False)
class Meanings:
    """Unit vectors in whole steps.

    Attributes
    ----------
    vectors : float64 array (..., n, n_dimensions)
        Whole numbers; rows of 0 for texts without a vector.
    squares : float64 array (..., n)
        Their squared lengths; exact.
    """

    vectors: Floats
    squares: Floats

    @classmethod
    def units(cls, vectors: Floats) -> Meanings:
        """Return vectors (n, n_dimensions) normalised to length one; rows of nan or 0 become 0."""
        wide = np.asarray(vectors, dtype=np.float64)
        whole = np.where(np.isnan(wide), 0.0, wide)
        largest = np.abs(whole).max(axis=1, initial=0.0, keepdims=True)
        whole = np.rint(whole * (STEPS / np.where(largest > 0, largest, 1.0)))
        length = np.sqrt(dots(whole, whole))[:, None]
        whole = np.rint(whole * (STEPS / np.where(length > 0, length, 1.0)))
        return cls(whole, dots(whole, whole))


def meanings(session: AnnotatedSession) -> Meanings:
    """Return the vector of each turn, (n_turns, n_dimensions); 0 where a turn has no words."""
    return session.cached(_read)


def _read(session: AnnotatedSession) -> Meanings:
    spoken = session.n_words > 0
    texts = [turn.text for turn, has in zip(session.session.turns, spoken.tolist(), strict=True) if has]
    vectors = np.zeros((len(session), DIMENSIONS))
    if texts:
        vectors[spoken] = load_embeddings().embed(texts)
    return Meanings.units(vectors)


def dots(a: Floats, b: Floats) -> Floats:
    """Return the dot products of two arrays, row by row: (..., n_dimensions) each to (...)."""
    return np.asarray(np.vecdot(a, b))


def divided(products: Floats, squares: Floats) -> Floats:
    """Return cosines from dot products and products of squared lengths; nan where one vector is 0."""
    found = np.full(np.broadcast_shapes(products.shape, squares.shape), np.nan)
    np.divide(products, np.sqrt(squares), out=found, where=squares > 0)
    return np.clip(found, -1.0, 1.0, out=found)
