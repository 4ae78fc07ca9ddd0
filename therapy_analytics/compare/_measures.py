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
CORE = (
    "therapist_talk_share",
    "therapist_words_per_turn",
    "therapist_question_rate",
    "open_question_rate",
    "therapist_reflection_rate",
    "reflection_to_question_ratio",
    "therapist_input_rate",
    "therapist_advice_rate",
)
"""What supervisors ask for first; chosen before anything was compared, so that few tests may be made."""
CLAIMED = (
    "therapist_question_rate",
    "therapist_reflection_rate",
    "therapist_input_rate",
)
"""The core measures that are tested unless others are named: how often the therapist asks, reflects, and advises or
informs. Their evidence is "supported", and none repeats another. Each further one would take power from these: of 1.5
standard deviations between six sessions and six, four measures find .38, three .45, and one alone .62."""
ALL, FEW = "all", "core"
SOUND = ("supported", "weak")
_BESIDE = re.compile(r"^n_|_(lo|hi|p|z|null|null_sd|strangers|strangers_sd|expected)$")
"""Columns that stand beside a measure: its count, its interval, its null distribution."""
_PART = re.compile(r"_(therapist|client|difference|slope|early|middle|late|first|last|2)$")
_WITHIN_SESSION = re.compile(r"_(slope|early|middle|late|first|last)$")
_NO_BEHAVIOUR = ("role_pronoun_margin",)
"""It says whether the roles are right, and nothing of how somebody works."""
_OPTION = "--measures"


@dataclass(frozen=True, slots=True)
class ComparedMeasure:
    """A measure as the codebook describes it.

    Attributes
    ----------
    name, family, meaning, unit, evidence, direction : str
        As in ``codebook.csv``.
    low, high : float
        The ends of its range, in its unit; infinite where it has none.
    claimed : bool
        Whether it is tested, so that a difference can be claimed; else its numbers are only shown.
    """

    name: str
    family: str
    meaning: str
    unit: str
    evidence: str
    direction: str
    low: float
    high: float
    claimed: bool = True


def choose(results: Results, asked: Sequence[str] | None) -> list[ComparedMeasure]:
    """Return the measures to compare.

    Parameters
    ----------
    results : Results
        The sessions and their codebook.
    asked : sequence of str or None
        Names, patterns (``therapist_*_rate``), families (``process``), ``core``, or ``all`` (untested as well). A
        family is its measures whose evidence is supported or weak; of one that comes in parts (therapist, client,
        difference, slope, thirds of the session), the whole. By default `CORE`, of which `CLAIMED` are tested;
        whatever else is asked for is tested. Where there is no core measure, all families.

    Raises
    ------
    BadOptionError
        Nothing has such a name; similar names are listed.
    """
    families = results.codebook["family"]
    known = [name for name in results.measured if name in families.index]
    core = [name for name in CORE if name in known]
    words = [part.strip() for word in asked or () for part in word.split(",") if part.strip()]
    if core and set(words) <= {FEW}:
        tested = [name for name in core if name in CLAIMED] or core
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
    said = {key: str(row[key]) for key in ("family", "meaning", "unit", "evidence", "direction")}
    return ComparedMeasure(name=name, low=low, high=high, claimed=claimed, **said)


def _sound(results: Results, known: Sequence[str]) -> list[str]:
    """Return the measures with evidence, without those that are a part of another."""
    main = [name for name in known if not _BESIDE.search(name) and name not in _NO_BEHAVIOUR]
    sound = [name for name in main if results.codebook.at[name, "evidence"] in SOUND]
    there = set(sound)
    return [name for name in sound if not _is_part(name, there)]


def _is_part(name: str, there: set[str]) -> bool:
    """Return whether a measure is a part of another that is compared, or a course within the session."""
    whole = _PART.sub("", name)
    return name != whole and bool({whole, _PART.sub("", whole)} & there or _WITHIN_SESSION.search(name))


def _matching(results: Results, known: Sequence[str], word: str) -> list[str]:
    """Return the measures that one word of ``--measures`` names."""
    main = [name for name in known if not _BESIDE.search(name)]
    core = [name for name in CORE if name in known]
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
