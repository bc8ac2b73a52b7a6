"""The event stream, on a real server and on a stand-in."""

from __future__ import annotations

import json

import pytest
from scripted import answer, problem, scripted, text
from server import Server

from loci import AsyncMemory, AuthenticationError, ChangeEvent, LociError, Memory, Retry
from loci._sse import EventParser

ITEM = {"space": "s", "sequence": 1, "createdAt": "2026-01-01T00:00:00Z", "event": "ADD", "reason": "r"}


def stream(*blocks: str) -> str:
    return "".join(f"{block}\n\n" for block in blocks)


def event(id: str, **fields: object) -> str:
    return f"id: {id}\nevent: ADD\ndata: {json.dumps({**ITEM, **fields})}"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_read_whatever_their_pieces(size: int) -> None:
    data = (
        ": comment\r\n\r\nid: 1\r\nevent: ADD\r\ndata: first\r\ndata:second\u2028line\r\n\r\n"
        "retry: 1500\rdata: ü\r\rid: \0\ndata\nunknown: x\n\ndata: unfinished\n"
    ).encode()
    parser = EventParser()
    events = [event for start in range(0, len(data), size) for event in parser.feed(data[start : start + size])]
    assert [(one.id, one.event, one.data, one.retry) for one in events] == [
        (None, "message", "", None),
        ("1", "ADD", "first\nsecond\u2028line", None),
        (None, "message", "ü", 1.5),
        (None, "message", "", None),
    ]


def test_changes_are_reported_from_the_first_one(memory: Memory) -> None:
    written = memory.remember("Ana plays chess")
    memory.forget(written.id)
    seen: list[ChangeEvent] = []
    for change in memory.events(after="all"):
        seen.append(change)
        if change.event == "DELETE":
            break
    assert [one.event for one in seen] == ["ADD", "ENTITY", "DELETE"]
    assert {one.data.memory_id for one in seen} == {written.id}
    again = next(iter(memory.events(after=seen[0].id)))
    assert again == seen[1]
    [only] = [next(iter(memory.events(after="all", event=["DELETE"])))]
    assert only == seen[-1]


def test_a_stream_survives_a_crash_of_the_server_and_loses_nothing() -> None:
    server = Server()
    try:
        memory = Memory(url=server.url, user="ana", retry=Retry(delay=0.01, max_delay=0.05))
        memory.remember("one", as_is=True)
        changes = memory.events(after="all")
        assert next(changes).data.content == "one"
        server.end(crash=True)
        server.resume()
        memory.remember("two", as_is=True)
        assert next(changes).data.content == "two"
    finally:
        server.remove()


@pytest.mark.anyio
async def test_the_asynchronous_stream_reports_alike(async_memory: AsyncMemory) -> None:
    written = await async_memory.remember("Ana plays chess")
    async for change in async_memory.events(after="all"):
        assert (change.event, change.data.memory_id) == ("ADD", written.id)
        break


def test_after_a_break_the_stream_continues_at_the_last_event() -> None:
    page = text(stream("retry: 5", event("a"), ": heartbeat"), kind="text/event-stream")
    more = text(stream(event("b")), kind="text/event-stream")
    with scripted(page, problem("PROVIDER_ERROR", 503, True), more) as server:
        changes = Memory(url=server.url, user="ana").events(event=["ADD", "UPDATE"])
        assert [next(changes).id, next(changes).id] == ["a", "b"]
        assert [seen.headers.get("last-event-id") for seen in server.seen] == [None, "a", "a"]
        assert server.seen[0].path == "/v1/events?event=ADD%2CUPDATE&userId=ana"


def test_the_first_connection_has_as_many_attempts_as_any_call() -> None:
    with scripted(problem("PROVIDER_ERROR", 503, True)) as server:
        with pytest.raises(LociError):
            next(Memory(url=server.url, user="ana", retry=Retry(attempts=2, delay=0.001)).events())
        assert len(server.seen) == 2


def test_an_error_that_a_repetition_cannot_help_ends_the_stream() -> None:
    failed = json.dumps({"code": "UNAUTHENTICATED", "detail": "revoked", "retryable": False})
    page = text(stream(event("a"), f"event: error\ndata: {failed}"), kind="text/event-stream")
    with scripted(page, answer({})) as server:
        changes = Memory(url=server.url, user="ana").events()
        assert next(changes).id == "a"
        with pytest.raises(AuthenticationError, match="revoked"):
            next(changes)
        assert len(server.seen) == 1
