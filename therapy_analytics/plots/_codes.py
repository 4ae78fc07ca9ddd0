"""What plots of behaviours know of codes: their names in plain words, whose they are, and their rates over sessions."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from therapy_analytics.measures.intervals import Z95
from therapy_analytics.plots._style import ROLES as COLOURS
from therapy_analytics.plots._style import SIGNS, dot, numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.lines import Line2D
    from pandas import DataFrame

    from therapy_analytics.plots._style import Floats

ROLES = ("therapist", "client", "other")
"""Whose codes stand beneath each other, in this order."""
WEAK = "* The package's own tagger finds this code poorly"


@dataclass(frozen=True, slots=True, order=True)
class Behaviour:
    """A code: its place among all codes, its column in ``turns.csv``, its name and whose it is.

    Attributes
    ----------
    weak : bool
        Whether the codebook says that the package's own tagger finds it poorly.
    """

    place: tuple[int, int]
    code: str
    label: str
    role: str
    weak: bool = False

    @property
    def name(self) -> str:
        """Return the label, with a star where the tagger finds the code poorly."""
        return f"{self.label}*" if self.weak else self.label


@functools.cache
def known_codes() -> dict[str, Behaviour]:
    """Return the codes of the built-in codebooks by their columns."""
    from therapy_analytics.codes.codebook import LAST  # noqa: PLC0415  # not for a look at the plots' names
    from therapy_analytics.codes.lanes import books_in_order  # noqa: PLC0415

    found = {}
    for at, book in enumerate(books_in_order()):
        for i, code in enumerate(book.codes):
            label = code.name if book.place < LAST else f"{code.name} ({book.name.split()[0]})"
            weak = code.status == "experimental"
            found[code.column] = Behaviour((at, 2 * i), code.column, label, code.role, weak)
    return found


def behaviours(codes: Iterable[str]) -> dict[str, Behaviour]:
    """Return what codes are, in the order of the codebooks; codes of a user's own book come last, with role "other"."""
    known = known_codes()
    found = {
        code: known.get(code) or Behaviour((99, i), code, code.replace("_", " "), "other")
        for i, code in enumerate(dict.fromkeys(codes))
    }
    return dict(sorted(found.items(), key=lambda item: item[1]))


def role_name(role: str) -> str:
    """Return whose codes these are, in words."""
    return role if role != "other" else "your own codes"


def role_keys(found: Iterable[Behaviour]) -> dict[str, Line2D]:
    """Return what the dot and line of each role mean, for a legend."""
    there = {one.role for one in found}
    words = {role: f"{role_name(role).capitalize()}: rate, 95% interval" for role in ROLES if role in there}
    return {said: dot(COLOURS[role], SIGNS[role], "-") for role, said in words.items()}


def sessions_of(table: DataFrame) -> tuple[str, str]:
    """Return of which sessions a table is, in words, and over what its intervals are: turns, or sessions."""
    names = table["session_id"].astype(str).unique()
    return (f"{len(names):,} sessions, pooled", "sessions") if len(names) > 1 else (str(names[0]), "turns")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rates:
    """Rates of codes, (n_codes, n_parts) each, over one session or several.

    Attributes
    ----------
    n, n_turns : array of float
        Turns with the code, and turns of its role that were coded; 0 where there are none.
    rate, low, high : array of float
        The first over the second, with its 95% interval; nan where there are no turns.
    expected : array of float
        The rate that the tagger's probabilities imply; nan where the table does not say.
    """

    n: Floats
    n_turns: Floats
    rate: Floats
    low: Floats
    high: Floats
    expected: Floats


def rates(profile: DataFrame, codes: Iterable[str], parts: tuple[str, ...]) -> Rates:
    """Return the rates of codes over all sessions of a table that is like ``profile.csv``.

    Notes
    -----
    Of one session the interval is the table's. Of several it is Wilson's over so many turns as would tell as much as
    the sessions do (Korn & Graubard 1998): turns of one session are alike, and sessions differ.
    """
    keys, codes = ["session_id", "code", "part"], list(codes)
    cells = pd.DataFrame({name: profile[name].astype(str) for name in keys})
    cells = cells.assign(**{name: numbers(profile, name) for name in _VALUES}).set_index(keys)
    wanted = pd.MultiIndex.from_product([cells.index.unique("session_id"), codes, parts])
    found = cells.reindex(wanted).to_numpy().reshape(-1, len(codes), len(parts), len(_VALUES))
    n, coded, likely, *ends = np.moveaxis(found, -1, 0)
    n, coded = np.nan_to_num(n), np.nan_to_num(coded)
    total, turns = n.sum(axis=0), coded.sum(axis=0)
    own = np.where(coded > 0, ends, 0.0).sum(axis=1)
    alone = ((coded > 0).sum(axis=0) == 1) & ~np.isnan(own[0])
    low, high = np.where(alone, own, _wilson(_share(total, turns), *_effective_turns(n, coded)))
    known = ~np.isnan(likely) & (coded > 0)
    expected = _share((np.nan_to_num(likely) * coded).sum(axis=0), (coded * known).sum(axis=0))
    return Rates(n=total, n_turns=turns, rate=_share(total, turns), low=low, high=high, expected=expected)


_VALUES = ("n", "n_turns", "expected", "lo", "hi")


def _effective_turns(n: Floats, coded: Floats) -> tuple[Floats, Floats]:
    """Return how many independent turns tell as much as the sessions do, and the quantile that goes with that."""
    from scipy.special import stdtrit  # noqa: PLC0415  # only for pooled tables

    k, turns = (coded > 0).sum(axis=0), coded.sum(axis=0)
    rate = _share(n.sum(axis=0), turns)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = k / (k - 1) * ((n - rate * coded) ** 2).sum(axis=0) / turns**2
        effect = spread / (rate * (1 - rate) / turns)
        # Where all turns have the code, or none, nothing shows how sessions differ.
        known = (k > 1) & np.isfinite(effect)
        quantile = np.where(known, stdtrit(np.maximum(k - 1, 1), 0.975), Z95)
        return np.where(known, turns / np.maximum(effect, 1), turns).astype(np.float64), quantile


def _wilson(share: Floats, n: Floats, quantile: Floats) -> tuple[Floats, Floats]:
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = quantile * np.sqrt(share * (1 - share) / n + quantile**2 / (4 * n**2))
        centre, scale = share + quantile**2 / (2 * n), 1 + quantile**2 / n
        return np.maximum((centre - spread) / scale, 0), np.minimum((centre + spread) / scale, 1)


def _share(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0)
    return found
