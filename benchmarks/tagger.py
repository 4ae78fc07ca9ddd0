"""How good the tagger is, cross-validated by source: ``python -m benchmarks.tagger [--data CORPORA] [--partitions 3]``.

Needs the research corpora that docs/model_card.md names, and about ten minutes a partition.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--partitions", type=int, default=3)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tools"))  # what is measured is what trains
    from tagger_figures import table
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        print(table(options.data, tuple(range(1, options.partitions + 1))).round(3).to_string())


if __name__ == "__main__":
    main()
