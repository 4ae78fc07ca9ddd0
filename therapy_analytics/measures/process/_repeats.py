"""What a therapist says again: advice by its meaning, turns by how they open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.said import Ints, Marks, said
from therapy_analytics.measures.process._word_meanings import Floats, WordMeanings, word_meanings

ADVISES = ("bolt_problem_solving", "bolt_planning", "mi_input")
ALIKE, SHARED = 0.3, 0.2
"""Cosine above the session's own mean, and share of content words, from which an advice is a repeat of another."""
FEWEST = 4
"""Content words of a sentence under which it says too little."""
FRAME = 3
OFTEN = 3
_LEAD = frozenset({
    "okay", "ok", "yeah", "yes", "so", "and", "well", "right", "mm", "hmm", "mhm", "uh", "um", "oh", "all", "alright",
    "but", "now", "no", "sure", "great", "good", "hm", "ah", "er", "yep",
})  # fmt: skip
"""Words that are passed over where a turn opens: assent and fillers are a listener's, not a formula."""


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """Sentences of advice.

    Attributes
    ----------
    turns : int64 array (n,)
        Where they stand.
    repeats : bool array (n,)
        Whether an earlier turn has an advice of the same meaning and words.
    """

    turns: Ints
    repeats: Marks


def advice_of(session: AnnotatedSession) -> Advice:
    """Return the sentences of advice of a session, and which come again (for `AnnotatedSession.once`)."""
    given = np.any([session.decided(code) for code in ADVISES if session.has(code)] or [session.of("other")], axis=0)
    turns = given & session.of("therapist")
    if not turns.any():
        return Advice(np.array([], dtype=np.int64), np.array([], dtype=np.bool_))
    meanings = session.once(word_meanings)
    place, sentence = _content_of(meanings, turns)
    numbers, counts = np.unique(sentence, return_counts=True)
    kept = numbers[counts >= FEWEST]
    use = np.isin(sentence, kept)
    rows = np.searchsorted(kept, sentence[use])
    turn_of = np.zeros(len(kept), dtype=np.int64)
    turn_of[rows] = meanings.said.turn_of[place[use]]
    return Advice(turn_of, repeats(meanings, meanings.types[place[use]], rows, turn_of))


def _content_of(meanings: WordMeanings, turns: Marks) -> tuple[Ints, Ints]:
    """Return content words of statements of these turns, and their sentences; questions are no advice given."""
    words = meanings.said
    place = np.flatnonzero(turns[words.turn_of] & meanings.content & ~words.asks)
    # Speech recognisers write no full stops: a long sentence is cut into stretches of 30 words
    begins = np.searchsorted(words.sentence_of, words.sentence_of[place])
    part = (place - begins) // 30
    return place, words.sentence_of[place] * 10_000 + np.minimum(part, 9_999)


def repeats(meanings: WordMeanings, types: Ints, rows: Ints, turn_of: Ints) -> Marks:
    """Return which sentences have an earlier one, of another turn, that is as they are.

    Parameters
    ----------
    meanings : WordMeanings
        Of the session.
    types, rows : int64 arrays
        Content words, and the sentence of each.
    turn_of : int64 array (n_sentences,)
        In rising order.
    """
    n = len(turn_of)
    if n < 2:
        return np.zeros(n, dtype=np.bool_)
    used, column = np.unique(types, return_inverse=True)
    bags = sparse.csr_array((meanings.rarity[types], (rows, column)), shape=(n, len(used)))
    vectors: Floats = np.asarray(bags @ meanings.units[meanings.words[used]])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1), 1e-12)[:, None]
    alike = vectors @ vectors.T
    earlier = turn_of[None, :] < turn_of[:, None]
    if not earlier.any():
        return np.zeros(n, dtype=np.bool_)
    return np.asarray((earlier & (alike - alike[earlier].mean() >= ALIKE) & (_shared(bags) >= SHARED)).any(axis=1))


def _shared(bags: sparse.csr_array) -> Floats:
    """Return the share of content words that two sentences have in common, by rarity (Jaccard)."""
    one = bags.copy()
    one.data = np.sqrt(np.maximum(bags.data, 0.0))
    # A word counts once in a sentence, as much as its rarity
    dense = (one > 0).toarray().astype(np.float64)
    rarity = np.asarray(bags.max(axis=0).todense()).ravel()
    both = (dense * rarity) @ dense.T
    size = np.diag(both)
    return np.asarray(both / np.maximum(size[:, None] + size[None, :] - both, 1e-12))


def openings(session: AnnotatedSession) -> tuple[Ints, Ints]:
    """Return the therapist's turns that open with a frame, and the number of each one's frame.

    A frame is the first three words behind words of assent; turns without three have none. A contraction is two words
    ("it's", "it is" alike).
    """
    words = said(session)
    own = np.flatnonzero(session.of("therapist")[words.turn_of])
    lead = words.are(_LEAD)[own]
    turn = words.turn_of[own]
    # Whether a word stands behind nothing but words of assent
    others = np.cumsum(~lead)
    start = np.searchsorted(turn, turn)
    rank = others - np.append(0, others)[start]
    begins = np.flatnonzero((rank == 1) & ~lead)
    begins = begins[begins + FRAME <= len(own)]
    begins = begins[turn[begins + FRAME - 1] == turn[begins]]
    frames = words.ids[own][begins[:, None] + np.arange(FRAME)]
    return turn[begins], frames


def seen_often(frames: Ints) -> Marks:
    """Return which frames, rows of words, stood at least `OFTEN` times before.

    Examples
    --------
    >>> seen_often(np.array([[1, 2], [1, 2], [3, 4], [1, 2], [1, 2], [3, 4]])).tolist()
    [False, False, False, False, True, False]
    """
    if not len(frames):
        return np.zeros(0, dtype=np.bool_)
    number = _numbered(frames)
    order = np.argsort(number, kind="stable")
    first = np.searchsorted(number[order], number[order])
    before = np.empty(len(number), dtype=np.int64)
    before[order] = np.arange(len(number)) - first
    return np.asarray(before >= OFTEN)


def by_chance(frames: Ints, random: np.random.Generator, draws: int = 20) -> float:
    """Return the share of frames seen often if first, second and third words went together by chance."""
    n = len(frames)
    if n <= OFTEN:
        return 0.0 if n else float("nan")
    mixed = random.permuted(np.broadcast_to(frames, (draws, *frames.shape)), axis=1)
    alike = np.sort(_numbered(mixed), axis=1)
    shares = np.count_nonzero(alike[:, OFTEN:] == alike[:, :-OFTEN], axis=1) / n
    return float(np.mean(shares))


def _numbered(frames: Ints) -> Ints:
    """Return a number for each frame, the same for the same words."""
    base = int(frames.max()) + 1
    return np.asarray(frames @ base ** np.arange(frames.shape[-1]))
