"""What courses and outcomes say, in words: for whoever supervises, and a paragraph for a paper."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.printable import counted
from therapy_analytics.stats.compare.phrases import listed, p_phrase, p_value, spaced
from therapy_analytics.stats.outcomes.associations import ADJUSTED, BETTER, BOUND, LEVEL, NONE, OPEN, WORSE
from therapy_analytics.stats.outcomes.corrected import SCORE_ON_RATE
from therapy_analytics.stats.outcomes.course import IMPROVED, NO_CHANGE, last_changes
from therapy_analytics.stats.outcomes.course import WORSE as RELIABLY_WORSE
from therapy_analytics.stats.outcomes.join import DANGER, Joined
from therapy_analytics.stats.outcomes.levels import (
    CHANGE,
    CLIENTS,
    CLIENTS_ALONE,
    COUNSELORS,
    NEXT,
    SESSION,
    SESSIONS_ALONE,
    WITHIN,
)
from therapy_analytics.stats.outcomes.scales import Scale

TAGGER_ERROR = (
    "No interval here holds the tagger's error, except those from codes by people (--gold). In simulated studies with "
    "the known errors of the accurate tagger, slopes within clients on the rates that it counts were .86 (questions), "
    ".57 (reflections), .55 (input), .26 (change talk) and .25 (sustain talk) of the slopes on true rates, and their "
    "95% intervals held these in 88, 36, 43, 6 and 15% of the studies. Where the tagger errs more when scores are "
    "high, slopes can be nearly twice the true ones."
)
"""What stands beside all slopes: ``benchmarks/outcomes_coverage.py``, table ``tagger``."""
NO_CAUSE = (
    "None of this says what caused what: a measure can go with a score because one follows the other, or because both "
    "follow something else, such as how unwell a client is."
)
NO_CHANGE_ALONE = (
    "Clients with the same first score are not equally well: scores vary from day to day. A measure of clients who are "
    "well all along goes with the last score, given the first, even if nobody changes."
)
HOW_TO_READ = """
- *Reliable change* (Jacobson and Truax): a change since the client's first score that error of measurement alone \
would seldom give an unchanged client. It is about the score and says nothing of what caused it.
- Within clients: sessions in which a client's talk had more of something than in the client's other sessions. Between \
clients: clients whose talk has more of it on average. Between counselors: the same of counselors.
- That two things go together does not make one the cause of the other. Sicker clients may be asked more.
- Codes are a machine's, and none of this rates a person: it is for whoever made it, to look at what happened there.
""".strip()
_UNITS = {WITHIN: "sessions of one client", CLIENTS: "clients", COUNSELORS: "counselors"}
_SCORES = {
    SESSION: "the session's {scale}",
    NEXT: "the next session's {scale}, given this one's",
    CHANGE: "the last {scale}, given the first",
}
_SCORES_IN_PAPERS = {
    SESSION: "the {scale} of the session",
    NEXT: "the {scale} of the next session given this one",
    CHANGE: "the last {scale} given the first",
}
_MOST_FINDINGS, _MOST_NUMBERS, _MOST_CLIENTS = 3, 6, 40
Row = Mapping[Hashable, Any]


def summary(
    data: Joined,
    course: pd.DataFrame,
    table: pd.DataFrame,
    told: OutcomeFindings,
    by_hand: Sequence[str],
    recipe: Mapping[str, Any],
) -> str:
    """Return the whole of ``outcomes.md``.

    Parameters
    ----------
    data : Joined
        Sessions with scores and measures.
    course, table : DataFrame
        As ``course.csv`` and ``associations.csv``.
    told : OutcomeFindings
        As `findings` returns it.
    by_hand : sequence of str
        As `with_people`.
    recipe : mapping of str to object
        How it was made.
    """
    lines = ["# Courses and outcomes", "", who(data), "", *(f"- {note}" for note in (*data.notes, TAGGER_ERROR)), ""]
    lines += ["## In short", "", *(f"- {one}" for one in in_short(data, course, told)), ""]
    lines += [*_clients(data, course), *_claims_table(data, table)]
    sections = {
        "With the sessions that people coded": by_hand,
        "What does not go together": told.absent,
        "What cannot be told": told.open,
    }
    for title, sentences in sections.items():
        lines += [f"## {title}", "", *(f"- {one}" for one in sentences), ""] if sentences else []
    lines += ["## For a paper", "", _paragraph(data, course, table, recipe), "", "## Scales", ""]
    for one in data.scales:
        change = "no change is called reliable"
        if np.isfinite(one.reliable):
            change = f"a change of {one.reliable:.3g} points or more is called reliable"
        cutoff = f"; cutoff {one.cutoff:g}" if np.isfinite(one.cutoff) else ""
        lines.append(f"- {one.label}: {change}{cutoff}. {f'{one.source}.' if one.source else 'The numbers are yours.'}")
    return "\n".join([*lines, "", "## How to read this", "", HOW_TO_READ, ""])


def who(data: Joined) -> str:
    """Return how many sessions, clients and scores there are, in a sentence, and who counts as a client."""
    known = data.table[data.table["client"] != ""]
    counselors = known.loc[known["counselor"] != "", "counselor"].nunique()
    by = f" with {counted(counselors, 'counselor')}" if counselors else ""
    recorded = int((data.table["session_id"] != "").sum())
    sentence = f"{counted(recorded, 'session')} of {counted(data.n_clients, 'client')}{by}."
    if data.n_shared:
        was = "was" if data.n_shared == 1 else "were"
        sentence += (
            f" {data.n_shared} of the clients {was} seen by more than one counselor: in all that follows, each of the "
            f"{known['client'].nunique()} pairs of client and counselor counts as a client, with a course of its own."
        )
    scores = [
        f"{one.label} ({one.better} is better), {counted(int(data.table[one.name].notna().sum()), 'score')}"
        for one in data.scales
    ]
    return f"{sentence} {'; '.join(scores)}."


def in_short(data: Joined, course: pd.DataFrame, told: OutcomeFindings) -> list[str]:
    """Return the sentences to read first: who got worse, where danger was, what goes with what."""
    lines = [_changed(last_changes(course, scale), scale) for scale in data.scales]
    marked = course.loc[course[DANGER] > 0, "session_id"] if DANGER in course else ()
    if len(marked):
        names = listed([escaped(one) for one in marked])
        n = counted(len(marked), "session")
        lines.append(f"In {n} turns are marked that may be about danger: {names}. Read these first.")
    lines += told.found[:_MOST_FINDINGS] or ["No measure of the talk is shown to go with the scores."]
    more = len(told.found) - _MOST_FINDINGS
    return [*lines, *([f"{counted(more, 'more association')} in outcomes.md."] if more > 0 else [])]


def _changed(last: pd.DataFrame, scale: Scale) -> str:
    """Return who changed reliably on a scale by the last score."""
    if last.empty:
        return f"No client has two scores of the {scale.label}: of change nothing can be said."
    if not np.isfinite(scale.reliable):
        return f"How large a reliable change of the {scale.label} is, is not known: --scales can say it."
    if len(last) == 1:
        client, change, words = last.iloc[0][["client", "change", "reliable"]]
        return f"{escaped(client)}, {scale.label}, last score against first: {change:+.3g} points, {words}."
    n = last["reliable"].value_counts()
    worse = listed([escaped(one) for one in last.loc[last["reliable"] == RELIABLY_WORSE, "client"]])
    alone = len(last) * scale.by_error / 2
    error = f" Had none changed, error of measurement alone would make {alone:.1f} worse." if alone > 0 else ""
    return (
        f"{scale.label}, last score against first, {counted(len(last), 'client')}: {n.get(IMPROVED, 0)} "
        f"reliably improved, {n.get(RELIABLY_WORSE, 0)} reliably worse{f' ({worse})' if worse else ''}, "
        f"{n.get(NO_CHANGE, 0)} without reliable change (of {scale.reliable:.3g} points).{error}"
    )


def _clients(data: Joined, course: pd.DataFrame) -> list[str]:
    """Return a table of clients: sessions, and for each scale the first and last score and what that change is."""
    lines: list[str] = []
    for scale in data.scales:
        last = last_changes(course, scale).sort_values("client", kind="stable")
        if last.empty:
            continue
        lines += [f"| {scale.label} | scores | first | last | since the first |", "| --- | ---: | ---: | ---: | --- |"]
        for row in last[:_MOST_CLIENTS].to_dict("records"):
            start, words = float(row["first"]), row["reliable"] or f"{row['change']:+.3g}"
            end = start + float(row["change"])
            lines.append(f"| {escaped(row['client'])} | {row['n']} | {start:.3g} | {end:.3g} | {words} |")
        more = len(last) - _MOST_CLIENTS
        lines += ["", *([f"{more} more stand in course.csv.", ""] if more > 0 else [])]
    return ["## Clients", "", *lines] if lines else []


def _claims_table(data: Joined, table: pd.DataFrame) -> list[str]:
    """Return a table of the associations that are claimed, by score and who is compared."""
    keys = ["scale", "target", "level", "measure"]
    claimed = table[table["finding"].isin((BETTER, WORSE))]
    if claimed.empty:
        return []
    labels = {one.name: one.label for one in data.scales}
    head = ["Compared", "Measure", "Score", "Slope [95% interval]", "q", "Length held constant", "Sessions, clients"]
    lines = [f"| {' | '.join(head)} |", "| --- | --- | --- | --- | --- | --- | --- |"]
    some = table.merge(claimed[keys].drop_duplicates(), on=keys).sort_values("q", kind="stable")
    each = {tuple(map(str, key)): rows.to_dict("records") for key, rows in some.groupby(keys, sort=False)}
    for key in sorted(each, key=lambda one: (list(labels).index(one[0]), list(_UNITS).index(one[2]), one[1])):
        scale, target, level, measure = key
        rows, about = {str(row["adjusted"]): row for row in each[key]}, each[key][0]
        plain = rows.get("")
        cells = [_UNITS[level], spaced(measure), _SCORES_IN_PAPERS[target].format(scale=labels[scale]), _slope(plain)]
        cells += [p_value(plain["q"]) if plain else "", _slope(rows.get(ADJUSTED))]
        cells.append(f"{about['n_sessions']}, {about['n_clients']}")
        lines.append(f"| {' | '.join(cells)} |")
    about_slopes = (
        "Slopes are standard deviations of the score for each standard deviation of the measure, both among what is "
        "compared; those in bold have a q below .05 and are claimed."
    )
    return ["## What goes with what", "", about_slopes, "", *lines, ""]


def _slope(row: Row | None) -> str:
    """Return a slope with its interval, in bold where it is claimed; empty where there is none."""
    if row is None or not np.isfinite(row["slope"]):
        return ""
    text = f"{row['slope']:+.2f} [{row['lo']:+.2f}, {row['hi']:+.2f}]"
    return f"**{text}**" if row["finding"] in (BETTER, WORSE) else text


def _paragraph(data: Joined, course: pd.DataFrame, table: pd.DataFrame, recipe: Mapping[str, Any]) -> str:
    """Return methods and results as a paper has them, to be checked and shortened."""
    lines = [
        f"Transcripts were coded with therapy-analytics {recipe['therapy_analytics']} ({recipe['tagger']}). {who(data)}"
    ]
    for scale in data.scales:
        last = last_changes(course, scale)
        if len(last) and np.isfinite(scale.reliable):
            improved, worse = (int((last["reliable"] == word).sum()) for word in (IMPROVED, RELIABLY_WORSE))
            lines.append(
                f"By the last score of the {scale.label}, {improved} of {counted(len(last), 'client')} had improved "
                f"and {worse} were worse by {scale.reliable:.3g} points or more (source: see Scales)."
            )
    tests = f"{int(table['p'].notna().sum()):,}"
    lines.append(
        f"Each of {counted(len(data.measures), 'measure')} of the talk was divided into its deviations within clients, "
        "between clients and between counselors, and related to the score of the session, to that of the next session "
        "given this one, and to the last score given the first: within clients by least squares with an intercept for "
        "each client, the trend over sessions held constant (their number, its logarithm, and a level for each number "
        "that ten sessions have), and cluster-robust errors (CR2); between them by mixed models with random intercepts "
        "of clients and counselors (restricted maximum likelihood), number and logarithm held constant; degrees of "
        "freedom are Satterthwaite's. All was done with and without the length of the session held constant; slopes "
        f"are standardised, q is adjusted for all {tests} tests (Benjamini-Hochberg), and the error of the tagger is "
        "not in these numbers."
    )
    rows = table[(table["adjusted"] == "") & (table["q"] < LEVEL)].sort_values("q", kind="stable")
    if rows.empty:
        return " ".join([*lines, "No association was significant (q < .05)."])
    labels = {one.name: one.label for one in data.scales}
    results = []
    for row in rows[:_MOST_NUMBERS].to_dict("records"):
        t = float(row["slope"]) / (float(row["hi"] - row["lo"]) / 2 / float(stats.t.ppf(0.975, row["df"])))
        results.append(
            f"{spaced(row['measure'])} and {_SCORES_IN_PAPERS[row['target']].format(scale=labels[row['scale']])} "
            f"{spaced(row['level'])}, b = {row['slope']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}], "
            f"t({row['df']:.0f}) = {t:.2f}, {p_phrase('p', row['p'])}, {p_phrase('q', row['q'])}"
        )
    more = f"; {len(rows) - _MOST_NUMBERS} more are in the table" if len(rows) > _MOST_NUMBERS else ""
    return " ".join([*lines, f"Associations with q < .05, with 95% intervals: {'; '.join(results)}{more}."])


def escaped(name: object) -> str:
    """Return a name with the characters of Markdown escaped."""
    return re.sub(r"([*<>|`\[\]\\_])", r"\\\1", " ".join(str(name).split()))


def with_people(corrected: pd.DataFrame, scales: Sequence[Scale], rests_on: str) -> list[str]:
    """Return a sentence for each measure that people coded (``corrected.csv``), and on what they rest."""
    labels, told = {one.name: one.label for one in scales}, []
    if corrected.empty:
        return []
    for row in corrected[corrected["direction"] == SCORE_ON_RATE].to_dict("records"):
        level = "within clients, with the trend held constant" if row["level"] == WITHIN else "between clients"
        what = f"{labels[row['scale']]} and {spaced(row['measure'])}, {level}"
        note = f"{row['note']}{'' if not row['note'] or row['note'].endswith('?') else '.'}"
        if isnan(row["lo"]):
            told.append(f"{what}: no slope, {note}")
            continue
        slope, low, high = (f"{row[name]:+.3g}" for name in ("slope", "lo", "hi"))
        told.append(
            f"{what}: {slope} points from a rate of 0 to 1 (95% interval {low} to {high}, {p_phrase('p', row['p'])}; "
            f"{row['n_gold']} of {row['n_sessions']} sessions with turns by hand), "
            f"where the machine's codes alone give {row['machine_slope']:+.3g}.{f' But {note}' if note else ''}"
        )
    return [*told, rests_on]


# What goes with what


@dataclass(frozen=True, slots=True)
class OutcomeFindings:
    """Sentences.

    Attributes
    ----------
    found : list of str
        One for each association that is claimed, the surest of a scale first.
    absent : list of str
        One for each scale, level and target with measures of which no association can be said.
    open : list of str
        What cannot be told, and why; that an association is no cause.
    """

    found: list[str]
    absent: list[str]
    open: list[str]


def findings(table: pd.DataFrame, scales: Sequence[Scale]) -> OutcomeFindings:
    """Say in sentences what goes with what, what does not, and what cannot be told.

    Parameters
    ----------
    table : DataFrame
        As `therapy_analytics.stats.outcomes.associations.associations` returns it.
    scales : sequence of Scale
        Its scales.
    """
    by_name, plain = {one.name: one for one in scales}, table[table["adjusted"] == ""]
    labels = {one.name: one.label for one in scales}
    found, keys = [], ["scale", "measure", "level", "target"]
    claimed = table[table["finding"].isin((BETTER, WORSE))].sort_values(["scale", "q", "p"], kind="stable")
    for key, rows in claimed.groupby(keys, sort=False):
        held = (table[keys] == list(key)).all(axis=1) & (table["adjusted"] == ADJUSTED) & table["p"].notna()
        found.append(_claim(rows.to_dict("records"), by_name[str(key[0])], asked=bool(held.any())))
    absent = [
        f"{where}: no association larger than {BOUND:.2f} SD with {listed([spaced(one) for one in rows['measure']])}."
        for where, rows in _places(plain[plain["finding"] == NONE], labels)
    ]
    open_ = list(_open(plain, labels))
    whole = plain[plain["target"] != NEXT]
    if len(whole) and WITHIN not in set(whole["level"]) and SESSION in set(whole["target"]):
        open_.append("Of the sessions of one client nothing can be said: too few clients have several.")
    if len(whole) and COUNSELORS not in set(whole["level"]):
        why = "too few have several clients, or are known"
        open_.append(f"Of differences between counselors nothing can be said: {why}.")
    if table.loc[table["target"] == CHANGE, "p"].notna().any():
        open_.append(NO_CHANGE_ALONE)
    return OutcomeFindings(found, absent, [*open_, NO_CAUSE])


def _places(rows: pd.DataFrame, labels: Mapping[str, str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the rows of each scale, level and target, with what these are in words."""
    for key, some in rows.groupby(["scale", "level", "target"], sort=False):
        scale, level, target = map(str, key)
        yield f"Between {_UNITS[level]}, {_SCORES[target].format(scale=labels[scale])}", some


def _open(plain: pd.DataFrame, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield where nothing can be said and why, and how many measures are inconclusive."""
    unknown: dict[tuple[str, str, str], list[str]] = {}
    for key, rows in plain.groupby(["level", "target", "scale"], sort=False):
        level, target, scale = map(str, key)
        if rows["p"].isna().all():
            unknown.setdefault((level, target, str(rows["note"].iloc[0])), []).append(labels[scale])
    for (level, target, why), some in unknown.items():  # scales of which the same is true stand together
        yield f"Between {_UNITS[level]}, {_SCORES[target].format(scale=listed(some))}: nothing can be said ({why})."
    for where, rows in _places(plain, labels):
        unsure = rows[rows["finding"] == OPEN]
        if len(unsure):
            reach = unsure[["lo", "hi"]].abs().max(axis=1).median()
            told = f"{len(unsure)} of {counted(len(rows), 'measure')} inconclusive"
            yield f"{where}: {told}; of half of these, associations of up to {reach:.2f} SD cannot be ruled out."


def _claim(rows: Sequence[Row], scale: Scale, *, asked: bool) -> str:
    """Return the sentence of a claimed association, and what the length does to it, where that was tested (`asked`)."""
    by_length = {str(row["adjusted"]): row for row in rows}
    row = by_length.get("") or by_length[ADJUSTED]
    measure = spaced(row["measure"])
    if row["level"] == COUNSELORS:
        where = f"Where counselors had higher {measure} than others"
    elif row["level"] == WITHIN:
        where = f"In sessions with higher {measure} than the client's others"
    else:
        units = "sessions" if SESSIONS_ALONE in row["note"] else "clients"
        of_one = " of the same counselor" if row["n_counselors"] > 1 and CLIENTS_ALONE not in row["note"] else ""
        where = f"Where {units} had higher {measure} than other {units}{of_one}"
    way = "better" if row["finding"] == BETTER else "worse"
    higher = "higher" if (way == "better") == scale.higher_is_better else "lower"
    score = _SCORES[row["target"]].format(scale=scale.label)
    q = f"= {row['q']:.3f}" if row["q"] >= 0.001 else "< 0.001"
    numbers = f"{row['slope']:+.2f} SD for each SD (95% interval {row['lo']:+.2f} to {row['hi']:+.2f}; q {q})"
    sentence = f"**{where}**, {score}{',' if ',' in score else ''} was {way} ({higher}): {numbers}."
    if "" not in by_length:
        return f"{sentence} It shows only with the length of the session held constant."
    held = by_length.get(ADJUSTED)
    if held and held["finding"] == row["finding"]:
        return f"{sentence} With the length of the session held constant: {held['slope']:+.2f}."
    return f"{sentence} With the length of the session held constant it is not shown." if asked else sentence
