"""Which feelings that a therapist names the client has expressed before, and how strongly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.word_sequence import Ints, fluent_words
from therapy_analytics.measures.process._clauses import Bools, Floats
from therapy_analytics.measures.process._feeling_words import families, names_a_feeling
from therapy_analytics.measures.process._feelings import Mentions, mentions, stated
from therapy_analytics.measures.process._word_meanings import directions

WITHIN = 5
"""Client turns before a therapist's turn in which an expression is looked for."""
FEWEST_WORDS = 4
"""Words from which a client's turn counts among these, if it holds no feeling: "yes, right" is passed over."""
LIKE_WORD = 0.5
"""Cosine from which a client's word that is in no family means what the named word means."""
_SHORTEST = 4
"""Letters of a word that can mean a feeling without being in a family; shorter ones hold sentences together."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedFeelings:
    """The feelings of the client that the therapist names; ``n`` words or idioms after a word of the client.

    Attributes
    ----------
    turn : int64 array (n,)
        The therapist's turn.
    at, end : int64 array (n,)
        The word of `fluent_words` at which each begins, and the word after it.
    family : int64 array (n,)
        Its family; of a word of several the one that the client expressed last.
    spoken : int64 array (n,)
        The turn in which the client last expressed it before, or -1.
    expressed : bool array (n,)
        Whether that is one of the client's last `WITHIN` turns.
    own, named : float64 array (n,)
        The client's greatest degree in those turns, nan where no word of theirs has one; the therapist's.
    """

    turn: Ints
    at: Ints
    end: Ints
    family: Ints
    spoken: Ints
    expressed: Bools
    own: Floats
    named: Floats

    @property
    def so_far(self) -> Bools:
        """Return whether the client expressed it since the beginning, bool (n,)."""
        return np.asarray(self.spoken >= 0)


_NO_TURNS, _NO_DEGREES, _NO_MARKS = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.bool_)
_NONE = NamedFeelings(_NO_TURNS, _NO_TURNS, _NO_TURNS, _NO_TURNS, _NO_TURNS, _NO_MARKS, _NO_DEGREES, _NO_DEGREES)
"""What is found where no feeling is named."""


def named_feelings(session: AnnotatedSession) -> NamedFeelings:
    """Return the feelings that the therapist names in a session, found once."""
    return session.cached(_named)


def _named(session: AnnotatedSession) -> NamedFeelings:
    found = mentions(session)
    spoken = session.spoken_by("client") & (session.n_words > 0)
    after = np.logical_or.accumulate(spoken)[found.turn] if len(session) else spoken[found.turn]
    which = np.flatnonzero(found.named & after)
    if not len(which):
        return _NONE
    tells = spoken & (session.n_words >= FEWEST_WORDS)
    tells[found.turn[found.client]] = True
    client = np.flatnonzero(tells)
    expressed, degree = _client_tables(found, client)
    c, family = np.searchsorted(client, found.turn)[which], found.family[which]
    expressed_in = _last_said(expressed, c, families().near[family])
    last = (expressed_in >= 0) & (expressed_in >= c - WITHIN)
    turn = np.append(client, -1)[expressed_in]  # -1 is the last
    open_ = np.flatnonzero(~last)
    if len(open_):
        in_other_words = _in_other_words(session, found, which[open_], client)
        last[open_] = in_other_words >= 0
        turn[open_] = np.maximum(turn[open_], in_other_words)
    own = _strongest(degree, c)[np.arange(len(which)), family]
    return _by_word(found, which, turn, last, own)


def _client_tables(found: Mentions, client: Ints) -> tuple[Bools, Floats]:
    """Return which families each client turn expresses, and how strongly: (n_client_turns, n_families) each."""
    shape = (len(client), len(families().names))
    expressed, degree = np.zeros(shape, dtype=np.bool_), np.full(shape, -np.inf)
    own = found.client
    place = np.searchsorted(client, found.turn[own]), found.family[own]
    expressed[place] = True
    np.maximum.at(degree, place, np.nan_to_num(found.degree[own], nan=-np.inf))
    return expressed, degree


def _last_said(expressed: Bools, c: Ints, near: Bools) -> Ints:
    """Return the last of the client's turns before the c-th that expresses one of these families, or -1: (n,)."""
    latest = np.full((len(expressed) + 1, expressed.shape[1]), -1, dtype=np.int64)
    latest[1:] = np.maximum.accumulate(np.where(expressed, np.arange(len(expressed))[:, None], -1), axis=0)
    return np.asarray(np.where(near, latest[c], -1).max(axis=1, initial=-1))


def _strongest(degree: Floats, c: Ints) -> Floats:
    """Return the greatest degree of each family in the last turns before the c-th, nan where there is none."""
    padded = np.concatenate([np.full((WITHIN, degree.shape[1]), -np.inf), degree])
    found = np.max([padded[c + step] for step in range(WITHIN)], axis=0)
    return np.where(np.isfinite(found), found, np.nan)


def _by_word(found: Mentions, which: Ints, spoken: Ints, expressed: Bools, own: Floats) -> NamedFeelings:
    """Return one value a word: a word of two families counts as expressed when one of them is."""
    order = np.lexsort((-spoken, found.at[which]))  # of a word's families first the one that was said last
    at, first, word = np.unique(found.at[which][order], return_index=True, return_inverse=True)
    either = np.bincount(word, expressed[order], minlength=len(at)) > 0
    # The families that the client named, rather than others of the same word
    degree = np.full(len(at), -np.inf)
    np.maximum.at(degree, word, np.nan_to_num(own[order], nan=-np.inf))
    named = np.full(len(at), -np.inf)
    np.maximum.at(named, word, found.degree[which][order])
    one = which[order][first]
    degree = np.where(np.isfinite(degree), degree, np.nan)
    return NamedFeelings(
        found.turn[one], at, found.end[one], found.family[one], spoken[order][first], either, degree, named
    )


def _in_other_words(session: AnnotatedSession, found: Mentions, which: Ints, client: Ints) -> Ints:
    """Return the last of the client's turns just before with a word near in meaning that is of no family, or -1."""
    names = tuple(dict.fromkeys(found.word[i] for i in which.tolist() if found.word[i]))
    spoken = fluent_words(session)
    c = np.searchsorted(client, found.turn[which])
    place = np.searchsorted(client, spoken.turn_of)
    asked = np.zeros(len(client) + 1, dtype=np.int64)
    np.add.at(asked, np.maximum(c - WITHIN, 0), 1)
    np.add.at(asked, c, -1)
    free = spoken.types(_is_long) & ~spoken.types(names_a_feeling)
    own = session.spoken_by("client")[spoken.turn_of] & free[spoken.ids] & stated(session)
    at = np.flatnonzero(own & (np.cumsum(asked)[np.minimum(place, len(client))] > 0))
    if not len(at) or not names:
        return np.full(len(which), -1, dtype=np.int64)
    used, kind = np.unique(spoken.ids[at], return_inverse=True)
    near = _alike(session, (*names, ""), used) >= LIKE_WORD
    rows = np.array([names.index(word) if (word := found.word[i]) else len(names) for i in which.tolist()])
    inside = (place[at] < c[:, None]) & (place[at] >= (c - WITHIN)[:, None])
    return np.asarray(np.where(inside & near[rows][:, kind], spoken.turn_of[at], -1).max(axis=1))


def _is_long(word: str) -> bool:
    return len(word) >= _SHORTEST


def _alike(session: AnnotatedSession, words: tuple[str, ...], others: Ints) -> Floats:
    """Return the cosines of words with others, by their numbers, (n_words, n_others); 0 where one has no vector."""
    index, vectors = fluent_words(session).index, directions(session)
    rows = [index[word] if word else len(index) for word in words]
    return np.asarray(vectors[rows] @ vectors[others].T)
