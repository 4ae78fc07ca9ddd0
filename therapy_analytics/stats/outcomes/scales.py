"""Scales that clients fill in: which way is better, their range, and how large a reliable change is."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan, sqrt
from pathlib import Path

import pandas as pd

from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.readers import plain_name
from therapy_analytics.stats.people_tables import read_table

COLUMNS = (
    *("name", "label", "also", "low", "high", "better", "sd", "reliability", "reliable_change", "by_error", "cutoff"),
    "source",
)
"""The columns of a table of scales; ``name`` and ``better`` (higher, lower) are needed, the others may be missing."""
_NUMBERS = ("low", "high", "sd", "reliability", "reliable_change", "by_error", "cutoff")
_TOTAL = re.compile(r"(total|score|sum|totalscore|sumscore)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A scale.

    Attributes
    ----------
    name, label : str
        Its column in tables, and how people write it.
    also : tuple of str
        Other names of it, as `compact` returns them.
    higher_is_better : bool
        Whether a higher score is good for the client.
    low, high : float
        The least and the largest score; infinite where unknown.
    reliable : float
        The points by which two scores of a client must differ to be a reliable change, nan where unknown.
    by_error : float
        The share of unchanged clients whose scores differ by as much through error of measurement alone, nan where
        unknown, as it is of most published numbers.
    cutoff : float
        The published score that parts clients of services from other people (of the SRS: below which the alliance is
        to be talked about), nan where unknown.
    source : str
        Where these numbers come from.
    """

    name: str
    label: str
    also: tuple[str, ...] = ()
    higher_is_better: bool
    low: float = -inf
    high: float = inf
    reliable: float = nan
    by_error: float = nan
    cutoff: float = nan
    source: str = ""

    @property
    def better(self) -> str:
        """Return "higher" or "lower"."""
        return "higher" if self.higher_is_better else "lower"


def reliable_change(sd: float, reliability: float) -> float:
    """Return the points by which two scores of one person differ in 5% of pairs through error of measurement alone.

    Parameters
    ----------
    sd : float
        Standard deviation of the scale, in points.
    reliability : float
        Its reliability, 0 to 1: best of a retest.

    References
    ----------
    Jacobson, N. S., & Truax, P. (1991). Clinical significance: a statistical approach to defining meaningful change in
    psychotherapy research. Journal of Consulting and Clinical Psychology, 59(1), 12-19.

    Examples
    --------
    >>> round(reliable_change(10, 0.875), 2)  # 1.96 * 10 * sqrt(2 * .125) = 19.6 * .5
    9.8
    """
    return 1.96 * sd * sqrt(2 * (1 - reliability))


def compact(name: object) -> str:
    """Return the letters and digits of a name in lower case, without a word for a total at its end.

    Examples
    --------
    >>> compact("PHQ-9 total"), compact("core_om"), compact("Score")
    ('phq9', 'coreom', 'score')
    """
    plain = re.sub(r"[^a-z0-9]", "", str(name).lower())
    return _TOTAL.sub("", plain) or plain


def scale_index(
    *, own: str | Path | None = None, better: Sequence[str] = (), worse: Sequence[str] = ()
) -> dict[str, Scale]:
    """Return scales by all their names, as `compact` returns these.

    They are the built-in ones, those of the user's table, which go before, and those whose direction the user says.

    Parameters
    ----------
    own : path, optional
        A table with the columns `COLUMNS`.
    better, worse : sequence of str, optional
        Scales of which a higher score is better, or worse, for the client.

    Raises
    ------
    BadOptionError
        A scale is said to be both, or to be what a known scale of that name is not.
    BadDataFileError
        The table is not as it must be.
    """
    both = {compact(one) for one in better} & {compact(one) for one in worse}
    if both:
        problem = f"{min(both)!r} stands in both --better and --worse"
        raise BadOptionError("--better", problem, "Say of each scale once what a higher score means")
    index: dict[str, Scale] = {}
    for one in (*built_in_scales(), *(_read(Path(own)) if own is not None else ())):
        index |= dict.fromkeys((compact(one.name), compact(one.label), *one.also), one)
    for option, names in {"--better": better, "--worse": worse}.items():
        for name in names:
            found = index.get(compact(name))
            if found is None:
                one = Scale(name=plain_name(name), label=name.strip(), higher_is_better=option == "--better")
                index |= dict.fromkeys((compact(one.name), compact(one.label)), one)
            elif found.higher_is_better != (option == "--better"):
                remedy = f"Leave it out of the option, or name the column otherwise if it is not the {found.label}"
                raise BadOptionError(option, f"of the {found.label} a {found.better} score is better", remedy)
    return index


@functools.cache
def built_in_scales() -> tuple[Scale, ...]:
    """Return the scales that the package knows."""
    return tuple(_read(Path(__file__).with_name("scales.csv")))


def _read(path: Path) -> list[Scale]:
    """Return the scales of a table."""
    table = read_table(path)
    table.columns = [plain_name(str(name)) for name in table.columns]
    for name in ("name", "better"):
        if name not in table:
            remedy = f"Give columns name and better (higher or lower); it may have {', '.join(COLUMNS[1:])} as well"
            raise BadDataFileError(str(path), f"it has no column {name}", remedy)
    found = []
    for at, cells in enumerate(table.reindex(columns=list(COLUMNS), fill_value="").to_dict("records"), start=2):
        row = {str(key): str(value).strip() for key, value in cells.items()}
        if row["better"].lower() not in ("higher", "lower") or not plain_name(row["name"]):
            problem = f"row {at} has no name, or does not say what is better"
            raise BadDataFileError(str(path), problem, "Write higher or lower")
        known = _numbers(path, at, row)
        computed = isfinite(known["sd"]) and isfinite(known["reliability"])
        found.append(
            Scale(
                name=plain_name(row["name"]),
                label=row["label"] or row["name"],
                also=tuple(compact(one) for one in row["also"].split(";") if one.strip()),
                higher_is_better=row["better"].lower() == "higher",
                low=known["low"] if isfinite(known["low"]) else -inf,
                high=known["high"] if isfinite(known["high"]) else inf,
                reliable=reliable_change(known["sd"], known["reliability"]) if computed else known["reliable_change"],
                by_error=0.05 if computed else known["by_error"],
                cutoff=known["cutoff"],
                source=row["source"],
            )
        )
    return found


def _numbers(path: Path, at: int, row: Mapping[str, str]) -> dict[str, float]:
    """Return the numbers of a row, which is row `at` of its file; nan for empty cells."""
    found = {}
    for name in _NUMBERS:
        text = row[name].replace(",", ".")
        found[name] = float(pd.to_numeric(text, errors="coerce")) if text else nan
        if text and not isfinite(found[name]):
            problem = f"{name} in row {at} is no number"
            raise BadDataFileError(str(path), problem, "Write a number, or leave the cell empty")
    if isfinite(found["reliability"]) and not 0 <= found["reliability"] <= 1:
        raise BadDataFileError(str(path), f"the reliability in row {at} is not between 0 and 1", "Give a share, as .85")
    return found
