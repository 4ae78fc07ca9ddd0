"""Tokens of many turns as arrays, by the rules of spaCy's English tokeniser, once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language._divide import Pieces, divide, each_alone, word_of
from therapy_analytics.language.integers import consecutive

_STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "\u2014": " ", "\u2013": " "})
_DASH = re.compile(r"-(?:(?!\w)|(?<!\w-)|(?=\w+'))")
_DOTS = re.compile(r"\.{3,}")
_WORD = re.compile(r"\S+")
_NORMS = {"'ve": "have"}
_ENDS_SENTENCE = re.compile(r"[.!?]*[!?]|\.|\u3002")
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "st", "vs", "etc"})


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a list of texts.

    Attributes
    ----------
    lower, norm : tuple of str
        The token types of this list: lower-cased form, and spaCy's normal form (in which
        "n't" is "not" and "'ll" is "will").
    keys : uint64 array (n_types,)
        A hash of each lower-cased form, the same in every list: by it the words of one list
        are found in another.
    verbal : bool array (n_types,)
        Whether the type has a letter or digit: words and their pieces, not punctuation.
    ids : int32 array (n_tokens,)
        Position of each token's type in `lower` and `norm`.
    offsets : int64 array (n_texts + 1,)
        Text ``i`` owns tokens ``offsets[i]:offsets[i + 1]``.
    word_start : bool array (n_tokens,)
        Where a word begins. Pieces of a contraction (do|n't, can|not) are one word;
        punctuation is none; a hyphen or slash separates words.
    sentence_end : bool array (n_tokens,)
        The token that closes a sentence; dots that trail off ("...") do not.
    """

    lower: tuple[str, ...]
    norm: tuple[str, ...]
    keys: NDArray[np.uint64]
    verbal: NDArray[np.bool_]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    word_start: NDArray[np.bool_]
    sentence_end: NDArray[np.bool_]


def tokenize(texts: Sequence[str]) -> Tokens:
    """Tokenise texts.

    Parameters
    ----------
    texts : sequence of str
        One text a turn; typographic apostrophes are read as straight ones.

    Returns
    -------
    Tokens
        Types are numbered in the order of their text, so the result does not depend on
        what was tokenised before.
    """
    words_of = _words_of([plain(text) for text in texts])
    ends_of = np.cumsum([0, *map(len, words_of)])
    which = {word: i for i, word in enumerate(set[str | Pieces]().union(*words_of))}
    types = _Types.of(which)
    word = np.fromiter(map(which.__getitem__, chain.from_iterable(words_of)), np.int64, ends_of[-1])
    n_tokens = types.bounds[word + 1] - types.bounds[word]
    before = np.append(0, np.cumsum(n_tokens))
    at, _ = consecutive(types.bounds[word], n_tokens)
    ids = types.ids[at]
    ends = _flags(_ENDS_SENTENCE.fullmatch, types.lower)[ids]
    ends[1:] &= ~_flags(_TITLES.__contains__, types.lower)[ids[:-1]]
    return Tokens(types.lower, types.norm, types.keys, types.verbal, ids, before[ends_of], types.starts[at], ends)


def _is_word(word: str) -> bool:
    return any(map(str.isalnum, word))


def _flags(test: Callable[[str], object], types: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.array([bool(test(word)) for word in types], dtype=np.bool_)


def plain(text: str) -> str:
    """Return a text in the form that is tokenised, character for character as long.

    Lower case, straight apostrophes, and space for the dashes and dots that transcribers
    put between words: behind them the rules would leave "i'm" whole.

    Examples
    --------
    >>> plain("I know...I\u2019m so--so tired")
    "i know … i'm so  so tired"
    """
    text = text if text.isascii() else text.translate(_STRAIGHT)
    if "-" in text:
        text = _DASH.sub(" ", text)
    if "..." in text:
        text = _DOTS.sub(lambda dots: "\u2026".center(len(dots[0])), text)
    lower = text.lower()
    return lower if len(lower) == len(text) else text


def spans(text: str) -> list[tuple[int, int]]:
    """Return where each token that `tokenize` finds stands in its text: begin and end, half-open, from 0.

    Examples
    --------
    >>> spans("I don\u2019t...")
    [(0, 1), (2, 4), (4, 7), (7, 10)]
    """
    dots = {place: run.span() for run in _DOTS.finditer(text) for place in range(*run.span())}
    form = plain(text)
    found: list[tuple[int, int]] = []
    for word, pieces in zip(_WORD.finditer(form), divide(form), strict=True):
        begin = word.start()
        for piece, _ in pieces:
            found.append((begin, begin := begin + len(piece)))
    return [dots.get(span[0], span) for span in found] if dots else found


@dataclass(frozen=True, slots=True)
class _Types:
    """What the different words of a list of texts consist of, as written between spaces.

    Attributes
    ----------
    lower, norm, keys, verbal : tuple or array (n_types,)
        As in `Tokens`.
    ids : int32 array (n,)
        Types of the tokens of all words, word after word.
    starts : bool array (n,)
        As ``word_start`` in `Tokens`.
    bounds : int64 array (n_words + 1,)
        Word ``i`` owns tokens ``ids[bounds[i]:bounds[i + 1]]``.
    """

    lower: tuple[str, ...]
    norm: tuple[str, ...]
    keys: NDArray[np.uint64]
    verbal: NDArray[np.bool_]
    ids: NDArray[np.int32]
    starts: NDArray[np.bool_]
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, words: Iterable[str | Pieces]) -> _Types:
        """Divide words, and number their tokens' types in the order of their text."""
        pieces = [word_of(word).pieces if isinstance(word, str) else word for word in words]
        pairs = list(chain.from_iterable(pieces))
        lowered = {pair: (pair[0].lower(), pair[1]) for pair in set(pairs)}
        types = sorted(set(lowered.values()))
        rank = {pair: i for i, pair in enumerate(types)}
        of = {pair: rank[lower] for pair, lower in lowered.items()}
        ids = np.fromiter(map(of.__getitem__, pairs), np.int32, len(pairs))
        lower = tuple(form for form, _ in types)
        norm = tuple(_NORMS.get(form, form).lower() for _, form in types)
        bounds = np.append(0, np.cumsum([len(word) for word in pieces], dtype=np.int64))
        verbal = _flags(_is_word, lower)
        return cls(lower, norm, _keys(lower), verbal, ids, _word_starts(verbal[ids], bounds), bounds)


def _words_of(texts: Sequence[str]) -> list[Sequence[str | Pieces]]:
    """Return the words of each text; where what stands beside a word matters, pieces in their place."""
    found = [text.split() for text in texts]
    bound = {word for word in set[str]().union(*found) if word_of(word).goes_on}
    alone = (bound.isdisjoint(words) or each_alone(words) for words in found)
    return [words if one else divide(text) for words, text, one in zip(found, texts, alone, strict=True)]


def _keys(types: Sequence[str]) -> NDArray[np.uint64]:
    found = (hashlib.blake2b(one.encode("utf-8", "surrogatepass"), digest_size=8).digest() for one in types)
    return np.frombuffer(b"".join(found), dtype="<u8")


def _word_starts(is_word: NDArray[np.bool_], bounds: NDArray[np.int64]) -> NDArray[np.bool_]:
    glued = np.zeros_like(is_word)
    glued[1:] = is_word[:-1]
    glued[bounds[:-1]] = False
    return is_word & ~glued
