"""Commands on transcripts that measure nothing: inspect, convert, speakers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from therapy_analytics.cli._app import (
    OUTPUT,
    SOME_FILES_FAILED,
    TRANSCRIPTS,
    Client,
    Columns,
    Keep,
    Key,
    Metadata,
    Paths,
    Pattern,
    SplitBy,
    Therapist,
    app,
    key_in,
    read_options,
    say,
    sentences,
)


@app.command(rich_help_panel=TRANSCRIPTS)
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
    pseudonyms: Key = None,
    quotes: Annotated[
        bool, typer.Option("--quotes", help="Show the first turns, with their words.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Show how files would be read: sessions, speakers, roles and why, what is left out."""
    from therapy_analytics.readers import inspect as look  # noqa: PLC0415
    from therapy_analytics.readers.account import Account  # noqa: PLC0415

    with sentences():
        options = read_options(
            columns, therapist, client, metadata, pattern, keep, split_by=split_by, pseudonyms=key_in(pseudonyms)
        )
        account, failed = Account(options), False
        for one in look(paths, options=options, account=account):
            failed = failed or one.reading.problem is not None
            say(*one.lines(quotes=quotes))
        say(*account.lines())
    raise typer.Exit(SOME_FILES_FAILED if failed else 0)


@app.command(rich_help_panel=TRANSCRIPTS)
def convert(
    paths: Paths,
    *,
    to: Annotated[
        str,
        typer.Option(metavar="FORMAT", help="csv or jsonl.", show_default=False, rich_help_panel=OUTPUT),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the files go; nothing is overwritten.", rich_help_panel=OUTPUT)
    ] = Path("converted"),
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
    split_by: SplitBy = None,
    pseudonyms: Key = None,
) -> None:
    """Write transcripts in another format, one file per session."""
    from therapy_analytics.core.printable import counted  # noqa: PLC0415
    from therapy_analytics.readers.writers import convert as write  # noqa: PLC0415

    with sentences():
        options = read_options(
            columns, therapist, client, metadata, pattern, keep, split_by=split_by,
            pseudonyms=key_in(pseudonyms, apart=(*paths, out)),
        )  # fmt: skip
        done = write(paths, to, out, options=options)
    say(*(f"Not read: {problem}" for problem in done.problems), *done.told, err=True)
    say(f"{counted(len(done.files), 'file')} written to {out}")
    raise typer.Exit(SOME_FILES_FAILED if done.problems else 0)


@app.command(rich_help_panel=TRANSCRIPTS)
def speakers(
    paths: Paths,
    *,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="A new or empty folder for the copies and the list of changes.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path("speakers"),
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
) -> None:
    """Propose who said what, by the words: corrected copies and a list of changes to review."""
    from therapy_analytics.core.printable import counted  # noqa: PLC0415
    from therapy_analytics.speakers import KINDS  # noqa: PLC0415
    from therapy_analytics.speakers import speakers as propose  # noqa: PLC0415

    options = read_options(columns, therapist, client, metadata, pattern, keep)
    with sentences():
        done = propose(paths, out, options=options)
    say(*(f"Not read: {problem}" for problem in done.problems), *done.told, err=True)
    say(*(f"{session}: {why}" for session, why in done.abstained))
    for kind, what in KINDS.items():
        if done.changes.get(kind):
            say(f"{done.changes[kind]:>7,} {what}")
    if done.files:
        say(f"{counted(len(done.files), 'file')} written to {out / 'transcripts'}, none of your own was touched.")
        say(f"{out / 'changes.csv'} lists each proposal with its probability: look at them before you use the copies.")
    raise typer.Exit(SOME_FILES_FAILED if done.problems else 0)
