"""Which measures are compared: the sound ones, or those that are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from math import inf

from therapy_analytics.compare._results import ABOUT, Results
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
"""The core measures of which something is claimed unless others are named: how often the therapist asks, reflects, and
advises or informs. Their evidence is "supported", and none repeats another. Each further one would take power from
these: of 1.5 standard deviations between six sessions and six, four measures show .38, three .45, and one alone .62."""
ALL, FEW = "all", "core"
SOUND = ("supported", "weak")
_BESIDE = re.compile(r"^n_|_(lo|hi|p|z|null|null_sd|strangers|strangers_sd|expected)$")
"""Columns that stand beside a measure: its count, interval, and what chance would give."""
_PART = re.compile(r"_(therapist|client|difference|slope|early|middle|late|first|last|2)$")
_NO_BEHAVIOUR = ("role_pronoun_margin",)
"""It says whether the labels are right, and nothing of how somebody works."""
_OPTION = "--measures"


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure, as the codebook has it.

    Attributes
    ----------
    name, family, meaning, unit, evidence, direction : str
        As in ``codebook.csv``.
    low, high : float
        The ends of its range.
    claimed : bool
        Whether it is tested, so that a difference can be claimed; else its numbers stand in the tables alone.
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


def choose(results: Results, asked: Sequence[str] | None) -> list[Measured]:
    """Return the measures to compare.

    Parameters
    ----------
    results : Results
        What there is.
    asked : sequence of str or None
        Names, patterns (``therapist_*_rate``), families (``process``), ``core``, or ``all`` (untested as well). A
        family is its measures of which a check on real sessions says that they are supported or weak; of one that
        comes in parts (therapist, client, difference, slope, thirds of the session), the whole. By default `CORE`, of
        which `CLAIMED` are tested; whatever else is asked for is tested. Where there is no core measure, all families.

    Raises
    ------
    BadOptionError
        Nothing has such a name; names like it are listed.
    """
    known = [name for name in results.sessions.columns if name in results.codebook.index]
    known = [name for name in known if results.codebook.at[name, "family"] not in ABOUT]
    core = [name for name in CORE if name in known]
    if core and set(_words(asked)) <= {FEW}:
        tested = [name for name in core if name in CLAIMED] or core
        return [described(results, name, claimed=name in tested) for name in core]
    wanted = _asked(results, known, asked) if asked else _sound(results, known)
    if not wanted:
        problem = "the sessions have no measure that a check on real sessions bears out"
        raise BadOptionError(_OPTION, problem, f"Name measures, or say {ALL}")
    return [described(results, name) for name in wanted]


def _words(asked: Sequence[str] | None) -> list[str]:
    return list(dict.fromkeys(part.strip() for word in asked or () for part in word.split(",") if part.strip()))


def _sound(results: Results, known: Sequence[str]) -> list[str]:
    main = [name for name in known if not _BESIDE.search(name) and name not in _NO_BEHAVIOUR]
    sound = [name for name in main if results.codebook.at[name, "evidence"] in SOUND]
    there = set(sound)
    return [name for name in sound if not _is_part(name, there)]


def _is_part(name: str, there: set[str]) -> bool:
    """Return whether the column is a part of another that is compared, or runs within the session."""
    whole = _PART.sub("", name)
    late = re.search(r"_(slope|early|middle|late|first|last)$", name) is not None
    return name != whole and (whole in there or late or _PART.sub("", whole) in there)


def _asked(results: Results, known: Sequence[str], asked: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for one in _words(asked):
        found |= dict.fromkeys(_matching(results, known, one))
    return list(found)


def _matching(results: Results, known: Sequence[str], one: str) -> list[str]:
    if one in known:
        return [one]
    main = [name for name in known if not _BESIDE.search(name)]
    if one == ALL:
        return main
    if one == FEW and any(name in CORE for name in known):
        return [name for name in CORE if name in known]
    families = results.codebook["family"]
    if one in FAMILIES:
        return [name for name in _sound(results, known) if families[name] == one]
    matching = [name for name in main if fnmatchcase(name, one)]
    if not matching:
        raise BadOptionError(_OPTION, f"no measure of these results is named {one!r}", _remedy(one, main))
    return matching


def _remedy(one: str, known: Sequence[str]) -> str:
    near = get_close_matches(one.strip("*"), known, n=5, cutoff=0.5) or list(known[:5])
    return f"Families: {', '.join((FEW, *FAMILIES))}. Measures: {', '.join(near)}, ... (all are in codebook.csv)"


def described(results: Results, name: str, *, claimed: bool = True) -> Measured:
    """Return a column of sessions, as the codebook has it."""
    row = results.codebook.loc[name]
    low, high = _range(str(row["range"]))
    said = {key: str(row[key]) for key in ("family", "meaning", "unit", "evidence", "direction")}
    return Measured(name=name, low=low, high=high, claimed=claimed, **said)


def _range(text: str) -> tuple[float, float]:
    """Return the ends of ``0 to 1``, ``0 or more``, ``any``."""
    number = r"(-?[\d.]+(?:e[+-]?\d+)?)"
    if both := re.fullmatch(rf"{number} to {number}", text):
        return float(both[1]), float(both[2])
    lowest = re.fullmatch(rf"{number} or more", text)
    return (float(lowest[1]) if lowest else -inf), inf
