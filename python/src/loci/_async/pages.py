"""Lists that come in pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Generic, TypeVar

from .._page import Page

T = TypeVar("T")


class AsyncPages(Generic[T]):
    """A list that is fetched page by page while it is read. Reading it again starts again."""

    def __init__(self, fetch: Callable[[str | None], Awaitable[Page[T]]]) -> None:
        self._fetch = fetch

    async def page(self, cursor: str | None = None) -> Page[T]:
        """One page: the first one, or the one at `cursor`."""
        return await self._fetch(cursor)

    async def pages(self) -> AsyncIterator[Page[T]]:
        """The pages, one after the other."""
        cursor: str | None = None
        while True:
            page = await self._fetch(cursor)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for entry in page.data:
                yield entry

    async def to_list(self, limit: int | None = None) -> list[T]:
        """The first `limit` entries. Default: all."""
        entries: list[T] = []
        cursor: str | None = None
        while limit is None or len(entries) < limit:
            page = await self._fetch(cursor)
            entries.extend(page.data)
            cursor = page.next_cursor
            if cursor is None:
                break
        return entries if limit is None else entries[: max(limit, 0)]
