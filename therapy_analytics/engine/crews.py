"""Where the work is done: in this process, in several, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from therapy_analytics.engine.base import Crew
from therapy_analytics.engine.local import Alone, Pool
from therapy_analytics.engine.threads import one_thread


@contextmanager
def crew(
    *,
    processes: int = 1,
    scheduler: str | None = None,
    alike: Callable[[], str] | None = None,
    remote: bool = False,
) -> Iterator[Crew]:
    """Gather who does the work; when the block ends they go, a cluster stays.

    Parameters
    ----------
    processes : int, optional
        1 works in this process; more start a pool of fresh ones, when there is something to do.
    scheduler : str, optional
        Address of the scheduler of a Dask cluster, which then works instead.
    alike : callable, optional
        A function of a module that says what the program is: each worker of a cluster must say the same.
    remote : bool, optional
        Whether the cluster may be on other machines than this one.

    Yields
    ------
    Crew
        Meanwhile the linear algebra of this process, and of all who work, takes one thread.

    Raises
    ------
    BadOptionError
        Dask is not installed, the address is none or may not be used, nobody answers there, or a worker is not fit.

    Notes
    -----
    When the block ends with an exception (Ctrl-C), what is under way is not waited for.

    Examples
    --------
    >>> with crew() as here:
    ...     list(here.in_order(abs, [-1, 2]))
    [(-1, 1), (2, 2)]
    """
    with one_thread():
        if scheduler is not None:
            from therapy_analytics.engine.cluster import cluster  # noqa: PLC0415

            with cluster(scheduler, alike=alike, remote=remote) as workers:
                yield workers
        elif processes > 1:
            with Pool(processes) as pool:
                yield pool
        else:
            yield Alone()
