"""Rates corrected for the tagger's known errors, with what that costs in certainty."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isnan, nan

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.compare._tagger_errors import (
    PEOPLE,
    Floats,
    Share,
    TaggerErrors,
    adjusted_interval,
    cluster_error,
    effective_n,
    errors_by_code,
    errors_table,
)
from therapy_analytics.errors import BadOptionError

BOOKS = ("mi", "bolt")
"""Codebooks whose rates stand in the table of sessions under the name of the code."""
TRANSFER = (
    "The tagger's sensitivity and specificity were measured on demonstrations of motivational interviewing (AnnoMI, "
    "HLQC), differ even within them, and may not hold here: take rates corrected for them for a warning of how far "
    "a rate could be off. What it truly is, codes that people gave to some of your own sessions can tell (`--gold`)."
)
"""What must stand beside corrected rates."""
MACHINE_TRUTH = "corrected towards what a language model reads in the codebook, as no people coded whole sessions"
WEAK = 0.5
"""Where sensitivity + specificity - 1 is less, the uncertainty of an observed rate is more than doubled."""
_FIGURES = ("n_sessions", "n_turns", "rate", "lo", "hi", "expected", "corrected", "corrected_lo", "corrected_hi")
COLUMNS = ("code", "role", *_FIGURES, "sensitivity", "specificity", "truth", "note")


def corrected_rates(
    sessions: pd.DataFrame, *, by: str, cluster: str | None = None, tagger: str = "", aim: str = "balanced"
) -> pd.DataFrame:
    """Correct the rates of codes for what the tagger is known to miss and to give wrongly.

    Parameters
    ----------
    sessions : DataFrame
        A row a session, with the rates of codes.
    by, cluster : str
        Columns of it: groups, and what is independent (``counselor``, ``source_group``; by default the session).
    tagger, aim : str, optional
        Who coded the turns, as `errors_by_code` takes it. For ``llm`` and "" (not known) there is no correction, and
        the note says so.

    Returns
    -------
    DataFrame
        A row a group and code:

        - the column `by`; ``code``; ``role``.
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
    BadOptionError
        The table has no rates of codes.

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
    >>> one = {"who": "Ann", "n_turns_therapist": 20, "therapist_question_rate": 0.35}
    >>> found = corrected_rates(pd.DataFrame([one, one | {"therapist_question_rate": 0.45}]), by="who")
    >>> found[["code", "n_sessions", "n_turns", "rate"]].to_numpy().tolist()
    [['mi_question', 2, 40, 0.4]]
    """
    known = errors_by_code(tagger, aim)
    parts = list(_rates(sessions, by, cluster))
    if not parts:
        raise BadOptionError("table", "it has no rates of codes", "Give the table of sessions")
    rates = pd.concat(parts, ignore_index=True)
    rates = rates[(rates["n"] > 0) & rates["rate"].notna()]
    rows = [
        dict(zip([by, "code", "role"], place, strict=True)) | _row(part, known.get(str(place[1])), cluster)
        for place, part in rates.groupby([by, "code", "role"], sort=False, dropna=True)
    ]
    return pd.DataFrame(rows, columns=[by, *COLUMNS])


def _rates(sessions: pd.DataFrame, by: str, cluster: str | None) -> Iterator[pd.DataFrame]:
    """Yield for each code a row a session: group, cluster, ``n`` turns, ``rate``, ``expected`` (mean probability)."""
    about = pd.DataFrame({by: sessions[by], "cluster": clusters_of(sessions, cluster)})
    for row in errors_table().drop_duplicates("code").to_dict("records"):
        book, name = str(row["code"]).split("_", 1)
        column, n = f"{row['role']}_{name}_rate", f"n_turns_{row['role']}"
        if book in BOOKS and {column, n} <= set(sessions.columns):
            expected = sessions.get(f"{column}_expected", nan)
            figures = {"n": sessions[n], "rate": sessions[column], "expected": expected}
            yield about.assign(code=row["code"], role=row["role"], **figures)


def clusters_of(sessions: pd.DataFrame, cluster: str | None) -> NDArray[np.object_]:
    """Return the cluster of each session (n_sessions,); without a column, each its own."""
    names = sessions[cluster] if cluster else pd.Series(range(len(sessions)))
    return names.astype(str).to_numpy(dtype=object)


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


def _row(part: pd.DataFrame, errors: TaggerErrors | None, cluster: str | None) -> dict[str, object]:
    """Return the columns of a group and code."""
    n = part["n"].to_numpy(dtype=np.float64)
    share, clusters = mean_share(part["rate"].to_numpy(dtype=np.float64), n, part["cluster"].to_numpy())
    low, high = share.interval
    notes = [f"one {cluster or 'session'}: the intervals take its turns for independent"] if clusters == 1 else []
    corrected, more = _corrected(share, errors)
    return {
        "n_sessions": len(part),
        "n_turns": int(n.sum()),
        "rate": share.value,
        "lo": low,
        "hi": high,
        "expected": float(part["expected"].mean()),
        **corrected,
        "note": "; ".join([*notes, *more]),
    }


def _corrected(share: Share, errors: TaggerErrors | None) -> tuple[dict[str, object], list[str]]:
    """Return the corrected columns, and what must be said of them."""
    names = ("corrected", "corrected_lo", "corrected_hi")
    if errors is None:
        unknown = dict.fromkeys((*names, "sensitivity", "specificity"), nan)
        return unknown | {"truth": ""}, ["how often this coder errs on the code in whole sessions is not known"]
    value = errors.true_rate(share.value)
    low, high = adjusted_interval(share, errors)
    notes = []
    if isnan(value) or isnan(low):
        value = low = high = nan
        notes.append("sensitivity and specificity add up to 1 or less: the tagger tells nothing of the rate")
    elif not 0 <= value <= 1:
        notes.append(f"the correction gives {value:.3f}, cut to {'0' if value < 0 else '1'}")
    elif errors.gain < WEAK:
        notes.append(f"sensitivity + specificity - 1 is {errors.gain:.2f}: the correction says little")
    notes += [MACHINE_TRUTH] if errors.truth != PEOPLE else []
    cut = [float(np.clip(one, 0.0, 1.0)) for one in (value, low, high)]
    known = {"sensitivity": errors.sensitivity.value, "specificity": errors.specificity.value, "truth": errors.truth}
    return dict(zip(names, cut, strict=True)) | known, notes
