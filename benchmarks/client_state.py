"""What tracking the client's state is worth: ``python -m benchmarks.client_state --data DATA --unseen FILE.csv``.

``DATA`` holds ``annomi``, ``hlqc``, ``mibot`` and ``misc_gold``; ``FILE.csv`` what both taggers say of turns of AnnoMI
that they had not seen, beside the human codes (columns ``source``, ``session``, ``group``, ``role``,
``fast_mi_change``, ..., ``truth_mi_neutral``). Prints Markdown: log-loss of the tracked talk against that of the tagger
and of the tagger calibrated anew, on recordings that the chain was not fitted to; balances of sessions of high and low
quality; what goes with confidence, readiness and importance a week later; coverage of the slope's interval; where
planted turning points are found. ``--fit`` prints the parameters of talk instead, and of opening what likelihood would
choose.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, special, stats

from benchmarks._corpora import of_quality, sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.behaviours import load_tagger, with_codes
from therapy_analytics.behaviours.disclosure import load_disclosure
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process._client_state import (
    Opening,
    Talk,
    filtered,
    opening_parameters,
    rising,
    slope,
    talk_parameters,
    thirds,
    three_way,
    tracked,
    turning_points,
)
from therapy_analytics.measures.process.client_state import client_state, coded_turns
from therapy_analytics.session import Role, Session, Turn

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TIERS = ("fast", "accurate")
KINDS = ("change", "sustain", "neutral")
OUTCOMES = ("confidence", "readiness", "importance")
COURSE = ("change_balance_first", "change_balance_last", "change_balance_slope")
UNTRACKED = "(the tagger's p_mi_change - p_mi_sustain, last third)"
OTHER = ("n_turning_points_to_change", "n_turning_points_to_sustain", "opening_slope")
FOLDS, SHUFFLES, DRAWS, SEED = 5, 3, 2000, 0
FEWEST, BATCH = 8, 20
# On the log of the exponent: a few long recordings would else say how sure the tagger should be of all.
RIDGE = 0.2


@dataclass(frozen=True)
class Coded:
    """The client's turns of a session: what each tier says, (n, 3), and the human codes (shares of annotators)."""

    session: str
    group: str
    spoken: dict[str, Floats]
    truth: Floats


def main() -> None:
    """Print the figures, or the parameters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--unseen", type=Path)
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    coded = unseen(given.unseen) if given.unseen else []
    if given.fit:
        _print_parameters(coded, disclosed_words(given.data))
        return
    data = given.data
    if coded:
        _show("Log-loss of client talk (change, sustain, neutral), recordings not fitted to", losses(coded))
        _show(
            "High above low quality, AnnoMI, sessions the tagger had not seen: AUC [95 %]", _unseen_quality(coded, data)
        )
    _show(
        "Log-loss on turns coded by the MISC, parameters as they are: fast tagger", _other_corpora(data / "misc_gold")
    )
    _show("High above low quality, HLQC: AUC [95 %] (n high, n low)", _hlqc(data))
    _show("MIBOT, a week later: Spearman's rho [95 %]", _outcomes(data / "mibot"))
    _show("Simulated", simulated())
    _show("Does opening_trend foretell the next turns?", _foretold(data))


def _show(title: str, table: str) -> None:
    print(f"### {title}\n\n{table}\n")


def unseen(path: Path) -> list[Coded]:
    """Return AnnoMI's sessions as taggers saw them that were trained on others."""
    frame = pd.read_csv(path, low_memory=False)
    frame = frame[(frame["source"] == "annomi") & frame["truth_mi_change"].notna()]
    return [
        Coded(
            str(session).split()[-1],
            str(part["group"].iloc[0]),
            {tier: three_way(*(part[f"{tier}_mi_{kind}"].to_numpy() for kind in KINDS[:2])) for tier in TIERS},
            part[[f"truth_mi_{kind}" for kind in KINDS]].to_numpy(np.float64),
        )
        for session, part in frame.groupby("session", sort=False)
    ]


def fitted(coded: Sequence[Coded]) -> Talk:
    """Fit the chain: base rates from the taggers alone, the rest by the log-loss of live and smoothed estimates."""
    base = np.mean([np.vstack([one.spoken[tier] for one in coded]).mean(axis=0) for tier in TIERS], axis=0)

    def talk(x: Floats) -> Talk:
        stay, pull = special.expit(x[1:])
        return Talk((base[0], base[1], base[2]), float(np.exp(x[0])), float(stay), float(pull))

    def loss(x: Floats) -> float:
        total = 0.0
        for one in coded:
            for p in one.spoken.values():
                found = tracked(p, talk(x))
                total += float(_loss(found.live, one.truth).sum() + _loss(found.smoothed, one.truth).sum())
        return total / (4 * sum(len(one.truth) for one in coded)) + RIDGE * float(x[0] ** 2)

    return talk(optimize.minimize(loss, np.array([-0.1, -0.2, 0.2]), method="L-BFGS-B", options={"ftol": 1e-7}).x)


def _loss(p: Floats, truth: Floats) -> Floats:
    return np.asarray(-(truth * np.log(np.maximum(p, 1e-9))).sum(axis=1))


def _recalibrated(coded: Sequence[Coded], tier: str, *, biases: bool) -> Callable[[Floats], Floats]:
    """Return the tagger with a temperature, and a bias for each kind, fitted to sessions."""
    logs, truth = np.log(np.vstack([one.spoken[tier] for one in coded])), np.vstack([one.truth for one in coded])

    def scaled(log_p: Floats, x: Floats) -> Floats:
        return np.asarray(special.softmax(x[0] * log_p + np.append(x[1:], [0.0] * (4 - len(x))), axis=1))

    def loss(x: Floats) -> float:
        return float(_loss(scaled(logs, x), truth).mean())

    found = optimize.minimize(loss, np.array([1.0, 0.0, 0.0] if biases else [1.0]), method="L-BFGS-B").x
    return lambda p: scaled(np.log(p), found)


def _ways(coded: Sequence[Coded], tier: str, talk: Talk) -> dict[str, Callable[[Floats], Floats]]:
    """Return what makes probabilities of a session's turns out of what the tagger says."""
    return {
        "the tagger": lambda p: p,
        "the tagger, temperature fitted": _recalibrated(coded, tier, biases=False),
        "the tagger, calibrated anew": _recalibrated(coded, tier, biases=True),
        "tracked, live": lambda p: tracked(p, talk).live,
        "tracked, whole session": lambda p: tracked(p, talk).smoothed,
        "tracked, live, fitted to all as the tagger's calibration is": lambda p: tracked(p, talk_parameters()).live,
        "tracked, whole session, fitted to all": lambda p: tracked(p, talk_parameters()).smoothed,
    }


def losses(coded: Sequence[Coded], shuffles: int = SHUFFLES) -> str:
    """Return a table of log-losses; fitted on four fifths of the recordings, judged on the fifth, all in turn."""
    names, groups = np.unique([one.group for one in coded], return_inverse=True)
    total: dict[tuple[str, str], Floats] = {}
    for seed in range(shuffles):
        fold = (np.random.default_rng(seed).permutation(len(names)) % FOLDS)[groups]
        for k in range(FOLDS):
            others = [one for one, f in zip(coded, fold, strict=True) if f != k]
            talk = fitted(others)
            for tier in TIERS:
                for name, way in _ways(others, tier, talk).items():
                    sums = total.setdefault((tier, name), np.zeros(len(coded)))
                    for i in np.flatnonzero(fold == k).tolist():
                        sums[i] += _loss(way(coded[i].spoken[tier]), coded[i].truth).sum() / shuffles
    n = np.bincount(groups, [float(len(one.truth)) for one in coded]).astype(np.float64)
    by_group = {key: np.bincount(groups, sums).astype(np.float64) for key, sums in total.items()}
    return _loss_table(by_group, n)


def _loss_table(by_group: dict[tuple[str, str], Floats], n: Floats) -> str:
    drawn = np.random.default_rng(SEED).integers(len(n), size=(DRAWS, len(n)))
    rows = [["tier", "estimate", "log-loss", "minus the tagger [95 %]", "minus the tagger calibrated anew [95 %]"]]
    for (tier, name), sums in by_group.items():
        cells = []
        for base in ("the tagger", "the tagger, calibrated anew"):
            gap = sums - by_group[tier, base]
            low, high = np.quantile(gap[drawn].sum(axis=1) / n[drawn].sum(axis=1), [0.025, 0.975])
            cells.append(f"{gap.sum() / n.sum():+.4f} [{low:+.4f}, {high:+.4f}]" if name != base else "")
        rows.append([tier, name, f"{sums.sum() / n.sum():.4f}", *cells])
    return markdown(rows)


def _other_corpora(folder: Path) -> str:
    """Return log-losses on sessions of other corpora, whose thought units have codes of the MISC (shares of a turn)."""
    rows = [["corpus", "client turns", "tagger", "tracked, live", "tracked, whole session"]]
    for path in sorted(folder.glob("*.csv")):
        frame = pd.read_csv(path)
        sessions = [_session(str(name), part) for name, part in frame.groupby("conv_id", sort=False)]
        for kind in "CSN":
            frame[kind] = (frame["t1_label_GT"] == kind).astype(float)
        shares = frame.groupby(["conv_id", "conv_vol_idx"], sort=False)[list("CSN")].mean()
        found = [_three_losses(one, shares.loc[one.session.id].to_numpy()) for one in coded_sessions(sessions)]
        sums, n = np.sum([one[0] for one in found], axis=0), sum(one[1] for one in found)
        rows.append([path.stem, str(n), *(f"{x / n:.4f}" for x in sums)])
    return markdown(rows)


def _session(name: str, units: pd.DataFrame) -> Session:
    roles: dict[str, Role] = {"client": "client", "counsellor": "therapist"}
    volleys = units.groupby("conv_vol_idx", sort=False)
    spoken = zip(volleys["speaker"].first(), volleys["utt_text"].agg(" ".join), strict=True)
    turns = (
        Turn(index=i, speaker=who, role=roles[who], text=text, first_row=i + 1) for i, (who, text) in enumerate(spoken)
    )
    return Session(id=name, source_file=name, turns=tuple(turns))


def _three_losses(session: AnnotatedSession, truth: Floats) -> tuple[list[float], int]:
    turns = coded_turns(session)
    turns = turns[truth[turns].sum(axis=1) > 0]
    p = three_way(session.probabilities["mi_change"][turns], session.probabilities["mi_sustain"][turns])
    found = tracked(p, talk_parameters())
    return [float(_loss(one, truth[turns]).sum()) for one in (p, found.live, found.smoothed)], len(turns)


def _course_of(p: Floats) -> list[float]:
    balance = tracked(p, talk_parameters()).balance
    points = turning_points(balance)
    return [*thirds(balance), slope(balance)[0], float((points > 0).sum()), float((points < 0).sum())]


def _unseen_quality(coded: Sequence[Coded], data: Path) -> str:
    by_session = {one.session: one for one in coded}
    rows = [["column", *TIERS]]
    kept = {quality: [by_session[one.id] for one in found] for quality, found in of_quality(data, "annomi").items()}
    for j, name in enumerate((*COURSE, *OTHER[:2])):
        cells = []
        for tier in TIERS:
            high, low = (np.array([_course_of(one.spoken[tier])[j] for one in kept[q]]) for q in ("high", "low"))
            cells.append(_auc(high, low))
        rows.append([name, *cells])
    return markdown(rows)


def _hlqc(data: Path) -> str:
    found = {quality: _values(sessions) for quality, sessions in of_quality(data, "hlqc").items()}
    return markdown([["column", "fast"], *([n, _auc(found["high"][n], found["low"][n])] for n in found["high"])])


def coded_sessions(sessions: Sequence[Session]) -> Iterator[AnnotatedSession]:
    """Yield sessions with the fast tagger's codes, and nothing that this benchmark does not need."""
    for start in range(0, len(sessions), BATCH):
        batch = annotate(sessions[start : start + BATCH], Matcher(builtin_lexicons()))
        codes = load_tagger().predict(batch)
        for i, one in enumerate(batch):
            yield with_codes(one, codes, int(batch.starts[i]), ("therapist", "client"))


def _values(sessions: Sequence[Session]) -> dict[str, Floats]:
    rows = []
    for one in coded_sessions(sessions):
        turns, values = coded_turns(one), client_state(one)
        untracked = one.probabilities["mi_change"][turns] - one.probabilities["mi_sustain"][turns]
        rows.append([*(float(values[name]) for name in (*COURSE, *OTHER)), thirds(untracked)[1]])
    return dict(zip((*COURSE, *OTHER, UNTRACKED), np.array(rows).T, strict=True))


def _auc(high: Floats, low: Floats) -> str:
    high, low = high[~np.isnan(high)], low[~np.isnan(low)]
    if min(len(high), len(low)) < FEWEST:
        return ""
    rng = np.random.default_rng(SEED)
    drawn = [_above(rng.choice(high, len(high)), rng.choice(low, len(low))) for _ in range(500)]
    ends = np.quantile(drawn, [0.025, 0.975])
    return f"{_above(high, low):.2f} [{ends[0]:.2f}, {ends[1]:.2f}] ({len(high)}, {len(low)})"


def _above(high: Floats, low: Floats) -> float:
    return float((np.sign(high[:, None] - low) / 2 + 0.5).mean())


def _outcomes(folder: Path) -> str:
    sessions = sessions_of(folder.parent, folder.name)
    frame = pd.DataFrame(_values(sessions)).assign(session=[one.id for one in sessions])
    frame = frame.merge(pd.concat([pd.read_csv(path) for path in sorted(folder.glob("outcomes_*.csv"))]), on="session")
    names = (*COURSE, *OTHER, UNTRACKED)
    rows = [[name, outcome, *_later(frame, name, outcome)] for name in names for outcome in OUTCOMES]
    table = pd.DataFrame(rows, columns=["column", "outcome", "n", "change", "p", "later", "p later"])
    own = table["column"] != UNTRACKED
    for family, among in (("q of the end", table["column"] == COURSE[1]), ("q of all", own)):
        q = stats.false_discovery_control(table.loc[among, ["p", "p later"]].to_numpy().ravel()).reshape(-1, 2)
        table.loc[among, family] = [f"{a:.2f}, {b:.2f}" for a, b in q]
    table[["p", "p later"]] = table[["p", "p later"]].map("{:.3f}".format)
    head = ["column", "outcome", "n", "with the change", "p", "with the later one, given the earlier", "p"]
    about = [*head, "q among the 6 of the end", "q among all"]
    return markdown([about, *table.fillna("").astype(str).to_numpy().tolist()])


def _later(frame: pd.DataFrame, name: str, outcome: str) -> tuple[int, str, float, str, float]:
    before, later = frame[f"pre_{outcome}"], frame[f"week_later_{outcome}"]
    return (*_rho(frame[name], later - before), *_rho(frame[name], later, before)[1:])


def _rho(a: pd.Series, b: pd.Series, given: pd.Series | None = None) -> tuple[int, str, float]:
    """Return n, Spearman's rho with its interval (partial where something is given), and p."""
    parts = [a, b] if given is None else [a, b, given]
    ranks = pd.concat(parts, axis=1).dropna().rank().to_numpy()
    n, r = len(ranks), np.corrcoef(ranks.T)
    rho = r[0, 1]
    if given is not None:
        rho = (rho - r[0, 2] * r[1, 2]) / np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    # Fisher's transformation, with the standard error of rank correlations (Bonett & Wright 2000).
    z, se = np.arctanh(rho), np.sqrt((1 + rho**2 / 2) / (n - len(parts) - 1))
    p = 2 * stats.norm.sf(abs(z) / se)
    return n, f"{rho:+.2f} [{np.tanh(z - 1.96 * se):+.2f}, {np.tanh(z + 1.96 * se):+.2f}]", float(p)


def simulated(repeats: int = 400) -> str:
    """Return how often the slope's interval covers a slope of 0, and where a planted turning point is found."""
    rng = np.random.default_rng(SEED)
    rows = [["simulated", "n", "figure"]]
    for n, memory in ((10, 0.0), (30, 0.0), (30, 0.5), (100, 0.5)):
        covered = 0
        for _ in range(repeats):
            noise = rng.standard_normal(n)
            for i in range(1, n):
                noise[i] = memory * noise[i - 1] + np.sqrt(1 - memory**2) * noise[i]
            _, low, high = slope(noise)
            covered += low <= 0 <= high
        rows.append([f"no slope, {n} turns, neighbours correlate {memory}", str(repeats), f"{covered / repeats:.2f}"])
    found = [planted(rng) for _ in range(repeats)]
    one = [points[0] for points in found if len(points) == 1]
    near = sum(abs(at - 20) <= 2 for at in one)
    rows.append(
        ["turn to change planted at turn 20 of 40: found once, within 2 turns", str(repeats), f"{near / repeats:.2f}"]
    )
    none = sum(not len(planted(rng, turns=False)) for _ in range(repeats))
    rows.append(["no turn planted: none found", str(repeats), f"{none / repeats:.2f}"])
    return markdown(rows)


def planted(rng: np.random.Generator, *, turns: bool = True) -> Ints:
    """Return where turning points are found in 40 noisy turns, of sustain talk and, from turn 20, of change talk."""
    like = np.array([[0.15, 0.5, 0.35], [0.5, 0.15, 0.35]])[[0] * 20 + [int(turns)] * 20]
    p = special.softmax(np.log(like) + rng.normal(scale=0.7, size=like.shape), axis=1)
    return np.flatnonzero(turning_points(tracked(p, talk_parameters()).balance))


def disclosed_words(data: Path) -> list[Floats]:
    """Return log2(1 + words disclosed) of the client's turns, for each session of AnnoMI."""
    found = []
    for session in annotate(sessions_of(data, "annomi"), Matcher(())):
        turns = session.spoken_by("client") & (session.n_words > 0)
        found.append(np.log2(1 + load_disclosure().predict(session.turns).words[turns]))
    return found


def _fitted_opening(series: Sequence[Floats]) -> Opening:
    def loss(x: Floats) -> float:
        parts = [filtered(one, Opening(*np.exp(x).tolist())) for one in series]
        off, variance = (np.concatenate([part[i][1:] for part in parts]) for i in (1, 2))
        return float((np.log(variance) + off**2 / variance).mean())

    bounds = [(-9.0, 3.0)] * 4
    found = optimize.minimize(loss, np.log([0.02, 0.02, 5e-4, 2.0]), method="L-BFGS-B", bounds=bounds)
    return Opening(*np.exp(found.x).tolist())


def _foretold(data: Path) -> str:
    """Return how well the trend after a turn tells whether the next three lie above the mean of the last three."""
    found = []
    for series in disclosed_words(data):
        up = rising(series, opening_parameters())
        for k in range(3, len(series) - 3):
            own = series[: k + 1].mean()
            found.append((up[k], series[k - 2 : k + 1].mean() - own, series[k + 1 : k + 4].mean() > own))
    trend, level, truth = np.array(found).T
    rows = [["foretells that the next 3 turns lie above the client's mean so far", "n", "AUC"]]
    for name, score in (("opening_trend", trend), ("mean of the last 3 turns, above that", level)):
        rows.append([name, str(len(truth)), f"{_above(score[truth > 0], score[truth == 0]):.2f}"])
    return markdown(rows)


def _print_parameters(coded: Sequence[Coded], series: Sequence[Floats]) -> None:
    talk = fitted(coded)
    print("[talk]\nbase_rates =", [round(float(x), 3) for x in talk.base_rates])
    print(f"exponent = {talk.exponent:.2f}\nstay = {talk.stay:.2f}\npull = {talk.pull:.2f}\n\n[opening]")
    for name, value in zip(("start", "level", "slope", "noise"), astuple(_fitted_opening(series)), strict=True):
        print(f"{name} = {value:.2g}")


if __name__ == "__main__":
    main()
