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
    assert first["event"] == "ADD" and len(first["id"]) == 9, first
    again = await call.good("remember_fact", fact="Ann prefers tea to coffee")
    assert (again["event"], again["id"]) == ("NONE", first["id"]), again
    await call.good("remember_fact", fact="Ann works at Initech in Lisbon", kind="fact", importance=0.9)
    found = await call.good("search_memory", query="does Ann prefer tea or coffee", limit=3)
    assert found["data"][0]["id"] == first["id"], found
    late = await call.good("search_memory", query="Ann", after="last_week", kind="preference")
    named = await call.good("search_memory", query="Ann", type="preference")
    assert named["data"], "S1 calls this filter `type`"
    assert [one["kind"] for one in late["data"]] == ["preference"], late
    early = await call.good("search_memory", query="Ann", before="2020-01-31")
    assert early["data"] == [], early
    assert (await call.good("confirm_fact", memory_id=first["id"]))["id"] == first["id"]
    fixed = await call.good("correct_fact", memory_id=first["id"], correction="Ann prefers cocoa to tea", reason="she said so")
    assert fixed["corrected"] == first["id"] != fixed["id"], fixed
    chain = (await call.good("explain_fact", memory_id=fixed["id"]))["chain"]
    assert [one["id"] for one in chain] == [first["id"], fixed["id"]], chain
    weak = await call.good("weak_facts", below=1.0, limit=5)
    assert isinstance(weak["data"], list)
    stats = await call.good("memory_stats")
    assert stats["memories"] >= 3, stats
    assert {"entities", "orphans", "content_bytes", "maintained", "edges"} <= set(stats), stats
    bullets = await call.good("memory_query", query="does Ann prefer cocoa", top_k=2, budget_tokens=200)
    assert any("cocoa" in one["text"] for one in bullets["data"]), bullets
    assert set(bullets["data"][0]) == {"id", "category", "text"}, bullets
    full = await call.good("memory_query", query="Ann", **{"return": "full"}, filters={"importance_min": 4})
    assert all(one["importance"] >= 4 for one in full["data"]), full
    later = await call.good("remember_fact", fact="Ann is in Rome until Friday", expires_at="in 3 days")
    found = await call.good("search_memory", query="where is Ann until Friday", limit=1)
    assert found["data"][0]["id"] == later["id"] and found["data"][0]["expires_at"], found
    assert found["data"][0]["source"]["role"] == "orchestrator", found
    assert (await call.good("forget_memory", memory_id=later["id"]))["event"] == "DELETE"
    gone = await call.good("search_memory", query="where is Ann until Friday")
    assert later["id"] not in [one["id"] for one in gone["data"]], gone
    # A model may send the digits as a number, or more or fewer of them.
    assert (await call.good("confirm_fact", memory_id=int(fixed["id"])))["id"] == fixed["id"]
    assert (await call.good("confirm_fact", memory_id=fixed["id"][:6]))["id"] == fixed["id"]
    turns = [{"role": "user", "content": "The boiler was repaired", "at": "2026-01-05T10:00:00Z"}]
    taken = (await call.good("ingest_turns", thread_id="chat-1", turns=turns))["data"]
    assert len(taken) == 1 and taken[0]["event"] == "ADD", taken
    return fixed["id"]


async def entity(call):
    """Entities are learned from conversations; here one is talked about and then waited for."""
    turns = [
        {"role": "user", "content": "I live in Porto", "at": "2026-01-05T10:00:00Z"},
        {"role": "user", "content": "My sister Maria works at Initech", "at": "2026-01-05T10:01:00Z"},
    ]
    taken = (await call.good("ingest_turns", thread_id="chat-7", turns=turns))["data"]
    assert len(taken) == 2, taken
    assert (await call.good("end_session", session_id="chat-7"))["ended"] is True
    for _ in range(100):
        known = [one["name"] for one in (await call.good("list_entities", limit=20))["data"]]
        proposals = (await call.good("list_consents"))["data"]
        if "Maria" in known and proposals:
            break
        await asyncio.sleep(0.2)
    assert "Maria" in known and "Porto" in proposals[0]["content"], (known, proposals)
    # The model cannot decide: no tool does, and writing to a proposal does not make it known.
    failed(await call.client.call_tool("decide_consent", {"proposal_id": proposals[0]["id"]}), "INVALID_INPUT", "name")
    for tool in ("confirm_fact", "restore_memory"):
        await call(tool, memory_id=proposals[0]["id"])
    await call("update_memory", memory_id=proposals[0]["id"], pinned=True)
    assert proposals[0]["id"] in [one["id"] for one in (await call.good("list_consents"))["data"]], "still waiting"
    assert (await call.good("get_entity_info", entity_name="Maria"))["data"]
    about = await call.good("search_memory", query="where does she work", entity_name="Maria")
    assert about["data"] and all("Maria" in one["content"] for one in about["data"]), about


async def records(call, fact):
    page = await call.good("list_memories", limit=1)
    assert len(page["data"]) == 1 and page["next_cursor"], page
    second = await call.good("list_memories", limit=1, cursor=page["next_cursor"])
    assert second["data"][0]["id"] != page["data"][0]["id"]
    whole = (await call.good("get_memory", memory_id=fact))["memory"]
    assert whole["id"] == fact and "created_at" in whole and "createdAt" not in whole, whole
    assert (await call.good("update_memory", memory_id=fact, tags=["drinks", "winter"]))["event"] == "UPDATE"
    assert (await call.good("update_memory", memory_id=fact, pinned=True))["event"] == "UPDATE"
    assert (await call.good("get_memory", memory_id=fact))["memory"]["pinned"] is True
    newer = await call.good("supersede_memory", memory_id=fact, fact="Ann prefers water to cocoa")
    history = (await call.good("list_history", memory_id=newer["id"]))["data"]
    assert history and {"space", "sequence"} <= set(history[0]), history
    assert (await call.good("forget_memory", memory_id=newer["id"]))["event"] == "DELETE"
    assert (await call.good("restore_memory", memory_id=newer["id"]))["event"] == "RESTORE"
    older = await call.good("remember_fact", fact="Bob follows a keto diet")
    later = await call.good("remember_fact", fact="Bob stopped the keto diet and eats vegan food now")
    settled = await call.good("resolve_contradiction", memory_id=older["id"], other_memory_id=later["id"], keep="newer")
    assert settled["id"] == later["id"], settled
    slip = await call.good("remember_fact", fact="Bob plays the cello on Sundays")
    changes = (await call.good("list_changes", limit=5))["data"]
    assert changes[0]["memory_id"] == slip["id"], changes
    undone = await call.good("undo_change", sequence=changes[0]["sequence"], space=changes[0]["space"])
    assert undone["memory_id"] == slip["id"], undone
    context = await call.good("get_context", query="does Ann prefer water", budget_tokens=300)
    assert "water" in context["text"] and context["cited"], context


async def failures(call):
    failed(await call("search_memory"), "INVALID_INPUT", "query")
    failed(await call("search_memory", query="x", limit="many"), "INVALID_INPUT", "limit")
    failed(await call("search_memory", query="x", limit=0), "INVALID_INPUT", "limit")
    failed(await call("search_memory", query="x", user_id="bob"), "INVALID_INPUT", "user_id")
    failed(await call("search_memory", query="x", after="someday"), "INVALID_INPUT", "after")
    failed(await call("search_memory", query="x", kind="nonsense"), "INVALID_INPUT", "kind")
    failed(await call("search_memory", query=" "), "INVALID_INPUT", "query")
    failed(await call("remember_fact", fact=""), "INVALID_INPUT", "fact")
    failed(await call("remember_fact", fact="x", importance=7), "INVALID_INPUT", "importance")
    failed(await call("explain_fact", memory_id="nonsense"), "INVALID_INPUT", "memory_id")
    failed(await call("explain_fact", fact_id=UNKNOWN), "INVALID_INPUT", "fact_id")
    failed(await call("explain_fact", memory_id=UNKNOWN), "MEMORY_NOT_FOUND")
    failed(await call("explain_fact", memory_id="00000000"), "MEMORY_NOT_FOUND", "memory_id")
    failed(await call("remember_fact", fact="x", expires_at="2 days ago"), "INVALID_INPUT", "expires_at")
    failed(await call("remember_fact", fact="x", type="fact"), "INVALID_INPUT", "type")
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
        # A tool that only reads says so; of the others the protocol takes the worst unless they say more.
        reads = tool.name.split("_")[0] in ("search", "get", "list", "explain", "weak", "memory")
        assert bool(hints.read_only_hint) is reads, tool


async def budget(call):
    """Answers end where the budget does, and say what is missing."""
    for number in range(60):
        await call.good("remember_fact", fact=f"Sample {number} of the north field had a weight of {number * 7} grams")
    answer = await call("search_memory", query="sample of the north field weight in grams", limit=60)
    content = good(answer)
    size = len(text(answer)) + len(str(content))
    assert size <= GIVEN["budget"] * 6, size
    assert content["left_out"]["data"] + len(content["data"]) == 60, (content["left_out"], len(content["data"]))
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
        assert len(tools) == {"default": 11, "full": 24}[GIVEN["profile"]], len(tools)
        await failures(call)
        await around(open_client)
        await budget(call)


run(main)
