"""Slopes with few clients: least squares with cluster-robust errors, and random intercepts of clients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from therapy_analytics.core.clusters import Bools, Floats, Ints

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


def basis(columns: Floats) -> Floats:
    """Return an orthonormal basis of what the columns (n, k) span; columns without variation beyond rounding go."""
    sizes = np.linalg.norm(columns, axis=0)
    columns = columns[:, sizes > _ROUNDING] / sizes[sizes > _ROUNDING]
    if not columns.shape[1]:
        return columns
    left, values, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, values > 1e-7 * values[0]])


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


@dataclass(frozen=True, slots=True, eq=False)
class NestedFit:
    """A fitted model with random intercepts.

    Attributes
    ----------
    slopes, errors, df : float64 arrays (n_coefficients,)
        Coefficients of the columns of the design; their standard errors, in the unit of the outcome for one unit of the
        column; and their degrees of freedom by Satterthwaite, at least 1.
    residual, client, counselor : float
        Variances; those of the intercepts are 0 where the level does not repeat, and can be negative.
    """

    slopes: Floats
    errors: Floats
    df: Floats
    residual: float = np.nan
    client: float = np.nan
    counselor: float = np.nan


def nested_fit(y: Floats, design: Floats, clients: Ints, counselors: Ints) -> NestedFit:
    """Fit an outcome of sessions with random intercepts of clients within counselors, by restricted maximum likelihood.

    Parameters
    ----------
    y : float64 array (n_sessions,)
        The outcome, without nan.
    design : float64 array (n_sessions, n_coefficients)
        Columns with full rank, the intercept among them.
    clients, counselors : int64 arrays (n_sessions,)
        Labels of each session's client and counselor; a client has one counselor. A level that does not repeat (one
        session a client; one client a counselor, or one counselor) has no variance of its own.

    Returns
    -------
    NestedFit
        All nan where there are no more sessions than coefficients, or the fit leaves nothing unexplained.

    Notes
    -----
    Variances below 0 are kept, as far as the covariance matrix stays positive definite: cut off at 0, as
    ``statsmodels`` does, the degrees of freedom would be those of all sessions wherever clients are alike by accident.
    In a balanced design the tests are then those of the analysis of variance. One slope is taken for all clients.

    References
    ----------
    Satterthwaite's degrees of freedom by the derivatives of the restricted deviance: Kuznetsova, A., Brockhoff, P. B.,
    & Christensen, R. H. B. (2017). lmerTest package: Tests in linear mixed effects models. Journal of Statistical
    Software, 82(13). Negative variances: Stroup, W. W. (2013). Generalized linear mixed models. CRC Press.

    Examples
    --------
    The slope within two clients of three sessions is that of the deviations from their means:

    >>> x, y = np.array([-1.0, 0, 1, -1, 0, 1]), np.array([1.0, 2, 4, 11, 12, 12])
    >>> who = np.array([0, 0, 0, 1, 1, 1])
    >>> fit = nested_fit(y, np.column_stack([np.ones(6), x]), who, np.zeros(6, dtype=np.int64))
    >>> round(float(fit.slopes[1]), 3), round(float(fit.df[1]), 1)
    (1.0, 3.0)
    """
    n_coefficients, scale = design.shape[1], float(np.std(y))
    nothing = np.full(n_coefficients, np.nan)
    if len(y) <= n_coefficients or scale <= 0:
        return NestedFit(nothing, nothing, nothing)
    columns = np.column_stack([design, y / scale])
    order = np.lexsort([clients, counselors])
    first = np.flatnonzero(np.diff(clients[order], prepend=clients[order][0] - 1))
    starts = np.flatnonzero(np.diff(counselors[order][first], prepend=counselors[order][0] - 1))
    sizes = np.diff(first, append=len(y)).astype(np.float64)
    free = np.array([1 < len(first) < len(y), 1 < len(starts) < len(first)])
    sums = _Sums(columns.T @ columns, np.add.reduceat(columns[order], first), sizes, starts, len(y), free)
    ratios = sums.best()
    slopes, covariance, left, _ = sums.solved(ratios)
    residual = left / sums.n_left
    if residual < 1e-12:
        return NestedFit(slopes * scale, nothing, nothing)
    variances = residual * np.array([1.0, *ratios])
    errors = np.sqrt(residual * np.diag(covariance))
    return NestedFit(
        slopes * scale, errors * scale, sums.satterthwaite(variances), *(float(one) * scale**2 for one in variances)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Cross-products of the columns (design, then outcome; n_columns of them), from which every fit is computed.

    `whole` (n_columns, n_columns); `sums` (n_clients, n_columns) of each client and their `sizes` (n_clients,), clients
    of a counselor beside each other; `starts` (n_counselors,) is the first client of each. `free` says which variance
    of an intercept (client, counselor) is estimated; the other is 0. Ratios are those of both to the residual variance.
    """

    whole: Floats
    sums: Floats
    sizes: Floats
    starts: Ints
    n: int
    free: Bools

    @property
    def n_left(self) -> int:
        """Sessions less coefficients."""
        return self.n - len(self.whole) + 1

    def information(self, client: float) -> tuple[Floats, Floats]:
        """Return how many sessions each client counts for (n_clients,), and each counselor (n_counselors,)."""
        return self.sizes, np.add.reduceat(self.sizes / (1 + client * self.sizes), self.starts)

    def solved(self, ratios: Floats) -> tuple[Floats, Floats, float, float]:
        """Return slopes, their covariance over the residual variance, the sum of squares left, and log determinants.

        The covariance matrix of sessions over the residual variance is I + client * Z Z' + counselor * W W'; the
        cross-products are weighted by its inverse.
        """
        client, counselor = ratios
        shrink = 1 / (1 + client * self.sizes)
        products = self.whole - (self.sums * (client * shrink)[:, None]).T @ self.sums
        counts = self.information(client)[1]
        by_counselor = np.add.reduceat(self.sums * shrink[:, None], self.starts)
        products = products - (by_counselor * (counselor / (1 + counselor * counts))[:, None]).T @ by_counselor
        logs = float(-np.log(shrink).sum() + np.log1p(counselor * counts).sum())
        covariance = np.asarray(np.linalg.inv(products[:-1, :-1]), dtype=np.float64)
        slopes = covariance @ products[:-1, -1]
        left = float(products[-1, -1] - products[:-1, -1] @ slopes)
        return slopes, covariance, max(left, 1e-300), logs - float(np.linalg.slogdet(covariance)[1])

    def deviance(self, variances: Floats) -> float:
        """Return the restricted deviance at variances (residual, client, counselor)."""
        _, _, left, determinants = self.solved(variances[1:] / variances[0])
        return self.n_left * float(np.log(variances[0])) + determinants + left / float(variances[0])

    def best(self) -> Floats:
        """Return the ratios with the least deviance at the residual variance that is best for them."""
        n_free = int(self.free.sum())
        if not n_free:
            return np.zeros(2)

        def ratios(logs: Floats) -> Floats:
            """Return ratios from unbounded numbers: down to .95 of where the matrix is not positive definite."""
            values = np.zeros(2)
            for place, log in zip(np.flatnonzero(self.free), logs, strict=True):
                values[place] = np.exp(np.clip(log, -20, 20)) - 0.95 / self.information(values[0])[place].max()
            return values

        def profiled(logs: Floats) -> float:
            _, _, left, determinants = self.solved(ratios(logs))
            return self.n_left * float(np.log(left)) + determinants

        # In units of what a client or counselor counts for: about where a variance is as large as its sampling error
        units = [1 / values.mean() for values, free in zip(self.information(0.0), self.free, strict=True) if free]
        starts = [np.log(np.array([0.3, 1.0, 3.0, 10.0]) * one) for one in units]
        grid = np.stack(np.meshgrid(*starts), axis=-1).reshape(-1, n_free)
        start: Floats = grid[int(np.argmin([profiled(logs) for logs in grid]))]
        simplex = np.vstack([start, start + 0.7 * np.eye(n_free)])
        found = optimize.minimize(
            profiled,
            start,
            method="Nelder-Mead",
            options={"xatol": 1e-4, "fatol": 1e-7, "maxfev": 400, "initial_simplex": simplex},
        )
        return ratios(np.asarray(found.x, dtype=np.float64))

    def satterthwaite(self, variances: Floats) -> Floats:
        """Return the degrees of freedom of each coefficient, by how its variance depends on the estimated variances."""

        def squared_errors(at: Floats) -> Floats:
            return np.asarray(np.diag(self.solved(at[1:] / at[0])[1]) * at[0])

        def second(a: Floats, b: Floats) -> float:
            """Return the second difference of the deviance along two steps."""
            whole, other = self.deviance(variances + a + b), self.deviance(variances + a - b)
            return (whole - other - self.deviance(variances - a + b) + self.deviance(variances - a - b)) / 4

        free = np.flatnonzero(np.append(True, self.free))
        ratios = variances[1:] / variances[0]
        limits = np.array([one.max() for one in self.information(float(ratios[0]))])
        moves = np.zeros((len(free), 3))
        moves[np.arange(len(free)), free] = (1e-3 * variances[0] * np.append(1.0, ratios + 1 / limits))[free]
        gradient = np.array([squared_errors(variances + one) - squared_errors(variances - one) for one in moves]) / 2
        hessian = np.array([[second(a, b) for b in moves] for a in moves])
        # All in units of the steps: they cancel. The covariance of the variances is twice the inverse of the Hessian.
        if not np.isfinite(hessian).all() or np.linalg.eigvalsh(hessian).min() <= 0:
            return np.ones(len(self.whole) - 1)
        spread = np.einsum("ik,ij,jk->k", gradient, 2 * np.linalg.inv(hessian), gradient)
        errors = squared_errors(variances)
        df = np.where(spread > 0, 2 * errors**2 / np.where(spread > 0, spread, 1.0), float(self.n_left))
        return np.clip(np.where(np.isfinite(df), df, 1.0), 1.0, float(self.n_left))
