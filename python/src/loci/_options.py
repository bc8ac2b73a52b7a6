"""How the server is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ._retry import Retry


@dataclass(frozen=True, kw_only=True)
class Options:
    """How the server is called."""

    timeout: float = 65.0
    """Seconds that the server may be silent during one attempt."""
    retry: Retry = field(default_factory=Retry)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers of every request."""
    ca: str | None = None
    """A file with the certificate authorities of the server."""
