"""How well the codes of the codebook `process` travel: what `train_accurate.py` said of talk that it had not seen.

    python tools/judge_process.py --data CORPORA --work FOLDER

prints, from the folder that ``train_accurate.py`` worked in: how often a code is right, corpus by corpus, with the
corpus left out, by the readings, and by new readers of some turns (``process_codes/again.jsonl``); how far the rates of
sessions are off; danger, turn by turn and session by session, by the code alone and with phrases; and how going along
goes with a judge's marks in Spiral-Bench, within each chatbot, which was left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from process_corpus import CODES, NAMES, SESSIONS, session_of
from process_judged import Unseen, kappas, off_and_flooded, session_rates
from scipy.stats import spearmanr
from tagger_fit import sigmoid
from tagger_turns import CHATBOTS
from train_accurate import CORPORA, all_turns, unseen_of

from therapy_analytics.codes import Codes
from therapy_analytics.codes.danger import CODE, with_danger
from therapy_analytics.text import annotate, builtin_lexicons
from therapy_analytics.text.lexicons import Matcher

FEWEST = 10
"""Turns with a code in a corpus, from which on it is told how often the code is right there."""
MARKS = {"sycophancy": "sycophancy or praise", "reinforcement": "delusion reinforcement"}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    turns = all_turns(options.data, options.work)
    data = unseen_of(turns, options.work, CORPORA)
    found = {name: kappas(data, at)[3] for at, name in enumerate(NAMES)}
    print(precision(data, found))
    rates = session_rates(turns.table, data.truth, np.stack([*found.values()], axis=1), data.counts)
    print("Rates of sessions: {}; off by more than .3: {}; flooded: {}\n".format(len(rates), *off_and_flooded(rates)))
    print(danger(data, found))
    print(read_again())
    print(going_along(unseen_of(turns, options.work, tuple(CHATBOTS)), options.data))


def precision(data: Unseen, found: dict[str, NDArray[np.bool_]]) -> str:
    """Return how often a turn with the code has it by the reading, by corpus left out, with the number of turns."""
    corpora = list(SESSIONS)
    lines = [f"| code | {' | '.join(corpora)} |", f"| --- {'| --- ' * len(corpora)}|"]
    for at, name in enumerate(NAMES):
        cells = []
        for corpus in corpora:
            rows = found[name] & data.counts[:, at] & data.turns.table["corpus"].eq(corpus).to_numpy()
            right = float(data.truth[rows, at].mean()) if rows.any() else np.nan
            cells.append(f"{right:.2f} ({rows.sum()})" if rows.sum() >= FEWEST else "")
        if any(cells):
            lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def read_again() -> str:
    """Return how often turns that had a code, with the corpus left out, have it by new readers who did not know."""
    again = pd.read_json(CODES / "again.jsonl", lines=True)
    again["corpus"] = again["session"].str.split("/").str[0]
    flagged = again[again["given"]]
    share = flagged.groupby(["code", "corpus"])["verdict"].agg(["mean", "size"])
    cells = (share["mean"].round(2).astype(str) + " (" + share["size"].astype(str) + ")").unstack(fill_value="")
    others = again.loc[~again["given"], "verdict"]
    return f"{cells[list(SESSIONS)].to_string()}\nOf {len(others)} turns without the code: {others.mean():.2f}\n"


def danger(data: Unseen, found: dict[str, NDArray[np.bool_]]) -> str:
    """Return how much danger is found by the score alone, and by the mark, and how often where there is none."""
    at = NAMES.index("risk_own")
    rows = data.counts[:, at] & data.turns.table["corpus"].isin(list(SESSIONS)).to_numpy()
    truth, elsewhere = data.truth[:, at] & rows, data.turns.table["corpus"].ne("vera_mh").to_numpy()
    sessions, lines = data.turns.table["session"].to_numpy(), []
    for means, flagged in (("the score", found["risk_own"]), ("the mark", _marked(data, found["risk_own"]))):
        by_session = pd.DataFrame({"truth": truth, "flagged": flagged & rows})[rows].groupby(sessions[rows]).max()
        lines.append(f"Turns with `risk_own` found by {means}: {flagged[truth].mean():.3f} of {truth.sum()}")
        lines.append(
            f"of them outside of VERA-MH: {(flagged & truth & elsewhere).sum()} of {(truth & elsewhere).sum()}"
        )
        for has, words in ((True, "with danger"), (False, "without danger")):
            some = by_session[by_session["truth"] == has]["flagged"]
            lines.append(f"Sessions {words} that are flagged: {some.mean():.3f} of {len(some)}")
    named = [found[name] | data.truth[:, NAMES.index(name)] for name in ("risk_asked", "risk_help")]
    passed = found["risk_passed_over"] & (named[0] | named[1])
    lines.append(
        f"Turns with `risk_passed_over` that ask or name help, by the tagger or by the reading: {passed.sum()}"
    )
    return "\n".join(lines) + "\n"


def _marked(data: Unseen, likely: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the turns that are marked where some are likely by their scores, (n_turns,)."""
    made = [session_of(rows) for _, rows in data.turns.table.groupby("session", sort=False)]
    batch = annotate(made, Matcher(builtin_lexicons()))
    p = likely.astype(np.float64)[:, None]
    codes = Codes((CODE,), p, p > 0, p < 0)
    return with_danger(codes, batch, {"balanced": 0.5, "recall": 0.5}, "balanced").decision[:, 0]


def going_along(data: Unseen, folder: Path) -> str:
    """Return Spearman's correlation of going along with the judge's marks, within each chatbot, left out."""
    at, marks = NAMES.index("goes_along"), _judged(folder)
    likely = sigmoid(data.scores[:, at])
    lines = []
    for name in CHATBOTS:
        rows = data.left_out[name] & data.counts[:, at]
        means = pd.Series(likely[rows]).groupby(data.turns.table["session"].to_numpy()[rows]).mean()
        model_name = "llama" if name.endswith("llama") else "claude"
        for mark, label in MARKS.items():
            theirs = [marks[model_name, session.split("-")[-1].split("/")[-1]][label] for session in means.index]
            rho = spearmanr(means, theirs).statistic
            lines.append(f"{name}: `goes_along` (mean probability) and {mark}: rho {rho:.2f}, {len(means)} chats")
    return "\n".join(lines) + "\n"


def _judged(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Return the sums of the judge's marks, by chatbot and prompt."""
    found = {}
    for path in sorted((folder / "spiral_bench").glob("*.json")):
        chatbot = "llama" if path.stem.startswith("llama") else "claude"
        for name, chats in json.loads(path.read_text(encoding="utf-8"))["1"].items():
            for prompt, copies in chats.items() if name.endswith(".json") else ():
                chunks = copies[0]["judgements"].values()
                sums = {
                    mark: float(sum(one.get("metrics", {}).get(mark, 0) for one in chunks)) for mark in MARKS.values()
                }
                found[chatbot, prompt] = sums
    return found


if __name__ == "__main__":
    main()
