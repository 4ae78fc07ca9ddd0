"""Tables and texts in the terminal: what a run found, and what comparisons and outcomes say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from therapy_analytics.run import RunResult, Writing

MOST_ROWS, ROWS_OF_MANY = 30, 20
"""A table of more rows than the first shows as many as the second, so that it does not scroll everything away."""


def show_run(result: RunResult, writing: Writing) -> None:
    """Print the first sessions, where the results are, and what to check."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from therapy_analytics.cli.progress import Terminal  # noqa: PLC0415
    from therapy_analytics.core.printable import counted  # noqa: PLC0415
    from therapy_analytics.run.summary import before_the_table, columns_shown, pointers  # noqa: PLC0415

    shown, caption = columns_shown(result)
    frame = result.columns(("session_id", "counselor", "n_turns", *(name for _, name in shown)))
    console = Terminal(width=None if sys.stdout.isatty() else 100)
    for line in before_the_table(result):
        console.print(line, markup=False, highlight=False)
    table = Table(
        title=f"{counted(len(frame), 'session')}, {int(frame['n_turns'].sum())} turns",
        title_justify="left",
        caption_justify="left",
    )
    for heading in ("session", "counselor"):
        table.add_column(heading)
    for heading in ("turns", *(heading for heading, _ in shown)):
        table.add_column(Text(heading), justify="right")  # the name of a code may look like markup
    n_shown = len(frame) if len(frame) <= MOST_ROWS else ROWS_OF_MANY
    for row in frame.head(n_shown).to_dict("records"):
        rates = [f"{row[name]:.0%}" if row[name] == row[name] else "" for _, name in shown]
        names = (Text(str(row[name])) for name in ("session_id", "counselor"))  # a name may look like markup
        table.add_row(*names, f"{row['n_turns']:.0f}", *rates)
    if len(frame) > n_shown:
        table.add_row(f"\N{HORIZONTAL ELLIPSIS} and {len(frame) - n_shown} more in sessions.csv")
    table.caption = caption
    console.print(table)
    for line in pointers(result, writing):
        console.print(line, markup=False, highlight=False)


def show_comparison(words: str, out: Path, *, plots: bool) -> None:
    """Print what a comparison says, without how it was done, which is in its file."""
    files = "comparison.md (these words), comparison.csv, groups.csv" + (", a figure a family" if plots else "")
    _show_words(words.partition("## How it was done")[0], f"{out}: {files}")


def show_outcomes(words: str, out: Path, *, plots: bool) -> None:
    """Print what courses and outcomes say in short, and where the rest stands."""
    files = "outcomes.md (all that was found, and a paragraph for a paper), associations.csv, course.csv, unmatched.csv"
    page = f"{out}/course.html: the course of each, to open in a browser\n" if plots else ""
    _show_words(words.partition("## Clients")[0].partition("## What")[0], f"{page}{out}: {files}")


def _show_words(words: str, files: str) -> None:
    """Print words that are Markdown, and a line on where files are."""
    from rich.markdown import Markdown  # noqa: PLC0415

    from therapy_analytics.cli.progress import Terminal  # noqa: PLC0415

    console = Terminal(width=None if sys.stdout.isatty() else 100)
    console.print(Markdown(words))
    console.print(files, markup=False, highlight=False)
