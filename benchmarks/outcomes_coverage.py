"""How often intervals of slopes between measures and scores are right, and how often trends or shuffles give claims.

Run from the root: ``python -m benchmarks.outcomes_coverage [--runs N] [--jobs N]``. It prints five tables for
docs/validity.md, by simulation; a share of N runs has a Monte Carlo error, which stands in each head. With the defaults
it takes some hour of two processor cores; ``--tables trend --runs 100`` takes three minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy import special, stats

from benchmarks._markdown import markdown
from therapy_analytics.core.clusters import Floats, Ints
from therapy_analytics.stats.outcomes.associations import BETTER, LEVEL, WORSE, associations
from therapy_analytics.stats.outcomes.corrected import RATE_ON_SCORE, SCORE_ON_RATE, drawn_slopes
from therapy_analytics.stats.outcomes.estimators import basis, nested_fit, robust_slope, trend, within
from therapy_analytics.stats.outcomes.levels import CLIENTS as BETWEEN
from therapy_analytics.stats.outcomes.levels import COUNSELORS, LEVELS, WITHIN, nesting

RUNS = 400
SHUFFLES = 200
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
    number = (np.arange(len(y)) - np.flatnonzero(np.diff(client, prepend=-1))[client] + 1.0).astype(np.float64)
    held = np.column_stack([np.ones(len(y)), trend(number)])
    fit = nested_fit(y, np.column_stack([*parts.values(), basis(held)]), nested.client, nested.counselor)
    found = {level: (fit.slopes[j], fit.errors[j], fit.df[j]) for j, level in enumerate(parts)}
    if WITHIN in parts:
        deviations = within(np.column_stack([y, x, trend(number, levels=True)]), client)
        found[WITHIN] = robust_slope(deviations[:, 0], deviations[:, 1], deviations[:, 2:], client)
    ends = {level: (abs(slope - 0.3), stats.t.ppf(0.975, df) * error) for level, (slope, error, df) in found.items()}
    return {level: float(off <= half) for level, (off, half) in ends.items() if nested.free[level] > 1}


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


# Trends


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Scores that fall by 2 SD of a session over a treatment, measures that drift by 1, and no link between them.

    Attributes
    ----------
    clients, sessions : int
        How many, and of each client at most.
    shape : str
        Of both trends, one of `SHAPES`.
    uneven : bool
        Clients have a third of the sessions or more, and a fifth of the sessions is missing.
    alike : float
        Autocorrelation of a client's scores and measures.
    own : float
        Standard deviation between clients of how steep their trends are, as a share of the trend.
    of_counselor : float
        The same between counselors of five clients each.
    """

    clients: int
    sessions: int
    shape: str = "steady"
    uneven: bool = False
    alike: float = 0.0
    own: float = 0.0
    of_counselor: float = 0.0

    def table(self, rng: np.random.Generator, link: float) -> pd.DataFrame:
        """Return sessions with `MEASURES` and a score ``y``, which the first of them moves by `link`."""
        n, sessions = self.clients, self.sessions
        sizes = rng.integers(max(2, sessions // 3), sessions + 1, n) if self.uneven else np.full(n, sessions)
        client = np.repeat(np.arange(n), sizes)
        number = np.concatenate([np.arange(1.0, size + 1) for size in sizes])
        done, course = (number - 1) / (sessions - 1), SHAPES[self.shape](number, sessions)

        def drawn(size: float) -> Floats:
            noise = rng.normal(size=(n, sessions + 20))
            for at in range(1, sessions + 20):
                noise[:, at] = self.alike * noise[:, at - 1] + np.sqrt(1 - self.alike**2) * noise[:, at]
            steep = self.own * rng.normal(size=n)[client] + self.of_counselor * rng.normal(size=n)[client // 5]
            level = rng.normal(size=n)[client]
            return np.asarray(size * (course + steep * done) + level + noise[client, 19 + number.astype(np.int64)])

        measures = {name: drawn(1.0) for name in MEASURES}
        score = drawn(-2.0) + link * measures[MEASURES[0]]
        about = pd.DataFrame({"session_id": [f"s{i}" for i in range(len(client))], "client": client.astype(str)})
        counselor = (client // 5).astype(str) if self.of_counselor else ""
        about = about.assign(counselor=counselor, number=number, y=score, **measures)
        return about[rng.random(len(client)) >= 0.2] if self.uneven else about

    def __str__(self) -> str:
        told = [f"{self.clients} x {self.sessions}, {self.shape}"]
        told += ["uneven"] if self.uneven else []
        told += [f"autocorrelated ({self.alike})"] if self.alike else []
        told += [f"clients differ ({self.own})"] if self.own else []
        told += [f"counselors differ ({self.of_counselor})"] if self.of_counselor else []
        return ", ".join(told)


MEASURES = ("m0", "m1", "m2")
SHAPES: dict[str, Callable[[Floats, int], Floats]] = {
    "no trend": lambda number, _: 0 * number,
    "steady": lambda number, sessions: (number - 1) / (sessions - 1),
    "slowing": lambda number, sessions: np.log(number) / np.log(sessions),
    "fast, then level": lambda number, _: 1 - np.exp(-(number - 1) / 1.5),
    "after the first session": lambda number, _: (number > 1).astype(np.float64),
    "at half time": lambda number, sessions: (number > sessions / 2).astype(np.float64),
}
COURSES = (
    Course(clients=30, sessions=8, shape="no trend"), Course(clients=30, sessions=8), Course(clients=10, sessions=4),
    Course(clients=10, sessions=8), Course(clients=10, sessions=12), Course(clients=60, sessions=4),
    Course(clients=60, sessions=12), Course(clients=30, sessions=8, shape="slowing"),
    Course(clients=60, sessions=12, shape="fast, then level"), Course(clients=10, sessions=8, shape="fast, then level"),
    Course(clients=60, sessions=8, shape="after the first session"),
    Course(clients=8, sessions=8, shape="after the first session"),
    Course(clients=60, sessions=8, shape="at half time"),
    Course(clients=30, sessions=12, uneven=True), Course(clients=30, sessions=12, shape="slowing", uneven=True),
    Course(clients=30, sessions=8, alike=0.6), Course(clients=10, sessions=12, alike=0.6),
    Course(clients=30, sessions=8, own=0.5), Course(clients=10, sessions=8, own=0.5),
    Course(clients=30, sessions=12, uneven=True, alike=0.4, own=0.5),
    Course(clients=30, sessions=8, of_counselor=0.25), Course(clients=30, sessions=8, of_counselor=0.5),
)  # fmt: skip


def trend_rows(pool: ProcessPoolExecutor, runs: int) -> Iterator[Sequence[str]]:
    """Yield how often studies claim anything where nothing but trends goes together, and find a link where one is.

    The link is what a t of 2.9 takes without trends. With it, a claim about the next score, given this one, is false.
    """
    ways = (f"any claim within clients {error(runs, 0.05)}", f"link claimed {error(runs, 0.5)}", "link with p < .05")
    heads = [f"{way}: {when}" for way in ways for when in ("without the number", "now")]
    yield ["clients x sessions, trend", *heads, "any claim between clients", "with a link: any claim on the next score"]
    for course in COURSES:
        found = shares(pool, partial(_courses, course), runs)
        yield [str(course), *(percent(one) for one in found)]


def _courses(course: Course, seed: int) -> dict[str, float]:
    """Return whether anything is claimed without a link, and the link where there is one."""
    rng = np.random.default_rng([seed, course.clients, course.sessions])
    link = 2.9 / np.sqrt(course.clients * (course.sessions - 1))
    none, linked = (course.table(rng, size) for size in (0.0, link))
    now, before = _claimed(none)
    found, found_before = _claimed(linked)
    is_within, is_it = now["level"] == WITHIN, (found["level"] == WITHIN) & (found["measure"] == MEASURES[0])
    is_it &= found["target"] == "session"
    return {
        "before": float((before.loc[is_within, "q"] < LEVEL).any()),
        "now": float(now.loc[is_within, "claimed"].any()),
        "link before": float((found_before.loc[is_it, "q"] < LEVEL).any()),
        "link now": float(found.loc[is_it, "claimed"].any()),
        "link before, p": float((found_before.loc[is_it, "p"] < LEVEL).any()),
        "link now, p": float((found.loc[is_it, "p"] < LEVEL).any()),
        "between": float(now.loc[~is_within, "claimed"].any()),
        "next": float(found.loc[found["target"] == "next", "claimed"].any()),
    }


def _claimed(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the associations with what is ``claimed``, and ``p`` and ``q`` by least squares without the number."""
    found = associations(table, MEASURES, ["y"], {"y": True})
    p = found["p"].to_numpy(dtype=np.float64).copy()
    client = np.unique(table["client"], return_inverse=True)[1]
    after = table.groupby("client")["y"].shift(-1).where(table.groupby("client")["number"].diff(-1) == -1)
    for at, row in enumerate(found.to_dict("records")):
        if row["level"] == WITHIN:
            y, held = (after, [table["y"]]) if row["target"] == "next" else (table["y"], [])
            p[at] = _untrended(np.column_stack([y, table[row["measure"]], *held]), client)
    q = np.full(len(p), np.nan)
    q[np.isfinite(p)] = stats.false_discovery_control(p[np.isfinite(p)])
    return found.assign(claimed=found["finding"].isin((BETTER, WORSE))), pd.DataFrame({"p": p, "q": q}, found.index)


def _untrended(columns: Floats, client: Ints) -> float:
    """Return p of the slope within clients by least squares with an intercept for each and without the trend."""
    known = np.isfinite(columns).all(axis=1)
    client = np.unique(client[known], return_inverse=True)[1]
    y, *design = within(columns[known], client).T
    slopes, _, rank, _ = np.linalg.lstsq(np.column_stack(design), y, rcond=None)
    left, df = y - np.column_stack(design) @ slopes, len(y) - len(np.unique(client)) - int(rank)
    inverse = np.linalg.inv(np.column_stack(design).T @ np.column_stack(design))
    return float(2 * stats.t.sf(abs(slopes[0]) / np.sqrt(inverse[0, 0] * (left @ left) / df), df))


# The tagger's error

CODES = {
    "mi_question": (0.893, 0.948, 0.318),
    "mi_reflection": (0.825, 0.839, 0.316),
    "mi_input": (0.579, 0.941, 0.158),
    "mi_change": (0.482, 0.836, 0.234),
    "mi_sustain": (0.414, 0.900, 0.109),
}
"""Sensitivity and specificity of the accurate tagger in recordings that it had not seen, and how common the code is
there (``tagger_errors.csv`` of version 0.5.0)."""
CLIENTS_OF_STUDY, SESSIONS_OF_STUDY, TURNS, CODED = 30, 8, 30, 3
SHIFT = 1.0
"""Standard deviation between sessions of the log-odds of an error, as between recordings in ``tagger_errors.csv``."""
LEANS = {0.0: "errs alike for all scores", 0.5: "gives more where scores are high (.5 of log-odds for each SD)"}


def tagger_rows(pool: ProcessPoolExecutor, runs: int) -> Iterator[Sequence[str]]:
    """Yield how slopes on rates that the machine counts lie beside those on true rates, and what people's codes mend.

    People code three turns of each session.
    """
    heads = ["machine's slope / true slope", f"machine's intervals {error(runs)}"]
    heads += [f"rate on score with people's codes {error(runs)}", "score on rate with people's codes", "of studies"]
    yield ["code", "sensitivity, specificity", "the tagger", "level", *heads]
    for code, errors in CODES.items():
        whole = shares(pool, partial(_tagged, errors, 0.0, None), 4 * runs)
        truth = {str(name): float(value) for name, value in whole.items()}
        for lean, name in LEANS.items():
            found = shares(pool, partial(_tagged, errors, lean, truth), runs)
            for level in (WITHIN, BETWEEN):
                ratio = found[f"{level} machine"] / truth[f"{level} slope"]
                cells = [percent(found[f"{level} {one}"]) for one in ("inside", "of rate", "of score", "known")]
                about = [code, f"{errors[0]:.2f}, {errors[1]:.2f}", name, level.replace("_", " ")]
                yield [*about, f"{ratio:.2f}", *cells]


def _tagged(
    errors: tuple[float, float, float], lean: float, truth: dict[str, float] | None, seed: int
) -> dict[str, float]:
    """Return the slopes on true rates of a study; with their truth, what the machine's rates make of them."""
    sensitivity, specificity, base = errors
    rng = np.random.default_rng([seed, int(1000 * base), truth is None])
    client = np.repeat(np.arange(CLIENTS_OF_STUDY), SESSIONS_OF_STUDY)
    n = len(client)
    level = 0.5 * rng.normal(size=CLIENTS_OF_STUDY)[client] + 0.6 * rng.normal(size=n)
    has = rng.random((n, TURNS)) < special.expit(special.logit(base) + level)[:, None]
    score = 0.5 * level / 0.6 + rng.normal(size=CLIENTS_OF_STUDY)[client] + rng.normal(size=n)
    shift = SHIFT * rng.normal(size=n) + lean * (score - score.mean()) / score.std()
    scale = np.sqrt(1 + (16 * np.sqrt(3) / (15 * np.pi) * SHIFT) ** 2)  # the mean over sessions is the known error
    right = np.where(has, special.logit(sensitivity), special.logit(1 - specificity)) * scale + shift[:, None]
    gives = rng.random((n, TURNS)) < special.expit(right)
    joined = pd.DataFrame({"session_id": [f"s{i}" for i in range(n)], "client": client.astype(str), "counselor": ""})
    joined["number"] = np.tile(np.arange(1.0, SESSIONS_OF_STUDY + 1), CLIENTS_OF_STUDY)
    joined = joined.assign(y=score, x=(has if truth is None else gives).mean(axis=1))
    slopes = associations(joined, ["x"], ["y"], {"y": True}, targets=["session"]).set_index("level")
    turns = pd.DataFrame({"session_id": np.repeat(joined["session_id"], TURNS), "machine": gives.ravel().astype(float)})
    turns = turns.reset_index(drop=True).assign(inclusion=1.0, people=has.ravel().astype(float))
    if truth is not None:
        coded = rng.random((n, TURNS)).argsort(axis=1).ravel() < CODED
        turns = turns.assign(inclusion=CODED / TURNS, people=turns["people"].where(coded))
    drawn = drawn_slopes(joined, {"x": turns}, ["x"], ["y"])
    found: dict[str, float] = {}
    for at in (WITHIN, BETWEEN):
        low, slope, high = slopes.loc[[at], ["lo", "slope", "hi"]].to_numpy(dtype=np.float64)[0]
        ways = (("of rate", RATE_ON_SCORE), ("of score", SCORE_ON_RATE))
        own = drawn[drawn["level"] == at].set_index("direction")
        ends = {way: own.loc[[way], ["lo", "slope", "hi"]].to_numpy(dtype=np.float64)[0] for _, way in ways}
        if truth is None:
            found |= {f"{at} slope": slope} | {f"{at} {way}": ends[way][1] for _, way in ways}
            continue
        found |= {f"{at} machine": slope, f"{at} inside": float(low <= truth[f"{at} slope"] <= high)}
        for name, way in ways:
            known, inside = np.isfinite(ends[way][0]), ends[way][0] <= truth[f"{at} {way}"] <= ends[way][2]
            found[f"{at} {name}"] = float(inside) if known else np.nan
        found[f"{at} known"] = float(np.isfinite(ends[SCORE_ON_RATE][0]))
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
    "mixed": ("Slopes at three levels: coverage of 95 % intervals (%)", mixed_rows),
    "next": ("The next score given this one's, which nothing predicts: coverage of 95 % intervals (%)", next_rows),
    "trend": ("Trends without a link, and with one: studies with a claim (%)", trend_rows),
    "tagger": ("Slopes on rates that the machine counts: coverage of 95 % intervals (%)", tagger_rows),
    "shuffled": ("Scores shuffled: data sets with a claim that is not so (%)", shuffled_rows),
}


if __name__ == "__main__":
    main()
