# Generated from _async/ by scripts/generate.py; do not edit.
"""The client: one method for each verb. A method builds a request and names the type of its answer, nothing more."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Iterable, Mapping, Sequence
from datetime import date, datetime
from types import TracebackType
from typing import Any, TypeAlias

from .._connection import endpoint_for
from .._context import Context
from .._event import ChangeEvent
from .._options import Options
from .._request import Request
from .._retry import Retry
from .._scope import UNSET, Scope, Unset, changes_of, fields_of, idempotency, object_of, segment
from .._turns import TurnInput, turns_to_wire
from ..errors import LociError
from ..models import (
    AccessPolicy,
    BatchEntry,
    BatchResult,
    Durability,
    Format,
    Health,
    IngestedTurns,
    KnowledgePointer,
    Layer,
    LedgerEntry,
    MemoryFilter,
    MemoryWrite,
    NewMemory,
    RecallAnswer,
    Source,
    Statistics,
    StoredMemory,
    Strategy,
)
from .caller import Caller
from .entities import Entities
from .events import follow_events
from .facts import Facts
from .http import Http
from .pages import Pages
from .session import Session

Time: TypeAlias = "datetime | date | str"
Filter: TypeAlias = "MemoryFilter | Mapping[str, Any]"

# Maximum number of memories of one request.
_BATCH = 500


class Memory:
    """The memory of one scope.

        memory = Memory()
        memory.remember("I am allergic to peanuts")
        answer = memory.recall("what am I allergic to?")
        print(answer.data[0].memory.content)

    Without `url` a server is started on this machine or found, one for each data folder. It listens on loopback with a key
    and ends with its last user. The command line `loci` reads and writes the same memories.

    Calls that fail raise a `LociError`. Connections that fail and errors that are `retryable` are retried; a write carries an
    `Idempotency-Key`, so that its retries do not write twice.
    """

    facts: Facts
    """Facts as subject, predicate and object."""
    entities: Entities
    """The people, projects and things that memories mention."""

    def __init__(
        self,
        *,
        user: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        project: str | None = None,
        team: str | None = None,
        org: str | None = None,
        company: str | None = None,
        pool: str | None = None,
        url: str | None = None,
        key: str | None = None,
        data: str | os.PathLike[str] | None = None,
        timeout: float = 65.0,
        retry: Retry | None = None,
        headers: Mapping[str, str] | None = None,
        ca: str | None = None,
    ) -> None:
        """Makes a client. Nothing is sent or started before the first call.

        Args:
            user: Whose memory the calls are about, as are `agent`, `session`, `project`, `team`, `org`, `company` and `pool`.
                If none is given: the user of the command line's settings, `me` by default. With `url` there is no default,
                unless the key is bound to one.
            url: The address of a server. Default: `LOCI_SERVER`; without it a server on this machine.
            key: The key of that server. Default: `LOCI_KEY`.
            data: The data folder of the server on this machine. Default: that of the command line.
            timeout: Seconds that the server may be silent during one attempt. It ends requests after 60 seconds itself.
            retry: How failed calls are repeated. Default: 3 attempts, with waits from 1 to 30 seconds.
            headers: Further headers of every request.
            ca: A file with the certificate authorities (PEM) of the server. Default: `LOCI_CA`, else those of the system.
        """
        options = Options(timeout=timeout, retry=retry or Retry(), headers=headers or {}, ca=ca or os.environ.get("LOCI_CA"))
        http = Http(endpoint_for(url, key, data), options)
        given = {
            "user": user,
            "agent": agent,
            "session": session,
            "project": project,
            "team": team,
            "org": org,
            "company": company,
            "pool": pool,
        }
        self._bind(http, Scope().overlay(given))

    @classmethod
    def _of(cls, http: Http, scope: Scope) -> Memory:
        """A client on connections that exist."""
        memory = object.__new__(cls)
        memory._bind(http, scope)
        return memory

    def _bind(self, http: Http, scope: Scope) -> None:
        self._http = http
        self._caller = Caller(http, scope)
        self.facts = Facts(self._caller)
        self.entities = Entities(self._caller)

    def __repr__(self) -> str:
        connection = self._http.endpoint.current()
        place = "not started yet" if connection is None else connection.url
        return f"<{type(self).__name__} {self.identifiers} {place}>"

    @property
    def identifiers(self) -> dict[str, str]:
        """The identifiers that this client was given, by their names in the HTTP API."""
        return dict(self._caller.scope.identifiers)

    def scoped(
        self,
        *,
        user: str | Unset | None = UNSET,
        agent: str | Unset | None = UNSET,
        session: str | Unset | None = UNSET,
        project: str | Unset | None = UNSET,
        team: str | Unset | None = UNSET,
        org: str | Unset | None = UNSET,
        company: str | Unset | None = UNSET,
        pool: str | Unset | None = UNSET,
        everyone: bool | Unset = UNSET,
    ) -> Memory:
        """A client of the same server with other identifiers. None removes one.

        It shares the connections of this client and needs no closing. With `everyone` its calls are about everyone's data
        instead of one scope, which only an admin may ask for.
        """
        changes = {
            "user": user,
            "agent": agent,
            "session": session,
            "project": project,
            "team": team,
            "org": org,
            "company": company,
            "pool": pool,
        }
        return self._of(self._http, self._caller.scope.overlay(changes, everyone))

    def remember(
        self,
        content: str,
        *,
        kind: str | None = None,
        tags: Sequence[str] | None = None,
        category: str | None = None,
        layer: Layer | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        pinned: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
        event_time: Time | None = None,
        said_at: Time | None = None,
        valid_from: Time | None = None,
        valid_until: Time | None = None,
        expires_at: Time | None = None,
        source: Source | None = None,
        role: str | None = None,
        actor_id: str | None = None,
        thread_id: str | None = None,
        run_id: str | None = None,
        access_policy: AccessPolicy | None = None,
        knowledge_pointer: KnowledgePointer | None = None,
        decay_rate: float | None = None,
        durability: Durability | None = None,
        as_is: bool | None = None,
        idempotency_key: str | None = None,
    ) -> MemoryWrite:
        """Adds a memory. It is on disk when the call returns.

        It is compared with what its scope knows: `event` of the answer is `NONE` if it was known already, and `SUPERSEDE` if
        it replaces an older memory.

        Args:
            content: The text.
            kind: The kind, for example `fact`, `preference` or `task`. Default: chosen by the text.
            tags: Labels of your own.
            category: A label from the categories configuration.
            layer: The layer. Default: the most specific one that the identifiers allow.
            importance: The importance, 0 to 1. Default: estimated from the text.
            confidence: The confidence, 0 to 1. Default: 1.
            pinned: Whether it is kept whatever its age.
            metadata: Further fields, by name.
            event_time: When it happened.
            said_at: When it was said or written. Default: now.
            valid_from: The first instant at which it holds.
            valid_until: The first instant at which it no longer holds.
            expires_at: The instant from which it is not returned any more.
            source: How it was acquired.
            role: The role of the speaker: `user`, `assistant`, `tool` or `system`.
            actor_id: The person or agent that said or wrote it.
            thread_id: The conversation that it belongs to.
            run_id: The agent run that wrote it.
            access_policy: Which callers within the scope may see it. Default: `shared`.
            knowledge_pointer: The knowledge item that it mirrors.
            decay_rate: How fast the confidence decays, 0 to 1. Default: by its kind.
            durability: `batched` acknowledges it before it is on disk, at most a second later.
            as_is: Whether it is added without a comparison: it neither repeats nor replaces any.
            idempotency_key: The key by which the server recognises a repetition of this call, for 24 hours. Default: one of
                its own for each call.
        """
        fields = {
            "content": content,
            "kind": kind,
            "tags": tags,
            "category": category,
            "layer": layer,
            "importance": importance,
            "confidence": confidence,
            "pinned": pinned,
            "metadata": metadata,
            "event_time": event_time,
            "said_at": said_at,
            "valid_from": valid_from,
            "valid_until": valid_until,
            "expires_at": expires_at,
            "source": source,
            "role": role,
            "actor_id": actor_id,
            "thread_id": thread_id,
            "run_id": run_id,
            "access_policy": access_policy,
            "knowledge_pointer": knowledge_pointer,
            "decay_rate": decay_rate,
            "durability": durability,
            "as_is": as_is,
        }
        return self._caller.write(MemoryWrite, "POST", "/v1/memories", fields_of(fields), idempotency_key)

    def remember_many(
        self,
        memories: Iterable[str | NewMemory | Mapping[str, Any]],
        *,
        continue_on_error: bool = False,
        idempotency_key: str | None = None,
    ) -> BatchResult:
        """Adds many memories, 500 in one request.

        The result has an entry for each, in their order; one that failed has an `error`, and this method does not raise it.
        Without `continue_on_error` nothing is added after the first failure.
        """
        entries = [fields_of({"content": one}) if isinstance(one, str) else object_of(one) for one in memories]
        data: list[BatchEntry] = []
        succeeded = failed = 0
        for start in range(0, len(entries), _BATCH):
            fields = {"memories": entries[start : start + _BATCH], "continueOnError": continue_on_error}
            key = idempotency_key if idempotency_key is None or start == 0 else f"{idempotency_key}-{start}"
            part = self._caller.write(BatchResult, "POST", "/v1/memories/batch", fields, key)
            data.extend(dataclasses.replace(entry, index=entry.index + start) for entry in part.data)
            succeeded += part.succeeded
            failed += part.failed
            if part.failed and not continue_on_error:
                break
        return BatchResult(data=data, succeeded=succeeded, failed=failed)

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        filter: Filter | None = None,
        strategy: Strategy | None = None,
        threshold: float | None = None,
        fields: Sequence[str] | None = None,
        explain: bool | None = None,
        thread: str | None = None,
        now: Time | None = None,
        cursor: str | None = None,
        pack: Mapping[str, Any] | None = None,
        window: Mapping[str, Any] | None = None,
        after_revision: int | None = None,
    ) -> RecallAnswer:
        """Finds the memories that matter for a question, the best first.

        `answered` of the answer says whether they are likely to answer it. `context` gives the same as a text for a prompt.

        Args:
            query: The question, in plain words.
            limit: Maximum number of memories, at most 100. Default: 10.
            filter: The memories that are searched, for example `MemoryFilter(tags=["release"])`.
            strategy: Which searches are combined. Default: `hybrid`.
            threshold: Minimum similarity of what the vector search contributes. 0 returns whatever there is.
            fields: The fields of each memory that are returned, by their names in the HTTP API. Default: all.
            explain: Whether each result says how its score is made up.
            thread: The conversation that receives the answer. What it repeats of the answer is not learned from it again.
            now: The instant that counts as now.
            cursor: Where the page starts: `next_cursor` of the page before.
            pack: Options of a text for a prompt, which the answer then has as `pack`.
            window: Options of messages that fill a model's window, which the answer then has as `window`.
            after_revision: The revision after which changes are listed at the beginning of the text of `pack` or `window`.
        """
        arguments = {
            "query": query,
            "limit": limit,
            "filter": None if filter is None else object_of(filter),
            "strategy": strategy,
            "threshold": threshold,
            "fields": fields,
            "explain": explain,
            "thread_id": thread,
            "now": now,
            "cursor": cursor,
            "pack": None if pack is None else object_of(pack),
            "window": None if window is None else object_of(window),
            "after_revision": after_revision,
        }
        return self._caller.ask(RecallAnswer, "/v1/recall", fields_of(arguments))

    def context(
        self,
        query: str,
        *,
        budget_tokens: int | None = None,
        format: Format | None = None,
        summarize: bool | None = None,
        limit: int | None = None,
        filter: Filter | None = None,
        strategy: Strategy | None = None,
        threshold: float | None = None,
        thread: str | None = None,
        now: Time | None = None,
        after_revision: int | None = None,
    ) -> Context:
        """The memories that matter for a question, as a text for a prompt.

        Args:
            query: The question, in plain words.
            budget_tokens: Maximum number of tokens of the text. Default: 1,000 for a simple question, 3,000 for a complex one.
            format: How the text is written. Default: `markdown`.
            summarize: Whether memories that do not fit are shortened instead of left out.
            limit: Maximum number of memories. Default: 5 for a simple question, 20 for a complex one.
            filter: The memories that are searched.
            strategy: Which searches are combined. Default: `hybrid`.
            threshold: Minimum similarity of what the vector search contributes.
            thread: The conversation that receives the text. What it repeats of it is not learned from it again.
            now: The instant that counts as now.
            after_revision: The revision after which changes are listed at the beginning: `revision` of an earlier answer.
        """
        answer = self.recall(
            query,
            limit=limit,
            filter=filter,
            strategy=strategy,
            threshold=threshold,
            fields=["id"],
            thread=thread,
            now=now,
            pack=fields_of({"budget_tokens": budget_tokens, "format": format, "summarize": summarize}),
            after_revision=after_revision,
        )
        if answer.pack is None:
            detail = "the server answered without a text; is it older than this client?"
            raise LociError("INVALID_RESPONSE", detail, operation="recall")
        pack = answer.pack
        return Context(
            text=pack.text,
            tokens=pack.tokens,
            budget_tokens=pack.budget_tokens,
            cited=pack.cited,
            left_out=pack.left_out,
            shortened=pack.shortened,
            revision=pack.revision,
            answered=answer.answered,
            degraded=answer.degraded,
        )

    def get(self, id: str) -> StoredMemory:
        """Reads a memory. One that was forgotten has the state `soft_deleted` until it is purged."""
        return self._caller.get(StoredMemory, f"/v1/memories/{segment('id', id)}")

    def list(self, filter: Filter | None = None, *, page_size: int | None = None) -> Pages[StoredMemory]:
        """Lists memories, newest first, page by page while they are read.

        for memory in memory.list({"tags": ["release"]}):
            print(memory.content)
        """
        fields = {**_as_query(object_of(filter)), **fields_of({"limit": page_size})}
        return self._caller.pages(StoredMemory, "/v1/memories", fields)

    def update(
        self,
        id: str,
        *,
        content: str | Unset = UNSET,
        kind: str | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        category: str | Unset | None = UNSET,
        importance: float | Unset = UNSET,
        confidence: float | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        metadata: Mapping[str, Any] | Unset = UNSET,
        event_time: Time | Unset | None = UNSET,
        valid_from: Time | Unset | None = UNSET,
        valid_until: Time | Unset | None = UNSET,
        expires_at: Time | Unset | None = UNSET,
        source: Source | Unset | None = UNSET,
        access_policy: AccessPolicy | Unset = UNSET,
        knowledge_pointer: KnowledgePointer | Unset | None = UNSET,
        version: int | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> MemoryWrite:
        """Changes a memory. What is left out stays as it is, and None removes a value.

        Metadata is merged over the old: None removes a field. With `version`, a memory that has changed since that version
        fails with a `ConflictError`.
        """
        changes = {
            "content": content,
            "kind": kind,
            "tags": tags,
            "category": category,
            "importance": importance,
            "confidence": confidence,
            "pinned": pinned,
            "metadata": metadata,
            "event_time": event_time,
            "valid_from": valid_from,
            "valid_until": valid_until,
            "expires_at": expires_at,
            "source": source,
            "access_policy": access_policy,
            "knowledge_pointer": knowledge_pointer,
            "version": version,
        }
        path = f"/v1/memories/{segment('id', id)}"
        return self._caller.write(MemoryWrite, "PATCH", path, changes_of(changes), idempotency_key)

    def forget(
        self, id: str, *, reason: str | None = None, version: int | None = None, idempotency_key: str | None = None
    ) -> None:
        """Forgets a memory: it is hidden at once, and can be restored until it is purged.

        With `version`, a memory that has changed since that version fails with a `ConflictError`.
        """
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        path = f"/v1/memories/{segment('id', id)}"
        self._caller.delete(path, fields_of({"reason": reason}), headers, idempotency_key)

    def restore(self, id: str, *, idempotency_key: str | None = None) -> MemoryWrite:
        """Restores a memory that was forgotten."""
        path = f"/v1/memories/{segment('id', id)}/restore"
        return self._caller.write(MemoryWrite, "POST", path, {}, idempotency_key)

    def history(self, id: str, *, page_size: int | None = None) -> Pages[LedgerEntry]:
        """The history of a memory, oldest entry first: what changed, by whom and why."""
        path = f"/v1/memories/{segment('id', id)}/history"
        return self._caller.pages(LedgerEntry, path, fields_of({"limit": page_size}))

    def supersede(
        self,
        id: str,
        content: str,
        *,
        kind: str | None = None,
        tags: Sequence[str] | None = None,
        category: str | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        pinned: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
        event_time: Time | None = None,
        said_at: Time | None = None,
        valid_from: Time | None = None,
        source: Source | None = None,
        idempotency_key: str | None = None,
    ) -> MemoryWrite:
        """Replaces a memory by a newer one; the old one stays in the chain. What is left out is taken from the old memory."""
        fields = {
            "content": content,
            "kind": kind,
            "tags": tags,
            "category": category,
            "importance": importance,
            "confidence": confidence,
            "pinned": pinned,
            "metadata": metadata,
            "event_time": event_time,
            "said_at": said_at,
            "valid_from": valid_from,
            "source": source,
        }
        path = f"/v1/memories/{segment('id', id)}/supersede"
        return self._caller.write(MemoryWrite, "POST", path, fields_of(fields), idempotency_key)

    def correct(
        self, id: str, content: str, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> MemoryWrite:
        """Corrects a memory that was wrong. `reason` says why, for the history."""
        path = f"/v1/memories/{segment('id', id)}/correct"
        fields = fields_of({"content": content, "reason": reason})
        return self._caller.write(MemoryWrite, "POST", path, fields, idempotency_key)

    def confirm(self, id: str, *, idempotency_key: str | None = None) -> MemoryWrite:
        """Confirms that a memory holds, which raises its confidence."""
        path = f"/v1/memories/{segment('id', id)}/confirm"
        return self._caller.write(MemoryWrite, "POST", path, {}, idempotency_key)

    def pin(self, id: str, pinned: bool = True, *, idempotency_key: str | None = None) -> MemoryWrite:
        """Keeps a memory whatever its age, or no longer so."""
        return self.update(id, pinned=pinned, idempotency_key=idempotency_key)

    def ingest(
        self,
        turns: Iterable[TurnInput],
        *,
        session: str | None = None,
        thread: str | None = None,
        idempotency_key: str | None = None,
    ) -> IngestedTurns:
        """Stores the turns of a conversation, oldest first. No model is called; facts are learned when the session ends.

            memory.ingest([("user", "My sister plays the cello"), ("assistant", "Noted.")], session="monday")

        `session` is the conversation that ends and is learned from; `thread` names it without a session.
        """
        path = "/v1/turns" if session is None else f"/v1/sessions/{segment('session', session)}/turns"
        fields = {"turns": turns_to_wire(turns, session, thread)}
        return self._caller.write(IngestedTurns, "POST", path, fields, idempotency_key)

    def session(self, id: str, *, thread: str | None = None) -> Session:
        """A conversation, which Loci learns from when it has ended. `thread` is named as the session by default.

        with memory.session("monday") as session:
            session.add("user", "My sister Bea plays the cello")
        """
        return Session(self, id, thread or id)

    def events(
        self,
        *,
        after: str | None = None,
        event: Sequence[str] | None = None,
        memory_id: str | None = None,
        thread: str | None = None,
        kind: Sequence[str] | None = None,
        layer: Sequence[Layer] | None = None,
        silence: float = 60.0,
    ) -> Iterator[ChangeEvent]:
        """Follows changes as they happen, from now on or from `after` (`all`: from the first one).

        After a break it reconnects and continues at the last event, so that none is lost or repeated. It goes on until the
        loop is left. `silence` is the number of seconds without a byte after which the connection counts as broken; it
        must be longer than the server's `server.heartbeat_seconds` (15).
        """
        fields = {
            "after": after,
            "event": event,
            "memory_id": memory_id,
            "thread_id": thread,
            "kind": kind,
            "layer": layer,
        }
        return follow_events(self._caller, fields_of(fields), silence)

    def stats(self) -> Statistics:
        """Counts of what the caller may see."""
        return self._caller.get(Statistics, "/v1/stats")

    def health(self) -> Health:
        """The condition of the server and of each component. An unhealthy server is an answer and not an error."""
        request = Request("GET", "/readyz", accept=503)
        return request.read(Health.from_json, self._http.json(request))

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Calls any operation of the HTTP API and returns its JSON.

        The identifiers of the client are not added: put them into the query or the body, as the operation expects them.
        """
        own = {} if idempotency_key is None else idempotency(idempotency_key)
        return self._http.json(Request(method, path, query or {}, body, {**(headers or {}), **own}))

    def connect(self) -> str:
        """The address of the server, which is started if need be. Every call does that by itself."""
        return (self._http.connection()).url

    def close(self) -> None:
        """Closes connections and ends the use of the server. The server on this machine ends with its last user."""
        self._http.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _as_query(filter: Mapping[str, Any]) -> dict[str, Any]:
    """A filter as query parameters, where the plain names of users, agents and sessions are those of the scope."""
    return {f"filter.{name}" if name in ("userId", "agentId", "sessionId") else name: value for name, value in filter.items()}
