"""Where the sessions of a group differ from the rest of the run, and from the reference of skilled people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.compare._groups import OTHERS, SESSION, Bools, Grouped, contrasts, grouped
from therapy_analytics.compare._measures import choose
from therapy_analytics.compare._results import Results
from therapy_analytics.compare._tests import RankTest, across_all, rank_test, summary, t_test
from therapy_analytics.report._findings import HIGH, LEVEL, Finding, models_around
from therapy_analytics.report._measures import CLIENT, Shown
from therapy_analytics.report._outliers import Floats
from therapy_analytics.report._words import per_cent, plural

BY = ("counselor", "source")
FEWEST = 3
"""Sessions on each side; beside the reference, so many of what is independent, such as clients."""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The sessions of one group, or of all others, on one measure: how many, and the means of what is independent."""

    n_sessions: int
    values: Floats
    clustered_by: str

    def __str__(self) -> str:
        n = len(self.values)
        name = self.clustered_by
        of = "" if name == SESSION else f" of {n} {name}{plural(n, '', 's')}"
        return f"{self.n_sessions} {plural(self.n_sessions, 'session', 'sessions')}{of}"


def of_groups(
    shown: Sequence[Shown], results: Results, about: Sequence[str], profiles: pd.DataFrame | None
) -> tuple[list[Finding], int]:
    """Return where counselors, or people and models, differ from all others and from skilled people, and of how many.

    Notes
    -----
    Sessions of one client (counselor) are taken as one value. Against all others: Mann-Whitney, of the shares of
    turns and the first columns of the table. Against skilled people: a t test of the average, of the shares of turns.
    Each p is raised for all comparisons of its sort.
    """
    asked = [one for one in shown if one.tested or one.first]
    there = [grouped(results, choose(results, [one.name for one in asked]), by=by, cluster=None) for by in _by(about)]
    known = {one.name: one for one in asked}
    rest = [one for data in there for one in _against_rest(data, known)]
    people = [] if profiles is None else [one for data in there for one in _against_people(data, known, profiles)]
    return [*_sure(rest), *_sure(people)], len(rest) + len(people)


def _by(about: Sequence[str]) -> list[str]:
    return [by for by in BY if by in about]


def _sure(tried: Sequence[tuple[Finding, float]]) -> Iterator[Finding]:
    """Yield the findings that stay when each p is raised for all."""
    q = across_all(np.array([p for _, p in tried], dtype=np.float64))
    for (finding, _), raised in zip(tried, q.tolist(), strict=True):
        if raised < LEVEL:
            yield Finding(finding.text, finding.measure, raised, finding.size, group=finding.group)


def _against_rest(data: Grouped, known: dict[str, Shown]) -> Iterator[tuple[Finding, float]]:
    found = contrasts(data, OTHERS)
    # Of two groups each is the other's rest.
    for one in found[:1] if len(found) == 2 else found:
        own, other = _sides(data, one.own), _sides(data, one.other)
        for j, measure in enumerate(data.measures):
            test = rank_test(own[j].values, other[j].values)
            if min(own[j].n_sessions, other[j].n_sessions) >= FEWEST and np.isfinite(test.p):
                text = _beside_rest(known[measure.name], own[j], other[j], test)
                group = (data.by, one.group)
                yield Finding(f"{data.by} {one.group}: {text}", measure.name, test.p, abs(test.r), group=group), test.p


def _sides(data: Grouped, which: Bools) -> list[Side]:
    """Return a group's sessions on each measure."""
    means: Floats = pd.DataFrame(data.values[which]).groupby(data.cluster[which]).mean().to_numpy()
    counts = (~np.isnan(data.values[which])).sum(axis=0).tolist()
    return [Side(n, own[~np.isnan(own)], data.clustered_by) for n, own in zip(counts, means.T, strict=True)]


def _beside_rest(measure: Shown, own: Side, other: Side, test: RankTest) -> str:
    share = per_cent((1 + abs(test.r)) / 2)
    return (
        f"{measure.label}, {'more' if test.r > 0 else 'less'} than in the other sessions: {_middle(measure, own)} "
        f"({own}), against {_middle(measure, other)} ({other}); of all pairs across, {share} lie that way."
    )


def _middle(measure: Shown, side: Side) -> str:
    """Return the middle value, and from where to where they all lie."""
    cells = (float(np.median(side.values)), float(side.values.min()), float(side.values.max()))
    share = measure.name.endswith(("_rate", "_share"))
    middle, low, high = (per_cent(one) if share else f"{one:.3g}" for one in cells)
    return f"{middle} in the middle, {low} to {high}"


def _against_people(data: Grouped, known: dict[str, Shown], profiles: pd.DataFrame) -> Iterator[tuple[Finding, float]]:
    rows = {str(row["measure"]): row for row in profiles[profiles["group"] == HIGH].to_dict("records")}
    for i, name in enumerate(data.names):
        for measure, side in zip(data.measures, _sides(data, data.group == i), strict=True):
            one = known[measure.name]
            if one.tested and one.name in rows and min(len(side.values), side.n_sessions) >= FEWEST:
                found = _beside_people(one, side, rows[one.name])
                if found is not None:
                    text, size, p = found
                    text += models_around(float(side.values.mean()), profiles[profiles["measure"] == one.name])
                    yield Finding(f"{data.by} {name}: {text}", one.name, p, size, group=(data.by, name)), p


def _beside_people(one: Shown, side: Side, row: Mapping[Any, Any]) -> tuple[str, float, float] | None:
    """Return the sentence, how far in standard deviations, and p; None where there is nothing to test."""
    people, sd = float(row["mean"]), float(row["sd"])
    reach, p, _ = t_test(summary(side.values), (people, sd, int(row["n_sessions"])))
    if not np.isfinite(p) or sd <= 0:
        return None
    mean = float(side.values.mean())
    more = 100 * (mean - people)
    low, high = sorted(abs(more + end) for end in (-100 * reach, 100 * reach))
    whose, who = ("client", "the client ") if one.family == CLIENT else ("therapist", "")
    text = (
        f"{who}{one.does} in {per_cent(mean)} of {whose} turns on average ({side}); skilled people's sessions average "
        f"{per_cent(people)}: {abs(more):.0f} points {'more' if more > 0 else 'less'} (95% interval {low:.0f} to "
        f"{high:.0f})."
    )
    return text, abs(mean - people) / sd, p
