"""The command that joins sessions with the scores of clients: outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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


def _option(metavar: str, told: str, panel: str = INPUT, *, default: bool | str = False) -> Any:
    return typer.Option(metavar=metavar, help=told, show_default=default, rich_help_panel=panel)


@app.command(rich_help_panel=RESULTS)
def outcomes(
    results: Results,
    *,
    outcomes: Annotated[Path, _option("FILE", "The scores of clients: CSV, xlsx, SPSS or Stata.")],
    columns: Annotated[
        str, _option("NAME=COLUMN,...", "Which column holds what, if not recognized: client=Case,number=Nr.")
    ] = "",
    better: Annotated[str, _option("SCALES", "Your own scales of which higher is better, with commas.")] = "",
    worse: Annotated[str, _option("SCALES", "Your own scales of which higher is worse, with commas.")] = "",
    scales: Annotated[Path | None, _option("CSV", "Range, reliability and cutoff of your own scales.")] = None,
    gold: Annotated[
        Path | None,
        _option(
            "FILE",
            "Codes that people gave to the turns that sample drew, for slopes that hold whatever the tagger does.",
        ),
    ] = None,
    pseudonyms: Key = None,
    allow_mixed: AllowMixed = False,
    measures: Annotated[
        list[str] | None,
        _option(
            "NAMES",
            "Measures to relate to the scores, as for compare. Repeatable.",
            MEASURED,
            default="those of sessions.csv",
        ),
    ] = None,
    by: Annotated[str, _option("client|counselor", "Whose courses are shown.", MEASURED, default=True)] = "client",
    show: Annotated[
        str,
        _option(
            "NAMES",
            "Measures below the scores in figures, with commas.",
            MEASURED,
            default="reflections, questions, change talk",
        ),
    ] = "",
    out: Annotated[
        Path | None,
        _option("FOLDER", "Where the page, tables and figures go.", OUTPUT, default="outcomes in the first of RESULTS"),
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
