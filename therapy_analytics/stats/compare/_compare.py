"""Compare groups of sessions: read, group, test, write it in words and tables."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core import private
from therapy_analytics.core.clusters import SESSION
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import Made, replaced_in, sources_of
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.core.verbs import options_of
from therapy_analytics.readers.account import Remark
from therapy_analytics.results import PROBLEMS, write_csv, write_not_drawn
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.stats.agreement import GoldOptions
from therapy_analytics.stats.compare._further import ByHand, FurtherTable, coder_of, further_tables
from therapy_analytics.stats.compare._groups import Grouped, contrasts, grouped, with_all
from therapy_analytics.stats.compare._learnt import apart_from_reference, learnt_sessions
from therapy_analytics.stats.compare._measures import choose
from therapy_analytics.stats.compare._models import change, within_between
from therapy_analytics.stats.compare._phrases import label, listed, unit_name
from therapy_analytics.stats.compare._reference import against_references, is_reference, profiles_for, reference_rows
from therapy_analytics.stats.compare._results import Results, read_results
from therapy_analytics.stats.compare._table import COLUMNS, PERMUTATIONS, comparison_table, groups_table
from therapy_analytics.stats.compare._trend import TREND_COLUMNS, in_levels, levels_of, trend_table, trend_words
from therapy_analytics.stats.compare._words import beside_references, findings, repeated

RECIPE = "comparison.json"
_FILES = ("comparison.csv", "groups.csv", "trend.csv", "within.csv", "change.csv", "comparison.md", PROBLEMS, RECIPE)
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
    """The results of a comparison.

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

    def write(
        self,
        out: str | Path,
        *,
        plots: bool = True,
        replace: bool = False,
        on_before: Callable[[str], None] = lambda _: None,
        on_problem: Callable[[str], None] = lambda _: None,
    ) -> Path:
        """Write tables, words and then a figure for each family of measures into a folder, which is made private.

        A figure that cannot be drawn is a line of ``problems.csv``.

        Parameters
        ----------
        out : str or Path
            The folder. An earlier comparison of the same results in it is replaced.
        plots : bool, optional
            Whether figures are drawn.
        replace : bool, optional
            Whether a comparison of other results is replaced as well.
        on_before : callable, optional
            Told in a sentence what was replaced.
        on_problem : callable, optional
            Told in a sentence that figures could not be drawn.

        Raises
        ------
        BadOptionError
            The folder holds anything else, or a comparison of other results that may not be replaced.
        CannotWriteError
            The system refused to write.
        """
        made = Made(what="a comparison", names=_FILES, sources=self.sources, replace=replace, say=on_before)
        tables = {"comparison": self.table, "groups": self.groups}
        others = {"trend": self.trend, "within": self.within, "change": self.change}
        tables |= {name: one for name, one in others.items() if len(one)}
        tables |= {one.name: one.table for one in self.more}
        families = list(dict.fromkeys(str(family) for family in self.groups["family"])) if plots else []
        with replaced_in(Path(out), made) as part:
            private.write(part / RECIPE, json.dumps(self.recipe, indent=2, ensure_ascii=False) + "\n")
            for name, table in tables.items():
                write_csv(table, private.fresh(part / f"{name}.csv"))
            private.write(part / "comparison.md", self.words)
            if families:
                write_not_drawn(self._draw(part, families), part, Path(out), on_problem)
        return Path(out)

    def _draw(self, out: Path, families: Sequence[str]) -> list[Remark]:
        """Draw the figures; return which could not be drawn."""
        from therapy_analytics.plots import PLOTS  # noqa: PLC0415 (matplotlib is slow to import)
        from therapy_analytics.plots.files import tables_first  # noqa: PLC0415

        failed: list[Remark] = []
        for family in families:
            path = out / f"comparison_{family}.png"
            with tables_first(failed, path):
                from therapy_analytics.plots.files import save  # noqa: PLC0415
                from therapy_analytics.plots.group_comparison import most_different  # noqa: PLC0415

                table = most_different(self.groups[self.groups["family"] == family], self.table, common=self.usual)
                save(PLOTS["comparison"], table, private.fresh(path))
        return failed


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
        each measure and group, ``words`` is a report in Markdown, and ``.write(folder)`` saves everything.

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
    asked = [measures] if isinstance(measures, str) else measures
    data = grouped(
        read, choose(read, asked), by=by, cluster=options.cluster, where=options.where, crossed=options.crossed
    )
    return _compared(read, data, against, options)


def _compared(read: Results, data: Grouped, against: str | None, options: CompareOptions) -> Comparison:
    level = levels_of(data.sessions, data.by) if against is None else None
    trend = pd.DataFrame(columns=list(TREND_COLUMNS))
    if level is not None:
        trend = trend_table(data, level, permutations=options.permutations, seed=options.seed)
        data = in_levels(data, level)
    pairs, groups = contrasts(data, against) if level is None else [], groups_table(data)
    profiles, why_not = profiles_for(coder_of(read), against)
    if level is not None:
        table, shown = pd.DataFrame(columns=list(COLUMNS)), trend_words(trend, data)
    elif is_reference(against) and profiles is not None:
        columns = list(dict.fromkeys([*COLUMNS, "reference_q05", "reference_q95"]))
        table = against_references(data, groups, profiles).reindex(columns=columns)
        shown = beside_references(table, data)
    else:
        turns = read.turns([one.code for one in data.measures if one.code]) if pairs else None
        table = comparison_table(data, pairs, turns=turns, permutations=options.permutations, seed=options.seed)
        shown = findings(table, data)
    if profiles is not None:
        groups = pd.concat([groups, reference_rows(data, profiles)], ignore_index=True)[list(groups.columns)]
    within, changed = within_between(data), change(data)
    left_out, told = (
        (frozenset(), ())
        if options.gold is None
        else learnt_sessions(data.sessions, read.tagger, counted=options.learnt)
    )
    if pairs and read.sources and not table["like_length"].ne("").any() and any(one.code for one in data.measures):
        told = (*told, "The turns of these results cannot be read: there are no differences at like length.")
    by_hand = ByHand(options.gold, GoldOptions(pseudonyms=options.pseudonyms), options.cluster, left_out)
    sources = tuple(source for _, source in read.sources)
    more = tuple(further_tables(data, read, sources, by_hand))
    warnings = [*told, *read.warnings, *data.notes, *([why_not] if is_reference(against) and why_not else [])]
    shown = [_nothing_to_compare(data), ""] if table.empty and level is None else shown
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
        sources=sources_of(*sources, options.gold),
        usual=data.usual,
    )


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
    coded = _BY_HAND if any(one.name == "gold" and len(one.table) for one in more) else _MACHINE
    barred = [f"**{data.barred}**", ""] if data.barred else []
    lines = [f"# Sessions compared by {data.by}", "", *barred, _who(data), "", *(f"- {one}" for one in warnings)]
    lines += [*([""] if warnings else []), coded, "", *shown]
    for one in more:
        lines += [f"## {one.title}", "", one.words.strip(), ""]
    return "\n".join([*lines, "## How to read this", "", _HOW_TO_READ, "", *_how(data, recipe)])


def _who(data: Grouped) -> str:
    counts = np.bincount(data.group[data.group >= 0], minlength=len(data.names))
    groups = listed([f"{label(data, name)} ({int(n)})" for name, n in zip(data.names, counts, strict=True)])
    n, m = len(data.sessions), len(data.measures)
    return f"{n:,} session{'' if n == 1 else 's'}: {groups}. {m:,} measure{'' if m == 1 else 's'}."


def _nothing_to_compare(data: Grouped) -> str:
    if len(data.names) == 1:
        return (
            f"There is one group only ({data.names[0]}), and nothing to compare it with: groups.csv has its means and "
            "medians with their intervals. Name another column with --by, or say --against reference."
        )
    return "There is nothing to compare."


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
