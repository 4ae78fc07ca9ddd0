"""The end of a run: the tables of all sessions, put together from the records of those that are done."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from therapy_analytics import results
from therapy_analytics.codes import recipe as tagger_recipe
from therapy_analytics.core.errors import CannotWriteError, NothingToReadError
from therapy_analytics.core.printable import counted
from therapy_analytics.readers.account import Remark
from therapy_analytics.results import Record
from therapy_analytics.results.analysis import TABLES, codebook, core_measures
from therapy_analytics.run.figures import draw_run
from therapy_analytics.run.survey import Survey
from therapy_analytics.run.work import Outcome, Work
from therapy_analytics.run.writing import RunResult, Writing

MOST_TOGETHER = 2_000
"""The most sessions that the page and the figures of a whole run show."""
MOST_TO_CHECK = 8
"""The most remarks on tables about sessions that are printed; ``problems.csv`` has all."""


def finish(
    work: Work, found: Survey, done: Outcome, *, folder: results.Folder, recipe: Mapping[str, Any], writing: Writing
) -> RunResult:
    """Write the files on all sessions together.

    Raises
    ------
    NothingToReadError
        No session could be measured.
    CannotWriteError
        Files that were written are no longer there.
    """
    ids: list[str] = []
    counts: list[Mapping[str, int]] = []
    with_rows: set[str] = set()
    not_drawn: list[Remark] = []
    for record in _records(work, done):
        ids += record.ids
        counts += [record.counted] if record.counted else []
        with_rows.update(name for name, lines in record.rows.items() if lines)
        not_drawn += [Remark(file, None, problem, remedy) for file, problem, remedy in record.not_drawn]
    unread = [file.problem for file in found.files if file.problem is not None]
    problems, remarks = (*unread, *done.problems), tuple(found.account.remarks())
    table = partial(results.problems_table, unread, done.problems, remarks, pseudonyms=found.pseudonyms)
    problems_csv = folder.path / results.PROBLEMS
    results.write_csv(table(not_drawn), problems_csv)
    if gone := done.n_finished - len(ids):  # the tables would not show that
        problem = f"the results of {counted(gone, 'session')} were deleted or moved while the run was going on"
        remedy = "Leave the folder alone until the run has ended; the same command goes on from there"
        raise CannotWriteError(str(folder.path), problem, remedy)
    if not ids:
        what = f"None of the {counted(len(found.sessions), 'session')} could be measured."
        where = f"{problems_csv} says what is wrong with each and what would be right."
        raise NothingToReadError(f"{what} {where}", problems)
    _write_tables(work, done, with_rows)
    tagger = tagger_recipe(work.settings.tagger, counts)
    about_run = {**recipe, "inputs": found.records(folder.path), "tagger": tagger}
    with folder.ending(about_run, _kept(work, ids, done)):
        if len(ids) <= MOST_TOGETHER and work.figures:
            failed = draw_run(
                work.out / results.SESSIONS, work.out, ids,
                formats=work.figures, width_mm=work.figure_width, tagger=work.settings.tagger.kind,
            )  # fmt: skip
            if failed:
                not_drawn += failed
                results.write_csv(table(not_drawn), problems_csv)
        if len(ids) <= MOST_TOGETHER and writing.page:
            from therapy_analytics.report import report  # noqa: PLC0415 (it loads what compares sessions)

            report(work.out, quotes=work.settings.quotes)
    return RunResult(
        folder.path, problems, tagger, work.settings.rated, done.n_kept, len(done.problems), form=work.form,
        remarks=remarks, not_drawn=tuple(not_drawn), told=tuple(found.account.lines(MOST_TO_CHECK)),
    )  # fmt: skip


def _records(work: Work, done: Outcome) -> Iterator[Record]:
    """Yield the records of what this run finished or found finished, in order: they are not held in memory."""
    return results.records_at(work.out / one for one in done.records)


def _write_tables(work: Work, done: Outcome, with_rows: Collection[str]) -> None:
    """Write the joined tables, which with Parquet are data files already, and the codebook."""
    core = core_measures(work.settings)
    for one in TABLES:
        if work.form == "csv" and one.joined and (one.name in with_rows or not one.may_be_missing):
            about = work.about if one.name == "sessions" else ()
            columns = [*(column.name for column in one.columns), *(core if one.with_core else ())]
            results.write_joined(_records(work, done), one.name, work.out / one.csv, columns, about)
    results.write_csv(codebook(work.settings, [*work.about, *core], work.gold), work.out / "codebook.csv")


def _kept(work: Work, ids: list[str], done: Outcome) -> dict[str, set[str]]:
    """Return the files of this run in each folder of the results."""
    if work.form == "csv":
        return {results.SESSIONS: set(ids)}
    batches = [Path(one) for one in done.records]
    files = {results.data_file(one.stem) for one in batches}
    return {**dict.fromkeys(results.DATASETS, files), results.RECORDS: {one.name for one in batches}}
