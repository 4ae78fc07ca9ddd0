"""The command that measures sessions: run."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from therapy_analytics.cli._app import (
    INTERRUPTED,
    SOME_FILES_FAILED,
    Client,
    Columns,
    Keep,
    Lexicons,
    Metadata,
    Paths,
    Pattern,
    SplitBy,
    Therapist,
    app,
    fail,
    read_options,
    say,
    sentences,
)
from therapy_analytics.cli._tables import show_run

if TYPE_CHECKING:
    from therapy_analytics.behaviours import TaggerOptions
    from therapy_analytics.results import Form


@app.command()
def run(
    paths: Paths,
    *,
    out: Annotated[
        Path, typer.Option(help="Folder for the results. An earlier run of the same transcripts goes on in it.")
    ] = Path("results"),
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the results of other transcripts that the folder holds.")
    ] = False,
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
    split_by: SplitBy = None,
    lexicon: Lexicons = None,
    output_format: Annotated[
        str,
        typer.Option(
            help="csv (a folder for each session, a table of all), or parquet, for very many sessions: data sets of "
            "sessions and turns, without figures and page."
        ),
    ] = "csv",
    plots: Annotated[
        bool | None,
        typer.Option("--plots/--no-plots", help="Draw each session's figures.", show_default="unless parquet"),
    ] = None,
    figure_format: Annotated[
        list[str] | None,
        typer.Option(help="Figures as png (the default), svg or pdf. May be repeated.", show_default=False),
    ] = None,
    figure_width: Annotated[
        float | None,
        typer.Option(
            help="Width of figures in mm: 85 for one column of a journal, 174 for two (the default).",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        bool | None,
        typer.Option(
            "--report/--no-report", help="Write report.html, the page to look at first.", show_default="unless parquet"
        ),
    ] = None,
    quotes: Annotated[
        bool,
        typer.Option("--quotes", help="Write the words of each turn into turns.csv. By default, none are written."),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Write what moved the tagger to each code: evidence.csv.")
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=256,
            help="How many workers share the work; the results are the same. By default one, and of more than half a "
            "megabyte of transcripts one for each core, 4 at most.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="Where the workers are: local (this machine), or dask (a cluster, see --scheduler).")
    ] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="For dask: the scheduler's address, as tcp://127.0.0.1:8786. Its workers must see the transcripts and "
            "the folder for the results under the same names.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed: the same seed gives the same results.")] = 0,
    measures: Annotated[
        str,
        typer.Option(
            help="What is measured: core; all, everything but the costly ones; these by name: syntax, nclid, "
            "recurrence, coupling. Several with commas, as all,syntax.",
        ),
    ] = "core",
    repair_speakers: Annotated[
        bool,
        typer.Option(
            "--repair-speakers",
            help="Before measuring, correct what tanalyze speakers proposes: swapped labels, and words on the "
            "wrong side of a turn boundary. turns.csv marks every changed turn.",
        ),
    ] = False,
    spacy_model: Annotated[
        str | None,
        typer.Option(
            help="For --measures syntax: a spaCy model of yours, as en_core_web_sm, in place of the package's own.",
            show_default=False,
        ),
    ] = None,
    tagger: Annotated[
        str,
        typer.Option(
            help="Who codes the turns: accurate (the tagger that comes along), fast (much faster, less accurate), "
            "or llm (a language model on a server of yours)."
        ),
    ] = "accurate",
    tagger_aim: Annotated[
        str,
        typer.Option(
            help="What the tagger's decisions are for: balanced, precision (right when it says so), "
            "recall (little is missed), or rate (right on average over a session)."
        ),
    ] = "balanced",
    all_codes: Annotated[
        bool,
        typer.Option(
            "--all-codes",
            help="Also the less certain codes of process, kinds of reflection and input, and codes of MISC and MITI.",
        ),
    ] = False,
    endpoint: Annotated[
        str | None,
        typer.Option(
            help="For llm: the server's address, as http://127.0.0.1:11434/v1 (Ollama and others).", show_default=False
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A folder that tanalyze train wrote: its codes, too. For llm: the model, as the server names it.",
            show_default=False,
        ),
    ] = None,
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote",
            help="For llm: the server may be another machine; the words are then sent there. For dask: the scheduler "
            "may be; its workers read the transcripts.",
        ),
    ] = False,
    llm_parallel: Annotated[int, typer.Option(help="For llm: how many questions may be open at a time.")] = 4,
    llm_timeout: Annotated[float, typer.Option(help="For llm: seconds that one answer may take.")] = 180,
    llm_cache: Annotated[
        Path | None,
        typer.Option(help="For llm: folder of the answers so far (default: the user's cache).", show_default=False),
    ] = None,
    codebook: Annotated[
        list[str] | None,
        typer.Option(
            help="For llm: code by this codebook instead of the usual codes: your own file (TOML), or bolt, mi, "
            "misc, miti, process. May be repeated.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Read transcripts, say what each turn does, measure each session, write tables, figures and a page to look at."""
    from therapy_analytics.behaviours import TaggerOptions  # noqa: PLC0415
    from therapy_analytics.language import load_lexicon  # noqa: PLC0415
    from therapy_analytics.progress import Progress  # noqa: PLC0415
    from therapy_analytics.run import Writing  # noqa: PLC0415
    from therapy_analytics.run import run as run_pipeline  # noqa: PLC0415
    from therapy_analytics.settings import Settings, extras_of  # noqa: PLC0415

    progress = Progress()
    coder = TaggerOptions(
        kind=tagger, aim=tagger_aim, all_codes=all_codes, endpoint=endpoint, model=model,
        allow_remote=allow_remote and engine == "local",
        parallel=llm_parallel, timeout_s=llm_timeout, cache=llm_cache, codebooks=tuple(codebook or ()),
    )  # fmt: skip
    writing = Writing(
        form=_form(output_format), figures=_figures(plots, figure_format, figure_width), figure_width=figure_width,
        report=report, explain=explain,
        processes=_processes(processes, paths, engine, tagger),
        scheduler=_scheduler(engine, scheduler), remote=allow_remote and scheduler is not None,
        on_files=progress.files, on_file=progress.file, on_total=progress.total, on_sessions=progress.sessions,
        on_problem=progress.problem, on_before=progress.say,
    )  # fmt: skip
    asked = [*(name.strip() for name in measures.split(",")), *(["syntax"] if spacy_model is not None else [])]
    try:
        with sentences(), closing(progress):
            _check_coder(coder, explain=explain)
            settings = Settings(
                lexicons=tuple(map(load_lexicon, lexicon or ())), seed=seed, quotes=quotes, tagger=coder,
                extras=extras_of(asked),
                spacy_model=spacy_model, repair_speakers=repair_speakers,
            )  # fmt: skip
            options = read_options(columns, therapist, client, metadata, pattern, keep, split_by=split_by)
            result = run_pipeline(paths, out, settings=settings, read_options=options, writing=writing, replace=replace)
    except KeyboardInterrupt:
        fail("Stopped. What is finished is kept: the same command goes on from there.", INTERRUPTED)
    show_run(result, writing)
    raise typer.Exit(SOME_FILES_FAILED if result.problems else 0)


def _form(name: str) -> Form:
    if name not in ("csv", "parquet"):
        message = f"{name!r} is no form of output. Known: csv, parquet."
        raise typer.BadParameter(message, param_hint="--output-format")
    return "csv" if name == "csv" else "parquet"


def _figures(plots: bool | None, formats: list[str] | None, width: float | None) -> tuple[str, ...] | None:
    """Return the formats that were asked for; none with --no-plots; None without any of the options."""
    for name, asked in (("--figure-format", formats), ("--figure-width", width)):
        if plots is False and asked:
            message = f"--no-plots and {name} contradict each other. Leave one of them out."
            raise typer.BadParameter(message, param_hint=name)
    if plots is False:
        return ()
    return tuple(formats or ("png",)) if plots or formats or width else None


def _processes(asked: int | None, paths: list[str], engine: str, tagger: str) -> int:
    from therapy_analytics.run import processes_for  # noqa: PLC0415 (slow)

    if asked is not None:
        return asked
    return 1 if engine == "dask" or tagger == "llm" else processes_for(paths)


def _scheduler(engine: str, address: str | None) -> str | None:
    if engine not in ("local", "dask"):
        raise typer.BadParameter(f"{engine!r} is no engine. Known: local, dask.", param_hint="--engine")
    if (engine == "dask") != (address is not None):
        message = "--engine dask and --scheduler ADDRESS belong together."
        raise typer.BadParameter(message, param_hint="--engine")
    return address


def _check_coder(options: TaggerOptions, *, explain: bool) -> None:
    """Refuse a coder that cannot be loaded or cannot explain itself; say where words are sent before they are."""
    from therapy_analytics.behaviours import load_coder  # noqa: PLC0415
    from therapy_analytics.behaviours.explain import explaining_tagger  # noqa: PLC0415

    if explain:
        explaining_tagger(options)
    load_coder(options)
    if options.allow_remote:
        say(f"The words of the transcripts are sent to {options.endpoint}.", err=True)
        if options.endpoint and options.endpoint.startswith("http:"):
            say("They are not encrypted on the way; https would be.", err=True)
