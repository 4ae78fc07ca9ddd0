"""The end of a run: what is said of all sessions together, from the records of what is done: nothing holds them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from therapy_analytics import results
from therapy_analytics.analysis import TABLES, codebook, core_measures
from therapy_analytics.behaviours import recipe as tagger_recipe
from therapy_analytics.errors import CannotWriteError, NothingToReadError, UnreadableFileError
from therapy_analytics.readers._notes import counted
from therapy_analytics.results import Record
from therapy_analytics.run._survey import Survey
from therapy_analytics.run._work import BatchOutcome, Work
from therapy_analytics.run._writing import RunResult, Writing

MOST_TOGETHER = 2_000
"""Sessions that a page can hold and a browser show, and that figures of the whole run are drawn over."""
MOST_TO_CHECK = 8
"""So many things to check in the tables about sessions are said on the screen; all stand in ``problems.csv``."""


@dataclass(slots=True)
class WorkDone:
    """What became of all work batches.

    Attributes
    ----------
    batches : list of str
        The names of those of which at least one session is finished.
    finished : set of str
        The ids of all sessions that are finished.
    n_kept : int
        How many of these an earlier run had finished.
    problems : list of UnreadableFileError
        What must be said of those that could not be measured.
    """

    batches: list[str] = field(default_factory=list)
    finished: set[str] = field(default_factory=set)
    n_kept: int = 0
    problems: list[UnreadableFileError] = field(default_factory=list)

    def add(self, batch: str, outcome: BatchOutcome) -> None:
        """Count a work batch in."""
        self.batches += [batch] * bool(outcome.finished)
        self.finished.update(outcome.finished)
        self.n_kept += outcome.n_kept
        self.problems += outcome.problems


def finish(
    work: Work,
    found: Survey,
    done: WorkDone,
    *,
    folder: results.Folder,
    recipe: Mapping[str, Any],
    writing: Writing,
) -> RunResult:
    """Write what is said of all sessions together.

    Raises
    ------
    NothingToReadError
        No session could be measured.
    CannotWriteError
        Files that were written are no longer there.
    """
    unread = [file.problem for file in found.files if file.problem is not None]
    problems = (*unread, *done.problems)
    remarks = tuple(found.account.remarks())
    results.write_csv(results.problems_table(unread, done.problems, remarks), folder.path / "problems.csv")
    totals = _totals(work, found, done)
    tagger = tagger_recipe(work.settings.tagger, totals.counted)
    about = {**recipe, "inputs": found.records(folder.path), "tagger": tagger}
    _refuse_missing(len(done.finished) - len(totals.ids), folder)
    if not totals.ids:
        raise NothingToReadError(_nothing(found, folder), problems)
    _write_tables(work, found, done, totals)
    with folder.ending(about, _kept(work, totals.ids, done)):
        if len(totals.ids) <= MOST_TOGETHER:
            _draw(work, totals.ids, writing)
    return RunResult(
        folder.path, problems, tagger, work.settings.rated, done.n_kept, len(done.problems), form=work.form,
        remarks=remarks, told=tuple(found.account.lines(MOST_TO_CHECK)),
    )  # fmt: skip


@dataclass(slots=True)
class _Totals:
    """What is known of all sessions together, and is small however many there are.

    Attributes
    ----------
    ids : list of str
        Of those that are done.
    counted : list of mapping
        What an outside coder counted.
    with_rows : set of str
        The joined tables that any session has rows of.
    """

    ids: list[str] = field(default_factory=list)
    counted: list[Mapping[str, int]] = field(default_factory=list)
    with_rows: set[str] = field(default_factory=set)


def _totals(work: Work, found: Survey, done: WorkDone) -> _Totals:
    totals = _Totals()
    for record in _records(work, found, done):
        totals.ids += record.ids
        totals.counted += [record.counted] if record.counted else []
        totals.with_rows.update(name for name, lines in record.rows.items() if lines)
    return totals


def _records(work: Work, found: Survey, done: WorkDone) -> Iterable[Record]:
    """Yield the records of all finished sessions, in order; an earlier run's of one that failed now is not."""
    if work.form == "parquet":
        return results.records_at(results.record_file(work.out, name) for name in done.batches)
    ids = (named.id for one in found.sessions for named in one.named)
    folders = work.out / results.SESSIONS
    return results.records_at(folders / name / results.DONE for name in ids if name in done.finished)


def _refuse_missing(n: int, folder: results.Folder) -> None:
    """Refuse to sum up a run that lacks finished sessions: its tables would not say that they do."""
    if n > 0:
        problem = f"the results of {counted(n, 'session')} were deleted or moved while the run was going on"
        remedy = "Leave the folder alone until the run has ended; the same command goes on from there"
        raise CannotWriteError(str(folder.path), problem, remedy)


def _write_tables(work: Work, found: Survey, done: WorkDone, totals: _Totals) -> None:
    """Write the tables of all sessions together, and what the columns of all tables mean."""
    core = core_measures(work.settings)
    for one in TABLES:
        if work.form == "csv" and one.joined and (one.name in totals.with_rows or not one.may_be_missing):
            head = work.about if one.name == "sessions" else ()
            columns = [*(column.name for column in one.columns), *(core if one.with_core else ())]
            records = _records(work, found, done)
            results.write_joined(records, one.name, work.out / one.csv, columns, head)
    results.write_csv(codebook(work.settings, [*work.about, *core], work.gold), work.out / "codebook.csv")


def _kept(work: Work, ids: Iterable[str], done: WorkDone) -> dict[str, set[str]]:
    """Return what of the folders in the folder of results is of this run."""
    if work.form == "csv":
        return {results.SESSIONS: set(ids)}
    files = {results.data_file(name) for name in done.batches}
    records = {f"{name}.json" for name in done.batches}
    return {**dict.fromkeys(results.DATASETS, files), results.RECORDS: records, results.FOLDERS: set(ids)}


def _draw(work: Work, ids: list[str], writing: Writing) -> None:
    if work.folders is not None and work.figures:
        results.write_run_figures(work.folders, work.out, ids, figures=work.figures, tagger=work.settings.tagger.kind)
    if writing.page:
        from therapy_analytics.report import report  # noqa: PLC0415 (it brings what compares sessions)

        report(work.out, quotes=work.settings.quotes)


def _nothing(found: Survey, folder: results.Folder) -> str:
    what = f"None of the {counted(found.n_sessions, 'session')} could be measured."
    return f"{what} {folder.path / 'problems.csv'} says what is wrong with each and what would be right."
