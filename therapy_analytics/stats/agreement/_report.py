"""The agreement in words that a methods section can cite: of the machine with people, and of two people."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import pandas as pd

from therapy_analytics.core.printable import counted
from therapy_analytics.stats.agreement.coefficients import (
    FEWEST_CLUSTERS,
    FEWEST_POSITIVES,
    FEWEST_TURNS,
    short,
    with_interval,
)
from therapy_analytics.stats.code_labels import SETS

PACKAGES = ("therapy-analytics", "numpy", "scipy", "pandas")
WEIGHTED = (
    "The turns were drawn with known probabilities (column inclusion), most often where the machine is unsure. Each "
    "counts 1 / inclusion, so that this is the agreement on all turns that could be drawn."
)
RARE = 0.1
"""Below this prevalence kappa is low even where nearly all turns agree: a remark says so."""
_OF_ONE_VALUE = frozenset({"precision", "recall", "f1", "ece"})
"""Statistics that sets of codes do not have."""
_HEADS = {
    "among": "kind of",
    "n_turns": "turns",
    "n_sessions": "sessions",
    "n_clusters": "clusters",
    "n_reference": "people: yes",
    "n_other": "machine: yes",
    "n_first": "first: yes",
    "n_second": "second: yes",
    "n_both": "both: yes",
    "n_differ": "differ",
    "cross_validated_kappa": "cross-validated kappa",
    "ac1": "AC1",
    "f1": "F1",
    "ece": "ECE",
    "human_mean": "people, mean",
    "machine_mean": "machine, mean",
    "icc": "ICC(2,1)",
    "mean_difference": "machine less people",
    "limit_low": "lower limit",
    "limit_high": "upper limit",
    "n_turns_shared": "turns of several coders",
    "n_human_pairs": "pairs of people",
    "human_kappa_mean": "kappa of people, mean",
    "human_range": "their range",
    "machine_kappa_mean": "kappa of machine with people, mean",
    "machine_range": "its range",
    "kappa_difference": "machine less people",
    "alpha_with_machine": "alpha with the machine",
    "machine_is": "the machine is",
}
"""What columns are called in the report, where not as in the tables."""
_CODES = (
    "code among n_turns n_sessions n_clusters n_reference n_other n_both agreement kappa cross_validated_kappa ac1 "
    "precision recall f1 ece"
)
_SESSIONS = "code n_sessions human_mean machine_mean icc mean_difference limit_low limit_high"
_BESIDE = (
    "code n_turns_shared n_human_pairs human_kappa_mean human_range machine_kappa_mean machine_range kappa_difference "
    "alpha alpha_with_machine machine_is"
)
_CODERS = "code among n_turns n_sessions n_first n_second n_both n_differ agreement kappa ac1 alpha f1"
_METHODS = """
- Unit: the turn (all that one speaker says until the other speaks). A code is 0 or 1; turns that a coder did not code
  are left out pairwise. The sets {sets} are nominal; of several decided codes the machine's is the most probable.
- Most people: the value that more coders gave than any other; ties are left out. With one coder, that coder.
- Kappa: Cohen's (1960), unweighted, two coders. AC1: Gwet's (2008), unweighted, two coders.
- Alpha: Krippendorff's (2019) for nominal data and any number of coders, on turns that two or more people coded.
- Precision, recall and F1 of the value 1, people being the reference.
- Of a kind of a code, such as an open question, everything but precision, recall, F1, ECE and cross-validated kappa is
  of the turns to which both gave the code: that both saw no question is no agreement on open questions.
- No kappa, AC1 or alpha of fewer than {turns} turns: a single turn would move them by tenths. No kappa or alpha where a
  coder gave the code, or no code, to fewer than {positives} turns. Counts are of turns, not weighted.
- ECE: calibration error, the root of the mean squared distance between probability and share coded by most people over
  ten bins of about equally many turns, each square less its sampling variance over clusters (Kumar, Liang & Ma, 2019),
  so that perfect probabilities give 0 on average.
- ICC(2,1): two-way random effects, absolute agreement, single rater (Shrout & Fleiss, 1979), of the machine's rate and
  that of most people on the same turns of each session.
- Limits of agreement: mean difference plus and minus 1.96 standard deviations (Bland & Altman, 1986). Sessions with few
  coded turns spread them.
- Intervals in brackets, 95 %: over clusters as named above, Student's t with clusters less one degrees of freedom and
  the jackknife's standard error (each cluster left out in turn; Efron & Stein, 1981), taken in the logit of the
  statistic between its minimum and 1, differences as they stand. None with fewer than {fewest} clusters, where one
  cluster alone defines a statistic, or where all clusters agree wholly. They hold for other clusters, not other coders.
- Machine less people: mean kappa of the machine with each person less the mean kappa of pairs of people, same turns.
- Within the range of people: the machine's mean kappa lies between the lowest and the highest kappa of two people. Of
  few turns that range is wide; look at the difference and its interval as well.
"""
_METHODS_OF_CODERS = f"""
- Unit: the turn. Turns that only one of the two coded are left out. The sets are nominal.
- Kappa: Cohen's (1960), unweighted. AC1: Gwet's (2008). Alpha: Krippendorff's (2019), nominal. F1 of the value 1.
- Of a kind of a code, such as an open question, everything but F1 is of the turns to which both gave the code: that
  both saw no question is no agreement on open questions.
- No kappa, AC1 or alpha of fewer than {FEWEST_TURNS} turns: a single turn would move them by tenths. No kappa or alpha
  where a coder gave the code, or no code, to fewer than {FEWEST_POSITIVES} turns. Counts are of turns, not weighted.
- Intervals in brackets, 95 %: over clusters as named above, Student's t with clusters less one degrees of freedom and
  the jackknife's standard error (each cluster left out in turn; Efron & Stein, 1981), in the logit of the statistic.
  None with fewer than {FEWEST_CLUSTERS} clusters, where one cluster alone defines a statistic, or where all agree
  wholly.
- This is the agreement before anything was settled, and the one to report.
""".strip()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a report tells besides numbers: who coded, and what was matched."""

    recipe: Mapping[str, Any]
    notes: Sequence[str]
    gold: Mapping[str, Any]


def report(codes: pd.DataFrame, sessions: pd.DataFrame, facts: Facts) -> str:
    """Return the report on machine and people as Markdown."""
    tagger = facts.recipe.get("tagger", {})
    machine = ", ".join(f"{key} {tagger[key]}" for key in ("kind", "name", "version", "aim") if key in tagger)
    about = "; ".join(f"{key}: {value}" for key, value in facts.gold.items())
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in PACKAGES)
    python = f"Python {platform.python_version()}, {versions}"
    recipe = ["## Recipe", _list([f"Machine: {machine or 'not recorded'}", f"Read: {about}", python])]
    head = ["# Agreement of the machine's codes with people's", _list(facts.notes)]
    if not codes["n_turns"].any():
        return "\n\n".join([*head, _table(codes, "code n_turns cross_validated_kappa"), *recipe]) + "\n"
    sets = " and ".join(f"{name} ({', '.join((*codes, rest))})" for name, (codes, rest) in SETS.items())
    parts = [
        *head,
        "## Codes: the machine against most people",
        _table(codes, _CODES),
        _list(_remarks(codes)),
        "## As good as another coder?",
        _beside(codes),
        "## Rates of sessions",
        _table(sessions, _SESSIONS, code="rate"),
        "## How each number was computed",
        _METHODS.format(sets=sets, turns=FEWEST_TURNS, positives=FEWEST_POSITIVES, fewest=FEWEST_CLUSTERS).strip(),
        *recipe,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(codes: pd.DataFrame, facts: Facts) -> list[str]:
    """Return what a person reads after the command: what was matched, and a line for each code."""
    lines = [*facts.notes, ""]
    width = max((len(str(code)) for code in codes["code"]), default=0)
    for row in codes.to_dict("records"):
        beside = f"cross-validated kappa {_cross_validated(row)}"
        if not row["n_turns"]:
            lines.append(f"{row['code']:<{width}}  {row['note']}; {beside}")
            continue
        people = ""
        if not pd.isna(row["human_kappa_mean"]):
            low, high, mean = map(short, (row["human_kappa_min"], row["human_kappa_max"], row["machine_kappa_mean"]))
            people = f"; people with each other {low} to {high}, machine with them {mean}"
        scores = {"kappa": "kappa", "ac1": "AC1"} | ({} if row["code"] in SETS else {"f1": "F1"})
        told = _in_a_line(row, ("people", "machine"), ("n_reference", "n_other"), scores)
        lines.append(f"{row['code']:<{width}}  {told}; {beside}{people}")
    return [*lines, "", *_remarks(codes)] if codes["n_turns"].any() else lines


def report_of_coders(table: pd.DataFrame, apart: pd.DataFrame, notes: Sequence[str], coders: tuple[str, str]) -> str:
    """Return the report on two people as Markdown; `apart` is what they differ on."""
    parts = [
        f"# Agreement of {coders[0]} (first) and {coders[1]} (second)",
        _list([*notes, _apart(apart)]),
        _table(table, _CODERS),
        "## How each number was computed",
        _METHODS_OF_CODERS,
    ]
    return "\n\n".join(parts) + "\n"


def summary_of_coders(table: pd.DataFrame, apart: pd.DataFrame, notes: Sequence[str]) -> list[str]:
    """Return what a person reads after the command: a line for each code, then where the two differ."""
    width = max((len(str(code)) for code in table["code"]), default=0)
    lines = []
    for row in table.to_dict("records"):
        who = str(row["first"]), str(row["second"])
        told = _in_a_line(row, who, ("n_first", "n_second"), {"kappa": "kappa", "ac1": "AC1"})
        lines.append(f"{row['code']:<{width}}  {told}")
    return [*notes, "", *lines, "", _apart(apart)]


def clusters_in_words(column: str, n: int) -> str:
    """Say over what the intervals are taken, and of how many."""
    names = {
        "session": f"{n} sessions, taken as independent (they name no counselors, recordings or clients that differ)",
        "source_group": f"{n} recordings (source_group)",
    }
    few = f"; none of fewer than {FEWEST_CLUSTERS}" if n < FEWEST_CLUSTERS else ""
    return f"Intervals are over {names.get(column, f'{n} {column}s')}{few}."


def _apart(apart: pd.DataFrame) -> str:
    turns = len(apart[["session_id", "turn"]].drop_duplicates())
    return f"They differ on {counted(len(apart), 'code')} of {counted(turns, 'turn')}: disagreements.csv."


def _in_a_line(row: Mapping[Any, Any], who: tuple[str, str], counts: tuple[str, str], scores: Mapping[str, str]) -> str:
    """Return how two coders agree on a code: on how many turns, how many each gave it, and these coefficients.

    What has no value is left out, as the note says why; where no turn differs, a coefficient of 1 says nothing more.
    """
    where = f" to which both gave {row['among']}" if row["among"] and row["n_turns"] else ""
    yes = ""
    if row["code"] not in SETS:
        given = [f"{one} {row[n]:,.0f}" for one, n in zip((*who, "both"), (*counts, "n_both"), strict=True)]
        yes = f", with it by {', '.join(given)}"
    told = [name for name in scores if row["n_differ"] and not pd.isna(row[name])]
    numbers = [f"{scores[name]} {with_interval(row, name)}" for name in told]
    return f"{row['n_turns']:,.0f} turns{where}{yes}: {', '.join([*filter(None, [row['note']]), *numbers])}"


def _list(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {one}" for one in sentences)


def _table(frame: pd.DataFrame, columns: str, **heads: str) -> str:
    """Return these columns as a Markdown table, numbers with their intervals."""
    names, called = columns.split(), _HEADS | heads
    rows = [[_cell(row, name) for name in names] for row in frame.to_dict("records")]
    lines = [[called.get(name, name) for name in names], ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(row: Mapping[Any, Any], name: str) -> str:
    value = row.get(name)
    if name in {"code", "machine_is", "human_range", "machine_range"}:
        return str(value) or "undefined"
    if name == "among":
        return "" if pd.isna(value) else str(value)
    if name.startswith("n_"):
        return "" if value is None or pd.isna(value) else f"{float(value):,.0f}"
    if name == "cross_validated_kappa":
        return _cross_validated(row)
    return "" if row.get("code") in SETS and name in _OF_ONE_VALUE else with_interval(row, name)


def _cross_validated(row: Mapping[Any, Any]) -> str:
    """Return the kappa on recordings that the tagger had not seen, with who coded them if these are not people."""
    if pd.isna(row["cross_validated_kappa"]):
        return "none"
    by = "" if row["cross_validated_by"] == "people" else f" (against a {row['cross_validated_by']})"
    return f"{short(row['cross_validated_kappa'])}{by}"


def _remarks(codes: pd.DataFrame) -> list[str]:
    """Say what a reader of the table could get wrong."""
    remarks = []
    for row in codes.to_dict("records"):
        n, positive = float(row["n_turns"]), float(row.get("n_reference", float("nan")))
        if n and positive / n < RARE and row["kappa"] < row["ac1"] - 0.2:
            same = f"Kappa {short(row['kappa'])} and AC1 {short(row['ac1'])} are the same data"
            why = f"most of the agreement is on turns without it. F1 is {with_interval(row, 'f1')}"
            remarks.append(f"{row['code']}: people gave it to {positive / n:.1%} of {n:,.0f} turns. {same}: {why}.")
    tied = codes[codes["n_tied"] > 0]
    if len(tied):
        which = ", ".join(f"{code} {int(n)}" for code, n in zip(tied["code"], tied["n_tied"], strict=True))
        remarks.append(f"Turns on which people were tied are left out: {which}.")
    few = codes[codes["n_clusters"] < FEWEST_CLUSTERS]
    if len(few):
        remarks.append(f"No interval over fewer than {FEWEST_CLUSTERS} clusters: {', '.join(few['code'])}.")
    noted = codes[codes["note"] != ""]
    return remarks + [f"{', '.join(own)}: {note}." for note, own in noted.groupby("note", sort=False)["code"]]


def _beside(codes: pd.DataFrame) -> str:
    own = codes[codes["n_human_pairs"] > 0].copy()
    if own.empty:
        return "One coder only: no range of people to compare with. Let two people code the same turns."
    for who in ("human", "machine"):
        ends = zip(own[f"{who}_kappa_min"], own[f"{who}_kappa_max"], strict=True)
        own[f"{who}_range"] = ["" if pd.isna(low) else f"{short(low)} to {short(high)}" for low, high in ends]
    counts = own["machine_is"].replace("", "undefined").value_counts()
    where = "; ".join(f"{words}: {n}" for words, n in counts.items())
    head = f"On the turns that at least two people coded. Codes for which the machine is {where}."
    return f"{head}\n\n{_table(own, _BESIDE, alpha='alpha of people')}"
