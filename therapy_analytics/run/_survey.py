"""The first pass over all sessions: their ids, and the donors of surrogate pairs.

It holds no words: workers read the sessions again, and only ids, places and hashes are sent to them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.folders import seen_from
from therapy_analytics.core.identity import looks_named, looks_personal
from therapy_analytics.core.pseudonyms import OPTION, Pseudonyms
from therapy_analytics.readers import Account, ReadOptions
from therapy_analytics.readers.build import fingerprint
from therapy_analytics.readers.pseudonymous import kind_of, shown_file
from therapy_analytics.readers.roles import is_plain_label
from therapy_analytics.readers.transcript_reading import Names, TranscriptReading, no_words, read_transcript
from therapy_analytics.readers.transcripts import Transcript
from therapy_analytics.results import tables
from therapy_analytics.run._batches import ChunkSessions, Donor, FileChunk, NamedSession
from therapy_analytics.run._executor import Executor, Lost
from therapy_analytics.text.donors import Candidate, DonorChoice, candidate

if TYPE_CHECKING:
    from therapy_analytics.core.session import Session

CHUNKS_AT_A_TIME = 32
"""The file chunks of one task."""


@dataclass(frozen=True, slots=True)
class SeenSession:
    """What the survey keeps of a session.

    Attributes
    ----------
    wanted : str
        The id that it has unless another session has it.
    fingerprint : bytes
        A hash of its words.
    n_turns : int
        Its number of turns.
    candidate : Candidate or None
        The session as a candidate for a donor of surrogate pairs.
    about, gold : tuple of str
        Its columns of ``sessions.csv`` that are no measures; columns of ``turns.csv`` with codes that people gave.
    personal : tuple of (str, str)
        What looks like a name, an address or a number of a person: what it is a value of, and the value.
    """

    wanted: str
    fingerprint: bytes
    n_turns: int
    candidate: Candidate | None
    about: tuple[str, ...]
    gold: tuple[str, ...]
    personal: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SeenChunk:
    """A file chunk of the survey: its reading without the sessions, and what is kept of these."""

    reading: TranscriptReading
    sessions: tuple[SeenSession, ...] = ()


@dataclass(slots=True)
class InputFile:
    """A transcript as ``run.json`` lists it, and why it could not be read, or not completely.

    Attributes
    ----------
    file : str
        The path, as the user named it.
    place : str
        Its absolute path.
    sha256, reader : str
        A hash of its bytes, and the name of its reader; empty where it could not be read.
    sessions, n_turns : int
        How many were read from it.
    problem : UnreadableFileError or None
        Why it could not be read, or not completely.
    """

    file: str
    place: str = ""
    sha256: str = ""
    reader: str = ""
    sessions: int = 0
    n_turns: int = 0
    problem: UnreadableFileError | None = None

    def record(self, out: Path, pseudonyms: Pseudonyms | None) -> dict[str, Any]:
        """Return its entry in the ``run.json`` of a folder of results."""
        place = self.seen_from(out)
        place = pseudonyms.name_for("place", place) if pseudonyms else place
        return {
            "file": shown_file(self.file, pseudonyms), "place": place, "sha256": self.sha256, "reader": self.reader,
            "sessions": self.sessions,
        }  # fmt: skip

    def seen_from(self, out: Path) -> str:
        """Return its path relative to a folder."""
        return seen_from(self.place, out)

    def add(self, seen: SeenChunk) -> None:
        """Add what was read from it."""
        read = seen.reading
        self.sha256, self.reader, self.problem = read.sha256, read.reader, read.problem
        self.sessions = len(seen.sessions)
        self.n_turns = sum(one.n_turns for one in seen.sessions)


@dataclass(slots=True)
class Survey:
    """All sessions of a run, by their ids and places.

    Attributes
    ----------
    files : list of InputFile
        In order.
    sessions : list of ChunkSessions
        The sessions, in order.
    n_sessions, n_turns : int
        How many there are.
    about, gold : dict
        The columns of all sessions, as in `SeenSession`, in order of appearance.
    account : Account
        What options and tables about sessions did, and which roles were guessed.
    pseudonyms : Pseudonyms or None
        The key, if there is one.
    personal : dict
        By what they are values of, values that look like names, addresses and numbers of people.
    """

    files: list[InputFile] = field(default_factory=list)
    sessions: list[ChunkSessions] = field(default_factory=list)
    n_sessions: int = 0
    n_turns: int = 0
    about: dict[str, None] = field(default_factory=dict)
    gold: dict[str, None] = field(default_factory=dict)
    account: Account = field(default_factory=lambda: Account(ReadOptions()))
    pseudonyms: Pseudonyms | None = None
    personal: dict[str, set[str]] = field(default_factory=dict)
    _names: Names = field(init=False)
    _choice: DonorChoice[tuple[FileChunk, int]] = field(default_factory=DonorChoice)

    def __post_init__(self) -> None:
        self._names = Names(self.pseudonyms)

    def add(self, seen: SeenChunk, options: ReadOptions) -> None:
        """Add what was seen of a file chunk."""
        transcript, by_name = seen.reading.transcript, False
        named = [self._named(one, seen.reading.stem) for one in seen.sessions]
        ids = tuple(one.id for one in named)
        if seen.reading.by_name and ids != tuple(one.wanted for one in seen.sessions):
            seen, by_name = (
                _look(transcript, options, ids),
                True,
            )  # by these ids, a table may hold other facts about them
        chunk = FileChunk(transcript, ids if by_name else None)
        named = [replace(one, id=self._names.shown(one.id)) for one in named]
        self.account.add(seen.reading)
        self.files.append(InputFile(transcript.path, transcript.place))
        self.files[-1].add(seen)
        if named:
            self.sessions.append(ChunkSessions(chunk, tuple(named)))
        for at, one in enumerate(seen.sessions):
            self._count(one, chunk, at)

    def _named(self, one: SeenSession, stem: str) -> NamedSession:
        name, notes = self._names.settle(one.wanted, stem, one.fingerprint)
        return NamedSession(name, notes, one.fingerprint, one.n_turns)

    def _count(self, one: SeenSession, chunk: FileChunk, at: int) -> None:
        self.n_sessions += 1
        self.n_turns += one.n_turns
        self.about |= dict.fromkeys(one.about)
        self.gold |= dict.fromkeys(one.gold)
        for what, value in one.personal:
            self.personal.setdefault(what, set()).add(value)
        if one.candidate is not None:
            self._choice.offer(one.candidate, (chunk, at))

    def donors(self) -> tuple[Donor, ...]:
        """Return the donors of surrogate pairs."""
        return tuple(Donor(one, chunk, at) for one, (chunk, at) in self._choice.chosen())

    def records(self, out: Path) -> list[dict[str, Any]]:
        """Return the entries of all files in the ``run.json`` of a folder of results."""
        return [file.record(out, self.pseudonyms) for file in self.files]

    def names_in_results(self) -> Iterator[str]:
        """Yield a sentence on names of people that the results will hold, if there seem to be any."""
        found = [f"{what} ({len(values)})" for what, values in self.personal.items()]
        if found:
            listed = " and ".join([*([", ".join(found[:-1])] if found[:-1] else []), found[-1]])
            yield (
                f"The results will hold names: values of {listed} look like full names, e-mail addresses or numbers "
                f"of records. {OPTION} KEYFILE puts others in their place, the same in every run."
            )


def survey(
    transcripts: Iterable[Transcript],
    options: ReadOptions,
    *,
    executor: Executor,
    account: Account,
    on_file: Callable[[InputFile], None],
) -> Survey:
    """Make the first pass over all sessions.

    Parameters
    ----------
    transcripts : iterable of Transcript
        The file chunks.
    options : ReadOptions
        How they are read.
    executor : Executor
        Distributes the work.
    account : Account
        Filled with what the options did.
    on_file : callable
        Called with each file that was read.

    Raises
    ------
    BadOptionError
        An option had no effect on any session.
    """
    found = Survey(account=account, pseudonyms=options.pseudonyms)
    function = functools.partial(_look_at, options=options)
    for group, outcome in executor.in_order(function, _groups(transcripts), divide=_divided):
        for seen in _lost(group, outcome) if isinstance(outcome, Lost) else outcome:
            found.add(seen, options)
            file = found.files[-1]
            if file.problem is None and not file.n_turns:
                file.problem = no_words(file.file)
            on_file(file)
    account.refuse()
    return found


def _groups(transcripts: Iterable[Transcript]) -> Iterator[tuple[Transcript, ...]]:
    left = iter(transcripts)
    return iter(lambda: tuple(islice(left, CHUNKS_AT_A_TIME)), ())


def _divided(group: Sequence[Transcript]) -> Iterator[tuple[Transcript, ...]]:
    return ((transcript,) for transcript in group)


def _lost(group: Sequence[Transcript], why: Lost) -> Iterator[SeenChunk]:
    what = "the process that read it died, also when it read nothing else"
    if why.reason == "memory":
        what = "there was not enough memory to read it"
    remedy = "Run again when more memory is free; if that does not help, split the file into smaller ones"
    for transcript in group:
        yield SeenChunk(TranscriptReading(transcript, problem=UnreadableFileError(transcript.path, None, what, remedy)))


def _look_at(group: Sequence[Transcript], *, options: ReadOptions) -> tuple[SeenChunk, ...]:
    return tuple(_look(transcript, options) for transcript in group)


def _look(transcript: Transcript, options: ReadOptions, ids: Sequence[str] | None = None) -> SeenChunk:
    reading = read_transcript(transcript, options, ids)
    seen = tuple(_seen(one, look_for_names=options.pseudonyms is None) for one in reading.sessions)
    return SeenChunk(replace(reading, sessions=()), seen)


def _personal(session: Session) -> tuple[tuple[str, str], ...]:
    """Return what looks like a name, an address or a number of a person."""
    people = [(name, value) for name, value in session.metadata.items() if kind_of(name)]
    labels = dict.fromkeys(turn.speaker for turn in session.turns if not is_plain_label(turn.speaker))
    people += [("the speaker labels", label) for label in labels]
    found = [one for one in people if looks_personal(one[1])]
    return (*found, *([("the session ids", session.id)] if looks_named(session.id) else []))


def _seen(session: Session, *, look_for_names: bool) -> SeenSession:
    gold = dict.fromkeys(f"{tables.GOLD}{name}" for turn in session.turns for name, code in turn.gold.items() if code)
    return SeenSession(
        wanted=session.id,
        fingerprint=fingerprint(session),
        n_turns=len(session.turns),
        candidate=candidate(session),
        about=tuple(tables.about(session)),
        gold=tuple(gold),
        personal=_personal(session) if look_for_names else (),
    )
