"""Finds and ends the servers of a data folder, and waits for what happens in other processes."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path


def servers_of(folder: Path) -> list[int]:
    """The processes that serve a data folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"serve" in words and str(folder).encode() in words:
                    found.append(int(entry.name))
    return found


def kill_servers(folder: Path) -> None:
    """Ends the servers of a folder as a crash would."""
    for process in servers_of(folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    wait_until(lambda: not servers_of(folder), "the servers are gone")


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 20) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} seconds: {what}"
        time.sleep(0.02)
