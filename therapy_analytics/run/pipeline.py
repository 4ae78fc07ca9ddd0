"""The run: transcripts to results, as ``tanalyze run`` does it."""

from __future__ import annotations

import dataclasses
import functools
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from therapy_analytics import results
from therapy_analytics.codes import check_coder, recipe, with_codebooks_read
from therapy_analytics.core.errors import BadOptionError, NothingToReadError, UnreadableFileError
from therapy_analytics.core.folders import written_to
from therapy_analytics.core.verbs import options_of
from therapy_analytics.measures.settings import Settings, as_recipe, program
from therapy_analytics.measures.synchrony.linguistic_distance import load_transport
from therapy_analytics.plots.files import check_formats, check_plots, check_width
from therapy_analytics.readers import Account, ReadOptions
from therapy_analytics.readers.paths import placed
from therapy_analytics.readers.transcripts import find_transcripts
from therapy_analytics.results import Form, tables
from therapy_analytics.results.analysis import core_measures
from therapy_analytics.run.before import differences, outdated, refuse_other_transcripts
from therapy_analytics.run.executors import Lost, Workers, open_executor, refuse_to_begin_again
from therapy_analytics.run.figures import files_of_run
from therapy_analytics.run.finish import finish
from therapy_analytics.run.measure import in_batches, refuse_taken_names
from therapy_analytics.run.survey import Batch, Survey, survey
from therapy_analytics.run.work import Outcome, Work, do_work, forget
from therapy_analytics.run.writing import RunResult, Writing

FEWEST_DATA_FILES = 64
"""A large run has at least so many data files, so that many workers can share it."""
MOST_TURNS_IN_A_DATA_FILE = 5_000
"""Its tables are held in memory until it is written: 10 MB for 1,000 turns, 20 MB in sessions of a dozen turns."""


def run(
    paths: Sequence[str | Path],
    out: str | Path,
    *,
    settings: Settings | None = None,
    read_options: ReadOptions | None = None,
    writing: Writing | None = None,
    replace: bool = False,
) -> RunResult:
    """Read, analyse and write: what ``tanalyze run`` does.

    Parameters
    ----------
    paths : sequence of str or Path
        Transcripts and folders of them.
    out : str or Path
        Folder for the results, made if need be (private, 0700). Sessions that an earlier run with the same transcript,
        options, data and version has finished are kept; everything else of that run is replaced. Nothing in it is
        touched before at least one session was read.
    settings, read_options, writing : optional
        What is measured, how files are read, what is written and by which workers.
    replace : bool, optional
        Whether results of other transcripts, if the folder holds any, are replaced. The transcripts are the same if at
        least half of those of the earlier run are read again (the same file, or the same contents under another name),
        and the others are no longer where they were; new ones may come along.

    Returns
    -------
    RunResult
        The sessions table, and the files that could not be read.

    Raises
    ------
    NothingToReadError
        There is no transcript, or none that can be read (its ``problems`` say why), or no session could be measured.
    BadOptionError
        The folder holds something that is not a result of this program or results of other transcripts, another run
        is writing into it, what is to be written cannot be, no processes can be started, or an option had no effect on
        any transcript.
    CannotWriteError
        The disk is full, or the folder went away while the run was going on.

    Notes
    -----
    However it is stopped (a signal, a full disk, a power cut), every file under its final name is whole, and the same
    call goes on from there and ends with the same bytes.
    """
    refuse_to_begin_again()
    settings, writing = options_of(Settings, settings, "settings"), options_of(Writing, writing, "writing")
    settings = dataclasses.replace(settings, tagger=with_codebooks_read(settings.tagger))
    options = options_of(ReadOptions, read_options, "read_options")
    _check(settings, writing)
    out, account = Path(out), Account(options)
    transcripts = list(find_transcripts(paths, options=options, leave_out=out, on_table=account.saw_table))
    writing.on_files(len(transcripts))
    anywhere = options  # these mean the same to a worker in another folder
    if options.metadata is not None:
        anywhere = dataclasses.replace(options, metadata=placed(options.metadata))
    check_coder(settings.tagger)
    if "nclid" in settings.extras:
        load_transport()
    executor = open_executor(
        processes=writing.processes, scheduler=writing.scheduler, program=program, remote=writing.remote
    )
    with written_to(out), results.opened(out, files_of_run) as folder, executor as workers:
        # All files are read twice, first for the names of sessions and the donors of surrogate pairs.
        found = survey(transcripts, anywhere, account=account, on_file=writing.on_file)
        # What run.json says, without the inputs and what an outside coder counted
        asked = as_recipe(settings, options, ()) | {"tagger": recipe(settings.tagger, ())}
        _begin(folder, found, asked, writing, replace=replace)
        work = _work(settings, anywhere, writing, found, asked, out)
        try:
            done = _do_all(work, found, writing, workers)
        finally:
            forget()
        return finish(work, found, done, folder=folder, recipe=asked, writing=writing)


def _check(settings: Settings, writing: Writing) -> None:
    """Refuse what cannot be written, and options on workers that contradict each other or have no effect."""
    refuse_taken_names(settings)
    check_plots(writing.plots or "session")
    check_formats(writing.formats)
    check_width(writing.figure_width)
    if writing.form not in get_args(Form):
        raise BadOptionError("--output-format", f"there is no format named {writing.form!r}", "Known: csv, parquet")
    if writing.form == "parquet":
        results.library()
        if writing.page:
            raise BadOptionError("--report", "the page is made from tables in CSV", "Leave --report out, or write CSV")
        if writing.formats:
            remedy = "Leave --plots, --figure-format and --figure-width out, or write CSV"
            raise BadOptionError("--plots", "figures are drawn from tables in CSV", remedy)
    if writing.scheduler is None and writing.remote:
        problem = "neither --tagger llm nor --engine dask is given, so no other machine is used"
        raise BadOptionError("--allow-remote", problem, "Leave it out, or add --engine dask --scheduler ADDRESS")
    if writing.scheduler is not None and settings.tagger.kind == "llm":
        problem = "a cluster cannot be used with --tagger llm"
        raise BadOptionError("--engine dask", problem, "Leave it out, or take another --tagger")
    if writing.scheduler is not None and writing.processes > 1:
        problem = "the workers of the cluster do the work, not processes of this machine"
        raise BadOptionError("--processes", problem, "Leave it out, or leave out --engine dask")


def _begin(folder: results.Folder, found: Survey, asked: dict[str, Any], writing: Writing, *, replace: bool) -> None:
    """Begin to write: from here on, results of the earlier run are replaced."""
    if not found.sessions:
        problems = tuple(file.problem for file in found.files if file.problem is not None)
        n = len(found.files)
        what = "The file could not" if n == 1 else f"None of the {n} files could"
        first = f"{problems[0]} " if problems else ""
        raise NothingToReadError(f"{what} be read as a transcript. {first}Nothing was written.", problems)
    if sentence := found.names_in_results():
        writing.on_names(sentence)
    before = refuse_other_transcripts(folder, found.files, found.pseudonyms, replace=replace)
    told = [*before, *differences(folder, asked, writing)]
    for sentence in (*told, *(outdated(folder) if told else ())):
        writing.on_before(sentence)
    writing.on_total(len(found.sessions))
    folder.begin({**asked, "inputs": found.records(folder.path)})


def _work(
    settings: Settings, options: ReadOptions, writing: Writing, found: Survey, asked: dict[str, Any], out: Path
) -> Work:
    donors, measures = found.donors(), set(core_measures(settings))
    groupings = found.account.groupings()
    about = dict.fromkeys((*found.about, *map(tables.about_name, sorted(groupings))))
    return Work(
        run=secrets.token_hex(),
        settings=settings,
        options=options,
        donors=donors,
        out=out.absolute(),
        form=writing.form,
        key=results.hash_of_all([asked, program(), [(one.digest, one.client) for one, _ in donors]]),
        plots=(writing.plots or "session") if writing.formats else "none",
        figures=writing.formats,
        figure_width=writing.figure_width,
        groupings=groupings,
        about=tuple(name for name in about if name not in measures),
        gold=tuple(sorted(found.gold)),
    )


def _do_all(work: Work, found: Survey, writing: Writing, workers: Workers) -> Outcome:
    """Have all batches done by the workers."""
    n_turns = work.settings.turns_per_batch
    if work.form == "parquet":  # a data file has as many
        n_turns = min(max(n_turns, found.n_turns // FEWEST_DATA_FILES), MOST_TURNS_IN_A_DATA_FILE)
    batches = in_batches(found.sessions, n_turns, turns_of=lambda one: one.n_turns)
    done = Outcome()
    for batch, result in workers.in_order(functools.partial(do_work, work=work), batches):
        outcome = Outcome(problems=_lost(batch, result)) if isinstance(result, Lost) else result
        done.add(outcome)
        for problem in outcome.problems:
            writing.on_problem(problem)
        writing.on_sessions(len(batch))
    return done


def _lost(batch: Batch, why: Lost) -> list[UnreadableFileError]:
    """Return the problems of sessions whose process died."""
    reason = "there was not enough memory" if why.reason == "memory" else "the process that measured it died"
    remedy = "Try it alone, with more memory; leave it out if that does not help"
    return [
        UnreadableFileError(one.file.transcript.path, None, f"session {one.id} is missing: {reason}", remedy)
        for one in batch
    ]
