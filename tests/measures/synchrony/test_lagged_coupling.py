"""Lagged coupling by hand, with simulated leaders, and with people who have nothing to do with each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from therapy_analytics.language import annotate, builtin_lexicons
from therapy_analytics.language.donors import choose_donors, donors_by_length
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.null.shuffles import permutations
from therapy_analytics.measures.synchrony.lagged_coupling import (
    SERIES,
    SpeakerSeries,
    correlations,
    couple,
    exchanges,
    lagged_coupling,
    left_over,
    strengths,
    turn_series,
)

Floats = NDArray[np.float64]
LAGS = [-5, -3, -1, 1, 3, 5]


def coupled(x: Any, y: Any) -> tuple[float, float]:
    """Return strength and leading of two series by exchange, as a session has them."""
    series = [np.array([one], dtype=np.float64) for one in (x, y)]
    strength, leading = couple(*(SpeakerSeries(np.isfinite(one), left_over(one)) for one in series)).tolist()
    return strength, leading


def peak_lag(x: Floats, y: Floats) -> int:
    """Return the lag in turns at which what is left of two series correlates most."""
    found = correlations(left_over(x[None])[0], left_over(y[None])[0])
    return LAGS[int(np.argmax(np.abs(found)))]


def _series(generator: np.random.Generator, n: int, phi: float) -> Floats:
    """Values of which each is `phi` times the one before, and something of its own."""
    values = generator.standard_normal(n + 30)
    for k in range(1, n + 30):
        values[k] += phi * values[k - 1]
    return values[30:]


# --- by hand -------------------------------------------------------------------------------------------------------
#
#  exchange      0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15
#  therapist     0   1   0   0   0   1   0   0   0   1   0   0   0   1   0   0      the therapist does it four times,
#  client        0   0   1   0   0   0   1   0   0   0   1   0   0   0   1   0      the client one exchange later: 3
#                                                                                   turns (T C T C)
FOUR_TIMES = np.tile([0.0, 1, 0, 0], 4)


def test_an_echo_one_exchange_later_is_three_turns_later() -> None:
    at_3_before, at_1_before, at_1, at_3 = correlations(FOUR_TIMES, np.roll(FOUR_TIMES, 1), n_lags=2).tolist()
    # At 3 turns, 15 exchanges are left, and both have their 1 in the same: the same series.
    assert at_3 == pytest.approx(1)
    # At 1 turn, 16 exchanges, and 1 at different places: (0 - 4 * 4 / 16) / (4 - 4 * 4 / 16) = -1 / 3.
    assert at_1 == pytest.approx(-1 / 3)
    # At -1, 15 are left, and 1 at different places: (0 - 4 * 4 / 15) / (4 - 4 * 4 / 15) = -16 / 44.
    assert at_1_before == pytest.approx(-16 / 44)
    assert abs(at_3_before) < 1


def test_a_lag_that_leaves_nothing_that_varies_is_undefined() -> None:
    """The therapist's four are in the first exchanges, which no lag below -7 turns reaches."""
    x, y = np.zeros((2, 16))
    x[:4] = y[4:8] = 1
    found = correlations(x, y, n_lags=5)
    assert np.isnan(found).tolist() == [True, True] + 8 * [False]
    assert np.isnan(strengths(found)).all()


#  exchange      0   1   2   3   4   5   6   7   8   9  10  11  12  13
#  four unusual  0   7   7   0   7   0   5   0   0   0   -   0   0   0      7, 7, 7, 5; what is unknown does not count
#  three         7   7   0   7   7   7   7   7   0   7   7   0   7   7      7 is the usual one
def test_four_values_must_differ_from_the_most_frequent_one() -> None:
    four = [0, 7, 7, 0, 7, 0, 5, 0, 0, 0, np.nan, 0, 0, 0]
    three = [7, 7, 0, 7, 7, 7, 7, 7, 0, 7, 7, 0, 7, 7]
    any_ = np.random.default_rng(17).standard_normal(14)
    for x, y, defined in [(four, any_, True), (any_, four, True), (three, any_, False), (four, three, False)]:
        assert np.isfinite(coupled(x, y)[0]) == defined


def test_the_reply_to_the_client_is_one_turn_earlier() -> None:
    x = np.random.default_rng(0).standard_normal(30)
    found = correlations(x, np.append(x[1:], 0))  # the therapist says what the client said before
    assert LAGS[int(np.argmax(np.abs(found)))] == -1
    assert found[2] == pytest.approx(1)
    assert strengths(found)[1] < 0


def test_strength_and_leading_are_means_of_z() -> None:
    found = correlations(*np.random.default_rng(1).standard_normal((2, 20)))
    z = np.abs(np.arctanh(found))
    assert strengths(found) == (pytest.approx(z.mean()), pytest.approx(z[3:].mean() - z[:3].mean()))


def test_each_correlation_is_pearsons() -> None:
    x, y = np.random.default_rng(2).standard_normal((2, 20))
    expected = [np.corrcoef(x[-s:], y[:s])[0, 1] for s in (-3, -2, -1)]
    expected += [np.corrcoef(x[: 20 - s], y[s:])[0, 1] for s in (0, 1, 2)]
    np.testing.assert_allclose(correlations(x, y), expected)


def test_perfect_correlations_have_a_finite_strength() -> None:
    x = np.random.default_rng(3).standard_normal(30)
    found = correlations(x, -x)
    assert found[3] == pytest.approx(-1)
    assert np.isfinite(strengths(found)).all()


def test_a_common_drift_is_not_coupling() -> None:
    x, y = np.random.default_rng(4).standard_normal((2, 40)) + np.linspace(9, 0, 40)
    assert strengths(correlations(x, y))[0] > 0.8
    assert coupled(x, y)[0] < 0.3


def test_units_do_not_matter() -> None:
    x, y = np.random.default_rng(5).standard_normal((2, 30))
    assert coupled(x, y) == pytest.approx(coupled(100 * x + 7, 0.01 * y - 3))


def test_a_value_that_is_missing_counts_for_nothing() -> None:
    x, y = np.random.default_rng(6).standard_normal((2, 40)) + 50
    missing = y.copy()
    missing[[3, 20]] = np.nan
    left = left_over(missing[None])[0]
    assert (left[[2, 19]] == 0).all()  # the first value is lost to the autoregression
    assert np.isfinite(left).all()
    all_, some = (correlations(left_over(x[None])[0], left_over(one[None])[0]) for one in (y, missing))
    assert np.abs(all_ - some).max() < 0.25


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.arange(11.0) ** 2, np.arange(11.0) % 3),  # 11 exchanges: 7 of what is left of them at the furthest lag
        (np.ones(30), np.arange(30.0) % 3),  # does not vary
        (np.linspace(0, 7, 30), np.arange(30.0) % 3),  # nor beyond its trend
        (np.full(30, np.nan), np.arange(30.0) % 3),
    ],
    ids=["too short", "constant", "straight", "unknown"],
)
def test_undefined_is_nan(x: Floats, y: Floats) -> None:
    assert np.isnan(coupled(x, y)).all()


@pytest.mark.parametrize("n", range(1, 6))
def test_a_few_exchanges_are_undefined_and_no_error(make, n: int) -> None:  # type: ignore[no-untyped-def]
    """With three exchanges the furthest lag had left an empty series on one side, and the session was an error."""
    x, y = np.random.default_rng(8).integers(3, 9, (2, n))
    values = lagged_coupling(make(_spoken(x, y)))
    assert np.isnan([value for name, value in values.items() if name.startswith("coupling")]).all()
    assert np.isnan(correlations(x.astype(float), y.astype(float))[[0, 5]]).all() == (n <= 3)


def test_twelve_exchanges_are_enough() -> None:
    x, y = np.random.default_rng(7).standard_normal((2, 12))
    assert np.isfinite(coupled(x, y)[0])
    assert np.isnan(coupled(x[:11], y[:11])[0])


# --- simulated leaders ------------------------------------------------------------------------------------------------


def _led(generator: np.random.Generator, strength: float, *, later: int, n: int = 60) -> tuple[Floats, Floats]:
    """Return a therapist, and a client who does the same `later` exchanges later, as strongly."""
    x = _series(generator, n + 6, 0.4)
    own = _series(generator, n + 6, 0.4)
    y = strength * np.roll(x, later) + np.sqrt(1 - strength**2) * own
    return x[3:-3], y[3:-3]


@pytest.mark.parametrize(("later", "lag"), [(0, 1), (1, 3), (-1, -1), (-2, -3)])
def test_the_leader_is_found(later: int, lag: int) -> None:
    generator = np.random.default_rng(8)
    pairs = [_led(generator, 0.8, later=later) for _ in range(20)]
    assert np.mean([peak_lag(*pair) == lag for pair in pairs]) > 0.9
    assert np.mean([np.sign(coupled(*pair)[1]) == np.sign(lag) for pair in pairs]) > 0.9


def test_more_following_is_more_coupling() -> None:
    generator = np.random.default_rng(9)
    found = [[coupled(*_led(generator, strength, later=1)) for _ in range(20)] for strength in (0, 0.4, 0.8)]
    strength, leading = np.mean(found, axis=1).T
    assert leading[0] + 0.03 < leading[1] < leading[2] - 0.05
    assert strength[0] < strength[1] < strength[2]


# --- nothing to do with each other ------------------------------------------------------------------------------------


def _p(x: Floats, y: Floats, generator: np.random.Generator, *, whiten: bool = True) -> list[float]:
    """p of strength and leading of two series beside 99 orders of what is left of the second, or of the second."""
    own, other = (left_over(one[None])[0] if whiten else one for one in (x, y))
    orders = permutations(np.arange(len(other)), generator, draws=99)
    drawn = np.stack(strengths(correlations(own, np.concatenate([other[None], other[orders]]))))
    above, below = (drawn >= drawn[:, :1] - 1e-12).mean(axis=1), (drawn <= drawn[:, :1] + 1e-12).mean(axis=1)
    return [above[0], min(1.0, 2 * min(above[1], below[1]))]


def _beyond(phi: float, *, n: int = 36, whiten: bool = True) -> Floats:
    """Share of 300 unrelated pairs with p <= .05: by strength and leading."""
    generator = np.random.default_rng(10)
    pairs = ((_series(generator, n, phi), _series(generator, n, phi)) for _ in range(300))
    return np.asarray(np.mean([np.array(_p(x, y, generator, whiten=whiten)) <= 0.05 for x, y in pairs], axis=0))


@pytest.mark.parametrize("phi", [0, 0.5, 0.8])
def test_the_five_per_cent_are_five_per_cent(phi: float) -> None:
    """Of 300, 15 are expected, and 6 to 27 lie within three standard errors."""
    beyond = _beyond(phi)
    assert np.all(beyond <= 0.095), beyond
    assert np.all(beyond >= 0.01), beyond


def _beyond_of_rare(n_unusual: int | None, *, n: int = 24) -> Floats:
    """Share of 600 unrelated pairs with p <= .05, by strength and leading: most values 0, or words of emotion."""
    generator = np.random.default_rng(18)
    x, y = np.zeros((2, 600, n))
    for series in (x, y):
        words = generator.geometric(0.08, series.shape)
        rare = np.argsort(generator.random(series.shape), axis=1) < (n_unusual or 0)
        series[:] = 100 * (generator.binomial(words, 0.04) if n_unusual is None else rare) / words
    varied = [not np.isnan([left_over(one[None])[0, 0] for one in pair]).any() for pair in zip(x, y, strict=True)]
    p = [_p(*pair, generator) for pair, varies in zip(zip(x, y, strict=True), varied, strict=True) if varies]
    return np.asarray(np.mean(np.array(p) <= 0.05, axis=0))


@pytest.mark.parametrize("n_unusual", [4, 6, None])
def test_the_five_per_cent_of_rare_words(n_unusual: int | None) -> None:
    """Of 600, 30 are expected, and 14 to 46 lie within three standard errors."""
    beyond = _beyond_of_rare(n_unusual)
    assert np.all(beyond <= 0.085), beyond
    assert np.all(beyond >= 0.02), beyond


def test_why_a_single_unusual_exchange_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("therapy_analytics.measures.synchrony.lagged_coupling.FEWEST_UNUSUAL", 1)
    assert _beyond_of_rare(1).min() > 0.12


def test_why_series_are_whitened() -> None:
    assert _beyond(0.5, whiten=False)[0] > 0.12


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_series_by_hand(make) -> None:  # type: ignore[no-untyped-def]
    """ "I am so sad": 4 words, 1 of emotion (25 in 100), 3 function words (75), in 2 seconds."""
    session = make([("T", "I am so sad."), ("C", "..."), ("T", "dogs")], times=[(1, 3), (3, 4), (5, 5)])
    words, affect, function, pace = turn_series(session).T
    np.testing.assert_array_equal(words, [4, np.nan, 1])
    np.testing.assert_array_equal(affect, [25, np.nan, 0])
    np.testing.assert_array_equal(function, [75, np.nan, 0])
    np.testing.assert_array_equal(pace, [2, np.nan, np.nan])  # a turn of no length has no pace


def test_without_times_there_is_no_pace(make) -> None:  # type: ignore[no-untyped-def]
    assert np.isnan(turn_series(make([("T", "one two"), ("C", "three")]))[:, 3]).all()


#  turns      C0   T1 C2   T3   T4 C5   C7        (turn 6 is another's)
#  exchange   0    1  1    2    3  3    4
def test_exchanges_that_lack_a_turn() -> None:
    therapist, client, n = exchanges(np.array([1, 3, 4]), np.array([0, 2, 5, 7]))
    assert (therapist.tolist(), client.tolist(), n) == ([1, 2, 3], [0, 1, 3, 4], 5)


def _spoken(x: Floats, y: Floats) -> list[tuple[str, str]]:
    """Turns of so many words."""
    return [
        (who, " ".join(["so"] * int(n))) for pair in zip(x, y, strict=True) for who, n in zip("TC", pair, strict=True)
    ]


def test_a_session_is_its_series(make) -> None:  # type: ignore[no-untyped-def]
    x, y = np.random.default_rng(12).integers(1, 30, (2, 20))
    values = lagged_coupling(make(_spoken(x, y)))
    found = values["coupling_words_strength"], values["coupling_words_leading"]
    assert found == pytest.approx(coupled(x, y))
    assert 0 < values["coupling_words_strength_p"] <= 1
    # All words are the same function word: its share never varies, and no word is of emotion.
    undefined = [name for name in values if not name.startswith("coupling_words")]
    assert np.isnan([values[name] for name in undefined]).all()


def test_a_session_that_the_client_begins_and_the_therapist_ends(make) -> None:  # type: ignore[no-untyped-def]
    x, y = np.random.default_rng(13).integers(1, 30, (2, 20))
    found = lagged_coupling(make(_spoken(x, y)[1:]))
    strength, _ = coupled(np.append(np.nan, x[1:]), y)
    assert found["coupling_words_strength"] == pytest.approx(strength)


def test_a_client_who_follows_is_found(make) -> None:  # type: ignore[no-untyped-def]
    x = np.random.default_rng(14).integers(1, 30, 40)
    followed = lagged_coupling(make(_spoken(x, x + 2)))
    led = lagged_coupling(make(_spoken(np.append(3, x[:-1] + 2), x)))
    assert max(followed["coupling_words_strength_p"], led["coupling_words_strength_p"]) < 0.01
    assert followed["coupling_words_leading_z"] > 3
    assert led["coupling_words_leading_z"] < -3


@pytest.mark.parametrize("talk", [[], [("T", "Hi")], [("T", "so"), ("C", "so so")] * 11, [("T", "...")], [("C", "no")]])
def test_a_small_session_is_undefined(make, talk) -> None:  # type: ignore[no-untyped-def]
    assert np.isnan(list(lagged_coupling(make(talk)).values())).all()


def test_several_series_at_once_are_as_each_alone() -> None:
    """Also where one of them is unknown, or does not vary."""
    x = np.random.default_rng(15).standard_normal((4, 30))
    x[1], x[2] = np.nan, 1
    together = left_over(x)
    assert np.isnan(together).all(axis=1).tolist() == [False, True, True, False]
    for row, found in zip(x, together, strict=True):
        np.testing.assert_allclose(left_over(row[None])[0], found)


def test_alone_in_a_batch_and_beside_donors(make) -> None:  # type: ignore[no-untyped-def]
    generator = np.random.default_rng(16)
    words = np.array(["the dog is", "I was sad", "so angry", "cats", "you and me", "happy days in the sun"])
    made = [
        make([(who, " ".join(generator.choice(words, 1 + generator.poisson(2)))) for who in "TC" * 20]).session
        for _ in range(6)
    ]
    matcher = Matcher(builtin_lexicons())
    donors = donors_by_length(choose_donors(made), lambda some: annotate(some, matcher))
    (shared,) = donors.values()
    together = [lagged_coupling(replace(one, donors=shared)) for one in annotate(made, matcher)]
    for session, values in zip(made, together, strict=True):
        (alone,) = annotate([session], matcher)
        np.testing.assert_equal(lagged_coupling(replace(alone, donors=shared)), values)
        assert np.isfinite(values["coupling_affect_strength_surrogate_mean"])
        # A donor's turn is chosen to be as long: surrogate pairs say nothing of words.
        assert np.isnan(values["coupling_words_strength_surrogate_mean"])
        assert np.isfinite(values["coupling_words_strength_null_mean"])
    assert len(SERIES) == 4
