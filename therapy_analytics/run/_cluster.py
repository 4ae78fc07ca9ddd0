"""An executor of the workers of a Dask cluster, which was started before and stays."""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import urlsplit

from therapy_analytics.core.errors import BadOptionError, how_to_install
from therapy_analytics.run._cluster_worker import SCHEDULER, ClusterTask, Program, Reply, unfitness
from therapy_analytics.run._executor import Executor, Result, Task

if TYPE_CHECKING:
    from distributed import Client

SECONDS_TO_ANSWER = 8
SECONDS_WITHOUT_WORKERS = 60
SECONDS_BETWEEN_LOOKS = 5
TRIES = 2
"""How often Dask tries a task again that failed before it reached our program, which raises nothing."""


@contextmanager
def open_cluster(address: str, *, program: Callable[[], str] | None = None, remote: bool = False) -> Iterator[Cluster]:
    """Yield the workers of a scheduler as an executor: see `open_executor`."""
    address = checked_address(address, remote=remote)
    described = Program(program, program() if program is not None else "")
    with _quiet(), _connected(address) as client:
        found = Cluster(client, address, described, remote=remote)
        found.look()
        yield found


def checked_address(address: str, *, remote: bool) -> str:
    """Return the address of a scheduler in full.

    Parameters
    ----------
    address : str
        ``tcp://HOST:PORT``, ``tls://HOST:PORT`` or ``HOST:PORT``.
    remote : bool
        Whether it may be on another machine.

    Raises
    ------
    BadOptionError
        It is no such address, or one of another machine although `remote` is false.

    Examples
    --------
    >>> checked_address("localhost:8786", remote=False)
    'tcp://localhost:8786'
    """
    found = address if "://" in address else f"tcp://{address}"
    if not _is_address(found):
        raise BadOptionError(
            SCHEDULER,
            f"{address} is not the address of a Dask scheduler",
            "Give it as the scheduler prints it when it starts, such as tcp://127.0.0.1:8786 or tls://127.0.0.1:8786",
        )
    if not remote and not is_here(found):
        raise BadOptionError(
            SCHEDULER,
            f"{address} is on another machine",
            "Give --allow-remote as well if the transcripts and results may be read and written from there; between"
            " machines use tls://, which encrypts what they send and admits only those who have the certificate",
        )
    return found


def _is_address(address: str) -> bool:
    with suppress(ValueError):
        parts = urlsplit(address)
        return parts.scheme in {"tcp", "tls"} and bool(parts.hostname) and bool(parts.port) and not parts.path
    return False


def is_here(address: str) -> bool:
    """Return whether an address can only be that of this machine.

    Examples
    --------
    >>> is_here("tcp://127.0.0.1:8786"), is_here("tcp://[::1]:8786"), is_here("tcp://192.168.0.7:8786")
    (True, True, False)
    """
    host = urlsplit(address).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's log: what matters is reported here, in plainer words."""
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
            "--engine dask", "Dask is not installed", f"Install it with: {how_to_install('dask', 'distributed')}"
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
    """Check that a scheduler answers: a client with a wrong address may wait for ever, and cannot be closed."""
    try:
        with ThreadPoolExecutor(1) as aside:  # in a notebook, this thread has an event loop already
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
        raise BadOptionError(SCHEDULER, f"what answers at {address} is no scheduler", "Give the scheduler's address")


async def _identity(address: str, how: Mapping[str, Any]) -> str:
    from distributed.core import rpc  # noqa: PLC0415

    async with asyncio.timeout(SECONDS_TO_ANSWER), rpc(address, connection_args=dict(how)) as there:
        return str((await there.identity())["type"])


class Cluster(Executor):
    """The workers of a cluster, including those that join later."""

    queue_per_worker = 4

    def __init__(self, client: Client, address: str, program: Program, *, remote: bool) -> None:
        self._client, self.address, self.program, self._remote = client, address, program, remote
        self._workers: tuple[str, ...] = ()
        self._seen, self._looked = time.monotonic(), -float("inf")
        self._open()

    def _open(self) -> None:
        # pure=False: equal tasks are not merged, and keys are random, not made from what is sent.
        self._executor = self._client.get_executor(retries=TRIES, pure=False)

    @property
    def n_workers(self) -> int:
        """How many tasks run at a time, as of a few seconds ago."""
        if time.monotonic() - self._looked > SECONDS_BETWEEN_LOOKS:
            self.count()
        return max(len(self._workers), 1)

    def submit(self, function: Callable[[Task], Result], task: Task) -> Future[Any]:
        """Submit a task to the cluster."""
        try:
            future: Future[Any] = self._executor.submit(ClusterTask(functools.partial(function, task), self.program))
        except (OSError, RuntimeError) as error:
            self.gone(error)
        return future

    def alone(self, function: Callable[[Task], Result], task: Task) -> Result:
        """Run a task; a worker runs one at a time anyway."""
        return cast("Result", self.result(self.submit(function, task)))

    def result(self, future: Future[Any]) -> Any:
        """Wait for a result."""
        reply = self._awaited(future)
        if reply.error is not None:
            raise reply.error
        return reply.answer

    def recover(self, waiting: Iterable[Future[Any]]) -> None:
        """Wait until no task is running; a worker that died was replaced by Dask, or the others go on."""
        for future in waiting:
            with suppress(BrokenExecutor):
                self._awaited(future)

    def cancel(self, _: Iterable[Future[Any]]) -> None:
        """Cancel all tasks, running or not."""
        with suppress(OSError, RuntimeError):
            self._executor.shutdown(wait=False)
            self._open()

    def _awaited(self, future: Future[Any]) -> Reply[Any]:
        """Wait for a reply, and check now and then that there are workers."""
        from distributed import KilledWorker  # noqa: PLC0415

        while True:
            try:
                reply: Reply[Any] = future.result(timeout=SECONDS_BETWEEN_LOOKS)
            except KilledWorker as error:
                self.after_a_death()
                raise BrokenExecutor from error
            except CancelledError as error:
                self.gone(error)
            except (
                ImportError,
                RuntimeError,
            ) as error:  # raised by Dask, which unpacks tasks: they raise nothing
                _refuse_without(error, f"a machine of the cluster at {self.address}")
            except TimeoutError:
                self.count()
            else:
                return reply

    def count(self) -> None:
        """Look up the workers; for a while there may be none: Dask's nanny starts one that died again."""
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
        """Check all workers again: one may have died because it is unsuitable."""
        self._workers = ()
        self.count()

    def look(self) -> None:
        """Refuse a cluster without workers, or with an unsuitable one."""
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
        """Refuse workers that may be on other machines, which a scheduler here can have through a tunnel."""
        away = [] if self._remote else [worker for worker in workers if not is_here(worker)]
        if away:
            raise BadOptionError(
                SCHEDULER,
                f"the worker {away[0]} is not known to be on this machine",
                f"Start it with: dask worker {self.address} --host 127.0.0.1; or give --allow-remote",
            )

    def _refuse_unfit(self, workers: Iterable[str]) -> None:
        """Ask workers whether they are suitable, when they join and after a death; they check again with each task.

        A worker without this program dies of its first task, is started again, and would take task after task with it.
        """
        try:
            found = self._client.run(unfitness, self.program, workers=list(workers), on_error="return")
        except (OSError, RuntimeError) as error:
            self.gone(error)
        for worker, answer in found.items():
            if isinstance(answer, BadOptionError):
                raise answer
            if isinstance(answer, Exception) and not isinstance(answer, OSError):  # an OSError: it has left since
                _refuse_without(answer, f"the worker {worker}")

    def gone(self, error: BaseException) -> NoReturn:
        """Raise that the scheduler does not answer any more."""
        raise BadOptionError(SCHEDULER, f"{self.address} does not answer any more", _GO_ON) from error


_GO_ON = "What is done is kept: when the cluster is there again, the same command goes on from there"


def _refuse_without(error: Exception, who: str) -> NoReturn:
    """Raise that a worker, or the scheduler, cannot unpack its task."""
    raise BadOptionError(
        SCHEDULER,
        f"{who} cannot load therapy-analytics",
        "Install the same version of it, with [cluster], where the scheduler and each worker run",
    ) from error
