"""One thread for each who works: the cores are shared out among processes already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the libraries of linear algebra use one thread of this process, until the end of the block.

    Their matrices here are small: on two cores, OpenBLAS spends twice the processor time on waiting for itself.
    What is there to limit must be loaded before, and so numpy's and scipy's own copies are.
    """
    import numpy as np  # noqa: F401, PLC0415
    import scipy.linalg  # noqa: F401, PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with threadpool_limits(1):
        yield
