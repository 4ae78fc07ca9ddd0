"""Commands for people who code: code, and the part of agree that compares two people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from therapy_analytics.cli._app import PEOPLE, app, remark, say, sentences

if TYPE_CHECKING:
    from therapy_analytics.stats.agreement import GoldOptions


@app.command(rich_help_panel=PEOPLE)
def code(
    sample: Annotated[Path, typer.Argument(help="Folder that tanalyze sample wrote.", show_default=False)],
    *,
    coder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Who codes: letters, digits, - and _. It names the files.",
            show_default=False,
        ),
    ],
    book: Annotated[
        str | None,
        typer.Option(
            metavar="BOOK",
            help="One codebook only, of the package or your own file. Default: all of the sample.",
            show_default=False,
        ),
    ] = None,
    training: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="30 turns with agreed answers first, such as settled.csv of an earlier sample.",
            show_default=False,
        ),
    ] = None,
    training_sample: Annotated[
        Path | None,
        typer.Option(
            help="The sample that the agreed answers are about. Default: the folder that they are in.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a page on which one person codes the turns of a sample, blind to the machine and to other coders."""
    from therapy_analytics.coding import coding_page  # noqa: PLC0415

    if training is None and training_sample is not None:
        raise typer.BadParameter(
            "It says where the words of --training are. Give that, too.", param_hint="--training-sample"
        )
    with sentences():
        page = coding_page(sample, coder, book=book, training=training, training_sample=training_sample)
    say(
        f"{page}: for {coder} alone, to open in any browser. It holds the words of these turns.",
        f"It hands out codes_{page.stem.removeprefix('code_')}.csv, which holds no words of the transcripts.",
    )


def agree_with_each_other(
    first: Path, second: Path | None, *, page: bool, sample: Path | None, out: Path, replace: bool, options: GoldOptions
) -> None:
    """Say how far two people agree, and write what they differ on."""
    from therapy_analytics.coding import between_coders  # noqa: PLC0415
    from therapy_analytics.core.folders import alone_in  # noqa: PLC0415

    if second is None:
        raise typer.BadParameter("Give the codes of a second person, too.", param_hint="CODES")
    with sentences(), alone_in(out):
        found, settling = between_coders(first, second, sample=sample, options=options)
        found.write(out, page=settling if page else None, replace=replace, on_before=remark)
    say(*(line for told in found.summary for line in told.split("\n")))
    say(f"{out}: agreement.md (to cite), coders.csv, disagreements.csv")
    if page:
        held = "It holds the words of the sample." if sample else "It holds no words: give --sample to have them in it."
        say(f"{out / 'adjudicate.html'}: to settle the differences, in any browser. {held}")
