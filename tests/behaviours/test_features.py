"""Features by short ways, against the plain ones."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from therapy_analytics.behaviours import features
from therapy_analytics.language.integers import occurring
from therapy_analytics.language.stretches import turns_of


def test_tables_and_what_occurs_are_those_of_the_plain_way() -> None:
    generator = np.random.default_rng(0)
    table = generator.random((7, 5)) * (generator.random((7, 5)) > 0.6)
    made, plain = features._sparse(table), sparse.csr_array(table)
    assert np.array_equal(made.toarray(), table)
    assert np.array_equal(made.indptr, plain.indptr)
    assert np.array_equal(made.indices, plain.indices)
    keys = generator.integers(0, 9, 20)
    assert np.array_equal(occurring(keys), np.unique(keys))
    assert not len(occurring(keys[:0]))


def test_types_are_known_once_for_all_who_read_a_batch() -> None:
    turns = turns_of(["Why did you go?", "I went home."])
    own, others = (features.featurize(turns.between(*part), [0, 1]) for part in ((0, 1), (1, 2)))
    assert own.types is others.types
    assert own.types.shape[0] == len(turns.tokens.norm)


def test_pairs_are_counted_damped_and_weakened_by_row() -> None:
    """Row 0 has column 2 three times and column 0 once, row 2 column 1 twice."""
    made = features._count(np.array([0, 2, 0, 0, 2, 0]), np.array([2, 1, 0, 2, 1, 2]), (3, 3)).toarray()
    often, twice = 1 + np.log(3), 1 + np.log(2)
    length = np.sqrt(1 + often**2) ** features.DAMPING
    assert np.allclose(made, [[1 / length, 0, often / length], [0, 0, 0], [0, twice / twice**features.DAMPING, 0]])
