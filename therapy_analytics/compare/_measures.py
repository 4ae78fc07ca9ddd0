"""Which measures are compared, and of which of them something is claimed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from math import inf

from therapy_analytics.compare._results import Results
from therapy_analytics.errors import BadOptionError

FAMILIES = ("process", "synchrony", "alliance")
ALL, FEW = "all", "core"
SOUND = ("supported", "weak")
TESTED, SHOWN, PART, NO = "tested", "shown", "part", "no"
"""What the codebook says in its column ``compare``; see `therapy_analytics.measures._base.Compared`."""
_OPTION = "--measures"


@dataclass(frozen=True, slots=True)
class ComparedMeasure:
    """A measure as the codebook describes it.

    Attributes
    ----------
    name, family, meaning, unit, evidence, high_means : str
        As in ``codebook.csv``.
    low, high : float
        The ends of its range, in its unit; infinite where it has none.
    claimed : bool
        Whether it is tested, so that a difference can be claimed; else its numbers are only shown.
    usual : bool
        Whether it is among the measures that are compared unless others are named.
    """

    name: str
    family: str
    meaning: str
    unit: str
    evidence: str
    high_means: str
    low: float
    high: float
    claimed: bool = True
    usual: bool = False


def choose(results: Results, asked: Sequence[str] | None) -> list[ComparedMeasure]:
    """Return the measures to compare.

    Parameters
    ----------
    results : Results
        The sessions and their codebook.
    asked : sequence of str or None
        Names, patterns (``therapist_*_rate``), families (``process``), ``core``, or ``all`` (untested as well). A
        family is its measures whose evidence is supported or weak; of one that comes in parts (therapist, client,
        difference, slope, thirds of the session), the whole. By default those that say so where they are defined
        (`therapy_analytics.measures.Column`), which are few, so that few tests are made; whatever else is asked for is
        tested. Where there are none of these, all families.

    Raises
    ------
    BadOptionError
        Nothing has such a name; similar names are listed.
    """
    known = [name for name in results.measured if name in results.codebook.index]
    core = core_of(results, known)
    words = [part.strip() for word in asked or () for part in word.split(",") if part.strip()]
    if core and set(words) <= {FEW}:
        tested = [name for name in core if results.codebook.at[name, "compare"] == TESTED] or core
        return [described(results, name, claimed=name in tested) for name in core]
    found = [name for word in words for name in _matching(results, known, word)] if asked else _sound(results, known)
    if not found:
        problem = "the sessions have no measure that a check on real sessions bears out"
        raise BadOptionError(_OPTION, problem, f"Name measures, or say {ALL}")
    return [described(results, name) for name in dict.fromkeys(found)]


def described(results: Results, name: str, *, claimed: bool = True) -> ComparedMeasure:
    """Return a column of the sessions as the codebook describes it."""
    row = results.codebook.loc[name]
    low, high = _range(str(row["range"]))
    said = {key: str(row[key]) for key in ("family", "meaning", "unit", "evidence", "high_means")}
    usual = row["compare"] in (TESTED, SHOWN)
    return ComparedMeasure(name=name, low=low, high=high, claimed=claimed, usual=usual, **said)


def core_of(results: Results, names: Sequence[str]) -> list[str]:
    """Return which of some measures are compared unless others are named."""
    return [name for name in names if results.codebook.at[name, "compare"] in (TESTED, SHOWN)]


def _sound(results: Results, known: Sequence[str]) -> list[str]:
    """Return the measures with evidence, without those that are a part of another or its course over the session."""
    rows = results.codebook
    main = [name for name in known if rows.at[name, "compare"] not in (PART, NO)]
    return [name for name in main if rows.at[name, "evidence"] in SOUND]


def _matching(results: Results, known: Sequence[str], word: str) -> list[str]:
    """Return the measures that one word of ``--measures`` names."""
    main = [name for name in known if results.codebook.at[name, "compare"] != NO]
    core = core_of(results, known)
    if word in known:
        return [word]
    if word == ALL:
        return main
    if word == FEW and core:
        return core
    if word in FAMILIES:
        return [name for name in _sound(results, known) if results.codebook.at[name, "family"] == word]
    matching = [name for name in main if fnmatchcase(name, word)]
    if not matching:
        near = get_close_matches(word.strip("*"), main, n=5, cutoff=0.5) or main[:5]
        remedy = f"Families: {', '.join((FEW, *FAMILIES))}. Measures: {', '.join(near)}, ... (all are in codebook.csv)"
        raise BadOptionError(_OPTION, f"no measure of these results is named {word!r}", remedy)
    return matching


def _range(text: str) -> tuple[float, float]:
    """Return the ends of ``0 to 1``, ``0 or more``, ``any``."""
    number = r"(-?[\d.]+(?:e[+-]?\d+)?)"
    if both := re.fullmatch(rf"{number} to {number}", text):
        return float(both[1]), float(both[2])
    lowest = re.fullmatch(rf"{number} or more", text)
    return (float(lowest[1]) if lowest else -inf), inf
