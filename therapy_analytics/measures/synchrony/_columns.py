"""Columns of the sessions and turns tables: values and the figures of chance beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._chance import DRAWS, MOST_DONORS, Chance, Floats
from therapy_analytics.measures.synchrony._pairwise import DIRECTIONS, Pairwise, outcome

_ALL = ("null", "z", "p", "strangers", "strangers_z", "strangers_p")
SHOWN: Mapping[str, tuple[int, int, tuple[str, ...]]] = {
    "": (0, 0, _ALL),
    "_therapist": (DIRECTIONS.index("therapist"), 0, ("null", "z")),
    "_client": (DIRECTIONS.index("client"), 0, ("null", "z")),
    "_difference": (DIRECTIONS.index("difference"), 0, ("z",)),
    "_slope": (0, -1, ("z",)),
}
"""Ends of the names of columns: direction, part, and which figures of chance stand beside the value."""
SHUFFLES = f"{DRAWS} seeded shuffles of each speaker's replies within the session"
SURROGATES = (
    f"up to {MOST_DONORS} therapists and {MOST_DONORS} clients of other sessions of the run that are alike in words "
    "per turn, whose turns stand for those of the session, each for one of about its length and place"
)


def pairwise_columns(kind: Pairwise) -> list[Column]:
    """Return the columns that `pairwise_values` fills."""
    value = Column(
        name=kind.name,
        meaning=f"{kind.meaning}; mean of the therapist's and the client's replies",
        unit=kind.unit,
        low=kind.low,
        high=kind.high,
        direction=f"{kind.closer} is more alike",
        formula=kind.formula,
        misleads=kind.misleads,
        source=kind.source,
        evidence=kind.evidence,
    )
    found = []
    for end, (_, _, figures) in SHOWN.items():
        own = replace(value, name=kind.name + end, **_said_of(end, kind))
        found += [own, *figure_columns(own, figures)]
    each = replace(value, name=kind.series, meaning=f"{kind.meaning}: this turn and the turn before", level="turn")
    return [*found, each]


def _said_of(end: str, kind: Pairwise) -> dict[str, Any]:
    span = kind.high - kind.low
    more = (
        "the therapist follows the client more" if kind.closer == "higher" else "the client follows the therapist more"
    )
    about: dict[str, dict[str, Any]] = {
        "": {},
        "_therapist": {"meaning": f"{kind.meaning}; replies of the therapist"},
        "_client": {"meaning": f"{kind.meaning}; replies of the client"},
        "_difference": {
            "meaning": f"{kind.name}: how far the therapist's replies exceed the client's",
            "low": -span,
            "high": span,
            "direction": f"above 0: {more}",
            "formula": f"{kind.name}_therapist - {kind.name}_client",
        },
        "_slope": {
            "meaning": f"How {kind.series} changes from the first reply of the session to the last",
            "low": -inf,
            "high": inf,
            "direction": "above 0: rises over the session",
            "formula": f"slope of least squares of {kind.series} on the reply's place (first 0, last 1), mean of both",
        },
    }
    return about[end]


def figure_columns(of: Column, figures: Sequence[str], *, shuffles: str = SHUFFLES) -> list[Column]:
    """Return the columns of figures of chance that stand beside another column.

    Parameters
    ----------
    of : Column
        The value.
    figures : sequence of str
        ``null`` (the mean of shuffles), ``z``, ``p``; ``strangers`` (what surrogate pairs lead one to expect),
        ``strangers_z``, ``strangers_p``.
    shuffles : str
        What is shuffled, for the formulas.
    """
    return [_figure_column(of, one, shuffles) for one in figures]


def _figure_column(of: Column, figure: str, draws: str) -> Column:
    about: dict[str, dict[str, Any]] = {
        "null": {"meaning": f"What {of.name} is by chance", "formula": f"mean over {draws}"},
        "z": {
            "meaning": f"How far {of.name} lies from chance",
            "unit": "standard deviations",
            "low": -inf,
            "high": inf,
            "formula": f"({of.name} - mean) / standard deviation, over {draws}",
        },
        "p": {
            "meaning": f"How often chance is at least as far on its side as {of.name}",
            "unit": "probability",
            "low": 0,
            "high": 1,
            "direction": "low: more than chance gives",
            "formula": f"share of {draws}, with the session itself",
        },
        "strangers": {
            "meaning": f"What {of.name} would be if these two were no more to each other than to others",
            "formula": "mean of the therapist with other clients + mean of the client with other therapists - mean of "
            f"surrogate pairs of these others, from {SURROGATES}",
            "low": -inf,  # a sum of effects may lie a little outside the range of the values
            "high": inf,
        },
    }
    about["strangers_z"] = about["z"] | {
        "meaning": f"How far {of.name} lies from what surrogate pairs lead one to expect",
        "formula": f"({of.name} - {of.name}_strangers) / standard deviation of what such an expectation misses, from "
        f"{SURROGATES}",
    }
    about["strangers_p"] = about["p"] | {
        "meaning": f"How often surrogate pairs exceed what is expected of them as far as the session does ({of.name})",
        "formula": "share of all pairs of these therapists and clients, the session itself among them, whose residual "
        f"(value less effect of the therapist and effect of the client) is at least as high; {SURROGATES}",
    }
    return replace(of, name=f"{of.name}_{figure}", **about[figure])


def figure(shuffled: Chance, strangers: Chance, name: str) -> Floats:
    """Return a figure of chance by the end of its column's name."""
    chance = strangers if name.startswith("strangers") else shuffled
    return {"z": chance.z, "p": chance.p}.get(name.rpartition("_")[2], chance.mean)


def pairwise_values(kind: Pairwise, session: AnnotatedSession) -> dict[str, Value]:
    """Return what a measure finds in a session, by column."""
    found = outcome(kind, session, course=False)
    values: dict[str, Value] = {kind.series: found.each}
    for end, (direction, part, figures) in SHOWN.items():
        name, at = kind.name + end, (direction, part)
        values[name] = float(found.values[at])
        values |= {f"{name}_{one}": float(figure(found.shuffled, found.strangers, one)[at]) for one in figures}
    return values
