"""The profile `graph` behaves as the official memory server does."""

import json

from talk import client, run, text

ANN = {"name": "Ann", "entityType": "person", "observations": ["likes tea"]}
ATLAS = {"name": "Atlas", "entityType": "project", "observations": []}
WORKS = {"from": "Ann", "to": "Atlas", "relationType": "works on"}
called = set()


async def main():
    async with client() as open_client:

        async def call(tool, wrapped, **arguments):
            """The answer; its text is the indented JSON of what stands in the structure."""
            called.add(tool)
            answer = await open_client.call_tool(tool, arguments)
            assert not answer.is_error, text(answer)
            content = answer.structured_content[wrapped] if wrapped else answer.structured_content
            if "success" in answer.structured_content:
                assert answer.structured_content["success"] is True
                assert text(answer) == answer.structured_content["message"]
            else:
                assert len(answer.content) == 1 and json.loads(text(answer)) == content, answer
                assert text(answer) == json.dumps(json.loads(text(answer)), indent=2, ensure_ascii=False), text(answer)
            return content

        async def graph():
            return await call("read_graph", None)

        tools = (await open_client.list_tools()).tools
        hints = {tool.name: tool.annotations for tool in tools}
        for name, (reads, destroys, repeats) in {
            "create_entities": (False, False, False),
            "create_relations": (False, False, False),
            "add_observations": (False, False, False),
            "delete_entities": (False, True, True),
            "delete_observations": (False, True, True),
            "delete_relations": (False, True, True),
            "read_graph": (True, False, True),
            "search_nodes": (True, False, True),
            "open_nodes": (True, False, True),
        }.items():
            hint = hints[name]
            found = (hint.read_only_hint, hint.destructive_hint, hint.idempotent_hint, hint.open_world_hint)
            assert found == (reads, destroys, repeats, False), (name, found)
        assert all(tool.output_schema for tool in tools)

        assert await graph() == {"entities": [], "relations": []}
        assert await call("create_entities", "entities", entities=[ANN, ATLAS]) == [ANN, ATLAS]
        # The order of the fields is the one that its clients know.
        answer = await open_client.call_tool("open_nodes", {"names": ["Ann"]})
        assert list(json.loads(text(answer))["entities"][0]) == ["name", "entityType", "observations"]
        assert await call("create_entities", "entities", entities=[ANN]) == []
        assert await call("create_relations", "relations", relations=[WORKS]) == [WORKS]
        assert await call("create_relations", "relations", relations=[WORKS]) == []
        loose = {"from": "Ann", "to": "Nobody", "relationType": "knows"}
        assert await call("create_relations", "relations", relations=[loose]) == [loose]
        added = await call(
            "add_observations", "results", observations=[{"entityName": "Ann", "contents": ["likes tea", "is tall"]}]
        )
        assert added == [{"entityName": "Ann", "addedObservations": ["is tall"]}], added

        unknown = await open_client.call_tool(
            "add_observations", {"observations": [{"entityName": "Zoe", "contents": ["x"]}]}
        )
        assert unknown.is_error and text(unknown) == "Entity with name Zoe not found", unknown
        for wrong, field in [({"entities": [{"name": "Bo"}]}, "entities[0].entityType"), ({}, "entities")]:
            answer = await open_client.call_tool("create_entities", wrong)
            assert answer.is_error and answer.structured_content["details"]["field"] == field, answer

        tall = {**ANN, "observations": ["likes tea", "is tall"]}
        for query in ("TEA", "PERSON", "ann", "TALL"):
            assert (await call("search_nodes", None, query=query))["entities"] == [tall], query
        assert await call("search_nodes", None, query="nowhere") == {"entities": [], "relations": []}
        assert await call("open_nodes", None, names=["Atlas", "Nope"]) == {"entities": [ATLAS], "relations": [WORKS]}
        whole = {"entities": [tall, ATLAS], "relations": [WORKS, loose]}
        assert await graph() == whole

        listed = (await open_client.list_resources()).resources
        assert [(str(one.uri), one.mime_type) for one in listed] == [("memory://knowledge-graph", "application/json")]
        read = (await open_client.read_resource("memory://knowledge-graph")).contents[0]
        assert json.loads(read.text) == whole and read.mime_type == "application/json"

        await call("delete_observations", None, deletions=[{"entityName": "Ann", "observations": ["is tall", "absent"]}])
        await call("delete_observations", None, deletions=[{"entityName": "Nope", "observations": ["x"]}])
        assert (await graph())["entities"][0] == ANN
        await call("delete_relations", None, relations=[loose, {**loose, "to": "Absent"}])
        assert (await graph())["relations"] == [WORKS]
        await call("delete_entities", None, entityNames=["Atlas", "Nope"])
        assert await graph() == {"entities": [ANN], "relations": []}
        # What was deleted can be made anew; fields that nobody knows are passed over.
        assert await call("create_entities", "entities", entities=[{**ATLAS, "extra": 1}]) == [ATLAS]

        # An answer ends: whole entities are left out, and a second block says so.
        many = [{"name": f"n{n}", "entityType": "t", "observations": ["word " * 100]} for n in range(400)]
        for start in range(0, 400, 100):
            answer = await open_client.call_tool("create_entities", {"entities": many[start : start + 100]})
            assert not answer.is_error, text(answer)
        answer = await open_client.call_tool("read_graph", {})
        assert len(answer.content) == 2 and "left out" in answer.content[1].text, answer.content[1:]
        shown = json.loads(answer.content[0].text)["entities"]
        assert 100 < len(shown) < 402 and shown == answer.structured_content["entities"]

        missed = {tool.name for tool in tools} - called
        assert not missed and len(tools) == 9, missed


run(main)
