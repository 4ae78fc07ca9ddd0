"""What is known of the tagger's errors: how often it misses a code, and sees one that is not there.

They stand in ``tagger_errors.csv``, which ``tools/build_tagger_errors.py`` makes from codes of recordings that
the tagger had not seen.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import inf, sqrt
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.errors import UnknownNameError
from therapy_analytics.measures._intervals import NAN, Z95, wilson

ERRORS = Path(__file__).parent / "tagger_errors.csv"
TAGGERS = ("accurate", "fast")
UNCHECKED = ("llm", "")
"""Coders whose errors nobody has measured: an outside one, and one that is not known."""
PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Share:
    """A share, the number of independent turns that it is worth, and its standard error.

    Attributes
    ----------
    value : float
        0 to 1.
    n : float
        The size of a simple sample that is as uncertain (Korn & Graubard's effective sample size).
    """

    value: float
    n: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval."""
        return wilson(self.value * self.n, self.n)


@dataclass(frozen=True, slots=True)
class Errors:
    """How often the tagger finds a code that is there, and does not see one that is not.

    Attributes
    ----------
    sensitivity, specificity : Share
        From recordings that it had not seen.
    correlation : float
        Of the two estimates.
    truth : str
        Who gave the true codes: ``people`` or ``language model``.
    """

    sensitivity: Share
    specificity: Share
    correlation: float
    truth: str

    @property
    def gain(self) -> float:
        """By how much the observed rate rises for a rise of the true one: sensitivity + specificity - 1."""
        return self.sensitivity.value + self.specificity.value - 1

    def true_rate(self, observed: float) -> float:
        """Return the rate at which such a tagger would show the observed one; not cut to 0..1, nan if it tells nothing.

        Examples
        --------
        >>> round(Errors(Share(0.8, 100), Share(0.9, 100), 0.0, "people").true_rate(0.31), 3)
        0.3
        """
        return (observed + self.specificity.value - 1) / self.gain if self.gain > 0 else NAN


def tagger_errors(tagger: str, aim: str = "balanced") -> pd.DataFrame:
    """Return how often a tagger errs, a row a code and kind of corpus (``tools/build_tagger_errors.py`` says how).

    Parameters
    ----------
    tagger : {"accurate", "fast"}
        Of the package.
    aim : {"balanced", "precision", "recall", "rate"}, optional
        What its thresholds are for.

    Raises
    ------
    UnknownNameError
        There is no such tagger or aim.

    Examples
    --------
    >>> rows = tagger_errors("accurate")
    >>> rows = rows[rows["whole_sessions"]].set_index("code")
    >>> bool(rows.loc["mi_question", "sensitivity"] > rows.loc["mi_sustain", "sensitivity"])
    True
    """
    table = _table()
    if tagger not in TAGGERS:
        raise UnknownNameError("tagger with known errors", tagger, TAGGERS)
    aims = table["aim"].unique().tolist()
    if aim not in aims:
        raise UnknownNameError("aim of the tagger", aim, aims)
    chosen = table[(table["tagger"] == tagger) & (table["aim"] == aim)]
    return chosen.drop(columns=["tagger", "aim"]).reset_index(drop=True)


@functools.cache
def _table() -> pd.DataFrame:
    return pd.read_csv(ERRORS)


def known_codes() -> list[tuple[str, str]]:
    """Return all codes whose errors are known, and whose turns can have them."""
    table = _table().drop_duplicates("code")
    return list(zip(table["code"].astype(str), table["role"].astype(str), strict=True))


def errors_by_code(tagger: str, aim: str = "balanced") -> dict[str, Errors]:
    """Return the errors of each code in whole sessions; none for coders that nobody has checked."""
    if tagger in UNCHECKED:
        return {}
    rows = tagger_errors(tagger, aim)
    rows = rows[rows["whole_sessions"]].set_index("code")
    return {str(code): errors_of_row(row) for code, row in rows.iterrows()}


def errors_of_row(row: Mapping[Hashable, Any] | pd.Series) -> Errors:
    """Read what a row of the file says: standard errors by recording become sizes of samples."""
    both = [
        Share(float(row[name]), effective_n(float(row[name]), float(row[f"{name}_error"]), float(row[n]), inf))
        for name, n in (("sensitivity", "n_with"), ("specificity", "n_without"))
    ]
    return Errors(both[0], both[1], float(row["correlation"]), str(row["truth"]))


def effective_n(share: float, error: float, most: float, df: float) -> float:
    """Return the size of the simple sample whose share is as uncertain as this one of clusters.

    Parameters
    ----------
    share, error : float
        A share, and its standard error between clusters.
    most : float
        The number of turns: clusters that happen to be alike are not taken for more than that.
    df : float
        Degrees of freedom of the error; fewer make the sample count less.

    References
    ----------
    Korn, E. L., & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology, 24(2), 193-201.

    Examples
    --------
    >>> round(effective_n(0.5, 0.05, 400, inf), 6)
    100.0
    """
    from scipy import stats  # noqa: PLC0415  # slow: only where it is used

    known = share * (1 - share) / error**2 if error > 0 and 0 < share < 1 else inf
    spread = float(stats.t.ppf(0.975, df)) if df >= 1 else Z95
    return min(known, most) * (Z95 / spread) ** 2


def adjusted_interval(observed: Share, errors: Errors) -> tuple[float, float]:
    """Return the 95 % interval of the true rate, not cut to 0..1: (nan, nan) where the tagger tells nothing.

    Parameters
    ----------
    observed : Share
        Of turns that the tagger gave the code.
    errors : Errors
        Of the tagger, as uncertain as they are.

    References
    ----------
    Lang, Z., & Reiczigel, J. (2014). Confidence limits for prevalence of disease adjusted for estimated sensitivity
    and specificity. Preventive Veterinary Medicine, 113(1), 13-22. Theirs is for independent estimates of the two; the
    covariance is added here.

    Examples
    --------
    >>> errors = Errors(Share(0.8, 100), Share(0.9, 100), 0.0, "people")
    >>> [round(end, 3) for end in adjusted_interval(Share(0.31, 200), errors)]
    [0.182, 0.415]
    """
    if not errors.gain > 0:
        return NAN, NAN
    n, n_sens, n_spec = observed.n + Z95**2, errors.sensitivity.n + 2, errors.specificity.n + 2
    rate = (observed.value * observed.n + Z95**2 / 2) / n
    sens = (errors.sensitivity.value * errors.sensitivity.n + 1) / n_sens
    spec = (errors.specificity.value * errors.specificity.n + 1) / n_spec
    gain = sens + spec - 1
    if not gain > 0:
        return NAN, NAN
    true = (rate + spec - 1) / gain
    of_sens, of_spec = sens * (1 - sens) / n_sens, spec * (1 - spec) / n_spec
    shift = 2 * Z95**2 * (true * of_sens - (1 - true) * of_spec)
    both = -2 * true * (1 - true) * errors.correlation * sqrt(of_sens * of_spec)
    variance = rate * (1 - rate) / n + true**2 * of_sens + (1 - true) ** 2 * of_spec + both
    half = Z95 * sqrt(max(variance, 0.0)) / gain
    return true + shift - half, true + shift + half
