"""What was left in and may yet identify somebody, for the person who reads the copy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from therapy_analytics.redact._found import protected
from therapy_analytics.redact._spoken import runs
from therapy_analytics.redact._tokens import Token, straight, tokens
from therapy_analytics.redact._vocabulary import CALLINGS, MONTHS, SPOKEN, TITLES

_YEAR = re.compile("(?:19|20)\\d\\d")
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Left:
    """A word or a number to look at."""

    span: tuple[int, int]
    kind: str
    rule: str
    words: str = field(repr=False)


def left_in(text: str) -> Iterator[Left]:
    """Yield capitalised words that are no ordinary ones, words that no list has, and numbers of three digits and more.

    Examples
    --------
    >>> [(one.kind, one.words) for one in left_in("Ask Zorblat about room 214 in 2021.")]
    [('WORD', 'Zorblat'), ('NUMBER', '214')]
    """
    taken = protected(text)
    plain = straight(text)
    words = tokens(plain)
    cased = any(word.capital and word.word != "i" for word in words)
    found = [
        Left((word.start, word.end), "WORD", rule, text[word.start : word.end])
        for word in words
        if (rule := _why(word, cased))
    ]
    found += [
        Left((run.start, run.end), "NUMBER", "number", text[run.start : run.end])
        for run in runs(plain)
        if len(run.digits) >= _SHORTEST and not _YEAR.fullmatch(run.digits)
    ]
    for one in sorted(found, key=lambda one: one.span):
        if not any(start < one.span[1] and one.span[0] < end for start, end in taken):
            yield one


def _why(word: Token, cased: bool) -> str:
    """Return why a word should be looked at, or nothing."""
    if word.kept or word.word in SPOKEN or word.word in TITLES or word.word in CALLINGS or len(word.word) < _SHORTEST:
        return ""
    if word.capital and not word.opens and (word.listed or not word.ordinary):
        return "month" if word.word in MONTHS else "capital"
    if word.capital and word.common and word.ordinary and not word.kept:
        return "name_or_word"
    return "unknown_word" if word.unknown and (word.capital or not cased) else ""
