"""Summary counts of MITI 4.2 and MISC from the machine's codes, with bands only where the intervals allow one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan, nan

import numpy as np
import pandas as pd

from therapy_analytics.behaviours.codebook import correlation_of
from therapy_analytics.clusters import SESSION, Floats, Ints, cluster_error, cluster_numbers
from therapy_analytics.compare._corrected import (
    Share,
    TaggerErrors,
    corrected_ratio,
    effective_n,
    errors_by_code,
)
from therapy_analytics.errors import BadOptionError
from therapy_analytics.measures._intervals import design_effect
from therapy_analytics.measures.process.reflection_to_question import RATIO_CORRELATION

NEVER = (
    "Not printed: the relational and technical scores of MITI 4.2, which are ratings by people; a percentage of open "
    "questions or of MI-adherent talk after MITI, as version 4 has none; a percentage of MI-consistent talk after "
    "MISC, whose parts the tagger does not tell apart."
)
"""Scores of the manuals that are left out, and why."""
COLUMNS = ("summary", "value", "lo", "hi", "n", "corrected", "corrected_lo", "corrected_hi", "band", "sentence")
_UTTERANCES = "MISC counts each utterance, this counts turns"
Interval = tuple[float, float, float]
"""A value and the ends of its 95 % interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryCount:
    """A summary of turns with the code `top` and turns with the code `beside` (or ``open`` and ``closed``).

    `name` stands in the column ``summary``, `title` and `words` (what the turns are called) in sentences, `remark`
    after them. It is the `percent` of turns with `top` among both, or the ratio of `top` to `beside`. `bands` says
    where bands begin, the lowest first; empty where the manual has none.
    """

    name: str
    title: str
    percent: bool
    top: str
    beside: str
    words: tuple[str, str]
    bands: Mapping[str, float]
    remark: str = ""


SUMMARIES = (
    SummaryCount(
        name="miti_reflections_to_questions",
        title="Reflections to questions (R:Q, MITI 4.2)",
        percent=False,
        top="mi_reflection",
        beside="mi_question",
        words=("turns with a reflection", "turns with a question"),
        bands={"fair": 1, "good": 2},
    ),
    SummaryCount(
        name="misc_percent_open_questions",
        title="Open questions of all questions (MISC)",
        percent=True,
        top="open",
        beside="closed",
        words=("turns with an open question", "with closed ones alone"),
        bands={},
        remark=_UTTERANCES,
    ),
    SummaryCount(
        name="misc_percent_change_talk",
        title="Change talk of change and sustain talk (MISC)",
        percent=True,
        top="mi_change",
        beside="mi_sustain",
        words=("client turns with change talk", "with sustain talk"),
        bands={},
        remark=f"{_UTTERANCES}; client talk is the tagger's weakest part (kappa .35 with people)",
    ),
)
_COUNTS = {
    "mi_reflection": "n_therapist_reflection",
    "mi_question": "n_therapist_question",
    "mi_change": "n_client_change",
    "mi_sustain": "n_client_sustain",
    "therapist": "n_turns_therapist",
}


def summary_counts(
    sessions: pd.DataFrame, *, by: str, cluster: str | None = None, tagger: str = "", aim: str = "balanced"
) -> pd.DataFrame:
    """Return the summary counts of MITI 4.2 and MISC of each group.

    The unit is the turn, and a code counts once a turn, as in MITI 4.2. What is left out, and why, says `NEVER`. The
    bands were made for people's codes of 20 minutes. Of one session the correction takes the tagger to err as it does
    on average: with this speaker it may err otherwise.

    Parameters
    ----------
    sessions : DataFrame
        A row a session, with counts of turns that have a code.
    by, cluster : str
        Columns of it: groups, and clusters, as for `corrected_rates`.
    tagger, aim : str, optional
        As in `errors_by_code`; with ``accurate`` or ``fast`` R:Q is corrected, too.

    Returns
    -------
    DataFrame
        A row a group and summary: the column `by`; ``summary``, a name of `SUMMARIES`; ``value``, ``lo``, ``hi``:
        ratio or per cent of turns, all sessions of the group together, with its 95 % interval, nan where the codes are
        missing or the denominator is 0; ``n``: turns above and below the line; ``corrected``, ``corrected_lo``,
        ``corrected_hi``: R:Q, corrected for the tagger's known errors; ``band``: ``good``, ``fair``, ``below fair``, or
        ``fair or better``, where both intervals lie on one side of each line, else empty; ``sentence``: all that in
        words, and why there is no band.

    References
    ----------
    Moyers, T. B., Manuel, J. K., & Ernst, D. (2014). Motivational Interviewing Treatment Integrity Coding Manual 4.2.1.
    Houck, J. M., et al. (2010). Manual for the Motivational Interviewing Skill Code (MISC), version 2.5.

    Examples
    --------
    >>> one = {"session_id": "a", "n_therapist_reflection": 120, "n_therapist_question": 20, "n_turns_therapist": 150}
    >>> found = summary_counts(pd.DataFrame([one]), by="session_id").iloc[0]
    >>> float(found["value"]), found["band"]
    (6.0, 'good')
    """
    known = errors_by_code(tagger, aim)
    counts = _session_counts(sessions)
    groups, clusters = sessions[by].to_numpy(), cluster_numbers(sessions, cluster or SESSION, by)
    rows = [
        {by: group} | _row(one, counts[groups == group], clusters[groups == group], known)
        for group in pd.unique(sessions[by].dropna())
        for one in SUMMARIES
    ]
    return pd.DataFrame(rows, columns=[by, *COLUMNS])


def _session_counts(sessions: pd.DataFrame) -> pd.DataFrame:
    """Return the number of turns with each known code, a row a session and a column a code."""
    known = {code: sessions[column].to_numpy(float) for code, column in _COUNTS.items() if column in sessions}
    if {"n_open_question", "open_question_rate"} <= set(sessions.columns):
        known["open"], rate = (sessions[name].to_numpy(float) for name in ("n_open_question", "open_question_rate"))
        # All questions follow from the rate; where none is open, turns with a question stand in for them.
        asked = known.get("mi_question", np.full(len(sessions), nan))
        questions = np.where(rate > 0, np.round(known["open"] / np.where(rate > 0, rate, 1)), asked)
        known["closed"] = questions - known["open"]
    if not set(known) - {"therapist"}:
        raise BadOptionError("table", "it has no codes to count", "Give the table of sessions")
    return pd.DataFrame(known)


def _row(
    one: SummaryCount, counts: pd.DataFrame, clusters: Ints, known: Mapping[str, TaggerErrors]
) -> dict[str, object]:
    """Return the columns of a summary of a group."""
    row = dict.fromkeys(COLUMNS[1:8], nan) | {"summary": one.name, "n": 0, "band": ""}
    if not {one.top, one.beside} <= set(counts.columns):
        return row | {"sentence": f"{one.title}: not known, as the codes are not there."}
    top, beside = (counts[code].to_numpy(float) for code in (one.top, one.beside))
    n_top, n_beside = int(np.nansum(top)), int(np.nansum(beside))
    row["n"] = n_top + n_beside
    if not (n_top + n_beside if one.percent else n_beside):
        return row | {"sentence": f"{one.title}: undefined, as there are no {one.words[1]}."}
    correlation = correlation_of(one.top, one.beside) if one.percent else RATIO_CORRELATION
    effect = float(design_effect(n_top + n_beside, correlation))
    observed = _observed(one, np.nan_to_num(top), np.nan_to_num(beside), clusters, effect)
    true: Interval = (nan, nan, nan)
    if not one.percent and {one.top, one.beside} <= set(known) and "therapist" in counts:
        errors = (known[one.top], known[one.beside])
        true = corrected_ratio(counts[[one.top, one.beside, "therapist"]].to_numpy(float), clusters, errors, effect)
    band, why = _band(one.bands, observed, true)
    names = ("value", "lo", "hi", "corrected", "corrected_lo", "corrected_hi")
    sentence = _sentence(one, (n_top, n_beside), observed, true, (band, why))
    return row | dict(zip(names, (*observed, *true), strict=True)) | {"band": band, "sentence": sentence}


def _observed(one: SummaryCount, top: Floats, beside: Floats, clusters: Ints, effect: float) -> Interval:
    """Return a ratio or per cent of sums with its interval, by the share of the first in both together."""
    both = top + beside
    total = float(both.sum())
    value = float(top.sum()) / total
    error, n_clusters = cluster_error((top - value * both) / total, clusters)
    n = total / effect if isnan(error) else effective_n(value, error, total, n_clusters - 1.0)
    low, high = Share(value, n).interval
    if one.percent:
        return value * 100, low * 100, high * 100
    low, high = (end / (1 - end) if end < 1 else inf for end in (low, high))
    return float(top.sum() / beside.sum()), low, high


def _band(bands: Mapping[str, float], observed: Interval, true: Interval) -> tuple[str, str]:
    """Return the band that both intervals lie in, and, where there is none or only ``fair or better``, why."""
    if not bands:
        return "", ""
    crossed = [name for name, line in bands.items() if observed[1] < line <= observed[2]]
    moved = [name for name, line in bands.items() if not isnan(true[1]) and not _on_one_side(line, observed, true)]
    unsure = {*crossed, *moved}
    above = [name for name, line in bands.items() if name not in unsure and observed[1] >= line]
    if "fair" not in unsure and not above:
        return "below fair", ""
    if not unsure:
        return above[-1], ""
    cause = "the interval holds" if crossed else "the tagger's own errors could move it over"
    names = " and ".join(f"{name} ({bands[name]:g})" for name in crossed or moved)
    why = f"{cause} the line{'s' if len(crossed or moved) > 1 else ''} of {names}"
    return ("fair or better" if above else ""), why


def _on_one_side(line: float, observed: Interval, true: Interval) -> bool:
    """Return whether both intervals lie above a line, or both below."""
    return min(observed[1], true[1]) >= line or max(observed[2], true[2]) < line


def _sentence(
    one: SummaryCount, counts: tuple[int, int], observed: Interval, true: Interval, verdict: tuple[str, str]
) -> str:
    unit, digits = ("%", 0) if one.percent else ("", 2)
    value, low, high = (f"{number:.{digits}f}{unit}" for number in observed)
    text = f"{one.title}: {value} ({low} to {high}), {counts[0]} {one.words[0]} and {counts[1]} {one.words[1]}"
    if not isnan(true[0]):
        text += f"; corrected for the tagger's known errors {true[0]:.2f} ({true[1]:.2f} to {true[2]:.2f})"
    band, why = verdict
    judged = f"No band, as {why}"
    if not one.bands:
        judged = "The manual has no bands for it"
    elif band:
        judged = f"{band[0].upper()}{band[1:]}" + (f", and not known to be good, as {why}" if why else "")
    return ". ".join(part for part in (text, judged, one.remark) if part) + "."
