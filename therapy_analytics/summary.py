"""What the command says in words after a run: where the results are, and what to look at first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from therapy_analytics.language.english import NOT_ENGLISH
from therapy_analytics.measures.null.surrogates import FEWEST_DONORS
from therapy_analytics.measures.process.role_check import SWAPPED
from therapy_analytics.readers._notes import counted

if TYPE_CHECKING:
    from pandas import DataFrame

    from therapy_analytics.run import RunResult, Writing


_READ = ("role_method", "role_pronoun_margin", "notes", "n_turns_to_review")
N_RATES = 4
"""So many rates of the user's own codes stand in the terminal; sessions.csv has all."""


def columns_shown(result: RunResult) -> tuple[list[tuple[str, str]], str]:
    """Return which columns of the sessions table the terminal shows, each with its heading, and the caption."""
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
    """Return the lines below the table: the files, who coded, and what is to be checked."""
    sessions = result.columns(_READ)
    unsure = int((sessions["role_method"] == "pronouns_unsure").sum())
    unknown = int((sessions["role_method"] == "none").sum())
    noted = int((sessions["notes"] != "").sum())
    lines = [
        *_kept(result),
        *(_datasets(result, writing) if result.form == "parquet" else _tables(result, writing)),
        f"{result.out / 'codebook.csv'}: what every column means and when it misleads",
    ]
    if result.tagger:
        lines.append(_coded_by(result.tagger))
    lines += result.told
    lines += _without_surrogates(len(sessions))
    lines += _to_review(sessions)
    if unsure:
        lines.append(
            f"Check {counted(unsure, 'session')}: who the therapist is was a guess with a thin margin (column notes)."
        )
    swapped = int((sessions["role_pronoun_margin"] < SWAPPED).sum())
    if swapped:
        lines.append(f"Check {counted(swapped, 'session')}: the labels may be swapped (role_pronoun_margin under -4).")
    if unknown:
        lines.append(
            f"In {counted(unknown, 'session')} nobody could be told to be the therapist; use --therapist LABEL."
        )
    strange = int(sessions["notes"].str.contains(NOT_ENGLISH, regex=False).sum())
    if strange:
        lines.append(
            f"Not in English, as it seems: {counted(strange, 'session')} (see the column notes). "
            "The tagger and the word lists are for English; these numbers mean nothing."
        )
    if noted:
        lines.append(f"Notes on {counted(noted, 'session')}: see the column notes.")
    return lines + _missing(result)


def _tables(result: RunResult, writing: Writing) -> list[str]:
    page, out = result.out / "report.html", result.out
    each = "turns.csv and other tables" + (", figures" if writing.formats else "")
    lines = [f"{page}: the page to look at first; open it in a browser"] * page.is_file()
    if writing.page and not lines:
        lines = ["There are too many sessions for one page. For some of them: tanalyze run on their transcripts."]
    return [
        *lines,
        f"{out / 'sessions.csv'}: a row a session, with counts and intervals; measures.csv has everything else",
        f"{out / 'sessions'}{os.sep}<session>{os.sep}: {each}",
    ]


def _datasets(result: RunResult, writing: Writing) -> list[str]:
    out = result.out
    each = [f"{out / 'folders'}{os.sep}<session>{os.sep}: tables and figures"] * bool(writing.formats)
    return [
        f"{out / 'sessions'}{os.sep}: Parquet, a row a session, with counts and intervals",
        f"{out / 'turns'}{os.sep}: Parquet, a row a turn; other tables beside it",
        *each,
    ]


def _missing(result: RunResult) -> list[str]:
    n, says = result.n_unmeasured, f"{result.out / 'problems.csv'} says why and what would be right."
    files = len(result.problems) - n
    unread = [f"{counted(files, 'file')} could not be read: {says}"] * bool(files)
    return unread + [f"{counted(n, 'session')} could not be measured: {says}"] * bool(n)


def _kept(result: RunResult) -> list[str]:
    n = result.n_kept
    return [
        f"{counted(n, 'session')} done by an earlier run of the same kind {'was' if n == 1 else 'were'} kept."
    ] * bool(n)


def _without_surrogates(n_sessions: int) -> list[str]:
    line = (
        "Synchrony cannot be compared with surrogate pairs (the columns surrogate_... of measures.csv are empty): that "
        f"takes at least {FEWEST_DONORS} other sessions with turns of like length."
    )
    return [line] * (n_sessions <= FEWEST_DONORS)


def _to_review(sessions: DataFrame) -> list[str]:
    to_read = sessions["n_turns_to_review"]
    line = (
        f"Read {counted(int(to_read.sum()), 'turn')} of {counted(int((to_read > 0).sum()), 'session')} for danger: "
        "safety_cue and the columns beside it in turn_measures.csv. None found elsewhere does not mean that the "
        "others are safe."
    )
    return [line] * bool(to_read.sum() > 0)


_WHY = {"refused": "whose answer had no codes", "nonsense": "whose codes do not exist", "failed": "without an answer"}


def _coded_by(tagger: Mapping[str, Any]) -> str:
    """Say who coded the turns, and what an outside coder did."""
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
