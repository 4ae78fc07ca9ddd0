"""A small server with OpenAI's chat interface and whatever fault a test wishes for."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from therapy_analytics.codes.weights import WEIGHTS

Request = dict[str, Any]
Behaviour = Callable[[BaseHTTPRequestHandler, Request], None]


def turn_of(request: Request) -> dict[str, str]:
    """Return the turn that a request asks about."""
    return json.loads(request["messages"][1]["content"])["turn"]


def codes_of(request: Request) -> list[str]:
    """Code a turn by rules that a test can foresee."""
    turn = turn_of(request)
    if turn["role"] == "therapist":
        return ["bolt_questions_on_experiences", "mi_question"] if "?" in turn["text"] else ["mi_reflection"]
    return ["mi_change"] if "want" in turn["text"] else []


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def envelope(content: str | None) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]}).encode()


def say(handler: BaseHTTPRequestHandler, content: str | None) -> None:
    send(handler, envelope(content))


def well(handler: BaseHTTPRequestHandler, request: Request) -> None:
    say(handler, json.dumps({"codes": codes_of(request)}))


def saying(content: str | None) -> Behaviour:
    return lambda handler, _: say(handler, content)


def failing(status: int, body: bytes = b"{}", **headers: str) -> Behaviour:
    return lambda handler, _: send(handler, body, status, **headers)


def first(*faults: Behaviour, then: Behaviour = well) -> Behaviour:
    """Misbehave once with each fault, whatever is asked, and then behave."""
    left, lock = list(faults), threading.Lock()

    def behave(handler: BaseHTTPRequestHandler, request: Request) -> None:
        with lock:
            act = left.pop(0) if left else then
        act(handler, request)

    return behave


@dataclass
class Fake:
    """The server: what it was asked, and how it behaves."""

    port: int = 0
    behave: Behaviour = field(default_factory=lambda: well)
    asked: list[Request] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    well = staticmethod(well)
    saying = staticmethod(saying)
    failing = staticmethod(failing)
    first = staticmethod(first)
    send = staticmethod(send)
    envelope = staticmethod(envelope)
    turn_of = staticmethod(turn_of)
    codes_of = staticmethod(codes_of)

    @property
    def texts(self) -> list[str]:
        return [turn_of(request)["text"] for request in self.asked]


def _handler(fake: Fake) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with fake.lock:
                fake.asked.append(request)
                fake.headers.append(dict(self.headers))
                fake.paths.append(self.path)
            with suppress(OSError):  # the other side has hung up
                fake.behave(self, request)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def fake() -> Iterator[Fake]:
    """Run a server in a thread."""
    fake = Fake()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = True
    server.block_on_close = False
    fake.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """Return a copy of the weights, to be broken."""
    return Path(shutil.copytree(WEIGHTS, tmp_path / "weights"))
