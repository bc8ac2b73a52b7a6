# Generated from _async/ by scripts/generate.py; do not edit.
"""Requests about the memory of one scope: puts identifiers where an operation expects them, and makes objects of answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from .._model import Model
from .._page import Page
from .._request import Request
from .._scope import Scope, idempotency
from .http import Http
from .pages import Pages

M = TypeVar("M", bound=Model)


class Caller:
    """Sends the requests of one client."""

    def __init__(self, http: Http, scope: Scope) -> None:
        self.http = http
        self.scope = scope

    def within(self, changes: Mapping[str, str | None]) -> Caller:
        """The same with other identifiers."""
        return Caller(self.http, self.scope.overlay(changes)) if changes else self

    def identifiers(self) -> dict[str, str]:
        """The identifiers of a request."""
        connection = self.http.connection()
        return self.scope.with_defaults(connection.defaults)

    def query(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The query parameters of fields and scope."""
        return {**fields, **self.identifiers(), "everyone": self.scope.everyone or None}

    def body(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The body of fields and scope."""
        everyone = {"everyone": True} if self.scope.everyone else {}
        return {**fields, "identifiers": self.identifiers(), **everyone}

    def call(self, method: str, path: str, fields: Mapping[str, Any], writes: bool) -> Any:
        """Any request within the scope. Returns its JSON."""
        headers = idempotency(None) if writes else {}
        if method in ("GET", "DELETE"):
            return self.http.json(Request(method, path, self.query(fields), headers=headers))
        return self.http.json(Request(method, path, body=self.body(fields), headers=headers))

    def get(self, model: type[M], path: str, fields: Mapping[str, Any] | None = None) -> M:
        """A request without a body."""
        request = Request("GET", path, self.query(fields or {}))
        return request.read(model.from_json, self.http.json(request))

    def ask(self, model: type[M], path: str, fields: Mapping[str, Any]) -> M:
        """A request that reads by POST."""
        request = Request("POST", path, body=self.body(fields))
        return request.read(model.from_json, self.http.json(request))

    def write(self, model: type[M], method: str, path: str, fields: Mapping[str, Any], idempotency_key: str | None) -> M:
        """A request that writes, with a body."""
        request = Request(method, path, body=self.body(fields), headers=idempotency(idempotency_key))
        return request.read(model.from_json, self.http.json(request))

    def delete(
        self, path: str, fields: Mapping[str, Any], headers: Mapping[str, str], idempotency_key: str | None
    ) -> None:
        """A request that deletes."""
        headers = {**headers, **idempotency(idempotency_key)}
        self.http.json(Request("DELETE", path, self.query(fields), headers=headers))

    def pages(self, model: type[M], path: str, fields: Mapping[str, Any]) -> Pages[M]:
        """A list in pages."""

        def fetch(cursor: str | None) -> Page[M]:
            request = Request("GET", path, self.query({**fields, "cursor": cursor}))
            return request.read(page_of, self.http.json(request))

        def page_of(answer: Any) -> Page[M]:
            return Page([model.from_json(entry) for entry in answer["data"]], answer.get("nextCursor"))

        return Pages(fetch)
