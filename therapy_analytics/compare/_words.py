"""What a comparison shows, in sentences: what differs, what does not, what is inconclusive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np
import pandas as pd

from therapy_analytics.clusters import SESSION
from therapy_analytics.compare import _phrases as ph
from therapy_analytics.compare._effects import least_p, least_p_paired
from therapy_analytics.compare._groups import ALL_OTHERS, Grouped
from therapy_analytics.compare._phrases import MOST_LISTED, amount, label, listed, spaced, unit_name
from therapy_analytics.compare._table import ALIKE, CONSTANT, DIFFERS, NOT_TESTED, TOO_FEW, UNCLEAR

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
_NO_RATING = "- More is not better and less is not worse: no number here rates anybody's work."
_ONE_PERSON = (
    "- A group is taken as one person: many sessions of one person tell much of this person, and nothing of how "
    "persons differ. What 95% of such people would average follows from the sessions of the reference (p_method)."
)
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
    outside = f"{len(found):,} of {n:,} {outside} lie" if len(found) else f"None of {n:,} {outside} lies"
    lines = ["## In short", "", f"- {outside} outside of what people or models like those would show.", _ONE_PERSON]
    lines += ["- To be unlike a reference is not thereby better or worse.", ""]
    lines += [*_at_a_glance(table, data), "## What differs", ""]
    lines += [_reference_bullet(row, data) for _, row in found[:MOST_OF_REFERENCES].iterrows()]
    if len(found) > MOST_OF_REFERENCES:
        lines.append(f"- {len(found) - MOST_OF_REFERENCES:,} more stand in comparison.csv (column finding: differs).")
    return [*lines, *([] if len(found) else [_NOTHING]), ""]


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
    shown = f"{differing:,} of {n} show" if differing else f"None of {n} shows"
    lines = ["## In short", "", f"- {shown} a significant difference."]
    if data.clustered_by != SESSION:
        lines.append(
            f"- Sessions that share a {unit_name(data.clustered_by, 1)} are alike, so each of the {data.n_clusters:,} "
            f"{unit_name(data.clustered_by, 2)} counts once in the tests: by the mean of its sessions."
        )
    are_alike = f"{alike:,} {'is' if alike == 1 else 'are'}" if alike else "None is"
    lines.append(f"- {are_alike} shown to be alike; {unclear:,} {'is' if unclear == 1 else 'are'} inconclusive.")
    untested = [spaced(one) for one in table.loc[table["finding"] == NOT_TESTED, "measure"].unique()]
    if untested:
        lines.append(f"- Not tested, only shown: {listed(untested)}. Whatever `--measures` names is tested.")
    return [*lines, _NO_RATING, ""]


def _at_a_glance(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return a table of the core measures, where the groups fit beside each other."""
    sides = _sides(table)
    core = [name for name in data.usual if name in set(table["measure"])]
    if not core or len(sides) > MOST_COLUMNS:
        return []
    units = dict(zip(table["measure"], table["unit"], strict=True))
    differing = table[table["finding"] == DIFFERS]
    sure = set(zip(differing["measure"], differing["group"], strict=True))
    lines = ["## At a glance", "", f"| mean (95% interval) | {' | '.join(label(data, side) for side in sides)} |"]
    lines.append("| --- |" + " ---: |" * len(sides))
    for name in core:
        cells = [_cell(sides[side].get(name), units[name]) + (" *" if (name, side) in sure else "") for side in sides]
        lines.append(f"| {spaced(name)} | {' | '.join(cells)} |")
    note = "Each interval is of one mean alone: among many, some lie apart though nothing differs."
    if "reference_q05" in table:
        note += " Of references, the central 90% of sessions are shown instead."
    note += " \\* differs from what it is compared with." if sure else ""
    return [*lines, "", note, ""]


def _sides(table: pd.DataFrame) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Return by group and measure the mean with its interval; of references, with the central 90 % of sessions."""
    interval = ["mean_against_lo", "mean_against_hi"]
    if "reference_q05" in table:
        interval = ["reference_q05", "reference_q95"]
    found: dict[str, dict[str, tuple[float, float, float]]] = {}
    for columns in (["group", "mean", "mean_lo", "mean_hi"], ["against", "mean_against", *interval]):
        for measure, group, *numbers in table[["measure", *columns]].itertuples(index=False):
            if group != ALL_OTHERS:
                found.setdefault(str(group), {})[str(measure)] = (numbers[0], numbers[1], numbers[2])
    return found


def _cell(values: tuple[float, float, float] | None, unit: str) -> str:
    if values is None or not isfinite(values[0]):
        return "undefined"
    mean, low, high = (amount(one, unit).removesuffix("%") for one in values)
    sign = "%" if unit == "proportion" else ""
    return f"{mean}{sign} ({low} to {high})" if isfinite(values[1]) else f"{mean}{sign}"


def _by_contrast(table: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    for (group, against), rows in table.groupby(["group", "against"], sort=False):
        yield str(group), str(against), rows


def _largest_first(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.loc[rows["hedges_g"].abs().sort_values(ascending=False, kind="stable").index]


def _differing(table: pd.DataFrame, data: Grouped) -> Lines:
    contrasts = list(_by_contrast(table[table["finding"] == DIFFERS]))
    lines = ["## What differs", ""]
    if not contrasts:
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
    least = [_least_p(rows) for _, _, rows in _by_contrast(table[table["p"].notna()])]
    if not least or min(least) * len(least) < 0.05:
        return []
    units = unit_name(data.clustered_by, 2)
    why = (
        f"They are too few for that: groups of so few {units} can have no p below {ph.p_value(min(least))}, however "
        f"far apart they lie. More {units} would help most."
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
        f"- **{spaced(one.name)}** is {higher} ({meaning.rstrip('.')}): on average {values} (difference "
        f"{ph.difference(row)}; {_sizes(row, data)}; {ph.p_phrase(name, row[key])}, {size}).{remark}"
    )


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
    unit, mean = str(row["unit"]), float(row["mean"])
    low, high = (amount(mean - float(row[f"difference_{end}"]), unit) for end in ("hi", "lo"))
    return (
        f"- {label(data, str(row['group']))}, {spaced(row['against'])}: **{spaced(row['measure'])}** is "
        f"{'higher' if row['difference'] > 0 else 'lower'}, on average {amount(mean, unit)} "
        f"({int(row['n_sessions'])} sessions), where 95% of those would average {low} to {high} "
        f"({ph.p_phrase('adjusted p', float(row['p_adjusted']))})."
    )


def _alike(table: pd.DataFrame, data: Grouped) -> Lines:
    lines = ["## What does not differ", ""]
    found = table[table["finding"] == ALIKE]
    if found.empty:
        none = (
            "Of nothing can that be said: to show that groups are alike, to within half a standard deviation, takes "
            f"some {_ENOUGH_FOR_ALIKE} {unit_name(data.clustered_by, 2)} a group. That nothing was found does not make "
            "them alike."
        )
        return [*lines, none, ""]
    lines += ["Alike to within half a standard deviation (the 90% interval of Hedges' g lies within ±0.5):", ""]
    for group, against, rows in _by_contrast(found):
        names = listed([spaced(name) for name in rows["measure"]])
        lines.append(f"- {label(data, group)} and {label(data, against)}: {names}.")
    return [*lines, ""]


def _inconclusive(table: pd.DataFrame, data: Grouped) -> Lines:
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
    alone = [group for group, _, rows in _by_contrast(table) if rows["finding"].isin([TOO_FEW, CONSTANT]).all()]
    if alone:
        names = listed(list(dict.fromkeys(alone)))
        lines.append(
            f"With one {unit_name(data.clustered_by, 1)} on a side nothing can be tested, only shown: {names}."
        )
    rest = few[~undefined & ~few["group"].isin(alone)]
    if len(rest):
        units, names = unit_name(data.clustered_by, 2), listed(list(rest["measure"].unique()))
        lines.append(f"Defined for fewer than two {units} of a group: {names}.")
    return ["## What could not be compared", "", *(f"- {line}" for line in lines), ""] if lines else []
