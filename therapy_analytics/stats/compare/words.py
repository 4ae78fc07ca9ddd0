"""What a comparison shows, in sentences: what differs, what does not, what is inconclusive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import SESSION
from therapy_analytics.stats.compare.effects import least_p
from therapy_analytics.stats.compare.groups import ALL_OTHERS, Grouped
from therapy_analytics.stats.compare.phrases import (
    MOST_LISTED,
    amount,
    difference,
    label,
    listed,
    p_phrase,
    p_value,
    spaced,
    unit_name,
)
from therapy_analytics.stats.compare.tables import ALIKE, CONSTANT, DIFFERS, FEWEST_TO_CLAIM, TOO_FEW, UNCLEAR

Lines = list[str]
Row = Mapping[Any, Any]
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
_LONGER = 1.5
"""Times as many words a turn, from which on it is said that turns are longer."""
_MOST_LENGTHS = 5
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
_OPEN = (
    "The differences that are listed here may be nothing: they are the largest of those compared (common measures "
    "before others), and the largest are mostly somewhat too large. They are where to look, not what to believe."
)


# The sections of each kind of comparison


def findings(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return the sections on groups compared with each other."""
    if table.empty:
        return []
    sections = [_in_short(table, data), _at_a_glance(table, data), _differing(table, data)]
    if table["p"].notna().any():
        sections += [_alike(table, data), _inconclusive(table, data)]
    return [line for section in (*sections, _left_out(table, data)) for line in section]


def beside_references(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return the sections on groups compared with references."""
    if table.empty:
        return []
    found = table[table["finding"] == DIFFERS].sort_values("p_adjusted", kind="stable")
    n, tested = len(found), int(table["p"].notna().sum())
    outside = f"{n or 'None'} of {tested:,} comparisons (a measure of a group beside a reference)"
    lines = [
        "## In short",
        "",
        f"- {outside} {'show' if n > 1 else 'shows'} a significant difference.",
        _OF_THESE.format(units=unit_name(data.clustered_by, 2)),
        "- To be unlike a reference is not thereby better or worse.",
        "",
        *_at_a_glance(table, data),
        "## What differs",
        "",
        *(_reference_bullet(row, data) for row in found[:MOST_OF_REFERENCES].to_dict("records")),
    ]
    if n > MOST_OF_REFERENCES:
        lines.append(f"- {n - MOST_OF_REFERENCES:,} more stand in comparison.csv (column finding: differs).")
    nothing = [_UNCLAIMED if data.barred else _NOTHING]
    return [*lines, *([] if n else nothing), "", *_left_out(table, data)]


def trends(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return the sections on a number or ordered levels."""
    units = unit_name(data.clustered_by, 2)
    n, tested = int((table["finding"] == DIFFERS).sum()), int(table["p"].notna().sum())
    of = "sessions" if data.clustered_by == SESSION else f"means by {data.clustered_by}"
    taken = (
        f"- {data.by} is taken as a number or an order: one rank correlation a measure, over {of}. To compare its "
        "values as groups, say --against others or --against pairs."
    )
    claims = (
        f"- {n or 'None'} of {tested} tested measures {'goes' if n < 2 else 'go'} along with {data.by} (permutation of "
        f"{units}, adjusted for all of them)."
    )
    lines = [
        "## In short",
        "",
        taken,
        claims,
        "- A correlation says nothing of causes: who has more years may also have other clients.",
        "",
        "## Rank correlations",
        "",
        f"| measure | rank correlation (95% interval) | at like length | {units} | adjusted p |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for row in table.to_dict("records"):
        p = p_phrase("", row["p_adjusted"]).strip(" =") if isfinite(row["p"]) else str(row["finding"])
        value = f"{row['rank_correlation']:.2f} ({row['lo']:.2f} to {row['hi']:.2f})"
        value = value if isfinite(row["rank_correlation"]) else "undefined"
        mark = " *" if row["finding"] == DIFFERS else ""
        alike = f"{row['at_like_length']:.2f}" if isfinite(row["at_like_length"]) else ""
        lines.append(f"| {spaced(row['measure'])} | {value}{mark} | {alike} | {row['n_clusters']} | {p} |")
    note = "\\* marks what a test supports. At like length: with turns and words per turn held constant (ranks)."
    return [*lines, "", note, ""]


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
            for row in sure[:MOST_LISTED].to_dict("records")
        ]
        nothing = ["No change over sessions is significant (change.csv has the slopes and their intervals)."]
        lines += ["## Change over sessions", "", *(slopes or nothing), ""]
    return lines


# In short, and at a glance


def _in_short(table: pd.DataFrame, data: Grouped) -> Lines:
    differing, alike, unclear = (int((table["finding"] == one).sum()) for one in (DIFFERS, ALIKE, UNCLEAR))
    n = differing + alike + unclear
    shown = (
        f"{differing or 'None'} of {n:,} comparisons (a measure of two groups) {'show' if differing > 1 else 'shows'}"
    )
    lines = ["## In short", "", f"- {shown} a significant difference." if n else "- No difference was tested."]
    if data.clustered_by != SESSION:
        lines.append(
            f"- Sessions that share a {unit_name(data.clustered_by, 1)} are alike, so each of the "
            f"{len(np.unique(data.cluster)):,} {unit_name(data.clustered_by, 2)} counts once in the tests: by the mean "
            "of its sessions."
        )
    if n:
        are_alike = f"{alike:,} {'is' if alike == 1 else 'are'}" if alike else "None is"
        lines.append(f"- {are_alike} shown to be alike; {unclear:,} {'is' if unclear == 1 else 'are'} inconclusive.")
    claimed = {one.name for one in data.measures if one.claimed}
    if untested := [spaced(one) for one in table["measure"].unique() if one not in claimed]:
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
                    f"- **{str(who).title()} turns of {label(data.by, longer)} are longer** than those of "
                    f"{label(data.by, shorter)} ({max(words):.0f} words on average against {min(words):.0f}). Longer "
                    "turns have more of every code: read the differences at like length (comparison.csv)."
                )
    more = f"- {len(lines) - _MOST_LENGTHS} more differ so in the length of turns (comparison.csv, words_per_turn)."
    return [*lines[:_MOST_LENGTHS], *([more] if len(lines) > _MOST_LENGTHS else [])]


def _at_a_glance(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return a table of the core measures, else of what was asked for, where the groups fit beside each other."""
    is_reference = "reference_q05" in table
    ends = ["reference_q05", "reference_q95"] if is_reference else ["mean_against_lo", "mean_against_hi"]
    own = ["measure", "group", "mean", "mean_lo", "mean_hi", "count", "out_of", "n_sessions"]
    other = ["measure", "against", "mean_against", *ends, "count_against", "out_of_against", "n_sessions_against"]
    every = pd.concat([table[own], table[other].set_axis(own, axis=1)])
    every = every[~every["group"].str.startswith(ALL_OTHERS)].drop_duplicates(["measure", "group"])
    groups, there = every["group"].unique().tolist(), set(table["measure"])
    shown = [one for one in data.measures if one.usual and one.name in there]
    shown = shown or [one for one in data.measures if one.name in there]
    if not shown or len(groups) > MOST_COLUMNS:
        return []
    cells = every.set_index(["measure", "group"]).to_dict("index")
    differing = table[table["finding"] == DIFFERS]
    sure = set(zip(differing["measure"], differing["group"], strict=True))
    sizes = {name: int((data.group == i).sum()) for i, name in enumerate(data.names)}
    heads = " | ".join(label(data.by, group) for group in groups)
    lines = ["## At a glance", "", f"| mean (95% interval) | {heads} |", "| --- |" + " ---: |" * len(groups)]
    for one in shown[:MOST_LISTED]:
        told = [
            _cell(cells.get((one.name, group)), one.unit, sizes.get(group)) + " *" * ((one.name, group) in sure)
            for group in groups
        ]
        lines.append(f"| {spaced(one.name)} | {' | '.join(told)} |")
    note = f"Means are over {unit_name(data.clustered_by, 2)}, counts over all turns. Each interval is of one mean "
    note += "alone: among many, some lie apart though nothing differs."
    note += " Of references, the central 90% of sessions are shown instead." if is_reference else ""
    note += " \\* differs from what it is compared with." if sure else ""
    return [*lines, "", note, ""]


def _cell(one: Row | None, unit: str, size: int | None) -> str:
    """Return a mean with its interval and counts, and where not all sessions have it, in how many of `size` it is."""
    if one is None or not isfinite(one["mean"]):
        return "undefined"
    mean, low, high = (amount(one[key], unit).removesuffix("%") for key in ("mean", "mean_lo", "mean_hi"))
    told = [f"{low} to {high}"] if isfinite(one["mean_lo"]) else []
    told += [f"{one['count']:,.0f} of {one['out_of']:,.0f}"] if isfinite(one["count"]) else []
    if size is not None and one["n_sessions"] < size:
        told.append(f"defined in {one['n_sessions']:.0f} of {size} sessions")
    return mean + "%" * (unit == "proportion") + (f" ({'; '.join(told)})" if told else "")


# What differs


def _by_contrast(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    for (group, against), rows in table.groupby(["group", "against"], sort=False):
        yield str(group), str(against), rows


def _largest_first(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values("hedges_g", key=np.abs, ascending=False, kind="stable")


def _differing(table: pd.DataFrame, data: Grouped) -> Lines:
    contrasts = list(_by_contrast(table[table["finding"] == DIFFERS]))
    lines = ["## What differs", ""]
    if not contrasts:
        if data.barred or table["p"].isna().all():
            return [*lines, _UNCLAIMED if data.barred else _UNTESTED, ""]
        return [*lines, _NOTHING, "", *_why_nothing(table, data)]
    most = MOST_LISTED if len(contrasts) <= FEW_CONTRASTS else MOST_A_CONTRAST
    for group, against, rows in contrasts[:MOST_CONTRASTS]:
        lines += [f"**{label(data.by, group)}, beside {label(data.by, against)}**, the largest first:", ""]
        lines += [_bullet(row, data) for row in _largest_first(rows)[:most].to_dict("records")]
        if len(rows) > most:
            lines.append(f"- {len(rows) - most} more stand in comparison.csv (column finding: differs).")
        lines.append("")
    n_more = len(contrasts) - MOST_CONTRASTS
    more = [f"{n_more:,} more groups stand in comparison.csv (column finding: differs).", ""] if n_more > 0 else []
    return [*lines, *more]


def _why_nothing(table: pd.DataFrame, data: Grouped) -> Lines:
    """Say where there were too few clusters to show anything."""
    tested = table[table["p"].notna()]
    least = []
    for _, _, rows in _by_contrast(tested):
        n, k = int(rows["n_clusters"].max()), int(rows["n_clusters_against"].max())
        least.append(least_p(n, None if _is_paired(rows.iloc[0]) else k))
    if not least or min(least) * len(tested) < 0.05:
        return []
    units = unit_name(data.clustered_by, 2)
    why = (
        f"They are too few for that: groups of so few {units} can have no p below {p_value(min(least))}, however far "
        f"apart they lie, and {len(tested)} differences were tested. More {units} would help most."
    )
    return [why, ""]


def _is_paired(row: Row | pd.Series) -> bool:
    return str(row["tested"]).startswith("paired")


def _bullet(row: Row, data: Grouped) -> str:
    """Return the sentence on one difference."""
    one = next(each for each in data.measures if each.name == row["measure"])
    higher = "higher" if row["difference"] > 0 else "lower"
    unit = f" {one.unit}" if one.unit in _UNITS else ""
    values = f"{amount(row['mean'], one.unit)} against {amount(row['mean_against'], one.unit)}{unit}"
    if isfinite(row["count"]) and isfinite(row["count_against"]):
        sides = (f"{row[f'count{side}']:,.0f} of {row[f'out_of{side}']:,.0f}" for side in ("", "_against"))
        values += f", in {' and '.join(sides)} turns"
    alike = f"; at like length {difference(row, 'at_like_length')}" if isfinite(row["at_like_length"]) else ""
    name, key = ("adjusted p", "p_adjusted") if row["finding"] == DIFFERS else ("p", "p")
    size = f"g = {row['hedges_g']:.1f}" if isfinite(row["hedges_g"]) else "g unknown"
    remark = {"weak": " *Weak measure.*", "untested": " *Untested measure.*"}.get(one.evidence, "")
    meaning = one.meaning[:1].lower() + one.meaning[1:] if one.meaning[1:2].islower() else one.meaning
    return (
        f"- **{spaced(one.name)}** is {higher} ({meaning.rstrip('.')}): on average {values} (difference "
        f"{difference(row)}{alike}; {_sizes(row, data)}; {p_phrase(name, row[key])}, {size}).{remark}"
    )


def _sizes(row: Row, data: Grouped) -> str:
    """Return how many sessions of how many clusters both sides have."""
    sessions = f"{int(row['n_sessions'])} and {int(row['n_sessions_against'])} sessions"
    if data.clustered_by == SESSION:
        return sessions
    n, k = int(row["n_clusters"]), int(row["n_clusters_against"])
    if not _is_paired(row):
        return f"{sessions} of {n} and {k} {unit_name(data.clustered_by, 2)}"
    left_out = int(row["n_left_out"])
    others = f"; {left_out} on one side only left out" if left_out else ""
    return f"{sessions}, paired by {unit_name(data.clustered_by, 1)}, {n} of them on both sides{others}"


def _reference_bullet(row: Row, data: Grouped) -> str:
    unit, n, k = str(row["unit"]), int(row["n_sessions"]), int(row["n_clusters"])
    of = "" if data.clustered_by == SESSION else f" of {k} {unit_name(data.clustered_by, k)}"
    counted = f"{row['count']:,.0f} of {row['out_of']:,.0f} turns, " if isfinite(row["count"]) else ""
    return (
        f"- {label(data.by, str(row['group']))}, {spaced(row['against'])}: **{spaced(row['measure'])}** is "
        f"{'higher' if row['difference'] > 0 else 'lower'}, on average {amount(row['mean'], unit)} ({counted}{n} "
        f"sessions{of}) against {amount(row['mean_against'], unit)} ({int(row['n_sessions_against'])} sessions); "
        f"difference {difference(row)}, {p_phrase('adjusted p', float(row['p_adjusted']))}."
    )


# What does not differ, what is inconclusive, what could not be compared


def _alike(table: pd.DataFrame, data: Grouped) -> Lines:
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
        lines.append(f"- {label(data.by, group)} and {label(data.by, against)}: {names}.")
    return [*lines, ""]


def _inconclusive(table: pd.DataFrame, data: Grouped) -> Lines:
    contrasts = list(_by_contrast(table[table["finding"] == UNCLEAR]))
    lines = ["## What is inconclusive", ""]
    if not contrasts:
        return [*lines, "Nothing is left open.", ""]
    if len(contrasts) > FEW_CONTRASTS:  # groups of one size together
        by_sentence: dict[str, list[str]] = {}
        for group, _, rows in contrasts:
            by_sentence.setdefault(_findable(rows, data), []).append(label(data.by, group))
        return [*lines, *(f"- {listed(names)}: {sentence}" for sentence, names in by_sentence.items()), ""]
    shown = [_largest_open(rows, data) for _, _, rows in contrasts]
    lines += [_OPEN, ""] if any(map(len, shown)) else []
    for (group, against, rows), largest in zip(contrasts, shown, strict=True):
        n = f"{len(rows):,} measure{'' if len(rows) == 1 else 's'}"
        lines += [f"**{label(data.by, group)}, beside {label(data.by, against)}**: {n}. {_findable(rows, data)}", ""]
        lines += [_bullet(row, data) + _needed(row, data) for row in largest.to_dict("records")]
        lines.append("")
    return lines


def _largest_open(rows: pd.DataFrame, data: Grouped) -> pd.DataFrame:
    """Return the three inconclusive differences to mention: of supported measures first, large core ones before all."""
    known = rows[rows["hedges_g"].notna()]
    supported = known[known["evidence"] == "supported"]
    ordered = _largest_first(supported if len(supported) else known)
    usual = [one.name for one in data.measures if one.usual]
    first = ordered["measure"].isin(usual) & (ordered["hedges_g"].abs() >= _LARGE)
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


def _needed(row: Row, data: Grouped) -> str:
    if bool(pd.isna(row["n_needed"])):
        return ""
    needed = int(row["n_needed"])
    if min(int(row["n_clusters"]), int(row["n_clusters_against"])) >= needed:
        return " It is not sure among so many comparisons; named alone beforehand, it might be."
    units = unit_name(data.clustered_by, 2)
    return f" Were it real and no smaller, {needed:,} {units} a group would mostly show it, looked at alone."


def _left_out(table: pd.DataFrame, data: Grouped) -> Lines:
    """Say of which measures and groups there was nothing to compare."""
    lines, units = [], unit_name(data.clustered_by, 2)
    constant = table[table["finding"] == CONSTANT]["measure"].value_counts(sort=False)
    everywhere = constant.index[constant == table.groupby(["group", "against"]).ngroups]
    if len(everywhere):
        lines.append(f"The same in every session, so there is nothing to compare: {listed(list(everywhere))}.")
    few = table[table["finding"] == TOO_FEW]
    undefined = few[["n_sessions", "n_sessions_against"]].max(axis=1) == 0
    if undefined.any():
        lines.append(f"Undefined in every session of both sides: {listed(_names(few[undefined]))}.")
    few = few[~undefined]
    nothing_there = table["finding"].isin([TOO_FEW, CONSTANT]).groupby([table["group"], table["against"]])
    whole = nothing_there.transform("all").reindex(few.index).astype(bool)
    clusters = few[["n_clusters", "n_clusters_against"]].min(axis=1) < FEWEST_TO_CLAIM
    if small := _small_groups(few[clusters & whole], data, is_reference="reference_q05" in table):
        lines.append(f"With fewer than four {units} on a side nothing is claimed, only shown: {listed(small)}.")
    if some := _names(few[clusters & ~whole]):
        lines.append(f"Defined for fewer than four {units} of a side: {listed(some)}.")
    if rare := _names(few[~clusters]):
        lines.append(f"Fewer than five turns with the code, or without it, would be expected: {listed(rare)}.")
    return ["## What could not be compared", "", *(f"- {line}" for line in lines), ""] if lines else []


def _names(rows: pd.DataFrame) -> Sequence[str]:
    return list(map(str, rows["measure"].unique()))


def _small_groups(rows: pd.DataFrame, data: Grouped, *, is_reference: bool) -> Sequence[str]:
    """Return the sides with too few clusters, each once."""
    small: dict[str, None] = {}
    for row in rows.to_dict("records"):
        if is_reference:
            small[f"{label(data.by, row['group'])} beside {spaced(row['against'])}"] = None
        else:
            sides = (("group", "n_clusters"), ("against", "n_clusters_against"))
            small |= {label(data.by, row[side]): None for side, n in sides if row[n] < FEWEST_TO_CLAIM}
    return list(small)
