"""Distorted thoughts and beliefs of the client over a session: counts that a reader can count, contrasts, corpora."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.undefined import without_totals
from therapy_analytics.behaviours.distortions import BALANCED, BELIEFS, VOICED, load_distortions
from therapy_analytics.measures.process.client_beliefs import client_beliefs

DARK = [
    ("T", "What went through your mind?"),
    ("C", "I always ruin everything and I will never be able to change."),  # helpless
    ("T", "Everybody hates me and I'm worthless, is that what you thought?"),  # the therapist's words do not count
    ("C", "Nobody could ever love me."),  # unlovable
    ("C", "I don't deserve to live, I'm worthless."),  # worthless
    ("T", "Mm-hmm."),
    ("C", "The bus was late on Tuesday."),
    ("C", "..."),  # no words
]
PLAIN = [
    ("T", "How was the week?"),
    ("C", "We had pizza and a salad at the new place."),
    ("C", "My wife is working on Thursday."),
]


def test_turns_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = client_beliefs(make(DARK))
    assert [values[f"n_client_{belief}"] for belief in BELIEFS] == [1, 1, 1]
    assert values["n_client_core_belief"] == 3
    assert values["client_core_belief_rate"] == 3 / 4  # four client turns with words
    assert values["client_core_belief_rate_lo"] < 3 / 4 < values["client_core_belief_rate_hi"]
    p = np.asarray(values["distortion_probability"])
    assert np.isnan(p).tolist() == [True, False, True, False, False, True, False, True]
    assert values["n_client_distortion"] == (np.nan_to_num(p) >= BALANCED).sum()
    assert values["client_distortion_rate"] == values["n_client_distortion"] / 4


def test_the_share_of_words_is_that_of_the_sentences(make) -> None:  # type: ignore[no-untyped-def]
    values = client_beliefs(make([("C", "Nobody could ever love me. The bus was late on Tuesday.")]))
    p, q = load_distortions().of_texts(["Nobody could ever love me.", "The bus was late on Tuesday."]).any
    # 5 and 6 words
    assert values["client_distorted_words_share"] == pytest.approx((5 * p + 6 * q) / 11, rel=1e-9)
    assert values["distortion_probability"] == pytest.approx(1 - (1 - p) * (1 - q), rel=1e-9)


def test_dark_thoughts_have_more_than_plain_talk(make) -> None:  # type: ignore[no-untyped-def]
    dark, plain = client_beliefs(make(DARK)), client_beliefs(make(PLAIN))
    for name in ("client_distortion_rate", "client_distorted_words_share", "client_core_belief_rate"):
        assert dark[name] > plain[name], name
    assert plain["client_distortion_rate"] == plain["client_core_belief_rate"] == 0


def test_order_of_turns_changes_no_column_of_the_session(make) -> None:  # type: ignore[no-untyped-def]
    one, other = client_beliefs(make(DARK)), client_beliefs(make(DARK[::-1]))
    for name, value in one.items():
        if np.ndim(value):
            np.testing.assert_array_equal(np.asarray(value), np.asarray(other[name])[::-1])
        else:
            assert value == pytest.approx(other[name], rel=1e-12), name


def test_undefined_without_words_of_a_client(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("T", "I am worthless.")], [("C", "..."), ("T", "Hello")]):
        for name, value in without_totals(client_beliefs(make(said))).items():
            assert np.isnan(np.asarray(value, dtype=float)).all(), name


def test_a_long_session(make) -> None:  # type: ignore[no-untyped-def]
    values = client_beliefs(make([DARK[1], PLAIN[0]] * 250))
    assert values["n_client_helpless"] == 250
    assert not math.isnan(values["client_distorted_words_share"])


def test_beliefs_are_rare_in_sessions_about_smoking_and_drinking(corpora) -> None:  # type: ignore[no-untyped-def]
    """Motivational interviews: few clients say that they are worthless; see docs/validity.md for how many."""
    ta = pytest.importorskip("therapy_analytics")
    sessions = [one for reading in ta.read_files([corpora / "annomi"]) for one in reading.sessions][::4]
    texts = [turn.text for session in sessions for turn in session.turns if turn.role == "client"]
    found = load_distortions().of_texts(texts)
    n = np.count_nonzero(~np.isnan(found.any))
    assert n > 500
    assert (found.beliefs >= VOICED).any(axis=1).sum() / n < 0.03
    assert (found.any >= BALANCED).sum() / n < 0.08
