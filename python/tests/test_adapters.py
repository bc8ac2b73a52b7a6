"""LangChain, LlamaIndex and the OpenAI Agents SDK, with the real packages."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from model import calls, prompts, says, scripted_model

from loci import AsyncMemory, Memory
from loci.langchain import LociChatMessageHistory


def contents(memory: Memory) -> list[str]:
    return [one.content for one in memory.list()]


def test_the_package_alone_imports_no_framework() -> None:
    frameworks = ("langgraph", "langchain_core", "llama_index", "agents", "openai")
    script = f"import loci, sys; print([name for name in {frameworks!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_langchain_history_keeps_messages_as_they_are(memory: Memory) -> None:
    history = LociChatMessageHistory("monday/ü", memory)
    assert history.messages == []
    call: Any = {"id": "1", "name": "weather", "args": {"city": "Riga", "days": [1, 2.0, None]}}
    messages = [
        SystemMessage("Be brief."),
        HumanMessage([{"type": "text", "text": "My sister Bea plays the cello"}], name="ana"),
        AIMessage("", tool_calls=[call], response_metadata={"model": "x"}),
        ToolMessage("rain", tool_call_id="1", artifact={"raw": [1]}),
        AIMessage("It rains."),
    ]
    history.add_messages(messages[:2])
    history.add_messages(messages[2:])
    history.add_messages([])
    assert LociChatMessageHistory("monday/ü", memory).messages == messages
    assert sorted(contents(memory)) == ["It rains.", "My sister Bea plays the cello"]
    for _ in range(60):
        history.add_user_message("again")
    assert len(history.messages) == 65
    history.clear()
    history.clear()
    assert history.messages == []


def test_loci_learns_from_a_langchain_chat_that_has_ended(memory: Memory) -> None:
    model = FakeListChatModel(responses=["Nice.", "Yes."])
    history = LociChatMessageHistory("chat", memory)
    questions = ["My sister Bea plays the cello", "Do you remember?"]
    for question in questions:
        history.add_user_message(question)
        history.add_messages([model.invoke(history.messages)])
    assert [message.content for message in history.messages] == [questions[0], "Nice.", questions[1], "Yes."]
    assert memory.session("chat").get().ended_at is None
    history.end()
    assert memory.session("chat").get().ended_at is not None
    assert "cello" in memory.context("who plays the cello?").text
    silent = LociChatMessageHistory("silent", memory, learn=False)
    silent.add_user_message("Nobody learns this")
    silent.end()
    assert "Nobody learns this" not in contents(memory)


@pytest.mark.anyio
async def test_a_langchain_history_works_asynchronously(async_memory: AsyncMemory) -> None:
    history = LociChatMessageHistory("chat", async_memory)
    await history.aadd_messages([HumanMessage("Hello"), AIMessage("Hi")])
    assert [message.content for message in await history.aget_messages()] == ["Hello", "Hi"]
    await history.aend()
    await history.aclear()
    assert await history.aget_messages() == []


@pytest.mark.anyio
async def test_a_session_of_openai_agents_keeps_what_the_sdk_gives_it(async_memory: AsyncMemory) -> None:
    from agents import SQLiteSession
    from agents.memory import Session, SessionSettings

    from loci.openai_agents import LociSession

    items: list[Any] = [
        {"role": "user", "content": "My sister Bea plays the cello"},
        {"type": "function_call", "call_id": "1", "name": "weather", "arguments": '{"card": "4111 1111 1111 1111"}'},
        {"type": "function_call_output", "call_id": "1", "output": "rain"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It rains.", "annotations": []}]},
    ]
    ours, theirs = LociSession("monday", async_memory), SQLiteSession("monday")
    assert isinstance(ours, Session)
    for session in (ours, theirs):
        outcome: list[Any] = [await session.get_items(), await session.pop_item()]
        await session.add_items([])
        await session.add_items(items)
        await session.add_items(items[:1])
        outcome += [await session.get_items(), await session.get_items(limit=2), await session.get_items(limit=0)]
        outcome += [await session.pop_item(), await session.pop_item(), await session.get_items()]
        await session.clear_session()
        outcome += [await session.get_items(), await session.pop_item()]
        if session is ours:
            mine = outcome
    assert mine == outcome
    said = [one.content async for one in async_memory.list()]
    assert sorted(said) == ["It rains.", "My sister Bea plays the cello", "My sister Bea plays the cello"]
    short = LociSession("short", async_memory, session_settings=SessionSettings(limit=1))
    await short.add_items(items)
    assert await short.get_items() == items[-1:]
    theirs.close()


@pytest.mark.anyio
async def test_an_agent_of_openai_remembers_in_a_session(async_memory: AsyncMemory) -> None:
    from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool
    from openai import AsyncOpenAI

    from loci.openai_agents import LociSession

    @function_tool
    async def recall(question: str) -> str:
        """What is known of a question."""
        return (await async_memory.context(question)).text

    steps = (says("Nice."), calls("recall", '{"question": "who plays the cello?"}'), says("Bea."))
    with scripted_model(*steps) as model:
        async with AsyncOpenAI(base_url=f"{model.url}/v1", api_key="none") as client:
            agent = Agent(name="a", tools=[recall], model=OpenAIChatCompletionsModel("scripted", client))
            config = RunConfig(tracing_disabled=True)
            session = LociSession("monday", async_memory)
            first = await Runner.run(agent, "My sister Bea plays the cello", session=session, run_config=config)
            second = await Runner.run(agent, "Who plays it?", session=session, run_config=config)
        assert (first.final_output, second.final_output) == ("Nice.", "Bea.")
        asked = prompts(model)
        assert [message["role"] for message in asked[1]] == ["user", "assistant", "user"]
        assert "Bea plays the cello" in asked[2][-1]["content"]
    assert len(await session.get_items()) == 6
    await session.end_session()
    assert (await async_memory.session("monday").get()).ended_at is not None
    await LociSession("never", async_memory).end_session()


@pytest.mark.anyio
async def test_a_block_of_llama_index_recalls_and_stores(async_memory: AsyncMemory) -> None:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import Memory as LlamaMemory

    from loci.llama_index import LociMemoryBlock

    await async_memory.remember("Ana is allergic to peanuts")
    block = LociMemoryBlock(async_memory, budget_tokens=200)
    assert await block.aget([]) == ""
    # So small that messages leave the short-term memory at once.
    memory = LlamaMemory.from_defaults(
        session_id="monday", memory_blocks=[block], token_limit=40, chat_history_token_ratio=0.5, token_flush_size=10
    )
    await memory.aput_messages(
        [
            ChatMessage(role="user", content="My sister Bea plays the cello, and she has been playing it for twenty years"),
            ChatMessage(role="assistant", content="That is a long time to play such a beautiful instrument."),
            ChatMessage(role="user", content="What is Ana allergic to?"),
        ]
    )
    messages = await memory.aget()
    assert messages[0].role == "system"
    assert "Ana is allergic to peanuts" in (messages[0].content or "")
    said = [one.content async for one in async_memory.list({"role": ["user"]})]
    assert said == ["My sister Bea plays the cello, and she has been playing it for twenty years"]
    assert (await async_memory.session("monday").get()).pending
    await block.aput([ChatMessage(role="tool", content="ignored"), ChatMessage(role="user", content="Hello there")])
    assert (await async_memory.session("llama-index").get()).thread_id == "llama-index"
