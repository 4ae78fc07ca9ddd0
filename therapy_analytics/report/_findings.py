"""What stands out, in words, each with its uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.clusters import Floats
from therapy_analytics.codebook_table import KIND
from therapy_analytics.compare._effects import holm
from therapy_analytics.compare._measures import TESTED
from therapy_analytics.compare._reference import LEVEL, Spread, counts, ends_of, spread, two_sided
from therapy_analytics.compare._results import Results
from therapy_analytics.report._codebook import Shown
from therapy_analytics.report._overview import values_of
from therapy_analytics.report._words import interval, listed, p_words, per_cent, plural

HIGH = "human_high"
MOST = 60
"""So many go into the page, which shows the first dozen and the rest on request."""
MOST_TURNS = 12
NO_SIGN = "Some danger is missed: that none is found elsewhere is no sign of safety."


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence of what stands out; `p` is adjusted for all comparisons of its sort, and nan for what was not tested.

    `size` is how far from what it is compared with, in the unit of the measure.
    """

    text: str
    measure: str
    p: float
    size: float
    session: int | None = None
    group: tuple[str, str] | None = None

    def json(self) -> dict[str, Any]:
        """Return it as the page takes it."""
        p = None if self.p != self.p else float(f"{self.p:.2g}")
        group = None if self.group is None else list(self.group)
        return {"session": self.session, "group": group, "measure": self.measure, "text": self.text, "p": p}


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


def tested(shown: Sequence[Shown], results: Results, profiles: pd.DataFrame | None) -> Tested | None:
    """Hold each session against the reference of skilled people; None where there is no reference.

    Held are the shares of turns among the measures of which ``tanalyze compare`` claims something.
    """
    if profiles is None:
        return None
    rows = {str(row["measure"]): row for row in profiles[profiles["group"] == HIGH].to_dict("records")}
    claimed = {name for name in results.codebook.index if results.codebook.at[name, "compare"] == TESTED}
    pairs = [(one, spread(rows[one.name])) for one in shown if one.does and one.name in claimed and one.name in rows]
    kept = [(one, found) for one, found in pairs if found is not None]
    values = values_of(results.sessions, [one.name for one, _ in kept])
    for j, (one, _) in enumerate(kept):
        values[:, j, 3], values[:, j, 4] = counts(results.sessions, one.name)
    p = [two_sided(values[:, j, 3], values[:, j, 4], found) for j, (_, found) in enumerate(kept)]
    adjusted = holm(np.array(p).T) if kept else np.zeros((len(values), 0))
    return Tested(tuple(one for one, _ in kept), values, tuple(found for _, found in kept), adjusted)


def of_sessions(found: Tested, results: Results, profiles: pd.DataFrame) -> Iterator[Finding]:
    """Yield the sessions whose counts are outside of what skilled people's sessions show."""
    skilled = {str(row["measure"]): row for row in profiles[profiles["group"] == HIGH].to_dict("records")}
    ids = list(results.sessions["session_id"])
    for i, j in np.argwhere(found.p < LEVEL).tolist():
        one, p = found.shown[j], float(found.p[i, j])
        text = _sentence(str(ids[i]), one, found.values[i, j], skilled[one.name])
        size = abs(float(found.values[i, j, 0]) - found.spreads[j].mean)
        yield Finding(f"{text} {p_words(p)}", one.name, p, size, session=i)


def _sentence(name: str, one: Shown, value: Floats, skilled: Mapping[Any, Any]) -> str:
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
    """Return what could not have stood out, with so few turns among so many comparisons."""
    if not found.n:
        return ""
    of = int(np.nanmedian(found.values[:, :, 4]))
    needs = [
        _needs(one, ends_of(of, spread_of, LEVEL / found.n), of)
        for one, spread_of in zip(found.shown, found.spreads, strict=True)
    ]
    return (
        f"Among {found.n:,} comparisons a single session of {of} therapist turns, the middle length here, stands out "
        f"only by much: {'; '.join(needs)}. What is less may be there and is not seen."
    )


def _needs(one: Shown, ends: tuple[int | None, int | None], of: int) -> str:
    low, high = ends
    few = None if low is None else ("in none of them" if low == 0 else f"in {low} or fewer")
    many = None if high is None else (f"in all {of}" if high == of else f"in {high} or more")
    either = " or ".join(end for end in (few, many) if end)
    return f"{one.does} {either}" if either else f"{one.does}: no count would do"


def nothing(could_not: str) -> Finding:
    """Return what is said where nothing that was tested stands out."""
    return Finding(f"No session and no group stands out. {could_not}".strip(), "", nan, 0.0)


def best(findings: Sequence[Finding]) -> tuple[list[Finding], str]:
    """Return the findings that the page shows, surest first, and a line on how many more there are."""
    ordered = sorted(findings, key=lambda one: (one.p, -one.size, one.text))
    more = len(ordered) - MOST
    line = f"{more} more like these {plural(more, 'is', 'are')} not written out; the table has the numbers."
    return ordered[:MOST], line if more > 0 else ""


def to_review(
    results: Results, sessions: Sequence[Mapping[str, Any]], marks: Sequence[Mapping[str, str]]
) -> Iterator[Finding]:
    """Yield a sentence for each session with turns that somebody should read for danger, most turns first."""
    frame = results.sessions
    for mark in marks:
        danger = mark["measure"]
        if danger in frame:
            counts = frame[danger].fillna(0).astype(int)
            kinds = _kinds(results, danger)
            for i in sorted(np.flatnonzero(counts).tolist(), key=lambda i: (-counts.iloc[i], i)):
                n, where = int(counts.iloc[i]), _where(sessions, i, mark["column"])
                named = [
                    f"{frame[name].iloc[i]:.0f} {label}" for name, label in kinds.items() if frame[name].iloc[i] > 0
                ]
                text = f"{frame['session_id'].iloc[i]}: {_turns(n, where)} to review for danger"
                text += f": {listed(named, len(named))}. " if named else ". "
                yield Finding(text + NO_SIGN, danger, nan, float(n), session=i)


def _kinds(results: Results, counted: str) -> dict[str, str]:
    """Return the measures of the results that count kinds of what another counts, with what is said of such turns."""
    rows = results.codebook
    own = rows[rows["page"] == f"{KIND}, {counted}"]
    return {str(name): str(label) for name, label in own["label"].items() if name in results.sessions}


def _where(sessions: Sequence[Mapping[str, Any]], i: int, name: str) -> list[int]:
    marks = sessions[i]["marks"] if i < len(sessions) else ()
    return next((list(mark["turns"]) for mark in marks if mark["name"] == name), [])


def _turns(n: int, where: Sequence[int]) -> str:
    size = f"{n} {plural(n, 'turn', 'turns')}"
    if not where:
        return size
    return f"{size} ({plural(len(where), 'turn', 'turns')} {listed([str(turn) for turn in where], MOST_TURNS)})"
