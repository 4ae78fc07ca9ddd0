"""Phrases with slots, found in turns: sequences of words, sets of words and gaps, within one sentence.

The phrases are in ``lexicons/*.toml``, as in::

    [phrases.likeness]
    definition = "Likens the therapist to somebody"
    unless = ["reported"]
    patterns = ["you are|were just? like ~ @kin|boss", "^ same as ... before $"]

``a|b`` is either word, ``@kin`` any word of the category ``kin``; ``?`` at the end of a word says that it may be
missing. ``...`` stands for up to three words that do not negate, ``~`` for up to three words of any kind; ``^`` and
``$`` are the beginning and end of a sentence, beyond which no phrase goes on. ``unless`` names what may not stand
before: ``negated``, ``reported``, ``supposed``, ``asked``, ``sought``.

For each meaning, every word of its phrases is replaced by a character (words that its phrases do not tell apart share
one, all other words share another); a session is then a string, and the phrases are one regular expression.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core.session import Role
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.lexicons import lexicon_folder

Marks = NDArray[np.bool_]
Ints = NDArray[np.int64]
GAP = 3
"""Most words that ``...`` and ``~`` stand for."""
_SIGNS = frozenset({"...", "~", "^", "$"})
_OTHER, _SENTENCE = "\0", "\1"
"""Characters of words that no phrase has, and of the beginning of a sentence."""
_FIRST = 2
"""The characters of words of phrases begin here."""
_NEGATIONS = frozenset({"not", "never", "nothing", "nobody", "hardly", "barely", "without", "neither", "nor", "n't"})
_REPORTS = frozenset({"said", "says", "told", "tells", "saying", "replied", "claims", "thinks"})
_SUPPOSES = frozenset({"if", "whether", "unless", "should", "wish", "hope", "hoping", "suppose", "imagine"})
_SEEKS = frozenset({"what", "which", "where", "when", "how", "who"})
_ASKS = frozenset({
    "are", "can", "could", "did", "do", "does", "has", "have", "how", "is", "was", "were", "what", "when", "where",
    "why",
})  # fmt: skip
_GUARDS: Mapping[str, tuple[frozenset[str], int]] = {
    "negated": (_NEGATIONS, 4),
    "reported": (_REPORTS, 6),
    "supposed": (_SUPPOSES, 4),
    "asked": (_ASKS, 2),
    "sought": (_SEEKS, 1),
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
        Names of `_GUARDS`: ``negated``, ``reported``, ``supposed``, ``asked``, ``sought``.
    characters : mapping of str to str
        The character of each word; words that stand in the same parts share one.
    """

    patterns: tuple[Pattern, ...]
    unless: tuple[str, ...]
    characters: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class WordSequence:
    """The words of a session, one after the other.

    Attributes
    ----------
    index : mapping of str to int
        The number of each different word (normal form).
    ids : int64 array (n_words,)
        The number of each word of the sequence.
    turn_of, sentence_of : int64 array (n_words,)
        The turn and the sentence of each word; both ascend.
    goes_on : bool array (n_words,)
        Whether the word before is of the same sentence.
    asks : bool array (n_words,)
        Whether the sentence ends with a question mark.
    """

    index: Mapping[str, int] = field(repr=False)
    ids: Ints = field(repr=False)
    turn_of: Ints
    sentence_of: Ints
    goes_on: Marks
    asks: Marks

    def are(self, words: frozenset[str]) -> Marks:
        """Return which words are in a set, bool (n_words,)."""
        types = np.zeros(len(self.index), dtype=np.bool_)
        types[[self.index[word] for word in words if word in self.index]] = True
        return types[self.ids]

    def near(self, marks: Marks, back: int, at: Ints) -> Marks:
        """Return whether a marked word stands among the `back` words before those `at` (n,), in its sentence."""
        first = np.maximum(at - back, np.searchsorted(self.sentence_of, self.sentence_of[at]))
        n_marked = np.append(0, np.cumsum(marks))
        return np.asarray(n_marked[at] > n_marked[first])

    def only(self, turns: Marks) -> WordSequence:
        """Return the words of some turns, bool (n_turns,)."""
        kept = turns[self.turn_of]
        names = ("ids", "turn_of", "sentence_of", "goes_on", "asks")
        return WordSequence(self.index, *(getattr(self, name)[kept] for name in names))


def word_sequence(session: AnnotatedSession) -> WordSequence:
    """Return the words of a session's turns, without punctuation."""
    return session.cached(_all_words)


def _all_words(session: AnnotatedSession) -> WordSequence:
    turns = session.turns
    at = np.flatnonzero(turns.tokens.verbal[turns.ids])
    sentence_of = turns.sentence_of
    norm = [turns.tokens.norm[one] for one in np.unique(turns.ids).tolist()]
    # Types are pairs of a written and a normal form (n't and not are two): words of one normal form are one word here
    index = {word: number for number, word in enumerate(dict.fromkeys(norm))}
    number = np.full(len(turns.tokens.norm), -1, dtype=np.int64)
    number[np.unique(turns.ids)] = [index[word] for word in norm]
    asks = np.isin(sentence_of, sentence_of[turns.asks])
    same = np.append(False, np.diff(sentence_of[at]) == 0)[: len(at)]
    return WordSequence(index, number[turns.ids[at]], turns.turn_of[at], sentence_of[at], same, asks[at])


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """The words of a role, with a sign before each sentence and one at the end.

    `line` (n_words + n_signs,) holds numbers of words in `WordSequence.index`, the next is that of the sign; `place`
    (n_words,) says where each word is in the line.
    """

    words: WordSequence
    line: Ints
    place: Ints

    @classmethod
    def written(cls, words: WordSequence) -> _Line:
        sign = len(words.index)
        line = np.append(np.insert(words.ids, np.flatnonzero(~words.goes_on), sign), sign)
        return cls(words, line, np.arange(len(words.ids)) + np.cumsum(~words.goes_on))

    def find(self, phrases: Phrases) -> Ints:
        """Return the words at which a phrase begins."""
        letters = [phrases.characters.get(word, _OTHER) for word in self.words.index]
        code = np.array([ord(one) for one in (*letters, _SENTENCE)], dtype="<u4")
        text = code[self.line].tobytes().decode("utf-32-le")
        begins = [match.start() for match in _expression(phrases).finditer(text)]
        return np.searchsorted(self.place, np.array(begins, dtype=np.int64))


@functools.cache
def load_phrases(lexicon: str) -> Mapping[str, Phrases]:
    """Read the phrases of a lexicon of the package, by their meaning."""
    return compiled(tomllib.loads((lexicon_folder() / f"{lexicon}.toml").read_text(encoding="utf-8")))


def compiled(lexicon: Mapping[str, Any]) -> Mapping[str, Phrases]:
    """Compile a lexicon: tables ``phrases`` (each with patterns and unless) and ``categories``, its slots.

    Examples
    --------
    >>> found = compiled({"categories": {"kin": {"words": ["mum"]}}, "phrases": {"a": {"patterns": ["my @kin|boss"]}}})
    >>> sorted({"boss", "kin", "mum", "my"} & set(found["a"].characters))
    ['boss', 'mum', 'my']
    """
    slots = {name: frozenset(one["words"]) for name, one in lexicon.get("categories", {}).items()}
    phrases = {}
    for name, table in lexicon["phrases"].items():
        patterns = tuple(parse(one, slots) for one in table["patterns"])
        phrases[name] = Phrases(patterns, tuple(table.get("unless", ())), _characters(patterns))
    return phrases


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
    parts: list[Part] = []
    for part in pattern.split():
        names = [] if part in _SIGNS else part.removesuffix("?").split("|")
        words = frozenset().union(*(slots[one[1:]] if one[0] == "@" else {one} for one in names))
        parts.append((words, part.endswith("?")) if names else part)
    return tuple(parts)


@functools.cache
def _expression(phrases: Phrases) -> re.Pattern[str]:
    """Return an expression for the first words of phrases."""
    written = ("".join(_written(part, phrases.characters) for part in pattern) for pattern in phrases.patterns)
    one = f"(?:{'|'.join(written)})"
    # Searching for a set of characters is fast; only where one of them stands are the phrases tried, from there
    openers = [_openers(pattern) for pattern in phrases.patterns]
    first = _any_of(frozenset().union(*openers), phrases.characters) if all(openers) else f"[^{_SENTENCE}]"
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
        return f"[^{_SENTENCE}]{{0,{GAP}}}"
    if isinstance(part, str):
        return f"(?{'<' if part == '^' else ''}=[{_SENTENCE}])"
    return f"{_any_of(part[0], characters)}{'?' if part[1] else ''}"


def _any_of(words: Iterable[str], characters: Mapping[str, str], *, but: bool = False) -> str:
    """Return a set of the characters of words; or of all but these and the signs."""
    letters = re.escape("".join(sorted({characters[word] for word in words})))
    return f"[^{_SENTENCE}{letters}]" if but else f"[{letters}]"


def turns_with(session: AnnotatedSession, name: str, role: Role) -> Marks:
    """Return which turns of a role have a phrase of a meaning that no guard rules out, bool (n_turns,).

    Parameters
    ----------
    session : AnnotatedSession
        The session.
    name : str
        ``lexicon.meaning``, as in ``alliance.permission``.
    role : str
        Whose turns.
    """
    lexicon, _, meaning = name.partition(".")
    phrases = load_phrases(lexicon)[meaning]

    def write(one: AnnotatedSession) -> _Line:
        return _Line.written(word_sequence(one).only(one.spoken_by(role)))

    line = session.cached(write, key=(_Line, role))
    begins = line.find(phrases)
    for guard in phrases.unless if len(begins) else ():
        begins = begins[~_guarded(line.words, guard, begins)]
    return np.isin(np.arange(len(session)), line.words.turn_of[begins])


def _guarded(words: WordSequence, guard: str, at: Ints) -> Marks:
    """Return whether a guard rules a phrase out, for phrases that begin at some words, bool (n,)."""
    marked, back = _GUARDS[guard]
    against = words.near(words.are(marked), back, at)
    if guard == "asked":
        left = np.searchsorted(words.sentence_of, words.sentence_of[at], side="right") - at
        against |= words.asks[at] & (left <= _SHORT_QUESTION)
    return against
