"""Sessions and groups are compared by the excess of synchrony over surrogate pairs: length does not pass for it."""

from __future__ import annotations

from pathlib import Path

import pytest

import therapy_analytics as ta
from benchmarks import excess
from therapy_analytics.results.codebook_table import wide_codebook

FAST = ta.TaggerOptions(kind="fast")


def test_longer_turns_raise_the_value_and_not_the_excess() -> None:
    longer = excess.CONTRASTS["turns 1.6 times as long; nobody follows"]
    claims = excess.claims(excess.two_groups(longer, 24, ("rlsm",)), 200)
    assert claims["value"][0] > 0.6
    assert abs(claims["excess"][1]) < 0.5 * claims["value"][1]


def test_longer_sessions_raise_z_and_not_the_excess() -> None:
    longer = excess.CONTRASTS["sessions twice as long; clients follow"]
    claims = excess.claims(excess.two_groups(longer, 16, ("lexical_alignment",)), 200)
    assert claims["z"][0] > 0.6
    assert claims["excess"][0] < 0.3


@pytest.fixture(scope="module")
def analysis(samples: Path) -> ta.Analysis:
    return ta.analyze(ta.read(samples), tagger=FAST, measures="all")


def test_only_the_excess_of_synchrony_stands_beside_other_sessions(analysis: ta.Analysis) -> None:
    """It takes the measure's place on the page and in comparisons, wherever the wide table's codebook is read."""
    book = wide_codebook(analysis.codebook)
    synchrony = book[book["family"] == "synchrony"]
    others = synchrony[synchrony["statistic"] != "excess"]
    assert set(others["compare"]) == {"no"}
    assert not others[["page", "label", "does"]].to_numpy().any()
    style = book.loc["lsm_turn_mean_excess"]
    assert style["label"] == "Style matching (LSM), above surrogate pairs"
    assert style[["page", "compare", "evidence", "range"]].tolist() == ["together", "", "supported", "any"]
    assert style["meaning"].endswith(", above what surrogate pairs lead one to expect")
    assert book.loc["lsm_turn_mean_client_excess", "compare"] == "part"
    assert book.loc["therapist_question_rate", "compare"] == "tested"


def test_sessions_hold_value_and_excess_in_at_most_72_columns(analysis: ta.Analysis) -> None:
    names = list(analysis.sessions)
    assert len(names) <= 72
    assert [name for name in names if name.startswith(("lsm", "semantic"))] == [
        "lsm_turn_mean", "lsm_turn_mean_excess", "semantic_similarity", "semantic_similarity_excess",
    ]  # fmt: skip
    long = analysis.measures.query("measure == 'lsm_turn_mean' and direction == 'both'").set_index("session_id")
    own = analysis.sessions.set_index("session_id")["lsm_turn_mean_excess"]
    assert own.notna().any()
    assert own.dropna().to_dict() == (long["value"] - long["surrogate_mean"])[own.dropna().index].to_dict()


def test_low_values_of_what_is_low_when_alike_keep_their_sign() -> None:
    """The excess is value less surrogate mean for every measure; what a low value means, it says itself."""
    codebook = wide_codebook(ta.analyze([], measures=("nclid",)).codebook)
    assert codebook.loc["nclid_excess", "high_means"].startswith(codebook.loc["nclid", "high_means"])
