"""Sessions in groups and clusters, and which groups are compared with which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import combinations

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import SESSION, Bools, Floats, Ints, cluster_column, cluster_numbers
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.base import count_name, total_name
from therapy_analytics.stats.compare._measures import ComparedMeasure
from therapy_analytics.stats.compare._results import Results

OTHERS, PAIRS, REFERENCE = "others", "pairs", "reference"
ALL_OTHERS = "all others"
ALL, TOGETHER = "all", "all sessions"
"""The column that puts all sessions into one group, and the name of that."""
FEW_GROUPS = 3
"""Up to this number, groups are compared in pairs; of more, each with all others."""
MOST_GROUPS = 100
_MOST_OTHERS = 6
"""So many of all others are named."""
NO_CLIENTS = (
    "Nothing is claimed of counselors, because no column says whose sessions these are: sessions of one client are "
    "alike, and a few clients would pass for many. Name the clients (a column client in the table beside the "
    "transcripts). If each session is of another client, compare with --cluster session."
)
SAME_CLIENTS = (
    "Nothing is claimed of counselors until it is known who the clients are: {n} under several counselors. If one name "
    "is one person, such as a standardised patient, compare with --cluster client --crossed; if they are different "
    "people, with --cluster client."
)
_COUNTED_APART = "{n} of a counselor without a client count{s} as those of one client."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Grouped:
    """The n sessions that belong to a group, in groups and clusters, and their values of m measures.

    `values` (n, m) are in the unit of each measure, nan where undefined. Groups are those of the column `by`; `group`
    (n,) is an index into their `names`, -1 for groups that are not compared themselves but count among all others.
    Clusters are those of the column `clustered_by`, or `SESSION`, and `cluster` (n,) their number from 0. `turns` (n,)
    is the number of turns, nan where unknown, and `counts` (n, m, 2) are the turns that a rate counts and those that it
    is out of, nan for measures that are no such rates. `notes` say what was left out, and `barred` why nothing may be
    claimed of these groups; it is empty where something may.
    """

    sessions: pd.DataFrame
    measures: tuple[ComparedMeasure, ...]
    values: Floats
    by: str
    names: tuple[str, ...]
    group: Ints
    cluster: Ints
    clustered_by: str
    turns: Floats
    counts: Floats
    notes: tuple[str, ...] = ()
    barred: str = ""

    @property
    def usual(self) -> tuple[str, ...]:
        """Return those of the measures that are compared by default."""
        return tuple(one.name for one in self.measures if one.usual)

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters."""
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0


def with_all(results: Results, by: str) -> Results:
    """Return the results with all sessions in one group if groups are those of `ALL`, and no column is called so."""
    if by != ALL or ALL in results.sessions:
        return results
    return replace(results, sessions=results.sessions.assign(**{ALL: TOGETHER}))


@dataclass(frozen=True, slots=True, eq=False)
class GroupContrast:
    """One group against another or all others: their names, and masks (n,) of the sessions of each side."""

    group: str
    against: str
    own: Bools
    other: Bools


def grouped(
    results: Results,
    measures: Sequence[ComparedMeasure],
    *,
    by: str,
    cluster: str | None,
    where: Sequence[str] = (),
    crossed: bool = False,
) -> Grouped:
    """Return the sessions in groups.

    `by` and `cluster` are columns about sessions; without `cluster`, one is chosen (`cluster_column`). Conditions
    (`where`) are ``column=value`` or ``column!=value``, of which all must hold; values may be patterns (``nair_*``).
    `crossed` says that clients with one name are one person, also under several counselors. Raises `BadOptionError`
    where there is no such column, or no session is left.
    """
    _require(results, by, "--by")
    frame, notes = _kept(results, where)
    named = frame[by] != ""
    if not named.any():
        known = ", ".join(name for name in results.about if (frame[name] != "").any())
        raise BadOptionError("--by", f"the column {by} is empty in all sessions", f"Columns that are not: {known}")
    if not named.all():
        n = int((~named).sum())
        notes.append(f"{n:,} session{'' if n == 1 else 's'} left out: column {by} is empty.")
    frame = frame[named].reset_index(drop=True)
    names, more = _compared(frame[by])
    chosen = cluster_column(frame[results.about], by) if cluster is None else cluster
    if chosen != SESSION:
        _require(results, chosen, "--cluster")
    numbers, remarks = _clusters(frame, chosen, by, crossed=crossed)
    place = {name: i for i, name in enumerate(names)}
    asked = [one.name for one in measures]
    return Grouped(
        sessions=frame,
        measures=tuple(measures),
        values=frame[asked].to_numpy(dtype=np.float64),
        by=by,
        names=names,
        group=np.array([place.get(name, -1) for name in frame[by]], dtype=np.int64),
        cluster=numbers,
        clustered_by=chosen,
        turns=frame["n_turns"].to_numpy(dtype=np.float64) if "n_turns" in frame else np.full(len(frame), np.nan),
        counts=np.stack([counts(frame, name) for name in asked], axis=1) if asked else np.zeros((len(frame), 0, 2)),
        notes=(*notes, *more, *remarks),
        barred=_barred(frame, by, chosen) if cluster is None and not crossed else "",
    )


def counts(frame: pd.DataFrame, name: str) -> Floats:
    """Return the turns that a rate counts and those that it is out of, (n_sessions, 2).

    Both are nan where the measure is no such rate, or the columns of its counts are missing.
    """
    found = np.full((len(frame), 2), np.nan)
    totals = total_name(name), f"n_turns_{name.partition('_')[0]}"
    total = next((column for column in totals if column in frame), "")
    if not name.endswith("_rate") or count_name(name) not in frame or not total:
        return found
    both = frame[[count_name(name), total]].to_numpy(dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        fits = np.abs(both[:, 0] / both[:, 1] - frame[name].to_numpy(dtype=np.float64)) < 0.5 / both[:, 1]
    found[fits] = both[fits]
    return found


def _clusters(frame: pd.DataFrame, column: str, by: str, *, crossed: bool) -> tuple[Ints, list[str]]:
    """Return the cluster of each session (n,), and a sentence on clients who are not named.

    Of a counselor some of whose clients are named, the other sessions may all be of one client, and count so.
    """
    if by != "counselor" or column != "client":
        return cluster_numbers(frame, column, by, crossed=crossed), []
    unnamed = frame[column] == ""
    filled = frame.assign(**{column: frame[column].where(~unnamed, "\x1e" + frame[by])})
    n = int(unnamed.sum())
    told = _COUNTED_APART.format(n=f"{n:,} session{'' if n == 1 else 's'}", s="s" if n == 1 else "")
    return cluster_numbers(filled, column, by, crossed=crossed), [told] if n else []


def _barred(frame: pd.DataFrame, by: str, chosen: str) -> str:
    """Return why nothing may be claimed of counselors; "" where something may, and of other groups."""
    if by != "counselor":
        return ""
    if chosen == SESSION:
        return NO_CLIENTS
    if chosen != "client":
        return ""
    owners = frame[frame["client"] != ""].groupby("client")[by].nunique()
    shared = int((owners > 1).sum())
    names = f"{shared} {'name' if shared == 1 else 'names'} of clients {'stands' if shared == 1 else 'stand'}"
    return SAME_CLIENTS.format(n=names) if shared else ""


def _require(results: Results, column: str, option: str) -> None:
    """Raise unless the column describes sessions."""
    if column in results.about:
        return
    known = ", ".join(name for name in results.about if name != "notes")
    is_measure = column in results.sessions
    unknown = f"the sessions have no column {column}"
    problem = f"{column} is a measure, not something known about the sessions" if is_measure else unknown
    raise BadOptionError(option, problem, f"Columns about the sessions: {known}")


def _kept(results: Results, where: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the sessions that meet all conditions, and a sentence on each condition."""
    frame, notes = results.sessions, []
    for one in where:
        column, equals, value = one.partition("=")
        unlike = column.endswith("!")
        column = column.removesuffix("!").strip()
        if not equals or not column:
            raise BadOptionError("--where", f"{one!r} is not understood", "Write column=value or column!=value")
        _require(results, column, "--where")
        keep = np.array([fnmatchcase(text, value.strip()) for text in frame[column]]) != unlike
        notes.append(f"Only sessions with {one}: {int(keep.sum())} of {len(keep)}.")
        frame = frame[keep]
    if frame.empty:
        values = ", ".join(sorted(set(results.sessions[column]))[:8])
        raise BadOptionError("--where", f"no session has {' and '.join(where)}", f"Values of {column}: {values}")
    return frame.reset_index(drop=True), notes


def _compared(column: pd.Series) -> tuple[tuple[str, ...], list[str]]:
    """Return the groups that are compared, by name: the largest where there are very many."""
    counts = column.value_counts()
    if len(counts) <= MOST_GROUPS:
        return tuple(sorted(counts.index)), []
    several = counts[counts > 1]
    largest = sorted(several.index, key=lambda name: (-int(counts[name]), name))[:MOST_GROUPS]
    many = f"{column.name} has {len(counts):,} values"
    if not largest:
        return (), [f"{many}, each with one session: it names sessions, not groups, and nothing can be compared."]
    single = len(counts) - len(several)
    alone = f"; {single:,} have one session only" if single else ""
    rest = f"The {len(largest)} largest are compared with all others, which include the rest."
    return tuple(sorted(largest)), [f"{many}{alone}. {rest}"]


def contrasts(data: Grouped, against: str | None) -> list[GroupContrast]:
    """Return which groups are compared with which; raise `BadOptionError` for a group that there is not.

    Groups are compared `against` ``others``, in ``pairs``, or all with a group that is named; by default in pairs of up
    to three groups, and of more each against all others. ``reference`` and ``reference:NAME`` give none: references are
    not groups of these sessions.
    """
    kind = against or (PAIRS if len(data.names) <= FEW_GROUPS else OTHERS)
    masks = {name: data.group == i for i, name in enumerate(data.names)}
    if kind.partition(":")[0] == REFERENCE:
        return []
    if kind not in (OTHERS, PAIRS) and kind not in data.names:
        problem = f"there is no group {kind!r} in column {data.by}"
        remedy = f"Say {OTHERS}, {PAIRS}, {REFERENCE}, or one of {', '.join(data.names[:20])}"
        raise BadOptionError("--against", problem, remedy)
    if len(data.names) < 2 and not (data.group < 0).any():
        return []
    if kind == OTHERS:
        return [GroupContrast(name, _others(data, name), own, ~own) for name, own in masks.items()]
    if kind == PAIRS:
        return [GroupContrast(a, b, masks[a], masks[b]) for a, b in combinations(data.names, 2)]
    return [GroupContrast(name, kind, own, masks[kind]) for name, own in masks.items() if name != kind]


def _others(data: Grouped, name: str) -> str:
    """Return how all other groups than one are called: with who is among them."""
    rest = sorted(set(data.sessions[data.by]) - {name})
    more = f" and {len(rest) - _MOST_OTHERS} more" if len(rest) > _MOST_OTHERS else ""
    return f"{ALL_OTHERS} ({', '.join(rest[:_MOST_OTHERS])}{more})"
