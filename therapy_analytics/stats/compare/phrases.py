"""How groups, clusters and numbers are written in sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from therapy_analytics.core.clusters import SESSION
from therapy_analytics.stats.compare.groups import ALL_OTHERS, NAMES, REFERENCE

MOST_LISTED = 12
_LEAST_SHOWN = 0.001
_UNIT_NAMES = {SESSION: ("session", "sessions"), "source_group": ("recording", "recordings")}
_ABBREVIATIONS = ("lsm", "rlsm", "nclid")


def unit_name(clustered_by: str, n: float) -> str:
    """Return how n clusters are called: session, clients, counselors."""
    one, several = _UNIT_NAMES.get(clustered_by, (clustered_by, f"{clustered_by}s"))
    return one if n == 1 else several


def label(by: str, name: str) -> str:
    """Return how a group of the column `by` is called, with the characters of Markdown escaped."""
    escaped = re.sub(r"([*<>|`\[\]\\])", r"\\\1", " ".join(name.split()))
    itself = by in NAMES or name.startswith((ALL_OTHERS, f"{REFERENCE}: "))
    return escaped if itself else f"{by} {escaped}"


def spaced(measure: object) -> str:
    """Return the name of a measure with spaces, abbreviations in capitals."""
    return " ".join(word.upper() if word in _ABBREVIATIONS else word for word in str(measure).split("_"))


def listed(names: Sequence[str]) -> str:
    """Return the first dozen of names, and how many more there are."""
    more = f", and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def plain(value: float) -> str:
    """Return a number with two or three significant digits."""
    size = abs(value)
    if 0 < size < 0.01:
        return f"{value:.1g}"
    return f"{value:.0f}" if size >= 100 or value == 0 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def amount(value: float, unit: str) -> str:
    """Return a value as people read it: proportions in per cent."""
    if not isfinite(value):
        return "unknown"
    if unit == "proportion":
        return f"{100 * value:.0f}%" if abs(value) >= 0.1 or value == 0 else f"{100 * value:.1f}%"
    return plain(value)


def difference(row: Mapping[Any, Any], name: str = "difference") -> str:
    """Return the difference of a row with its interval, by its name; of proportions, in percentage points."""
    share = row["unit"] == "proportion"
    values = [float(row[key]) * (100 if share else 1) for key in (name, f"{name}_lo", f"{name}_hi")]
    whole = share and abs(values[0]) >= 10
    value, low, high = (f"{one:.0f}" if whole else plain(one) for one in values)
    points = " points" if share else ""
    interval = f"95% interval {low} to {high}" if isfinite(values[1]) else "no interval"
    return f"{value}{points}, {interval}"


def p_value(p: float) -> str:
    """Return p without its leading zero.

    Examples
    --------
    >>> p_value(0.00021), p_value(0.0312), p_value(0.5)
    ('below .001', '.031', '.50')
    """
    if not isfinite(p):
        return "unknown"
    return "below .001" if p < _LEAST_SHOWN else f"{p:.3f}".lstrip("0") if p < 0.1 else f"{p:.2f}".lstrip("0")


def p_phrase(name: str, p: float) -> str:
    """Return a p with its name: ``p = .031``, ``adjusted p below .001``."""
    return f"{name} = {p_value(p)}" if p >= _LEAST_SHOWN else f"{name} {p_value(p)}"
