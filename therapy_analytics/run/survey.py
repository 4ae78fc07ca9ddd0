"""The first pass over all transcripts: the ids of sessions, and the donors of surrogate pairs; it keeps no words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.folders import seen_from
from therapy_analytics.core.identity import looks_named, looks_personal
from therapy_analytics.core.pseudonyms import OPTION, Pseudonyms
from therapy_analytics.readers import Account, ReadOptions
from therapy_analytics.readers.pseudonymous import kind_of, shown_file
from therapy_analytics.readers.roles import is_plain_label
from therapy_analytics.readers.transcript_reading import Names, read_named
from therapy_analytics.readers.transcripts import Transcript
from therapy_analytics.results import tables
from therapy_analytics.text.donors import Candidate, DonorChoice, candidate

if TYPE_CHECKING:
    from therapy_analytics.core.session import Session


@dataclass(frozen=True, slots=True)
class SurveyedFile:
    """A transcript, a hash of its bytes, and the ids of its sessions if facts about them are looked up by other ids."""

    transcript: Transcript
    sha256: str
    ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SurveyedSession:
    """A session as it is sent to a worker, which reads its words: never with them.

    Attributes
    ----------
    file : SurveyedFile
        Its file.
    at : int
        Which of the sessions of the file it is, from 0.
    id : str
        Under which results have it.
    notes : tuple of str
        The notes of the session, those on its id among them.
    n_turns, number : int
        Its number of turns, and its own in the run, from 0.
    """

    file: SurveyedFile
    at: int
    id: str
    notes: tuple[str, ...]
    n_turns: int
    number: int


Batch = tuple[SurveyedSession, ...]
"""Sessions that a worker takes at a time."""


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


@dataclass(slots=True)
class Survey:
    """All sessions of a run, by their ids and files.

    Attributes
    ----------
    account : Account
        What options and tables about sessions did, and which roles were guessed.
    pseudonyms : Pseudonyms or None
        The key, if there is one.
    files : list of InputFile
        In order.
    sessions : list of SurveyedSession
        In order.
    n_turns : int
        How many they have.
    about, gold : dict
        The columns of ``sessions.csv`` that are no measures, and those of ``turns.csv`` with codes that people gave, in
        order of appearance.
    personal : dict
        By what they are values of, values that look like names, addresses and numbers of people.
    """

    account: Account
    pseudonyms: Pseudonyms | None = None
    files: list[InputFile] = field(default_factory=list)
    sessions: list[SurveyedSession] = field(default_factory=list)
    n_turns: int = 0
    about: dict[str, None] = field(default_factory=dict)
    gold: dict[str, None] = field(default_factory=dict)
    personal: dict[str, set[str]] = field(default_factory=dict)
    _choice: DonorChoice[SurveyedSession] = field(default_factory=DonorChoice)

    def add(self, session: Session, file: SurveyedFile, at: int) -> None:
        """Add a session of a file."""
        n_turns = len(session.turns)
        one = SurveyedSession(file, at, session.id, session.notes, n_turns, number=len(self.sessions))
        self.sessions.append(one)
        self.n_turns += n_turns
        self.about |= dict.fromkeys(tables.about(session))
        coded = (name for turn in session.turns for name, code in turn.gold.items() if code)
        self.gold |= dict.fromkeys(f"{tables.GOLD}{name}" for name in coded)
        if (found := candidate(session)) is not None:
            self._choice.offer(found, one)
        if self.pseudonyms is None:
            people = [(name, value) for name, value in session.metadata.items() if kind_of(name)]
            labels = dict.fromkeys(turn.speaker for turn in session.turns if not is_plain_label(turn.speaker))
            people += [("the speaker labels", label) for label in labels]
            people = [pair for pair in people if looks_personal(pair[1])]
            people += [("the session ids", session.id)] if looks_named(session.id) else []
            for what, value in people:
                self.personal.setdefault(what, set()).add(value)

    def donors(self) -> tuple[tuple[Candidate, SurveyedSession], ...]:
        """Return the donors of surrogate pairs, in the order of their hashes."""
        return tuple(self._choice.chosen())

    def records(self, out: Path) -> list[dict[str, Any]]:
        """Return the entries of all files in the ``run.json`` of a folder of results."""
        return [file.record(out, self.pseudonyms) for file in self.files]

    def names_in_results(self) -> str:
        """Return a sentence on names of people that the results will hold; empty if there seem to be none."""
        found = [f"{what} ({len(values)})" for what, values in self.personal.items()]
        if not found:
            return ""
        listed = " and ".join([*([", ".join(found[:-1])] if found[:-1] else []), found[-1]])
        return (
            f"The results will hold names: values of {listed} look like full names, e-mail addresses or numbers "
            f"of records. {OPTION} KEYFILE puts others in their place, the same in every run."
        )


def survey(
    transcripts: Iterable[Transcript], options: ReadOptions, *, account: Account, on_file: Callable[[InputFile], None]
) -> Survey:
    """Make the first pass over all sessions, in this process: it takes a twentieth of the time of a run.

    Parameters
    ----------
    transcripts : iterable of Transcript
        The files.
    options : ReadOptions
        How they are read.
    account : Account
        Filled with what the options did.
    on_file : callable
        Called with each file that was read.

    Raises
    ------
    BadOptionError
        An option had no effect on any session.
    """
    found, names = Survey(account, options.pseudonyms), Names(options.pseudonyms)
    for transcript in transcripts:
        reading, ids = read_named(transcript, options, names)
        account.add(reading)
        n_before = found.n_turns
        file = SurveyedFile(transcript, reading.sha256, ids)
        for at, session in enumerate(reading.sessions):
            found.add(session, file, at)
        found.files.append(
            InputFile(
                transcript.path, transcript.place, reading.sha256, reading.reader, len(reading.sessions),
                found.n_turns - n_before, reading.problem,
            )
        )  # fmt: skip
        on_file(found.files[-1])
    account.refuse()
    return found
