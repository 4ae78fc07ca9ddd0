"""Work on a Dask cluster, which is there before and stays after."""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, cast

from therapy_analytics.engine.address import SCHEDULER, checked, is_here
from therapy_analytics.engine.base import Crew, Item, Lost, Result, Row, whole
from therapy_analytics.engine.worker import Outcome, Task, Terms, unfitness
from therapy_analytics.errors import BadOptionError

if TYPE_CHECKING:
    from distributed import Client

SECONDS_TO_ANSWER = 8
SECONDS_WITHOUT_WORKERS = 60
SECONDS_BETWEEN_LOOKS = 5
TRIES = 2
"""How often Dask tries again what failed before it came to our program, which raises nothing by itself."""


@contextmanager
def cluster(address: str, *, alike: Callable[[], str] | None = None, remote: bool = False) -> Iterator[Cluster]:
    """Ask the workers of a scheduler for help: see `crew`."""
    address = checked(address, remote=remote)
    terms = Terms(alike, alike() if alike is not None else "")
    with _quiet(), _connected(address) as client:
        found = Cluster(client, address, terms, remote=remote)
        found.look()
        yield found


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's own words off the screen: what matters is said here, in plainer ones."""
    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    try:
        from distributed import Client, Security  # noqa: PLC0415
    except ImportError as error:
        raise BadOptionError(
            "--engine dask", "Dask is not installed", "Install it with: pip install 'therapy-analytics[cluster]'"
        ) from error
    security = Security()  # as Dask's own settings have it
    _knock(address, security.get_connection_args("client"))
    client = Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False, security=security)
    try:
        yield client
    finally:
        with suppress(OSError, RuntimeError):
            client.close(timeout=SECONDS_BETWEEN_LOOKS)


def _knock(address: str, how: Mapping[str, Any]) -> None:
    """Ask who is there: a client that is told a wrong address may wait for ever, and cannot be closed."""
    try:
        with ThreadPoolExecutor(1) as aside:  # a notebook has a loop of its own in this thread
            who = aside.submit(asyncio.run, _identity(address, how)).result()
    except TypeError as error:
        raise BadOptionError(
            SCHEDULER,
            f"there is no certificate to use for {address}",
            "Name the certificates in Dask's settings: distributed.comm.tls.ca-file, client.cert and client.key",
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise BadOptionError(
            SCHEDULER,
            f"no Dask scheduler answers at {address}",
            "Start one with: dask scheduler --host 127.0.0.1; it prints its address",
        ) from error
    if who != "Scheduler":
        raise BadOptionError(SCHEDULER, f"who answers at {address} is no scheduler", "Give the scheduler's address")


async def _identity(address: str, how: Mapping[str, Any]) -> str:
    from distributed.core import rpc  # noqa: PLC0415

    async with asyncio.timeout(SECONDS_TO_ANSWER), rpc(address, connection_args=dict(how)) as there:
        return str((await there.identity())["type"])


class Cluster(Crew):
    """The workers of a cluster, those that come later included."""

    def __init__(self, client: Client, address: str, terms: Terms, *, remote: bool) -> None:
        self._client, self.address, self.terms, self._remote = client, address, terms, remote
        self._workers: tuple[str, ...] = ()
        self._seen, self._looked = time.monotonic(), -float("inf")

    @property
    def width(self) -> int:
        """How many work at a time, as it was a few seconds ago."""
        if time.monotonic() - self._looked > SECONDS_BETWEEN_LOOKS:
            self.count()
        return max(len(self._workers), 1)

    def in_order(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        apart: Callable[[Item], Iterable[Item]] = whole,
    ) -> Iterator[tuple[Item, Result | Lost]]:
        """Apply a function to items as they come."""
        return _ClusterRow(self, function).run(items, apart)

    def executor(self) -> Executor:
        """Return one of its own for each call, to be able to take back what it was given."""
        # pure=False: two equal items are two items. Keys then are random, not made from what is sent.
        executor: Executor = self._client.get_executor(retries=TRIES, pure=False)
        return executor

    def count(self) -> None:
        """See who is there; for a while, nobody may be: a worker that died is started again by its nanny."""
        try:
            now = tuple(self._client.nthreads())
        except (OSError, RuntimeError) as error:
            self.gone(error)
        self._refuse_away(now)
        if new := set(now) - set(self._workers):
            self._refuse_unfit(new)
        self._workers, self._looked = now, time.monotonic()
        if now:
            self._seen = self._looked
        if self._looked - self._seen > SECONDS_WITHOUT_WORKERS:
            raise BadOptionError(SCHEDULER, f"{self.address} has no workers any more", _GO_ON)

    def after_a_death(self) -> None:
        """See whether who is there is fit: perhaps that is what somebody died of."""
        self._workers = ()
        self.count()

    def look(self) -> None:
        """Refuse a cluster without workers, or with one that is not fit."""
        with suppress(TimeoutError):
            self._client.wait_for_workers(1, timeout=SECONDS_TO_ANSWER)
        self.count()
        if not self._workers:
            raise BadOptionError(
                SCHEDULER,
                f"{self.address} has no workers",
                f"Start some with: dask worker {self.address} --nworkers 2 --nthreads 1",
            )

    def _refuse_away(self, workers: Iterable[str]) -> None:
        """Refuse workers that may be elsewhere: a scheduler of this machine can have them, as through a tunnel."""
        away = [] if self._remote else [worker for worker in workers if not is_here(worker)]
        if away:
            raise BadOptionError(
                SCHEDULER,
                f"the worker {away[0]} is not known to be on this machine",
                f"Start it with: dask worker {self.address} --host 127.0.0.1; or give --allow-remote",
            )

    def _refuse_unfit(self, workers: Iterable[str]) -> None:
        """Ask workers, each of which looks again with each item; one that has not got this program dies of the first.

        With a nanny it comes back, and would take item after item with it: so they are asked when they come, and when
        somebody died.
        """
        try:
            found = self._client.run(unfitness, self.terms, workers=list(workers), on_error="return")
        except (OSError, RuntimeError) as error:
            self.gone(error)
        for worker, said in found.items():
            if isinstance(said, BadOptionError):
                raise said
            if isinstance(said, Exception) and not isinstance(said, OSError):  # an OSError: it went in the meantime
                _refuse_without(said, f"the worker {worker}")

    def gone(self, error: BaseException) -> NoReturn:
        """Say that nobody answers any more."""
        raise BadOptionError(SCHEDULER, f"{self.address} does not answer any more", _GO_ON) from error


_GO_ON = "What is done is kept: when the cluster is there again, the same command goes on from there"


def _refuse_without(error: Exception, who: str) -> NoReturn:
    """Say that a worker, or the scheduler, cannot even read what it is to do."""
    raise BadOptionError(
        SCHEDULER,
        f"{who} cannot load therapy-analytics",
        "Install the same version of it, with [cluster], where the scheduler and each worker run",
    ) from error


class _ClusterRow(Row[Item, Result]):
    """What waits for a cluster."""

    def __init__(self, cluster: Cluster, function: Callable[[Item], Result]) -> None:
        super().__init__(function)
        self._cluster, self._executor = cluster, cluster.executor()

    @property
    def most(self) -> int:
        return 4 * self._cluster.width

    def submit(self, item: Item) -> Future[Any]:
        try:
            return self._executor.submit(Task(functools.partial(self.function, item), self._cluster.terms))
        except (OSError, RuntimeError) as error:
            self._cluster.gone(error)

    def alone(self, item: Item) -> Result:
        return self.result(self.submit(item))

    def mend(self) -> None:
        """Do nothing: who died was replaced, or is missed by none."""

    def result(self, future: Future[Any]) -> Result:
        outcome = self._awaited(future)
        if outcome.error is not None:
            raise outcome.error
        return cast("Result", outcome.answer)

    def settle(self) -> None:
        for _, future in self.waiting:
            with suppress(BrokenExecutor):
                self._awaited(future)

    def close(self) -> None:
        with suppress(OSError, RuntimeError):
            self._executor.shutdown(wait=False)

    def _awaited(self, future: Future[Any]) -> Outcome[Any]:
        """Wait, and see now and then whether anybody is there."""
        from distributed import KilledWorker  # noqa: PLC0415

        while True:
            try:
                outcome: Outcome[Any] = future.result(timeout=SECONDS_BETWEEN_LOOKS)
            except KilledWorker as error:
                self._cluster.after_a_death()
                raise BrokenExecutor from error
            except CancelledError as error:
                self._cluster.gone(error)
            except (ImportError, RuntimeError) as error:  # an item raises nothing: this is Dask, which unpacks it
                _refuse_without(error, f"a machine of the cluster at {self._cluster.address}")
            except TimeoutError:
                self._cluster.count()
            else:
                return outcome
