"""No number changes unless somebody means it to: see `tests.golden`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from tests.golden import (
    CORPORA,
    HERE,
    accurate_codes,
    agreement_values,
    comparison_values,
    corpus_fingerprints,
    differences,
    out_of_range,
    sample_analysis,
    sample_values,
    turn_fingerprints,
)
from therapy_analytics.measures.base import all_columns
from therapy_analytics.text import EXTRAS, builtin_lexicons


@pytest.fixture(scope="module")
def analysis(samples: Path) -> ta.Analysis:
    return sample_analysis(samples)


def test_the_sessions_of_the_samples(analysis: ta.Analysis) -> None:
    found = sample_values(analysis).reset_index()
    assert differences(found, pd.read_csv(HERE / "samples.csv"), ["column"]) == []


def test_the_values_of_the_samples_are_in_their_range(analysis: ta.Analysis) -> None:
    columns = [column for _, column in all_columns(builtin_lexicons(), extras=EXTRAS)]
    assert out_of_range(analysis, columns) == []


def test_the_turns_of_the_samples(analysis: ta.Analysis) -> None:
    frozen = pd.read_csv(HERE / "turns.csv")
    assert differences(turn_fingerprints(analysis), frozen, ["table", "column"]) == []


def test_the_accurate_tagger_on_the_samples(samples: Path) -> None:
    frozen = pd.read_csv(HERE / "accurate.csv").set_index("code")
    found = accurate_codes(samples).set_index("code").loc[frozen.index]
    np.testing.assert_allclose(found["mean"], frozen["mean"], atol=0.003)
    np.testing.assert_allclose(found["n"], frozen["n"], atol=3, rtol=0.03)


def test_a_comparison_of_the_samples(analysis: ta.Analysis) -> None:
    frozen = pd.read_csv(HERE / "comparison.csv")
    assert differences(comparison_values(analysis), frozen, ["table", "row", "column"]) == []


def test_the_agreement_with_the_codes_of_the_samples(analysis: ta.Analysis) -> None:
    frozen = pd.read_csv(HERE / "agreement.csv")
    found = agreement_values(analysis, HERE.parent / "gold")
    assert differences(found, frozen, ["table", "row", "column"]) == []


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_corpora(corpus: str, corpora: Path) -> None:
    frozen = pd.read_csv(HERE / "corpora.csv").query("corpus == @corpus")
    found = corpus_fingerprints(corpora, [corpus])
    assert differences(found, frozen, ["corpus", "table", "column"]) == []


def test_a_changed_number_is_found() -> None:
    frozen = pd.DataFrame({"column": ["a", "b"], "one": [1.0, 0.5]})
    found = frozen.assign(one=[1.0, 0.5 + 1e-8])
    assert differences(frozen, frozen, ["column"]) == []
    assert differences(found, frozen, ["column"]) == ["b: one is 0.50000001, was 0.5"]
    assert differences(frozen[:1], frozen, ["column"]) == ["b is gone"]
