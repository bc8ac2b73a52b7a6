"""Where the server is: at an address that was given, or started on this machine."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Connection:
    """A server that requests can be sent to."""

    url: str
    """Its address, without a slash at the end."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers of every request, such as the key."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """The identifiers of requests that name no scope."""


class Endpoint(Protocol):
    """Knows the server of a client."""

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, so that proxies of the environment are not asked."""

    def current(self) -> Connection | None:
        """The connection, if it is known without waiting."""

    def connect(self) -> Connection:
        """The connection. May take seconds, because a server may have to be started."""

    def report_lost(self, connection: Connection) -> None:
        """Takes note that this server does not answer any more."""

    def close(self) -> None:
        """Ends the use of the server."""


class RemoteEndpoint:
    """A server at a given address."""

    def __init__(self, url: str, key: str | None) -> None:
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must begin with http:// or https:// and name a host, not {url!r}")
        self.is_local = is_loopback(parts.hostname)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._connection = Connection(url.rstrip("/"), headers)

    def current(self) -> Connection | None:
        return self._connection

    def connect(self) -> Connection:
        return self._connection

    def report_lost(self, connection: Connection) -> None:
        """Does nothing: the address stays the same."""

    def close(self) -> None:
        """Does nothing: the server does not depend on this client."""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def endpoint_for(url: str | None, key: str | None, data: str | os.PathLike[str] | None) -> Endpoint:
    """The endpoint of a client: `url`, else the data folder, else `LOCI_SERVER`, else the default data folder."""
    from ._embedded import EmbeddedEndpoint

    if url is not None and data is not None:
        raise ValueError("give url or data, not both: a server at an address has a data folder of its own")
    if url is None and data is None:
        url = os.environ.get("LOCI_SERVER") or None
    if url is not None:
        return RemoteEndpoint(url, key or os.environ.get("LOCI_KEY"))
    if key is not None:
        raise ValueError("key needs url: the server of a data folder has a key of its own")
    return EmbeddedEndpoint(data)
