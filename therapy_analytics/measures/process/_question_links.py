"""How far questions take up what the client has just said, against what the client says in the whole session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from therapy_analytics.behaviours.text_model import turn_vectors
from therapy_analytics.language import AnnotatedSession, TurnArrays
from therapy_analytics.language.consecutive import consecutive, occurring
from therapy_analytics.language.embeddings import DIMENSIONS
from therapy_analytics.language.phrases import slot
from therapy_analytics.measures._turns import last_of
from therapy_analytics.measures.process._questions import Bools, Floats, Ints, owners, questions

_STEM = 5
"""Letters by which words are compared."""
_SHORTEST = 2
_FEWEST = 3
"""Client turns under which a session says nothing of what is usual in it."""
_WORDS_ABOVE, _MEANING_ABOVE = 0.1, 1.0
"""A question takes up an answer by so much more of its rare words, or by so many standard deviations of closeness."""
_CONVERSATION = "conversation.minimal_responses"


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Questions of the therapist's turns beside all of the client's turns.

    Attributes
    ----------
    asked : int64 array (n_asked,)
        The turns with questions after a word of the client.
    answered : int64 array (n_asked,)
        Column of the client's last turn before each.
    words : float64 array (n_asked, n_client_turns)
        Share of the questions' words, weighted by how rare they are in the session, that the client's turn has.
    meaning : float64 array (n_asked, n_client_turns)
        Cosine of the questions with the client's turn; nan where one has no meaning.
    words_excess, meaning_excess : float64 arrays (2, n_asked)
        How much closer each is to the turn that it answers than to all, see `excess`.
    """

    asked: Ints
    answered: Ints
    words: Floats
    meaning: Floats
    words_excess: Floats
    meaning_excess: Floats


def links(session: AnnotatedSession) -> Links:
    """Return the questions beside the client's turns; found once."""
    return session.once(_links)


def excess(table: Floats, own: Ints) -> Floats:
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


def takes_up(found: Links, own: Ints) -> Bools:
    """Return which questions take up the client's turn in a column of the tables."""
    words, meaning = found.words_excess, found.meaning_excess
    if own is not found.answered:
        words, meaning = excess(found.words, own), excess(found.meaning, own)
    by_words = (words[0] >= _WORDS_ABOVE) & (found.words[np.arange(len(own)), own] > 0)
    return np.asarray(by_words | (meaning[1] >= _MEANING_ABOVE))


def runs(session: AnnotatedSession, turns: Ints) -> Ints:
    """Return how many of these turns follow one another at each of them, turns that only say "mm-hmm" passed over.

    Parameters
    ----------
    session : AnnotatedSession
        Its turns.
    turns : int64 array (n,)
        Some of the therapist's turns, in order.
    """
    speaks = session.of("therapist") & (session.n_words > 0) & ~session.consists_of(_CONVERSATION)
    speaks[turns] = True
    place = np.cumsum(speaks)[turns]
    run = np.cumsum(np.append(True, np.diff(place) > 1)[: len(turns)])
    return np.bincount(run)[run] if len(run) else run


def _links(session: AnnotatedSession) -> Links:
    client = np.flatnonzero(session.of("client") & (session.n_words > 0))
    asked = np.flatnonzero(np.bincount(owners(session)))
    before = last_of(session, "client")[asked]
    asked, before = asked[before >= 0], before[before >= 0]
    column = np.searchsorted(client, before)
    meaning = _cosines(session.by_turn(_asked_directions)[asked], session.by_turn(_directions)[client])
    words = _shared(session, asked, client)
    return Links(asked, column, words, meaning, excess(words, column), excess(meaning, column))


def _directions(session: AnnotatedSession) -> Floats:
    """Return the direction of what each turn means; 0 where it means nothing."""
    return _units(turn_vectors(session))


def _asked_directions(session: AnnotatedSession) -> Floats:
    """Return the direction of what the questions of each turn mean together; 0 where they mean nothing."""
    own = questions(session)
    sums = np.zeros((len(session), DIMENSIONS))
    np.add.at(sums, own.turn_of, own.texts.meaning)
    return _units(sums)


def _cosines(a: Floats, b: Floats) -> Floats:
    found = np.asarray(a @ b.T).round(9)  # products of matrices may differ in the last bits
    found[~a.any(axis=1)] = np.nan
    found[:, ~b.any(axis=1)] = np.nan
    return found


def _units(vectors: Floats) -> Floats:
    length = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(length > 0, length, 1.0))


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

    def between(self, start: int, stop: int) -> _Stems:
        """Return those of turns ``start:stop``."""
        part = slice(*np.searchsorted(self.turn_of, [start, stop]).tolist())
        return _Stems(self.turn_of[part] - start, self.stem[part])

    def of(self, turns: Ints, n_turns: int) -> _Stems:
        """Return those of some turns, which are counted from 0; in the order of the stems."""
        place = np.full(n_turns, -1)
        place[turns] = np.arange(len(turns))
        own = place[self.turn_of] >= 0
        order = np.argsort(self.stem[own], kind="stable")
        return _Stems(place[self.turn_of[own]][order], self.stem[own][order])


def _shared(session: AnnotatedSession, asked: Ints, client: Ints) -> Floats:
    """Return the share of rare words of the questions of turns that each client turn has."""
    n, shape = len(session), (len(asked), len(client))
    every, own = _part(session, _spoken), _part(session, _asked).of(asked, n)
    said, everywhere = every.of(client, n), np.sort(every.stem)
    frequency = np.searchsorted(everywhere, own.stem, side="right") - np.searchsorted(everywhere, own.stem)
    rarity = np.log((n + 1) / (frequency + 0.5)).clip(min=0.0)
    first = np.searchsorted(said.stem, own.stem)
    often = np.searchsorted(said.stem, own.stem, side="right") - first
    # The client's turns that have the stem, for each stem of the questions
    at, pair = consecutive(first, often)
    cell = own.turn_of[pair] * len(client) + said.turn_of[at]
    shared = np.bincount(cell, rarity[pair], len(asked) * len(client)).reshape(shape)
    total = np.bincount(own.turn_of, rarity, len(asked))[:, None]
    return np.where(total > 0, shared / np.where(total > 0, total, 1.0), 0.0).round(9)


def _part(session: AnnotatedSession, find: Callable[[AnnotatedSession], _Stems]) -> _Stems:
    """Return the session's part of the stems that are found for its batch."""
    place = session.in_batch
    if place is None:
        return session.once(find)
    return place.whole.once(find).between(place.start, place.start + len(session))


def _spoken(session: AnnotatedSession) -> _Stems:
    return _pairs(session, session.turns, np.arange(len(session)))


def _asked(session: AnnotatedSession) -> _Stems:
    own = questions(session)
    return _pairs(session, own.turns, own.turn_of)


def _pairs(session: AnnotatedSession, turns: TurnArrays, owner: Ints) -> _Stems:
    stems = session.once(_stems)
    stem = stems[turns.tokens.ids[int(turns.offsets[0]) : int(turns.offsets[-1])]]
    row, width = np.repeat(owner, np.diff(turns.offsets)), int(stems.max(initial=0)) + 1
    says = stem >= 0
    pairs = occurring(row[says] * width + stem[says])
    turn_of = pairs // width
    return _Stems(turn_of, pairs - turn_of * width)


def _stems(session: AnnotatedSession) -> Ints:
    """Return the stem of each type, -1 for words that say little."""
    common, norm = slot("questions.common"), session.turns.tokens.norm
    index: dict[str, int] = {}
    stems = np.full(len(norm), -1, dtype=np.int64)
    for one, word in enumerate(norm):
        if len(word) > _SHORTEST and word.isalpha() and word not in common:
            stems[one] = index.setdefault(word[:_STEM], len(index))
    return stems
