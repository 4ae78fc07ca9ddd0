"""What to say about the reading of a run: options without effect, tables that do not fit, guessed roles."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from therapy_analytics.core.errors import BadDataFileError, BadOptionError, UnreadableFileError
from therapy_analytics.core.identity import LONGEST_FACT, groupings, may_be_fact, words_of
from therapy_analytics.core.ids import safe_id
from therapy_analytics.core.printable import counted, printable
from therapy_analytics.readers._applied import GUESSED, Applied
from therapy_analytics.readers._beside import is_kept, shown_fields
from therapy_analytics.readers._files import transcripts_in
from therapy_analytics.readers._metadata import SessionTable as Table
from therapy_analytics.readers._metadata import plain_name, table_at
from therapy_analytics.readers.base import ReadOptions
from therapy_analytics.readers.paths import placed
from therapy_analytics.readers.transcript_reading import TranscriptReading

_MOST_LISTED = 12
_FOR_TABLES = "Leave it out: it is for tables (CSV, Excel, Parquet)"
_BY_ID = "Check it against the ids of the sessions and the names of the files"
_ADD = "Add a row for each session whose counselor, client or date should be known"


class TablesWarning(UserWarning):
    """Something in a table about sessions that does not fit the sessions that were read."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd in a table about sessions, for the user to check.

    Attributes
    ----------
    path : str
        The file.
    line : int or None
        Where in the file, from 1, when that is known.
    problem, remedy : str
        What is odd, and what to do.
    """

    path: str
    line: int | None
    problem: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.path}, line {self.line}" if self.line else self.path
        return f"{place}: {self.problem}. {self.remedy}."


class Account:
    """Sums up, over all files of a run, what the options and the tables about sessions had an effect on.

    Parameters
    ----------
    options : ReadOptions
        Of the run.
    """

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._applied = Applied()
        self._files: set[str] = set()
        self._unread: set[str] = set()
        self._passed: dict[str, str] = {}

    def saw_table(self, path: str) -> None:
        """Note a table about sessions in a folder, whether or not transcripts lie beside it."""
        self._passed[placed(path)] = printable(str(path))

    def add(self, reading: TranscriptReading) -> None:
        """Count a file; its sessions are not looked at."""
        places = [reading.transcript.place, *(one.place for one in reading.transcript.voices)]
        self._files.update(map(os.path.realpath, places))
        if reading.problem is not None:
            self._unread.add(safe_id(Path(printable(reading.transcript.path)).stem).casefold())
        self._applied.add(reading.applied)

    def add_sessions(self, applied: Applied) -> None:
        """Count what had an effect on sessions that come from no file."""
        self._applied.add(applied)

    def refuse(self) -> None:
        """Refuse an option without effect on any session, if there are sessions.

        Raises
        ------
        BadOptionError
            It lists what there is instead.
        """
        if not self._applied.n_sessions:
            return
        for option, (problem, remedy) in self._given().items():
            if not self._applied.effects[option]:
                raise BadOptionError(option, problem, remedy)
        self._refuse_keep()

    def _given(self) -> dict[str, tuple[str, str]]:
        """Return the options that were given, with what to say if they had no effect: problem and remedy."""
        own = self._options
        # a label with the form of a sentence may be speech, and is not listed
        labels = _listed(filter(may_be_fact, self._applied.labels)) or "none that can be shown"
        labels = f"The labels are: {labels}"
        names = f"Without their endings, the names are: {_listed(self._applied.stems)}"
        by_day = own.split_by == "day"
        by_gap = "Leave it out, or split where nobody speaks for long: --split-by gap=4h" if by_day else "Leave it out"
        every = {
            "--therapist": (own.therapist, f"no speaker is called {_quoted(own.therapist)}", labels),
            "--client": (own.client, f"no speaker is called {_quoted(own.client)}", labels),
            "--columns": (own.columns or None, "no session that was read stands in a table with columns", _FOR_TABLES),
            "--pattern": (own.pattern, f"{_quoted(own.pattern)} fits the name of no file", names),
            "--split-by": (own.split_by, f"no session that was read has {'dates' if by_day else 'times'}", by_gap),
        }
        return {option: (problem, remedy) for option, (given, problem, remedy) in every.items() if given is not None}

    def _refuse_keep(self) -> None:
        keep = self._options.keep
        tables = self._tables() if keep else ()
        known = dict.fromkeys(name for table in tables if isinstance(table, Table) for name in table.columns)
        for name in keep:
            if plain_name(name) not in known and not any(is_kept(one, [name]) for one in self._applied.kept):
                known |= dict.fromkeys(self.left_out())
                there = f"There are: {_listed(known)}" if known else "There is nothing to keep"
                problem = f"no transcript has a field {_quoted(name)}, and no table about sessions a column"
                raise BadOptionError("--keep", problem, there)

    def groupings(self) -> frozenset[str]:
        """Return the fields beside the turns that are copied because they are groupings over all sessions."""
        return groupings(self._applied.fields)

    def left_out(self) -> dict[str, str]:
        """Return the fields beside the turns that are not copied, each with the reason."""
        return {name: why for name, one in self._applied.fields.items() if (why := one.against(name))}

    def _tables(self) -> list[Table | BadDataFileError]:
        """Return the tables about sessions, or what is wrong with one."""
        found: list[Table | BadDataFileError] = []
        for place, path in {**self._passed, **self._applied.tables}.items():
            try:
                table = table_at(path, place, self._options)
            except BadDataFileError as error:
                beside = Path(place).parent in {Path(file).parent for file in self._files}
                found += [] if beside else [error]  # the files beside it could not be read, and say why
            else:
                found += [table] if table is not None else []
        return found

    def remarks(self) -> list[Remark]:
        """Return what to check in the tables about sessions."""
        return [one for table in self._tables() for one in self._remarks_on(table)]

    def _remarks_on(self, table: Table | BadDataFileError) -> Iterator[Remark]:
        if isinstance(table, BadDataFileError):
            yield Remark(table.path, None, table.problem, table.remedy)
            return
        for name in table.left_out:
            problem = f"the column {name} was left out of the results, for remarks and sentences may hold what was said"
            yield Remark(table.path, None, problem, f"If it is wanted there, say --keep {name}")
        ids = [session for place, session in self._applied.without_row if place == table.place]
        if ids:
            yield Remark(table.path, None, f"no row is about {counted(len(ids), 'session')}: {_listed(ids)}", _ADD)
        known = {key for place, key in self._applied.rows if place == table.place} | self._unread
        strange = [row for key, row in table.rows.items() if key not in known]
        if not strange or not self._is_for_all(table):
            return
        if len(strange) == len(table.rows):
            problem = f"none of its {counted(len(strange), 'row')} is about a session that was read"
            remedy = "Check its column session_id or file. A table beside the transcripts is for its own folder alone"
            yield Remark(table.path, None, problem, remedy)
            return
        for row in strange:
            yield Remark(
                table.path, row.line, f"the row about {_quoted(row.key)} is about no session that was read", _BY_ID
            )

    def _is_for_all(self, table: Table) -> bool:
        """Tell whether each row should have its session: only where all transcripts beside the table were given."""
        own = "" if self._options.metadata is None else placed(self._options.metadata)
        if table.place == own:
            return True
        known = {*self._files, os.path.realpath(own)} if own else self._files
        try:
            return all(os.path.realpath(path) in known for path in transcripts_in(str(Path(table.place).parent)))
        except UnreadableFileError:
            return False

    def warn(self) -> None:
        """Issue what to check in the tables about sessions as a `TablesWarning` each."""
        for remark in self.remarks():
            warnings.warn(str(remark), TablesWarning, stacklevel=4)

    def lines(self, most: int | None = None) -> list[str]:
        """Return what to show the user: options that had an effect in part, guessed roles, what to check.

        Parameters
        ----------
        most : int, optional
            The most remarks on tables that are listed, where all of them stand in ``problems.csv``.
        """
        n, effects = self._applied.n_sessions, self._applied.effects
        in_part = [
            f"{option} had an effect on {effects[option]} of {n} sessions; the notes on the others say so."
            for option in self._given()
            if 0 < effects[option] < n
        ]
        remarks = self.remarks()
        checks = [f"Check: {one}" for one in remarks[:most]]
        if len(checks) < len(remarks):
            checks.append(f"Check: {len(remarks) - len(checks)} more in problems.csv, whose kind is check.")
        return [*in_part, *_guesses(self._applied.guessed), *self._not_copied(), *checks]

    def _not_copied(self) -> Iterator[str]:
        """Yield a sentence that lists what stands beside the turns and is not copied."""
        if names := self.left_out():
            spellings: dict[str, str] = {}
            for name in names:
                spellings.setdefault("".join(words_of(name)), name)
            listed = ", ".join(shown_fields(spellings.values()))
            yield f"Beside the turns and not copied: {listed}. `tanalyze inspect` says why; --keep NAME copies one."


def _guesses(guessed: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """Yield which labels were guessed to be the therapist's, as far as they have the form of a name."""
    for how, why in GUESSED.items():
        labels = Counter({label: n for (method, label), n in guessed.items() if method == how})
        named = [(label, n) for label, n in labels.most_common() if may_be_fact(label)][:_MOST_LISTED]
        listed = [f"{_short(label)} in {counted(n, 'session')}" for label, n in named]
        if len(named) < len(labels):
            listed.append(counted(len(labels) - len(named), "more label" if named else "label"))
        if listed:
            yield f"Taken as therapist, {why}: {', '.join(listed)}. If that is wrong, say --therapist LABEL."


def _listed(names: Iterable[str]) -> str:
    known = list(map(_short, names))
    more = [f"{len(known) - _MOST_LISTED} more"] * (len(known) > _MOST_LISTED)
    return ", ".join(known[:_MOST_LISTED] + more)


def _short(name: str) -> str:
    return printable(name)[: 2 * LONGEST_FACT]


def _quoted(name: str | None) -> str:
    return f"'{printable(name or '')}'"
