"""Runs the examples with a stand-in for the model, over real HTTP, on a server that they start themselves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from model import calls, prompts, says, scripted_model
from processes import servers_of, wait_until
from scripted import Scripted
from server import LOCI, ROOT, Server

from loci import Memory

EXAMPLES = ROOT / "examples"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The data folder of the examples."""
    folder = tmp_path.resolve() / "data"
    for name, value in {"LOCI_BINARY": LOCI, "LOCI_DATA": folder, "LOCI_EMBEDDINGS": "none", "HOME": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    yield folder
    wait_until(lambda: not servers_of(folder), "the server has ended with its last user")


def run(name: str, model: Scripted, typed: str, *arguments: str) -> str:
    """Runs an example, types into it, and returns what it prints."""
    environment = {**os.environ, "OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "a key"}
    command = [sys.executable, str(EXAMPLES / "python" / name), *arguments]
    result = subprocess.run(command, input=typed, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_chat_agent_has_forty_lines_and_remembers_what_was_said_in_another_conversation(folder: Path) -> None:
    assert len((EXAMPLES / "python/chat.py").read_text().splitlines()) <= 40
    with scripted_model(says("Nice to meet her."), says("I see."), says("Bea.")) as model:
        first = run("chat.py", model, "My sister Bea plays the cello\n\nShe is 31 years old\n")
        assert first == "Nice to meet her.\nI see.\n"
        assert run("chat.py", model, "Who plays the cello?\n") == "Bea.\n"
        asked = prompts(model)
    assert asked[0][0]["content"].endswith("nothing yet")
    assert [message["role"] for message in asked[1]] == ["system", "user", "assistant", "user"]
    assert "sister Bea plays the cello" in asked[2][0]["content"]
    assert len(asked[2]) == 2
    assert model.seen[0].headers["authorization"] == "Bearer a key"
    with Memory(data=folder) as memory:
        sessions = memory.request("GET", "/v1/sessions", query={"userId": "me"})["data"]
        assert [session["endedAt"] is not None for session in sessions] == [True, True]


def test_the_graph_goes_on_in_its_thread_and_finds_its_notes_in_another(folder: Path) -> None:
    note = json.dumps({"text": "The user is allergic to peanuts"})
    with scripted_model(calls("save_note", note), says("Noted."), says("You told me."), says("No peanuts.")) as model:
        assert run("langgraph_agent.py", model, "", "monday", "I am allergic to peanuts") == "Noted.\n"
        assert run("langgraph_agent.py", model, "", "monday", "How do you know?") == "You told me.\n"
        assert run("langgraph_agent.py", model, "", "tuesday", "What am I allergic to?") == "No peanuts.\n"
        asked = prompts(model)
    assert asked[0][0]["content"].endswith("none yet")
    assert [message["role"] for message in asked[1]] == ["system", "user", "assistant", "tool"]
    assert [message["role"] for message in asked[2]] == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert [message["role"] for message in asked[3]] == ["system", "user"]
    assert "- The user is allergic to peanuts" in asked[3][0]["content"]


def test_the_support_bot_keeps_its_customers_apart(folder: Path) -> None:
    typed = (
        "ana: My parcel 4021 with the blue lamp is late\n"
        "bo: My parcel 5033 with the red chair is late\n"
        "cy: When is a late parcel refunded?\n"
        "ana: Which parcel of mine is late?\n"
        "nonsense\n"
    )
    with scripted_model(says("Sorry.")) as model:
        printed = run("support_bot.py", model, typed)
        known = [messages[0]["content"] for messages in prompts(model)]
    assert printed == "ana: Sorry.\nbo: Sorry.\ncy: Sorry.\nana: Sorry.\n"
    assert "blue lamp" not in known[1] + known[2]
    assert "red chair" not in known[2] + known[3]
    assert "refunded" in known[2]
    assert "4021 with the blue lamp" in known[3]
    with Memory(data=folder, project="shop") as memory:
        shared = [one.content for one in memory.list()]
        assert len(shared) == 3
        assert not any("4021" in text for text in shared)


def test_claude_code_starts_loci_as_its_configuration_says(server: Server) -> None:
    config = json.loads((EXAMPLES / "claude-code/.mcp.json").read_text())["mcpServers"]["loci"]
    assert config["command"] == "loci"
    arguments = [argument.replace("${USER}", "ana") for argument in config["args"]]
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}
    fact = {"name": "remember_fact", "arguments": {"fact": "Ana deploys atlas with make release", "kind": "decision"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": fact},
    ]
    typed = "".join(f"{json.dumps(message)}\n" for message in messages)
    result = subprocess.run([LOCI, *arguments], input=typed, env=server.environment, capture_output=True, text=True, check=True)
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, result.stdout.splitlines())}
    tools = {tool["name"] for tool in answers[2]["tools"]}
    rules = (EXAMPLES / "claude-code/CLAUDE.md").read_text()
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", rules)) - {"memory_id", "expires_at"}
    assert len(named) >= 8
    assert named <= tools
    assert answers[3].get("isError") is not True
    assert "Ana deploys atlas with make release" in server.run("list", "--user", "ana")
    guide = (ROOT / "docs/guides/agents.md").read_text()
    assert rules in guide, "examples/claude-code/CLAUDE.md and docs/guides/agents.md give the same rules"
