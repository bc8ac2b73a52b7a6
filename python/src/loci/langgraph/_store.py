"""Long-term memory of LangGraph, as memories of Loci."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeAlias

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from .._async.client import AsyncMemory
from .._scope import segment
from .._steps import Call, ClientPair, Steps, entries_of
from .._sync.client import Memory
from ..errors import NotFoundError, error_from_problem
from ._items import (
    changes_of_item,
    expiry,
    item_of,
    key_tag,
    matches,
    memory_of_item,
    path_tag,
    place_tag,
    search_item_of,
    utc_now,
)

Namespace: TypeAlias = "tuple[str, ...]"
ScopeOf: TypeAlias = "Callable[[Namespace], Mapping[str, str | None]]"
_Place: TypeAlias = "tuple[Namespace, str]"
_Scope: TypeAlias = "frozenset[tuple[str, str | None]]"

# Maximum number of tags in a filter, of memories in a batch, of results of a recall, and of entries of a list, in one request.
_TAGS, _BATCH, _RECALL, _LIST = 200, 500, 100, 1000

_log = logging.getLogger("loci.langgraph")


class LociStore(BaseStore):
    """Keeps the items of a store in Loci, for synchronous and asynchronous graphs.

        store = LociStore()
        store.put(("users", "ana"), "diet", {"text": "Ana is allergic to peanuts"})
        store.search(("users", "ana"), query="what must she avoid?")

    Each item is one memory. It is stored as it is: it is not compared with other memories, and neither merged nor aged, but
    Loci finds it like any other memory of its scope. Searching with a query needs no embeddings: Loci has its own.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory | AsyncMemory | None = None,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        scope: ScopeOf | None = None,
    ) -> None:
        """Makes a store.

        Args:
            memory: Whose items they are, and on which server. Default: `Memory()`.
            index: `fields` says by which fields of a value an item is found. Default: all. The embedding is that of Loci.
            ttl: Default TTL of items, and whether reading an item begins it anew (`refresh_on_read`, default: yes).
            scope: Gives the identifiers of a namespace, or of the prefix that is searched, for example
                `lambda namespace: {"user": namespace[1]} if len(namespace) > 1 else {}`. Default: all items lie in the scope
                of `memory`.
        """
        self._clients = ClientPair(memory)
        self._fields = list((index or {}).get("fields") or ["$"])
        self._scope_of = scope
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Runs operations. Reads see what was stored before the batch."""
        return self._clients.run(self._batch(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch`, asynchronously."""
        return await self._clients.arun(self._batch(list(ops)))

    def close(self) -> None:
        """Ends the use of the server, unless `memory` was given."""
        self._clients.close()

    def __enter__(self) -> LociStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # What follows are the requests of each operation, for both clients.

    def _batch(self, ops: Sequence[Op]) -> Steps[list[Result]]:
        for op in ops:
            validate_op_namespace(op)
        places = [(op.namespace, op.key) for op in ops if isinstance(op, GetOp)]
        found = yield from self._find(places)
        results: list[Result] = []
        puts: dict[_Place, PutOp] = {}
        read: list[dict[str, Any]] = []
        for op in ops:
            if isinstance(op, GetOp):
                memories = found.get((op.namespace, op.key), [])
                results.append(item_of(memories[0], op) if memories else None)
                read += memories[:1] if op.refresh_ttl else []
            elif isinstance(op, SearchOp):
                hits = yield from self._search(op)
                results.append([search_item_of(memory, score) for memory, score in hits])
                read += [memory for memory, _ in hits] if op.refresh_ttl else []
            elif isinstance(op, ListNamespacesOp):
                results.append((yield from self._list_namespaces(op)))
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            else:
                raise ValueError(f"unknown operation {type(op).__name__}")
        yield from self._refresh(read)
        yield from self._put(puts)
        return results

    def _find(self, places: Sequence[_Place]) -> Steps[dict[_Place, list[dict[str, Any]]]]:
        """The memories of items, the newest first. More than one only if two processes have stored the same key at once."""
        found: dict[_Place, list[dict[str, Any]]] = defaultdict(list)
        by_scope: dict[_Scope, dict[str, _Place]] = defaultdict(dict)
        for namespace, key in places:
            by_scope[self._scope(namespace)][key_tag(namespace, key)] = namespace, key
        for scope, by_tag in by_scope.items():
            tags = list(by_tag)
            for start in range(0, len(tags), _TAGS):
                memories = yield from entries_of(_listing(tags[start : start + _TAGS], scope))
                for memory in memories:
                    for tag in by_tag.keys() & set(memory["tags"]):
                        found[by_tag[tag]].append(memory)
        return found

    def _search(self, op: SearchOp) -> Steps[list[tuple[dict[str, Any], float | None]]]:
        """The memories of a search, with their scores."""
        wanted = op.offset + op.limit
        hits: dict[str, tuple[dict[str, Any], float | None]] = {}
        if wanted <= 0:
            return []

        def add(memory: dict[str, Any], score: float | None) -> None:
            if not op.filter or matches(memory["metadata"]["value"], op.filter):
                hits.setdefault(place_tag(memory), (memory, score))

        tag, scope = path_tag(op.namespace_prefix), self._scope(op.namespace_prefix)
        alike: dict[str, float] = {}
        query = (op.query or "").strip()
        if query:
            cursor: str | None = None
            while len(hits) < wanted:
                answer = yield _recall(query, tag, scope, cursor, _RECALL if op.filter else min(wanted, _RECALL))
                for hit in answer["data"]:
                    add(hit["memory"], hit["score"])
                    # Of memories that say the same, recall returns one.
                    alike |= dict.fromkeys(hit["explain"].get("overrides", []), hit["score"])
                cursor = answer["nextCursor"]
                if cursor is None:
                    break
        if len(hits) < wanted:
            # Those that the question does not find come last, with the score 0. Without a question that is all.
            only = {"indexed": True} if query else None
            seen = 0

            def enough(entries: list[dict[str, Any]]) -> bool:
                nonlocal seen
                for memory in entries[seen:]:
                    add(memory, alike.get(memory["id"], 0.0) if query else None)
                seen = len(entries)
                return len(hits) >= wanted and not alike

            size = _LIST if op.filter or alike else min(wanted, _LIST)
            enough((yield from entries_of(_listing([tag], scope, only, size), enough)))
        # The sort is stable, so that those with the same score keep their order.
        ordered = sorted(hits.values(), key=lambda hit: hit[1] or 0.0, reverse=True)
        return ordered[op.offset : wanted]

    def _list_namespaces(self, op: ListNamespacesOp) -> Steps[list[Namespace]]:
        conditions = op.match_conditions or ()
        # The part of a prefix before its first wildcard decides which items are read.
        prefix: Namespace = max((_fixed(one) for one in conditions if one.match_type == "prefix"), key=len, default=())
        memories = yield from entries_of(_listing([path_tag(prefix)], self._scope(prefix)))
        namespaces = {tuple(memory["metadata"]["namespace"]) for memory in memories}
        kept = {one for one in namespaces if all(_is_match(condition, one) for condition in conditions)}
        shortened = sorted(kept if op.max_depth is None else {one[: op.max_depth] for one in kept})
        return shortened[op.offset : op.offset + op.limit]

    def _refresh(self, memories: Sequence[dict[str, Any]]) -> Steps[None]:
        """Begins the TTL of items that were read anew."""
        groups: dict[tuple[_Scope, float], list[str]] = defaultdict(list)
        for memory in {memory["id"]: memory for memory in memories}.values():
            ttl = memory["metadata"].get("ttlMinutes")
            if ttl is not None:
                groups[self._scope(tuple(memory["metadata"]["namespace"])), ttl].append(memory["id"])
        for (scope, ttl), ids in groups.items():
            for start in range(0, len(ids), _LIST):
                fields = {
                    "filter": {"id": ids[start : start + _LIST]},
                    "changes": {"expiresAt": expiry(ttl, utc_now())},
                    "dryRun": False,
                }
                yield Call("POST", "/v1/memories/update", fields, writes=True, scope=dict(scope))

    def _put(self, puts: Mapping[_Place, PutOp]) -> Steps[None]:
        known = yield from self._find(list(puts))
        new: dict[_Scope, list[dict[str, Any]]] = defaultdict(list)
        for (namespace, key), op in puts.items():
            scope, memories = self._scope(namespace), known.get((namespace, key), [])
            if op.value is None:
                yield from _forget(memories, scope)
            elif memories:
                yield from self._change(memories[0], op, scope)
                yield from _forget(memories[1:], scope)
            else:
                new[scope].append(memory_of_item(op, self._fields, utc_now()))
        for scope, memories in new.items():
            yield from _add(memories, scope)

    def _change(self, memory: dict[str, Any], op: PutOp, scope: _Scope) -> Steps[None]:
        fields = changes_of_item(op, self._fields, utc_now())
        path = f"/v1/memories/{segment('id', memory['id'])}"
        try:
            answer = yield Call("PATCH", path, fields, writes=True, scope=dict(scope), nulls=True)
        except NotFoundError:
            # It was deleted a moment ago.
            yield from _add([memory_of_item(op, self._fields, utc_now())], scope)
        else:
            _warn_of_masks({"namespace": op.namespace, "key": op.key}, answer)

    def _scope(self, namespace: Namespace) -> _Scope:
        """The identifiers of a namespace, in a form that groups can be made by."""
        return frozenset() if self._scope_of is None else frozenset(self._scope_of(tuple(namespace)).items())


def _listing(tags: Sequence[str], scope: _Scope, metadata: Mapping[str, Any] | None = None, size: int = _LIST) -> Call:
    fields = {"tags": list(tags), "metadata": None if metadata is None else json.dumps(metadata), "limit": size}
    return Call("GET", "/v1/memories", fields, scope=dict(scope))


def _recall(query: str, tag: str, scope: _Scope, cursor: str | None, limit: int) -> Call:
    fields = {
        "query": query,
        # Whatever there is, the best first, also if it does not answer the question.
        "threshold": 0,
        "limit": limit,
        "cursor": cursor,
        "filter": {"tags": [tag], "metadata": {"indexed": True}},
        "fields": ["metadata", "createdAt", "tags"],
        "explain": True,
    }
    return Call("POST", "/v1/recall", fields, scope=dict(scope))


def _add(memories: Sequence[dict[str, Any]], scope: _Scope) -> Steps[None]:
    """Adds items."""
    for start in range(0, len(memories), _BATCH):
        part = memories[start : start + _BATCH]
        answer = yield Call("POST", "/v1/memories/batch", {"memories": part}, writes=True, scope=dict(scope))
        known = []
        for entry in answer["data"]:
            if "error" in entry:
                raise error_from_problem(entry["error"])
            _warn_of_masks(part[entry["index"]]["metadata"], entry)
            if entry["event"] == "NONE":
                known.append(part[entry["index"]])
        # Something else in the scope has the same text, and a text is known once. Two events with the same text are two if
        # they have different references.
        if known:
            events = [{**memory, "kind": "episodic"} for memory in known]
            yield Call("POST", "/v1/memories/batch", {"memories": events}, writes=True, scope=dict(scope))


def _forget(memories: Sequence[dict[str, Any]], scope: _Scope) -> Steps[None]:
    for memory in memories:
        path = f"/v1/memories/{segment('id', memory['id'])}"
        try:
            yield Call("DELETE", path, {"reason": "deleted from the LangGraph store"}, writes=True, scope=dict(scope))
        except NotFoundError:
            continue


def _warn_of_masks(place: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    if masks := answer["redacted"]:
        item = (*place["namespace"], place["key"])
        _log.warning("the item %s was masked before it was stored (%s); see redaction.mask", item, ", ".join(masks))


def _fixed(condition: MatchCondition) -> Namespace:
    path = tuple(condition.path)
    return path[: path.index("*")] if "*" in path else path


def _is_match(condition: MatchCondition, namespace: Namespace) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))
