"""Commands on results and on codes of people: compare, agree, train, report, export, codebook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from therapy_analytics.cli._app import (
    SOME_FILES_FAILED,
    Client,
    Columns,
    Keep,
    Metadata,
    Pattern,
    Replace,
    SplitBy,
    Therapist,
    app,
    pairs,
    read_options,
    say,
    sentences,
)
from therapy_analytics.cli._tables import show_comparison


@app.command()
def compare(
    results: Annotated[
        list[Path],
        typer.Argument(help="Folders that tanalyze run wrote; transcripts are not needed.", show_default=False),
    ],
    *,
    by: Annotated[
        str, typer.Option(help="Column of sessions.csv whose groups are compared: counselor, source, model, ...")
    ] = "counselor",
    against: Annotated[
        str | None,
        typer.Option(
            help="pairs (default of up to three groups), others (each against all others: default of more), reference "
            "(skilled and unskilled people), reference:NAME (one of the shipped profiles, such as gpt_5_chat), or one "
            "of the groups.",
            show_default=False,
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            help="core, process, synchrony, alliance, all, names, or patterns ('therapist_*_rate'). May be repeated. "
            "Default: core, the eight that people ask for first; of these questions, reflections, and advice or "
            "information are tested, the others shown. Whatever else is named is tested.",
            show_default=False,
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only sessions with column=value, or column!=value. May be repeated.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Whose sessions belong together and count once: a column, or session. Default: client where "
            "counselors are compared, else counselor.",
            show_default=False,
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            help="Codes that people gave to some turns: adds rates whose intervals hold however the tagger errs.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for what is found. An earlier comparison of the same results is replaced.")
    ] = Path("comparison"),
    replace: Replace = False,
    permutations: Annotated[
        int,
        typer.Option(help="Random permutations where there are too many to count all: more is steadier and slower."),
    ] = 10_000,
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed of the permutations: the same seed gives the same p.")
    ] = 0,
    plots: Annotated[
        bool, typer.Option("--plots/--no-plots", help="Draw a figure for each family of measures.")
    ] = True,
    allow_mixed: Annotated[
        bool, typer.Option("--allow-mixed", help="Go on where folders come of different taggers or versions.")
    ] = False,
) -> None:
    """Say who does what more than whom and how sure that is, from the results of one run or several."""
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
    results: Annotated[Path, typer.Argument(help="Folder that tanalyze run wrote.", show_default=False)],
    gold: Annotated[
        Path | None,
        typer.Argument(
            help="Codes by people, CSV or xlsx: session_id, turn, then coder and codes. Without it, the codes that the "
            "transcripts brought with them.",
            show_default=False,
        ),
    ] = None,
    *,
    labels: Annotated[
        Path | None,
        typer.Option("--map", help="CSV of label and code: what the coders' labels mean.", show_default=False),
    ] = None,
    book: Annotated[
        str, typer.Option(help="Whose labels they are: mi, bolt, misc, miti or process.", show_default=False)
    ] = "",
    columns: Annotated[
        str,
        typer.Option(
            help="Which columns hold what, where names do not say: session_id=Case,turn=Nr. Also first_row, text, "
            "coder, code, value.",
            show_default=False,
        ),
    ] = "",
    blank: Annotated[
        str, typer.Option(help="What an empty cell of labels means: none (of the codes), or missing (not coded).")
    ] = "none",
    transcripts: Annotated[
        Path | None,
        typer.Option(help="Transcripts, to match rows by their words where numbers have shifted.", show_default=False),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(help="Folder for what is found. What was found there of the same results and codes is replaced."),
    ] = Path("agreement"),
    replace: Replace = False,
    epsilon: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="By how much a coder may be better than a machine that may stand for one (alternative-annotator test, "
            "of three coders or more): 0.2 beside experts, 0.15 beside trained coders, 0.1 beside crowd workers.",
        ),
    ] = 0.15,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw the figures.")] = True,
) -> None:
    """Say how far the machine's codes agree with people's, and people's with each other's."""
    from therapy_analytics.agreement import NAMES, GoldOptions  # noqa: PLC0415
    from therapy_analytics.agreement import agreement as agreement_of  # noqa: PLC0415

    with sentences():
        options = GoldOptions(
            columns=pairs(columns, NAMES, "--columns"),
            labels=labels, book=book, blank=blank, transcripts=transcripts,
        )  # fmt: skip
        found = agreement_of(results, gold, options=options, epsilon=epsilon)
        found.write(out, figures=plots, replace=replace, on_before=_say)
    say(*(line for told in found.summary for line in told.split("\n")))
    say(f"{out}: agreement.md (to cite), codes.csv, pairs.csv, sessions.csv, calibration.csv, alt_test.csv")


@app.command()
def train(
    codes: Annotated[
        Path, typer.Argument(help="Codes that people gave: CSV or xlsx, as for tanalyze agree.", show_default=False)
    ],
    transcripts: Annotated[
        Path, typer.Argument(help="The transcripts that were coded: a file or a folder.", show_default=False)
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(help="Folder for the model. An earlier model of the same codes and transcripts is replaced."),
    ] = Path("my_model"),
    replace: Replace = False,
    codebook: Annotated[
        str | None,
        typer.Option(
            help="What the labels are: your own file (TOML), or bolt, epitome, mi, misc, miti, process.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Learn this code alone, as mi_question or own_greets. May be repeated.", show_default=False),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="Try the model on people that it has not seen, not on unseen sessions only: a column about the "
            "sessions, such as counselor or client.",
            show_default=False,
        ),
    ] = None,
    cold: Annotated[
        bool,
        typer.Option(
            "--cold", help="Learn from these codes alone, not on top of what the tagger of the package knows."
        ),
    ] = False,
    recalibrate: Annotated[
        bool,
        typer.Option(
            "--recalibrate",
            help="Keep the package's tagger (--beside says which) and shift its probabilities to these codes, for each "
            "code for which that pays on unseen sessions: from 100 coded turns.",
        ),
    ] = False,
    blank: Annotated[
        str, typer.Option(help="What an empty cell of labels means: none (of them), or missing (not coded).")
    ] = "none",
    code_columns: Annotated[
        str,
        typer.Option(
            help="Which column of the codes holds what: session_id=Case,turn=No,code=Label. Also first_row, text, "
            "coder, value.",
            show_default=False,
        ),
    ] = "",
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    keep: Keep = None,
    split_by: SplitBy = None,
    beside: Annotated[
        str, typer.Option(help="Which tagger of the package is scored on the same turns, to compare: accurate or fast.")
    ] = "accurate",
    seed: Annotated[int, typer.Option(min=0, help="Random seed: the same seed gives the same model.")] = 0,
) -> None:
    """Train the tagger, or a model of codes of your own, on codes that people gave, and say how good it is."""
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
    results: Annotated[Path, typer.Argument(help="Folder that tanalyze run wrote.", show_default=False)],
    *,
    out: Annotated[
        Path | None, typer.Option(help="The page. Default: report.html in that folder.", show_default=False)
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace another file of that name, too.")] = False,
    quotes: Annotated[
        bool, typer.Option("--quotes", help="Include the words of the sessions; the run must have had --quotes, too.")
    ] = False,
    most_sessions: Annotated[
        int, typer.Option(min=0, help="The most sessions that get a view of their own; the table has all.")
    ] = 300,
) -> None:
    """Write report.html: one page to look at first, to open in any browser."""
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
            help="Folder that tanalyze run wrote; for codes_csv and codes_jsonl also a .qdpx project, an .eaf file, or "
            "a folder of them.",
            show_default=False,
        ),
    ],
    *,
    to: Annotated[
        str,
        typer.Option(
            help="Tables: parquet (R, Python and others), stata (.dta, Stata 14 and later) or spss (.sav). Codes turn "
            "by turn: qdpx (a project for NVivo, MAXQDA, ATLAS.ti) or elan, with the words of the sessions; codes_csv "
            "or codes_jsonl, the codes of people without words."
        ),
    ] = "parquet",
    out: Annotated[
        Path,
        typer.Option(help="Folder for the files. An earlier export of the same results to the same form is replaced."),
    ] = Path("export"),
    wide: Annotated[
        bool, typer.Option("--wide", help="Also write the table wide: a row a session, every number in a column.")
    ] = False,
    imputations: Annotated[
        int,
        typer.Option(
            help="Also write the table imputed: sessions with codes drawn from their probabilities, so many times (20, "
            "say), for multiple imputation."
        ),
    ] = 0,
    transcripts: Annotated[
        Path | None,
        typer.Option(help="For qdpx and elan: the words, where the run had no --quotes.", show_default=False),
    ] = None,
    gold: Annotated[
        list[Path] | None,
        typer.Option(
            help="For forms of codes: codes by people, as for tanalyze agree. May be repeated.", show_default=False
        ),
    ] = None,
    replace: Replace = False,
) -> None:
    """Write the tables of a run for R, Stata or SPSS, or its codes for NVivo, MAXQDA, ATLAS.ti or ELAN."""
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
            help="Codebooks whose codes to print instead: bolt, epitome, mi, misc, miti, process, or your own file."
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
