"""Shared expressions: sequences of words that one speaker brings in and the other takes up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.measures import Column, columns_of, measure
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.null.surrogates import TokenRows
from therapy_analytics.measures.synchrony.ngrams import TurnNgrams, ngrams_in
from therapy_analytics.measures.synchrony.tables import session_columns, session_values
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure, speakers_in
from therapy_analytics.measures.turns import Bools, Floats, Ints
from therapy_analytics.text import AnnotatedSession, Lexicon

_NEVER = 1 << 40
"""Beyond all turns."""


# ---- one speaker


@dataclass(frozen=True, slots=True, eq=False)
class SpeakerNgrams:
    """All that one speaker says.

    Attributes
    ----------
    ngrams : TurnNgrams
        Of the speaker's turns.
    at : int64 array (n_turns,)
        Where in the session the turns stand.
    turn, token : int64 array (n_tokens,) and (n_ngrams,)
        The turn of each token, and the token that each n-gram begins at, from 0.
    first_use, last_use : int64 array (n_types,)
        Where in the session the speaker uses each type of n-gram first, and last; `_NEVER` for none.
    """

    ngrams: TurnNgrams
    at: Ints
    turn: Ints
    token: Ints
    first_use: Ints
    last_use: Ints


def of_speaker(side: Side) -> SpeakerNgrams:
    """Return all that a speaker says, whose rows are `TurnNgrams`."""
    ngrams: TurnNgrams = side.rows
    turn = np.repeat(np.arange(len(side.at)), np.diff(ngrams.offsets))
    token = np.repeat(np.arange(len(turn)), np.diff(ngrams.starts))
    first_use, last_use = np.full((2, len(ngrams.sizes)), _NEVER)
    used_at = side.at[turn[token]]
    first_use[ngrams.types[::-1]], last_use[ngrams.types] = used_at[::-1], used_at
    return SpeakerNgrams(ngrams, side.at, turn, token, first_use, last_use)


@dataclass(frozen=True, slots=True, eq=False)
class FreeSequences:
    """Sequences that stand free in the turns of a speaker: in no longer one, and with a word.

    Attributes
    ----------
    start, length, turn, type, at : int64 array (n_sequences,)
        The first token, how many tokens, the turn, which n-gram it is, and where in the session its turn stands.
    """

    start: Ints
    length: Ints
    turn: Ints
    type: Ints
    at: Ints


def free_sequences(speaker: SpeakerNgrams, among: Bools) -> FreeSequences:
    """Return the longest sequences in the turns of a speaker, of those types (n_types,) that count."""
    ngrams, turn = speaker.ngrams, speaker.turn
    # Whoever has a sequence has the shorter ones that begin at the same token.
    longest = np.bincount(speaker.token, among[ngrams.types], len(turn)).astype(np.int64)
    inside = np.zeros(len(turn), dtype=np.bool_)
    inside[1:] = (longest[:-1] > longest[1:]) & (turn[:-1] == turn[1:])
    n_words = np.append(0, np.cumsum(ngrams.words))
    start = np.flatnonzero(~inside & (n_words[np.arange(len(turn)) + longest] > n_words[:-1]))
    types = ngrams.types[ngrams.starts[start] + longest[start] - 1]
    return FreeSequences(start, longest[start], turn[start], types, speaker.at[turn[start]])


def covered(sequences: FreeSequences, counted: Bools, n_turns: int) -> Floats:
    """Return how many tokens of each turn lie in the free sequences that count, float64 (n_turns,)."""
    start, length = sequences.start[counted], sequences.length[counted]
    fresh = length.copy()
    fresh[1:] -= np.maximum(start[:-1] + length[:-1] - start[1:], 0)  # of two that overlap, the later ends later
    return np.asarray(np.bincount(sequences.turn[counted], fresh, n_turns), dtype=np.float64)


def self_repetition(speaker: SpeakerNgrams) -> float:
    """Return the share of a speaker's tokens in free sequences that stand in two of the turns or more (SER_S).

    The first use of a sequence counts as well.

    Returns
    -------
    float
        0 to 1; nan without tokens.

    Examples
    --------
    Turns "a b", "a b c", "d" have 6 tokens; "a b" comes again, 4 tokens of 6.

    >>> values = np.array([[1, 1], [2, 1], [1, 1], [2, 1], [3, 1], [4, 1]], dtype=np.uint64)
    >>> ngrams, at = ngrams_in(TokenRows(values, np.array([0, 2, 5, 6]))), np.arange(3)
    >>> round(self_repetition(of_speaker(Side(0, ngrams, at, at))), 3)
    0.667
    """
    free = free_sequences(speaker, speaker.first_use != speaker.last_use)
    hits = covered(free, np.ones(len(free.start), dtype=np.bool_), len(speaker.at)).sum()
    return float(hits) / len(speaker.turn) if len(speaker.turn) else nan


# ---- two speakers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SharedExpressions:
    """What a therapist and a client share; undefined values are nan.

    A shared expression is a sequence of one or more tokens within a turn that both speakers use, and that stands free
    (not inside a longer sequence that both use) at least once. It is established in the turn by which both have used
    it and it has stood free. Names in brackets are those of the papers, see `expressions_of`.

    Attributes
    ----------
    n_expressions : int
        Different shared expressions.
    variety : float
        Expressions per token, 0 to 1 (EV).
    repetition : float
        Share of tokens in established expressions: free occurrences from the turn on that establishes them (ER).
    entropy, mean_length : float
        Of the lengths in tokens of instances, an instance being an expression that stands free in a turn: Shannon
        entropy in nats (ENTR), mean (L).
    repetition_by : (float, float)
        Share of the therapist's, and of the client's tokens that `repetition` counts (ER_S).
    initiated : float
        Share of the expressions that the therapist used first (IE_S).
    per_turn : two float64 arrays (n_therapist_turns,) and (n_client_turns,)
        Share of the tokens of each turn that `repetition` counts; nan without tokens.
    """

    n_expressions: int
    variety: float
    repetition: float
    entropy: float
    mean_length: float
    repetition_by: tuple[float, float]
    initiated: float
    per_turn: tuple[Floats, Floats]


def expressions_of(therapist: SpeakerNgrams, client: SpeakerNgrams) -> SharedExpressions:
    """Measure the expressions that two speakers share.

    Parameters
    ----------
    therapist, client : SpeakerNgrams
        Sequences without a letter or digit (punctuation) are no expressions, though they stand inside of some.

    Returns
    -------
    SharedExpressions
        Nan where one of the two says nothing.

    Examples
    --------
    The therapist says "a b c", the client "a b d". Shared is "a b", free in both turns ("a" and "b" are always inside
    it). It is established in the client's turn, where it makes 2 of 3 tokens.

    >>> values = np.array([[1, 1], [2, 1], [3, 1], [1, 1], [2, 1], [4, 1]], dtype=np.uint64)
    >>> ngrams, at = ngrams_in(TokenRows(values, np.array([0, 3, 6]))), np.arange(2)
    >>> both = [of_speaker(Side(i, ngrams[at[[i]]], at[[i]], at[[1 - i]])) for i in (0, 1)]
    >>> found = expressions_of(*both)
    >>> found.n_expressions, found.mean_length, [turns.round(3).tolist() for turns in found.per_turn]
    (1, 2.0, [[0.0], [0.667]])

    Notes
    -----
    Values grow with the length of the dialogue and with turns of one common word; read them beside those of surrogate
    pairs. The program of the papers' author (pydialign 0.1.0) gives the same values; dialign_python, which holds each
    turn against each turn before, does not.
    """
    speakers = therapist, client
    used_by_both = np.maximum(therapist.first_use, client.first_use)
    free = [free_sequences(speaker, used_by_both < _NEVER) for speaker in speakers]
    first_free = np.full(len(used_by_both), _NEVER)
    for one in free:
        np.minimum.at(first_free, one.type, one.at)
    established = np.maximum(used_by_both, first_free)
    expressions = np.flatnonzero(first_free < _NEVER)
    initiated = therapist.first_use[expressions] < client.first_use[expressions]
    hits = [covered(one, one.at >= established[one.type], len(who.at)) for who, one in zip(speakers, free, strict=True)]
    sizes = [np.diff(speaker.ngrams.offsets) for speaker in speakers]
    n_hits, n_tokens = [float(turns.sum()) for turns in hits], [int(turns.sum()) for turns in sizes]
    total = sum(n_tokens) if all(n_tokens) else 0
    entropy, mean_length = _lengths(free, therapist.ngrams.sizes)
    return SharedExpressions(
        n_expressions=len(expressions),
        variety=_share(len(expressions), total),
        repetition=_share(sum(n_hits), total),
        entropy=entropy,
        mean_length=mean_length,
        repetition_by=(_share(n_hits[0], total and n_tokens[0]), _share(n_hits[1], total and n_tokens[1])),
        initiated=_share(int(np.count_nonzero(initiated)), len(expressions)),
        per_turn=(hits[0] / np.where(sizes[0] > 0, sizes[0], nan), hits[1] / np.where(sizes[1] > 0, sizes[1], nan)),
    )


def _share(count: float, of_all: int) -> float:
    return count / of_all if of_all else nan


def _lengths(free: list[FreeSequences], sizes: Ints) -> tuple[float, float]:
    """Return the entropy in nats and the mean of the lengths of instances; nan without any."""
    at, types = (np.concatenate([getattr(one, name) for one in free]) for name in ("at", "type"))
    instances = np.unique(at * len(sizes) + types) % max(len(sizes), 1)
    if not len(instances):
        return nan, nan
    counts = np.bincount(sizes[instances])
    shares = counts[counts > 0] / len(instances)
    return abs(float(shares @ np.log(shares))), float(sizes[instances].mean())


# ---- of a session


def tokens_of(session: AnnotatedSession) -> TokenRows:
    """Return the tokens of each turn, punctuation among them: the key of each, and 1 if it has a letter or digit."""
    tokens, offsets = session.turns.tokens, session.turns.offsets
    ids = tokens.ids[offsets[0] : offsets[-1]]
    return TokenRows(np.stack([tokens.keys[ids], tokens.verbal[ids].astype(np.uint64)], axis=1), offsets - offsets[0])


def _score(therapist: SpeakerNgrams, client: SpeakerNgrams) -> Floats:
    found = expressions_of(therapist, client)
    lengths = found.entropy, found.mean_length
    return np.array([found.variety, found.repetition, *lengths, *found.repetition_by, found.initiated])


EXPRESSIONS = session_measure(
    SessionMeasure(
        name="shared_expressions",
        values=(
            "expression_variety",
            "expression_repetition",
            "expression_entropy",
            "expression_mean_length",
            "expression_repetition_therapist",
            "expression_repetition_client",
            "expression_initiated_therapist",
        ),
        represent=tokens_of,
        encode=ngrams_in,
        speaker=of_speaker,
        score=_score,
        two_sided=("expression_initiated_therapist",),
        # What two share is a part of what each brings: who says half as many different things shares half as many.
        multiplied=("expression_variety",),
    )
)


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    return [*session_columns(EXPRESSIONS, columns_of(__file__, "shared")), *columns_of(__file__, "alone")]


@measure(columns=_columns)
def shared_expressions(session: AnnotatedSession) -> dict[str, Value]:
    """Measure the sequences of words that one of the two brings in and the other takes up (dialign).

    High means that more of the talk consists of expressions that both use, or that these are
    longer. See `expressions_of` for the rule as an example.

    Notes
    -----
    Tokens are those of the tokeniser ("do", "n't"), in lower case, punctuation among them; a
    sequence of punctuation alone is no expression. The order of turns enters where an
    expression counts from the turn by which both have used it, and in who used it first; other
    orders of the same turns are not drawn, as the rest would not change. A donor's turn that
    stands in a dialogue twice brings no new expressions: that lowers the variety of all pairs with
    this donor by a factor, which logarithms make an effect of the donor.

    References
    ----------
    Dubuisson Duplessis, G., Clavel, C., & Landragin, F. (2017). Automatic measures to
    characterise verbal alignment in human-agent interaction. Proceedings of SIGDIAL, 71-81.

    Dubuisson Duplessis, G., Langlet, C., Clavel, C., & Landragin, F. (2021). Towards alignment
    strategies in human-agent interactions based on measures of lexical repetitions. Language
    Resources and Evaluation, 55, 353-388.
    """
    therapist, client = (one for (one,) in speakers_in(EXPRESSIONS, session, surrogates=False))
    series = np.full(len(session), nan)
    if len(therapist.at) and len(client.at):
        series[therapist.at], series[client.at] = expressions_of(therapist, client).per_turn
    return session_values(EXPRESSIONS, session) | {
        "therapist_self_repetition": self_repetition(therapist),
        "client_self_repetition": self_repetition(client),
        "expression_repetition_turn": series,
    }
