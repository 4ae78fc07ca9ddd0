"""From a transcript to its sessions, or to the reason why it cannot be read."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from therapy_analytics.core.errors import BadDataFileError, BadOptionError, UnreadableFileError
from therapy_analytics.core.ids import safe_id, unique_id
from therapy_analytics.core.printable import printable
from therapy_analytics.core.pseudonyms import OPTION, Pseudonyms
from therapy_analytics.core.session import Session
from therapy_analytics.readers._applied import Applied, applied_to, notes_on
from therapy_analytics.readers._beside import ID_NOT_USED, divided, is_kept, tallied, usable_name, with_groupings
from therapy_analytics.readers._files import choose_reader
from therapy_analytics.readers._limits import (
    LARGEST_FILE,
    LARGEST_SESSION,
    refuse_crowded,
    refuse_large,
    too_long,
    too_many_rows,
)
from therapy_analytics.readers._metadata import SessionTable, combined, common_names, from_name, tables_for
from therapy_analytics.readers._split import split, with_roles
from therapy_analytics.readers._voices import joined
from therapy_analytics.readers.base import (
    BINARY,
    HEAD,
    RawSession,
    ReadOptions,
    Source,
    load_source,
)
from therapy_analytics.readers.build import build_session, fingerprint
from therapy_analytics.readers.paths import size
from therapy_analytics.readers.pseudonymous import named_by, pseudonymous
from therapy_analytics.readers.transcripts import Transcript, beginning

_CHANGED = ("the file changed while it was read", "Leave the transcripts as they are, and run again")


@dataclass(frozen=True, slots=True)
class TranscriptReading:
    """The sessions of a transcript, or why it could not be read.

    Attributes
    ----------
    transcript : Transcript
        Which it is.
    sessions : tuple of Session
        In order; with the ids that they want, or those that were given.
    stem : str
        A safe id made from the file name.
    problem : UnreadableFileError or None
        Why it could not be read.
    reader : str
        The name of its reader.
    sha256 : str
        Hash of the file.
    beside : tuple of mapping of str to str
        What else the file says about each session; copied if the sessions of the run show that it is a grouping.
    by_name : bool
        Whether a table about sessions was looked up, in which other ids could find other rows.
    applied : Applied
        Which options and tables about sessions had an effect on its sessions.
    """

    transcript: Transcript
    sessions: tuple[Session, ...] = ()
    stem: str = ""
    problem: UnreadableFileError | None = None
    reader: str = ""
    sha256: str = ""
    beside: tuple[Mapping[str, str], ...] = field(default=(), repr=False)
    by_name: bool = False
    applied: Applied = field(default_factory=Applied)

    def with_groupings(self, groupings: Collection[str]) -> TranscriptReading:
        """Return the reading with those fields in its sessions that are groupings, and without the others."""
        if not any(self.beside):
            return self
        pairs = zip(self.sessions, self.beside, strict=True)
        sessions = tuple(with_groupings(session, beside, groupings) for session, beside in pairs)
        return replace(self, sessions=sessions, beside=({},) * len(sessions))


@dataclass(slots=True)
class Names:
    """The ids of a run that are taken, and the id of each sequence of words; `pseudonyms` is the key, if any."""

    pseudonyms: Pseudonyms | None = None
    _taken: dict[str, int] = field(default_factory=dict)
    _by_words: dict[bytes, str] = field(default_factory=dict)
    _shown: dict[str, str] = field(default_factory=dict)

    def settle(self, wanted: str, stem: str, words: bytes) -> tuple[str, tuple[str, ...]]:
        """Return an id that no other session of the run has, and a note where the same words were met before.

        Parameters
        ----------
        wanted, stem : str
            The id that the session wants, and that of the file name.
        words : bytes
            The `fingerprint` of its words.
        """
        identity = unique_id(wanted, stem, self._taken)
        twin = self._by_words.setdefault(words, identity)
        return identity, () if twin == identity else (f"The same words as in session {self.shown(twin)}.",)

    def shown(self, identity: str) -> str:
        """Return the id under which results have a session.

        Raises
        ------
        BadOptionError
            Two sessions would have one pseudonym.
        """
        if self.pseudonyms is None:
            return identity
        name = self.pseudonyms.name_for("session", identity)
        if self._shown.setdefault(name, identity) != identity:
            problem = f"two sessions would be called {name}"
            raise BadOptionError(OPTION, problem, "Leave one out if it is a copy of the other, or make a new key")
        return name


def read_transcript(
    transcript: Transcript, options: ReadOptions, ids: Sequence[str] | None = None
) -> TranscriptReading:
    """Read the sessions of a transcript; what cannot be read becomes a problem, not an exception.

    Parameters
    ----------
    transcript : Transcript
        Which.
    options : ReadOptions
        As for `find_transcripts`.
    ids : sequence of str, optional
        The ids of its sessions; by default those that they want.
    """
    try:
        with _without_garbage_collection():
            return _read(transcript, options, ids)
    except UnreadableFileError as error:
        problem = error
        if transcript.apart:
            remedy = f"{error.remedy}. {transcript.apart}".removesuffix(".")
            problem = UnreadableFileError(error.path, error.line, error.problem, remedy)
    except BadDataFileError as error:
        problem = UnreadableFileError(error.path, None, error.problem, error.remedy)
    except MemoryError:
        remedy = "Run again when more memory is free; if that does not help, split the file into smaller ones"
        problem = UnreadableFileError(transcript.path, None, "there was not enough memory to read it", remedy)
    except Exception as error:  # noqa: BLE001 (whatever a file does to a reader, the run goes on)
        what = f"the file could not be understood ({type(error).__name__})"
        problem = UnreadableFileError(transcript.path, None, what, "Save it again in its format")
    return TranscriptReading(transcript, problem=problem)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Suspend the garbage collector: it would look through thousands of turns, none of which it can free."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_named(
    transcript: Transcript, options: ReadOptions, names: Names
) -> tuple[TranscriptReading, tuple[str, ...] | None]:
    """Read the sessions of a transcript under ids that no other session of the run has.

    Returns
    -------
    TranscriptReading
        Its sessions, as results name them.
    tuple of str or None
        The ids by which facts about them were looked up in tables, if these are not those that the sessions want.
    """
    reading = read_transcript(transcript, options)
    settled = [names.settle(one.id, reading.stem, fingerprint(one)) for one in reading.sessions]
    ids = tuple(identity for identity, _ in settled)
    others = reading.by_name and ids != tuple(one.id for one in reading.sessions)
    if others:
        reading = read_transcript(transcript, options, ids)
    sessions = tuple(
        replace(one, id=names.shown(identity), notes=(*one.notes, *notes))
        for one, (identity, notes) in zip(reading.sessions, settled, strict=bool(reading.sessions))
    )
    return replace(reading, sessions=sessions), ids if others else None


def _read(transcript: Transcript, options: ReadOptions, ids: Sequence[str] | None) -> TranscriptReading:
    reading = _read_joined(transcript, options, ids) if transcript.voices else _read_whole(transcript, options, ids)
    if not any(session.turns for session in reading.sessions):
        raise reading.problem or no_words(transcript.path)
    return reading


def _read_whole(transcript: Transcript, options: ReadOptions, ids: Sequence[str] | None) -> TranscriptReading:
    _refuse_long(transcript, options)
    source = load_source(transcript.path, options, transcript.place)
    chosen, digest = choose_reader(source), source.sha256
    if source.encoding != BINARY:
        if chosen.one_session:
            refuse_large(transcript.path, len(source.data), LARGEST_SESSION)
            refuse_crowded(transcript.path, source.text)
        source = replace(source, data=source.data[:HEAD])  # from here on, only the text is read
    notes = (transcript.apart,) if transcript.apart else ()
    found = (replace(one, notes=(*one.notes, *notes)) for one in chosen.read(source))
    return _built(transcript, source, found, ids, reader=chosen.name, sha256=digest)


def _read_joined(transcript: Transcript, options: ReadOptions, ids: Sequence[str] | None) -> TranscriptReading:
    sources = [(load_source(one.path, options, one.place), one.who) for one in transcript.voices]
    found, source = joined(sources, transcript.talk), sources[0][0]
    if isinstance(found, str):
        raise source.error(*_CHANGED)
    digest = hashlib.sha256(b"".join(one.sha256.encode() for one, _ in sources)).hexdigest()
    reading = _built(transcript, source, [found], ids, reader="one_file_a_speaker", sha256=digest)
    return replace(reading, stem=safe_id(transcript.talk))


def _refuse_long(transcript: Transcript, options: ReadOptions) -> None:
    """Refuse a large file of a format that holds one session, by its beginning, before it is read."""
    n_bytes = size(transcript.place)
    if n_bytes <= LARGEST_SESSION:
        return
    refuse_large(transcript.path, n_bytes, LARGEST_FILE)
    one_session = False
    with suppress(UnreadableFileError):  # where the beginning does not tell the format, the whole file will
        source = beginning(transcript, options)
        one_session = source.encoding != BINARY and choose_reader(source).one_session
    if one_session:
        refuse_large(transcript.path, n_bytes, LARGEST_SESSION)


def no_words(path: str) -> UnreadableFileError:
    """Return the error of a file in which nobody speaks."""
    return UnreadableFileError(path, None, "the file holds no spoken words", "It should hold a transcript")


def _built(
    transcript: Transcript,
    source: Source,
    found: Iterable[RawSession],
    ids: Sequence[str] | None,
    *,
    reader: str,
    sha256: str,
) -> TranscriptReading:
    """Build session after session, with what tables say about each; its rows are freed before the next is read.

    Those that are too long are left out, and the first of them is the problem of the reading.
    """
    tables = list(tables_for(transcript.table, transcript.path, transcript.place, source.options))
    key = source.options.pseudonyms
    paths = [Path(printable(path)) for path in (transcript.path, *(one.path for one in transcript.voices))]
    files = {name for path in paths for name in (path.name, path.stem)}
    stem, file = safe_id(source.path.stem), transcript.file or source.path.name
    sessions, others, applied, problem = list[Session](), list[Mapping[str, str]](), Applied(), None
    for raw in found:
        own_name = raw.name.strip()
        name, known_as = usable_name(own_name, source.path.stem), safe_id(own_name or source.path.stem)
        if refused := too_many_rows(transcript.path, known_as, [row.text for row in raw.rows]):
            problem = problem or refused
            continue
        parts, could = split(replace(raw, name=name), source.options.split_by, name or source.path.stem)
        whole = _session(raw, source, tables, "", known_as)[0] if len(parts) > 1 else None
        for part in parts:
            given = ids[len(sessions)] if ids and len(sessions) < len(ids) else ""
            session, beside, own = _session(part, source, tables, given, known_as, whole)
            if refused := too_long(transcript.path, session.id, [turn.text for turn in session.turns]):
                problem = problem or refused
                continue
            own.effects["--split-by"] += could
            notes = session.notes if name or not own_name else (*session.notes, ID_NOT_USED)
            session = replace(session, source_file=file, notes=notes)
            sessions.append(pseudonymous(session, key, {*files, own_name, transcript.talk}))
            others.append(named_by(beside, key))
            applied.add(own)
    if ids is not None and len(ids) != len(sessions):
        raise source.error(*_CHANGED)
    return TranscriptReading(
        transcript, tuple(sessions), stem, problem, reader, sha256, tuple(others), bool(tables), applied
    )


def _session(
    raw: RawSession, source: Source, tables: Sequence[SessionTable], given: str, name: str, whole: Session | None = None
) -> tuple[Session, Mapping[str, str], Applied]:
    """Build a session, or a part of a `whole` with its roles, and return what else the file says about it.

    Tables may name the part or the whole.
    """
    stem, options = safe_id(source.path.stem), source.options
    wanted = safe_id(raw.name) if raw.name.strip() else stem
    identity = given or wanted
    by_pattern = from_name(source.path.stem, options.pattern)
    keys = [(table, table.find(identity, wanted, name, stem)) for table in tables]
    rows = [table.rows[key].facts for table, key in keys if key]
    facts = common_names(raw.metadata)
    copied, beside = divided(facts, options.keep)
    about, notes = combined(copied, by_pattern, *rows)
    session = build_session(
        raw if whole is None else with_roles(raw, whole), identity, str(source.path), about, options
    )
    if whole is not None:
        session = replace(session, role_method=whole.role_method, role_margin=whole.role_margin)
    applied = applied_to(session, options, of_table=raw.of_table, by_pattern=bool(by_pattern), stem=source.path.stem)
    applied.fields = tallied(beside)
    applied.kept = {name: None for name in copied if is_kept(name, options.keep)}
    applied.tables = {table.place: table.path for table in tables}
    applied.rows = {(table.place, key) for table, key in keys if key}
    if tables and not applied.rows:
        applied.without_row = [(tables[-1].place, identity)]
        notes = (*notes, "No row of the table about the sessions is about this one.")
    return replace(session, notes=(*session.notes, *notes, *notes_on(applied, options))), beside, applied
