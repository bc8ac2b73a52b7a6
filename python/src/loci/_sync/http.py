# Generated from _async/ by scripts/generate.py; do not edit.
"""Requests over httpx: address, headers, deadlines, failures and retries. Knows nothing of single operations."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from .._connection import Connection, Endpoint
from .._options import Options
from .._request import Request
from ..errors import LociError, ServerConnectionError, ServerTimeoutError, error_from_response
from .runtime import ClientPool, in_thread, new_client, sleep


class Http:
    """Sends requests to the server of an endpoint."""

    def __init__(self, endpoint: Endpoint, options: Options) -> None:
        self.endpoint = endpoint
        self.options = options
        self._closed = False
        verify: ssl.SSLContext | bool = ssl.create_default_context(cafile=options.ca) if options.ca else True
        # A proxy of the environment has no business with a server of this machine, nor with its key.
        trust_env = not endpoint.is_local
        self._pool = ClientPool(lambda: new_client(verify, trust_env))

    def close(self) -> None:
        """Closes connections and ends the use of the server."""
        self._closed = True
        self._pool.close()
        self.endpoint.close()

    def connection(self) -> Connection:
        """The server, which may have to be started."""
        if self._closed:
            raise RuntimeError("this client is closed")
        connection = self.endpoint.current()
        return in_thread(self.endpoint.connect) if connection is None else connection

    def json(self, request: Request) -> Any:
        """Sends a request, repeats it where that helps, and returns its JSON; None if the answer has no body."""
        attempt = 0
        while True:
            attempt += 1
            try:
                with self.send(request) as response:
                    response.read()
                return request.parse(str(response.url), response.status_code, response.text)
            except LociError as error:
                retry = self.options.retry
                if not error.retryable or attempt >= retry.attempts:
                    raise
                sleep(retry.wait_after(attempt, error.retry_after))

    @contextmanager
    def send(self, request: Request, *, silence: float | None = None) -> Iterator[httpx.Response]:
        """Sends a request once and gives the response as soon as its head is there.

        `silence` is the number of seconds without a byte after which the connection counts as broken; by default that of
        the client.
        """
        connection = self.connection()
        headers = {"Accept": "application/json", **connection.headers, **self.options.headers, **request.headers}
        content = None
        if request.body is not None:
            content = json.dumps(request.body, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        silence = self.options.timeout if silence is None else silence
        try:
            with self._pool.get().stream(
                request.method,
                f"{connection.url}/{request.path.removeprefix('/')}",
                params=request.parameters(),
                content=content,
                headers=headers,
                timeout=httpx.Timeout(self.options.timeout, read=silence),
                follow_redirects=False,
            ) as response:
                if not request.accepts(response):
                    response.read()
                    after = response.headers.get("Retry-After")
                    status, reason = response.status_code, response.reason_phrase
                    raise error_from_response(status, reason, response.text, after, request.operation, time.time())
                yield response
        except httpx.TimeoutException as error:
            self.endpoint.report_lost(connection)
            detail = f"no answer from {connection.url} within {silence:g} seconds"
            raise ServerTimeoutError("TIMEOUT", detail, operation=request.operation, retryable=True) from error
        except httpx.HTTPError as error:
            self.endpoint.report_lost(connection)
            raise ServerConnectionError(
                "CONNECTION_FAILED",
                f"no answer from {connection.url}: {str(error) or type(error).__name__}",
                operation=request.operation,
                retryable=True,
                hint="is the server running, and is the url right?",
            ) from error
