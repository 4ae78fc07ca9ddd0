"""Work in one process or several: in order, and a death costs what died alone."""

from __future__ import annotations

import os
import signal

import pytest

from therapy_analytics.engine.local import Lost, in_order


def _apart(batch: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(one,) for one in batch]


def _double(batch: tuple[int, ...]) -> tuple[int, ...]:
    if 13 in batch:
        os.kill(os.getpid(), signal.SIGKILL)
    if 99 in batch:
        raise MemoryError
    return tuple(2 * one for one in batch)


def test_results_come_in_order() -> None:
    batches = [(n, n + 1) for n in range(0, 12, 2)]
    expected = [(batch, tuple(2 * one for one in batch)) for batch in batches]
    assert list(in_order(_double, batches, processes=2)) == list(in_order(_double, batches)) == expected


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_death_costs_the_one_that_died() -> None:
    batches = [(1, 2), (3, 13, 5), (6, 7), (99, 9), (10,)]
    found = list(in_order(_double, batches, processes=2, apart=_apart))
    assert found == [
        ((1, 2), (2, 4)),
        ((3,), (6,)),
        ((13,), Lost("died")),
        ((5,), (10,)),
        ((6, 7), (12, 14)),
        ((99,), Lost("memory")),
        ((9,), (18,)),
        ((10,), (20,)),
    ]


def test_too_little_memory_in_this_process_costs_one() -> None:
    found = list(in_order(_double, [(1, 99, 2), (3,)], apart=_apart))
    assert found == [((1,), (2,)), ((99,), Lost("memory")), ((2,), (4,)), ((3,), (6,))]


def _refuse(batch: tuple[int, ...]) -> tuple[int, ...]:
    raise ValueError(batch)


def test_other_errors_travel() -> None:
    with pytest.raises(ValueError, match="1"):
        list(in_order(_refuse, [(1,)], processes=2))
