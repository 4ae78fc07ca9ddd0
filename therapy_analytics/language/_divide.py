"""Words as tokens, by the rules of spaCy's English tokeniser: `divide` gives what ``spacy.blank("en")`` would.

A word, all that stands between spaces, is looked up among special ones (*don't*, *:-)*); else signs are taken off its
begin and end as long as there are any, and what is left is cut at hyphens and the like. At last, special ones that came
apart on the way are put together. The rules are data (tokenizer/rules.json, by tools/build_tokenizer_rules.py):
loading spaCy took a quarter of the processor time until the first session of a run was written.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import NamedTuple

RULES = Path(__file__).parent / "tokenizer" / "rules.json"
Pieces = tuple[tuple[str, str], ...]
"""Tokens as they are written, each with its normal form."""
_KEPT = 10_000
"""So many words are remembered with their pieces, as spaCy does."""
_LONG = 64
"""Signs at the end of a word; no pattern for what is taken off is longer but that of a row of dots."""
_BREAKS = re.compile(r"\s{2,}|[^\S ]")


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """How words are divided.

    Attributes
    ----------
    prefix, suffix, infix, url : re.Pattern
        What is taken off a word's begin and end, what cuts it, and what is not cut.
    norms : mapping of str to str
        Normal forms of tokens for which that is not the lower-cased one.
    special : mapping of str to Pieces
        Words that are not divided by these patterns.
    in_pieces : mapping of tuple of str to Pieces
        Some of them, by the tokens that the patterns would make of them.
    longest : int
        Most tokens in these.
    neighbours : frozenset of (str, str)
        Tokens that follow each other in these.
    later : frozenset of str
        Those that follow another.
    """

    prefix: re.Pattern[str]
    suffix: re.Pattern[str]
    infix: re.Pattern[str]
    url: re.Pattern[str]
    norms: Mapping[str, str]
    special: Mapping[str, Pieces]
    in_pieces: Mapping[tuple[str, ...], Pieces]
    longest: int
    neighbours: frozenset[tuple[str, str]]
    later: frozenset[str]


class Word(NamedTuple):
    """A word divided.

    Attributes
    ----------
    apart, pieces : Pieces
        Its tokens before and after special words that came apart in it are put together.
    goes_on : bool
        Whether it begins as the rest of a special word does, so that the word before it matters.
    """

    apart: Pieces
    pieces: Pieces
    goes_on: bool


@functools.cache
def rules() -> Rules:
    """Read the rules of the package."""
    data = json.loads(RULES.read_text(encoding="ascii"))
    special = {word: tuple((form, norm) for form, norm in pieces) for word, pieces in data["special"].items()}
    in_pieces = {tuple(pieces): special[word] for word, pieces in data["in_pieces"].items()}
    return Rules(
        **{name: re.compile(data[name]) for name in ("prefix", "suffix", "infix", "url")},
        norms=data["norms"],
        special=special,
        in_pieces=in_pieces,
        longest=max(map(len, in_pieces)),
        neighbours=frozenset(pair for pieces in in_pieces for pair in pairwise(pieces)),
        later=frozenset(form for pieces in in_pieces for form in pieces[1:]),
    )


def divide(text: str) -> list[Pieces]:
    """Return the tokens of each word of a text.

    Examples
    --------
    >>> divide("i don't (really).")
    [(('i', 'i'),), (('do', 'do'), ("n't", 'not')), (('(', '('), ('really', 'really'), (')', ')'), ('.', '.'))]
    """
    words = text.split()
    if each_alone(words):
        return [word_of(word).pieces for word in words]
    # spaCy looks for special words in all that only single spaces divide, and those that overlap exclude each other
    found: list[Pieces] = []
    for part in _BREAKS.split(text):
        found += _put_together([word_of(word).apart for word in part.split()])
    return found


def each_alone(words: Sequence[str]) -> bool:
    """Return whether words that follow one another are divided as each would be by itself."""
    pairs = pairwise(map(word_of, words))
    return rules().neighbours.isdisjoint((one.apart[-1][0], other.apart[0][0]) for one, other in pairs if other.goes_on)


@functools.lru_cache(maxsize=_KEPT)
def word_of(word: str) -> Word:
    """Return a word divided, whatever stands beside it."""
    special = rules().special.get(word)
    if special is None and word.isalpha():
        special = (_token(word),)
    apart = special or tuple(_tokens(word))
    return Word(apart, _put_together([apart])[0], apart[0][0] in rules().later)


def _token(form: str) -> tuple[str, str]:
    return form, rules().norms.get(form, form.lower())


def _tokens(word: str) -> Iterator[tuple[str, str]]:
    """Take signs off a word as long as there are any and no special word is left, and cut the rest."""
    known, before, after = rules(), [], []
    size = 0
    while word and len(word) != size and word not in known.special:
        size = len(word)
        begin = _length(known.prefix.match(word))
        if begin and word[begin:] in known.special:
            before.append(word[:begin])
            word = word[begin:]
            break
        end = _end_of(word[begin:])
        if end and word[:-end] in known.special:
            after.append(word[-end:])
            word = word[:-end]
            break
        before += [word[:begin]] if begin else []
        after += [word[size - end :]] if end else []
        word = word[begin : size - end]
    yield from map(_token, before)
    yield from known.special.get(word) or map(_token, _cut(word))
    yield from map(_token, reversed(after))


def _end_of(word: str) -> int:
    """Return how much is taken off a word's end: looked for from its begin on, a thousand signs took a second."""
    suffix, late = rules().suffix, max(len(word) - _LONG, 0)
    found = suffix.search(word, late)
    return _length(suffix.search(word) if found and found.start() == late else found)


def _length(match: re.Match[str] | None) -> int:
    return match.end() - match.start() if match else 0


def _cut(word: str) -> Iterator[str]:
    """Cut what has no signs at its begin and end at those inside."""
    known, done = rules(), 0
    for match in () if known.url.match(word) else known.infix.finditer(word):
        begin, end = match.span()
        if begin:
            yield from filter(None, (word[done:begin], word[begin:end]))
            done = end
    yield from filter(None, (word[done:],))


def _put_together(words: Sequence[Pieces]) -> list[Pieces]:
    """Put special words together that came apart; the longest first, of those as long the first."""
    forms = [form for word in words for form, _ in word]
    known = rules().in_pieces
    runs = list(_special_runs(forms))
    if not runs:
        return list(words)
    bounds = [0, *accumulate(map(len, words))]
    found: list[Pieces] = [(token,) for word in words for token in word]
    seen: set[int] = set()
    for begin, end in sorted(runs, key=lambda run: (run[0] - run[1], run[0])):
        free = begin not in seen and end - 1 not in seen
        seen.update(range(begin, end))
        if free and not any(begin < bound < end for bound in bounds):
            found[begin:end] = [known[tuple(forms[begin:end])], *[()] * (end - begin - 1)]
    return [tuple(chain.from_iterable(found[begin:end])) for begin, end in pairwise(bounds)]


def _special_runs(forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    known = rules()
    for begin, pair in enumerate(pairwise(forms)):
        if pair in known.neighbours:
            for end in range(begin + 2, min(begin + known.longest, len(forms)) + 1):
                if tuple(forms[begin:end]) in known.in_pieces:
                    yield begin, end
