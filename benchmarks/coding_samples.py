"""Are rates from coding samples unbiased, do their intervals hold, and how many turns does the design save.

Run from the root: ``python -m benchmarks.coding_samples [--data CORPORA] [--runs N] [--out FOLDER]``. It prints
Markdown; with ``--out`` it also writes the tables as coding_coverage.csv, coding_promised.csv and coding_saved.csv.

Simulated sessions: recordings of two groups whose rates differ, as do the tagger's errors, which are large and
one-sided; its probabilities are too sure of themselves. AnnoMI (with ``--data``): studies of recordings drawn with
replacement from AnnoMI, whose human codes are the truth. The machine there is a logistic regression on the words of a
turn and of the one before, fitted on other recordings (five folds), which is weaker than the taggers of the package: it
gives every turn the probability of a machine that has not seen its recording.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from benchmarks._markdown import markdown
from therapy_analytics.clusters import Floats
from therapy_analytics.compare._ppi import powered_differences, powered_rates
from therapy_analytics.sampling._design import (
    FLOOR,
    design,
    drawn,
    inclusion_probabilities,
    uncertainty,
    weights_in_rates,
)
from therapy_analytics.sampling._expected import half_width

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
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--out", type=Path, help="folder for the tables as CSV")
    given = parser.parse_args()
    pool = annomi(given.data) if given.data else None
    for name, make in TABLES.items():
        if pool is None and name != "coding_coverage":
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


def annomi(data: Path) -> pd.DataFrame:
    """Return the turns of AnnoMI with people's codes, and probabilities of a model that had not seen the recording."""
    rows = pd.read_csv(data / "annomi" / "annomi.csv").drop_duplicates(["transcript_id", "utterance_id"])
    rows = rows.sort_values(["transcript_id", "utterance_id"]).reset_index(drop=True)
    turns = pd.DataFrame({
        "session_id": rows["transcript_id"].astype(str), "turn": rows.groupby("transcript_id").cumcount(),
        "role": rows["interlocutor"], "group": rows["mi_quality"], "cluster": rows["source_group"].astype(str),
    })  # fmt: skip
    therapist, talk = rows["interlocutor"] == "therapist", rows["client_talk_type"]
    columns = {"mi_question": "question", "mi_reflection": "reflection", "mi_input": "therapist_input"}
    flags = {code: rows[f"{column}_exists"].astype(str).eq("True") for code, column in columns.items()}
    flags |= {f"mi_{kind}": talk.eq(kind) for kind in ("change", "sustain")}
    words = rows["utterance_text"].astype(str)
    before = words.groupby(rows["transcript_id"]).shift(fill_value="")
    for role, codes in CODES.items():
        own = (therapist if role == "therapist" else ~therapist).to_numpy()
        for code in codes:
            turns[f"true_{code}"] = np.where(own, flags[code].astype(float), np.nan)
            turns[f"p_{code}"] = np.nan
            turns.loc[own, f"p_{code}"] = _unseen(words[own], before[own], flags[code][own], turns["cluster"][own])
    return turns


def _unseen(words: pd.Series, before: pd.Series, truth: pd.Series, recording: pd.Series) -> Floats:
    """Return the probability of a code by a model fitted on other recordings (n_turns,)."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict

    sides = [
        TfidfVectorizer(ngram_range=(1, most), min_df=3, sublinear_tf=True, token_pattern=r"[\w']+|[?.!]")
        for most in (2, 1)
    ]
    x = hstack([side.fit_transform(text) for side, text in zip(sides, (words, before), strict=True)]).tocsr()
    folds = GroupKFold(5).split(x, truth, recording)
    model = LogisticRegression(C=3, max_iter=500)
    return np.asarray(cross_val_predict(model, x, truth.astype(int), cv=list(folds), method="predict_proba")[:, 1])


def study(pool: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return as many recordings of each group as AnnoMI has, drawn with replacement."""
    parts = []
    for group, part in pool.groupby("group"):
        by_recording = dict(list(part.groupby("cluster")))
        names = list(by_recording)
        for number, at in enumerate(rng.integers(0, len(names), len(names))):
            one = by_recording[names[at]]
            own = f"{group} {number}"
            parts.append(one.assign(session_id=own + " " + one["session_id"], cluster=own))
    return pd.concat(parts, ignore_index=True)


def promised(pool: pd.DataFrame, runs: int) -> pd.DataFrame:
    """Return the half-widths that are promised and those that studies get, with their coverage."""
    rows = []
    for way in (RANDOM, UNSURE):
        for n in SIZES:
            found = pd.concat([_kept(pool, way, n, seed) for seed in range(runs)])
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
    "coding_saved": lambda pool, _: saved(pool),
    "coding_coverage": lambda _, runs: coverage(runs),
}


if __name__ == "__main__":
    main()
