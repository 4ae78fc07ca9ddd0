"""The course of clients and counselors: scores, measures, and which changes are more than error and sampling noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.stats.compare.courses import difference_interval
from therapy_analytics.stats.compare.sessions import Results
from therapy_analytics.stats.outcomes.join import DANGER, Joined
from therapy_analytics.stats.outcomes.scales import Scale

IMPROVED, WORSE, NO_CHANGE = "improved", "worse", "no reliable change"
MORE, LESS, NOISE = "more", "less", "within noise"
SHOWN = ("therapist_reflection_rate", "therapist_question_rate", "client_change_rate")
"""The measures of the figure by default."""
LINES = ("who", "client", "session_id", "number", "kind", "name", "label", "unit", "value", "lo", "hi")
"""The columns of the course in long form, which the figure draws."""


def course_table(data: Joined) -> pd.DataFrame:
    """Return a row a client and session, in the order of sessions, with what changed.

    Parameters
    ----------
    data : Joined
        Sessions with scores and measures; those of unknown clients have no course.

    Returns
    -------
    DataFrame
        ``client``, ``counselor``, ``number``, ``date``, ``session_id``; for each scale its score, ``..._change`` (score
        less the client's first) and ``..._reliable`` (improved, worse, no reliable change; empty where nobody knows how
        large a reliable change is); for each measure its value, ``..._change`` (value less that of the client's last
        session before that has one) and ``..._since_last`` (more, less, within noise; empty where there is no
        interval); `DANGER`.
    """
    table = data.table[data.table["client"] != ""].reset_index(drop=True)
    clients = table["client"]
    columns: dict[str, Any] = {name: table[name] for name in ("client", "counselor", "number", "date", "session_id")}
    for scale in data.scales:
        score = table[scale.name]
        earlier = score.notna().groupby(clients).cumsum() > 1
        change = (score - score.groupby(clients).transform("first")).where(earlier & score.notna())
        columns |= {scale.name: score, f"{scale.name}_change": change}
        columns[f"{scale.name}_reliable"] = reliable(change, scale)

    def last_before(names: list[str]) -> pd.DataFrame:
        """Return some columns of the client's last session before each that has them all."""
        whole = table[names].where(table[names].notna().all(axis=1))
        return whole.groupby(clients).ffill().groupby(clients).shift()

    for name in (one.name for one in data.measures):
        columns |= {name: table[name], f"{name}_change": table[name] - last_before([name])[name]}
        ends = [name, f"{name}_lo", f"{name}_hi"]
        if set(ends) <= set(table):
            earlier_ends, own = (one.to_numpy(dtype=np.float64) for one in (last_before(ends), table[ends]))
            low, high = difference_interval(earlier_ends, own)
            words = pd.Series(np.select([low > 0, high < 0], [MORE, LESS], NOISE), index=table.index)
            columns[f"{name}_since_last"] = words.where(np.isfinite(low) & np.isfinite(high), "")
    return pd.DataFrame(columns | ({DANGER: table[DANGER]} if DANGER in table else {}))


def reliable(change: pd.Series, scale: Scale) -> pd.Series:
    """Return what changes of a score are, in words: `IMPROVED`, `WORSE`, `NO_CHANGE`, or "" where it is unknown.

    Parameters
    ----------
    change : Series of float
        Points, later less earlier; nan where there is nothing to compare.
    scale : Scale
        The scale; a change of ``scale.reliable`` points or more is reliable.

    References
    ----------
    Jacobson, N. S., & Truax, P. (1991). Clinical significance: a statistical approach to defining meaningful change in
    psychotherapy research. Journal of Consulting and Clinical Psychology, 59(1), 12-19.
    """
    gain = change if scale.higher_is_better else -change
    words = np.select([gain >= scale.reliable, gain <= -scale.reliable], [IMPROVED, WORSE], NO_CHANGE)
    known = change.notna() & bool(np.isfinite(scale.reliable))
    return pd.Series(words, index=change.index).where(known, "")


def course_lines(data: Joined, results: Results, *, by: str = "client", shown: Sequence[str] = ()) -> pd.DataFrame:
    """Return the course in long form, as the figure `client_course` draws it.

    Parameters
    ----------
    data : Joined
        Sessions with scores and measures.
    results : Results
        What the measures are called.
    by : {"client", "counselor"}
        Whose course: a figure a client, or a figure a counselor with a line a client.
    shown : sequence of str, optional
        Measures below the scores.

    Returns
    -------
    DataFrame
        `LINES`. ``who`` is whose figure the row belongs to, ``number`` the place on its x-axis: the number of the
        session; of counselors, its order by date over all clients. ``kind`` is ``scale`` (``lo`` and ``hi``: between
        them the score has not changed reliably since the client's first), ``cutoff``, ``measure`` (``lo`` and ``hi``:
        its 95% interval) or ``danger`` (``value``: client turns of present danger).
    """
    table = data.table[(data.table["client"] != "") & (data.table[by] != "")]
    if by == "counselor":
        order = table.sort_values(["date", "number"], kind="stable").groupby(by).cumcount() + 1
        table = table.assign(number=order.reindex(table.index).astype(float))
    about = table[["client", "session_id", "number"]].assign(who=table[by])
    parts = []
    for scale in data.scales:
        own = about.assign(kind="scale", name=scale.name, label=scale.label, unit=f"{scale.better} is better")
        score = table[scale.name]
        first = score.groupby(table["client"]).transform("first")
        width = scale.reliable if by == "client" else np.nan
        parts.append(own.assign(value=score, lo=first - width, hi=first + width)[score.notna()])
        if np.isfinite(scale.cutoff):
            parts.append(own.drop_duplicates("who").assign(kind="cutoff", value=scale.cutoff))
    known = [one.name for one in data.measures]
    for name in shown or [one for one in SHOWN if one in known] or known[:3]:
        row = results.codebook.loc[name]
        label = str(row["label"]) or name.replace("_", " ")
        own = about.assign(kind="measure", name=name, label=label, unit=str(row["unit"]), value=table[name])
        ends = {end: table.get(f"{name}_{end}", np.nan) for end in ("lo", "hi")}
        parts.append(own.assign(**ends)[table[name].notna()])
    if DANGER in table:
        own = about.assign(kind="danger", name=DANGER, label="Turns of danger", unit="count", value=table[DANGER])
        parts.append(own[table[DANGER] > 0])
    parts = [one.reindex(columns=list(LINES)) for one in parts if len(one)]
    if not parts:  # no session says whose it is
        return pd.DataFrame(columns=list(LINES))
    return pd.concat(parts).sort_values(["who", "number"], kind="stable", ignore_index=True)


def last_changes(course: pd.DataFrame, scale: Scale) -> pd.DataFrame:
    """Return the reliable change of each client by the last score.

    Parameters
    ----------
    course : DataFrame
        As `course_table`.
    scale : Scale
        The scale.

    Returns
    -------
    DataFrame
        A row for each client with two scores or more: ``client``, ``change``, ``reliable``; ``n``, how many; ``first``.
    """
    scored = course[course[scale.name].notna()].groupby("client", sort=False)
    last = scored.tail(1).set_index("client")
    found = pd.DataFrame({"change": last[f"{scale.name}_change"], "reliable": last[f"{scale.name}_reliable"]})
    found = found.assign(n=scored.size(), first=scored[scale.name].first())
    return found[found["n"] > 1].reset_index()
