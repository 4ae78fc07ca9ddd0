"""What ``compare`` claims where nothing differs: clients who are not named, rare codes, references, numbers.

Run from the root: ``python -m benchmarks.compare_claims [--results RESULTS]``. RESULTS is a folder that holds the
results of annomi and hlqc; with it, groups of real sessions are drawn and held against references, and the
distance between the two corpora is printed on which `therapy_analytics.stats.compare.reference.BETWEEN` rests.

*Before* is the rule of version 0.4.0: without a column of clients each session was taken as independent, two
clusters a side were enough, and rare codes were tested as all others.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._markdown import markdown
from therapy_analytics.core.clusters import Floats
from therapy_analytics.stats.compare.courses import levels_of, trend_table
from therapy_analytics.stats.compare.effects import cluster_means, two_samples
from therapy_analytics.stats.compare.groups import Grouped, choose, contrasts, grouped
from therapy_analytics.stats.compare.reference import against_references
from therapy_analytics.stats.compare.sessions import Results, built_in_codebook, read_results
from therapy_analytics.stats.compare.tables import DIFFERS, comparison_table, groups_table

CODES = ("therapist_question", "therapist_reflection", "therapist_input", "therapist_advice")
RATES = tuple(f"{code}_rate" for code in CODES)
QUALITY = {"annomi": "mi_quality", "hlqc": "quality"}
MODELS = ("mibot", "mindeval")
"""Language models that counsel people who smoke, and simulated clients."""
N_PERMUTATIONS, TURNS = 1_000, 30
BOOK = built_in_codebook()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, help="folder with finished runs: annomi and hlqc")
    parser.add_argument("--runs", type=int, default=200, help="of each row")
    parser.add_argument("--draws", type=int, default=2_000, help="of groups of real sessions")
    asked = parser.parse_args()
    print(f"### Counselors whose clients are not named, no difference\n\n{markdown(list(unnamed(asked.runs)))}\n")
    print(f"### Rare codes and unequal numbers, no difference\n\n{markdown(list(rare(asked.runs)))}\n")
    print(f"### A number by which sessions are compared\n\n{markdown(list(numbers(asked.runs)))}\n")
    if asked.results is not None:
        people = {name: _people(asked.results / name, column) for name, column in QUALITY.items()}
        print(f"### How far corpora of like skill lie apart\n\n{markdown(list(apart(people)))}\n")
        print(f"### Groups of real sessions against a reference\n\n{markdown(list(references(people, asked.draws)))}\n")
        print(f"### Differences at like length\n\n{markdown(list(at_like_length(asked.results, people)))}\n")
        print(f"### Synchrony of high and low quality\n\n{markdown(list(synchrony(people)))}")


def unnamed(runs: int) -> Iterator[Sequence[str]]:
    """Yield how many tables claim something of two counselors with a few clients of several sessions each."""
    yield ["clients x sessions", "clients named", "tables with a claim, before", "after"]
    for clients, sessions in ((2, 6), (4, 3), (6, 4)):
        frames = [_clustered(np.random.default_rng([clients, seed]), clients, sessions) for seed in range(runs)]
        for named in (False, True):
            shown = [frame if named else frame.drop(columns="client") for frame in frames]
            before = np.mean([_claims(frame, cluster=None if named else "session") for frame in shown])
            after = np.mean([_claims(frame) for frame in shown])
            yield [f"{clients} x {sessions}", "yes" if named else "no", f"{before:.0%}", f"{after:.1%}"]


def _clustered(rng: np.random.Generator, clients: int, sessions: int) -> pd.DataFrame:
    """Return sessions of two counselors who do not differ; half of the variance lies between their clients."""
    place = np.repeat(np.arange(2 * clients), sessions)
    about = {
        "session_id": [f"s{i}" for i in range(len(place))],
        "counselor": np.where(place < clients, "Ann", "Bo"),
        "client": [f"client {i}" for i in place],
        "n_turns_therapist": float(TURNS),
    }
    for code in CODES:
        level = rng.beta(4, 6, 2 * clients)[place]
        n = rng.binomial(TURNS, rng.beta(12 * level, 12 * (1 - level))).astype(float)
        about |= {f"n_{code}": n, f"{code}_rate": n / TURNS}
    return pd.DataFrame(about)


def _claims(frame: pd.DataFrame, cluster: str | None = None) -> bool:
    data = _grouped(frame, "counselor", RATES, cluster)
    table = comparison_table(data, contrasts(data, None), permutations=N_PERMUTATIONS)
    return bool(table["finding"].eq(DIFFERS).any())


def _grouped(frame: pd.DataFrame, by: str, measures: Sequence[str], cluster: str | None = None) -> Grouped:
    """Return invented sessions in groups, as `compare` makes them."""
    read = Results(frame, BOOK)
    return grouped(read, choose(read, list(measures)), by=by, cluster=cluster)


def rare(runs: int) -> Iterator[Sequence[str]]:
    """Yield how often one measure is claimed of, by its rate, and the counselors and sessions of two sides."""
    yield ["rate", "counselors x sessions", "p < .05, before", "after"]
    for rate in (0.02, 0.05, 0.1, 0.3):
        for sides in (((4, 1), (12, 12)), ((4, 4), (12, 12)), ((6, 1), (6, 12)), ((8, 3), (8, 3))):
            before, after = np.mean([_rare(rate, sides, seed) for seed in range(runs)], axis=0)
            against = " against ".join(f"{k} x {n}" for k, n in sides)
            yield [f"{rate:.2f}", against, f"{before:.1%}", f"{after:.1%}"]


def _rare(rate: float, sides: tuple[tuple[int, int], ...], seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng([int(100 * rate), seed, *sides[0], *sides[1]])
    counselor = np.repeat(np.arange(sides[0][0] + sides[1][0]), np.repeat([n for _, n in sides], [k for k, _ in sides]))
    level = rng.beta(8 * rate, 8 * (1 - rate), counselor.max() + 1)[counselor]
    n = rng.binomial(TURNS, level).astype(float)
    own = counselor < sides[0][0]
    frame = pd.DataFrame(
        {
            "session_id": [f"s{i}" for i in range(len(n))],
            "programme": np.where(own, "a", "b"),
            "counselor": [f"c{i}" for i in counselor],
            "n_turns_therapist": float(TURNS),
            "n_therapist_advice": n,
            "therapist_advice_rate": n / TURNS,
        }
    )
    x, y = (cluster_means((n / TURNS)[mask][:, None], counselor[mask]) for mask in (own, ~own))
    before = bool(two_samples(x, y, N_PERMUTATIONS, seed)[0][0] < 0.05)
    data = _grouped(frame, "programme", ["therapist_advice_rate"])
    found = comparison_table(data, contrasts(data, None), permutations=N_PERMUTATIONS)
    return before, bool(found["finding"].eq(DIFFERS).any())


def numbers(runs: int) -> Iterator[Sequence[str]]:
    """Yield how often years of experience go along with a measure, where they do and where they do not."""
    yield ["counselors x sessions", "true rank correlation", "runs with a claim of that measure", "of any other"]
    for k, n in ((18, 1), (18, 4), (40, 2)):
        for slope in (0.0, 1.4):
            found = np.mean([_number(k, n, slope, seed) for seed in range(runs)], axis=0)
            yield [f"{k} x {n}", f"{found[2]:.2f}", f"{found[0]:.0%}", f"{found[1]:.1%}"]


def _number(k: int, n: int, slope: float, seed: int) -> tuple[bool, bool, float]:
    rng = np.random.default_rng([k, n, seed])
    years, place = rng.integers(1, 30, k).astype(np.float64), np.repeat(np.arange(k), n)
    bent = rng.normal(size=(k, 4))
    bent[:, 0] += slope * (years - years.mean()) / max(float(years.std()), 1e-9)
    shares = 1 / (1 + np.exp(-(bent[place] / 2 + rng.normal(0, 0.2, (len(place), 4)))))
    frame = pd.DataFrame(shares, columns=list(RATES)).assign(
        session_id=[f"s{i}" for i in range(len(place))],
        counselor=[f"c{i}" for i in place],
        years=[f"{one:g}" for one in years[place]],
    )
    level = levels_of(frame, "years")
    if level is None:
        return False, False, np.nan
    data = _grouped(frame, "years", RATES)
    found = trend_table(data, level, permutations=N_PERMUTATIONS, seed=seed).set_index("measure")
    sure = found["finding"].eq(DIFFERS)
    return bool(sure[RATES[0]]), bool(sure[list(RATES[1:])].any()), float(found["rank_correlation"].iloc[0])


def _people(folder: Path, column: str) -> Results:
    """Return the sessions of undisputed quality, one of a recording, with the quality in a column of its own."""
    read = read_results(folder)
    frame = read.sessions
    kept = (frame["quality_label_disputed"] != "True") & ~frame["source_group"].duplicated()
    return replace(read, sessions=frame[kept].assign(skill=frame[column]).reset_index(drop=True))


def _skilled(read: Results, skill: str) -> pd.DataFrame:
    return read.sessions[read.sessions["skill"] == skill]


def apart(people: dict[str, Results]) -> Iterator[Sequence[str]]:
    """Yield the means of sessions of high quality in both corpora, and their distance in standard deviations."""
    yield ["measure", *people, "standard deviation of sessions", "apart, in these", "less what sampling gives"]
    for name in (*RATES, "therapist_words_per_turn"):
        values = [_skilled(read, "high")[name].dropna() for read in people.values()]
        sd = float(np.sqrt(np.mean([one.var() for one in values])))
        squared = ((values[0].mean() - values[1].mean()) / sd) ** 2
        left = np.sqrt(max((squared - sum(1 / len(one) for one in values)) / 2, 0.0))
        yield [
            name, *(f"{one.mean():.3f}" for one in values), f"{sd:.3f}", f"{np.sqrt(squared):.2f}",
            f"standard deviation of corpora {left:.2f}",
        ]  # fmt: skip


def references(people: dict[str, Results], draws: int) -> Iterator[Sequence[str]]:
    """Yield how often a group of ten sessions differs from the skilled sessions of the other corpus, and of both."""
    yield ["sessions of", "reference", "k", "of high quality: any claim", "of low quality: any claim", *RATES]
    for name, read in people.items():
        for k in (4, 10, 18):
            others = [one for one in people if one != name]
            low = _skilled(read, "low")
            rows = [_drawn(read, pool, k, _profile([people[one] for one in others]), draws)
                    for pool in (_skilled(read, "high"), low) if len(pool) >= k]  # fmt: skip
            of_low = rows[1].mean(axis=0) if len(rows) > 1 else np.full(len(RATES), np.nan)
            yield [
                name, " and ".join(others), str(k), f"{rows[0].any(axis=1).mean():.1%}",
                f"{rows[-1].any(axis=1).mean():.0%}", *(f"{share:.0%}" for share in of_low),
            ]  # fmt: skip


def _profile(reads: Sequence[Results]) -> pd.DataFrame:
    """Return the profile of skilled sessions, as the reference has it; of one corpus, as that says of its name."""
    whole = pd.concat([_skilled(read, "high") for read in reads])
    rows = [
        {"group": "one corpus" if len(reads) == 1 else "human_high", "measure": name, "mean": whole[name].mean()}
        | {"mean_lo": np.nan, "mean_hi": np.nan, "sd": whole[name].std(), "n_sessions": whole[name].count()}
        | {"q05": np.nan, "q95": np.nan, "median": whole[name].median()}
        for name in RATES
    ]
    return pd.DataFrame(rows)


def _drawn(read: Results, pool: pd.DataFrame, k: int, profile: pd.DataFrame, draws: int) -> Floats:
    """Return of which measures something is claimed in each draw of k sessions (draws, measures)."""
    found = []
    for seed in range(draws if len(pool) > k else 1):
        chosen = pool.iloc[np.random.default_rng([k, seed]).choice(len(pool), k, replace=False)]
        some = replace(read, sessions=chosen.assign(skilled_reference_turns=np.nan).reset_index(drop=True))
        data = grouped(some, choose(some, list(RATES)), by="skill", cluster="source_group")
        table = against_references(data, groups_table(data), profile).set_index("measure")
        found.append(table["finding"].eq(DIFFERS).reindex(RATES).to_numpy())
    return np.array(found, dtype=np.float64)


def at_like_length(folder: Path, people: dict[str, Results]) -> Iterator[Sequence[str]]:
    """Yield differences of rates of four corpora, plain and among turns of like length."""
    yield ["difference", "words a turn", "code", "plain, points", "at like length, points", "adjusted p"]
    for name, read in people.items():
        yield from _two_numbers(f"{name}: high less low quality", read, "high", "low")
    skilled = _joined({name: replace(read, sessions=_skilled(read, "high")) for name, read in people.items()})
    for name in MODELS:
        if (folder / name / "sessions.csv").is_file():
            model = read_results(folder / name)
            model = replace(model, sessions=model.sessions.assign(skill="model", source_group=""))
            both = _joined({"people": replace(skilled, sessions=skilled.sessions.assign(skill="people")), name: model})
            yield from _two_numbers(f"{name}: models less skilled people", both, "model", "people")


def _joined(reads: dict[str, Results]) -> Results:
    """Return the sessions of several runs as of one, with the run's name before each id."""
    parts = [read.sessions.assign(session_id=f"{name}/" + read.sessions["session_id"]) for name, read in reads.items()]
    whole = pd.concat(parts, ignore_index=True)
    texts = [column for column in whole if whole[column].dtype == object or str(whole[column].dtype) == "str"]
    sources = tuple(
        (f"{name}/{inner}" if inner else name, one) for name, read in reads.items() for inner, one in read.sources
    )
    return replace(next(iter(reads.values())), sessions=whole.fillna(dict.fromkeys(texts, "")), sources=sources)


def _two_numbers(title: str, read: Results, group: str, against: str) -> Iterator[Sequence[str]]:
    data = grouped(read, choose(read, list(RATES)), by="skill", cluster="source_group")
    turns = read.turns([one.code for one in data.measures])
    found = comparison_table(data, contrasts(data, against), turns=turns)
    for row in found[found["group"] == group].to_dict("records"):
        words = " against ".join(f"{row[key]:.0f}" for key in ("words_per_turn", "words_per_turn_against"))
        plain, like = (
            f"{100 * row[key]:+.0f} ({100 * row[f'{key}_lo']:+.0f} to {100 * row[f'{key}_hi']:+.0f})"
            for key in ("difference", "at_like_length")
        )
        yield [title, words, str(row["measure"]), plain, like, f"{row['p_adjusted']:.4f}"]


def synchrony(people: dict[str, Results]) -> Iterator[Sequence[str]]:
    """Yield what is left of differences of synchrony between high and low quality, as excess over surrogate pairs."""
    yield ["corpus", "measure", "raw difference", "excess, difference", "at like length", "adjusted p", "finding"]
    for name, read in people.items():
        data = grouped(read, choose(read, ["synchrony"]), by="skill", cluster="source_group")
        table = comparison_table(data, contrasts(data, "low"))
        for row in table.to_dict("records"):
            raw = str(row["measure"]).removesuffix("_excess")
            means = [_skilled(read, skill)[raw].mean() for skill in ("high", "low")]
            numbers = (
                f"{row[key]:+.3f} ({row[f'{key}_lo']:+.3f} to {row[f'{key}_hi']:+.3f})"
                for key in ("difference", "at_like_length")
            )
            yield [
                name, raw, f"{means[0] - means[1]:+.3f}", *numbers, f"{row['p_adjusted']:.3f}", str(row["finding"])
            ]  # fmt: skip


if __name__ == "__main__":
    main()
