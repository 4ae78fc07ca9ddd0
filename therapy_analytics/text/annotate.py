"""Sessions as arrays, which the tagger and all measures work on."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core.errors import UnknownNameError
from therapy_analytics.core.session import CLIENT, ROLES, THERAPIST, Role, Session, digest_of
from therapy_analytics.text.lexicons import Matcher, count_categories
from therapy_analytics.text.tokens import Tokens, tokenize

T = TypeVar("T")
Extra = Literal["all", "nclid"]
"""What can be computed beyond the core: everything that is cheap (``all``), and what is costly (``nclid``, word mover's
distances)."""
EXTRAS: tuple[Extra, ...] = get_args(Extra)


@dataclass(frozen=True, slots=True)
class TurnArrays:
    """Consecutive turns as arrays.

    Attributes
    ----------
    tokens : Tokens
        The tokens of the batch that the turns belong to.
    offsets : int64 array (n_turns + 1,)
        Turn ``i`` owns ``tokens.ids[offsets[i]:offsets[i + 1]]``.
    roles : int8 array (n_turns,)
        Positions in `therapy_analytics.core.session.ROLES`.
    n_words, n_sentences : int64 array (n_turns,)
        Words and sentences of each turn (a turn with words has at least one sentence).
    categories : mapping of str to int
        Lexicon category to column of the two tables below.
    counts : int32 array (n_turns, n_categories)
        How often each category occurs; a phrase counts once, and its words do not count again.
    covered : int32 array (n_turns, n_categories)
        How many words each category accounts for.
    user_categories : tuple of str
        The categories of lexicons that the user added.
    """

    tokens: Tokens
    offsets: NDArray[np.int64]
    roles: NDArray[np.int8]
    n_words: NDArray[np.int64]
    n_sentences: NDArray[np.int64]
    categories: Mapping[str, int]
    counts: NDArray[np.int32]
    covered: NDArray[np.int32]
    user_categories: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.roles)

    @property
    def span(self) -> slice:
        """The tokens of these turns among those of the batch."""
        return slice(int(self.offsets[0]), int(self.offsets[-1]))

    @property
    def ids(self) -> NDArray[np.int32]:
        """Types of the tokens of these turns, (n_tokens,)."""
        return self.tokens.ids[self.span]

    @property
    def turn_of(self) -> NDArray[np.int64]:
        """The turn of each token, from 0, (n_tokens,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def sentence_of(self) -> NDArray[np.int64]:
        """The sentence of each token, numbered through all turns from 0, (n_tokens,)."""
        return sentence_numbers(self.tokens.sentence_end[self.span], self.turn_of)

    @property
    def asks(self) -> NDArray[np.bool_]:
        """Which tokens have a question mark, (n_tokens,)."""
        return np.fromiter(("?" in norm for norm in self.tokens.norm), np.bool_)[self.ids]

    def between(self, start: int, stop: int) -> TurnArrays:
        """Return turns ``start:stop`` as views."""
        turns = slice(start, stop)
        return replace(
            self,
            offsets=self.offsets[start : stop + 1],
            roles=self.roles[turns],
            n_words=self.n_words[turns],
            n_sentences=self.n_sentences[turns],
            counts=self.counts[turns],
            covered=self.covered[turns],
        )

    def column(self, category: str) -> int:
        """Return the column of a lexicon category.

        Raises
        ------
        UnknownNameError
            There is no such category.
        """
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
    probabilities, decisions : mapping of str to float64 or bool array (n_turns,)
        For each code (``bolt_planning``, ``mi_question``, ...): its probability (nan where
        the turn is of another role), and whether the turn has it. Empty before tagging.
    unsure : mapping of str to bool array (n_turns,)
        For each code, whether the probability is close to the threshold. Empty before tagging.
    rated : mapping of str to float
        Codes of which rates are wanted (those of codebooks that the user named), with their `Code.turn_correlation`.
    seed : int
        The run's random seed, see `generator`.
    donors : Donors or None
        Other sessions, for surrogate pairs; None where there are none.
    extras : frozenset of str
        Measures beyond the core that the user asks for, see `Extra`.
    learnt : uint64 array (n,) or None
        Sorted hashes of the turns that the run's coder learnt from; None where they are not known.
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
    learnt: NDArray[np.uint64] | None = None
    _known: dict[object, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.turns.roles)

    def spoken_by(self, role: Role) -> NDArray[np.bool_]:
        """Return which turns a role speaks, bool (n_turns,)."""
        return np.equal(self.turns.roles, ROLES.index(role))

    @property
    def n_words(self) -> NDArray[np.int64]:
        """Words of each turn, int64 (n_turns,)."""
        return self.turns.n_words

    def count(self, category: str) -> NDArray[np.int32]:
        """Return how often a lexicon category occurs in each turn, int32 (n_turns,)."""
        return self.turns.counts[:, self.turns.column(category)]

    def consists_of(self, category: str) -> NDArray[np.bool_]:
        """Return which turns have words, and only words of a lexicon category, bool (n_turns,)."""
        covered = self.turns.covered[:, self.turns.column(category)]
        return (self.n_words > 0) & (covered >= self.n_words)

    def generator(self, *stream: int) -> np.random.Generator:
        """Return a random generator that depends only on the run's seed, the session's words and the stream.

        So a session's shuffles do not change with its name or with the other sessions of the run.
        """
        return np.random.default_rng([self.seed, zlib.crc32(self.n_words.tobytes()), *stream])

    def cached(self, compute: Callable[[AnnotatedSession], T], *, key: object = None) -> T:
        """Return the function's result for this session, computed once.

        For intermediate results that several measures need. The function is the key, unless another is given. A
        changed copy of the session (`dataclasses.replace`) has an empty cache.
        """
        key = compute if key is None else key
        if key not in self._known:
            self._known[key] = compute(self)
        found: T = self._known[key]
        return found

    def has(self, *codes: str) -> bool:
        """Return whether the run's coder gives all these codes."""
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
    """Tokenise each turn once and count the lexicon categories.

    Parameters
    ----------
    sessions : sequence of Session
        As read; may be empty, and may hold sessions without turns.
    matcher : Matcher
        The compiled lexicons.

    Returns
    -------
    Batch
        The arrays of a session do not depend on the other sessions.
    """
    turns = [turn for session in sessions for turn in session.turns]
    tokens = tokenize([turn.text for turn in turns])
    starts = np.append(0, np.cumsum([len(session.turns) for session in sessions], dtype=np.int64))
    turn_of = np.repeat(np.arange(len(turns)), np.diff(tokens.offsets))
    counts, covered = count_categories(tokens, matcher, turn_of)
    spoken = np.flatnonzero(tokens.word_start)
    begins = np.diff(sentence_numbers(tokens.sentence_end, turn_of)[spoken], prepend=-1) > 0
    arrays = TurnArrays(
        tokens=tokens,
        offsets=tokens.offsets,
        roles=np.array([ROLES.index(turn.role) for turn in turns], dtype=np.int8),
        n_words=np.bincount(turn_of[spoken], minlength=len(turns)),
        n_sentences=np.bincount(turn_of[spoken[begins]], minlength=len(turns)),
        categories={category.name: column for column, category in enumerate(matcher.categories)},
        counts=counts,
        covered=covered,
        user_categories=matcher.user_categories,
    )
    return Batch(tuple(sessions), arrays, starts)


def sentence_numbers(ends: NDArray[np.bool_], turn_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sentence of each token, numbered from 0; no sentence goes on in another turn.

    Parameters
    ----------
    ends : bool array (n_tokens,)
        Which tokens close a sentence.
    turn_of : int64 array (n_tokens,)
        The turn of each token, ascending.
    """
    opens = np.append(True, ends[:-1] | (np.diff(turn_of) > 0))[: len(turn_of)]
    return np.cumsum(opens, dtype=np.int64) - 1
