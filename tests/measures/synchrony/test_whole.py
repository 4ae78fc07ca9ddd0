"""The framework of measures of whole dialogues, with a measure that counts words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import therapy_analytics as ta
from therapy_analytics.arrays import arrays_with_company
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.company import choose_strangers
from therapy_analytics.measures import Column
from therapy_analytics.measures.synchrony import _whole
from therapy_analytics.measures.synchrony._chance import DRAWS, FEWEST_PAIRS, stranger_turns
from therapy_analytics.measures.synchrony._whole import (
    MOST_DIALOGUES,
    WHOLE,
    Generator,
    Side,
    Whole,
    lent_turns,
    spoken_turns,
    whole_columns,
    whole_outcome,
    whole_values,
)
from therapy_analytics.measures.synchrony.style_matching import WHOLE_LSM, matching
from therapy_analytics.settings import Settings


def column(name: str) -> Column:
    return Column(
        name=name,
        meaning="Words",
        unit="words",
        low=0,
        high=9999,
        direction="higher is more words",
        formula="Words counted",
        misleads="Always",
        source="This test",
    )


def words(session: Any) -> Any:
    return session.n_words.astype(float)


def product_and_difference(therapist: Side, client: Side) -> tuple[float, float]:
    sums = [side.represented[side.turns].sum() for side in (therapist, client)]
    return sums[0] * sums[1], sums[0] - sums[1]


COUNT = Whole(
    name="count",
    columns=(column("count_product"), column("count_difference")),
    represent=words,
    values=product_and_difference,
    two_sided=("count_difference",),
)


def company(of_counts: Any, company_of: Any, words_of_each: Any) -> Any:
    return company_of(of_counts(np.repeat(words_of_each, 10)), [10 * s for s in range(len(words_of_each) + 1)])


def test_values_by_hand(of_counts: Any) -> None:
    # The therapist says 1 + 3 + 5, the client 2 + 4; others, and turns without words, are neither's.
    session = of_counts([1, 2, 3, 4, 0, 9, 5], roles="TCTCCOT")
    found = whole_outcome(COUNT, session)
    assert found.values.tolist() == [9 * 6, 9 - 6]
    assert [side.tolist() for side in spoken_turns(session)] == [[0, 2, 6], [1, 3]]
    assert np.isnan(found.shuffled.p).all()
    assert np.isnan(found.strangers.p).all()


@pytest.mark.parametrize("roles", ["", "T", "CC", "OO"])
def test_without_one_of_the_two_it_is_undefined(of_counts: Any, roles: str) -> None:
    found = whole_outcome(COUNT, of_counts([5] * len(roles), roles=roles))
    for values in (found.values, found.shuffled.mean, found.strangers.z):
        assert np.isnan(values).all()
        assert values.shape == (2,)


def test_strangers_take_the_place_of_one_of_the_two(of_counts: Any, company_of: Any) -> None:
    """Own turns have 12 words, four each. Strangers' have 1 to 10, so that a dialogue says who it is with.

    Of the 40 dialogues 20 have the client's own words and 20 the therapist's, two with each stranger: the
    product is 48 times 4, 8, ... or 40, the difference as far below 0 as above.
    """
    session = of_counts(np.full(8, 12), company=company(of_counts, company_of, range(1, 11)))
    seen: list[tuple[Side, Side]] = []

    def values(therapist: Side, client: Side) -> tuple[float, float]:
        seen.append((therapist, client))
        return product_and_difference(therapist, client)

    found = whole_outcome(replace(COUNT, values=values), session)
    assert len(seen) == 1 + MOST_DIALOGUES == 41
    (own_therapist, own_client), *dialogues = seen
    for at, (therapist, client) in enumerate(dialogues):
        kept, exchanged = (client, therapist) if at < 20 else (therapist, client)
        own_kept, own_exchanged = (own_client, own_therapist) if at < 20 else (own_therapist, own_client)
        assert kept is own_kept
        np.testing.assert_array_equal(exchanged.at, own_exchanged.turns)
        assert set(exchanged.represented[exchanged.turns]) == {1 + at % 10}
        assert (exchanged.turns % 2 == own_exchanged.turns[0] % 2).all()
    products = np.repeat(48 * 4 * np.arange(1, 11), 4)
    assert found.strangers.mean == pytest.approx([48 * 4 * 5.5, 0])
    assert found.strangers.sd[0] == pytest.approx(products.std(ddof=1))
    # 48 * 48 is beyond all 40; a difference of 0 is in the middle, both ends count.
    assert found.strangers.p == pytest.approx([1 / 41, 1])


def test_many_dialogues_at_once(of_counts: Any, company_of: Any) -> None:
    """The side with a row for each dialogue is the stranger's; the values are those of one by one."""
    session = of_counts(np.full(8, 12), company=company(of_counts, company_of, range(1, 11)))
    shapes = []

    def many(therapist: Side, client: Side) -> Any:
        sums = [side.represented[side.turns].sum(axis=-1) for side in (therapist, client)]
        shapes.append((therapist.turns.shape, client.turns.shape))
        return np.stack([sums[0] * sums[1], sums[0] - sums[1]], axis=-1)

    at_once, one_by_one = (whole_outcome(kind, session).strangers for kind in (replace(COUNT, many=many), COUNT))
    assert shapes == [((20, 4), (4,)), ((4,), (20, 4))]
    for name in ("mean", "sd", "z", "p"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(one_by_one, name))


def test_both_exchanges_at_once(of_counts: Any, company_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """First those with another therapist, of whose eight turns fewer are taken at a time than of the client's four."""
    session = of_counts(np.full(12, 12), roles="TTTTTTTTCCCC", company=company(of_counts, company_of, range(1, 11)))
    shapes = []

    def exchanged(own: Sequence[Side], lent: Sequence[Side]) -> Any:
        shapes.append([side.turns.shape for side in lent])
        return [
            np.array([product_and_difference(*pair) for pair in pairs]).reshape(-1, 2)
            for pairs in (
                [(Side(lent[0].represented, turns, lent[0].at), own[1]) for turns in lent[0].turns],
                [(own[0], Side(lent[1].represented, turns, lent[1].at)) for turns in lent[1].turns],
            )
        ]

    monkeypatch.setattr(_whole, "MOST_TURNS", 64)
    at_once, one_by_one = (
        whole_outcome(kind, session).strangers for kind in (replace(COUNT, exchanged=exchanged), COUNT)
    )
    assert shapes == [[(8, 8), (16, 4)], [(8, 8), (4, 4)], [(4, 8), (0, 0)]]
    for name in ("mean", "sd", "z", "p"):
        np.testing.assert_array_equal(getattr(at_once, name), getattr(one_by_one, name))


@pytest.mark.parametrize("name", sorted(one.name for one in WHOLE if one.many or one.exchanged))
def test_each_measure_says_the_same_of_many_as_of_one(name: str, sample_in_company: AnnotatedSession) -> None:
    kind, session = next(one for one in WHOLE if one.name == name), sample_in_company
    assert session.company is not None
    theirs, own = session.company.whole.once(kind.represent), session.once(kind.represent)
    sides = [Side(own, turns, turns) for turns in spoken_turns(session)]
    lent = [Side(theirs, turns, side.at) for turns, side in zip(lent_turns(session), sides, strict=True)]
    at_once = kind.exchanged(sides, lent) if kind.exchanged else [None, None]
    for exchanged, (side, both) in enumerate(zip(lent, at_once, strict=True)):
        pair, one_by_one = [*sides], []
        for turns in side.turns:
            pair[exchanged] = Side(theirs, turns, side.at)
            one_by_one.append(kind.values(*pair))
        pair[exchanged] = side
        found = kind.many(*pair) if kind.many else both
        assert found is not None
        assert found.shape == (MOST_DIALOGUES // 2, len(kind.columns))
        assert np.isfinite(found).any()
        np.testing.assert_allclose(found, one_by_one, rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def sample_in_company(samples: Path) -> AnnotatedSession:
    sessions = ta.read(samples)
    return arrays_with_company(sessions[:1], Settings(), choose_strangers(sessions))[0]


def test_the_first_draws_of_the_session_are_taken(of_counts: Any, company_of: Any) -> None:
    session = of_counts(np.full(8, 12), company=company(of_counts, company_of, range(1, 11)))
    drawn, lent = stranger_turns(session), lent_turns(session)
    assert drawn is not None
    assert [turns.shape for turns in lent] == [(20, 4), (20, 4)]
    for one, other in zip(lent, drawn, strict=True):
        np.testing.assert_array_equal(one, other[:20])
    assert lent_turns(of_counts(np.full(8, 12))) == ()


@pytest.mark.parametrize("end", [1, -1])
def test_both_ends_can_be_rare(of_counts: Any, company_of: Any, end: int) -> None:
    """The value of the session is beyond all 40 dialogues: twice one of 41, which is under .05."""
    session = of_counts(np.full(8, 12), company=company(of_counts, company_of, range(1, 11)))

    def values(therapist: Side, client: Side) -> tuple[float, float]:
        product, _ = product_and_difference(therapist, client)
        return product, end * product

    found = whole_outcome(replace(COUNT, values=values), session)
    assert found.strangers.p == pytest.approx([1 / 41, 2 / 41])
    assert 2 / (MOST_DIALOGUES + 1) < 0.05


@pytest.mark.parametrize(("n", "mean", "p"), [(4, False, False), (5, True, False), (9, True, False), (10, True, True)])
def test_few_strangers(of_counts: Any, company_of: Any, n: int, mean: bool, p: bool) -> None:
    found = whole_outcome(COUNT, of_counts(np.full(8, 12), company=company(of_counts, company_of, range(1, n + 1))))
    assert (np.isfinite([found.strangers.mean, found.strangers.sd, found.strangers.z]) == mean).all()
    assert (np.isfinite(found.strangers.p) == p).all()


def test_shuffles(of_counts: Any) -> None:
    def shuffled(therapist: Side, client: Side, generator: Generator) -> Any:
        assert (len(therapist.turns), len(client.turns)) == (4, 4)
        return np.stack([generator().permuted(np.arange(DRAWS) - 1.0), np.arange(DRAWS) - DRAWS / 2], axis=1)

    kind = replace(COUNT, shuffled=shuffled)
    found = whole_outcome(kind, of_counts(np.full(8, 10)))
    assert found.values.tolist() == [1600, 0]
    assert found.shuffled.p == pytest.approx([1 / (DRAWS + 1), 1])
    assert found.shuffled.mean == pytest.approx([98.5, -0.5])
    names = [one.name for one in whole_columns(kind)]
    assert {"count_product_null", "count_product_z", "count_difference_p"} < set(names)
    assert not any(one.endswith(("null", "product_p")) for one in (one.name for one in whole_columns(COUNT)))


def test_few_turns_are_not_set_beside_chance(of_counts: Any, company_of: Any) -> None:
    strangers = company(of_counts, company_of, range(1, 11))
    few, enough = (
        whole_outcome(COUNT, of_counts(np.full(2 * n, 10), company=strangers)) for n in (FEWEST_PAIRS - 1, FEWEST_PAIRS)
    )
    assert np.isfinite(few.values).all()
    assert np.isnan(few.strangers.p).all()
    assert np.isfinite(enough.strangers.p).all()


def test_values_and_columns_have_the_same_names(of_counts: Any) -> None:
    for kind in (COUNT, WHOLE_LSM):
        assert list(whole_values(kind, of_counts([5] * 9))) == [one.name for one in whole_columns(kind)]


def test_style_matching_of_the_whole(of_counts: Any, company_of: Any) -> None:
    generator = np.random.default_rng(0)
    n_words = generator.integers(1, 20, 550)
    counts = generator.binomial(n_words[:, None], 0.1, (550, 9))
    others = company_of(of_counts(n_words[50:], counts[50:]), range(0, 501, 50))
    session = of_counts(n_words[:50], counts[:50], company=others)
    found = whole_outcome(WHOLE_LSM, session)
    sides = [100 * counts[start:50:2].sum(axis=0) / n_words[start:50:2].sum() for start in (0, 1)]
    assert found.values[0] == pytest.approx(matching(*sides))
    assert 0 < found.strangers.sd[0] < 0.2
    mirrored = replace(session, turns=replace(session.turns, roles=1 - session.turns.roles))
    assert whole_outcome(WHOLE_LSM, mirrored).values[0] == found.values[0]


def test_strangers_p_is_uniform_where_nobody_follows(of_counts: Any, company_of: Any) -> None:
    """300 sessions of people with rates of their own: 15 are expected.

    Or fewer: who is like everybody is so in half of the dialogues too, so that the smallest p are rare.
    """
    generator, p = np.random.default_rng(12), []
    for _ in range(15):
        words, counts = people(generator, 20)
        others = company_of(of_counts(words, counts), range(0, 601, 30))
        for seed in range(20):
            session = of_counts(*people(generator, 1), seed=seed, company=others)
            p.append(whole_outcome(WHOLE_LSM, session).strangers.p[0])
    assert len(p) == 300
    assert 0.005 < np.mean(np.array(p) <= 0.05) < 0.09
    assert np.median(p) == pytest.approx(0.5, abs=0.12)


def people(generator: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Words and counts of n sessions of 30 turns, of people who each have rates of their own."""
    n_words = generator.integers(2, 15, (n, 15, 2))
    rates = 0.1 * np.exp(0.3 * generator.standard_normal((n, 1, 2, 9)))
    return n_words.ravel(), generator.binomial(n_words[..., None], np.minimum(rates, 1)).reshape(-1, 9)
