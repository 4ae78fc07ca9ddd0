"""Codes drawn from their probabilities, and Rubin's rules: cases counted by hand, and the measures of a run."""

from __future__ import annotations

from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pandas as pd
import pytest
from talks import session

from therapy_analytics.analysis import Analysis
from therapy_analytics.behaviours import TaggerOptions
from therapy_analytics.compare._corrected import errors_table
from therapy_analytics.errors import BadOptionError
from therapy_analytics.outcomes._imputation import SHIFT, combined, drawn_codes, imputed
from therapy_analytics.run._measure import analyze

TALK = (
    "How have you been since we last met?", "I feel sad most days, and I want to drink less.",
    "You feel low, and you want to change that.", "Yes. But I can not stop when I am with my friends.",
    "What would help you on such an evening?", "I could go home early. I am afraid they would laugh.",
    "You should tell them beforehand what you plan.", "Maybe. I will try it on Friday.",
)  # fmt: skip
RATES = ("therapist_question_rate", "therapist_reflection_rate", "client_change_rate")


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    sessions = [session(*TALK, name="one"), session(*TALK[::-1], name="two"), session(*TALK[:4], name="short")]
    return analyze(sessions, tagger=TaggerOptions(kind="fast"))


def test_certain_codes_give_the_numbers_of_the_run(analysis: Analysis) -> None:
    """What is recomputed is what the run computed: with decisions for probabilities nothing changes."""
    codes = [name for name in analysis.probabilities if name in analysis.turns and name not in ("session_id", "turn")]
    certain = analysis.probabilities.assign(**{name: analysis.turns[name].astype(float) for name in codes})
    for one in imputed(replace(analysis, probabilities=certain), 2):
        # An exclusive sub-code that was withdrawn is no longer likelier than the other: only shares of kinds may differ
        kept = [name for name in analysis.sessions if "open_question" not in name]
        pd.testing.assert_frame_equal(one[kept], analysis.sessions[kept], check_dtype=False)


def test_rates_vary_around_the_mean_probability(analysis: Analysis) -> None:
    drawn = imputed(analysis, 40, seed=1)
    wide = analysis.measures.pivot_table("value", "session_id", "measure", observed=True)
    for name in RATES:
        values = np.array([one.set_index("session_id")[name] for one in drawn])
        expected = wide[f"{name}_expected"].reindex(analysis.sessions["session_id"]).to_numpy()
        assert values.mean(axis=0) == pytest.approx(expected, abs=0.12)
    assert all(list(one) == list(analysis.sessions) for one in drawn)
    same = [
        name for name in analysis.sessions if name.startswith(("n_words", "lsm", "therapist_talk", "change_balance"))
    ]
    pd.testing.assert_frame_equal(drawn[0][same], analysis.sessions[same])


def test_draws_depend_on_seed_and_session_alone(analysis: Analysis) -> None:
    first, again = imputed(analysis, 2, seed=3), imputed(analysis, 2, seed=3)
    pd.testing.assert_frame_equal(first[0], again[0])
    assert not first[0].equals(first[1])
    alone = imputed(analysis.where("session_id == 'two'"), 2, seed=3)[1]
    row = first[1][first[1]["session_id"] == "two"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, row, check_dtype=False)


def test_sub_codes_follow_their_parent() -> None:
    names = ["mi_question", "mi_question_open", "mi_question_closed", "mi_reflection"]
    likely = np.tile([0.8, 0.5, 0.25, 0.3], (40_000, 1))
    likely[0] = np.nan
    drawn = drawn_codes(names, likely, np.random.default_rng(0), shift=0.0)
    question, opened, closed, _ = drawn.T
    assert not drawn[0].any()
    assert not (opened & closed).any()
    assert not ((opened | closed) & ~question).any()
    assert drawn[1:].mean(axis=0) == pytest.approx([0.8, 0.5, 0.25, 0.3], abs=0.01)


def test_sessions_are_shifted_around_the_probability() -> None:
    likely, rng = np.full((200, 1), 0.2), np.random.default_rng(0)
    rates = np.array([drawn_codes(["mi_change"], likely, rng).mean() for _ in range(1_500)])
    assert rates.mean() == pytest.approx(0.2, abs=0.012)
    # Far more than independent turns of one probability would give
    assert rates.std() > 3 * sqrt(0.2 * 0.8 / 200)


def test_the_shift_is_that_of_the_checked_recordings() -> None:
    table = errors_table().query("tagger == 'accurate' and aim == 'balanced' and whole_sessions")
    wrong, n = 1 - table["specificity"], table["n_without"]
    effect = table["specificity_error"] ** 2 / (wrong * (1 - wrong) / n)
    alike = (effect - 1) / (n / table["n_recordings"] - 1)
    assert np.sqrt((alike / (wrong * (1 - wrong))).clip(lower=0)).median() == pytest.approx(SHIFT, abs=0.25)


def test_rubins_rules_by_hand() -> None:
    # Variances 1 within; of 1, 2, 3 between: 1; total 1 + 4/3; missing (4/3) / (7/3); 2 / missing² = 6.125
    found = combined([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    assert (found.value, found.error**2) == pytest.approx((2, 7 / 3))
    assert (found.missing, found.df) == pytest.approx((4 / 7, 2 / (4 / 7) ** 2))
    # Barnard & Rubin: with 10 degrees of freedom, (11 / 13) * 10 * (3 / 7) are observed
    observed = 11 / 13 * 10 * 3 / 7
    assert combined([1.0, 2.0, 3.0], [1.0] * 3, df=10).df == pytest.approx(1 / (1 / 6.125 + 1 / observed))


def test_rubins_rules_where_nothing_is_missing_or_known() -> None:
    same = combined([2.0, 2.0], [0.5, 0.5], df=8)
    assert (same.value, same.error, same.missing) == (2, 0.5, 0)
    assert same.df == pytest.approx(9 / 11 * 8)
    assert combined([2.0, 2.0], [0.5, 0.5]).df == inf
    assert np.isnan(combined([2.0, np.nan], [0.5, 0.5]).error)
    with pytest.raises(BadOptionError):
        combined([1.0], [1.0])


def test_one_data_set_is_too_few(analysis: Analysis) -> None:
    with pytest.raises(BadOptionError):
        imputed(analysis, 1)
