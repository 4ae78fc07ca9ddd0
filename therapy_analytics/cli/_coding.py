"""The command that draws turns for people to code: sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from therapy_analytics.cli._app import (
    INPUT,
    OUTPUT,
    PEOPLE,
    Key,
    Replace,
    app,
    beside,
    key_in,
    names_in,
    remark,
    say,
    sentences,
)

DRAWN = "Which turns"


@app.command(rich_help_panel=PEOPLE)
def sample(
    results: Annotated[Path, typer.Argument(help="Folder that tanalyze run wrote.", show_default=False)],
    *,
    transcripts: Annotated[
        Path | None,
        typer.Option(
            help="What the results were made from, a file or a folder. Not needed after run --quotes.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = None,
    pseudonyms: Key = None,
    codes: Annotated[
        str,
        typer.Option(
            help="For whose rates turns are drawn: codebooks (mi, process) or codes (mi_reflection).",
            rich_help_panel=DRAWN,
        ),
    ] = "mi",
    turns: Annotated[int, typer.Option(help="How many turns people will code.", rich_help_panel=DRAWN)] = 300,
    by: Annotated[
        str | None,
        typer.Option(
            help="Column of sessions.csv whose groups will be compared, such as counselor: each gets its share.",
            show_default=False,
            rich_help_panel=DRAWN,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Whose sessions belong together: a column, or session. As for compare.",
            show_default=False,
            rich_help_panel=DRAWN,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Random seed of the draw: the same seed gives the same turns.", rich_help_panel=DRAWN),
    ] = 0,
    about: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of sessions.csv that coders see; it must not give away the groups. Repeatable.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the sample. An earlier sample of the same results is replaced.",
            show_default="RESULTS_sample",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    replace: Replace = False,
) -> None:
    """Draw turns for people to code, where they count most, and say what interval they will buy."""
    from therapy_analytics.core.folders import alone_in  # noqa: PLC0415
    from therapy_analytics.stats.sampling import SampleOptions  # noqa: PLC0415
    from therapy_analytics.stats.sampling import sample as draw  # noqa: PLC0415

    out = out or beside(results, "sample")
    with sentences(), alone_in(out):
        options = SampleOptions(
            codes=names_in(codes), turns=turns, by=by, cluster=cluster, seed=seed, transcripts=transcripts,
            about=tuple(about or ()), pseudonyms=key_in(pseudonyms),
        )  # fmt: skip
        found = draw(results, options=options)
        found.write(out, replace=replace, on_before=remark)
    say(*str(found).split("\n"))
    say(f"{out}/turns.json holds the words of the turns to code; sample.csv and design.json hold none.")
    say(f"Next: tanalyze code {out} --coder NAME makes a page for each person who codes.")
