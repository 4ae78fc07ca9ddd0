"""What the command says in words after a run: where the results are, and what to look at first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from therapy_analytics.language.english import NOT_ENGLISH
from therapy_analytics.measures.process.role_check import SWAPPED
from therapy_analytics.readers._notes import counted

if TYPE_CHECKING:
    from therapy_analytics.pipeline import RunResult


def pointers(result: RunResult, *, plots: bool) -> list[str]:
    """Return the lines below the table: the files, and what is to be checked."""
    unsure = int((result.sessions["role_method"] == "pronouns_unsure").sum())
    unknown = int((result.sessions["role_method"] == "none").sum())
    noted = int((result.sessions["notes"] != "").sum())
    figures = " and timeline.png" if plots else ""
    lines = [
        f"{result.out / 'sessions.csv'}: a row a session, with counts and intervals",
        f"{result.out / 'sessions'}{os.sep}<session>{os.sep}: turns.csv{figures}",
        f"{result.out / 'codebook.csv'}: what every column means and when it misleads",
    ]
    if "model" in result.tagger:
        lines.append(_coded_by(result.tagger))
    if unsure:
        lines.append(
            f"Check {counted(unsure, 'session')}: who the therapist is was a guess with a thin margin (role_margin)."
        )
    swapped = int((result.sessions["role_pronoun_margin"] < SWAPPED).sum())
    if swapped:
        lines.append(f"Check {counted(swapped, 'session')}: the labels may be swapped (role_pronoun_margin under -4).")
    if unknown:
        lines.append(
            f"In {counted(unknown, 'session')} nobody could be told to be the therapist; use --therapist LABEL."
        )
    strange = int(result.sessions["notes"].str.contains(NOT_ENGLISH, regex=False).sum())
    if strange:
        lines.append(
            f"Not in English, as it seems: {counted(strange, 'session')} (see the column notes). "
            "The tagger and the word lists are for English; these numbers mean nothing."
        )
    if noted:
        lines.append(f"Notes on {counted(noted, 'session')}: see the column notes.")
    if result.problems:
        n = len(result.problems)
        lines.append(
            f"{counted(n, 'file')} could not be read: {result.out / 'problems.csv'} says why and what would be right."
        )
    return lines


def _coded_by(tagger: Mapping[str, Any]) -> str:
    """Say what an outside coder did."""
    uncoded = {name: tagger[f"n_{name}"] for name in ("refused", "nonsense", "failed")}
    missing = ", ".join(f"{n} {name}" for name, n in uncoded.items() if n)
    return (
        f"Coded by {tagger['model']}: {counted(tagger['n_asked'], 'turn')} asked, {tagger['n_cached']} known before; "
        + (f"without codes: {missing}." if missing else "all have an answer.")
    )
