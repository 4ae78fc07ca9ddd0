"""A word classifier: a small model that reads each word in its context and says whether it identifies somebody.

Rules know forms: digits, cues, titles. Much of what identifies people has no form, above all where a speech recogniser
wrote it without capitals: *then marisol walks in*, *i'm at kettle and crane four nights a week*. The input of this
model is, for a word and its two neighbours, the contextual vector from the lower half of the package's encoder, what
the lists of names, places and words have, and what the rules found. It was trained on invented talk by several writers
(``tools/train_redact.py``); ``docs/redact.md`` gives its accuracy on talk by others.
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

from therapy_analytics.behaviours.encoder import BEFORE, SEP, WIDTH, framed, lower_vectors
from therapy_analytics.behaviours.lower_layers import lower_layers
from therapy_analytics.language.cores import threads
from therapy_analytics.language.data_files import Wanted, json_list, json_object, parsing, read_arrays
from therapy_analytics.redact._found import SURE, Found, settle
from therapy_analytics.redact._spoken import Alphanumeric, alphanumerics
from therapy_analytics.redact._tokens import Token, straight, texts_before, tokens, without_capitals, word_list
from therapy_analytics.redact._vocabulary import CALLINGS, SPOKEN, TITLES, TWO_WORD_STATES
from therapy_analytics.session import Session, Turn

Floats = NDArray[np.float32]

MODEL = Path(__file__).with_name("classifier")
N_LISTED, N_RULED = 11, 6
N_FEATURES = 3 * (WIDTH + N_LISTED + N_RULED)
"""Of a word, of the one before and of the one after."""
AT_ONCE = 300
"""How many subwords of a turn are read at a time."""
_YEAR = re.compile("(?:19|20)\\d\\d")
_YEAR_SAID = re.compile(r"\btwo thousand(?: and)?(?: (?:\w+teen|ten|eleven|twelve|twenty|one|two|three|four|five|six|"
                        r"seven|eight|nine)\b)+", re.IGNORECASE)  # fmt: skip
_REMEDY = "Install the package again"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Probabilities from which something is done with a word.

    Attributes
    ----------
    remove, plain, join : float
        It is removed; it is removed although it is an ordinary word that its capital does not mark as a name; it is
        removed if a word in the same row is.
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
class WordClassifier:
    """The model: a network with one hidden layer for whether a word identifies somebody, and a linear one for the kind.

    Attributes
    ----------
    kinds : tuple of str
        Those of `_found.KINDS` that it distinguishes.
    hidden, hidden_bias : float32 array (n_features, n_units), (n_units,)
        Weights of the hidden layer (rectified linear units).
    out : float32 array (n_units,)
        Weights from the hidden layer to the log-odds that the word identifies somebody.
    out_bias : float
        Intercept of these log-odds.
    sort, sort_bias : float32 array (n_features, n_kinds), (n_kinds,)
        Weights from the features to the log-odds of each kind.
    written, recognised : Thresholds
        For talk with capital letters, and for talk without.
    """

    kinds: tuple[str, ...]
    hidden: Floats = field(repr=False)
    hidden_bias: Floats = field(repr=False)
    out: Floats = field(repr=False)
    out_bias: float
    sort: Floats = field(repr=False)
    sort_bias: Floats = field(repr=False)
    written: Thresholds
    recognised: Thresholds

    def identifies(self, features: Floats) -> Floats:
        """Return the probability that words identify somebody, float32 (n_words,)."""
        units = np.maximum(features @ self.hidden + self.hidden_bias, 0.0)
        probability: Floats = 1.0 / (1.0 + np.exp(-np.clip(units @ self.out + self.out_bias, -30.0, 30.0)))
        return probability

    def kind(self, features: Floats) -> str:
        """Return the likeliest kind of a row of words, from their features (n_words, n_features)."""
        return self.kinds[int((features @ self.sort + self.sort_bias).sum(axis=0).argmax())]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be removed from a turn, and what a person should look at; they do not overlap."""

    removed: tuple[Found, ...]
    looked_at: tuple[Found, ...]


class SessionWords:
    """The words of a session's turns, with the features that do not depend on rules.

    Parameters
    ----------
    session : Session
        The session.

    Attributes
    ----------
    words : list of list of Token
        The words of each turn.
    """

    def __init__(self, session: Session) -> None:
        self._small = without_capitals(session.turns)
        self.words = [tokens(turn.text) for turn in session.turns]
        self._codes: list[list[list[int]]] = []
        self._years: list[list[int]] = []
        for turn, words in zip(session.turns, self.words, strict=True):
            text = straight(turn.text)
            codes = list(alphanumerics(text))
            self._codes.append([_inside(words, code) for code in codes if not _YEAR.fullmatch(code.signs)])
            self._years.append([at for year in _years(text, codes) for at in _inside(words, year)])
        self._fixed = list(_features_without_rules(session.turns, self.words, small=self._small))

    def judge(self, by_rules: Sequence[Sequence[Found]]) -> Iterator[Verdict]:
        """Yield for each turn what is to be removed from it.

        Parameters
        ----------
        by_rules : sequence of sequence of Found
            Findings of the rules in each turn, without overlaps. Those that are certain stay; the others only if the
            model agrees.
        """
        classifier = load_classifier()
        limits = classifier.recognised if self._small else classifier.written
        for at, (features, found) in enumerate(zip(self.features(by_rules), by_rules, strict=True)):
            words, probability = self.words[at], classifier.identifies(features)
            for places in self._codes[at]:  # a number or a spelled word identifies as a whole, if most of it does
                if (probability[places] >= limits.join).mean() > 0.5:
                    probability[places] = probability[places].max()
            turn = _TurnWords(words, features, probability, _stays(words, self._years[at]))
            yield _verdict(turn, found, classifier, limits) if words else Verdict(tuple(found), ())

    def features(self, by_rules: Sequence[Sequence[Found]]) -> Iterator[Floats]:
        """Yield the features of the words of each turn, float32 (n_words, N_FEATURES)."""
        for words, fixed, found in zip(self.words, self._fixed, by_rules, strict=True):
            yield np.hstack([fixed, _with_neighbours(_ruled(words, found))])


@dataclass(frozen=True, slots=True, eq=False)
class _TurnWords:
    """The words of a turn, their features (n_words, n_features), their probabilities, and which must stay."""

    words: Sequence[Token]
    features: Floats
    probability: Floats
    stays: NDArray[np.bool_]


def _verdict(turn: _TurnWords, found: Sequence[Found], classifier: WordClassifier, limits: Thresholds) -> Verdict:
    words, probability = turn.words, turn.probability
    agreed = [
        one
        for one in found
        if one.sure == "certain" or not (own := _inside(words, one)) or probability[own].max() >= limits.trust
    ]
    covered = np.array([any(_overlap(word, one) for one in agreed) for word in words], dtype=bool)
    removed = []
    for start, end in _rows(turn, covered | turn.stays, limits):
        kind = classifier.kind(turn.features[start:end])
        removed.append(Found(words[start].start, words[end - 1].end, kind, "likely", "read"))
        covered[start:end] = True
    look = [
        Found(word.start, word.end, "WORD", "unsure", "read")
        for word, looks in zip(words, (probability >= limits.look) & ~covered, strict=True)
        if looks and word.word not in SPOKEN | TITLES | CALLINGS
    ]
    doubted = [one for one in found if one not in agreed and not any(_overlap(one, other) for other in removed)]
    looked_at = settle([*doubted, *look])
    return Verdict(tuple(sorted([*agreed, *removed], key=lambda one: one.start)), tuple(looked_at))


def _inside(words: Sequence[Token], one: Found | Alphanumeric) -> list[int]:
    """Return the positions of the words that a finding or code overlaps."""
    return [at for at, word in enumerate(words) if _overlap(word, one)]


def _overlap(one: Token | Found, other: Token | Found | Alphanumeric) -> bool:
    return one.start < other.end and other.start < one.end


def _years(text: str, codes: Sequence[Alphanumeric]) -> list[Found]:
    """Return the years of a text, written or spoken; they identify nobody, and stay beside a date that is removed."""
    spans = [(code.start, code.end) for code in codes if _YEAR.fullmatch(code.signs)]
    spans += [match.span() for match in _YEAR_SAID.finditer(text)]
    return [Found(start, end, "DATE", "unsure", "year") for start, end in spans]


def _stays(words: Sequence[Token], years: Sequence[int]) -> NDArray[np.bool_]:
    """Return which words identify nobody, bool (n_words,): weekdays, countries, states, languages, and years."""
    stays = np.array([one.kept and not one.word[0].isdigit() for one in words], dtype=bool)
    stays[list(years)] = True
    for at, (one, other) in enumerate(pairwise(words)):
        if f"{one.word} {other.word}" in TWO_WORD_STATES:
            stays[at : at + 2] = True
    return stays


def _rows(turn: _TurnWords, covered: NDArray[np.bool_], limits: Thresholds) -> list[tuple[int, int]]:
    """Return rows of uncovered words in which each is nearly likely enough to be removed, and one is."""
    plain = np.array([one.ordinary and (one.opens or not one.capital) for one in turn.words], dtype=bool)
    enough = turn.probability >= np.where(plain, limits.plain, limits.remove)
    near = np.concatenate([[0], (turn.probability >= limits.join) & ~covered, [0]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(near)).tolist()
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if enough[start:end].any()]


@functools.cache
def load_classifier() -> WordClassifier:
    """Return the model of the package."""
    path = MODEL / "model.json"
    with parsing(path, "the description of a model", _REMEDY):
        about = json_object(path.read_bytes())
        kinds, units = tuple(json_list(about, "kinds")), int(about["units"])
        written, recognised = (Thresholds(**about[manner]) for manner in ("written", "recognised"))
    shapes = {
        "hidden": (N_FEATURES, units), "hidden_bias": (units,), "out": (units,), "out_bias": (),
        "sort": (N_FEATURES, len(kinds)), "sort_bias": (len(kinds),),
    }  # fmt: skip
    wanted = {name: Wanted(shape, held_as="float32") for name, shape in shapes.items()}
    path = MODEL / "weights.npz"
    found = read_arrays(path, path.read_bytes(), wanted, what="an archive of weights", remedy=_REMEDY)
    out_bias = float(found.pop("out_bias"))
    return WordClassifier(kinds=kinds, out_bias=out_bias, written=written, recognised=recognised, **found)


def _features_without_rules(
    turns: Sequence[Turn], words_of: Sequence[Sequence[Token]], *, small: bool
) -> Iterator[Floats]:
    """Yield for each turn the contextual vectors of its words and what lists say, with those of the neighbours."""
    vectors = _Vectors()
    with ThreadPoolExecutor(threads()) as pool:
        read = pool.map(vectors.of_turn, turns, texts_before(turns), words_of)
        for words, of_words in zip(words_of, read, strict=True):
            yield np.hstack([_with_neighbours(of_words), _with_neighbours(_listed(words, small=small))])


def _with_neighbours(rows: Floats) -> Floats:
    """Return each row with those before and after it, zeros at the ends: (n, d) to (n, 3 d)."""
    blank = np.zeros_like(rows[:1])
    return np.hstack([rows, np.vstack([blank, rows[:-1]])[: len(rows)], np.vstack([rows[1:], blank])[: len(rows)]])


def _listed(words: Sequence[Token], *, small: bool) -> Floats:
    """Return what lists and capitals say of words, float32 (n_words, N_LISTED)."""
    rows = [
        (
            one.first, one.last, one.common, one.ordinary, one.kept, one.unknown, one.word in word_list("places"),
            one.capital and not one.opens, one.capital and one.opens, one.word.isdigit(), small,
        )
        for one in words
    ]  # fmt: skip
    return np.array(rows, dtype=np.float32).reshape(len(words), N_LISTED)


def _ruled(words: Sequence[Token], found: Sequence[Found]) -> Floats:
    """Return what rules say of words, float32 (n_words, N_RULED): three columns for how sure, three for what."""
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
            ids = framed(turn.role, [*context[-BEFORE:], SEP, *some])
            vectors = lower_vectors(self._encoder, [ids])[0, -1 - len(some) : -1]
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
