"""How far the tagger agrees with AnnoMI's coders, beside how far these agree with each other.

``python -m benchmarks.agreement DATA [--unseen UNSEEN.csv [--tagger fast]] [--results FOLDER]`` prints the report on
the three sessions that ten people coded. DATA is the folder of research corpora. The turns are those of FOLDER, as
``tanalyze run --quotes`` wrote it, else the fast tagger's. The shipped taggers have learned from these sessions;
``UNSEEN.csv`` gives the numbers that count. It is as ``tools/unseen_codes.py`` writes it: columns ``source``,
``session``, ``turn``, ``role`` and ``accurate_mi_question``, ..., as probabilities of models that had not seen the
recording.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

import therapy_analytics as ta
from benchmarks._corpora import FAST
from therapy_analytics.stats.agreement import agreement

CODES = (
    "mi_question",
    "mi_question_open",
    "mi_question_closed",
    "mi_reflection",
    "mi_input",
    "mi_change",
    "mi_sustain",
)
FLAGS = {"question_exists": "mi_question", "reflection_exists": "mi_reflection", "therapist_input_exists": "mi_input"}
LABELS = {
    "question_subtype": {"open": "mi_question_open", "closed": "mi_question_closed"},
    "client_talk_type": {"change": "mi_change", "sustain": "mi_sustain"},
}
"""AnnoMI's columns of flags and of labels, and the codes that they hold."""
MANY = ("27", "56", "130")
"""Sessions that ten people coded, of those that are here; AnnoMI's authors report on seven."""


def people_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Return AnnoMI's rows in the wide form of codes by people, with the words by which turns are matched."""
    found = rows[["transcript_id", "annotator_id", "utterance_text"]].set_axis(["session_id", "coder", "text"], axis=1)
    client = rows["interlocutor"] == "client"
    given = {code: (rows[flag].astype(str) == "True", ~client) for flag, code in FLAGS.items()}
    for column, codes in LABELS.items():
        own = client if column == "client_talk_type" else ~client
        given |= {code: (rows[column] == label, own) for label, code in codes.items()}
    return found.assign(**{code: has.astype(float).where(own) for code, (has, own) in given.items()})


def unseen_turns(turns: pd.DataFrame, path: Path, prefix: str) -> pd.DataFrame:
    """Return the turns with probabilities by models that had not seen them; as many are coded as these expect.

    The file has AnnoMI's turns in the order of the sessions; those of a session are matched by number where there are
    as many as in the table.
    """
    table = pd.read_csv(path)
    table = table[table["source"] == "annomi"]
    table["session_id"] = table["session"].astype(str).str.removeprefix("annomi ")
    keys = ["session_id", "turn", "role"]
    names = {f"{prefix}_{code}": f"p_{code}" for code in CODES}
    found = turns[[*keys, "text", "source_group"]].merge(
        table[[*keys, *names]].rename(columns=names), on=keys, how="left"
    )
    for code in CODES:
        p = found[f"p_{code}"]
        cut = np.nanquantile(p, 1 - np.nanmean(p))  # as many as the probabilities expect
        found[code] = (p >= cut).astype(float).where(p.notna())
    return found


def main() -> str:
    """Return the report on the sessions that ten people coded, and how long all sessions take."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--unseen", type=Path)
    parser.add_argument("--tagger", default="accurate", choices=("accurate", "fast"))
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    path = options.data / "annomi" / "annomi.csv"
    analysis = ta.load(options.results) if options.results else ta.analyze(ta.read(path), quotes=True, tagger=FAST)
    turns = analysis.wide_turns.merge(analysis.sessions[["session_id", "source_group"]], on="session_id")
    kind = f"{options.results or 'the fast tagger'}, which has seen the recordings"
    if options.unseen is not None:
        turns = unseen_turns(turns, options.unseen, options.tagger)
        kind = f"models ({options.tagger}) that had not seen the recordings"
    people = people_of(pd.read_csv(path, low_memory=False))
    many = people[people["session_id"].astype(str).isin(MANY)]
    started = time.perf_counter()
    whole = agreement(turns, people)
    spent = time.perf_counter() - started
    some = turns[turns["session_id"].isin(MANY)]
    few = agreement(some, many)
    head = f"Coded by {kind}. All {turns['session_id'].nunique()} sessions took {spent:.1f} s.\n"
    return "\n".join([head, *whole.summary, "", "The sessions of ten coders:", "", few.text])


if __name__ == "__main__":
    print(main())
