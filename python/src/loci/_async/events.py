"""The event stream: changes as they happen, over broken connections and restarts of the server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from .._event import ChangeEvent
from .._request import Request
from .._sse import EventParser
from ..errors import LociError, error_from_problem
from ..models import LedgerItem
from .caller import AsyncCaller
from .runtime import sleep


async def follow_events(caller: AsyncCaller, fields: Mapping[str, Any], silence: float) -> AsyncIterator[ChangeEvent]:
    """Follows the event stream.

    After a break it continues at the last event that it has seen, so that no event is lost or repeated. The first connection
    has as many attempts as any call; once there was one, it is renewed for as long as it takes.
    """
    retry = caller.http.options.retry
    last_id: str | None = None
    connected = False
    delay = retry.delay
    failures = 0
    while True:
        headers = {"Accept": "text/event-stream"}
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        retry_after: float | None = None
        try:
            request = Request("GET", "/v1/events", await caller.query(fields), headers=headers)
            parser = EventParser()
            async with caller.http.send(request, silence=silence) as response:
                async for chunk in response.aiter_bytes():
                    for event in parser.feed(chunk):
                        connected, failures = True, 0
                        delay = delay if event.retry is None else event.retry
                        if event.event == "error":
                            raise error_from_problem(json.loads(event.data))
                        last_id = last_id if event.id is None else event.id
                        if event.data:
                            # In the stream the place of an entry is the id of its event.
                            place = last_id or ""
                            item = request.read(LedgerItem.from_json, {"cursor": place, **json.loads(event.data)})
                            yield ChangeEvent(id=place, event=event.event, data=item)
        except LociError as error:
            if not error.retryable or (not connected and failures + 1 >= retry.attempts):
                raise
            retry_after = error.retry_after
        failures += 1
        wait = type(retry)(delay=min(delay, retry.max_delay), max_delay=retry.max_delay)
        await sleep(wait.wait_after(failures, retry_after))
