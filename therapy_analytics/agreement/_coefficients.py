"""Coefficients of agreement from tables of counts, for one table or thousands at once.

A table is (..., K, K): rows are the reference's values, columns the other's. The libraries (scikit-learn, statsmodels,
krippendorff, irrCAC) take one table at a time, and 2,000 resamples of every pair and code would take
them minutes; tests hold these formulas to the libraries' figures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Coefficient = Callable[[Floats], Floats]
DRAWS = 2000
FEWEST_SESSIONS = 5
"""Of fewer sessions a bootstrap says nothing of others like them: no interval."""
MOST_UNDEFINED = 0.05


def over(top: Floats, bottom: Floats) -> Floats:
    """Divide, with nan where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(np.abs(bottom) > 1e-12, top / np.where(bottom == 0, 1, bottom), np.nan))


def percent_agreement(tables: Floats) -> Floats:
    """Return the share of units on which both agree."""
    return over(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def kappa(tables: Floats) -> Floats:
    """Return Cohen's kappa, unweighted; nan where both use one value only.

    References
    ----------
    Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement, 20,
    37-46.
    """
    n = tables.sum(axis=(-2, -1))
    chance = over((tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1), n**2)
    return over(percent_agreement(tables) - chance, 1 - chance)


def ac1(tables: Floats) -> Floats:
    """Return Gwet's AC1 of two coders, whose chance agreement shrinks where one value is rare.

    References
    ----------
    Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement. British
    Journal of Mathematical and Statistical Psychology, 61, 29-48.
    """
    n = tables.sum(axis=(-2, -1))
    share = over((tables.sum(axis=-1) + tables.sum(axis=-2)) / 2, n[..., None])
    chance = (share * (1 - share)).sum(axis=-1) / (tables.shape[-1] - 1)
    return over(percent_agreement(tables) - chance, 1 - chance)


def precision(tables: Floats) -> Floats:
    """Return, of what the other gave the code, the share that the reference gave it."""
    return over(tables[..., 1, 1], tables[..., :, 1].sum(axis=-1))


def recall(tables: Floats) -> Floats:
    """Return, of what the reference gave the code, the share that the other gave it."""
    return over(tables[..., 1, 1], tables[..., 1, :].sum(axis=-1))


def f1(tables: Floats) -> Floats:
    """Return the harmonic mean of precision and recall, which is the same whoever is the reference."""
    both = tables[..., 1, 1]
    return over(2 * both, tables[..., 1, :].sum(axis=-1) + tables[..., :, 1].sum(axis=-1))


def alpha(coincidences: Floats) -> Floats:
    """Return Krippendorff's alpha for nominal values from tables of coincidences (see `coincidences_of`).

    References
    ----------
    Krippendorff, K. (2019). Content analysis: An introduction to its methodology (4th ed.). Sage, chapter 12.
    """
    values = coincidences.sum(axis=-1)
    n = values.sum(axis=-1)
    observed = n - np.trace(coincidences, axis1=-2, axis2=-1)
    expected = n**2 - (values**2).sum(axis=-1)
    return 1 - over((n - 1) * observed, expected)


def tables_of(
    first: NDArray[np.int64], second: NDArray[np.int64], session: NDArray[np.int64], shape: tuple[int, int]
) -> Floats:
    """Count pairs of values by session.

    Parameters
    ----------
    first, second : int array (n,)
        Values from 0; units without one (-1) are left out.
    session : int array (n,)
        From 0.
    shape : tuple of int
        Number of sessions, number of values.

    Returns
    -------
    float array (n_sessions, K, K)
    """
    n, k = shape
    known = (first >= 0) & (second >= 0)
    place = (session[known] * k + first[known]) * k + second[known]
    return np.bincount(place, minlength=n * k * k).reshape(n, k, k).astype(np.float64)


def coincidences_of(values: NDArray[np.int64], session: NDArray[np.int64], shape: tuple[int, int]) -> Floats:
    """Return Krippendorff's coincidences by session (n_sessions, K, K), of values (n_units, n_coders), -1 for none."""
    n, k = shape
    counts = (values[:, :, None] == np.arange(k)).sum(axis=1).astype(np.float64)
    several = counts.sum(axis=1) > 1
    counts, session = counts[several], session[several]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(k)
    found = np.zeros((n, k, k))
    np.add.at(found, session, pairs / (counts.sum(axis=1) - 1)[:, None, None])
    return found


@dataclass(frozen=True, slots=True)
class Resampling:
    """Bootstrap of whole sessions: how often each session is in each draw.

    Attributes
    ----------
    seed, draws : int
        The same sessions get the same draws, so that differences between coefficients are of one resample.
    """

    seed: int = 0
    draws: int = DRAWS

    def weights(self, n_sessions: int) -> Floats:
        """Return weights (draws, n_sessions): multinomial counts of n sessions drawn with replacement."""
        rng = np.random.default_rng([self.seed, n_sessions])
        return rng.multinomial(n_sessions, np.full(n_sessions, 1 / n_sessions), size=self.draws).astype(np.float64)

    def draw(self, per_session: Floats) -> Floats:
        """Return the sums over sessions in each draw, of counts (n_sessions, ...)."""
        flat = per_session.reshape(len(per_session), -1)
        return (self.weights(len(flat)) @ flat).reshape(self.draws, *per_session.shape[1:])

    def estimate(self, coefficient: Coefficient, per_session: Floats) -> tuple[float, float, float]:
        """Return a coefficient of all sessions with its 95 % percentile interval.

        No interval (nan) with fewer than `FEWEST_SESSIONS` sessions that hold anything, or where more than
        one draw in 20 leaves the coefficient undefined.
        """
        held = per_session[per_session.reshape(len(per_session), -1).sum(axis=1) > 0]
        value = float(coefficient(held.sum(axis=0)))
        if len(held) < FEWEST_SESSIONS:
            return value, np.nan, np.nan
        return value, *percentiles(coefficient(self.draw(held)))


def percentiles(draws: Floats) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentile of the draws that are defined, nan where too many are not."""
    known = draws[~np.isnan(draws)]
    if len(known) < (1 - MOST_UNDEFINED) * len(draws):
        return np.nan, np.nan
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)
