"""Findings about single sessions, each with its interval and p value, and what all findings have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Floats
from therapy_analytics.report._words import brackets, interval, p_short, p_words, per_cent, plural
from therapy_analytics.report.overview import values_of
from therapy_analytics.report.shown import Shown
from therapy_analytics.stats.compare.effects import holm
from therapy_analytics.stats.compare.groups import TESTED, counts
from therapy_analytics.stats.compare.reference import LEVEL, Spread, ends_of, in_reference, spread, two_sided
from therapy_analytics.stats.compare.sessions import Results

HIGH = "human_high"
OF_GROUPS_ALONE = ("therapist_advice_rate",)
"""Core measures that single sessions are not tested for: in the two corpora of skilled people advice is spread so
differently that sessions of one, held against the other, were claimed of in 7 to 58% of runs (``python -m
benchmarks.null_claims``)."""
MOST = 60
"""So many go into the page, which shows the first five and the rest on request."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a test supports about a group or a session.

    Attributes
    ----------
    line : str
        The finding in one line.
    detail : str
        The same with the number of sessions, the test and the difference.
    measure : str
        The measure.
    p : float
        Adjusted for all comparisons of its sort.
    size : float
        The difference from what it is compared with, in the unit of the measure.
    under : (str, str)
        What the page lists it under, such as ("counselor", "Ruth"); the name is empty where nobody is named.
    session : int, optional
        The session that it is about; None where it is about the group in `under`.
    """

    line: str
    detail: str
    measure: str
    p: float
    size: float
    under: tuple[str, str]
    session: int | None = None

    def json(self) -> dict[str, Any]:
        """Return it as the page takes it."""
        texts = {"line": self.line, "detail": self.detail, "measure": self.measure}
        return {**texts, "under": list(self.under), "session": self.session, "p": float(f"{self.p:.2g}")}


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """Sessions beside the reference of skilled people.

    Attributes
    ----------
    shown : tuple of Shown
        The m measures.
    values : float array (sessions, m, 5)
        Rate, both ends of its interval, turns with the code, turns of the role.
    spreads : tuple of Spread
        Of the m measures.
    p : float array (sessions, m)
        Adjusted for all of them (Holm); nan where a session has no such turns.
    """

    shown: tuple[Shown, ...]
    values: Floats
    spreads: tuple[Spread, ...]
    p: Floats

    @property
    def n(self) -> int:
        """Return how many comparisons were made."""
        return int(np.isfinite(self.p).sum())


def core(shown: Sequence[Shown], results: Results) -> list[Shown]:
    """Return the shares of turns of which ``tanalyze compare`` claims something."""
    rows = results.codebook
    return [one for one in shown if one.does and one.name in rows.index and rows.at[one.name, "compare"] == TESTED]


def tested(shown: Sequence[Shown], results: Results, profiles: pd.DataFrame | None) -> Tested | None:
    """Compare the core measures of each session with the reference of skilled people; None where there is none.

    Sessions that are in the reference themselves are not compared.
    """
    if profiles is None:
        return None
    rows = {str(row["measure"]): row for row in profiles[profiles["group"] == HIGH].to_dict("records")}
    asked = [one for one in core(shown, results) if one.name in rows and one.name not in OF_GROUPS_ALONE]
    pairs = [(one, spread(rows[one.name])) for one in asked]
    kept = [(one, found) for one, found in pairs if found is not None]
    values = values_of(results.sessions, [one.name for one, _ in kept])
    for j, (one, _) in enumerate(kept):
        values[:, j, 3:] = counts(results.sessions, one.name)
    p = [two_sided(values[:, j, 3], values[:, j, 4], found) for j, (_, found) in enumerate(kept)]
    theirs = in_reference(results.sessions, HIGH)[:, None]
    adjusted = holm(np.where(theirs, np.nan, np.array(p).T)) if kept else np.zeros((len(values), 0))
    return Tested(tuple(one for one, _ in kept), values, tuple(found for _, found in kept), adjusted)


def of_sessions(found: Tested, results: Results, profiles: pd.DataFrame) -> Iterator[Finding]:
    """Yield the sessions whose counts lie outside what the sessions of skilled people show."""
    skilled = {str(row["measure"]): row for row in profiles[profiles["group"] == HIGH].to_dict("records")}
    frame = results.sessions
    for i, j in np.argwhere(found.p < LEVEL).tolist():
        one, p, value = found.shown[j], float(found.p[i, j]), found.values[i, j]
        name = str(frame["session_id"].iloc[i])
        size = abs(float(value[0]) - found.spreads[j].mean)
        texts = _line(name, one, value, skilled[one.name]), _detail(name, one, value, skilled[one.name])
        under = ("counselor", str(frame["counselor"].iloc[i]) if "counselor" in frame else "")
        yield Finding(f"{texts[0]}; {p_short(p)}", f"{texts[1]} {p_words(p)}", one.name, p, size, under, session=i)


def _line(name: str, one: Shown, value: Floats, skilled: Mapping[Any, Any]) -> str:
    rate, low, high = (float(cell) for cell in value[:3])
    within = _between(float(skilled["q05"]), float(skilled["q95"]))
    share = f"{per_cent(rate)} of turns{brackets(low, high)}"
    return f"{name}: {one.does} in {share}, most sessions of skilled people {within}"


def _detail(name: str, one: Shown, value: Floats, skilled: Mapping[Any, Any]) -> str:
    rate, low, high, n, of = (float(cell) for cell in value)
    return (
        f"{name}: {one.does} in {n:.0f} of {of:.0f} therapist turns ({per_cent(rate)}, 95% interval "
        f"{interval(low, high)}); the central 90% of skilled people's sessions lie "
        f"{_between(float(skilled['q05']), float(skilled['q95']))} (beta-binomial test;"
    )


def _between(low: float, high: float) -> str:
    ends = per_cent(low), per_cent(high)
    return f"at {ends[0]}" if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"


def unseen(found: Tested) -> str:
    """Return how far out a single session must lie before it is listed."""
    if not found.n:
        return ""
    of = int(np.nanmedian(found.values[:, :, 4]))
    needs = [
        _needs(one, ends_of(of, spread_of, LEVEL / found.n), of)
        for one, spread_of in zip(found.shown, found.spreads, strict=True)
    ]
    return (
        f"With {found.n:,} comparisons, a single session of {of} therapist turns (the median here) is listed only if "
        f"the therapist {'; '.join(needs)}. Smaller differences may be real and are not seen."
    )


def _needs(one: Shown, ends: tuple[int | None, int | None], of: int) -> str:
    low, high = ends
    few = None if low is None else ("in none of them" if low == 0 else f"in {low} or fewer")
    many = None if high is None else (f"in all {of}" if high == of else f"in {high} or more")
    either = " or ".join(end for end in (few, many) if end)
    return f"{one.does} {either}" if either else f"{one.does}: no count would do"


def best(findings: Sequence[Finding]) -> tuple[list[Finding], str]:
    """Return the findings that the page shows, smallest p first, and a line on how many more there are."""
    ordered = sorted(findings, key=lambda one: (one.p, -one.size, one.line))
    more = len(ordered) - MOST
    line = f"{more} more like these {plural(more, 'is', 'are')} not written out; the table has the numbers."
    return ordered[:MOST], line if more > 0 else ""
