"""What a comparison says, in sentences: what differs, what does not, what cannot be told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

import numpy as np
import pandas as pd

from therapy_analytics.compare._glance import Lines, amount, at_a_glance, label, plain, unit_name
from therapy_analytics.compare._groups import SESSION, Grouped
from therapy_analytics.compare._measures import CORE, Measured
from therapy_analytics.compare._statistics import ALIKE, CONSTANT, DIFFERS, NOT_TESTED, TOO_FEW, UNCLEAR
from therapy_analytics.compare._tests import least_p, least_p_paired

MOST_LISTED, SOME_LISTED, FEW_CONTRASTS = 12, 5, 3
LEANINGS = 3
MOST_CONTRASTS = 12
_LARGE_ENOUGH, _LARGE = 0.5, 0.8
_LEAST_SHOWN = 0.001
_LIKE_TESTS = 70
"""Independent values of a group by which equal groups are mostly shown to lie within half a standard deviation."""
_SAID = ("words", "words per turn", "per 100 words", "seconds", "turns", "standard deviations")
"""Units that say something beside a number."""


def _difference(row: pd.Series) -> str:
    """Return the difference with its interval; of per cent, in points."""
    share = row["unit"] == "proportion"
    values = [float(row[key]) * (100 if share else 1) for key in ("difference", "difference_lo", "difference_hi")]
    whole = share and abs(values[0]) >= 10
    value, low, high = (f"{one:.0f}" if whole else plain(one) for one in values)
    points = " points" if share else ""
    if not isfinite(values[1]):
        return f"{value}{points}, no interval"
    return f"{value}{points}, 95% interval {low} to {high}"


def findings(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return the sections on what differs, what does not, and what cannot be told."""
    if table.empty:
        return []
    measures = {one.name: one for one in data.measures}
    return [
        *_in_short(table, data),
        *at_a_glance(table, data),
        *_differing(table, data, measures),
        *_alike(table, data),
        *_open(table, data, measures),
        *_left_out(table, data),
    ]


def _in_short(table: pd.DataFrame, data: Grouped) -> Lines:
    counts = table["finding"].value_counts()
    n = int(table["finding"].isin([DIFFERS, ALIKE, UNCLEAR]).sum())
    told = [int(counts.get(one, 0)) for one in (DIFFERS, ALIKE, UNCLEAR)]
    several = f"{told[0]:,} of {n:,} comparisons (a measure of two groups) show"
    none = f"None of {n:,} comparisons (a measure of two groups) shows"
    first = f"{several if told[0] else none} a difference beyond chance"
    lines = ["## In short", "", f"- {first}."]
    if data.clustered_by != SESSION:
        units = unit_name(data.clustered_by, 2)
        lines.append(
            f"- Sessions that share a {unit_name(data.clustered_by, 1)} are alike, so each of the {data.n_clusters:,} "
            f"{units} counts once in the tests: by the mean of its sessions."
        )
    alike = f"{told[1]:,} {'is' if told[1] == 1 else 'are'}" if told[1] else "None is"
    lines.append(f"- {alike} shown to be alike; of {told[2]:,} these sessions cannot tell.")
    untested = list(dict.fromkeys(table.loc[table["finding"] == NOT_TESTED, "measure"]))
    if untested:
        lines.append(
            f"- Not tested, only shown: {_listed([str(one).replace('_', ' ') for one in untested])}. Whatever "
            "`--measures` names is tested."
        )
    return [*lines, "- More is not better and less is not worse: no number here rates anybody's work.", ""]


def _by_contrast(table: pd.DataFrame) -> Iterable[tuple[str, str, pd.DataFrame]]:
    for (group, against), rows in table.groupby(["group", "against"], sort=False):
        yield str(group), str(against), rows


def _largest(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.loc[rows["hedges_g"].abs().sort_values(ascending=False, kind="stable").index]


def _differing(table: pd.DataFrame, data: Grouped, measures: dict[str, Measured]) -> Lines:
    found = table[table["finding"] == DIFFERS]
    lines = ["## What differs", ""]
    if found.empty:
        return [*lines, "Nothing, as far as these sessions can show.", "", *_why_nothing(table, data)]
    contrasts = list(_by_contrast(found))
    most = MOST_LISTED if len(contrasts) <= FEW_CONTRASTS else SOME_LISTED
    for group, against, rows in contrasts[:MOST_CONTRASTS]:
        lines += [f"**{label(data, group)}, beside {label(data, against)}**, the largest first:", ""]
        lines += [_bullet(row, data, measures[str(row["measure"])]) for _, row in _largest(rows)[:most].iterrows()]
        if len(rows) > most:
            lines.append(f"- {len(rows) - most} more stand in comparison.csv (column finding: differs).")
        lines.append("")
    return [*lines, *_further(len(contrasts), DIFFERS)]


def _further(n_contrasts: int, finding: str) -> Lines:
    if n_contrasts <= MOST_CONTRASTS:
        return []
    return [f"{n_contrasts - MOST_CONTRASTS:,} more groups stand in comparison.csv (column finding: {finding}).", ""]


def _why_nothing(table: pd.DataFrame, data: Grouped) -> Lines:
    """Say where so few sessions could not have shown anything."""
    tested = table[table["p"].notna()]
    if tested.empty:
        return []
    able = tested.groupby(["group", "against"], sort=False).apply(_least)
    if (able * len(able)).min() < 0.05:
        return []
    units = unit_name(data.clustered_by, 2)
    said = (
        f"They are too few for that: groups of so few {units} can have no p below {_p(float(able.min()))}, however far "
        f"apart they lie. More {units} would help most."
    )
    return [said, ""]


def _least(rows: pd.DataFrame) -> float:
    """Return the smallest p that a contrast can give, whatever its values are."""
    n, k = rows["n_clusters"].max(), rows["n_clusters_against"].max()
    return least_p_paired(int(n)) if str(rows["tested"].iloc[0]).startswith("paired") else least_p(int(n), int(k))


def _bullet(row: pd.Series, data: Grouped, one: Measured) -> str:
    higher = "higher" if row["difference"] > 0 else "lower"
    words = one.name.replace("_", " ")
    values = f"{amount(row['mean'], one.unit)} against {amount(row['mean_against'], one.unit)}"
    unit = f" {one.unit}" if one.unit in _SAID else ""
    name, key = ("adjusted p", "p_adjusted") if row["finding"] == DIFFERS else ("p", "p")
    sure = f"{name} {'=' if row[key] >= _LEAST_SHOWN else ''} {_p(row[key])}".replace("  ", " ")
    size = f"g = {row['hedges_g']:.1f}" if isfinite(row["hedges_g"]) else "g unknown"
    weak = (
        " *Weak measure.*" if one.evidence == "weak" else " *Untested measure.*" if one.evidence == "untested" else ""
    )
    meaning = one.meaning[:1].lower() + one.meaning[1:] if one.meaning[1:2].islower() else one.meaning
    head = f"- **{words}** is {higher} ({meaning.rstrip('.')}): on average {values}{unit}"
    return f"{head} (difference {_difference(row)}; {_how_many(row, data)}; {sure}, {size}).{weak}"


def _how_many(row: pd.Series, data: Grouped) -> str:
    n, k = int(row["n_sessions"]), int(row["n_sessions_against"])
    if data.clustered_by == SESSION or row["tested"] == "summaries":
        return f"{n} and {k} sessions"
    units = unit_name(data.clustered_by, 2)
    if str(row["tested"]).startswith("paired"):
        left_out = int(row["n_left_out"])
        others = f"; {left_out} on one side only left out" if left_out else ""
        one = unit_name(data.clustered_by, 1)
        return f"{n} and {k} sessions, paired by {one}, {int(row['n_clusters'])} of them on both sides{others}"
    return f"{n} and {k} sessions of {int(row['n_clusters'])} and {int(row['n_clusters_against'])} {units}"


def _p(p: float) -> str:
    if not isfinite(p):
        return "unknown"
    return "below .001" if p < _LEAST_SHOWN else f"{p:.3f}".lstrip("0") if p < 0.1 else f"{p:.2f}".lstrip("0")


def _alike(table: pd.DataFrame, data: Grouped) -> Lines:
    lines = ["## What does not differ", ""]
    found = table[table["finding"] == ALIKE]
    if found.empty:
        units = unit_name(data.clustered_by, 2)
        said = (
            f"Of nothing can that be said: to show that groups are alike, to within half a standard deviation, takes "
            f"some {_LIKE_TESTS} {units} a group. That nothing was found does not make them alike."
        )
        return [*lines, said, ""]
    lines += ["Alike to within half a standard deviation (the 90% interval of Hedges' g lies within ±0.5):", ""]
    for group, against, rows in _by_contrast(found):
        names = [str(name).replace("_", " ") for name in rows["measure"]]
        shown = ", ".join(names[:MOST_LISTED]) + (
            f", and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
        )
        lines.append(f"- {label(data, group)} and {label(data, against)}: {shown}.")
    return [*lines, ""]


def _open(table: pd.DataFrame, data: Grouped, measures: dict[str, Measured]) -> Lines:
    found = table[table["finding"] == UNCLEAR]
    lines = ["## What cannot be told with these sessions", ""]
    if found.empty:
        return [*lines, "Nothing is left open.", ""]
    contrasts = list(_by_contrast(found))
    if len(contrasts) > FEW_CONTRASTS:
        return [*lines, *_open_of_many(contrasts, data), ""]
    intro = (
        "What is listed here may be nothing: these are the largest of many differences (common measures before "
        "others), and the largest are always somewhat too large. It is where to look, not what to believe."
    )
    lines += [intro, ""]
    for group, against, rows in contrasts:
        lines += _open_contrast(rows, data, measures, (group, against))
    return lines


def _open_of_many(contrasts: Sequence[tuple[str, str, pd.DataFrame]], data: Grouped) -> Lines:
    """Say how large a difference each group could have shown, groups of one size together."""
    said: dict[str, list[str]] = {}
    for group, _, rows in contrasts:
        said.setdefault(_findable(rows, data), []).append(label(data, group))
    return [f"- {_listed(names)}: {words}" for words, names in said.items()]


def _open_contrast(rows: pd.DataFrame, data: Grouped, measures: dict[str, Measured], names: tuple[str, str]) -> Lines:
    group, against = (label(data, name) for name in names)
    known = rows[rows["hedges_g"].notna()]
    sound = known[known["evidence"] == "supported"]
    ordered = _common_first(_largest(sound if len(sound) else known))
    lines = [f"**{group}, beside {against}**: {_n_measures(len(rows))}. {_findable(rows, data)}", ""]
    for _, row in ordered[:LEANINGS].iterrows():
        if abs(row["hedges_g"]) < _LARGE_ENOUGH:
            break
        lines.append(_bullet(row, data, measures[str(row["measure"])]) + _takes(row, data))
    return [*lines, ""]


def _common_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Put large differences of the common measures before the others."""
    common = rows["measure"].isin(CORE) & (rows["hedges_g"].abs() >= _LARGE)
    return pd.concat([rows[common], rows[~common]])


def _findable(rows: pd.DataFrame, data: Grouped) -> str:
    """Say how large a difference would be found by so many, of the measure with most values."""
    best = rows.iloc[int(rows["n_clusters"].add(rows["n_clusters_against"]).to_numpy().argmax())]
    n, k = int(best["n_clusters"]), int(best["n_clusters_against"])
    who = f"{n:,} {unit_name(data.clustered_by, n)} against {k:,}"
    if not isfinite(best["findable_g"]):
        return f"{who} are too few for any test, however large a difference is."
    return (
        f"{who} would mostly show a difference of {best['findable_g']:.1f} standard deviations or more, on a measure "
        "that is looked at alone; a smaller one would mostly be missed."
    )


def _takes(row: pd.Series, data: Grouped) -> str:
    if pd.isna(row["n_needed"]):
        return ""
    needed = int(row["n_needed"])
    fewer = min(int(row["n_clusters"]), int(row["n_clusters_against"]))
    units = unit_name(data.clustered_by, 2)
    if fewer >= needed:
        return " It is not sure among so many comparisons; named alone beforehand, it might be."
    return f" Were it real and no smaller, {needed:,} {units} a group would mostly show it, looked at alone."


def _left_out(table: pd.DataFrame, data: Grouped) -> Lines:
    lines = [*_constants(table), *_too_few(table, data)]
    return ["## What could not be compared", "", *(f"- {line}" for line in lines), ""] if lines else []


def _constants(table: pd.DataFrame) -> Lines:
    found = table[table["finding"] == CONSTANT]
    always = found["measure"].value_counts()
    n = table.groupby(["group", "against"]).ngroups
    names = [str(name) for name in found["measure"].unique() if always[name] == n]
    if not names:
        return []
    return [f"The same in every session, so there is nothing to compare: {_listed(names)}."]


def _too_few(table: pd.DataFrame, data: Grouped) -> Lines:
    found = table[table["finding"] == TOO_FEW]
    undefined, lines = found[found[["n_sessions", "n_sessions_against"]].max(axis=1) == 0], []
    if len(undefined):
        lines.append(f"Undefined in every session of both sides: {_listed(list(undefined['measure'].unique()))}.")
    rest = found.drop(undefined.index)
    alone = [group for group, _, rows in _by_contrast(table) if rows["finding"].isin([TOO_FEW, CONSTANT]).all()]
    alone = list(dict.fromkeys(alone))
    units = unit_name(data.clustered_by, 1)
    if alone:
        lines.append(
            f"With one {units} on a side nothing can be said of chance, only what was there: {_listed(alone)}."
        )
    parts = rest[~rest["group"].isin(alone)]
    if len(parts):
        names = list(parts["measure"].unique())
        lines.append(f"Defined for fewer than two {unit_name(data.clustered_by, 2)} of a group: {_listed(names)}.")
    return lines


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_LISTED])
    return shown + (f", and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else "")


def _n_measures(n: int) -> str:
    return f"{n:,} measure{'' if n == 1 else 's'}"


def repeated(within: pd.DataFrame, changed: pd.DataFrame) -> Lines:
    """Return what is known of sessions that repeat."""
    lines: Lines = []
    if len(within):
        share = float(np.nanmedian(within["share_between"]))
        n = int(within["n_clients"].max())
        said = (
            f"Of {n} clients there are several sessions. For the middle measure, {share:.0%} of the variance lies "
            "between clients, the rest between sessions of one client (within.csv)."
        )
        lines += ["## Within and between clients", "", said, ""]
    if len(changed):
        sure = changed[changed["p_adjusted"] < 0.05]
        said_of = [
            f"- {row['group']}: {str(row['measure']).replace('_', ' ')} changes by {row['slope']:.2g} a {row['per']} "
            f"(95% interval {row['lo']:.2g} to {row['hi']:.2g}; {row['n_sessions']} sessions)."
            for _, row in sure.sort_values("p_adjusted", kind="stable")[:MOST_LISTED].iterrows()
        ]
        nothing = ["No change over sessions is beyond chance (change.csv has the slopes and their intervals)."]
        lines += ["## Change over sessions", "", *(said_of or nothing), ""]
    return lines
