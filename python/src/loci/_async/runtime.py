"""What the asynchronous client does in another way than the synchronous one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import httpx

sleep = asyncio.sleep
in_thread = asyncio.to_thread


class AsyncClientPool:
    """The HTTP client of the running event loop. Connections belong to one loop and to one process."""

    def __init__(self, make: Callable[[], httpx.AsyncClient]) -> None:
        self._make = make
        self._owner: tuple[object, int] | None = None
        self._client: httpx.AsyncClient | None = None

    def get(self) -> httpx.AsyncClient:
        """The client. One of another loop or process is left to that."""
        owner = (asyncio.get_running_loop(), os.getpid())
        if self._client is None or self._owner != owner:
            self._client, self._owner = self._make(), owner
        return self._client

    async def aclose(self) -> None:
        """Closes the client, if it is one of the running loop."""
        client, self._client = self._client, None
        if client is not None and self._owner == (asyncio.get_running_loop(), os.getpid()):
            await client.aclose()


def new_client(verify: object, trust_env: bool) -> httpx.AsyncClient:
    """A client of httpx."""
    return httpx.AsyncClient(verify=verify, trust_env=trust_env)  # type: ignore[arg-type]
