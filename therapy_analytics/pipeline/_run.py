"""Files to files: what ``tanalyze run`` does."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from therapy_analytics import results
from therapy_analytics.behaviours import check_coder, recipe, with_codebooks_read
from therapy_analytics.behaviours.explain import explaining_tagger
from therapy_analytics.engine import Crew, Lost, crew, refuse_to_begin_again
from therapy_analytics.errors import BadOptionError, NothingToReadError
from therapy_analytics.language.syntax import load_tagger
from therapy_analytics.loading import Form
from therapy_analytics.measures.synchrony.linguistic_distance import load_transport
from therapy_analytics.outputs import written_to
from therapy_analytics.pipeline._before import differences, refuse_other_transcripts
from therapy_analytics.pipeline._finish import Measured, finish
from therapy_analytics.pipeline._items import Item, items_of
from therapy_analytics.pipeline._measured import refuse_taken_names, session_measures
from therapy_analytics.pipeline._survey import Survey, survey
from therapy_analytics.pipeline._work import Outcome, Work, forget, lost, write_item
from therapy_analytics.pipeline._writing import RunResult, Writing
from therapy_analytics.plots._figures import check_formats
from therapy_analytics.readers import Account, ReadOptions
from therapy_analytics.readers._addresses import placed
from therapy_analytics.readers._pieces import find_pieces
from therapy_analytics.settings import Settings, as_recipe, program

FEWEST_PARTS = 64
"""Into so many parts a run is cut where it is large enough, so that many can work on it."""
MOST_TURNS_IN_A_PART = 5_000
"""The tables of a part are held until it is written: 10 MB for 1,000 turns, 20 MB in sessions of a dozen turns."""


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
        Folder for the results, made if need be (private, 0700). Sessions in it that an earlier run with the same
        transcript, options, data and version has done are kept; all else of that run is replaced. Nothing in it is
        touched before at least one session was read.
    settings, read_options, writing : optional
        What is measured, how files are read, what is written.
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
    settings, writing = settings or Settings(), writing or Writing()
    settings = dataclasses.replace(settings, tagger=with_codebooks_read(settings.tagger))
    options = read_options or ReadOptions()
    _check(settings, writing)
    out, anywhere = Path(out), _from_anywhere(options)
    account = Account(options)
    pieces = list(find_pieces(paths, options=options, leave_out=out, on_table=account.saw_table))
    writing.on_files(sum(piece.part == 0 for piece in pieces))
    check_coder(settings.tagger)
    if "syntax" in settings.extras:
        load_tagger(settings.spacy_model)
    if "nclid" in settings.extras:
        load_transport()
    with (
        written_to(out),
        results.opened(out) as folder,
        crew(processes=writing.processes, scheduler=writing.scheduler, alike=program, remote=writing.remote) as workers,
    ):
        # All files are read twice: first for their names, and for those sessions that are strangers to all others.
        found = survey(pieces, anywhere, crew=workers, account=account, on_file=writing.on_file)
        asked = _recipe(settings, options, writing)
        _begin(folder, found, asked, writing, replace=replace)
        work = _work(settings, anywhere, writing, found, asked, out)
        try:
            measured = _measure_all(work, found, writing, workers)
        finally:
            forget()
        return finish(work, found, measured, folder=folder, recipe=asked, writing=writing)


def _begin(folder: results.Folder, found: Survey, asked: dict[str, Any], writing: Writing, *, replace: bool) -> None:
    """Begin to write: from here on, results of the run before are replaced."""
    if not found.n_sessions:
        raise _nothing(found)
    for sentence in refuse_other_transcripts(folder, found.files, replace=replace):
        writing.on_before(sentence)
    for sentence in differences(folder, asked, writing):
        writing.on_before(sentence)
    writing.on_total(found.n_sessions)
    folder.begin({**asked, "inputs": found.records(folder.path)})


def _nothing(found: Survey) -> NothingToReadError:
    problems = tuple(file.problem for file in found.files if file.problem is not None)
    n = len(found.files)
    what = "The file could not" if n == 1 else f"None of the {n} files could"
    first = f"{problems[0]} " if problems else ""
    return NothingToReadError(f"{what} be read as a transcript. {first}Nothing was written.", problems)


def _check(settings: Settings, writing: Writing) -> None:
    refuse_taken_names(settings)
    check_formats(writing.formats)
    if writing.form not in get_args(Form):
        raise BadOptionError("--output-format", f"there is none named {writing.form!r}", "Known: csv, parquet")
    if writing.explain:
        explaining_tagger(settings.tagger)
    if writing.form == "parquet":
        results.library()
        if writing.page:
            problem, remedy = "the page is made from tables in CSV", "Leave --report out, or write CSV"
            raise BadOptionError("--report", problem, remedy)
    _check_workers(settings, writing)
    if settings.spacy_model is not None and "syntax" not in settings.extras:
        problem = "it tags parts of speech, for which nobody asked"
        raise BadOptionError("--spacy-model", problem, "Add --syntax (extras={'syntax'}), or leave it out")


def _check_workers(settings: Settings, writing: Writing) -> None:
    """Raise where options on who works contradict each other, or have no effect."""
    if writing.scheduler is None:
        if writing.remote:
            problem = "no scheduler is given that could be on another machine"
            raise BadOptionError("--allow-remote", problem, "Leave it out, or add --engine dask --scheduler ADDRESS")
        return
    if settings.tagger.kind == "llm":
        problem = "a language model on a server is asked from one machine"
        raise BadOptionError("--engine dask", problem, "Leave it out, or take another --tagger")
    if writing.processes > 1:
        problem = "the workers of the cluster do the work, not processes of this machine"
        raise BadOptionError("--processes", problem, "Leave it out, or leave out --engine dask")


def _from_anywhere(options: ReadOptions) -> ReadOptions:
    """Return options that say the same to a worker in another folder."""
    return options if options.metadata is None else dataclasses.replace(options, metadata=placed(options.metadata))


def _recipe(settings: Settings, options: ReadOptions, writing: Writing) -> dict[str, Any]:
    """Return what ``run.json`` says, but for the inputs and what an outside coder counted."""
    about = as_recipe(settings, options, ()) | {"tagger": recipe(settings.tagger, ())}
    return {**about, "options": {**about["options"], "explain": writing.explain}}


def _work(
    settings: Settings, options: ReadOptions, writing: Writing, found: Survey, asked: dict[str, Any], out: Path
) -> Work:
    lenders, measures = tuple(found.lenders()), set(session_measures(settings))
    return Work(
        settings=settings,
        options=options,
        lenders=lenders,
        out=out.absolute(),
        form=writing.form,
        key=results.hash_of_all([asked, program(), [(one.digest, one.client) for one, _ in lenders]]),
        figures=writing.formats,
        explain=writing.explain,
        about=tuple(name for name in found.about if name not in measures),
        gold=tuple(sorted(found.gold)),
    )


def _measure_all(work: Work, found: Survey, writing: Writing, workers: Crew) -> Measured:
    """Have all items worked on."""
    measured = Measured()
    items = items_of(found.slices, _turns_per_item(work, found.n_turns))
    for item, found_out in workers.in_order(functools.partial(write_item, work=work), items, apart=Item.apart):
        outcome = _lost(item, found_out) if isinstance(found_out, Lost) else found_out
        measured.add(item.name, outcome)
        for problem in outcome.problems:
            writing.on_problem(problem)
        writing.on_sessions(sum(1 for _ in item.named))
    return measured


def _lost(item: Item, why: Lost) -> Outcome:
    return Outcome(problems=[lost(named.id, path, why.reason) for named, path in item.named])


def _turns_per_item(work: Work, n_turns: int) -> int:
    """Return how many turns a worker takes at a time: with parts of data sets, how large these are."""
    least = work.settings.turns_per_batch
    return least if work.form == "csv" else min(max(least, n_turns // FEWEST_PARTS), MOST_TURNS_IN_A_PART)
