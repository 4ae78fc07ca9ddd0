"""LSM and rLSM by hand, beside shuffles, and against other programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.measures.synchrony.adjacent_turns import mean_of_defined
from therapy_analytics.measures.synchrony.style_matching import (
    CATEGORIES,
    counts_and_words,
    matching,
    over_categories,
    per_cent,
    reciprocal,
    style_matching,
)

EIGHT = ["article", "auxverb", "conj", "adverb", "ppron", "ipron", "preps", "quant"]
SHUFFLES = 100

# ---- by hand


def test_the_published_formula() -> None:
    """One category: 10 and 5 per cent give 1 - 5 / 15.0001; the eight that neither uses give 1."""
    a, b = np.zeros(10), np.zeros(10)
    a[[0, -1]], b[[0, -1]] = (10, 100), (5, 100)
    assert matching(a, b) == pytest.approx((8 + 1 - 5 / 15.0001) / 9)
    assert matching(a, b, absent="left_out") == pytest.approx(1 - 5 / 15.0001)


def test_categories_that_neither_uses() -> None:
    nothing, some = np.r_[np.zeros(9), 100.0], np.r_[np.zeros(8), 10.0, 100.0]
    assert matching(nothing, nothing) == pytest.approx(1)
    assert np.isnan(matching(nothing, nothing, absent="left_out"))
    # One category, of one of the two: 1 - 10 / 10.0001.
    assert matching(nothing, some, absent="left_out") == pytest.approx(1e-5, rel=1e-3)
    assert matching(nothing, some) == matching(some, nothing)


def test_nine_categories() -> None:
    assert len(CATEGORIES) == 9


def test_a_pair_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    """ "the dog" has 50% articles, "the big dog barked" 25%; nothing else is a function word."""
    session = make([("T", "The dog"), ("C", "The big dog barked")])
    values = style_matching(session)
    share = np.zeros((2, 9))
    share[:, CATEGORIES.index("function_words.articles")] = [50, 25]
    np.testing.assert_array_equal(per_cent(counts_and_words(session)), share)
    expected = (8 + 1 - 25 / 75.0001) / 9
    assert values["lsm_turn"][1] == pytest.approx(expected)
    assert np.isnan(values["lsm_turn"][0])
    assert values["lsm"] == pytest.approx(expected)
    assert values["lsm_turn_mean"] == pytest.approx(expected)
    assert values["lsm_turn_mean_client"] == pytest.approx(expected)
    assert np.isnan(values["lsm_turn_mean_therapist"])
    # Of the categories that the turn before has, articles alone.
    assert values["rlsm_turn"][1] == pytest.approx(1 - 25 / 75.0001)
    assert values["rlsm"] == pytest.approx(1 - 25 / 75.0001)


def test_reciprocal_counts_what_the_turn_before_has(of_counts: Any) -> None:
    """Ten words a turn; the first category in turns 0, 2, 4, the second in turn 2 alone.

    Replies of the client: to turn 0 with 10 for 10 (1), to turn 2 with 0 for 10 (1 - 10 / 10.0001 = .00001) and
    0 for 20 (.000005): means 1/2 and 0 of the two categories, then 1/4. Of all pairs it would have been 1/3.
    """
    counts = np.zeros((4, 9))
    counts[[0, 1, 2], 0] = 1
    counts[2, 1] = 2
    found = style_matching(of_counts([10, 10, 10, 10], counts))
    assert found["rlsm_client"] == pytest.approx(1 / 4, abs=1e-5)
    assert found["rlsm_turn"][[1, 3]] == pytest.approx([1, 0], abs=1e-4)
    # The therapist's only reply: turn 1 has the first category, as has turn 2.
    assert found["rlsm_therapist"] == pytest.approx(1)


def test_reciprocal_of_a_turn_without_function_words_is_undefined(of_counts: Any) -> None:
    found = style_matching(of_counts([10, 10], np.array([[0], [1]])))
    assert np.isnan(found["rlsm_turn"]).all()
    assert np.isnan(found["rlsm"])
    # LSM has a value: 1 - 10 / 10.0001 for each category.
    assert found["lsm_turn"][1] == pytest.approx(1e-5, rel=1e-3)


def test_the_same_words_match_fully(make) -> None:  # type: ignore[no-untyped-def]
    values = style_matching(make([("T", "I do not know that at all"), ("C", "I do not know that at all")]))
    for name in ("lsm", "lsm_turn_mean", "rlsm"):
        assert values[name] == pytest.approx(1)


def test_one_speaker_or_no_words_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    for talk in ([("T", "Hello there")], [("T", "..."), ("C", "!")], [("O", "the"), ("T", "the")], []):
        values = style_matching(make(talk))
        assert all(np.all(value == 0 if "out_of" in name else np.isnan(value)) for name, value in values.items())


def test_turns_of_others_break_the_pairs(make) -> None:  # type: ignore[no-untyped-def]
    values = style_matching(make([("T", "the a"), ("O", "the a"), ("C", "the a"), ("T", "the a")]))
    assert np.flatnonzero(~np.isnan(values["lsm_turn"])).tolist() == [3]


# ---- beside shuffles


def _dialogue(generator: np.random.Generator, *, follow: bool) -> list[tuple[str, str]]:
    """Turns full of articles or full of pronouns; the reply follows the turn before it or does not."""
    styles = ["the dog and the cat saw a big bird", "he told me that she will call us again"]
    turns: list[tuple[str, str]] = []
    for _ in range(30):
        first = int(generator.integers(2))
        second = first if follow else int(generator.integers(2))
        turns += [("T", styles[first]), ("C", styles[second])]
    return turns


def test_following_is_found_and_what_is_unrelated_is_not(make) -> None:  # type: ignore[no-untyped-def]
    generator = np.random.default_rng(0)
    followed = [style_matching(make(_dialogue(generator, follow=True))) for _ in range(5)]
    unrelated = [style_matching(make(_dialogue(generator, follow=False))) for _ in range(40)]
    for name in ("lsm_turn_mean", "rlsm"):
        # The client follows, the therapist does not: the mean of both is closer to shuffles.
        assert min(one[f"{name}_client_z"] for one in followed) > 4
        assert min(one[f"{name}_z"] for one in followed) > 1.645
        z = np.array([one[f"{name}_z"] for one in unrelated])
        assert np.mean(z > 1.645) <= 0.15
        assert abs(z.mean()) < 0.6


def test_the_shuffles_depend_on_the_words_and_the_seed_alone(make) -> None:  # type: ignore[no-untyped-def]
    talk = _dialogue(np.random.default_rng(3), follow=False)
    first, again = style_matching(make(talk)), style_matching(make(talk))
    assert first["lsm_turn_mean_null_mean"] == again["lsm_turn_mean_null_mean"]


# ---- what other programs gave: LIWC counts of eight categories (turns and tokens), and LSM, rLSM of them


@pytest.fixture(scope="module")
def counted(peer: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    return peer("liwc_coord8_turn.csv")


@pytest.fixture(scope="module")
def reference(peer: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    return peer("lsm_rlsm_coord8_session.csv").set_index("transcript_id")


def _turns(rows: pd.DataFrame) -> tuple[Any, Any]:
    """Rows of one speaker put together: counts of each category and tokens, and whether the therapist speaks."""
    therapist = (rows.speaker == "therapist").to_numpy()
    starts = np.flatnonzero(np.r_[True, therapist[1:] != therapist[:-1]])
    counts = np.add.reduceat(rows[EIGHT].to_numpy(float), starts)
    n = np.add.reduceat(rows.n_tok.to_numpy(float), starts)
    return np.column_stack([counts, n]), therapist[starts]


def test_lsm_as_another_program_has_it(counted: pd.DataFrame, reference: pd.DataFrame) -> None:
    for session, rows in counted.groupby("transcript_id"):
        sides = [rows[rows.speaker == who] for who in ("therapist", "client")]
        a, b = (side[[*EIGHT, "n_tok"]].to_numpy(float).sum(axis=0) for side in sides)
        assert matching(a, b) == pytest.approx(reference.lsm_percent[session], rel=0, abs=1e-9)
    assert len(reference) > 80


def test_rlsm_as_another_program_has_it(counted: pd.DataFrame, reference: pd.DataFrame) -> None:
    for session, rows in counted.groupby("transcript_id"):
        counts, therapist = _turns(rows)
        replies = np.arange(1, len(counts))
        both = []
        for side, name in ((True, "rlsm_T_responds"), (False, "rlsm_C_responds")):
            own = replies[therapist[1:] == side]
            both.append(over_categories(mean_of_defined(reciprocal(counts[own - 1], counts[own]))))
            assert both[-1] == pytest.approx(reference[name][session], rel=0, abs=1e-9)
        wanted = reference.loc[session, ["rlsm_T_responds", "rlsm_C_responds"]].mean()
        assert np.mean(both) == pytest.approx(wanted, rel=0, abs=1e-9)


def test_shuffles_are_near_those_of_another_program(counted: pd.DataFrame, reference: pd.DataFrame) -> None:
    """Their shuffles are other ones, 100 a session: means and p are near."""
    generator = np.random.default_rng(0)
    found = []
    for session, rows in counted.groupby("transcript_id"):
        counts, therapist = _turns(rows)
        replies = np.arange(1, len(counts))
        for side, end in ((True, "T"), (False, "C")):
            own = replies[therapist[1:] == side]
            orders = np.concatenate([[own], generator.permuted(np.tile(own, (SHUFFLES, 1)), axis=1)])
            each = reciprocal(counts[own - 1], counts[orders])
            drawn = over_categories(mean_of_defined(each.swapaxes(0, 1)))
            p = np.count_nonzero(drawn >= drawn[0] - 1e-12) / (SHUFFLES + 1)
            theirs = reference.loc[session]
            found.append((drawn[1:].mean(), theirs[f"null_{end}"], p, theirs[f"p_{end}"]))
    null, null_of_theirs, p, p_of_theirs = np.array(found).T
    assert np.corrcoef(null, null_of_theirs)[0, 1] > 0.97
    assert np.abs(null - null_of_theirs).max() < 0.1
    assert np.corrcoef(p, p_of_theirs)[0, 1] > 0.97
