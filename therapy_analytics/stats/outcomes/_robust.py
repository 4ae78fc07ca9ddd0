"""Slopes with an error that is robust to how the sessions of a client depend on each other, and the trend to hold."""

from __future__ import annotations

import numpy as np

from therapy_analytics.core.clusters import Floats, Ints

ALIKE = 0.999
"""Where a measure's variance is explained to this share by what is held constant, it is that."""
SHARED = 10
"""Sessions that a number needs for a level of its own: these levels then take at most a tenth of the sessions."""
_ROUNDING = 1e-9


def trend(number: Floats, *, levels: bool = False) -> Floats:
    """Return the columns (n_sessions, n_columns) that hold the trend over sessions constant.

    The number and its logarithm: scores fall steadily or fast at first. With `levels`, a column more for each number
    that `SHARED` sessions or more have, so that any course that clients have in common is held. `number` (n_sessions,)
    is without nan.

    Examples
    --------
    >>> trend(np.array([1.0, 2, 4])).round(2).tolist()
    [[1.0, 0.0], [2.0, 0.69], [4.0, 1.39]]
    """
    columns = [number, np.log1p(number - number.min())] if len(number) else [number, number]
    values, counts = np.unique(number, return_counts=True)
    shared = values[counts >= SHARED] if levels else values[:0]
    return np.column_stack([*columns, *(number == one for one in shared)]).astype(np.float64)


def within(columns: Floats, clients: Ints) -> Floats:
    """Return columns (n_sessions, n_columns) less the means of each client."""
    sizes = np.bincount(clients)
    means = np.column_stack([np.bincount(clients, one) / sizes for one in columns.T])
    return np.asarray(columns - means[clients])


def robust_slope(y: Floats, x: Floats, held: Floats, clusters: Ints) -> tuple[float, float, float]:
    """Return the slope of `y` on `x` with `held` constant, its standard error and its degrees of freedom.

    Parameters
    ----------
    y, x : float64 arrays (n,)
        What is explained, and what explains it. For a slope within clients, both and `held` are taken `within`.
    held : float64 array (n, n_held)
        What is held constant, the intercept among it unless all are deviations.
    clusters : int64 array (n,)
        Numbers of the clusters, from 0, none left out. Cases of one may depend on each other in any way.

    Returns
    -------
    tuple of float
        In the units of `y` and `x`; nan where `x` hardly varies (`ALIKE`) apart from what is held.

    Notes
    -----
    Sessions of a client are not independent given the client's mean: scores are alike from one session to the next, and
    clients differ in how fast they change. The error (CR2) needs no model of that, and its degrees of freedom are those
    that it has with few clusters: at most their number less 1.

    References
    ----------
    Bell, R. M., & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with multi-stage
    samples. Survey Methodology, 28(2), 169-181. Pustejovsky, J. E., & Tipton, E. (2018). Small-sample methods for
    cluster-robust variance estimation and hypothesis testing in fixed effects models. Journal of Business & Economic
    Statistics, 36(4), 672-683.

    Examples
    --------
    Two sessions of each of five clients: the paired t-test.

    >>> clients = np.repeat(np.arange(5), 2)
    >>> y, x = np.array([10.0, 8, 12, 11, 9, 9, 15, 11, 11, 8]), np.tile([0.0, 1.0], 5)
    >>> y, x = within(np.column_stack([y, x]), clients).T
    >>> [round(one, 3) for one in robust_slope(y, x, np.zeros((10, 0)), clients)]
    [-2.0, 0.707, 4.0]
    """
    held = basis(held)
    own = x - held @ (held.T @ x)
    square = float(own @ own)
    if not square or square <= (1 - ALIKE) * float(np.square(x - x.mean()).sum()):
        return np.nan, np.nan, np.nan
    # An orthonormal basis of the design, of which the first column is `x` apart from what is held
    design = np.column_stack([own / np.sqrt(square), held])
    left = y - design @ (design.T @ y)
    order, sizes = np.argsort(clusters, kind="stable"), np.bincount(clusters)
    starts = np.cumsum(sizes) - sizes
    leverage, axes = np.linalg.eigh(np.add.reduceat(np.einsum("ij,ik->ijk", design, design)[order], starts))
    leverage = np.clip(leverage, 0.0, 1.0)
    # What a cluster alone can tell leaves it no residual: it counts for nothing there
    known = leverage < 1 - _ROUNDING
    grown = np.where(known, axes[:, 0, :] / np.sqrt(np.where(known, 1 - leverage, 1.0)), 0.0)
    weights = np.einsum("cij,cj->ci", axes, grown)
    sums = np.add.reduceat(((design * weights[clusters]).sum(axis=1) * left)[order], starts)
    # Satterthwaite's: the squared error as a sum of squares, were the cases independent
    shared = np.einsum("cij,cj->ci", axes, leverage * grown)
    matrix = np.diag((leverage * grown**2).sum(axis=1)) - shared @ shared.T
    squares = float((matrix**2).sum())
    df = float(np.trace(matrix)) ** 2 / squares if squares > 0 else np.nan
    return float(own @ y) / square, float(np.sqrt(sums @ sums / square)), df


def basis(columns: Floats) -> Floats:
    """Return an orthonormal basis of what the columns (n, k) span; columns without variation beyond rounding go."""
    sizes = np.linalg.norm(columns, axis=0)
    columns = columns[:, sizes > _ROUNDING] / sizes[sizes > _ROUNDING]
    if not columns.shape[1]:
        return columns
    left, values, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, values > 1e-7 * values[0]])
