"""The command that measures sessions: run."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from therapy_analytics.cli._app import (
    INPUT,
    INTERRUPTED,
    MEASURED,
    OUTPUT,
    SCALE,
    SOME_FILES_FAILED,
    TAGGER,
    TRANSCRIPTS,
    Client,
    Columns,
    Keep,
    Key,
    Metadata,
    Paths,
    Pattern,
    Replace,
    SplitBy,
    Therapist,
    app,
    fail,
    key_in,
    read_options,
    say,
    sentences,
)
from therapy_analytics.cli._tables import show_run

if TYPE_CHECKING:
    from therapy_analytics.codes import TaggerOptions
    from therapy_analytics.results import Form


@app.command(rich_help_panel=TRANSCRIPTS)
def run(
    paths: Paths,
    *,
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
    split_by: SplitBy = None,
    pseudonyms: Key = None,
    repair_speakers: Annotated[
        bool,
        typer.Option(
            "--repair-speakers", help="First correct the speakers as tanalyze speakers proposes.", rich_help_panel=INPUT
        ),
    ] = False,
    measures: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="core or all; added with a comma: nclid.",
            rich_help_panel=MEASURED,
        ),
    ] = "core",
    lexicon: Annotated[
        list[Path] | None,
        typer.Option(
            "--lexicon",
            metavar="FILE",
            help="Also count this word list (TOML, or LIWC's .dic). Repeatable.",
            show_default=False,
            rich_help_panel=MEASURED,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed of the null distributions.", rich_help_panel=MEASURED)
    ] = 0,
    tagger: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who codes the turns: accurate, fast (less accurate), or llm (a language model on your server).",
            rich_help_panel=TAGGER,
        ),
    ] = "accurate",
    tagger_aim: Annotated[
        str,
        typer.Option(
            metavar="AIM",
            help="What decisions are for: balanced, precision (few wrong), recall (few missed), or rate.",
            rich_help_panel=TAGGER,
        ),
    ] = "balanced",
    all_codes: Annotated[
        bool,
        typer.Option(
            "--all-codes", help="Also give the less reliable codes, and those of MISC and MITI.", rich_help_panel=TAGGER
        ),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A folder that tanalyze train wrote; for llm, the model's name.",
            show_default=False,
            rich_help_panel=TAGGER,
        ),
    ] = None,
    codebook: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BOOK",
            help="For llm: code by this codebook, your own file or a built-in one. Repeatable.",
            show_default=False,
            rich_help_panel=TAGGER,
        ),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="For llm: the server, such as http://127.0.0.1:11434/v1.",
            show_default=False,
            rich_help_panel=TAGGER,
        ),
    ] = None,
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote",
            help="For llm and dask: allow another machine, which then gets the words.",
            rich_help_panel=TAGGER,
        ),
    ] = False,
    llm_parallel: Annotated[
        int,
        typer.Option(
            metavar="N", help="For llm: how many questions may be open at a time.", hidden=True, rich_help_panel=TAGGER
        ),
    ] = 4,
    llm_timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="For llm: how long one answer may take.", hidden=True, rich_help_panel=TAGGER
        ),
    ] = 180,
    llm_cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="For llm: where answers are kept.",
            show_default=False,
            hidden=True,
            rich_help_panel=TAGGER,
        ),
    ] = None,
    no_llm_cache: Annotated[
        bool, typer.Option("--no-llm-cache", help="For llm: keep no answers.", hidden=True, rich_help_panel=TAGGER)
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Where results go. The same command goes on with a stopped run.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path("results"),
    replace: Replace = False,
    quotes: Annotated[
        bool,
        typer.Option(
            "--quotes", help="Also write what was said. By default, no words are written.", rich_help_panel=OUTPUT
        ),
    ] = False,
    report: Annotated[
        bool | None,
        typer.Option(
            "--report/--no-report",
            help="Write report.html, the page to open first.",
            show_default="yes",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    plots: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="Which figures: session (one of each session, and those of the run) or all.",
            show_default="session",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Draw no figures.", rich_help_panel=OUTPUT)] = False,
    figure_format: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMAT", help="png, svg or pdf. Repeatable.", show_default="png", rich_help_panel=OUTPUT),
    ] = None,
    figure_width: Annotated[
        float | None,
        typer.Option(
            help="Width of figures in mm: 85 for one column of a journal, 174 for two (the default).",
            metavar="MM",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=256,
            metavar="N",
            help="How many processes share the work.",
            show_default="by size, 4 at most",
            rich_help_panel=SCALE,
        ),
    ] = None,
    output_format: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="csv, or parquet for very many sessions (no page; figures only with --plots).",
            rich_help_panel=SCALE,
        ),
    ] = "csv",
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Where processes run: local (this machine) or dask (a cluster).", rich_help_panel=SCALE
        ),
    ] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="For dask: the scheduler, such as tcp://127.0.0.1:8786.",
            show_default=False,
            rich_help_panel=SCALE,
        ),
    ] = None,
) -> None:
    """Read transcripts, code and measure them, and write tables, figures and a page.

    More on each option: docs/commands.md.
    """
    from therapy_analytics.cli.progress import Progress  # noqa: PLC0415
    from therapy_analytics.codes import TaggerOptions  # noqa: PLC0415
    from therapy_analytics.measures.settings import Settings, extras_of  # noqa: PLC0415
    from therapy_analytics.run import Writing  # noqa: PLC0415
    from therapy_analytics.run import run as run_pipeline  # noqa: PLC0415
    from therapy_analytics.text import load_lexicon  # noqa: PLC0415

    progress = Progress()
    coder = TaggerOptions(
        kind=tagger, aim=tagger_aim, all_codes=all_codes, endpoint=endpoint, model=model,
        allow_remote=allow_remote and engine == "local",
        parallel=llm_parallel, timeout_s=llm_timeout, cache=llm_cache, keep_answers=not no_llm_cache,
        codebooks=tuple(codebook or ()),
    )  # fmt: skip
    writing = Writing(
        form=_form(output_format), plots=_plots(plots, no_plots, figure_format, figure_width),
        figures=tuple(figure_format or ("png",)), figure_width=figure_width, report=report,
        processes=_processes(processes, paths, engine, tagger),
        scheduler=_scheduler(engine, scheduler), remote=allow_remote and scheduler is not None,
        on_files=progress.files, on_file=progress.file, on_total=progress.total, on_sessions=progress.sessions,
        on_problem=progress.problem, on_names=progress.say, on_before=progress.say,
    )  # fmt: skip
    try:
        with sentences(), closing(progress):
            _check_coder(coder)
            settings = Settings(
                lexicons=tuple(map(load_lexicon, lexicon or ())), seed=seed, quotes=quotes, tagger=coder,
                extras=extras_of([name.strip() for name in measures.split(",")]), repair_speakers=repair_speakers,
            )  # fmt: skip
            options = read_options(
                columns, therapist, client, metadata, pattern, keep, split_by=split_by,
                pseudonyms=key_in(pseudonyms, apart=(*paths, out)),
            )  # fmt: skip
            result = run_pipeline(paths, out, settings=settings, read_options=options, writing=writing, replace=replace)
    except KeyboardInterrupt:
        fail("Stopped. What is finished is kept: the same command goes on from there.", INTERRUPTED)
    show_run(result, writing)
    raise typer.Exit(SOME_FILES_FAILED if result.problems else 0)


def _form(name: str) -> Form:
    if name not in ("csv", "parquet"):
        message = f"There is no format named {name!r}. Known: csv, parquet."
        raise typer.BadParameter(message, param_hint="--output-format")
    return "csv" if name == "csv" else "parquet"


def _plots(which: str | None, none: bool, formats: list[str] | None, width: float | None) -> Any:
    """Return which figures were asked for, as `Writing` has them; None without any of the options."""
    for name, asked in (("--plots", which), ("--figure-format", formats), ("--figure-width", width)):
        if none and asked:
            message = f"--no-plots and {name} contradict each other. Leave one of them out."
            raise typer.BadParameter(message, param_hint=name)
    if none or which == "none":
        return "none"
    return which or ("session" if formats or width else None)


def _processes(asked: int | None, paths: list[str], engine: str, tagger: str) -> int:
    from therapy_analytics.run import processes_for  # noqa: PLC0415 (slow)

    if asked is not None:
        return asked
    return 1 if engine == "dask" or tagger == "llm" else processes_for(paths)


def _scheduler(engine: str, address: str | None) -> str | None:
    if engine not in ("local", "dask"):
        raise typer.BadParameter(f"There is no engine named {engine!r}. Known: local, dask.", param_hint="--engine")
    if (engine == "dask") != (address is not None):
        message = "--engine dask needs --scheduler ADDRESS, and the other way round."
        raise typer.BadParameter(message, param_hint="--engine")
    return address


def _check_coder(options: TaggerOptions) -> None:
    """Refuse a coder that cannot be loaded; say where words are sent before they are."""
    from therapy_analytics.codes import load_coder  # noqa: PLC0415

    coder = load_coder(options)
    if folder := getattr(coder, "cache", None):
        say(f"Answers are kept in {folder}, as codes and hashes of questions (--no-llm-cache: nowhere).", err=True)
    if options.allow_remote:
        from therapy_analytics.codes.llm import is_relayed  # noqa: PLC0415 (only it may use the network)

        onward = f", and from there to whoever runs {options.model}" if is_relayed(options.model or "") else ""
        say(f"The words of the transcripts are sent to {options.endpoint}{onward}.", err=True)
        if options.endpoint and options.endpoint.startswith("http:"):
            say("They are not encrypted on the way; https would be.", err=True)
