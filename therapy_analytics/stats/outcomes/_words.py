"""What courses and outcomes say, in words: for whoever supervises, and a paragraph for a paper."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.core.printable import counted
from therapy_analytics.stats.compare.phrases import listed, p_phrase, p_value, spaced
from therapy_analytics.stats.outcomes._associations import ADJUSTED, BETTER
from therapy_analytics.stats.outcomes._associations import WORSE as WORSE_SCORE
from therapy_analytics.stats.outcomes._course import IMPROVED, NO_CHANGE, WORSE, last_changes
from therapy_analytics.stats.outcomes._join import DANGER, Joined
from therapy_analytics.stats.outcomes._levels import CLIENTS, COUNSELORS, WITHIN
from therapy_analytics.stats.outcomes._relate import Related
from therapy_analytics.stats.outcomes._scales import Scale

_MOST_CLIENTS = 40
_LEVEL = 0.05
_TARGETS = {
    "session": "the {scale} of the session",
    "next": "the {scale} of the next session given this one",
    "change": "the last {scale} given the first",
}
_MOST_FINDINGS, _MOST_NUMBERS = 3, 6
NOTHING = "No measure of the talk is shown to go with the scores."
SLOPES = (
    "Slopes are standard deviations of the score for each standard deviation of the measure, both among what is "
    "compared; those in bold have a q below .05 and are claimed."
)
TAGGER_ERROR = (
    "No interval here holds the tagger's error, except those from codes by people (--gold). In simulated studies with "
    "the known errors of the accurate tagger, slopes within clients on the rates that it counts were .86 (questions), "
    ".57 (reflections), .55 (input), .26 (change talk) and .25 (sustain talk) of the slopes on true rates, and their "
    "95% intervals held these in 88, 36, 43, 6 and 15% of the studies. Where the tagger errs more when scores are "
    "high, slopes can be nearly twice the true ones."
)
"""What stands beside all slopes: ``benchmarks/outcomes_coverage.py``, table ``tagger``."""
HOW_TO_READ = """
- *Reliable change* (Jacobson and Truax): a change since the client's first score that error of measurement alone \
would seldom give an unchanged client. It is about the score and says nothing of what caused it.
- Within clients: sessions in which a client's talk had more of something than in the client's other sessions. Between \
clients: clients whose talk has more of it on average. Between counselors: the same of counselors.
- That two things go together does not make one the cause of the other. Sicker clients may be asked more.
- Codes are a machine's, and none of this rates a person: it is for whoever made it, to look at what happened there.
""".strip()


def summary(
    data: Joined,
    course: pd.DataFrame,
    found: Related,
    recipe: Mapping[str, Any],
) -> str:
    """Return the whole of ``outcomes.md``.

    Parameters
    ----------
    data : Joined
        Sessions with scores and measures.
    course : DataFrame
        As ``course.csv``.
    found : Related
        What goes with what.
    recipe : mapping of str to object
        How it was made.
    """
    lines = ["# Courses and outcomes", "", who(data), "", *(f"- {note}" for note in (*data.notes, TAGGER_ERROR)), ""]
    lines += ["## In short", "", *(f"- {one}" for one in in_short(data, course, found)), ""]
    lines += _clients(data, course)
    lines += _claims(data, found.table)
    sections = {
        "With the sessions that people coded": found.by_hand,
        "What does not go together": found.absent,
        "What cannot be told": found.open,
    }
    for title, told in sections.items():
        lines += [f"## {title}", "", *(f"- {one}" for one in told), ""] if told else []
    lines += ["## For a paper", "", paragraph(data, course, found, recipe), ""]
    lines += ["## Scales", "", *(f"- {_scale(one)}" for one in data.scales), ""]
    return "\n".join([*lines, "## How to read this", "", HOW_TO_READ, ""])


def _scale(one: Scale) -> str:
    """Return what is taken as a reliable change and as the cutoff of a scale, and where that comes from."""
    change = "no change is called reliable"
    if np.isfinite(one.reliable):
        change = f"a change of {one.reliable:.3g} points or more is called reliable"
    cutoff = f"; cutoff {one.cutoff:g}" if np.isfinite(one.cutoff) else ""
    return f"{one.label}: {change}{cutoff}. {f'{one.source}.' if one.source else 'The numbers are yours.'}"


def who(data: Joined) -> str:
    """Return how many sessions, clients and scores there are, in a sentence, and who counts as a client."""
    known = data.table[data.table["client"] != ""]
    counselors = known.loc[known["counselor"] != "", "counselor"].nunique()
    by = f" with {counted(counselors, 'counselor')}" if counselors else ""
    scores = [
        f"{one.label} ({one.better} is better), {counted(int(data.table[one.name].notna().sum()), 'score')}"
        for one in data.scales
    ]
    sentence = f"{counted(len(data.recorded), 'session')} of {counted(data.n_clients, 'client')}{by}."
    if data.n_shared:
        was = "was" if data.n_shared == 1 else "were"
        sentence += (
            f" {data.n_shared} of the clients {was} seen by more than one counselor: in all that follows, each of the "
            f"{known['client'].nunique()} pairs of client and counselor counts as a client, with a course of its own."
        )
    return f"{sentence} {'; '.join(scores)}."


def in_short(data: Joined, course: pd.DataFrame, found: Related) -> list[str]:
    """Return the sentences to read first: who got worse, where danger was, what goes with what."""
    lines = [one for scale in data.scales for one in _changed(last_changes(course, scale), scale)]
    if DANGER in course:
        marked = course.loc[course[DANGER] > 0, "session_id"]
        names = listed([escaped(one) for one in marked])
        n = counted(len(marked), "session")
        where = f"In {n} turns are marked that may be about danger: {names}. Read these first."
        lines += [where] if names else []
    more = len(found.found) - _MOST_FINDINGS
    told = [f"{counted(more, 'more association')} in outcomes.md."] if more > 0 else []
    return [*lines, *(found.found[:_MOST_FINDINGS] or [NOTHING]), *told]


def _changed(last: pd.DataFrame, scale: Scale) -> list[str]:
    """Return who changed reliably on a scale by the last score."""
    if last.empty:
        return [f"No client has two scores of the {scale.label}: of change nothing can be said."]
    if not np.isfinite(scale.reliable):
        return [f"How large a reliable change of the {scale.label} is, is not known: --scales can say it."]
    if len(last) == 1:
        client, change, words = last.iloc[0][["client", "change", "reliable"]]
        return [f"{escaped(client)}, {scale.label}, last score against first: {change:+.3g} points, {words}."]
    n = {word: int((last["reliable"] == word).sum()) for word in (IMPROVED, WORSE, NO_CHANGE)}
    worse = listed([escaped(one) for one in last.loc[last["reliable"] == WORSE, "client"]])
    alone = len(last) * scale.by_error / 2
    error = f" Had none changed, error of measurement alone would make {alone:.1f} worse." if alone > 0 else ""
    named = f" ({worse})" if worse else ""
    text = (
        f"{scale.label}, last score against first, {counted(len(last), 'client')}: {n[IMPROVED]} reliably improved, "
        f"{n[WORSE]} reliably worse{named}, {n[NO_CHANGE]} without reliable change (of {scale.reliable:.3g} points)."
    )
    return [text + error]


def _clients(data: Joined, course: pd.DataFrame) -> list[str]:
    """Return a table of clients: sessions, and for each scale the first and last score and what that change is."""
    lines: list[str] = []
    for scale in data.scales:
        last = last_changes(course, scale).sort_values("client", kind="stable")
        if last.empty:
            continue
        scored = course[course[scale.name].notna()].groupby("client", sort=False)[scale.name]
        first = scored.first()
        lines += [f"| {scale.label} | scores | first | last | since the first |", "| --- | ---: | ---: | ---: | --- |"]
        for row in last[:_MOST_CLIENTS].to_dict("records"):
            start = float(first[row["client"]])
            words = row["reliable"] or f"{row['change']:+.3g}"
            end = start + float(row["change"])
            lines.append(f"| {escaped(row['client'])} | {row['n']} | {start:.3g} | {end:.3g} | {words} |")
        more = len(last) - _MOST_CLIENTS
        lines += ["", *([f"{more} more stand in course.csv.", ""] if more > 0 else [])]
    return ["## Clients", "", *lines] if lines else []


def _claims(data: Joined, table: pd.DataFrame) -> list[str]:
    """Return a table of the associations that are claimed, the surest of each kind first."""
    keys = ["scale", "target", "level", "measure"]
    claimed = table[table["finding"].isin((BETTER, WORSE_SCORE))]
    if claimed.empty:
        return []
    labels = {one.name: one.label for one in data.scales}
    units = {WITHIN: "sessions of one client", CLIENTS: "clients", COUNSELORS: "counselors"}
    head = ["Compared", "Measure", "Score", "Slope [95% interval]", "q", "Length held constant", "Sessions, clients"]
    lines = [f"| {' | '.join(head)} |", "| --- | --- | --- | --- | --- | --- | --- |"]
    some = table.merge(claimed[keys].drop_duplicates(), on=keys).sort_values("q", kind="stable")
    each = {tuple(map(str, key)): rows.to_dict("records") for key, rows in some.groupby(keys, sort=False)}
    for key in sorted(each, key=lambda one: (list(labels).index(one[0]), list(units).index(one[2]), one[1])):
        scale, target, level, measure = key
        rows = {str(row["adjusted"]): row for row in each[key]}
        plain, held = rows.get(""), rows.get(ADJUSTED)
        about = each[key][0]
        cells = [units[level], spaced(measure), _TARGETS[target].format(scale=labels[scale]), _slope(plain)]
        cells += [p_value(plain["q"]) if plain else "", _slope(held), f"{about['n_sessions']}, {about['n_clients']}"]
        lines.append(f"| {' | '.join(cells)} |")
    return ["## What goes with what", "", SLOPES, "", *lines, ""]


def _slope(row: Mapping[Hashable, Any] | None) -> str:
    """Return a slope with its interval, in bold where it is claimed; empty where there is none."""
    if row is None or not np.isfinite(row["slope"]):
        return ""
    text = f"{row['slope']:+.2f} [{row['lo']:+.2f}, {row['hi']:+.2f}]"
    return f"**{text}**" if row["finding"] in (BETTER, WORSE_SCORE) else text


def paragraph(
    data: Joined,
    course: pd.DataFrame,
    found: Related,
    recipe: Mapping[str, Any],
) -> str:
    """Return methods and results as a paper has them, to be checked and shortened."""
    lines = [
        f"Transcripts were coded with therapy-analytics {recipe['therapy_analytics']} ({recipe['tagger']}). {who(data)}"
    ]
    for scale in data.scales:
        last = last_changes(course, scale)
        if len(last) and np.isfinite(scale.reliable):
            n = {word: int((last["reliable"] == word).sum()) for word in (IMPROVED, WORSE)}
            lines.append(
                f"By the last score of the {scale.label}, {n[IMPROVED]} of {counted(len(last), 'client')} had improved "
                f"and {n[WORSE]} were worse by {scale.reliable:.3g} points or more (source: see Scales)."
            )
    lines.append(methods(data, found))
    lines.append(_results(data, found.table))
    return " ".join(lines)


def methods(data: Joined, found: Related) -> str:
    """Return how associations were computed, in a few sentences."""
    tests = int(found.table["p"].notna().sum())
    return (
        f"Each of {counted(len(data.measures), 'measure')} of the talk was divided into its deviations within clients, "
        "between clients and between counselors, and related to the score of the session, to that of the next session "
        "given this one, and to the last score given the first: within clients by least squares with an intercept for "
        "each client, the trend over sessions held constant (their number, its logarithm, and a level for each number "
        "that ten sessions have), and cluster-robust errors (CR2); between them by mixed models with random intercepts "
        "of clients and counselors (restricted maximum likelihood), number and logarithm held constant; degrees of "
        "freedom are Satterthwaite's. All was done with and without the length of the session held constant; slopes "
        f"are standardised, q is adjusted for all {tests:,} tests (Benjamini-Hochberg), and the error of the tagger is "
        "not in these numbers."
    )


def escaped(name: object) -> str:
    """Return a name with the characters of Markdown escaped."""
    return re.sub(r"([*<>|`\[\]\\_])", r"\\\1", " ".join(str(name).split()))


def _t(row: Mapping[Hashable, Any]) -> float:
    """Return t of a slope, from its interval."""
    error = float(row["hi"] - row["lo"]) / 2 / float(stats.t.ppf(0.975, row["df"]))
    return float(row["slope"]) / error


def _results(data: Joined, table: pd.DataFrame) -> str:
    """Return the claimed associations, the smallest q first, as papers write them."""
    rows = table[(table["adjusted"] == "") & (table["q"] < _LEVEL)].sort_values("q", kind="stable")
    if rows.empty:
        return "No association was significant (q < .05)."
    labels = {one.name: one.label for one in data.scales}
    told = [
        f"{spaced(row['measure'])} and {_TARGETS[row['target']].format(scale=labels[row['scale']])} "
        f"{spaced(row['level'])}, b = {row['slope']:.2f} [{row['lo']:.2f}, {row['hi']:.2f}], "
        f"t({row['df']:.0f}) = {_t(row):.2f}, {p_phrase('p', row['p'])}, {p_phrase('q', row['q'])}"
        for row in rows[:_MOST_NUMBERS].to_dict("records")
    ]
    more = f"; {len(rows) - _MOST_NUMBERS} more are in the table" if len(rows) > _MOST_NUMBERS else ""
    return f"Associations with q < .05, with 95% intervals: {'; '.join(told)}{more}."
