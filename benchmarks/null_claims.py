"""How often the page and `compare` claim something of counselors whose names were dealt at random, or miss a shift.

Real sessions of high quality (AnnoMI and HLQC, one a recording, no disputed label) are drawn without replacement, each
as of a client of its own, the counselors' names are permuted over them, and the page and the command are asked what
they claim; the command also of synchrony. Whatever they claim of a counselor then is false. In the second
table a number of points is added to the rate of one code in the sessions of one of two counselors, turn by turn, and
the share of runs is printed in which that is found.

Run from the root: ``python -m benchmarks.null_claims --results FOLDER``, where FOLDER/annomi and FOLDER/hlqc hold what
``tanalyze run`` wrote of these corpora. It takes some ten minutes of one processor core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._markdown import markdown
from benchmarks.compare_claims import CODES, QUALITY, RATES
from therapy_analytics.core.clusters import Floats
from therapy_analytics.report._findings import OF_GROUPS_ALONE
from therapy_analytics.report.data import standing_out
from therapy_analytics.stats.compare.effects import holm
from therapy_analytics.stats.compare.groups import choose, contrasts, counts, grouped
from therapy_analytics.stats.compare.reference import LEVEL, against_references, profiles_for, spread, two_sided
from therapy_analytics.stats.compare.sessions import Results, read_results
from therapy_analytics.stats.compare.tables import DIFFERS, comparison_table, groups_table

DESIGNS = ((2, 10), (2, 15), (3, 10), (4, 8), (6, 5))
"""Counselors, and sessions of each."""
POINTS, OF_EACH = 20, (10, 15)
"""Points that are added to a rate, and sessions of either counselor."""
SIZES = (1, 3, 6, 10, 30)
"""Sessions of a run that are held against the other corpus."""
N_PERMUTATIONS = 2_000
_CODED = ({"tagger": {"kind": "accurate", "aim": "balanced"}},)


@dataclass(frozen=True, slots=True)
class Claims:
    """The measures that were claimed of in a run.

    Attributes
    ----------
    page, sessions : frozenset of str
        By the page: of counselors, beside the others and beside skilled people; of single sessions.
    compared, synchrony, reference : frozenset of str
        By ``tanalyze compare``, the same with ``--measures synchrony``, and with ``--against reference``.
    """

    page: frozenset[str]
    sessions: frozenset[str]
    compared: frozenset[str]
    synchrony: frozenset[str]
    reference: frozenset[str]

    @property
    def of_counselors(self) -> frozenset[str]:
        """Return what is claimed of counselors by the page, the command, or the command on synchrony."""
        return self.page | self.compared | self.synchrony | self.reference


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="folder with finished runs: annomi and hlqc")
    parser.add_argument("--runs", type=int, default=40, help="of each design")
    asked = parser.parse_args()
    corpora = {name: skilled(asked.results / name, column) for name, column in QUALITY.items()}
    print(f"### One corpus held against the other, single sessions\n\n{markdown(list(across(corpora, asked.runs)))}\n")
    first = corpora["annomi"]
    whole = pd.concat([one.sessions for one in corpora.values()], ignore_index=True)
    pool = replace(first, sessions=whole, recipes=_CODED, sources=())
    print(f"### {len(whole)} sessions, {asked.runs} runs of each design\n")
    print(markdown(list(null_rows(pool, asked.runs))), flush=True)
    print(f"\n### {POINTS} points added to one code\n\n{markdown(list(power_rows(pool, asked.runs)))}")


def skilled(folder: Path, column: str) -> Results:
    """Return the sessions of high quality of a corpus, one of a recording, without disputed labels."""
    read = read_results(folder)
    frame = read.sessions
    kept = (frame[column] == "high") & (frame["quality_label_disputed"] != "True")
    frame = frame[kept & ~frame["source_group"].duplicated()].drop(columns=[column, "source_group"])
    # They are in the reference of skilled people; as if they were not, so that the page compares them with it.
    ids = folder.name + "/" + frame["session_id"]
    frame = frame.assign(session_id=ids, skilled_reference_turns=np.nan)
    return replace(read, sessions=frame.reset_index(drop=True))


def null_rows(pool: Results, runs: int) -> Iterator[Sequence[str]]:
    """Yield for each design in how many runs something is claimed of shuffled counselors, by sort of claim."""
    names = ("page", "compared", "synchrony", "reference", "of_counselors", "sessions")
    heads = ("page", "compare", "compare --measures synchrony", "compare --against reference", "any of these")
    yield ["counselors x sessions", "runs", *heads, "page: single sessions"]
    every: list[Claims] = []
    for k, n in DESIGNS:
        found = [claims(_dealt(pool, k, n, seed)) for seed in range(runs)]
        every += found
        yield [f"{k} x {n}", str(len(found)), *_numbers(found, names)]
    yield ["all", str(len(every)), *_numbers(every, names)]


def _numbers(found: Sequence[Claims], names: Sequence[str]) -> list[str]:
    return [str(sum(bool(getattr(one, name)) for one in found)) for name in names]


def _dealt(pool: Results, k: int, n: int, seed: int) -> Results:
    """Return sessions of shuffled counselors, each of a client of its own."""
    rng = np.random.default_rng([k, n, seed])
    chosen = pool.sessions.iloc[rng.choice(len(pool.sessions), k * n, replace=False)].reset_index(drop=True)
    names = rng.permutation(np.repeat([f"counselor {i}" for i in range(k)], n))
    return replace(pool, sessions=chosen.assign(counselor=names, client=chosen["session_id"]))


def claims(read: Results) -> Claims:
    """Return what the page and the command claim, by the functions that both call."""
    found = standing_out(read)["findings"]
    data = {name: grouped(read, choose(read, asked), by="counselor", cluster=None)
            for name, asked in (("core", None), ("synchrony", ["synchrony"]))}  # fmt: skip
    tables = {
        name: comparison_table(one, contrasts(one, None), permutations=N_PERMUTATIONS) for name, one in data.items()
    }
    profiles = profiles_for("accurate")[0]
    if profiles is None:
        msg = "there are no reference profiles"
        raise RuntimeError(msg)
    high = profiles[profiles["group"] == "human_high"]  # these are skilled people
    tables["reference"] = against_references(data["core"], groups_table(data["core"]), high)
    claimed = {name: frozenset(one.loc[one["finding"] == DIFFERS, "measure"]) for name, one in tables.items()}
    return Claims(
        page=_measures(found, single=False),
        sessions=_measures(found, single=True),
        compared=claimed["core"],
        synchrony=claimed["synchrony"],
        reference=claimed["reference"],
    )


def _measures(found: Sequence[Mapping[str, object]], *, single: bool) -> frozenset[str]:
    return frozenset(str(one["measure"]) for one in found if (one["session"] is not None) == single)


def power_rows(pool: Results, runs: int) -> Iterator[Sequence[str]]:
    """Yield for each code and number of sessions the share of runs in which points added to it are found."""
    yield ["code", "sessions", "rate before", "points added", "compare", "compare --measures (this one)", "page"]
    for code in CODES:
        for n in OF_EACH:
            found = np.mean([_shifted(pool, code, n, seed) for seed in range(runs)], axis=0)
            rate, added, *shares = found
            yield [code, f"{n} against {n}", f"{rate:.2f}", f"{100 * added:.0f}", *(f"{one:.0%}" for one in shares)]


def _shifted(pool: Results, code: str, n: int, seed: int) -> tuple[float, float, bool, bool, bool]:
    """Return the rate before, what was added, and whether the command, asked of this alone, and the page claim it."""
    name, rng = f"{code}_rate", np.random.default_rng([n, seed])
    frame = _dealt(pool, 2, n, seed).sessions
    own, of = (frame["counselor"] == "counselor 1").to_numpy(), counts(frame, name)
    before = frame[name].to_numpy(dtype=np.float64)
    # Each turn without the code gets it with the probability that adds so much on average.
    probability = min(POINTS / 100 / (1 - float(np.nanmean(before))), 1.0)
    after = np.where(own, of[:, 0] + rng.binomial((of[:, 1] - of[:, 0]).astype(int), probability), of[:, 0])
    read = replace(pool, sessions=frame.assign(**{f"n_{code}": after, name: after / of[:, 1]}))
    tables = []
    for asked in (None, [name]):
        data = grouped(read, choose(read, asked), by="counselor", cluster=None)
        table = comparison_table(data, contrasts(data, None), permutations=N_PERMUTATIONS).set_index("measure")
        tables.append(bool(table.at[name, "finding"] == DIFFERS))
    page = name in _measures(standing_out(read)["findings"], single=False)
    return float(np.nanmean(before)), float((after / of[:, 1] - before)[own].mean()), tables[0], tables[1], page


def across(corpora: Mapping[str, Results], runs: int) -> Iterator[Sequence[str]]:
    """Yield how often a session is claimed of when the reference is the other corpus, by the number of sessions."""
    yield ["reference", "sessions of", *map(str, SIZES)]
    for name, own in corpora.items():
        other = next(one for one in corpora if one != name)
        asked = [rate for rate in RATES if rate not in OF_GROUPS_ALONE]
        every = np.column_stack([_beside(own.sessions, corpora[other].sessions, rate) for rate in asked])
        rng = np.random.default_rng(0)
        drawn = [[every[rng.choice(len(every), n, replace=False)] for _ in range(20 * runs)] for n in SIZES]
        shares = [np.mean([(holm(one) < LEVEL).any() for one in some]) for some in drawn]
        yield [name, other, *(f"{share:.1%}" for share in shares)]


def _beside(own: pd.DataFrame, other: pd.DataFrame, name: str) -> Floats:
    found = spread({"mean": own[name].mean(), "sd": own[name].std(), "n_sessions": len(own)})
    if found is None:
        msg = f"{name} is the same in all sessions"
        raise RuntimeError(msg)
    n, of = counts(other, name).T
    return two_sided(n, of, found)


if __name__ == "__main__":
    main()
