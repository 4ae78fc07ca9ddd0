"""A value beside surrogate pairs: what it exceeds of what the two speakers would reach with others.

The table of surrogate pairs has a row for each therapist, the session's own first, and a column for each client. Some
speakers are more like everybody than others are: a row or a column is high as a whole. What is left of a cell when the
effects of its row and of its column are taken out is what these two have with each other. If the two of the session
are no more to each other than any two are who never met, then every order of the rows and of the columns is as likely
as that of the table, and the session's cell is as likely to have any rank among what is left as any other cell has.

References
----------
Bernieri, F. J., & Rosenthal, R. (1991). Interpersonal coordination: Behavior matching and interactional synchrony. In
Fundamentals of nonverbal behavior, 401-432 (pseudo-interactions).
Kenny, D. A., Kashy, D. A., & Cook, W. L. (2006). Dyadic data analysis. Guilford (actor, partner and relationship).
"""

from __future__ import annotations

from math import nan

import numpy as np

from therapy_analytics.measures.synchrony._chance import FEWEST_FOR_P, Bools, Chance, Closer, Floats

_ROUNDS = 30
"""Rounds in which cells that are undefined are filled with what their row and column lead one to expect."""
_EQUAL = 1e-12


def n_donors(n_dialogues: int) -> int:
    """Return how many donors of each role have so many surrogate dialogues: n with either own speaker, n * n without.

    >>> n_donors(80)
    8
    """
    return int(np.sqrt(n_dialogues + 1)) - 1


def beside_surrogates(
    values: Floats, draws: Floats, asked: Bools, *, closer: Closer, two_sided: Bools, factors: Bools | None = None
) -> Chance:
    """Set values beside surrogate pairs.

    Parameters
    ----------
    values, asked, two_sided : array
        The values; which of them are asked for at all; where both ends count.
    draws : float64 array (n_draws, *values.shape)
        With n donors of each role, the values of the therapist with n other clients, of n other therapists with the
        client, and of each of these therapists with each of these clients, the therapist changing last.
    closer : {"higher", "lower"}
        Which end counts where only one does.
    factors : bool array, optional
        The values on which speakers act as factors, so that logarithms are compared; 0 is then undefined. None by
        default.

    Returns
    -------
    Chance
        `mean` is mean with the therapist + mean with the client - mean of the pairs that are strangers on both sides,
        `sd` the standard deviation of what such an expectation misses, `p` the share of all cells of the table whose
        residual is at least as high. Nan where half of the table, or of the pairs with either of the two, is
        undefined; `z` and `p` also with fewer than `FEWEST_FOR_P` donors.
    """
    found, n = np.full((4, *values.shape), nan), n_donors(len(draws))
    if factors is not None:
        as_they_are, values, draws = values, _logarithms(values, factors), _logarithms(draws, factors)
    asked = asked & ~np.isnan(values)
    if n >= 2 and asked.any():
        drawn = draws.transpose(*range(1, draws.ndim), 0)[asked]
        found[:, asked] = _figures(_tables(values[asked], drawn, n), closer, two_sided[asked])
    if 2 * n < FEWEST_FOR_P:
        found[2:] = nan
    if factors is not None:
        mean, sd, z, _ = found
        np.exp(mean, out=mean, where=factors)
        np.multiply(sd, mean, out=sd, where=factors)  # to first order, as for any function of what varies little
        np.divide(as_they_are - mean, sd, out=z, where=factors & ~np.isnan(z))
    return Chance(*found)


def _logarithms(values: Floats, where: Bools) -> Floats:
    return np.log(values, out=np.where(where, nan, values), where=where & (values > 0))


def _tables(values: Floats, drawn: Floats, n: int) -> Floats:
    """Return values and their draws as tables, (n_values, 1 + n therapists, 1 + n clients)."""
    found = np.empty((len(values), n + 1, n + 1))
    found[:, 0, 0], found[:, 0, 1:], found[:, 1:, 0] = values, drawn[:, :n], drawn[:, n : 2 * n]
    found[:, 1:, 1:] = drawn[:, 2 * n :].reshape(-1, n, n)
    return found


def _figures(tables: Floats, closer: Closer, two_sided: Bools) -> Floats:
    """Return the figures of `Chance`, (4, n_values), of tables."""
    k, size, _ = tables.shape
    known = ~np.isnan(tables)
    n_known = np.count_nonzero(known, axis=(1, 2))
    enough = 2 * np.minimum(np.count_nonzero(known[:, 0], axis=1), np.count_nonzero(known[:, :, 0], axis=1)) > size
    enough &= 2 * n_known > size * size
    left = _residuals(tables, known)
    free = (1 - 1 / size) ** 2  # share of a cell's own deviation that is left in its residual
    off = left[:, 0, 0] / free
    rest = (left * left).reshape(k, -1).sum(axis=1) - left[:, 0, 0] * off
    degrees = np.maximum(n_known - 2 * size, 1)
    sd = np.sqrt(np.maximum(rest, 0.0) / degrees / free)
    varies = sd > _EQUAL
    z = np.where(varies, off / np.where(varies, sd, 1.0), nan)
    towards = np.where(two_sided[:, None, None], np.abs(left), left if closer == "higher" else -left)
    reached = known & (towards >= towards[:, :1, :1] - _EQUAL)
    p = np.count_nonzero(reached, axis=(1, 2)) / n_known
    return np.where(enough, np.stack([tables[:, 0, 0] - off, sd, z, p]), nan)


def _residuals(tables: Floats, known: Bools) -> Floats:
    """Return what is left of tables without the effects of rows and columns; 0 where a cell is undefined."""
    if known.all():
        return tables - _additive(tables)
    filled = np.where(
        known, tables, (np.where(known, tables, 0).sum(axis=(1, 2)) / known.sum(axis=(1, 2)))[:, None, None]
    )
    for _ in range(_ROUNDS):
        filled = np.where(known, tables, _additive(filled))
    return np.where(known, filled - _additive(filled), 0.0)


def _additive(tables: Floats) -> Floats:
    """Return the sum of the effects of row and column for each cell."""
    size = tables.shape[1]
    rows = tables.sum(axis=2) / size
    # A copy, so that sums go along memory whatever the number of tables: no bit depends on the others.
    columns = np.ascontiguousarray(tables.swapaxes(1, 2)).sum(axis=2) / size
    grand = rows.sum(axis=1) / size
    effects: Floats = rows[:, :, None] + columns[:, None, :] - grand[:, None, None]
    return effects
