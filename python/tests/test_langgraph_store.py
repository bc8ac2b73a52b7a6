"""`LociStore`: LangGraph's own tests of its store, and what they do not try."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from server import PACKAGE, Server

from loci import AsyncMemory, InvalidRequestError, Memory
from loci.langgraph import LociStore

ANA, BO = ("users", "ana"), ("users", "bo")
# It expects the same score for two items because one field of each is the same, which needs a vector for each field.
NOT_TRIED = ["test_embed_with_path"]


def test_the_tests_of_langgraph_pass(server: Server) -> None:
    folder = os.environ.get("LOCI_TEST_LANGGRAPH")
    if folder is None:
        pytest.skip("LOCI_TEST_LANGGRAPH does not name the sources of langgraph-checkpoint; scripts/python.sh fetches them")
    arguments = ["-p", "langgraph_store_plugin", "-p", "no:cacheprovider", "-q", "-o", "anyio_mode=auto", "-c", os.devnull]
    paths = [str(PACKAGE / "tests"), folder, *filter(None, [os.environ.get("PYTHONPATH")])]
    deselected = [f"--deselect=tests/test_store.py::{name}" for name in NOT_TRIED]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, "--rootdir", folder, "tests/test_store.py", *deselected],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "LOCI_TEST_URL": server.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    summary = result.stdout.splitlines()[-1]
    assert re.match(r"116 passed, 1 deselected", summary), summary


@pytest.fixture
def store(memory: Memory) -> LociStore:
    return LociStore(memory)


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


def test_an_item_is_stored_replaced_and_deleted(store: LociStore, memory: Memory) -> None:
    store.put(ANA, "diet", {"text": "Ana is allergic to peanuts", "since": 2019, "tags": ["a", None], "deep": {"x": None}})
    first = store.get(ANA, "diet")
    assert first is not None
    assert first.value == {"text": "Ana is allergic to peanuts", "since": 2019, "tags": ["a", None], "deep": {"x": None}}
    assert (first.namespace, first.key) == (ANA, "diet")
    assert abs(first.created_at - datetime.now(timezone.utc)) < timedelta(minutes=1)
    store.put(ANA, "diet", {"text": "Ana eats everything"})
    second = store.get(ANA, "diet")
    assert second is not None
    assert second.value == {"text": "Ana eats everything"}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    [known] = memory.list()
    assert (known.content, known.version, known.pinned, known.decay_rate) == ("Ana eats everything", 2, True, 0)
    assert store.get(BO, "diet") is None
    assert store.get(("users",), "diet") is None
    store.delete(ANA, "diet")
    assert store.get(ANA, "diet") is None
    assert store.search(()) == []
    store.delete(ANA, "diet")


def test_items_with_the_same_text_stay_apart(store: LociStore, memory: Memory) -> None:
    memory.remember("same")
    for key in ("a", "b", "c"):
        store.put(ANA, key, {"text": "same"})
    store.put(BO, "a", {"text": "other"})
    store.put(BO, "a", {"text": "same"})
    assert sorted((item.namespace, item.key) for item in store.search(())) == [(ANA, "a"), (ANA, "b"), (ANA, "c"), (BO, "a")]
    found = store.search((), query="same")
    assert len(found) == 4
    assert len({item.score for item in found}) == 1
    store.delete(ANA, "b")
    assert sorted(keys(store.search(ANA))) == ["a", "c"]


def test_neither_memories_nor_maintenance_change_an_item(store: LociStore, memory: Memory, server: Server) -> None:
    store.put(ANA, "size", {"text": "My cluster has 5 nodes"})
    store.put(ANA, "again", {"text": "My cluster has 6 nodes"})
    memory.remember("My cluster has 7 nodes")
    Memory(url=server.url).request("POST", "/v1/maintenance", body={"dryRun": False})
    assert {item.key: item.value["text"] for item in store.search(ANA)} == {
        "size": "My cluster has 5 nodes",
        "again": "My cluster has 6 nodes",
    }


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({"color": "red"}, ["a", "c"]),
    ({"color": "red", "size": 1}, ["a"]),
    ({"size": {"$eq": 2}}, ["b"]),
    ({"size": {"$ne": 2}}, ["a", "c", "d"]),
    ({"size": {"$gt": 1}}, ["b", "c"]),
    ({"size": {"$gte": 2, "$lt": 3.5}}, ["b"]),
    ({"size": {"$lte": 1}}, ["a"]),
    ({"name": {"$gte": "m"}}, ["b", "d"]),
    ({"deep": {"x": {"$gt": 0}, "y": [1, 2]}}, ["a"]),
    ({"deep": {"y": [1]}}, []),
    ({"absent": None}, ["a", "b", "c", "d"]),
    ({"size": None}, ["d"]),
    ({"deep": None}, ["b", "c", "d"]),
]


@pytest.mark.parametrize(("condition", "wanted"), FILTERS)
def test_filters(store: LociStore, condition: dict[str, Any], wanted: list[str]) -> None:
    values: dict[str, dict[str, Any]] = {
        "a": {"color": "red", "size": 1, "name": "ant", "deep": {"x": 1, "y": [1, 2]}},
        "b": {"color": "blue", "size": 2, "name": "mole"},
        "c": {"color": "red", "size": "4", "name": "cat"},
        "d": {"color": "green", "name": "zebra"},
    }
    store.batch([PutOp(ANA, key, value) for key, value in values.items()])
    assert sorted(keys(store.search(ANA, filter=condition))) == wanted
    assert sorted(keys(store.search(ANA, query="red zebra", filter=condition))) == wanted


def test_an_unknown_operator_is_refused(store: LociStore) -> None:
    store.put(ANA, "a", {"size": 1})
    with pytest.raises(ValueError, match=r"unknown operator '\$like'"):
        store.search(ANA, filter={"size": {"$like": 1}})


def test_searching_ranks_and_pages(store: LociStore) -> None:
    for number in range(25):
        store.put(ANA, f"note{number}", {"text": f"note {number} about the weather"})
    store.put(ANA, "pet", {"text": "Ana has a cat called Tom"})
    store.put(BO, "pet", {"text": "Bo has a dog"})
    store.put(("users", "ana", "deep"), "pet", {"text": "The cat is called Tom"})
    best = store.search(ANA, query="what is the cat called?", limit=2)
    assert {item.namespace for item in best} == {ANA, (*ANA, "deep")}
    assert [item.score is not None and item.score > 0 for item in best] == [True, True]
    whole = store.search(ANA, query="weather", limit=100)
    assert len(whole) == 27
    assert [item.score for item in whole[-2:]] == [0, 0]
    paged = [item.key for offset in range(0, 30, 7) for item in store.search(ANA, query="weather", limit=7, offset=offset)]
    assert sorted(paged) == sorted(keys(whole))
    assert keys(store.search(BO, query="weather")) == ["pet"]
    assert store.search(("users", "an")) == []
    assert store.search(ANA, limit=0) == []


def test_what_is_indexed_decides_what_is_found(memory: Memory) -> None:
    store = LociStore(memory, index={"dims": 1, "embed": "", "fields": ["title", "parts[*].text"]})
    store.put(ANA, "a", {"title": "Holiday", "parts": [{"text": "Lisbon"}, {"text": "trams"}], "secret": "submarine"})
    store.put(ANA, "b", {"title": "Work", "body": "submarine"}, index=["body"])
    store.put(ANA, "c", {"title": "Lisbon"}, index=False)
    assert {one.content for one in memory.list()} == {"Holiday\nLisbon\ntrams", "submarine", "Lisbon"}
    assert [(item.key, bool(item.score)) for item in store.search(ANA, query="Lisbon")] == [("a", True), ("b", False)]
    assert [(item.key, bool(item.score)) for item in store.search(ANA, query="submarine")] == [("b", True), ("a", False)]
    assert sorted(keys(store.search(ANA))) == ["a", "b", "c"]
    store.put(ANA, "c", {"title": "Lisbon"})
    assert "c" in keys(store.search(ANA, query="Lisbon"))


def test_a_value_of_any_shape_has_a_text(store: LociStore, memory: Memory) -> None:
    values: dict[str, dict[str, Any]] = {
        "empty": {},
        "blank": {"text": "  "},
        "long": {"text": "word " * 4000},
        "nested": {"likes": ["tea"], "age": 31},
    }
    for key, value in values.items():
        store.put(ANA, key, value)
    assert {item.key: item.value for item in store.search(ANA)} == values
    texts = {one.metadata["key"]: one.content for one in memory.list()}
    assert (texts["empty"], texts["blank"]) == ("empty", "blank")
    assert texts["nested"] == 'likes: ["tea"]\nage: 31'
    assert len(texts["long"]) <= 8000
    with pytest.raises(InvalidRequestError, match="metadata"):
        store.put(ANA, "too long", {"text": "x" * 70_000})
    with pytest.raises(InvalidRequestError, match="contains a NUL character"):
        store.put(ANA, "nul", {"text": "a\0b"})
    with pytest.raises(TypeError, match="not JSON serializable"):
        store.put(ANA, "odd", {"text": object()})


def test_keys_and_namespaces_may_be_long_and_odd(store: LociStore) -> None:
    namespace = ("a" * 300, "ü/?#&", "4111 1111 1111 1111")
    for key in ("k" * 1000, "../x", "*", "4111111111111111"):
        store.put(namespace, key, {"text": key[:5]})
        found = store.get(namespace, key)
        assert found is not None
        assert (found.namespace, found.key) == (namespace, key)
    assert len(store.search(namespace[:2])) == 4


def test_namespaces_are_listed(store: LociStore) -> None:
    for namespace in [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "d", "i"), ("a", "b", "f"), ("a", "c", "f"), ("z",)]:
        store.put(namespace, "k", {"v": 1})
    assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]
    assert store.list_namespaces(suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f")]
    assert store.list_namespaces(prefix=("a", "*", "f")) == [("a", "b", "f"), ("a", "c", "f")]
    assert store.list_namespaces(prefix=("*", "b"), suffix=("*", "i")) == [("a", "b", "d", "i")]
    assert store.list_namespaces(limit=2, offset=4) == [("a", "c", "f"), ("z",)]
    store.delete(("z",), "k")
    assert ("z",) not in store.list_namespaces()


def expiry_of(memory: Memory) -> datetime:
    [known] = memory.list()
    assert known.expires_at is not None
    return known.expires_at


def test_an_item_with_a_ttl_expires_and_reading_begins_it_anew(memory: Memory) -> None:
    store = LociStore(memory, ttl={"default_ttl": 60.0})
    store.put(ANA, "a", {"text": "for an hour"})
    first = expiry_of(memory)
    assert timedelta(minutes=59) < first - datetime.now(timezone.utc) <= timedelta(minutes=60)
    written = store.get(ANA, "a", refresh_ttl=False)
    assert written is not None
    assert expiry_of(memory) == first
    assert store.get(ANA, "a") == written
    second = expiry_of(memory)
    assert second > first
    assert store.search(ANA, query="hour", refresh_ttl=False)[0].updated_at == written.updated_at
    assert expiry_of(memory) == second
    store.search(ANA)
    assert expiry_of(memory) > second
    store.put(ANA, "a", {"text": "for ever"}, ttl=None)
    assert memory.list().to_list()[0].expires_at is None
    store.put(ANA, "a", {"text": "no more"}, ttl=-1)
    assert store.get(ANA, "a") is None
    assert store.search(ANA) == []
    assert store.list_namespaces() == []
    store.put(ANA, "a", {"text": "again"}, ttl=None)
    assert store.get(ANA, "a") is not None


def test_refresh_on_read_can_be_switched_off(memory: Memory) -> None:
    store = LociStore(memory, ttl={"refresh_on_read": False})
    store.put(ANA, "a", {"text": "x"}, ttl=5)
    first = expiry_of(memory)
    store.get(ANA, "a")
    assert expiry_of(memory) == first


def test_a_batch_reads_what_was_there_before_it_and_keeps_the_last_of_each_key(store: LociStore) -> None:
    store.put(ANA, "a", {"v": 1})
    results = store.batch(
        [
            PutOp(ANA, "a", {"v": 2}),
            GetOp(ANA, "a"),
            PutOp(ANA, "b", {"v": 1}),
            PutOp(ANA, "b", {"v": 2}),
            PutOp(ANA, "c", {"v": 1}),
            PutOp(ANA, "c", None),
            SearchOp(ANA),
            ListNamespacesOp(),
        ]
    )
    assert results[1].value == {"v": 1}  # type: ignore[union-attr]
    assert keys(results[6]) == ["a"]  # type: ignore[arg-type]
    assert results[7] == [ANA]
    assert {item.key: item.value["v"] for item in store.search(ANA)} == {"a": 2, "b": 2}
    many = [PutOp(("many",), str(number), {"v": number}) for number in range(700)]
    store.batch(many)
    store.batch([PutOp(("many",), str(number), {"v": -number}) for number in range(3)])
    assert len(store.search(("many",), limit=2000)) == 700
    found = store.batch([GetOp(("many",), str(number)) for number in range(700)])
    assert [item.value["v"] for item in found[:4]] == [0, -1, -2, 3]  # type: ignore[union-attr]


def test_the_same_key_written_by_several_at_once_is_one_item(memory: Memory) -> None:
    def write(number: int) -> None:
        LociStore(memory).put(ANA, "a", {"v": number})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = LociStore(memory)
    assert len(store.search(ANA)) == 1
    assert store.get(ANA, "a") is not None
    store.put(ANA, "a", {"v": "last"})
    assert [one.metadata["value"] for one in memory.list()] == [{"v": "last"}]


def test_a_namespace_can_choose_the_scope(memory: Memory) -> None:
    def scope(namespace: tuple[str, ...]) -> dict[str, str | None]:
        return {"user": f"scoped-{namespace[1]}"} if namespace[:1] == ("users",) and len(namespace) > 1 else {}

    store = LociStore(memory, scope=scope)
    store.batch([PutOp(ANA, "a", {"v": "ana"}), PutOp(BO, "a", {"v": "bo"}), PutOp(("notes",), "a", {"v": "mine"})])
    assert [one.content for one in memory.scoped(user="scoped-ana").list()] == ["ana"]
    assert [one.content for one in memory.list()] == ["mine"]
    assert [item.value for item in store.search(BO)] == [{"v": "bo"}]
    found = store.batch([GetOp(ANA, "a"), GetOp(BO, "a"), GetOp(("notes",), "a")])
    assert [item.value["v"] for item in found] == ["ana", "bo", "mine"]  # type: ignore[union-attr]
    assert store.list_namespaces(prefix=BO) == [BO]
    assert store.list_namespaces() == [("notes",)]
    store.delete(ANA, "a")
    assert store.get(ANA, "a") is None


def test_a_value_that_was_masked_is_reported(store: LociStore, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "loci.langgraph"):
        store.put(ANA, "a", {"password": "hunter2-and-more", "name": "Ana"})
        store.put(ANA, "a", {"password": "hunter2-and-more", "name": "Bo"})
    found = store.get(ANA, "a")
    assert found is not None
    assert found.value == {"password": "[secret]", "name": "Bo"}
    assert len(caplog.records) == 2
    assert "('users', 'ana', 'a') was masked before it was stored (secret)" in caplog.text


def test_operations_that_bypass_the_methods_are_checked_too(store: LociStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {})])
    with pytest.raises(ValueError, match="unknown operation str"):
        store.batch(["put"])  # type: ignore[list-item]


@pytest.mark.anyio
async def test_the_asynchronous_methods_do_the_same(async_memory: AsyncMemory) -> None:
    store = LociStore(async_memory, ttl={"default_ttl": 60.0})
    await store.aput(ANA, "a", {"text": "Ana likes tea"})
    await store.aput(ANA, "a", {"text": "Ana likes coffee"})
    found = await store.aget(ANA, "a")
    assert found is not None
    assert found.value == {"text": "Ana likes coffee"}
    assert keys(await store.asearch(ANA, query="coffee")) == ["a"]
    assert await store.alist_namespaces() == [ANA]
    await store.adelete(ANA, "a")
    assert await store.aget(ANA, "a") is None


class State(TypedDict):
    question: str
    answer: str


def test_a_graph_remembers_across_threads(store: LociStore) -> None:
    def respond(state: State, runtime: Runtime[None]) -> dict[str, str]:
        assert isinstance(runtime.store, BaseStore)
        known = runtime.store.search(("facts",), query=state["question"], limit=1)
        runtime.store.put(("facts",), state["question"], {"text": state["question"]})
        return {"answer": known[0].value["text"] if known else "nothing yet"}

    builder = StateGraph(State).add_node("respond", respond).add_edge(START, "respond").add_edge("respond", END)
    graph = builder.compile(store=store)
    assert graph.invoke({"question": "Ana has a cat called Tom", "answer": ""})["answer"] == "nothing yet"
    assert graph.invoke({"question": "What is the cat called?", "answer": ""})["answer"] == "Ana has a cat called Tom"


def test_without_a_client_the_store_makes_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    monkeypatch.setenv("LOCI_SERVER", server.url)
    with LociStore() as store, pytest.raises(InvalidRequestError, match="MISSING_IDENTIFIER"):
        store.search(())
    with pytest.raises(RuntimeError, match="closed"):
        store.search(())
    # A store of LangGraph is what it stands beside.
    assert issubclass(LociStore, BaseStore)
    assert not issubclass(InMemoryStore, LociStore)
