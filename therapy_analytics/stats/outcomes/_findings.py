"""What `associations` found, in plain sentences: what goes with what, what does not, and what cannot be told."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from therapy_analytics.core.printable import counted
from therapy_analytics.stats.compare.phrases import listed, spaced
from therapy_analytics.stats.outcomes._associations import ADJUSTED, BETTER, BOUND, NONE, OPEN, WORSE
from therapy_analytics.stats.outcomes._levels import CLIENTS, CLIENTS_ALONE, COUNSELORS, SESSIONS_ALONE, WITHIN
from therapy_analytics.stats.outcomes._targets import CHANGE, NEXT, SESSION

NO_CAUSE = (
    "None of this says what caused what: a measure can go with a score because one follows the other, or because both "
    "follow something else, such as how unwell a client is."
)
NO_CHANGE_ALONE = (
    "Clients with the same first score are not equally well: scores vary from day to day. A measure of clients who are "
    "well all along goes with the last score, given the first, even if nobody changes."
)
_UNITS = {WITHIN: "sessions of one client", CLIENTS: "clients", COUNSELORS: "counselors"}
_TARGETS = {
    SESSION: "the session's {scale}",
    NEXT: "the next session's {scale}, given this one's",
    CHANGE: "the last {scale}, given the first",
}
_LEAST = 0.001
Row = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class OutcomeFindings:
    """Sentences.

    Attributes
    ----------
    found : tuple of str
        One for each association that is claimed, the surest of a scale first.
    absent : tuple of str
        One for each scale, level and target with measures of which no association can be said.
    open : tuple of str
        What cannot be told, and why; that an association is no cause.
    """

    found: tuple[str, ...]
    absent: tuple[str, ...]
    open: tuple[str, ...]


def findings(
    table: pd.DataFrame, better: Mapping[str, bool], *, labels: Mapping[str, str] | None = None
) -> OutcomeFindings:
    """Say in sentences what a table of associations holds.

    Parameters
    ----------
    table : DataFrame
        As `associations` returns it.
    better : mapping of str to bool
        Of each scale, whether a higher score is better for the client.
    labels : mapping of str to str, optional
        How scales and measures are called, by their columns; by default as the columns, with spaces.
    """
    names = {name: spaced(name) for column in ("scale", "measure") for name in table[column].unique()} | dict(
        labels or {}
    )
    return OutcomeFindings(
        found=tuple(_claims(table, better, names)),
        absent=tuple(_absent(table, names)),
        open=tuple(_open(table, names)),
    )


def _claims(table: pd.DataFrame, better: Mapping[str, bool], names: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each measure, scale, level and target that is claimed."""
    claimed = table[table["finding"].isin((BETTER, WORSE))]
    order = claimed.sort_values(["scale", "q", "p"], kind="stable")
    keys = ["scale", "measure", "level", "target"]
    for key, rows in order.groupby(keys, sort=False):
        found = {str(row["adjusted"]): row for row in rows.to_dict("records")}
        row = found.get("") or found[ADJUSTED]
        tested = (table[keys] == list(key)).all(axis=1) & (table["adjusted"] == ADJUSTED) & table["p"].notna()
        yield _claim(row, names, higher_is_better=better[row["scale"]]) + _beyond_length(
            found, asked=bool(tested.any())
        )


def _claim(row: Row, names: Mapping[str, str], *, higher_is_better: bool) -> str:
    """Return the sentence of a claimed association, up to what the length does to it."""
    measure, scale = names[row["measure"]], names[row["scale"]]
    way = "better" if row["finding"] == BETTER else "worse"
    higher = (way == "better") == higher_is_better
    numbers = (
        f"{row['slope']:+.2f} SD for each SD (95% interval {row['lo']:+.2f} to {row['hi']:+.2f}; q {_p(row['q'])})"
    )
    target = _TARGETS[row["target"]].format(scale=scale)
    seen = f"{target}{',' if ',' in target else ''} was {way} ({'higher' if higher else 'lower'})"
    return f"**{_where(row, measure)}**, {seen}: {numbers}."


def _where(row: Row, measure: str) -> str:
    """Return who or what is compared."""
    if row["level"] == COUNSELORS:
        return f"Where counselors had higher {measure} than others"
    if row["level"] == WITHIN:
        return f"In sessions with higher {measure} than the client's others"
    who = "sessions" if SESSIONS_ALONE in row["note"] else "clients"
    of_one = " of the same counselor" if row["n_counselors"] > 1 and CLIENTS_ALONE not in row["note"] else ""
    return f"Where {who} had higher {measure} than other {who}{of_one}"


def _beyond_length(found: Mapping[str, Row], *, asked: bool) -> str:
    """Return what becomes of an association when the length of sessions is held constant."""
    if "" not in found:
        return " It shows only with the length of the session held constant."
    if ADJUSTED in found and found[ADJUSTED]["finding"] == found[""]["finding"]:
        return f" With the length of the session held constant: {found[ADJUSTED]['slope']:+.2f}."
    return " With the length of the session held constant it is not shown." if asked else ""


def _p(value: float) -> str:
    return f"= {value:.3f}" if value >= _LEAST else f"< {_LEAST}"


def _absent(table: pd.DataFrame, names: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for the measures of a scale, level and target that are shown to have next to no association."""
    rows = table[(table["finding"] == NONE) & (table["adjusted"] == "")]
    for where, some in _places(rows, names):
        measures = listed([names[name] for name in some["measure"]])
        yield f"{where}: no association larger than {BOUND:.2f} SD with {measures}."


def _places(table: pd.DataFrame, names: Mapping[str, str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each scale, level and target, with what these are in words."""
    for key, rows in table.groupby(["scale", "level", "target"], sort=False):
        scale, level, target = map(str, key)
        yield f"Between {_UNITS[level]}, {_TARGETS[target].format(scale=names[scale])}", rows


def _open(table: pd.DataFrame, names: Mapping[str, str]) -> Iterator[str]:
    """Yield what cannot be told."""
    plain = table[table["adjusted"] == ""]
    yield from _unknown(plain, names)
    for where, some in _places(plain, names):
        rows = some[some["finding"] == OPEN]
        if len(rows):
            reach = rows[["lo", "hi"]].abs().max(axis=1).median()
            told = f"{len(rows)} of {counted(len(some), 'measure')} inconclusive"
            yield f"{where}: {told}; of half of these, associations of up to {reach:.2f} SD cannot be ruled out."
    yield from _missing_levels(plain)
    yield from [NO_CHANGE_ALONE] if table.loc[table["target"] == CHANGE, "p"].notna().any() else []
    yield NO_CAUSE


def _unknown(table: pd.DataFrame, names: Mapping[str, str]) -> Iterator[str]:
    """Yield where nothing can be said and why; scales of which the same is true stand together."""
    scales: dict[tuple[str, str, str], list[str]] = {}
    for key, rows in table.groupby(["level", "target", "scale"], sort=False):
        level, target, scale = map(str, key)
        if rows["p"].isna().all():
            scales.setdefault((level, target, str(rows["note"].iloc[0])), []).append(names[scale])
    for (level, target, why), some in scales.items():
        yield f"Between {_UNITS[level]}, {_TARGETS[target].format(scale=listed(some))}: nothing can be said ({why})."


def _missing_levels(table: pd.DataFrame) -> Iterator[str]:
    """Yield what the table says nothing of, because the sessions do not have the level."""
    whole = table[table["target"] != NEXT]
    told = set(whole["level"])
    if len(whole) and WITHIN not in told and SESSION in set(whole["target"]):
        yield "Of the sessions of one client nothing can be said: too few clients have several."
    if len(whole) and COUNSELORS not in told:
        yield "Of differences between counselors nothing can be said: too few have several clients, or are known."
