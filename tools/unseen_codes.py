"""Write what the taggers say of turns that they have not seen: the file for ``--unseen`` of the benchmarks.

Run from the root of the repository after ``train_accurate.py``, with its environment, corpora and working folder:

    python tools/unseen_codes.py --data CORPORA --work FOLDER --out unseen.csv

There is a row for each turn of AnnoMI, and of the sessions of HLQC whose codes were read (``--sources misc bolt`` gives
MISC's units and BOLT's rows instead, which `build_tagger_errors.py` wants, too). It says where the turn is
(``source``, ``session``, ``turn`` from 0, ``role``, ``group``: copies of a recording share it), which ``codes`` it has,
its ``n_words`` and ``n_questions``, and for each code ``fast_<code>`` and ``accurate_<code>``, the probabilities by
taggers that were not trained on the recording, and ``truth_<code>``, how many of the coders gave it. Nothing that was
said is in it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import tagger_first
from tagger_judged import Findings, Judged
from train_accurate import all_turns, fast_unseen, weighed

from therapy_analytics.codes.tagger import n_questions
from therapy_analytics.text.segments import turns_from_texts

SOURCES = ("annomi", "hlqc")
TRUTH = "truth"


def main() -> None:
    """Collect and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "work", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--sources", nargs="+", default=SOURCES)
    options = parser.parse_args()
    corpus = tagger_first.labelled(options.data)
    fast = fast_unseen(corpus, options.data, options.work)
    every, _ = weighed(all_turns(options.data, options.work), options.data, options.work)
    accurate = {code: every[code] for code in fast}
    turns = pd.concat([_about(corpus.turns), *_columns(fast, accurate, len(corpus.turns))], axis=1)
    turns = turns[turns["source"].isin(options.sources)]
    turns.assign(turn=turns.groupby(["source", "session"]).cumcount()).to_csv(options.out, index=False)


def _about(turns: pd.DataFrame) -> pd.DataFrame:
    """Return where the turns are, and no word of them."""
    codes = [";".join(sorted(given)) if isinstance(given, frozenset) else "" for given in turns["codes"]]
    texts = turns["text"].astype(str)
    asked = n_questions(turns_from_texts(texts.tolist()))
    about = turns[["source", "session", "role", "group"]]
    return about.assign(codes=codes, n_words=texts.str.split().str.len(), n_questions=asked)


def _columns(fast: Findings, accurate: Findings, n: int) -> list[pd.DataFrame]:
    """Return probabilities and truths, a column each; nan for turns that a code is not judged on."""
    columns = {f"fast_{code}": _of_all(one, n, one.p) for code, one in fast.items()}
    columns |= {f"{TRUTH}_{code}": _of_all(one, n, one.truth) for code, one in fast.items()}
    columns |= {f"accurate_{code}": _of_all(one, n, one.p) for code, one in accurate.items()}
    return [pd.DataFrame(columns)]


def _of_all(one: Judged, n: int, values: np.ndarray) -> np.ndarray:
    """Return values as written by people, or as speech recognisers write where a code is judged on nothing else."""
    way = "clean" if "clean" in one.ways else one.ways[0]
    start = one.ways.index(way) * len(one.rows)
    found = np.full(n, np.nan)
    found[one.rows] = values[start : start + len(one.rows)]
    return found


if __name__ == "__main__":
    main()
