"""Requests to the server of a language model that codes, and the cache of its answers.

Requests are bounded in time and size, retried, never redirected. The cache holds codes by the hash of the question.

`http.client` is used because it ignores proxies and follows no redirects: the words of transcripts go to the server
that was named, or nowhere.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import ipaddress
import json
import os
import re
import socket
import ssl
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from therapy_analytics.core.errors import BadOptionError, CoderServerError

_APP = "therapy-analytics"
KEY_VARIABLE = "TANALYZE_API_KEY"
WAITS_S = (0.5, 1.0, 2.0, 4.0)
"""Waiting times before the second try, the third, ..."""
_LONGEST_WAIT_S = 60.0
_MOST_BYTES = 4_000_000
_NOT_ACCEPTED = frozenset({400, 413, 422})
_BUSY = frozenset({408, 409, 425, 429})
_FORM = "Give it as in http://127.0.0.1:11434/v1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's address.

    Attributes
    ----------
    tls : bool
        Whether it is reached by https.
    host, port, path : str, int, str
        Where requests go; ``path`` ends in ``/chat/completions``.
    allow_remote : bool
        Whether it may be another machine than this one.
    """

    tls: bool
    host: str
    port: int
    path: str
    allow_remote: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"


def parse_endpoint(text: str, *, allow_remote: bool) -> Endpoint:
    """Return the parts of an address; ``/chat/completions`` is added to its path where it is missing.

    Raises
    ------
    BadOptionError
        It is no plain http or https address, holds a user name or a password, or is on another machine and that is not
        allowed.
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise BadOptionError("--endpoint", "is not an address", _FORM) from None
    odd = parts.query or parts.fragment or not re.fullmatch(r"[!-~]*", parts.path)
    if parts.scheme not in {"http", "https"} or not host or odd:
        raise BadOptionError("--endpoint", "is not the address of a server", _FORM)
    if parts.username is not None or parts.password is not None:
        remedy = f"Put the server's key into the variable {KEY_VARIABLE}"
        raise BadOptionError("--endpoint", "holds a name or a password", remedy)
    if not (allow_remote or host == "localhost" or is_loopback_address(host)):
        problem = f"{host} is another machine: the words of your transcripts would be sent there"
        raise BadOptionError("--endpoint", problem, "Use a server on 127.0.0.1, or add --allow-remote")
    tls = parts.scheme == "https"
    path = parts.path.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
    return Endpoint(tls, host, port or (443 if tls else 80), path, allow_remote)


def is_loopback_address(address: str) -> bool:
    """Return whether a numeric address is in 127.0.0.0/8 or ::1; names that would have to be looked up are not."""
    try:
        one = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(one, ipaddress.IPv4Address):
        return one in ipaddress.IPv4Network("127.0.0.0/8")
    return one == ipaddress.IPv6Address("::1")


class FaultError(Exception):
    """A temporary failure of the server.

    Parameters
    ----------
    problem : str
        A description that quotes nothing of what the server said.
    wait_s : float or None
        How many seconds the server asks to wait, where it does.
    absent : bool
        Whether no connection could be made.
    """

    def __init__(self, problem: str, wait_s: float | None = None, *, absent: bool = False) -> None:
        super().__init__(problem, wait_s)
        self.problem, self.wait_s, self.absent = problem, wait_s, absent


class NotAcceptedError(Exception):
    """The server understands the request and rejects its form."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Client:
    """Sends requests to one server, from several threads; leaving its ``with`` block closes all connections.

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
        """Return the model's message, which may be empty; temporary failures are tried again, five times in all.

        No try begins later than twice `timeout_s` after the first.

        Parameters
        ----------
        request : mapping
            The JSON body of a chat completion.

        Raises
        ------
        NotAcceptedError
            The server rejects the form of the request.
        FaultError
            The last try failed.
        CoderServerError
            Trying again cannot help.
        """
        body = json.dumps(request).encode()
        give_up = time.monotonic() + 2 * self._timeout_s
        for usual_s in WAITS_S:
            try:
                return self._message(body)
            except FaultError as fault:
                wait_s = min(max(usual_s, fault.wait_s or 0.0), _LONGEST_WAIT_S)
                if time.monotonic() + wait_s > give_up or self._stopped.wait(wait_s):
                    raise
        return self._message(body)

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection, which the caller closes, and check where it leads before a word is sent.

        Raises
        ------
        FaultError
            No connection could be made.
        CoderServerError
            The name leads to another machine, or its certificate is not valid.
        """
        host, port, timeout = self._endpoint.host, self._endpoint.port, self._timeout_s
        connection = http.client.HTTPConnection(host, port, timeout=timeout)
        if self._endpoint.tls:
            connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=ssl.create_default_context())
        try:
            connection.connect()
        except ssl.SSLCertVerificationError:
            raise self._hopeless("its certificate is not valid", "Use the name that the certificate is for") from None
        except (OSError, UnicodeError) as error:
            raise FaultError(f"nobody answers ({type(error).__name__})", absent=True) from None
        if not (self._endpoint.allow_remote or is_loopback_address(connection.sock.getpeername()[0])):
            connection.close()
            raise self._hopeless("it is not on this machine", "Use a server on 127.0.0.1, or add --allow-remote")
        return connection

    def _message(self, body: bytes) -> str:
        """Send one request and return the model's message; texts of errors may quote transcripts and are ignored."""
        status, retry_after, answer = self._exchange(body)
        if status in _NOT_ACCEPTED:
            raise NotAcceptedError(status)
        if status in _BUSY or status >= 500:
            wait_s = float(retry_after) if retry_after.strip().isdecimal() else None
            raise FaultError(f"the server reports status {status}", wait_s)
        if status != 200:
            raise self._hopeless(*_why(status))
        if len(answer) > _MOST_BYTES:
            raise FaultError("the answer is too long")
        return _content(answer)

    def _exchange(self, body: bytes) -> tuple[int, str, bytes]:
        """Return status, Retry-After and body; a timer ends it, since timeouts begin anew with each byte."""
        connection, start = self.connect(), time.monotonic()
        link, found, problem = connection.sock, None, ""
        clock = threading.Timer(self._timeout_s, _cut, [link])
        clock.daemon = True
        self._open.add(link)
        try:
            clock.start()
            if self._stopped.is_set():
                raise FaultError("stopped")
            connection.request("POST", self._endpoint.path, body, self._headers)
            response = connection.getresponse()
            found = response.status, response.getheader("Retry-After", ""), response.read(_MOST_BYTES + 1)
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = f"the answer breaks off ({type(error).__name__})"
        finally:
            clock.cancel()
            self._open.discard(link)
            connection.close()
        if time.monotonic() - start >= self._timeout_s:
            raise FaultError(f"an answer takes longer than {self._timeout_s:g} s (--llm-timeout)")
        if found is None:
            raise FaultError(problem)
        return found

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


def _content(body: bytes) -> str:
    """Return the message of a chat completion; "" for one without text, such as a refusal."""
    try:
        message = json.loads(body)["choices"][0]["message"]
        content = message["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise FaultError("the answer is no chat completion") from None
    return content if isinstance(content, str) else ""


# ---- the cache


def default_folder() -> Path:
    """Return the user's cache folder on this system."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / _APP / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / _APP
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path.home() / ".cache") / _APP


class AnswerCache:
    """A file of answers that survives being killed and can be shared by processes.

    A line has one answer and is written in one call. A line that is cut off is ignored.

    Parameters
    ----------
    path : Path or None
        The file; created with its folder, readable by the user alone. None: answers are kept in memory alone.

    Raises
    ------
    BadOptionError
        The file or its folder cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.Lock()
        self._file: io.BytesIO | io.FileIO = io.BytesIO()
        self._answers: dict[str, tuple[str, ...]] = {}
        if path is None:
            return
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = io.FileIO(str(path), "a+", opener=lambda name, flags: os.open(name, flags, 0o600))
            self._answers = self._read()
        except OSError as error:
            problem = f"{path.parent} cannot be written ({error.strerror or type(error).__name__})"
            raise BadOptionError("--llm-cache", problem, "Name another folder") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def get(self, key: str) -> tuple[str, ...] | None:
        """Return the codes of a question, or None where it is not in the cache."""
        return self._answers.get(key)

    def put(self, key: str, codes: tuple[str, ...]) -> None:
        """Store an answer; the first one to a question stays."""
        line = json.dumps({"key": key, "codes": codes}).encode() + b"\n"
        with self._lock:
            if key not in self._answers:
                self._answers[key] = codes
                self._file.write(line)

    def _read(self) -> dict[str, tuple[str, ...]]:
        self._file.seek(0)
        data = self._file.read()
        if data and not data.endswith(b"\n"):
            self._file.write(b"\n")
        answers: dict[str, tuple[str, ...]] = {}
        for line in data.splitlines():
            answer = _answer(line)
            if answer is not None:
                answers.setdefault(*answer)
        return answers


def _answer(line: bytes) -> tuple[str, tuple[str, ...]] | None:
    try:
        entry = json.loads(line)
        key, codes = entry["key"], entry["codes"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(key, str) or not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        return None
    return key, tuple(codes)
