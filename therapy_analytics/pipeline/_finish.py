"""The end of a run: what is said of all sessions together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from therapy_analytics import results, tables
from therapy_analytics.behaviours import recipe as tagger_recipe
from therapy_analytics.errors import CannotWriteError, NothingToReadError, UnreadableFileError
from therapy_analytics.pipeline._measured import codebook, session_measures
from therapy_analytics.pipeline._survey import Survey
from therapy_analytics.pipeline._totals import Totals, done_in, write_dyads, write_sessions
from therapy_analytics.pipeline._work import Outcome, Work
from therapy_analytics.pipeline._writing import RunResult, Writing
from therapy_analytics.readers._notes import counted

MOST_TOGETHER = 2_000
"""Sessions that a page can hold and a browser show, and that figures of the whole run are drawn over."""
MOST_TO_CHECK = 8
"""So many things to check in the tables about sessions are said on the screen; all stand in ``problems.csv``."""


@dataclass(slots=True)
class Measured:
    """What became of all items.

    Attributes
    ----------
    items : list of str
        The names of those of which at least one session is finished.
    finished : set of str
        The ids of all sessions that are finished.
    n_kept : int
        How many of these an earlier run had finished.
    problems : list of UnreadableFileError
        What must be said of those that could not be measured.
    """

    items: list[str] = field(default_factory=list)
    finished: set[str] = field(default_factory=set)
    n_kept: int = 0
    problems: list[UnreadableFileError] = field(default_factory=list)

    def add(self, item: str, outcome: Outcome) -> None:
        """Count an item in."""
        self.items += [item] * bool(outcome.finished)
        self.finished.update(outcome.finished)
        self.n_kept += outcome.n_kept
        self.problems += outcome.problems


def finish(
    work: Work,
    found: Survey,
    measured: Measured,
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
    problems = (*unread, *measured.problems)
    remarks = tuple(found.account.remarks())
    results.write_csv(results.problems_table(unread, measured.problems, remarks), folder.path / "problems.csv")
    totals = _totals(work, found, measured)
    tagger = tagger_recipe(work.settings.tagger, totals.counted)
    about = {**recipe, "inputs": found.records(folder.path), "tagger": tagger}
    _refuse_missing(len(measured.finished) - len(totals.ids), folder)
    if not totals.ids:
        raise NothingToReadError(_nothing(found, folder), problems)
    _write_tables(work, found, measured, totals)
    with folder.ending(about, _kept(work, totals, measured)):
        if len(totals.ids) <= MOST_TOGETHER:
            _draw(work, totals, writing)
    return RunResult(
        folder.path, problems, tagger, work.settings.rated, measured.n_kept, len(measured.problems), form=work.form,
        remarks=remarks, told=tuple(found.account.lines(MOST_TO_CHECK)),
    )  # fmt: skip


def _refuse_missing(n: int, folder: results.Folder) -> None:
    """Refuse to sum up a run that lacks finished sessions: its tables would not say that they do."""
    if n > 0:
        problem = f"the results of {counted(n, 'session')} were deleted or moved while the run was going on"
        remedy = "Leave the folder alone until the run has ended; the same command goes on from there"
        raise CannotWriteError(str(folder.path), problem, remedy)


def _totals(work: Work, found: Survey, measured: Measured) -> Totals:
    totals = Totals()
    if work.form == "csv":
        for done in _done(work, found, measured):
            totals.add_session(done)
    else:
        for name in measured.items:
            if (part := results.read_part(work.out, name)) is not None:
                totals.add_part(part)
    return totals


def _done(work: Work, found: Survey, measured: Measured) -> Iterator[results.Done]:
    """Yield what is kept of each finished session, in order; an earlier run's of one that failed now is not."""
    ids = (named.id for one in found.slices for named in one.named)
    return done_in(work.out / results.SESSIONS, (name for name in ids if name in measured.finished))


def _write_tables(work: Work, found: Survey, measured: Measured, totals: Totals) -> None:
    out, measures = work.out, session_measures(work.settings)
    results.write_csv(tables.pooled_responses_table(totals.pooled), out / "responses.csv")
    if work.form == "csv":
        with results.replaced(out / "sessions.csv") as part:
            write_sessions(_done(work, found, measured), part, work.about, measures)
        if totals.n_dyads:
            with results.replaced(out / "dyads.csv") as part:
                write_dyads(_done(work, found, measured), part, measures)
    columns = [*work.about, *measures]
    results.write_csv(codebook(work.settings, columns, work.gold), out / "codebook.csv")


def _kept(work: Work, totals: Totals, measured: Measured) -> dict[str, set[str]]:
    """Return what of the folders in the folder of results is of this run."""
    ids = set(totals.ids)
    if work.form == "csv":
        return {results.SESSIONS: ids}
    parts = {results.file_name(name) for name in measured.items}
    records = {f"{name}.json" for name in measured.items}
    return {**dict.fromkeys(results.DATASETS, parts), results.RECORDS: records, results.FOLDERS: ids}


def _draw(work: Work, totals: Totals, writing: Writing) -> None:
    if work.folders is not None and work.figures:
        results.write_run_figures(
            work.folders, work.out, totals.ids, figures=work.figures, tagger=work.settings.tagger.kind
        )
    if writing.page:
        from therapy_analytics.report import report  # noqa: PLC0415 (it brings what compares sessions)

        report(work.out, quotes=work.settings.quotes)


def _nothing(found: Survey, folder: results.Folder) -> str:
    what = f"None of the {counted(found.n_sessions, 'session')} could be measured."
    return f"{what} {folder.path / 'problems.csv'} says what is wrong with each and what would be right."
