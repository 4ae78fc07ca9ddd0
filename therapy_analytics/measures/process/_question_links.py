"""How far questions take up what the client has just said, against what the client says in the whole session."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from therapy_analytics.behaviours.text_model import turn_vectors
from therapy_analytics.language import AnnotatedSession, TurnArrays
from therapy_analytics.language.embeddings import DIMENSIONS
from therapy_analytics.language.integers import consecutive, distinct
from therapy_analytics.language.phrases import slot
from therapy_analytics.measures._turns import last_of
from therapy_analytics.measures.process._questions import Bools, Floats, Ints, questions

_STEM = 5
"""Letters by which words are compared."""
_SHORTEST = 2
_FEWEST = 3
"""Client turns under which a session says nothing of what is usual in it."""
_WORDS_ABOVE, _MEANING_ABOVE = 0.1, 1.0
"""A question takes up an answer by so much more of its rare words, or by so many standard deviations of closeness."""
_MOST_CELLS = 2_000_000
"""Questions times turns of the client that are held at a time."""
_CONVERSATION = "conversation.minimal_responses"


@dataclass(frozen=True, slots=True, eq=False)
class QuestionLinks:
    """Questions of the therapist's turns beside the client's turns.

    Attributes
    ----------
    asked : int64 array (n_asked,)
        The turns with questions after a word of the client.
    answered : int64 array (n_asked,)
        Which of the client's turns each is set beside: the last before it.
    n_client : int
        How many turns of the client have words.
    words : float64 array (n_asked,)
        Share of the questions' words, weighted by how rare they are in the session, that this turn has.
    words_excess, meaning_excess : float64 arrays (2, n_asked)
        How much closer the questions are to this turn than to all of the client's, by such shares and by the cosine of
        what they mean: plainly, and in standard deviations. nan where one has no meaning, and of few turns.
    """

    asked: Ints
    answered: Ints
    n_client: int
    words: Floats
    words_excess: Floats
    meaning_excess: Floats


def links(session: AnnotatedSession) -> QuestionLinks:
    """Return the questions beside the client's turns; found once."""
    return session.cached(links_to)


def links_to(session: AnnotatedSession, answered: Ints | None = None) -> QuestionLinks:
    """Return the same with other turns of the client in place of the last ones, for a null distribution."""
    client = np.flatnonzero(session.spoken_by("client") & (session.n_words > 0))
    asked = np.flatnonzero(np.bincount(questions(session).turn_of))
    before = last_of(session, "client")[asked]
    asked, before = asked[before >= 0], before[before >= 0]
    own = np.searchsorted(client, before) if answered is None else answered
    most = max(1, _MOST_CELLS // max(len(client), 1))
    rows = [slice(start, start + most) for start in range(0, max(len(asked), 1), most)]
    found = np.concatenate([_beside(session, asked[some], client, own[some]) for some in rows], axis=1)
    return QuestionLinks(asked, own, len(client), found[0], found[1:3], found[3:])


def _beside(session: AnnotatedSession, asked: Ints, client: Ints, own: Ints) -> Floats:
    """Return `words`, `words_excess` and `meaning_excess` of some questions, (5, n_asked)."""
    words = _shared(session, asked, client)
    meaning = _cosines(session.cached(_asked_directions)[asked], session.cached(_directions)[client])
    return np.stack([words[np.arange(len(own)), own], *_excess(words, own), *_excess(meaning, own)])


def _excess(table: Floats, own: Ints) -> Floats:
    """Return how much closer each question is to its own column than to all, plainly and in standard deviations."""
    if not table.size or table.shape[1] < _FEWEST:
        return np.full((2, len(own)), np.nan)
    known = ~np.isnan(table)
    n = known.sum(axis=1)
    filled = np.where(known, table, 0.0)
    mean = filled.sum(axis=1) / np.maximum(n, 1)
    spread = np.sqrt(np.where(known, (table - mean[:, None]) ** 2, 0.0).sum(axis=1) / np.maximum(n, 1))
    above = np.where(n >= _FEWEST, table[np.arange(len(own)), own] - mean, np.nan)
    return np.stack([above, np.where(spread > 0, above / np.where(spread > 0, spread, 1.0), 0.0 * above)])


def takes_up(found: QuestionLinks) -> Bools:
    """Return which questions take up the client's turn that they are set beside."""
    by_words = (found.words_excess[0] >= _WORDS_ABOVE) & (found.words > 0)
    return np.asarray(by_words | (found.meaning_excess[1] >= _MEANING_ABOVE))


def runs(session: AnnotatedSession, turns: Ints) -> Ints:
    """Return how many of these turns follow one another at each of them, turns that only say "mm-hmm" passed over.

    Parameters
    ----------
    session : AnnotatedSession
        Its turns.
    turns : int64 array (n,)
        Some of the therapist's turns, in order.
    """
    speaks = session.spoken_by("therapist") & (session.n_words > 0) & ~session.consists_of(_CONVERSATION)
    speaks[turns] = True
    place = np.cumsum(speaks)[turns]
    run = np.cumsum(np.append(True, np.diff(place) > 1)[: len(turns)])
    return np.bincount(run)[run] if len(run) else run


def _directions(session: AnnotatedSession) -> Floats:
    """Return the direction of what each turn means; nan where it means nothing."""
    return _units(turn_vectors(session))


def _asked_directions(session: AnnotatedSession) -> Floats:
    """Return the direction of what the questions of each turn mean together; nan where they mean nothing."""
    own = questions(session)
    sums = np.zeros((len(session), DIMENSIONS))
    np.add.at(sums, own.turn_of, own.texts.meaning)
    return _units(sums)


def _cosines(a: Floats, b: Floats) -> Floats:
    return np.asarray(a @ b.T).round(9)  # products of matrices may differ in the last bits


def _units(vectors: Floats) -> Floats:
    length = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(length > 0, length, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class _Stems:
    """Which turns have which stems: each pair once.

    Attributes
    ----------
    turn_of, stem : int64 array (n_pairs,)
        The turn, in rising order, and the number of the stem.
    """

    turn_of: Ints
    stem: Ints

    def of_turns(self, turns: Ints, n_turns: int) -> _Stems:
        """Return those of some turns, which are counted from 0; in the order of the stems."""
        place = np.full(n_turns, -1)
        place[turns] = np.arange(len(turns))
        own = place[self.turn_of] >= 0
        order = np.argsort(self.stem[own], kind="stable")
        return _Stems(place[self.turn_of[own]][order], self.stem[own][order])


def _shared(session: AnnotatedSession, asked: Ints, client: Ints) -> Floats:
    """Return the share of rare words of the questions of turns that each client turn has."""
    n, shape = len(session), (len(asked), len(client))
    every, own = session.cached(_spoken), session.cached(_asked).of_turns(asked, n)
    spoken, frequency = every.of_turns(client, n), np.bincount(every.stem)[own.stem]
    rarity = np.log((n + 1) / (frequency + 0.5)).clip(min=0.0)
    first = np.searchsorted(spoken.stem, own.stem)
    often = np.searchsorted(spoken.stem, own.stem, side="right") - first
    # The client's turns that have the stem, for each stem of the questions
    at, pair = consecutive(first, often)
    cell = own.turn_of[pair] * len(client) + spoken.turn_of[at]
    shared = np.bincount(cell, rarity[pair], len(asked) * len(client)).reshape(shape)
    total = np.bincount(own.turn_of, rarity, len(asked))[:, None]
    return np.where(total > 0, shared / np.where(total > 0, total, 1.0), 0.0).round(9)


def _spoken(session: AnnotatedSession) -> _Stems:
    return _pairs(session, session.turns, np.arange(len(session)))


def _asked(session: AnnotatedSession) -> _Stems:
    own = questions(session)
    return _pairs(session, own.turns, own.turn_of)


def _pairs(session: AnnotatedSession, turns: TurnArrays, owner: Ints) -> _Stems:
    stems = session.cached(_stems)
    stem = stems[turns.tokens.ids[int(turns.offsets[0]) : int(turns.offsets[-1])]]
    row, width = np.repeat(owner, np.diff(turns.offsets)), int(stems.max(initial=0)) + 1
    says = stem >= 0
    pairs = np.unique(row[says] * width + stem[says])
    turn_of = pairs // width
    return _Stems(turn_of, pairs - turn_of * width)


def _stems(session: AnnotatedSession) -> Ints:
    """Return the stem of each type, -1 for words that say little and for those that nobody in the session says."""
    common, tokens, offsets = slot("questions.common"), session.turns.tokens, session.turns.offsets
    index: dict[str, int] = {}
    stems = np.full(len(tokens.norm), -1, dtype=np.int64)
    for one in distinct(tokens.ids[int(offsets[0]) : int(offsets[-1])], len(tokens.norm))[0].tolist():
        word = tokens.norm[one]
        if len(word) > _SHORTEST and word.isalpha() and word not in common:
            stems[one] = index.setdefault(word[:_STEM], len(index))
    return stems
