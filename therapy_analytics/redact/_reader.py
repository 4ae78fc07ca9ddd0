"""A small model that reads each word where it stands and says whether it identifies somebody.

Rules know forms: digits, cues, titles. Much of what identifies people in real talk has no form, above all where a
recogniser wrote it without capitals: *then marisol walks in*, *i'm at kettle and crane four nights a week*. This model
reads the words around. What it knows of a word is the vector that the lower half of the package's encoder gives it in
its context, what the lists of names, places and words say of it and its neighbours, and what the rules find there. It
was taught with invented talk by several writers (``tools/train_redact.py``); ``docs/redact.md`` says how often it is
right on talk by others.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.encoder import framed, model_input
from therapy_analytics.behaviours.lower_layers import LOWER, WIDTH, lower_layers
from therapy_analytics.language.cores import threads
from therapy_analytics.language.data_files import Wanted, json_list, json_object, parsing, read_arrays
from therapy_analytics.redact._found import SURE, Found, settle
from therapy_analytics.redact._spoken import Alphanumeric, alphanumerics
from therapy_analytics.redact._tokens import Token, straight, texts_before, tokens, without_capitals, word_list
from therapy_analytics.redact._vocabulary import CALLINGS, SPOKEN, TITLES, TWO_WORD_STATES
from therapy_analytics.session import Session, Turn

Floats = NDArray[np.float32]

MODEL = Path(__file__).with_name("reader")
N_LISTED, N_RULED = 11, 6
N_FEATURES = 3 * (WIDTH + N_LISTED + N_RULED)
"""Of a word, of the one before and of the one after."""
_YEAR = re.compile("(?:19|20)\\d\\d")
_SAID_YEAR = re.compile(r"\btwo thousand(?: and)?(?: (?:\w+teen|ten|eleven|twelve|twenty|one|two|three|four|five|six|"
                        r"seven|eight|nine)\b)+", re.IGNORECASE)  # fmt: skip
_REMEDY = "Install the package again"
AT_ONCE = 300
"""How many subwords of a turn are read at a time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Probabilities from which something is done with a word.

    Attributes
    ----------
    remove, plain, join : float
        It is removed; it is removed although it is an ordinary word, with a small letter or at the beginning of a
        sentence, where a capital says nothing; it is removed if a word in the same row is.
    trust : float
        A rule that is not certain of it is believed.
    look : float
        A person should look at it.
    """

    remove: float
    plain: float
    join: float
    trust: float
    look: float


@dataclass(frozen=True, slots=True)
class Reader:
    """The model: a network with one hidden layer, which says whether a word identifies somebody, and one that says how.

    Attributes
    ----------
    kinds : tuple of str
        Those of `_found.KINDS` that it tells apart.
    hidden, hidden_bias : float32 array (n_features, n_units), (n_units,)
        From what is known of a word to the hidden layer, whose units are rectified.
    out : float32 array (n_units,)
        From the hidden layer to the log-odds that the word identifies somebody.
    out_bias : float
        Of these log-odds.
    sort, sort_bias : float32 array (n_features, n_kinds), (n_kinds,)
        From what is known of a word that identifies somebody to the log-odds of its kind.
    written, recognised : Limits
        For talk with capital letters, and for talk without.
    """

    kinds: tuple[str, ...]
    hidden: Floats = field(repr=False)
    hidden_bias: Floats = field(repr=False)
    out: Floats = field(repr=False)
    out_bias: float
    sort: Floats = field(repr=False)
    sort_bias: Floats = field(repr=False)
    written: Limits
    recognised: Limits

    def identifies(self, known: Floats) -> Floats:
        """Return the probability that words identify somebody, (n_words,), of what is known of them."""
        units = np.maximum(known @ self.hidden + self.hidden_bias, 0.0)
        chance: Floats = 1.0 / (1.0 + np.exp(-np.clip(units @ self.out + self.out_bias, -30.0, 30.0)))
        return chance

    def kind(self, known: Floats) -> str:
        """Return the kind that fits best to a row of words, of what is known of them."""
        return self.kinds[int((known @ self.sort + self.sort_bias).sum(axis=0).argmax())]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be removed from a turn, and what a person should look at; they do not overlap."""

    removed: tuple[Found, ...]
    looked_at: tuple[Found, ...]


class Reading:
    """A session as the model reads it.

    Parameters
    ----------
    session : Session
        Any.
    """

    def __init__(self, session: Session) -> None:
        self._small = without_capitals(session.turns)
        self._words = [tokens(turn.text) for turn in session.turns]
        found = [list(alphanumerics(straight(turn.text))) for turn in session.turns]
        self._runs = [
            [_inside(words, code) for code in some if not _YEAR.fullmatch(code.signs)]
            for some, words in zip(found, self._words, strict=True)
        ]
        self._years = [
            [at for year in _years(straight(turn.text), some) for at in _inside(words, year)]
            for turn, some, words in zip(session.turns, found, self._words, strict=True)
        ]
        self._fixed = list(_known_alone(session.turns, self._words, small=self._small))

    def judge(self, by_rules: Sequence[Sequence[Found]]) -> Iterator[Verdict]:
        """Yield for each turn what is to be removed from it.

        Parameters
        ----------
        by_rules : sequence of sequence of Found
            What rules find in each turn, without overlaps. What they are certain of stays; the rest only if the model
            agrees.
        """
        reader = load()
        limits = reader.recognised if self._small else reader.written
        for at, (known, found) in enumerate(zip(self.known(by_rules), by_rules, strict=True)):
            words, chance = self._words[at], reader.identifies(known)
            for places in self._runs[at]:  # a number or a spelled word identifies as a whole, if most of it does
                if (chance[places] >= limits.join).mean() > 0.5:
                    chance[places] = chance[places].max()
            row = _Row(words, known, chance, _stays(words, self._years[at]))
            yield _verdict(row, found, (reader, limits)) if words else Verdict(tuple(found), ())

    def known(self, by_rules: Sequence[Sequence[Found]]) -> Iterator[Floats]:
        """Yield for each turn what is known of its words, (n_words, n_features).

        That is, of a word and of its two neighbours: the vector in context, what lists say, and what rules say.
        """
        for words, fixed, found in zip(self._words, self._fixed, by_rules, strict=True):
            yield np.hstack([fixed, _beside(_ruled(words, found))])

    @property
    def words(self) -> list[list[Token]]:
        """The words of each turn."""
        return self._words


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """The words of a turn, what is known of them (n_words, n_features), how likely each identifies, which must stay."""

    words: Sequence[Token]
    known: Floats
    chance: Floats
    stays: NDArray[np.bool_]


def _verdict(row: _Row, found: Sequence[Found], judged_by: tuple[Reader, Limits]) -> Verdict:
    reader, limits = judged_by
    words, known, chance = row.words, row.known, row.chance
    inside = [_inside(words, one) for one in found]
    agreed = [
        one
        for one, places in zip(found, inside, strict=True)
        if one.sure == "certain" or not places or chance[places].max() >= limits.trust
    ]
    covered = np.array([any(_overlap(word, one) for one in agreed) for word in words], dtype=bool)
    flagged = _rows(chance, covered | row.stays, words, limits)
    removed = [
        Found(words[start].start, words[end - 1].end, reader.kind(known[start:end]), "likely", "read")
        for start, end in flagged
    ]
    for start, end in flagged:
        covered[start:end] = True
    look = [
        Found(word.start, word.end, "WORD", "unsure", "read")
        for word, looks in zip(words, (chance >= limits.look) & ~covered, strict=True)
        if looks and word.word not in SPOKEN | TITLES | CALLINGS
    ]
    doubted = [one for one in found if one not in agreed and not any(_overlap(one, other) for other in removed)]
    looked_at = settle([*doubted, *look])
    return Verdict(tuple(sorted([*agreed, *removed], key=lambda one: one.start)), tuple(looked_at))


def _inside(words: Sequence[Token], one: Found | Alphanumeric) -> list[int]:
    """Return the positions of the words that a finding, or a row of digits or letters, touches."""
    return [at for at, word in enumerate(words) if _overlap(word, one)]


def _overlap(one: Token | Found, other: Token | Found | Alphanumeric) -> bool:
    return one.start < other.end and other.start < one.end


def _years(text: str, found: Sequence[Alphanumeric]) -> list[Found]:
    """Return the years of a text, written or said; they identify nobody, and stay beside a date that is removed."""
    spans = [(code.start, code.end) for code in found if _YEAR.fullmatch(code.signs)]
    spans += [match.span() for match in _SAID_YEAR.finditer(text)]
    return [Found(start, end, "DATE", "unsure", "year") for start, end in spans]


def _stays(words: Sequence[Token], years: Sequence[int]) -> NDArray[np.bool_]:
    """Return which words identify nobody, (n_words,): weekdays, countries, states, languages, and years."""
    stays = np.array([one.kept and not one.word[0].isdigit() for one in words], dtype=bool)
    stays[list(years)] = True
    for at, (one, other) in enumerate(pairwise(words)):
        if f"{one.word} {other.word}" in TWO_WORD_STATES:
            stays[at : at + 2] = True
    return stays


def _rows(chance: Floats, covered: NDArray[np.bool_], words: Sequence[Token], limits: Limits) -> list[tuple[int, int]]:
    """Return rows of words that are not covered yet: one at least is likely enough, its neighbours nearly."""
    plain = np.array([one.ordinary and (one.opens or not one.capital) for one in words], dtype=bool)
    enough = chance >= np.where(plain, limits.plain, limits.remove)
    near = np.concatenate([[0], (chance >= limits.join) & ~covered, [0]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(near)).tolist()
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if enough[start:end].any()]


@functools.cache
def load() -> Reader:
    """Return the model of the package."""
    path = MODEL / "model.json"
    with parsing(path, "the description of a model", _REMEDY):
        about = json_object(path.read_bytes())
        kinds, units = tuple(json_list(about, "kinds")), int(about["units"])
        written, recognised = (Limits(**about[manner]) for manner in ("written", "recognised"))
    shapes = {
        "hidden": (N_FEATURES, units), "hidden_bias": (units,), "out": (units,), "out_bias": (),
        "sort": (N_FEATURES, len(kinds)), "sort_bias": (len(kinds),),
    }  # fmt: skip
    wanted = {name: Wanted(shape, held_as="float32") for name, shape in shapes.items()}
    path = MODEL / "weights.npz"
    found = read_arrays(path, path.read_bytes(), wanted, what="an archive of weights", remedy=_REMEDY)
    out_bias = float(found.pop("out_bias"))
    return Reader(kinds=kinds, out_bias=out_bias, written=written, recognised=recognised, **found)


def _known_alone(turns: Sequence[Turn], cut: Sequence[Sequence[Token]], *, small: bool) -> Iterator[Floats]:
    """Yield for each turn what is known of its words without rules; the end of the turn before is read along."""
    vectors = _Vectors()
    with ThreadPoolExecutor(threads()) as pool:
        for words, of_words in zip(cut, pool.map(vectors.of_turn, turns, texts_before(turns), cut), strict=True):
            yield np.hstack([_beside(of_words), _beside(_listed(words, small=small))])


def _beside(rows: Floats) -> Floats:
    """Put what stands before and after each row beside it, zeros at the ends: (n, d) becomes (n, 3 d)."""
    blank = np.zeros_like(rows[:1])
    return np.hstack([rows, np.vstack([blank, rows[:-1]])[: len(rows)], np.vstack([rows[1:], blank])[: len(rows)]])


def _listed(words: Sequence[Token], *, small: bool) -> Floats:
    """Return what lists and the writing say of words, (n_words, 11)."""
    rows = [
        (
            one.first, one.last, one.common, one.ordinary, one.kept, one.unknown, one.word in word_list("places"),
            one.capital and not one.opens, one.capital and one.opens, one.word.isdigit(), small,
        )
        for one in words
    ]  # fmt: skip
    return np.array(rows, dtype=np.float32).reshape(len(words), N_LISTED)


def _ruled(words: Sequence[Token], found: Sequence[Found]) -> Floats:
    """Return what rules say of words, (n_words, 6): how sure they are, and of what."""
    rows = np.zeros((len(words), N_RULED), dtype=np.float32)
    for one in found:
        column = {"NAME": 3, "PLACE": 4}.get(one.kind, 5)
        rows[np.ix_(_inside(words, one), [SURE.index(one.sure), column])] = 1
    return rows


class _Vectors:
    """Gives each word of a turn its contextual vector."""

    def __init__(self) -> None:
        self._encoder, self._wordpiece = lower_layers()

    def of_turn(self, turn: Turn, before: str, words: Sequence[Token]) -> Floats:
        """Return the mean vector of the subwords of each word, float32 (n_words, WIDTH)."""
        subwords, word_of = self._cut(straight(turn.text), words)
        found = np.zeros((len(words), WIDTH), dtype=np.float32)
        context = self._wordpiece.ids(before)
        for start in range(0, len(subwords), AT_ONCE):
            some, own = subwords[start : start + AT_ONCE], word_of[start : start + AT_ONCE]
            ids, begins = framed(turn.role, context, some)
            vectors = self._encoder.run([LOWER], model_input(ids, begins))[0][0, begins:-1]
            np.add.at(found, own[own >= 0], vectors[own >= 0])
            context = some
        counts = np.bincount(word_of[word_of >= 0], minlength=len(words))
        return (found / np.maximum(counts, 1)[:, None]).astype(np.float32)

    def _cut(self, text: str, words: Sequence[Token]) -> tuple[list[int], NDArray[np.int64]]:
        """Return the ids of a text's subwords, and the word of each, -1 between words."""
        subwords: list[int] = []
        word_of: list[int] = []
        end = 0
        for at, word in enumerate(words):
            for some, number in ((text[end : word.start], -1), (text[word.start : word.end], at)):
                new = self._wordpiece.ids(some)
                subwords += new
                word_of += [number] * len(new)
            end = word.end
        return subwords, np.array(word_of, dtype=np.int64)
