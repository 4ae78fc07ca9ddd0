"""How things are called and written, and the table that stands before all sentences."""

from __future__ import annotations

import re
from math import isfinite

import pandas as pd

from therapy_analytics.compare._groups import SESSION, Grouped
from therapy_analytics.compare._measures import CORE
from therapy_analytics.compare._statistics import DIFFERS

Lines = list[str]
MOST_COLUMNS = 6
_UNIT_NAMES = {SESSION: ("session", "sessions"), "source_group": ("recording", "recordings")}
_NAMES_ITSELF = ("counselor", "client", "model", "session_id", "source_file")


def unit_name(clustered_by: str, n: float) -> str:
    """Return how independent values are called: sessions, clients, counselors."""
    one, several = _UNIT_NAMES.get(clustered_by, (clustered_by, f"{clustered_by}s"))
    return one if n == 1 else several


def label(data: Grouped, name: str) -> str:
    """Return how a group is called in a sentence; no sign of it is taken for Markdown."""
    plain = re.sub(r"([*<>|`\[\]\\])", r"\\\1", " ".join(name.split()))
    itself = data.by in _NAMES_ITSELF or name == "all others" or name.startswith("reference: ")
    return plain if itself else f"{data.by} {plain}"


def amount(value: float, unit: str) -> str:
    """Return a value as people read it: proportions in per cent."""
    if not isfinite(value):
        return "unknown"
    if unit == "proportion":
        return f"{100 * value:.0f}%" if abs(value) >= 0.1 or value == 0 else f"{100 * value:.1f}%"
    return plain(value)


def plain(value: float) -> str:
    """Return a number without more digits than say anything."""
    size = abs(value)
    if 0 < size < 0.01:
        return f"{value:.1g}"
    return f"{value:.0f}" if size >= 100 or value == 0 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def at_a_glance(table: pd.DataFrame, data: Grouped) -> Lines:
    """Return a table of what supervisors ask for first, where the groups fit beside each other."""
    sides = _sides(table)
    core = [name for name in CORE if name in set(table["measure"])]
    if not core or len(sides) > MOST_COLUMNS:
        return []
    units = {str(row["measure"]): str(row["unit"]) for _, row in table.iterrows()}
    sure = {(row["measure"], row["group"]) for _, row in table[table["finding"] == DIFFERS].iterrows()}
    lines = ["## At a glance", "", f"| mean (95% interval) | {' | '.join(label(data, side) for side in sides)} |"]
    lines.append("| --- |" + " ---: |" * len(sides))
    for name in core:
        cells = [_cell(sides[side].get(name), units[name]) + (" *" if (name, side) in sure else "") for side in sides]
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    told = "Each interval is of one mean alone: among many, some lie apart though nothing differs."
    if "reference_q05" in table:
        told += " Of references, the central 90% of sessions stand in place of it."
    told += " \\* differs from what it is compared with." if sure else ""
    return [*lines, "", told, ""]


def _sides(table: pd.DataFrame) -> dict[str, dict[str, tuple[float, float, float]]]:
    """Return the mean of each measure of each group with its interval; of references, the central 90% of sessions."""
    found: dict[str, dict[str, tuple[float, float, float]]] = {}
    beside = (
        ["mean_against_lo", "mean_against_hi"] if "reference_q05" not in table else ["reference_q05", "reference_q95"]
    )
    for columns in (["group", "mean", "mean_lo", "mean_hi"], ["against", "mean_against", *beside]):
        for measure, group, *numbers in table[["measure", *columns]].itertuples(index=False):
            if group != "all others":
                found.setdefault(str(group), {})[str(measure)] = (numbers[0], numbers[1], numbers[2])
    return found


def _cell(values: tuple[float, float, float] | None, unit: str) -> str:
    if values is None or not isfinite(values[0]):
        return "undefined"
    mean, low, high = (amount(one, unit).removesuffix("%") for one in values)
    sign = "%" if unit == "proportion" else ""
    return f"{mean}{sign} ({low} to {high})" if isfinite(values[1]) else f"{mean}{sign}"
