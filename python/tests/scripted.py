"""A stand-in for a server: it answers over real HTTP by a script, one step for each request."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    """A request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: str
    at: float
    """Seconds on a clock that only goes forward."""

    def json(self) -> Any:
        return json.loads(self.body)


class Handler(BaseHTTPRequestHandler):
    """Hands each request to the next step."""

    protocol_version = "HTTP/1.1"
    server: Scripted

    def handle_one(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, headers, body, time.monotonic())
        with self.server.lock:
            self.server.seen.append(seen)
            # The last step is repeated.
            step = self.server.steps.pop(0) if len(self.server.steps) > 1 else self.server.steps[0]
        step(self)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = handle_one  # noqa: N815

    def send(self, body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        """Sends a whole answer."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing."""


Step = Callable[[Handler], None]


class Scripted(ThreadingHTTPServer):
    """A server that is running, and what it was asked."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, steps: list[Step]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.steps = steps
        self.seen: list[Seen] = []
        self.lock = threading.Lock()
        self.finished = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of connections that a client has left."""


@contextlib.contextmanager
def scripted(*steps: Step) -> Iterator[Scripted]:
    """A scripted server for a test."""
    server = Scripted(list(steps))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.finished.set()
        server.shutdown()
        thread.join()
        server.server_close()


def answer(body: Any, status: int = 200, **headers: str) -> Step:
    """Answers with JSON."""
    return lambda handler: handler.send(b"" if body is None else json.dumps(body).encode(), status, **headers)


def text(body: str, status: int = 200, kind: str = "text/html", **headers: str) -> Step:
    """Answers with a text."""
    return lambda handler: handler.send(body.encode(), status, kind, **headers)


def problem(code: str, status: int, retryable: bool, **headers: str) -> Step:
    """Answers with a problem document."""
    body = {
        "type": "about:blank",
        "title": code,
        "status": status,
        "code": code,
        "detail": f"{code} happened",
        "instance": "r-1",
        "operation": "testIt",
        "details": {"field": "content"},
        "retryable": retryable,
        "hint": "try again",
    }
    return lambda handler: handler.send(json.dumps(body).encode(), status, "application/problem+json", **headers)


def hang_up(handler: Handler) -> None:
    """Breaks the connection without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def silence(handler: Handler) -> None:
    """Never answers."""
    handler.close_connection = True
    handler.server.finished.wait()
