"""How often intervals of slopes between measures and scores are right, and how often shuffled scores give a claim.

Run from the root: ``python -m benchmarks.outcomes_coverage [--runs N] [--jobs N]``. It prints five tables for
docs/validity.md, by simulation; a share of N runs has a Monte Carlo error, which stands in each head. With the defaults
it takes some ten minutes of two processor cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

from benchmarks._markdown import markdown
from therapy_analytics.clusters import Floats, Ints
from therapy_analytics.outcomes._associations import BETTER, WORSE, associations
from therapy_analytics.outcomes._gold import SCORE_ON_RATE, corrected_slopes
from therapy_analytics.outcomes._imputation import SHIFT, combined, drawn_codes
from therapy_analytics.outcomes._levels import COUNSELORS, LEVELS, WITHIN, nesting
from therapy_analytics.outcomes._mixed import nested_fit

RUNS = 400
SHUFFLES = 200
TURNS = 30
N_GOLD = 10
IMPUTATIONS = 20
_LARGE = 200_000
_SCALE = float(np.sqrt(1 + (16 * np.sqrt(3) / (15 * np.pi) * SHIFT) ** 2))
WAYS = ("decisions", "Rubin's rules", "mean of imputed")
Job = Callable[[int], dict[str, float]]


@dataclass(frozen=True, slots=True)
class Design:
    """Counselors, clients of each, sessions of each client; where `uneven`, clients have 1 to twice as many."""

    counselors: int
    clients: int
    sessions: int
    uneven: bool = False

    def people(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """Return the client and the counselor of each session."""
        n = self.counselors * self.clients
        sizes = rng.integers(1, 2 * self.sessions, n) if self.uneven else np.full(n, self.sessions)
        client = np.repeat(np.arange(n), sizes)
        return client.astype(np.int64), (client // self.clients).astype(np.int64)

    def __str__(self) -> str:
        sessions = f"1 to {2 * self.sessions - 1}" if self.uneven else str(self.sessions)
        return f"{self.counselors} x {self.clients} x {sessions}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help="of each design; half as many shuffled data sets")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    asked = parser.parse_args()
    with ProcessPoolExecutor(asked.jobs) as pool:
        for name in asked.tables:
            title, rows = TABLES[name]
            print(f"\n### {title}\n\n{markdown(list(rows(pool, asked.runs)))}", flush=True)


def shares(pool: ProcessPoolExecutor, job: Job, runs: int) -> pd.Series:
    """Return the mean of each number over runs, of those runs that have it."""
    return pd.DataFrame(pool.map(job, range(runs), chunksize=max(1, runs // 20))).mean()


def percent(value: float) -> str:
    """Return a share in per cent; empty where there is none."""
    return "" if np.isnan(value) else f"{100 * value:.1f}"


def error(runs: int, share: float = 0.95) -> str:
    """Return the Monte Carlo error of a share, for the head of a column."""
    return f"± {100 * np.sqrt(share * (1 - share) / runs):.1f}"


# Mixed models

DESIGNS = (
    Design(1, 12, 6), Design(1, 12, 6, uneven=True), Design(1, 8, 3, uneven=True), Design(6, 3, 4),
    Design(6, 3, 4, uneven=True), Design(8, 5, 1), Design(20, 5, 3, uneven=True),
)  # fmt: skip
KINDS = {
    "normal": "normal, a third of the variance each between clients and counselors",
    "none": "normal, no variance between clients or counselors",
    "skewed": "as the first, exponential",
    "slopes": "as the first, slopes differ between clients (SD .3)",
}


def mixed_rows(pool: ProcessPoolExecutor, runs: int) -> Iterator[Sequence[str]]:
    """Yield the coverage of slopes at each level."""
    heads = [f"{level.replace('_', ' ')} {error(runs)}" for level in LEVELS]
    yield ["counselors x clients x sessions", "scores", *heads]
    for kind, name in KINDS.items():
        for design in DESIGNS if kind in ("normal", "none") else DESIGNS[1::3]:
            found = shares(pool, partial(_mixed, design, kind), runs)
            yield [str(design), name, *(percent(found.get(level, np.nan)) for level in LEVELS)]


def _mixed(design: Design, kind: str, seed: int) -> dict[str, float]:
    """Return whether the interval of each level's slope holds the true one."""
    rng = np.random.default_rng([seed, design.counselors, design.clients, design.sessions, design.uneven])
    client, counselor = design.people(rng)
    draw = partial(rng.exponential, 1.0) if kind == "skewed" else partial(rng.normal, 0.0, 1.0)
    x = rng.normal(size=len(client)) + rng.normal(size=client.max() + 1)[client]
    x += rng.normal(size=counselor.max() + 1)[counselor]
    noise = np.asarray(draw(len(client)))
    if kind != "none":
        noise = noise + np.asarray(draw(client.max() + 1))[client] + np.asarray(draw(counselor.max() + 1))[counselor]
    nested = nesting(client, counselor)
    parts = nested.split(x)
    y = noise + 0.3 * sum(parts.values())
    if kind == "slopes" and WITHIN in parts:
        y = y + 0.3 * rng.normal(size=client.max() + 1)[client] * parts[WITHIN]
    fit = nested_fit(y, np.column_stack([*parts.values(), np.ones(len(y))]), nested.client, nested.counselor)
    inside = np.abs(fit.slopes - 0.3) <= stats.t.ppf(0.975, fit.df) * fit.errors
    return {level: float(inside[j]) for j, level in enumerate(parts) if nested.free[level] > 1}


# The next score

NEXT_DESIGNS = (Design(1, 20, 3), Design(1, 20, 6), Design(1, 60, 4))
NEXT_KINDS = {
    "alone": "goes with the score of its session alone",
    "carried": "as the first, and scores carry over (.4)",
    "unrelated": "goes with nothing, and scores carry over (.4)",
}


def next_rows(pool: ProcessPoolExecutor, runs: int) -> Iterator[Sequence[str]]:
    """Yield the coverage of the slope of the next score, which is 0, given this session's score."""
    yield ["the measure", "counselors x clients x sessions", f"coverage {error(runs)}", "mean slope"]
    for kind, name in NEXT_KINDS.items():
        for design in NEXT_DESIGNS:
            found = shares(pool, partial(_next, design, kind), runs)
            yield [name, str(design), percent(found["inside"]), f"{found['slope']:+.3f}"]


def _next(design: Design, kind: str, seed: int) -> dict[str, float]:
    """Return whether the interval holds 0, and the slope."""
    rng = np.random.default_rng([seed, design.clients, design.sessions])
    client, _ = design.people(rng)
    number = np.tile(np.arange(1.0, design.sessions + 1), design.clients)
    x = rng.normal(size=len(client)) + rng.normal(size=design.clients)[client]
    y = (
        rng.normal(size=len(client))
        + rng.normal(size=design.clients)[client]
        + (0.0 if kind == "unrelated" else 0.5) * x
    )
    for i in np.flatnonzero(number > 1) if kind != "alone" else ():
        y[i] += 0.4 * y[i - 1]
    joined = pd.DataFrame({"session_id": np.arange(len(y)).astype(str), "client": client.astype(str), "counselor": ""})
    joined = joined.assign(number=number, x=x, y=y)
    row = associations(joined, ["x"], ["y"], {"y": True}, targets=["next"])[["lo", "slope", "hi"]]
    low, slope, high = row.to_numpy(dtype=np.float64)[0].tolist()
    return {"inside": float(low <= 0 <= high), "slope": slope}


# Imputation from calibrated probabilities

IMPUTED = {
    "calibrated": "calibrated; sessions differ (SD 1 of log-odds)",
    "turns": "calibrated; sessions do not differ",
    "score": "the tagger errs more where scores are high",
}


def imputed_rows(pool: ProcessPoolExecutor, runs: int) -> Iterator[Sequence[str]]:
    """Yield the coverage of the standardised slope on a true rate, and of the slope of a true rate on a predictor."""
    heads = [f"score on rate, {one}: coverage {error(runs)} (mean slope)" for one in WAYS]
    yield ["tagger", "sessions", "true slope", *heads, *(f"rate on predictor, {one}" for one in WAYS)]
    for kind, name in IMPUTED.items():
        truth = _slopes_of_truth(kind)
        for n in (30, 100, 200):
            found = shares(pool, partial(_imputed, kind, truth, n), runs)
            cells = [f"{percent(found[way])} ({found[f'{way} slope']:.2f})" for way in WAYS]
            outcome = [percent(found[f"outcome {way}"]) for way in WAYS]
            yield [name, str(n), f"{truth[0]:.2f}", *cells, *outcome]
    truth = _slopes_of_truth("calibrated")
    found = shares(pool, partial(_imputed_within, truth), runs)
    cells = ["", "", f"{percent(found['within'])} ({found['slope']:.2f})", "", "", ""]
    yield ["calibrated; within clients", "20 clients x 6", f"{truth[0]:.2f}", *cells]


def _talk(n: int, kind: str, rng: np.random.Generator) -> tuple[Floats, Floats, Floats, Floats]:
    """Return true rates (n,), probabilities (n, TURNS), scores (n,) and a predictor of the rates (n,)."""
    level, noise = rng.normal(0, 0.8, n), rng.normal(size=n)
    logit = -1 + level[:, None] + rng.normal(0, 1.5, (n, TURNS))
    shift = np.zeros(n) if kind == "turns" else rng.normal(0, SHIFT, n)
    scale = 1.0 if kind == "turns" else _SCALE
    rate = np.mean(rng.random((n, TURNS)) < special.expit(logit * scale + shift[:, None]), axis=1)
    score = 0.4 * (rate - 0.34) / 0.2 + noise
    if kind == "score":
        logit = logit + 0.7 * noise[:, None]
    return rate, special.expit(logit), score, 0.5 * level / 0.8 + rng.normal(size=n)


def _slopes_of_truth(kind: str) -> tuple[float, float]:
    """Return the true slopes: the standardised one of the score on the rate, that of the rate on the predictor."""
    rate, _, score, predictor = _talk(_LARGE // 4, kind, np.random.default_rng(0))
    return float(np.corrcoef(rate, score)[0, 1]), _slope(predictor, rate)[0]


def _imputed(kind: str, truth: tuple[float, float], n: int, seed: int) -> dict[str, float]:
    """Return whether each way's interval holds the truth, and its slope."""
    rng = np.random.default_rng([seed, n])
    _, likely, score, predictor = _talk(n, kind, rng)
    shift = 0.0 if kind == "turns" else SHIFT
    draws = [_drawn(likely, rng, shift) for _ in range(IMPUTATIONS)]
    decided, mean = np.mean(likely >= 0.5, axis=1), np.mean(draws, axis=0)
    on_rate = [_slope(_unit(one), _unit(score)) for one in (decided, *draws)]
    of_rate = [_slope(predictor, one) for one in (decided, *draws, mean)]
    row = _associated(draws, score, np.full(n, ""))[["slope", "hi", "df"]]
    slope, high, df = row.to_numpy(dtype=np.float64)[0].tolist()
    ends = {
        WAYS[0]: (*on_rate[0], n - 2.0),
        WAYS[1]: _pooled(on_rate[1:], n),
        WAYS[2]: (slope, (high - slope) / float(stats.t.ppf(0.975, df)), df),
    }
    ends |= {f"outcome {WAYS[0]}": (*of_rate[0], n - 2.0), f"outcome {WAYS[1]}": _pooled(of_rate[1:-1], n)}
    ends[f"outcome {WAYS[2]}"] = (*of_rate[-1], n - 2.0)
    found = {f"{way} slope": value for way, (value, _, _) in ends.items()}
    for way, (value, deviation, free) in ends.items():
        true = truth[1] if way.startswith("outcome") else truth[0]
        found[way] = float(abs(value - true) <= stats.t.ppf(0.975, free) * deviation)
    return found


def _pooled(estimates: Sequence[tuple[float, float]], n: int) -> tuple[float, float, float]:
    """Return slope, error and degrees of freedom by Rubin's rules."""
    slopes, errors = zip(*estimates, strict=True)
    pooled = combined(slopes, errors, df=n - 2)
    return pooled.value, pooled.error, pooled.df


def _unit(values: Floats) -> Floats:
    """Return values in standard deviations."""
    return np.asarray(values / max(float(values.std(ddof=1)), 1e-12))


def _slope(x: Floats, y: Floats) -> tuple[float, float]:
    """Return the slope of `y` on `x` by least squares, and its standard error."""
    x, y = x - x.mean(), y - y.mean()
    square = max(float(x @ x), 1e-12)
    slope = float(x @ y) / square
    left = y - slope * x
    return slope, float(np.sqrt(left @ left / (len(x) - 2) / square))


def _drawn(likely: Floats, rng: np.random.Generator, shift: float) -> Floats:
    """Return rates with codes drawn anew: each session is given as a code of its own, as shifts are those of codes."""
    names = [f"s{i}" for i in range(len(likely))]
    return np.asarray(drawn_codes(names, likely.T, rng, shift).mean(axis=0), dtype=np.float64)


def _associated(draws: Sequence[Floats], score: Floats, clients: Sequence[str] | Any) -> pd.DataFrame:
    """Return the associations of a score with an imputed rate."""
    ids = [f"s{i}" for i in range(len(score))]
    joined = pd.DataFrame({"session_id": ids, "client": clients, "counselor": "", "number": 1.0, "y": score})
    imputations = [pd.DataFrame({"session_id": ids, "x": one}) for one in draws]
    return associations(joined.assign(x=0.0), ["x"], ["y"], {"y": True}, imputations=imputations, targets=["session"])


def _imputed_within(truth: tuple[float, float], seed: int) -> dict[str, float]:
    """Return whether the interval within clients holds the truth; the client's level is added to scores alone."""
    rng, clients = np.random.default_rng([seed, 7]), np.repeat(np.arange(20), 6)
    _, likely, score, _ = _talk(120, "calibrated", rng)
    draws = [_drawn(likely, rng, SHIFT) for _ in range(IMPUTATIONS)]
    names = [f"c{one}" for one in clients]
    table = _associated(draws, score + rng.normal(size=20)[clients], names).set_index("level")
    low, slope, high = table.loc[[WITHIN], ["lo", "slope", "hi"]].to_numpy(dtype=np.float64)[0].tolist()
    return {"within": float(low <= truth[0] <= high), "slope": slope}


# Codes by hand

BIASED = {
    "constant": "misses a quarter, gives a tenth too many; sessions differ",
    "score": "gives more where scores are high",
    "rate": "gives fewer where there are many",
    "clients": "as the first; five sessions a client, alike (.3)",
}


def gold_rows(pool: ProcessPoolExecutor, runs: int) -> Iterator[Sequence[str]]:
    """Yield the coverage of slopes with ten sessions coded by hand, and how wide intervals are."""
    ways = (f"machine alone {error(runs)}", f"corrected {error(runs)}", "by hand alone", "width, of by hand alone")
    heads = [f"{way}: {one}" for way in ("score on rate", "rate on score") for one in ways]
    yield ["tagger", "sessions", *heads]
    for kind, name in BIASED.items():
        truth = _gold_truth(kind)
        for n in (30, 100, 200):
            found = shares(pool, partial(_gold, kind, truth, n), runs)
            cells = [
                percent(found[f"{way} {one}"]) if one != "width" else f"{np.exp(found[f'{way} {one}']):.2f}"
                for way in ("x", "y") for one in ("machine", "corrected", "gold", "width")
            ]  # fmt: skip
            yield [name, str(n), *cells]


def _coded(n: int, kind: str, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return true rates, the machine's rates and scores, (n,) each."""
    clients = np.arange(n) // 5
    alike = rng.normal(size=(2, n))[:, clients] if kind == "clients" else np.zeros((2, n))
    own = np.sqrt(0.7) if kind == "clients" else 1.0
    level = own * rng.normal(size=n) + np.sqrt(0.3) * alike[0]
    rate = rng.binomial(TURNS, special.expit(-0.6 + 0.7 * level)) / TURNS
    noise = own * rng.normal(size=n) + np.sqrt(0.3) * alike[1]
    score = 0.4 * (rate - 0.37) / 0.17 + noise
    lean = {"score": 0.5 * score, "rate": -4.0 * (rate - 0.37)}.get(kind, 0.0)
    shift = rng.normal(0, 0.5, n) + lean
    hits = rng.binomial((rate * TURNS).round().astype(np.int64), special.expit(1.1 + shift))
    false = rng.binomial((TURNS - rate * TURNS).round().astype(np.int64), special.expit(-2.2 + shift))
    return rate, (hits + false) / TURNS, score


def _gold_truth(kind: str) -> tuple[float, float]:
    """Return the true slopes of the score on the rate and of the rate on the score."""
    rate, _, score = _coded(_LARGE, kind, np.random.default_rng(0))
    both = np.cov(rate, score)
    return float(both[0, 1] / both[0, 0]), float(both[0, 1] / both[1, 1])


def _gold(kind: str, truth: tuple[float, float], n: int, seed: int) -> dict[str, float]:
    """Return whether each interval holds the true slope, and the log of how wide it is beside that by hand alone."""
    rng = np.random.default_rng([seed, n])
    rate, machine, score = _coded(n, kind, rng)
    ids = np.array([f"s{i}" for i in range(n)])
    by_hand = rng.choice(n, N_GOLD, replace=False)
    joined = pd.DataFrame({"session_id": ids, "x": machine, "y": score})
    people = pd.DataFrame({"session_id": ids[by_hand], "x": rate[by_hand]})
    table = corrected_slopes(joined, people, ["x"], ["y"], seed=seed).set_index("direction")
    found = {}
    for direction, row in table.iterrows():
        way, true = ("x", truth[0]) if direction == SCORE_ON_RATE else ("y", truth[1])
        for name, before in (("machine", "machine_"), ("corrected", ""), ("gold", "gold_")):
            found[f"{way} {name}"] = float(row[f"{before}lo"] <= true <= row[f"{before}hi"])
        width = (row["hi"] - row["lo"]) / (row["gold_hi"] - row["gold_lo"])
        found[f"{way} width"] = float(np.log(width))
    return found


# Shuffled scores

SHUFFLED = (Design(1, 12, 6), Design(6, 5, 4, uneven=True), Design(12, 3, 3), Design(10, 30, 1))
N_MEASURES = 10


def shuffled_rows(pool: ProcessPoolExecutor, runs: int) -> Iterator[Sequence[str]]:
    """Yield the share of data sets with shuffled scores in which anything is claimed that shuffling made untrue.

    Scores that are shuffled within counselors keep what counselors differ in, and so what truly goes with it between
    counselors: there, claims within and between clients alone are counted. Scores that are shuffled among all sessions
    go with nothing: all claims are counted.
    """
    ways = ("within counselors: claims within or between clients", "among all sessions: any claim")
    yield ["counselors x clients x sessions", "data sets", *(f"{way} {error(runs // 2, 0.05)}" for way in ways)]
    for design in SHUFFLED:
        found = shares(pool, partial(_shuffled, design), runs // 2)
        yield [str(design), str(runs // 2), percent(found["within"]), percent(found["all"])]


def study(design: Design, rng: np.random.Generator) -> pd.DataFrame:
    """Return an invented study: two scales and ten measures, rates, counts and slopes, that go with the scores."""
    client, counselor = design.people(rng)
    n, people = len(client), client.max() + 1
    unwell = rng.normal(size=people)[client] + 0.7 * rng.normal(size=n)
    about = pd.DataFrame({"session_id": [f"s{i}" for i in range(n)], "client": [f"c{i}" for i in client]})
    about["counselor"] = [f"k{i}" for i in counselor] if design.counselors > 1 else ""
    about["number"] = pd.Series(client).groupby(client).cumcount() + 1.0
    words = np.exp(rng.normal(7, 0.5, (2, n))).round()
    level = 0.4 * unwell + rng.normal(size=(N_MEASURES, people))[:, client] + rng.normal(size=(N_MEASURES, n))
    kinds = (
        lambda one: rng.binomial(25, special.expit(one - 1)) / 25,
        lambda one: rng.poisson(np.exp(0.8 * one - 1)).astype(np.float64),
        lambda one: one,
    )
    measures = {f"m{i}": kinds[i % 3](level[i]) for i in range(N_MEASURES)}
    scores = {
        "phq": np.clip(np.round(9 + 5 * unwell), 0, 27),
        "ors": np.clip(24 - 6 * unwell + rng.normal(size=n), 0, 40),
    }
    return about.assign(n_words_therapist=words[0], n_words_client=words[1], **measures, **scores)


def _shuffled(design: Design, seed: int) -> dict[str, float]:
    """Return whether anything is claimed of scores shuffled within counselors, and among all sessions."""
    rng = np.random.default_rng([seed, design.counselors, design.sessions])
    joined = study(design, rng)
    within = _claims(joined, joined["counselor"], rng)
    found = {"within": float(not within.isin((COUNSELORS,)).all())}
    return found | {"all": float(len(_claims(joined, pd.Series("", joined.index), rng)) > 0)}


def _claims(joined: pd.DataFrame, groups: pd.Series, rng: np.random.Generator) -> pd.Series:
    """Return the levels of the claims that are made of scores shuffled within groups of sessions."""
    order = joined.groupby(groups, sort=False)["phq"].transform(lambda one: rng.permutation(one.index)).to_numpy()
    scores = joined[["phq", "ors"]].iloc[order.astype(np.int64)].to_numpy()
    joined = joined.assign(phq=scores[:, 0], ors=scores[:, 1])
    measures = [f"m{i}" for i in range(N_MEASURES)]
    table = associations(joined, measures, ["phq", "ors"], {"phq": False, "ors": True})
    return table.loc[table["finding"].isin((BETTER, WORSE)), "level"]


TABLES: dict[str, tuple[str, Callable[[ProcessPoolExecutor, int], Iterator[Sequence[str]]]]] = {
    "mixed": ("Slopes by mixed models: coverage of 95 % intervals (%)", mixed_rows),
    "next": ("The next score given this one's, which nothing predicts: coverage of 95 % intervals (%)", next_rows),
    "imputed": ("Slopes with imputed codes: coverage of 95 % intervals (%)", imputed_rows),
    "gold": (f"Slopes with {N_GOLD} sessions coded by hand: coverage of 95 % intervals (%)", gold_rows),
    "shuffled": ("Scores shuffled: data sets with a claim that is not so (%)", shuffled_rows),
}


if __name__ == "__main__":
    main()
