"""Copies of transcripts with the speakers that their words propose, and the list of what was changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from therapy_analytics.core import private
from therapy_analytics.core.cells import csv_of_rows
from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.folders import Made, replaced_in
from therapy_analytics.core.ids import safe_id, unique_id
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.core.verbs import options_of
from therapy_analytics.readers import (
    Account,
    FileReading,
    RawSession,
    ReadOptions,
    Source,
    choose_reader,
    read_files,
    unnamed_sessions,
    usable_name,
)
from therapy_analytics.readers.base import BINARY, load_source
from therapy_analytics.readers.marks import split_marks
from therapy_analytics.readers.roles import role_of_label
from therapy_analytics.readers.writers import WRITERS
from therapy_analytics.speakers._propose import Proposal, attributed, proposed

COLUMNS = ("session_id", "kind", "turn", "last_turn", "row", "words", "from", "to", "probability")


@dataclass(frozen=True, slots=True)
class Speakers:
    """The result of `speakers`.

    Attributes
    ----------
    files : tuple of Path
        Corrected copies, in order.
    changes : mapping of str to int
        The number of proposals of each kind.
    abstained : tuple of (str, str)
        Session id, and why nothing, or not everything, was looked for in it.
    problems : tuple of UnreadableFileError
        Files that could not be read.
    told : tuple of str
        Sentences about options and tables about sessions.
    """

    files: tuple[Path, ...]
    changes: Mapping[str, int]
    abstained: tuple[tuple[str, str], ...]
    problems: tuple[UnreadableFileError, ...]
    told: tuple[str, ...] = field(default=(), repr=False)


def speakers(paths: Iterable[str | Path], out: str | Path, *, options: ReadOptions | None = None) -> Speakers:
    """Propose who said what: write a corrected copy of each session, and a list of the changes, for a person to accept.

    Sessions with speakers are searched for swapped labels and for words at the wrong side of a turn; utterances
    without speakers are given to therapist and client. The transcripts themselves are not touched.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders, with speakers or without.
    out : str or Path
        A new or empty folder (made private, 0700): ``transcripts/`` with a CSV a session, and ``changes.csv``.
    options : ReadOptions, optional
        As for `read`.

    Returns
    -------
    Speakers
        What was written, and what was not looked at.

    Raises
    ------
    BadOptionError
        The folder is not empty, or an option had no effect on any transcript.
    NothingToReadError
        There is no file to read.
    CannotWriteError
        The system refused to write.
    """
    out, options = Path(out), options_of(ReadOptions, options)
    account = Account(options)
    problems: list[UnreadableFileError] = []
    done: list[Proposal] = []
    files: list[Path] = []
    taken: dict[str, int] = {}
    form = WRITERS["csv"]
    made = Made(what="corrected copies", names=("transcripts", "changes.csv"), only_new=True)
    with replaced_in(out, made) as part:
        for reading in read_files(paths, options=options, leave_out=out, account=account):
            found = list(_proposals(reading, options))
            problems += [] if reading.problem is None or found else [reading.problem]
            for one in found:
                session = replace(one.session, id=unique_id(one.session.id, one.session.id, taken))
                name = f"{session.id}{form.suffix}"
                private.write(private.folder(part / "transcripts") / name, form.write(session))
                files.append(out / "transcripts" / name)
                done.append(replace(one, session=session))
        if done:
            rows = [
                (one.session.id, change.kind, change.turn, change.last_turn, change.row, change.words, change.before,
                 change.after, f"{min(change.probability, 0.999):.3f}")
                for one in done for change in one.changes
            ]  # fmt: skip
            private.write(part / "changes.csv", csv_of_rows([COLUMNS, *rows]).encode())
    counts = Counter[str](change.kind for one in done for change in one.changes)
    abstained = tuple((one.session.id, one.abstained) for one in done if one.abstained)
    return Speakers(tuple(files), counts, abstained, tuple(problems), tuple(account.lines()))


def _proposals(reading: FileReading, options: ReadOptions) -> Iterator[Proposal]:
    """Yield what is proposed of each session of a file, with speakers or without."""
    if reading.problem is None and all(len({turn.speaker for turn in one.turns}) > 1 for one in reading.sessions):
        yield from map(proposed, reading.sessions)
        return
    try:
        utterances = _utterances_of(reading.path, options)
    except UnreadableFileError:
        yield from map(proposed, reading.sessions)
        return
    known: Sequence[Session | None] = reading.sessions or [None] * len(utterances)
    for session, alone in zip(known, utterances, strict=False):
        if alone is not None:
            named = alone if session is None else replace(alone, id=session.id, metadata=session.metadata)
            yield attributed(named)
        elif session is not None:
            yield proposed(session)


def _utterances_of(path: Path, options: ReadOptions) -> list[Session | None]:
    """Return the sessions of a file, a turn an utterance; None in place of one that has speakers.

    Raises
    ------
    UnreadableFileError
        There is no way to read it, with or without speakers.
    """
    source = load_source(path, options)
    try:
        raws = list(choose_reader(source).read(source))
    except UnreadableFileError as refusal:
        found = None if source.encoding == BINARY else unnamed_sessions(source)
        if found is None:
            raise refusal from None
        raws = found
    return [_unnamed_session(raw, source) if _is_anonymous(raw) else None for raw in raws]


def _is_anonymous(raw: RawSession) -> bool:
    """Tell whether all rows have one label, or none, and no role is known."""
    labels = {row.speaker.strip().casefold() for row in raw.rows if row.text.strip()}
    return len(labels) <= 1 and not any(map(role_of_label, labels)) and not any(row.role for row in raw.rows)


def _unnamed_session(raw: RawSession, source: Source) -> Session:
    turns: list[Turn] = []
    for row in raw.rows:
        text, marks = split_marks(row.text)
        if text:
            turns.append(
                Turn(
                    index=len(turns), speaker="", role="other", text=text, first_row=row.place, start_s=row.start_s,
                    end_s=row.end_s, marks=marks, gold=row.gold,
                )
            )  # fmt: skip
    identity = safe_id(usable_name(raw.name.strip(), source.path.stem) or source.path.stem)
    return Session(id=identity, source_file=source.path.name, turns=tuple(turns), notes=raw.notes)
