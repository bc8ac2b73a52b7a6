"""Requests about the memory of one scope: puts identifiers where an operation expects them, and makes objects of answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from .._model import Model
from .._page import Page
from .._request import Request
from .._scope import Scope, idempotency
from .http import AsyncHttp
from .pages import AsyncPages

M = TypeVar("M", bound=Model)


class AsyncCaller:
    """Sends the requests of one client."""

    def __init__(self, http: AsyncHttp, scope: Scope) -> None:
        self.http = http
        self.scope = scope

    def within(self, changes: Mapping[str, str | None]) -> AsyncCaller:
        """The same with other identifiers."""
        return AsyncCaller(self.http, self.scope.overlay(changes)) if changes else self

    async def identifiers(self) -> dict[str, str]:
        """The identifiers of a request."""
        connection = await self.http.connection()
        return self.scope.with_defaults(connection.defaults)

    async def query(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The query parameters of fields and scope."""
        return {**fields, **await self.identifiers(), "everyone": self.scope.everyone or None}

    async def body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The body of fields and scope."""
        everyone = {"everyone": True} if self.scope.everyone else {}
        return {**fields, "identifiers": await self.identifiers(), **everyone}

    async def call(self, method: str, path: str, fields: Mapping[str, Any], writes: bool) -> Any:
        """Any request within the scope. Returns its JSON."""
        headers = idempotency(None) if writes else {}
        if method in ("GET", "DELETE"):
            return await self.http.json(Request(method, path, await self.query(fields), headers=headers))
        return await self.http.json(Request(method, path, body=await self.body(fields), headers=headers))

    async def get(self, model: type[M], path: str, fields: Mapping[str, Any] | None = None) -> M:
        """A request without a body."""
        request = Request("GET", path, await self.query(fields or {}))
        return request.read(model.from_json, await self.http.json(request))

    async def ask(self, model: type[M], path: str, fields: Mapping[str, Any]) -> M:
        """A request that reads by POST."""
        request = Request("POST", path, body=await self.body(fields))
        return request.read(model.from_json, await self.http.json(request))

    async def write(self, model: type[M], method: str, path: str, fields: Mapping[str, Any], idempotency_key: str | None) -> M:
        """A request that writes, with a body."""
        request = Request(method, path, body=await self.body(fields), headers=idempotency(idempotency_key))
        return request.read(model.from_json, await self.http.json(request))

    async def delete(
        self, path: str, fields: Mapping[str, Any], headers: Mapping[str, str], idempotency_key: str | None
    ) -> None:
        """A request that deletes."""
        headers = {**headers, **idempotency(idempotency_key)}
        await self.http.json(Request("DELETE", path, await self.query(fields), headers=headers))

    def pages(self, model: type[M], path: str, fields: Mapping[str, Any]) -> AsyncPages[M]:
        """A list in pages."""

        async def fetch(cursor: str | None) -> Page[M]:
            request = Request("GET", path, await self.query({**fields, "cursor": cursor}))
            return request.read(page_of, await self.http.json(request))

        def page_of(answer: Any) -> Page[M]:
            return Page([model.from_json(entry) for entry in answer["data"]], answer.get("nextCursor"))

        return AsyncPages(fetch)
