"""Redacted copies of transcripts, the review list, and the key where it is asked for."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

from therapy_analytics import private
from therapy_analytics.cells import csv_of_rows, defused
from therapy_analytics.core.folders import Made, alone_in, replaced_in
from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.readers import Account, ReadOptions, read_files
from therapy_analytics.redact._found import protected
from therapy_analytics.redact._known import PEOPLE_KEYS
from therapy_analytics.redact._session import Noted, redact_session, redact_text
from therapy_analytics.redact._vocabulary import word_set
from therapy_analytics.session import Session
from therapy_analytics.verbs import options_of
from therapy_analytics.writers import WRITERS, Writer

_PEOPLE = re.compile(
    r"counsell?or|client|patient|therapist|clinician|provider|supervisor|interviewer|rater|coder|annotator|name|"
    r"person|family|participant",
    re.IGNORECASE,
)
_DATA_FILES = re.compile(
    r"(?:^|_)(?:ids?|file|files|path|recording|video|audio|url|link|title|group|source_group|transcript|doi)(?:_|$)",
    re.IGNORECASE,
)
_CONTACT = re.compile(
    r"phone|mobile|fax|mail|address|street|city|town|county|zip|post_?code|ssn|social_security|mrn|"
    r"record_number|insurance|policy|account|"
    r"licen[sc]e|passport|ip\b|device|serial|school|employer|clinic|hospital|site|location|place",
    re.IGNORECASE,
)
_WHEN = re.compile(r"date|\bday\b|dob|birth|recorded|when|time_?stamp|created|modified", re.IGNORECASE)
_AGE = re.compile(r"(?:^|_)age(?:_|$)", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NUMBER = re.compile(r"[-+]?\d{1,6}(?:[.,]\d+)?%?")
_SAFE = word_set(
    """
    session_number source model quality mi_quality quality_label_disputed language modality role condition arm
    """
)
_OLDEST, _OLD = 89, 1940
REMOVED = "[REMOVED]"

REVIEW_COLUMNS = ("session_id", "turn", "where", "start", "end", "kind", "placeholder", "sure", "rule")
_README = """Redacted copies of transcripts, made by `tanalyze redact`.

A person must read every copy before it is shown to anybody else. The program finds most of what identifies people,
not all of it, and less in recognised speech without capital letters. What it does not know (a nickname, an event
that was in the news, a rare job in a small town) it leaves in. Nothing here says that the copies satisfy HIPAA, the
GDPR or any other rule; whether they do is a person's decision.

transcripts/   the copies; analyze this folder
review.csv     every placeholder (kind, rule, how sure), and behind them, with an empty placeholder, words and numbers
               that were left in and should be looked at; start and end count the characters of the copy, from 0
"""


@dataclass(frozen=True, slots=True)
class Redaction:
    """The result of `redact`.

    Attributes
    ----------
    files : tuple of Path
        The copies, and the table about sessions beside them, in order.
    removed : mapping of str to int
        How many placeholders of each kind are in the copies.
    left : int
        How many words and numbers were left in and should be looked at.
    losses : tuple of (str, tuple of str)
        New session id, and what of it the format cannot hold.
    problems : tuple of UnreadableFileError
        Files that could not be read.
    told : tuple of str
        Sentences about options, guessed roles and tables about sessions; they have labels and ids of the transcripts.
    """

    files: tuple[Path, ...]
    removed: dict[str, int]
    left: int
    losses: tuple[tuple[str, tuple[str, ...]], ...]
    problems: tuple[UnreadableFileError, ...]
    told: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class RedactOptions:
    """Options of `redact`.

    Attributes
    ----------
    to : str
        Format of the copies: chat, csv, docx, elan, jsonl, qdpx or vtt.
    key : Path, optional
        File for the key from old ids to new ones, outside the folder of the copies; none is written without it.
    quotes : bool
        Whether the review list has the words.
    """

    to: str = "jsonl"
    key: Path | None = None
    quotes: bool = False


@dataclass(slots=True)
class Ids:
    """Numbers that replace names in all sessions: the same counselor is ``counselor_001`` in each.

    Attributes
    ----------
    given : dict of (str, str) to str
        Kind and old name to new name: the contents of the key.
    """

    given: dict[tuple[str, str], str] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)

    def number(self, kind: str, old: str) -> str:
        """Return the new name of a thing; each new thing gets the next number."""
        if (kind, old) not in self.given:
            self._last[kind] = self._last.get(kind, 0) + 1
            width = 5 if kind == "session" else 3
            self.given[kind, old] = f"{kind}_{self._last[kind]:0{width}}"
        return self.given[kind, old]

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield kind, old and new."""
        return ((kind, old, new) for (kind, old), new in self.given.items())


@dataclass(slots=True)
class _Output:
    """State that the sessions share while they are written."""

    form: Writer
    folder: Path
    review: Any
    quotes: bool
    ids: Ids = field(default_factory=Ids)
    files: list[Path] = field(default_factory=list)
    about: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    losses: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    left: int = 0


def redact(
    paths: Iterable[str | Path],
    out: str | Path,
    *,
    options: RedactOptions | None = None,
    read_options: ReadOptions | None = None,
    on_file: Callable[[Path], None] | None = None,
) -> Redaction:
    """Write copies of transcripts without the identifiers that are found; a person must read them.

    Parameters
    ----------
    paths : iterable of str or Path
        Files and folders, in any format that `read_files` reads.
    out : str or Path
        A new or empty folder (made private, 0700): ``transcripts/``, ``review.csv`` and a ``README.txt``.
    options : RedactOptions, optional
        Format, key, quotes.
    read_options : ReadOptions, optional
        As for `read`.
    on_file : callable, optional
        Called with each file that was read.

    Returns
    -------
    Redaction
        The files, and how much was removed.

    Raises
    ------
    UnknownNameError
        There is no such format.
    BadOptionError
        The folder is not empty, the key would stand in it or in place of another file, or an option had no effect on
        any transcript.
    NothingToReadError
        There is no file to read.
    CannotWriteError
        The system refused to write.
    """
    options, out = options_of(RedactOptions, options), Path(out)
    form = WRITERS[options.to]
    _refuse(out, options.key)
    with alone_in(out):
        return _redacted(paths, out, form, options, read_options, on_file)


def _redacted(
    paths: Iterable[str | Path],
    out: Path,
    form: Writer,
    options: RedactOptions,
    read_options: ReadOptions | None,
    on_file: Callable[[Path], None] | None,
) -> Redaction:
    asked = options_of(ReadOptions, read_options, "read_options")
    account = Account(asked)
    read_options = replace(asked, keep=(*asked.keep, *PEOPLE_KEYS))  # names that are known are found in the words
    for _ in read_files(paths, options=read_options, leave_out=out, account=account):
        pass  # Before a folder is created: there must be something to read, and the options must have an effect
    problems = []
    made = Made(what="redacted copies", names=("transcripts", "review.csv", "README.txt"), only_new=True)
    with replaced_in(out, made) as part:
        with _create(part / "review.csv") as file:
            copies = private.folder(part / "transcripts")
            output = _Output(form, copies, csv.writer(file, lineterminator="\n"), options.quotes)
            output.review.writerow([*REVIEW_COLUMNS, *(["words"] if options.quotes else [])])
            for reading in read_files(paths, options=read_options, leave_out=out, account=Account(ReadOptions())):
                problems += [reading.problem] if reading.problem is not None else []
                for session in reading.sessions:
                    _copy(session, output)
                if on_file is not None:
                    on_file(reading.path)
        _finish(output, part, options.key)
    return Redaction(
        tuple(out / "transcripts" / path.name for path in output.files),
        dict(output.counts),
        output.left,
        tuple(output.losses),
        tuple(problems),
        tuple(account.lines()),
    )


def _refuse(out: Path, key: Path | None) -> None:
    if key is not None and key.exists():
        raise BadOptionError("--key", f"{key} is there already", "Name a new file")
    if key is not None and out.resolve() in key.resolve().parents:
        raise BadOptionError("--key", "the key would stand beside the copies", "Name a file in another, private folder")


def _create(path: Path) -> TextIO:
    """Create a file that only its owner can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise BadOptionError("--out", f"{path} is there already", "Name a new or an empty folder") from None
    return os.fdopen(handle, "w", encoding="utf-8", newline="")


def _copy(session: Session, output: _Output) -> None:
    """Write the copy of one session and its lines of the review list."""
    done = redact_session(session)
    new = output.ids.number("session", session.id)
    about = redact_about(session.metadata, output.ids, lambda value: redact_text(value, session))
    copy = replace(done.session, id=new, source_file=new, metadata=about, notes=())
    path = output.folder / f"{new}{output.form.suffix}"
    with _create(path) as file:
        file.buffer.write(output.form.write(copy))
    output.files.append(path)
    output.about.append((new, about))
    output.losses += [(new, lost)] if (lost := tuple(output.form.losses(copy))) else []
    output.counts.update(one.kind for one in done.notes if one.placeholder)
    output.left += sum(not one.placeholder for one in done.notes)
    output.review.writerows(_lines(new, done.notes, quotes=output.quotes))


def _lines(session_id: str, notes: Sequence[Noted], *, quotes: bool) -> Iterator[list[object]]:
    """Yield rows: placeholders in the order of the session, then what was left in."""
    for one in sorted(notes, key=lambda one: (not one.placeholder, -1 if one.turn is None else one.turn, one.start)):
        turn = "" if one.turn is None else one.turn
        row = [session_id, turn, one.where, one.start, one.end, one.kind, one.placeholder, one.sure, one.rule]
        yield [*row, *([defused(one.words)] if quotes else [])]


def _finish(output: _Output, out: Path, key: Path | None) -> None:
    """Write the table about the sessions, the README, and the key where it is asked for."""
    names = dict.fromkeys(name for _, about in output.about for name in about)
    if names:
        rows = [[new, *(about.get(name, "") for name in names)] for new, about in output.about]
        output.files.append(_table(output.folder / "sessions.csv", ["session_id", *names], rows))
    with _create(out / "README.txt") as file:
        file.write(_README)
    if key is not None:
        key.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _table(key, ["kind", "old", "new"], output.ids.rows())


def _table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Path:
    with _create(path) as file:
        file.write(csv_of_rows([header, *rows]))
    return path


def redact_about(about: Mapping[str, str], ids: Ids, clean: Callable[[str], str]) -> dict[str, str]:
    """Return the redacted metadata of a session: people and files as ids, years of dates, no contacts.

    Parameters
    ----------
    about : mapping of str to str
        Columns and values.
    ids : Ids
        Shared by all sessions.
    clean : callable
        Redacts a text.

    Examples
    --------
    >>> redact_about({"counselor": "Ruth Lindqvist", "date": "2025-03-04", "phone": "914-555-0123"}, Ids(), str)
    {'counselor': 'counselor_001', 'date': '2025', 'phone': '[REMOVED]'}
    """
    return {name: _value(name, value.strip(), ids, clean) for name, value in about.items()}


def _value(name: str, value: str, ids: Ids, clean: Callable[[str], str]) -> str:
    if not value or name in _SAFE or value == REMOVED:
        return value
    if _WHEN.search(name):
        return _years(name, value)
    if _AGE.search(name) and value.isdigit():
        return "[AGE_OVER_89]" if int(value) > _OLDEST else value
    return _removed(name, value, ids, clean)


def _removed(name: str, value: str, ids: Ids, clean: Callable[[str], str]) -> str:
    if _CONTACT.search(name):
        return REMOVED
    if _PEOPLE.search(name) or _DATA_FILES.search(name):
        return ids.number(re.sub(r"\W+", "_", name.lower()), value)
    return value if _NUMBER.fullmatch(value) or protected(value) == [(0, len(value))] else clean(value)


def _years(name: str, value: str) -> str:
    """Keep the year, but not one of birth that tells an age over 89."""
    year = _YEAR.search(value)
    is_birth = re.search("birth|dob", name, re.IGNORECASE)
    return "" if year is None or (is_birth and int(year[0]) < _OLD) else year[0]
