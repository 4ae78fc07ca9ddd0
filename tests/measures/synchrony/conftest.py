"""Sessions made of counts alone, without words: quick to make, easy to count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.core.session import CLIENT, THERAPIST, Session
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES
from therapy_analytics.text import AnnotatedSession, TurnArrays
from therapy_analytics.text.annotate import Donors, spoken_by
from therapy_analytics.text.tokens import tokenize

OfCounts = Callable[..., AnnotatedSession]
ROLE = {"T": THERAPIST, "C": CLIENT, "O": 2}


def _of_counts(n_words: Any, counts: Any = None, *, roles: str = "", **about: Any) -> AnnotatedSession:
    words = np.asarray(n_words, dtype=np.int64)
    n = len(words)
    table = np.zeros((n, len(CATEGORIES)), dtype=np.int32)
    if counts is not None:
        table[:] = counts
    turns = TurnArrays(
        tokens=tokenize([]),
        offsets=np.zeros(n + 1, dtype=np.int64),
        roles=np.array([ROLE[one] for one in roles or ("TC" * n)[:n]], dtype=np.int8),
        n_words=words,
        n_sentences=(words > 0).astype(np.int64),
        categories={name: i for i, name in enumerate(CATEGORIES)},
        counts=table,
        covered=table,
    )
    return AnnotatedSession(Session(id="by_hand", source_file="by_hand.txt", turns=()), turns, **about)


def _donors(whole: AnnotatedSession, starts: Sequence[int]) -> Donors:
    names = tuple(f"donor {i}" for i in range(len(starts) - 1))
    return Donors(whole, names, ("",) * len(names), spoken_by(whole.turns, np.array(starts)))


@pytest.fixture(scope="session")
def of_counts() -> OfCounts:
    """Return a function: words a turn (and counts of the nine categories) to a session; T and C in turn by default."""
    return _of_counts


@pytest.fixture(scope="session")
def donors_from() -> Callable[[AnnotatedSession, Sequence[int]], Donors]:
    """Return a function: one session, and where each donor begins in it, to donors."""
    return _donors


@pytest.fixture(scope="session")
def peer(corpora: Path) -> Callable[[str], pd.DataFrame]:
    """Return a function: the name of a file to what another program gave for AnnoMI."""

    def read(name: str) -> pd.DataFrame:
        path = corpora.parent / "peers" / name
        if not path.is_file():
            pytest.skip("the peers' values are not beside the corpora (../peers)")
        return pd.read_csv(path)

    return read
