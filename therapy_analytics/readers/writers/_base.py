"""Writers of transcripts, and the conversion of transcripts, one file a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from therapy_analytics.core import private
from therapy_analytics.core.cells import csv_of_rows
from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.folders import Made, alone_in, replaced_in
from therapy_analytics.core.registry import Registry
from therapy_analytics.core.session import Session
from therapy_analytics.core.verbs import options_of
from therapy_analytics.readers import Account, ReadOptions, read_files

Write = Callable[[Session], bytes]


@dataclass(frozen=True, slots=True)
class Writer:
    """A registered form."""

    name: str
    suffix: str
    write: Write
    description: str


WRITERS: Registry[Writer] = Registry("form", package="therapy_analytics.readers.writers")


def writer(name: str, *, suffix: str) -> Callable[[Write], Write]:
    """Register a function as the writer of a form.

    Parameters
    ----------
    name : str
        As in ``--to NAME``.
    suffix : str
        Ending of its files, as in ``.csv``.
    """

    def register(write: Write) -> Write:
        description = (write.__doc__ or "").strip().split("\n", maxsplit=1)[0]
        WRITERS.add(name, Writer(name, suffix, write, description), module=write.__module__)
        return write

    return register


@dataclass(frozen=True, slots=True)
class Conversion:
    """The result of `convert`.

    Attributes
    ----------
    files : tuple of Path
        That were written, in order.
    problems : tuple of UnreadableFileError
        Files that could not be read.
    told : tuple of str
        Sentences about options, guessed roles and tables about sessions.
    """

    files: tuple[Path, ...]
    problems: tuple[UnreadableFileError, ...]
    told: tuple[str, ...] = field(default=(), repr=False)


def convert(paths: Iterable[str | Path], to: str, out: str | Path, *, options: ReadOptions | None = None) -> Conversion:
    """Read transcripts and write each session in another form.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders.
    to : str
        Name of the form.
    out : str or Path
        Folder, made if need be (private, 0700). Files that stand there already are not touched.
    options : ReadOptions, optional
        As for `read`.

    Returns
    -------
    Conversion
        What was written, and what could not be read.

    Raises
    ------
    UnknownNameError
        There is no such form.
    BadOptionError
        A file of that name stands in the folder already (none is written then), it cannot be a folder, or an option had
        no effect on any transcript.
    CannotWriteError
        The system refused to write.
    NothingToReadError
        There is no file to read.
    """
    form, out = WRITERS[to], Path(out)
    account = Account(options_of(ReadOptions, options))
    known: dict[str, Mapping[str, str]] = {}
    problems: list[UnreadableFileError] = []
    with alone_in(out):
        for reading in read_files(paths, options=options, leave_out=out, account=account):
            # a first pass, before anything is written: do the options have an effect, and which files will there be?
            known.update((session.id, session.metadata) for session in reading.sessions)
        about = _about(known)
        names = [*(f"{identity}{form.suffix}" for identity in known), *(["sessions.csv"] if about else [])]
        with replaced_in(out, Made(what="transcripts", names=names, only_new=True, among_others=True)) as part:
            # the sessions of a file are freed before the next is read
            for reading in read_files(paths, options=options, leave_out=out, account=Account(ReadOptions())):
                problems += [] if reading.problem is None else [reading.problem]
                for session in reading.sessions:
                    private.write(part / f"{session.id}{form.suffix}", form.write(session))
            if about:
                private.write(part / "sessions.csv", about)
    return Conversion(tuple(out / name for name in names), tuple(problems), tuple(account.lines()))


def _about(known: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return the table about the sessions; nothing where there are no metadata."""
    names = dict.fromkeys(name for metadata in known.values() for name in metadata)
    if not names:
        return b""
    rows = [[session, *(metadata.get(name, "") for name in names)] for session, metadata in known.items()]
    return csv_of_rows([["session_id", *names], *rows]).encode()
