"""`LociSaver`: LangGraph's own conformance suite, and real graphs."""

from __future__ import annotations

import asyncio
import itertools
import operator
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from server import Server

from loci import AsyncMemory, Memory, NotFoundError
from loci.langgraph import LociSaver

_users = itertools.count(1)
# The number of tests of each capability in the suite, so that none is left out unseen.
TESTS = {
    "put": 17,
    "put_writes": 10,
    "get_tuple": 10,
    "list": 16,
    "delete_thread": 5,
    "delete_for_runs": 7,
    "copy_thread": 8,
    "prune": 8,
}


class SynchronousSaver(LociSaver):
    """The synchronous methods under the names of the asynchronous ones, which the suite calls."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: RunnableConfig | None, **options: Any) -> AsyncIterator[CheckpointTuple]:
        for found in await asyncio.to_thread(lambda: [*self.list(config, **options)]):
            yield found

    async def aput(self, *arguments: Any) -> RunnableConfig:
        return await asyncio.to_thread(self.put, *arguments)

    async def aput_writes(self, *arguments: Any, **options: Any) -> None:
        await asyncio.to_thread(self.put_writes, *arguments, **options)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await asyncio.to_thread(self.prune, thread_ids, strategy=strategy)


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [LociSaver, SynchronousSaver])
@pytest.mark.parametrize("client", [Memory, AsyncMemory])
async def test_the_conformance_suite_passes_with_all_capabilities(
    server: Server, kind: type[LociSaver], client: type[Memory] | type[AsyncMemory]
) -> None:
    @checkpointer_test(name=kind.__name__)
    async def savers() -> AsyncIterator[LociSaver]:
        memory = client(url=server.url, user=f"conformance-{next(_users)}")
        saver = kind(memory)
        yield saver
        saver._clients.synchronous.close()
        await saver._clients.asynchronous.aclose()

    report = await validate(savers)
    assert {name: result.failures for name, result in report.results.items() if result.failures} == {}
    assert {name: result.tests_passed for name, result in report.results.items()} == TESTS


@pytest.fixture
def saver(memory: Memory) -> LociSaver:
    return LociSaver(memory)


class State(TypedDict):
    count: int
    log: Annotated[list[str], operator.add]


def counting_graph(saver: LociSaver) -> Any:
    """Two tasks at once, and a question to a person."""

    def step(state: State) -> dict[str, Any]:
        return {"count": state["count"] + 1, "log": [f"step {state['count']}"]}

    def left(state: State) -> dict[str, Any]:
        return {"log": ["left"]}

    def ask(state: State) -> dict[str, Any]:
        return {"log": [f"said {interrupt('go on?')}"]}

    builder = StateGraph(State).add_node("step", step).add_node("left", left).add_node("ask", ask)
    builder = builder.add_edge(START, "step").add_edge(START, "left").add_edge("step", "ask").add_edge("ask", END)
    return builder.compile(checkpointer=saver)


def scenario(saver: Any) -> list[Any]:
    """What a graph does when it is interrupted, continued, taken back in time and changed by hand."""
    graph, config = counting_graph(saver), {"configurable": {"thread_id": "build 7/ü"}}
    outcome = [graph.invoke({"count": 1, "log": []}, config)["log"]]
    state = graph.get_state(config)
    outcome += [state.next, state.values, [one.value for one in state.interrupts]]
    # Another process would see the same.
    graph = counting_graph(saver)
    outcome.append(graph.invoke(Command(resume="yes"), config)["log"])
    history = list(graph.get_state_history(config))
    outcome += [(one.metadata["step"], one.metadata["source"], one.next, one.values) for one in history]
    before = next(one for one in history if one.next == ("ask",))
    outcome.append(graph.invoke(None, before.config)["log"])
    fork = graph.update_state(before.config, {"log": ["by hand"]}, as_node="ask")
    outcome += [graph.get_state(fork).values, graph.get_state(config).values]
    outcome.append(len(list(graph.get_state_history(config, limit=2))))
    return outcome


def test_a_graph_does_the_same_as_with_the_saver_of_langgraph(saver: LociSaver) -> None:
    assert scenario(saver) == scenario(InMemorySaver())


@pytest.mark.anyio
async def test_a_graph_runs_asynchronously(async_memory: AsyncMemory) -> None:
    graph, config = counting_graph(LociSaver(async_memory)), {"configurable": {"thread_id": "build"}}
    await graph.ainvoke({"count": 1, "log": []}, config)
    answer = await graph.ainvoke(Command(resume="yes"), config)
    assert answer["log"][-1] == "said yes"
    assert len([one async for one in graph.aget_state_history(config)]) >= 3


def test_a_subgraph_has_a_namespace_of_its_own(saver: LociSaver) -> None:
    inner = StateGraph(State).add_node("ask", lambda state: {"log": [interrupt("inside?")]}).add_edge(START, "ask").compile()
    graph = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").compile(checkpointer=saver)
    config: RunnableConfig = {"configurable": {"thread_id": "nested"}}
    graph.invoke({"count": 1, "log": []}, config)
    namespaces = {found.config["configurable"]["checkpoint_ns"] for found in saver.list(config)}
    assert "" in namespaces
    assert any(namespace.startswith("inner:") for namespace in namespaces)
    assert graph.invoke(Command(resume="yes"), config)["log"] == ["yes"]


def put(saver: LociSaver, thread: str, parent: str | None = None, **metadata: Any) -> RunnableConfig:
    configurable = {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": parent}
    given: Any = {"source": "loop", **metadata}
    return saver.put({"configurable": configurable}, empty_checkpoint(), given, {})


def test_without_a_thread_all_threads_are_listed(saver: LociSaver) -> None:
    for thread in ("a", "b", "a", "c"):
        put(saver, thread, step=1)
    threads = [found.config["configurable"]["thread_id"] for found in saver.list(None)]
    assert threads == ["c", "a", "a", "b"]
    assert [one.config["configurable"]["thread_id"] for one in saver.list(None, limit=2)] == ["c", "a"]
    assert list(saver.list(None, limit=0)) == []
    assert len(list(saver.list(None, filter={"step": 1}))) == 4
    assert list(saver.list(None, filter={"step": 2})) == []


def test_a_list_of_many_comes_in_pages_and_of_one_checkpoint_alone(saver: LociSaver) -> None:
    configs = [put(saver, "long", step=number) for number in range(60)]
    thread: RunnableConfig = {"configurable": {"thread_id": "long"}}
    assert [one.metadata["step"] for one in saver.list(thread)] == list(range(59, -1, -1))
    assert [one.metadata["step"] for one in saver.list(configs[7])] == [7]
    assert [one.metadata["step"] for one in saver.list(thread, before=configs[10], limit=3)] == [9, 8, 7]


def test_writes_that_arrive_before_their_checkpoint_wait_for_it(saver: LociSaver) -> None:
    checkpoint = empty_checkpoint()
    config: RunnableConfig = {"configurable": {"thread_id": "early", "checkpoint_ns": "", "checkpoint_id": checkpoint["id"]}}
    thread = threading.Thread(target=saver.put_writes, args=(config, [("channel", "value")], "task"))
    thread.start()
    saver.put({"configurable": {"thread_id": "early", "checkpoint_ns": ""}}, checkpoint, {}, {})
    thread.join()
    found = saver.get_tuple(config)
    assert found is not None
    assert found.pending_writes == [("task", "channel", "value")]


def test_writes_of_a_checkpoint_that_never_comes_are_an_error(saver: LociSaver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loci.langgraph._saver._WAITS", (0.001,))
    config: RunnableConfig = {"configurable": {"thread_id": "never", "checkpoint_id": "x"}}
    with pytest.raises(NotFoundError):
        saver.put_writes(config, [("channel", "value")], "task")
    with pytest.raises(ValueError, match="needs a checkpoint_id"):
        saver.put_writes({"configurable": {"thread_id": "never"}}, [("channel", "value")], "task")
    saver.put_writes(config, [], "task")


def test_writes_come_back_in_the_order_of_their_tasks(saver: LociSaver) -> None:
    config = put(saver, "order")
    saver.put_writes(config, [("channel", number) for number in range(1500)], "task-b", "path-1")
    saver.put_writes(config, [("channel", "first")], "task-a", "path-1")
    saver.put_writes(config, [("channel", "last")], "task-0", "path-2")
    found = saver.get_tuple(config)
    assert found is not None
    assert [value for *_, value in found.pending_writes or []] == ["first", *range(1500), "last"]


def test_users_do_not_see_the_checkpoints_of_each_other(saver: LociSaver, memory: Memory) -> None:
    config = put(saver, "mine")
    other = LociSaver(memory.scoped(user="somebody else"))
    assert other.get_tuple(config) is None
    assert list(other.list(None)) == []
    other.delete_thread("mine")
    assert saver.get_tuple(config) is not None


def test_metadata_that_json_does_not_know_is_kept_as_text(saver: LociSaver) -> None:
    found = saver.get_tuple(put(saver, "odd", when=threading, step=3))
    assert found is not None
    assert found.metadata["step"] == 3
    assert "threading" in str(found.metadata["when"])  # type: ignore[typeddict-item]


def append(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    return [*state, *itertools.chain.from_iterable(writes)]


class Delta(TypedDict):
    log: Annotated[list[str], DeltaChannel(append, snapshot_frequency=4)]


def test_pruning_keeps_what_a_delta_channel_is_rebuilt_from(saver: LociSaver) -> None:
    graph = StateGraph(Delta).add_node("echo", lambda state: {"log": [f"echo of {len(state['log'])}"]})
    compiled = graph.add_edge(START, "echo").add_edge("echo", END).compile(checkpointer=saver)
    config: RunnableConfig = {"configurable": {"thread_id": "delta"}}
    for number in range(5):
        compiled.invoke({"log": [f"turn {number}"]}, config)
    whole = compiled.get_state(config).values["log"]
    assert len(whole) == 10
    before = len(list(saver.list(config)))
    saver.prune(["delta"])
    assert 1 < len(list(saver.list(config))) < before
    assert compiled.get_state(config).values["log"] == whole
    assert compiled.invoke({"log": ["after"]}, config)["log"][:-1] == [*whole, "after"]
    with pytest.raises(ValueError, match="unknown strategy"):
        saver.prune(["delta"], strategy="everything")
    saver.prune(["delta"], strategy="delete")
    assert list(saver.list(config)) == []
