"""How good the tagger is, cross-validated by recording: ``python -m benchmarks.tagger --work FOLDER [--partitions 3]``.

Prints the columns of ``docs/tagger/summary.csv``, without those of an earlier version. Needs the research corpora that
docs/model_card.md names, and what ``tools/train_accurate.py`` needs. About ten minutes a partition for the fast tagger;
for the accurate one, on the first partition alone, two hours, unless the working folder of ``tools/train_accurate.py``
is named: what that run kept is used.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--partitions", type=int, default=3)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tools"))  # what is measured is what trains
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        print(table(options.data, options.work, options.partitions).round(3).to_csv(), end="")


def table(data: Path, work: Path, partitions: int) -> pd.DataFrame:
    """Return a row a figure: the fast tagger's mean, lowest and highest, the accurate one's, what must be reached."""
    import tagger_first
    import tagger_posts
    import tagger_training
    import tagger_transfer
    import train_accurate
    import train_tagger
    from tagger_judged import MUST, figures, pairs
    from tagger_meaning import learn

    from therapy_analytics.codes import load_accurate, load_tagger

    corpus, directions = tagger_first.labelled(data), learn(data)
    first = tagger_first.first_layer(corpus, directions)
    about = pd.read_csv(data / "annomi" / "annomi.csv").drop_duplicates("transcript_id").set_index("transcript_id")
    others = range(train_tagger.SEED + 1, train_tagger.SEED + partitions)
    findings = [train_accurate.fast_unseen(corpus, data, work)]
    findings += [train_tagger.out_of_fold(first, directions, seed).found for seed in others]
    fast = pd.DataFrame([figures(found, corpus.turns, about) for found in findings])
    turns = train_accurate.all_turns(data, work)
    given = tagger_training.material(turns, work)
    for name in (*train_accurate.BY_RECORDING, *train_accurate.CODED):
        train_accurate.fit(given, work, name)
    found, _ = train_accurate.weighed(turns, data, work)
    accurate = figures({name: found[name] for name in findings[0]}, corpus.turns, about)
    accurate |= tagger_posts.figures(
        turns, train_accurate.together(turns, work, train_accurate.BY_RECORDING, "clean")[0]
    )
    alone = {name: train_accurate.without(turns, work, name) for name in train_accurate.CODED}
    accurate |= tagger_transfer.kappas(turns, alone)
    fast["PAIR, pairs in order"] = pairs(data, load_tagger())
    accurate["PAIR, pairs in order"] = pairs(data, load_accurate())
    rows = [
        {"figure": name, "accurate": accurate[name], "must": must, "moonshot": moonshot}
        | (
            {"fast": fast[name].mean(), "fast_lowest": fast[name].min(), "fast_highest": fast[name].max()}
            if name in fast
            else {}
        )
        for name, (must, moonshot) in MUST.items()
    ]
    order = ["figure", "fast", "fast_lowest", "fast_highest", "accurate", "must", "moonshot"]
    return pd.DataFrame(rows)[order].set_index("figure")


if __name__ == "__main__":
    main()
