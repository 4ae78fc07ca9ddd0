"""The ledger of outcomes: what ratings, outcomes and skill have to do with the core measures."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import therapy_analytics as ta
from therapy_analytics.results.references import LEDGER_KINDS, ledger_words, outcome_ledger

FAST = ta.TaggerOptions(kind="fast")


def test_values_lie_in_their_intervals() -> None:
    ledger = outcome_ledger()
    assert ledger["measure"].is_unique
    assert set(ledger["expected"]) <= {"+", "-", ""}
    for kind in LEDGER_KINDS:
        known = ledger[ledger[kind].notna()]
        assert len(known) > 10, kind
        assert (known[f"{kind}_lo"] <= known[kind]).all(), kind
        assert (known[kind] <= known[f"{kind}_hi"]).all(), kind
        assert known[[f"{kind}_lo", f"{kind}_hi"]].abs().max().max() <= 1, kind


def test_no_behaviour_of_the_core_has_the_wrong_sign_in_two_of_three() -> None:
    """Such a measure loses its place in the core. Synchrony is no score of quality, and docs/validity.md says this."""
    ledger = outcome_ledger()
    wrong = ledger.loc[ledger["verdict"].str.contains("wrong sign in two"), "measure"]
    assert wrong.tolist() == ["semantic_similarity_excess"]


def test_the_codebook_of_a_run_says_it(samples: Path) -> None:
    codebook = ta.analyze(ta.read(samples / "nair_yuki.txt"), tagger=FAST).codebook
    told = codebook[codebook["outcomes"] != ""].set_index("column")["outcomes"]
    words = ledger_words()
    core = set(codebook.loc[codebook["table"] == "sessions", "column"])
    assert set(told.index) == set(words) & core
    assert told.to_dict() == {name: words[name] for name in told.index}
    assert told["therapist_reflection_rate"].startswith("Expected: +; as expected in one of three; clients' score")
    # The fast tagger gives no codes of `process`, so these have no column here
    assert {name for name in words if name not in core} <= {
        "therapist_advice_rate", "reflection_after_feeling_rate", "n_client_feeling_negative",
    }  # fmt: skip


def test_a_measure_without_a_value_is_not_told() -> None:
    row = outcome_ledger().set_index("measure").loc["n_therapist_affirmation"]
    assert pd.isna(row["skilled"])
    assert "skilled" not in ledger_words()["n_therapist_affirmation"]
