"""Commands on results: compare, report, export, codebook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from therapy_analytics.cli._app import (
    INPUT,
    MEASURED,
    OUTPUT,
    RESULTS,
    AllowMixed,
    Key,
    Replace,
    Results,
    app,
    beside,
    inside,
    key_in,
    remark,
    say,
    sentences,
)
from therapy_analytics.cli._tables import show_comparison


@app.command(rich_help_panel=RESULTS)
def compare(
    results: Results,
    *,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Only these sessions; != for all others. Repeatable.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Codes that people gave to some turns, for rates that hold whatever the tagger does.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = None,
    pseudonyms: Key = None,
    allow_mixed: AllowMixed = False,
    include_learnt: Annotated[
        bool,
        typer.Option(
            "--include-learnt",
            help="With --gold, also count sessions that the tagger learnt from; beside a reference, those in it.",
            rich_help_panel=INPUT,
        ),
    ] = False,
    by: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="Whose groups are compared: counselor, source, or any column of sessions.csv.",
            rich_help_panel=MEASURED,
        ),
    ] = "counselor",
    against: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="pairs, others, reference, reference:NAME, or one of the groups.",
            show_default="pairs; of more than three groups, others",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="core, a family (process, synchrony, alliance), all, or names. Repeatable.",
            show_default="core",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Whose sessions count as one: a column, or session.",
            show_default="client or counselor",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    crossed: Annotated[
        bool,
        typer.Option(
            "--crossed",
            help="Clients of one name are one person, also under several counselors.",
            rich_help_panel=MEASURED,
        ),
    ] = False,
    permutations: Annotated[
        int,
        typer.Option(
            metavar="N", help="Random permutations, where there are too many to count all.", rich_help_panel=MEASURED
        ),
    ] = 10_000,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed of the permutations.", rich_help_panel=MEASURED)
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the tables and figures go.",
            show_default="comparison in the first of RESULTS",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    replace: Replace = False,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw figures.", rich_help_panel=OUTPUT)] = True,
) -> None:
    """Say who does what more than whom, and how sure that is."""
    from therapy_analytics.core.folders import alone_in  # noqa: PLC0415
    from therapy_analytics.run.folders import write  # noqa: PLC0415
    from therapy_analytics.stats.compare import CompareOptions  # noqa: PLC0415
    from therapy_analytics.stats.compare import compare as compare_groups  # noqa: PLC0415

    out = out or inside(results[0], "comparison")
    with sentences(), alone_in(out):
        options = CompareOptions(
            cluster=cluster, crossed=crossed, where=tuple(where or ()), permutations=permutations, seed=seed,
            allow_mixed=allow_mixed, gold=gold, pseudonyms=key_in(pseudonyms), learnt=include_learnt,
        )  # fmt: skip
        found = compare_groups(results, by=by, against=against, measures=measures, options=options)
        write(found, out, plots=plots, replace=replace, on_before=remark, on_problem=remark)
    show_comparison(found.words, out, plots=plots)


@app.command(rich_help_panel=RESULTS)
def report(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A folder that tanalyze run wrote.", show_default=False)
    ],
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page.", show_default="report.html in the folder")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace another file of that name.")] = False,
    quotes: Annotated[
        bool, typer.Option("--quotes", help="Show what was said; the run must have had --quotes, too.")
    ] = False,
    most_sessions: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many sessions get a view of their own; the table has all.")
    ] = 300,
) -> None:
    """Write report.html again, from the results of a run."""
    from therapy_analytics.report import report as write  # noqa: PLC0415

    with sentences():
        page = write(results, out=out, quotes=quotes, most_sessions=most_sessions, replace=replace)
    held = "the words of the transcripts" if quotes else "no words of the transcripts"
    say(f"{page}: open it in a browser. It holds {held}.")


@app.command(rich_help_panel=RESULTS)
def export(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="A folder that tanalyze run wrote.",
            show_default=False,
        ),
    ],
    *,
    to: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="Tables: csv, stata, spss or parquet. Codes that people gave: codes_csv, codes_jsonl.",
        ),
    ] = "csv",
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the files go.", show_default="RESULTS_export")
    ] = None,
    wide: Annotated[
        bool | None,
        typer.Option(
            "--wide/--no-wide",
            help="Also one table with a row per session and all measures as columns.",
            show_default="yes for csv",
        ),
    ] = None,
    gold: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="For codes: codes that people gave. Repeatable.", show_default=False),
    ] = None,
    pseudonyms: Key = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace exports of other results.")] = False,
) -> None:
    """Write the tables of a run for a spreadsheet, R, Stata or SPSS, or the codes that people gave."""
    from therapy_analytics.stats.exports import export as export_tables  # noqa: PLC0415

    out = out or beside(results, "export")
    with sentences():
        files = export_tables(
            results, out, to=to, wide=wide, gold=tuple(gold or ()), pseudonyms=key_in(pseudonyms),
            replace=replace, on_before=remark,
        )  # fmt: skip
    say(*map(str, files))


@app.command(rich_help_panel=RESULTS)
def codebook(
    books: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BOOKS",
            help="Print the codes of these books instead: bolt, epitome, mi, misc, miti, process, or your file.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print what every column of the tables means, or the codes of codebooks, as CSV."""
    from therapy_analytics.codes import codebook_named  # noqa: PLC0415
    from therapy_analytics.core.cells import csv_of_frame  # noqa: PLC0415
    from therapy_analytics.results.codebook_table import codes_table  # noqa: PLC0415
    from therapy_analytics.run import analyze  # noqa: PLC0415
    from therapy_analytics.text import EXTRAS  # noqa: PLC0415

    with sentences():
        named = [codebook_named(book) for book in books or ()]
        table = codes_table(named) if named else analyze([], measures=EXTRAS).codebook
    say(*csv_of_frame(table).removesuffix("\n").split("\n"))
