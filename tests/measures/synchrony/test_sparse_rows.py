"""Some rows and columns of counts, as numpy would take them from the whole table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from therapy_analytics.measures.synchrony import _sparse_rows
from therapy_analytics.measures.synchrony._sparse_rows import chosen, products

TABLE = np.array([[2.0, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 1], [1, 1, 1, 1]])


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 0, 3], [1], []])
@pytest.mark.parametrize("columns", [[0, 1, 2, 3], [1, 3], []])
def test_chosen_rows_and_columns_are_those_of_the_table(rows: list[int], columns: list[int]) -> None:
    found = chosen(sparse.csr_array(TABLE), np.array(rows, dtype=int), np.array(columns, dtype=int))
    wanted = TABLE[rows][:, columns]
    assert len(found) == len(rows)
    assert np.array_equal(found.sparse().toarray(), wanted)
    assert np.array_equal(found.laid_out(), wanted.T)


def test_a_part_is_the_rows_between() -> None:
    found = chosen(sparse.csr_array(TABLE), np.array([3, 0, 2, 1]), np.array([0, 1, 3])).part(slice(1, 3))
    assert found.sparse().toarray().tolist() == [[2, 0, 0], [0, 3, 1]]
    assert found.laid_out().tolist() == [[2, 0], [0, 3], [0, 1]]


@pytest.mark.parametrize("few", [0, 1 << 15])
def test_products_are_those_of_each_row_with_each(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sparse_rows, "_FEW", few)
    some, all_columns = [2, 0], np.arange(4)
    one, other = (chosen(sparse.csr_array(TABLE), np.array(rows), all_columns) for rows in (some, [0, 1, 2, 3]))
    assert np.array_equal(products(one, other), TABLE[some] @ TABLE.T)
    assert np.array_equal(products(other, one), TABLE @ TABLE[some].T)
