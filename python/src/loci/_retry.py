"""When a failed call is repeated, and after which wait."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How calls are repeated. Only connections that fail and errors that are `retryable` are."""

    attempts: int = 3
    """Number of attempts, with the first one. 1 repeats nothing."""
    delay: float = 1.0
    """Seconds before the second attempt; each further wait is twice as long."""
    max_delay: float = 30.0
    """The longest wait in seconds, also if the server asks for a longer one."""

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"retry.attempts must be 1 or more, not {self.attempts}")
        if not (self.delay >= 0 and self.max_delay >= 0):
            raise ValueError("retry.delay and retry.max_delay must be 0 or more")

    def wait_after(self, attempt: int, retry_after: float | None = None, chance: float | None = None) -> float:
        """The seconds to wait after the failure of an attempt (1 is the first).

        Half of them are fixed and half depend on chance, so that clients that failed together do not return together. The
        server's `Retry-After` is the least wait.
        """
        full = min(self.delay * 2.0 ** (attempt - 1), self.max_delay)
        wait = full * (0.5 + (random.random() if chance is None else chance) / 2)
        return min(max(wait, retry_after or 0.0), self.max_delay)
