"""What the tagger's codes rest on: the contribution of each word and feature to a score, with its position in the turn.

The score of a head (the log-odds of its probability) is a sum over the words of the turn, the words of its neighbours,
the hand-crafted features, the scores of the first layer, and a bias. `explain` gives the largest terms one by one and
the sum of all others, so that the rows of a head add up to its score. A word's term is what it adds to the turn's
buckets: itself, its character n-grams, and an equal share of each word n-gram that it is part of. Words themselves are
given only if quotes are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.behaviours.accurate import TERMS, AccurateTagger
from therapy_analytics.behaviours.choice import TaggerOptions, load_coder
from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.features import featurize, gram_cells, grams_of, types_of
from therapy_analytics.behaviours.own import OwnTagger
from therapy_analytics.behaviours.recalibrated import CalibratedTagger
from therapy_analytics.behaviours.tagger import STEEPEST, Codes, Tagger, scores_of
from therapy_analytics.errors import BadOptionError, UnknownNameError
from therapy_analytics.language import Batch, annotate
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.language.tokens import spans
from therapy_analytics.session import Session

N_WORDS = 8
"""Words of a turn that get rows of their own, for each head: those with the largest absolute weights."""
N_CONTEXT = 4
"""Other terms that get rows of their own: neighbouring turns, hand-crafted features, scores of the first layer."""
KINDS = ("word", "before", "after", "form", "code", "rest", "bias")
COLUMNS = ("session_id", "turn", "code", "head", "kind", "name", "start", "end", "weight")
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def explain(
    sessions: Session | Iterable[Session],
    code: str | None = None,
    *,
    quotes: bool = False,
    tagger: TaggerOptions | None = None,
    n_words: int = N_WORDS,
    n_context: int = N_CONTEXT,
) -> pd.DataFrame:
    """Return what the tagger's codes rest on, term by term.

    Parameters
    ----------
    sessions : Session or iterable of Session
        As `read` returns them.
    code : str, optional
        A column such as ``mi_question``: this code alone, on every turn whose speaker can have it, decided or
        not. Without it, the codes that each turn has, and those of ``unsure_codes``.
    quotes : bool, optional
        Whether `name` has the words themselves; otherwise only their position is given.
    tagger : TaggerOptions, optional
        As in `analyze`; an outside coder cannot be explained.
    n_words, n_context : int, optional
        How many words, and how many other terms, get rows of their own.

    Returns
    -------
    DataFrame
        Rows are terms of the score of a head, on a turn, for a code; the weights of a head on a turn add up
        to its score, the log-odds of its probability. A code of two heads has the product of both
        probabilities: P(group), then P(kind given the group), whose head is named like the code.

        ``session_id``, ``turn``, ``code``, ``head``
            The score that the term is part of.
        ``kind``
            ``word``: a word of the turn, with its share of the n-grams that it is part of; ``before``, ``after``: all
            words of the turn before or after; ``form``: a feature of `therapy_analytics.behaviours.cues`; ``code``:
            the score of a head of the first layer; ``rest``: the sum of all other terms; ``bias``: the intercept.
            With the accurate tagger these explain the score of the fast tagger within it, where it has the code. Four
            more rows, with the head ``blend``, add up to the code's own log-odds: ``fast``; ``turn`` and ``before``
            (what the sequence model makes of the turn by itself, and what the turns before it add; neither can be
            taken apart); and ``bias``.
        ``name``
            Feature or head; for words only with `quotes`.
        ``start``, ``end``
            Of words: characters of `Turn.text`, from 0, the end exclusive.
        ``weight``
            Added to the log-odds: above 0 for the head, below 0 against it.

    Raises
    ------
    UnknownNameError
        The tagger knows no such code.
    BadOptionError
        The options are for an outside coder.
    """
    coder = explaining_tagger(tagger)
    batch = annotate((sessions,) if isinstance(sessions, Session) else tuple(sessions), Matcher([]))
    limits = (n_words, n_context)
    if isinstance(coder, Tagger):
        wanted = _wanted(coder.predict(batch), code)
        return evidence(coder, batch, wanted, limits=limits, quotes=quotes)
    codes, shares = coder.weighed(batch)
    return evidence(coder.fast, batch, _wanted(codes, code), (codes.names, shares), limits=limits, quotes=quotes)


def explaining_tagger(options: TaggerOptions | None = None) -> Tagger | AccurateTagger:
    """Return the tagger of these options.

    Raises
    ------
    BadOptionError
        They are for an outside coder, or name a model of the user's own.
    """
    coder = load_coder(options) if options is None or options.kind != "llm" else None
    if isinstance(coder, OwnTagger | CalibratedTagger):
        problem = "the codes of a model that you trained, or re-calibrated, cannot be explained yet"
        raise BadOptionError("--explain", problem, "Leave it out, or leave out --model")
    if not isinstance(coder, Tagger | AccurateTagger):
        problem = "the codes of a language model cannot be explained"
        raise BadOptionError("--explain", problem, "Leave it out, or leave out --tagger llm")
    return coder


def _wanted(codes: Codes, code: str | None) -> NDArray[np.bool_]:
    """Return which codes of which turns are explained, bool (n_turns, n_codes)."""
    if code is None:
        return codes.decision | codes.unsure
    if code not in codes.names:
        raise UnknownNameError("code", code, codes.names)
    wanted: NDArray[np.bool_] = ~np.isnan(codes.probability) & (np.array(codes.names) == code)
    return wanted


def evidence(
    tagger: Tagger,
    batch: Batch,
    wanted: NDArray[np.bool_],
    shares: tuple[tuple[str, ...], _Floats] | None = None,
    *,
    limits: tuple[int, int] = (N_WORDS, N_CONTEXT),
    quotes: bool = False,
) -> pd.DataFrame:
    """Return the table that `explain` describes.

    Parameters
    ----------
    tagger : Tagger
        The fast tagger.
    batch : Batch
        The sessions.
    wanted : bool array (n_turns, n_codes)
        Codes of turns that are explained.
    shares : (tuple of str, float64 array (n_turns, n_codes, 4)), optional
        Codes of the accurate tagger, and terms of their log-odds, see `AccurateTagger.weighed`.
    limits : (int, int), optional
        Words, and other terms, that get rows of their own.
    quotes : bool, optional
        Whether `name` has the words themselves.
    """
    turns = [turn for session in batch.sessions for turn in session.turns]
    owner = np.repeat(np.arange(len(batch.sessions)), np.diff(batch.starts))
    scores = _Scores(tagger, batch)
    rows: list[tuple[Any, ...]] = []
    for turn, some in enumerate(wanted):
        places = spans(turns[turn].text) if some.any() else []
        for number in np.flatnonzero(some).tolist():
            own = tagger.codes[number] if number < len(tagger.codes) else None
            column = own.column if own else shares[0][number] if shares else ""
            about = (batch.sessions[owner[turn]].id, turns[turn].index, column)
            for head in own.heads if own else ():
                for term in scores.terms(tagger.weights.heads.index(head), turn, limits):
                    start, end = (None, None) if term.word is None else places[term.word]
                    name = turns[turn].text[start:end] if quotes and term.word is not None else term.name
                    rows.append((*about, head, term.kind, name, start, end, term.weight))
            if shares is not None and not np.isnan(shares[1][turn, number, 0]):
                each = zip(TERMS, shares[1][turn, number].tolist(), strict=True)
                rows += [(*about, "blend", kind, "", None, None, weight) for kind, weight in each]
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(COLUMNS, ())
    types = {"turn": "int64", "start": "Int64", "end": "Int64", "weight": "float64"}
    series = {name: pd.Series(list(values), dtype=types.get(name, "object")) for name, values in columns.items()}
    return pd.DataFrame(series)


class _Term(NamedTuple):
    """One term of a score: its kind (one of `KINDS`), name, word (place among the turn's tokens) and weight."""

    kind: str
    name: str
    word: int | None
    weight: float


class _Scores:
    """The scores of a batch and the terms that they are sums of."""

    def __init__(self, tagger: Tagger, batch: Batch) -> None:
        weights, turns = tagger.weights, batch.turns
        self._weights, self._offsets, self._ids = weights, turns.offsets, turns.ids
        features = self._features = featurize(turns, batch.starts)
        self._scores = scores_of(weights, features)
        self._buckets = features.project(weights.buckets)
        self._of_type = features.types @ weights.buckets
        self._share = _shares(features.words, turns.turn_of, turns.ids)
        spoken, grams = grams_of(types_of(turns.tokens), turns.ids, turns.turn_of)
        rows, bucket = gram_cells(turns.turn_of[spoken], grams)
        size = np.concatenate([np.full(len(at), n) for n, at, _ in grams])
        first = np.concatenate([at for _, at, _ in grams])
        part = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        # Each word of each n-gram: its token, the bucket, and its share of what the n-gram adds to the bucket
        self._token = spoken[np.repeat(first, size) + part]
        self._bucket = np.repeat(bucket, size)
        self._gram_share = np.repeat(_shares(features.grams, rows, bucket) / size, size)
        self._words: dict[int, _Floats] = {}

    def terms(self, head: int, turn: int, limits: tuple[int, int]) -> Iterator[_Term]:
        """Yield the largest terms of a head's score on a turn, the sum of the others, and the bias."""
        n_words, n_context = limits
        words = self._word_weights(head)[self._offsets[turn] : self._offsets[turn + 1]]
        order = np.argsort(-np.abs(words), kind="stable")
        shown = [_Term("word", "", at, float(words[at])) for at in order[:n_words].tolist()]
        context = sorted(self._context(head, turn), key=lambda term: -abs(term.weight))
        shown += context[:n_context]
        rest = float(words[order[n_words:]].sum()) + sum(term.weight for term in context[n_context:])
        bias, score = float(self._weights.bias[head]), float(self._scores[turn, head])
        if abs(score) >= STEEPEST:  # the tagger clips the score
            rest = score - bias - sum(term.weight for term in shown)
        yield from (term for term in shown if term.weight)
        yield _Term("rest", "everything else", None, rest)
        yield _Term("bias", "bias", None, bias)

    def _word_weights(self, head: int) -> _Floats:
        """Return the term of each token for a head, float64 (n_tokens,)."""
        if head not in self._words:
            n = self._weights.n_context
            column = head if head < n else head + 2 * n
            of_grams = self._gram_share * self._weights.buckets[self._bucket, column]
            self._words[head] = self._share * self._of_type[self._ids, column] + np.bincount(
                self._token, of_grams, len(self._ids)
            )
        return self._words[head]

    def _context(self, head: int, turn: int) -> Iterator[_Term]:
        """Yield all terms that are no words."""
        n, features, weights = self._weights.n_context, self._features, self._weights
        if head < n:
            for side, index in enumerate((features.before, features.after)):
                if index[turn] >= 0:
                    kind = ("before", "after")[side]
                    weight = float(self._buckets[index[turn], (side + 1) * n + head])
                    yield _Term(kind, f"turn {kind}", None, weight)
        hand = features.hand[[turn]].toarray()[0] * weights.hand[:, head]
        yield from (_Term("form", HAND[at], None, float(hand[at])) for at in np.flatnonzero(hand).tolist())
        if head >= n:
            lifted = self._scores[turn, :n] * weights.lift[:, head - n]
            names = weights.heads[:n]
            yield from (_Term("code", name, None, value) for name, value in zip(names, lifted.tolist(), strict=True))


def _shares(counts: Any, rows: _Ints, columns: NDArray[np.integer]) -> _Floats:
    """Return for each occurrence its share of the damped count of its cell, float64 (n_occurrences,)."""
    _, cell, n = np.unique(rows * counts.shape[1] + columns, return_inverse=True, return_counts=True)
    shares: _Floats = (counts.data / n)[cell]
    return shares
