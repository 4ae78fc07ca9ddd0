"""How far the rates of `process` codes in sessions lie from a reading: ``python -m benchmarks.process_rates``.

The accurate tagger of the package codes the read sessions of six corpora (``tools/process_codes``), most of which it
learnt from. For each code with 200 turns or more, danger aside, and each session with eight read turns of its role,
the share of turns that are given the code is held against the share that has it by the reading. Prints in how many
sessions they differ by more than .3, and how many are flooded: more than three quarters of the turns are given a code
that less than two in five have. Needs the research corpora that docs/model_card.md names; takes some three minutes.
`tools/judge_process.py` prints the same with each corpus left out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks._markdown import markdown
from therapy_analytics.codes import load_accurate
from therapy_analytics.text import annotate, builtin_lexicons
from therapy_analytics.text.lexicons import Matcher

ROOT = Path(__file__).resolve().parents[1]
BATCH = 40


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tools"))  # whose reading it is
    print(table(rates(options.data)))


def rates(data: Path) -> pd.DataFrame:
    """Return the rates as read and as given, see `process_judged.session_rates`."""
    import process_corpus
    from process_judged import GIVEN, session_rates

    turns = process_corpus.turns(data)
    turns = turns[turns["corpus"].isin(list(process_corpus.SESSIONS))].reset_index(drop=True)
    sure = pd.DataFrame(turns["codes"].tolist()).reindex(columns=process_corpus.NAMES).fillna(0.0).to_numpy()
    of_role = turns["role"].to_numpy()[:, None] == np.array(process_corpus.ROLE_OF)
    counts = of_role & turns["read"].to_numpy(dtype=bool)[:, None]
    found: pd.DataFrame = session_rates(turns, sure >= GIVEN, _given(turns), counts)
    return found


def _given(turns: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which turns are given which code of `process`, (n_turns, n_codes)."""
    from process_corpus import NAMES, session_of

    tagger, matcher = load_accurate(all_codes=True), Matcher(builtin_lexicons())
    sessions = [session_of(rows) for _, rows in turns.groupby("session", sort=False)]
    found: list[NDArray[Any]] = []
    for start in range(0, len(sessions), BATCH):
        codes = tagger.predict(annotate(sessions[start : start + BATCH], matcher))
        found.append(codes.decision[:, [codes.names.index(f"process_{name}") for name in NAMES]])
    return np.concatenate(found)


def table(rates: pd.DataFrame) -> str:
    """Return the table: a row a code, and one of all."""
    from process_judged import off_and_flooded

    rows = [["code", "sessions", "off by more than .3", "flooded"]]
    every = [*rates.groupby("code", sort=False), ("all", rates)]
    rows += [[str(name), f"{len(some):,}", *map(str, off_and_flooded(some))] for name, some in every]
    return markdown(rows)


if __name__ == "__main__":
    main()
