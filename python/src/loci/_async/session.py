"""One conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .._context import Context
from .._scope import segment
from .._turns import TurnInput
from ..models import ConsolidationReport, Format, IngestedTurns, MemoryFilter, RecallAnswer, SessionRecord, SessionWrite

if TYPE_CHECKING:
    from .client import AsyncMemory


class AsyncSession:
    """A conversation, which Loci learns from when it has ended.

    As a context manager it ends when the block is left, if anything was added in it.
    """

    def __init__(self, memory: AsyncMemory, id: str, thread: str) -> None:
        self._memory = memory
        self._path = f"/v1/sessions/{segment('session', id)}"
        self._added = False
        self.id = id
        self.thread = thread

    async def add(
        self,
        role: str,
        content: str,
        *,
        actor: str | None = None,
        event_time: datetime | date | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> IngestedTurns:
        """Stores one turn. `actor` is the person or agent that said it."""
        fields = {"role": role, "content": content, "actor_id": actor, "event_time": event_time, "metadata": metadata}
        turn = {name: value for name, value in fields.items() if value is not None}
        return await self.add_turns([turn], idempotency_key=idempotency_key)

    async def add_turns(self, turns: Iterable[TurnInput], *, idempotency_key: str | None = None) -> IngestedTurns:
        """Stores turns, oldest first. No model is called."""
        written = await self._memory.ingest(turns, session=self.id, thread=self.thread, idempotency_key=idempotency_key)
        self._added = True
        return written

    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        filter: MemoryFilter | Mapping[str, Any] | None = None,
        threshold: float | None = None,
        fields: Sequence[str] | None = None,
    ) -> RecallAnswer:
        """Finds memories for an answer in this conversation. What it repeats of them is not learned from it again."""
        return await self._memory.recall(
            query, limit=limit, filter=filter, threshold=threshold, fields=fields, thread=self.thread
        )

    async def context(
        self,
        query: str,
        *,
        budget_tokens: int | None = None,
        format: Format | None = None,
        limit: int | None = None,
        filter: MemoryFilter | Mapping[str, Any] | None = None,
        after_revision: int | None = None,
    ) -> Context:
        """The same as a text for a prompt. With `after_revision` it begins with what has changed since that revision."""
        return await self._memory.context(
            query,
            budget_tokens=budget_tokens,
            format=format,
            limit=limit,
            filter=filter,
            thread=self.thread,
            after_revision=after_revision,
        )

    async def get(self) -> SessionRecord:
        """Reads the session."""
        return await self._memory._caller.get(SessionRecord, self._path)

    async def end(self, *, idempotency_key: str | None = None) -> SessionWrite:
        """Ends the session. The server then learns from it in the background."""
        return await self._memory._caller.write(SessionWrite, "POST", f"{self._path}/end", {}, idempotency_key)

    async def learn(self, *, again: bool = True, idempotency_key: str | None = None) -> ConsolidationReport:
        """Learns from the session now and reports what was learned, whether it has ended or not.

        With `again` learning starts at the first turn, also if it was learned from before.
        """
        fields = {"wait": True, "again": again}
        path = f"{self._path}/learn"
        return await self._memory._caller.write(ConsolidationReport, "POST", path, fields, idempotency_key)

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._added:
            await self.end()
