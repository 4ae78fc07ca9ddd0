"""Tokens of many turns as arrays, by spaCy's English tokeniser, once."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

_STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "\u2014": " ", "\u2013": " "})
_DASH = re.compile(r"-{2,}|(?<!\w)-|-(?!\w)|(?<=\w)-(?=\w+')")
_DOTS = re.compile(r"\.{3,}")
_NORMS = {"'ve": "have"}
_ENDS_SENTENCE = re.compile(r"[.!?]*[!?]|\.|\u3002")
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "st", "vs", "etc"})
_MIX = np.uint64(0x9E3779B97F4A7C15)


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
    from spacy.attrs import LOWER, NORM, SPACY  # noqa: PLC0415 (spaCy is slow to import)

    make_doc = _tokenizer()
    tables = [make_doc(plain(text)).to_array([LOWER, NORM, SPACY]) for text in texts]
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(table) for table in tables], out=offsets[1:])
    if not offsets[-1]:
        return _no_tokens(offsets)
    table = np.concatenate(tables).astype(np.uint64, copy=False)
    lower, norm, keys, ids = _types(table[:, 0], table[:, 1])
    verbal = _flags(_is_word, lower)
    starts = _word_starts(verbal[ids], table[:, 2] != 0, offsets)
    ends = _flags(_ENDS_SENTENCE.fullmatch, lower)[ids]
    ends[1:] &= ~_flags(_TITLES.__contains__, lower)[ids[:-1]]
    return _without_space(Tokens(lower, norm, keys, verbal, ids, offsets, starts, ends))


def _is_word(word: str) -> bool:
    return any(map(str.isalnum, word))


def _flags(test: Callable[[str], object], types: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.array([bool(test(word)) for word in types], dtype=np.bool_)


def _without_space(tokens: Tokens) -> Tokens:
    """Drop the tokens that spaCy makes of line ends and double spaces."""
    keep = ~_flags(str.isspace, tokens.lower)[tokens.ids]
    kept_before = np.concatenate([[0], np.cumsum(keep)])
    return replace(
        tokens,
        ids=tokens.ids[keep],
        offsets=kept_before[tokens.offsets],
        word_start=tokens.word_start[keep],
        sentence_end=tokens.sentence_end[keep],
    )


def plain(text: str) -> str:
    """Return a text in the form that is tokenised, character for character as long.

    Lower case, straight apostrophes, and space for the dashes and dots that transcribers
    put between words: behind them spaCy would leave "i'm" whole.

    Examples
    --------
    >>> plain("I know...I\u2019m so--so tired")
    "i know … i'm so  so tired"
    """
    text = text.translate(_STRAIGHT)
    if "-" in text:
        text = _DASH.sub(lambda dash: " " * len(dash[0]), text)
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
    tokens = [one for one in _tokenizer()(plain(text)) if not one.lower_.isspace()]
    return [dots.get(one.idx, (one.idx, one.idx + len(one))) for one in tokens]


@functools.cache
def _tokenizer() -> Any:
    from spacy.lang.en import English  # noqa: PLC0415

    return English().tokenizer


def _types(
    lower: NDArray[np.uint64], norm: NDArray[np.uint64]
) -> tuple[tuple[str, ...], tuple[str, ...], NDArray[np.uint64], NDArray[np.int32]]:
    strings = _tokenizer().vocab.strings
    key = lower ^ (norm * _MIX)
    _, first, ids = np.unique(key, return_index=True, return_inverse=True)
    pairs = [(strings[low], strings[nor]) for low, nor in zip(lower[first].tolist(), norm[first].tolist(), strict=True)]
    order = sorted(range(len(pairs)), key=pairs.__getitem__)
    rank = np.empty(len(pairs), dtype=np.int32)
    rank[order] = np.arange(len(pairs), dtype=np.int32)
    return (
        tuple(pairs[i][0] for i in order),
        tuple(_NORMS.get(pairs[i][1], pairs[i][1]).lower() for i in order),
        lower[first][order],
        rank[ids],
    )


def _word_starts(
    is_word: NDArray[np.bool_], space_after: NDArray[np.bool_], offsets: NDArray[np.int64]
) -> NDArray[np.bool_]:
    glued = np.zeros_like(is_word)
    glued[1:] = is_word[:-1] & ~space_after[:-1]
    glued[offsets[:-1][offsets[:-1] < len(is_word)]] = False
    return is_word & ~glued


def _no_tokens(offsets: NDArray[np.int64]) -> Tokens:
    none = np.zeros(0, dtype=np.bool_)
    return Tokens((), (), np.zeros(0, np.uint64), none, np.zeros(0, dtype=np.int32), offsets, none, none)
