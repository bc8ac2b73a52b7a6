"""Reads server-sent events from bytes."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

# A carriage return at the end may be the first half of a line end.
_LINE_END = re.compile(r"\r\n|\n|\r(?!$)")


@dataclass
class ServerSentEvent:
    """An event as it stands in the stream. A heartbeat has no data."""

    id: str | None = None
    event: str = "message"
    lines: list[str] = field(default_factory=list)
    retry: float | None = None
    """Seconds to wait before the connection is made again."""

    @property
    def data(self) -> str:
        """The data; empty for a heartbeat."""
        return "\n".join(self.lines)


class EventParser:
    """Collects bytes and gives back the events that are complete."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
        self._rest = ""
        self._event = ServerSentEvent()

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that these bytes complete."""
        *lines, self._rest = _LINE_END.split(self._rest + self._decode(data))
        complete = []
        for line in lines:
            if line == "":
                complete.append(self._event)
                self._event = ServerSentEvent()
            else:
                self._read(line)
        return complete

    def _read(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._event.lines.append(value)
        elif name == "event":
            self._event.event = value
        elif name == "id" and "\0" not in value:
            self._event.id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self._event.retry = int(value) / 1000
