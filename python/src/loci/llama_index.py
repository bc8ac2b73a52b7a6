"""LlamaIndex on Loci: long-term memory as a block of its `Memory`."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock

from ._async.client import AsyncMemory
from ._steps import ClientPair
from ._sync.client import Memory

__all__ = ["LociMemoryBlock"]

_ROLES = {MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant", MessageRole.CHATBOT: "assistant"}


class LociMemoryBlock(BaseMemoryBlock[str]):
    """Gives an agent what Loci knows of its question, and stores the messages that leave its short-term memory.

        memory = Memory.from_defaults(session_id="monday", memory_blocks=[LociMemoryBlock(loci.Memory())])

    Messages are stored as turns of the session of LlamaIndex, from which Loci learns when it has ended.
    """

    name: str = Field(default="long_term_memory", description="The name of the memory block.")
    budget_tokens: int = Field(default=1000, description="Maximum number of tokens of the text.")
    session: str = Field(default="llama-index", description="The session of messages that name none.")

    _clients: ClientPair = PrivateAttr()

    def __init__(self, memory: Memory | AsyncMemory | None = None, **fields: Any) -> None:
        """Makes a block.

        Args:
            memory: Whose memory it is, and on which server. Default: `Memory()`.
            fields: The other fields: `budget_tokens`, `session`, and those of every block.
        """
        super().__init__(**fields)
        self._clients = ClientPair(memory)

    async def _aget(self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any) -> str:
        asked = [message.content for message in messages or [] if message.role == MessageRole.USER and message.content]
        if not asked:
            return ""
        memory = self._clients.asynchronous
        # The question may be longer than a query can be.
        context = await memory.context(asked[-1][:8000], budget_tokens=self.budget_tokens, thread=session_id)
        return context.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        sessions: dict[str, list[tuple[str, str]]] = {}
        for message in messages:
            role, text = _ROLES.get(message.role), message.content
            if role is not None and text and text.strip():
                session = message.additional_kwargs.get("session_id") or self.session
                sessions.setdefault(session, []).append((role, text))
        for session, turns in sessions.items():
            await self._clients.asynchronous.ingest(turns, session=session)
