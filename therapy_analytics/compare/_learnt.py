"""Sessions that the tagger learnt from, and sessions that are in a reference: left out unless asked, and said first."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from therapy_analytics.compare._groups import REFERENCE
from therapy_analytics.compare._results import Results
from therapy_analytics.errors import BadOptionError
from therapy_analytics.measures.process.learnt_turns import UNKNOWN, among, were_learnt_from


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
    """Return the sessions that are not in the reference with which they are compared, and say how many are.

    Raises
    ------
    BadOptionError
        All are in it.
    """
    who = "people" if against == REFERENCE or against.partition(":")[2].startswith("human") else "model"
    were = were_learnt_from(read.sessions, f"{who}_reference_turns")
    if were is None or not were.any():
        return read
    head = among(were, f"those that the reference profiles of {'people' if who == 'people' else 'models'} are made of")
    if counted:
        told = f"{head}, and compared as asked: beside themselves they differ too little."
        return replace(read, warnings=(told, *read.warnings))
    if were.all():
        remedy = "Compare other sessions, or say --include-learnt to compare them all the same"
        raise BadOptionError("--against", f"{head}, and beside itself nothing differs", remedy)
    told = f"{head}, and are left out (--include-learnt compares them)."
    return replace(read, sessions=read.sessions[~were].reset_index(drop=True), warnings=(told, *read.warnings))
