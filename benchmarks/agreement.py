"""How far the tagger agrees with AnnoMI's coders, beside how far these agree with each other.

``python -m benchmarks.agreement DATA [UNSEEN.csv]`` prints the report on the three sessions that ten people coded, then
the time that the statistics of all sessions take. DATA is the folder of research corpora. The shipped
tagger has learned from these sessions; ``UNSEEN.csv`` (columns ``source``, ``session``, ``turn``, ``role`` and
``accurate_mi_question``, ..., as probabilities of models that had not seen the recording) gives the figures that count.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import therapy_analytics as ta
from benchmarks._corpora import FAST
from therapy_analytics.agreement import agreement

CODES = (
    "mi_question",
    "mi_question_open",
    "mi_question_closed",
    "mi_reflection",
    "mi_input",
    "mi_change",
    "mi_sustain",
)
MANY = ("27", "56", "130")
"""Sessions that ten people coded, of those that are here; AnnoMI's authors report on seven."""


def unseen_turns(turns: pd.DataFrame, path: Path, prefix: str = "accurate") -> pd.DataFrame:
    """Return the turns with probabilities by models that had not seen them; as many are coded as these expect.

    The file has AnnoMI's turns in the order of the sessions; those of a session are matched by number where there are
    as many as in the table.
    """
    table = pd.read_csv(path)
    table = table[table["source"] == "annomi"]
    table["session_id"] = table["session"].astype(str).str.removeprefix("annomi ")
    keys = ["session_id", "turn", "role"]
    names = {f"{prefix}_{code}": f"p_{code}" for code in CODES}
    found = turns[[*keys, "text"]].merge(table[[*keys, *names]].rename(columns=names), on=keys, how="left")
    for code in CODES:
        p = found[f"p_{code}"]
        cut = np.nanquantile(p, 1 - np.nanmean(p))  # as many as the probabilities expect
        found[code] = (p >= cut).astype(float).where(p.notna())
    return found


def main(data: Path, unseen: Path | None = None) -> str:
    """Return the report on the sessions that ten people coded, and how long all sessions take."""
    path = data / "annomi" / "annomi.csv"
    turns = ta.analyze(ta.read(path), quotes=True, tagger=FAST).turns
    if unseen is not None:
        turns = unseen_turns(turns, unseen)
    people = pd.read_csv(path, low_memory=False)
    many = people[people["transcript_id"].astype(str).isin(MANY)]
    started = time.perf_counter()
    whole = agreement(turns, people)
    spent = time.perf_counter() - started
    few = agreement(turns[turns["session_id"].isin(MANY)], many)
    kind = "models that had not seen the recordings" if unseen is not None else "the fast tagger, which has seen them"
    head = f"Coded by {kind}. All {turns['session_id'].nunique()} sessions took {spent:.1f} s.\n"
    return "\n".join([head, *whole.summary, "", "The sessions of ten coders:", "", few.text])


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
