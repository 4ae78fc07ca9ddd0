"""Which measures are compared, and which of them are tested."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from math import inf

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.base import STATISTICS
from therapy_analytics.measures.process.behaviour_rates import code_of_measure
from therapy_analytics.stats.compare._results import Results

SYNCHRONY, EXCESS = "synchrony", "excess"
FAMILIES = ("process", SYNCHRONY, "alliance")
ALL, FEW = "all", "core"
SOUND = ("supported", "weak")
TESTED, SHOWN, PART, NO = "tested", "shown", "part", "no"
"""Values of the codebook's column ``compare``; see `therapy_analytics.measures.base.Compared`."""
_OPTION = "--measures"


@dataclass(frozen=True, slots=True)
class ComparedMeasure:
    """A measure as ``codebook.csv`` describes it, with the ends of its range (infinite where it has none).

    It is `claimed` if it is tested, so that a difference can be claimed (else its numbers are only shown), and `usual`
    if it is among the measures that are compared by default. Of the rate of a code, `code` is the column of turns.
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
    code: str = ""


def choose(results: Results, asked: Sequence[str] | None) -> list[ComparedMeasure]:
    """Return the measures to compare; raise `BadOptionError` for a name that there is not, and list similar ones.

    What is asked for are names, patterns (``therapist_*_rate``), families (``process``), ``core``, or ``all`` (untested
    as well). A family is its measures whose evidence is supported or weak; of a measure for therapist, client,
    difference, slope and thirds, the whole alone. By default the few that are marked so where they are defined
    (`therapy_analytics.measures.Column`), so that few tests are made; whatever else is asked for is tested. Where there
    are none of these, all families. Synchrony is compared as excess over surrogate pairs: whoever names such a measure
    gets its excess.
    """
    known = [name for name in results.measured if name in results.codebook.index]
    core = _core(results, known)
    words = [part.strip() for word in asked or () for part in word.split(",") if part.strip()]
    if core and set(words) <= {FEW}:
        tested = [name for name in core if results.codebook.at[name, "compare"] == TESTED] or core
        return [described(results, name, claimed=name in tested) for name in core]
    found = [name for word in words for name in _matching(results, known, word)] if asked else _sound(results, known)
    if not found:
        problem = "the results hold no measure whose evidence is supported or weak"
        raise BadOptionError(_OPTION, problem, f"Name measures, or say {ALL}")
    return [described(results, name) for name in dict.fromkeys(found)]


def described(results: Results, name: str, *, claimed: bool = True) -> ComparedMeasure:
    """Return a column of the sessions as the codebook describes it."""
    row = results.codebook.loc[name]
    low, high = _range(str(row["range"]))
    texts = {key: str(row[key]) for key in ("family", "meaning", "unit", "evidence", "high_means")}
    usual = row["compare"] in (TESTED, SHOWN)
    code = code_of_measure(name) if name.endswith("_rate") and texts["unit"] == "proportion" else ""
    return ComparedMeasure(name=name, low=low, high=high, claimed=claimed, usual=usual, code=code, **texts)


def _core(results: Results, names: Sequence[str]) -> list[str]:
    """Return those of the measures that are compared by default."""
    return [name for name in names if results.codebook.at[name, "compare"] in (TESTED, SHOWN)]


def _sound(results: Results, known: Sequence[str]) -> list[str]:
    """Return the measures with evidence, without those that are a part of another or its course over the session."""
    rows = results.codebook
    return [name for name in known if rows.at[name, "compare"] not in (PART, NO) and rows.at[name, "evidence"] in SOUND]


def _matching(results: Results, known: Sequence[str], word: str) -> list[str]:
    """Return the measures that one word of ``--measures`` names."""
    main = [name for name in known if results.codebook.at[name, "compare"] != NO]
    core = _core(results, known)
    if word in known:
        return [_excess_of(results, known, word)]
    if word == ALL:
        return main
    if word == FEW and core:
        return core
    if word in FAMILIES:
        return [name for name in _sound(results, known) if results.codebook.at[name, "family"] == word]
    matching = [name for name in main if fnmatchcase(name, word)]
    if not matching and word in results.codebook.index and word not in results.about:
        problem = f"the measure {word!r} has no number in any of these sessions"
        raise BadOptionError(_OPTION, problem, "It may need codes that the run did not give: see --all-codes of run")
    if not matching:
        near = get_close_matches(word.strip("*"), main, n=5, cutoff=0.5) or main[:5]
        remedy = f"Families: {', '.join((FEW, *FAMILIES))}. Measures: {', '.join(near)}, ... (all are in codebook.csv)"
        raise BadOptionError(_OPTION, f"no measure of these results is named {word!r}", remedy)
    return matching


def _excess_of(results: Results, known: Sequence[str], name: str) -> str:
    """Return a measure as it is compared: of synchrony, its excess over surrogate pairs."""
    row = results.codebook.loc[name]
    if row["family"] != SYNCHRONY or row["statistic"] == EXCESS:
        return name
    stem = next((name.removesuffix(f"_{one}") for one in STATISTICS if name.endswith(f"_{one}")), name)
    if f"{stem}_{EXCESS}" in known:
        return f"{stem}_{EXCESS}"
    problem = f"{name} cannot be compared: synchrony grows with the length of turns and sessions"
    remedy = (
        "Only its excess over surrogate pairs is compared, which some measures do not have, nor any in a run of fewer "
        "than six sessions"
    )
    raise BadOptionError(_OPTION, problem, remedy)


def _range(text: str) -> tuple[float, float]:
    """Return the ends of ``0 to 1``, ``0 or more``, ``any``."""
    number = r"(-?[\d.]+(?:e[+-]?\d+)?)"
    if both := re.fullmatch(rf"{number} to {number}", text):
        return float(both[1]), float(both[2])
    lowest = re.fullmatch(rf"{number} or more", text)
    return (float(lowest[1]) if lowest else -inf), inf
