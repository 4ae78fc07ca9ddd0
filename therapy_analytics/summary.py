"""What the command prints after a run: where the results are, and what to check first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from therapy_analytics.language.english import NOT_ENGLISH
from therapy_analytics.measures.null.surrogates import FEWEST_DONORS
from therapy_analytics.measures.process.role_check import SWAPPED
from therapy_analytics.measures.process.training_distance import FAR
from therapy_analytics.readers._notes import counted

if TYPE_CHECKING:
    from pandas import DataFrame

    from therapy_analytics.run import RunResult, Writing


_COLUMNS = ("role_method", "role_pronoun_margin", "distance_from_training", "notes", "n_turns_to_review")
N_RATES = 4
"""The most rates of the user's own codes that the terminal shows; sessions.csv has all."""


def columns_shown(result: RunResult) -> tuple[list[tuple[str, str]], str]:
    """Return which columns of the sessions table the terminal shows, as (heading, column), and the caption."""
    talks = ("talks", "therapist_talk_share")
    if not result.rated:
        usual = {"asks": "question", "reflects": "reflection", "advises": "input"}
        shown = [(heading, f"therapist_{name}_rate") for heading, name in usual.items()]
        return [talks, *shown], (
            "The therapist's share of the words; therapist turns that ask, reflect, advise or inform."
        )
    rates = [(code.name, f"{code.column}_rate") for code in result.rated[:N_RATES]]
    left = len(result.rated) - len(rates)
    more = f" {counted(left, 'code')} more in sessions.csv." if left else ""
    return [talks, *rates], (
        "The therapist's share of the words; the share of turns with each code, among those of its role." + more
    )


def pointers(result: RunResult, writing: Writing) -> list[str]:
    """Return the lines below the table: the files, what coded the turns, and what is to be checked."""
    sessions, n = result.columns(_COLUMNS), result.n_kept
    kept = f"{counted(n, 'session')} done by an earlier run of the same kind {'was' if n == 1 else 'were'} kept."
    return [
        *([kept] if n else []),
        *(_datasets(result, writing) if result.form == "parquet" else _tables(result, writing)),
        f"{result.out / 'codebook.csv'}: what every column means and when it misleads",
        *([_coded_by(result.tagger)] if result.tagger else []),
        *result.told,
        *_checks(sessions),
        *_missing(result),
    ]


def _tables(result: RunResult, writing: Writing) -> Iterator[str]:
    page, out = result.out / "report.html", result.out
    if page.is_file():
        yield f"{page}: the page to look at first; open it in a browser"
    elif writing.page:
        yield "There are too many sessions for one page. For some of them: tanalyze run on their transcripts."
    yield f"{out / 'sessions.csv'}: a row a session, with counts and intervals; measures.csv has everything else"
    each = "turns.csv and other tables" + (", figures" if writing.formats else "")
    yield f"{out / 'sessions'}{os.sep}<session>{os.sep}: {each}"


def _datasets(result: RunResult, writing: Writing) -> Iterator[str]:
    out = result.out
    yield f"{out / 'sessions'}{os.sep}: Parquet, a row a session, with counts and intervals"
    yield f"{out / 'turns'}{os.sep}: Parquet, a row a turn; other tables beside it"
    if writing.formats:
        yield f"{out / 'folders'}{os.sep}<session>{os.sep}: tables and figures"


def _checks(sessions: DataFrame) -> Iterator[str]:
    """Yield what is to be checked in the sessions."""
    if len(sessions) <= FEWEST_DONORS:
        yield (
            "Synchrony cannot be compared with surrogate pairs (the columns surrogate_... of measures.csv are empty): "
            f"that takes at least {FEWEST_DONORS} other sessions with turns of like length."
        )
    to_read = sessions["n_turns_to_review"]
    if to_read.sum() > 0:
        yield (
            f"Read {counted(int(to_read.sum()), 'turn')} of {counted(int((to_read > 0).sum()), 'session')} for danger: "
            "danger_turn and the columns beside it in turn_measures.csv. None found elsewhere does not mean that the "
            "others are safe."
        )
    sentences = (
        (sessions["role_method"] == "pronouns_unsure",
         "Check {}: who the therapist is was a guess with a thin margin (column notes)."),
        (sessions["role_pronoun_margin"] < SWAPPED,
         "Check {}: the labels may be swapped (role_pronoun_margin under -4)."),
        (sessions["distance_from_training"] > FAR,
         ("Unlike the sessions that the tagger learnt from: {} (distance_from_training over 1). There rates of codes "
          "may be off by more than their intervals.")),
        (sessions["role_method"] == "none",
         "In {} nobody could be told to be the therapist; use --therapist LABEL."),
        (sessions["notes"].str.contains(NOT_ENGLISH, regex=False),
         ("Not in English, as it seems: {} (see the column notes). The tagger and the word lists are for English; "
          "these numbers mean nothing.")),
        (sessions["notes"] != "", "Notes on {}: see the column notes."),
    )  # fmt: skip
    for which, sentence in sentences:
        if which.any():
            yield sentence.format(counted(int(which.sum()), "session"))


def _missing(result: RunResult) -> Iterator[str]:
    reasons = f"{result.out / 'problems.csv'} says why and what would be right."
    if n_files := len(result.problems) - result.n_unmeasured:
        yield f"{counted(n_files, 'file')} could not be read: {reasons}"
    if result.n_unmeasured:
        yield f"{counted(result.n_unmeasured, 'session')} could not be measured: {reasons}"


_WHY = {"refused": "whose answer had no codes", "nonsense": "whose codes do not exist", "failed": "without an answer"}


def _coded_by(tagger: Mapping[str, Any]) -> str:
    """Say what coded the turns, and what an outside coder did."""
    if tagger["kind"] != "llm":
        return f"Coded by the {tagger['kind']} tagger {tagger['version']} (aim: {tagger['aim']})"
    uncoded = {name: tagger[f"n_{name}"] for name in ("refused", "nonsense", "failed")}
    missing = ", ".join(f"{n} {_WHY[name]}" for name, n in uncoded.items() if n)
    books = f" by the codes of {', '.join(tagger['codebooks'])}" if "codebooks" in tagger else ""
    return (
        f"Coded by {tagger['model']}{books}: "
        f"{counted(tagger['n_asked'], 'turn')} asked, {tagger['n_cached']} known before; "
        + (f"without codes: {missing}." if missing else "all have an answer.")
    )
