# Generated from _async/ by scripts/generate.py; do not edit.
"""Lists that come in pages."""

from __future__ import annotations

from collections.abc import Iterator, Callable
from typing import Generic, TypeVar

from .._page import Page

T = TypeVar("T")


class Pages(Generic[T]):
    """A list that is fetched page by page while it is read. Reading it again starts again."""

    def __init__(self, fetch: Callable[[str | None], Page[T]]) -> None:
        self._fetch = fetch

    def page(self, cursor: str | None = None) -> Page[T]:
        """One page: the first one, or the one at `cursor`."""
        return self._fetch(cursor)

    def pages(self) -> Iterator[Page[T]]:
        """The pages, one after the other."""
        cursor: str | None = None
        while True:
            page = self._fetch(cursor)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            for entry in page.data:
                yield entry

    def to_list(self, limit: int | None = None) -> list[T]:
        """The first `limit` entries. Default: all."""
        entries: list[T] = []
        cursor: str | None = None
        while limit is None or len(entries) < limit:
            page = self._fetch(cursor)
            entries.extend(page.data)
            cursor = page.next_cursor
            if cursor is None:
                break
        return entries if limit is None else entries[: max(limit, 0)]
