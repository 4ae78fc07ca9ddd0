"""Questions to a server, one connection each: bounded in time and size, tried again, never led elsewhere.

`http.client` is used because it knows no proxies and follows no redirects: words go to the
server that was named, or nowhere.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from therapy_analytics.behaviours._llm_endpoint import Endpoint, is_loopback_address
from therapy_analytics.errors import BadOptionError, CoderServerError

KEY_VARIABLE = "TANALYZE_API_KEY"
WAITS_S = (0.5, 1.0, 2.0, 4.0)
"""Before the second try, the third, ..."""
_LONGEST_WAIT_S = 60.0
_MOST_BYTES = 4_000_000
_NOT_ACCEPTED = frozenset({400, 413, 422})
_BUSY = frozenset({408, 409, 425, 429})


class FaultError(Exception):
    """A server's trouble that may pass.

    Parameters
    ----------
    problem : str
        In words, none of them the server's.
    wait_s : float or None
        When the server wants to be asked again.
    absent : bool
        Whether nobody listens there at all.
    """

    def __init__(self, problem: str, wait_s: float | None = None, *, absent: bool = False) -> None:
        super().__init__(problem, wait_s)
        self.problem, self.wait_s, self.absent = problem, wait_s, absent


class NotAcceptedError(Exception):
    """The server understands the request and does not take it as it is."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    retry_after: str
    body: bytes


class Client:
    """Asks one server, from several threads; leaving its ``with`` ends whatever is still open.

    Parameters
    ----------
    endpoint : Endpoint
        The server.
    timeout_s : float
        How long one answer may take, from the first byte sent to the last received.
    """

    def __init__(self, endpoint: Endpoint, timeout_s: float) -> None:
        self._endpoint, self._timeout_s = endpoint, timeout_s
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", **_authorization()}
        self._open: set[socket.socket] = set()
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        for one in list(self._open):
            _cut(one)

    def ask(self, request: Mapping[str, Any]) -> str:
        """Return what the model says to a request, trying again as long as that may help.

        Raises
        ------
        NotAcceptedError
            The server does not take the request as it is.
        FaultError
            The server is in trouble, and was at each try.
        CoderServerError
            No request can succeed there.
        """
        body = json.dumps(request).encode()
        give_up = time.monotonic() + 2 * self._timeout_s
        for usual_s in WAITS_S:
            try:
                return _said(self._checked(self._exchange(body)))
            except FaultError as fault:
                wait_s = min(max(usual_s, fault.wait_s or 0.0), _LONGEST_WAIT_S)
                if time.monotonic() + wait_s > give_up or self._stopped.wait(wait_s):
                    raise
        return _said(self._checked(self._exchange(body)))

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection, and make sure where it leads before a word is sent.

        Raises
        ------
        FaultError
            Nobody listens there.
        CoderServerError
            A name led to another machine, or the machine cannot prove that it is the one named.
        """
        connection = self._new_connection()
        try:
            connection.connect()
        except ssl.SSLCertVerificationError:
            raise self._hopeless("its certificate is not valid", "Use the name that the certificate is for") from None
        except (OSError, UnicodeError) as error:
            raise FaultError(f"nobody answers ({type(error).__name__})", absent=True) from None
        if not (self._endpoint.remote or is_loopback_address(connection.sock.getpeername()[0])):
            connection.close()
            raise self._hopeless("it is not on this machine", "Use a server on 127.0.0.1, or add --allow-remote")
        return connection

    def _new_connection(self) -> http.client.HTTPConnection:
        host, port = self._endpoint.host, self._endpoint.port
        if not self._endpoint.tls:
            return http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=context)

    def _exchange(self, body: bytes) -> _Reply:
        """Send one request; a clock of its own ends it, for a timeout starts again with each byte."""
        connection, start = self.connect(), time.monotonic()
        link = connection.sock
        clock = threading.Timer(self._timeout_s, _cut, [link])
        clock.daemon = True
        self._open.add(link)
        try:
            clock.start()
            reply, problem = self._sent(connection, body), ""
        except (OSError, http.client.HTTPException, ValueError) as error:
            reply, problem = None, f"the answer breaks off ({type(error).__name__})"
        finally:
            clock.cancel()
            self._open.discard(link)
            connection.close()
        if time.monotonic() - start >= self._timeout_s:
            raise FaultError(f"an answer takes longer than {self._timeout_s:g} s (--llm-timeout)")
        if reply is None:
            raise FaultError(problem)
        return reply

    def _sent(self, connection: http.client.HTTPConnection, body: bytes) -> _Reply:
        if self._stopped.is_set():
            raise FaultError("stopped")
        connection.request("POST", self._endpoint.path, body, self._headers)
        response = connection.getresponse()
        return _Reply(response.status, response.getheader("Retry-After", ""), response.read(_MOST_BYTES + 1))

    def _checked(self, reply: _Reply) -> bytes:
        """Return the body of a good reply; what a server says of its errors may quote us, and is left alone."""
        status = reply.status
        if status in _NOT_ACCEPTED:
            raise NotAcceptedError(status)
        if status in _BUSY or status >= 500:
            raise FaultError(f"the server reports status {status}", _seconds(reply.retry_after))
        if status != 200:
            raise self._hopeless(*_why(status))
        if len(reply.body) > _MOST_BYTES:
            raise FaultError("the answer is too long")
        return reply.body

    def _hopeless(self, problem: str, remedy: str) -> CoderServerError:
        return CoderServerError(str(self._endpoint), problem, remedy)


def _authorization() -> dict[str, str]:
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        return {}
    if not (key.isascii() and key.isprintable()):
        raise BadOptionError(KEY_VARIABLE, "holds characters that no key has", "Set it again")
    return {"Authorization": f"Bearer {key}"}


def _cut(link: socket.socket) -> None:
    with contextlib.suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)


def _why(status: int) -> tuple[str, str]:
    if status in {401, 403}:
        return f"it wants a key (status {status})", f"Put the key into the environment variable {KEY_VARIABLE}"
    if status in {404, 405}:
        problem = f"it knows no such model or address (status {status})"
        return problem, "Look the model's name up in the server's list; the address mostly ends in /v1"
    if 300 <= status < 400:
        return f"it sends the request elsewhere (status {status})", "Name the address where the server itself listens"
    return f"it answers with status {status}", "Look into the server's own log"


def _seconds(retry_after: str) -> float | None:
    return float(retry_after) if retry_after.strip().isdecimal() else None


def _said(body: bytes) -> str:
    """Return the message of a completion; "" for one without words, such as a formal refusal."""
    try:
        message = json.loads(body)["choices"][0]["message"]
        content = message["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise FaultError("the answer is no chat completion") from None
    return content if isinstance(content, str) else ""
