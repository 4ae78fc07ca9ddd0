"""What the profile of behaviours is worth: ``python -m benchmarks.process_profile --data DATA --unseen unseen.csv``.

``DATA`` holds the corpora ``annomi``, ``hlqc``, ``mibot`` and ``vera_mh``; ``unseen.csv`` is made by
``tools/unseen_codes.py`` and holds, for the turns of AnnoMI, the codes of human coders and what the tagger says of them
when it has not seen the recording. Printed are: how near rates come to those of human coders; what the therapist does
after sustain talk, by human codes and the tagger's; and how well each measure tells sessions of high from those of low
quality (AUC, bootstrap intervals over sessions), beside a count of advice cues.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from benchmarks._corpora import of_quality, sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.codes import load_tagger, with_codes
from therapy_analytics.codes.weights import WEIGHTS
from therapy_analytics.core.session import Role, Session
from therapy_analytics.measures.process.behaviour_rates import behaviour_rates
from therapy_analytics.measures.process.responses import responses
from therapy_analytics.measures.response_rows import pooled_responses, response_rows
from therapy_analytics.measures.turns import replies
from therapy_analytics.text import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.text.lexicons import Matcher

ROLES: tuple[Role, Role] = ("therapist", "client")
HUMAN, FAST, ACCURATE = "truth", "fast", "accurate"
MAIN = "truth_mi_main_"
"""What human coders took for the main behaviour of a turn, of which each has one."""
CUES = "conversation.advice_cues"
RATES = {
    "therapist_question_rate": "question_openers",
    "therapist_reflection_rate": "reflection_openers",
    "therapist_input_rate": "advice_cues",
    "client_change_rate": "change_cues",
    "client_sustain_rate": "sustain_cues",
}
"""Rates that human coders gave, and the cues of lexicons/conversation.toml beside them."""
DECIDED = "(the balance from decisions)"
_BATCH, DRAWS, SEED = 20, 2000, 0
Floats = NDArray[Any]
Values = Mapping[str, float]
Unseen = Mapping[str, pd.DataFrame]
ByCoder = Mapping[str, Mapping[str, list[AnnotatedSession]]]
"""Sessions of high and low quality with the codes of human coders or of a tagger."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--unseen", type=Path, required=True)
    options = parser.parse_args()
    unseen = read_unseen(options.unseen)
    quality = of_quality(options.data, "annomi")
    by_coder = {
        coder: {name: recoded(coded(some), unseen, coder) for name, some in quality.items()}
        for coder in (HUMAN, FAST, ACCURATE)
    }
    print("### Rates of sessions, tagger against human coders (AnnoMI, recordings not seen)\n")
    print(_rates(by_coder))
    print("\n### The answer to sustain talk (AnnoMI)\n")
    print(_after_sustain({"human, main behaviour": _main_behaviours(by_coder[HUMAN], unseen)} | by_coder))
    print("\n### High above low quality: AUC [95 %], n high and low\n")
    print(_quality(by_coder, options.data, seen=_hlqc_seen(options.unseen)))
    print("\n### Medians\n")
    print(_medians(by_coder, options.data))


def read_unseen(path: Path) -> Unseen:
    """Return the turns of each session of AnnoMI, by its id."""
    turns = pd.read_csv(path)
    return {str(name).split(" ", 1)[1]: part for name, part in turns[turns["source"] == "annomi"].groupby("session")}


def _hlqc_seen(path: Path) -> set[str]:
    """Return the sessions of HLQC that the tagger was trained on."""
    turns = pd.read_csv(path, usecols=["source", "session"])
    return {str(name).split(" ", 1)[1] for name in turns.loc[turns["source"] == "hlqc", "session"].unique()}


def coded(sessions: Sequence[Session]) -> list[AnnotatedSession]:
    """Return sessions with the codes of the fast tagger, without measuring them."""
    tagger, matcher, found = load_tagger(), Matcher(builtin_lexicons()), []
    for start in range(0, len(sessions), _BATCH):
        batch = annotate(sessions[start : start + _BATCH], matcher)
        codes = tagger.predict(batch)
        found += [with_codes(one, codes, int(at), ROLES) for one, at in zip(batch, batch.starts, strict=False)]
    return found


def recoded(sessions: Sequence[AnnotatedSession], unseen: Unseen, coder: str) -> list[AnnotatedSession]:
    """Return sessions of AnnoMI with the codes of human coders, or of a tagger that has not seen them.

    Human coders gave those of the book mi alone; they have no probabilities but 0, 1 and shares of coders.
    """
    limits = thresholds(coder)
    return [_recoded(one, unseen[one.session.id], coder, limits) for one in sessions]


def thresholds(coder: str) -> dict[str, float]:
    """Return at which probability a turn has a code."""
    if coder == ACCURATE:
        codes = json.loads((WEIGHTS / "accurate.json").read_text(encoding="utf-8"))["codes"]
        return {code["column"]: code["thresholds"]["balanced"] for code in codes}
    return {code.column: 0.5 if coder == HUMAN else code.thresholds["balanced"] for code in load_tagger().codes}


def _recoded(
    session: AnnotatedSession, turns: pd.DataFrame, coder: str, limits: Mapping[str, float]
) -> AnnotatedSession:
    book = "mi_" if coder == HUMAN else ("mi_", "bolt_")
    names = [code for code in session.decisions if code.startswith(book)]
    likely = {code: turns[f"{coder}_{code}"].to_numpy(np.float64) for code in names}
    given = {code: np.nan_to_num(p) >= limits[code] for code, p in likely.items()}
    return replace(session, probabilities=likely, decisions=given, unsure={})


def _main_behaviours(
    by_quality: Mapping[str, list[AnnotatedSession]], unseen: Unseen
) -> dict[str, list[AnnotatedSession]]:
    """Return sessions whose turns reflect or inform only where that is the main behaviour."""

    def recode(session: AnnotatedSession) -> AnnotatedSession:
        turns = unseen[session.session.id]
        given = {f"mi_{name}": turns[f"{MAIN}{name}"].ge(0.5).to_numpy() for name in ("reflection", "input")}
        return replace(session, decisions={**session.decisions, **given})

    return {name: [recode(one) for one in some] for name, some in by_quality.items()}


def _rates(by_coder: ByCoder) -> str:
    rows = [["column", "n", "fast: rho [95 %]", "mean", "accurate: rho [95 %]", "mean", "human mean", "cues: rho"]]
    sessions = [*chain(*by_coder[FAST].values())]
    of = {coder: [*map(behaviour_rates, chain(*some.values()))] for coder, some in by_coder.items()}
    for column, cues in RATES.items():
        human, fast, accurate = (np.array([one[column] for one in of[coder]]) for coder in (HUMAN, FAST, ACCURATE))
        cells = [cell for p in (fast, accurate) for cell in (_rho(human, p), f"{np.nanmean(p):.2f}")]
        of_cues = np.array(
            [_share(one, cues, "client" if column.startswith("client") else "therapist") for one in sessions]
        )
        rows.append([f"`{column}`", str(len(human)), *cells, f"{np.nanmean(human):.2f}", _rho(human, of_cues)])
    return markdown(rows)


def _share(session: AnnotatedSession, cues: str, role: Role) -> float:
    own = session.spoken_by(role)
    return float((session.count(f"conversation.{cues}")[own] > 0).mean()) if own.any() else np.nan


def _rho(a: Floats, b: Floats) -> str:
    rng = np.random.default_rng(SEED)
    both = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[both], b[both]
    draws = [stats.spearmanr(a[i], b[i]).statistic for i in rng.integers(0, len(a), (500, len(a)))]
    return f"{stats.spearmanr(a, b).statistic:.2f} [{np.quantile(draws, 0.025):.2f}, {np.quantile(draws, 0.975):.2f}]"


def _after_sustain(by_coder: ByCoder) -> str:
    rows = [["codes of", "quality", "client turns", "input after", "reflection after", "input after any", "difference"]]
    for coder, by_quality in by_coder.items():
        for quality, sessions in by_quality.items():
            table = _all_rows(sessions).set_index(["client_code", "therapist_code"]).loc["mi_sustain"]
            inputs, reflects = table.loc["mi_input"], table.loc["mi_reflection"]
            more = _with_interval(inputs)
            cells = [f"{one.rate:.2f} [{one.lo:.2f}, {one.hi:.2f}]" for one in (inputs, reflects)]
            rows.append([coder, quality, f"{inputs.n_client:.0f}", *cells, f"{inputs.base_rate:.2f}", more])
    return markdown(rows)


def _with_interval(row: Any) -> str:
    return f"{row.difference:+.2f} [{row.difference_lo:+.2f}, {row.difference_hi:+.2f}]"


def _all_rows(sessions: Sequence[AnnotatedSession]) -> pd.DataFrame:
    rows = pd.concat([pd.DataFrame(dict(response_rows(one))).assign(session_id=i) for i, one in enumerate(sessions)])
    return pooled_responses(rows)


def values_of(session: AnnotatedSession) -> dict[str, float]:
    """Return the session's values of the measures that are judged, and of keyword counts beside them."""
    kept = {name: float(value) for name, value in responses(session).items() if np.ndim(value) == 0}
    names = ("therapist_reflection_rate", "therapist_input_rate")
    rates = behaviour_rates(session)
    kept |= {name: float(rates[name]) for name in names}
    kept[DECIDED] = kept["reflection_after_sustain_rate"] - kept["input_after_sustain_rate"]
    kept["(all answers: reflection less input)"] = _usual_balance(session)
    return kept | keywords(session)


def _usual_balance(session: AnnotatedSession) -> float:
    _, answer = replies(session)
    given = (session.probabilities[code][answer] for code in ("mi_reflection", "mi_input"))
    reflects, informs = given
    return float(np.nanmean(reflects - informs)) if len(answer) else np.nan


def keywords(session: AnnotatedSession) -> dict[str, float]:
    """Return what a count of advice cues says in the place of each measure."""
    cue, therapist = session.count(CUES) > 0, session.spoken_by("therapist") & (session.n_words > 0)
    cue &= therapist
    client, answer = replies(session)
    return {
        "(cues: therapist turns with one)": cue.sum() / max(therapist.sum(), 1),
        "(cues: answers with one)": cue[answer].mean() if len(client) else np.nan,
    }


JUDGED = {
    "sustain_response_balance": 1,
    DECIDED: 1,
    "reflection_after_sustain_rate": 1,
    "input_after_sustain_rate": -1,
    "(all answers: reflection less input)": 1,
    "(cues: answers with one)": -1,
    "therapist_reflection_rate": 1,
    "therapist_input_rate": -1,
    "(cues: therapist turns with one)": -1,
}
"""What is judged, and whether high (1) or low (-1) should go with high quality."""
BESIDE = {
    "sustain_response_balance": "(cues: answers with one)",
    "input_after_sustain_rate": "(cues: answers with one)",
    "therapist_input_rate": "(cues: therapist turns with one)",
}
"""The count of keywords that a measure must beat."""


def _quality(by_coder: ByCoder, data: Path, seen: set[str]) -> str:
    hlqc = {name: coded(some) for name, some in of_quality(data, "hlqc").items()}
    parts = {"annomi, human": by_coder[HUMAN], "annomi, fast": by_coder[FAST], "annomi, accurate": by_coder[ACCURATE]}
    apart = {name: [one for one in some if one.session.id not in seen] for name, some in hlqc.items()}
    parts |= {"hlqc, fast": hlqc, "hlqc not seen, fast": apart}
    tables = {name: _values(some) for name, some in parts.items()}
    rows = [["value", *tables]]
    for column, sign in JUDGED.items():
        rows.append([column, *(auc(high[column], low[column], sign) for high, low in tables.values())])
    for ours, theirs in BESIDE.items():
        rows.append([f"{ours} less {theirs}", *(_difference(*pair, ours, theirs) for pair in tables.values())])
    return markdown(rows)


def _values(by_quality: Mapping[str, list[AnnotatedSession]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    high, low = (pd.DataFrame([values_of(one) for one in by_quality[name]]) for name in ("high", "low"))
    return high, low


def auc(high: pd.Series, low: pd.Series, sign: int) -> str:
    """Return how often a session of high quality is on the right side of one of low, with its interval."""
    good, poor = (sign * some.dropna().to_numpy() for some in (high, low))
    if min(len(good), len(poor)) < 5:
        return ""
    rng = np.random.default_rng(SEED)
    draws = [_above(rng.choice(good, len(good)), rng.choice(poor, len(poor))) for _ in range(DRAWS)]
    ends = np.quantile(draws, [0.025, 0.975])
    return f"{_above(good, poor):.2f} [{ends[0]:.2f}, {ends[1]:.2f}], {len(good)}, {len(poor)}"


def _difference(high: pd.DataFrame, low: pd.DataFrame, ours: str, theirs: str) -> str:
    """Return the difference of two AUCs on the same sessions, with its interval."""
    rng = np.random.default_rng(SEED)
    high, low = (some[[ours, theirs]].dropna() * [JUDGED[ours], JUDGED[theirs]] for some in (high, low))
    if min(len(high), len(low)) < 5:
        return ""

    def gain(i: Floats, j: Floats) -> float:
        ends = [_above(high[name].to_numpy()[i], low[name].to_numpy()[j]) for name in (ours, theirs)]
        return ends[0] - ends[1]

    draws = [gain(rng.integers(0, len(high), len(high)), rng.integers(0, len(low), len(low))) for _ in range(DRAWS)]
    ends = np.quantile(draws, [0.025, 0.975])
    return f"{gain(np.arange(len(high)), np.arange(len(low))):+.2f} [{ends[0]:+.2f}, {ends[1]:+.2f}]"


def _above(high: Floats, low: Floats) -> float:
    order = np.sort(low)
    below, up_to = np.searchsorted(order, high, "left"), np.searchsorted(order, high, "right")
    return float((below + up_to).mean() / (2 * len(low)))


def _medians(by_coder: ByCoder, data: Path) -> str:
    parts = {f"annomi {name}": _table(some) for name, some in by_coder[FAST].items()}
    parts |= {f"hlqc {name}": _table(coded(some)) for name, some in of_quality(data, "hlqc").items()}
    parts |= {name: _table(coded(sessions_of(data, name))) for name in ("mibot", "vera_mh")}
    rows = [["value", *(f"{name} ({len(some)})" for name, some in parts.items())]]
    rows += [[column, *(f"{some[column].median():.2f}" for some in parts.values())] for column in JUDGED]
    return markdown(rows)


def _table(sessions: Sequence[AnnotatedSession]) -> pd.DataFrame:
    return pd.DataFrame([values_of(one) for one in sessions])


if __name__ == "__main__":
    main()
