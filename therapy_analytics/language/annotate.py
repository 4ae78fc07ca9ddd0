"""Sessions as arrays: what all measures and the tagger work on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.errors import UnknownNameError
from therapy_analytics.language._categories import find_categories
from therapy_analytics.language.lexicons import Matcher, category_columns
from therapy_analytics.language.tokens import Tokens, tokenize
from therapy_analytics.session import CLIENT, ROLES, THERAPIST, Role, Session, digest_of

T = TypeVar("T")
Extra = Literal["all", "syntax", "nclid", "recurrence", "coupling"]
"""Measures that must be asked for: all but the costly ones; those of parts of speech, word mover's distances,
recurrence and lagged coupling."""
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
    donors : Donors or None
        Other sessions, for surrogate pairs; None where there are none.
    extras : frozenset of str
        Costly measures that the user asks for, see `Extra`.
    """

    session: Session
    turns: TurnArrays
    probabilities: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    decisions: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    unsure: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    rated: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    donors: Donors | None = None
    extras: frozenset[Extra] = frozenset()
    _known: dict[object, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

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

    def cached(self, compute: Callable[[AnnotatedSession], T], *, key: object = None) -> T:
        """Return what a function makes of the session, computed when it is first asked for.

        For what several measures or tables of one session need. The function is the key, unless another is given. A
        changed copy of the session (`dataclasses.replace`) starts with an empty cache.
        """
        key = compute if key is None else key
        if key not in self._known:
            self._known[key] = compute(self)
        found: T = self._known[key]
        return found

    def has(self, *codes: str) -> bool:
        """Return whether the coder of the run gives all these codes."""
        return self.decisions.keys() >= set(codes)

    def decided(self, code: str) -> NDArray[np.bool_]:
        """Return which turns have a code, bool (n_turns,)."""
        if code not in self.decisions:
            raise UnknownNameError("code", code, self.decisions)
        return self.decisions[code]


@dataclass(frozen=True, slots=True, eq=False)
class Donors:
    """Sessions of one length class whose turns stand in for those of others, as arrays.

    Attributes
    ----------
    whole : AnnotatedSession
        The turns of all donors as those of one session, so that each measure reads them once.
    digests, clients : tuple of str
        The hash of each donor's words, and the client's name where the transcript has it.
    spoken : mapping of (int, int) to int64 array (n_spoken_turns,)
        Donor and role (`THERAPIST`, `CLIENT`) to the positions in `whole` of their turns with words, in order.
    """

    whole: AnnotatedSession
    digests: tuple[str, ...]
    clients: tuple[str, ...]
    spoken: Mapping[tuple[int, int], NDArray[np.int64]]

    @classmethod
    def from_batch(cls, batch: Batch, digests: tuple[str, ...], clients: tuple[str, ...]) -> Donors:
        """Return the sessions of a batch, whose digests and clients are known, as donors."""
        turns = tuple(turn for session in batch.sessions for turn in session.turns)
        whole = AnnotatedSession(replace(batch.sessions[0], turns=turns), batch.turns)
        return cls(whole, digests, clients, spoken_by(whole.turns, batch.starts))

    def n_turns(self, donor: int) -> tuple[int, int]:
        """Return how many turns with words a donor has, of the therapist and of the client."""
        return len(self.spoken[donor, THERAPIST]), len(self.spoken[donor, CLIENT])

    def others_than(self, session: Session) -> list[int]:
        """Return the donors with words in both roles who are neither this session nor of its client."""
        digest, client = digest_of(session), session.metadata.get("client", "")
        known = zip(self.digests, self.clients, strict=True)
        others = [i for i, (other, name) in enumerate(known) if other != digest and not (client and name == client)]
        # Candidates' words were counted by spaces: all of a role's turns may consist of signs.
        return [i for i in others if all(self.n_turns(i))]


def spoken_by(turns: TurnArrays, starts: NDArray[np.int64]) -> dict[tuple[int, int], NDArray[np.int64]]:
    """Return for each session and role the positions of its turns with words, int64 arrays (n_spoken_turns,).

    Parameters
    ----------
    turns : TurnArrays
        Of several sessions.
    starts : int64 array (n_sessions + 1,)
        Session ``i`` owns turns ``starts[i]:starts[i + 1]``.
    """
    found = {}
    for i, (start, stop) in enumerate(pairwise(starts.tolist())):
        for role in (THERAPIST, CLIENT):
            of_role = (turns.roles[start:stop] == role) & (turns.n_words[start:stop] > 0)
            found[i, role] = start + np.flatnonzero(of_role)
    return found


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
        """Yield each session by itself, with views of its turns."""
        for session, (start, stop) in zip(self.sessions, pairwise(self.starts.tolist()), strict=True):
            yield AnnotatedSession(session, self.turns.between(start, stop))


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
