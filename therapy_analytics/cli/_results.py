"""Commands on results and on codes of people: compare, agree, train, report, export, codebook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from therapy_analytics.cli._app import (
    INPUT,
    MEASURED,
    OUTPUT,
    SOME_FILES_FAILED,
    AllowMixed,
    Client,
    Columns,
    Keep,
    Metadata,
    Pattern,
    Replace,
    Results,
    SplitBy,
    Therapist,
    app,
    pairs,
    read_options,
    say,
    sentences,
)
from therapy_analytics.cli._coders import agree_with_each_other
from therapy_analytics.cli._tables import show_comparison

LEARNT = "What is learnt"


@app.command()
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
    allow_mixed: AllowMixed = False,
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
        Path, typer.Option(metavar="FOLDER", help="Where the tables and figures go.", rich_help_panel=OUTPUT)
    ] = Path("comparison"),
    replace: Replace = False,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw figures.", rich_help_panel=OUTPUT)] = True,
) -> None:
    """Say who does what more than whom, and how sure that is."""
    from therapy_analytics.compare import CompareOptions  # noqa: PLC0415
    from therapy_analytics.compare import compare as compare_groups  # noqa: PLC0415

    options = CompareOptions(
        cluster=cluster,
        where=tuple(where or ()),
        permutations=permutations,
        seed=seed,
        allow_mixed=allow_mixed,
        gold=gold,
    )
    with sentences():
        found = compare_groups(results, by=by, against=against, measures=measures, options=options)
        found.write(out, plots=plots, replace=replace, on_before=_say)
    show_comparison(found.words, out, plots=plots)


@app.command()
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
            help="Of two people's codes: the sample, for the page's words.",
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
    blank: Annotated[
        str,
        typer.Option(
            metavar="none|missing",
            help="What an empty cell means: none of the codes, or not coded.",
            rich_help_panel=INPUT,
        ),
    ] = "none",
    transcripts: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Match rows by their words in these transcripts.",
            show_default=False,
            rich_help_panel=INPUT,
        ),
    ] = None,
    epsilon: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            help="Margin of the alternative-annotator test: 0.2 beside experts, 0.1 beside crowd workers.",
            rich_help_panel=MEASURED,
        ),
    ] = 0.15,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the tables and figures go.", rich_help_panel=OUTPUT)
    ] = Path("agreement"),
    replace: Replace = False,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw figures.", rich_help_panel=OUTPUT)] = True,
) -> None:
    """Say how far the machine's codes agree with people's, and people's with each other's."""
    from therapy_analytics.agreement import NAMES, GoldOptions  # noqa: PLC0415
    from therapy_analytics.agreement import agreement as agreement_of  # noqa: PLC0415

    with sentences():
        options = GoldOptions(
            columns=pairs(columns, NAMES, "--columns"),
            labels=labels, book=book, blank=blank, transcripts=transcripts,
        )  # fmt: skip
    if results.is_file() or (results.suffix and not results.exists()):  # a file of codes, or one that is not there
        agree_with_each_other(results, gold, page=page, sample=sample, out=out, replace=replace, options=options)
        return
    if page or sample is not None:
        raise typer.BadParameter("They are for two files of codes, not for results.", param_hint="--page, --sample")
    with sentences():
        found = agreement_of(results, gold, options=options, epsilon=epsilon)
        found.write(out, figures=plots, replace=replace, on_before=_say)
    say(*(line for told in found.summary for line in told.split("\n")))
    say(f"{out}: agreement.md (to cite), codes.csv, pairs.csv, sessions.csv, calibration.csv, alt_test.csv")


@app.command()
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
    blank: Annotated[
        str,
        typer.Option(
            metavar="none|missing",
            help="What an empty cell means: none of the codes, or not coded.",
            rich_help_panel=INPUT,
        ),
    ] = "none",
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
    split_by: SplitBy = None,
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
    from therapy_analytics.agreement import NAMES  # noqa: PLC0415
    from therapy_analytics.training import Recalibration, Training, TrainOptions  # noqa: PLC0415
    from therapy_analytics.training import recalibrate as shift  # noqa: PLC0415
    from therapy_analytics.training import train as learn  # noqa: PLC0415

    columns_of_codes = pairs(code_columns, NAMES, "--code-columns")
    with sentences():
        options = TrainOptions(
            codebook=codebook, columns=columns_of_codes, blank=blank, only=tuple(only or ()), group=group,
            warm_start=not cold, beside=beside, seed=seed,
        )  # fmt: skip
        reading = read_options(columns, therapist, client, metadata, pattern, keep, split_by=split_by)
        found: Training | Recalibration
        if recalibrate:
            found = shift(codes, transcripts, out, options=options, reading=reading, replace=replace)
        else:
            found = learn(codes, transcripts, out, options=options, read_options=reading, replace=replace)
    say(*(line for told in found.words for line in told.split("\n")))
    raise typer.Exit(0 if found.out else SOME_FILES_FAILED)


@app.command()
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


@app.command()
def export(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS",
            help="A folder that tanalyze run wrote; for codes_csv and codes_jsonl also a project of another program.",
            show_default=False,
        ),
    ],
    *,
    to: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="Tables: csv, stata, spss or parquet. Codes: codes_csv, codes_jsonl; with words, qdpx or elan.",
        ),
    ] = "csv",
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the files go.")] = Path("export"),
    wide: Annotated[
        bool | None,
        typer.Option(
            "--wide/--no-wide",
            help="Also one table with a row per session and all measures as columns.",
            show_default="yes for csv",
        ),
    ] = None,
    imputations: Annotated[
        int,
        typer.Option(
            metavar="N", help="Also N data sets with codes drawn from their probabilities, for multiple imputation."
        ),
    ] = 0,
    transcripts: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="For qdpx and elan: where the words are.", show_default=False),
    ] = None,
    gold: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="For codes: codes that people gave. Repeatable.", show_default=False),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace exports of other results.")] = False,
) -> None:
    """Write the tables of a run for a spreadsheet, R, Stata or SPSS, or its codes for programs such as NVivo."""
    from therapy_analytics.exports import WITH_WORDS  # noqa: PLC0415
    from therapy_analytics.exports import export as export_tables  # noqa: PLC0415

    with sentences():
        files = export_tables(
            results, out, to=to, wide=wide, imputations=imputations, transcripts=transcripts, gold=tuple(gold or ()),
            replace=replace, on_before=_say,
        )  # fmt: skip
    say(*map(str, files))
    if to in WITH_WORDS:
        say(f"{out} holds the words of the sessions. Keep it as you keep the transcripts.")


@app.command()
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
    from therapy_analytics.behaviours import codebook_named  # noqa: PLC0415
    from therapy_analytics.cells import csv_of_frame  # noqa: PLC0415
    from therapy_analytics.codebook_table import codes_table  # noqa: PLC0415
    from therapy_analytics.language import EXTRAS  # noqa: PLC0415
    from therapy_analytics.run import analyze  # noqa: PLC0415

    with sentences():
        named = [codebook_named(book) for book in books or ()]
        table = codes_table(named) if named else analyze([], measures=EXTRAS).codebook
    say(*csv_of_frame(table).removesuffix("\n").split("\n"))


def _say(sentence: str) -> None:
    """Print a message that is no result."""
    say(sentence, err=True)
