"""What stands out, in words, each with its uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics import references
from therapy_analytics.compare._results import Results
from therapy_analytics.compare._tests import across_all
from therapy_analytics.report._measures import CLIENT, Shown
from therapy_analytics.report._outliers import Floats, Spread, ends_of, spread, two_sided
from therapy_analytics.report._overview import values_of
from therapy_analytics.report._words import interval, listed, per_cent, plural

HIGH = "human_high"
MOST = 60
"""So many go into the page, which shows the first dozen and the rest on request."""
LEVEL = 0.05
MOST_MODELS = 3
_LEAST_OF_MODEL = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of what stands out; `q` is nan for what was not tested, `size` is how far, in standard deviations."""

    text: str
    measure: str
    q: float
    size: float
    session: int | None = None
    group: tuple[str, str] | None = None

    def json(self) -> dict[str, Any]:
        """Return it as the page takes it."""
        q = None if self.q != self.q else float(f"{self.q:.2g}")
        group = None if self.group is None else list(self.group)
        return {"session": self.session, "group": group, "measure": self.measure, "text": self.text, "q": q}


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """Sessions beside the reference of skilled people.

    Attributes
    ----------
    shown : tuple of Shown
        The m measures.
    values : float array (sessions, m, 5)
        Value, interval, n, of.
    spreads : tuple of Spread
        Of the m measures.
    q : float array (sessions, m)
        How seldom, raised for all of them.
    """

    shown: tuple[Shown, ...]
    values: Floats
    spreads: tuple[Spread, ...]
    q: Floats

    @property
    def n(self) -> int:
        """Return how many comparisons were made."""
        return int(np.isfinite(self.q).sum())


def tested(shown: Sequence[Shown], results: Results, profiles: pd.DataFrame | None) -> Tested | None:
    """Hold each session against the reference of skilled people; None where there is no reference."""
    if profiles is None:
        return None
    rows = {str(row["measure"]): row for row in profiles[profiles["group"] == HIGH].to_dict("records")}
    pairs = [(one, spread(rows[one.name])) for one in shown if one.tested and one.name in rows]
    kept = [(one, found) for one, found in pairs if found is not None]
    values = values_of(results.sessions, [one.name for one, _ in kept])
    p = [two_sided(values[:, j, 3], values[:, j, 4], found) for j, (_, found) in enumerate(kept)]
    q = across_all(np.array(p).T) if kept else np.zeros((len(values), 0))
    return Tested(tuple(one for one, _ in kept), values, tuple(found for _, found in kept), q)


def of_sessions(found: Tested, results: Results, profiles: pd.DataFrame) -> Iterator[Finding]:
    """Yield the sessions whose counts are outside of what skilled people's sessions show."""
    by_measure: Mapping[Any, pd.DataFrame] = dict(list(profiles.groupby("measure")))
    ids = list(results.sessions["session_id"])
    for i, j in np.argwhere(found.q < LEVEL).tolist():
        one, beside = found.shown[j], found.spreads[j]
        rate = float(found.values[i, j, 0])
        text = _sentence(str(ids[i]), one, found.values[i, j], by_measure[one.name])
        yield Finding(text, one.name, float(found.q[i, j]), abs(rate - beside.mean) / beside.sd, session=i)


def _sentence(name: str, one: Shown, value: Floats, profiles: pd.DataFrame) -> str:
    rate, low, high, n, of = (float(cell) for cell in value)
    whose, who = ("client", "the client ") if one.family == CLIENT else ("therapist", "")
    skilled = profiles[profiles["group"] == HIGH].iloc[0]
    return (
        f"{name}: {who}{one.does} in {n:.0f} of {of:.0f} {whose} turns ({per_cent(rate)}, 95% interval "
        f"{interval(low, high)}); of skilled people's sessions the middle nine in ten lie "
        f"{_between(float(skilled['q05']), float(skilled['q95']))}.{models_around(rate, profiles)}"
    )


def _between(low: float, high: float) -> str:
    ends = per_cent(low), per_cent(high)
    return f"at {ends[0]}" if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"


def models_around(rate: float, profiles: pd.DataFrame) -> str:
    """Return which language models have such sessions."""
    inside = profiles[(profiles["q05"] <= rate) & (rate <= profiles["q95"])]
    inside = inside[~inside["group"].str.startswith("human") & (inside["n_sessions"] >= _LEAST_OF_MODEL)]
    names = [references.GROUPS[str(one)].partition(" with ")[0].partition(", ")[0] for one in inside["group"]]
    if not names:
        return ""
    return f" That lies within the middle nine in ten sessions of {listed(names, MOST_MODELS)}."


def unseen(found: Tested) -> str:
    """Return what could not have stood out, with so few turns among so many comparisons."""
    if not found.n:
        return ""
    first = [j for j, one in enumerate(found.shown) if one.first and one.family != CLIENT]
    of = int(np.nanmedian(found.values[:, first, 4])) if first else 0
    said = [_needs(found.shown[j], ends_of(of, found.spreads[j], LEVEL / found.n), of) for j in first]
    if not said or not of:
        return ""
    return (
        f"Among {found.n:,} comparisons a single session of {of} therapist turns, the middle length here, stands out "
        f"only by much: {'; '.join(said)}. What is less may be there and is not seen."
    )


def _needs(one: Shown, ends: tuple[int | None, int | None], of: int) -> str:
    low, high = ends
    few = None if low is None else ("in none of them" if low == 0 else f"in {low} or fewer")
    many = None if high is None else (f"in all {of}" if high == of else f"in {high} or more")
    either = " or ".join(end for end in (few, many) if end)
    return f"{one.does} {either}" if either else f"{one.does}: no count would do"


def nothing(could_not: str) -> Finding:
    """Return what is said where nothing that was tested stands out."""
    said = "No session and no group stands out beyond what chance gives."
    return Finding(f"{said} {could_not}".strip(), "", float("nan"), 0.0)


def best(findings: Sequence[Finding]) -> tuple[list[Finding], str]:
    """Return the findings that the page shows, surest first, and a line on how many more there are."""
    ordered = sorted(findings, key=lambda one: (one.q, -one.size, one.text))
    more = len(ordered) - MOST
    line = f"{more} more like these {plural(more, 'is', 'are')} not written out; the table has the numbers."
    return ordered[:MOST], line if more > 0 else ""
