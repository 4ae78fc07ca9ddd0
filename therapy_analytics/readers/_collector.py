"""Python's garbage collector waits while the turns of a file are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_waiting() -> Iterator[None]:
    """Let the garbage collector wait, and go on as it was.

    Whoever makes thousands of objects that stay sets it off, and it then looks through every object of every library
    that is loaded: nearly as long as a file of some thousand turns takes to read. Reading leaves next to no rings of
    objects that refer to one another, which are all that the collector is there for.

    Examples
    --------
    >>> with collector_waiting():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
