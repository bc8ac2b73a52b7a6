"""The errors of the client. Each failure of the server has a code; a class groups the codes that a program treats alike."""

from __future__ import annotations

import email.utils
import json
from collections.abc import Mapping
from typing import Any


class LociError(Exception):
    """A call that failed. The subclasses say which kind of failure it was; `code` says it exactly."""

    code: str
    """The code, for example `MEMORY_NOT_FOUND`."""
    status: int
    """The HTTP status, or 0 if there was no answer."""
    detail: str
    """What went wrong, as a sentence."""
    operation: str
    """The operation that failed, for example `addMemory`."""
    retryable: bool
    """Whether the same call may succeed later."""
    details: dict[str, Any]
    """Further data by name. `details["field"]` names the field that is wrong."""
    hint: str | None
    """What to do about it."""
    request_id: str | None
    """The id of the request, as in the log of the server."""
    retry_after: float | None
    """Seconds after which the server asked to be called again."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int = 0,
        operation: str = "",
        retryable: bool = False,
        details: Mapping[str, Any] | None = None,
        hint: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}" + (f" ({hint})" if hint else ""))
        self.code = code
        self.status = status
        self.detail = detail
        self.operation = operation
        self.retryable = retryable
        self.details = dict(details or {})
        self.hint = hint
        self.request_id = request_id
        self.retry_after = retry_after


class InvalidRequestError(LociError):
    """A field of the request is missing, malformed, too long or out of range. `details["field"]` names it."""


class AuthenticationError(LociError):
    """The key is missing, wrong, expired or revoked."""


class PermissionDeniedError(LociError):
    """The key does not allow this."""


class NotFoundError(LociError):
    """It does not exist, or the caller may not see it."""


class ConflictError(LociError):
    """It exists already, is in use, or has changed since it was read."""


class RateLimitError(LociError):
    """Too many requests with this key."""


class ServerError(LociError):
    """The server could not do its work: a part of it failed, its disk is full, or it is configured wrongly."""


class ServerConnectionError(LociError):
    """There was no answer: the server cannot be reached, or the connection broke. `code` is `CONNECTION_FAILED`."""


class ServerTimeoutError(ServerConnectionError):
    """There was no answer in time. `code` is `TIMEOUT`."""


class EmbeddedServerError(LociError):
    """No server could be started on this machine. `code` is `SERVER_NOT_STARTED`."""


ERROR_CLASSES: Mapping[str, type[LociError]] = {
    "INVALID_LAYER": InvalidRequestError,
    "MISSING_IDENTIFIER": InvalidRequestError,
    "CONTENT_TOO_LONG": InvalidRequestError,
    "QUERY_TOO_LONG": InvalidRequestError,
    "INVALID_INPUT": InvalidRequestError,
    "METHOD_NOT_ALLOWED": InvalidRequestError,
    "UNAUTHENTICATED": AuthenticationError,
    "UNAUTHORIZED": PermissionDeniedError,
    "MEMORY_NOT_FOUND": NotFoundError,
    "NOT_FOUND": NotFoundError,
    "ROUTE_NOT_FOUND": NotFoundError,
    "VERSION_CONFLICT": ConflictError,
    "CONFLICT": ConflictError,
    "RATE_LIMITED": RateLimitError,
    "EMBEDDING_FAILED": ServerError,
    "PROVIDER_ERROR": ServerError,
    "CONFIGURATION_ERROR": ServerError,
    "STORE_CORRUPT": ServerError,
    "STORAGE_UNAVAILABLE": ServerError,
    "INTERNAL_ERROR": ServerError,
}
"""The class of each code of the server. A code that is not listed here is a plain `LociError`."""

# Statuses that a proxy answers while the server behind it is away.
_AWAY = {429, 502, 503, 504}


def parse_retry_after(header: str | None, now: float) -> float | None:
    """The seconds of a `Retry-After` header, which holds seconds or a date."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - now)
    except ValueError:
        return None


def error_from_problem(problem: Mapping[str, Any], retry_after: float | None = None) -> LociError:
    """The error of a problem document."""
    code = str(problem["code"])
    # The same request is still being processed: the server says when to ask again.
    pending = code == "CONFLICT" and retry_after is not None
    return ERROR_CLASSES.get(code, LociError)(
        code,
        str(problem["detail"]),
        status=problem.get("status", 0),
        operation=problem.get("operation", ""),
        retryable=bool(problem.get("retryable")) or pending,
        details=problem.get("details"),
        hint=problem.get("hint"),
        request_id=problem.get("instance"),
        retry_after=retry_after,
    )


def error_from_response(status: int, reason: str, text: str, header: str | None, operation: str, now: float) -> LociError:
    """The error of a response. One that is not a problem document comes from something in front of the server."""
    retry_after = parse_retry_after(header, now)
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None
    if isinstance(problem, dict) and "code" in problem and "detail" in problem:
        return error_from_problem(problem, retry_after)
    if 300 <= status < 400:
        detail = "a redirect is not followed, so that the key is sent nowhere else"
    else:
        detail = text.strip()[:200] or reason or f"the answer has the status {status}"
    return LociError(
        f"HTTP_{status}",
        detail,
        status=status,
        operation=operation,
        retryable=status in _AWAY,
        retry_after=retry_after,
    )
