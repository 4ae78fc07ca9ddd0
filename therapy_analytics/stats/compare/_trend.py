"""Numbers and ordered levels by which sessions are compared: one rank correlation a measure instead of many groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations as orders
from math import factorial

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.clusters import SESSION, Floats
from therapy_analytics.stats.compare._effects import holm
from therapy_analytics.stats.compare._groups import Grouped
from therapy_analytics.stats.compare._measures import SYNCHRONY
from therapy_analytics.stats.compare._permutation import EXACT_UP_TO
from therapy_analytics.stats.compare._phrases import NAMES, p_phrase, spaced, unit_name
from therapy_analytics.stats.compare._table import (
    DIFFERS,
    NOT_TESTED,
    TOO_FEW,
    UNCLEAR,
    beside_zero,
    cluster_means,
    lengths,
)

FEWEST_LEVELS, FEWEST_NUMBERS = 3, 5
"""Ordered levels that have a trend; and different numbers from which they are divided into thirds to be shown."""
FEWEST = 5
"""Clusters that a rank correlation needs to be tested."""
_WORDS = (("low", "medium", "high"), ("low", "middle", "high"), ("low", "moderate", "high"))
"""Levels in words that have an order."""
TREND_COLUMNS = (
    *("measure", "family", "evidence", "unit", "by", "finding", "n_sessions", "n_clusters", "rank_correlation"),
    *("lo", "hi", "p", "p_method", "p_adjusted", "at_like_length", "at_like_length_lo", "at_like_length_hi"),
)
"""Columns of ``trend.csv``."""


def levels_of(frame: pd.DataFrame, by: str) -> Floats | None:
    """Return the numbers, or the places in their order, of the values of a column (n,); None where it has none.

    Columns of names, such as ``counselor``, are never numbers.

    Examples
    --------
    >>> levels_of(pd.DataFrame({"years": ["1", "3", "12", "3"]}), "years").tolist()
    [1.0, 3.0, 12.0, 3.0]
    >>> levels_of(pd.DataFrame({"dose": ["low", "high", "medium"]}), "dose").tolist()
    [0.0, 2.0, 1.0]
    >>> levels_of(pd.DataFrame({"arm": ["a", "b"]}), "arm") is None
    True
    """
    if by in NAMES or by not in frame:
        return None
    column = frame[by].astype(str).str.strip()
    known = set(column) - {""}
    numbers = pd.to_numeric(column.where(column != ""), errors="coerce").to_numpy(dtype=np.float64)
    for words in _WORDS:
        if known and {one.lower() for one in known} <= set(words):
            numbers = column.str.lower().map({word: float(i) for i, word in enumerate(words)}).to_numpy(np.float64)
    if np.isnan(numbers[(column != "").to_numpy()]).any() or len(np.unique(numbers)) < FEWEST_LEVELS:
        return None
    return np.asarray(numbers, dtype=np.float64)


def in_levels(data: Grouped, level: Floats) -> Grouped:
    """Return the sessions in groups of one level each; numbers of which there are many, in thirds of the sessions."""
    there = np.unique(level)
    if len(there) < FEWEST_NUMBERS:
        names = {float(one): str(data.sessions[data.by][level == one].iloc[0]) for one in there}
        return replace(data, names=tuple(names.values()), group=np.searchsorted(there, level).astype(np.int64))
    ends = np.unique(np.quantile(level, [1 / 3, 2 / 3], method="inverted_cdf"))
    group = np.searchsorted(ends, level).astype(np.int64)
    kept = np.unique(group)
    names_of = [f"{level[group == one].min():g} to {level[group == one].max():g}" for one in kept]
    return replace(data, names=tuple(names_of), group=np.searchsorted(kept, group).astype(np.int64))


def trend_table(data: Grouped, level: Floats, *, permutations: int, seed: int) -> pd.DataFrame:
    """Return the rank correlation of each measure with a number that is known of sessions.

    Spearman's, of the means over each cluster (counselor, ...) of both; p is by permutation of whole clusters, adjusted
    for all measures (Holm), the interval by Fisher's transformation.

    Parameters
    ----------
    data : Grouped
        The n sessions.
    level : float array (n,)
        The number of each.
    permutations, seed : int
        How many random permutations, from which seed, where there are too many to enumerate.

    Returns
    -------
    DataFrame
        A row for each measure with the columns `TREND_COLUMNS`. ``at_like_length`` is the partial rank correlation,
        with the ranks of turns and of words per turn held constant; of synchrony a claim needs both.

    References
    ----------
    Bonett, D. G., & Wright, T. A. (2000). Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations. Psychometrika, 65(1), 23-28.
    """
    means = cluster_means(np.column_stack([level, lengths(data.sessions), data.values]), data.cluster)
    rows = []
    for j, one in enumerate(data.measures):
        known = ~np.isnan(means[:, 0]) & ~np.isnan(means[:, 3 + j])
        x, y, length = means[known, 0], means[known, 3 + j], means[known, 1:3]
        n, claimed = len(x), one.claimed and not data.barred
        row: dict[str, object] = {
            **{key: getattr(one, key) for key in ("family", "evidence", "unit")},
            "measure": one.name,
            "by": data.by,
            "n_clusters": n,
            "n_sessions": int((~np.isnan(data.values[:, j]) & ~np.isnan(level)).sum()),
        }
        if n >= FEWEST and np.ptp(x) > 0 and np.ptp(y) > 0:
            value = _rank_correlation(x, y)
            row |= {"rank_correlation": value, **dict(zip(("lo", "hi"), _interval(value, n, 0), strict=True))}
            row |= _at_like_length(x, y, length)
            row |= _permuted(x, y, permutations, seed) if claimed else {}
        rows.append(row | {"few": n < FEWEST})
    table = pd.DataFrame(rows).reindex(columns=[*TREND_COLUMNS, "few"])
    table["p_adjusted"] = holm(table["p"].to_numpy(dtype=np.float64))
    also = beside_zero(table, "at_like_length").eq(np.sign(table["rank_correlation"]))
    sure = (table["p_adjusted"] < 0.05) & (table["family"].ne(SYNCHRONY) | also)
    cases = [table["few"].astype(bool), table["p"].isna(), sure]
    table["finding"] = np.select(cases, [TOO_FEW, NOT_TESTED, DIFFERS], default=UNCLEAR)
    return table[list(TREND_COLUMNS)]


def trend_words(table: pd.DataFrame, data: Grouped) -> list[str]:
    """Return the sections on a number or ordered levels."""
    units = unit_name(data.clustered_by, 2)
    found = table[table["finding"] == DIFFERS]
    tested = int(table["p"].notna().sum())
    of = "sessions" if data.clustered_by == SESSION else f"means by {data.clustered_by}"
    taken = (
        f"- {data.by} is taken as a number or an order: one rank correlation a measure, over {of}. To compare its "
        "values as groups, say --against others or --against pairs."
    )
    claims = (
        f"- {len(found) or 'None'} of {tested} tested measures {'goes' if len(found) < 2 else 'go'} along with "
        f"{data.by} (permutation of {units}, adjusted for all of them)."
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
        p = f"{p_phrase('', row['p_adjusted']).strip(' =')}" if row["p"] == row["p"] else str(row["finding"])
        mark = " *" if row["finding"] == DIFFERS else ""
        alike = "" if np.isnan(row["at_like_length"]) else f"{row['at_like_length']:.2f}"
        lines.append(
            f"| {spaced(row['measure'])} | {_shown(row['rank_correlation'], row['lo'], row['hi'])}{mark} | {alike} | "
            f"{row['n_clusters']} | {p} |"
        )
    note = "\\* marks what a test supports. At like length: with turns and words per turn held constant (ranks)."
    return [*lines, "", note, ""]


def _shown(value: float, low: float, high: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.2f} ({low:.2f} to {high:.2f})"


def _rank_correlation(x: Floats, y: Floats) -> float:
    return float(np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1])


def _interval(value: float, n: int, held: int) -> tuple[float, float]:
    """Return the 95% interval of a rank correlation of n pairs, with so many variables held constant."""
    if n - held <= 3 or abs(value) >= 1:
        return np.nan, np.nan
    reach = 1.96 * np.sqrt((1 + value**2 / 2) / (n - held - 3))
    return float(np.tanh(np.arctanh(value) - reach)), float(np.tanh(np.arctanh(value) + reach))


def _at_like_length(x: Floats, y: Floats, length: Floats) -> dict[str, float]:
    """Return the partial rank correlation with both logarithms of length held constant, and its interval."""
    known = ~np.isnan(length).any(axis=1)
    ranks = [stats.rankdata(one[known]) for one in (x, y, length[:, 0], length[:, 1])]
    n = int(known.sum())
    design = np.column_stack([np.ones(n), ranks[2], ranks[3]])
    if n < FEWEST + 2 or np.linalg.matrix_rank(design) < 3:
        return {}
    left = [one - design @ np.linalg.lstsq(design, one, rcond=None)[0] for one in ranks[:2]]
    if min(float(np.ptp(one)) for one in left) < 1e-9:
        return {}
    value = float(np.corrcoef(left[0], left[1])[0, 1])
    low, high = _interval(value, n, 2)
    return {"at_like_length": value, "at_like_length_lo": low, "at_like_length_hi": high}


def _permuted(x: Floats, y: Floats, n_random: int, seed: int) -> dict[str, object]:
    """Return the two-sided p of a rank correlation, by permutation of the clusters."""
    ranks, others = (stats.rankdata(one) - (len(x) + 1) / 2 for one in (x, y))
    observed = abs(float(ranks @ others)) - 1e-9
    if factorial(len(x)) <= EXACT_UP_TO:
        every: Sequence[tuple[float, ...]] = list(orders(others.tolist()))
        p = float((np.abs(np.array(every) @ ranks) >= observed).mean())
        return {"p": p, "p_method": "permutation, exact"}
    rng = np.random.default_rng(seed)
    drawn = rng.permuted(np.tile(others, (n_random, 1)), axis=1)
    p = (1 + int((np.abs(drawn @ ranks) >= observed).sum())) / (1 + n_random)
    return {"p": p, "p_method": f"permutation, {n_random:,} drawn"}
