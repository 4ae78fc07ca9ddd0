"""Gaps and overlaps with times that a reader can count."""

from __future__ import annotations

import math

import pytest

from tests.undefined import without_totals
from therapy_analytics.measures.alliance.timing import timing

SAID = [("T", "a"), ("C", "b"), ("T", "c"), ("C", "d"), ("T", "e"), ("O", "f"), ("T", "g")]
# The client answers after 1 s and 3 s; the therapist overlaps by 0.5 s, then waits 2.5 s; after "other" nothing counts
TIMES = [(0.0, 2.0), (3.0, 5.0), (4.5, 6.0), (9.0, 10.0), (12.5, 13.0), (13.5, 14.0), (20.0, 21.0)]


def test_gaps_and_overlaps(make) -> None:  # type: ignore[no-untyped-def]
    values = timing(make(SAID, times=TIMES))
    assert values["client_response_gap_s"] == pytest.approx(2.0)
    assert values["therapist_response_gap_s"] == pytest.approx(2.5)
    assert values["client_long_gap_rate"] == pytest.approx(1 / 2)
    assert values["therapist_long_gap_rate"] == pytest.approx(1 / 2)
    assert values["therapist_overlap_rate"] == pytest.approx(1 / 2)
    assert values["client_overlap_rate"] == 0
    assert values["n_therapist_overlap"] == 1


def test_without_times_undefined(make) -> None:  # type: ignore[no-untyped-def]
    assert all(map(math.isnan, without_totals(timing(make(SAID))).values()))
    assert all(map(math.isnan, without_totals(timing(make([]))).values()))


def test_without_ends_undefined(make) -> None:  # type: ignore[no-untyped-def]
    times = [(start, None) for start, _ in TIMES]
    assert all(map(math.isnan, without_totals(timing(make(SAID, times=times))).values()))


def test_ends_that_were_filled_in_say_nothing(make) -> None:  # type: ignore[no-untyped-def]
    times = [(float(i), float(i + 1)) for i in range(len(SAID))]
    assert all(map(math.isnan, without_totals(timing(make(SAID, times=times))).values()))


def test_one_speaker_alone_answers_nobody(make) -> None:  # type: ignore[no-untyped-def]
    talk = make([("T", "a"), ("T", "b")], times=[(0.0, 1.0), (2.0, 3.0)])
    assert all(map(math.isnan, without_totals(timing(talk)).values()))
