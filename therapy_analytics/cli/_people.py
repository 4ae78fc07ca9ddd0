"""Commands on codes of people: agree, train."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from therapy_analytics.cli._app import (
    INPUT,
    MEASURED,
    OUTPUT,
    PEOPLE,
    SOME_FILES_FAILED,
    Client,
    Columns,
    Keep,
    Key,
    Metadata,
    Pattern,
    Replace,
    SplitBy,
    Therapist,
    app,
    inside,
    key_in,
    pairs,
    read_options,
    remark,
    say,
    sentences,
)
from therapy_analytics.cli._coders import agree_with_each_other

LEARNT = "What is learnt"
Blank = Annotated[
    str,
    typer.Option(
        metavar="none|missing",
        help="What an empty cell means: none of the codes, or not coded.",
        rich_help_panel=INPUT,
    ),
]


@app.command(rich_help_panel=PEOPLE)
def agree(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="A folder that tanalyze run wrote; or a file of one person's codes.",
            show_default=False,
        ),
    ],
    gold: Annotated[
        Path | None,
        typer.Argument(
            metavar="CODES",
            help="Codes that people gave, CSV or xlsx. Without it, those in the transcripts.",
            show_default=False,
        ),
    ] = None,
    *,
    page: Annotated[
        bool,
        typer.Option("--page", help="Of two people's codes: also write adjudicate.html.", rich_help_panel=OUTPUT),
    ] = False,
    sample: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The sample that was coded. Of results: says anew how closely it will tell each rate.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="CSV",
            help="What the coders' labels mean: columns label and code.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = None,
    book: Annotated[
        str,
        typer.Option(
            metavar="BOOK",
            help="Whose labels they are: mi, bolt, misc, miti, process or epitome.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = "",
    columns: Annotated[
        str,
        typer.Option(
            metavar="NAME=COLUMN,...",
            help="Which column holds what, if not recognized: session_id=Case,turn=Nr.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = "",
    blank: Blank = "none",
    transcripts: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Match rows by their words in these transcripts.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = None,
    pseudonyms: Key = None,
    include_learnt: Annotated[
        bool,
        typer.Option(
            "--include-learnt", help="Also count sessions that the tagger learnt from.", rich_help_panel=MEASURED
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the tables and figures go.",
            show_default="agreement in RESULTS, or beside the first file",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    replace: Replace = False,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw figures.", rich_help_panel=OUTPUT)] = True,
) -> None:
    """Say how far the machine's codes agree with people's, and people's with each other's."""
    from therapy_analytics.core.folders import alone_in  # noqa: PLC0415
    from therapy_analytics.run.folders import write  # noqa: PLC0415
    from therapy_analytics.stats.agreement import NAMES, GoldOptions  # noqa: PLC0415
    from therapy_analytics.stats.agreement import agreement as agreement_of  # noqa: PLC0415
    from therapy_analytics.stats.sampling import renewed_promise  # noqa: PLC0415

    with sentences():
        options = GoldOptions(
            columns=pairs(columns, NAMES, "--columns"),
            labels=labels, book=book, blank=blank, transcripts=transcripts, pseudonyms=key_in(pseudonyms),
        )  # fmt: skip
    out = out or inside(results, "agreement")
    if results.is_file() or (results.suffix and not results.exists()):  # a file of codes, or one that is not there
        agree_with_each_other(results, gold, page=page, sample=sample, out=out, replace=replace, options=options)
        return
    if page:
        raise typer.BadParameter("It is for two files of codes, not for results.", param_hint="--page")
    if sample is not None and gold is None:
        raise typer.BadParameter("It is for codes of a sample: name their file.", param_hint="--sample")
    with sentences(), alone_in(out):
        found = agreement_of(results, gold, options=options, learnt=include_learnt)
        write(found, out, plots=plots, replace=replace, on_before=remark, on_problem=remark)
        promise = renewed_promise(results, gold, sample, options=options) if sample and gold else ""
    say(*(line for told in found.summary for line in told.split("\n")))
    say(*(["", *promise.split("\n")] if promise else []))
    say(f"{out}: agreement.md (to cite), codes.csv, pairs.csv, sessions.csv, calibration.csv")


@app.command(rich_help_panel=PEOPLE)
def train(
    codes: Annotated[
        Path, typer.Argument(metavar="CODES", help="Codes that people gave, CSV or xlsx.", show_default=False)
    ],
    transcripts: Annotated[
        Path, typer.Argument(metavar="TRANSCRIPTS", help="The transcripts that they coded.", show_default=False)
    ],
    *,
    recalibrate: Annotated[
        bool,
        typer.Option(
            "--recalibrate",
            help="Shift the package's tagger to these codes, where that pays; from 100 turns.",
            rich_help_panel=LEARNT,
        ),
    ] = False,
    code_columns: Annotated[
        str,
        typer.Option(
            metavar="NAME=COLUMN,...",
            help="Which column of the codes holds what: session_id=Case,code=Label.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = "",
    blank: Blank = "none",
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
    split_by: SplitBy = None,
    pseudonyms: Key = None,
    codebook: Annotated[
        str | None,
        typer.Option(
            metavar="BOOK",
            help="What the labels are: your own file (TOML) or a built-in book.",
            show_default=False,
            rich_help_panel=LEARNT,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Learn this code alone, such as mi_question. Repeatable.",
            show_default=False,
            rich_help_panel=LEARNT,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Test on unseen people, not only unseen sessions: counselor, client, ...",
            show_default=False,
            rich_help_panel=LEARNT,
        ),
    ] = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="Do not build on what the package's tagger knows.", rich_help_panel=LEARNT)
    ] = False,
    beside: Annotated[
        str,
        typer.Option(
            metavar="TAGGER",
            help="Which tagger of the package is scored beside it: accurate or fast.",
            rich_help_panel=LEARNT,
        ),
    ] = "accurate",
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Random seed of the folds.", rich_help_panel=LEARNT)
    ] = 0,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the model goes.", rich_help_panel=OUTPUT)] = Path(
        "my_model"
    ),
    replace: Replace = False,
) -> None:
    """Learn codes from turns that people coded, and say how good the model is."""
    from therapy_analytics.stats.agreement import NAMES  # noqa: PLC0415
    from therapy_analytics.stats.training import Recalibration, Training, TrainOptions  # noqa: PLC0415
    from therapy_analytics.stats.training import recalibrate as shift  # noqa: PLC0415
    from therapy_analytics.stats.training import train as learn  # noqa: PLC0415

    columns_of_codes = pairs(code_columns, NAMES, "--code-columns")
    with sentences():
        options = TrainOptions(
            codebook=codebook, columns=columns_of_codes, blank=blank, only=tuple(only or ()), group=group,
            warm_start=not cold, beside=beside, seed=seed,
        )  # fmt: skip
        reading = read_options(
            columns, therapist, client, metadata, pattern, keep, split_by=split_by, pseudonyms=key_in(pseudonyms)
        )
        found: Training | Recalibration
        if recalibrate:
            found = shift(codes, transcripts, out, options=options, reading=reading, replace=replace)
        else:
            found = learn(codes, transcripts, out, options=options, read_options=reading, replace=replace)
    say(*(line for told in found.words for line in told.split("\n")))
    raise typer.Exit(0 if found.out else SOME_FILES_FAILED)
