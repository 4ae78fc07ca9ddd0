"""The questions of a therapist, each by itself, and their forms: open or closed, one or several in one.

A question is a sentence with a question mark in a turn that asks. Where speech recognisers wrote no marks, it is what
stands from a form of asking (*what do*, *are you*) to the next or the end of the turn.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.hierarchy import FEWEST_WORDS
from therapy_analytics.behaviours.text_model import Texts, read_texts
from therapy_analytics.language import AnnotatedSession, TurnArrays
from therapy_analytics.language.integers import distinct
from therapy_analytics.language.phrases import load_book

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_APART = 4
"""A form of asking within so many words of the last one belongs to the same question."""
_LONGEST = 20
"""Words of a question where nothing says how far it goes."""
_SLOTS = frozenset({
    "about", "account", "aux", "clause", "drives", "fact", "filler", "negation", "now", "spot", "subject", "vague",
    "wh", "whom",
})  # fmt: skip
Marks = Mapping[str, Bools]


@dataclass(frozen=True, eq=False)
class Questions:
    """The questions of a session.

    Attributes
    ----------
    turns : TurnArrays
        Each question as a turn.
    turn_of : int64 array (n_questions,)
        In whose turn it stands.
    asks : int64 array (n_questions,)
        How many things it asks: 1, and 1 more for each form of asking behind *and* or *or*.
    is_open : bool array (n_questions,)
        Whether its form invites an account.
    marks : mapping of str to bool array (n_tokens,)
        Which of their tokens are words of a slot of ``lexicons/questions.toml``.
    """

    turns: TurnArrays
    turn_of: Ints
    asks: Ints
    is_open: Bools
    marks: Marks

    def __len__(self) -> int:
        return len(self.turn_of)

    @functools.cached_property
    def texts(self) -> Texts:
        """Return the questions as small models read them."""
        return read_texts(self.turns)

    def count(self, name: str) -> Ints:
        """Return how many words of a slot of ``lexicons/questions.toml`` each question has."""
        return per_question(self.turns, self.marks[name])


def questions(session: AnnotatedSession) -> Questions:
    """Return the questions of the therapist's turns that ask; found once."""
    return session.cached(_questions)


def asking(session: AnnotatedSession) -> Bools:
    """Return which therapist turns ask: by the run's coder, or where it does not say, those with a question mark."""
    if session.has("mi_question"):
        return session.decided("mi_question") & session.spoken_by("therapist")
    marked = np.bincount(_turn_of(session.turns), marks_of(session.turns)["?"], len(session)) > 0
    return np.asarray(marked & session.spoken_by("therapist"))


def mean_by_turn(session: AnnotatedSession, values: Floats) -> Floats:
    """Return the mean of values of questions (n_questions,) for each turn; nan for turns without questions."""
    owner = questions(session).turn_of
    known = ~np.isnan(values)
    n = np.bincount(owner[known], minlength=len(session))
    total = np.bincount(owner[known], values[known], len(session))
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def marks_of(turns: TurnArrays) -> Marks:
    """Return which tokens of a run of turns are words of each slot of ``lexicons/questions.toml``, signs and joints."""
    columns, names = _columns()
    norm, ids = turns.tokens.norm, turns.tokens.ids[int(turns.offsets[0]) : int(turns.offsets[-1])]
    table = np.zeros((len(names), len(norm)), dtype=np.bool_)
    for one in distinct(ids, len(norm))[0].tolist():
        for column in columns.get(norm[one], ()):
            table[column, one] = True
        if "?" in norm[one]:
            table[names.index("?"), one] = True
    return dict(zip(names, table[:, ids], strict=True))


@functools.cache
def _columns() -> tuple[Mapping[str, tuple[int, ...]], tuple[str, ...]]:
    """Return the columns of each word, and what the columns are called."""
    slots = {name: words for name, words in load_book("questions").slots.items() if name in _SLOTS}
    slots |= {"?": frozenset(), "and": frozenset({"and", "or"})}
    found: dict[str, tuple[int, ...]] = {}
    for column, words in enumerate(slots.values()):
        for word in words:
            found[word] = (*found.get(word, ()), column)
    return found, tuple(slots)


def per_question(turns: TurnArrays, marks: Bools) -> Ints:
    """Return how many tokens of each turn are marked."""
    return np.bincount(_turn_of(turns), marks, len(turns)).astype(np.int64)


def _questions(session: AnnotatedSession) -> Questions:
    turns = session.turns
    turn_of, word = _turn_of(turns), turns.tokens.word_start[int(turns.offsets[0]) : int(turns.offsets[-1])]
    sentence, words = turns.sentence_of, marks_of(turns)
    marked = np.bincount(sentence, words["?"])[sentence] > 0 if len(sentence) else np.zeros(0, np.bool_)
    asks = asking(session)
    unmarked = asks & ~(np.bincount(turn_of, marked, len(session)) > 0)
    unit = np.where(marked & asks[turn_of], sentence, -1)
    spoken = np.flatnonzero(unmarked[turn_of] & word)
    unit[spoken] = _units_by_form(forms(words, turn_of), spoken, turn_of)
    unit = _long_enough(unit, word)
    return _as_questions(turns, np.flatnonzero(unit >= 0), unit, turn_of, words)


def _turn_of(turns: TurnArrays) -> Ints:
    return np.repeat(np.arange(len(turns)), np.diff(turns.offsets))


def _units_by_form(begin: Bools, spoken: Ints, turn_of: Ints) -> Ints:
    """Return the question that each word of turns without marks belongs to, -1 for none; by where it begins."""
    owner = turn_of[spoken]
    begins = begin[spoken]
    at = np.flatnonzero(begins)
    if len(at):
        near = (np.diff(at, prepend=-_APART - 1) < _APART) & (np.diff(owner[at], prepend=-1) == 0)
        begins[at[near]] = False
    last = np.searchsorted(owner, owner, side="right") - np.arange(len(owner))
    formless = ~np.isin(owner, owner[begins])
    begins |= formless & ((last == _LONGEST) | (np.diff(owner, prepend=-1) > 0) & (last < _LONGEST))
    since = np.maximum.accumulate(np.where(begins, np.arange(len(owner)), -1)) if len(owner) else owner
    inside = (since >= 0) & (owner[since] == owner) & (np.arange(len(owner)) - since < _LONGEST)
    # Beyond the numbers of sentences
    return np.where(inside, since + len(turn_of), -1)


def forms(words: Marks, owner: Ints) -> Bools:
    """Return the tokens at which a form of asking begins: *what (...) do*, *are you*, *how about*."""
    wh, aux, subject = (words[name] for name in ("wh", "aux", "subject"))

    def ahead(marks: Bools, step: int) -> Bools:
        found = np.zeros(len(marks), dtype=np.bool_)
        if step < len(marks):
            found[:-step] = marks[step:] & (owner[step:] == owner[:-step])
        return found

    inverted = aux & (ahead(subject, 1) | (ahead(words["negation"], 1) & ahead(subject, 2)))
    near = [ahead(aux, step) | ahead(words["drives"], step) for step in (1, 2, 3)]
    turned = [ahead(inverted, step) for step in (1, 2, 3, 4)]
    asked = wh & np.any([*turned, *near, ahead(words["about"], 1)], axis=0)
    asked &= ~words["spot"] | np.any(turned, axis=0)
    led = np.zeros(len(wh), dtype=np.bool_)
    for step in (1, 2, 3, 4):
        led[step:] |= asked[:-step] & (owner[step:] == owner[:-step]) if step < len(led) else False
    return np.asarray(asked | (inverted & ~led))


def _long_enough(unit: Ints, word: Bools) -> Ints:
    n_words = np.bincount(unit + 1, word)  # first the words of no question
    return np.where(n_words[unit + 1] >= FEWEST_WORDS, unit, -1)


def _as_questions(turns: TurnArrays, at: Ints, unit: Ints, turn_of: Ints, words: Marks) -> Questions:
    first = np.flatnonzero(np.diff(unit[at], prepend=-2) != 0)
    offsets = np.append(first, len(at))
    owner = turn_of[at][first]
    begin, tokens = int(turns.offsets[0]), turns.tokens
    own = replace(
        tokens,
        ids=tokens.ids[begin + at],
        offsets=offsets,
        word_start=tokens.word_start[begin + at],
        sentence_end=tokens.sentence_end[begin + at],
    )
    n_words = np.diff(np.append(0, np.cumsum(own.word_start))[offsets]).astype(np.int64)
    made = replace(
        turns,
        tokens=own,
        offsets=offsets,
        roles=turns.roles[owner],
        n_words=n_words,
        n_sentences=np.minimum(n_words, 1),
        counts=turns.counts[owner],
        covered=turns.covered[owner],
        opens=turns.opens[owner],
        tags=None,
    )
    words = {name: one[at] for name, one in words.items()}
    begins = forms(words, _turn_of(made))
    return Questions(made, owner, _asks(made, words, begins), _open(made, words, begins), words)


def _asks(turns: TurnArrays, words: Marks, asked: Bools) -> Ints:
    """Return how many things each question asks."""
    owner = _turn_of(turns)
    more = np.zeros(len(owner), dtype=np.bool_)
    more[1:] = words["and"][:-1] & asked[1:] & (owner[1:] == owner[:-1])
    first = np.zeros(len(owner), dtype=np.bool_)
    first[turns.offsets[:-1][turns.n_words > 0] + 1 if len(turns) else []] = True
    return 1 + per_question(turns, more & ~first)


def _open(turns: TurnArrays, words: Marks, asked: Bools) -> Bools:
    """Return which questions invite an account: one open form of asking is enough."""
    owner = _turn_of(turns)
    at = np.flatnonzero(asked)
    found = np.zeros(len(turns), dtype=np.bool_)
    wh, fact, spot = (words[name] for name in ("wh", "fact", "spot"))
    follows = np.minimum(at + 1, max(len(owner) - 1, 0))
    wide = wh[at] & ~spot[at] & ~(fact[follows] & (owner[follows] == owner[at]))
    found[owner[at[wide]]] = True
    return np.asarray(found | (per_question(turns, _accounts(words, owner)) > 0))


def _accounts(words: Marks, owner: Ints) -> Bools:
    """Return the verbs of requests for an account: *tell me*, *could you describe*."""
    verb, whom = words["account"], words["whom"]
    same = owner[1:] == owner[:-1]
    found = np.zeros(len(owner), dtype=np.bool_)
    found[:-1] |= verb[:-1] & whom[1:] & same
    found[1:] |= verb[1:] & whom[:-1] & same
    return found
