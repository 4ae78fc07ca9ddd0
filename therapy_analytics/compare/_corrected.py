"""Rates as the tagger's known errors change them: corrected for sensitivity and specificity, with what that costs."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isnan, nan, sqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.compare._tagger_errors import (
    PEOPLE,
    TAGGERS,
    UNCHECKED,
    Errors,
    Share,
    adjusted_interval,
    effective_n,
    errors_by_code,
    known_codes,
)
from therapy_analytics.errors import BadOptionError, UnknownNameError

Floats = NDArray[np.float64]

BOOKS = ("mi", "bolt")
"""Codebooks whose rates stand in ``sessions.csv`` under the name of the code."""
TRANSFER = (
    "The tagger's sensitivity and specificity were measured on demonstrations of motivational interviewing (AnnoMI, "
    "HLQC), differ even within them, and may not hold here: take rates corrected for them for a warning of how far "
    "a rate could be off. What it truly is, codes that people gave to some of your own sessions can tell (`--gold`)."
)
"""What must stand beside corrected rates."""
MACHINE_TRUTH = "corrected towards what a language model reads in the codebook, as no people coded whole sessions"
WEAK = 0.5
"""Where sensitivity + specificity - 1 is less, what is uncertain of an observed rate is more than doubled."""
_FIGURES = ("n_sessions", "n_turns", "rate", "lo", "hi", "expected", "corrected", "corrected_lo", "corrected_hi")
_KNOWN = ("sensitivity", "specificity", "truth")
COLUMNS = ("code", "role", *_FIGURES, *_KNOWN, "note")


def corrected_rates(
    table: pd.DataFrame, *, tagger: str, aim: str = "balanced", by: str | None = None, cluster: str | None = None
) -> pd.DataFrame:
    """Correct the rates of codes for what the tagger is known to miss and to see wrongly.

    Parameters
    ----------
    table : DataFrame
        Rows of ``sessions.csv``, or of ``turns.csv`` of several sessions (then ``session_id`` must tell them apart).
    tagger : {"accurate", "fast", "llm", ""}
        Who coded the turns. For ``llm`` and "" (not known) there is no correction, and the note says so.
    aim : {"balanced", "precision", "recall", "rate"}, optional
        What the tagger's thresholds were for.
    by, cluster : str, optional
        Columns of the table: groups, each with rows of its own in the result, and what is independent (``counselor``,
        ``source_group``; by default the session).

    Returns
    -------
    DataFrame
        A row a group and code:

        - the column `by`, if one is given; ``code``; ``role``.
        - ``n_sessions``, ``n_turns``: sessions with turns of the role, and those turns.
        - ``rate``, ``lo``, ``hi``: mean over sessions of the share of turns that the tagger gave the code, 0 to 1, with
          its 95 % interval between clusters (Wilson's, with Korn and Graubard's effective sample size).
        - ``expected``: mean over sessions of the mean probability, another estimate of the same.
        - ``corrected``, ``corrected_lo``, ``corrected_hi``: the rate by Rogan and Gladen, cut to 0..1, with the
          interval of Lang and Reiczigel, which holds the uncertainty of sensitivity and specificity, too.
        - ``sensitivity``, ``specificity``, ``truth``: what it rests on, and whether people or a language model coded.
        - ``note``: what was cut or is missing, and why.

    Raises
    ------
    UnknownNameError
        There is no such tagger or aim.
    BadOptionError
        The table lacks a column that was named, or has no codes.

    Notes
    -----
    The correction takes sensitivity and specificity to be the same here as where they were measured, and the same in
    all groups. They are not, even within AnnoMI (`TRANSFER`; ``python -m benchmarks.corrected``): it is a bound on
    trust, and no better estimate. Between two groups it divides a difference by sensitivity + specificity - 1: it can
    neither make a difference appear nor let one vanish. Undefined where sensitivity + specificity is at most 1.

    References
    ----------
    Rogan, W. J., & Gladen, B. (1978). Estimating prevalence from the results of a screening test. American Journal of
    Epidemiology, 107(1), 71-76.

    Examples
    --------
    >>> one = {"n_turns_therapist": 20, "therapist_question_rate": 0.35, "therapist_question_rate_expected": 0.34}
    >>> found = corrected_rates(pd.DataFrame([one, one | {"therapist_question_rate": 0.45}]), tagger="accurate")
    >>> found[["code", "n_sessions", "n_turns", "rate"]].to_numpy().tolist()
    [['mi_question', 2, 40, 0.4]]
    """
    if tagger not in (*TAGGERS, *UNCHECKED):
        raise UnknownNameError("tagger", tagger, TAGGERS)
    known = errors_by_code(tagger, aim)
    rates = session_rates(table, by=by, cluster=cluster)
    heads = [by] if by else []
    rows = [
        dict(zip([*heads, "code", "role"], place, strict=True)) | _row(part, known.get(str(place[-2])), cluster)
        for place, part in rates.groupby([*heads, "code", "role"], sort=False, dropna=True)
    ]
    return pd.DataFrame(rows, columns=[*heads, *COLUMNS])


def session_rates(table: pd.DataFrame, *, by: str | None = None, cluster: str | None = None) -> pd.DataFrame:
    """Return the rates of sessions, a row a session and code.

    Parameters
    ----------
    table, by, cluster
        As `corrected_rates` takes them.

    Returns
    -------
    DataFrame
        ``code``, ``role``, ``n`` (turns that could have the code), ``rate``, ``expected`` (mean probability),
        ``cluster`` and the column `by`; sessions without such turns are left out.
    """
    require(table, [name for name in (by, cluster) if name])
    parts = list(_of_turns(table, by, cluster) if "turn" in table.columns else _of_sessions(table, by, cluster))
    if not parts:
        option = "table"
        raise BadOptionError(option, "it has no rates of codes", "Give the table of sessions.csv or of turns.csv")
    rates = pd.concat(parts, ignore_index=True)
    return rates[(rates["n"] > 0) & rates["rate"].notna()].reset_index(drop=True)


def require(table: pd.DataFrame, names: list[str]) -> None:
    """Raise `BadOptionError` where a table lacks a column."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        option = "table"
        raise BadOptionError(option, f"it has no column {', '.join(missing)}", "Name columns that it has")


def _of_sessions(table: pd.DataFrame, by: str | None, cluster: str | None) -> Iterator[pd.DataFrame]:
    about = _about(table, by, cluster)
    for code, role in known_codes():
        book, name = code.split("_", 1)
        column = f"{role}_{name}_rate"
        if book in BOOKS and {column, f"n_turns_{role}"} <= set(table.columns):
            expected = f"{column}_expected"
            yield about.assign(
                code=code,
                role=role,
                n=table[f"n_turns_{role}"].to_numpy(dtype=np.float64),
                rate=table[column].to_numpy(dtype=np.float64),
                expected=table[expected].to_numpy(dtype=np.float64) if expected in table.columns else nan,
            )


def _of_turns(table: pd.DataFrame, by: str | None, cluster: str | None) -> Iterator[pd.DataFrame]:
    require(table, ["session_id"])
    place, first = _numbered(table["session_id"])
    about = _about(table.iloc[first], by, cluster)
    for code, role in known_codes():
        if code in table.columns:
            columns = {"rate": code, "expected": f"p_{code}"}
            found = {name: _means(table, column, place, len(first)) for name, column in columns.items()}
            n = np.bincount(place, table[code].notna(), len(first))
            yield about.assign(code=code, role=role, n=n, **found)


def _numbered(names: pd.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each row's number of its session, and each session's first row."""
    place, _ = pd.factorize(names)
    return place, np.unique(place, return_index=True)[1]


def _means(table: pd.DataFrame, column: str, place: NDArray[np.int64], n: int) -> Floats:
    """Return the mean of a column by session, nan where it is nowhere known."""
    if column not in table.columns:
        return np.full(n, nan)
    values = pd.to_numeric(table[column], errors="coerce").to_numpy(dtype=np.float64, na_value=nan)
    known = np.isfinite(values)
    counts = np.bincount(place[known], minlength=n)
    sums = np.bincount(place[known], values[known], n)
    return np.asarray(np.divide(sums, counts, out=np.full(n, nan), where=counts > 0))


def _about(rows: pd.DataFrame, by: str | None, cluster: str | None) -> pd.DataFrame:
    """Return group and cluster of each session."""
    clusters = rows[cluster].astype(str).to_numpy() if cluster else np.arange(len(rows)).astype(str)
    about = pd.DataFrame({"cluster": clusters})
    return about.assign(**{by: rows[by].to_numpy()}) if by else about


def cluster_error(shifts: Floats, clusters: NDArray[np.generic]) -> tuple[float, int]:
    """Return the standard error of a sum of the units' shifts (n,), and how many clusters (n,) they are of.

    Nan for one cluster. Shifts are what each unit adds to an estimate's distance from its expectation.
    """
    place = np.unique(clusters, return_inverse=True)[1]
    n = int(place.max()) + 1 if len(place) else 0
    if n < 2:
        return nan, n
    sums = np.bincount(place, shifts, n)
    return sqrt(n / (n - 1) * float(sums @ sums)), n


def mean_share(rates: Floats, n: Floats, clusters: NDArray[np.generic]) -> tuple[Share, int]:
    """Return the mean of sessions' rates as a share, and how many clusters it rests on.

    Parameters
    ----------
    rates, n : float arrays (n_sessions,)
        Shares of turns, and numbers of turns.
    clusters : array (n_sessions,)
        What each session belongs to. Of one cluster the turns are taken for independent.

    Examples
    --------
    >>> share, n_clusters = mean_share(np.array([0.2, 0.4]), np.array([10.0, 10.0]), np.array(["a", "a"]))
    >>> round(share.value, 3), round(share.n, 3), n_clusters
    (0.3, 20.0, 1)
    """
    value = float(rates.mean())
    error, n_clusters = cluster_error((rates - value) / len(rates), clusters)
    most = len(rates) ** 2 / float((1 / n).sum())
    known, df = (0.0, inf) if isnan(error) else (error, float(n_clusters - 1))
    return Share(value, effective_n(value, known, most, df)), n_clusters


def _row(part: pd.DataFrame, errors: Errors | None, cluster: str | None) -> dict[str, object]:
    """Return the figures of a group and code."""
    n = part["n"].to_numpy(dtype=np.float64)
    share, clusters = mean_share(part["rate"].to_numpy(dtype=np.float64), n, part["cluster"].to_numpy())
    low, high = share.interval
    notes = [f"one {cluster or 'session'}: the intervals take its turns for independent"] if clusters == 1 else []
    return {
        "n_sessions": len(part),
        "n_turns": int(n.sum()),
        "rate": share.value,
        "lo": low,
        "hi": high,
        "expected": float(part["expected"].mean()),
        **_corrected(share, errors, notes),
        "note": "; ".join(notes),
    }


def _corrected(share: Share, errors: Errors | None, notes: list[str]) -> dict[str, object]:
    """Return the corrected figures, and add to the notes what must be said of them."""
    if errors is None:
        notes.append("how often this coder errs on the code in whole sessions is not known")
        return dict.fromkeys(("corrected", "corrected_lo", "corrected_hi", "sensitivity", "specificity"), nan) | {
            "truth": ""
        }
    value = errors.true_rate(share.value)
    low, high = adjusted_interval(share, errors)
    if isnan(value) or isnan(low):
        value = low = high = nan
        notes.append("sensitivity and specificity add up to 1 or less: the tagger tells nothing of the rate")
    elif not 0 <= value <= 1:
        notes.append(f"the correction gives {value:.3f}, cut to {'0' if value < 0 else '1'}")
    elif errors.gain < WEAK:
        notes.append(f"sensitivity + specificity - 1 is {errors.gain:.2f}: the correction says little")
    if errors.truth != PEOPLE:
        notes.append(MACHINE_TRUTH)
    cut = [nan if isnan(one) else min(max(one, 0.0), 1.0) for one in (value, low, high)]
    return {
        "corrected": cut[0],
        "corrected_lo": cut[1],
        "corrected_hi": cut[2],
        "sensitivity": errors.sensitivity.value,
        "specificity": errors.specificity.value,
        "truth": errors.truth,
    }
