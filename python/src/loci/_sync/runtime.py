"""What the synchronous client does in another way than the asynchronous one."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import httpx

P = ParamSpec("P")
T = TypeVar("T")

sleep = time.sleep


def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs a function in the thread of the caller, which waits for it anyway."""
    return function(*args, **kwargs)


class ClientPool:
    """The HTTP client of this process. Connections do not survive a fork."""

    def __init__(self, make: Callable[[], httpx.Client]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._client: httpx.Client | None = None

    def get(self) -> httpx.Client:
        """The client. One of the parent process is left to it."""
        if self._owner != os.getpid():
            self._lock, self._owner, self._client = threading.Lock(), os.getpid(), None
        with self._lock:
            if self._client is None:
                self._client = self._make()
                # A client that nobody closes is closed with this pool.
                weakref.finalize(self, _close_own, self._client, self._owner)
            return self._client

    def close(self) -> None:
        """Closes the client."""
        client, self._client = self._client, None
        if client is not None:
            _close_own(client, self._owner)


def _close_own(client: httpx.Client, owner: int) -> None:
    if owner == os.getpid():
        client.close()


def new_client(verify: object, trust_env: bool) -> httpx.Client:
    """A client of httpx."""
    return httpx.Client(verify=verify, trust_env=trust_env)  # type: ignore[arg-type]
