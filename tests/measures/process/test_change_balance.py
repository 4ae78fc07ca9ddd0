"""How far the client's talk leans to change: a session counted by hand, slopes, and what may not move the numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from therapy_analytics.measures.process.change_balance import balance, change_balance
from therapy_analytics.measures.turns import FEWEST_FOR_SLOPE, slope


def summed_over_kinds(p: np.ndarray) -> np.ndarray:
    """Return the balance by trying every kind that each turn, and what it stays of, may be of."""
    base, exponent, stay, pull = np.array([0.237, 0.109, 0.654]), 0.96, 0.42, 0.52
    words, total = (p / base) ** exponent, np.zeros((len(p), 3))
    drawn = pull * np.eye(3) + (1 - pull) * base
    for stays in np.ndindex(*[3] * len(p)):
        likely = base[stays[0]]
        for a, b in pairwise(stays):
            likely *= stay * (a == b) + (1 - stay) * base[b]
        each = drawn[list(stays)] * words
        whole = each.sum(axis=1)
        total += likely * whole.prod() * each / whole[:, None]
    found = total / total.sum(axis=1, keepdims=True)
    return np.asarray(found[:, 0] - found[:, 1])


def test_it_is_the_sum_over_all_kinds_that_turns_may_be_of() -> None:
    p = np.random.default_rng(0).dirichlet((1, 1, 2), size=6)
    np.testing.assert_allclose(balance(p[:, 0], p[:, 1]), summed_over_kinds(p))


def test_neighbours_pull_and_plain_answers_are_not_taken_for_sure() -> None:
    change, sustain = np.full(9, 0.1), np.full(9, 0.1)
    change[[3, 5]] = 0.8
    found = balance(change, sustain)
    assert found[4] > found[2] > found[0]
    plain = balance(np.array([1.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0]))
    assert (np.abs(plain) < 1).all()
    assert plain[0] > 0.5 > -0.5 > plain[1]
    assert balance(np.zeros(0), np.zeros(0)).shape == (0,)


def test_the_slope_is_that_of_least_squares() -> None:
    series = np.random.default_rng(2).normal(size=40)
    found, low, high = slope(series)
    assert found == pytest.approx(np.polyfit(np.linspace(0, 1, 40), series, 1)[0])
    assert low < found < high
    assert np.isnan(slope(series[: FEWEST_FOR_SLOPE - 1])).all()


SAID = [("TC"[at % 2], f"turn {at}") for at in range(20)]
CODES = {"mi_sustain": [0, 1, 0, 1, 0, 1, 0, 1] + [0] * 12, "mi_change": [0] * 12 + [0, 1, 0, 1, 0, 1, 0, 1]}


def test_a_session_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, CODES)  # the client: sustain talk in the first four turns of ten, change talk in the last four
    values = change_balance(session)
    own = balance(*(session.probabilities[code][1::2] for code in ("mi_change", "mi_sustain")))
    assert values["change_balance_first"] == own[:3].mean() < -0.3
    assert values["change_balance_last"] == own[-3:].mean() > 0.3
    assert values["change_balance_slope"] == slope(own)[0] > values["change_balance_slope_lo"] > 0


def test_turns_that_were_not_coded_are_passed_over(make) -> None:  # type: ignore[no-untyped-def]
    session = make([*SAID, ("C", "...")], {name: [*given, 0] for name, given in CODES.items()})
    assert change_balance(session) == change_balance(make(SAID, CODES))
    uncoded = {name: p.copy() for name, p in session.probabilities.items()}
    uncoded["mi_change"][1] = np.nan
    fewer = change_balance(make(SAID[2:], {name: given[2:] for name, given in CODES.items()}))
    assert change_balance(replace(session, probabilities=uncoded)) == fewer


def test_undefined_without_codes_or_a_client(make) -> None:  # type: ignore[no-untyped-def]
    bare = replace(make(SAID), probabilities={}, decisions={})
    for session in (bare, make([]), make([("T", "Hello there, how are you?")]), make([("T", "Hello"), ("C", "...")])):
        assert all(np.isnan(value) for value in change_balance(session).values())
