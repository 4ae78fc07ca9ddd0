"""Files to files: what ``tanalyze run`` does."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from therapy_analytics import results, tables
from therapy_analytics.behaviours import Code, check_coder, recipe, with_codebooks_read
from therapy_analytics.behaviours.explain import explaining_tagger
from therapy_analytics.engine import Lost, in_batches, in_order
from therapy_analytics.errors import NothingToReadError, UnreadableFileError
from therapy_analytics.language.company import choose_strangers
from therapy_analytics.language.syntax import load_tagger
from therapy_analytics.loading import read_sessions
from therapy_analytics.pipeline._going import Going, Totals, write_dyads, write_sessions
from therapy_analytics.pipeline._measured import codebook, refuse_taken_names, session_measures
from therapy_analytics.pipeline._work import Work, lost, write_batch
from therapy_analytics.plots._figures import check_formats
from therapy_analytics.readers import FileReading, ReadOptions
from therapy_analytics.readers._inputs import Inputs
from therapy_analytics.settings import Settings, as_recipe, program

if TYPE_CHECKING:
    from therapy_analytics.session import Session

MOST_IN_A_REPORT = 2_000
"""Sessions that a page can hold and a browser can show."""


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How a run goes about it.

    Attributes
    ----------
    figures : tuple of str
        The formats in which each session gets its figures: png, svg, pdf; none for no figures.
    report : bool
        Whether ``report.html`` is written; with what was said in it, where the settings ask for quotes.
    explain : bool
        Whether each session gets the evidence for its codes.
    processes : int
        How many processes share the work; the results do not depend on it.
    on_total : callable
        Told how many sessions there are, once they were counted.
    on_file : callable
        Told of each file as it is read.
    on_sessions : callable
        Told how many sessions were just written, or found to be done.
    on_problem : callable
        Told of each session that could not be measured.
    on_before : callable
        Told in a sentence how this run differs from the one before into the same folder.
    """

    figures: tuple[str, ...] = ("png",)
    report: bool = True
    explain: bool = False
    processes: int = 1
    on_total: Callable[[int], None] = _ignore
    on_file: Callable[[FileReading], None] = _ignore
    on_sessions: Callable[[int], None] = _ignore
    on_problem: Callable[[UnreadableFileError], None] = _ignore
    on_before: Callable[[str], None] = _ignore


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did and where it wrote.

    Attributes
    ----------
    out : Path
        The folder.
    problems : tuple of UnreadableFileError
        As ``problems.csv``.
    tagger : mapping of str to object
        Who coded the turns, and what an outside coder counted: as in ``run.json``.
    rated : tuple of Code
        Codes of the codebooks that the user named; each has a rate in the sessions table.
    n_kept, n_unmeasured : int
        Sessions that an earlier run of the same kind had done, and those that could not be measured.
    """

    out: Path
    problems: tuple[UnreadableFileError, ...]
    tagger: Mapping[str, Any] = field(default_factory=dict)
    rated: tuple[Code, ...] = ()
    n_kept: int = 0
    n_unmeasured: int = 0

    @property
    def sessions(self) -> pd.DataFrame:
        """Return ``sessions.csv``, read anew each time: a run holds no table of all sessions."""
        return read_sessions(self.out)

    def columns(self, names: Sequence[str]) -> pd.DataFrame:
        """Return some columns of ``sessions.csv``, which is quicker where there are many sessions."""
        return read_sessions(self.out, names)


def run(
    paths: Sequence[str | Path],
    out: str | Path,
    *,
    settings: Settings | None = None,
    read_options: ReadOptions | None = None,
    writing: Writing | None = None,
) -> RunResult:
    """Read, analyse and write: what ``tanalyze run`` does.

    Parameters
    ----------
    paths : sequence of str or Path
        Transcripts and folders of them.
    out : str or Path
        Folder for the results, made if need be (private, 0700). Sessions in it that an earlier run with the same
        transcript, options, data and version has done are kept; all else of that run is replaced.
    settings, read_options, writing : optional
        What is measured, how files are read, what is written.

    Returns
    -------
    RunResult
        The sessions table, and the files that could not be read.

    Raises
    ------
    NothingToReadError
        There is no transcript, or none that can be read (``problems.csv`` then says why).
    BadOptionError
        The folder holds something that is not a result of this program, another run is writing into it, or what is to
        be written cannot be.

    Notes
    -----
    However it is stopped (a signal, a full disk, a power cut), every file under its final name is whole, and the same
    call goes on from there and ends with the same bytes.
    """
    settings, writing = settings or Settings(), writing or Writing()
    settings = replace(settings, tagger=with_codebooks_read(settings.tagger))
    _check(settings, writing)
    out = Path(out)
    inputs = Inputs(paths, read_options or ReadOptions(), out, writing.on_file)
    # Every file is read twice: first for those sessions that are strangers to all others.
    total = _Count()
    strangers = choose_strangers(total.of(inputs.at_first()))
    writing.on_total(total.n)
    check_coder(settings.tagger)
    if "syntax" in settings.extras:
        load_tagger(settings.spacy_model)
    with results.opened(out) as folder:
        asked = _recipe(settings, inputs, writing)
        key = _hash([asked, program(), strangers.digests, strangers.clients])
        work = Work(
            settings=settings, strangers=strangers, folder=folder.path / "sessions", key=key, figures=writing.figures,
            explain=writing.explain,
        )  # fmt: skip
        if said := _differences(folder.before, asked):
            writing.on_before(said)
        folder.begin(asked)
        going = Going(work)
        _measure_all(going, inputs, writing)
        return _finish(going, folder, inputs, writing)


class _Count:
    """Counts what passes through."""

    def __init__(self) -> None:
        self.n = 0

    def of(self, sessions: Iterable[Session]) -> Iterator[Session]:
        for session in sessions:
            self.n += 1
            yield session


def _check(settings: Settings, writing: Writing) -> None:
    refuse_taken_names(settings)
    check_formats(writing.figures)
    if writing.explain:
        explaining_tagger(settings.tagger)


def _recipe(settings: Settings, inputs: Inputs, writing: Writing) -> dict[str, Any]:
    """Return what ``run.json`` says, but for the inputs and what an outside coder counted."""
    about = as_recipe(settings, inputs.options, ()) | {"tagger": recipe(settings.tagger, ())}
    return {**about, "options": {**about["options"], "explain": writing.explain}}


def _hash(what: object) -> str:
    return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()


_SAID = {
    "options": "options", "tagger": "tagger", "lexicons": "word lists", "codebooks": "codebooks",
    "therapy_analytics": "version of the program", "packages": "versions of packages",
}  # fmt: skip


def _differences(before: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Say what of an earlier run into this folder was otherwise."""
    now = json.loads(json.dumps(asked, default=str))
    differ = [word for name, word in _SAID.items() if name in before and _otherwise(before[name], now[name])]
    if not differ:
        return ""
    return f"Not as in the run before into this folder: {', '.join(differ)}. All sessions are measured anew."


def _otherwise(before: Any, now: Any) -> bool:
    if isinstance(before, dict) and isinstance(now, dict):
        return any(before.get(name) != value for name, value in now.items())
    return bool(before != now)


def _measure_all(going: Going, inputs: Inputs, writing: Writing) -> None:
    settings = going.work.settings
    batches = in_batches(going.pending(inputs.sessions()), settings.turns_per_batch)
    said = 0
    function = functools.partial(write_batch, work=going.work)
    for batch, outcome in in_order(function, batches, processes=writing.processes, apart=_apart):
        problems = [lost(session, outcome.reason) for session in batch] if isinstance(outcome, Lost) else outcome
        going.problems += problems
        for problem in problems:
            writing.on_problem(problem)
        writing.on_sessions(len(batch) + going.kept - said)
        said = going.kept
    writing.on_sessions(going.kept - said)
    redraw = functools.partial(_redraw, work=going.work)
    for _ in in_order(redraw, going.redraw, processes=writing.processes):
        pass


def _apart(batch: tuple[Session, ...]) -> list[tuple[Session, ...]]:
    return [(session,) for session in batch]


def _redraw(name: str, *, work: Work) -> None:
    folder = work.folder / name
    done = results.read_done(folder)
    if done is not None:
        results.write_figures_again(folder, done, work.figures, tagger=work.settings.tagger.kind)


def _finish(going: Going, folder: results.Folder, inputs: Inputs, writing: Writing) -> RunResult:
    """Write what is said of all sessions together."""
    settings, out, totals = going.work.settings, folder.path, Totals()
    for one in going.done():
        totals.add(one)
    problems = (*inputs.problems, *going.problems)
    results.write_csv(results.problems_table(problems), out / "problems.csv")
    tagger = recipe(settings.tagger, totals.counted)
    about = _recipe(settings, inputs, writing) | {"inputs": inputs.files, "tagger": tagger}
    if not totals.ids:
        with folder.ending(about, totals.ids):
            raise NothingToReadError(_nothing(inputs, going, out))
    measures = session_measures(settings)
    with results.replaced(out / "sessions.csv") as part:
        write_sessions(going.done(), part, totals.about, measures)
    results.write_csv(tables.pooled_responses_table(totals.pooled), out / "responses.csv")
    if totals.n_dyads:
        with results.replaced(out / "dyads.csv") as part:
            write_dyads(going.done(), part, measures)
    columns = [*totals.about, *measures]
    results.write_csv(codebook(settings, columns, sorted(totals.gold)), out / "codebook.csv")
    with folder.ending(about, totals.ids):
        if writing.figures:
            names = [name for name in going.ids if name in totals.ids]
            results.write_run_figures(out, names, writing.figures, settings.tagger.kind)
        if writing.report and len(totals.ids) <= MOST_IN_A_REPORT:
            _write_report(out, quotes=settings.quotes)
    return RunResult(out, problems, tagger, settings.rated, going.kept, len(going.problems))


def _write_report(out: Path, *, quotes: bool) -> None:
    from therapy_analytics.report import report  # noqa: PLC0415 (it brings what compares sessions)

    report(out, quotes=quotes)


def _nothing(inputs: Inputs, going: Going, out: Path) -> str:
    n = len(going.ids)
    what = f"{n} sessions could be measured" if n else f"{len(inputs.files)} files could be read as a transcript"
    return f"None of the {what}. {out / 'problems.csv'} says what is wrong with each and what would be right."
