"""The tagger's scores as the sums that they are: a term for each word, neighbour, feature and score below.

A word's term holds all that it puts into the turn's buckets: itself, its pieces, and an equal share of each
pair and triple that it stands in. Counts are damped over a turn (`features`), so a term depends on the turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours._weights import Weights
from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.features import Features, featurize, grams_of, neighbour, types_of
from therapy_analytics.behaviours.tagger import STEEPEST, Tagger, scores_of
from therapy_analytics.language import Batch, TurnArrays

KINDS = ("word", "before", "after", "form", "code", "rest", "bias")
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


class Terms(NamedTuple):
    """Terms of scores, one after the other, as arrays of one length.

    Attributes
    ----------
    turn, code : int64 array
        Positions in the batch and in the tagger's codes.
    place : int64 array
        Which of the code's heads it is.
    kind : int64 array
        Position in `KINDS`.
    name : int64 array
        Position in `names`; -1 for words.
    token : int64 array
        Of words: position in the batch; else -1.
    weight : float64 array
        What is added to the score.
    """

    turn: _Ints
    code: _Ints
    place: _Ints
    kind: _Ints
    name: _Ints
    token: _Ints
    weight: _Floats

    def take(self, which: NDArray[Any]) -> Terms:
        """Return some of them, by place or by mark."""
        return Terms._make(values[which] for values in self)


@dataclass(frozen=True, slots=True)
class Limits:
    """How many words and how many other terms stand by themselves, for each score."""

    n_words: int
    n_context: int


def names(heads: Sequence[str]) -> list[str]:
    """Return what terms that are no words are called: neighbours, features, first layer, rest, bias."""
    return ["turn before", "turn after", *HAND, *heads, "everything else", "bias"]


def terms_of(tagger: Tagger, batch: Batch, wanted: NDArray[np.bool_], limits: Limits) -> Terms:
    """Return the terms of the wanted codes, (n_turns, n_codes), by turn, code and head."""
    sums = _Sums.of(tagger.weights, batch)
    parts = [_no_terms()]
    for head, name in enumerate(tagger.weights.heads):
        uses = [(code.heads.index(name), at) for at, code in enumerate(tagger.codes) if name in code.heads]
        rows = np.flatnonzero(wanted[:, [at for _, at in uses]].any(axis=1))
        found = sums.terms(head, rows, limits) if len(rows) else _no_terms()
        for place, at in uses:
            mine = found.take(wanted[found.turn, at])
            parts.append(mine._replace(code=np.full_like(mine.turn, at), place=np.full_like(mine.turn, place)))
    whole = _joined(parts)
    return whole.take(np.lexsort((whole.place, whole.code, whole.turn)))


def _terms(turn: _Ints, weight: _Floats, kind: Any, name: Any, token: Any = -1) -> Terms:
    """Return terms of no code yet; what is one number holds for all."""
    columns = (np.broadcast_to(np.asarray(one, dtype=np.int64), turn.shape) for one in (0, 0, kind, name, token))
    return Terms._make((turn, *columns, weight))


def _no_terms() -> Terms:
    return _terms(np.zeros(0, dtype=np.int64), np.zeros(0), 0, 0)


def _joined(parts: list[Terms]) -> Terms:
    return Terms._make(map(np.concatenate, zip(*parts, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class _Words:
    """What each token of a batch puts into the buckets of its turn.

    Attributes
    ----------
    turn_of, ids, share : array (n_tokens,)
        Turn, type, and how much of its type's damped count in the turn is its own.
    of_type : float64 array (n_types, n_columns)
        Weights of each type's buckets, added up.
    grams : list of (tokens, bucket, share)
        Words ``tokens`` (n, size) share what is in a bucket.
    """

    turn_of: _Ints
    ids: _Ints
    share: _Floats
    of_type: _Floats
    grams: list[tuple[_Ints, _Ints, _Floats]]

    @classmethod
    def of(cls, turns: TurnArrays, features: Features, buckets: _Floats) -> _Words:
        turn_of = np.repeat(np.arange(len(turns)), np.diff(turns.offsets))
        ids = turns.tokens.ids.astype(np.int64)
        spoken, runs = grams_of(types_of(turns.tokens), ids, turn_of)
        rows = np.concatenate([turn_of[spoken[at]] for _, at, _ in runs])
        share = _share(features.grams, rows, np.concatenate([bucket for _, _, bucket in runs]))
        shares = np.split(share, np.cumsum([len(at) for _, at, _ in runs])[:-1])
        grams = [
            (spoken[at[:, None] + np.arange(size)], bucket, of_gram / size)
            for (size, at, bucket), of_gram in zip(runs, shares, strict=True)
        ]
        return cls(turn_of, ids, _share(features.words, turn_of, ids), features.types @ buckets, grams)

    def weights(self, buckets: _Floats, column: int) -> _Floats:
        """Return each token's term for a column of the weights, (n_tokens,)."""
        result: _Floats = self.share * self.of_type[self.ids, column]
        for tokens, bucket, share in self.grams:
            weight = np.repeat(share * buckets[bucket, column], tokens.shape[1])
            result += np.bincount(tokens.ravel(), weight, minlength=len(result))
        return result


def _share(counts: Any, rows: _Ints, columns: _Ints) -> _Floats:
    """Divide each damped count among those that were counted into its cell."""
    _, cell, n = np.unique(rows * counts.shape[1] + columns, return_inverse=True, return_counts=True)
    values: _Floats = (counts.data / n)[cell]
    return values


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """All that the scores of a batch are sums of."""

    weights: Weights
    features: Features
    buckets: _Floats
    scores: _Floats
    words: _Words

    @classmethod
    def of(cls, weights: Weights, batch: Batch) -> _Sums:
        features = featurize(batch.turns, batch.starts)
        buckets = features.project(weights.buckets)
        words = _Words.of(batch.turns, features, weights.buckets)
        return cls(weights, features, buckets, scores_of(weights, features), words)

    def terms(self, head: int, rows: _Ints, limits: Limits) -> Terms:
        """Return the largest terms of a head on some turns, the sum of the others, and the bias."""
        words, rest = self._largest_words(head, rows, limits.n_words)
        context, others = self._largest_context(head, rows, limits.n_context)
        rest += others
        bias = np.full(len(rows), self.weights.bias[head])
        rest += self._cut(head, rows, [words, context], rest + bias)
        n_names = len(HAND) + 2 + self.weights.n_context
        return _joined(
            [words, context, _terms(rows, rest, _kind("rest"), n_names), _terms(rows, bias, _kind("bias"), n_names + 1)]
        )

    def _largest_words(self, head: int, rows: _Ints, n: int) -> tuple[Terms, _Floats]:
        """Return the terms of the words that weigh most, largest first, and the sum of the others on each turn."""
        n_context = self.weights.n_context
        weight = self.words.weights(self.weights.buckets, head if head < n_context else head + 2 * n_context)
        among = np.zeros(len(self.scores), dtype=np.bool_)
        among[rows] = True
        tokens = np.flatnonzero(among[self.words.turn_of])
        turn = self.words.turn_of[tokens]
        tokens = tokens[np.lexsort((tokens, -np.abs(weight[tokens]), turn))]
        rank = np.arange(len(turn)) - np.searchsorted(turn, turn)  # within the turn: tokens stand turn after turn
        kept = (rank < n) & (weight[tokens] != 0)
        others = np.bincount(turn, np.where(kept, 0.0, weight[tokens]), minlength=len(self.scores))[rows]
        words = _terms(turn[kept], weight[tokens[kept]], _kind("word"), -1, tokens[kept])
        return words, others.astype(np.float64)

    def _largest_context(self, head: int, rows: _Ints, n: int) -> tuple[Terms, _Floats]:
        """Return the largest of the terms that are no words, largest first, and the sum of the others."""
        table = self._context(head, rows)
        kinds = np.repeat(
            [_kind("before"), _kind("after"), _kind("form"), _kind("code")], [1, 1, len(HAND), self.weights.n_context]
        )
        name = np.argsort(-np.abs(table), axis=1, kind="stable")[:, :n]
        at = np.arange(len(rows))[:, None]
        weight = table[at, name]
        table[at, name] = 0
        kept = weight != 0
        turn = np.broadcast_to(rows[:, None], name.shape)
        return _terms(turn[kept], weight[kept], kinds[name[kept]], name[kept]), table.sum(axis=1)

    def _context(self, head: int, rows: _Ints) -> _Floats:
        """Return all terms that are no words, (n_rows, 2 + features + first layer), in the order of `names`."""
        n, features = self.weights.n_context, self.features
        table = np.zeros((len(rows), 2 + len(HAND) + n))
        table[:, 2 : 2 + len(HAND)] = features.hand[rows].toarray() * self.weights.hand[:, head]
        if head < n:
            for side, index in enumerate((features.before, features.after)):
                column = (side + 1) * n + head
                table[:, side] = neighbour(self.buckets[:, [column]], index)[rows, 0]
        else:
            table[:, 2 + len(HAND) :] = self.scores[rows, :n] * self.weights.lift[:, head - n]
        return table

    def _cut(self, head: int, rows: _Ints, shown: list[Terms], others: _Floats) -> _Floats:
        """Return what the tagger takes off scores beyond its bound: 0 on nearly every turn."""
        score = self.scores[rows, head]
        total = sum(np.bincount(one.turn, one.weight, minlength=len(self.scores))[rows] for one in shown) + others
        return np.where(np.abs(score) < STEEPEST, 0.0, score - total)


def _kind(name: str) -> int:
    return KINDS.index(name)
