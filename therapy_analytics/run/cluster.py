"""A Dask cluster, which was started before and stays, as an executor; and what its workers do.

Dask writes the names of tasks into logs and keys, and their bytes where a process cannot unpack them; it writes what a
task raises into the log of its worker. So tasks hold names of files and settings and never a word of a transcript, and
errors are returned, not raised.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Future, InvalidStateError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from therapy_analytics.core.errors import BadOptionError, how_to_install, place_of
from therapy_analytics.core.third_party import take_one
from therapy_analytics.run.executors import Pool, one_thread

if TYPE_CHECKING:
    from distributed import Client, Worker

SCHEDULER = "--scheduler"
SECONDS_TO_ANSWER = 8
SECONDS_TO_CLOSE = 5
SECONDS_WITHOUT_WORKERS = 60
TRIES = 2
"""How often Dask tries a task again that failed before it reached our program, which raises nothing."""
_GO_ON = "What is done is kept: when the cluster is there again, the same command goes on from there"


@contextmanager
def open_cluster(address: str, *, program: Callable[[], str] | None = None, remote: bool = False) -> Iterator[Cluster]:
    """Yield the workers of a scheduler: see `open_executor`."""
    address = checked_address(address, remote=remote)
    log = logging.getLogger("distributed")  # what matters is reported here, in plainer words
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        with _connected(address) as client:
            with suppress(TimeoutError):
                client.wait_for_workers(1, timeout=SECONDS_TO_ANSWER)
            described = Program(program, "" if program is None else program(), remote=remote)
            found = Cluster(client, address, described)
            found.refuse_unfit()
            if not found.addresses():
                remedy = f"Start some with: dask worker {address} --nworkers 2 --nthreads 1"
                raise BadOptionError(SCHEDULER, f"{address} has no workers", remedy)
            yield found
    finally:
        log.setLevel(level)


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
    is_address = False
    with suppress(ValueError):
        parts = urlsplit(found)
        is_address = parts.scheme in {"tcp", "tls"} and bool(parts.hostname and parts.port) and not parts.path
    if not is_address:
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


def is_here(address: str) -> bool:
    """Return whether an address can only be that of this machine.

    Examples
    --------
    >>> is_here("tcp://127.0.0.1:8786"), is_here("tcp://[::1]:8786"), is_here("tcp://192.168.0.7:8786")
    (True, True, False)
    """
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


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
            client.close(timeout=SECONDS_TO_CLOSE)


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


class Cluster(Pool):
    """The workers of a cluster, including those that join later; Dask replaces one that dies."""

    ahead = 4
    tries_alone = 1

    def __init__(self, client: Client, address: str, program: Program) -> None:
        self._client, self._address, self._program = client, address, program
        # pure=False: equal tasks are not merged, and keys are random, not made from what is sent.
        self._executor = client.get_executor(retries=TRIES, pure=False)
        self._seen = time.monotonic()

    @property
    def n_workers(self) -> int:
        """How many tasks run at a time."""
        return max(len(self.addresses()), 1)

    def addresses(self) -> tuple[str, ...]:
        """Return the addresses of all workers; for a while there may be none, as one that died is started again."""
        try:
            return tuple(self._client.nthreads())
        except (OSError, RuntimeError) as error:
            raise self._gone() from error

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a task to the cluster."""
        outer: Future[Any] = Future()
        try:
            inner = self._executor.submit(ClusterTask(functools.partial(fn, *args, **kwargs), self._program))
        except (OSError, RuntimeError) as error:
            raise self._gone() from error
        inner.add_done_callback(functools.partial(self._pass_on, outer))
        outer.add_done_callback(lambda one: one.cancelled() and inner.cancel())
        return outer

    def _pass_on(self, outer: Future[Any], inner: Future[Any]) -> None:
        """Pass on what a worker replied; Dask calls it in a thread of its own."""
        from distributed import KilledWorker  # noqa: PLC0415

        try:
            answer = inner.result()
        except KilledWorker:
            answer = BrokenExecutor()
        except CancelledError:
            answer = self._gone()
        except (ImportError, RuntimeError):  # raised by Dask, which unpacks tasks: they raise nothing
            answer = _without_program(f"a machine of the cluster at {self._address}")
        except Exception as error:  # noqa: BLE001 (it is raised where the result is waited for)
            answer = error
        with suppress(InvalidStateError):  # it was cancelled
            outer.set_exception(answer) if isinstance(answer, Exception) else outer.set_result(answer)

    def another(self, n_workers: int) -> Pool:  # noqa: ARG002
        """Return another executor of the same workers, and check them: one may have died because it is unsuitable."""
        self.refuse_unfit()
        return Cluster(self._client, self._address, self._program)

    def check(self) -> None:
        """Check that there have been workers in the last minute."""
        if self.addresses():
            self._seen = time.monotonic()
        if time.monotonic() - self._seen > SECONDS_WITHOUT_WORKERS:
            raise BadOptionError(SCHEDULER, f"{self._address} has no workers any more", _GO_ON)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Cancel all tasks, running or not."""
        with suppress(OSError, RuntimeError):
            self._executor.shutdown(wait=False)

    def refuse_unfit(self) -> None:
        """Ask all workers whether they are suitable; they check it again with each task.

        A worker without this program dies of its first task, is started again, and would take task after task with it.
        """
        try:
            found = self._client.run(unfitness, self._program, on_error="return")
        except (OSError, RuntimeError) as error:
            raise self._gone() from error
        for worker, answer in found.items():
            if isinstance(answer, BadOptionError):
                raise answer
            if isinstance(answer, Exception) and not isinstance(answer, OSError):  # an OSError: it has left since
                raise _without_program(f"the worker {worker}") from answer

    def _gone(self) -> BadOptionError:
        return BadOptionError(SCHEDULER, f"{self._address} does not answer any more", _GO_ON)


def _without_program(who: str) -> BadOptionError:
    """Return the error of a worker, or the scheduler, that cannot unpack its task."""
    remedy = "Install the same version of it, with [cluster], where the scheduler and each worker run"
    return BadOptionError(SCHEDULER, f"{who} cannot load therapy-analytics", remedy)


_ONE_AT_A_TIME = Lock()
"""Workers that share a process (a cluster inside a notebook) take turns, as they share what it holds."""


@dataclass(frozen=True, slots=True)
class Program:
    """Identifies the program, so that workers with another one are refused.

    Attributes
    ----------
    describe : callable or None
        Returns a description of the program; None accepts any.
    described : str
        What it returned on the machine that gives out the work.
    remote : bool
        Whether workers may be on other machines.
    """

    describe: Callable[[], str] | None
    described: str = ""
    remote: bool = False


@dataclass(frozen=True)
class ClusterTask:
    """A task as it is sent; it returns its error, too."""

    function: Callable[[], Any]
    program: Program
    __name__: ClassVar[str] = "task"

    def __repr__(self) -> str:
        return "ClusterTask()"

    def __call__(self) -> Any:
        """Run the function."""
        try:
            with _ONE_AT_A_TIME, one_thread():
                take_one()
                return unfitness(self.program) or self.function()
        except Exception as error:  # noqa: BLE001 (it is raised on the machine that gives out the work)
            from distributed import get_worker  # noqa: PLC0415

            error.add_note(f"on the worker {get_worker().address}: {place_of(error)}")
            return error.with_traceback(None)


def unfitness(program: Program, dask_worker: Worker | None = None) -> BadOptionError | None:
    """Return why this worker is unsuitable, or None; `dask_worker` is given by Dask."""
    from distributed import get_worker  # noqa: PLC0415

    worker = dask_worker or get_worker()
    address, n = worker.address, worker.state.nthreads
    if not program.remote and not is_here(address):  # a scheduler here can have such workers through a tunnel
        problem = f"the worker {address} is not known to be on this machine"
        return BadOptionError(
            SCHEDULER, problem, "Start it with: dask worker ADDRESS --host 127.0.0.1; or give --allow-remote"
        )
    if n != 1:
        return BadOptionError(
            SCHEDULER,
            f"the worker {address} works on {n} things at a time in one process",
            f"Start more of them instead: dask worker ADDRESS --nworkers {n} --nthreads 1",
        )
    if program.describe is not None and _described(program.describe) != program.described:
        return BadOptionError(
            SCHEDULER,
            f"the worker {address} has another version of therapy-analytics than this machine",
            "Install the same version on all machines, and start the workers again",
        )
    return None


@functools.lru_cache(maxsize=4)
def _described(describe: Callable[[], str]) -> str:
    """Return the description as of the first call: a file that is replaced later is not what this process runs."""
    return describe()
