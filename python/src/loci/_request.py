"""One request and its answer, apart from how they are sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from .errors import LociError

T = TypeVar("T")


@dataclass
class Request:
    """One request."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    accept: int | None = None
    """A status that is an answer although it says failure."""

    @property
    def operation(self) -> str:
        """The name of the request in errors that the server did not name."""
        return f"{self.method} {self.path}"

    def accepts(self, response: httpx.Response) -> bool:
        """Whether a response is an answer."""
        # A problem document, or the page of a proxy, is not the answer that `accept` is about.
        is_json = response.headers.get("Content-Type", "").split(";")[0].strip() == "application/json"
        return response.is_success or (response.status_code == self.accept and is_json)

    def parameters(self) -> dict[str, str]:
        """The query parameters as texts. Lists are joined by commas; None is left out."""
        return {name: _text(value) for name, value in self.query.items() if value is not None}

    def parse(self, url: str, status: int, text: str) -> Any:
        """The JSON of an answer; None if it has no body."""
        try:
            return json.loads(text) if text else None
        except ValueError as error:
            detail = f"the answer is not JSON; is {url} the address of Loci? It begins with {text[:60]!r}"
            raise LociError("INVALID_RESPONSE", detail, status=status, operation=self.operation) from error

    def read(self, convert: Callable[[Any], T], answer: Any) -> T:
        """Makes an object of the JSON of an answer."""
        try:
            return convert(answer)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            detail = f"the answer has another shape than this client expects ({error}); is the server older or newer?"
            raise LociError("INVALID_RESPONSE", detail, operation=self.operation) from error


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(_text(part) for part in value)
    return json.dumps(value) if isinstance(value, dict) else str(value)
