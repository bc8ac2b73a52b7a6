"""LangChain on Loci: the message history of a chat, from which Loci learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, message_to_dict, messages_from_dict

from ._async.client import AsyncMemory
from ._history import History
from ._steps import ClientPair
from ._sync.client import Memory

__all__ = ["LociChatMessageHistory"]


class LociChatMessageHistory(BaseChatMessageHistory):
    """Keeps the messages of one chat.

        history = LociChatMessageHistory("monday")
        history.add_user_message("My sister Bea plays the cello")
        history.add_messages([model.invoke(history.messages)])

    Messages are kept as they are. What people and models said is also stored as turns of the session, from which Loci learns
    when it has ended: see `end`.
    """

    def __init__(self, session_id: str, memory: Memory | AsyncMemory | None = None, *, learn: bool = True) -> None:
        """Makes a history.

        Args:
            session_id: The name of the chat.
            memory: Whose chat it is, and on which server. Default: `Memory()`.
            learn: Whether Loci learns from what is said.
        """
        self.session_id = session_id
        self._clients = ClientPair(memory)
        self._history = History(session_id, learn)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages, the oldest first."""
        return messages_from_dict(self._clients.run(self._history.messages()))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Adds messages."""
        self._clients.run(self._history.add(*_split(messages)))

    def clear(self) -> None:
        """Removes all messages. What was learned from them stays."""
        self._clients.run(self._history.clear())

    def end(self) -> None:
        """Ends the chat, so that Loci learns from it now instead of after a day of silence. The messages stay."""
        self._clients.run(self._history.end())

    async def aget_messages(self) -> list[BaseMessage]:
        """`messages`, asynchronously."""
        return messages_from_dict(await self._clients.arun(self._history.messages()))

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """`add_messages`, asynchronously."""
        await self._clients.arun(self._history.add(*_split(messages)))

    async def aclear(self) -> None:
        """`clear`, asynchronously."""
        await self._clients.arun(self._history.clear())

    async def aend(self) -> None:
        """`end`, asynchronously."""
        await self._clients.arun(self._history.end())


def _split(messages: Sequence[BaseMessage]) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """The messages as JSON, and what was said in them."""
    turns = []
    for message in messages:
        if isinstance(message, HumanMessage):
            turns.append(("user", str(message.text)))
        elif isinstance(message, AIMessage):
            turns.append(("assistant", str(message.text)))
    return [message_to_dict(message) for message in messages], turns
