"""Shared expressions: sequences of words that one speaker brings in and the other takes up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.null.summary import Bools, Floats
from therapy_analytics.measures.null.surrogates import Ints, TokenRows, spoken_turns
from therapy_analytics.measures.synchrony.tables import session_columns, session_values
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure
from therapy_analytics.session import CLIENT, THERAPIST

_NEVER = 1 << 40
"""Beyond all turns."""


# ---- sequences that come again


def repeated_ngrams(
    ids: NDArray[np.integer], turn: Ints, kept: Callable[[Ints, Ints], Bools]
) -> Iterator[tuple[Ints, Ints]]:
    """Yield the n-grams that come again, of one token, of two, ...; a longer one consists of two that overlap.

    Parameters
    ----------
    ids : int array (n_tokens,)
        What each token is.
    turn : int64 array (n_tokens,)
        The turn of each, never falling; no n-gram crosses from turn to turn.
    kept : callable
        ``kept(places, types)``: which n-grams come again as they should, (n_types,), from where each begins and which
        it is. Whoever has an n-gram has the shorter ones in it.

    Yields
    ------
    places, types : int64 array (n_ngrams,)
        Where n-grams begin, in order, and a number from 0 of each.
    """
    places, types = np.arange(len(ids)), np.unique(ids, return_inverse=True)[1]
    while len(places):
        again = kept(places, types)
        some = again[types]
        places, types = places[some], (np.cumsum(again) - 1)[types[some]]
        if len(places):
            yield places, types
        follows = np.flatnonzero((np.diff(places) == 1) & (np.diff(turn[places]) == 0))
        longer = types[follows] * (int(types.max(initial=0)) + 1) + types[follows + 1]
        places, types = places[follows], np.unique(longer, return_inverse=True)[1]


def free_places(longest: Ints, turn: Ints, words: Bools) -> Bools:
    """Return where the longest sequence that begins at a token stands free: it lies in no longer one, and has a word.

    Parameters
    ----------
    longest : int64 array (n_tokens, n)
        Tokens of the longest sequence that begins at each token, 0 for none, in each of n dialogues.
    turn : int64 array (n_tokens,)
        The turn of each.
    words : bool array (n_tokens,)
        Which tokens have a letter or digit.

    Returns
    -------
    bool array (n_tokens, n)
    """
    inside = np.zeros(longest.shape, dtype=np.bool_)
    inside[1:] = (longest[:-1] > longest[1:]) & (turn[:-1] == turn[1:])[:, None]
    before = np.append(0, np.cumsum(words))
    return np.asarray(~inside & (before[np.arange(len(turn))[:, None] + longest] > before[:-1, None]))


def uncovered(start: Ints, length: Ints) -> Ints:
    """Return how many tokens of each free sequence, in order, lie in none before it: of two, the later ends later."""
    found = length.copy()
    found[1:] -= np.maximum(start[:-1] + length[:-1] - start[1:], 0)
    return found


# ---- what two speakers share


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedExpressions:
    """What each therapist shares with each client, (n_therapists, n_clients) each; undefined values are nan.

    A shared expression is a sequence of one or more tokens within a turn that both speakers use, and that stands free
    (not inside a longer sequence that both use) at least once. It is established in the turn by which both have used
    it and it has stood free. Names in brackets are those of the papers, see `expressions_of`.

    Attributes
    ----------
    n_expressions : int64 array
        Different shared expressions.
    variety : float64 array
        Expressions per token, 0 to 1 (EV).
    repetition : float64 array
        Share of tokens in established expressions: free occurrences from the turn on that establishes them (ER).
    entropy, mean_length : float64 array
        Of the lengths in tokens of instances, an instance being an expression that stands free in a turn: Shannon
        entropy in nats (ENTR), mean (L).
    repetition_by : float64 array (2, n_therapists, n_clients)
        Share of the therapist's, and of the client's tokens that `repetition` counts (ER_S).
    initiated : float64 array
        Share of the expressions that the therapist used first (IE_S).
    per_turn : float64 array (n_turns,)
        Share of the tokens of each turn of the first therapist with the first client that `repetition` counts, in the
        order of the session; nan without tokens.
    """

    n_expressions: Ints
    variety: Floats
    repetition: Floats
    entropy: Floats
    mean_length: Floats
    repetition_by: Floats
    initiated: Floats
    per_turn: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Spoken:
    """The tokens of the speakers of both roles: those of all therapists, turn by turn, then those of all clients.

    Attributes
    ----------
    ids : uint64 array (n_tokens,)
        What each token is.
    words : bool array (n_tokens,)
        Which have a letter or digit.
    turn, at, role, speaker : int64 array (n_tokens,)
        The turn of each token, counted over all; where in the session it stands; who speaks.
    shape : (int, int)
        How many therapists and clients there are.
    """

    ids: NDArray[np.uint64]
    words: Bools
    turn: Ints
    at: Ints
    role: Ints
    speaker: Ints
    shape: tuple[int, int]


def _spoken(tokens: TokenRows, therapists: Side, clients: Side) -> _Spoken:
    sides = therapists, clients
    rows = tokens[np.concatenate([side.turns.ravel() for side in sides])]
    of_turn = [np.concatenate([np.tile(side.at, len(side.turns)) for side in sides])]
    of_turn.append(np.repeat([THERAPIST, CLIENT], [side.turns.size for side in sides]))
    of_turn.append(np.concatenate([np.repeat(np.arange(len(side.turns)), len(side.at)) for side in sides]))
    at, role, speaker = (one[rows.turn] for one in of_turn)
    shape = len(therapists.turns), len(clients.turns)
    return _Spoken(rows.values[:, 0], rows.values[:, 1] > 0, rows.turn, at, role, speaker, shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Lexicon:
    """The sequences that some therapist and some client use.

    Attributes
    ----------
    places, types : list of int64 array
        Of sequences of 1, 2, ... tokens: at which tokens they begin, in order, and which each is.
    sizes : int64 array (n_types,)
        Tokens of each.
    first_use : two int64 arrays (n_speakers, n_types)
        Where in the session each therapist, and each client, first uses each; `_NEVER` if at all.
    """

    places: list[Ints]
    types: list[Ints]
    sizes: Ints
    first_use: tuple[Floats, Floats]


def _lexicon(said: _Spoken) -> _Lexicon:
    def used_by_both(places: Ints, types: Ints) -> Bools:
        used = np.zeros((2, int(types.max()) + 1), dtype=np.bool_)
        used[said.role[places], types] = True
        return np.asarray(used.all(axis=0))

    places, types, first, sizes, n = [], [], [], [], 0
    for length, (at, which) in enumerate(repeated_ngrams(said.ids, said.turn, used_by_both), start=1):
        n_types = int(which.max()) + 1
        of_length = []
        for role in (THERAPIST, CLIENT):
            some = np.flatnonzero(said.role[at] == role)[::-1]  # the first use is written last
            table = np.full((said.shape[role], n_types), _NEVER)
            table[said.speaker[at[some]], which[some]] = said.at[at[some]]
            of_length.append(table)
        places.append(at)
        types.append(which + n)
        first.append(of_length)
        sizes.append(np.full(n_types, length))
        n += n_types
    none = [np.zeros((size, 0), dtype=np.int64) for size in said.shape]
    use = (np.concatenate([none[role], *(one[role] for one in first)], axis=1) for role in (THERAPIST, CLIENT))
    return _Lexicon(places, types, np.concatenate([np.zeros(0, dtype=np.int64), *sizes]), (next(use), next(use)))


@dataclass(frozen=True, slots=True, eq=False)
class _Occurrences:
    """Where shared expressions stand free, (n,) each: first those of the therapists, dialogue by dialogue.

    Attributes
    ----------
    start, length : int64 array
        The first token, counted over all dialogues, and how many tokens.
    token : int64 array
        The first token, counted over the speakers.
    dialogue, cell : int64 array
        The dialogue, ``therapist * n_clients + client``; and ``dialogue * n_types + type`` of the expression.
    """

    start: Ints
    length: Ints
    token: Ints
    dialogue: Ints
    cell: Ints

    def __getitem__(self, which: Ints | Bools) -> _Occurrences:
        return _Occurrences(*(one[which] for one in (self.start, self.length, self.token, self.dialogue, self.cell)))


def _free(said: _Spoken, lexicon: _Lexicon) -> _Occurrences:
    """Return where expressions stand free in the turns of each speaker, in the dialogue with each of the others."""
    found, before = [], 0
    for role in (THERAPIST, CLIENT):
        own, others = np.flatnonzero(said.role == role), lexicon.first_use[1 - role] < _NEVER
        longest = np.zeros((len(said.ids), len(others)), dtype=np.int64)
        for places, types in zip(lexicon.places, lexicon.types, strict=True):
            longest[places] += others[:, types].T  # whoever has a longer one has the shorter
        longest = longest[own]
        other, at = np.nonzero(free_places(longest, said.turn[own], said.words[own]).T)
        token, length, of_type = own[at], longest[at, other], np.empty(len(at), dtype=np.int64)
        for n, (places, types) in enumerate(zip(lexicon.places, lexicon.types, strict=True), start=1):
            some = np.flatnonzero(length == n)
            of_type[some] = types[np.searchsorted(places, token[some])]
        therapist, client = (said.speaker[token], other)[:: 1 if role == THERAPIST else -1]
        dialogue = therapist * said.shape[1] + client
        cell = dialogue * len(lexicon.sizes) + of_type
        found.append((before + other * len(own) + at, length, token, dialogue, cell))
        before += len(own) * len(others)
    return _Occurrences(*(np.concatenate(both) for both in zip(*found, strict=True)))


def expressions_of(tokens: TokenRows, therapists: Side, clients: Side) -> SharedExpressions:
    """Measure the expressions that each therapist shares with each client.

    Parameters
    ----------
    tokens : TokenRows
        Of turns: what each token is, and 1 if it has a letter or digit; sequences without such a token (punctuation)
        are no expressions, though they stand inside of some.
    therapists, clients : Side
        Who speaks.

    Returns
    -------
    SharedExpressions
        Nan where one of the two says nothing.

    Examples
    --------
    The therapist says "a b c", the client "a b d". Shared is "a b", free in both turns ("a" and "b" are always inside
    it). It is established in the client's turn, where it makes 2 of 3 tokens.

    >>> values = np.array([[1, 1], [2, 1], [3, 1], [1, 1], [2, 1], [4, 1]], dtype=np.uint64)
    >>> sides = [Side(np.array([[at]]), np.array([at])) for at in (0, 1)]
    >>> found = expressions_of(TokenRows(values, np.array([0, 3, 6])), *sides)
    >>> found.n_expressions.tolist(), found.mean_length.tolist(), found.per_turn.round(3).tolist()
    ([[1]], [[2.0]], [0.0, 0.667])

    Notes
    -----
    Values grow with the length of the dialogue and with turns of one common word; read them beside those of surrogate
    pairs. The program of the papers' author (pydialign 0.1.0) gives the same values; dialign_python, which holds each
    turn against each turn before, does not.

    References
    ----------
    Dubuisson Duplessis, G., Clavel, C., & Landragin, F. (2017). Automatic measures to characterise verbal alignment in
    human-agent interaction. SIGDIAL, 71-81.

    Dubuisson Duplessis, G., Langlet, C., Clavel, C., & Landragin, F. (2021). Towards alignment strategies in
    human-agent interactions based on measures of lexical repetitions. Language Resources and Evaluation, 55, 353-388.
    """
    said = _spoken(tokens, therapists, clients)
    lexicon = _lexicon(said)
    free, n_types = _free(said, lexicon), max(len(lexicon.sizes), 1)
    n = said.shape[0] * said.shape[1]
    first_free = np.full(n * n_types, _NEVER)
    np.minimum.at(first_free, free.cell, said.at[free.token])
    cells = np.flatnonzero(first_free < _NEVER)  # each expression of each dialogue
    dialogue, of_type = np.divmod(cells, n_types)
    therapist, client = np.divmod(dialogue, said.shape[1])
    first_uses = lexicon.first_use[THERAPIST][therapist, of_type], lexicon.first_use[CLIENT][client, of_type]
    established = np.full(len(first_free), _NEVER)
    established[cells] = np.maximum(np.maximum(*first_uses), first_free[cells])
    counted = free[said.at[free.token] >= established[free.cell]]
    covered, n_tokens = uncovered(counted.start, counted.length), _tokens_by_role(said)
    hits = np.bincount(said.role[counted.token] * n + counted.dialogue, covered, 2 * n).reshape(n_tokens.shape)
    n_expressions = np.bincount(dialogue, minlength=n).reshape(said.shape)
    begun = np.bincount(dialogue, first_uses[THERAPIST] < first_uses[CLIENT], n).reshape(said.shape)
    spoken = np.asarray(n_tokens.all(axis=0))
    entropy, mean_length = _lengths(said, lexicon, free)
    own = counted.dialogue == 0
    return SharedExpressions(
        n_expressions=n_expressions,
        variety=_share(n_expressions, n_tokens.sum(axis=0), spoken),
        repetition=_share(hits.sum(axis=0), n_tokens.sum(axis=0), spoken),
        entropy=entropy,
        mean_length=mean_length,
        repetition_by=_share(hits, n_tokens, spoken),
        initiated=_share(begun, n_expressions, n_expressions > 0),
        per_turn=_of_turns(said, (therapists, clients), counted.token[own], covered[own]),
    )


def _share(part: Floats | Ints, whole: Floats | Ints, where: Bools) -> Floats:
    return np.divide(part, whole, out=np.full(np.shape(part), nan), where=np.broadcast_to(where, np.shape(part)))


def _tokens_by_role(said: _Spoken) -> Floats:
    """Return how many tokens the therapist, and the client of each dialogue says, (2, n_therapists, n_clients)."""
    each = [np.bincount(said.speaker[said.role == role], minlength=said.shape[role]) for role in (THERAPIST, CLIENT)]
    return np.stack(np.broadcast_arrays(each[THERAPIST][:, None], each[CLIENT])).astype(np.float64)


def _lengths(said: _Spoken, lexicon: _Lexicon, free: _Occurrences) -> tuple[Floats, Floats]:
    """Return the entropy in nats and the mean of the lengths of each dialogue's instances, nan without any."""
    n, n_types, n_places = said.shape[0] * said.shape[1], max(len(lexicon.sizes), 1), int(said.at.max(initial=0)) + 1
    instances = np.unique(free.cell * n_places + said.at[free.token]) // n_places
    width = int(lexicon.sizes.max(initial=0)) + 1
    cells = instances // n_types * width + lexicon.sizes[instances % n_types]
    counts = np.bincount(cells, minlength=n * width).reshape(*said.shape, width)
    total = counts.sum(axis=-1)
    shares = counts / np.maximum(total, 1)[..., None]
    entropy = np.abs((shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=-1))
    mean = (counts * np.arange(width)).sum(axis=-1) / np.maximum(total, 1)
    return np.where(total > 0, entropy, nan), np.where(total > 0, mean, nan)


def _of_turns(said: _Spoken, sides: tuple[Side, Side], token: Ints, covered: Ints) -> Floats:
    """Return the share of covered tokens in each turn of the first two speakers, in the order of the session."""
    n_turns = sum(side.turns.size for side in sides)
    hits = np.bincount(said.turn[token], covered, n_turns)
    shares = _share(hits, n_tokens := np.bincount(said.turn, minlength=n_turns), n_tokens > 0)
    own = np.concatenate(
        [np.arange(len(sides[THERAPIST].at)), sides[THERAPIST].turns.size + np.arange(len(sides[CLIENT].at))]
    )
    return np.asarray(shares[own[np.argsort(np.concatenate([side.at for side in sides]))]])


def self_repetition(tokens: TokenRows) -> float:
    """Return the share of a speaker's tokens in free sequences that stand in two of the turns or more (SER_S).

    Parameters
    ----------
    tokens : TokenRows
        Of the speaker's turns, as for `expressions_of`. The first use of a sequence counts as well.

    Returns
    -------
    float
        0 to 1; nan without tokens.

    Examples
    --------
    Turns "a b", "a b c", "d" have 6 tokens; "a b" comes again, 4 tokens of 6.

    >>> values = np.array([[1, 1], [2, 1], [1, 1], [2, 1], [3, 1], [4, 1]], dtype=np.uint64)
    >>> round(self_repetition(TokenRows(values, np.array([0, 2, 5, 6]))), 3)
    0.667
    """
    turn, longest = tokens.turn, np.zeros((len(tokens.values), 1), dtype=np.int64)

    def in_two_turns(places: Ints, types: Ints) -> Bools:
        first = np.empty(int(types.max()) + 1, dtype=np.int64)
        first[types[::-1]] = turn[places[::-1]]
        return np.bincount(types, turn[places] != first[types]) > 0

    for places, _ in repeated_ngrams(tokens.values[:, 0], turn, in_two_turns):
        longest[places] += 1
    start = np.flatnonzero(free_places(longest, turn, tokens.values[:, 1] > 0)[:, 0])
    return float(uncovered(start, longest[start, 0]).sum() / len(turn)) if len(turn) else nan


# ---- of a session


def tokens_of(session: AnnotatedSession) -> TokenRows:
    """Return the tokens of each turn, punctuation among them: the key of each, and 1 if it has a letter or digit."""
    tokens, offsets = session.turns.tokens, session.turns.offsets
    ids = tokens.ids[offsets[0] : offsets[-1]]
    return TokenRows(np.stack([tokens.keys[ids], tokens.verbal[ids].astype(np.uint64)], axis=1), offsets - offsets[0])


def _values(tokens: TokenRows, therapists: Side, clients: Side) -> Floats:
    found = expressions_of(tokens, therapists, clients)
    lengths = found.entropy, found.mean_length
    return np.stack([found.variety, found.repetition, *lengths, *found.repetition_by, found.initiated], axis=-1)


_SOURCE = (
    "Dubuisson Duplessis, G., Langlet, C., Clavel, C., & Landragin, F. (2021). Towards alignment strategies in "
    "human-agent interactions based on measures of lexical repetitions. Language Resources and Evaluation 55"
)
_MISLEADS = (
    "Not a quality score: most shared expressions are single common words, strangers come near (.39 of .44 for "
    "expression_repetition), and values change with the length of the session and of its turns. "
    "expression_variety is set beside surrogate pairs by its logarithm. Punctuation is part of sequences, so "
    "transcribers' habits enter"
)


def _column(name: str, meaning: str, formula: str, **other: Any) -> Column:
    about: dict[str, Any] = {
        "unit": "proportion",
        "low": 0,
        "high": 1,
        "high_means": "higher: more is shared",
        "misleads": _MISLEADS,
        "source": _SOURCE,
        "evidence": "supported",
    }
    return Column(name=name, meaning=meaning, formula=formula, **about | other)


_REPETITION = (
    "tokens in shared expressions that stand free (in no longer one), from the turn on by which both have used them, "
    "over all tokens"
)
_INSTANCES = "of the tokens of instances, an instance being a shared expression that stands free in a turn"
EXPRESSIONS = session_measure(
    SessionMeasure(
        name="shared_expressions",
        columns=(
            _column(
                "expression_variety",
                "Different sequences of words that both use, for each token of the session (EV)",
                "different sequences of one token or more within a turn that both use and that stand free (in no "
                "longer one) at least once, over all tokens",
            ),
            _column(
                "expression_repetition",
                "Share of the session's tokens by which one takes up an expression of the other, or comes back to a "
                "shared one (ER)",
                _REPETITION,
            ),
            _column(
                "expression_entropy",
                "How varied the lengths of shared expressions are (ENTR)",
                f"Shannon entropy {_INSTANCES}",
                unit="nats",
                high=inf,
                high_means="higher: lengths vary more, shared expressions are more complex",
            ),
            _column(
                "expression_mean_length",
                "How long shared expressions are (L)",
                f"mean {_INSTANCES}",
                unit="tokens",
                low=1,
                high=inf,
                high_means="higher: longer sequences are shared",
            ),
            *(
                _column(
                    f"expression_repetition_{role}",
                    f"Share of the {role}'s tokens in expressions that both use (ER_S)",
                    f"as expression_repetition, of the {role}'s tokens",
                )
                for role in ("therapist", "client")
            ),
            _column(
                "expression_initiated_therapist",
                "Share of the shared expressions that the therapist used first (IE_S); the client began the others",
                "shared expressions that the therapist used before the client did, over all",
                high_means="above 0.5: more of what they share comes from the therapist",
            ),
        ),
        represent=tokens_of,
        values=_values,
        two_sided=("expression_initiated_therapist",),
        # What two share is a part of what each brings: who says half as many different things shares half as many.
        factors=("expression_variety",),
    )
)
_PLAIN = (
    *(
        _column(
            f"{role}_self_repetition",
            f"Share of the {role}'s tokens in sequences that stand in two of the {role}'s turns or more (SER_S)",
            f"tokens in free occurrences of sequences that come again in another turn of the {role}, the first use "
            f"among them, over the {role}'s tokens",
            high_means=f"higher: the {role} repeats more of their own words",
        )
        for role in ("therapist", "client")
    ),
    _column(
        "expression_repetition_turn",
        "Share of the turn's tokens in expressions that both have used by then",
        _REPETITION.replace("all tokens", "tokens of the turn"),
        level="turn",
    ),
)


@measure(columns=[*session_columns(EXPRESSIONS), *_PLAIN])
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
    this donor by a factor, which logarithms make an effect of the donor. `SharedExpressions` also
    has establishment, of which descriptions differ, and which is therefore no column.

    References
    ----------
    Dubuisson Duplessis, G., Clavel, C., & Landragin, F. (2017). Automatic measures to
    characterise verbal alignment in human-agent interaction. Proceedings of SIGDIAL, 71-81.

    Dubuisson Duplessis, G., Langlet, C., Clavel, C., & Landragin, F. (2021). Towards alignment
    strategies in human-agent interactions based on measures of lexical repetitions. Language
    Resources and Evaluation, 55, 353-388.
    """
    own, tokens, series = spoken_turns(session), tokens_of(session), np.full(len(session), nan)
    sides = [Side(turns[None], turns) for turns in own]
    series[np.sort(np.concatenate(own))] = expressions_of(tokens, *sides).per_turn
    return session_values(EXPRESSIONS, session) | {
        "therapist_self_repetition": self_repetition(tokens[own[THERAPIST]]),
        "client_self_repetition": self_repetition(tokens[own[CLIENT]]),
        "expression_repetition_turn": np.where(all(map(len, own)), series, nan),
    }
