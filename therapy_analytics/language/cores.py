"""How many threads may work at once."""

from __future__ import annotations

import multiprocessing
import os
from threading import Event

_ONE = Event()


def threads() -> int:
    """Return the number of cores, but one in a process of a pool, whose others are taken by its siblings."""
    if _ONE.is_set() or multiprocessing.parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def take_one() -> None:
    """Count this process, whoever started it, as one whose siblings take the other cores."""
    _ONE.set()
