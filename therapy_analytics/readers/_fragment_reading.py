"""From a file fragment to its sessions, or to what is wrong with it."""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from therapy_analytics.errors import BadDataFileError, UnreadableFileError
from therapy_analytics.readers._addresses import (
    named,
    open_binary,
    size,
    version,
)
from therapy_analytics.readers._applied import Applied, applied_to, notes_on
from therapy_analytics.readers._base import (
    BINARY,
    HEAD,
    READERS,
    Layout,
    Part,
    RawSession,
    ReadOptions,
    Source,
    load_source,
)
from therapy_analytics.readers._build import Place, build_session, safe_id, unique_id
from therapy_analytics.readers._files import choose_reader
from therapy_analytics.readers._fragments import Fragment, beginning
from therapy_analytics.readers._limits import LARGEST_FILE, LARGEST_SESSION, refuse_large
from therapy_analytics.readers._metadata import SessionTable as Table
from therapy_analytics.readers._metadata import combined, common_names, from_name, tables_for
from therapy_analytics.readers._split import split, with_roles
from therapy_analytics.readers._voices import joined
from therapy_analytics.session import Session

_CHANGED = ("the file changed while it was read", "Leave the transcripts as they are, and run again")


@dataclass(frozen=True, slots=True)
class FragmentReading:
    """What became of a fragment: its sessions, or why it could not be read.

    Attributes
    ----------
    fragment : Fragment
        Which it is.
    sessions : tuple of Session
        In order; named as they want to be called, or by the ids that were given.
    stem : str
        A safe id of the name of the file.
    problem : UnreadableFileError or None
        Why it could not be read.
    reader : str
        The name of its reader.
    sha256 : str
        Of the whole file; empty but for the first part.
    by_name : bool
        Whether a table about sessions was looked into, in which other ids could find other rows.
    applied : Applied
        What of the options and of the tables about sessions had an effect on its sessions.
    """

    fragment: Fragment
    sessions: tuple[Session, ...] = ()
    stem: str = ""
    problem: UnreadableFileError | None = None
    reader: str = ""
    sha256: str = ""
    by_name: bool = False
    applied: Applied = field(default_factory=Applied)


@dataclass(slots=True)
class Names:
    """The ids of a run that are taken, and what was said under them."""

    _taken: dict[str, int] = field(default_factory=dict)
    _said: dict[bytes, str] = field(default_factory=dict)

    def settle(self, wanted: str, stem: str, said: bytes) -> tuple[str, tuple[str, ...]]:
        """Return an id that no other session of the run has, and a note where the same words were met before.

        Parameters
        ----------
        wanted, stem : str
            The id that the session wants, and that of its file's name.
        said : bytes
            The `fingerprint` of its words.
        """
        identity = unique_id(wanted, stem, self._taken)
        twin = self._said.setdefault(said, identity)
        return identity, () if twin == identity else (f"The same words as in session {twin}.",)


def read_fragment(fragment: Fragment, options: ReadOptions, ids: Sequence[str] | None = None) -> FragmentReading:
    """Read the sessions of a fragment; a file that cannot be read is a problem, and no exception.

    Parameters
    ----------
    fragment : Fragment
        Which.
    options : ReadOptions
        As for `find_fragments`.
    ids : sequence of str, optional
        How its sessions are called; as they want to be, if not given.
    """
    try:
        with _collector_waiting():
            return _read(fragment, options, ids)
    except UnreadableFileError as error:
        return FragmentReading(fragment, problem=_told(error, fragment.apart))
    except BadDataFileError as error:
        problem = UnreadableFileError(error.path, None, error.problem, error.remedy)
    except Exception as error:  # noqa: BLE001 (whatever a file does to a reader, the run goes on)
        what = f"the file could not be understood ({type(error).__name__})"
        problem = UnreadableFileError(fragment.path, None, what, "Save it again in its format")
    return FragmentReading(fragment, problem=problem)


def _told(problem: UnreadableFileError, apart: str) -> UnreadableFileError:
    """Add why a file was not joined with those that seem to hold the other speakers."""
    if not apart:
        return problem
    remedy = f"{problem.remedy}. {apart}".removesuffix(".")
    return UnreadableFileError(problem.path, problem.line, problem.problem, remedy)


@contextmanager
def _collector_waiting() -> Iterator[None]:
    """Let the garbage collector of Python wait while thousands of turns are made, none of which it could let go."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


_LAST: list[tuple[Fragment, ReadOptions, tuple[object, ...], FragmentReading]] = []
"""The last reading of this process, of one file at a time."""


def forget_last() -> None:
    """Let go the last reading of this process, which holds words."""
    _LAST.clear()


def read_again(fragment: Fragment, options: ReadOptions) -> FragmentReading:
    """Read a fragment as `read_fragment` does; the last one is kept for who wants more of its sessions."""
    state = tuple(version(one.place) for one in fragment.voices) or version(fragment.place)
    for kept in _LAST:
        if state and kept[:3] == (fragment, options, state):
            return kept[3]
    _LAST.clear()  # before the next is held
    reading = read_fragment(fragment, options)
    _LAST.append((fragment, options, state, reading))
    return reading


def _read(fragment: Fragment, options: ReadOptions, ids: Sequence[str] | None) -> FragmentReading:
    if fragment.layout is not None:
        return _read_part(fragment, fragment.layout, options, ids)
    if fragment.voices:
        return _read_joined(fragment, options, ids)
    _refuse_long(fragment, options)
    source = load_source(fragment.path, options, fragment.place)
    chosen, digest = choose_reader(source), source.sha256
    if source.encoding != BINARY:
        if chosen.one_session:
            refuse_large(fragment.path, len(source.data), LARGEST_SESSION)
        source = replace(source, data=source.data[:HEAD])  # the letters are all that is read from here on
    why = (fragment.apart,) if fragment.apart else ()
    found = (replace(one, notes=(*one.notes, *why)) for one in chosen.read(source))
    return _with_words(_built(fragment, source, found, ids, reader=chosen.name, sha256=digest))


def _read_joined(fragment: Fragment, options: ReadOptions, ids: Sequence[str] | None) -> FragmentReading:
    sources = [(load_source(one.path, options, one.place), one.who) for one in fragment.voices]
    found, source = joined(sources, fragment.talk), sources[0][0]
    if isinstance(found, str):
        raise source.error(*_CHANGED)
    digest = hashlib.sha256(b"".join(one.sha256.encode() for one, _ in sources)).hexdigest()
    reading = _built(fragment, source, [found], ids, reader="one_file_a_speaker", sha256=digest)
    return _with_words(replace(reading, stem=safe_id(fragment.talk)))


def _read_part(fragment: Fragment, layout: Layout, options: ReadOptions, ids: Sequence[str] | None) -> FragmentReading:
    part = Part(fragment.begin, fragment.end or 0, layout)
    source = Source(named(fragment.path), "", options, place=fragment.place, part=part)
    found = READERS[layout.reader].read(source)
    digest = "" if fragment.part else _hash_of(fragment.place)
    return _built(fragment, source, found, ids, reader=layout.reader, sha256=digest)


def _built(
    fragment: Fragment,
    source: Source,
    found: Iterable[RawSession],
    ids: Sequence[str] | None,
    *,
    reader: str,
    sha256: str,
) -> FragmentReading:
    """Build the sessions that a reader finds, with what the tables about sessions say of them."""
    tables = list(tables_for(fragment.table, fragment.path, fragment.place, source.options))
    sessions, applied = _sessions(found, source, tables, ids)
    stem = safe_id(source.path.stem)
    return FragmentReading(fragment, sessions, stem, None, reader, sha256, bool(tables), applied)


def _with_words(reading: FragmentReading) -> FragmentReading:
    if not any(session.turns for session in reading.sessions):
        raise no_words(reading.fragment.path)
    return reading


def _refuse_long(fragment: Fragment, options: ReadOptions) -> None:
    """Refuse a large file of a format that holds one session, by its beginning, before it is read."""
    n_bytes = size(fragment.place)
    if n_bytes <= LARGEST_SESSION:
        return
    refuse_large(fragment.path, n_bytes, LARGEST_FILE)
    one_session = False
    with suppress(UnreadableFileError):  # where the beginning does not tell the format, the whole file will
        source = beginning(fragment, options)
        one_session = source.encoding != BINARY and choose_reader(source).one_session
    if one_session:
        refuse_large(fragment.path, n_bytes, LARGEST_SESSION)


def no_words(path: str) -> UnreadableFileError:
    """Return what is said of a file in which nobody speaks."""
    return UnreadableFileError(path, None, "the file holds no spoken words", "It should hold a transcript")


def _hash_of(place: str) -> str:
    with open_binary(place) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def _sessions(
    found: Iterable[RawSession], source: Source, tables: Sequence[Table], ids: Sequence[str] | None
) -> tuple[tuple[Session, ...], Applied]:
    """Build session after session; the rows of each are let go before the next."""
    given = iter(()) if ids is None else iter(ids)
    sessions, applied = [], Applied()
    for raw in found:
        whole = raw.name.strip() or source.path.stem
        parts, could = split(raw, source.options.split_by, whole)
        known = _build(raw, source, tables, "", safe_id(whole))[0] if len(parts) > 1 else None
        for part in parts:
            session, own = _build(part, source, tables, next(given, ""), safe_id(whole), known)
            own.effects["--split-by"] += could
            sessions.append(session)
            applied.add(own)
    if ids is not None and len(ids) != len(sessions):
        raise source.error(*_CHANGED)
    return tuple(sessions), applied


def _build(
    raw: RawSession, source: Source, tables: Sequence[Table], given: str, name: str, whole: Session | None = None
) -> tuple[Session, Applied]:
    """Build a session, or a part of one, of which a table may speak by the name of the whole, where roles are found."""
    stem, options = safe_id(source.path.stem), source.options
    wanted = safe_id(raw.name) if raw.name.strip() else stem
    identity = given or wanted
    by_pattern = from_name(source.path.stem, options.pattern)
    keys = [(table, table.find(identity, wanted, name, stem)) for table in tables]
    rows = [table.rows[key].facts for table, key in keys if key]
    about, notes = combined(common_names(raw.metadata), by_pattern, *rows)
    session = build_session(
        raw if whole is None else with_roles(raw, whole), Place(str(source.path), identity), about, options
    )
    if whole is not None:
        session = replace(session, role_method=whole.role_method, role_margin=whole.role_margin)
    applied = applied_to(session, options, of_table=raw.of_table, by_pattern=bool(by_pattern), stem=source.path.stem)
    applied.tables = {table.place: table.path for table in tables}
    applied.rows = {(table.place, key) for table, key in keys if key}
    if tables and not applied.rows:
        applied.without_row = [(tables[-1].place, identity)]
        notes = (*notes, "No row of the table about the sessions is about this one.")
    return replace(session, notes=(*session.notes, *notes, *notes_on(applied, options))), applied
