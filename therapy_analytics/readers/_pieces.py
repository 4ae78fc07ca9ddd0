"""Reading in pieces: files, and parts of large files, each of which any process can read by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from therapy_analytics.errors import BadDataFileError, UnreadableFileError
from therapy_analytics.readers._addresses import (
    folder_of,
    inside,
    named,
    open_binary,
    placed,
    real,
    shown,
    sibling,
    size,
    version,
)
from therapy_analytics.readers._applied import Applied, applied_to, notes_on, refuse_contradictions
from therapy_analytics.readers._base import (
    BINARY,
    HEAD,
    READERS,
    Layout,
    Part,
    RawSession,
    ReadOptions,
    Source,
    decoded,
    load_source,
)
from therapy_analytics.readers._build import Place, build_session, safe_id, unique_id
from therapy_analytics.readers._collector import collector_waiting
from therapy_analytics.readers._files import choose_reader, names_in, walk
from therapy_analytics.readers._limits import LARGEST_FILE, LARGEST_SESSION, refuse_large
from therapy_analytics.readers._metadata import Table, combined, common_names, from_name, table_in, tables_for
from therapy_analytics.readers._split import split, with_roles
from therapy_analytics.readers._voices import Voice, joined, mates
from therapy_analytics.session import Session

LARGE = 8 * 2**20
"""Bytes of a part of a file, unpacked; smaller files are not cut."""
Mates = dict[str, tuple[str, tuple[tuple[str, str], ...]]]
_PACKED = 8
"""How much smaller than its contents a file may be."""
_CHANGED = ("the file changed while it was read", "Leave the transcripts as they are, and run again")


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or a part of a large one, that any process can read by itself; it holds no words.

    Attributes
    ----------
    path : str
        The file as the user named it, and as results and messages show it.
    place : str
        Where it is opened, from any folder: an absolute path, or an address.
    begin, end : int and int or None
        Which part: data rows of Parquet, bytes of JSON Lines, from 0, without the last; None is the whole file.
    part : int
        Its number among the parts of the file, from 0.
    layout : Layout or None
        What was decided of the whole file, for those who read a part of it.
    table : str
        Where the table about sessions beside the file is opened; empty where there is none.
    voices : tuple of Voice
        All files of one speaker each that are read as one session, of which this is the first.
    talk : str
        How that session is called.
    apart : str
        Why it is not joined with files whose names say that they hold the other speakers, if there are some.
    """

    path: str
    place: str = field(repr=False)  # an address may hold a password
    begin: int = 0
    end: int | None = None
    part: int = 0
    layout: Layout | None = None
    table: str = field(default="", repr=False)
    voices: tuple[Voice, ...] = ()
    talk: str = ""
    apart: str = ""


@dataclass(frozen=True, slots=True)
class PieceReading:
    """What became of a piece: its sessions, or why it could not be read.

    Attributes
    ----------
    piece : Piece
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

    piece: Piece
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


def find_pieces(
    paths: Iterable[str | Path],
    *,
    options: ReadOptions | None = None,
    leave_out: Path | None = None,
    on_table: Callable[[str], None] | None = None,
) -> Iterator[Piece]:
    """Yield what is to be read, file after file, as it is found; parts of a file follow each other.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders; addresses as text.
    options : ReadOptions, optional
        Columns, labels, metadata.
    leave_out : Path, optional
        A folder that is not looked into, such as the one that results go to.
    on_table : callable, optional
        Told of each table about sessions in the folders that are looked through.

    Raises
    ------
    NothingToReadError
        There is no file to read.
    BadDataFileError
        The table about sessions that the options name does not exist, or a folder has two tables of one name.
    BadOptionError
        The options contradict each other, or the pattern cannot be used.
    """
    options = options or ReadOptions()
    refuse_contradictions(options)
    if options.metadata is not None and not version(placed(options.metadata)):
        raise BadDataFileError(shown(options.metadata), "there is no such table about sessions", "Check its name")
    from_name("", options.pattern)  # a pattern that cannot be used is an error before any file is read
    own = None if options.metadata is None else real(options.metadata)
    folders: dict[str, tuple[str, Mates]] = {}
    paths = list(paths)
    given = {real(path) for path in paths}
    done: dict[str, Piece | None] = {}
    for path in walk(paths, leave_out, on_table):
        if own is not None and real(path) == own:
            continue
        place = placed(path)
        folder = folder_of(place)
        if folder not in folders:
            folders[folder] = _table_of(folder), _mates_in(folder)
        table, mates_of = folders[folder]
        whole = Piece(shown(path), place, table=table)
        if place not in done and named(place).name in mates_of:
            done |= _with_mates(whole, *mates_of[named(place).name], options, given)
        piece = done.get(place, whole)
        if piece is not None:
            yield from [piece] if piece.voices else _pieces_of(piece, options)


def _mates_in(folder: str) -> Mates:
    try:
        return mates(names_in(folder))
    except UnreadableFileError:
        return {}


def _with_mates(
    piece: Piece, talk: str, files: Sequence[tuple[str, str]], options: ReadOptions, given: Collection[str]
) -> dict[str, Piece | None]:
    """Return the piece that each file of a talk is read as: the first as all of them, if they can be joined.

    Files belong together that were all named by the user, or all found in a folder.
    """
    voices = [Voice(shown(sibling(piece.path, name)), sibling(piece.place, name), who) for name, who in files]
    by_user = real(piece.place) in given
    voices = [one for one in voices if (real(one.place) in given) == by_user and size(one.place) <= LARGEST_SESSION]
    found = _joined(voices, talk, options) if len(voices) > 1 else ""
    if not isinstance(found, str):
        return {
            **{one.place: None for one in voices},
            piece.place: replace(piece, voices=tuple(voices), talk=talk),
        }
    if not found:
        return {piece.place: piece}
    names = ", ".join(named(one.path).name for one in voices)
    apart = f"{names} seem to hold one speaker of a talk each; they were not joined, because {found}."
    return {one.place: replace(piece, path=one.path, place=one.place, apart=apart) for one in voices}


def _joined(voices: Sequence[Voice], talk: str, options: ReadOptions) -> RawSession | str:
    try:
        return joined([(load_source(one.path, options, one.place), one.who) for one in voices], talk)
    except Exception:  # noqa: BLE001 (reading each by itself will say what is wrong)
        return ""


def _table_of(folder: str) -> str:
    """Return where the table about the sessions of a folder is opened; empty where there is none."""
    try:
        name = table_in(names_in(folder), folder)
    except UnreadableFileError:
        return ""  # its files may be readable although it cannot be listed
    return inside(folder, name) if name else ""


def _pieces_of(whole: Piece, options: ReadOptions) -> Iterator[Piece]:
    """Yield the parts of a large file, or the file."""
    parts = _parts(whole, options) if size(whole.place) >= LARGE // _PACKED else ()
    if len(parts) < 2:
        yield whole
        return
    for number, part in enumerate(parts):
        yield replace(whole, begin=part.begin, end=part.end, part=number, layout=part.layout)


def _parts(whole: Piece, options: ReadOptions) -> Sequence[Part]:
    try:
        source = beginning(whole, options)
        cut = choose_reader(source).cut
        return () if cut is None else cut(source, LARGE)
    except Exception:  # noqa: BLE001 (reading it will say what is wrong)
        return ()


def beginning(piece: Piece, options: ReadOptions) -> Source:
    """Return no more than the beginning of a file, which is enough to tell its format."""
    with open_binary(piece.place) as file:
        data = file.read(HEAD)
    return replace(decoded(named(piece.path), data, options), place=piece.place)


def read_piece(piece: Piece, options: ReadOptions, ids: Sequence[str] | None = None) -> PieceReading:
    """Read the sessions of a piece; a file that cannot be read is a problem, and no exception.

    Parameters
    ----------
    piece : Piece
        Which.
    options : ReadOptions
        As for `find_pieces`.
    ids : sequence of str, optional
        How its sessions are called; as they want to be, if not given.
    """
    try:
        with collector_waiting():
            return _read(piece, options, ids)
    except UnreadableFileError as problem:
        remedy = f"{problem.remedy}. {piece.apart}".removesuffix(".") if piece.apart else problem.remedy
        return PieceReading(piece, problem=UnreadableFileError(problem.path, problem.line, problem.problem, remedy))
    except BadDataFileError as error:
        return PieceReading(piece, problem=UnreadableFileError(error.path, None, error.problem, error.remedy))
    except Exception as error:  # noqa: BLE001 (whatever a file does to a reader, the run goes on)
        what = f"the file could not be understood ({type(error).__name__})"
        return PieceReading(piece, problem=UnreadableFileError(piece.path, None, what, "Save it again in its format"))


_LAST: list[tuple[Piece, ReadOptions, tuple[object, ...], PieceReading]] = []
"""The last reading of this process, of one file at a time."""


def forget_last() -> None:
    """Let go the last reading of this process, which holds words."""
    _LAST.clear()


def read_again(piece: Piece, options: ReadOptions) -> PieceReading:
    """Read a piece as `read_piece` does; the last one is kept, for those who come back for more of its sessions."""
    state = tuple(version(one.place) for one in piece.voices) or version(piece.place)
    for kept in _LAST:
        if state and kept[:3] == (piece, options, state):
            return kept[3]
    _LAST.clear()  # before the next is held
    reading = read_piece(piece, options)
    _LAST.append((piece, options, state, reading))
    return reading


def _read(piece: Piece, options: ReadOptions, ids: Sequence[str] | None) -> PieceReading:
    if piece.layout is not None:
        return _read_part(piece, piece.layout, options, ids)
    if piece.voices:
        return _read_joined(piece, options, ids)
    _refuse_long(piece, options)
    source = load_source(piece.path, options, piece.place)
    chosen, digest = choose_reader(source), source.sha256
    if source.encoding != BINARY:
        if chosen.one_session:
            refuse_large(piece.path, len(source.data), LARGEST_SESSION)
        source = replace(source, data=source.data[:HEAD])  # the letters are all that is read from here on
    tables = list(tables_for(piece.table, piece.path, piece.place, options))
    sessions, applied = _sessions(_apart(chosen.read(source), piece.apart), source, tables, ids)
    if not any(session.turns for session in sessions):
        raise no_words(piece.path)
    return PieceReading(piece, sessions, safe_id(source.path.stem), None, chosen.name, digest, bool(tables), applied)


def _apart(sessions: Iterable[RawSession], why: str) -> Iterable[RawSession]:
    return [replace(one, notes=(*one.notes, why)) for one in sessions] if why else sessions


def _read_joined(piece: Piece, options: ReadOptions, ids: Sequence[str] | None) -> PieceReading:
    sources = [(load_source(one.path, options, one.place), one.who) for one in piece.voices]
    found, source = joined(sources, piece.talk), sources[0][0]
    if isinstance(found, str):
        raise source.error(*_CHANGED)
    tables = list(tables_for(piece.table, piece.path, piece.place, options))
    sessions, applied = _sessions([found], source, tables, ids)
    if not any(session.turns for session in sessions):
        raise no_words(piece.path)
    digest = hashlib.sha256(b"".join(one.sha256.encode() for one, _ in sources)).hexdigest()
    return PieceReading(piece, sessions, safe_id(piece.talk), None, "one_file_a_speaker", digest, bool(tables), applied)


def _refuse_long(piece: Piece, options: ReadOptions) -> None:
    """Refuse a large file of a format that holds one session, by its beginning, before it is read."""
    n_bytes = size(piece.place)
    if n_bytes <= LARGEST_SESSION:
        return
    refuse_large(piece.path, n_bytes, LARGEST_FILE)
    one_session = False
    with suppress(UnreadableFileError):  # where the beginning does not tell the format, the whole file will
        source = beginning(piece, options)
        one_session = source.encoding != BINARY and choose_reader(source).one_session
    if one_session:
        refuse_large(piece.path, n_bytes, LARGEST_SESSION)


def no_words(path: str) -> UnreadableFileError:
    """Return what is said of a file in which nobody speaks."""
    return UnreadableFileError(path, None, "the file holds no spoken words", "It should hold a transcript")


def _read_part(piece: Piece, layout: Layout, options: ReadOptions, ids: Sequence[str] | None) -> PieceReading:
    part = Part(piece.begin, piece.end or 0, layout)
    source = Source(named(piece.path), "", options, place=piece.place, part=part)
    tables = list(tables_for(piece.table, piece.path, piece.place, options))
    sessions, applied = _sessions(READERS[layout.reader].read(source), source, tables, ids)
    digest = "" if piece.part else _hash_of(piece.place)
    return PieceReading(piece, sessions, safe_id(source.path.stem), None, layout.reader, digest, bool(tables), applied)


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
