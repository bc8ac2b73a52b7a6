"""Checkpoints of LangGraph, as checkpoints of Loci."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from types import TracebackType
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from .._async.client import AsyncMemory
from .._scope import segment
from .._steps import Call, ClientPair, Pause, Result, Steps, Stream, entries_of
from .._sync.client import Memory
from ..errors import NotFoundError

# The labels of the serializer begin with this, so that a checkpoint says what made it.
_FORMAT = "langgraph-"
# Number of checkpoints with their data that one request fetches; of those without.
_PAGE, _PAGE_WITHOUT_DATA = 25, 1000
# Maximum number of writes of one request.
_WRITES = 1000
# LangGraph stores writes while it stores their checkpoint. Waits until that is there, in seconds: six in all.
_WAITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0)


class LociSaver(BaseCheckpointSaver[int]):
    """Keeps the checkpoints of graphs in Loci, for synchronous and asynchronous graphs.

        graph = builder.compile(checkpointer=LociSaver())

    Checkpoints belong to the user of `memory`, or to its agent and user. They are not memories: they are not searched, not
    learned from, and stay until they are deleted.
    """

    def __init__(self, memory: Memory | AsyncMemory | None = None, *, serde: SerializerProtocol | None = None) -> None:
        """Makes a saver.

        Args:
            memory: Whose checkpoints they are, and on which server. Default: `Memory()`.
            serde: What turns checkpoints into bytes. Default: the serializer of LangGraph.
        """
        super().__init__(serde=serde)
        self._clients = ClientPair(memory)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Reads a checkpoint, or the newest of its thread and namespace."""
        return self._clients.run(self._get(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Lists checkpoints, newest first. Without `config`: thread by thread, the one changed last first."""
        return self._clients.iterate(self._list(config, filter, before, limit))

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """Stores a checkpoint."""
        del new_versions  # A checkpoint is stored as a whole.
        return self._clients.run(self._put(config, checkpoint, metadata))

    def put_writes(self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Stores what a task wrote towards the next checkpoint."""
        self._clients.run(self._put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Deletes a thread in all its namespaces."""
        self._clients.run(self._delete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints whose metadata name one of these runs. Looks through all threads of the scope."""
        self._clients.run(self._delete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies all checkpoints of a thread, with their writes. A copy that was interrupted may be repeated."""
        self._clients.run(self._copy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Deletes all but the newest checkpoint of each namespace (`keep_latest`), or everything (`delete`).

        Ancestors that a `DeltaChannel` of the newest checkpoint is rebuilt from are kept too.
        """
        self._clients.run(self._prune(thread_ids, strategy))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, asynchronously."""
        return await self._clients.arun(self._get(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """`list`, asynchronously."""
        async for found in self._clients.aiterate(self._list(config, filter, before, limit)):
            yield found

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        """`put`, asynchronously."""
        del new_versions
        return await self._clients.arun(self._put(config, checkpoint, metadata))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """`put_writes`, asynchronously."""
        await self._clients.arun(self._put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread`, asynchronously."""
        await self._clients.arun(self._delete_thread(thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """`delete_for_runs`, asynchronously."""
        await self._clients.arun(self._delete_for_runs(run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`copy_thread`, asynchronously."""
        await self._clients.arun(self._copy_thread(source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """`prune`, asynchronously."""
        await self._clients.arun(self._prune(thread_ids, strategy))

    def close(self) -> None:
        """Ends the use of the server, unless `memory` was given."""
        self._clients.close()

    def __enter__(self) -> LociSaver:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # What follows are the requests of each operation, for both clients.

    def _get(self, config: RunnableConfig) -> Steps[CheckpointTuple | None]:
        thread, namespace, id = _place(config)
        path = _thread(thread) if id is None else _checkpoint(thread, id)
        try:
            saved = yield Call("GET", path, {"namespace": namespace})
        except NotFoundError:
            return None
        return self._tuple(saved)

    def _list(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Stream[CheckpointTuple]:
        if config is None:
            threads = yield from entries_of(Call("GET", "/v1/threads", {"limit": _PAGE_WITHOUT_DATA}))
            chosen = [thread["threadId"] for thread in threads]
            fields: dict[str, Any] = {}
        else:
            configurable = config["configurable"]
            chosen = [str(configurable["thread_id"])]
            fields = {"namespace": configurable.get("checkpoint_ns")}
        if filter:
            fields["metadata"] = json.dumps(filter)
        if before is not None:
            fields["beforeId"] = get_checkpoint_id(before)
        only = None if config is None else get_checkpoint_id(config)
        left = sys.maxsize if limit is None else limit
        fields |= {"includeData": True, "limit": _PAGE if only is not None else max(1, min(left, _PAGE))}
        for thread in chosen:
            cursor: str | None = None
            while left > 0:
                page = yield Call("GET", f"{_thread(thread)}/checkpoints", {**fields, "cursor": cursor})
                for saved in page["data"]:
                    if left > 0 and only in (None, saved["id"]):
                        left -= 1
                        yield Result(self._tuple(saved))
                cursor = page["nextCursor"]
                if cursor is None:
                    break

    def _put(self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata) -> Steps[RunnableConfig]:
        thread, namespace, parent = _place(config)
        fields = {
            "id": checkpoint["id"],
            "namespace": namespace,
            "parentId": parent,
            "metadata": json.loads(json.dumps(get_serializable_checkpoint_metadata(config, metadata), default=str)),
            "replace": True,
            **self._pack(checkpoint),
        }
        yield Call("POST", f"{_thread(thread)}/checkpoints", fields, writes=True)
        return _config(thread, namespace, checkpoint["id"])

    def _put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Steps[None]:
        thread, namespace, id = _place(config)
        if id is None:
            raise ValueError("the config of writes needs a checkpoint_id")
        entries = [
            {
                "taskId": task_id,
                "taskPath": task_path,
                "channel": channel,
                "position": WRITES_IDX_MAP.get(channel, index),
                **self._pack(value),
            }
            for index, (channel, value) in enumerate(writes)
        ]
        yield from _send_writes(thread, namespace, id, entries, _WAITS)

    def _delete_thread(self, thread: str) -> Steps[None]:
        try:
            yield Call("DELETE", _thread(thread), writes=True)
        except NotFoundError:
            return

    def _delete_for_runs(self, run_ids: Sequence[str]) -> Steps[None]:
        runs = set(run_ids)
        if not runs:
            return
        for thread in (yield from entries_of(Call("GET", "/v1/threads", {"limit": _PAGE_WITHOUT_DATA}))):
            for saved in (yield from _outlines(thread["threadId"])):
                if saved["metadata"].get("run_id") in runs:
                    yield from _delete(saved)

    def _copy_thread(self, source: str, target: str) -> Steps[None]:
        # In the order in which they were stored, so that the newest of the copy is that of the source.
        for outline in reversed((yield from _outlines(source))):
            saved = yield Call("GET", _checkpoint(source, outline["id"]), {"namespace": outline["namespace"]})
            kept = ("id", "namespace", "parentId", "format", "data", "metadata")
            fields = {**{name: saved.get(name) for name in kept}, "replace": True}
            yield Call("POST", f"{_thread(target)}/checkpoints", fields, writes=True)
            yield from _send_writes(target, saved["namespace"], saved["id"], saved.get("writes", []), ())

    def _prune(self, thread_ids: Sequence[str], strategy: str) -> Steps[None]:
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"unknown strategy {strategy!r}: expected keep_latest or delete")
        for thread in thread_ids:
            if strategy == "delete":
                yield from self._delete_thread(thread)
                continue
            outlines = yield from _outlines(thread)
            # The newest comes first in its namespace, so that it stays.
            newest = {saved["namespace"]: saved for saved in reversed(outlines)}
            if not any(saved["metadata"].get("counters_since_delta_snapshot") for saved in newest.values()):
                if outlines:
                    yield Call("POST", f"{_thread(thread)}/prune", {"keep": 1}, writes=True)
                continue
            kept = set()
            for saved in newest.values():
                kept |= yield from self._needed(saved)
            for saved in outlines:
                if (saved["namespace"], saved["id"]) not in kept:
                    yield from _delete(saved)

    def _needed(self, newest: dict[str, Any]) -> Steps[set[tuple[str, str]]]:
        """A checkpoint, and those of its ancestors that its delta channels are rebuilt from."""
        namespace, id = newest["namespace"], newest["id"]
        needed = {(namespace, id)}
        # A channel is rebuilt from the nearest ancestor that holds its value, and from the writes since then.
        missing = set(newest["metadata"].get("counters_since_delta_snapshot") or {})
        parent = newest["parentId"]
        while missing and parent is not None and (namespace, parent) not in needed:
            try:
                saved = yield Call("GET", _checkpoint(newest["threadId"], parent), {"namespace": namespace})
            except NotFoundError:
                break
            needed.add((namespace, parent))
            missing -= set(self._unpack(saved)["channel_values"])
            parent = saved["parentId"]
        return needed

    def _pack(self, value: Any) -> dict[str, str]:
        label, data = self.serde.dumps_typed(value)
        return {"format": _FORMAT + label, "data": base64.b64encode(data).decode()}

    def _unpack(self, saved: dict[str, Any]) -> Any:
        return self.serde.loads_typed((saved["format"].removeprefix(_FORMAT), base64.b64decode(saved["data"])))

    def _tuple(self, saved: dict[str, Any]) -> CheckpointTuple:
        thread, namespace, parent = saved["threadId"], saved["namespace"], saved["parentId"]
        writes = sorted(
            saved.get("writes", []),
            key=lambda write: writes_sort_key(write["taskPath"], write["taskId"], write["position"]),
        )
        return CheckpointTuple(
            config=_config(thread, namespace, saved["id"]),
            checkpoint=self._unpack(saved),
            metadata=saved["metadata"],
            parent_config=None if parent is None else _config(thread, namespace, parent),
            pending_writes=[(write["taskId"], write["channel"], self._unpack(write)) for write in writes],
        )


def _place(config: RunnableConfig) -> tuple[str, str, str | None]:
    """Thread, namespace and checkpoint of a config."""
    configurable = config["configurable"]
    return str(configurable["thread_id"]), configurable.get("checkpoint_ns") or "", get_checkpoint_id(config)


def _config(thread: str, namespace: str, id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": id}}


def _thread(thread: str) -> str:
    return f"/v1/threads/{segment('thread_id', thread)}"


def _checkpoint(thread: str, id: str) -> str:
    return f"{_thread(thread)}/checkpoints/{segment('checkpoint_id', id)}"


def _outlines(thread: str) -> Steps[list[dict[str, Any]]]:
    """The checkpoints of a thread without their data, newest first."""
    return entries_of(Call("GET", f"{_thread(thread)}/checkpoints", {"limit": _PAGE_WITHOUT_DATA}))


def _delete(saved: dict[str, Any]) -> Steps[None]:
    path = _checkpoint(saved["threadId"], saved["id"])
    try:
        yield Call("DELETE", path, {"namespace": saved["namespace"]}, writes=True)
    except NotFoundError:
        return


def _send_writes(
    thread: str, namespace: str, id: str, entries: Sequence[dict[str, Any]], waits: Sequence[float]
) -> Steps[None]:
    for start in range(0, len(entries), _WRITES):
        fields = {"namespace": namespace, "writes": list(entries[start : start + _WRITES])}
        for wait in (*waits, None):
            try:
                yield Call("POST", f"{_checkpoint(thread, id)}/writes", fields, writes=True)
                break
            except NotFoundError:
                if wait is None:
                    raise
            yield Pause(wait)
