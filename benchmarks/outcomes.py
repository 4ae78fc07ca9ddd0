"""What the columns have to do with what clients say and with skill: ``python -m benchmarks.outcomes --help``.

Needs the research corpora, the folders that ``tanalyze run`` wrote of KokoroChat and MIBot, and the file that
``tools/unseen_codes.py`` writes (AnnoMI and HLQC are measured anew, with codes of taggers that had not seen them):

    python -m benchmarks.outcomes --kokoro RUN --mibot RUN --unseen unseen.csv [--write]

prints as Markdown **what predicts** the client's score of a session of KokoroChat (typed role plays, in translation),
for counselors or clients that the regression had not seen, and the **ledger**: for each core measure what the clients'
ratings there say, what smokers' confidence in MIBot says, and what separates skilled from unskilled people. ``--write``
puts the ledger where the package reads it for ``codebook.csv``.

The regression is a ridge on standardised columns (numbers of things as log(1 + n), missing values at the mean beside a
column that says so), its penalty found within the training part: nothing of it was chosen by these results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import therapy_analytics as ta
from benchmarks._markdown import markdown
from therapy_analytics.measures import Column
from therapy_analytics.measures.base import all_columns
from therapy_analytics.measures.settings import Settings
from therapy_analytics.results.references import LEDGER, LEDGER_KINDS

ROOT = Path(__file__).resolve().parents[1]
Floats = NDArray[np.float64]
LENGTH = ("n_turns", "n_words_therapist", "n_words_client", "duration_s")
FOLDS, DRAWS, DRAWS_OF_FAMILIES, SEED = 10, 500, 10, 0
PENALTIES = np.logspace(0, 4, 20)
FEWEST = 30
"""Sessions in which a measure must be defined to be judged."""
SCORE = "score"
EXPECTED = {
    "therapist_question_rate": ("", "asked_effective_questions"),
    "open_question_rate": ("+", "asked_effective_questions"),
    "therapist_reflection_rate": ("+", "felt_heard_and_understood"),
    "reflection_to_question_ratio": ("+", "felt_heard_and_understood"),
    "reflection_after_feeling_rate": ("+", "showed_acceptance_and_empathy"),
    "therapist_input_rate": ("", "offered_actionable_suggestions"),
    "therapist_advice_rate": ("", "offered_actionable_suggestions"),
    "input_after_sustain_rate": ("-", "felt_respected"),
    "therapist_permission_rate": ("+", "felt_respected"),
    "n_therapist_affirmation": ("+", "provided_acknowledgment_and_affirmation"),
    "therapist_talk_share": ("-", "felt_heard_and_understood"),
    "client_change_rate": ("+", "felt_hopeful_or_expectant"),
    "client_sustain_rate": ("-", "felt_hopeful_or_expectant"),
    "change_balance_slope": ("+", "felt_hopeful_or_expectant"),
    "n_client_positive_feeling": ("+", "felt_hopeful_or_expectant"),
    "n_client_feeling_negative": ("", "conversation_felt_comfortable"),
    "client_emotional_disclosure": ("+", "conversation_felt_comfortable"),
    "lsm_turn_mean_excess": ("+", "conversation_had_good_rhythm"),
    "semantic_similarity_excess": ("+", "felt_heard_and_understood"),
}
"""For each measure: the sign that its literature expects (empty where it expects none, or both), and the rating of
KokoroChat that belongs to it. Written down before anything was computed; for synchrony, of its value and its z, which
left when sessions were no longer compared by them."""


@dataclass(frozen=True, slots=True)
class Association:
    """A standardised association (-1 to 1) with its 95% interval, and of how many sessions; nan where undefined."""

    value: float
    lo: float
    hi: float
    n: int

    def __str__(self) -> str:
        return "" if np.isnan(self.value) else f"{self.value:+.2f} [{self.lo:+.2f}, {self.hi:+.2f}]"

    def sign(self) -> str:
        """Return "+" or "-" where the interval lies on one side of 0, else nothing."""
        return "+" if self.lo > 0 else "-" if self.hi < 0 else ""


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--kokoro", type=Path, required=True, help="folder that `tanalyze run` wrote")
    parser.add_argument("--mibot", type=Path, required=True, help="folder that `tanalyze run` wrote")
    parser.add_argument("--unseen", type=Path, required=True)
    parser.add_argument("--write", action="store_true", help="write the ledger of the package")
    options = parser.parse_args()
    ratings = pd.read_csv(options.data / "kokoro" / "ratings.csv", dtype={"session": str})
    kokoro = _with(options.kokoro, ratings)
    print(f"## What predicts\n\n{predicted(kokoro, options.kokoro)}\n")
    after = pd.concat([pd.read_csv(path) for path in sorted((options.data / "mibot").glob("outcomes_*.csv"))])
    rows = ledger(kokoro, _with(options.mibot, after), of_people(options.data, options.unseen))
    print(f"## Ledger\n\n{_shown(rows)}")
    if options.write:
        rows.to_csv(LEDGER, index=False, float_format="%.3g", lineterminator="\n")


def _with(run: Path, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the sessions of a run with scores by session; people's names in the scores stand."""
    sessions = pd.read_csv(run / "sessions.csv", dtype={"session_id": str})
    taken = [name for name in scores if name in sessions and name != "session"]
    sessions = sessions.drop(columns=taken).assign(session=sessions["session_id"])
    return sessions.merge(scores, on="session", validate="one_to_one")


# What predicts


def predicted(sessions: pd.DataFrame, run: Path) -> str:
    """Return how well length, the core, and all measures foretell the client's score, by who is unseen."""
    core = core_columns(sessions)
    without = [name for name in core if name not in LENGTH]
    wide = ta.wide(run)
    numbers = map(str, wide.select_dtypes("number"))
    extra = [name for name in numbers if name not in sessions and not _is_interval(name)]
    whole = sessions.merge(wide[["session_id", *extra]], on="session_id", validate="one_to_one")
    whole = whole.loc[:, whole.notna().sum() >= FEWEST]
    everything = [*core, *[name for name in extra if name in whole and whole[name].nunique() > 1]]
    sets: dict[str, list[str]] = {
        "length of the session alone": list(LENGTH),
        "core measures": core,
        "core measures without those of length": without,
        "all measures": everything,
    }
    head = ["columns", "how many", "r, unseen counselors", "r, unseen clients"]
    found = {name: [foretold(whole, some, by) for by in ("counselor", "client")] for name, some in sets.items()}
    rows = [[name, str(len(sets[name])), *map(str, ones)] for name, ones in found.items()]
    families = _families(without)
    scores = foretold_values(whole, core, "counselor")
    base = float(np.corrcoef(scores, whole[SCORE])[0, 1])
    lost = [[name, str(len(some)), f"{base - _permuted(whole, core, some):+.3f}"] for name, some in families.items()]
    lost.sort(key=lambda row: -float(row[2]))
    carried = markdown([["family, shuffled between sessions", "columns", "r lost"], *lost])
    return f"{markdown([head, *rows])}\n\nOf the core, unseen counselors:\n\n{carried}"


def core_columns(sessions: pd.DataFrame) -> list[str]:
    """Return the numeric core columns of a table of sessions that are no intervals."""
    known = {column.name for _, column in _core()}
    return [
        name
        for name in sessions
        if (name in known or name in LENGTH)
        and not _is_interval(name)
        and sessions[name].notna().sum() >= FEWEST
        and sessions[name].nunique() > 1
    ]


def _core() -> list[tuple[object, Column]]:
    return [(one, column) for one, column in all_columns(Settings().all_lexicons) if column.core]


def _families(columns: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    family_of = {column.name: one.name for one, column in _core()}  # type: ignore[attr-defined]
    for name in columns:
        found.setdefault(family_of.get(name, name), []).append(name)
    return found


def _is_interval(name: str) -> bool:
    return name.endswith(("_lo", "_hi", "_expected")) or name.startswith("out_of_")


def foretold(sessions: pd.DataFrame, columns: Sequence[str], by: str) -> Association:
    """Return the correlation of the score with what is foretold for unseen levels of ``by``; they are drawn anew."""
    values = foretold_values(sessions, columns, by)
    table = np.column_stack([values, sessions[SCORE], np.ones(len(values))]).astype(np.float64)
    return _drawn(table, _partial, sessions[by].to_numpy())


def foretold_values(sessions: pd.DataFrame, columns: Sequence[str], by: str) -> Floats:
    """Return what is foretold for each session by a regression on the others' counselors or clients (n_sessions,)."""
    given, truth, groups = design(sessions, columns), sessions[SCORE].to_numpy(np.float64), sessions[by].to_numpy()
    found = np.full(len(truth), np.nan)
    for train, test in GroupKFold(FOLDS, shuffle=True, random_state=SEED).split(given, truth, groups):
        found[test] = _regression().fit(given[train], truth[train]).predict(given[test])
    return found


def _regression() -> Any:
    return make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), RidgeCV(PENALTIES))


def design(sessions: pd.DataFrame, columns: Sequence[str]) -> Floats:
    """Return columns as numbers (n_sessions, n_columns); numbers of things as log(1 + n)."""
    given = sessions[list(columns)].to_numpy(np.float64, copy=True)
    for at, name in enumerate(columns):
        if name.startswith("n_") or name == "duration_s":
            given[:, at] = np.log1p(np.maximum(given[:, at], 0))
    return given


def _permuted(sessions: pd.DataFrame, columns: Sequence[str], some: Sequence[str]) -> float:
    """Return the correlation for unseen counselors where some columns of the test part were shuffled; mean of ten."""
    given, truth = design(sessions, columns), sessions[SCORE].to_numpy(np.float64)
    rng, at = np.random.default_rng(SEED), np.array([columns.index(name) for name in some])
    found = np.full((DRAWS_OF_FAMILIES, len(truth)), np.nan)
    for train, test in GroupKFold(FOLDS, shuffle=True, random_state=SEED).split(given, truth, sessions["counselor"]):
        model = _regression().fit(given[train], truth[train])
        for draw in range(DRAWS_OF_FAMILIES):
            shuffled = given[test].copy()
            shuffled[:, at] = shuffled[np.ix_(rng.permutation(len(test)), at)]
            found[draw, test] = model.predict(shuffled)
    return float(np.mean([np.corrcoef(one, truth)[0, 1] for one in found]))


# The ledger


def ledger(kokoro: pd.DataFrame, mibot: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each measure of `EXPECTED`.

    Columns: ``measure``, ``expected``, ``rating``; then for each of `LEDGER_KINDS` the association and its ``_lo`` and
    ``_hi``; ``verdict``.
    """
    return pd.DataFrame([_row(name, kokoro, mibot, people) for name in EXPECTED])


def _row(name: str, kokoro: pd.DataFrame, mibot: pd.DataFrame, people: pd.DataFrame) -> dict[str, object]:
    expected, rating = EXPECTED[name]
    found = dict(zip(LEDGER_KINDS, _associations(name, rating, kokoro, mibot, people), strict=True))
    row: dict[str, object] = {"measure": name, "expected": expected, "rating": rating}
    for kind, one in found.items():
        row |= {kind: one.value, f"{kind}_lo": one.lo, f"{kind}_hi": one.hi}
    signs = [found[kind].sign() for kind in ("beyond_length", "confidence", "skilled")]
    return row | {"verdict": verdict(expected, signs)}


def _associations(
    name: str, rating: str, kokoro: pd.DataFrame, mibot: pd.DataFrame, people: pd.DataFrame
) -> Iterator[Association]:
    length, counselor = design(kokoro, LENGTH), kokoro["counselor"].to_numpy()
    measure = design(kokoro, [name])[:, 0]
    score = kokoro[SCORE].to_numpy(np.float64)
    yield correlation(measure, score, counselor)
    yield correlation(measure, score, counselor, beyond=length)
    yield correlation(measure, score, counselor, within=counselor)
    yield correlation(measure, kokoro[rating].to_numpy(np.float64), counselor, beyond=length)
    after, before = (mibot[f"{when}_confidence"].to_numpy(np.float64) for when in ("post", "pre"))
    held = np.column_stack([before, design(mibot, LENGTH[:3])])
    yield correlation(design(mibot, [name])[:, 0], after, mibot["session"].to_numpy(), beyond=held)
    yield separated(people, name)


def correlation(
    x: Floats, y: Floats, clusters: NDArray[Any], *, beyond: Floats | None = None, within: object = None
) -> Association:
    """Return a correlation of ranks, its interval by drawing clusters anew.

    ``beyond`` (n, k) is taken out of both by regression; ``within`` (n,) are groups whose means are taken out.
    """
    known = np.isfinite(x) & np.isfinite(y)
    if beyond is not None:
        known &= np.isfinite(beyond).all(axis=1)
    if known.sum() < FEWEST or np.ptp(x[known]) == 0:
        return Association(np.nan, np.nan, np.nan, int(known.sum()))
    groups = pd.Series(np.asarray(within)[known]) if within is not None else None
    ranks = [pd.Series(one[known]).rank() for one in (x, y)]
    if groups is not None:
        ranks = [one - one.groupby(groups).transform("mean") for one in ranks]
    table = np.column_stack([*ranks, np.ones(known.sum()), *([] if beyond is None else [beyond[known]])])
    return _drawn(table, _partial, clusters[known])


def _partial(table: Floats) -> float:
    pair, held = table[:, :2], table[:, 2:]
    rest = pair - held @ np.linalg.lstsq(held, pair, rcond=None)[0]
    product = float(np.sqrt((rest**2).sum(axis=0).prod()))
    return float(rest[:, 0] @ rest[:, 1]) / product if product > 0 else np.nan


def _drawn(table: Floats, statistic: Callable[[Floats], float], clusters: NDArray[Any]) -> Association:
    codes, _ = pd.factorize(clusters)
    rows_of = [np.flatnonzero(codes == one) for one in range(codes.max() + 1)]
    rng = np.random.default_rng(SEED)
    draws = [
        statistic(table[np.concatenate([rows_of[one] for one in rng.integers(len(rows_of), size=len(rows_of))])])
        for _ in range(DRAWS)
    ]
    lo, hi = np.nanquantile(draws, [0.025, 0.975])
    return Association(statistic(table), float(lo), float(hi), len(table))


def separated(people: pd.DataFrame, name: str) -> Association:
    """Return 2 AUC - 1 of skilled over unskilled people, the mean of both corpora, each session drawn anew."""
    if name not in people:
        return Association(np.nan, np.nan, np.nan, 0)
    known = people[people[name].notna()]
    table = np.column_stack([known[name], known["skilled"], known["corpus"] == "annomi"]).astype(np.float64)
    return _drawn(table, _above, np.arange(len(table)))


def _above(table: Floats) -> float:
    found = []
    for corpus in np.unique(table[:, 2]):
        own = table[table[:, 2] == corpus]
        high, low = own[own[:, 1] == 1, 0], own[own[:, 1] == 0, 0]
        if len(high) and len(low):
            found.append(float(np.sign(high[:, None] - low[None, :]).mean()))
    return float(np.mean(found)) if found else np.nan


_NO_OTHERS: dict[str, list[Any]] = {"mibot": [], "vera_mh": [], "mindeval": []}


def of_people(data: Path, unseen: Path) -> pd.DataFrame:
    """Return the values of sessions of skilled and unskilled people; no code is by a tagger that had seen them."""
    sys.path.insert(0, str(ROOT / "tools"))  # the reference profiles are made of the same values
    import build_reference

    codes = pd.read_csv(unseen, dtype={"session": str}, low_memory=False)
    corpora = {name: build_reference.read(data / name) for name in ("annomi", "hlqc")}
    group_of = {(name, one.id): group for name, one, group in build_reference.groups(corpora | _NO_OTHERS)}
    found: list[pd.DataFrame] = []
    for name, sessions in corpora.items():
        values: pd.DataFrame = build_reference.measured(name, sessions, group_of, codes, "accurate")
        found.append(values.assign(corpus=name, skilled=(values["group"] == "human_high").astype(int)))
    return pd.concat(found, ignore_index=True)


def verdict(expected: str, signs: Sequence[str]) -> str:
    """Return what three signs ("+", "-" or nothing) say of a measure of which a sign is expected, or none."""
    if not expected:
        return "no sign is expected"
    against = sum(sign not in ("", expected) for sign in signs)
    for_it = sum(sign == expected for sign in signs)
    if against >= 2:
        return "wrong sign in two of three"
    if against:
        return "wrong sign in one of three" if not for_it else "for and against"
    return f"as expected in {('one', 'two', 'three')[for_it - 1]} of three" if for_it else "nothing found"


def _shown(rows: pd.DataFrame) -> str:
    head = ["measure", "expected", *[kind.replace("_", " ") for kind in LEDGER_KINDS], "verdict"]
    body = []
    for _, row in rows.iterrows():
        ones = [Association(row[kind], row[f"{kind}_lo"], row[f"{kind}_hi"], 0) for kind in LEDGER_KINDS]
        body.append([f"`{row['measure']}`", str(row["expected"]), *map(str, ones), str(row["verdict"])])
    return markdown([head, *body])


if __name__ == "__main__":
    main()
