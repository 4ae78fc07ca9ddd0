"""How a file would be read, and why: what one looks at when a run says something odd."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.printable import printable
from therapy_analytics.readers._account import Account
from therapy_analytics.readers._addresses import placed, shown, size
from therapy_analytics.readers._base import READERS, ReadOptions, load_source
from therapy_analytics.readers._facts import may_be_fact
from therapy_analytics.readers._files import find_files
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._pieces import LARGE, Piece, beginning
from therapy_analytics.readers._reading import FileReading, read_files
from therapy_analytics.session import Session


@dataclass(frozen=True, slots=True)
class Inspection:
    """One file, looked at.

    Attributes
    ----------
    reading : FileReading
        Its sessions, or why it cannot be read.
    certainties : tuple of (str, float)
        How sure each reader is that the file is its own, the surest first; those at 0 are left out.
    encoding : str
        How the letters were decoded; ``binary`` for Word, Excel and the like; empty when unreadable.
    """

    reading: FileReading
    certainties: tuple[tuple[str, float], ...]
    encoding: str

    def lines(self, *, quotes: bool = False, turns: int = 6) -> Iterator[str]:
        """Yield what to print: the file, its reader, then each session; words only with `quotes`."""
        yield str(self.reading.path)
        if self.encoding:
            bids = ", ".join(f"{name} {sure:.2f}" for name, sure in self.certainties) or "none"
            yield f"  how sure each reader is (1: certain): {bids}; letters: {self.encoding}"
        if self.reading.problem is not None:
            where = f"line {self.reading.problem.line}: " if self.reading.problem.line else ""
            yield f"  not read: {where}{self.reading.problem.problem}. {self.reading.problem.remedy}."
        for session in self.reading.sessions:
            yield from _session_lines(session, turns if quotes else 0)


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
        An option had no effect on any session; this is known, and raised, behind the last file.
    """
    options = options or ReadOptions()
    told = account or Account(options)
    files = find_files(paths, on_table=told.saw_table)
    places = {shown(path): placed(path) for path in files}
    for reading in read_files(files, options=options, account=told):
        path = str(reading.path)
        yield Inspection(reading, *_bids(Piece(path, places.get(path, path)), options))
    if account is None:
        told.warn()


def _bids(file: Piece, options: ReadOptions) -> tuple[tuple[tuple[str, float], ...], str]:
    """Ask the readers; a large file, which may have been read in parts, is not held for it."""
    try:
        large = size(file.place) >= LARGE
        source = beginning(file, options) if large else load_source(file.path, options, file.place)
    except UnreadableFileError:
        return (), ""
    bids = sorted(((one.sniff(source), one.name) for one in READERS), reverse=True)
    return tuple((name, sure) for sure, name in bids if sure > 0), source.encoding


def _times(session: Session) -> str:
    """Say of how many turns times were found."""
    begins = sum(turn.start_s is not None for turn in session.turns)
    ends = sum(turn.end_s is not None for turn in session.turns)
    if not begins and not ends:
        return "no times were found"
    return f"times were found: {counted(begins, 'turn')} of {len(session.turns)} with a beginning, {ends} with an end"


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
    yield from _passed_over(session, quotes=quoted > 0)
    yield from (f"    note: {note}" for note in session.notes)
    yield from (f"    [{turn.index}] {turn.speaker}: {turn.text}" for turn in session.turns[:quoted])


def _passed_over(session: Session, *, quotes: bool) -> Iterator[str]:
    """Yield what begins lines as labels do; what may be a sentence is only counted, unless words are wanted."""
    said = session.passed_over
    shown = {label: n for label, n in said.items() if quotes or may_be_fact(label)}
    listed = [f"{printable(label)} ({n})" for label, n in shown.items()]
    if len(shown) < len(said):
        listed.append(f"{sum(said.values()) - sum(shown.values())} others")
    if listed:
        yield f"    not taken as speakers, with the number of lines: {', '.join(listed)}"
