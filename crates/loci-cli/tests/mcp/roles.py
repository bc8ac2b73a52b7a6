"""What a credential does not allow is refused, and nobody leaves their scope."""

from talk import GIVEN, client, failed, good, run


async def main():
    async with client(key=GIVEN["writer"]) as ann:
        kept = good(await ann.call_tool("remember_fact", {"fact": "Ann keeps bees in Porto"}))
        failed(await ann.call_tool("memory_query", {"query": "bees", "agent": "spy"}), "UNAUTHORIZED", "agentId")
    async with client(key=GIVEN["reader"]) as reader:
        names = {tool.name for tool in (await reader.list_tools()).tools}
        assert "search_memory" in names and "remember_fact" not in names, names
        found = good(await reader.call_tool("search_memory", {"query": "bees in Porto"}))
        assert found["data"][0]["id"] == kept["id"], found
        failed(await reader.call_tool("remember_fact", {"fact": "Ann keeps wasps"}), "UNAUTHORIZED")
        failed(await reader.call_tool("confirm_fact", {"memory_id": kept["id"]}), "UNAUTHORIZED")
    async with client(key=GIVEN["other"]) as bob:
        found = good(await bob.call_tool("search_memory", {"query": "bees in Porto"}))
        assert found["data"] == [], found
        failed(await bob.call_tool("explain_fact", {"memory_id": kept["id"]}), "MEMORY_NOT_FOUND")
        failed(await bob.call_tool("memory_query", {"query": "bees", "agent": "planner"}), "UNAUTHORIZED", "agentId")
    # The address may name whom it means, within what the key allows.
    async with client(key=GIVEN["other"], url=GIVEN["url"] + "?userId=ann") as bob:
        failed(await bob.call_tool("search_memory", {"query": "bees"}), "UNAUTHORIZED", "userId")
    async with client(key=GIVEN["admin"], url=GIVEN["url"] + "?userId=ann") as admin:
        found = good(await admin.call_tool("search_memory", {"query": "bees in Porto"}))
        assert found["data"][0]["id"] == kept["id"], found


run(main)
