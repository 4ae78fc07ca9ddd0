"""Both kinds of alignment of sessions: beside surrogate pairs as counters give it, with a delay, in little memory."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.surrogate_tables import two_way
from therapy_analytics.language import AnnotatedSession, Batch, annotate, builtin_lexicons
from therapy_analytics.language.annotate import Donors, TurnArrays, spoken_by
from therapy_analytics.language.donors import choose_donors, donors_by_length
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.language.tokens import Tokens
from therapy_analytics.measures.null.surrogates import pool_of
from therapy_analytics.measures.synchrony.adjacent_turns import (
    DIRECTIONS,
    AdjacentTurnMeasure,
    adjacent_result,
    pairs_of,
    replies_of,
)
from therapy_analytics.measures.synchrony.alignment import LEXICAL, LEXICAL_2, alignment
from therapy_analytics.measures.synchrony.alignment import WHOLE as LEXICAL_WHOLE
from therapy_analytics.measures.synchrony.alignment import WHOLE_2 as LEXICAL_WHOLE_2
from therapy_analytics.measures.synchrony.syntactic_alignment import (
    SYNTACTIC,
    SYNTACTIC_2,
    syntactic_alignment,
)
from therapy_analytics.measures.synchrony.syntactic_alignment import WHOLE as SYNTACTIC_WHOLE
from therapy_analytics.measures.synchrony.syntactic_alignment import WHOLE_2 as SYNTACTIC_WHOLE_2
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, session_result
from therapy_analytics.session import CLIENT, THERAPIST, Role, Session, Turn

VOCABULARY = (
    *("i", "you", "it", "don't", "know", "see", "what", "tired,", "work", "well.", "again?"),
    *("never,", "home", "we're", "going", "there", "now", "old", "new", "day"),
)
Runs = Sequence[tuple[tuple[str, int], ...]]


def invented(seed: int, n_turns: int = 16) -> Session:
    """Return a session of turns of 9 to 13 words of a small vocabulary, one of them silent."""
    generator = np.random.default_rng(seed)
    texts = [" ".join(generator.choice(VOCABULARY, size)) for size in generator.integers(9, 14, n_turns)]
    texts[5] = "..."
    roles: tuple[Role, Role] = ("therapist", "client")
    turns = tuple(
        Turn(index=i, speaker=roles[i % 2], role=roles[i % 2], text=text, first_row=i + 1)
        for i, text in enumerate(texts)
    )
    return Session(id=str(seed), source_file=f"{seed}.txt", turns=turns)


def read(sessions: Sequence[Session]) -> Batch:
    """Annotate, with parts of speech (some of them unknown) made up from the order of tokens."""
    batch = annotate(sessions, Matcher(builtin_lexicons()))
    n = len(batch.turns.tokens.ids)
    tags = ((batch.turns.tokens.ids + np.arange(n) // 7) % 6 - 1).astype(np.int8)
    return replace(batch, turns=replace(batch.turns, tags=tags))


@pytest.fixture(scope="module")
def session() -> AnnotatedSession:
    sessions = [invented(seed) for seed in range(12)]
    (donors,) = donors_by_length(choose_donors(sessions), read).values()
    *_, last = read(sessions)
    return replace(last, donors=donors)


def runs_of(session: AnnotatedSession, n: int) -> list[Runs]:
    """Return the sequences of (word, tag) of each turn, punctuation left out."""
    tokens, tags = session.turns.tokens, session.turns.tags
    assert tags is not None
    found: list[Runs] = []
    for start, stop in pairwise(session.turns.offsets.tolist()):
        words = [
            (tokens.lower[i], int(tag))
            for i, tag in zip(tokens.ids[start:stop], tags[start:stop], strict=True)
            if any(map(str.isalnum, tokens.lower[i]))
        ]
        found.append(list(zip(*(words[step:] for step in range(n)), strict=False)))
    return found


def cosine(a: Counter[Any], b: Counter[Any]) -> float:
    squares = [sum(value * value for value in side.values()) for side in (a, b)]
    return sum(a[key] * b[key] for key in a) / float(np.sqrt(squares[0] * squares[1])) if all(squares) else np.nan


def lexical(a: Runs, b: Runs) -> float:
    return cosine(*(Counter(tuple(word for word, _ in run) for run in side) for side in (a, b)))


def syntactic(a: Runs, b: Runs) -> float:
    rests = set(a) - set(b), set(b) - set(a)
    return cosine(*(Counter(tuple(tag for _, tag in run) for run in rest) for rest in rests))


KINDS = [(LEXICAL, lexical, 1), (LEXICAL_2, lexical, 2), (SYNTACTIC, syntactic, 1), (SYNTACTIC_2, syntactic, 2)]
WHOLES = [
    (LEXICAL_WHOLE, lexical, 1),
    (LEXICAL_WHOLE_2, lexical, 2),
    (SYNTACTIC_WHOLE, syntactic, 1),
    (SYNTACTIC_WHOLE_2, syntactic, 2),
]


@pytest.mark.parametrize(("kind", "counted", "n"), KINDS, ids=lambda one: getattr(one, "name", None))
def test_surrogate_pairs_as_counters_give_them(
    session: AnnotatedSession, kind: AdjacentTurnMeasure, counted: Any, n: int
) -> None:
    pool, found = pool_of(session), adjacent_result(kind, session)
    assert session.donors is not None
    of_donors = runs_of(session.donors.whole, n)
    runs, size = [*runs_of(session, n), *(of_donors[i] for i in pool.donated)], len(pool.speakers[0])
    for role, replies in zip(("therapist", "client"), replies_of(session), strict=True):
        pairs = (one[:, : size * size].ravel().tolist() for one in (replies.anchors, replies.replies))
        each = [counted(runs[a], runs[r]) for a, r in zip(*pairs, strict=True)]
        expected = two_way(np.nanmean(np.reshape(each, (-1, size * size)), axis=0).reshape(size, size))
        at = DIRECTIONS.index(role), 0
        shown = [one[at] for one in (found.surrogate.mean, found.surrogate.sd, found.surrogate.z, found.surrogate.p)]
        assert shown == pytest.approx(list(expected), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("kind", "counted", "n"), KINDS, ids=lambda one: getattr(one, "name", None))
@pytest.mark.parametrize("delay", [1, 2])
def test_replies_as_counters_give_them(
    session: AnnotatedSession, kind: AdjacentTurnMeasure, counted: Any, n: int, delay: int
) -> None:
    own, each = runs_of(session, n), adjacent_result(replace(kind, delay=delay), session).series
    wanted = np.full(len(session), np.nan)
    for role in (THERAPIST, CLIENT):
        for anchor, reply in zip(*pairs_of(session, role, delay), strict=True):
            assert reply - anchor == 2 * delay - 1
            wanted[reply] = counted(own[anchor], own[reply])
    np.testing.assert_allclose(each, wanted, rtol=0, atol=1e-12)
    assert np.isfinite(each).sum() >= 8


@pytest.mark.parametrize(("kind", "counted", "n"), WHOLES, ids=lambda one: getattr(one, "name", None))
def test_whole_sessions_as_counters_give_them(
    session: AnnotatedSession, kind: SessionMeasure, counted: Any, n: int
) -> None:
    pool, found = pool_of(session), session_result(kind, session)
    assert session.donors is not None
    of_donors = runs_of(session.donors.whole, n)
    runs = [*runs_of(session, n), *(of_donors[at] for at in pool.donated)]
    sides = [[[run for at in turns for run in runs[at]] for turns in one] for one in pool.speakers]
    table = [[counted(one, other) for other in sides[1]] for one in sides[0]]
    assert found.values[0] == pytest.approx(table[0][0], rel=0, abs=1e-12)
    assert found.surrogate.mean[0] == pytest.approx(two_way(table).mean, abs=1e-9)


def test_the_measures_fill_their_columns(session: AnnotatedSession) -> None:
    values = {**alignment(session), **syntactic_alignment(session)}
    for name in ("lexical_alignment", "lexical_alignment_2", "syntactic_alignment", "syntactic_alignment_2"):
        assert 0 <= values[name] <= 1
        assert np.shape(values[f"{name}_turn"]) == (16,)
    for name in ("lexical_alignment_whole", "syntactic_alignment_whole"):
        assert 0 <= values[name] <= 1
        assert np.isfinite(values[f"{name}_2_surrogate_mean"])


# ---- long sessions


def numbered(sizes: Sequence[int], seed: int, n_types: int = 12_000) -> AnnotatedSession:
    """Return a session of turns of so many words, without text, of a vocabulary that all such sessions have."""
    generator = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    ids = (n_types * generator.random(offsets[-1]) ** 3).astype(np.int32)
    keys = np.random.default_rng(0).integers(0, 2**63, n_types).astype(np.uint64)
    names = tuple(map(str, range(n_types)))
    word = np.ones(len(ids), dtype=np.bool_)
    tokens = Tokens(names, names, keys, np.ones(n_types, np.bool_), ids, offsets, word, ~word)
    nothing = np.zeros((len(sizes), 0), dtype=np.int32)
    arrays = TurnArrays(
        tokens=tokens,
        offsets=offsets,
        roles=np.where(np.arange(len(sizes)) % 2, CLIENT, THERAPIST).astype(np.int8),
        n_words=np.asarray(sizes, dtype=np.int64),
        n_sentences=np.ones(len(sizes), dtype=np.int64),
        categories={},
        counts=nothing,
        covered=nothing,
        tags=(ids % 17).astype(np.int8),
    )
    return AnnotatedSession(Session(id=str(seed), source_file="made up", turns=()), arrays)


def donors_from(whole: AnnotatedSession, n_donors: int) -> Donors:
    starts = np.linspace(0, len(whole), n_donors + 1).astype(np.int64)
    return Donors(whole, tuple(map(str, range(n_donors))), ("",) * n_donors, spoken_by(whole.turns, starts))


def sizes_of(n_turns: int, n_long: int, seed: int) -> Sequence[int]:
    """Return lengths of turns: short ones, and some of 5,000 words."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 12, n_turns)
    sizes[generator.choice(n_turns, n_long, replace=False)] = 5_000
    return [int(size) for size in sizes]


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize("kind", [LEXICAL_2, LEXICAL_WHOLE, SYNTACTIC, SYNTACTIC_WHOLE], ids=lambda kind: kind.name)
@pytest.mark.parametrize(("n_turns", "n_long"), [(1_000, 20), (40, 20)], ids=["many turns", "long turns"])
def test_memory_is_bounded(kind: AdjacentTurnMeasure | SessionMeasure, n_turns: int, n_long: int) -> None:
    session = replace(
        numbered(sizes_of(n_turns, n_long, 1), 1), donors=donors_from(numbered(sizes_of(300, 20, 2), 2), 10)
    )
    tracemalloc.reset_peak()
    found = adjacent_result(kind, session) if isinstance(kind, AdjacentTurnMeasure) else session_result(kind, session)
    assert np.isfinite(found.surrogate.mean).any()
    assert tracemalloc.get_traced_memory()[1] < 250e6
