"""Phrases with slots, found in turns: sequences of words, kinds of words and gaps that stay within a sentence.

The phrases stand in ``lexicons/alliance.toml`` and ``lexicons/ruptures.toml``; docs/lexicons.md says how they are
written. Each word of a file's phrases becomes one character, every other word another; turns are then short strings,
the phrases of one meaning a regular expression, and a session is searched in one pass a meaning.
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
from therapy_analytics.language.said import QUOTES, Ints, Marks, Said, said
from therapy_analytics.session import Role

GAP = 3
"""Most words that ``...`` and ``~`` stand for."""
_SIGNS = frozenset({"...", "~", "^", "$"})
_OTHER, _STOP, _TURN = "x", ".", "\n"
_FIRST = 0xE000
"""Words of phrases have characters from here on: the private use area, which has room for 6,400."""
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


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases of one meaning, and what speaks against them where they begin.

    Attributes
    ----------
    patterns : tuple of tuple of parts
        A part is the set of words that may stand there, with whether it may be left out, or a sign: ``...`` up to
        `GAP` words that do not negate, ``~`` up to `GAP` words, ``^`` and ``$`` the begin and end of a sentence.
    unless : tuple of str
        Names of `_GUARDS`: ``negated``, ``reported``, ``supposed``, ``asked``, ``refused``, ``sought``, ``hearsay``.
    begins : re.Pattern
        Matches, without taking a character, where one of the phrases begins.
    turns : re.Pattern
        Matches turns that consist of such phrases.
    """

    patterns: tuple[Pattern, ...]
    unless: tuple[str, ...]
    begins: re.Pattern[str] = field(repr=False)
    turns: re.Pattern[str] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """A file of phrases, compiled.

    Attributes
    ----------
    characters : mapping of str to str
        The character of each word that occurs in a phrase.
    phrases : mapping of str to Phrases
        By their meaning.
    slots : mapping of str to frozenset of str
        The words of each slot.
    fluent : bool
        Whether phrases are looked for without fillers and doubled words, and quotation marks are seen.
    """

    characters: Mapping[str, str] = field(repr=False)
    phrases: Mapping[str, Phrases] = field(repr=False)
    slots: Mapping[str, frozenset[str]] = field(repr=False)
    fluent: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Written:
    """Words as one string, a character a word, with a sign before each sentence and turn."""

    text: str
    words: Said
    place: Ints

    def words_at(self, found: Iterable[re.Match[str]]) -> Ints:
        """Return the words at which something begins."""
        return np.searchsorted(self.place, np.array([one.start() for one in found], dtype=np.int64))


@functools.cache
def load_book(lexicon: str) -> Book:
    """Read the phrases and slots of a lexicon that comes with the package."""
    return compiled(tomllib.loads((lexicon_folder() / f"{lexicon}.toml").read_text(encoding="utf-8")))


def compiled(lexicon: Mapping[str, Any]) -> Book:
    """Compile a lexicon: tables ``phrases`` (each with patterns and unless) and ``categories``, its slots.

    Examples
    --------
    >>> found = compiled({"categories": {"kin": {"words": ["mum"]}}, "phrases": {"a": {"patterns": ["my @kin|boss"]}}})
    >>> sorted({"boss", "kin", "mum", "my"} & set(found.characters))
    ['boss', 'mum', 'my']
    """
    slots = {name: frozenset(one["words"]) for name, one in lexicon.get("categories", {}).items()}
    parsed = {name: [parse(one, slots) for one in table["patterns"]] for name, table in lexicon["phrases"].items()}
    parts = [part for patterns in parsed.values() for pattern in patterns for part in pattern]
    words = _NEGATIONS.union(*(part[0] for part in parts if not isinstance(part, str)))
    characters = {word: chr(_FIRST + i) for i, word in enumerate(sorted(words))}
    phrases = {
        name: _phrases(patterns, lexicon["phrases"][name].get("unless", ()), characters)
        for name, patterns in parsed.items()
    }
    return Book(characters, phrases, slots, lexicon.get("fluent", False))


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


def _phrases(patterns: Sequence[Pattern], unless: Sequence[str], characters: Mapping[str, str]) -> Phrases:
    """Write phrases so that searching is quick: what only sentences begin with apart, and first the first words."""

    def either(some: Iterable[Pattern]) -> str:
        return "|".join("".join(_written(part, characters) for part in pattern) for pattern in some)

    free = [pattern for pattern in patterns if pattern[0] != "^"]
    begin = [pattern[1:] for pattern in patterns if pattern[0] == "^"]
    first = "".join(sorted({characters[word] for pattern in free for word in pattern[0][0]}))
    ways = [f"(?=[{first}])(?:{either(free)})"] if free else []
    ways += [f"{_written('^', characters)}(?:{either(begin)})"] if begin else []
    one = f"(?:{'|'.join(ways)})"
    whole = f"{_TURN}(?:{one}{re.escape(_STOP)}?)+(?={_TURN})"
    return Phrases(tuple(patterns), tuple(unless), re.compile(f"(?={one})"), re.compile(whole))


def _written(part: Part, characters: Mapping[str, str]) -> str:
    """Return what stands for a part of a phrase in a regular expression."""
    if part in {"...", "~"}:
        never = "".join(sorted(characters[word] for word in _NEGATIONS)) if part == "..." else ""
        return f"[^{_STOP}{_TURN}{never}]{{0,{GAP}}}"
    if isinstance(part, str):
        return f"(?{'<' if part == '^' else ''}=[{_STOP}{_TURN}])"
    return f"[{''.join(sorted(characters[word] for word in part[0]))}]{'?' if part[1] else ''}"


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
    lexicon, _, meaning = name.partition(".")
    text, phrases = _text(session, lexicon, role), load_book(lexicon).phrases[meaning]
    words, begins = text.words, text.words_at(phrases.begins.finditer(text.text))
    for guard in phrases.unless if len(begins) else ():
        begins = begins[~_guarded(words, guard)[begins]]
    turns = words.turn_of[begins]
    if first is not None:
        turns = turns[begins - np.searchsorted(words.turn_of, turns) < first]
    if last is not None:
        turns = turns[np.searchsorted(words.turn_of, turns, side="right") - begins <= last]
    return _among(turns, len(session))


def turns_of(session: AnnotatedSession, name: str, role: Role) -> Marks:
    """Return which turns of a role consist of phrases of a meaning and nothing else, bool (n_turns,)."""
    lexicon, _, meaning = name.partition(".")
    text, phrases = _text(session, lexicon, role), load_book(lexicon).phrases[meaning]
    return _among(text.words.turn_of[text.words_at(phrases.turns.finditer(text.text))], len(session))


def _among(turns: Ints, n: int) -> Marks:
    found = np.zeros(n, dtype=np.bool_)
    found[turns] = True
    return found


def _text(session: AnnotatedSession, lexicon: str, role: Role) -> _Written:
    """Return the words of a role as a string, written once for each lexicon."""
    book = load_book(lexicon)

    def write(one: AnnotatedSession) -> _Written:
        words = one.once(Said.fluently) if book.fluent else said(one)
        return _write(words.only(one.of(role)), book.characters)

    return session.once(write, key=(_Written, lexicon, role))


def _write(words: Said, characters: Mapping[str, str]) -> _Written:
    letters = np.array([characters.get(word, _OTHER) for word in words.index], dtype="U1")
    opens = np.flatnonzero(~words.goes_on)
    turn = np.append(True, np.diff(words.turn_of) > 0)[: len(words.ids)]
    signs = np.where(turn[opens], _TURN, _STOP)
    line = np.insert(letters[words.ids], opens, signs) if len(opens) else letters[:0]
    place = np.arange(len(words.ids)) + np.cumsum(~words.goes_on)
    return _Written("".join(line.tolist()) + _TURN, words, place)


def _guarded(words: Said, guard: str) -> Marks:
    """Return where a phrase that begins would be negated, another's words, a question, ..."""
    marked, back = _GUARDS[guard]
    against = words.near(words.are(marked), back)
    if guard == "asked":
        left = np.searchsorted(words.sentence_of, words.sentence_of, side="right") - np.arange(len(words.ids))
        against |= words.asks & (left <= _SHORT_QUESTION)
    return against
