"""LSM by hand, and against chance."""

from __future__ import annotations

import numpy as np
import pytest

from therapy_analytics.measures.synchrony.style_matching import CATEGORIES, matching, style_matching


def test_the_published_formula() -> None:
    """One category: 10 and 5 per cent give 1 - 5 / 15.0001; the eight that neither uses give 1."""
    a, b = np.zeros(9), np.zeros(9)
    a[0], b[0] = 10, 5
    assert matching(a, b) == pytest.approx((8 + 1 - 5 / 15.0001) / 9)


def test_nine_categories() -> None:
    assert len(CATEGORIES) == 9


def test_a_pair_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    """ "the dog" has 50% articles, "the big dog barked" 25%; nothing else is a function word."""
    values = style_matching(make([("T", "The dog"), ("C", "The big dog barked")]))
    expected = (8 + 1 - 25 / 75.0001) / 9
    assert values["lsm_turn"][1] == pytest.approx(expected)
    assert np.isnan(values["lsm_turn"][0])
    assert values["lsm"] == pytest.approx(expected)
    assert values["lsm_turn_mean"] == pytest.approx(expected)
    assert values["n_lsm_pairs"] == 1


def test_the_same_words_match_fully(make) -> None:  # type: ignore[no-untyped-def]
    values = style_matching(make([("T", "I do not know that at all"), ("C", "I do not know that at all")]))
    assert values["lsm"] == pytest.approx(1)
    assert values["lsm_turn"][1] == pytest.approx(1)


def test_one_speaker_or_no_words_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([("T", "Hello there")], [("T", "..."), ("C", "!")], [("O", "the"), ("T", "the")], []):
        values = style_matching(make(said))
        assert np.isnan(values["lsm"])
        assert np.isnan(values["lsm_turn_mean"])
        assert np.isnan(values["lsm_turn_mean_null"])
        assert values["n_lsm_pairs"] == 0


def test_turns_of_others_break_the_pairs(make) -> None:  # type: ignore[no-untyped-def]
    values = style_matching(make([("T", "the a"), ("O", "the a"), ("C", "the a"), ("T", "the a")]))
    assert np.flatnonzero(~np.isnan(values["lsm_turn"])).tolist() == [3]


def _dialogue(generator: np.random.Generator, *, follow: bool) -> list[tuple[str, str]]:
    """Turns full of articles or full of pronouns; the reply follows the turn before it or does not."""
    styles = ["the dog and the cat saw a big bird", "he told me that she will call us again"]
    said: list[tuple[str, str]] = []
    for _ in range(30):
        first = int(generator.integers(2))
        second = first if follow else int(generator.integers(2))
        said += [("T", styles[first]), ("C", styles[second])]
    return said


def test_following_is_found_above_chance_and_chance_is_not(make) -> None:  # type: ignore[no-untyped-def]
    generator = np.random.default_rng(0)
    followed = [style_matching(make(_dialogue(generator, follow=True)))["lsm_turn_mean_z"] for _ in range(5)]
    unrelated = [style_matching(make(_dialogue(generator, follow=False)))["lsm_turn_mean_z"] for _ in range(40)]
    # Only half of the pairs follow (client after therapist), so single sessions come close to chance.
    assert min(followed) > 1.645
    assert np.mean(followed) > 3
    assert np.mean(np.array(unrelated) > 1.645) <= 0.15
    assert abs(np.mean(unrelated)) < 0.6


def test_the_shuffles_depend_on_the_words_and_the_seed_alone(make) -> None:  # type: ignore[no-untyped-def]
    said = _dialogue(np.random.default_rng(3), follow=False)
    once, again = style_matching(make(said)), style_matching(make(said))
    assert once["lsm_turn_mean_null"] == again["lsm_turn_mean_null"]
