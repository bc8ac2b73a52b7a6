"""Every verb, on a real server."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from loci import AsyncMemory, ConflictError, InvalidRequestError, Memory, MemoryFilter, NewMemory, NotFoundError, Turn
from loci.models import Source


def test_remember_adds_recognises_what_is_known_and_replaces_a_changed_value(memory: Memory, user: str) -> None:
    first = memory.remember("The cluster has 5 nodes", kind="fact", tags=["ops"], metadata={"ticket": 7, "snake_case": 1})
    assert (first.event, first.version) == ("ADD", 1)
    assert first.data is not None
    assert (first.data.tags, first.data.metadata) == (["ops"], {"ticket": 7, "snake_case": 1})
    assert first.data.identifiers.user_id == user
    assert memory.remember("The cluster has 5 nodes").event == "NONE"
    later = memory.remember("The cluster has 7 nodes")
    assert later.event == "SUPERSEDE"
    assert later.data is not None
    assert later.data.supersedes_id == first.id


def test_times_and_objects_go_there_and_back(memory: Memory) -> None:
    when = datetime(2024, 5, 1, 12, 30, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
    source = Source(type="manual", reference="ticket 7")
    written = memory.remember("Ana moved to Lisbon", event_time=when, source=source, importance=0.5, pinned=True)
    found = memory.get(written.id)
    assert found.event_time == when
    assert found.source == source
    assert (found.importance, found.pinned) == (0.5, True)
    assert found.created_at.tzinfo is not None
    assert abs(found.created_at - datetime.now(timezone.utc)) < timedelta(minutes=1)


def test_a_write_that_is_repeated_under_its_key_is_answered_by_the_first_answer(memory: Memory) -> None:
    first = memory.remember("The order 4021 was sent", idempotency_key="order-4021")
    again = memory.remember("The order 4021 was sent", idempotency_key="order-4021")
    assert (again.id, again.event, again.data) == (first.id, "ADD", None)


def test_remember_many_splits_what_one_request_cannot_hold(memory: Memory) -> None:
    notes = [NewMemory(content=f"note {number} of the log", as_is=True) for number in range(1200)]
    done = memory.remember_many(notes, continue_on_error=True)
    assert (done.succeeded, done.failed) == (1200, 0)
    assert [entry.index for entry in done.data] == list(range(1200))
    assert len({entry.id for entry in done.data}) == 1200
    assert memory.remember_many([]).data == []


@pytest.mark.parametrize(("continue_on_error", "counts"), [(False, (1, 1, 2)), (True, (2, 1, 3))])
def test_remember_many_reports_what_failed(memory: Memory, continue_on_error: bool, counts: tuple[int, int, int]) -> None:
    mixed: list[str | dict[str, str]] = ["Ana plays chess", {"content": "x", "kind": "nonsense"}, "Ana plays go"]
    result = memory.remember_many(mixed, continue_on_error=continue_on_error)
    assert (result.succeeded, result.failed, len(result.data)) == counts
    error = result.data[1].error
    assert error is not None
    assert (error.code, error.details["field"]) == ("INVALID_INPUT", "kind")


def test_recall_finds_with_filters_fields_and_an_explanation(memory: Memory) -> None:
    memory.remember_many(
        [
            {"content": "Ship version 1 by September", "kind": "task", "tags": ["release"]},
            {"content": "Release notes are written by Bo", "kind": "fact"},
        ]
    )
    filter = MemoryFilter(tags=["release"], created_after=datetime.now(timezone.utc) - timedelta(hours=1))
    found = memory.recall("when do we ship version 1?", filter=filter, fields=["content"], explain=True, limit=5)
    assert [hit.memory.content for hit in found.data] == ["Ship version 1 by September"]
    assert found.data[0].memory.kind is None
    assert found.data[0].explain is not None
    assert found.data[0].explain.weights.similarity > 0
    assert found.degraded == ["vector"]
    assert memory.scoped(user="nobody").recall("when do we ship version 1?").data == []


def test_context_is_a_text_within_the_budget(memory: Memory) -> None:
    memory.remember("Ana is allergic to peanuts")
    context = memory.context("what is Ana allergic to?", budget_tokens=100, format="bullets")
    assert "Ana is allergic to peanuts" in str(context) == context.text
    assert 0 < context.tokens <= context.budget_tokens == 100
    assert len(context.cited) == 1
    assert context.degraded == ["vector"]


def test_get_update_forget_and_restore(memory: Memory) -> None:
    id = memory.remember("Ana plays chess", category="hobby", expires_at="2999-01-01").id
    assert memory.get(id).content == "Ana plays chess"
    changed = memory.update(id, content="Ana plays chess and go", tags=["hobby"], category=None, version=1)
    assert changed.data is not None
    assert (changed.event, changed.version, changed.data.tags, changed.data.category) == ("UPDATE", 2, ["hobby"], None)
    assert changed.data.expires_at is not None
    with pytest.raises(ConflictError) as failed:
        memory.update(id, content="x", version=1)
    assert (failed.value.code, failed.value.operation) == ("VERSION_CONFLICT", "changeMemory")
    with pytest.raises(ConflictError):
        memory.forget(id, version=1)
    memory.forget(id, version=2, reason="asked to")
    assert memory.get(id).state == "soft_deleted"
    assert memory.recall("chess").data == []
    assert memory.restore(id).event == "RESTORE"
    assert memory.get(id).state == "active"
    history = list(memory.history(id))
    assert [entry.event for entry in history] == ["ADD", "ENTITY", "UPDATE", "DELETE", "RESTORE"]
    assert history[3].reason == "asked to"


def test_supersede_correct_confirm_and_pin(memory: Memory) -> None:
    old = memory.remember("Bo works in Riga", confidence=0.5)
    confirmed = memory.confirm(old.id).data
    assert confirmed is not None
    assert confirmed.confidence > 0.5
    newer = memory.supersede(old.id, "Bo works in Tallinn", tags=["work"])
    assert newer.data is not None
    assert (newer.event, newer.data.supersedes_id, newer.data.tags) == ("SUPERSEDE", old.id, ["work"])
    right = memory.correct(newer.id, "Bo works in Tartu", reason="a slip of the tongue")
    assert memory.get(right.id).content == "Bo works in Tartu"
    assert [one.content for one in memory.list()] == ["Bo works in Tartu"]
    memory.pin(right.id)
    assert memory.get(right.id).pinned
    memory.pin(right.id, False)
    assert not memory.get(right.id).pinned


def test_lists_come_in_pages(memory: Memory) -> None:
    memory.remember_many([NewMemory(content=f"note {number}", as_is=True, tags=[f"t{number % 2}"]) for number in range(7)])
    assert len(list(memory.list(page_size=3))) == 7
    assert [len(page.data) for page in memory.list(page_size=3).pages()] == [3, 3, 1]
    assert len(memory.list(page_size=2).to_list(5)) == 5
    assert memory.list().to_list(0) == []
    first = memory.list(page_size=4).page()
    assert first.next_cursor is not None
    second = memory.list(page_size=4).page(first.next_cursor)
    assert (len(second.data), second.next_cursor) == (3, None)
    assert len(list(memory.list({"tags": ["t1"]}))) == 3
    assert len(list(memory.list(MemoryFilter(metadata={"absent": True})))) == 0


def test_a_conversation_is_a_context_manager(memory: Memory) -> None:
    with memory.session("monday") as session:
        session.add("user", "My sister Bea plays the cello", actor="ana")
        session.add_turns([("assistant", "Noted."), Turn(role="user", content="She is 31 years old")])
        assert session.get().pending
        assert session.get().ended_at is None
    assert session.get().ended_at is not None
    assert session.end().event == "NONE"
    assert session.learn().turns == 3
    assert session.learn(again=False).turns == 0
    found = session.recall("who plays the cello?", fields=["content"])
    assert "cello" in (found.data[0].memory.content or "")
    assert "cello" in session.context("who plays the cello?").text


def test_a_conversation_to_which_nothing_was_added_is_not_ended(memory: Memory) -> None:
    with memory.session("empty"):
        pass
    with pytest.raises(NotFoundError):
        memory.session("empty").get()


def test_turns_without_a_session_belong_to_their_thread(memory: Memory) -> None:
    written = memory.ingest([("user", "Hello"), {"role": "assistant", "content": "Hi", "thread_id": "other"}], thread="chat")
    threads = [memory.get(write.id).thread_id for turn in written.data for write in turn.writes]
    assert threads == ["chat", "other"]
    with pytest.raises(ValueError, match="needs a thread"):
        memory.ingest([("user", "Hello")])
    with pytest.raises(TypeError, match=r"\(role, content\)"):
        memory.ingest(["Hello"], session="x")  # type: ignore[list-item]


def test_facts_are_stated_listed_read_and_retracted(memory: Memory) -> None:
    stated = memory.facts.state("Database", "version", "v16", fact_type="has_version", confidence=0.8)
    assert stated.event == "ADD"
    assert memory.facts.get(stated.id).object == "v16"
    assert [fact.id for fact in memory.facts.list(subject="Database")] == [stated.id]
    memory.facts.retract(stated.id, reason="upgraded")
    assert list(memory.facts.list()) == []


def test_entities_are_what_memories_mention(memory: Memory) -> None:
    with memory.session("tuesday") as session:
        session.add("user", "My sister Bea plays the cello")
    session.learn()
    names = [entity.canonical_name for entity in memory.entities.list()]
    assert "Bea" in names
    profile = memory.entities.get("Bea")
    assert profile.entity.entity_type == "person"
    assert any("cello" in one.content for one in profile.memories)


def test_stats_health_and_any_other_operation(memory: Memory) -> None:
    memory.remember("Ana plays chess")
    assert memory.stats().by_layer == {"user": 1}
    health = memory.health()
    assert (health.status, health.components.store.status) == ("degraded", "healthy")
    count = memory.request("GET", "/v1/memories/count", query=memory.identifiers)
    assert list(count.values()) == [1]
    made = memory.request("POST", "/v1/agents", body={"agentId": "cook"}, idempotency_key="cook")
    assert made["event"] in ("ADD", "NONE")


def test_the_scope_is_that_of_the_client_or_of_scoped(memory: Memory, user: str) -> None:
    bo = memory.scoped(user="bo", project="atlas")
    assert bo.identifiers == {"userId": "bo", "projectId": "atlas"}
    assert memory.identifiers == {"userId": user}
    id = bo.remember("Atlas is released on Tuesdays", layer="project").id
    with pytest.raises(NotFoundError):
        memory.get(id)
    assert memory.scoped(project="atlas").get(id).id == id
    assert list(bo.scoped(project=None).list()) == []
    with pytest.raises(InvalidRequestError, match="MISSING_IDENTIFIER"):
        bo.scoped(user=None, project=None).list().page()
    assert len(memory.scoped(user=None, everyone=True).list().to_list(1)) == 1
    with pytest.raises(TypeError, match="user must be a text"):
        memory.scoped(user=7)  # type: ignore[arg-type]


def test_a_name_with_any_letters_reaches_the_server_as_it_is(memory: Memory) -> None:
    odd = memory.scoped(user="ana/../b?c=ü&")
    with odd.session("a/b ?#%2e..") as session:
        session.add("user", "Hello")
    assert session.get().session_id == "a/b ?#%2e.."
    for id in ("", ".", ".."):
        with pytest.raises(ValueError, match="must be a name"):
            memory.forget(id)
        with pytest.raises(ValueError, match="must be a name"):
            memory.session(id)


@pytest.mark.anyio
async def test_the_asynchronous_client_has_the_same_verbs(async_memory: AsyncMemory) -> None:
    memory = async_memory
    written = await memory.remember("Ana is allergic to peanuts")
    assert (await memory.get(written.id)).content == "Ana is allergic to peanuts"
    assert (await memory.recall("what is Ana allergic to?")).data[0].memory.id == written.id
    assert "peanuts" in (await memory.context("what is Ana allergic to?")).text
    assert [one.id async for one in memory.list()] == [written.id]
    assert [len(page.data) async for page in memory.list().pages()] == [1]
    assert [entry.event async for entry in memory.history(written.id)] == ["ADD"]
    await memory.update(written.id, tags=["health"])
    assert (await memory.pin(written.id)).version == 3
    async with memory.session("monday") as session:
        await session.add("user", "My sister Bea plays the cello")
    assert (await session.get()).ended_at is not None
    assert (await session.learn()).turns == 1
    await memory.facts.state("Database", "version", "v16")
    assert len(await memory.facts.list().to_list()) == 1
    assert (await memory.entities.get("Bea")).entity.canonical_name == "Bea"
    assert (await memory.remember_many(["one", "two"])).succeeded == 2
    assert (await memory.stats()).by_layer["user"] >= 3
    assert (await memory.health()).components.store.status == "healthy"
    await memory.forget(written.id)
    assert (await memory.restore(written.id)).event == "RESTORE"


def test_both_clients_have_the_same_methods() -> None:
    def public(cls: type) -> set[str]:
        return {name.replace("aclose", "close") for name in dir(cls) if not name.startswith("_")}

    assert public(Memory) == public(AsyncMemory)
