"""The application that commands are added to, the options that several share, and how commands end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from therapy_analytics.core.errors import TherapyAnalyticsError, place_of
from therapy_analytics.core.printable import printable
from therapy_analytics.core.third_party import leave_no_font_list

if TYPE_CHECKING:
    from therapy_analytics.core.pseudonyms import Pseudonyms
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


def main() -> None:
    """Run the command, and end with a sentence and a status, never with a traceback."""
    leave_no_font_list()
    try:
        _guard_usage()
        _command()
    except KeyboardInterrupt:
        fail("Stopped. The same command starts it again.", INTERRUPTED)
    except BrokenPipeError:
        # The reader of the output has gone. Python would fail again when it flushes standard output at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(NOTHING_DONE) from None
    except OSError as error:
        fail(_of_the_system(error), NOTHING_DONE)
    except MemoryError:
        fail("There is not enough memory. Give fewer files at once, or --processes 1.", NOTHING_DONE)
    except Exception as error:  # noqa: BLE001 (a traceback could hold what somebody said)
        fail(_unexpected(error), NOTHING_DONE)


def _command() -> None:
    """Run the command; raise KeyboardInterrupt where typer has turned that into a status without a word."""
    try:
        app()
    except Ended:
        raise
    except SystemExit as end:
        if end.code == INTERRUPTED:
            raise KeyboardInterrupt from end
        raise


def _guard_usage() -> None:
    """Let messages on wrong usage, which repeat words of the command, show control characters as numbers."""
    if any(printable(word) != word for word in sys.argv):
        from typer import rich_utils  # noqa: PLC0415

        from therapy_analytics.cli.progress import Terminal  # noqa: PLC0415

        setattr(rich_utils, "Console", Terminal)  # noqa: B010 (typer has no option for it)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # noqa: PLC0415

        say(f"tanalyze {metadata.version('therapy-analytics')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Measure counseling sessions, of people and of language models, on this machine alone."""


TRANSCRIPTS, RESULTS, PEOPLE = "Transcripts", "Results", "Codes by people"
INPUT, MEASURED, TAGGER, OUTPUT, SCALE = "Input", "What is measured", "Tagger", "Output", "Scale"
"""The groups that `--help` shows options in, the same for all commands."""

Paths = Annotated[
    list[str], typer.Argument(metavar="PATHS", help="Transcripts, and folders of them.", show_default=False)
]
Results = Annotated[
    list[Path],
    typer.Argument(metavar="RESULTS", help="One or more folders that tanalyze run wrote.", show_default=False),
]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace", help="Replace what the folder holds of other transcripts or results.", rich_help_panel=OUTPUT
    ),
]
AllowMixed = Annotated[
    bool,
    typer.Option("--allow-mixed", help="Accept results of different taggers or versions.", rich_help_panel=INPUT),
]
Columns = Annotated[
    str,
    typer.Option(
        metavar="NAME=COLUMN,...",
        help="Which column holds what, if not recognized: speaker=Who,text=Said.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]
Therapist = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL", help="The therapist's label in the transcripts.", show_default=False, rich_help_panel=INPUT
    ),
]
Client = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL", help="The client's label in the transcripts.", show_default=False, rich_help_panel=INPUT
    ),
]
Metadata = Annotated[
    str | None,
    typer.Option(
        metavar="CSV",
        help="Who and when, one row per session. A sessions.csv beside the transcripts is found without it.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]
Pattern = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERN",
        help="What file names say, such as {counselor}_{client}_{date}.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="NAME",
        help="Also copy this field beside the turns, or column of remarks. Repeatable.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]
SplitBy = Annotated[
    str | None,
    typer.Option(
        "--split-by",
        metavar="day|gap=4h",
        help="Split a long chat into sessions, by day or by gaps.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]


Key = Annotated[
    Path | None,
    typer.Option(
        "--pseudonyms",
        metavar="KEYFILE",
        help="Put pseudonyms in the place of names of clients, counselors, sessions and files, the same for one key.",
        show_default=False,
        rich_help_panel=INPUT,
    ),
]


def key_in(path: Path | None, *, apart: Collection[str | Path] = ()) -> Pseudonyms | None:
    """Return the key of pseudonyms in a file, or None without one.

    With `apart`, transcripts and results beside which it may not lie, one that is not there is made, and said so.
    """
    if path is None:
        return None
    from therapy_analytics.core.errors import BadOptionError  # noqa: PLC0415
    from therapy_analytics.core.pseudonyms import OPTION, load_pseudonyms  # noqa: PLC0415

    if beside := [one for one in apart if path.resolve().is_relative_to(Path(one).resolve())]:
        problem = f"{path} would lie in {beside[0]}, and whoever gets that would get the key"
        raise BadOptionError(OPTION, problem, "Name a place apart from transcripts and results")
    is_new = bool(apart) and not os.path.lexists(path)
    key = load_pseudonyms(path, make=bool(apart))
    if is_new:
        remark(
            f"{path} is the new key of pseudonyms. Keep it, apart from the results: with it alone can these names be "
            f"given again, and found out (tanalyze inspect --pseudonyms {path})."
        )
    return key


@contextmanager
def sentences() -> Iterator[None]:
    """Write private files, and end the command with a sentence where this package refuses to go on."""
    os.umask(0o077)
    try:
        yield
    except TherapyAnalyticsError as error:
        fail(str(error), NOTHING_DONE)


def read_options(
    columns: str,
    therapist: str | None,
    client: str | None,
    metadata: str | None,
    pattern: str | None,
    keep: list[str] | None,
    *,
    split_by: str | None = None,
    pseudonyms: Pseudonyms | None = None,
) -> ReadOptions:
    from therapy_analytics.readers import ReadOptions  # noqa: PLC0415

    known = ("speaker", "text", "session", "start", "end", "utterance", "annotator")
    return ReadOptions(
        columns=pairs(columns, known, "--columns"), therapist=therapist, client=client, metadata=metadata,
        pattern=pattern, keep=tuple(keep or ()), split_by=split_by, pseudonyms=pseudonyms,
    )  # fmt: skip


def inside(results: Path, name: str) -> Path:
    """Return where a command writes by default what it makes from results: a folder in theirs, or beside a file."""
    is_file = results.is_file() or (results.suffix and not results.exists())
    return (results.parent if is_file else results) / name


def beside(results: Path, name: str) -> Path:
    """Return where a command writes by default what others get to see: into a folder beside that of the results."""
    results = results.parent if results.name == "sessions.csv" else results
    results = results if results.name.strip(".") else results.absolute()
    return results.with_name(f"{results.stem if results.is_file() else results.name}_{name}")


def pairs(text: str, known: Collection[str], option: str) -> dict[str, str]:
    """Parse ``speaker=Who,text=Said``, in which each name is known and occurs at most once."""
    parts = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    found = {key.strip(): value.strip() for key, _, value in parts}
    wrong = [key.strip() for key, equals, value in parts if key.strip() not in known or not equals or not value.strip()]
    if wrong or len(found) < len(parts):
        problem = f"{wrong[0]!r} is not understood" if wrong else "A name is given twice"
        example = ",".join(f"{name}={name.upper()}" for name in list(known)[:2])
        raise typer.BadParameter(
            f"{problem}. Write pairs such as {example}; known: {', '.join(known)}.", param_hint=option
        )
    return found


def say(*lines: str, err: bool = False) -> None:
    """Print lines, with control characters as numbers."""
    for line in lines:
        typer.echo(printable(line), err=err)


def remark(sentence: str) -> None:
    """Print a message that is no result, such as what is replaced."""
    say(sentence, err=True)


def names_in(text: str) -> tuple[str, ...]:
    """Return names that stand with commas between them."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


class Ended(SystemExit):
    """The end of a command that has printed why."""


def fail(sentence: str, status: int) -> NoReturn:
    """Print a sentence on why the command ends, and end it."""
    if status == INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # another Ctrl-C now would print a traceback
    say(f"tanalyze: {sentence}", err=True)
    raise Ended(status)


def _unexpected(error: Exception) -> str:
    """Return a sentence on where a defect of ours is, without its message, which could quote a transcript."""
    return f"A defect of this program stopped it ({place_of(error)}). Please report this line."


def _of_the_system(error: OSError) -> str:
    problem = f"{error.filename or 'The disk'}: {error.strerror or type(error).__name__}."
    remedy = " Free some space; what is done is kept, and the same command goes on." if error.errno == ENOSPC else ""
    return problem + remedy
