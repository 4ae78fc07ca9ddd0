"""From paths to sessions, file after file, with ids that are unique among them; and how a file would be read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from therapy_analytics.core.errors import BadOptionError, UnreadableFileError
from therapy_analytics.core.identity import Tally, count_in, may_be_fact
from therapy_analytics.core.printable import counted, printable
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.core.session import Session
from therapy_analytics.core.verbs import options_of
from therapy_analytics.readers._beside import shown_fields
from therapy_analytics.readers._files import find_files
from therapy_analytics.readers.account import Account
from therapy_analytics.readers.base import READERS, ReadOptions, load_source
from therapy_analytics.readers.paths import placed
from therapy_analytics.readers.pseudonymous import pseudonymous
from therapy_analytics.readers.transcript_reading import Names, TranscriptReading, no_words, read_named, read_transcript
from therapy_analytics.readers.transcripts import Transcript, find_transcripts


@dataclass(frozen=True, slots=True)
class FileReading:
    """The sessions of one file, or why it could not be read.

    It may have both, where some of its sessions are too long to be read. `beside` has the names of fields beside the
    turns that are of no known meaning, each with the reason why it is not copied, empty where it is.
    """

    path: Path
    sessions: tuple[Session, ...] = ()
    problem: UnreadableFileError | None = None
    reader: str = ""
    sha256: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)


def read(path: str | Path, *, options: ReadOptions | None = None) -> list[Session]:
    """Read the sessions of a transcript file, or of all transcripts below a folder.

    Parameters
    ----------
    path : str or Path
        A file or a folder. `read_files` reads several; dialogues in memory need no reading, see `analyze`.
    options : ReadOptions, optional
        Columns, labels, metadata.

    Returns
    -------
    list of Session
        In the order of the file names, then of the file.

    Raises
    ------
    BadOptionError
        `path` is no path, or an option had no effect on any session; what there is instead is listed.
    UnreadableFileError
        The first file that cannot be read. `read_files` goes on instead.
    NothingToReadError
        There is no transcript.

    Warns
    -----
    TablesWarning
        A row of a table about sessions is about none, a session has no row, or a column of remarks was left out.
    """
    if not isinstance(path, str) and not hasattr(path, "iterdir"):
        option = "path"
        remedy = "Give the name of a file or folder; read_files takes several, and analyze takes dialogues in memory"
        raise BadOptionError(option, f"an object of type {type(path).__name__} is no path", remedy)
    sessions: list[Session] = []
    for reading in read_files([path], options=options):
        if reading.problem is not None:
            raise reading.problem
        sessions.extend(reading.sessions)
    return sessions


def read_files(
    paths: Iterable[str | Path],
    *,
    options: ReadOptions | None = None,
    leave_out: Path | None = None,
    account: Account | None = None,
) -> Iterator[FileReading]:
    """Read file after file; one that cannot be read is reported and stops nothing.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.
    options : ReadOptions, optional
        Columns, labels, metadata.
    leave_out : Path, optional
        A folder that is not looked into, such as the one that results go to.
    account : Account, optional
        Filled with what to say about options, tables about sessions and guessed roles. Without it, what should be
        checked in the tables is a `TablesWarning`.

    Yields
    ------
    FileReading
        One for each file, in order.

    Raises
    ------
    NothingToReadError
        There is no file to read.
    BadDataFileError
        The table about sessions that the options name does not exist.
    BadOptionError
        An option had no effect on any session; this is known, and raised, after the last file.
    """
    options = options_of(ReadOptions, options)
    names, used = Names(options.pseudonyms), account or Account(options)
    transcripts = list(find_transcripts(paths, options=options, leave_out=leave_out, on_table=used.saw_table))
    fields: dict[str, Tally] = {}
    for at, transcript in enumerate(transcripts):
        reading, _ = read_named(transcript, options, names)
        if not fields and reading.applied.fields:
            fields = _fields(reading, transcripts[at + 1 :], options)
        used.add(reading)
        yield _of_file(reading, fields)
    used.refuse()
    if account is None:
        used.warn()


def _fields(first: TranscriptReading, rest: Iterable[Transcript], options: ReadOptions) -> dict[str, Tally]:
    """Return the fields beside the turns of all files; those before `first` have none."""
    fields: dict[str, Tally] = {}
    count_in(fields, first.applied.fields)
    for transcript in rest:
        count_in(fields, read_transcript(transcript, options).applied.fields)
    return fields


def _of_file(reading: TranscriptReading, fields: Mapping[str, Tally]) -> FileReading:
    beside = {name: fields.get(name, Tally()).against(name) for name in reading.applied.fields}
    reading = reading.with_groupings([name for name, why in beside.items() if not why])
    path, sessions, problem = reading.transcript.path, reading.sessions, reading.problem
    if problem is None and not any(session.turns for session in sessions):
        sessions, problem = (), no_words(path)
    return FileReading(Path(printable(path)), sessions, problem, reading.reader, reading.sha256, beside)


@dataclass(frozen=True, slots=True)
class Inspection:
    """How one file would be read.

    Attributes
    ----------
    reading : FileReading
        Its sessions, or why it cannot be read.
    certainties : tuple of (str, float)
        The certainty of each reader that the file is its own, from 1 down; those at 0 are left out.
    encoding : str
        How the text was decoded; ``binary`` for Word, Excel and the like; empty when unreadable.
    pseudonyms : Pseudonyms or None
        The key whose pseudonyms are shown beside the names.
    """

    reading: FileReading
    certainties: tuple[tuple[str, float], ...]
    encoding: str
    pseudonyms: Pseudonyms | None = None

    def lines(self, *, quotes: bool = False, turns: int = 6) -> Iterator[str]:
        """Yield what to print: the file, its reader, then each session; words only with `quotes`."""
        yield str(self.reading.path)
        if self.encoding:
            bids = ", ".join(f"{name} {sure:.2f}" for name, sure in self.certainties) or "none"
            yield f"  how sure each reader is (1: certain): {bids}; letters: {self.encoding}"
        if self.reading.problem is not None:
            where = f"line {self.reading.problem.line}: " if self.reading.problem.line else ""
            yield f"  not read: {where}{self.reading.problem.problem}. {self.reading.problem.remedy}."
        yield from _beside(self.reading)
        for session in self.reading.sessions:
            yield from _session_lines(session, turns if quotes else 0)
            if self.pseudonyms is not None:
                yield f"    in results: {', '.join(_in_results(session, self.pseudonyms))}"


def inspect(
    paths: Iterable[str | Path], *, options: ReadOptions | None = None, account: Account | None = None
) -> Iterator[Inspection]:
    """Look at files without analysing them.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.
    options : ReadOptions, optional
        As for `read`.
    account : Account, optional
        As for `read_files`.

    Yields
    ------
    Inspection
        One for each file, in order.

    Raises
    ------
    NothingToReadError
        There is no file to read.
    BadOptionError
        An option had no effect on any session; this is known, and raised, after the last file.
    """
    options = options_of(ReadOptions, options)
    key, options = options.pseudonyms, replace(options, pseudonyms=None)  # who is who can be seen here alone
    used = account or Account(options)
    files = find_files(paths, on_table=used.saw_table)
    places = {printable(str(path)): placed(path) for path in files}
    for reading in read_files(files, options=options, account=used):
        path = str(reading.path)
        yield Inspection(reading, *_bids(Transcript(path, places.get(path, path)), options), key)
    if account is None:
        used.warn()


def _bids(file: Transcript, options: ReadOptions) -> tuple[tuple[tuple[str, float], ...], str]:
    """Return the certainties of all readers and the encoding."""
    try:
        source = load_source(file.path, options, file.place)
    except UnreadableFileError:
        return (), ""
    bids = sorted(((one.sniff(source), one.name) for one in READERS), reverse=True)
    return tuple((name, sure) for sure, name in bids if sure > 0), source.encoding


def _beside(reading: FileReading) -> Iterator[str]:
    """Yield which fields beside the turns are copied into results, and which are not and why; never their values."""
    copied = dict.fromkeys(name for session in reading.sessions for name in session.metadata)
    if copied:
        yield f"  beside the turns, copied: {', '.join(shown_fields(copied))}"
    for why in dict.fromkeys(filter(None, reading.beside.values())):
        names = shown_fields(name for name, own in reading.beside.items() if own == why)
        yield f"  beside the turns, not copied ({why}): {', '.join(names)}"


def _session_lines(session: Session, quoted: int) -> Iterator[str]:
    margin = "" if math.isnan(session.role_margin) else f", margin {session.role_margin:.1f}"
    yield f"  session {session.id}: {counted(len(session.turns), 'turn')}; roles by {session.role_method}{margin}"
    speakers: dict[tuple[str, str], list[int]] = {}
    for turn in session.turns:
        speakers.setdefault((turn.speaker, turn.role), []).append(len(turn.text.split()))
    for (speaker, role), words in speakers.items():
        yield f"    {speaker or '(no name)'} is {role}: {counted(len(words), 'turn')}, {counted(sum(words), 'word')}"
    yield f"    {_times(session)}"
    about = ", ".join(f"{key} {value}" for key, value in session.metadata.items() if value)
    if about:
        yield f"    about: {about}"
    marks = sum(len(turn.marks) for turn in session.turns)
    if marks:
        yield f"    {counted(marks, 'mark')} such as [laughs] or (pause) taken out of the words"
    codes = dict.fromkeys(name for turn in session.turns for name in turn.gold)
    if codes:
        yield f"    codes by people: {', '.join(codes)}"
    if passed_over := _passed_over(session, quotes=quoted > 0):
        yield f"    not taken as speakers, with the number of lines: {', '.join(passed_over)}"
    yield from (f"    note: {note}" for note in session.notes)
    yield from (f"    [{turn.index}] {turn.speaker}: {turn.text}" for turn in session.turns[:quoted])


def _in_results(session: Session, pseudonyms: Pseudonyms) -> Iterator[str]:
    """Yield the pseudonyms of a session, each with what it stands for."""
    yield f"session {pseudonyms.name_for('session', session.id)}"
    shown_there = pseudonymous(session, pseudonyms)
    for name, value in shown_there.metadata.items():
        if value != session.metadata[name]:
            yield f"{name} {session.metadata[name]} is {value}"
    pairs = ((turn.speaker, other.speaker) for turn, other in zip(session.turns, shown_there.turns, strict=True))
    yield from (f"label {label} is {other}" for label, other in dict.fromkeys(pairs) if label != other)
    yield f"its file is {shown_there.source_file}"


def _times(session: Session) -> str:
    """Return a clause that says how many turns have times."""
    begins = sum(turn.start_s is not None for turn in session.turns)
    ends = sum(turn.end_s is not None for turn in session.turns)
    if not begins and not ends:
        return "no times were found"
    return f"times were found: {counted(begins, 'turn')} of {len(session.turns)} with a beginning, {ends} with an end"


def _passed_over(session: Session, *, quotes: bool) -> list[str]:
    """List what begins lines as labels do; what may be a sentence is only counted, unless words are wanted."""
    found = session.passed_over
    listed = {label: n for label, n in found.items() if quotes or may_be_fact(label)}
    rest = [f"{sum(found.values()) - sum(listed.values())} others"] if len(listed) < len(found) else []
    return [f"{printable(label)} ({n})" for label, n in listed.items()] + rest
