"""What the measures of questions are worth: ``python -m benchmarks.questions --data DATA [--unseen FILE.csv]``.

``DATA`` holds the corpora ``annomi``, ``hlqc``, ``mibot`` and ``mindeval``. The file of ``--unseen`` holds
probabilities
of AnnoMI's codes from taggers that were trained without the recording, beside the human codes.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks._corpora import of_quality, sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.behaviours import load_tagger, with_codes
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process._question_links import QuestionLinks, links, links_to, runs, takes_up
from therapy_analytics.measures.process._questions import questions
from therapy_analytics.measures.process.push_or_ease import push_or_ease
from therapy_analytics.measures.process.question_quality import question_quality
from therapy_analytics.measures.process.socratic_questions import socratic_questions
from therapy_analytics.session import Session

MEASURED = (socratic_questions, question_quality, push_or_ease)
RATERS = tuple(f"criterion{i}.responses" for i in ("_1", "_2", "_3", "_4", "_6", "_7", "_8", "_9", "_10", "11"))
ABOUT_QUESTIONS = re.compile(
    r"\b\d+ question|(?:too many|multiple|several|two|three|compound|stacked|double|a lot of|so many) (?:\w+ )?question"
    r"|multi-?part|pepper\w*|questions?\b.{0,40}\b(?:in|at) (?:one|once)|question stacking|more than one question",
    re.IGNORECASE,
)
TURN = re.compile(r"\bturns?[ #]*(\d+)", re.IGNORECASE)
SHUFFLES, DRAWS, FEWEST = 20, 1000, 5


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--unseen", type=Path)
    options = parser.parse_args()
    unseen = None if options.unseen is None else pd.read_csv(options.unseen, low_memory=False)
    print("### The client's turns shuffled\n")
    print(markdown(shuffled(options.data)))
    print("\n### High and low quality: AUC [95 % interval]\n")
    print(markdown(quality(options.data, unseen)))
    if unseen is not None:
        print("\n### Open and closed questions, turns of AnnoMI, by people\n")
        print(markdown(open_questions(options.data, unseen)))
    print("\n### Four human raters, mindeval: Spearman's rho [95 % interval], Holm's p\n")
    print(markdown(rated(options.data)))
    print("\n### Turns that raters named for several questions\n")
    print(markdown(named(options.data)))


def coded(sessions: Sequence[Session]) -> list[AnnotatedSession]:
    """Return sessions with the fast tagger's codes."""
    tagger, matcher, found = load_tagger(), Matcher(builtin_lexicons()), []
    for start in range(0, len(sessions), 20):
        batch = annotate(sessions[start : start + 20], matcher)
        codes = tagger.predict(batch)
        found += [with_codes(one, codes, int(batch.starts[i]), ("therapist", "client")) for i, one in enumerate(batch)]
    return found


def values(session: AnnotatedSession) -> dict[str, float]:
    """Return the session columns of the three measures, without intervals."""
    found = {name: value for one in MEASURED for name, value in one(session).items() if np.ndim(value) == 0}
    return {name: float(value) for name, value in found.items() if not name.endswith(("_lo", "_hi"))}


def with_unseen(session: AnnotatedSession, unseen: pd.DataFrame) -> AnnotatedSession:
    """Return a session of AnnoMI with the codes of taggers that did not see its recording."""
    rows = unseen[(unseen["source"] == "annomi") & (unseen["session"] == f"annomi {session.session.id}")]
    p, decided = dict(session.probabilities), dict(session.decisions)
    if len(rows) != len(session):
        return session
    for code in load_tagger().codes:
        name, column = f"fast_{code.column}", code.column
        if name in rows and rows[name].notna().any() and column in decided:
            p[column] = rows[name].to_numpy()
            decided[column] = np.nan_to_num(p[column]) >= code.thresholds["balanced"]
    return replace(session, probabilities=p, decisions=decided)


def shuffled(data: Path) -> list[list[str]]:
    """Return how uptake, relevance and chains fare against the same client turns in another order."""
    rows = [["corpus", "sessions", "uptake", "relevance", "chains", "share in chains less shuffled"]]
    for name in ("annomi", "hlqc", "mibot"):
        found = [one for session in coded(sessions_of(data, name)) if (one := _against_shuffles(session)) is not None]
        table = np.array(found)
        own, by_chance = table[:, 0], table[:, 1]
        cells = [share(np.where(own[:, k] == by_chance[:, k], 0.5, own[:, k] > by_chance[:, k])) for k in range(3)]
        rows.append(
            [
                name,
                str(len(table)),
                *cells,
                f"{share(own[:, 2] - by_chance[:, 2], 3)} ({own[:, 2].mean():.3f}, {by_chance[:, 2].mean():.3f})",
            ]
        )
    return rows


def _against_shuffles(session: AnnotatedSession) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    found = links(session)
    if min(len(found.asked), found.n_client) < FEWEST:
        return None
    rng = np.random.default_rng(0)
    orders = [rng.permutation(found.n_client)[found.answered] for _ in range(SHUFFLES)]
    by_chance = np.mean([_linked(session, links_to(session, order)) for order in orders], axis=0)
    return _linked(session, found), tuple(by_chance.tolist())


def _linked(session: AnnotatedSession, found: QuestionLinks) -> tuple[float, ...]:
    chains = runs(session, found.asked[takes_up(found)])
    above = (float(np.nanmean(one[0])) for one in (found.words_excess, found.meaning_excess))
    return (*above, np.count_nonzero(chains >= 2) / len(found.asked))


def share(hits: np.ndarray, digits: int = 2) -> str:
    """Return a mean with its interval over draws of sessions."""
    low, high = _interval(lambda rows: float(np.mean(hits[rows])), len(hits))
    return f"{np.mean(hits):.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _interval(of: Callable[[np.ndarray], float], n: int) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    drawn = [of(rng.integers(n, size=n)) for _ in range(DRAWS)]
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def quality(data: Path, unseen: pd.DataFrame | None) -> list[list[str]]:
    """Return for each column how well it tells sessions of high from those of low quality."""
    tables = {}
    for name in ("annomi", "hlqc"):
        for which, sessions in of_quality(data, name).items():
            read = coded(sessions)
            if name == "annomi" and unseen is not None:
                read = [with_unseen(one, unseen) for one in read]
            tables[name, which] = pd.DataFrame([values(one) for one in read])
    rows = [["column", *(f"{name}: high, low, AUC" for name in ("annomi", "hlqc"))]]
    for column in map(str, tables["annomi", "high"]):
        if not column.startswith("n_"):
            pairs = [
                (tables[name, "high"][column].dropna(), tables[name, "low"][column].dropna())
                for name in ("annomi", "hlqc")
            ]
            rows.append([column, *(_auc(high.to_numpy(), low.to_numpy()) for high, low in pairs)])
    return rows


def _auc(high: np.ndarray, low: np.ndarray) -> str:
    if min(len(high), len(low)) < FEWEST:
        return ""
    rng = np.random.default_rng(0)
    drawn = [_above(rng.choice(high, len(high)), rng.choice(low, len(low))) for _ in range(DRAWS // 2)]
    a, b = np.percentile(drawn, [2.5, 97.5])
    return f"{high.mean():.3f}, {low.mean():.3f}, {_above(high, low):.2f} [{a:.2f}, {b:.2f}]"


def _above(high: np.ndarray, low: np.ndarray) -> float:
    return float(stats.mannwhitneyu(high, low).statistic / (len(high) * len(low)))


def open_questions(data: Path, unseen: pd.DataFrame) -> list[list[str]]:
    """Return agreement with people on open and closed: by form alone, and by taggers that did not see the recording."""
    found = []
    for session in coded(sessions_of(data, "annomi")):
        rows = unseen[(unseen["source"] == "annomi") & (unseen["session"] == f"annomi {session.session.id}")]
        if len(rows) != len(session):
            continue
        own, by_form = questions(session), np.zeros(len(session), dtype=bool)
        by_form[own.turn_of[own.is_open]] = True
        is_open, closed = (rows[f"truth_mi_question_{kind}"].to_numpy() >= 0.5 for kind in ("open", "closed"))
        theirs = rows["fast_mi_question_open"].to_numpy() > rows["fast_mi_question_closed"].to_numpy()
        known = (is_open != closed) & session.spoken_by("therapist") & (rows["truth_mi_question"].to_numpy() >= 0.5)
        group = str(session.session.metadata["source_group"])
        found += [(group, is_open[i], by_form[i], theirs[i]) for i in np.flatnonzero(known)]
    table = pd.DataFrame(found, columns=["group", "people", "form", "tagger"])
    cells = [[name, str(len(table)), _kappa(table, name)] for name in ("form", "tagger")]
    return [["by", "turns", "kappa [95 % interval]"], *cells]


def _kappa(table: pd.DataFrame, name: str) -> str:
    counts = table.assign(both=table["people"] & table[name]).groupby("group")
    sums = counts[["people", name, "both"]].sum().assign(n=counts.size()).to_numpy(dtype=float)

    def kappa(rows: np.ndarray) -> float:
        people, machine, both, n = sums[rows].sum(axis=0)
        agreed = (n - people - machine + 2 * both) / n
        by_chance = (people * machine + (n - people) * (n - machine)) / n**2
        return float((agreed - by_chance) / (1 - by_chance))

    low, high = _interval(kappa, len(sums))
    return f"{kappa(np.arange(len(sums))):.2f} [{low:.2f}, {high:.2f}]"


def rated(data: Path) -> list[list[str]]:
    """Return the rank correlation of each column with the mean of the raters over all criteria."""
    lines = _mindeval(data)
    scores = np.array([np.mean([x for name in RATERS for x in (one.get(name) or []) if x]) for one in lines])
    table = pd.DataFrame([values(one) for one in coded(sessions_of(data, "mindeval"))])
    rows, tested = [["column", "n", "rho", "p, corrected"]], []
    for column in map(str, table):
        known = table[column].notna().to_numpy()
        if known.sum() >= 10 and table[column].nunique() > 2 and not column.startswith("n_"):
            tested.append((column, int(known.sum()), stats.spearmanr(table[column][known], scores[known])))
    p = np.array([float(one.pvalue) for *_, one in tested])
    holm = np.empty(len(p))
    order = np.argsort(p)
    holm[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    for (column, n, one), corrected in zip(tested, holm, strict=True):
        r = float(one.statistic)
        z, se = np.arctanh(r), np.sqrt((1 + r * r / 2) / (n - 3))
        rows.append(
            [
                column,
                str(n),
                f"{r:+.2f} [{np.tanh(z - 1.96 * se):+.2f}, {np.tanh(z + 1.96 * se):+.2f}]",
                f"{corrected:.2f}",
            ]
        )
    return rows


def _mindeval(data: Path) -> list[dict[str, Any]]:
    text = (data / "mindeval" / "sessions.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def named(data: Path) -> list[list[str]]:
    """Return how many things were asked in turns that raters named for several questions, and in all others."""
    flagged: list[tuple[float, float]] = []
    others: list[tuple[float, float]] = []
    sessions = 0
    for session, about in zip(coded(sessions_of(data, "mindeval")), _mindeval(data), strict=True):
        focus = np.asarray(question_quality(session)["question_focus_turn"])
        count = np.asarray(socratic_questions(session)["question_count_turn"])
        ours = np.flatnonzero(session.spoken_by("therapist"))
        numbers = _named_turns(about)
        sessions += bool(numbers)
        for number, turn in enumerate(ours.tolist(), start=1):
            (flagged if number in numbers else others).append((float(count[turn]), float(focus[turn])))
    a, b = (np.array(part, dtype=float).reshape(-1, 2) for part in (flagged, others))
    a, b = (part[~np.isnan(part[:, 0])] for part in (a, b))
    rows = [["therapist turns with a question", "n", "two or more questions", "questions, mean", "focus, mean"]]
    for name, part in (("named by a rater", a), ("others", b)):
        k = int((part[:, 0] >= 2).sum())
        means = part.mean(axis=0) if len(part) else (np.nan, np.nan)
        rows.append([name, str(len(part)), f"{k}", f"{means[0]:.2f}", f"{means[1]:.2f}"])
    rows.append([f"AUC of the count ({sessions} sessions with such comments)", "", "", _auc(a[:, 0], b[:, 0]), ""])
    return rows


def _named_turns(about: dict[str, Any]) -> set[int]:
    """Return the numbers of turns to which a comment on several questions belongs: the turn is named before it."""
    found: set[int] = set()
    for comment in about.get("score_justification.responses") or ():
        for part in re.split(r"\n|(?=\bturn[ #]*\d)", comment or "", flags=re.IGNORECASE):
            if ABOUT_QUESTIONS.search(part):
                found |= {int(number) for number in TURN.findall(part)[:1]}
    return found


if __name__ == "__main__":
    main()
