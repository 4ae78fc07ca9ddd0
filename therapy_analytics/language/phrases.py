"""Phrases with slots, found in turns: sequences of words, sets of words and gaps, within one sentence.

The phrases are in ``lexicons/*.toml``; docs/lexicons.md describes how they are written. For each meaning, every word of
its phrases is replaced by a character (words that its phrases do not tell apart share one, all other words share
another); a session is then a string, and the phrases are one regular expression.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.lexicons import lexicon_folder
from therapy_analytics.language.word_sequence import QUOTES, Ints, Marks, WordSequence, fluent_words, word_sequence
from therapy_analytics.session import Role

GAP = 3
"""Most words that ``...`` and ``~`` stand for."""
_SIGNS = frozenset({"...", "~", "^", "$"})
_OTHER, _SENTENCE, _TURN = "\0", "\1", "\2"
"""Characters of words that no phrase has, of the beginning of a sentence, and of that of a turn."""
_FIRST = 3
"""The characters of words of phrases begin here."""
_NEGATIONS = frozenset({"not", "never", "nothing", "nobody", "hardly", "barely", "without", "neither", "nor", "n't"})
_REPORTS = frozenset({"said", "says", "told", "tells", "saying", "replied", "claims", "thinks"})
_SUPPOSES = frozenset({"if", "whether", "unless", "should", "wish", "hope", "hoping", "suppose", "imagine"})
_SEEKS = frozenset({"what", "which", "where", "when", "how", "who"})
_ASKS = frozenset({
    "are", "can", "could", "did", "do", "does", "has", "have", "how", "is", "was", "were", "what", "when", "where",
    "why",
})  # fmt: skip
_HEARSAY = frozenset({
    "after", "asked", "goes", "if", "once", "said", "say", "saying", "says", "screaming", "sometimes", "tell",
    "telling", "tells", "thought", "told", "unless", "until", "went", "when", "wondering", "yelled", "yelling",
})  # fmt: skip
_GUARDS: Mapping[str, tuple[frozenset[str], int]] = {
    "negated": (_NEGATIONS, 4),
    "reported": (_REPORTS, 6),
    "supposed": (_SUPPOSES, 4),
    "asked": (_ASKS, 2),
    "refused": (frozenset({"no", "not", "good", "fine"}), 1),
    "sought": (_SEEKS, 1),
    "hearsay": (_HEARSAY | QUOTES, 4),
}
"""Words that rule a phrase out, and within how many words before it."""
_SHORT_QUESTION = 8
Part = str | tuple[frozenset[str], bool]
Pattern = tuple[Part, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """Phrases of one meaning, and the guards that rule them out.

    Attributes
    ----------
    patterns : tuple of tuple of parts
        A part is a set of words with whether it may be left out, or a sign: ``...`` for up to `GAP` words without a
        negation, ``~`` for up to `GAP` words, ``^`` and ``$`` for the begin and end of a sentence.
    unless : tuple of str
        Names of `_GUARDS`: ``negated``, ``reported``, ``supposed``, ``asked``, ``refused``, ``sought``, ``hearsay``.
    characters : mapping of str to str
        The character of each word; words that stand in the same parts share one.
    """

    patterns: tuple[Pattern, ...]
    unless: tuple[str, ...]
    characters: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """A file of phrases, compiled.

    Attributes
    ----------
    phrases : mapping of str to Phrases
        By their meaning.
    slots : mapping of str to frozenset of str
        The words of each slot.
    fluent : bool
        Whether phrases are looked for without fillers and repetitions, and with quotation marks.
    """

    phrases: Mapping[str, Phrases] = field(repr=False)
    slots: Mapping[str, frozenset[str]] = field(repr=False)
    fluent: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """The words of a role, with a sign before each sentence and turn and one at the end.

    Attributes
    ----------
    words : WordSequence
        The words.
    line : int64 array (n_words + n_signs,)
        Numbers of words in `WordSequence.index`; then come those of the two signs.
    place : int64 array (n_words,)
        Where each word is in the line.
    """

    words: WordSequence
    line: Ints
    place: Ints

    def find(self, phrases: Phrases, *, whole: bool = False) -> Ints:
        """Return the words at which a phrase begins, or the first words of turns that consist of phrases."""
        letters = [phrases.characters.get(word, _OTHER) for word in self.words.index]
        code = np.array([ord(one) for one in (*letters, _SENTENCE, _TURN)], dtype="<u4")
        text = code[self.line].tobytes().decode("utf-32-le")
        begins = [match.start() for match in _expression(phrases, whole=whole).finditer(text)]
        return np.searchsorted(self.place, np.array(begins, dtype=np.int64))


@functools.cache
def load_book(lexicon: str) -> Book:
    """Read the phrases and slots of a lexicon of the package."""
    return compiled(tomllib.loads((lexicon_folder() / f"{lexicon}.toml").read_text(encoding="utf-8")))


def compiled(lexicon: Mapping[str, Any]) -> Book:
    """Compile a lexicon: tables ``phrases`` (each with patterns and unless) and ``categories``, its slots.

    Examples
    --------
    >>> found = compiled({"categories": {"kin": {"words": ["mum"]}}, "phrases": {"a": {"patterns": ["my @kin|boss"]}}})
    >>> sorted({"boss", "kin", "mum", "my"} & set(found.phrases["a"].characters))
    ['boss', 'mum', 'my']
    """
    slots = {name: frozenset(one["words"]) for name, one in lexicon.get("categories", {}).items()}
    phrases = {}
    for name, table in lexicon["phrases"].items():
        patterns = tuple(parse(one, slots) for one in table["patterns"])
        phrases[name] = Phrases(patterns, tuple(table.get("unless", ())), _characters(patterns))
    return Book(phrases, slots, lexicon.get("fluent", False))


def _characters(patterns: Sequence[Pattern]) -> Mapping[str, str]:
    """Return a character for each word; words that stand in the same parts share one."""
    sets = {part[0] for pattern in patterns for part in pattern if not isinstance(part, str)} | {_NEGATIONS}
    parts: dict[str, list[int]] = {}
    for number, words in enumerate(sorted(sets, key=sorted)):
        for word in words:
            parts.setdefault(word, []).append(number)
    kinds: dict[tuple[int, ...], str] = {}
    return {word: kinds.setdefault(tuple(own), chr(_FIRST + len(kinds))) for word, own in sorted(parts.items())}


def parse(pattern: str, slots: Mapping[str, frozenset[str]]) -> Pattern:
    """Return the parts of a phrase.

    Examples
    --------
    >>> parts = parse("^ you did|do so? ... @fine $", {"fine": frozenset({"well"})})
    >>> [part if isinstance(part, str) else (sorted(part[0]), part[1]) for part in parts]
    ['^', (['you'], False), (['did', 'do'], False), (['so'], True), '...', (['well'], False), '$']
    """
    return tuple(part if part in _SIGNS else _words(part, slots) for part in pattern.split())


def _words(part: str, slots: Mapping[str, frozenset[str]]) -> tuple[frozenset[str], bool]:
    names = part.removesuffix("?").split("|")
    return frozenset().union(*(slots[one[1:]] if one[0] == "@" else {one} for one in names)), part.endswith("?")


@functools.cache
def _expression(phrases: Phrases, *, whole: bool) -> re.Pattern[str]:
    """Return an expression for turns that consist of phrases, or for the first words of phrases."""
    written = ("".join(_written(part, phrases.characters) for part in pattern) for pattern in phrases.patterns)
    one = f"(?:{'|'.join(written)})"
    if whole:
        return re.compile(f"{_TURN}(?:{one}{_SENTENCE}?)+(?={_TURN})")
    # Searching for a set of characters is fast; only where one of them stands are the phrases tried, from there
    openers = [_openers(pattern) for pattern in phrases.patterns]
    first = _any_of(frozenset().union(*openers), phrases.characters) if all(openers) else f"[^{_SENTENCE}{_TURN}]"
    return re.compile(f"{first}(?<=(?={one}).)", re.DOTALL)


def _openers(pattern: Pattern) -> frozenset[str]:
    """Return the words that a phrase may begin with; none where any word may."""
    found: frozenset[str] = frozenset()
    for part in pattern[1:] if pattern[0] == "^" else pattern:
        if isinstance(part, str):
            return frozenset()
        found |= part[0]
        if not part[1]:
            break
    return found


def _written(part: Part, characters: Mapping[str, str]) -> str:
    """Return the regular expression of a part of a phrase."""
    if part == "...":
        return f"{_any_of(_NEGATIONS, characters, but=True)}{{0,{GAP}}}"
    if part == "~":
        return f"[^{_SENTENCE}{_TURN}]{{0,{GAP}}}"
    if isinstance(part, str):
        return f"(?{'<' if part == '^' else ''}=[{_SENTENCE}{_TURN}])"
    return f"{_any_of(part[0], characters)}{'?' if part[1] else ''}"


def _any_of(words: Iterable[str], characters: Mapping[str, str], *, but: bool = False) -> str:
    """Return a set of the characters of words; or of all but these and the signs."""
    letters = re.escape("".join(sorted({characters[word] for word in words})))
    return f"[^{_SENTENCE}{_TURN}{letters}]" if but else f"[{letters}]"


def slot(name: str) -> frozenset[str]:
    """Return the words of a slot, ``lexicon.slot``."""
    lexicon, _, own = name.partition(".")
    return load_book(lexicon).slots[own]


def turns_with(
    session: AnnotatedSession, name: str, role: Role, *, first: int | None = None, last: int | None = None
) -> Marks:
    """Return which turns of a role have a phrase of a meaning that no guard rules out, bool (n_turns,).

    Parameters
    ----------
    session : AnnotatedSession
        The session.
    name : str
        ``lexicon.meaning``, as in ``alliance.thanks``.
    role : str
        Whose turns.
    first, last : int, optional
        The phrase must begin among so many words at the turn's beginning, or end.
    """

    def find(one: AnnotatedSession) -> Marks:
        line, phrases = _line_and_phrases(one, name, role)
        words, begins = line.words, line.find(phrases)
        for guard in phrases.unless if len(begins) else ():
            begins = begins[~_guarded(words, guard, begins)]
        turns = words.turn_of[begins]
        near = np.ones(len(turns), dtype=np.bool_)
        if first is not None:
            near &= begins - np.searchsorted(words.turn_of, turns) < first
        if last is not None:
            near &= np.searchsorted(words.turn_of, turns, side="right") - begins <= last
        return np.isin(np.arange(len(one)), turns[near])

    return session.cached(find, key=(turns_with, name, role, first, last)).copy()


def turns_of(session: AnnotatedSession, name: str, role: Role) -> Marks:
    """Return which turns of a role consist of phrases of a meaning and nothing else, bool (n_turns,)."""

    def find(one: AnnotatedSession) -> Marks:
        line, phrases = _line_and_phrases(one, name, role)
        return np.isin(np.arange(len(one)), line.words.turn_of[line.find(phrases, whole=True)])

    return session.cached(find, key=(turns_of, name, role)).copy()


def _line_and_phrases(session: AnnotatedSession, name: str, role: Role) -> tuple[_Line, Phrases]:
    """Return the words of a role, made once for all lexicons that are read alike, and the phrases of a meaning."""
    lexicon, _, meaning = name.partition(".")
    book = load_book(lexicon)

    def write(one: AnnotatedSession) -> _Line:
        words = fluent_words(one) if book.fluent else word_sequence(one)
        return _with_signs(words.only(one.spoken_by(role)))

    return session.cached(write, key=(_Line, book.fluent, role)), book.phrases[meaning]


def _with_signs(words: WordSequence) -> _Line:
    sentence, turn = len(words.index), len(words.index) + 1
    begins = np.flatnonzero(~words.goes_on)
    new_turn = np.diff(words.turn_of[begins], prepend=-1) > 0
    line = np.append(np.insert(words.ids, begins, np.where(new_turn, turn, sentence)), turn)
    return _Line(words, line, np.arange(len(words.ids)) + np.cumsum(~words.goes_on))


def _guarded(words: WordSequence, guard: str, at: Ints) -> Marks:
    """Return whether a guard rules a phrase out, for phrases that begin at some words, bool (n,)."""
    marked, back = _GUARDS[guard]
    against = words.near(words.are(marked), back, at=at)
    if guard == "asked":
        left = np.searchsorted(words.sentence_of, words.sentence_of[at], side="right") - at
        against |= words.asks[at] & (left <= _SHORT_QUESTION)
    return against
