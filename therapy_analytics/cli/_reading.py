"""Commands that read transcripts: run, inspect, convert."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from therapy_analytics.cli._app import (
    INTERRUPTED,
    NOTHING_DONE,
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
)
from therapy_analytics.cli._tables import show_run

if TYPE_CHECKING:
    from therapy_analytics.behaviours import TaggerOptions
    from therapy_analytics.language import Extra
    from therapy_analytics.redact import Redaction
    from therapy_analytics.results import Form
    from therapy_analytics.writers import Conversion


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
    report: Annotated[
        bool | None,
        typer.Option(
            "--report/--no-report", help="Write report.html, the page to look at first.", show_default="unless parquet"
        ),
    ] = None,
    quotes: Annotated[
        bool, typer.Option("--quotes", help="Write what was said into turns.csv. Without it, no words are written.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Write what moved the tagger to each code: evidence.csv.")
    ] = False,
    processes: Annotated[
        int, typer.Option(min=1, max=256, help="How many workers share the work; the results are the same.")
    ] = 1,
    engine: Annotated[
        str, typer.Option(help="Who works: local (this machine), or dask (a cluster, see --scheduler).")
    ] = "local",
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="For dask: the scheduler's address, as tcp://127.0.0.1:8786. Its workers must see the transcripts and "
            "the folder for the results under the same names.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Number that random draws begin from: the same number gives the same results.")
    ] = 0,
    syntax: Annotated[
        bool,
        typer.Option(
            "--syntax",
            help="Also how alike the two build their sentences: finds nouns, verbs, ... first, and is slower.",
        ),
    ] = False,
    repair_speakers: Annotated[
        bool,
        typer.Option(
            "--repair-speakers",
            help="Before measuring, put right what tanalyze speakers proposes: exchanged labels, and words at the "
            "wrong side of a turn. turns.csv marks every changed turn.",
        ),
    ] = False,
    nclid: Annotated[
        bool,
        typer.Option(
            "--nclid",
            help="Also nCLiD, how far apart the two speak by meaning: slower, and needs "
            "pip install 'therapy-analytics[nclid]'.",
        ),
    ] = False,
    recurrence: Annotated[
        bool,
        typer.Option("--recurrence", help="Also which words and runs of words of the one return in the other's turns."),
    ] = False,
    coupling: Annotated[
        bool,
        typer.Option("--coupling", help="Also whether one's turns rise and fall with the other's, some turns later."),
    ] = False,
    spacy_model: Annotated[
        str | None,
        typer.Option(
            help="For --syntax: a spaCy model of yours, as en_core_web_sm, in place of the one that comes along.",
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
        typer.Option("--all-codes", help="Also kinds of reflection and input, and MITI's codes: less to be trusted."),
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
            "misc, miti. May be repeated.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Read transcripts, say what each turn does, measure each session, write tables, figures and a page to look at."""
    from therapy_analytics.behaviours import TaggerOptions  # noqa: PLC0415
    from therapy_analytics.behaviours.explain import explaining_tagger  # noqa: PLC0415
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415
    from therapy_analytics.language import load_lexicon  # noqa: PLC0415
    from therapy_analytics.progress import Progress  # noqa: PLC0415
    from therapy_analytics.run import Writing  # noqa: PLC0415
    from therapy_analytics.run import run as run_pipeline  # noqa: PLC0415
    from therapy_analytics.settings import Settings  # noqa: PLC0415

    os.umask(0o077)
    progress = Progress()
    coder = TaggerOptions(
        kind=tagger, aim=tagger_aim, all_codes=all_codes, endpoint=endpoint, model=model,
        allow_remote=allow_remote and engine == "local",
        parallel=llm_parallel, timeout_s=llm_timeout, cache=llm_cache, codebooks=tuple(codebook or ()),
    )  # fmt: skip
    writing = Writing(
        form=_form(output_format),
        figures=_figures(plots, figure_format),
        report=report,
        explain=explain,
        processes=processes,
        scheduler=_scheduler(engine, scheduler),
        remote=allow_remote and scheduler is not None,
        on_files=progress.files,
        on_file=progress.file,
        on_total=progress.total,
        on_sessions=progress.sessions,
        on_problem=progress.problem,
        on_before=progress.say,
    )
    asked: dict[Extra, bool] = {
        "syntax": syntax or spacy_model is not None, "nclid": nclid, "recurrence": recurrence, "coupling": coupling,
    }  # fmt: skip
    try:
        if explain:
            explaining_tagger(coder)
        _say_who_hears(coder)
        result = run_pipeline(
            paths,
            out,
            settings=Settings(
                lexicons=tuple(map(load_lexicon, lexicon or ())),
                seed=seed,
                quotes=quotes,
                tagger=coder,
                extras=frozenset(extra for extra, wanted in asked.items() if wanted),
                spacy_model=spacy_model,
                repair_speakers=repair_speakers,
            ),
            read_options=read_options(columns, therapist, client, metadata, pattern, keep, split_by=split_by),
            writing=writing,
            replace=replace,
        )
    except TherapyAnalyticsError as error:
        progress.close()
        fail(str(error), NOTHING_DONE)
    except KeyboardInterrupt:
        progress.close()
        fail("Stopped. What is finished is kept: the same command goes on from there.", INTERRUPTED)
    progress.close()
    show_run(result, writing)
    raise typer.Exit(SOME_FILES_FAILED if result.problems else 0)


@app.command()
def inspect(
    paths: Paths,
    *,
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
    split_by: SplitBy = None,
    quotes: Annotated[bool, typer.Option("--quotes", help="Show the first turns, with their words.")] = False,
) -> None:
    """Show how each file would be read: reader, encoding, sessions, speakers, roles and why, what is left out."""
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415
    from therapy_analytics.readers import inspect as look  # noqa: PLC0415
    from therapy_analytics.readers._account import Account  # noqa: PLC0415

    options = read_options(columns, therapist, client, metadata, pattern, keep, split_by=split_by)
    account, failed = Account(options), False
    try:
        for one in look(paths, options=options, account=account):
            failed = failed or one.reading.problem is not None
            say(*one.lines(quotes=quotes))
        say(*account.lines())
    except TherapyAnalyticsError as error:
        fail(str(error), NOTHING_DONE)
    raise typer.Exit(SOME_FILES_FAILED if failed else 0)


@app.command()
def convert(
    paths: Paths,
    *,
    to: Annotated[str, typer.Option(help="The form: chat, csv, docx, jsonl or vtt.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the files; nothing in it is overwritten.")] = Path("converted"),
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
    split_by: SplitBy = None,
) -> None:
    """Write each session in another form, one file a session, and say what that form cannot hold."""
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415
    from therapy_analytics.readers._notes import counted  # noqa: PLC0415
    from therapy_analytics.writers import convert as write  # noqa: PLC0415

    os.umask(0o077)
    options = read_options(columns, therapist, client, metadata, pattern, keep, split_by=split_by)
    try:
        done = write(paths, to, out, options=options)
    except TherapyAnalyticsError as error:
        fail(str(error), NOTHING_DONE)
    _say_what_is_missing(done, to)
    say(f"{counted(len(done.files), 'file')} written to {out}")
    raise typer.Exit(SOME_FILES_FAILED if done.problems else 0)


@app.command()
def speakers(
    paths: Paths,
    *,
    out: Annotated[Path, typer.Option(help="A new or empty folder for the copies and the list of changes.")] = Path(
        "speakers"
    ),
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
) -> None:
    """Propose who said what, by the words: corrected copies and a list of the changes, for you to accept or not."""
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415
    from therapy_analytics.readers._notes import counted  # noqa: PLC0415
    from therapy_analytics.speakers import KINDS  # noqa: PLC0415
    from therapy_analytics.speakers import speakers as propose  # noqa: PLC0415

    os.umask(0o077)
    options = read_options(columns, therapist, client, metadata, pattern, keep)
    try:
        done = propose(paths, out, options=options)
    except TherapyAnalyticsError as error:
        fail(str(error), NOTHING_DONE)
    say(*(f"Not read: {problem}" for problem in done.problems), *done.told, err=True)
    say(*(f"{session}: {why}" for session, why in done.abstained))
    for kind, what in KINDS.items():
        if done.changes.get(kind):
            say(f"{done.changes[kind]:>7,} {what}")
    if done.files:
        say(f"{counted(len(done.files), 'file')} written to {out / 'transcripts'}, none of your own was touched.")
        say(f"{out / 'changes.csv'} lists each proposal with its probability: look at them before you use the copies.")
    raise typer.Exit(SOME_FILES_FAILED if done.problems else 0)


@app.command()
def redact(
    paths: Paths,
    *,
    out: Annotated[Path, typer.Option(help="A new or empty folder for the copies and the review list.")] = Path(
        "redacted"
    ),
    to: Annotated[str, typer.Option(help="The form of the copies: chat, csv, docx, jsonl or vtt.")] = "jsonl",
    key: Annotated[
        Path | None,
        typer.Option(
            help="Write which old id became which new one to this file, outside the folder. Without it, none is.",
            show_default=False,
        ),
    ] = None,
    quotes: Annotated[
        bool, typer.Option("--quotes", help="Write the words that were removed or left in into the review list.")
    ] = False,
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
    split_by: SplitBy = None,
) -> None:
    """Copy transcripts without names, places, dates, numbers: an assist. A person must read every copy."""
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415
    from therapy_analytics.readers._notes import counted  # noqa: PLC0415
    from therapy_analytics.redact import KINDS, RedactOptions  # noqa: PLC0415
    from therapy_analytics.redact import redact as write_copies  # noqa: PLC0415

    os.umask(0o077)
    options = read_options(columns, therapist, client, metadata, pattern, keep, split_by=split_by)
    try:
        done = write_copies(paths, out, options=RedactOptions(to=to, key=key, quotes=quotes), read_options=options)
    except TherapyAnalyticsError as error:
        fail(str(error), NOTHING_DONE)
    _say_what_is_missing(done, to)
    for kind, what in KINDS.items():
        if done.removed.get(kind):
            say(f"{done.removed[kind]:>7,} {what}")
    say(f"{counted(len(done.files), 'file')} written to {out / 'transcripts'}")
    say(f"Not everything is found. A person must read every copy; {out / 'review.csv'} says where to look:")
    say(f"{counted(done.left, 'place')} in the copies where something was left in that may identify somebody.")
    raise typer.Exit(SOME_FILES_FAILED if done.problems else 0)


def _say_what_is_missing(done: Conversion | Redaction, to: str) -> None:
    """Tell of files that could not be read, and of what the form of the copies cannot hold."""
    say(*(f"Not read: {problem}" for problem in done.problems), *done.told, err=True)
    for session, lost in done.losses:
        say(f"{session}: {to} cannot hold its {', '.join(lost)}.", err=True)


def _form(name: str) -> Form:
    if name not in ("csv", "parquet"):
        message = f"{name!r} is no form of output. Known: csv, parquet."
        raise typer.BadParameter(message, param_hint="--output-format")
    return "csv" if name == "csv" else "parquet"


def _figures(plots: bool | None, formats: list[str] | None) -> tuple[str, ...] | None:
    """Return the formats that were asked for; none with --no-plots; None where nothing was said."""
    if plots is False and formats:
        message = "--no-plots and --figure-format contradict each other. Leave one of them out."
        raise typer.BadParameter(message, param_hint="--figure-format")
    if plots is False:
        return ()
    return tuple(formats or ("png",)) if plots or formats else None


def _scheduler(engine: str, address: str | None) -> str | None:
    if engine not in ("local", "dask"):
        raise typer.BadParameter(f"{engine!r} is no engine. Known: local, dask.", param_hint="--engine")
    if (engine == "dask") != (address is not None):
        message = "--engine dask and --scheduler ADDRESS belong together."
        raise typer.BadParameter(message, param_hint="--engine")
    return address


def _say_who_hears(options: TaggerOptions) -> None:
    """Refuse an outside coder that cannot be, and say where the words go before they do."""
    from therapy_analytics.behaviours import load_coder  # noqa: PLC0415

    load_coder(options)
    if options.allow_remote:
        say(f"The words of the transcripts are sent to {options.endpoint}.", err=True)
        if options.endpoint and options.endpoint.startswith("http:"):
            say("They are not encrypted on the way; https would be.", err=True)
