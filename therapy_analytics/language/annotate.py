"""Sessions as arrays: what all measures and the tagger work on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.errors import UnknownNameError
from therapy_analytics.language._categories import find_categories
from therapy_analytics.language.lexicons import Matcher, category_columns
from therapy_analytics.language.tokens import Tokens, tokenize
from therapy_analytics.session import ROLES, Role, Session

if TYPE_CHECKING:
    from therapy_analytics.language.company import Company

T = TypeVar("T")
_NOTHING: Any = object()
"""What stands for a value that was not computed yet."""
Extra = Literal["syntax", "nclid", "recurrence", "coupling"]
"""Measures that must be asked for: of parts of speech, word mover's distances, recurrence and lagged coupling."""
EXTRAS: tuple[Extra, ...] = get_args(Extra)


@dataclass(frozen=True, slots=True)
class TurnArrays:
    """A run of turns as arrays; ``n`` is the number of turns.

    Attributes
    ----------
    tokens : Tokens
        The tokens of the batch that the turns belong to; turn ``i`` owns
        ``tokens.ids[offsets[i]:offsets[i + 1]]``.
    offsets : int64 array (n + 1,)
        Where each turn's tokens begin.
    roles : int8 array (n,)
        Positions in `therapy_analytics.session.ROLES`.
    n_words, n_sentences : int64 array (n,)
        Words and sentences of each turn (a turn with words has at least one sentence).
    categories : mapping of str to int
        Lexicon category to column of the three tables below.
    counts : int32 array (n, n_categories)
        How often each category occurs; a phrase counts once, and not its words again.
    covered : int32 array (n, n_categories)
        How many words each category accounts for.
    opens : bool array (n, n_categories)
        Whether the turn begins with a word or phrase of the category.
    user_categories : tuple of str
        The categories of lexicons that the user added.
    tags : int8 array (n_tokens,) or None
        The part of speech of each token of the batch, a position in `UPOS`; None where they were not asked for.
    """

    tokens: Tokens
    offsets: NDArray[np.int64]
    roles: NDArray[np.int8]
    n_words: NDArray[np.int64]
    n_sentences: NDArray[np.int64]
    categories: Mapping[str, int]
    counts: NDArray[np.int32]
    covered: NDArray[np.int32]
    opens: NDArray[np.bool_]
    user_categories: tuple[str, ...] = ()
    tags: NDArray[np.int8] | None = None

    def __len__(self) -> int:
        return len(self.roles)

    def between(self, start: int, stop: int) -> TurnArrays:
        """Return turns ``start:stop`` as views."""
        part = slice(start, stop)
        return replace(
            self,
            offsets=self.offsets[start : stop + 1],
            roles=self.roles[part],
            n_words=self.n_words[part],
            n_sentences=self.n_sentences[part],
            counts=self.counts[part],
            covered=self.covered[part],
            opens=self.opens[part],
        )

    def column(self, category: str) -> int:
        """Return the column of a lexicon category, or say which ones there are."""
        if category not in self.categories:
            raise UnknownNameError("lexicon category", category, self.categories)
        return self.categories[category]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where the turns of a session stand among those of its batch.

    Attributes
    ----------
    whole : AnnotatedSession
        All turns of the batch, as if one session had them.
    start, number : int
        The session's first turn among them, and the session's own place among the sessions.
    turns, probabilities, decisions : TurnArrays, mappings
        The session's, as they were cut out: whoever changes them takes the session out of its batch.
    """

    whole: AnnotatedSession
    start: int
    number: int
    turns: TurnArrays
    probabilities: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    decisions: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    def holds(self, one: AnnotatedSession) -> bool:
        """Whether the session is as it was cut out, and beside the strangers that it is given with the batch."""
        part = self.whole.parts[self.number]
        return (
            self.turns is one.turns
            and part.company is one.company
            and part.seed == one.seed
            and _one_or_empty(self.probabilities, one.probabilities)
            and _one_or_empty(self.decisions, one.decisions)
        )


def _one_or_empty(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Return whether two mappings are one and the same, or both without anything in them."""
    return some is others or not (some or others)


@dataclass(frozen=True, slots=True)
class AnnotatedSession:
    """One session with its arrays, and with the codes of its turns once it is tagged.

    Attributes
    ----------
    session : Session
        As read.
    turns : TurnArrays
        The same turns as arrays.
    probabilities, decisions : mapping of str to array (n_turns,)
        For each code (``bolt_planning``, ``mi_question``, ...): its probability (nan where
        the turn is of another role), and whether the turn has it. Empty before tagging.
    unsure : mapping of str to array (n_turns,)
        For each code, whether the decision may well be otherwise. Empty before tagging.
    rated : mapping of str to float
        Codes of which the user wants rates, those of codebooks that were named, with their `Code.turn_correlation`.
    seed : int
        Of the run, see `generator`.
    company : Company or None
        Sessions of others, for chance baselines; None where there are none.
    extras : frozenset of str
        Costly measures that the user asks for, see `Extra`.
    course : bool
        Whether the course of its synchrony, over thirds and windows, will be asked for beside the whole.
    place : Place or None
        In its batch, see `by_turn`.
    starts : int64 array (n_sessions + 1,) or None
        Where sessions begin, if these are all turns of a batch; see `bounds`.
    parts : tuple of AnnotatedSession
        These sessions, each by itself and without codes; see `sessions`.
    """

    session: Session
    turns: TurnArrays
    probabilities: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    decisions: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    unsure: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    rated: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    company: Company | None = None
    extras: frozenset[Extra] = frozenset()
    course: bool = False
    place: Place | None = field(default=None, compare=False, repr=False)
    starts: NDArray[np.int64] | None = field(default=None, compare=False, repr=False)
    parts: tuple[AnnotatedSession, ...] = field(default=(), compare=False, repr=False)
    _known: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)
    _passing: dict[Any, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.turns.roles)

    def of(self, role: Role) -> NDArray[np.bool_]:
        """Return which turns are of a role, bool (n_turns,)."""
        return np.equal(self.turns.roles, ROLES.index(role))

    @property
    def n_words(self) -> NDArray[np.int64]:
        """Words of each turn, (n_turns,)."""
        return self.turns.n_words

    def count(self, category: str) -> NDArray[np.int32]:
        """Return how often a lexicon category occurs in each turn, (n_turns,)."""
        return self.turns.counts[:, self.turns.column(category)]

    def opens_with(self, category: str) -> NDArray[np.bool_]:
        """Return which turns begin with a word or phrase of a lexicon category, (n_turns,)."""
        return self.turns.opens[:, self.turns.column(category)]

    def consists_of(self, category: str) -> NDArray[np.bool_]:
        """Return which turns have words, and only words of a lexicon category, (n_turns,)."""
        covered = self.turns.covered[:, self.turns.column(category)]
        return (self.n_words > 0) & (covered >= self.n_words)

    def generator(self, *stream: int) -> np.random.Generator:
        """Return random numbers that depend on the run's seed and the session's words alone.

        A session's shuffles are the same whatever it is called and whatever it is analysed
        with. Another stream gives other numbers.
        """
        return np.random.default_rng([self.seed, zlib.crc32(self.n_words.tobytes()), *stream])

    def once(self, compute: Callable[[AnnotatedSession], T], *, key: object = None) -> T:
        """Return what a function makes of the session, computed when it is first asked for.

        The function is the key, unless another is given. For what several measures or tables
        need: a copy of the session (`dataclasses.replace`) starts anew.
        """
        return self._kept(self._known, compute, key)

    def meanwhile(self, compute: Callable[[AnnotatedSession], T], *, key: object = None) -> T:
        """Return what `once` would, for what is large, and needed by measures alone: `forget` lets it go."""
        return self._kept(self._passing, compute, key)

    def forget(self) -> None:
        """Let go what was needed to measure the session: a batch would hold megabytes of it for each session."""
        self._passing.clear()
        if self.place is not None:
            self.place.whole.forget()
            self.place.whole.parts[self.place.number].forget()

    def _kept(self, store: dict[Any, Any], compute: Callable[[AnnotatedSession], T], key: object) -> T:
        key = compute if key is None else key
        found: T = store.get(key, _NOTHING)
        if found is _NOTHING:
            found = store[key] = compute(self)
        return found

    def by_turn(self, compute: Callable[[AnnotatedSession], T], *, key: object = None) -> T:
        """Return what a function says of each turn by itself, computed for all turns of the batch at once.

        Parameters
        ----------
        compute : callable
            Makes an array (n_turns, ...), a dataclass of such arrays, or what has a method ``between(start, stop)``
            for that of some turns. What it holds of a turn depends on the turn's words, role and codes alone: not on
            the turns around it, and not on the session.
        key : object, optional
            As for `once`.

        Returns
        -------
        array or object
            The session's part of it, not to be written to.
        """
        place = self.in_batch
        if place is None:
            return self.once(compute, key=key)
        return _between(place.whole.once(compute, key=key), place.start, place.start + len(self))

    def by_session(self, compute: Callable[[AnnotatedSession], Sequence[T]], *, key: object = None) -> T:
        """Return what a function says of the session, computed for all sessions of its batch at once.

        Parameters
        ----------
        compute : callable
            Of all turns of a batch, or of one session, makes something for each session of `bounds`. What it makes for
            one must not depend on the others.
        key : object, optional
            As for `once`.
        """
        place = self.in_batch
        if place is None:
            return self.once(compute, key=key)[0]
        return place.whole.once(compute, key=key)[place.number]

    @property
    def sessions(self) -> tuple[AnnotatedSession, ...]:
        """The sessions whose turns these are, see `bounds`: of a session by itself, itself."""
        return self.parts or (self,)

    @property
    def bounds(self) -> NDArray[np.int64]:
        """Where sessions begin and end among the turns, (n_sessions + 1,): of a session by itself 0 and its length."""
        return np.array([0, len(self)], dtype=np.int64) if self.starts is None else self.starts

    @property
    def alone(self) -> AnnotatedSession:
        """The session without codes: who measures the batch, and who measures the session, get the same from it."""
        place = self.in_batch
        return self if place is None else place.whole.parts[place.number]

    @property
    def in_batch(self) -> Place | None:
        """The session's place in its batch; None where turns or codes have been changed since, or it has none."""
        return self.place if self.place is not None and self.place.holds(self) else None

    def has(self, *codes: str) -> bool:
        """Return whether the coder of the run gives all these codes."""
        return self.decisions.keys() >= set(codes)

    def decided(self, code: str) -> NDArray[np.bool_]:
        """Return which turns have a code, bool (n_turns,)."""
        if code not in self.decisions:
            raise UnknownNameError("code", code, self.decisions)
        return self.decisions[code]


@dataclass(frozen=True, slots=True)
class Batch:
    """Several sessions, their turns in one set of arrays.

    Attributes
    ----------
    sessions : tuple of Session
        As read.
    turns : TurnArrays
        All their turns, session after session.
    starts : int64 array (n_sessions + 1,)
        Session ``i`` owns turns ``starts[i]:starts[i + 1]``.
    """

    sessions: tuple[Session, ...]
    turns: TurnArrays
    starts: NDArray[np.int64]

    def __iter__(self) -> Iterator[AnnotatedSession]:
        bounds = zip(self.sessions, pairwise(self.starts.tolist()), strict=True)
        parts = tuple(AnnotatedSession(one, self.turns.between(start, stop)) for one, (start, stop) in bounds)
        of_all = Session(id="", source_file="", turns=tuple(turn for one in self.sessions for turn in one.turns))
        whole = AnnotatedSession(of_all, self.turns, starts=self.starts, parts=parts)
        for number, part in enumerate(parts):
            yield replace(part, place=Place(whole, int(self.starts[number]), number, part.turns))


def _between(found: T, start: int, stop: int) -> T:
    """Return rows of an array, or of all arrays of a dataclass that has no way of its own."""
    if isinstance(found, np.ndarray):
        return found[start:stop]  # type: ignore[return-value]
    whole: Any = found
    if hasattr(whole, "between"):
        part: T = whole.between(start, stop)
    else:
        part = replace(whole, **{one.name: getattr(whole, one.name)[start:stop] for one in fields(whole)})
    return part


def annotate(sessions: Sequence[Session], matcher: Matcher) -> Batch:
    """Tokenise each turn of the sessions once and count the lexicon categories.

    Parameters
    ----------
    sessions : sequence of Session
        As read; may be empty, and may hold sessions without turns.
    matcher : Matcher
        The compiled lexicons.

    Returns
    -------
    Batch
        What it holds for a session does not depend on the other sessions.
    """
    turns = [turn for session in sessions for turn in session.turns]
    tokens = tokenize([turn.text for turn in turns])
    starts = np.zeros(len(sessions) + 1, dtype=np.int64)
    np.cumsum([len(session.turns) for session in sessions], out=starts[1:])
    turn_of = np.repeat(np.arange(len(turns)), np.diff(tokens.offsets))
    counts, covered, opens = find_categories(tokens, matcher, turn_of, _first_word(tokens))
    n_words = np.bincount(turn_of, tokens.word_start, len(turns)).astype(np.int64)
    arrays = TurnArrays(
        tokens=tokens,
        offsets=tokens.offsets,
        roles=np.array([ROLES.index(turn.role) for turn in turns], dtype=np.int8),
        n_words=n_words,
        n_sentences=_sentences(tokens, turn_of, len(turns)),
        categories=category_columns(matcher.categories),
        counts=counts,
        covered=covered,
        opens=opens,
        user_categories=matcher.user_categories,
    )
    return Batch(tuple(sessions), arrays, starts)


def _first_word(tokens: Tokens) -> NDArray[np.int64]:
    """Index of each turn's first word token; the turn's end or beyond when it has no word."""
    words = np.append(np.flatnonzero(tokens.word_start), len(tokens.ids))
    return words[np.searchsorted(words[:-1], tokens.offsets[:-1])]


def _sentences(tokens: Tokens, turn_of: NDArray[np.int64], n_turns: int) -> NDArray[np.int64]:
    """Sentences with at least one word, of each turn."""
    begins = np.diff(turn_of, prepend=-1) > 0
    begins[1:] |= tokens.sentence_end[:-1]
    spoken = np.flatnonzero(tokens.word_start)
    first = np.diff(np.cumsum(begins)[spoken], prepend=-1) > 0
    return np.bincount(turn_of[spoken], first, n_turns).astype(np.int64)
