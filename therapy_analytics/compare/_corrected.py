"""Rates and ratios corrected for the tagger's known errors, with what that costs in certainty.

The errors stand in ``tagger_errors.csv``, which ``tools/build_tagger_errors.py`` makes from codes of recordings that
the tagger had not seen.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from math import exp, inf, isnan, log, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from therapy_analytics.behaviours import builtin_codebooks
from therapy_analytics.clusters import SESSION, Floats, cluster_error, cluster_numbers
from therapy_analytics.errors import BadOptionError, UnknownNameError
from therapy_analytics.measures._intervals import Z95, wilson

ERRORS = Path(__file__).parent / "tagger_errors.csv"
TAGGERS = ("accurate", "fast")
UNCHECKED = ("llm", "")
"""Coders whose errors are not known: an outside one, and an unknown one."""
PEOPLE = "people"
TRANSFER = (
    "The tagger's sensitivity and specificity were measured on demonstrations of motivational interviewing (AnnoMI, "
    "HLQC), differ even within them, and may not hold here: take rates corrected for them as a warning of how far a "
    "rate could be off. What it truly is, codes that people gave to some of your own sessions can tell (`--gold`)."
)
"""What must stand beside corrected rates."""
MACHINE_TRUTH = "corrected towards what a language model reads in the codebook, as no people coded whole sessions"
WEAK = 0.5
"""Where sensitivity + specificity - 1 is less, the uncertainty of an observed rate is more than doubled."""
_CORRECTED = ("corrected", "corrected_lo", "corrected_hi")
_NUMBERS = ("n_sessions", "n_turns", "rate", "lo", "hi", "expected", *_CORRECTED, "sensitivity", "specificity")
COLUMNS = ("code", "role", *_NUMBERS, "truth", "note")


@dataclass(frozen=True, slots=True)
class Share:
    """A share (0 to 1), and the size `n` of a simple random sample of turns that is as uncertain (`effective_n`)."""

    value: float
    n: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval."""
        return wilson(self.value * self.n, self.n)


@dataclass(frozen=True, slots=True)
class TaggerErrors:
    """How well the tagger finds a code in recordings that it had not seen.

    Sensitivity, specificity, the correlation of the two estimates, and `truth`: who gave the true codes, ``people`` or
    ``language model``.
    """

    sensitivity: Share
    specificity: Share
    correlation: float
    truth: str

    @property
    def gain(self) -> float:
        """Sensitivity + specificity - 1: the slope of the observed rate on the true one."""
        return self.sensitivity.value + self.specificity.value - 1

    def true_rate(self, observed: float) -> float:
        """Return the true rate at which the observed one is expected; not clipped, nan if the gain is not positive.

        Examples
        --------
        >>> round(TaggerErrors(Share(0.8, 100), Share(0.9, 100), 0.0, "people").true_rate(0.31), 3)
        0.3
        """
        return (observed + self.specificity.value - 1) / self.gain if self.gain > 0 else nan


@functools.cache
def errors_table() -> pd.DataFrame:
    """Return ``tagger_errors.csv``: a row a tagger, aim, code and kind of corpus."""
    return pd.read_csv(ERRORS)


def errors_by_code(tagger: str, aim: str = "balanced") -> dict[str, TaggerErrors]:
    """Return the errors of each code in whole sessions; none for coders that nobody has checked (`UNCHECKED`).

    They depend on what the tagger's thresholds aim at: ``balanced``, ``precision``, ``recall`` or ``rate``.

    Examples
    --------
    >>> known = errors_by_code("accurate")
    >>> known["mi_question"].sensitivity.value > known["mi_sustain"].sensitivity.value
    True
    """
    if tagger in UNCHECKED:
        return {}
    table = errors_table()
    aims = table["aim"].unique().tolist()
    for kind, name, known in (("tagger", tagger, TAGGERS), ("aim of the tagger", aim, aims)):
        if name not in known:
            raise UnknownNameError(kind, name, known)
    rows = table[(table["tagger"] == tagger) & (table["aim"] == aim) & table["whole_sessions"]]
    return {str(row["code"]): errors_of_row(row) for row in rows.to_dict("records")}


def errors_of_row(row: Mapping[Hashable, Any]) -> TaggerErrors:
    """Read a row of the file; standard errors between recordings become effective sample sizes."""
    sensitivity, specificity = (
        Share(float(row[name]), effective_n(float(row[name]), float(row[f"{name}_error"]), float(row[n]), inf))
        for name, n in (("sensitivity", "n_with"), ("specificity", "n_without"))
    )
    return TaggerErrors(sensitivity, specificity, float(row["correlation"]), str(row["truth"]))


def effective_n(share: float, error: float, most: float, df: float) -> float:
    """Return the size of the simple random sample whose share is as uncertain as this one of clusters.

    From a share, its standard error between clusters, and the degrees of freedom of that; with fewer the sample is
    smaller. It is at `most` the number of turns, because clusters can be alike by accident.

    References
    ----------
    Korn, E. L., & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data. Survey Methodology, 24(2), 193-201.

    Examples
    --------
    >>> round(effective_n(0.5, 0.05, 400, inf), 6)
    100.0
    """
    known = share * (1 - share) / error**2 if error > 0 and 0 < share < 1 else inf
    spread = float(stats.t.ppf(0.975, df)) if df >= 1 else Z95
    return min(known, most) * (Z95 / spread) ** 2


def corrected_rates(
    sessions: pd.DataFrame, *, by: str, cluster: str | None = None, tagger: str = "", aim: str = "balanced"
) -> pd.DataFrame:
    """Correct the rates of codes for what the tagger is known to miss and to give wrongly.

    The correction takes sensitivity and specificity to be the same here as where they were measured, and the same in
    all groups. They are not, even within AnnoMI (`TRANSFER`; ``python -m benchmarks.corrected``): it shows how far to
    trust a rate, and is not a better estimate. It divides a difference between two groups by sensitivity +
    specificity - 1: it can neither make a difference appear nor let one vanish. Undefined where their sum is at most 1.

    Parameters
    ----------
    sessions : DataFrame
        A row a session, with the rates of codes.
    by, cluster : str
        Columns of it: groups, and clusters (``counselor``, ``source_group``, ``client``; by default the session). A
        session without a value is its own cluster; clients are told apart by ``counselor`` if there is such a column.
    tagger, aim : str, optional
        As in `errors_by_code`. For ``llm`` and "" (unknown) there is no correction, and the note says so.

    Returns
    -------
    DataFrame
        A row a group and code: the column `by`; ``code``; ``role``; ``n_sessions``, ``n_turns``: sessions with turns of
        the role, and those turns; ``rate``, ``lo``, ``hi``: mean over sessions of the share of turns with the code, 0
        to 1, with its 95 % interval between clusters (Wilson's, with Korn and Graubard's effective sample size);
        ``expected``: mean over sessions of the mean probability; ``corrected``, ``corrected_lo``, ``corrected_hi``: the
        rate by Rogan and Gladen, clipped to 0..1, with the interval of Lang and Reiczigel; ``sensitivity``,
        ``specificity``, ``truth``: on what it rests; ``note``: what was clipped or is missing, and why.

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
    about = pd.DataFrame({by: sessions[by], "cluster": cluster_numbers(sessions, cluster or SESSION, by)})
    # Only the books that repeat no other have rates in the table, under the name of the code
    books = {book.id for book in builtin_codebooks() if not book.overlaps}
    for row in errors_table().drop_duplicates("code").to_dict("records"):
        book, name = str(row["code"]).split("_", 1)
        column, n = f"{row['role']}_{name}_rate", f"n_turns_{row['role']}"
        if book in books and {column, n} <= set(sessions.columns):
            numbers = {"n": sessions[n], "rate": sessions[column], "expected": sessions.get(f"{column}_expected", nan)}
            yield about.assign(code=row["code"], role=row["role"], **numbers)


def mean_share(rates: Floats, n: Floats, clusters: NDArray[np.generic]) -> tuple[Share, int]:
    """Return the mean of sessions' rates as a share, and the number of clusters.

    From shares of turns, numbers of turns and clusters, (n_sessions,) each; with one cluster, turns are taken as
    independent.

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
    notes = [f"one {cluster or 'session'}: the intervals take its turns as independent"] if clusters == 1 else []
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
    """Return the corrected columns, and what must stand beside them."""
    if errors is None:
        unknown = dict.fromkeys((*_CORRECTED, "sensitivity", "specificity"), nan)
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
    clipped = [float(np.clip(one, 0.0, 1.0)) for one in (value, low, high)]
    known = {"sensitivity": errors.sensitivity.value, "specificity": errors.specificity.value, "truth": errors.truth}
    return dict(zip(_CORRECTED, clipped, strict=True)) | known, notes


def adjusted_interval(observed: Share, errors: TaggerErrors) -> tuple[float, float]:
    """Return the 95 % interval of the true rate, from the share of turns that the tagger gave the code.

    It holds the uncertainty of the errors; it is not clipped to 0..1, and nan where the gain is not positive.

    References
    ----------
    Lang, Z., & Reiczigel, J. (2014). Confidence limits for prevalence of disease adjusted for estimated sensitivity
    and specificity. Preventive Veterinary Medicine, 113(1), 13-22. Theirs is for independent estimates of the two; the
    covariance is added here.

    Examples
    --------
    >>> errors = TaggerErrors(Share(0.8, 100), Share(0.9, 100), 0.0, "people")
    >>> [round(end, 3) for end in adjusted_interval(Share(0.31, 200), errors)]
    [0.182, 0.415]
    """
    n = observed.n + Z95**2
    rate = (observed.value * observed.n + Z95**2 / 2) / n
    sens, of_sens = _smoothed(errors.sensitivity)
    spec, of_spec = _smoothed(errors.specificity)
    gain = sens + spec - 1
    if not (errors.gain > 0 and gain > 0):
        return nan, nan
    true = (rate + spec - 1) / gain
    shift = 2 * Z95**2 * (true * of_sens - (1 - true) * of_spec)
    both = -2 * true * (1 - true) * errors.correlation * sqrt(of_sens * of_spec)
    variance = rate * (1 - rate) / n + true**2 * of_sens + (1 - true) ** 2 * of_spec + both
    half = Z95 * sqrt(max(variance, 0.0)) / gain
    return true + shift - half, true + shift + half


def corrected_ratio(
    counts: Floats, clusters: NDArray[np.generic], errors: tuple[TaggerErrors, TaggerErrors], effect: float = 1.0
) -> tuple[float, float, float]:
    """Return the ratio of two codes' corrected rates with its 95 % interval.

    Delta method on the logarithm: the variance between clusters (no less than that of independent turns), and those of
    sensitivities and specificities, which are taken as independent between the codes. nan where either corrected rate
    is 0 or less, or over 1. From `counts` (n_sessions, 3) of turns with the first code, with the second, and all turns;
    clusters (n_sessions,); and the design `effect` of the turns of a single session, at least 1.

    Examples
    --------
    >>> sure = TaggerErrors(Share(1.0, 1e9), Share(1.0, 1e9), 0.0, "people")
    >>> [round(one, 2) for one in corrected_ratio(np.array([[8.0, 8.0, 24.0]]), np.array(["a"]), (sure, sure))]
    [1.0, 0.38, 2.66]
    """
    turns = counts[:, 2]
    n = float(turns.sum())
    rates = [float(counts[:, i].sum()) / n if n else nan for i in range(2)]
    true = [one.true_rate(rate) for one, rate in zip(errors, rates, strict=True)]
    if any(isnan(one) or not 0 < one <= 1 for one in true):
        return nan, nan, nan
    gains = [one * known.gain for one, known in zip(true, errors, strict=True)]
    residuals = [(counts[:, i] - rates[i] * turns) / n / gains[i] for i in range(2)]
    error, n_clusters = cluster_error(residuals[0] - residuals[1], clusters)
    alone = [rate * (1 - rate) / n / gain**2 for rate, gain in zip(rates, gains, strict=True)]
    # Clusters that are alike by accident are not more certain than independent turns with at most one of the codes.
    least = alone[0] + alone[1] + 2 * rates[0] * rates[1] / n / gains[0] / gains[1]
    sampled = least * effect if isnan(error) else max(error**2, least)
    spread = sqrt(sampled + sum(_variance_of_errors(one, known) for one, known in zip(true, errors, strict=True)))
    width = float(stats.t.ppf(0.975, inf if isnan(error) else n_clusters - 1)) * spread
    middle = log(true[0] / true[1])
    return exp(middle), exp(middle - width), exp(middle + width)


def _smoothed(share: Share) -> tuple[float, float]:
    """Return a share with a turn added to each side, so that 1 is not taken as certain, and its variance."""
    n = share.n + 2
    value = (share.value * share.n + 1) / n
    return value, value * (1 - value) / n


def _variance_of_errors(true: float, errors: TaggerErrors) -> float:
    """Return what the uncertainty of the errors adds to the variance of the logarithm of a corrected rate."""
    (_, of_sens), (_, of_spec) = _smoothed(errors.sensitivity), _smoothed(errors.specificity)
    by_sens, by_spec = -1 / errors.gain, (1 - true) / (true * errors.gain)
    both = 2 * by_sens * by_spec * errors.correlation * sqrt(of_sens * of_spec)
    return max(by_sens**2 * of_sens + by_spec**2 * of_spec + both, 0.0)
