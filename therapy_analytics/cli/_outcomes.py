"""The command that joins sessions with the scores of clients: outcomes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from therapy_analytics.cli._app import Replace, app, pairs, say, sentences
from therapy_analytics.cli._tables import show_outcomes


@app.command()
def outcomes(
    results: Annotated[
        list[Path],
        typer.Argument(help="Folders that tanalyze run wrote; transcripts are not needed.", show_default=False),
    ],
    *,
    outcomes: Annotated[
        Path,
        typer.Option(
            help="Scores of clients, CSV, xlsx, SPSS or Stata: session_id, or client with date or session_number, then "
            "a column a scale; or scale and score; or a row a client with phq9_1, phq9_2, ...",
            show_default=False,
        ),
    ],
    columns: Annotated[
        str,
        typer.Option(
            help="Which columns hold what, where names do not say: client=Case,number=Nr. Also session_id, counselor, "
            "date, scale, score.",
            show_default=False,
        ),
    ] = "",
    better: Annotated[
        str, typer.Option(help="Scales of your own of which a higher score is better, with commas.", show_default=False)
    ] = "",
    worse: Annotated[
        str, typer.Option(help="Scales of your own of which a higher score is worse, with commas.", show_default=False)
    ] = "",
    scales: Annotated[
        Path | None,
        typer.Option(
            help="A table about scales of your own: name, better (higher, lower), and what is known of low, high, sd, "
            "reliability, reliable_change, cutoff.",
            show_default=False,
        ),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            help="Measures that are related to scores: names, patterns or families, as for compare. May be repeated. "
            "Default: the rates, shares and means of sessions.csv.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[
        str,
        typer.Option(
            help="Measures below the scores in the figures, with commas. Default: reflections, questions, change talk.",
            show_default=False,
        ),
    ] = "",
    by: Annotated[str, typer.Option(help="Whose courses are shown: client, or counselor.")] = "client",
    gold: Annotated[
        Path | None,
        typer.Option(
            help="Codes that people gave to all turns of some sessions, or to a sample of turns: slopes that hold "
            "however the tagger errs.",
            show_default=False,
        ),
    ] = None,
    imputations: Annotated[
        int,
        typer.Option(help="How often codes are drawn from their probabilities, so that their error enters; 0: never."),
    ] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of these draws.")] = 0,
    out: Annotated[
        Path,
        typer.Option(help="Folder for what is found. What was found there of the same results and scores is replaced."),
    ] = Path("outcomes"),
    replace: Replace = False,
    plots: Annotated[
        bool, typer.Option("--plots/--no-plots", help="Draw the figures, and write the page that shows them.")
    ] = True,
    allow_mixed: Annotated[
        bool, typer.Option("--allow-mixed", help="Go on where folders come of different taggers or versions.")
    ] = False,
) -> None:
    """Say what in the talk goes with the scores of clients, and show the course of each client."""
    from therapy_analytics.outcomes import NAMES, OutcomeOptions  # noqa: PLC0415
    from therapy_analytics.outcomes import outcomes as outcomes_of  # noqa: PLC0415

    with sentences():
        options = OutcomeOptions(
            columns=pairs(columns, NAMES, "--columns"), better=_names(better), worse=_names(worse), scales=scales,
            measures=tuple(measures or ()), show=_names(show), by=by, gold=gold, imputations=imputations, seed=seed,
            allow_mixed=allow_mixed,
        )  # fmt: skip
        found = outcomes_of(results, outcomes, options=options)
        found.write(out, plots=plots, replace=replace, on_before=lambda sentence: say(sentence, err=True))
    show_outcomes(found.words, out, plots=plots and len(found.lines) > 0)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
