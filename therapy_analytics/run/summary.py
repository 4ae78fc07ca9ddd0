"""What the command prints after a run: where the results are, and what to check first."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from therapy_analytics.core.printable import counted
from therapy_analytics.measures.null.surrogates import FEWEST_DONORS
from therapy_analytics.measures.process.learnt_turns import among, were_learnt_from
from therapy_analytics.measures.process.role_check import SWAPPED
from therapy_analytics.measures.process.training_distance import FAR
from therapy_analytics.text.english import NOT_ENGLISH, UNDIVIDED

if TYPE_CHECKING:
    from pandas import DataFrame

    from therapy_analytics.run import RunResult, Writing


_COLUMNS = (
    "counselor", "role_method", "role_pronoun_margin", "distance_from_training", "notes", "n_turns_to_review",
)  # fmt: skip
N_RATES = 4
"""The most rates of the user's own codes that the terminal shows; sessions.csv has all."""


def columns_shown(result: RunResult) -> tuple[list[tuple[str, str]], str]:
    """Return which columns of the sessions table the terminal shows, as (heading, column), and the caption."""
    talks = ("talks", "therapist_talk_share")
    if not result.rated:
        usual = {"asks": "question", "reflects": "reflection", "advises or informs": "input"}
        shown = [(heading, f"therapist_{name}_rate") for heading, name in usual.items()]
        return [talks, *shown], "talks: the therapist's share of the words. The rest: share of therapist turns."
    rates = [(code.name, f"{code.column}_rate") for code in result.rated[:N_RATES]]
    left = len(result.rated) - len(rates)
    more = f" {counted(left, 'code')} more in the table of sessions." if left else ""
    return [talks, *rates], (
        "talks: the therapist's share of the words. The rest: share of the turns of the code's role." + more
    )


def before_the_table(result: RunResult) -> list[str]:
    """Return what is said above the table: what an earlier run had done, how files were read, what coded the turns."""
    n = result.n_kept
    kept = f"{counted(n, 'session')} done by an earlier run of the same kind {'was' if n == 1 else 'were'} kept."
    were = were_learnt_from(result.columns(("learnt_turns",)))
    learnt = [] if were is None or not were.any() else [f"{among(were)}: agreement with people there is not evidence."]
    coded = [_coded_by(result.tagger)] if result.tagger else []
    return [*learnt, *([kept] if n else []), *result.told, *coded]


def pointers(result: RunResult, writing: Writing) -> list[str]:
    """Return the last lines of a run, five at most: files, danger, what is missing, what to check, what comes next."""
    sessions = result.columns(_COLUMNS)
    lines = (
        _files(result, writing), _danger(sessions, page=_page(result).is_file()), _missing(result), checks(sessions),
        _next(result, sessions),
    )  # fmt: skip
    return [line for line in lines if line]


def _page(result: RunResult) -> Path:
    return result.out / "report.html"


def _files(result: RunResult, writing: Writing) -> str:
    """Say which file to open."""
    out, meaning = result.out, "codebook.csv says what each column means."
    if result.form == "parquet":
        return (
            f"{out / 'sessions'}{os.sep} and {out / 'turns'}{os.sep} hold the tables (Parquet): a row per session, "
            f"a row per turn. {meaning}"
        )
    numbers = f"{out / 'sessions.csv'} has the numbers, a row per session; {meaning}"
    if _page(result).is_file():
        return f"Open {_page(result)} in a browser. {numbers}"
    return f"There are too many sessions for one page. {numbers}" if writing.page else numbers


def _danger(sessions: DataFrame, *, page: bool) -> str:
    """Say how many turns to read for danger."""
    to_read = sessions["n_turns_to_review"]
    if not to_read.sum() > 0:
        return ""
    where = "The page" if page else "Column n_turns_to_review of the table of sessions"
    which = "" if page else ", and column danger_turn of turn_measures marks the client's"
    turns, n = counted(int(to_read.sum()), "turn"), counted(int((to_read > 0).sum()), "session")
    return (
        f"To read: {turns} in {n}, which may be about danger. {where} says in which sessions they are{which}. That "
        "none was found in a session does not mean that it was safe."
    )


def _missing(result: RunResult) -> str:
    """Say what could not be read, measured or drawn."""
    n_files = len(result.problems) - result.n_unmeasured
    told = [
        *([f"{counted(n_files, 'file')} could not be read"] if n_files else []),
        *([f"{counted(result.n_unmeasured, 'session')} could not be measured"] if result.n_unmeasured else []),
        *([f"{counted(len(result.not_drawn), 'figure')} could not be drawn"] if result.not_drawn else []),
        *([f"{counted(len(result.remarks), 'thing')} to check in your tables"] if result.remarks else []),
    ]
    return f"{'; '.join(told)}: {result.out / 'problems.csv'} says why and what to do." if told else ""


def checks(sessions: DataFrame) -> str:
    """Say which sessions to check before their numbers are used; empty if there are none.

    Parameters
    ----------
    sessions : DataFrame
        The sessions table, (n_sessions, n_columns); only `_COLUMNS` are looked at.
    """
    method, notes = sessions["role_method"], sessions["notes"]
    clauses = (
        (notes.str.contains(NOT_ENGLISH, regex=False),
         "{} not in English, as it seems: this program's taggers and word lists mean nothing there"),
        (notes.str.contains(UNDIVIDED, regex=False),
         "{} in a script without spaces between words: words are not counted, and the taggers mean nothing there"),
        (method == "none", "{} without a recognized therapist (name the label: --therapist LABEL)"),
        (method == "pronouns_unsure", "{} whose therapist is a mere guess"),
        (sessions["role_pronoun_margin"] < SWAPPED, "{} whose labels may be swapped (see tanalyze speakers)"),
    )  # fmt: skip
    noted = notes != ""
    for which, _ in clauses:
        noted &= ~which
    others = (
        (sessions["distance_from_training"] > FAR,
         "{} unlike those that the tagger learnt from: rates may be off by more than their intervals"),
        (noted, "{} with another note (column notes of the table of sessions)"),
    )  # fmt: skip
    told = [clause.format(counted(int(which.sum()), "session")) for which, clause in (*clauses, *others) if which.any()]
    if len(sessions) <= FEWEST_DONORS:
        told.append(f"synchrony has no surrogate pairs, which take {FEWEST_DONORS + 1} sessions of like length")
    return f"Check: {'; '.join(told)}." if told else ""


def _next(result: RunResult, sessions: DataFrame) -> str:
    """Say what to do next."""
    people = sessions["counselor"]
    out = shlex.quote(str(result.out))
    if people[people.notna() & (people != "")].nunique() > 1:
        return f"Next: tanalyze compare {out} --by counselor says who does what more than whom."
    return f"Next: code some turns yourself; tanalyze agree {out} CODES says how far the machine agrees with you."


_WHY = {"refused": "whose answer had no codes", "nonsense": "whose codes do not exist", "failed": "without an answer"}


def _coded_by(tagger: Mapping[str, Any]) -> str:
    """Say what coded the turns, and what an outside coder did."""
    if tagger["kind"] != "llm":
        return f"Coded by the {tagger['kind']} tagger {tagger['version']} (aim: {tagger['aim']})."
    uncoded = {name: tagger[f"n_{name}"] for name in ("refused", "nonsense", "failed")}
    missing = ", ".join(f"{n} {_WHY[name]}" for name, n in uncoded.items() if n)
    books = f" by the codes of {', '.join(tagger['codebooks'])}" if "codebooks" in tagger else ""
    return (
        f"Coded by {tagger['model']}{books}: "
        f"{counted(tagger['n_asked'], 'turn')} asked, {tagger['n_cached']} answered before; "
        + (f"without codes: {missing}." if missing else "all have an answer.")
    )
