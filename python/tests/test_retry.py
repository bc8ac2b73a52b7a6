"""Retries, deadlines and what is sent, against a stand-in that answers by a script."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from scripted import answer, hang_up, problem, scripted, silence, text

from loci import (
    AsyncMemory,
    ConflictError,
    LociError,
    Memory,
    RateLimitError,
    Retry,
    ServerConnectionError,
    ServerError,
    ServerTimeoutError,
)
from loci.errors import parse_retry_after

WRITTEN = {"id": "1", "event": "ADD", "version": 1, "redacted": [], "degraded": [], "data": None}
COUNTS = {
    "memories": 1,
    "byLayer": {},
    "byKind": {},
    "byState": {},
    "edges": {},
    "entities": 0,
    "vectors": {},
    "orphans": 0,
    "contentBytes": 5,
    "maintained": {},
}
STATS = {**COUNTS, "withoutVector": 0, "ledger": 0, "jobs": {}, "spaces": 0, "bytes": 0}
QUICK = Retry(delay=0.005)


def client(url: str, **options: object) -> Memory:
    return Memory(url=url, user="ana", **{"retry": QUICK, **options})  # type: ignore[arg-type]


def test_the_waits_double_up_to_the_greatest_vary_by_chance_and_are_at_least_what_the_server_asks_for() -> None:
    retry = Retry()
    assert (retry.attempts, retry.delay, retry.max_delay) == (3, 1.0, 30.0)
    assert [retry.wait_after(attempt, chance=1) for attempt in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]
    assert retry.wait_after(1, chance=0) == 0.5
    assert retry.wait_after(1, retry_after=7, chance=0.5) == 7
    assert retry.wait_after(1, retry_after=90, chance=0.5) == 30
    drawn = {retry.wait_after(1) for _ in range(20)}
    assert len(drawn) > 1
    assert all(0.5 <= wait <= 1 for wait in drawn)
    for wrong in ({"attempts": 0}, {"delay": -1.0}, {"max_delay": float("nan")}):
        with pytest.raises(ValueError, match="must be"):
            Retry(**wrong)


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    now = 1767225600.0  # 2026-01-01T00:00:00Z
    cases: list[tuple[str | None, float | None]] = [
        (None, None),
        ("2", 2),
        (" 0 ", 0),
        ("Thu, 01 Jan 2026 00:00:03 GMT", 3),
        ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ("soon", None),
    ]
    for header, wanted in cases:
        assert parse_retry_after(header, now) == wanted, header


def test_a_retryable_error_and_a_broken_connection_are_repeated_with_the_same_idempotency_key() -> None:
    with scripted(problem("PROVIDER_ERROR", 503, True), hang_up, answer(WRITTEN, 201)) as server:
        memory = client(server.url)
        assert memory.remember("x").id == "1"
        keys = [seen.headers["idempotency-key"] for seen in server.seen]
        assert len(keys) == 3
        assert len(keys[0]) == 32
        assert len(set(keys)) == 1
        memory.remember("y")
        assert server.seen[3].headers["idempotency-key"] != keys[0]


def test_the_key_of_the_caller_is_sent_and_each_part_of_a_batch_has_its_own() -> None:
    done = answer({"data": [], "succeeded": 500, "failed": 0})
    with scripted(answer(WRITTEN), done, done) as server:
        memory = client(server.url)
        memory.remember("x", idempotency_key="order-1")
        memory.remember_many([f"note {number}" for number in range(600)], idempotency_key="notes")
        assert [seen.headers["idempotency-key"] for seen in server.seen] == ["order-1", "notes", "notes-500"]
        assert all("idempotency" not in seen.body.lower() for seen in server.seen)


def test_reads_have_no_idempotency_key_and_are_repeated_too() -> None:
    with scripted(hang_up, answer(STATS)) as server:
        assert client(server.url).stats().memories == 1
        assert "idempotency-key" not in server.seen[1].headers


def test_three_attempts_are_made_and_the_last_error_is_raised() -> None:
    with scripted(problem("EMBEDDING_FAILED", 502, True)) as server:
        with pytest.raises(ServerError):
            client(server.url).recall("x")
        assert len(server.seen) == 3


def test_an_error_that_is_not_retryable_is_not_repeated() -> None:
    with scripted(problem("STORAGE_UNAVAILABLE", 507, False)) as server:
        with pytest.raises(ServerError) as failed:
            client(server.url).remember("x")
        error = failed.value
        assert (error.code, error.status, error.operation, error.retryable) == ("STORAGE_UNAVAILABLE", 507, "testIt", False)
        assert (error.detail, error.details, error.hint) == ("STORAGE_UNAVAILABLE happened", {"field": "content"}, "try again")
        assert error.request_id == "r-1"
        assert str(error) == "STORAGE_UNAVAILABLE: STORAGE_UNAVAILABLE happened (try again)"
        assert len(server.seen) == 1


def test_retry_after_is_waited_for() -> None:
    with scripted(problem("RATE_LIMITED", 429, True, Retry_After="1"), answer(WRITTEN)) as server:
        client(server.url).remember("x")
        first, second = server.seen
        assert second.at - first.at >= 0.99


def test_a_request_that_is_still_being_processed_is_repeated_and_a_conflict_is_not() -> None:
    pending = problem("CONFLICT", 409, False, Retry_After="0")
    with scripted(pending, answer(WRITTEN), problem("CONFLICT", 409, False)) as server:
        memory = client(server.url)
        memory.remember("x")
        assert len(server.seen) == 2
        with pytest.raises(ConflictError):
            memory.remember("y")
        assert len(server.seen) == 3


def test_an_answer_of_a_proxy_is_an_error_by_its_status() -> None:
    page = text("<h1>away</h1>", 503)
    with scripted(page, page, page, text("", 403)) as server:
        memory = client(server.url)
        with pytest.raises(LociError) as away:
            memory.stats()
        assert (away.value.code, away.value.status, away.value.detail) == ("HTTP_503", 503, "<h1>away</h1>")
        assert len(server.seen) == 3
        with pytest.raises(LociError) as refused:
            memory.stats()
        assert (refused.value.code, refused.value.retryable, len(server.seen)) == ("HTTP_403", False, 4)


def test_an_unhealthy_server_is_an_answer_of_health_and_a_proxy_before_it_is_not() -> None:
    part = {"status": "unhealthy", "latencyMs": 1.0}
    sick = {"status": "unhealthy", "latencyMs": 1.0, "components": {"store": part, "vectors": {**part, "pending": 0}}}
    busy = problem("PROVIDER_ERROR", 503, True)
    with scripted(answer(sick, 503), text("<h1>away</h1>", 503), busy, answer(sick, 503)) as server:
        memory = client(server.url)
        assert memory.health().status == "unhealthy"
        assert len(server.seen) == 1
        assert memory.health().components.store.status == "unhealthy"
        assert len(server.seen) == 4


@pytest.mark.parametrize(
    ("step", "hint"), [(text("<html>Sign in"), "is not JSON"), (answer([1, 2]), "another shape"), (answer({}), "another shape")]
)
def test_an_answer_that_is_none_of_loci_is_an_error(step: Callable[..., None], hint: str) -> None:
    with scripted(step) as server:
        with pytest.raises(LociError, match=hint) as failed:
            client(server.url).stats()
        assert (failed.value.code, failed.value.retryable, len(server.seen)) == ("INVALID_RESPONSE", False, 1)


def test_a_redirect_is_refused_so_that_the_key_is_sent_nowhere_else() -> None:
    with scripted(text("", 307, Location="http://127.0.0.1:9/")) as server:
        with pytest.raises(LociError, match="redirect") as failed:
            client(server.url, key="secret").stats()
        assert (failed.value.code, failed.value.retryable, len(server.seen)) == ("HTTP_307", False, 1)
        assert server.seen[0].headers["authorization"] == "Bearer secret"


def test_a_server_that_cannot_be_reached_is_a_connection_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(ServerConnectionError, match=f"no answer from http://127.0.0.1:{port}: ") as failed:
        client(f"http://127.0.0.1:{port}").stats()
    assert (failed.value.code, failed.value.retryable) == ("CONNECTION_FAILED", True)


def test_an_attempt_that_takes_too_long_is_a_timeout_error() -> None:
    with scripted(silence) as server:
        with pytest.raises(ServerTimeoutError, match=r"within 0\.05 seconds") as failed:
            client(server.url, timeout=0.05, retry=Retry(attempts=2, delay=0.001)).stats()
        assert (failed.value.code, len(server.seen)) == ("TIMEOUT", 2)


def test_a_proxy_of_the_environment_does_not_see_requests_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with scripted(answer(STATS)) as server:
        assert client(server.url).stats().memories == 1


def test_address_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(answer(STATS)) as server:
        monkeypatch.setenv("LOCI_SERVER", f"{server.url}/behind/a/prefix/")
        monkeypatch.setenv("LOCI_KEY", "from-environment")
        Memory(user="ana", headers={"X-Team": "blue"}).stats()
        seen = server.seen[0]
        assert seen.path == "/behind/a/prefix/v1/stats?userId=ana"
        assert (seen.headers["authorization"], seen.headers["x-team"]) == ("Bearer from-environment", "blue")


def test_wrong_options_are_refused_before_anything_is_sent() -> None:
    for url in ("127.0.0.1:7077", "ftp://host", "http://", "nonsense"):
        with pytest.raises(ValueError, match="url must begin with http"):
            Memory(url=url)
    with pytest.raises(ValueError, match="give url or data"):
        Memory(url="http://127.0.0.1", data="folder")
    with pytest.raises(ValueError, match="key needs url"):
        Memory(key="secret")


def test_a_closed_client_says_so() -> None:
    with scripted(answer(STATS)) as server:
        memory = client(server.url)
        with memory:
            memory.stats()
        with pytest.raises(RuntimeError, match="closed"):
            memory.stats()


@pytest.mark.anyio
async def test_the_asynchronous_client_repeats_alike() -> None:
    with scripted(problem("RATE_LIMITED", 429, True), hang_up, answer(WRITTEN), problem("RATE_LIMITED", 429, True)) as server:
        async with AsyncMemory(url=server.url, user="ana", retry=QUICK) as memory:
            assert (await memory.remember("x")).id == "1"
            assert len(server.seen) == 3
            with pytest.raises(RateLimitError):
                await memory.remember("x")
            assert len(server.seen) == 6


def test_one_asynchronous_client_works_in_several_event_loops() -> None:
    import asyncio

    with scripted(answer(STATS)) as server:
        memory = AsyncMemory(url=server.url, user="ana", retry=QUICK)

        async def twice() -> int:
            counts = [await memory.stats(), await memory.stats()]
            await memory._http._pool.aclose()
            return sum(one.memories for one in counts)

        assert asyncio.run(twice()) + asyncio.run(twice()) == 4
