"""Does length pass for synchrony between groups? ``python -m benchmarks.excess [--sessions 120] [--studies 2000]``.

Made-up dialogues (`benchmarks.planted`) of two groups that are alike but for length: in the first turns are 1.6 times
as long, or sessions twice as long, as in the second. Nobody follows anybody, or all clients follow alike, each word
of a reply being taken from the turn before with probability .15. All sessions of the two groups are one run, so
that each is a donor of surrogate pairs of others of like length. Of each group ten sessions are drawn, and drawn anew
for each study; their raw values, their z beside shuffles and their excess over surrogate pairs are compared by Welch's
test. Prints, as a table in Markdown, how many studies of a hundred claim a difference at p < .05, and the difference of
the means of all sessions. Where the groups are alike, 5 should.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

import therapy_analytics as ta
from benchmarks._markdown import markdown
from benchmarks.planted import Plant, dialogues

MEASURES = ("lsm_turn_mean", "rlsm", "semantic_similarity", "lexical_alignment")
STATISTICS = ("value", "z", "excess")
OF_EACH = 10
"""Sessions of a group in a study."""
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Contrast:
    """How the first group differs from the second, which has forty turns of usual length, and what is in both."""

    plant: Plant
    longer: float = 1.0
    n_turns: int = 40


NOBODY, CLIENTS = Plant(), Plant("client", {"words": 0.15})
CONTRASTS: Mapping[str, Contrast] = {
    "nothing; nobody follows": Contrast(NOBODY),
    "turns 1.6 times as long; nobody follows": Contrast(NOBODY, longer=1.6),
    "sessions twice as long; nobody follows": Contrast(NOBODY, n_turns=80),
    "turns 1.6 times as long; clients follow": Contrast(CLIENTS, longer=1.6),
    "sessions twice as long; clients follow": Contrast(CLIENTS, n_turns=80),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=120, help="of each group")
    parser.add_argument("--studies", type=int, default=2000)
    given = parser.parse_args()
    heads = (f"{name}: {told}" for name in STATISTICS for told in ("claims of 100", "difference"))
    rows = [["the groups differ in", "measure", *heads]]
    for name, contrast in CONTRASTS.items():
        found = two_groups(contrast, given.sessions)
        for measure in MEASURES:
            cells = claims(found[found["measure"] == measure], given.studies)
            shown = [cell for claimed, apart in cells.values() for cell in (f"{100 * claimed:.1f}", f"{apart:+.3f}")]
            rows.append([name, f"`{measure}`", *shown])
    print(markdown(rows))


def two_groups(contrast: Contrast, n: int, measures: tuple[str, ...] = MEASURES, *, seed: int = 0) -> pd.DataFrame:
    """Return a row a session and measure of two groups of `n` sessions; those of the first are ``group`` True."""
    first = dialogues(n, contrast.plant, n_turns=contrast.n_turns, longer=contrast.longer, seed=2 * seed)
    second = dialogues(n, contrast.plant, seed=2 * seed + 1)
    sessions = [replace(one, id=f"{group}{one.id}") for group, own in (("a", first), ("b", second)) for one in own]
    table = ta.synchrony(sessions, measures=list(measures))
    kept = table[(table["part"] == "whole") & (table["direction"] == "both") & table["measure"].isin(measures)]
    return kept.assign(group=kept["session_id"].str.startswith("a"))


def claims(found: pd.DataFrame, n_studies: int, *, seed: int = 0) -> dict[str, tuple[float, float]]:
    """Return of each statistic the share of studies with p below .05, and the first group's mean less the second's."""
    rng, claimed = np.random.default_rng(seed), {}
    for name in STATISTICS:
        groups = [own[name].dropna().to_numpy() for own in (found[found["group"]], found[~found["group"]])]
        drawn = [np.stack([rng.choice(one, OF_EACH, replace=False) for _ in range(n_studies)]) for one in groups]
        p = stats.ttest_ind(*drawn, axis=1, equal_var=False).pvalue
        claimed[name] = float((p < LEVEL).mean()), float(groups[0].mean() - groups[1].mean())
    return claimed


if __name__ == "__main__":
    main()
