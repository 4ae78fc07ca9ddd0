"""The summary counts of MITI 4.2 and MISC, from the machine's codes, with bands only where they can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isnan, nan

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.behaviours.codebook import correlation_of
from therapy_analytics.compare._corrected import cluster_error, require
from therapy_analytics.compare._corrected_ratio import Totals, corrected_ratio
from therapy_analytics.compare._tagger_errors import TAGGERS, UNCHECKED, Errors, Share, effective_n, errors_by_code
from therapy_analytics.errors import BadOptionError, UnknownNameError
from therapy_analytics.measures._intervals import design_effect
from therapy_analytics.measures.process.reflection_to_question import RATIO_CORRELATION

Floats = NDArray[np.float64]

NEVER = (
    "Not printed: the relational and technical scores of MITI 4.2, which are ratings by people; a percentage of open "
    "questions or of MI-adherent talk after MITI, as version 4 has none; a percentage of MI-consistent talk after "
    "MISC, whose parts the tagger does not tell apart."
)
"""What a reader may look for in vain, and why."""
COLUMNS = ("summary", "value", "lo", "hi", "n", "corrected", "corrected_lo", "corrected_hi", "band", "sentence")
GROUP = "group"
_ICC = "Two expert coders agree hardly on which reflections are complex (ICC .16 between ten experts): read the counts"
_UTTERANCES = "MISC counts each utterance, this counts turns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary score.

    Attributes
    ----------
    name, title : str
        Of the column ``summary``, and in sentences.
    kind : {"ratio", "percent", "count"}
        Turns with `top` for each with `beside`; in per cent of both together; or how many with `top`.
    top, beside : tuple of str
        Codes whose turns are counted.
    words : tuple of str
        What these are called.
    fair, good : float
        Where bands begin; nan where the manual has none.
    remark : str
        What must be said of it.
    """

    name: str
    title: str
    kind: str
    top: tuple[str, ...]
    beside: tuple[str, ...] = ()
    words: tuple[str, str] = ("", "")
    fair: float = nan
    good: float = nan
    remark: str = ""

    @property
    def codes(self) -> tuple[str, ...]:
        """All codes that it needs."""
        return (*self.top, *self.beside)


SUMMARIES = (
    Summary(
        name="miti_reflections_to_questions",
        title="Reflections to questions (R:Q, MITI 4.2)",
        kind="ratio",
        top=("mi_reflection",),
        beside=("mi_question",),
        words=("turns with a reflection", "turns with a question"),
        fair=1,
        good=2,
    ),
    Summary(
        name="miti_percent_complex_reflections",
        title="Complex reflections of all reflections (%CR, MITI 4.2)",
        kind="percent",
        top=("mi_reflection_complex",),
        beside=("mi_reflection_simple",),
        words=("complex", "simple"),
        fair=40,
        good=50,
        remark=_ICC,
    ),
    Summary(
        name="miti_total_mi_adherent",
        title="MI-adherent behaviours (MITI 4.2): seeking collaboration, affirming, stressing autonomy",
        kind="count",
        top=("miti_seek_collaboration", "miti_affirm", "miti_emphasise_autonomy"),
        remark="The tagger learnt these codes from a language model's reading, not from people",
    ),
    Summary(
        name="miti_total_mi_non_adherent",
        title="MI-non-adherent behaviours (MITI 4.2): persuading without permission, confronting",
        kind="count",
        top=("miti_persuade", "miti_confront"),
        remark="The tagger learnt these codes from a language model's reading, not from people",
    ),
    Summary(
        name="misc_percent_open_questions",
        title="Open questions of all questions (MISC)",
        kind="percent",
        top=("open",),
        beside=("closed",),
        words=("turns with an open question", "with closed ones alone"),
        remark=_UTTERANCES,
    ),
    Summary(
        name="misc_percent_change_talk",
        title="Change talk of change and sustain talk (MISC)",
        kind="percent",
        top=("mi_change",),
        beside=("mi_sustain",),
        words=("client turns with change talk", "with sustain talk"),
        remark=f"{_UTTERANCES}; client talk is the tagger's weakest part (kappa .35 with people)",
    ),
    Summary(
        name="misc_mi_inconsistent",
        title="MI-inconsistent behaviours (MISC): unasked advice, directing, confronting, warning",
        kind="count",
        top=("misc_mi_inconsistent",),
        remark=_UTTERANCES,
    ),
)
_FROM_SESSIONS: Mapping[str, str] = {
    "mi_reflection": "n_therapist_reflection",
    "mi_question": "n_therapist_question",
    "mi_change": "n_client_change",
    "mi_sustain": "n_client_sustain",
    "therapist": "n_turns_therapist",
    "client": "n_turns_client",
}
_ABSENT = {
    "miti_percent_complex_reflections": "simple and complex reflections are coded with --all-codes only, and stand in "
    "turns.csv",
    "miti_total_mi_adherent": "MITI's codes are given with --all-codes only, and stand in turns.csv",
    "miti_total_mi_non_adherent": "MITI's codes are given with --all-codes only, and stand in turns.csv",
    "misc_mi_inconsistent": "the code stands in turns.csv, and not in the table of sessions",
}


def summary_counts(
    table: pd.DataFrame,
    *,
    by: str | None = None,
    cluster: str | None = None,
    tagger: str = "",
    aim: str = "balanced",
) -> pd.DataFrame:
    """Return the summary counts of MITI 4.2 and MISC of each session or group, with what can be said of them.

    Parameters
    ----------
    table : DataFrame
        Rows of ``sessions.csv``, or of ``turns.csv`` (more summaries can be had from these).
    by, cluster : str, optional
        Columns of the table: groups (by default each session is one), and what is independent in them.
    tagger, aim : str, optional
        Who coded the turns, as `corrected_rates` takes it; with ``accurate`` or ``fast`` R:Q is corrected, too.

    Returns
    -------
    DataFrame
        A row a group and summary:

        - the column `by`, or ``session_id``; ``summary``, a name of `SUMMARIES`.
        - ``value``, ``lo``, ``hi``: ratio, per cent, or count of turns, all sessions of the group together, with the
          95 % interval of ratios and per cents; nan where the codes are not there, or over nothing.
        - ``n``: turns that it is a ratio of (top and bottom), or of which it is the count.
        - ``corrected``, ``corrected_lo``, ``corrected_hi``: R:Q, corrected for the tagger's known errors.
        - ``band``: ``good``, ``fair``, ``below fair``, or ``fair or better``, where both intervals lie on one side of
          each line; empty where that cannot be told, or the manual has no bands.
        - ``sentence``: all that in words, and why there is no band.

    Raises
    ------
    BadOptionError
        The table lacks a column that was named, or has none of the codes.
    UnknownNameError
        There is no such tagger or aim.

    Notes
    -----
    The unit is the turn, and a code counts once a turn, as in MITI 4.2; a turn with both kinds of reflections is
    complex. What is not printed, and why, says `NEVER`. The bands were made for people's codes of 20 minutes. Of one
    session the correction takes the tagger to err as it does on average: with this speaker it may err otherwise.

    References
    ----------
    Moyers, T. B., Manuel, J. K., & Ernst, D. (2014). Motivational Interviewing Treatment Integrity Coding Manual 4.2.1.
    Houck, J. M., et al. (2010). Manual for the Motivational Interviewing Skill Code (MISC), version 2.5.

    Examples
    --------
    >>> one = {"session_id": "a", "n_therapist_reflection": 120, "n_therapist_question": 20, "n_turns_therapist": 150}
    >>> found = summary_counts(pd.DataFrame([one])).iloc[0]
    >>> float(found["value"]), found["band"]
    (6.0, 'good')
    """
    if tagger not in (*TAGGERS, *UNCHECKED):
        raise UnknownNameError("tagger", tagger, TAGGERS)
    known = errors_by_code(tagger, aim)
    head = by or "session_id"
    counts = session_counts(table, by=by, cluster=cluster)
    rows = [
        {head: place} | _row(summary, part, known)
        for place, part in counts.groupby(GROUP, sort=False, dropna=True)
        for summary in SUMMARIES
    ]
    return pd.DataFrame(rows, columns=[head, *COLUMNS])


def session_counts(table: pd.DataFrame, *, by: str | None = None, cluster: str | None = None) -> pd.DataFrame:
    """Return counts of turns, a row a session: ``group``, ``cluster``, a column a code, ``therapist`` and ``client``.

    Codes that the table does not have are missing.
    """
    require(table, ["session_id", *(name for name in (by, cluster) if name)])
    counts = _of_turns(table) if "turn" in table.columns else _of_sessions(table)
    if not set(counts.columns) - {"therapist", "client"}:
        option = "table"
        raise BadOptionError(option, "it has no codes to count", "Give the table of sessions.csv or of turns.csv")
    first = table.drop_duplicates("session_id")
    counts[GROUP] = first[by or "session_id"].to_numpy()
    counts["cluster"] = first[cluster or "session_id"].astype(str).to_numpy()
    return counts


def _of_sessions(table: pd.DataFrame) -> pd.DataFrame:
    first = table.drop_duplicates("session_id")
    counts = pd.DataFrame(
        {code: first[column].to_numpy(dtype=np.float64) for code, column in _FROM_SESSIONS.items() if column in first}
    )
    if {"n_open_question", "open_question_rate"} <= set(first.columns):
        counts["open"], rate = (
            first[name].to_numpy(dtype=np.float64) for name in ("n_open_question", "open_question_rate")
        )
        # All questions follow from the rate; where none is open, the turns with a question are all there is to tell.
        asked = counts["mi_question"] if "mi_question" in counts else np.full(len(first), nan)
        counts["closed"] = (
            np.where(rate > 0, np.round(counts["open"] / np.where(rate > 0, rate, 1)), asked) - counts["open"]
        )
    return counts


def _of_turns(table: pd.DataFrame) -> pd.DataFrame:
    require(table, ["role"])
    place, _ = pd.factorize(table["session_id"])
    n = int(place.max()) + 1
    named = {code for summary in SUMMARIES for code in summary.codes if code in table.columns}
    turns = {
        code: pd.to_numeric(table[code], errors="coerce").to_numpy(dtype=np.float64, na_value=nan) for code in named
    }
    if {"mi_reflection_complex", "mi_reflection_simple"} <= named:
        turns["mi_reflection_simple"] = turns["mi_reflection_simple"] * (turns["mi_reflection_complex"] != 1)
    if "question_open_turn" in table.columns:
        turns["open"] = table["question_open_turn"].to_numpy(dtype=np.float64)
        turns["closed"] = 1 - turns["open"]
    turns |= {role: table["role"].eq(role).to_numpy(dtype=np.float64) for role in ("therapist", "client")}
    return pd.DataFrame({code: np.bincount(place, np.nan_to_num(one), n) for code, one in turns.items()})


def _row(summary: Summary, part: pd.DataFrame, known: Mapping[str, Errors]) -> dict[str, object]:
    """Return the figures of a summary of a group."""
    empty = dict.fromkeys(COLUMNS[1:8], nan) | {"summary": summary.name, "n": 0, "band": ""}
    if not set(summary.codes) <= set(part.columns):
        why = _ABSENT.get(summary.name, "the codes are not there")
        return empty | {"sentence": f"{summary.title}: not known, as {why}."}
    if summary.kind == "count":
        return empty | _count(summary, part)
    top, beside = (part[list(codes)].sum(axis=1).to_numpy(dtype=np.float64) for codes in (summary.top, summary.beside))
    n = int(top.sum() + beside.sum())
    if not (beside.sum() if summary.kind == "ratio" else n):
        return empty | {"n": n, "sentence": f"{summary.title}: undefined, as there are no {summary.words[1]}."}
    figures = _shares(summary, top, beside, part["cluster"].to_numpy())
    true = _corrected(summary, part, known)
    verdict = _band(summary, figures, true)
    found = dict(zip(COLUMNS[1:4], figures, strict=True)) | dict(zip(COLUMNS[5:8], true, strict=True))
    said = _sentence(summary, (int(top.sum()), int(beside.sum())), figures, true, verdict)
    return empty | found | {"n": n, "band": verdict[0], "sentence": said}


def _count(summary: Summary, part: pd.DataFrame) -> dict[str, object]:
    total, turns = int(part[list(summary.top)].to_numpy().sum()), int(part["therapist"].sum())
    said = f"{summary.title}: {total} in {turns} therapist turns. {summary.remark}; the manual has no bands for it."
    return {"value": float(total), "n": turns, "sentence": said}


def _shares(summary: Summary, top: Floats, beside: Floats, clusters: NDArray[np.generic]) -> tuple[float, float, float]:
    """Return a ratio or per cent of sums with its interval, by the share of the first in both together."""
    both = top + beside
    total = float(both.sum())
    value = float(top.sum()) / total
    error, n_clusters = cluster_error((top - value * both) / total, clusters)
    alone = isnan(error)
    n = total / _effect(summary, total) if alone else effective_n(value, error, total, n_clusters - 1.0)
    ends = (value, *Share(value, n).interval)
    if summary.kind == "percent":
        return ends[0] * 100, ends[1] * 100, ends[2] * 100
    low, high = (one / (1 - one) if one < 1 else inf for one in ends[1:])
    return float(top.sum() / beside.sum()), low, high


def _corrected(summary: Summary, part: pd.DataFrame, known: Mapping[str, Errors]) -> tuple[float, float, float]:
    """Return R:Q corrected for the tagger's errors; nan for other summaries, and other coders."""
    if summary.kind != "ratio" or not {*summary.codes} <= set(known) or "therapist" not in part.columns:
        return nan, nan, nan
    top, beside, turns = (part[name].to_numpy(dtype=np.float64) for name in (*summary.codes, "therapist"))
    effect = _effect(summary, float(top.sum() + beside.sum()))
    totals = Totals(top, beside, turns, part["cluster"].to_numpy(), effect)
    return corrected_ratio(totals, known[summary.top[0]], known[summary.beside[0]])


def _effect(summary: Summary, n: float) -> float:
    """Return the design effect of ``n`` turns of one session that are counted in a summary."""
    correlation = RATIO_CORRELATION if summary.kind == "ratio" else correlation_of(*summary.codes)
    return float(design_effect(n, correlation))


def _band(summary: Summary, figures: tuple[float, float, float], true: tuple[float, float, float]) -> tuple[str, str]:
    """Return the band that both intervals lie in, and, where there is none or half a one, why."""
    if isnan(summary.fair):
        return "", ""
    lines = {"fair": summary.fair, "good": summary.good}
    crossed = [name for name, line in lines.items() if figures[1] < line <= figures[2]]
    moved = [name for name, line in lines.items() if not isnan(true[1]) and not _one_side(line, figures, true)]
    unsure = {*crossed, *moved}
    above = [name for name in lines if name not in unsure and figures[1] >= lines[name]]
    if "fair" not in unsure and not above:
        return "below fair", ""
    if not unsure:
        return above[-1], ""
    cause = "the interval holds" if crossed else "the tagger's own errors could move it over"
    names = " and ".join(f"{name} ({lines[name]:g})" for name in crossed or moved)
    why = f"{cause} the line{'s' if len(crossed or moved) > 1 else ''} of {names}"
    return ("fair or better" if above else ""), why


def _one_side(line: float, figures: tuple[float, float, float], true: tuple[float, float, float]) -> bool:
    """Whether both intervals lie above a line, or both below."""
    return min(figures[1], true[1]) >= line or max(figures[2], true[2]) < line


def _sentence(
    summary: Summary,
    counts: tuple[int, int],
    figures: tuple[float, float, float],
    true: tuple[float, float, float],
    verdict: tuple[str, str],
) -> str:
    """Say a ratio or per cent in words."""
    unit, digits = ("%", 0) if summary.kind == "percent" else ("", 2)
    value, low, high = (f"{one:.{digits}f}{unit}" for one in figures)
    said = (
        f"{summary.title}: {value} ({low} to {high}), {counts[0]} {summary.words[0]} and {counts[1]} {summary.words[1]}"
    )
    if not isnan(true[0]):
        said += f"; corrected for the tagger's known errors {true[0]:.2f} ({true[1]:.2f} to {true[2]:.2f})"
    band, why = verdict
    if isnan(summary.fair):
        judged = "The manual has no bands for it"
    elif band:
        judged = f"{band[0].upper()}{band[1:]}" + (f", and not known to be good, as {why}" if why else "")
    else:
        judged = f"No band, as {why}"
    return ". ".join(one for one in (said, judged, summary.remark) if one) + "."
