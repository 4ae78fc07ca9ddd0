"""Are rates from coding samples unbiased, do their intervals hold, and how many turns does the design save.

Run from the root: ``python -m benchmarks.coding_samples [--data CORPORA --unseen FILE] [--runs N] [--out FOLDER]``. It
prints Markdown; with ``--out`` it also writes the tables as coding_coverage.csv, coding_promised.csv,
coding_renewed.csv and coding_saved.csv. ``--only TABLE`` makes one.

Simulated sessions: recordings of two groups whose rates differ, as do the tagger's errors, which are large and
one-sided; its probabilities are too sure of themselves. AnnoMI (with ``--data`` and ``--unseen``): studies of
recordings drawn with replacement from AnnoMI, whose human codes are the truth. The probabilities are those of the
accurate tagger fitted without the recording, which ``tools/unseen_codes.py`` writes; ``--tagger fast`` takes those of
the fast one.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from benchmarks._markdown import markdown
from therapy_analytics.core.clusters import Floats
from therapy_analytics.stats.compare.powered import powered_differences, powered_rates
from therapy_analytics.stats.sampling import FEWEST_CODED
from therapy_analytics.stats.sampling.design import (
    FLOOR,
    design,
    drawn,
    inclusion_probabilities,
    uncertainty,
    weights_in_rates,
)
from therapy_analytics.stats.sampling.promise import half_width, recalibrated

RUNS, SIZES = 200, (100, 300, 1000)
RANDOM, EVEN, UNSURE = "random turns", "even over groups and sessions", "tanalyze sample"
CODES = {
    "therapist": ("mi_question", "mi_reflection", "mi_input"),
    "client": ("mi_change", "mi_sustain"),
}
_RATES = {"x": {"mi_question": 0.3, "mi_reflection": 0.2}, "y": {"mi_question": 0.4, "mi_reflection": 0.1}}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the corpora, of which annomi is used")
    parser.add_argument("--unseen", type=Path, help="the file of tools/unseen_codes.py")
    parser.add_argument("--tagger", choices=("accurate", "fast"), default="accurate")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", choices=TABLES, help="one table")
    parser.add_argument("--out", type=Path, help="folder for the tables as CSV")
    given = parser.parse_args()
    pool = annomi(given.data, given.unseen, given.tagger) if given.data and given.unseen else None
    for name, make in TABLES.items():
        if given.only not in (None, name):
            continue
        if pool is None and name in ("coding_promised", "coding_renewed", "coding_saved"):
            continue
        table = make(pool, given.runs)
        rows = table.map(lambda one: f"{one:.4g}" if isinstance(one, float) else str(one))
        print(f"\n### {name}\n\n{markdown([[str(one) for one in table], *rows.to_numpy().tolist()])}", flush=True)
        if given.out:
            names = {name: re.sub(r"\W+", "_", name.lower().replace("'s", "")) for name in map(str, table)}
            table.rename(columns=names).to_csv(given.out / f"{name}.csv", index=False, float_format="%.4g")


# The sample, and what is estimated from it


def coded(turns: pd.DataFrame, n: int, way: str, rng: np.random.Generator) -> tuple[pd.DataFrame, Floats]:
    """Draw turns in one of two ways; return people's codes of them, as powered_rates takes them, and all inclusions."""
    codes = [name.removeprefix("p_") for name in map(str, turns) if name.startswith("p_")]
    inclusion = inclusions(turns, codes, n, way)
    at_random = way == RANDOM
    drawn_turns = np.sort(rng.choice(len(turns), n, replace=False)) if at_random else drawn(turns, inclusion, rng)
    sample = turns.iloc[drawn_turns].assign(inclusion=inclusion[drawn_turns])
    keys = ["session_id", "turn", "inclusion"]
    long = [sample[keys].assign(code=code, value=sample[f"true_{code}"]) for code in codes]
    return pd.concat(long, ignore_index=True).dropna(subset="value"), inclusion


def inclusions(turns: pd.DataFrame, codes: Sequence[str], n: int, way: str) -> Floats:
    """Return the probability of each turn in a design for these codes."""
    if way == RANDOM:
        return inclusion_probabilities(np.ones(len(turns)), n)
    unsure = uncertainty(turns[[f"p_{code}" for code in codes]].to_numpy())
    return design(weights_in_rates(turns), unsure, n, floor=1.0 if way == EVEN else FLOOR).inclusion


def truth_of(turns: pd.DataFrame, code: str) -> pd.Series:
    """Return the mean over sessions of people's rate, by group."""
    return turns.groupby(["group", "session_id"])[f"true_{code}"].mean().groupby("group").mean()


# Simulated sessions


def simulated(rng: np.random.Generator, recordings: int = 30) -> pd.DataFrame:
    """Return turns of two groups: sessions differ in true rates and in how far the tagger is off, always upwards."""
    frames = []
    for group, rates in _RATES.items():
        for number in range(recordings):
            n = int(rng.integers(20, 80))
            frame = pd.DataFrame({"session_id": f"{group}{number}", "turn": np.arange(n), "group": group})
            for code, rate in rates.items():
                level = special.logit(np.clip(rng.beta(8 * rate, 8 * (1 - rate)), 0.005, 0.995))
                score = level + rng.normal(0, 2, n)
                frame[f"true_{code}"] = (rng.random(n) < special.expit(score)).astype(float)
                seen = 1.5 * score + 0.8 + rng.normal(0, 0.5) + rng.normal(0, 0.7, n)
                frame[f"p_{code}"] = special.expit(seen)
            frames.append(frame)
    return pd.concat(frames, ignore_index=True).assign(role="therapist", cluster=lambda one: one["session_id"])


def coverage(runs: int) -> pd.DataFrame:
    """Return bias and coverage of both designs."""
    large = simulated(np.random.default_rng(99), recordings=4000)
    truth = {code: truth_of(large, code) for code in _RATES["x"]}
    rows = []
    for way in (RANDOM, UNSURE):
        for n in SIZES:
            found = pd.concat([_estimates(way, n, seed, truth) for seed in range(runs)])
            for (code, what), part in found.groupby(["code", "group"], sort=False):
                off = part["rate"] - part["truth"]
                known = part["lo"].notna()
                holds = (part["lo"] <= part["truth"]) & (part["truth"] <= part["hi"])
                rows.append({
                    "design": way, "turns": n, "code": code, "rate of": what, "truth": part["truth"].iloc[0],
                    "mean error": off.mean(), "Monte Carlo error": off.std() / np.sqrt(len(off)),
                    "machine's error": (part["machine_rate"] - part["truth"]).mean(),
                    "coverage": holds[known].mean(), "half-width": ((part["hi"] - part["lo"]) / 2).median(),
                    "without an interval": int((~known).sum()),
                })  # fmt: skip
    return pd.DataFrame(rows)


def _estimates(way: str, n: int, seed: int, truth: dict[str, pd.Series]) -> pd.DataFrame:
    """Return the rates of a simulated study, and the difference of its groups."""
    rng = np.random.default_rng([seed, n])
    turns = simulated(rng)
    gold, _ = coded(turns, n, way, rng)
    rates = powered_rates(turns, gold, by="group")
    apart = powered_differences(rates, "group").assign(group="difference", rate=lambda one: one["difference"])
    rates["truth"] = [truth[code][group] for code, group in zip(rates["code"], rates["group"], strict=True)]
    apart["truth"] = [truth[code]["x"] - truth[code]["y"] for code in apart["code"]]
    wide = rates.pivot_table(index="code", columns="group", values="machine_rate")
    apart["machine_rate"] = (wide["x"] - wide["y"]).reindex(apart["code"]).to_numpy()
    return pd.concat([rates, apart])


# AnnoMI


def annomi(data: Path, unseen: Path, tagger: str) -> pd.DataFrame:
    """Return the turns of AnnoMI with people's codes, and probabilities by a tagger that had not seen the recording."""
    found = with_quality(pd.read_csv(unseen, low_memory=False), data)
    columns: dict[str, Any] = {
        "session_id": found["session"], "turn": found["turn"], "role": found["role"], "group": found["quality"],
        "quality": found["quality"], "cluster": found["group"],
    }  # fmt: skip
    for role, codes in CODES.items():
        own = found["role"].eq(role) & found[f"{tagger}_{codes[0]}"].notna()
        for code in codes:
            columns[f"true_{code}"] = found[f"truth_{code}"].ge(0.5).astype(float).where(own)
            columns[f"p_{code}"] = found[f"{tagger}_{code}"].where(own)
    return pd.DataFrame(columns)


def with_quality(turns: pd.DataFrame, data: Path) -> pd.DataFrame:
    """Return AnnoMI's turns with the quality of their session, without disputed ones."""
    about = pd.read_csv(data / "annomi" / "annomi.csv").drop_duplicates("transcript_id").set_index("transcript_id")
    turns = turns[turns["source"] == "annomi"]
    transcript = turns["session"].str.removeprefix("annomi ").astype(int)
    kept = ~transcript.map(about["quality_label_disputed"]).astype(bool)
    quality = transcript.map(about["mi_quality"]).rename("quality")
    return pd.concat([turns, quality], axis=1)[kept].reset_index(drop=True)


def study(pool: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return as many recordings of each quality as AnnoMI has, drawn with replacement."""
    parts = []
    for quality, part in pool.groupby("quality"):
        by_recording = dict(list(part.groupby("cluster")))
        names = list(by_recording)
        for number, at in enumerate(rng.integers(0, len(names), len(names))):
            one = by_recording[names[at]]
            own = f"{quality} {number}"
            parts.append(one.assign(session_id=own + " " + one["session_id"], cluster=own))
    return pd.concat(parts, ignore_index=True)


def promised(pool: pd.DataFrame, runs: int) -> pd.DataFrame:
    """Return the half-widths that are promised and those that studies get, with their coverage.

    Studies are of all sessions, or compare sessions of high with those of low quality.
    """
    rows = []
    for turns, way, n in product((pool.assign(group="all"), pool), (RANDOM, UNSURE), SIZES):
        found = pd.concat([_kept(turns, way, n, seed) for seed in range(runs)])
        for (code, group), part in found.groupby(["code", "group"], sort=False):
            known = part["lo"].notna() & part["promised"].notna()
            holds = (part["lo"] <= part["truth"]) & (part["truth"] <= part["hi"])
            half = float(((part["hi"] - part["lo"]) / 2)[known].median())
            rows.append({
                "design": way, "turns": n, "code": code, "group": group, "truth": part["truth"].iloc[0],
                "mean error": (part["rate"] - part["truth"]).mean(),
                "Monte Carlo error": part["rate"].std() / np.sqrt(len(part)),
                "promised": float(part["promised"][known].median()), "obtained": half,
                "ratio": float(part["promised"][known].median()) / half, "coverage": holds[known].mean(),
                "machine's error": (part["machine_rate"] - part["truth"]).mean(),
                "without an interval": int((~known).sum()),
            })  # fmt: skip
    return pd.DataFrame(rows)


def _kept(pool: pd.DataFrame, way: str, n: int, seed: int) -> pd.DataFrame:
    """Return the rates of a study, each with the half-width promised before it."""
    rng = np.random.default_rng([seed, n, 5])
    turns = study(pool, rng)
    gold, inclusion = coded(turns, n, way, rng)
    rates = powered_rates(turns, gold, by="group", cluster="cluster")
    truth = {code: truth_of(pool, code) for codes in CODES.values() for code in codes}
    rates["truth"] = [truth[code][group] for code, group in zip(rates["code"], rates["group"], strict=True)]
    rates["promised"] = [
        half_width(turns.assign(p=turns[f"p_{code}"])[own], inclusion[own])
        for code, group in zip(rates["code"], rates["group"], strict=True)
        if (own := (turns["group"].eq(group) & turns[f"p_{code}"].notna()).to_numpy()).any()
    ]
    return rates


def renewed(pool: pd.DataFrame, runs: int) -> pd.DataFrame:
    """Return how near promises come to the half-width obtained: the first, and that after 50 coded turns.

    ``ratio``: median promise over median half-width; ``within a fifth``: share of studies whose promise is so near to
    the half-width that they get; ``too narrow``: promised less than 80% of that.
    """
    rows = []
    for turns, n in product((pool.assign(group="all"), pool), SIZES):
        found = pd.concat([_renewed(turns, n, seed) for seed in range(runs)])
        for (code, group), part in found.groupby(["code", "group"], sort=False):
            half = (part["hi"] - part["lo"]) / 2
            row: dict[str, object] = {"turns": n, "code": code, "group": group, "obtained": half.median()}
            for name in ("first", "renewed"):
                near = part[name] / half
                row |= {f"{name}: ratio": part[name].median() / half.median()}
                row |= {
                    f"{name}: within a fifth": near.between(0.8, 1.2).mean(),
                    f"{name}: too narrow": (near < 0.8).mean(),
                }
            rows.append(row)
    table = pd.DataFrame(rows)
    numbers = table.select_dtypes("number").columns[1:]
    means = table.groupby(["turns", "group"], sort=False)[list(numbers)].mean().reset_index().assign(code="mean")
    return pd.concat([table, means], ignore_index=True)


def _renewed(pool: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """Return the rates of a study, with its promise before, and after the first 50 turns, sessions in random order."""
    rng = np.random.default_rng([seed, n, 5])
    turns = study(pool, rng)
    gold, inclusion = coded(turns, n, UNSURE, rng)
    rates = powered_rates(turns, gold, by="group", cluster="cluster")
    drawn_turns = gold.drop_duplicates(["session_id", "turn"])
    order = {name: at for at, name in enumerate(rng.permutation(drawn_turns["session_id"].unique()))}
    first = drawn_turns.iloc[drawn_turns["session_id"].map(order).argsort(kind="stable")[:FEWEST_CODED]]
    seen = pd.MultiIndex.from_frame(turns[["session_id", "turn"]]).isin(
        pd.MultiIndex.from_frame(first[["session_id", "turn"]])
    )
    session = pd.factorize(turns["session_id"])[0].astype(np.int64)
    promises: dict[str, list[float]] = {"first": [], "renewed": []}
    for code, group in zip(rates["code"], rates["group"], strict=True):
        own = (turns[f"p_{code}"].notna() & turns["group"].eq(group)).to_numpy()
        p = turns.loc[own, f"p_{code}"].to_numpy()
        now = recalibrated(p, np.where(seen, turns[f"true_{code}"], np.nan)[own], session[own])
        for name, values in (("first", p), ("renewed", now)):
            promises[name].append(half_width(turns[own].assign(p=values), inclusion[own]))
    return rates.assign(**promises)


# Turns saved


def saved(pool: pd.DataFrame, n: int = 300) -> pd.DataFrame:
    """Return how many turns fewer give the same interval: one less the ratio of the variances that the draws add.

    What sessions differ by is in every interval alike, and what a draw adds is in proportion to 1 / turns.
    """
    together = pool.assign(group="all")
    every = [code for codes in CODES.values() for code in codes]
    rows = [
        {"sessions": "AnnoMI", "groups": "two, compared" if turns is pool else "one", "sample for": what, **row}
        for turns in (together, pool)
        for what, names in (("all five codes", every), *((code, [code]) for code in every))
        for row in _saved(turns, names, n)
    ]
    for spread in (1.0, 2.0, 4.0, 6.0):
        for rate in (0.3, 0.1, 0.03):
            turns = calibrated(np.random.default_rng(7), rate, spread)
            rows += [
                {"sessions": f"simulated, {rate:.0%}", "groups": "one", "sample for": "the code", **row}
                for row in _saved(turns, ["code"], n)
            ]
    return pd.DataFrame(rows)


def calibrated(rng: np.random.Generator, rate: float, spread: float) -> pd.DataFrame:
    """Return turns of 300 sessions and a calibrated machine that tells them apart the better, the larger `spread`."""
    sizes = rng.integers(20, 80, 300)
    score = special.logit(rng.beta(8 * rate, 8 * (1 - rate), 300).clip(0.001, 0.999)).repeat(sizes)
    p = special.expit(score * (1 + 0.2 * spread) + rng.normal(0, spread, len(score)))
    sessions = np.arange(300).astype(str).repeat(sizes)
    about = {"session_id": sessions, "turn": np.arange(len(p)), "role": "therapist", "group": "all"}
    return pd.DataFrame(about).assign(p_code=p, true_code=(rng.random(len(p)) < p).astype(float))


def _saved(turns: pd.DataFrame, codes: list[str], n: int) -> Iterator[dict[str, object]]:
    """Yield for each code the turns saved, in the mean of groups, and how well the machine agrees with people."""
    from sklearn.metrics import cohen_kappa_score

    turns = turns[turns[[f"p_{code}" for code in codes]].notna().any(axis=1)].reset_index(drop=True)
    weights = weights_in_rates(turns)
    ways = {way: inclusions(turns, codes, n, way) for way in (RANDOM, EVEN, UNSURE)}
    for code in codes:
        known = turns[f"p_{code}"].notna().to_numpy()
        y, p = (turns[f"{name}_{code}"].to_numpy()[known] for name in ("true", "p"))
        off = pd.Series(y - p).groupby(turns["group"].to_numpy()[known])
        square = (weights[known] * (y - p - off.transform("mean").to_numpy())) ** 2
        added = {way: float(np.sum(square / inclusion[known])) for way, inclusion in ways.items()}
        yield {
            "code": code, "rate": float(y.mean()), "kappa": float(cohen_kappa_score(y, p > 0.5)),
            "saved against random": 1 - added[UNSURE] / added[RANDOM],
            "by evenness alone": 1 - added[EVEN] / added[RANDOM],
            "by uncertainty": 1 - added[UNSURE] / added[EVEN],
        }  # fmt: skip


TABLES: dict[str, Callable[[Any, int], pd.DataFrame]] = {
    "coding_promised": promised,
    "coding_renewed": renewed,
    "coding_saved": lambda pool, _: saved(pool),
    "coding_coverage": lambda _, runs: coverage(runs),
}


if __name__ == "__main__":
    main()
