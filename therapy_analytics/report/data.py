"""What the page shows, as JSON: of all sessions together, and of each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.printable import tagger_words
from therapy_analytics.measures.process.learnt_turns import among, were_learnt_from
from therapy_analytics.report import _words as words
from therapy_analytics.report import overview as over
from therapy_analytics.report._between import of_groups
from therapy_analytics.report._findings import HIGH, best, of_sessions, tested, unseen
from therapy_analytics.report._look_first import look_first
from therapy_analytics.report._session import session_data
from therapy_analytics.report.files import read_rows
from therapy_analytics.report.sheet import changed_texts, changes, sheet_json
from therapy_analytics.report.shown import Shown, ShownTurns, chosen, lanes_json, shown_turns, strip_of, with_roles
from therapy_analytics.stats.compare.sessions import Results, read_results

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
    turns = shown_turns(folder)
    ids = [str(one) for one in read.sessions["session_id"][:most_sessions]]
    sessions = [session_data(_place(folder, one), one, i, turns, quotes=quotes) for i, one in enumerate(ids)]
    if quotes and sessions and not any("text" in one for one in sessions):
        problem = "these results do not hold what was said"
        raise BadOptionError("--quotes", problem, "Run tanalyze run with --quotes first, or leave --quotes out")
    shown = chosen(read)
    found, why = changes(read, shown)
    texts = changed_texts(found, why, read.sessions)
    sessions = [{**one, "changed": text} for one, text in zip(sessions, texts, strict=False)]
    sheet = sheet_json(read, shown, sessions, found)
    whole = {
        **_overview(read, shown, sessions, turns),
        "sheet": sheet,
        "problems": _problems(folder),
        "quotes": quotes,
    }
    return whole, sessions


def _place(folder: Path, name: str) -> Path:
    """Return a session's folder; an id that leads elsewhere is none of this program's."""
    if name in ("", ".", "..") or "/" in name or "\\" in name or "\0" in name:
        raise BadOptionError(
            "results", "sessions.csv has a session_id that is no name of a folder", "Run tanalyze run again"
        )
    return folder / "sessions" / name


def _overview(read: Results, shown: Sequence[Shown], sessions: Sequence[Json], turns: ShownTurns) -> Json:
    about, profiles = over.about_columns(read), over.profiles_of(read)
    codes = with_roles(turns.codes, sessions)
    return {
        "who": over.who(read),
        "program": f"therapy-analytics {metadata.version('therapy-analytics')}",
        "tagger": tagger_words(read.recipes[0] if read.recipes else {}),
        "n_left_out": len(read.sessions) - len(sessions),
        "about": [{"name": name, "label": name.replace("_", " ")} for name in about],
        "measures": over.measures_json(shown, read, profiles),
        "references": over.reference_labels(profiles, models=bool(over.has_models(read).any())),
        "strip": [one.name for one in strip_of(shown)],
        "sessions": over.sessions_json(shown, read, len(sessions)),
        "groups": over.groups_json(shown, read, about),
        "units": over.units_json(read, about),
        **standing_out(read),
        "look_first": look_first(shown, read, sessions, turns.marks),
        "codes": codes,
        "lanes": lanes_json(codes),
        "limits": [*_seen_before(read), *words.LIMITS, *read.warnings],
    }


def _seen_before(read: Results) -> list[str]:
    """Say how many sessions the tagger learnt from, and how many are in the reference that they are drawn beside."""
    told = {"learnt_turns": words.LEARNT, "skilled_reference_turns": words.IN_REFERENCE}
    were = {name: were_learnt_from(read.sessions, name) for name in told}
    return [among(one, told[name]) for name, one in were.items() if one is not None and one.any()]


def standing_out(read: Results) -> Json:
    """Return the findings of the page and how they were made: all that it claims about counselors and sessions."""
    shown, about, profiles = chosen(read), over.about_columns(read), over.profiles_of(read)
    held = tested(shown, read, profiles)
    single = [] if profiles is None or held is None else list(of_sessions(held, read, profiles))
    between, n_between, barred = of_groups(shown, read, about, profiles)
    found, more = best([*single, *between])
    n_tests = None if held is None else held.n
    groups = words.GROUPS.format(n=n_between) if n_between else "" if barred else words.NO_GROUPS
    told = [
        *barred,
        groups,
        _against(n_tests, profiles),
        words.ADJUSTED,
        unseen(held) if held is not None else "",
        more,
    ]
    return {
        "findings": [one.json() for one in found],
        "findings_how": [text for text in told if text],
        "n_compared": n_between + (n_tests or 0),
    }


def _against(n_tests: int | None, profiles: pd.DataFrame | None) -> str:
    """Return how single sessions were compared; `n_tests` is how often, None where there is no reference."""
    if n_tests is None or profiles is None:
        return words.NO_REFERENCE
    n = int(profiles.loc[profiles["group"] == HIGH, "n_sessions"].max())
    return words.SESSIONS.format(n=n, n_tests=n_tests)


def _problems(folder: Path) -> list[Json]:
    """Return what was not read, and what to check; runs of before 0.4.0 list unread files alone."""
    rows = read_rows(folder / "problems.csv", ("file", "line", "problem", "what_would_be_right"))
    return [
        {
            **{name: row[name] for name in ("file", "line", "problem")},
            "remedy": row["what_would_be_right"],
            "kind": row.get("kind", "not read"),
        }
        for row in rows
    ]
