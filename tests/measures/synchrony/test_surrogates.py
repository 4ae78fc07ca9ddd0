"""Values beside surrogate pairs: by hand, against least squares, and on speakers who differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.surrogate_tables import two_way
from therapy_analytics.measures.null.summary import NullSummary, beside_surrogates, beside_surrogates_by_logarithms
from therapy_analytics.measures.synchrony.adjacent_turns import adjacent_result
from therapy_analytics.measures.synchrony.style_matching import LSM, WHOLE_LSM
from therapy_analytics.measures.synchrony.whole_session import session_result


def beside(tables: Any, *, closer: Any = "higher", two_sided: bool = False) -> NullSummary:
    tables = np.asarray(tables, dtype=np.float64)
    certain = np.ones(len(tables), dtype=np.bool_)
    return beside_surrogates(tables, certain, closer=closer, two_sided=np.full(len(tables), two_sided))


def test_by_hand() -> None:
    """The therapist is 2 above others, the client 3, and there are 10 anyway: 15 are expected, 16 are found.

    The other 35 cells are as expected, so that nothing is missed: no z; and the session is the highest of 36.
    """
    table = 10 + np.add.outer([2, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0])
    table[0, 0] += 1
    found = beside([table])
    assert found.mean == pytest.approx([15])
    assert found.sd == pytest.approx([0], abs=1e-7)
    assert found.p == pytest.approx([1 / 36])


@pytest.mark.parametrize("n", [5, 6, 7, 8])
@pytest.mark.parametrize("two_sided", [False, True])
def test_as_least_squares(n: int, two_sided: bool) -> None:
    tables = np.random.default_rng(n).normal(size=(20, n + 1, n + 1))
    found = beside(tables, two_sided=two_sided)
    expected = [two_way(one, two_sided=two_sided) for one in tables]
    np.testing.assert_allclose(np.stack([found.mean, found.sd, found.z, found.p], axis=1), expected, rtol=1e-9)
    lower = beside(-tables, closer="lower", two_sided=two_sided)
    np.testing.assert_allclose([lower.z, lower.p], [-found.z, found.p])


def test_effects_that_multiply_by_hand() -> None:
    """Speakers who have half and a third of what others have: a sixth of 12 is expected, 3 are found."""
    table = np.full((6, 6), 12.0)
    table[0] /= 2
    table[:, 0] /= 3
    table[0, 0] = 3
    noise = np.exp(np.random.default_rng(0).normal(0, 0.01, size=(6, 6)))
    noise[0, 0] = 1
    certain = np.ones(1, dtype=np.bool_)
    found = beside_surrogates_by_logarithms((table * noise)[None], certain, closer="higher", two_sided=~certain)
    logarithms = two_way(np.log(table * noise))
    assert found.mean == pytest.approx([np.exp(logarithms.mean)])
    assert found.mean[0] == pytest.approx(2, rel=0.02)
    assert found.sd[0] == pytest.approx(found.mean[0] * logarithms.sd)
    assert found.z[0] == pytest.approx((3 - found.mean[0]) / found.sd[0])
    assert found.p == pytest.approx([1 / 36])
    assert beside([table]).mean == pytest.approx([6 + 4 - 12])


def test_undefined_cells_are_left_out() -> None:
    """Two cells that nobody knows: effects are fitted to the others, by least squares."""
    table = np.random.default_rng(0).normal(size=(9, 9))
    unknown = table.copy()
    unknown[3, 4] = unknown[0, 5] = np.nan
    row, column = (at.ravel() for at in np.indices(table.shape))
    design = np.concatenate([np.eye(9)[row], np.eye(9)[column]], axis=1)
    kept = ~np.isnan(unknown.ravel())
    left = unknown.ravel()[kept] - design[kept] @ np.linalg.lstsq(design[kept], unknown.ravel()[kept], rcond=None)[0]
    found = beside([unknown])
    assert found.p == pytest.approx([(left >= left[0] - 1e-9).sum() / 79])
    assert found.mean == pytest.approx(beside([table]).mean, abs=1)


@pytest.mark.parametrize("where", [np.s_[0, 1:6], np.s_[1:6, 0], np.s_[1:, 1:7]])
def test_undefined_where_too_few_cells_are_known(where: Any) -> None:
    table = np.random.default_rng(0).normal(size=(9, 9))
    table[where] = np.nan
    found = beside([table, np.random.default_rng(1).normal(size=(9, 9))])
    assert np.isnan([found.mean[0], found.sd[0], found.z[0], found.p[0]]).all()
    assert np.isfinite([found.mean[1], found.sd[1], found.z[1], found.p[1]]).all()


def test_other_tables_do_not_matter() -> None:
    tables = np.random.default_rng(0).normal(size=(50, 9, 9))
    tables[::3, 2, 2] = np.nan
    together, alone = beside(tables), [beside(tables[[i]]) for i in range(50)]
    for name in ("mean", "sd", "z", "p"):
        np.testing.assert_allclose(getattr(together, name), np.concatenate([getattr(one, name) for one in alone]))


@pytest.mark.parametrize(("n", "mean", "p"), [(0, False, False), (2, True, False), (4, True, False), (5, True, True)])
def test_few_donors(n: int, mean: bool, p: bool) -> None:
    found = beside(np.random.default_rng(0).normal(size=(1, n + 1, n + 1)))
    assert np.isfinite([found.mean, found.sd]).all() == mean
    assert np.isfinite([found.z, found.p]).all() == p


@pytest.mark.parametrize("two_sided", [False, True])
def test_speakers_who_differ_do_not_matter(two_sided: bool) -> None:
    """4,000 tables of unrelated pairs, speakers' effects four times as large as what pairs have: 5 % are below .05.

    The largest residuals of skewed values are as likely to be the session's as any other's.
    """
    generator = np.random.default_rng(3)
    effects = 4 * generator.normal(size=(4000, 9, 1)) + 4 * generator.normal(size=(4000, 1, 9))
    p = beside(effects + generator.exponential(size=(4000, 9, 9)), two_sided=two_sided).p
    assert 0.04 < (p < 0.05).mean() < 0.06
    assert np.quantile(p, [0.25, 0.5, 0.75]) == pytest.approx([0.25, 0.5, 0.75], abs=0.03)


# ---- dialogues


def people(generator: np.random.Generator, n: int, *, follows: float = 0.0) -> tuple[Any, Any]:
    """Words and counts of n sessions of 30 turns, of people who differ much; clients follow with this probability."""
    n_words = generator.integers(4, 15, (n, 15, 2))
    rates = 0.1 * np.exp(0.8 * generator.standard_normal((n, 1, 2, 9)))
    counts = generator.binomial(n_words[..., None], np.minimum(rates, 0.5))
    of_client = generator.random((n, 15, 9)) < follows
    counts[:, :, 1] = np.where(of_client, counts[:, :, 0], counts[:, :, 1])
    return n_words.ravel(), counts.reshape(-1, 9)


@pytest.fixture(scope="module")
def shares_below(of_counts: Any, donors_from: Any) -> Any:
    """Return a function: the share of p below .05 of 160 dialogues, of LSM of turns and of the whole."""

    def share(follows: float) -> Any:
        generator, p = np.random.default_rng(12), []
        for _ in range(16):
            others = donors_from(of_counts(*people(generator, 20)), range(0, 601, 30))
            for seed in range(10):
                session = of_counts(*people(generator, 1, follows=follows), seed=seed, donors=others)
                p.append(
                    [adjacent_result(LSM, session).surrogate.p[0, 0], session_result(WHOLE_LSM, session).surrogate.p[0]]
                )
        assert len(p) == 160
        return (np.array(p) < 0.05).mean(axis=0)

    return share


def test_unrelated_dialogues_are_as_surrogate_pairs(shares_below: Any) -> None:
    """8 of 160 are expected: .05, with a standard error of .017."""
    share = shares_below(0.0)
    assert (share > 0.01).all(), share
    assert (share < 0.1).all(), share


def test_following_is_found(shares_below: Any) -> None:
    of_turns, of_whole = shares_below(0.5)
    assert of_turns > 0.8
    assert of_whole > 0.4
