"""What is compared with what: measures (columns of sessions), groups of sessions, and the clusters that count once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import combinations
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import SESSION, Bools, Floats, Ints, cluster_column, cluster_numbers
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.base import STATISTICS, count_name, total_name
from therapy_analytics.measures.process.behaviour_rates import code_of_measure
from therapy_analytics.stats.compare.sessions import Results

SYNCHRONY, EXCESS = "synchrony", "excess"
FAMILIES = ("process", SYNCHRONY, "alliance")
FEW, EVERY = "core", "all"
TESTED, SHOWN, PART, NO = "tested", "shown", "part", "no"
"""Values of the codebook's column ``compare``; see `therapy_analytics.measures.base.Compared`."""
OTHERS, PAIRS, REFERENCE = "others", "pairs", "reference"
ALL_OTHERS = "all others"
ALL, TOGETHER = "all", "all sessions"
"""The column that puts all sessions into one group, and the name of that."""
NAMES = ("counselor", "client", "model", "source", "source_group", "session_id", "source_file")
"""Columns whose values are names: they are no numbers, and before them the name of the column is not repeated."""
FEW_GROUPS, MOST_GROUPS = 3, 100
"""Up to the first number, groups are compared in pairs; of more, each with all others, and at most the second."""
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


@dataclass(frozen=True, slots=True)
class ComparedMeasure:
    """A measure as ``codebook.csv`` describes it, with the ends of its range (infinite where it has none).

    It is `claimed` if it is tested, so that a difference can be claimed (else its numbers are only shown), and `usual`
    if it is among the measures that are compared by default. Of the rate of a code, `code` is the column of turns.
    """

    name: str
    family: str
    meaning: str
    unit: str
    evidence: str
    low: float
    high: float
    claimed: bool = True
    usual: bool = False
    code: str = ""


def choose(results: Results, asked: Sequence[str] | None) -> list[ComparedMeasure]:
    """Return the measures to compare; raise `BadOptionError` for a name that there is not, and list similar ones.

    What is asked for are names, patterns (``therapist_*_rate``), families (``process``), ``core``, or ``all`` (untested
    as well). A family is its measures whose evidence is supported or weak; of a measure for therapist, client,
    difference, slope and thirds, the whole alone. By default the few that are marked so where they are defined
    (`therapy_analytics.measures.Column`), so that few tests are made; whatever else is asked for is tested. Where there
    are none of these, all families. Synchrony is compared as excess over surrogate pairs: whoever names such a measure
    gets its excess.
    """
    book = results.codebook.loc[[name for name in results.measured if name in results.codebook.index]]
    usual = _usual(book)
    words = [part.strip() for word in asked or () for part in word.split(",") if part.strip()]
    if usual and set(words) <= {FEW}:
        tested = [name for name in usual if book.at[name, "compare"] == TESTED] or usual
        return [described(results, name, claimed=name in tested) for name in usual]
    found = [name for word in words for name in _named(results, book, word)] if asked else _sound(book)
    if not found:
        problem = "the results hold no measure whose evidence is supported or weak"
        raise BadOptionError("--measures", problem, f"Name measures, or say {EVERY}")
    return [described(results, name) for name in dict.fromkeys(found)]


def described(results: Results, name: str, *, claimed: bool = True) -> ComparedMeasure:
    """Return a column of the sessions as the codebook describes it."""
    row = results.codebook.loc[name]
    texts = {key: str(row[key]) for key in ("family", "meaning", "unit", "evidence")}
    # The range is written as "0 to 1", "0 or more", or "any"
    ends = re.fullmatch(r"(-?[\d.]+(?:e[+-]?\d+)?) (?:or more|to (-?[\d.]+(?:e[+-]?\d+)?))", str(row["range"]))
    low, high = (float(ends[1]), float(ends[2] or inf)) if ends else (-inf, inf)
    usual = row["compare"] in (TESTED, SHOWN)
    code = code_of_measure(name) if name.endswith("_rate") and texts["unit"] == "proportion" else ""
    return ComparedMeasure(name=name, low=low, high=high, claimed=claimed, usual=usual, code=code, **texts)


def _usual(book: pd.DataFrame) -> list[str]:
    return book.index[book["compare"].isin((TESTED, SHOWN))].tolist()


def _sound(book: pd.DataFrame) -> list[str]:
    """Return the measures with evidence, without those that are a part of another or its course over the session."""
    return book.index[~book["compare"].isin((PART, NO)) & book["evidence"].isin(("supported", "weak"))].tolist()


def _named(results: Results, book: pd.DataFrame, word: str) -> list[str]:
    """Return the measures that one word of ``--measures`` names."""
    main = book.index[book["compare"] != NO].tolist()
    if word in book.index:
        return [_excess_of(book, word)]
    if word == EVERY:
        return main
    if word == FEW and (usual := _usual(book)):
        return usual
    if word in FAMILIES:
        return _sound(book[book["family"] == word])
    if matching := [name for name in main if fnmatchcase(name, word)]:
        return matching
    if word in results.codebook.index and word not in results.about:
        problem = f"the measure {word!r} has no number in any of these sessions"
        raise BadOptionError(
            "--measures", problem, "It may need codes that the run did not give: see --all-codes of run"
        )
    near = get_close_matches(word.strip("*"), main, n=5, cutoff=0.5) or main[:5]
    remedy = f"Families: {', '.join((FEW, *FAMILIES))}. Measures: {', '.join(near)}, ... (all are in codebook.csv)"
    raise BadOptionError("--measures", f"no measure of these results is named {word!r}", remedy)


def _excess_of(book: pd.DataFrame, name: str) -> str:
    """Return a measure as it is compared: of synchrony, its excess over surrogate pairs."""
    row = book.loc[name]
    if row["family"] != SYNCHRONY or row["statistic"] == EXCESS:
        return name
    stem = next((name.removesuffix(f"_{one}") for one in STATISTICS if name.endswith(f"_{one}")), name)
    if f"{stem}_{EXCESS}" in book.index:
        return f"{stem}_{EXCESS}"
    problem = f"{name} cannot be compared: synchrony grows with the length of turns and sessions"
    remedy = (
        "Only its excess over surrogate pairs is compared, which some measures do not have, nor any in a run of fewer "
        "than six sessions"
    )
    raise BadOptionError("--measures", problem, remedy)


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

    def about(self, *keys: str) -> dict[str, list[Any]]:
        """Return what is known of the measures, as columns: `measure`, and fields of `ComparedMeasure`."""
        names = {"measure": [one.name for one in self.measures]}
        return names | {key: [getattr(one, key) for one in self.measures] for key in keys}


@dataclass(frozen=True, slots=True, eq=False)
class GroupContrast:
    """One group against another or all others: their names, and masks (n,) of the sessions of each side."""

    group: str
    against: str
    own: Bools
    other: Bools


def with_all(results: Results, by: str) -> Results:
    """Return the results with all sessions in one group if groups are those of `ALL`, and no column is called so."""
    if by != ALL or ALL in results.sessions:
        return results
    return replace(results, sessions=results.sessions.assign(**{ALL: TOGETHER}))


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
        notes.append(f"{_sessions(int((~named).sum()))} left out: column {by} is empty.")
    frame = frame[named].reset_index(drop=True)
    names, more = _largest(frame[by])
    chosen = cluster_column(frame[results.about], by) if cluster is None else cluster
    if chosen != SESSION:
        _require(results, chosen, "--cluster")
    numbers, remarks = _clusters(frame, chosen, by, crossed=crossed)
    asked = [one.name for one in measures]
    return Grouped(
        sessions=frame,
        measures=tuple(measures),
        values=frame[asked].to_numpy(dtype=np.float64),
        by=by,
        names=names,
        group=np.asarray(pd.Index(names).get_indexer(pd.Index(frame[by])), dtype=np.int64),
        cluster=numbers,
        clustered_by=chosen,
        turns=frame["n_turns"].to_numpy(dtype=np.float64) if "n_turns" in frame else np.full(len(frame), np.nan),
        counts=np.stack([counts(frame, name) for name in asked], axis=1) if asked else np.zeros((len(frame), 0, 2)),
        notes=(*notes, *more, *remarks),
        barred=_barred(frame, by, chosen) if cluster is None and not crossed else "",
    )


def _sessions(n: int) -> str:
    return f"{n:,} session{'' if n == 1 else 's'}"


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


def _largest(column: pd.Series) -> tuple[tuple[str, ...], list[str]]:
    """Return the groups that are compared, by name: the largest where there are very many."""
    sizes = column.value_counts()
    if len(sizes) <= MOST_GROUPS:
        return tuple(sorted(sizes.index)), []
    several = sizes[sizes > 1]
    largest = sorted(several.index, key=lambda name: (-int(sizes[name]), name))[:MOST_GROUPS]
    many = f"{column.name} has {len(sizes):,} values"
    if not largest:
        return (), [f"{many}, each with one session: it names sessions, not groups, and nothing can be compared."]
    single = len(sizes) - len(several)
    alone = f"; {single:,} have one session only" if single else ""
    rest = f"The {len(largest)} largest are compared with all others, which include the rest."
    return tuple(sorted(largest)), [f"{many}{alone}. {rest}"]


def _clusters(frame: pd.DataFrame, column: str, by: str, *, crossed: bool) -> tuple[Ints, list[str]]:
    """Return the cluster of each session (n,), and a sentence on clients who are not named.

    Of a counselor some of whose clients are named, the other sessions may all be of one client, and count so.
    """
    if by != "counselor" or column != "client":
        return cluster_numbers(frame, column, by, crossed=crossed), []
    unnamed = frame[column] == ""
    filled = frame.assign(**{column: frame[column].where(~unnamed, "\x1e" + frame[by])})
    n = int(unnamed.sum())
    verb = "counts" if n == 1 else "count"
    told = f"{_sessions(n)} of a counselor without a client {verb} as those of one client."
    return cluster_numbers(filled, column, by, crossed=crossed), [told] if n else []


def _barred(frame: pd.DataFrame, by: str, chosen: str) -> str:
    """Return why nothing may be claimed of counselors; "" where something may, and of other groups."""
    if by != "counselor" or chosen not in (SESSION, "client"):
        return ""
    if chosen == SESSION:
        return NO_CLIENTS
    owners = frame[frame["client"] != ""].groupby("client")[by].nunique()
    shared = int((owners > 1).sum())
    names = f"{shared} {'name' if shared == 1 else 'names'} of clients {'stands' if shared == 1 else 'stand'}"
    return SAME_CLIENTS.format(n=names) if shared else ""


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
