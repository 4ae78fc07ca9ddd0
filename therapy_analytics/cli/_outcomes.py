"""The command that joins sessions with the scores of clients: outcomes."""

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
    inside,
    key_in,
    names_in,
    pairs,
    remark,
    sentences,
)
from therapy_analytics.cli._tables import show_outcomes


@app.command(rich_help_panel=RESULTS)
def outcomes(
    results: Results,
    *,
    outcomes: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="The scores of clients: CSV, xlsx, SPSS or Stata.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ],
    columns: Annotated[
        str,
        typer.Option(
            metavar="NAME=COLUMN,...",
            help="Which column holds what, if not recognized: client=Case,number=Nr.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = "",
    better: Annotated[
        str,
        typer.Option(
            metavar="SCALES",
            help="Your own scales of which higher is better, with commas.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = "",
    worse: Annotated[
        str,
        typer.Option(
            metavar="SCALES",
            help="Your own scales of which higher is worse, with commas.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = "",
    scales: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Range, reliability and cutoff of your own scales.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Codes that people gave to the turns that sample drew, for slopes that hold whatever the tagger does.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = None,
    pseudonyms: Key = None,
    allow_mixed: AllowMixed = False,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Measures to relate to the scores, as for compare. Repeatable.",
            show_default="those of sessions.csv",
            rich_help_panel=MEASURED,
        ),
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="client|counselor", help="Whose courses are shown.", rich_help_panel=MEASURED)
    ] = "client",
    show: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Measures below the scores in figures, with commas.",
            show_default="reflections, questions, change talk",
            rich_help_panel=MEASURED,
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the page, tables and figures go.",
            show_default="outcomes in the first of RESULTS",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    replace: Replace = False,
    plots: Annotated[
        bool, typer.Option("--plots/--no-plots", help="Draw figures and write the page.", rich_help_panel=OUTPUT)
    ] = True,
) -> None:
    """Show each client's course, and what in the talk goes with the scores."""
    from therapy_analytics.core.folders import alone_in  # noqa: PLC0415
    from therapy_analytics.run.folders import write  # noqa: PLC0415
    from therapy_analytics.stats.outcomes import NAMES, OutcomeOptions  # noqa: PLC0415
    from therapy_analytics.stats.outcomes import outcomes as outcomes_of  # noqa: PLC0415

    out = out or inside(results[0], "outcomes")
    with sentences(), alone_in(out):
        options = OutcomeOptions(
            columns=pairs(columns, NAMES, "--columns"), better=names_in(better), worse=names_in(worse), scales=scales,
            measures=tuple(measures or ()), show=names_in(show), by=by, gold=gold,
            allow_mixed=allow_mixed, pseudonyms=key_in(pseudonyms),
        )  # fmt: skip
        found = outcomes_of(results, outcomes, options=options)
        write(found, out, plots=plots, replace=replace, on_before=remark, on_problem=remark)
    show_outcomes(found.words, out, plots=plots and len(found.lines) > 0)
