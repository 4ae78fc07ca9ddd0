"""Tokens of many turns as arrays, by spaCy's English tokeniser."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core import third_party

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

_STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "\u2014": " ", "\u2013": " "})
_DASH = re.compile(r"-(?:(?!\w)|(?<!\w-)|(?=\w+'))")
_DOTS = re.compile(r"\.{3,}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONG_WORD = re.compile(r"\S{200,}")
_SIGN = re.compile(r"[\W_]")
_NORMS = {"'ve": "have"}
_ENDS_SENTENCE = re.compile(r"[.!?]*[!?]|\.|\u3002")
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "st", "vs", "etc"})


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a list of texts.

    Attributes
    ----------
    lower, norm : tuple of str
        The token types of these texts: lower-cased form, and spaCy's normal form (in which
        "n't" is "not" and "'ll" is "will").
    keys : uint64 array (n_types,)
        A hash of each lower-cased form, by which the types of one list of texts are found in another.
    verbal : bool array (n_types,)
        Whether the type has a letter or digit: words and parts of contractions, not punctuation.
    ids : int32 array (n_tokens,)
        Position of each token's type in `lower` and `norm`.
    offsets : int64 array (n_texts + 1,)
        Text ``i`` owns tokens ``offsets[i]:offsets[i + 1]``.
    word_start : bool array (n_tokens,)
        Which tokens begin a word. A contraction (do|n't, can|not) is one word; punctuation is none; a hyphen or
        slash separates words.
    sentence_end : bool array (n_tokens,)
        Which tokens close a sentence; dots that trail off ("...") do not.
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
        Types are sorted by their text, so the result does not depend on what was tokenised before.
    """
    tokenizer = _tokenizer()
    columns = ["LOWER", "NORM", "SPACY", "IS_SPACE"]
    tables = [tokenizer(plain(text)).to_array(columns).reshape(-1, len(columns)) for text in texts]
    table = np.concatenate([np.zeros((0, len(columns)), dtype=np.uint64), *tables])
    text_of = np.repeat(np.arange(len(texts)), [len(one) for one in tables])
    blank = table[:, 3] == 1
    space_follows = (table[:, 2] == 1) | np.append(blank[1:], True) | (np.diff(text_of, append=-1) != 0)
    table, text_of, space_follows = table[~blank], text_of[~blank], space_follows[~blank]
    forms = list(zip(*table[:, :2].T.tolist(), strict=True))
    strings = tokenizer.vocab.strings
    text = {form: (strings[form[0]], strings[form[1]]) for form in set(forms)}
    types = sorted(text.values())
    rank = {type_: position for position, type_ in enumerate(types)}
    position = {form: rank[type_] for form, type_ in text.items()}
    ids = np.fromiter(map(position.__getitem__, forms), np.int32, len(forms))
    lower = tuple(form for form, _ in types)
    verbal = _flags(lambda word: any(map(str.isalnum, word)), lower)
    begins_word = verbal[ids]
    begins_word[1:] &= space_follows[:-1] | ~verbal[ids][:-1]
    ends = _flags(_ENDS_SENTENCE.fullmatch, lower)[ids]
    ends[1:] &= ~_flags(_TITLES.__contains__, lower)[ids[:-1]]
    return Tokens(
        lower=lower,
        norm=tuple(_NORMS.get(norm, norm).lower() for _, norm in types),
        keys=np.frombuffer(
            b"".join(blake2b(one.encode("utf-8", "surrogatepass"), digest_size=8).digest() for one in lower), "<u8"
        ),
        verbal=verbal,
        ids=ids,
        offsets=np.searchsorted(text_of, np.arange(len(texts) + 1)),
        word_start=begins_word,
        sentence_end=ends,
    )


@functools.cache
def _tokenizer() -> Tokenizer:
    """Load spaCy's English tokeniser, which takes one to three seconds: not before the first text is tokenised."""
    tokenizer: Tokenizer = third_party.spacy().blank("en").tokenizer
    return tokenizer


def _flags(test: Callable[[str], object], types: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.array([bool(test(word)) for word in types], dtype=np.bool_)


def plain(text: str) -> str:
    """Return a text in the form that is tokenised; every character keeps its position.

    It is lower-cased, with straight apostrophes, and with spaces for the dashes and dots that transcribers put between
    words (spaCy's rules would not split the "i'm" that follows one). In more than 200 characters without a space,
    punctuation after the first 200 becomes spaces, because spaCy's time for it grows with the square of its length.

    Examples
    --------
    >>> plain("I know...I\u2019m so--so tired")
    "i know … i'm so  so tired"
    """
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text.translate(_STRAIGHT))
    if "-" in text:
        text = _DASH.sub(" ", text)
    if "..." in text:
        text = _DOTS.sub(lambda dots: "\u2026".center(len(dots[0])), text)
    text = _LONG_WORD.sub(lambda word: word[0][:200] + _SIGN.sub(" ", word[0][200:]), text)
    lower = text.lower()
    return lower if len(lower) == len(text) else text
