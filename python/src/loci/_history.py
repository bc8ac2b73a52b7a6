"""The history of a conversation, for frameworks that keep a list of messages.

Messages are kept as they are, in checkpoints of a thread. What people and agents said in them is also stored as turns of a
session, from which Loci learns when the session has ended.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from ._scope import segment
from ._steps import Call, Steps
from .errors import NotFoundError

# Number of entries that one request fetches.
_PAGE = 50


class History:
    """The requests of one conversation."""

    def __init__(self, session: str, learn: bool) -> None:
        # The name keeps apart a conversation and a graph of LangGraph whose threads are named alike.
        self._thread = f"/v1/threads/{segment('session_id', f'chat:{session}')}"
        self._session = f"/v1/sessions/{segment('session_id', session)}"
        self._id = session
        self._learn = learn

    def add(self, messages: Sequence[Any], turns: Sequence[tuple[str, str]]) -> Steps[None]:
        """Adds messages, which are JSON, in one entry. `turns` are role and text of those that Loci may learn from."""
        if not messages:
            return
        fields = {"id": uuid.uuid4().hex, "data": list(messages)}
        yield Call("POST", f"{self._thread}/checkpoints", fields, writes=True)
        said = [{"role": role, "content": text, "threadId": self._id} for role, text in turns if text.strip()]
        if said and self._learn:
            yield Call("POST", f"{self._session}/turns", {"turns": said}, writes=True)

    def messages(self, limit: int | None = None) -> Steps[list[Any]]:
        """The newest messages, or all, the oldest first."""
        newest_first: list[Any] = []
        cursor: str | None = None
        while limit is None or len(newest_first) < limit:
            fields = {"includeData": True, "limit": _PAGE, "cursor": cursor}
            page = yield Call("GET", f"{self._thread}/checkpoints", fields)
            for entry in page["data"]:
                newest_first.extend(reversed(entry["data"]))
            cursor = page["nextCursor"]
            if cursor is None:
                break
        return newest_first[:limit][::-1]

    def pop(self) -> Steps[Any]:
        """Removes the newest message and returns it; None if there is none."""
        try:
            entry = yield Call("GET", self._thread)
        except NotFoundError:
            return None
        *rest, last = entry["data"]
        if rest:
            fields = {"id": entry["id"], "data": rest, "replace": True}
            yield Call("POST", f"{self._thread}/checkpoints", fields, writes=True)
        else:
            path = f"{self._thread}/checkpoints/{segment('id', entry['id'])}"
            yield Call("DELETE", path, {"namespace": ""}, writes=True)
        return last

    def clear(self) -> Steps[None]:
        """Removes all messages. What was learned from them stays."""
        try:
            yield Call("DELETE", self._thread, writes=True)
        except NotFoundError:
            return

    def end(self) -> Steps[None]:
        """Ends the session, so that Loci learns from it. The messages stay."""
        try:
            yield Call("POST", f"{self._session}/end", writes=True)
        except NotFoundError:
            # Nothing was said in it.
            return
