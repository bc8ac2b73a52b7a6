"""Turns of a conversation, in the forms that they are given in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from ._model import camel_case, to_wire
from .models import Turn

TurnInput: TypeAlias = "Turn | Mapping[str, Any] | tuple[str, str]"
"""A turn: a `Turn`, a mapping with its fields, or role and content."""


def turns_to_wire(turns: Iterable[TurnInput], session: str | None, thread: str | None) -> list[dict[str, Any]]:
    """The turns as JSON. One without a thread belongs to `thread`, else to a thread named as the session."""
    return [_with_thread(_turn(turn), thread or session) for turn in turns]


def _turn(turn: TurnInput) -> dict[str, Any]:
    if isinstance(turn, Turn):
        return turn.to_json()
    if isinstance(turn, Mapping):
        return {camel_case(name): to_wire(value) for name, value in turn.items()}
    if isinstance(turn, tuple) and len(turn) == 2:
        role, content = turn
        return {"role": role, "content": content}
    raise TypeError(f"a turn must be a Turn, a mapping or (role, content), not {turn!r}")


def _with_thread(turn: dict[str, Any], thread: str | None) -> dict[str, Any]:
    if turn.get("threadId") is None:
        if thread is None:
            raise ValueError("a turn needs a thread: give `thread`, `session`, or `thread_id` of the turn")
        turn["threadId"] = thread
    return turn
