"""Rates corrected for the tagger's known errors: counted by hand, and held against simulated tagger and sessions."""

from __future__ import annotations

import importlib.util
from math import inf, isnan
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.behaviours import load_tagger
from therapy_analytics.compare._corrected import (
    Share,
    TaggerErrors,
    adjusted_interval,
    corrected_rates,
    corrected_ratio,
    effective_n,
    errors_by_code,
    errors_of_row,
    errors_table,
    mean_share,
)
from therapy_analytics.errors import BadOptionError, UnknownNameError


def errors(sens: float, spec: float, n: float = 1e9) -> TaggerErrors:
    return TaggerErrors(Share(sens, n), Share(spec, n), 0.0, "people")


@pytest.fixture(scope="module")
def build(root: Path) -> ModuleType:
    path = root / "tools" / "build_tagger_errors.py"
    if not path.is_file():
        pytest.skip("only the checkout has the tools")
    spec = importlib.util.spec_from_file_location("build_tagger_errors", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("true", "sens", "spec"), [(0.0, 0.7, 0.9), (0.3, 0.8, 0.95), (1.0, 0.6, 0.6)])
def test_the_correction_turns_back_what_the_tagger_does(true: float, sens: float, spec: float) -> None:
    observed = true * sens + (1 - true) * (1 - spec)
    assert errors(sens, spec).true_rate(observed) == pytest.approx(true)


def test_a_perfect_tagger_changes_nothing() -> None:
    sure = errors(1.0, 1.0)
    low, high = adjusted_interval(Share(0.3, 100), sure)
    # What is left is the interval of Agresti and Coull.
    middle, n = (30 + 1.92073) / 103.84146, 103.84146
    half = 1.959964 * np.sqrt(middle * (1 - middle) / n)
    assert (low, high) == pytest.approx((middle - half, middle + half), abs=1e-4)


def test_a_tagger_no_better_than_random_codes_tells_nothing() -> None:
    assert isnan(errors(0.4, 0.6).true_rate(0.5))
    assert all(map(isnan, adjusted_interval(Share(0.5, 100), errors(0.4, 0.6))))


def test_the_published_formula() -> None:
    # Lang & Reiczigel (2014), step by step: 62 of 200; 80 of 100 found; 90 of 100 rightly not.
    z = 1.959963984540054
    rate, sens, spec = (62 + z**2 / 2) / (200 + z**2), 81 / 102, 91 / 102
    true = (rate + spec - 1) / (sens + spec - 1)
    v_sens, v_spec = sens * (1 - sens) / 102, spec * (1 - spec) / 102
    shift = 2 * z**2 * (true * v_sens - (1 - true) * v_spec)
    variance = rate * (1 - rate) / (200 + z**2) + true**2 * v_sens + (1 - true) ** 2 * v_spec
    half = z * np.sqrt(variance) / (sens + spec - 1)
    found = adjusted_interval(Share(0.31, 200), errors(0.8, 0.9, 100))
    assert found == pytest.approx((true + shift - half, true + shift + half))


def test_effective_sizes() -> None:
    assert effective_n(0.5, 0.05, 400, inf) == pytest.approx(100)
    assert effective_n(0.5, 0.0, 40, inf) == pytest.approx(40)  # alike by accident: not surer than its turns
    assert effective_n(0.0, 0.0, 40, 9) < 40  # few clusters: Student's t
    assert effective_n(0.5, 0.05, 400, 4) < effective_n(0.5, 0.05, 400, 40)


def sessions(**columns: object) -> pd.DataFrame:
    return pd.DataFrame({"session_id": list("abcd"), "n_turns_therapist": [10, 20, 20, 10], "group": "x", **columns})


def test_hand_counted_rates() -> None:
    table = sessions(
        therapist_question_rate=[0.2, 0.4, 0.6, np.nan],
        therapist_question_rate_expected=[0.3, 0.3, 0.3, np.nan],
        who=["x", "x", "y", "y"],
    )
    found = corrected_rates(table, tagger="fast", by="who").set_index("who")
    assert found.loc["x", ["n_sessions", "n_turns", "rate", "expected"]].tolist() == pytest.approx([2, 30, 0.3, 0.3])
    known = errors_by_code("fast")["mi_question"]
    assert found.loc["x", "corrected"] == pytest.approx(known.true_rate(0.3))
    assert found.loc["y", "n_sessions"] == 1  # the other has no rate
    assert "one session" in str(found.loc["y", "note"])


def test_what_cannot_be_corrected_says_so() -> None:
    table = sessions(therapist_question_rate=[0.01, 0.0, 0.0, 0.02])
    found = corrected_rates(table, tagger="accurate", by="group").iloc[0]
    assert found["corrected"] == 0
    assert "cut to 0" in found["note"]
    llm = corrected_rates(table, tagger="llm", by="group").iloc[0]
    assert isnan(llm["corrected"])
    assert "is not known" in llm["note"]
    read = corrected_rates(sessions(therapist_planning_rate=[0.1, 0.2, 0.1, 0.2]), tagger="fast", by="group").iloc[0]
    assert "language model" in read["note"]
    assert read["truth"] == "language model"


def test_clusters_make_intervals_wider() -> None:
    table = sessions(therapist_question_rate=[0.1, 0.1, 0.6, 0.6], who=["x", "x", "y", "y"])
    alone = corrected_rates(table, tagger="fast", by="group").iloc[0]
    together = corrected_rates(table, tagger="fast", cluster="who", by="group").iloc[0]
    assert together["hi"] - together["lo"] > alone["hi"] - alone["lo"]
    assert together["corrected_hi"] - together["corrected_lo"] >= alone["corrected_hi"] - alone["corrected_lo"]


def test_a_client_is_one_of_a_counselor_and_an_unknown_one_is_alone() -> None:
    rates = [0.1, 0.2, 0.5, 0.6]
    table = sessions(therapist_question_rate=rates, counselor=list("xxyy"), client=["1", "2", "1", "2"], nobody="")
    alone, *others = (
        corrected_rates(table, by="group", tagger="fast", cluster=one) for one in (None, "client", "nobody")
    )
    for found in others:
        pd.testing.assert_frame_equal(found, alone)


def test_errors_that_help() -> None:
    table = sessions(therapist_question_rate=0.2)
    with pytest.raises(UnknownNameError, match="accurate"):
        corrected_rates(table, by="session_id", tagger="slow")
    with pytest.raises(UnknownNameError, match="balanced"):
        corrected_rates(table, by="session_id", tagger="fast", aim="best")
    with pytest.raises(BadOptionError, match="no rates"):
        corrected_rates(pd.DataFrame({"session_id": ["a"]}), by="session_id")


@pytest.mark.parametrize(
    ("sens", "spec", "n_sessions", "base"), [(0.8, 0.95, 20, 0.3), (0.6, 0.9, 40, 0.2), (0.5, 0.97, 60, 0.1)]
)
def test_coverage_of_clustered_turns_with_uncertain_errors(
    sens: float, spec: float, n_sessions: int, base: float
) -> None:
    draw = np.random.default_rng(3)
    held = [_held(draw, sens, spec, n_sessions, base) for _ in range(800)]
    assert np.mean(held) >= 0.94


def _held(draw: np.random.Generator, sens: float, spec: float, n_sessions: int, base: float) -> bool:
    """Draw a validation of 60 recordings and a group of sessions; see whether the interval holds the true rate."""
    n, n_valid = draw.integers(10, 41, n_sessions), draw.integers(20, 61, 60)
    rates = draw.beta(base * 8, (1 - base) * 8, n_sessions)
    own_sens, own_spec = (np.clip(draw.normal(one, 0.07, n_sessions), 0, 1) for one in (sens, spec))
    k = draw.binomial(n, rates * own_sens + (1 - rates) * (1 - own_spec))
    share, _ = mean_share(k / n, n.astype(float), np.arange(n_sessions))
    has = draw.binomial(n_valid, draw.beta(base * 8, (1 - base) * 8, 60))
    row = {"n_with": has.sum(), "n_without": (n_valid - has).sum(), "correlation": 0.0, "truth": "people"}
    for name, value, of in (("sensitivity", sens, has), ("specificity", spec, n_valid - has)):
        right = draw.binomial(of, np.clip(draw.normal(value, 0.07, 60), 0, 1))
        row[name] = right.sum() / of.sum()
        row[f"{name}_error"] = np.sqrt(60 / 59 * ((right - row[name] * of) ** 2).sum()) / of.sum()
    low, high = adjusted_interval(share, errors_of_row(row))
    return bool(low <= base <= high)


def test_ratio_of_corrected_rates() -> None:
    one, clusters = np.array([[30.0, 15.0, 100.0], [40.0, 20.0, 100.0]]), np.arange(2)
    value, low, high = corrected_ratio(one, clusters, (errors(0.8, 0.95), errors(0.9, 0.98)))
    assert value == pytest.approx(((0.35 - 0.05) / 0.75) / ((0.175 - 0.02) / 0.88))
    assert low < value < high
    wider = corrected_ratio(one, clusters, (errors(0.8, 0.95, 30), errors(0.9, 0.98, 30)))
    assert wider[1] < low
    assert wider[2] > high
    none = np.array([[1.0, 15.0, 100.0]])
    assert isnan(corrected_ratio(none, np.arange(1), (errors(0.8, 0.95), errors(0.9, 0.98)))[0])


def test_the_file_covers_the_codes_of_the_tagger() -> None:
    for tagger in ("accurate", "fast"):
        for aim in ("balanced", "precision", "recall", "rate"):
            rows = errors_table()
            rows = rows[(rows["tagger"] == tagger) & (rows["aim"] == aim)]
            whole = rows[rows["whole_sessions"]]
            names = load_tagger(all_codes=True).names
            assert set(rows["code"]) == set(names)
            assert whole["code"].is_unique
            assert whole[["sensitivity", "specificity"]].stack().between(0, 1).all()
            people = set(whole.loc[whole["truth"].eq("people"), "code"])
            assert {"mi_question", "mi_reflection", "mi_input", "mi_change", "mi_sustain"} <= people
            assert not any(code.startswith("bolt_") for code in people)


def test_counting_errors(build: ModuleType) -> None:
    # Turns with the code: 1 + 1 + 0.5 = 2.5, of which found 1 + 0.5; without: 0.5 + 1 + 1 = 2.5, rightly not 2.
    truth, decided = np.array([1.0, 1.0, 0.5, 0.0, 0.0]), np.array([True, False, True, False, False])
    found = build.errors_of(truth, decided, np.array(list("aabbb")))
    assert found["n_recordings"] == 2
    assert found["sensitivity"] == pytest.approx(1.5 / 2.5)
    assert found["specificity"] == pytest.approx(2 / 2.5)
    # Recording a adds (1 - 2 * .6) / 2.5 = -.08, b the opposite; the error is sqrt(2 * 2 * .08 ** 2).
    assert found["sensitivity_error"] == pytest.approx(0.16)
    # Only b has turns without it, so that the error of the specificity is not known between recordings.
    assert (found["specificity_error"], found["correlation"]) == pytest.approx((0, 0), abs=1e-12)
