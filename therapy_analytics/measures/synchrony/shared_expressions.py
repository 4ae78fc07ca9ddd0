"""Shared expressions: sequences of words that one speaker brings in and the other takes up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._chance import Floats, spoken_turns
from therapy_analytics.measures.synchrony._expressions import (
    Ints,
    TurnOrder,
    find_expressions,
    order_turns,
    stretch,
)
from therapy_analytics.measures.synchrony._expressions_by_turn_pairs import (
    TurnPairExpressions,
    expressions_by_turn_pairs,
)
from therapy_analytics.measures.synchrony._expressions_of_dialogue import (
    SelfExpressions,
    SharedExpressions,
    expressions_between,
    expressions_of_dialogue,
    expressions_of_one,
    paired_expressions,
    said_of_many,
    self_expressions,
)
from therapy_analytics.measures.synchrony._whole import (
    Side,
    Whole,
    lent_turns,
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


@dataclass(frozen=True, eq=False)
class _Talk:
    """The tokens of a session, and of the strangers whose turns stand in its dialogues.

    Attributes
    ----------
    keys, words : arrays (n_tokens,)
        What each token is, the same in every batch, and whether it has a letter or digit.
    offsets : int64 array (n_turns + 1,)
        Where each turn's tokens begin, from 0.
    strangers : _Talk or None
        All turns of the strangers.
    lent : int64 array
        Those of them that stand in some dialogue, ascending.
    """

    keys: NDArray[np.uint64]
    words: NDArray[np.bool_]
    offsets: Ints
    strangers: _Talk | None
    lent: Ints

    @cached_property
    def order(self) -> TurnOrder:
        """The order of the session's own turns, and of those lent to it behind them."""
        keys, words, offsets = self.keys, self.words, self.offsets
        if self.strangers is not None:
            at, sizes = self.strangers.tokens_of(self.lent)
            keys, words = np.append(keys, self.strangers.keys[at]), np.append(words, self.strangers.words[at])
            offsets = np.append(offsets, offsets[-1] + np.cumsum(sizes))
        return order_turns(keys.view(np.int64), offsets, words)

    def tokens_of(self, turns: Ints) -> tuple[Ints, Ints]:
        """Return the tokens of turns, and how many each has."""
        sizes = np.diff(self.offsets)[turns]
        before = np.cumsum(sizes) - sizes
        return np.repeat(self.offsets[turns] - before, sizes) + np.arange(int(sizes.sum())), sizes

    def places(self, side: Side) -> Ints:
        """Return where the turns of a side stand in `order`."""
        if side.represented is self:
            return side.turns
        return len(self.offsets) - 1 + np.searchsorted(self.lent, side.turns)


def _talk(session: AnnotatedSession) -> _Talk:
    tokens, offsets = session.turns.tokens, session.turns.offsets
    ids = tokens.ids[offsets[0] : offsets[-1]]
    strangers = None if session.company is None else session.company.whole.once(_talk)
    turns = np.concatenate([np.zeros(0, dtype=np.int64), *(one.ravel() for one in lent_turns(session))])
    return _Talk(tokens.keys[ids], tokens.verbal[ids], offsets - offsets[0], strangers, np.unique(turns))


def _dialogues(therapist: Side, client: Side) -> tuple[TurnOrder, Ints, Ints]:
    """Return the order in which the turns of both sides are found, the turns as they are said, and their roles.

    The turns are a row for each dialogue, (n_dialogues, n_turns).
    """
    own = therapist.represented
    if own is not client.represented and own is client.represented.strangers:
        own = client.represented
    said = np.argsort(np.concatenate([therapist.at, client.at]))
    roles = np.repeat([THERAPIST, CLIENT], [len(therapist.at), len(client.at)])
    turns = [np.atleast_2d(own.places(side)) for side in (therapist, client)]
    n = max(map(len, turns))
    both = np.concatenate([np.broadcast_to(one, (n, one.shape[1])) for one in turns], axis=1)
    return own.order, both[:, said], roles[said]


def _many(therapist: Side, client: Side) -> Floats:
    """Return the values of the columns of `EXPRESSIONS`, (n_dialogues, n_columns)."""
    order, turns, roles = _dialogues(therapist, client)
    talk = stretch(order, turns)
    sides = np.tile(roles, len(turns))[talk.turn]
    found = find_expressions(order, talk, groups=sides, sides=sides)
    return said_of_many(found, talk, sides, turns.shape[1])


def _values(therapist: Side, client: Side) -> list[float]:
    values: list[float] = _many(therapist, client)[0].tolist()
    return values


_SOURCE = (
    "Dubuisson Duplessis, G., Langlet, C., Clavel, C., & Landragin, F. (2021). Towards alignment strategies in "
    "human-agent interactions based on measures of lexical repetitions. Language Resources and Evaluation 55"
)
_MISLEADS = (
    "Not a quality score: most shared expressions are single common words, strangers come near (.39 of .44 for "
    "expression_repetition), and values change with the length of the session and of its turns. Strangers' turns recur "
    "in a dialogue with strangers, which alone lowers expression_variety by a fifth. Punctuation is part of sequences, "
    "so transcribers' habits enter"
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
    orders of the same turns are not drawn, as the rest would not change. A stranger's turn that
    stands in a dialogue twice brings no new expressions: read ``expression_variety_strangers``
    as somewhat too low. `SharedExpressions` also has establishment, of which descriptions
    differ, and which is therefore no column.

    References
    ----------
    Dubuisson Duplessis, G., Clavel, C., & Landragin, F. (2017). Automatic measures to
    characterise verbal alignment in human-agent interaction. Proceedings of SIGDIAL, 71-81.

    Dubuisson Duplessis, G., Langlet, C., Clavel, C., & Landragin, F. (2021). Towards alignment
    strategies in human-agent interactions based on measures of lexical repetitions. Language
    Resources and Evaluation, 55, 353-388.
    """
    order = session.meanwhile(_talk).order
    therapist, client = spoken_turns(session)
    said = np.sort(np.append(therapist, client))
    series = np.full(len(session), nan)
    series[said] = expressions_between(order, said, session.turns.roles[said]).per_turn
    return whole_values(EXPRESSIONS, session) | {
        "therapist_self_repetition": expressions_of_one(order, therapist).repetition,
        "client_self_repetition": expressions_of_one(order, client).repetition,
        "expression_repetition_turn": series,
    }
