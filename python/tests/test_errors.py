"""Errors of the real server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from server import ROOT, Server

from loci import (
    ERROR_CLASSES,
    AuthenticationError,
    InvalidRequestError,
    LociError,
    Memory,
    NotFoundError,
    PermissionDeniedError,
)

ABSENT = "01a1efcd-b3a9-700a-add4-4d54866cd7f1"


@pytest.fixture(scope="module")
def locked() -> Iterator[tuple[str, str, str]]:
    """The address of a server with keys, the key of an admin, and that of a reader who is bound to a user."""
    server = Server()
    yield server.url, server.key("--role", "admin"), server.key("--role", "reader", "--user", "ana")
    server.remove()


def test_every_code_of_the_reference_has_a_class() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text()
    codes = re.findall(r"^\| `([A-Z_]+)` \| \d{3} \|", page, re.MULTILINE)
    assert len(codes) >= 20
    assert sorted(ERROR_CLASSES) == sorted(codes)


Case = tuple[Callable[[str, str, str], object], type[LociError], str, int, str | None]
CASES: list[Case] = [
    (lambda url, *_: Memory(url=url).stats(), AuthenticationError, "UNAUTHENTICATED", 401, None),
    (lambda url, *_: Memory(url=url, key="wrong").stats(), AuthenticationError, "UNAUTHENTICATED", 401, None),
    (lambda url, _, key: Memory(url=url, key=key, user="bo").list().page(), PermissionDeniedError, "UNAUTHORIZED", 403, None),
    (lambda url, _, key: Memory(url=url, key=key).remember("x"), PermissionDeniedError, "UNAUTHORIZED", 403, None),
    (lambda url, key, _: Memory(url=url, key=key, user="ana").get(ABSENT), NotFoundError, "MEMORY_NOT_FOUND", 404, None),
    (lambda url, key, _: Memory(url=url, key=key, user="ana").facts.get(ABSENT), NotFoundError, "NOT_FOUND", 404, None),
    (lambda url, key, _: Memory(url=url, key=key).request("GET", "/v1/no"), NotFoundError, "ROUTE_NOT_FOUND", 404, None),
    (
        lambda url, key, _: Memory(url=url, key=key).request("PUT", "/v1/recall"),
        InvalidRequestError,
        "METHOD_NOT_ALLOWED",
        405,
        None,
    ),
    (lambda url, key, _: Memory(url=url, key=key).recall("x"), InvalidRequestError, "MISSING_IDENTIFIER", 400, None),
    (lambda url, key, _: Memory(url=url, key=key, user="a").remember(""), InvalidRequestError, "INVALID_INPUT", 400, "content"),
    (
        lambda url, key, _: Memory(url=url, key=key, user="a").remember("x", importance=2),
        InvalidRequestError,
        "INVALID_INPUT",
        400,
        "importance",
    ),
    (
        lambda url, key, _: Memory(url=url, key=key, user="a").remember("x" * 8193),
        InvalidRequestError,
        "CONTENT_TOO_LONG",
        413,
        "content",
    ),
    (
        lambda url, key, _: Memory(url=url, key=key, user="a").recall("x" * 8193),
        InvalidRequestError,
        "QUERY_TOO_LONG",
        413,
        "query",
    ),
]


@pytest.mark.parametrize(("call", "kind", "code", "status", "field"), CASES)
def test_failures_are_errors_of_the_class_of_their_code(
    locked: tuple[str, str, str],
    call: Callable[[str, str, str], object],
    kind: type[LociError],
    code: str,
    status: int,
    field: str | None,
) -> None:
    with pytest.raises(LociError) as failed:
        call(*locked)
    error = failed.value
    assert (type(error), error.code, error.status, error.retryable) == (kind, code, status, False)
    assert error.detail
    assert error.operation
    assert error.request_id
    assert field is None or error.details["field"] == field


def test_the_user_that_a_key_is_bound_to_is_the_default(locked: tuple[str, str, str]) -> None:
    url, _, reader = locked
    assert list(Memory(url=url, key=reader).list()) == []
