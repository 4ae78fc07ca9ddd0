"""Scales that clients fill in: which way is better, their range, and how large a reliable change is."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan, sqrt
from pathlib import Path

import pandas as pd

from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.readers import plain_name
from therapy_analytics.stats.people_tables import read_table

BUILT_IN = Path(__file__).with_name("scales.csv")
COLUMNS = (
    "name", "label", "also", "low", "high", "better", "sd", "reliability", "reliable_change", "by_error", "cutoff",
    "source",
)  # fmt: skip
"""The columns of a table of scales; ``name`` and ``better`` (higher, lower) are needed, the others may be missing."""
_TOTAL = re.compile(r"(total|score|sum|totalscore|sumscore)$")
_TWO_SIDED, _ALONE = 1.96, 0.05


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
    return _TWO_SIDED * sd * sqrt(2 * (1 - reliability))


def compact(name: object) -> str:
    """Return the letters and digits of a name in lower case, without a word for a total at its end.

    Examples
    --------
    >>> compact("PHQ-9 total"), compact("core_om"), compact("Score")
    ('phq9', 'coreom', 'score')
    """
    plain = re.sub(r"[^a-z0-9]", "", str(name).lower())
    return _TOTAL.sub("", plain) or plain


class ScaleIndex:
    """Scales by all their names.

    Parameters
    ----------
    scales : iterable of Scale
        The scales; of two with one name the later is taken.
    """

    def __init__(self, scales: Iterable[Scale]) -> None:
        self._by_name: dict[str, Scale] = {}
        for one in scales:
            self._by_name |= dict.fromkeys((compact(one.name), compact(one.label), *one.also), one)

    def find(self, name: object) -> Scale | None:
        """Return the scale that is called so, or None."""
        return self._by_name.get(compact(name))

    @property
    def labels(self) -> list[str]:
        """Return how all scales are written."""
        return list(dict.fromkeys(one.label for one in self._by_name.values()))


def scale_index(*, own: str | Path | None = None, better: Sequence[str] = (), worse: Sequence[str] = ()) -> ScaleIndex:
    """Return the built-in scales, those of the user's table, and those whose direction the user says.

    Parameters
    ----------
    own : path, optional
        A table with the columns `COLUMNS`.
    better, worse : sequence of str, optional
        Scales of which a higher score is better, or worse, for the client.

    Raises
    ------
    BadOptionError
        A scale is said to be both.
    BadDataFileError
        The table is not as it must be.
    """
    both = {compact(one) for one in better} & {compact(one) for one in worse}
    if both:
        problem = f"{min(both)!r} stands in both --better and --worse"
        raise BadOptionError("--better", problem, "Say of each scale once what a higher score means")
    known = [*built_in_scales(), *(_read(Path(own)) if own is not None else ())]
    index = ScaleIndex(known)
    given = [(name, True) for name in better] + [(name, False) for name in worse]
    return ScaleIndex([*known, *(_directed(index, name, higher=higher) for name, higher in given)])


def _directed(index: ScaleIndex, name: str, *, higher: bool) -> Scale:
    """Return a scale with the direction that the user gave it; one that is known otherwise is another form of it."""
    found = index.find(name)
    if found is not None and found.higher_is_better == higher:
        return found
    if found is not None:
        remedy = f"Leave it out of the option, or name the column otherwise if it is not the {found.label}"
        option = "--better" if higher else "--worse"
        raise BadOptionError(option, f"of the {found.label} a {found.better} score is better", remedy)
    return Scale(name=plain_name(name), label=name.strip(), higher_is_better=higher)


@functools.cache
def built_in_scales() -> tuple[Scale, ...]:
    """Return the scales that the package knows."""
    return tuple(_read(BUILT_IN))


def _read(path: Path) -> list[Scale]:
    """Return the scales of a table."""
    table = read_table(path)
    table.columns = [plain_name(str(name)) for name in table.columns]
    missing = [name for name in ("name", "better") if name not in table]
    if missing:
        remedy = f"Give columns name and better (higher or lower); it may have {', '.join(COLUMNS[1:])} as well"
        raise BadDataFileError(str(path), f"it has no column {missing[0]}", remedy)
    rows = table.reindex(columns=list(COLUMNS), fill_value="").to_dict("records")
    cells = [{str(key): str(value).strip() for key, value in row.items()} for row in rows]
    return [_scale(path, at, row) for at, row in enumerate(cells, start=2)]


def _scale(path: Path, at: int, row: Mapping[str, str]) -> Scale:
    """Return the scale of a row of a table, which is row `at` of its file."""
    if row["better"].lower() not in ("higher", "lower") or not plain_name(row["name"]):
        problem = f"row {at} has no name, or does not say what is better"
        raise BadDataFileError(str(path), problem, "Write higher or lower")
    low, high, sd, reliability, points, by_error, cutoff = (
        _number(path, at, row, name)
        for name in ("low", "high", "sd", "reliability", "reliable_change", "by_error", "cutoff")
    )
    computed = isfinite(sd) and isfinite(reliability)
    if isfinite(reliability) and not 0 <= reliability <= 1:
        raise BadDataFileError(str(path), f"the reliability in row {at} is not between 0 and 1", "Give a share, as .85")
    return Scale(
        name=plain_name(row["name"]),
        label=row["label"] or row["name"],
        also=tuple(compact(one) for one in row["also"].split(";") if one.strip()),
        higher_is_better=row["better"].lower() == "higher",
        low=low if isfinite(low) else -inf,
        high=high if isfinite(high) else inf,
        reliable=reliable_change(sd, reliability) if computed else points,
        by_error=_ALONE if computed else by_error,
        cutoff=cutoff,
        source=row["source"],
    )


def _number(path: Path, at: int, row: Mapping[str, str], name: str) -> float:
    text = row[name].replace(",", ".")
    value = float(pd.to_numeric(text, errors="coerce")) if text else nan
    if text and not isfinite(value):
        raise BadDataFileError(str(path), f"{name} in row {at} is no number", "Write a number, or leave the cell empty")
    return value
