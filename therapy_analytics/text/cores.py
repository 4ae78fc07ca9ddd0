"""How many threads may work at once."""

from __future__ import annotations

import multiprocessing
import os
from threading import Event

_ONE = Event()


def threads() -> int:
    """Return the number of cores, or one in a worker process, whose siblings use the other cores."""
    if _ONE.is_set() or multiprocessing.parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def take_one() -> None:
    """Make this process a worker that uses one core, whoever started it."""
    _ONE.set()
