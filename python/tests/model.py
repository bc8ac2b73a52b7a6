"""A stand-in for a language model: an OpenAI-compatible server that answers by a script, over real HTTP."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from scripted import Scripted, Step, answer, scripted


def says(text: str) -> Step:
    """The model answers with a text."""
    return _choice({"content": text}, "stop")


def calls(name: str, arguments: str) -> Step:
    """The model calls a tool."""
    call = {"id": f"call-{name}", "type": "function", "function": {"name": name, "arguments": arguments}}
    return _choice({"tool_calls": [call]}, "tool_calls")


def _choice(message: dict[str, Any], reason: str) -> Step:
    whole = {"role": "assistant", "content": None, **message}
    choice = {"index": 0, "message": whole, "finish_reason": reason}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice], "usage": usage}
    return answer(body)


@contextlib.contextmanager
def scripted_model(*steps: Step) -> Iterator[Scripted]:
    """The stand-in. What it was asked is in `seen`."""
    with scripted(*steps) as server:
        yield server


def prompts(model: Scripted) -> list[list[dict[str, Any]]]:
    """The messages of each request."""
    return [seen.json()["messages"] for seen in model.seen]
