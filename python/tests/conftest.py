"""What tests share: one server for those that need an ordinary one, and a user of their own for each."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator

import pytest
from server import Server

from loci import AsyncMemory, Memory

_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test depends on the settings of the machine."""
    for name in ("LOCI_SERVER", "LOCI_KEY", "LOCI_DATA", "LOCI_CONFIG", "LOCI_CA", "LOCI_USER"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.remove()


@pytest.fixture
def user() -> str:
    """A user that no other test has."""
    return f"user-{next(_numbers)}"


@pytest.fixture
def memory(server: Server, user: str) -> Iterator[Memory]:
    with Memory(url=server.url, user=user) as memory:
        yield memory


@pytest.fixture
async def async_memory(server: Server, user: str) -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory(url=server.url, user=user) as memory:
        yield memory


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
