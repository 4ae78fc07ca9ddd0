"""Compare groups of sessions: read, group, test, write it in words and tables."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import SESSION
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import sources_of
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.core.verbs import options_of
from therapy_analytics.results import as_csv
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.stats.compare.courses import (
    TREND_COLUMNS,
    change,
    in_levels,
    levels_of,
    trend_table,
    within_between,
)
from therapy_analytics.stats.compare.groups import Grouped, choose, contrasts, grouped, with_all
from therapy_analytics.stats.compare.phrases import label, listed, unit_name
from therapy_analytics.stats.compare.powered import FurtherTable, tables_by_hand
from therapy_analytics.stats.compare.reference import (
    against_references,
    apart_from_reference,
    is_reference,
    learnt_sessions,
    profiles_for,
    reference_rows,
)
from therapy_analytics.stats.compare.sessions import Results, read_results
from therapy_analytics.stats.compare.tables import COLUMNS, PERMUTATIONS, comparison_table, groups_table
from therapy_analytics.stats.compare.words import beside_references, findings, repeated, trends

RECIPE, WORDS = "comparison.json", "comparison.md"
_PACKAGES = ("numpy", "scipy", "pandas", "statsmodels")

_HOW_TO_READ = """
- *Adjusted p* is p for all comparisons that were made: were there no difference at all, one table in twenty would \
call anything different. *g* (Hedges) is the difference in standard deviations: .2 is small, .5 medium, .8 large.
- An interval shows what the sessions could as well have given by their sampling. It does not hold the error of the \
machine that coded the turns, which can make a difference smaller, larger or other than it is.
- *At like length*: longer turns have more of every code. This is the difference among turns of like length, or of \
synchrony with the length of sessions held constant.
- *Synchrony* is compared as excess: what the two have beyond surrogate pairs, who never met. A difference is claimed \
only if it is there at like length, too. It is never a score of quality.
- *Weak measure*: in a check on real sessions it did little or no better than counting keywords. What each measure \
means and when it misleads stands in codebook.csv, beside sessions.csv.
""".strip()
_MACHINE = (
    "Of measures that rest on codes, p-values and intervals concern the machine's codes. What people would have coded "
    "may differ: give `--gold` with turns that people coded to see how far."
)
_BY_HAND = (
    "The p-values and intervals of the comparison concern the machine's codes; the intervals under \"With the turns "
    "that people coded\" hold for people's codes."
)
_NO_TURNS = "The turns of these results cannot be read: there are no differences at like length."

Sources = Analysis | pd.DataFrame | str | Path | Sequence[str | Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How groups are compared.

    Attributes
    ----------
    cluster : str or None
        The column of clusters, within which sessions are not independent, or ``session``; by default it is chosen.
    crossed : bool
        Clients with one name are one person, also under several counselors: standardised patients, personas.
    where : tuple of str
        ``column=value`` or ``column!=value``: only such sessions.
    permutations, seed : int
        How many random permutations, from which seed, where there are too many to enumerate.
    allow_mixed : bool
        Go on where folders were made by different taggers or versions.
    gold : Path or None
        Codes that people gave some turns.
    pseudonyms : Pseudonyms or None
        The key that the results were made with: sessions of `gold` get its pseudonyms.
    learnt : bool
        Whether sessions that the tagger learnt from are counted where its errors are estimated (`gold`), and those that
        are in a reference where groups are compared with it.
    """

    cluster: str | None = None
    crossed: bool = False
    where: tuple[str, ...] = ()
    permutations: int = PERMUTATIONS
    seed: int = 0
    allow_mixed: bool = False
    gold: Path | None = None
    pseudonyms: Pseudonyms | None = None
    learnt: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Comparison:
    """The results of a comparison; ``ta.write(found, folder)`` saves them, with figures.

    Attributes
    ----------
    table : DataFrame
        A row for each measure and pair of groups, as ``comparison.csv``.
    groups : DataFrame
        A row for each measure and group (and reference group), as ``groups.csv``.
    trend : DataFrame
        Where sessions are compared by a number or by ordered levels: as ``trend.csv``.
    within, change : DataFrame
        Where sessions repeat: as ``within.csv`` and ``change.csv``; without rows where they do not.
    more : tuple of FurtherTable
        Rates from codes by hand, each table with its words.
    words : str
        What differs, what does not, what is inconclusive: Markdown, as ``comparison.md``.
    recipe : mapping of str to object
        All that is needed to do it again.
    sources : tuple of str
        The folders and files that it was made from; none where that were tables in memory.
    usual : tuple of str
        Measures that are compared by default; figures show these before others.
    """

    table: pd.DataFrame = field(repr=False)
    groups: pd.DataFrame = field(repr=False)
    trend: pd.DataFrame = field(repr=False)
    within: pd.DataFrame = field(repr=False)
    change: pd.DataFrame = field(repr=False)
    more: tuple[FurtherTable, ...] = field(default=(), repr=False)
    words: str = field(repr=False)
    recipe: Mapping[str, Any] = field(repr=False)
    sources: tuple[str, ...] = field(default=(), repr=False)
    usual: tuple[str, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return f"Comparison({len(self.table)} rows; print it for what they say)"

    def __str__(self) -> str:
        return self.words

    def files(self) -> dict[str, str]:
        """Return the text of each file of the comparison by its name, in the order written: recipe, tables, words."""
        tables = {"comparison": self.table, "groups": self.groups}
        others = {"trend": self.trend, "within": self.within, "change": self.change}
        tables |= {name: one for name, one in others.items() if len(one)}
        tables |= {one.name: one.table for one in self.more}
        return {
            RECIPE: json.dumps(self.recipe, indent=2, ensure_ascii=False) + "\n",
            **{f"{name}.csv": as_csv(table) for name, table in tables.items()},
            WORDS: self.words,
        }


def compare(
    results: Sources,
    *,
    by: str = "counselor",
    against: str | None = None,
    measures: Sequence[str] | str | None = None,
    options: CompareOptions | None = None,
) -> Comparison:
    """Compare groups of sessions: who does what more than whom, and how sure that is.

    Parameters
    ----------
    results : Analysis, DataFrame, path, or sequence of paths
        What `analyze` returned, its sessions, or folders that ``tanalyze run`` wrote. Transcripts are not needed.
    by : str, optional
        The column of groups: ``counselor``, ``source``, ``model``, or any that is known of the sessions; ``all``: one
        group of all sessions. Of numbers, such as years of experience, and of ordered levels the rank correlation with
        each measure is given, unless `against` says which groups are compared.
    against : str, optional
        ``pairs`` (default of up to three groups), ``others`` (each against all others: the default of more),
        ``reference`` (the shipped profiles of skilled and unskilled people), ``reference:NAME`` (one of `GROUPS`, such
        as a language model), or the name of a group with which all are compared.
    measures : str or sequence of str, optional
        Names, patterns (``therapist_*_rate``), families (``process``, ...), or ``all``: whatever is named is tested.
        By default ``core``, the eight that people ask for first; of these questions, reflections, advice or
        information, and advice are tested, and the others are shown.
    options : CompareOptions, optional
        Clusters, which sessions, permutations, seed.

    Returns
    -------
    Comparison
        ``table`` has a row for each measure and pair of groups: means, their difference in the unit of the measure
        (rates from 0 to 1) with its 95% interval, p, p_adjusted, Hedges' g, and ``finding``. ``groups`` has a row for
        each measure and group, ``words`` is a report in Markdown, and ``ta.write(found, folder)`` saves everything.

    Raises
    ------
    BadOptionError
        No such folder, column, group or measure; what there is instead is listed.

    Notes
    -----
    Sessions of one client (counselor, recording) are not independent: means, differences, intervals, tests and
    Hedges' g are all of the means of such clusters. p is of a permutation test, p_adjusted is adjusted for all rows of
    the table (Holm). Nothing is claimed where a side has fewer than four clusters, would have fewer than five turns
    with a code, or, of counselors, where no column names the clients.

    Examples
    --------
    >>> frame = pd.DataFrame({"session_id": list("abcdefghijklmn"), "counselor": 6 * ["Ann"] + 8 * ["Bo"]})
    >>> frame["client"] = [f"client {name}" for name in frame["session_id"]]
    >>> frame["therapist_question_rate"] = [0.1, 0.2, 0.3, 0.4, 0.44, 0.62, 0.45, 0.61, 0.7, 0.71, 0.72, 0.8, 0.9, 0.95]
    >>> row = compare(frame, by="counselor").table.iloc[0]
    >>> round(float(row["difference"]), 3), round(float(row["p"]), 4), row["p_method"]
    (-0.387, 0.0033, 'permutation, exact')
    """
    options = options_of(CompareOptions, options)
    if options.permutations < 1_000:
        problem = f"{options.permutations} permutations are too few for a p-value"
        raise BadOptionError("--permutations", problem, "Give 1000 or more")
    read = with_all(read_results(results, mixed=options.allow_mixed), by)
    if is_reference(against):
        read = apart_from_reference(read, str(against), counted=options.learnt)
    chosen = choose(read, [measures] if isinstance(measures, str) else measures)
    data = grouped(read, chosen, by=by, cluster=options.cluster, where=options.where, crossed=options.crossed)
    trend = pd.DataFrame(columns=list(TREND_COLUMNS))
    level = levels_of(data.sessions, by) if against is None else None
    if level is not None:
        trend = trend_table(data, level, permutations=options.permutations, seed=options.seed)
        data = in_levels(data, level)
    groups = groups_table(data)
    # A table from memory does not say who coded; `analyze` takes the accurate tagger by default
    profiles, why_not = profiles_for(read.tagger if read.recipes else "accurate", against)
    told: list[str] = []
    if level is not None:
        table, shown = pd.DataFrame(columns=list(COLUMNS)), trends(trend, data)
    elif is_reference(against) and profiles is not None:
        table, shown = _beside_references(data, groups, profiles)
    else:
        table, shown, told = _in_contrasts(read, data, against, options)
    if profiles is not None:
        groups = pd.concat([groups, reference_rows(data, profiles)], ignore_index=True)[list(groups.columns)]
    within, changed = within_between(data), change(data)
    more, of_learnt = _by_hand(read, data, options)
    lacking = [why_not] if is_reference(against) and why_not else []
    warnings = [*of_learnt, *told, *read.warnings, *data.notes, *lacking]
    recipe = _recipe(read, data, options)
    return Comparison(
        table=table,
        groups=groups,
        trend=trend,
        within=within,
        change=changed,
        more=more,
        words=_words(data, warnings, [*shown, *repeated(within, changed)], more, recipe),
        recipe=recipe,
        sources=sources_of(*(source for _, source in read.sources), options.gold),
        usual=tuple(one.name for one in data.measures if one.usual),
    )


def _beside_references(data: Grouped, groups: pd.DataFrame, profiles: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    columns = list(dict.fromkeys([*COLUMNS, "reference_q05", "reference_q95"]))
    table = against_references(data, groups, profiles).reindex(columns=columns)
    return table, _nothing_to_compare(data) if table.empty else beside_references(table, data)


def _in_contrasts(
    read: Results, data: Grouped, against: str | None, options: CompareOptions
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return the table of groups compared with each other, its words, and a remark where turns cannot be read."""
    pairs, codes = contrasts(data, against), [one.code for one in data.measures if one.code]
    turns = read.turns(codes) if pairs else None
    table = comparison_table(data, pairs, turns=turns, permutations=options.permutations, seed=options.seed)
    unread = len(pairs) and len(read.sources) and len(codes) and not table["like_length"].ne("").any()
    return table, findings(table, data) if len(table) else _nothing_to_compare(data), [_NO_TURNS] if unread else []


def _by_hand(read: Results, data: Grouped, options: CompareOptions) -> tuple[tuple[FurtherTable, ...], tuple[str, ...]]:
    """Return the tables that rest on people's codes, and what is said of sessions that the tagger learnt from."""
    if options.gold is None:
        return (), ()
    left_out, told = learnt_sessions(data.sessions, read.tagger, counted=options.learnt)
    key, cluster = options.pseudonyms, options.cluster
    return tuple(tables_by_hand(data, read, options.gold, pseudonyms=key, cluster=cluster, left_out=left_out)), told


def _recipe(read: Results, data: Grouped, options: CompareOptions) -> dict[str, Any]:
    return {
        "therapy_analytics": metadata.version("therapy-analytics"),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in _PACKAGES},
        "by": data.by,
        "clusters": data.clustered_by,
        "crossed": options.crossed,
        "where": list(options.where),
        "measures": [one.name for one in data.measures],
        "permutations": options.permutations,
        "seed": options.seed,
        "taggers": [dict(one.get("tagger", {})) for one in read.recipes],
    }


def _words(
    data: Grouped,
    warnings: Sequence[str],
    shown: Sequence[str],
    more: Sequence[FurtherTable],
    recipe: Mapping[str, Any],
) -> str:
    """Return the whole of ``comparison.md``."""
    counts = np.bincount(data.group[data.group >= 0], minlength=len(data.names))
    groups = listed([f"{label(data.by, name)} ({n})" for name, n in zip(data.names, counts, strict=True)])
    n, m = len(data.sessions), len(data.measures)
    coded = _BY_HAND if any(one.name == "gold" and len(one.table) for one in more) else _MACHINE
    lines = [
        f"# Sessions compared by {data.by}",
        "",
        *([f"**{data.barred}**", ""] if data.barred else []),
        f"{n:,} session{'' if n == 1 else 's'}: {groups}. {m:,} measure{'' if m == 1 else 's'}.",
        "",
        *(f"- {one}" for one in warnings),
        *([""] if warnings else []),
        coded,
        "",
        *shown,
    ]
    for one in more:
        lines += [f"## {one.title}", "", one.words.strip(), ""]
    return "\n".join([*lines, "## How to read this", "", _HOW_TO_READ, "", *_how(data, recipe)])


def _nothing_to_compare(data: Grouped) -> list[str]:
    if len(data.names) != 1:
        return ["There is nothing to compare.", ""]
    one = (
        f"There is one group only ({data.names[0]}), and nothing to compare it with: groups.csv has its means and "
        "medians with their intervals. Name another column with --by, or say --against reference."
    )
    return [one, ""]


def _how(data: Grouped, recipe: Mapping[str, Any]) -> list[str]:
    """Return the section on methods."""
    units, one = unit_name(data.clustered_by, 2), unit_name(data.clustered_by, 1)
    tested = f"means of {units}" if data.clustered_by != SESSION else "sessions, taken as independent of one another"
    taggers = "; ".join(f"{t.get('kind')} {t.get('version', '')}".strip() for t in recipe["taggers"] if t) or "unknown"
    versions = ", ".join(f"{name} {version}" for name, version in recipe["packages"].items())
    test = (
        f"- Test: permutations of {tested}; the statistic is the difference of means over its standard error (column "
        f"p_method; seed {recipe['seed']}). p_adjusted is over all rows that are tested (Holm)."
    )
    intervals = (
        f"- Means, differences and their intervals are over {units}, each {one} counted once: Student's t for means, "
        "Welch's for differences, variances shrunk toward those of all groups. session_mean and session_median count "
        "each session once."
    )
    coded = f"- Coded by: {taggers}. therapy-analytics {recipe['therapy_analytics']}, Python {recipe['python']}"
    where = [f"- Only sessions with {' and '.join(recipe['where'])}."] if recipe["where"] else []
    return ["## How it was done", "", test, intervals, f"{coded}, {versions}.", *where, ""]
