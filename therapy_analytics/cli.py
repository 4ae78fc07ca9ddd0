"""The command: parse, call, print."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from therapy_analytics.behaviours import TaggerOptions
    from therapy_analytics.language import Extra
    from therapy_analytics.pipeline import RunResult
    from therapy_analytics.readers import ReadOptions

app = typer.Typer(
    name="tanalyze",
    help="Measure counseling sessions, of people and of language models, on this machine alone.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

SOME_FILES_FAILED = 1
NOTHING_DONE = 2
INTERRUPTED = 130
_SHOWN = 20


def main() -> None:
    """Run the command; whatever happens, end with a sentence and a status, never a traceback."""
    try:
        app()
    except KeyboardInterrupt:
        _fail("Stopped. What was being written is not complete; start the same command again.", INTERRUPTED)
    except BrokenPipeError:
        os._exit(NOTHING_DONE)
    except OSError as error:
        _fail(f"{error.filename or 'The disk'}: {error.strerror or type(error).__name__}.", NOTHING_DONE)
    except MemoryError:
        _fail("There is not enough memory. Give fewer files at once, or --processes 1.", NOTHING_DONE)
    except Exception as error:  # noqa: BLE001 (a traceback could hold what somebody said)
        _fail(_unexpected(error), NOTHING_DONE)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # noqa: PLC0415

        typer.echo(f"tanalyze {metadata.version('therapy-analytics')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Measure counseling sessions, of people and of language models, on this machine alone."""


Paths = Annotated[list[Path], typer.Argument(help="Transcripts, and folders of them.", show_default=False)]
Columns = Annotated[
    str,
    typer.Option(
        help="Which columns of a table hold what, where their names do not say: "
        "speaker=Who,text=Said,session=Case. Also start, end, utterance, annotator.",
        show_default=False,
    ),
]
Therapist = Annotated[str | None, typer.Option(help="The therapist's label in the transcripts.", show_default=False)]
Client = Annotated[str | None, typer.Option(help="The client's label in the transcripts.", show_default=False)]
Metadata = Annotated[
    Path | None,
    typer.Option(
        help="A CSV about the sessions (session_id or file, then counselor, client, source, date, ...). "
        "A sessions.csv beside the transcripts is found by itself.",
        show_default=False,
    ),
]
Pattern = Annotated[
    str | None,
    typer.Option(help="What the names of the files say: {counselor}_{client}_{date}.", show_default=False),
]
Lexicons = Annotated[
    list[Path] | None,
    typer.Option(
        "--lexicon", help="A word list to count as well: TOML, or LIWC .dic. May be repeated.", show_default=False
    ),
]


@app.command()
def run(
    paths: Paths,
    *,
    out: Annotated[Path, typer.Option(help="Folder for the results; an earlier run's are replaced.")] = Path("results"),
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    lexicon: Lexicons = None,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw each session's timeline.")] = True,
    quotes: Annotated[
        bool, typer.Option("--quotes", help="Write what was said into turns.csv. Without it, no words are written.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Write which words and features moved each code: evidence.csv.")
    ] = False,
    processes: Annotated[int, typer.Option(min=1, max=256, help="How many processes share the work.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the shuffles that say what chance gives.")] = 0,
    syntax: Annotated[
        bool, typer.Option("--syntax", help="Also synchrony of syntax, for which parts of speech are tagged.")
    ] = False,
    nclid: Annotated[
        bool, typer.Option("--nclid", help="Also nCLiD, by word mover's distances: a third of a second a session.")
    ] = False,
    spacy_model: Annotated[
        str | None,
        typer.Option(help="Tag them by a spaCy pipeline of yours, as en_core_web_sm.", show_default=False),
    ] = None,
    tagger: Annotated[
        str,
        typer.Option(
            help="Who codes the turns: accurate (the tagger of the package), fast (the same without its encoder: "
            "less right, much faster), or llm (a language model of yours)."
        ),
    ] = "accurate",
    tagger_aim: Annotated[
        str,
        typer.Option(
            help="What the tagger's decisions are for: balanced, precision (right when it says so), "
            "recall (little is missed), or rate (unbiased rates)."
        ),
    ] = "balanced",
    all_codes: Annotated[
        bool,
        typer.Option("--all-codes", help="Also kinds of reflection and input, and MITI's codes: less to be trusted."),
    ] = False,
    endpoint: Annotated[
        str | None,
        typer.Option(help="For llm: a server with OpenAI's interface, http://127.0.0.1:11434/v1.", show_default=False),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="For llm: the model, as the server names it.", show_default=False)
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="For llm: the words may be sent to another machine.")
    ] = False,
    llm_parallel: Annotated[int, typer.Option(help="For llm: how many questions may be open at a time.")] = 4,
    llm_timeout: Annotated[float, typer.Option(help="For llm: seconds that one answer may take.")] = 180,
    llm_cache: Annotated[
        Path | None,
        typer.Option(help="For llm: folder of the answers so far (default: the user's cache).", show_default=False),
    ] = None,
    codebook: Annotated[
        list[str] | None,
        typer.Option(
            help="For llm: code by this codebook instead of the usual codes: your own file (TOML), or bolt, mi, "
            "misc, miti. May be repeated.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Read transcripts, tag what each turn does, measure each session, write tables and figures."""
    from therapy_analytics.behaviours import TaggerOptions  # noqa: PLC0415
    from therapy_analytics.behaviours.explain import explaining_tagger  # noqa: PLC0415
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415
    from therapy_analytics.language import load_lexicon  # noqa: PLC0415
    from therapy_analytics.pipeline import Writing  # noqa: PLC0415
    from therapy_analytics.pipeline import run as run_pipeline  # noqa: PLC0415
    from therapy_analytics.progress import Progress  # noqa: PLC0415
    from therapy_analytics.settings import Settings  # noqa: PLC0415

    os.umask(0o077)
    progress = Progress()
    coder = TaggerOptions(
        kind=tagger, aim=tagger_aim, all_codes=all_codes, endpoint=endpoint, model=model, allow_remote=allow_remote,
        parallel=llm_parallel, timeout_s=llm_timeout, cache=llm_cache, codebooks=tuple(codebook or ()),
    )  # fmt: skip
    asked: dict[Extra, bool] = {"syntax": syntax or spacy_model is not None, "nclid": nclid}
    try:
        if explain:
            explaining_tagger(coder)
        _say_who_hears(coder)
        result = run_pipeline(
            paths,
            out,
            settings=Settings(
                lexicons=tuple(map(load_lexicon, lexicon or ())),
                seed=seed,
                quotes=quotes,
                tagger=coder,
                extras=frozenset(extra for extra, wanted in asked.items() if wanted),
                spacy_model=spacy_model,
            ),
            read_options=_read_options(columns, therapist, client, metadata, pattern),
            writing=Writing(
                plots=plots,
                explain=explain,
                processes=processes,
                on_file=progress.file,
                on_sessions=progress.sessions,
            ),
        )
    except TherapyAnalyticsError as error:
        progress.close()
        _fail(str(error), NOTHING_DONE)
    progress.close()
    _summary(result, plots=plots, explain=explain)
    raise typer.Exit(SOME_FILES_FAILED if result.problems else 0)


@app.command()
def inspect(
    paths: Paths,
    *,
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
    quotes: Annotated[bool, typer.Option("--quotes", help="Show the first turns, with their words.")] = False,
) -> None:
    """Show how each file would be read: reader, encoding, sessions, speakers, roles and why, what is left out."""
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415
    from therapy_analytics.readers import inspect as look  # noqa: PLC0415

    options = _read_options(columns, therapist, client, metadata, pattern)
    failed = False
    try:
        for one in look(paths, options=options):
            failed = failed or one.reading.problem is not None
            for line in one.lines(quotes=quotes):
                typer.echo(line)
    except TherapyAnalyticsError as error:
        _fail(str(error), NOTHING_DONE)
    raise typer.Exit(SOME_FILES_FAILED if failed else 0)


@app.command()
def convert(
    paths: Paths,
    *,
    to: Annotated[str, typer.Option(help="The form: chat, csv, docx, jsonl or vtt.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the files; nothing in it is overwritten.")] = Path("converted"),
    columns: Columns = "",
    therapist: Therapist = None,
    client: Client = None,
    metadata: Metadata = None,
    pattern: Pattern = None,
) -> None:
    """Write each session in another form, one file a session, and say what that form cannot hold."""
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415
    from therapy_analytics.readers._notes import counted  # noqa: PLC0415
    from therapy_analytics.writers import convert as write  # noqa: PLC0415

    os.umask(0o077)
    options = _read_options(columns, therapist, client, metadata, pattern)
    try:
        done = write(paths, to, out, options=options)
    except TherapyAnalyticsError as error:
        _fail(str(error), NOTHING_DONE)
    for problem in done.problems:
        typer.echo(f"Not read: {problem}", err=True)
    for session, lost in done.losses:
        typer.echo(f"{session}: {to} cannot hold its {', '.join(lost)}.", err=True)
    typer.echo(f"{counted(len(done.files), 'file')} written to {out}")
    raise typer.Exit(SOME_FILES_FAILED if done.problems else 0)


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
            "(the shipped profiles), or one of the groups.",
            show_default=False,
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            help="core (the eight that people ask for first), process, synchrony, alliance, all, names, or patterns "
            "('therapist_*_rate'). May be repeated. "
            "Default: those that a check on real sessions bears out.",
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
            help="Column of what is independent, or session. Default: clients where counselors are compared, "
            "else counselors.",
            show_default=False,
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            help="Codes that people gave to some of the turns: rates whose intervals hold whatever the tagger does.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for what is found; an earlier comparison is replaced.")] = Path(
        "comparison"
    ),
    draws: Annotated[int, typer.Option(help="Draws of the bootstrap behind the intervals.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of these draws.")] = 0,
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
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415

    os.umask(0o077)
    options = CompareOptions(
        cluster=cluster, where=tuple(where or ()), draws=draws, seed=seed, allow_mixed=allow_mixed, gold=gold
    )  # fmt: skip
    try:
        found = compare_groups(results, by=by, against=against, measures=measures, options=options)
        found.write(out, plots=plots)
    except TherapyAnalyticsError as error:
        _fail(str(error), NOTHING_DONE)
    _show(found.words, out, plots=plots)


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
    book: Annotated[str, typer.Option(help="Whose labels they are: mi, bolt, misc or miti.", show_default=False)] = "",
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
    out: Annotated[Path, typer.Option(help="Folder for what is found; an earlier one's files are replaced.")] = Path(
        "agreement"
    ),
    draws: Annotated[int, typer.Option(min=1, help="Draws of the bootstrap behind the intervals.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of these draws.")] = 0,
    plots: Annotated[bool, typer.Option("--plots/--no-plots", help="Draw the figures.")] = True,
) -> None:
    """Say how far the machine's codes agree with people's, and people's with each other's."""
    from therapy_analytics.agreement import GoldOptions  # noqa: PLC0415
    from therapy_analytics.agreement import agreement as agreement_of  # noqa: PLC0415
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415

    os.umask(0o077)
    try:
        options = GoldOptions(
            columns=dict(pair.strip().split("=", 1) for pair in columns.split(",") if "=" in pair),
            labels=labels, book=book, blank=blank, transcripts=transcripts,
        )  # fmt: skip
        found = agreement_of(results, gold, options=options, seed=seed, draws=draws)
        found.write(out, figures=plots)
    except TherapyAnalyticsError as error:
        _fail(str(error), NOTHING_DONE)
    for line in found.summary:
        typer.echo(line)
    typer.echo(f"{out}: agreement.md (to cite), codes.csv, pairs.csv, sessions.csv, calibration.csv")


@app.command()
def codebook(
    books: Annotated[
        list[str] | None,
        typer.Argument(help="Codebooks whose codes to print instead: bolt, mi, misc, miti, or your own file."),
    ] = None,
) -> None:
    """Print what every column of the tables means, or the codes of codebooks, as CSV."""
    from therapy_analytics.behaviours import codebook_named  # noqa: PLC0415
    from therapy_analytics.errors import TherapyAnalyticsError  # noqa: PLC0415
    from therapy_analytics.language import EXTRAS  # noqa: PLC0415
    from therapy_analytics.pipeline import analyze  # noqa: PLC0415
    from therapy_analytics.tables import codes_table  # noqa: PLC0415

    try:
        table = codes_table([codebook_named(book) for book in books]) if books else analyze([], extras=EXTRAS).codebook
    except TherapyAnalyticsError as error:
        _fail(str(error), NOTHING_DONE)
    sys.stdout.write(table.to_csv(index=False, lineterminator="\n"))


def _show(words: str, out: Path, *, plots: bool) -> None:
    """Print what a comparison says, less how it was done, which stands in its file."""
    from rich.console import Console  # noqa: PLC0415
    from rich.markdown import Markdown  # noqa: PLC0415

    console = Console(width=None if sys.stdout.isatty() else 100)
    console.print(Markdown(words.partition("## How it was done")[0]))
    files = "comparison.md (these words), comparison.csv, groups.csv" + (", a figure a family" if plots else "")
    console.print(f"{out}: {files}", markup=False, highlight=False)


def _say_who_hears(options: TaggerOptions) -> None:
    """Refuse an outside coder that cannot be, and say where the words go before they do."""
    from therapy_analytics.behaviours import load_coder  # noqa: PLC0415

    load_coder(options)
    if options.allow_remote:
        typer.echo(f"The words of the transcripts are sent to {options.endpoint}.", err=True)
        if options.endpoint and options.endpoint.startswith("http:"):
            typer.echo("They are not encrypted on the way; https would be.", err=True)


def _read_options(
    columns: str, therapist: str | None, client: str | None, metadata: Path | None, pattern: str | None
) -> ReadOptions:
    from therapy_analytics.readers import ReadOptions  # noqa: PLC0415

    return ReadOptions(columns=_pairs(columns), therapist=therapist, client=client, metadata=metadata, pattern=pattern)


def _pairs(text: str) -> dict[str, str]:
    """Parse ``speaker=Who,text=Said``."""
    known = ("speaker", "text", "session", "start", "end", "utterance", "annotator")
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    wrong = [key.strip() for key, equals, value in pairs if key.strip() not in known or not equals or not value.strip()]
    if wrong:
        message = (
            f"{wrong[0]!r} is not understood. Write pairs such as speaker=Who,text=Said; known: {', '.join(known)}."
        )
        raise typer.BadParameter(message, param_hint="--columns")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _fail(sentence: str, status: int) -> None:
    typer.echo(f"tanalyze: {sentence}", err=True)
    raise SystemExit(status)


def _unexpected(error: Exception) -> str:
    """Say where a defect of ours is without its message, which could quote a transcript."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = f"{Path(last.tb_frame.f_code.co_filename).name}, line {last.tb_lineno}" if last else "unknown place"
    return f"A defect of this program stopped it ({type(error).__name__} in {place}). Please report this line."


def _summary(result: RunResult, *, plots: bool, explain: bool) -> None:
    """Print what was found and where it stands."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from therapy_analytics.readers._notes import counted  # noqa: PLC0415
    from therapy_analytics.summary import columns_shown, pointers  # noqa: PLC0415

    frame = result.sessions
    console = Console(width=None if sys.stdout.isatty() else 100)
    table = Table(title=f"{counted(len(frame), 'session')}, {int(frame['n_turns'].sum())} turns", title_justify="left")
    shown, caption = columns_shown(result)
    for heading in ("session", "counselor"):
        table.add_column(heading)
    for heading in ("turns", *(heading for heading, _ in shown)):
        table.add_column(Text(heading), justify="right")  # the name of a code may look like markup
    for row in frame.head(_SHOWN).to_dict("records"):
        rates = [f"{row[name]:.0%}" if row[name] == row[name] else "" for _, name in shown]
        names = (Text(str(row[name])) for name in ("session_id", "counselor"))  # a name may look like markup
        table.add_row(*names, f"{row['n_turns']:.0f}", *rates)
    table.caption = caption
    if len(frame) > _SHOWN:
        table.caption += f" {len(frame) - _SHOWN} more in sessions.csv."
    console.print(table)
    for line in pointers(result, plots=plots, explain=explain):
        console.print(line, markup=False, highlight=False)
