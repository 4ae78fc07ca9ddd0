"""Intervals of turn rates on halves of real sessions, by people's codes: they hold as often as they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.turn_rates import cuts, derived
from therapy_analytics.codes.codebook import correlation_of

COLUMNS = {
    "mi_input": ("therapist_input_exists", "True"),
    "mi_change": ("client_talk_type", "change"),
}


@pytest.mark.parametrize("code", COLUMNS)
def test_halves_of_sessions_differ_as_the_intervals_say(code: str, corpora: Path) -> None:
    column, value = COLUMNS[code]
    table = pd.read_csv(corpora / "annomi" / "annomi.csv", dtype=str).dropna(subset=column)
    turns = table.groupby(["source_group", "transcript_id", "utterance_id"])[column].agg(
        lambda spoken: value in set(spoken)
    )
    series = {
        str(group): own.to_numpy(dtype=np.float64)[np.argsort(own.index.get_level_values("utterance_id").astype(int))]
        for (group, _), own in turns.groupby(level=["source_group", "transcript_id"])
    }
    pairs = cuts([("annomi", group, one) for group, one in series.items()])
    told = pairs[pairs.telling]
    assert len(told.group) > 50
    assert told.held(correlation_of(code)).mean() >= 0.93
    assert told.held(0.0).mean() < told.held(correlation_of(code)).mean()


def test_the_derivation_finds_the_correlation_that_was_put_in() -> None:
    random = np.random.default_rng(1)
    for correlation, least, most in ((0.0, 0.0, 0.02), (0.1, 0.07, 0.13)):
        made = []
        for i in range(1500):
            first, second = random.beta(
                3 * (1 / max(correlation, 1e-4) - 1) / 10, 7 * (1 / max(correlation, 1e-4) - 1) / 10, 2
            )
            made.append(("made", str(i), (random.random(40) < np.repeat([first, second], 20)).astype(float)))
        assert least <= derived(cuts(made)) <= most
