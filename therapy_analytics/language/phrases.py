"""Phrases with slots, found in turns: sequences of words, kinds of words and gaps that stay within a sentence.

The phrases stand in ``lexicons/alliance.toml`` and ``lexicons/ruptures.toml``; docs/lexicons.md says how they are
written. For each meaning, words that its phrases tell apart become different characters; turns are then short strings,
the phrases a regular expression, and the turns of a session are searched in one pass a meaning.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.lexicons import lexicon_folder
from therapy_analytics.language.said import QUOTES, Ints, Marks, Said, said, said_fluently
from therapy_analytics.session import Role

GAP = 3
"""Most words that ``...`` and ``~`` stand for."""
_SIGNS = frozenset({"...", "~", "^", "$"})
_OTHER, _STOP, _TURN = "\0", "\1", "\2"
_FIRST = 3
"""Words of phrases have characters from here on: those of one meaning rarely need more than 256, and so one byte."""
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
"""Words that speak against a phrase, and within how many words before it."""
_SHORT_QUESTION = 8
Part = str | tuple[frozenset[str], bool]
Pattern = tuple[Part, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Phrases:
    """Phrases of one meaning, and what speaks against them where they begin.

    Attributes
    ----------
    patterns : tuple of tuple of parts
        A part is the set of words that may stand there, with whether it may be left out, or a sign: ``...`` up to
        `GAP` words that do not negate, ``~`` up to `GAP` words, ``^`` and ``$`` the begin and end of a sentence.
    unless : tuple of str
        Names of `_GUARDS`: ``negated``, ``reported``, ``supposed``, ``asked``, ``refused``, ``sought``, ``hearsay``.
    characters : mapping of str to str
        The character of each of their words; words that no phrase tells apart have the same.
    """

    patterns: tuple[Pattern, ...]
    unless: tuple[str, ...]
    characters: Mapping[str, str] = field(repr=False)

    @property
    def begins(self) -> re.Pattern[str]:
        """Matches the first word of each place where one of the phrases begins."""
        return _expression(self, whole=False)

    @property
    def turns(self) -> re.Pattern[str]:
        """Matches turns that consist of such phrases."""
        return _expression(self, whole=True)


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
        Whether phrases are looked for without fillers and doubled words, and quotation marks are seen.
    """

    phrases: Mapping[str, Phrases] = field(repr=False)
    slots: Mapping[str, frozenset[str]] = field(repr=False)
    fluent: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Written:
    """Words in a line, with a sign before each sentence and turn, to be written in the characters of each meaning.

    `line` holds the numbers of words in `Said.index`, then those of the signs; `place` says where in it each word is,
    `sentence_of` to which sign each place belongs, `often` how often each word and sign occurs.
    """

    line: Ints
    words: Said
    place: Ints
    sentence_of: Ints
    often: Ints

    def where(self, phrases: Phrases, *, whole: bool = False) -> Ints:
        """Return the words at which a phrase begins, or a turn of nothing but phrases."""
        index = self.words.index
        letters = np.full(len(index) + 3, ord(_OTHER))
        words, own = _letters(phrases)
        letters[np.fromiter(map(index.get, words, repeat(-1)), np.int64, len(words))] = own
        letters = letters[:-1]  # without the place of what is not said
        letters[-2:] = ord(_STOP), ord(_TURN)
        places = np.arange(len(self.line)) if whole else self._likely(letters, phrases)
        text = letters.take(self.line.take(places)).astype("<u4").tobytes().decode("utf-32-le")
        found = (phrases.turns if whole else phrases.begins).finditer(text)
        begins = np.array([one.start() for one in found], dtype=np.int64)
        return np.searchsorted(self.place, places[begins])

    def _likely(self, letters: Ints, phrases: Phrases) -> Ints:
        """Return the places in the line of sentences that may hold a phrase, and of the sign that ends the line.

        Of some phrase they hold that part, among those that must stand there, which is rarest in the line.
        """
        parts, first, phrase_of = _parts(phrases)
        often = parts @ np.bincount(letters, self.often, parts.shape[1])
        rarest = np.minimum.reduceat(often, first)
        if not rarest.any():
            return np.array([len(self.line) - 1])
        chosen = often == rarest[phrase_of]
        likely = np.zeros(self.sentence_of[-1] + 1, dtype=np.bool_)
        there = np.flatnonzero((chosen @ parts > 0).take(letters).take(self.line))
        likely[self.sentence_of.take(there)] = True
        likely[-1] = True
        return np.flatnonzero(likely.take(self.sentence_of))


@functools.cache
def load_book(lexicon: str) -> Book:
    """Read the phrases and slots of a lexicon that comes with the package."""
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
    parsed = {name: [parse(one, slots) for one in table["patterns"]] for name, table in lexicon["phrases"].items()}
    phrases = {
        name: Phrases(tuple(patterns), tuple(lexicon["phrases"][name].get("unless", ())), _characters(patterns))
        for name, patterns in parsed.items()
    }
    return Book(phrases, slots, lexicon.get("fluent", False))


def _characters(patterns: Sequence[Pattern]) -> Mapping[str, str]:
    """Return a character for each word; words that stand in the same places have the same."""
    sets = {part[0] for pattern in patterns for part in pattern if not isinstance(part, str)} | {_NEGATIONS}
    places: dict[str, list[int]] = {}
    for place, words in enumerate(sorted(sets, key=sorted)):
        for word in words:
            places.setdefault(word, []).append(place)
    kinds: dict[tuple[int, ...], str] = {}
    return {word: kinds.setdefault(tuple(at), chr(_FIRST + len(kinds))) for word, at in sorted(places.items())}


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
    """Write phrases so that searching is quick: what only sentences begin with apart, and first the first words."""
    characters = phrases.characters

    def either(some: Iterable[Pattern]) -> str:
        return _any_way([[_written(part, characters) for part in pattern] for pattern in some])

    free = [pattern for pattern in phrases.patterns if pattern[0] != "^"]
    begin = [pattern[1:] for pattern in phrases.patterns if pattern[0] == "^"]
    ways = [f"(?={_any_of((word for pattern in free for word in pattern[0][0]), characters)})(?:{either(free)})"]
    ways = ways if free else []
    ways += [f"{_written('^', characters)}(?:{either(begin)})"] if begin else []
    one = f"(?:{'|'.join(ways)})"
    if whole:
        return re.compile(f"{_TURN}(?:{one}{_STOP}?)+(?={_TURN})")
    # A set of characters that comes first is looked for fastest; the rest is then tried where its match began
    openers = [_openers(pattern) for pattern in phrases.patterns]
    first = _any_of(frozenset().union(*openers), characters) if all(openers) else f"[^{_STOP}{_TURN}]"
    return re.compile(f"{first}(?<=(?={one}).)", re.DOTALL)


def _any_way(ways: Sequence[Sequence[str]]) -> str:
    """Return an expression for any of several rows of parts; what several begin with is written, and tried, once.

    Examples
    --------
    >>> _any_way([["a", "b"], ["c"], ["a", "b?", "d"], ["a", "b"]])
    'a(?:b|b?d)|c'
    """
    after: dict[str, list[Sequence[str]]] = {}
    for way in ways:
        after.setdefault("".join(way[:1]), []).append(way[1:])
    return "|".join(head + _rest(rests) for head, rests in after.items())


def _rest(ways: Sequence[Sequence[str]]) -> str:
    found = _any_way(ways) if any(ways) else ""
    return f"(?:{found})" if "|" in found else found


@functools.cache
def _letters(phrases: Phrases) -> tuple[tuple[str, ...], Ints]:
    """Return the words of phrases, and the number of the character of each."""
    return tuple(phrases.characters), np.array([ord(one) for one in phrases.characters.values()])


@functools.cache
def _parts(phrases: Phrases) -> tuple[NDArray[np.float64], Ints, Ints]:
    """Return the characters of each part that must stand in a phrase, the first of each phrase, and whose each is.

    The parts are 0 and 1, (n_parts, n_characters). A phrase of which no part must be there has one of all characters.
    """
    n = _FIRST + len(set(phrases.characters.values()))
    rows: list[list[int]] = []
    phrase_of: list[int] = []
    for number, pattern in enumerate(phrases.patterns):
        sure = [part[0] for part in pattern if not isinstance(part, str) and not part[1]]
        rows += [[ord(phrases.characters[word]) for word in words] for words in sure] or [[*range(n)]]
        phrase_of += [number] * (len(rows) - len(phrase_of))
    parts = np.zeros((len(rows), n))
    for row, letters in zip(parts, rows, strict=True):
        row[letters] = 1.0
    return parts, np.flatnonzero(np.diff(phrase_of, prepend=-1)), np.array(phrase_of)


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
    """Return what stands for a part of a phrase in a regular expression."""
    if part == "...":
        return f"{_any_of(_NEGATIONS, characters, but=True)}{{0,{GAP}}}"
    if part == "~":
        return f"[^{_STOP}{_TURN}]{{0,{GAP}}}"
    if isinstance(part, str):
        return f"(?{'<' if part == '^' else ''}=[{_STOP}{_TURN}])"
    return f"{_any_of(part[0], characters)}{'?' if part[1] else ''}"


def _any_of(words: Iterable[str], characters: Mapping[str, str], *, but: bool = False) -> str:
    """Return a set of the characters of words; or of all but these and the signs."""
    letters = re.escape("".join(sorted({characters[word] for word in words})))
    return f"[^{_STOP}{_TURN}{letters}]" if but else f"[{letters}]"


def slot(name: str) -> frozenset[str]:
    """Return the words of a slot, ``lexicon.slot``."""
    lexicon, _, own = name.partition(".")
    return load_book(lexicon).slots[own]


def turns_with(
    session: AnnotatedSession, name: str, role: Role, *, first: int | None = None, last: int | None = None
) -> Marks:
    """Return which turns of a role have a phrase of a meaning that nothing speaks against, bool (n_turns,).

    Parameters
    ----------
    session : AnnotatedSession
        Its turns.
    name : str
        ``lexicon.meaning``, as in ``alliance.thanks``.
    role : str
        Whose turns.
    first, last : int, optional
        The phrase must begin among so many words at the turn's beginning, or end.
    """

    def find(one: AnnotatedSession) -> Marks:
        return _turns_with(one, name, role, (first, last))

    return session.cached(find, key=(turns_with, name, role, first, last)).copy()


def _turns_with(session: AnnotatedSession, name: str, role: Role, among: tuple[int | None, int | None]) -> Marks:
    lexicon, _, meaning = name.partition(".")
    text, phrases = _text(session, lexicon, role), load_book(lexicon).phrases[meaning]
    words, begins = text.words, text.where(phrases)
    for guard in phrases.unless if len(begins) else ():
        begins = begins[~_guarded(words, guard, begins)]
    turns, (first, last) = words.turn_of[begins], among
    if first is not None:
        turns = turns[begins - np.searchsorted(words.turn_of, turns) < first]
    if last is not None:
        turns = turns[np.searchsorted(words.turn_of, turns, side="right") - begins <= last]
    return _among(turns, len(session))


def turns_of(session: AnnotatedSession, name: str, role: Role) -> Marks:
    """Return which turns of a role consist of phrases of a meaning and nothing else, bool (n_turns,)."""

    def find(one: AnnotatedSession) -> Marks:
        lexicon, _, meaning = name.partition(".")
        text, phrases = _text(one, lexicon, role), load_book(lexicon).phrases[meaning]
        return _among(text.words.turn_of[text.where(phrases, whole=True)], len(one))

    return session.cached(find, key=(turns_of, name, role)).copy()


def _among(turns: Ints, n: int) -> Marks:
    found = np.zeros(n, dtype=np.bool_)
    found[turns] = True
    return found


def _text(session: AnnotatedSession, lexicon: str, role: Role) -> _Written:
    """Return the words of a role in a line, made once for the lexicons that are read alike."""
    fluent = load_book(lexicon).fluent

    def write(one: AnnotatedSession) -> _Written:
        words = said_fluently(one) if fluent else said(one)
        return _in_line(words.only(one.of(role)))

    return session.cached(write, key=(_Written, fluent, role))


def _in_line(words: Said) -> _Written:
    stop = len(words.index)
    opens = np.flatnonzero(~words.goes_on)
    turn = np.append(True, np.diff(words.turn_of) > 0)[: len(words.ids)]
    line = np.append(np.insert(words.ids, opens, stop + turn[opens]), stop + 1)
    place = np.arange(len(words.ids)) + np.cumsum(~words.goes_on)
    sentence_of = np.cumsum(line >= stop) - 1
    return _Written(line, words, place, sentence_of, np.bincount(line, minlength=stop + 2))


def _guarded(words: Said, guard: str, at: Ints) -> Marks:
    """Return at which of these words a phrase that begins there would be negated, another's words, a question, ..."""
    marked, back = _GUARDS[guard]
    against = words.near(words.are(marked), back, at=at)
    if guard == "asked":
        left = np.searchsorted(words.sentence_of, words.sentence_of[at], side="right") - at
        against |= words.asks[at] & (left <= _SHORT_QUESTION)
    return against
