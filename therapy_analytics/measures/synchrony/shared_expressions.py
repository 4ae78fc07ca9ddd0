"""Shared expressions: sequences of words that one speaker brings in and the other takes up."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._chance import Floats, spoken_turns
from therapy_analytics.measures.synchrony._expressions import Ints, order_turns
from therapy_analytics.measures.synchrony._expressions_by_turn_pairs import (
    TurnPairExpressions,
    expressions_by_turn_pairs,
)
from therapy_analytics.measures.synchrony._expressions_lent import (
    Exchange,
    Spoken,
    expressions_with_each,
    numbered_among,
    said_again,
    until_word,
)
from therapy_analytics.measures.synchrony._expressions_of_dialogue import (
    SelfExpressions,
    SharedExpressions,
    Sides,
    expressions_between,
    expressions_of_dialogue,
    expressions_of_each,
    expressions_of_one,
    paired_expressions,
    repetition_of_each,
    self_expressions,
)
from therapy_analytics.measures.synchrony._whole import (
    Side,
    Whole,
    whole,
    whole_columns,
    whole_values,
)
from therapy_analytics.session import CLIENT, THERAPIST

__all__ = [
    "EXPRESSIONS",
    "SelfExpressions",
    "SharedExpressions",
    "TurnPairExpressions",
    "expressions_between",
    "expressions_by_turn_pairs",
    "expressions_of_dialogue",
    "expressions_of_one",
    "order_turns",
    "paired_expressions",
    "self_expressions",
    "shared_expressions",
]


@dataclass(frozen=True, slots=True, eq=False)
class _Tokens:
    """The tokens of all turns of a batch.

    Attributes
    ----------
    keys : uint64 array (n_kinds,)
        What each different token is, the same in every batch; ascending.
    kinds : int64 array (n_tokens,)
        Which of these each is.
    words : bool array (n_tokens,)
        Which have a letter or digit.
    worded, again : int64 and bool array (n_tokens,)
        See `until_word` and `said_again`.
    offsets : int64 array (n_turns + 1,)
        Where each turn's tokens begin.
    """

    keys: NDArray[np.uint64]
    kinds: Ints
    words: NDArray[np.bool_]
    worded: Ints
    again: NDArray[np.bool_]
    offsets: Ints


def _tokens(session: AnnotatedSession) -> _Tokens:
    tokens, offsets = session.turns.tokens, session.turns.offsets
    ids, offsets = tokens.ids[offsets[0] : offsets[-1]], offsets - offsets[0]
    keys, kinds = np.unique(tokens.keys, return_inverse=True)
    kinds, words = kinds[ids], tokens.verbal[ids]
    return _Tokens(keys, kinds, words, until_word(words), said_again(kinds, offsets), offsets)


@dataclass(frozen=True, eq=False)
class _Talk:
    """What is said in a session.

    Attributes
    ----------
    session : AnnotatedSession
        The session.
    batch : AnnotatedSession
        All turns of its batch, or the session where it is in none.
    first : int
        The session's first turn among those.
    """

    session: AnnotatedSession
    batch: AnnotatedSession
    first: int

    @property
    def own(self) -> _Own:
        """What the two say that comes again."""
        return self.session.by_session(_own)

    def spoken(self, among: _Talk) -> Spoken:
        """Return what is said in the batch, in the numbers of what is said among those."""
        heard = among.batch.once(_tokens)
        return self.batch.once(lambda one: _spoken(one.once(_tokens), heard), key=("said", among))


def _spoken(tokens: _Tokens, among: _Tokens) -> Spoken:
    numbers = numbered_among(among.keys, tokens.keys).take(tokens.kinds)
    return Spoken(numbers, tokens.worded, tokens.again, tokens.offsets, len(among.keys))


def _talk(session: AnnotatedSession) -> _Talk:
    place = session.in_batch
    batch, first = (session, 0) if place is None else (place.whole, place.start)
    return _Talk(session, batch, first)


@dataclass(frozen=True, slots=True, eq=False)
class _Own:
    """What the two of a session share, turn by turn as they speak, and how much each repeats of their own."""

    shared: SharedExpressions
    repeated: Sides


def _own(session: AnnotatedSession) -> list[_Own]:
    """Return what is found in each session of a batch: its turns are put in order at once."""
    tokens, roles, n = session.once(_tokens), session.turns.roles, len(session.bounds) - 1
    order = order_turns(tokens.kinds, tokens.offsets, tokens.words)
    turns = np.sort(np.concatenate(spoken_turns(session)))
    whose = np.searchsorted(session.bounds, turns, side="right") - 1
    shared = expressions_of_each(order, turns, roles[turns], whose, n)
    speakers = 2 * whose + roles[turns]
    follows = np.argsort(speakers, kind="stable")
    repeated = repetition_of_each(order, turns[follows], speakers[follows], 2 * n).reshape(n, 2).tolist()
    return [_Own(one, (therapist, client)) for one, (therapist, client) in zip(shared, repeated, strict=True)]


def _many(therapists: Side, clients: Side) -> Floats:
    """Return the values of the columns of `EXPRESSIONS` of each therapist with each client."""
    if len(clients.turns) == 1:
        return _with_each(clients, therapists, CLIENT).swapaxes(0, 1)
    return _with_each(therapists, clients, THERAPIST)


def _with_each(kept: Side, others: Side, role: int) -> Floats:
    """Return the values of dialogues of each speaker of one role with each of the other."""
    mine, theirs = kept.represented, others.represented
    asked = [
        Exchange(mine.first + turns, theirs.first + others.turns, kept.at, others.at, role) for turns in kept.turns
    ]
    return np.stack(expressions_with_each(mine.spoken(theirs), theirs.spoken(theirs), asked))


def _values(therapist: Side, _: Side) -> list[float]:
    """Return the values of the columns of `EXPRESSIONS`, of all that the two say."""
    found: SharedExpressions = therapist.represented.own.shared
    lengths = found.entropy * log(2), found.mean_length
    return [found.variety, found.repetition, *lengths, *found.repetition_by, found.initiated[THERAPIST]]


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
        "direction": "higher: more is shared",
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
EXPRESSIONS = whole(
    Whole(
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
                direction="higher: lengths vary more, shared expressions are more complex",
            ),
            _column(
                "expression_mean_length",
                "How long shared expressions are (L)",
                f"mean {_INSTANCES}",
                unit="tokens",
                low=1,
                high=inf,
                direction="higher: longer sequences are shared",
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
                direction="above 0.5: more of what they share comes from the therapist",
            ),
        ),
        represent=_talk,
        values=_values,
        many=_many,
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
            direction=f"higher: the {role} repeats more of their own words",
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


@measure(columns=[*whole_columns(EXPRESSIONS), *_PLAIN])
def shared_expressions(session: AnnotatedSession) -> dict[str, Value]:
    """Measure the sequences of words that one of the two brings in and the other takes up (dialign).

    High means that more of the talk consists of expressions that both use, or that these are
    longer. See `expressions_of_dialogue` for the rule as an example.

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
    own = session.meanwhile(_talk).own
    therapist, client = own.repeated
    series = np.full(len(session), nan)
    series[np.sort(np.concatenate(spoken_turns(session)))] = own.shared.per_turn
    return whole_values(EXPRESSIONS, session) | {
        "therapist_self_repetition": therapist,
        "client_self_repetition": client,
        "expression_repetition_turn": series,
    }
