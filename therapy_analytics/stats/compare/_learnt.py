"""Sessions that the tagger learnt from, and sessions that are in a reference: left out unless asked, and said first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.process.learnt_turns import OF_REFERENCES, UNKNOWN, among, were_learnt_from
from therapy_analytics.stats.compare._groups import REFERENCE
from therapy_analytics.stats.compare._reference import HUMAN, PREFIX, in_reference
from therapy_analytics.stats.compare._results import Results


def learnt_sessions(sessions: pd.DataFrame, tagger: str, *, counted: bool) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return which sessions are left out where people's codes put the machine's rates right, and what is said of that.

    Notes
    -----
    The machine errs less in sessions that it learnt from. Where only these were coded by hand, its error on the others
    is taken as too small, and the rates of these are wrong, in too narrow intervals. Leaving them out where the error
    is estimated but not where it is applied would put their rates wrong in turn. So they leave both: what is left is a
    random draw of the sessions that the machine has not seen, if the whole was one of all sessions.
    """
    were = were_learnt_from(sessions)
    if were is None:
        return frozenset(), () if tagger == "llm" else (UNKNOWN,)
    head = among(were)
    if not were.any():
        return frozenset(), (f"{head}.",)
    if counted:
        why = "their rates with the turns that people coded hold for these, and say too little of the error on others"
        return frozenset(), (f"{head}, and counted as asked: {why}.",)
    why = "the tagger errs less there than on others, so that rates with the turns that people coded leave them out"
    return frozenset(sessions.loc[were, "session_id"]), (f"{head}: {why} (--include-learnt counts them).",)


def apart_from_reference(read: Results, against: str, *, counted: bool) -> Results:
    """Return the sessions to compare with references, and say how many of them are in a reference themselves.

    A session is not held against the reference that it is in, unless those are `counted`.

    Raises
    ------
    BadOptionError
        All sessions are in the only reference.
    """
    groups = HUMAN if against == REFERENCE else (against.removeprefix(PREFIX),)
    inside = {group: pd.Series(in_reference(read.sessions, group)) for group in groups}
    told = [among(were, f"those of the reference {group}") for group, were in inside.items() if were.any()]
    if not told:
        return read
    head = "; ".join(told)
    if counted:
        none = dict.fromkeys(OF_REFERENCES, np.nan)
        warning = f"{head}. They are compared with it as asked: beside themselves they differ too little."
        return replace(read, sessions=read.sessions.assign(**none), warnings=(warning, *read.warnings))
    if all(were.all() for were in inside.values()):
        remedy = "Compare other sessions, or say --include-learnt to compare them all the same"
        raise BadOptionError("--against", f"{head}, and beside itself nothing differs", remedy)
    warning = f"{head}. No session is held against the reference that it is in (--include-learnt does so)."
    return replace(read, warnings=(warning, *read.warnings))
