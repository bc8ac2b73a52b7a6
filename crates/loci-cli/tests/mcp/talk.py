"""How do the scripts reach the server?

A script is given one JSON object: either `command` (with `env`) for the standard streams, or `url`
(with `key`) for HTTP; `mode` is how the client agrees on a version.
"""

import asyncio
import contextlib
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

GIVEN = json.loads(sys.argv[1])


@contextlib.asynccontextmanager
async def client(**changed):
    given = {**GIVEN, **changed}
    mode = given.get("mode", "auto")
    if "command" in given:
        command, *arguments = given["command"]
        server = StdioServerParameters(command=command, args=arguments, env=given["env"])
        async with Client(server, mode=mode) as open_client:
            yield open_client
        return
    headers = {"Authorization": f"Bearer {given['key']}"} if given.get("key") else {}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with Client(streamable_http_client(given["url"], http_client=http), mode=mode) as open_client:
            yield open_client


def text(answer):
    return "\n".join(block.text for block in answer.content)


def good(answer):
    """What a call said; it must not have failed, and text and structure must both be there."""
    assert not answer.is_error, text(answer)
    assert answer.structured_content is not None and text(answer).strip(), answer
    return answer.structured_content


def failed(answer, code, field=None):
    """What a failed call said: the fields that every door has."""
    assert answer.is_error, answer
    content = answer.structured_content
    for name in ("code", "message", "operation", "details", "retryable"):
        assert name in content, content
    assert content["code"] == code, content
    if field is not None:
        assert content["details"].get("field") == field, content
    assert content["message"] in text(answer), answer
    return content


def run(main):
    asyncio.run(main())
    print("ok")
