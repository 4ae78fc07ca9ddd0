"""How far questions take up what the client has just said, against what the client says in the whole session."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from therapy_analytics.behaviours.text_model import mean_vectors
from therapy_analytics.language import AnnotatedSession, TurnArrays
from therapy_analytics.language.phrases import slot
from therapy_analytics.measures._turns import last_of
from therapy_analytics.measures.process._questions import Bools, Floats, Ints, Questions, by_question, questions

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
    """

    asked: Ints
    answered: Ints
    words: Floats
    meaning: Floats


def links(session: AnnotatedSession) -> Links:
    """Return the questions beside the client's turns; found once."""
    return session.once(_links)


def excess(table: Floats, own: Ints) -> tuple[Floats, Floats]:
    """Return how much closer each question is to its own column than to all, plainly and in standard deviations."""
    if not table.size or table.shape[1] < _FEWEST:
        return np.full(len(own), np.nan), np.full(len(own), np.nan)
    known = ~np.isnan(table)
    n = known.sum(axis=1)
    filled = np.where(known, table, 0.0)
    mean = filled.sum(axis=1) / np.maximum(n, 1)
    spread = np.sqrt(np.where(known, (table - mean[:, None]) ** 2, 0.0).sum(axis=1) / np.maximum(n, 1))
    above = np.where(n >= _FEWEST, table[np.arange(len(own)), own] - mean, np.nan)
    return above, np.where(spread > 0, above / np.where(spread > 0, spread, 1.0), 0.0 * above)


def takes_up(found: Links, own: Ints) -> Bools:
    """Return which questions take up the client's turn in a column of the tables."""
    by_words = (excess(found.words, own)[0] >= _WORDS_ABOVE) & (found.words[np.arange(len(own)), own] > 0)
    return np.asarray(by_words | (excess(found.meaning, own)[1] >= _MEANING_ABOVE))


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
    own = questions(session)
    client = np.flatnonzero(session.of("client") & (session.n_words > 0))
    asked = np.unique(own.turn_of)
    before = last_of(session, "client")[asked]
    asked, before = asked[before >= 0], before[before >= 0]
    column = np.searchsorted(client, before)
    whole, each = session.by_turn(_meanings), by_question(session, _meanings)
    sums = np.zeros_like(whole)
    np.add.at(sums, own.turn_of, each)
    return Links(asked, column, _shared(session, asked, client), _cosines(sums[asked], whole[client]))


def _meanings(of: AnnotatedSession | Questions) -> Floats:
    return mean_vectors(of.turns)


def _cosines(a: Floats, b: Floats) -> Floats:
    one, other = (_units(x) for x in (a, b))
    found = np.asarray(one @ other.T).round(9)  # products of matrices may differ in the last bits
    found[~one.any(axis=1)] = np.nan
    found[:, ~other.any(axis=1)] = np.nan
    return found


def _units(vectors: Floats) -> Floats:
    length = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(length > 0, length, 1.0))


def _shared(session: AnnotatedSession, asked: Ints, client: Ints) -> Floats:
    """Return the share of rare words of the questions of turns that each client turn has."""
    own, turns = questions(session), session.turns
    stems = _stems(turns)
    spoken = _table(turns, np.arange(len(turns)), stems, len(turns))
    said = _table(own.turns, own.turn_of, stems, len(turns))[asked]
    frequency = np.bincount(spoken.indices, minlength=spoken.shape[1])
    rarity = np.log((len(turns) + 1) / (frequency + 0.5)).clip(min=0.0)
    said.data = rarity[said.indices]
    total = said @ np.ones(said.shape[1])
    shared = (said @ spoken[client].T).toarray()
    return np.where(total[:, None] > 0, shared / np.where(total > 0, total, 1.0)[:, None], 0.0).round(9)


def _stems(turns: TurnArrays) -> Ints:
    """Return the stem of each type, -1 for words that say little."""
    common, tokens = slot("questions.common"), turns.tokens
    index: dict[str, int] = {}
    stems = np.full(len(tokens.norm), -1, dtype=np.int64)
    for one in np.unique(tokens.ids[int(turns.offsets[0]) : int(turns.offsets[-1])]).tolist():
        word = tokens.norm[one]
        if word.isalpha() and len(word) > _SHORTEST and word not in common:
            stems[one] = index.setdefault(word[:_STEM], len(index))
    return stems


def _table(turns: TurnArrays, owner: Ints, stems: Ints, n: int) -> sparse.csr_array:
    """Return which owner has which stem, 0 or 1."""
    begin, end = int(turns.offsets[0]), int(turns.offsets[-1])
    stem, row = stems[turns.tokens.ids[begin:end]], np.repeat(owner, np.diff(turns.offsets))
    width = int(stems.max(initial=-1)) + 1
    cells = np.unique(row[stem >= 0] * max(width, 1) + stem[stem >= 0])
    rows, columns = np.divmod(cells, max(width, 1))
    return sparse.csr_array((np.ones(len(cells)), columns, np.searchsorted(rows, np.arange(n + 1))), shape=(n, width))
