"""Agreement on rates of sessions: intraclass correlation, Bland and Altman's limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.agreement._cells import SETS
from therapy_analytics.agreement._coefficients import FEWEST_SESSIONS, Floats, Resampling
from therapy_analytics.agreement._statistics import Coded

RATES = ["code", "session_id", "n_turns", "human", "machine"]
FIGURES = ("icc", "mean_difference", "sd_difference", "limit_low", "limit_high")
nan = np.nan


def icc2(ratings: Floats) -> tuple[float, float, float]:
    """Return ICC(2,1), absolute agreement of single ratings by coders who stand for others, with its 95 % interval.

    Parameters
    ----------
    ratings : float array (n_sessions, n_coders)
        Without gaps.

    Returns
    -------
    tuple of float
        Value and the ends of its interval; nan where there are fewer than two rows or columns, or nothing varies.

    References
    ----------
    Shrout, P. E., & Fleiss, J. L. (1979). Intraclass correlations: Uses in assessing rater reliability. Psychological
    Bulletin, 86, 420-428. McGraw, K. O., & Wong, S. P. (1996). Forming inferences about some intraclass correlation
    coefficients. Psychological Methods, 1, 30-46 (ICC(A,1), table 7).

    Examples
    --------
    >>> [round(one, 2) for one in icc2(np.array([[1.0, 2], [3, 3], [5, 6], [7, 9]]))]
    [0.91, 0.1, 0.99]
    """
    n, k = ratings.shape
    if n < 2 or k < 2:
        return nan, nan, nan
    row, column, whole = ratings.mean(axis=1), ratings.mean(axis=0), ratings.mean()
    between = k * ((row - whole) ** 2).sum() / (n - 1)
    coders = n * ((column - whole) ** 2).sum() / (k - 1)
    error = ((ratings - row[:, None] - column + whole) ** 2).sum() / ((n - 1) * (k - 1))
    bottom = between + (k - 1) * error + k * (coders - error) / n
    if bottom <= 1e-12 or between <= 1e-12:
        return nan, nan, nan
    value = float((between - error) / bottom)
    if error <= 1e-12:  # two coders who differ by nothing, or by the same everywhere
        return value, nan, nan
    return value, *_ends(value, (between, coders, error), (n, k))


def _ends(value: float, squares: tuple[float, float, float], shape: tuple[int, int]) -> tuple[float, float]:
    """Return McGraw and Wong's interval, whose degrees of freedom are Satterthwaite's."""
    between, coders, error = squares
    n, k = shape
    a = k * value / (n * (1 - value)) if value < 1 else np.inf
    b = 1 + k * value * (n - 1) / (n * (1 - value)) if value < 1 else np.inf
    df = (a * coders + b * error) ** 2 / ((a * coders) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1)))
    up, down = stats.f.ppf(0.975, n - 1, df), stats.f.ppf(0.975, df, n - 1)
    spread = k * coders + (k * n - k - n) * error
    low = n * (between - up * error) / (up * spread + n * between)
    high = n * (down * between - error) / (spread + n * down * between)
    return float(low), float(high)


def rates_table(found: Sequence[Coded], names: Sequence[Sequence[str]]) -> pd.DataFrame:
    """Return the rate of each code in each session, by most people and by the machine, on the same turns.

    Parameters
    ----------
    found : sequence of Coded
        Codes; sets are left out.
    names : sequence of sequences of str
        The sessions of each, by their number.
    """
    frames = []
    for one, sessions in zip(found, names, strict=True):
        if one.code in SETS:
            continue
        tables = one.tables(one.majority, one.machine)
        n = tables.sum(axis=(1, 2))
        kept = n > 0
        rates = {"human": tables[kept, 1].sum(axis=1) / n[kept], "machine": tables[kept, :, 1].sum(axis=1) / n[kept]}
        about = {"code": one.code, "session_id": np.array(sessions, dtype=object)[kept], "n_turns": n[kept].astype(int)}
        frames.append(pd.DataFrame(about | rates))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=RATES)


def sessions_table(rates: pd.DataFrame, how: Resampling) -> pd.DataFrame:
    """Return for each rate how machine and people agree over sessions.

    ``icc`` with its interval; ``mean_difference`` (machine less people) with Student's interval, and the limits between
    which 95 % of differences lie (``limit_low``, ``limit_high``), each with the interval of Bland and Altman (1999).
    ``mean_difference_boot_lo``, ``_hi``: the same by bootstrap of sessions.
    """
    rows = [{"code": code, **_figures(own, how)} for code, own in rates.groupby("code", sort=False)]
    return pd.DataFrame(rows)


def _figures(own: pd.DataFrame, how: Resampling) -> dict[str, float]:
    both = own[["human", "machine"]].to_numpy(dtype=np.float64)
    n = len(both)
    row = {"n_sessions": float(n), "n_turns": float(own["n_turns"].sum())}
    row |= {"human_mean": float(both[:, 0].mean()), "machine_mean": float(both[:, 1].mean())}
    icc = icc2(both) if n >= FEWEST_SESSIONS else (nan, nan, nan)
    row |= dict(zip(("icc", "icc_lo", "icc_hi"), icc, strict=True))
    return row | _limits(both[:, 1] - both[:, 0], how)


def _limits(difference: Floats, how: Resampling) -> dict[str, float]:
    """Return mean difference and limits of agreement with their intervals."""
    n = len(difference)
    if n < FEWEST_SESSIONS:
        names = ("mean_difference", "limit_low", "limit_high")
        row = {f"{name}{end}": nan for name in names for end in ("", "_lo", "_hi")}
        return row | {"mean_difference": float(difference.mean()), "sd_difference": nan}
    mean, sd = float(difference.mean()), float(difference.std(ddof=1))
    t = float(stats.t.ppf(0.975, n - 1))
    ends = {"mean_difference": (mean, sd / np.sqrt(n))}
    # The exact form of a limit's error, of which sqrt(3 / n) is the approximation for many sessions.
    error = sd * float(np.sqrt(1 / n + stats.norm.ppf(0.975) ** 2 / (2 * (n - 1))))
    reach = float(stats.norm.ppf(0.975)) * sd
    ends |= {"limit_low": (mean - reach, error), "limit_high": (mean + reach, error)}
    row = {}
    for name, (value, se) in ends.items():
        row |= {name: value, f"{name}_lo": value - t * se, f"{name}_hi": value + t * se}
    _, low, high = how.estimate(_mean_of, np.column_stack([difference, np.ones(n)]))
    return row | {"sd_difference": sd, "mean_difference_boot_lo": low, "mean_difference_boot_hi": high}


def _mean_of(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])
