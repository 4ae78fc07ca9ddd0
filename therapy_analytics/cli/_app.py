"""The application that commands are added to, the options that several share, and how it ends."""

from __future__ import annotations

import os
import sys
from errno import ENOSPC
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from therapy_analytics.errors import place_of
from therapy_analytics.third_party import leave_no_font_list

if TYPE_CHECKING:
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
    """Run the command; whatever happens, end with a sentence and a status, never a traceback."""
    leave_no_font_list()
    try:
        app()
    except KeyboardInterrupt:
        fail("Stopped. What is done is kept: the same command goes on from there.", INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has gone. Python would fail once more when it empties standard output at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(NOTHING_DONE) from None
    except OSError as error:
        fail(_of_the_system(error), NOTHING_DONE)
    except MemoryError:
        fail("There is not enough memory. Give fewer files at once, or --processes 1.", NOTHING_DONE)
    except Exception as error:  # noqa: BLE001 (a traceback could hold what somebody said)
        fail(_unexpected(error), NOTHING_DONE)


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


# As text: a path would make s3:/ of s3://.
Paths = Annotated[list[str], typer.Argument(help="Transcripts, and folders of them.", show_default=False)]
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
    str | None,
    typer.Option(
        help="A CSV about the sessions (session_id or file, then counselor, client, source, date, ...). "
        "A sessions.csv beside the transcripts is found by itself.",
        show_default=False,
    ),
]
Pattern = Annotated[
    str | None,
    typer.Option(
        help="What the names of the files are made of, as in {counselor}_{client}_{date}.", show_default=False
    ),
]
Lexicons = Annotated[
    list[Path] | None,
    typer.Option(
        "--lexicon", help="A word list to count as well: TOML, or LIWC .dic. May be repeated.", show_default=False
    ),
]


def read_options(
    columns: str, therapist: str | None, client: str | None, metadata: str | None, pattern: str | None
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


def fail(sentence: str, status: int) -> None:
    typer.echo(f"tanalyze: {sentence}", err=True)
    raise SystemExit(status)


def _unexpected(error: Exception) -> str:
    """Say where a defect of ours is without its message, which could quote a transcript."""
    return f"A defect of this program stopped it ({place_of(error)}). Please report this line."


def _of_the_system(error: OSError) -> str:
    said = f"{error.filename or 'The disk'}: {error.strerror or type(error).__name__}."
    return f"{said} Make room; what is done is kept, and the same command goes on." if error.errno == ENOSPC else said
