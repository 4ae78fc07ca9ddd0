"""How often the page and `compare` claim something of counselors whose names were dealt at random, or miss a shift.

Real sessions of high quality (AnnoMI and HLQC, one a recording, no disputed label) are drawn without replacement, the
counselors' names are permuted over them, and the page and the command are asked what they claim. Whatever they claim
of a counselor then is false. In the second table a difference of 1.5 standard deviations of sessions is added to one
code of one of two counselors, and the share of runs is printed in which it is found.

Run from the root: ``python -m benchmarks.null_claims``; it measures the corpora first, which takes some ten
minutes, and then some forty minutes of one processor core.
``--results FOLDER`` takes finished runs instead: FOLDER/annomi and FOLDER/hlqc.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import therapy_analytics as ta
from benchmarks._corpora import sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.clusters import Floats
from therapy_analytics.compare._effects import holm
from therapy_analytics.compare._groups import contrasts, grouped
from therapy_analytics.compare._measures import choose
from therapy_analytics.compare._reference import (
    LEVEL,
    against_references,
    counts,
    profiles_for,
    spread,
    two_sided,
)
from therapy_analytics.compare._results import Results, read_results
from therapy_analytics.compare._table import DIFFERS, comparison_table, groups_table
from therapy_analytics.language import builtin_lexicons
from therapy_analytics.measures._base import all_columns, count_name
from therapy_analytics.report._data import standing_out
from therapy_analytics.report._overview import profiles_of

CORPORA = {"annomi": "mi_quality", "hlqc": "quality"}
POOLS = {"both": ("annomi", "hlqc"), "annomi": ("annomi",), "hlqc": ("hlqc",)}
DESIGNS = ((10, 3), (6, 5), (5, 6), (4, 8), (3, 10), (2, 15))
"""Counselors, and sessions of each."""
SHIFTED = ("therapist_question", "therapist_reflection", "therapist_input")
SHIFT, OF_EACH = 1.5, (6, 8)
"""Standard deviations of sessions, and sessions of either counselor."""
SIZES = (1, 3, 6, 10, 30)
"""Sessions of a run that are held against the other corpus."""
_BESIDE = ("session_id", "n_turns_therapist")
CORE = [column.name for _, column in all_columns(builtin_lexicons()) if column.compare in ("tested", "shown")]
_CODED = ({"tagger": {"kind": "accurate", "aim": "balanced"}},)


@dataclass(frozen=True, slots=True)
class Claims:
    """The measures that were claimed of in a run.

    Attributes
    ----------
    rest, people, sessions : frozenset of str
        By the page: of counselors beside the others, of counselors beside skilled people, of single sessions.
    compared, reference : frozenset of str
        By ``tanalyze compare`` and by ``tanalyze compare --against reference``.
    """

    rest: frozenset[str]
    people: frozenset[str]
    sessions: frozenset[str]
    compared: frozenset[str]
    reference: frozenset[str]

    @property
    def of_counselors(self) -> frozenset[str]:
        """Return what is claimed of counselors, by either."""
        return self.rest | self.people | self.compared | self.reference

    @property
    def page(self) -> frozenset[str]:
        """Return of what the page has a finding of any sort: empty where its list of findings is."""
        return self.rest | self.people | self.sessions


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--results", type=Path, help="folder with finished runs: annomi and hlqc")
    parser.add_argument("--runs", type=int, default=100, help="of each design")
    parser.add_argument("--pools", nargs="+", choices=list(POOLS), default=list(POOLS))
    asked = parser.parse_args()
    whole = pd.concat([sessions(asked.data, asked.results, name) for name in CORPORA], ignore_index=True)
    whole = whole.drop_duplicates("source_group")
    print(
        f"\n### One corpus held against the other, single sessions\n\n{markdown(list(across_rows(whole, asked.runs)))}"
    )
    for name in asked.pools:
        pool = bare(whole[whole["corpus"].isin(POOLS[name])])
        print(f"\n### {name}: {len(pool)} sessions, {asked.runs} runs of each design\n", flush=True)
        print(markdown(list(null_rows(pool, asked.runs))), flush=True)
        print(f"\n{SHIFT} standard deviations added:\n\n{markdown(list(power_rows(pool, asked.runs)))}", flush=True)


def sessions(data: Path, results: Path | None, name: str) -> pd.DataFrame:
    """Return the sessions of high quality of a corpus, without disputed labels."""
    if results is not None:
        frame = pd.read_csv(results / name / "sessions.csv", dtype={"session_id": str, "source_group": str})
    else:
        frame = ta.analyze(sessions_of(data, name)).sessions
    high = (frame[CORPORA[name]] == "high") & ~frame["quality_label_disputed"].astype(str).eq("True")
    return frame[high].copy().assign(corpus=name)


def bare(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the core measures alone: nothing is claimed of others unless they are named."""
    columns = (*_BESIDE, *CORE, *(f"{name}{end}" for name in CORE for end in ("_lo", "_hi")), *map(count_name, CORE))
    return frame[[name for name in dict.fromkeys(columns) if name in frame]]


def null_rows(pool: pd.DataFrame, runs: int) -> Iterator[Sequence[str]]:
    """Yield for each design the share of runs with claims of each sort about shuffled counselors."""
    sorts = ("page: beside the others", "page: beside skilled people", "compare", "compare --against reference")
    yield ["counselors x sessions", *sorts, "any of these", "page: single sessions", "page: any finding"]
    every = []
    for k, n in DESIGNS:
        if k * n <= len(pool):
            found = [_null(pool, (k, n), seed) for seed in range(runs)]
            every += found
            yield [f"{k} x {n}", *_shares(found)]
    yield ["all", *_shares(every)]


def _null(pool: pd.DataFrame, design: tuple[int, int], seed: int) -> Claims:
    k, n = design
    rng = np.random.default_rng([k, n, seed])
    names = rng.permutation(np.repeat([f"counselor {i}" for i in range(k)], n))
    return claims(pool.iloc[rng.choice(len(pool), k * n, replace=False)].assign(counselor=names))


def _shares(found: Sequence[Claims]) -> list[str]:
    names = ("rest", "people", "compared", "reference", "of_counselors", "sessions", "page")
    return [f"{np.mean([bool(getattr(one, name)) for one in found]):.1%}" for name in names]


def across_rows(whole: pd.DataFrame, runs: int) -> Iterator[Sequence[str]]:
    """Yield how often a session is claimed of when the reference is the other corpus, by the number of sessions."""
    yield ["reference", "sessions of", *map(str, SIZES)]
    for name in CORPORA:
        own, other = whole[whole["corpus"] == name], whole[whole["corpus"] != name]
        p = [_beside(own, other, f"{code}_rate") for code in SHIFTED]
        rng, every = np.random.default_rng(0), np.column_stack(p)
        drawn = [[every[rng.choice(len(every), n, replace=False)] for _ in range(20 * runs)] for n in SIZES]
        shares = [np.mean([(holm(one) < LEVEL).any() for one in some]) for some in drawn]
        yield [name, next(one for one in CORPORA if one != name), *(f"{share:.1%}" for share in shares)]


def _beside(own: pd.DataFrame, other: pd.DataFrame, name: str) -> Floats:
    found = spread({"mean": own[name].mean(), "sd": own[name].std(), "n_sessions": len(own)})
    if found is None:
        msg = f"{name} is the same in all sessions"
        raise RuntimeError(msg)
    return two_sided(*counts(other, name), found)


def power_rows(pool: pd.DataFrame, runs: int) -> Iterator[Sequence[str]]:
    """Yield for each code and number of sessions the share of runs in which a shift added to it is claimed."""
    yield ["code", "sessions", "mean shift", "page", "compare", "compare --measures (this one)"]
    for code in SHIFTED:
        for n in OF_EACH:
            found = [_shifted(pool, code, n, seed) for seed in range(runs)]
            shift, page, command, alone = np.mean(found, axis=0)
            yield [f"{code}_rate", f"{n} against {n}", f"{shift:.2f}", f"{page:.0%}", f"{command:.0%}", f"{alone:.0%}"]


def _shifted(pool: pd.DataFrame, code: str, n: int, seed: int) -> tuple[float, bool, bool, bool]:
    """Return the shift, and whether the page, the command, and the command that asks of this measure alone claim it."""
    name, rng = f"{code}_rate", np.random.default_rng([n, seed])
    drawn = pool.iloc[rng.choice(len(pool), 2 * n, replace=False)].assign(counselor=np.repeat(["A", "B"], n))
    turns, own = drawn["n_turns_therapist"], drawn["counselor"] == "B"
    # In whole turns, up to all turns of a session.
    raised = np.minimum(np.rint((drawn[name] + SHIFT * pool[name].std()) * turns), turns)
    after = drawn.assign(**{f"n_{code}": drawn[f"n_{code}"].where(~own, raised)})
    after[name] = after[name].where(~own, raised / turns)
    found, read = claims(after), _read(after)
    data = grouped(read, choose(read, [name]), by="counselor", cluster=None)
    alone = comparison_table(data, contrasts(data, None))["finding"].eq(DIFFERS).any()
    return (after[name] - drawn[name])[own].mean(), name in found.rest, name in found.compared, bool(alone)


def _read(drawn: pd.DataFrame) -> Results:
    return replace(read_results(drawn.reset_index(drop=True)), recipes=_CODED)


def claims(drawn: pd.DataFrame) -> Claims:
    """Return what the page and the command claim of a table of sessions, by the functions that both call."""
    read = _read(drawn)
    profiles = profiles_of(read)
    if profiles is None:
        msg = "there are no reference profiles"
        raise RuntimeError(msg)
    found = standing_out(read)["findings"]
    between = [one for one in found if one["session"] is None]
    people = [one for one in between if "than skilled people" in one["detail"]]
    data = grouped(read, choose(read, None), by="counselor", cluster=None)
    compared = comparison_table(data, contrasts(data, None))
    references = profiles_for("accurate")[0]
    reference = against_references(data, groups_table(data), profiles if references is None else references)
    return Claims(
        rest=_measures(one for one in between if one not in people),
        people=_measures(people),
        sessions=_measures(one for one in found if one["session"] is not None),
        compared=frozenset(compared.loc[compared["finding"] == DIFFERS, "measure"]),
        reference=frozenset(reference.loc[reference["finding"] == DIFFERS, "measure"]),
    )


def _measures(found: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(str(one["measure"]) for one in found)


if __name__ == "__main__":
    main()
