"""What a therapist says again: advice by its meaning, turns by how they open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.word_sequence import Ints, Marks, WordSequence, word_sequence
from therapy_analytics.measures.process._word_meanings import Floats, rarity_of_words, units_of_words

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
    """Return the sentences of advice of a session, and which come again; found once."""
    return session.cached(_advice)


def _advice(session: AnnotatedSession) -> Advice:
    given = np.any(
        [session.decided(code) for code in ADVISES if session.has(code)] or [session.spoken_by("other")], axis=0
    )
    words, rarity = word_sequence(session), rarity_of_words(session)
    place, sentence = _content_of(words, rarity, given & session.spoken_by("therapist"))
    # Sentences of enough words, numbered anew
    begins = np.flatnonzero(np.diff(sentence, prepend=-1))
    size = np.diff(np.append(begins, len(sentence)))
    kept = size >= FEWEST
    turns = words.turn_of[place[begins[kept]]]
    rows = np.repeat(np.arange(len(turns)), size[kept])
    return Advice(turns, repeats(session, words.ids[place[np.repeat(kept, size)]], rows, turns))


def _content_of(words: WordSequence, rarity: Floats, turns: Marks) -> tuple[Ints, Ints]:
    """Return content words of statements of these turns, and their sentences; questions are no advice given."""
    place = np.flatnonzero(turns[words.turn_of] & (rarity[words.ids] > 0) & ~words.asks)
    # Speech recognisers write no full stops: a long sentence is cut into segments of 30 words
    begins = np.searchsorted(words.sentence_of, words.sentence_of[place])
    part = (place - begins) // 30
    return place, words.sentence_of[place] * 10_000 + np.minimum(part, 9_999)


def repeats(session: AnnotatedSession, ids: Ints, rows: Ints, turn_of: Ints) -> Marks:
    """Return which sentences have an earlier one, of another turn, that is as they are.

    Parameters
    ----------
    session : AnnotatedSession
        Whose words these are.
    ids, rows : int64 arrays
        Content words, as `Said` numbers them, and the sentence of each.
    turn_of : int64 array (n_sentences,)
        In rising order.
    """
    n = len(turn_of)
    earlier = turn_of[None, :] < turn_of[:, None]
    if not earlier.any():
        return np.zeros(n, dtype=np.bool_)
    # Words in the order in which they occur
    used, first, column = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    column, used = np.argsort(order)[column], used[order]
    cells = np.bincount(rows * len(used) + column, rarity_of_words(session)[ids], n * len(used))
    bags: Floats = cells.reshape(n, len(used)).astype(np.float64, copy=False)
    vectors = bags @ units_of_words(session)[used]
    vectors /= np.maximum(np.sqrt((vectors * vectors).sum(axis=1)), 1e-12)[:, None]
    alike = vectors @ vectors.T
    near = alike - alike[earlier].mean() >= ALIKE
    return np.asarray((earlier & near & (_shared(bags) >= SHARED)).any(axis=1))


def _shared(bags: Floats) -> Floats:
    """Return the share of content words that two sentences have in common, by rarity (Jaccard)."""
    # A word counts once in a sentence, as much as its rarity
    has = (bags > 0).astype(np.float64)
    both = (has * bags.max(axis=0)) @ has.T
    size = np.diag(both)
    return np.asarray(both / np.maximum(size[:, None] + size[None, :] - both, 1e-12))


def openings(session: AnnotatedSession) -> tuple[Ints, Ints]:
    """Return the therapist's turns that open with a frame, and the number of each one's frame.

    A frame is the first three words behind words of assent; turns without three have none. A contraction is two words
    ("it's", "it is" alike).
    """
    words = word_sequence(session)
    own = np.flatnonzero(session.spoken_by("therapist")[words.turn_of])
    lead = words.are(_LEAD)[own]
    turn = words.turn_of[own]
    # Whether a word stands behind nothing but words of assent
    others = np.cumsum(~lead)
    opens = np.diff(turn, prepend=-1) > 0
    rank: Ints = others - (others - ~lead)[opens][np.cumsum(opens) - 1]
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


def expected_by_shuffling(frames: Ints, random: np.random.Generator, draws: int = 20) -> float:
    """Return the share of more than `OFTEN` frames seen often if first, second and third words went by chance."""
    n = len(frames)
    mixed = random.permuted(np.broadcast_to(frames, (draws, *frames.shape)), axis=1)
    alike = np.sort(_numbered(mixed), axis=1)
    shares = np.count_nonzero(alike[:, OFTEN:] == alike[:, :-OFTEN], axis=1) / n
    return float(np.mean(shares))


def _numbered(frames: Ints) -> Ints:
    """Return a number for each frame, the same for the same words."""
    base = int(frames.max()) + 1
    return np.asarray(frames @ base ** np.arange(frames.shape[-1]))
