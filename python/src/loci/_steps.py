"""Sequences of requests that adapters write once and run with either client.

A sequence is a generator: it yields a `Call` and is sent the JSON of the answer, or its error is raised there; it yields a
`Pause` to wait, and returns its result. One that is iterated over yields each `Result`, and its errors end it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from ._async.client import AsyncMemory
from ._async.http import AsyncHttp
from ._async.runtime import sleep as asynchronous_sleep
from ._sync.client import Memory
from ._sync.http import Http
from ._sync.runtime import sleep
from .errors import LociError

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Call:
    """One request within a scope."""

    method: str
    path: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The query parameters of GET and DELETE, and the fields of the body of other methods. None is left out."""
    writes: bool = False
    """Whether a repetition must be recognised."""
    nulls: bool = False
    """Whether None is sent instead of left out."""
    scope: Mapping[str, str | None] = field(default_factory=dict)
    """Identifiers that are laid over those of the client."""

    def sent(self) -> dict[str, Any]:
        """The fields that are sent."""
        return {name: value for name, value in self.fields.items() if self.nulls or value is not None}


@dataclass(frozen=True)
class Pause:
    """A wait."""

    seconds: float


@dataclass(frozen=True)
class Result(Generic[R]):
    """A result among others."""

    value: R


Steps: TypeAlias = Generator["Call | Pause", Any, T]
"""Requests with one result at the end."""
Stream: TypeAlias = Generator["Call | Pause | Result[R]", Any, None]
"""Requests with results on the way."""


class ClientPair:
    """The synchronous and the asynchronous client of the same scope and server."""

    def __init__(self, memory: Memory | AsyncMemory | None) -> None:
        self._owned = memory is None
        given = Memory() if memory is None else memory
        http, scope = given._http, given._caller.scope
        if isinstance(given, AsyncMemory):
            self.asynchronous = given
            self.synchronous = Memory._of(Http(http.endpoint, http.options), scope)
        else:
            self.synchronous = given
            self.asynchronous = AsyncMemory._of(AsyncHttp(http.endpoint, http.options), scope)

    def run(self, steps: Steps[T]) -> T:
        """Runs a sequence and returns its result."""
        advance = partial(next, steps)
        while True:
            try:
                step = advance()
            except StopIteration as end:
                result: T = end.value
                return result
            try:
                advance = partial(steps.send, self._do(step))
            except LociError as error:
                advance = partial(steps.throw, error)

    async def arun(self, steps: Steps[T]) -> T:
        """The same, asynchronously."""
        advance = partial(next, steps)
        while True:
            try:
                step = advance()
            except StopIteration as end:
                result: T = end.value
                return result
            try:
                advance = partial(steps.send, await self._ado(step))
            except LociError as error:
                advance = partial(steps.throw, error)

    def iterate(self, stream: Stream[R]) -> Iterator[R]:
        """Runs a sequence while its results are read."""
        step = next(stream, None)
        while step is not None:
            try:
                if isinstance(step, Result):
                    yield step.value
                    step = next(stream, None)
                else:
                    step = stream.send(self._do(step))
            except StopIteration:
                return

    async def aiterate(self, stream: Stream[R]) -> AsyncIterator[R]:
        """The same, asynchronously."""
        step = next(stream, None)
        while step is not None:
            try:
                if isinstance(step, Result):
                    yield step.value
                    step = next(stream, None)
                else:
                    step = stream.send(await self._ado(step))
            except StopIteration:
                return

    def close(self) -> None:
        """Closes the connections of the client that was made here; one that was given is left to its owner."""
        if self._owned:
            self.synchronous.close()

    def _do(self, step: Call | Pause) -> Any:
        if isinstance(step, Pause):
            return sleep(step.seconds)
        return self.synchronous._caller.within(step.scope).call(step.method, step.path, step.sent(), step.writes)

    async def _ado(self, step: Call | Pause) -> Any:
        if isinstance(step, Pause):
            return await asynchronous_sleep(step.seconds)
        caller = self.asynchronous._caller.within(step.scope)
        return await caller.call(step.method, step.path, step.sent(), step.writes)


def entries_of(call: Call, enough: Callable[[list[Any]], bool] = lambda _: False) -> Steps[list[Any]]:
    """The entries of a list that comes in pages, until there are enough."""
    entries: list[Any] = []
    cursor: str | None = None
    while True:
        page = yield replace(call, fields={**call.fields, "cursor": cursor})
        entries.extend(page["data"])
        cursor = page["nextCursor"]
        if cursor is None or enough(entries):
            return entries
