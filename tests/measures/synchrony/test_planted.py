"""Made-up dialogues with synchrony planted in them: each measure finds it, and finds none where none is."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest
from scipy.stats import binom

from benchmarks import planted
from therapy_analytics.measures.synchrony.tables import kinds

STRENGTHS = (0.2, 0.6)
N, N_NULL = 12, 34
LEVEL, LOWEST_MEAN = 0.05, 0.35
OF_WORDS = ["lexical_alignment", "lexical_alignment_2"]
OF_STYLE = ["coordination", "lsm_turn_mean", "rlsm"]
OF_TOPIC = ["semantic_similarity"]
NEIGHBOURS = [*OF_WORDS, *OF_STYLE, *OF_TOPIC]
WHOLES = ["lexical_alignment_whole", "shared_expressions"]
ORDERED = {
    "z": NEIGHBOURS,
    "surrogate_z": [
        *NEIGHBOURS,
        "lexical_alignment_whole",
        "expression_repetition",
    ],
}
"""Columns that must rise with the plant, beside shuffles and beside surrogate pairs."""
LEADS = {"z": NEIGHBOURS, "surrogate_z": ["expression_initiated_therapist"]}
"""Columns that say who follows: in a table of the benchmark, above 0 the therapist does."""

Found = Callable[[str], pd.DataFrame]


@pytest.fixture(scope="module")
def found() -> Found:
    """Return what is found where something is planted, measured when first asked for."""
    known: dict[str, pd.DataFrame] = {}

    alone = {f"{what} alone": planted.Plant("client", {what: 0.6}) for what in planted.PLANTS}
    cells = {"none 0": planted.Plant()} | alone
    cells |= {
        f"{who} {s}": planted.Plant(who, dict.fromkeys(planted.PLANTS, s))
        for who in planted.FOLLOWERS
        for s in STRENGTHS
    }

    def measured(cell: str) -> pd.DataFrame:
        if cell not in known:
            none = cell == "none 0"
            sessions = planted.dialogues(N_NULL if none else N, cells[cell])
            known[cell] = planted.found_in(
                sessions,
                kinds(
                    None if none else [*NEIGHBOURS, *WHOLES],
                    extras=["all"],
                ),
            )
        return known[cell]

    return measured


def _z(one: pd.DataFrame, about: str = "value", z: str = "z") -> pd.Series:
    return one[one["about"] == about].groupby("measure")[z].mean()


def test_the_same_seed_makes_the_same_dialogues() -> None:
    plant = planted.cells()["client 0.3"]
    one, again, other = (planted.dialogues(2, plant, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one != other


@pytest.mark.parametrize("z", ["z", "surrogate_z"])
def test_the_stronger_the_plant_the_further_from_the_null(found: Found, z: str) -> None:
    cells = [["none 0"], *([f"{who} {strength}" for who in ("client", "therapist")] for strength in STRENGTHS)]
    course = pd.DataFrame([_z(pd.concat(map(found, names)), z=z)[ORDERED[z]] for names in cells])
    assert (course.diff().iloc[1:] > 0).all(axis=None), course.round(2).to_string()


@pytest.mark.parametrize("z", ["z", "surrogate_z"])
def test_the_one_who_follows_is_found(found: Found, z: str) -> None:
    for strength in STRENGTHS:
        lead = pd.DataFrame({who: _z(found(f"{who} {strength}"), "lead", z) for who in ("client", "therapist")})
        assert (lead.loc[LEADS[z], "client"] < 0).all()
        assert (lead.loc[LEADS[z], "therapist"] > 0).all()


def test_measures_respond_to_their_own_plant_most(found: Found) -> None:
    """A repeated word is also of the same class and topic: style and topic may show where words are repeated."""
    z = pd.DataFrame({what: _z(found(f"{what} alone")) for what in ("words", "style", "topic", "length")})
    assert (z.loc[OF_WORDS, "words"] > 3 * z.loc[OF_WORDS, ["style", "topic", "length"]].max(axis=1)).all()
    assert (z.loc[OF_STYLE, "style"] > 0.5 + z.loc[OF_STYLE, ["topic", "length"]].max(axis=1)).all()
    assert (z.loc[OF_TOPIC, "topic"] > 0.5 + z.loc[OF_TOPIC, ["style", "length"]].max(axis=1)).all()


def _off(one: pd.DataFrame, p: str) -> list[str]:
    """Return measures with p under the level as often as happens once in 10,000 times, or low on average.

    The average of p is .5 where nobody follows, or more where values are tied; of 40 it falls under .35 once in 2,000
    times. It tells apart what the few smallest p cannot.
    """
    known = one[one[p].notna()]
    groups = known.assign(under=known[p] < LEVEL).groupby(["measure", "about"])
    sums, n = groups["under"].sum(), groups.size()
    off = (binom.sf(sums - 1, n, LEVEL) < 1e-4) | (groups[p].mean() < LOWEST_MEAN)
    return [f"{name} ({about})" for name, about in sums.index[off & (n >= N_NULL / 2)]]


def test_no_measure_finds_what_was_not_planted(found: Found) -> None:
    assert not _off(found("none 0"), "p")


def test_partners_who_do_not_follow_are_as_surrogate_pairs(found: Found) -> None:
    assert not _off(found("none 0"), "surrogate_p")


@pytest.mark.parametrize("p", ["p", "surrogate_p"])
def test_all_measures_together_keep_to_the_level(found: Found, p: str) -> None:
    """Measures go together, and ties make p larger: fewer than 5 of 100 are usual, 8 are not."""
    known = found("none 0")[p].dropna()
    assert len(known) > 400
    assert 0.02 < (known <= LEVEL).mean() < 0.07
