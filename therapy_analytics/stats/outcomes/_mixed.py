"""Random intercepts of clients within counselors: slopes by restricted maximum likelihood, with few clients too."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
from scipy import optimize

from therapy_analytics.core.clusters import Bools, Floats, Ints

_LOWEST = 0.95
"""Variances go down to this share of the least at which the covariance matrix is still positive definite."""
_STARTS = (0.3, 1.0, 3.0, 10.0)
_STEP = 1e-3


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
    residual: float
    client: float
    counselor: float


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Cross-products of the columns (design, then outcome; n_columns of them), from which every fit is computed.

    `whole` (n_columns, n_columns); `sums` (n_clients, n_columns) of each client and their `sizes` (n_clients,), clients
    of a counselor beside each other; `starts` (n_counselors,) is the first client of each. `free` says which variance
    of an intercept (client, counselor) is estimated; the other is 0.
    """

    whole: Floats
    sums: Floats
    sizes: Floats
    starts: Ints
    n: int
    free: Bools

    def ratios(self, logs: Floats) -> Floats:
        """Return the ratios of both variances to the residual one from unbounded numbers (n_free,)."""
        values = np.zeros(2)
        for place, log in zip(np.flatnonzero(self.free), logs, strict=True):
            values[place] = np.exp(np.clip(log, -20, 20)) - _LOWEST / self.information(values[0])[place].max()
        return values

    def information(self, client: float) -> tuple[Floats, Floats]:
        """Return how many sessions each client counts for (n_clients,), and each counselor (n_counselors,)."""
        return self.sizes, np.add.reduceat(self.sizes / (1 + client * self.sizes), self.starts)

    def weighted(self, ratios: Floats) -> tuple[Floats, float]:
        """Return the cross-products weighted by the inverse of the covariance matrix, and its log determinant.

        The matrix is that of sessions over the residual variance: I + client * Z Z' + counselor * W W'.
        """
        client, counselor = ratios
        shrink = 1 / (1 + client * self.sizes)
        products = self.whole - (self.sums * (client * shrink)[:, None]).T @ self.sums
        counts = self.information(client)[1]
        by_counselor = np.add.reduceat(self.sums * shrink[:, None], self.starts)
        products = products - (by_counselor * (counselor / (1 + counselor * counts))[:, None]).T @ by_counselor
        return products, float(-np.log(shrink).sum() + np.log1p(counselor * counts).sum())

    def parts(self, ratios: Floats) -> tuple[Floats, Floats, float, float]:
        """Return slopes, their covariance over the residual variance, the sum of squares left, and log determinants."""
        products, logs = self.weighted(ratios)
        covariance = np.asarray(np.linalg.inv(products[:-1, :-1]), dtype=np.float64)
        slopes = covariance @ products[:-1, -1]
        left = float(products[-1, -1] - products[:-1, -1] @ slopes)
        return slopes, covariance, max(left, 1e-300), logs - float(np.linalg.slogdet(covariance)[1])

    @property
    def n_left(self) -> int:
        """Sessions less coefficients."""
        return self.n - len(self.whole) + 1

    def profiled(self, logs: Floats) -> float:
        """Return the restricted deviance at the best residual variance."""
        _, _, left, determinants = self.parts(self.ratios(logs))
        return self.n_left * float(np.log(left)) + determinants

    def deviance(self, variances: Floats) -> float:
        """Return the restricted deviance at variances (residual, client, counselor)."""
        _, _, left, determinants = self.parts(variances[1:] / variances[0])
        return self.n_left * float(np.log(variances[0])) + determinants + left / float(variances[0])

    def slope_variances(self, variances: Floats) -> Floats:
        """Return the squared standard errors of the coefficients at variances (residual, client, counselor)."""
        return np.asarray(np.diag(self.parts(variances[1:] / variances[0])[1]) * variances[0])


def nested_fit(y: Floats, design: Floats, clients: Ints, counselors: Ints) -> NestedFit:
    """Fit an outcome of sessions with random intercepts of clients within counselors.

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
    Variances below 0 are kept, as far as the covariance matrix stays positive definite: cut off at 0, the degrees of
    freedom would be those of all sessions wherever clients are alike by accident. In a balanced design the tests are
    then those of the analysis of variance. One slope is taken for all clients.

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
        return NestedFit(nothing, nothing, nothing, np.nan, np.nan, np.nan)
    sums = _cross_products(y / scale, design, clients, counselors)
    ratios = _best(sums)
    slopes, covariance, left, _ = sums.parts(ratios)
    residual = left / sums.n_left
    if residual < 1e-12:
        return NestedFit(slopes * scale, nothing, nothing, np.nan, np.nan, np.nan)
    variances = residual * np.array([1.0, *ratios])
    errors = np.sqrt(residual * np.diag(covariance))
    df = _satterthwaite(sums, variances)
    return NestedFit(slopes * scale, errors * scale, df, *(float(one) * scale**2 for one in variances))


def _cross_products(y: Floats, design: Floats, clients: Ints, counselors: Ints) -> _Sums:
    """Return the sums from which the model is fitted."""
    columns = np.column_stack([design, y])
    order = np.lexsort([clients, counselors])
    first = np.flatnonzero(np.diff(clients[order], prepend=clients[order][0] - 1))
    starts = np.flatnonzero(np.diff(counselors[order][first], prepend=counselors[order][0] - 1))
    sizes = np.diff(first, append=len(y)).astype(np.float64)
    free = np.array([1 < len(first) < len(y), 1 < len(starts) < len(first)])
    return _Sums(columns.T @ columns, np.add.reduceat(columns[order], first), sizes, starts, len(y), free)


def _best(sums: _Sums) -> Floats:
    """Return the ratios of the variances of client and counselor to the residual one with the least deviance."""
    n_free = int(sums.free.sum())
    if not n_free:
        return np.zeros(2)
    # In units of what a client or counselor counts for: about where a variance is as large as its sampling error
    unit = [1 / values.mean() for values, free in zip(sums.information(0.0), sums.free, strict=True) if free]
    grid = np.stack(np.meshgrid(*[np.log(np.array(_STARTS) * one) for one in unit]), axis=-1).reshape(-1, n_free)
    start: Floats = grid[int(np.argmin([sums.profiled(logs) for logs in grid]))]
    simplex = np.vstack([start, start + 0.7 * np.eye(n_free)])
    found = optimize.minimize(
        sums.profiled,
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-4, "fatol": 1e-7, "maxfev": 400, "initial_simplex": simplex},
    )
    return sums.ratios(np.asarray(found.x, dtype=np.float64))


def _satterthwaite(sums: _Sums, variances: Floats) -> Floats:
    """Return the degrees of freedom of each coefficient, by how its variance depends on the estimated variances."""
    free = np.flatnonzero(np.append(True, sums.free))
    ratios = variances[1:] / variances[0]
    limits = np.array([one.max() for one in sums.information(float(ratios[0]))])
    steps = (_STEP * variances[0] * np.append(1.0, ratios + 1 / limits))[free]
    moves = np.zeros((len(free), 3))
    moves[np.arange(len(free)), free] = steps
    gradient = np.array([sums.slope_variances(variances + m) - sums.slope_variances(variances - m) for m in moves])
    hessian = np.array([[_mixed_difference(sums, variances, a, b) for b in moves] for a in moves])
    errors = sums.slope_variances(variances)
    # All in units of the steps: they cancel. The covariance of the variances is twice the inverse of the Hessian.
    if not np.isfinite(hessian).all() or np.linalg.eigvalsh(hessian).min() <= 0:
        return np.ones(len(errors))
    spread = np.einsum("ik,ij,jk->k", gradient / 2, 2 * np.linalg.inv(hessian), gradient / 2)
    df = [2 * float(e) ** 2 / float(s) if s > 0 else float(sums.n_left) for e, s in zip(errors, spread, strict=True)]
    return np.clip([one if isfinite(one) else 1.0 for one in df], 1.0, float(sums.n_left))


def _mixed_difference(sums: _Sums, at: Floats, a: Floats, b: Floats) -> float:
    """Return the second difference of the deviance along two steps."""
    corners = sums.deviance(at + a + b) - sums.deviance(at + a - b) - sums.deviance(at - a + b)
    return (corners + sums.deviance(at - a - b)) / 4
