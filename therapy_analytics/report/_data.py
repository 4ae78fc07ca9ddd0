"""What the page shows, as JSON: of all sessions together, and of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.compare._results import Results, read_results
from therapy_analytics.errors import BadOptionError
from therapy_analytics.report import _how as how
from therapy_analytics.report import _overview as over
from therapy_analytics.report._between import of_groups
from therapy_analytics.report._codes import codes_json, with_roles
from therapy_analytics.report._files import read_columns
from therapy_analytics.report._findings import HIGH, Tested, best, nothing, of_sessions, tested, unseen
from therapy_analytics.report._measures import Shown, chosen, shown_turns
from therapy_analytics.report._review import to_review
from therapy_analytics.report._session import session_data

Json = dict[str, Any]


def report_data(folder: Path, *, quotes: bool = False, most_sessions: int) -> tuple[Json, list[Json]]:
    """Return what the page shows: of all sessions, and of each of the first `most_sessions`.

    Raises
    ------
    BadOptionError
        It is no folder of results, or quotes are asked for and it has none.
    BadDataFileError
        A file of it is broken.
    """
    read = read_results(folder)
    codes = codes_json(folder)
    columns = [str(one["column"]) for one in codes]
    turns = shown_turns(folder)
    ids = [str(one) for one in read.sessions["session_id"][:most_sessions]]
    sessions = [session_data(_place(folder, one), one, i, columns, turns, quotes=quotes) for i, one in enumerate(ids)]
    if quotes and sessions and not any("text" in one for one in sessions):
        problem = "quotes are asked for, and no turns.csv of this folder holds what was said"
        raise BadOptionError("--quotes", problem, "Say tanalyze run --quotes first, or leave --quotes out")
    overview = _overview(read, sessions, with_roles(codes, sessions), _problems(folder))
    return {**overview, "quotes": quotes}, sessions


def _place(folder: Path, name: str) -> Path:
    """Return a session's folder; an id that leads elsewhere is none of this program's."""
    if name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise BadOptionError(
            "results", "sessions.csv has a session_id that is no name of a folder", "Run tanalyze run again"
        )
    return folder / "sessions" / name


def _overview(read: Results, sessions: Sequence[Json], codes: Sequence[Json], problems: Sequence[Json]) -> Json:
    shown, about, profiles = chosen(read), over.about_columns(read), over.profiles_of(read)
    return {
        "program": f"therapy-analytics {metadata.version('therapy-analytics')}",
        "quotes": False,
        "tagger": over.tagger_words(read.recipes[0] if read.recipes else {}),
        "n_left_out": len(read.sessions) - len(sessions),
        "about": [{"name": name, "label": name.replace("_", " ")} for name in about],
        "measures": over.measures_json(shown, read, profiles),
        "references": over.reference_labels(profiles),
        "sessions": over.sessions_json(shown, read, len(sessions)),
        "groups": over.groups_json(shown, read, about),
        **_standing_out(read, shown, about, (profiles, sessions)),
        "problems": list(problems),
        "codes": list(codes),
        "limits": [*how.LIMITS, *read.warnings],
    }


def _standing_out(
    read: Results,
    shown: Sequence[Shown],
    about: Sequence[str],
    beside: tuple[pd.DataFrame | None, Sequence[Mapping[str, Any]]],
) -> Json:
    """Return the findings, and how they were chosen."""
    profiles, sessions = beside
    held = tested(shown, read, profiles)
    single = list(of_sessions(held, read, profiles)) if held is not None and profiles is not None else []
    between, n_between = of_groups(shown, read, about, profiles)
    found, more = best([*single, *between])
    could_not = unseen(held) if held is not None else ""
    last = [] if found else [nothing(could_not)]
    listed = [*to_review(read, sessions), *found, *last]
    told = [how.REVIEW, _against(held, profiles), how.GROUPS.format(n=n_between) if n_between else "", how.ADJUSTED]
    whole = " ".join(part for part in (*told, could_not, more, how.MEANS) if part)
    return {"findings": [one.json() for one in listed], "findings_how": whole}


def _against(held: Tested | None, profiles: pd.DataFrame | None) -> str:
    if held is None or profiles is None:
        return how.NO_REFERENCE
    n = int(profiles.loc[profiles["group"] == HIGH, "n_sessions"].max())
    return how.SESSIONS.format(n=n, n_tests=held.n)


def _problems(folder: Path) -> list[Json]:
    needed = ("file", "line", "problem", "what_would_be_right")
    table = read_columns(folder / "problems.csv", needed)
    columns = [table.get(name, ()) for name in needed]
    columns.append(table.get("kind") or ["not read"] * len(columns[0]))  # runs of before 0.4.0 list unread files alone
    names = ("file", "line", "problem", "remedy", "kind")
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
