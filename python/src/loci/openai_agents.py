"""The OpenAI Agents SDK on Loci: a session, from which Loci learns."""

from __future__ import annotations

from typing import Any, cast

from agents.items import TResponseInputItem
from agents.memory.session_settings import SessionSettings

from ._async.client import AsyncMemory
from ._history import History
from ._steps import ClientPair
from ._sync.client import Memory

__all__ = ["LociSession"]


class LociSession:
    """Keeps the items of one conversation.

        await Runner.run(agent, "My sister Bea plays the cello", session=LociSession("monday", memory))

    Items are kept as they are. What people and agents said is also stored as turns of the session, from which Loci learns
    when it has ended: see `end_session`.
    """

    session_settings: SessionSettings | None = None

    def __init__(
        self,
        session_id: str,
        memory: Memory | AsyncMemory | None = None,
        *,
        learn: bool = True,
        session_settings: SessionSettings | None = None,
    ) -> None:
        """Makes a session.

        Args:
            session_id: The name of the conversation.
            memory: Whose conversation it is, and on which server. Default: `Memory()`.
            learn: Whether Loci learns from what is said.
            session_settings: Settings of the SDK, such as the number of items that an agent is given.
        """
        self.session_id = session_id
        self.session_settings = session_settings
        self._clients = ClientPair(memory)
        self._history = History(session_id, learn)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The latest items, or all, the oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return await self._clients.arun(self._history.messages(limit))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items."""
        turns = [turn for item in items if (turn := _turn(cast("dict[str, Any]", item))) is not None]
        await self._clients.arun(self._history.add(items, turns))

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the latest item and returns it."""
        return cast("TResponseInputItem | None", await self._clients.arun(self._history.pop()))

    async def clear_session(self) -> None:
        """Removes all items. What was learned from them stays."""
        await self._clients.arun(self._history.clear())

    async def end_session(self) -> None:
        """Ends the conversation, so that Loci learns from it now instead of after a day of silence. The items stay."""
        await self._clients.arun(self._history.end())


def _turn(item: dict[str, Any]) -> tuple[str, str] | None:
    """Role and text of an item that is a message of a person or an agent."""
    role, content = item.get("role"), item.get("content")
    if role not in ("user", "assistant"):
        return None
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))
    return (role, content) if isinstance(content, str) else None
