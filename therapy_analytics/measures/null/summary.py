"""A value beside a null distribution: mean, standard deviation, z and p, from shuffles or from surrogate pairs.

Shuffles say what a value would be if each speaker said the same turns in another order: they keep who says what and how
much, and break only what stands beside what. Orders come from a generator that depends on the run's seed and the
session's words (`AnnotatedSession.generator`), so they are the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Literal

import numpy as np

from therapy_analytics.measures.null.surrogates import FEWEST_FOR_P
from therapy_analytics.measures.turns import Bools, Floats, Ints

Closer = Literal["higher", "lower"]
"""Which values mean more synchrony."""

DRAWS = 200
"""Shuffles that a value is set beside."""
FEWEST_PAIRS = 4
"""With fewer pairs of turns there is no null distribution."""
_EQUAL = 1e-12
"""Numbers this near to each other are ties, and a spread below it is none."""
_ROUNDS = 30
"""Rounds in which undefined cells of a table are filled with what their row and column lead one to expect."""


@dataclass(frozen=True, slots=True, eq=False)
class NullSummary:
    """What a null distribution says of values, in the shape of the values; nan where it says nothing.

    Attributes
    ----------
    mean, sd : float64 array
        Of the shuffles; or what surrogate pairs lead one to expect, and how far such an expectation is off.
    z : float64 array
        Distance of the value from the mean, in standard deviations.
    p : float64 array
        Share of draws at least as synchronous as the session, itself included; two-sided where so asked.
    """

    mean: Floats
    sd: Floats
    z: Floats
    p: Floats

    def with_those_of(self, other: NullSummary, which: Bools) -> NullSummary:
        """Return this summary with some values (n,) of another."""
        names = ("mean", "sd", "z", "p")
        return NullSummary(*(np.where(which, getattr(other, name), getattr(self, name)) for name in names))


def no_summary(shape: tuple[int, ...]) -> NullSummary:
    """Return the summary of values that have no null distribution: nan everywhere."""
    return NullSummary(*np.full((4, *shape), nan))


def permutations(turns: Ints, generator: np.random.Generator, draws: int = DRAWS) -> Ints:
    """Return turns (n,) in random orders, (draws, n)."""
    return generator.permuted(np.tile(turns, (draws, 1)), axis=1)


def beside_shuffles(values: Floats, draws: Floats, asked: Bools, *, closer: Closer, two_sided: Bools) -> NullSummary:
    """Set values beside shuffles of the same statistic.

    ``z = (value - mean) / sd`` and ``p = (1 + draws at least as synchronous) / (1 + draws)``.

    Parameters
    ----------
    values : float64 array (...)
        The values of the session.
    draws : float64 array (..., n_draws)
        The values of the shuffles. Where more than half of them are undefined, the result is nan.
    asked, two_sided : bool array (...)
        Where a null distribution is wanted at all, and where both ends count: twice the smaller p.
    closer : {"higher", "lower"}
        Which end counts where only one does.

    Examples
    --------
    Three draws, one of which is as high: the mean is 2, the standard deviation 1, and p is (1 + 1) / (1 + 3).

    >>> yes, no = np.ones(1, dtype=bool), np.zeros(1, dtype=bool)
    >>> found = beside_shuffles(np.array([3.0]), np.array([[1.0, 2.0, 3.0]]), yes, closer="higher", two_sided=no)
    >>> found.z.tolist(), found.p.tolist()
    ([1.0], [0.5])
    """
    known = ~np.isnan(draws)
    n = known.sum(axis=-1)
    usable = asked & ~np.isnan(values) & (n >= max(2.0, draws.shape[-1] / 2))
    if not usable.any():
        return no_summary(values.shape)
    mean = np.where(known, draws, 0.0).sum(axis=-1) / np.maximum(n, 1)
    squares = np.where(known, draws - mean[..., None], 0.0) ** 2
    sd = np.sqrt(squares.sum(axis=-1) / np.maximum(n - 1, 1))
    varies = sd > _EQUAL
    z = np.where(varies, (values - mean) / np.where(varies, sd, 1.0), nan)
    above = ((draws >= values[..., None] - _EQUAL).sum(axis=-1) + 1) / (n + 1)
    below = ((draws <= values[..., None] + _EQUAL).sum(axis=-1) + 1) / (n + 1)
    p = np.where(two_sided, np.minimum(1.0, 2 * np.minimum(above, below)), above if closer == "higher" else below)
    return NullSummary(*(np.where(usable, one, nan) for one in (mean, sd, z, p)))


def beside_surrogates(tables: Floats, asked: Bools, *, closer: Closer, two_sided: Bools) -> NullSummary:
    """Set the value of a session beside surrogate pairs of its speakers.

    The table of surrogate pairs has a row for each therapist and a column for each client, the session's own first.
    Some speakers are more like everybody than others are: a row or a column is high as a whole. What is left of a cell
    when the effects of its row and of its column are taken out is what these two have with each other. If the two of
    the session are no more to each other than any two who never met, then every order of the rows and of the columns
    is as likely as that of the table, and the session's cell is as likely to have any rank among what is left as any
    other cell has.

    Parameters
    ----------
    tables : float64 array (..., 1 + n_donors, 1 + n_donors)
        The value of each therapist with each client.
    asked, two_sided : bool array (...)
        Where a null distribution is wanted at all, and where both ends count.
    closer : {"higher", "lower"}
        Which end counts where only one does.

    Returns
    -------
    NullSummary
        `mean` is mean with the therapist + mean with the client - mean of pairs with neither, `sd` the standard
        deviation of what such an expectation misses, `p` the share of all cells whose residual is at least as
        synchronous. Nan where half of the table, or of the pairs with either of the two, is undefined; `z` and `p`
        also with fewer than `FEWEST_FOR_P` donors.

    References
    ----------
    Bernieri, F. J., & Rosenthal, R. (1991). Interpersonal coordination: Behavior matching and interactional synchrony.
    In Fundamentals of nonverbal behavior, 401-432 (pseudo-interactions).

    Kenny, D. A., Kashy, D. A., & Cook, W. L. (2006). Dyadic data analysis. Guilford (actor, partner and relationship).
    """
    size, shape = tables.shape[-1], tables.shape[:-2]
    known = ~np.isnan(tables)
    n_known = known.sum(axis=(-2, -1))
    enough = asked & known[..., 0, 0] & (2 * n_known > size * size)
    enough &= 2 * np.minimum(known[..., 0, 1:].sum(axis=-1) + 1, known[..., 1:, 0].sum(axis=-1) + 1) > size
    if size < 3 or not enough.any():
        return no_summary(shape)
    residuals = np.where(known, _residuals(tables, known), 0.0)
    free = (1 - 1 / size) ** 2  # the share of a cell's own deviation that is left in its residual
    own = residuals[..., 0, 0] / free
    rest = (residuals**2).sum(axis=(-2, -1)) - residuals[..., 0, 0] * own
    sd = np.sqrt(np.maximum(rest, 0.0) / np.maximum(n_known - 2 * size, 1) / free)
    varies = sd > _EQUAL
    z = np.where(varies, own / np.where(varies, sd, 1.0), nan)
    ends = np.where(two_sided[..., None, None], np.abs(residuals), residuals if closer == "higher" else -residuals)
    p = (known & (ends >= ends[..., :1, :1] - _EQUAL)).sum(axis=(-2, -1)) / np.maximum(n_known, 1)
    certain = enough & (2 * (size - 1) >= FEWEST_FOR_P)
    return NullSummary(
        np.where(enough, tables[..., 0, 0] - own, nan),
        np.where(enough, sd, nan),
        np.where(certain, z, nan),
        np.where(certain, p, nan),
    )


def beside_surrogates_by_logarithms(tables: Floats, asked: Bools, *, closer: Closer, two_sided: Bools) -> NullSummary:
    """Do as `beside_surrogates` where speakers' effects multiply: logarithms are compared, and 0 is undefined."""
    logarithms = np.log(tables, out=np.full(tables.shape, nan), where=tables > 0)
    of_logs = beside_surrogates(logarithms, asked, closer=closer, two_sided=two_sided)
    mean = np.exp(of_logs.mean)
    sd = of_logs.sd * mean  # to first order, as for any function of a value that varies little
    z = np.divide(tables[..., 0, 0] - mean, sd, out=np.full(mean.shape, nan), where=~np.isnan(of_logs.z))
    return NullSummary(mean, sd, z, of_logs.p)


def _residuals(tables: Floats, known: Bools) -> Floats:
    """Return tables (..., n, n) without the effects of rows and columns; undefined cells are filled in rounds."""
    filled = tables
    if not known.all():
        mean = np.where(known, tables, 0.0).sum(axis=(-2, -1)) / np.maximum(known.sum(axis=(-2, -1)), 1)
        filled = np.where(known, tables, mean[..., None, None])
        for _ in range(_ROUNDS):
            filled = np.where(known, tables, _additive(filled))
    return filled - _additive(filled)


def _additive(tables: Floats) -> Floats:
    """Return the sum of the effects of row and column for each cell, (..., n, n)."""
    rows, columns = tables.mean(axis=-1), tables.mean(axis=-2)
    additive: Floats = rows[..., :, None] + columns[..., None, :] - rows.mean(axis=-1)[..., None, None]
    return additive
