"""What a comparison shows, in sentences: what differs, what does not, what is inconclusive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import SESSION
from therapy_analytics.stats.compare import _phrases as ph
from therapy_analytics.stats.compare._effects import least_p, least_p_paired
from therapy_analytics.stats.compare._groups import ALL_OTHERS, Grouped
from therapy_analytics.stats.compare._phrases import MOST_LISTED, amount, label, listed, spaced, unit_name
from therapy_analytics.stats.compare._table import ALIKE, CONSTANT, DIFFERS, FEWEST_TO_CLAIM, TOO_FEW, UNCLEAR

Lines = list[str]
FEW_CONTRASTS, MOST_CONTRASTS = 3, 12
MOST_A_CONTRAST = 5
"""Differences that are written out for a contrast, where there are more than a few contrasts."""
MOST_OF_REFERENCES = 30
LARGEST_OPEN = 3
MOST_COLUMNS = 6
_LARGE_ENOUGH, _LARGE = 0.5, 0.8
"""Standard deviations from which an inconclusive difference is mentioned, and from which it is large."""
_ENOUGH_FOR_ALIKE = 70
"""Clusters a group with which equal groups are mostly shown to lie within half a standard deviation."""
_UNITS = ("words", "words per turn", "per 100 words", "seconds", "turns", "standard deviations")
"""Units that are written after values."""
_NOTHING = "Nothing, as far as these sessions can show."
_UNCLAIMED = "Nothing is claimed; the first lines say why. What was counted stands in the table above."
_UNTESTED = (
    "No difference was tested; what could not be compared says why. What was counted stands in the table above: it is "
    "so in these sessions, and says nothing of others."
)
_NO_RATING = "- More is not better and less is not worse: no number here rates anybody's work."
_OF_THESE = (
    "- Each side is a mean over its {units}. The interval holds the error of both means, and how far the means of "
    "corpora of like skill lie apart (for most rates .08 to .10: an assumption, from two corpora). What is said of one "
    "counselor or model is said of the {units} here, not of other people or models."
)
_LONGER = 1.5
"""Times as many words a turn, from which on it is said that turns are longer."""
_MOST_LENGTHS = 5
_OPEN = (
    "The differences that are listed here may be nothing: they are the largest of those compared (common measures "
    "before others), and the largest are mostly somewhat too large. They are where to look, not what to believe."
)


def findings(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return the sections on groups compared with each other."""
    if table.empty:
        return []
    sections = (_in_short, _at_a_glance, _differing, _alike, _inconclusive, _left_out)
    return [line for section in sections for line in section(table, data)]


def beside_references(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return the sections on groups compared with references."""
    if table.empty:
        return []
    found = table[table["finding"] == DIFFERS].sort_values("p_adjusted", kind="stable")
    n = int(table["p"].notna().sum())
    outside = "comparisons (a measure of a group beside a reference)"
    outside = f"{len(found) or 'None'} of {n:,} {outside} {'show' if len(found) > 1 else 'shows'}"
    lines = ["## In short", "", f"- {outside} a significant difference."]
    lines.append(_OF_THESE.format(units=unit_name(data.clustered_by, 2)))
    lines += ["- To be unlike a reference is not thereby better or worse.", ""]
    lines += [*_at_a_glance(table, data), "## What differs", ""]
    lines += [_reference_bullet(row, data) for _, row in found[:MOST_OF_REFERENCES].iterrows()]
    if len(found) > MOST_OF_REFERENCES:
        lines.append(f"- {len(found) - MOST_OF_REFERENCES:,} more stand in comparison.csv (column finding: differs).")
    nothing = [_UNCLAIMED if data.barred else _NOTHING]
    return [*lines, *([] if len(found) else nothing), "", *_left_out(table, data)]


def repeated(within: pd.DataFrame, changed: pd.DataFrame) -> Lines:
    """Return the sections on clients with several sessions, and on change over sessions."""
    lines: Lines = []
    if len(within):
        share, n = float(np.nanmedian(within["share_between"])), int(within["n_clients"].max())
        several = (
            f"{n} clients have several sessions. For the median measure, {share:.0%} of the variance lies between "
            "clients, the rest between sessions of one client (within.csv)."
        )
        lines += ["## Within and between clients", "", several, ""]
    if len(changed):
        sure = changed[changed["p_adjusted"] < 0.05].sort_values("p_adjusted", kind="stable")
        slopes = [
            f"- {row['group']}: {spaced(row['measure'])} changes by {row['slope']:.2g} a {row['per']} "
            f"(95% interval {row['lo']:.2g} to {row['hi']:.2g}; {row['n_sessions']} sessions)."
            for _, row in sure[:MOST_LISTED].iterrows()
        ]
        nothing = ["No change over sessions is significant (change.csv has the slopes and their intervals)."]
        lines += ["## Change over sessions", "", *(slopes or nothing), ""]
    return lines


def _in_short(table: pd.DataFrame, data: Grouped) -> Lines:
    differing, alike, unclear = (int((table["finding"] == one).sum()) for one in (DIFFERS, ALIKE, UNCLEAR))
    n = f"{differing + alike + unclear:,} comparisons (a measure of two groups)"
    shown = f"{differing or 'None'} of {n} {'show' if differing > 1 else 'shows'}"
    shown = f"{shown} a significant difference" if differing + alike + unclear else "No difference was tested"
    lines = ["## In short", "", f"- {shown}."]
    if data.clustered_by != SESSION:
        lines.append(
            f"- Sessions that share a {unit_name(data.clustered_by, 1)} are alike, so each of the {data.n_clusters:,} "
            f"{unit_name(data.clustered_by, 2)} counts once in the tests: by the mean of its sessions."
        )
    are_alike = f"{alike:,} {'is' if alike == 1 else 'are'}" if alike else "None is"
    if differing + alike + unclear:
        lines.append(f"- {are_alike} shown to be alike; {unclear:,} {'is' if unclear == 1 else 'are'} inconclusive.")
    claimed = {one.name for one in data.measures if one.claimed}
    untested = [spaced(one) for one in dict.fromkeys(table["measure"]) if one not in claimed]
    if untested:
        lines.append(f"- Not tested, only shown: {listed(untested)}. Whatever `--measures` names is tested.")
    return [*lines, *_lengths(table, data), _NO_RATING, ""]


def _lengths(table: pd.DataFrame, data: Grouped) -> Lines:
    """Say which groups talk in turns half as long again as those that they are compared with."""
    lines = []
    for group, against, rows in _by_contrast(table[table["words_per_turn"].notna()]):
        for who, own in rows.groupby(rows["measure"].str.partition("_")[0], sort=False):
            words = [float(own[key].iloc[0]) for key in ("words_per_turn", "words_per_turn_against")]
            if who in ("therapist", "client") and max(words) >= _LONGER * min(words) > 0:
                longer, shorter = (group, against) if words[0] > words[1] else (against, group)
                lines.append(
                    f"- **{str(who).title()} turns of {label(data, longer)} are longer** than those of "
                    f"{label(data, shorter)} ({max(words):.0f} words on average against {min(words):.0f}). Longer "
                    "turns have more of every code: read the differences at like length (comparison.csv)."
                )
    more = f"- {len(lines) - _MOST_LENGTHS} more differ so in the length of turns (comparison.csv, words_per_turn)."
    return [*lines[:_MOST_LENGTHS], *([more] if len(lines) > _MOST_LENGTHS else [])]


class _Cell(NamedTuple):
    """What a group has of a measure: mean over clusters, ends of its interval, counts, and in how many sessions."""

    mean: float
    low: float
    high: float
    events: float
    out_of: float
    n_sessions: float


def _at_a_glance(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return a table of the core measures, else of what was asked for, where the groups fit beside each other."""
    sides = _sides(table)
    there = set(table["measure"])
    shown = [name for name in data.usual if name in there] or [one.name for one in data.measures if one.name in there]
    if not shown or len(sides) > MOST_COLUMNS:
        return []
    units = dict(zip(table["measure"], table["unit"], strict=True))
    differing = table[table["finding"] == DIFFERS]
    sure = set(zip(differing["measure"], differing["group"], strict=True))
    lines = ["## At a glance", "", f"| mean (95% interval) | {' | '.join(label(data, side) for side in sides)} |"]
    lines.append("| --- |" + " ---: |" * len(sides))
    sizes = {name: int((data.group == i).sum()) for i, name in enumerate(data.names)}
    for name in shown[:MOST_LISTED]:
        cells = [
            _cell(sides[side].get(name), units[name], sizes.get(side)) + (" *" if (name, side) in sure else "")
            for side in sides
        ]
        lines.append(f"| {spaced(name)} | {' | '.join(cells)} |")
    note = f"Means are over {unit_name(data.clustered_by, 2)}, counts over all turns. Each interval is of one mean "
    note += "alone: among many, some lie apart though nothing differs."
    if "reference_q05" in table:
        note += " Of references, the central 90% of sessions are shown instead."
    note += " \\* differs from what it is compared with." if sure else ""
    return [*lines, "", note, ""]


def _sides(table: pd.DataFrame) -> dict[str, dict[str, _Cell]]:
    """Return by group and measure what it has; of references, with the central 90 % of sessions."""
    interval = ["mean_against_lo", "mean_against_hi"]
    if "reference_q05" in table:
        interval = ["reference_q05", "reference_q95"]
    counted = ["count", "out_of", "n_sessions"]
    found: dict[str, dict[str, _Cell]] = {}
    for columns in (
        ["group", "mean", "mean_lo", "mean_hi", *counted],
        ["against", "mean_against", *interval, *(f"{one}_against" for one in counted)],
    ):
        for measure, group, *numbers in table[["measure", *columns]].itertuples(index=False):
            if not str(group).startswith(ALL_OTHERS):
                found.setdefault(str(group), {}).setdefault(str(measure), _Cell(*map(float, numbers)))
    return found


def _cell(one: _Cell | None, unit: str, size: int | None) -> str:
    if one is None or not isfinite(one.mean):
        return "undefined"
    mean, low, high = (amount(value, unit).removesuffix("%") for value in one[:3])
    sign = "%" if unit == "proportion" else ""
    told = [f"{low} to {high}"] if isfinite(one.low) else []
    told += [f"{one.events:,.0f} of {one.out_of:,.0f}"] if isfinite(one.events) else []
    if size is not None and one.n_sessions < size:
        told.append(f"defined in {one.n_sessions:.0f} of {size} sessions")
    return f"{mean}{sign} ({'; '.join(told)})" if told else f"{mean}{sign}"


def _by_contrast(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    for (group, against), rows in table.groupby(["group", "against"], sort=False):
        yield str(group), str(against), rows


def _largest_first(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.loc[rows["hedges_g"].abs().sort_values(ascending=False, kind="stable").index]


def _differing(table: pd.DataFrame, data: Grouped) -> Lines:
    contrasts = list(_by_contrast(table[table["finding"] == DIFFERS]))
    lines = ["## What differs", ""]
    if not contrasts:
        if data.barred or table["p"].isna().all():
            return [*lines, _UNCLAIMED if data.barred else _UNTESTED, ""]
        return [*lines, _NOTHING, "", *_why_nothing(table, data)]
    most = MOST_LISTED if len(contrasts) <= FEW_CONTRASTS else MOST_A_CONTRAST
    for group, against, rows in contrasts[:MOST_CONTRASTS]:
        lines += [f"**{label(data, group)}, beside {label(data, against)}**, the largest first:", ""]
        lines += [_bullet(row, data) for _, row in _largest_first(rows)[:most].iterrows()]
        if len(rows) > most:
            lines.append(f"- {len(rows) - most} more stand in comparison.csv (column finding: differs).")
        lines.append("")
    n_more = len(contrasts) - MOST_CONTRASTS
    more = [f"{n_more:,} more groups stand in comparison.csv (column finding: differs).", ""] if n_more > 0 else []
    return [*lines, *more]


def _why_nothing(table: pd.DataFrame, data: Grouped) -> Lines:
    """Say where there were too few clusters to show anything."""
    tested = table[table["p"].notna()]
    least = [_least_p(rows) for _, _, rows in _by_contrast(tested)]
    if not least or min(least) * len(tested) < 0.05:
        return []
    units = unit_name(data.clustered_by, 2)
    why = (
        f"They are too few for that: groups of so few {units} can have no p below {ph.p_value(min(least))}, however "
        f"far apart they lie, and {len(tested)} differences were tested. More {units} would help most."
    )
    return [why, ""]


def _is_paired(row: pd.Series) -> bool:
    return str(row["tested"]).startswith("paired")


def _least_p(rows: pd.DataFrame) -> float:
    """Return the smallest p that a contrast can give, whatever its values are."""
    n, k = int(rows["n_clusters"].max()), int(rows["n_clusters_against"].max())
    return least_p_paired(n) if _is_paired(rows.iloc[0]) else least_p(n, k)


def _bullet(row: pd.Series, data: Grouped) -> str:
    """Return the sentence on one difference."""
    one = next(each for each in data.measures if each.name == row["measure"])
    higher = "higher" if row["difference"] > 0 else "lower"
    unit = f" {one.unit}" if one.unit in _UNITS else ""
    values = f"{amount(row['mean'], one.unit)} against {amount(row['mean_against'], one.unit)}{unit}"
    name, key = ("adjusted p", "p_adjusted") if row["finding"] == DIFFERS else ("p", "p")
    size = f"g = {row['hedges_g']:.1f}" if isfinite(row["hedges_g"]) else "g unknown"
    remark = {"weak": " *Weak measure.*", "untested": " *Untested measure.*"}.get(one.evidence, "")
    meaning = one.meaning[:1].lower() + one.meaning[1:] if one.meaning[1:2].islower() else one.meaning
    return (
        f"- **{spaced(one.name)}** is {higher} ({meaning.rstrip('.')}): on average {values}{_counts(row)} (difference "
        f"{ph.difference(row)}{_like_length(row)}; {_sizes(row, data)}; {ph.p_phrase(name, row[key])}, {size}).{remark}"
    )


def _counts(row: pd.Series) -> str:
    """Return of a rate how many turns it counts on both sides."""
    if not (isfinite(row["count"]) and isfinite(row["count_against"])):
        return ""
    sides = (f"{row[f'count{side}']:,.0f} of {row[f'out_of{side}']:,.0f}" for side in ("", "_against"))
    return f", in {' and '.join(sides)} turns"


def _like_length(row: pd.Series) -> str:
    """Return the difference at like length, where there is one."""
    if not isfinite(row["at_like_length"]):
        return ""
    return f"; at like length {ph.difference(row, 'at_like_length')}"


def _sizes(row: pd.Series, data: Grouped) -> str:
    sessions = f"{int(row['n_sessions'])} and {int(row['n_sessions_against'])} sessions"
    if data.clustered_by == SESSION:
        return sessions
    n, k = int(row["n_clusters"]), int(row["n_clusters_against"])
    if not _is_paired(row):
        return f"{sessions} of {n} and {k} {unit_name(data.clustered_by, 2)}"
    left_out = int(row["n_left_out"])
    others = f"; {left_out} on one side only left out" if left_out else ""
    return f"{sessions}, paired by {unit_name(data.clustered_by, 1)}, {n} of them on both sides{others}"


def _reference_bullet(row: pd.Series, data: Grouped) -> str:
    unit, n, k = str(row["unit"]), int(row["n_sessions"]), int(row["n_clusters"])
    of = "" if data.clustered_by == SESSION else f" of {k} {unit_name(data.clustered_by, k)}"
    counted = f"{row['count']:,.0f} of {row['out_of']:,.0f} turns, " if isfinite(row["count"]) else ""
    return (
        f"- {label(data, str(row['group']))}, {spaced(row['against'])}: **{spaced(row['measure'])}** is "
        f"{'higher' if row['difference'] > 0 else 'lower'}, on average {amount(row['mean'], unit)} ({counted}{n} "
        f"sessions{of}) against {amount(row['mean_against'], unit)} ({int(row['n_sessions_against'])} sessions); "
        f"difference {ph.difference(row)}, {ph.p_phrase('adjusted p', float(row['p_adjusted']))}."
    )


def _alike(table: pd.DataFrame, data: Grouped) -> Lines:
    if table["p"].isna().all():
        return []
    lines = ["## What does not differ", ""]
    found = table[table["finding"] == ALIKE]
    if found.empty:
        none = (
            "No measure is shown to be alike: to show that groups lie within half a standard deviation takes some "
            f"{_ENOUGH_FOR_ALIKE} {unit_name(data.clustered_by, 2)} a group. That no difference was found does not "
            "make them alike."
        )
        return [*lines, none, ""]
    lines += ["Alike to within half a standard deviation (the 90% interval of Hedges' g lies within ±0.5):", ""]
    for group, against, rows in _by_contrast(found):
        names = listed([spaced(name) for name in rows["measure"]])
        lines.append(f"- {label(data, group)} and {label(data, against)}: {names}.")
    return [*lines, ""]


def _inconclusive(table: pd.DataFrame, data: Grouped) -> Lines:
    if table["p"].isna().all():
        return []
    contrasts = list(_by_contrast(table[table["finding"] == UNCLEAR]))
    lines = ["## What is inconclusive", ""]
    if not contrasts:
        return [*lines, "Nothing is left open.", ""]
    if len(contrasts) > FEW_CONTRASTS:
        return [*lines, *_inconclusive_of_many(contrasts, data), ""]
    lines += [_OPEN, ""] if any(len(_largest_open(rows, data)) for _, _, rows in contrasts) else []
    for group, against, rows in contrasts:
        n = f"{len(rows):,} measure{'' if len(rows) == 1 else 's'}"
        lines += [f"**{label(data, group)}, beside {label(data, against)}**: {n}. {_findable(rows, data)}", ""]
        lines += [_bullet(row, data) + _needed(row, data) for _, row in _largest_open(rows, data).iterrows()]
        lines.append("")
    return lines


def _inconclusive_of_many(contrasts: Sequence[tuple[str, str, pd.DataFrame]], data: Grouped) -> Lines:
    """Say how large a difference each group could have shown, groups of one size together."""
    by_sentence: dict[str, list[str]] = {}
    for group, _, rows in contrasts:
        by_sentence.setdefault(_findable(rows, data), []).append(label(data, group))
    return [f"- {listed(names)}: {sentence}" for sentence, names in by_sentence.items()]


def _largest_open(rows: pd.DataFrame, data: Grouped) -> pd.DataFrame:
    """Return the three inconclusive differences to mention: of supported measures first, large core ones before all."""
    known = rows[rows["hedges_g"].notna()]
    supported = known[known["evidence"] == "supported"]
    ordered = _largest_first(supported if len(supported) else known)
    size = ordered["hedges_g"].abs()
    first = ordered["measure"].isin(data.usual) & (size >= _LARGE)
    chosen = pd.concat([ordered[first], ordered[~first]])[:LARGEST_OPEN]
    return chosen[chosen["hedges_g"].abs() >= _LARGE_ENOUGH]


def _findable(rows: pd.DataFrame, data: Grouped) -> str:
    """Say how large a difference would be detected, of the measure with most clusters."""
    best = rows.iloc[int(rows["n_clusters"].add(rows["n_clusters_against"]).to_numpy().argmax())]
    n, k = int(best["n_clusters"]), int(best["n_clusters_against"])
    who = f"{n:,} {unit_name(data.clustered_by, n)} against {k:,}"
    if not isfinite(best["findable_g"]):
        return f"{who} are too few for any test, however large a difference is."
    return (
        f"{who} would mostly show a difference of {best['findable_g']:.1f} standard deviations or more, on a measure "
        "that is looked at alone; a smaller one would mostly be missed."
    )


def _needed(row: pd.Series, data: Grouped) -> str:
    if pd.isna(row["n_needed"]):
        return ""
    needed = int(row["n_needed"])
    if min(int(row["n_clusters"]), int(row["n_clusters_against"])) >= needed:
        return " It is not sure among so many comparisons; named alone beforehand, it might be."
    units = unit_name(data.clustered_by, 2)
    return f" Were it real and no smaller, {needed:,} {units} a group would mostly show it, looked at alone."


def _left_out(table: pd.DataFrame, data: Grouped) -> Lines:
    """Say of which measures and groups there was nothing to compare."""
    lines = []
    constant = table[table["finding"] == CONSTANT]["measure"].value_counts(sort=False)
    everywhere = constant.index[constant == table.groupby(["group", "against"]).ngroups]
    if len(everywhere):
        lines.append(f"The same in every session, so there is nothing to compare: {listed(list(everywhere))}.")
    few = table[table["finding"] == TOO_FEW]
    undefined = few[["n_sessions", "n_sessions_against"]].max(axis=1) == 0
    if undefined.any():
        names = listed(list(few[undefined]["measure"].unique()))
        lines.append(f"Undefined in every session of both sides: {names}.")
    units = unit_name(data.clustered_by, 2)
    rest = few[~undefined]
    clusters = rest[["n_clusters", "n_clusters_against"]].min(axis=1) < FEWEST_TO_CLAIM
    beside = "reference_q05" in table
    alone = [
        (group, against)
        for group, against, rows in _by_contrast(table)
        if rows["finding"].isin([TOO_FEW, CONSTANT]).all()
    ]
    pairs = list(zip(rest["group"], rest["against"], strict=True))
    whole = pd.Series([pair in alone for pair in pairs], index=rest.index, dtype=bool)
    small: dict[str, None] = {}
    for row in rest[clusters & whole].to_dict("records"):
        if beside:
            small[f"{label(data, row['group'])} beside {spaced(row['against'])}"] = None
        else:
            sides = (("group", "n_clusters"), ("against", "n_clusters_against"))
            small |= {label(data, row[side]): None for side, n in sides if row[n] < FEWEST_TO_CLAIM}
    if small:
        lines.append(f"With fewer than four {units} on a side nothing is claimed, only shown: {listed(list(small))}.")
    some = rest[clusters & ~whole]["measure"].unique()
    if len(some):
        lines.append(f"Defined for fewer than four {units} of a side: {listed(list(some))}.")
    rare = rest[~clusters]["measure"].unique()
    if len(rare):
        lines.append(f"Fewer than five turns with the code, or without it, would be expected: {listed(list(rare))}.")
    return ["## What could not be compared", "", *(f"- {line}" for line in lines), ""] if lines else []
