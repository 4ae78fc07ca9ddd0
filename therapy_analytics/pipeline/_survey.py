"""The first look at all sessions: how each is called, and whose turns serve as strangers. Nothing said is held.

Who works on them later reads them anew, wherever that is: only names, places and hashes travel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from therapy_analytics import tables
from therapy_analytics.engine import Crew, Lost
from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.language.company import Candidate, Choice, candidate
from therapy_analytics.outputs import seen_from
from therapy_analytics.pipeline._items import Lender, Named, Slice
from therapy_analytics.readers import Account, ReadOptions
from therapy_analytics.readers._build import fingerprint
from therapy_analytics.readers._limits import too_long
from therapy_analytics.readers._pieces import Names, Piece, PieceReading, no_words, read_piece

if TYPE_CHECKING:
    from therapy_analytics.session import Session

PIECES_AT_A_TIME = 32


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a session that was looked at.

    Attributes
    ----------
    wanted : str
        The id that it wants.
    said : bytes
        A hash of its words.
    n_turns, n_letters : int
        Its turns, and the letters of all of them.
    lends : Candidate or None
        What decides whether it is a stranger to others.
    about, gold : tuple of str
        Its columns of sessions.csv that are no measures; columns of turns.csv with codes that people gave.
    """

    wanted: str
    said: bytes
    n_turns: int
    n_letters: int
    lends: Candidate | None
    about: tuple[str, ...]
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PieceSeen:
    """A file, or a part of one, that was looked at: its reading without its sessions, and what is known of these."""

    reading: PieceReading
    sessions: tuple[Seen, ...] = ()


@dataclass(slots=True)
class InputFile:
    """A transcript's file, as ``run.json`` names it, and why it could not be read, or not wholly.

    Attributes
    ----------
    file : str
        As the user named it.
    place : str
        Where it is: an absolute path, or an address.
    sha256, reader : str
        A hash of its bytes, and the name of its reader; empty where it could not be read.
    sessions, n_turns : int
        How many were read of it.
    problem : UnreadableFileError or None
        Why it could not be read, or not wholly.
    """

    file: str
    place: str = ""
    sha256: str = ""
    reader: str = ""
    sessions: int = 0
    n_turns: int = 0
    problem: UnreadableFileError | None = None

    def record(self, out: Path) -> dict[str, Any]:
        """Return what ``run.json`` says of it, in a folder of results."""
        place = seen_from(self.place, out)
        return {
            "file": self.file, "place": place, "sha256": self.sha256, "reader": self.reader, "sessions": self.sessions
        }  # fmt: skip

    def add(self, seen: PieceSeen) -> None:
        """Count a part of it in."""
        read = seen.reading
        self.sha256, self.reader = self.sha256 or read.sha256, self.reader or read.reader
        self.sessions += len(seen.sessions)
        self.n_turns += sum(one.n_turns for one in seen.sessions)
        self.problem = self.problem or read.problem


@dataclass(slots=True)
class Survey:
    """All sessions of a run, by their names and places.

    Attributes
    ----------
    files : list of InputFile
        In order.
    slices : list of Slice
        Where the sessions are, in order.
    n_sessions, n_turns : int
        How many there are.
    about, gold : dict
        As in `Seen`, of all sessions, in order of appearance.
    account : Account
        What is to be said of options, tables about sessions and guessed roles.
    """

    files: list[InputFile] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    n_sessions: int = 0
    n_turns: int = 0
    about: dict[str, None] = field(default_factory=dict)
    gold: dict[str, None] = field(default_factory=dict)
    account: Account = field(default_factory=lambda: Account(ReadOptions()))
    _names: Names = field(default_factory=Names)
    _choice: Choice[Lender] = field(default_factory=Choice)

    def add(self, seen: PieceSeen, options: ReadOptions) -> None:
        """Count in what was seen of a file, or of a part of it."""
        piece = seen.reading.piece
        named = tuple(self._named(one, seen.reading.stem) for one in seen.sessions)
        ids: tuple[str, ...] | None = tuple(one.id for one in named)
        if seen.reading.by_name and ids != tuple(one.wanted for one in seen.sessions):
            seen = _look(piece, options, ids)  # by these names, a table may say other things of them
        else:
            ids = None
        self.account.add(seen.reading)
        if piece.part == 0:
            self.files.append(InputFile(piece.path, piece.place))
        self.files[-1].add(seen)
        kept = [self._is_kept(one, name) for one, name in zip(seen.sessions, named, strict=True)]
        for keep, run in groupby(enumerate(named), key=lambda one: kept[one[0]]):
            some = list(run)
            if keep:
                self.slices.append(Slice(piece, tuple(name for _, name in some), some[0][0], ids))
        for at, one in enumerate(seen.sessions):
            if kept[at]:
                self._count(one)
            if kept[at] and one.lends is not None:
                self._choice.offer(one.lends, Lender(piece, at, ids))

    def _is_kept(self, one: Seen, name: Named) -> bool:
        """Tell whether a session is measured; where it is too long, that is said of its file, and it is not counted."""
        file = self.files[-1]
        problem = too_long(file.file, name.id, one.n_turns, one.n_letters)
        file.problem = file.problem or problem
        file.sessions -= problem is not None
        return problem is None

    def lenders(self) -> list[tuple[Candidate, Lender]]:
        """Return whose turns serve as strangers, and where they are."""
        return self._choice.chosen()

    def records(self, out: Path) -> list[dict[str, Any]]:
        """Return what ``run.json`` says of the files, in a folder of results."""
        return [file.record(out) for file in self.files]

    def _named(self, one: Seen, stem: str) -> Named:
        name, notes = self._names.settle(one.wanted, stem, one.said)
        return Named(name, notes, one.said, one.n_turns)

    def _count(self, one: Seen) -> None:
        self.n_sessions += 1
        self.n_turns += one.n_turns
        self.about |= dict.fromkeys(one.about)
        self.gold |= dict.fromkeys(one.gold)


def survey(
    pieces: Iterable[Piece],
    options: ReadOptions,
    *,
    crew: Crew,
    account: Account,
    on_file: Callable[[InputFile], None],
) -> Survey:
    """Look at all sessions once.

    Parameters
    ----------
    pieces : iterable of Piece
        The files, and the parts of large ones.
    options : ReadOptions
        How they are read.
    crew : Crew
        Who does it.
    account : Account
        Filled with what the options did.
    on_file : callable
        Told of each file that was looked at.

    Raises
    ------
    BadOptionError
        An option had no effect on any session.
    """
    found = Survey(account=account)
    function = functools.partial(_look_at, options=options)
    for group, outcome in crew.in_order(function, _groups(pieces), apart=_apart):
        for seen in _lost(group, outcome) if isinstance(outcome, Lost) else outcome:
            if seen.reading.piece.part == 0:
                _end(found.files, on_file)
            found.add(seen, options)
    _end(found.files, on_file)
    account.refuse()
    return found


def _end(files: Sequence[InputFile], on_file: Callable[[InputFile], None]) -> None:
    """Tell of the last file, all of whose parts were looked at."""
    for file in files[-1:]:
        if file.problem is None and not file.n_turns:
            file.problem = no_words(file.file)
        on_file(file)


def _groups(pieces: Iterable[Piece]) -> Iterator[tuple[Piece, ...]]:
    left = iter(pieces)
    return iter(lambda: tuple(islice(left, PIECES_AT_A_TIME)), ())


def _apart(group: Sequence[Piece]) -> Iterator[tuple[Piece, ...]]:
    return ((piece,) for piece in group)


def _lost(group: Sequence[Piece], why: Lost) -> Iterator[PieceSeen]:
    short = why.reason == "memory"
    what = (
        "there was not enough memory to read it"
        if short
        else "the process that read it died, also when it read nothing else"
    )
    remedy = "Run again when more memory is free; if that does not help, split the file into smaller ones"
    for piece in group:
        problem = UnreadableFileError(piece.path, None, what, remedy)
        yield PieceSeen(PieceReading(piece, problem=problem))


def _look_at(group: Sequence[Piece], *, options: ReadOptions) -> tuple[PieceSeen, ...]:
    return tuple(_look(piece, options) for piece in group)


def _look(piece: Piece, options: ReadOptions, ids: Sequence[str] | None = None) -> PieceSeen:
    reading = read_piece(piece, options, ids)
    return PieceSeen(replace(reading, sessions=()), tuple(map(_seen, reading.sessions)))


def _seen(session: Session) -> Seen:
    gold = dict.fromkeys(f"{tables.GOLD}{name}" for turn in session.turns for name, code in turn.gold.items() if code)
    return Seen(
        session.id, fingerprint(session), len(session.turns), sum(len(turn.text) for turn in session.turns),
        candidate(session), tuple(tables.about(session)),
        tuple(gold),
    )  # fmt: skip
