"""Words of a text with what lists say about them."""

from __future__ import annotations

import functools
import gzip
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from therapy_analytics.language.wordpiece import VOCABULARY
from therapy_analytics.redact._vocabulary import KEPT, NEARLY_ALWAYS_NAMES, SPOKEN, WEEKDAYS
from therapy_analytics.session import Turn

_WORD = re.compile(r"[^\W_]+(?:['\-\u2010\u2011][^\W_]+)*")
_STRAIGHT = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'"})
_OPENS = re.compile(
    r"(?:^|[.!?\u2026:;\n\u2014\u2013]|--|[.!?]['\"\u201d)\]]|(?<!\w)['\"\u201c(\[])[\s'\"\u201c(\[*-]*$"
)
_ABBREVIATED = re.compile(r"\b(?:mr|mrs|ms|dr|st|prof|rev|sgt|capt|lt|fr|sr|jr|mt|ft|[a-z])\.\s*$", re.IGNORECASE)
_IRISH = re.compile(r"^([odl])'(\w{3,})$")
_POSSESSIVE = re.compile(r"'s?$")
_OFTEN = 7_000
_LISTS = Path(__file__).with_name("lists")


@functools.cache
def word_list(name: str) -> frozenset[str]:
    """Return a list of the package: first_names, common_names, last_names, places or words, lower-cased."""
    return frozenset(gzip.decompress((_LISTS / f"{name}.txt.gz").read_bytes()).decode().split("\n"))


@functools.cache
def _ranks() -> dict[str, int]:
    """Return the rank of each word in the vocabulary of BERT, in which frequent words come first."""
    return {word: rank for rank, word in enumerate(VOCABULARY.read_text(encoding="utf-8").split("\n"))}


def seldom(word: str, than: int = _OFTEN) -> bool:
    """Return whether a word is not among the most frequent ones."""
    return _ranks().get(word, than) >= than


def straight(text: str) -> str:
    """Return the text with straight apostrophes; every character keeps its position."""
    return text.translate(_STRAIGHT)


@functools.lru_cache(maxsize=1 << 16)
def plain(word: str) -> str:
    """Return a word in lower case, without accents.

    Examples
    --------
    >>> plain("Renée")
    'renee'
    """
    spread = unicodedata.normalize("NFKD", word.lower())
    return "".join(sign for sign in spread if not unicodedata.combining(sign))


def without_capitals(turns: Sequence[Turn]) -> bool:
    """Return whether turns have no capital letter at all, as from a speech recogniser."""
    return not any(sign.isupper() for turn in turns for sign in turn.text)


def texts_before(turns: Sequence[Turn]) -> list[str]:
    """Return the text of the turn before each turn, "" for the first."""
    return ["", *(turn.text for turn in turns[:-1])] if turns else []


@dataclass(frozen=True, slots=True)
class Token:
    """A word and its properties.

    Attributes
    ----------
    start, end : int
        Characters of the text, without a possessive ``'s``.
    word : str
        Without accents and possessive, lower-cased.
    capital, opens, possessive : bool
        Whether it begins with a capital letter, opens a sentence, has an ``'s``.
    first, last, common : bool
        Whether it is a first name, a family name, the first name of 5,000 people or more, by the US census of 2020.
    ordinary : bool
        Whether it is also an English word that is written with a small letter.
    kept : bool
        Whether it names what identifies nobody: a weekday, a language, a country, a medicine.
    """

    start: int
    end: int
    word: str = field(repr=False)
    capital: bool
    opens: bool
    possessive: bool
    first: bool
    last: bool
    common: bool
    ordinary: bool
    kept: bool

    @property
    def listed(self) -> bool:
        """Whether it is a first or a family name."""
        return self.first or self.last

    @property
    def unknown(self) -> bool:
        """Whether it is in no list."""
        return not (self.listed or self.ordinary or self.kept)


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """A text and its words.

    Attributes
    ----------
    written : str
        The text, with straight apostrophes.
    words : list of Token
        Its words, in order.
    cased : bool
        Whether it has capital letters, not counting that of "I".
    """

    written: str
    words: list[Token] = field(init=False, repr=False)
    cased: bool = field(init=False)

    def __post_init__(self) -> None:
        words = tokens(self.written)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "cased", any(word.capital and word.word != "i" for word in words))

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, at: int) -> Token:
        return self.words[at]

    def before(self, at: int) -> str:
        """Return the word before a word, "" for the first."""
        return self.words[at - 1].word if at > 0 else ""

    def after(self, at: int) -> str:
        """Return the word after a word, "" for the last."""
        return self.words[at + 1].word if at + 1 < len(self.words) else ""

    def gap(self, at: int) -> str:
        """Return what is written between a word and the next, "" for the last."""
        return self.written[self.words[at].end : self.words[at + 1].start] if at + 1 < len(self.words) else ""

    def until(self, at: int) -> str:
        """Return what is written before a word."""
        return self.written[: self.words[at].start]


def tokens(text: str) -> list[Token]:
    """Return the words of a text, in order."""
    text = straight(text)
    found: list[Token] = []
    for match in _WORD.finditer(text):
        start, whole = match.start(), match[0]
        base = _POSSESSIVE.sub("", whole) or whole
        before = text[max(0, start - 12) : start]
        opens = (start == 0 or bool(_OPENS.search(before))) and not (_ABBREVIATED.search(before))
        found.append(_token(text[start : start + len(base)], start, opens, len(base) < len(whole)))
    return found


def _token(written: str, start: int, opens: bool, possessive: bool) -> Token:
    word = plain(written)
    first, last, common, ordinary, kept = _known(word)
    shouted = len(written) > 1 and (written.isupper() or (written[-1] == "s" and written[:-1].isupper()))
    capital = written[0].isupper() and not (shouted and not _is_name_in_capitals(word))
    return Token(start, start + len(written), word, capital, opens, possessive, first, last, common, ordinary, kept)


def _is_name_in_capitals(word: str) -> bool:
    """Return whether a word in capitals may be somebody's name: a first name that is no English word."""
    return word in word_list("first_names") and word not in word_list("words") and len(word) > 3


@functools.lru_cache(maxsize=1 << 16)
def _known(word: str) -> tuple[bool, bool, bool, bool, bool]:
    word = _IRISH.sub(r"\1\2", word)
    parts = list(dict.fromkeys(word.split("-")))  # I-I-I is I
    word = parts[0] if len(parts) == 1 else word
    spoken = "'" in word or any(part in SPOKEN for part in parts)
    first = not spoken and all(part in word_list("first_names") for part in parts)
    last = not spoken and all(part in word_list("last_names") or part in word_list("first_names") for part in parts)
    is_word = all(part in word_list("words") or part.isdigit() for part in parts) or spoken or len(word) == 1
    is_word = is_word or (not (first or last) and all(is_derived(part) for part in parts))
    common = first and word in word_list("common_names")
    return (
        first,
        last,
        common,
        is_word and word not in NEARLY_ALWAYS_NAMES,
        word in KEPT or word.removesuffix("s") in WEEKDAYS or word[0].isdigit(),
    )


_ENDINGS = ("s", "es", "ed", "d", "ing", "y", "ly", "er", "ers", "able", "ish", "less", "ness", "ful", "wise", "ize")
_OPENINGS = ("un", "re", "non", "over", "under", "pre", "anti", "self", "mid", "multi", "super", "micro", "mis", "out")
_SHORTEST_STEM = 4


def is_derived(word: str) -> bool:
    """Return whether a word is derived from one of the list of words: behaviors, relabel, peachy."""
    stems = [word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)]
    stems += [f"{stem}e" for stem in stems]
    stems += [word.removeprefix(opening) for opening in _OPENINGS if word.startswith(opening)]
    stems += [
        word.replace("our", "or"),
        word.replace("ise", "ize"),
        word.replace("ence", "ense"),
        word.removesuffix("re") + "er",
    ]
    return any(len(stem) >= _SHORTEST_STEM and stem in word_list("words") for stem in stems)
