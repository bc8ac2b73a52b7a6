"""Every tool of the profiles `default` and `full`, called as a model would call it."""

import asyncio

from talk import GIVEN, client, failed, good, run, text

UNKNOWN = "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50"
called = set()


class Calls:
    """Calls tools and notes which."""

    def __init__(self, open_client):
        self.client = open_client

    async def __call__(self, tool, **arguments):
        called.add(tool)
        return await self.client.call_tool(tool, arguments)

    async def good(self, tool, **arguments):
        return good(await self(tool, **arguments))


async def facts(call):
    first = await call.good("remember_fact", fact="Ann prefers tea to coffee", tags=["drinks"])
    assert first["event"] == "created", first
    again = await call.good("remember_fact", fact="Ann prefers tea to coffee")
    assert (again["event"], again["id"]) == ("none", first["id"]), again
    await call.good("remember_fact", fact="Ann works at Initech in Lisbon", type="fact", importance=0.9)
    found = await call.good("search_memory", query="does Ann prefer tea or coffee", limit=3)
    assert found["memories"][0]["id"] == first["id"], found
    late = await call.good("search_memory", query="Ann", after="last_week", type="preference")
    assert [one["kind"] for one in late["memories"]] == ["preference"], late
    early = await call.good("search_memory", query="Ann", before="2020-01-31")
    assert early["memories"] == [], early
    assert (await call.good("confirm_fact", fact_id=first["id"]))["id"] == first["id"]
    fixed = await call.good("correct_fact", fact_id=first["id"], correction="Ann prefers cocoa to tea", reason="she said so")
    assert fixed["corrected"] == first["id"] != fixed["id"], fixed
    chain = (await call.good("explain_fact", fact_id=fixed["id"]))["chain"]
    assert [one["id"] for one in chain] == [first["id"], fixed["id"]], chain
    weak = await call.good("weak_facts", below=1.0, limit=5)
    assert isinstance(weak["facts"], list)
    stats = await call.good("memory_stats")
    assert stats["memories"] >= 3, stats
    bullets = await call.good("memory_query", query="does Ann prefer cocoa", top_k=2, budget_tokens=200)
    assert any("cocoa" in one["text"] for one in bullets["results"]), bullets
    assert set(bullets["results"][0]) == {"id", "category", "text"}, bullets
    full = await call.good("memory_query", query="Ann", **{"return": "full"}, filters={"importance_min": 4})
    assert all(one["importance"] >= 0.75 for one in full["results"]), full
    return fixed["id"]


async def entity(call):
    """Entities are learned from conversations; here one is talked about and then waited for."""
    turns = [
        {"role": "user", "content": "I live in Porto", "at": "2026-01-05T10:00:00Z"},
        {"role": "user", "content": "My sister Maria works at Initech", "at": "2026-01-05T10:01:00Z"},
    ]
    taken = (await call.good("ingest_turns", thread_id="chat-7", turns=turns))["turns"]
    assert len(taken) == 2, taken
    assert (await call.good("end_session", session="chat-7"))["ended"] is True
    for _ in range(100):
        known = [one["name"] for one in (await call.good("list_entities", limit=20))["entities"]]
        proposals = (await call.good("list_consents"))["proposals"]
        if "Maria" in known and proposals:
            break
        await asyncio.sleep(0.2)
    assert "Maria" in known and "Porto" in proposals[0]["content"], (known, proposals)
    decided = await call.good("decide_consent", proposal_id=proposals[0]["id"], decision="accept")
    assert decided["decision"] == "accept", decided
    assert (await call.good("get_entity_info", entity_name="Maria"))["memories"]
    about = await call.good("search_memory", query="where does she work", entity_name="Maria")
    assert about["memories"] and all("Maria" in one["content"] for one in about["memories"]), about


async def records(call, fact):
    page = await call.good("list_memories", limit=1)
    assert len(page["memories"]) == 1 and page["nextCursor"], page
    second = await call.good("list_memories", limit=1, cursor=page["nextCursor"])
    assert second["memories"][0]["id"] != page["memories"][0]["id"]
    assert (await call.good("get_memory", memory_id=fact))["memory"]["id"] == fact
    assert (await call.good("update_memory", memory_id=fact, tags=["drinks", "winter"]))["event"] == "updated"
    assert (await call.good("pin_memory", memory_id=fact))["pinned"] is True
    newer = await call.good("supersede_fact", fact_id=fact, fact="Ann prefers water to cocoa")
    history = (await call.good("memory_history", memory_id=newer["id"]))["events"]
    assert history and {"space", "sequence"} <= set(history[0]), history
    assert (await call.good("forget_memory", memory_id=newer["id"]))["event"] == "deleted"
    assert (await call.good("restore_memory", memory_id=newer["id"]))["event"] == "restored"
    older = await call.good("remember_fact", fact="Bob follows a keto diet")
    later = await call.good("remember_fact", fact="Bob stopped the keto diet and eats vegan food now")
    settled = await call.good("resolve_contradiction", memory_id=older["id"], other_id=later["id"], keep="newer")
    assert settled["id"] == later["id"], settled
    slip = await call.good("remember_fact", fact="Bob plays the cello on Sundays")
    changes = (await call.good("recent_changes", limit=5))["changes"]
    assert changes[0]["memoryId"] == slip["id"], changes
    undone = await call.good("undo_change", sequence=changes[0]["sequence"], space=changes[0]["space"])
    assert undone["memoryId"] == slip["id"], undone
    context = await call.good("get_context", input="does Ann prefer water", budget_tokens=300)
    assert "water" in context["text"] and context["cited"], context


async def failures(call):
    failed(await call("search_memory"), "INVALID_INPUT", "query")
    failed(await call("search_memory", query="x", limit="many"), "INVALID_INPUT", "limit")
    failed(await call("search_memory", query="x", limit=0), "INVALID_INPUT", "limit")
    failed(await call("search_memory", query="x", user_id="bob"), "INVALID_INPUT", "user_id")
    failed(await call("search_memory", query="x", after="someday"), "INVALID_INPUT", "after")
    failed(await call("search_memory", query="x", type="nonsense"), "INVALID_INPUT", "type")
    failed(await call("search_memory", query=" "), "INVALID_INPUT", "query")
    failed(await call("remember_fact", fact=""), "INVALID_INPUT", "fact")
    failed(await call("remember_fact", fact="x", importance=7), "INVALID_INPUT", "importance")
    failed(await call("explain_fact", fact_id="nonsense"), "INVALID_INPUT", "fact_id")
    failed(await call("explain_fact", fact_id=UNKNOWN), "MEMORY_NOT_FOUND")
    failed(await call("get_entity_info", entity_name="Nobody At All"), "MEMORY_NOT_FOUND", "entity_name")
    failed(await call("memory_query", query="x", filters={"importance_min": 9}), "INVALID_INPUT", "filters.importance_min")
    failed(await call("memory_query", query="x", agent="someone-else"), "UNAUTHORIZED")
    failed(await call.client.call_tool("no_such_tool", {}), "INVALID_INPUT", "name")


async def around(open_client):
    """Resources, templates, prompts and what the server says of itself."""
    assert open_client.server_info.name == "loci" and "search_memory" in open_client.instructions
    listed = [str(one.uri) for one in (await open_client.list_resources()).resources]
    assert listed == ["loci://context", "loci://changes", "loci://stats"], listed
    templates = (await open_client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == ["loci://changes/{layer}"], templates
    for uri in [*listed, "loci://changes/user"]:
        read = (await open_client.read_resource(uri)).contents
        assert read[0].text.strip(), uri
    for uri in ("loci://nowhere", "loci://changes/nowhere", "memory://knowledge-graph"):
        try:
            await open_client.read_resource(uri)
        except Exception as error:
            assert "nowhere" in str(error) or "resource" in str(error), error
        else:
            raise AssertionError(uri)
    prompts = [one.name for one in (await open_client.list_prompts()).prompts]
    assert prompts == ["recall_context", "remember_this"], prompts
    recalled = await open_client.get_prompt("recall_context", {"topic": "what Ann drinks"})
    assert "Ann" in recalled.messages[0].content.text, recalled
    assert "remember_fact" in (await open_client.get_prompt("remember_this", {})).messages[0].content.text
    try:
        await open_client.get_prompt("recall_context", {})
    except Exception as error:
        assert "topic" in str(error), error
    else:
        raise AssertionError("a prompt without its topic")


def described(tools):
    for tool in tools:
        schema, hints = tool.input_schema, tool.annotations
        assert schema["type"] == "object" and "properties" in schema, tool
        assert not {"user_id", "agent_id", "userId", "agentId"} & set(schema["properties"]), tool.name
        assert tool.title and tool.description and hints.open_world_hint is False, tool
        assert None not in (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint), tool


async def budget(call):
    """Answers end where the budget does, and say what is missing."""
    for number in range(60):
        await call.good("remember_fact", fact=f"Sample {number} of the north field had a weight of {number * 7} grams")
    answer = await call("search_memory", query="sample of the north field weight in grams", limit=60)
    told = good(answer)
    size = len(text(answer)) + len(str(told))
    assert size <= GIVEN["budget"] * 6, size
    assert told["leftOut"]["memories"] + len(told["memories"]) == 60, (told["leftOut"], len(told["memories"]))
    assert "left out" in text(answer), text(answer)


async def main():
    async with client() as open_client:
        if "version" in GIVEN:
            assert open_client.protocol_version == GIVEN["version"], open_client.protocol_version
        tools = (await open_client.list_tools()).tools
        described(tools)
        call = Calls(open_client)
        fact = await facts(call)
        if GIVEN["profile"] == "full":
            await entity(call)
            await records(call, fact)
        else:
            failed(await call("get_entity_info", entity_name="Zebulon"), "MEMORY_NOT_FOUND", "entity_name")
        missed = {tool.name for tool in tools} - called
        assert not missed, f"no call for {missed}"
        assert len(tools) == {"default": 9, "full": 26}[GIVEN["profile"]], len(tools)
        await failures(call)
        await around(open_client)
        await budget(call)


run(main)
