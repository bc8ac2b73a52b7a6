"""The server that `Memory()` starts or finds: one for each data folder, which ends with its last user."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import kill_servers, servers_of, wait_until
from server import LOCI

from loci import AsyncMemory, EmbeddedServerError, Memory, Retry, _embedded

pytestmark = pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks for processes in /proc")

# Adds numbered notes, one after the other, and prints the number of each that was acknowledged.
WRITER = """
import sys
from loci import Memory
memory = Memory(data=sys.argv[1])
for number in range(int(sys.argv[3])):
    memory.remember(f"{sys.argv[2]} {number}", as_is=True)
    print(number, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder without a server, which has none afterwards either."""
    monkeypatch.setenv("LOCI_BINARY", str(LOCI))
    monkeypatch.setenv("LOCI_EMBEDDINGS", "none")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path.resolve() / "data"
    yield folder
    wait_until(lambda: not servers_of(folder), "the server has ended with its last user")


def writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", WRITER, str(folder), name, str(count)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


def contents(memory: Memory) -> set[str]:
    return {one.content for one in memory.list(page_size=500)}


def test_a_server_is_started_used_and_ended(folder: Path) -> None:
    with Memory(data=folder) as memory:
        assert servers_of(folder) == []
        written = memory.remember("I am allergic to peanuts")
        assert written.data is not None
        assert written.data.identifiers.user_id == "me"
        assert memory.recall("allergic to what?").data[0].memory.id == written.id
        assert len(servers_of(folder)) >= 1
        key, address = (folder / "local.key").read_text().split()
        assert address.startswith("127.0.0.1:")
        assert memory.connect() == f"http://{address}"
        for name in ("local.key", "server.log", "server.users", "server.start"):
            assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name
        with pytest.raises(Exception, match="UNAUTHENTICATED"):
            Memory(url=memory.connect(), user="me").stats()
        assert Memory(url=memory.connect(), key=key, user="me").stats().memories == 1
    wait_until(lambda: not servers_of(folder), "the server has ended")
    with Memory(data=folder) as memory:
        assert contents(memory) == {"I am allergic to peanuts"}


def test_all_users_of_a_process_share_a_server_until_the_last_has_closed(folder: Path) -> None:
    first, second = Memory(data=folder), Memory(data=str(folder), user="bo")
    assert first.connect() == second.connect() == first.scoped(user="cy").connect()
    first.close()
    second.remember("still here")
    with pytest.raises(RuntimeError, match="closed"):
        first.stats()
    second.close()
    wait_until(lambda: not servers_of(folder), "the server has ended")


def test_a_memory_that_nobody_closes_ends_when_nothing_refers_to_it(folder: Path) -> None:
    memory = Memory(data=folder)
    memory.remember("one")
    del memory
    wait_until(lambda: not servers_of(folder), "the server has ended")


def test_two_processes_use_one_server_and_a_killed_one_loses_nothing(folder: Path) -> None:
    killed, other = writer(folder, "killed", 10_000), writer(folder, "other", 60)
    assert killed.stdout is not None
    acknowledged = [int(killed.stdout.readline()) for _ in range(20)]
    addresses = {(folder / "local.key").read_text()}
    killed.send_signal(signal.SIGKILL)
    # Some that were acknowledged may still be in the pipe.
    acknowledged += [int(line) for line in killed.stdout.read().split("\n")[:-1]]
    output, _ = other.communicate(timeout=60)
    killed.wait()
    killed.stdout.close()
    assert output.split() == [str(number) for number in range(60)]
    with Memory(data=folder) as memory:
        known = contents(memory)
        addresses.add((folder / "local.key").read_text())
    assert known >= {f"killed {number}" for number in acknowledged}
    assert known >= {f"other {number}" for number in range(60)}
    assert len(known) - 60 - len(acknowledged) in (0, 1), "at most the write in progress is unacknowledged"
    wait_until(lambda: not servers_of(folder), "no server is left")


def test_processes_that_start_together_start_one_server(folder: Path) -> None:
    writers = [writer(folder, f"writer{number}", 5) for number in range(4)]
    with Memory(data=folder) as memory:
        url = memory.connect()
        for process in writers:
            output, _ = process.communicate(timeout=60)
            assert output.split() == ["0", "1", "2", "3", "4"]
        assert memory.connect() == url
        assert len(contents(memory)) == 20


def test_after_a_crash_of_the_server_the_next_call_starts_another(folder: Path) -> None:
    with Memory(data=folder, retry=Retry(delay=0.01)) as memory:
        memory.remember("before", as_is=True)
        first = memory.connect()
        kill_servers(folder)
        memory.remember("after", as_is=True)
        assert memory.connect() != first
        assert contents(memory) == {"before", "after"}


def test_a_server_that_runs_already_is_used(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [str(LOCI), "--data", str(folder), "--json", "serve", "--with-key", "--listen", address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        assert child.stdout is not None
        assert json.loads(child.stdout.readline())["listening"] == f"http://{address}"
        with Memory(data=folder) as memory:
            memory.remember("one")
            assert memory.connect() == f"http://{address}"
        assert child.poll() is None, "a server that was started otherwise does not end with its users"
        child.terminate()


def test_the_end_of_the_interpreter_ends_the_server(folder: Path) -> None:
    with writer(folder, "gone", 1) as process:
        process.communicate(timeout=60)
    wait_until(lambda: not servers_of(folder), "the server has ended")


def test_a_server_that_is_just_ending_is_waited_for(folder: Path) -> None:
    folder.mkdir()
    memory, done = Memory(data=folder), threading.Event()
    with (folder / "server.users").open("w") as ending:
        fcntl.flock(ending, fcntl.LOCK_EX)

        def connect() -> None:
            memory.connect()
            done.set()

        thread = threading.Thread(target=connect)
        thread.start()
        assert not done.wait(0.3)
        assert servers_of(folder) == []
    thread.join()
    assert done.is_set()
    memory.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_uses_the_server_by_itself(folder: Path) -> None:
    memory = Memory(data=folder)
    memory.remember("by the parent", as_is=True)
    url = memory.connect()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            memory.remember("by the child", as_is=True)
            os.write(write, memory.connect().encode())
            os.close(write)
            # The parent has closed its client, and the server is still there for the child.
            wait_until(lambda: os.path.exists(folder / "parent-closed"), "the parent has closed")
            memory.remember("by the child alone", as_is=True)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read() == url
    memory.remember("by the parent again", as_is=True)
    memory.close()
    (folder / "parent-closed").touch()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with Memory(data=folder) as memory:
        assert contents(memory) == {"by the parent", "by the child", "by the child alone", "by the parent again"}


def test_the_default_folder_and_user_are_those_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "loci.toml"
    config.write_text('user = "ana"\n')
    folder = tmp_path.resolve() / "of-the-command-line"
    for name, value in {"LOCI_DATA": str(folder), "LOCI_CONFIG": "loci.toml", "LOCI_EMBEDDINGS": "none"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LOCI_BINARY", str(LOCI))
    monkeypatch.chdir(tmp_path)
    subprocess.run([LOCI, "remember", "Said on the command line"], check=True, capture_output=True)
    with Memory() as memory:
        [known] = memory.list()
        assert (known.content, known.identifiers.user_id) == ("Said on the command line", "ana")
        assert contents(memory.scoped(session="monday")) == {"Said on the command line"}
        assert contents(memory.scoped(user="bo")) == set()
        memory.remember("Said in Python")
    listed = subprocess.run([LOCI, "--json", "list"], check=True, capture_output=True, text=True)
    assert {one["content"] for one in json.loads(listed.stdout)["data"]} == {"Said on the command line", "Said in Python"}
    wait_until(lambda: not servers_of(folder), "the server has ended")


@pytest.mark.anyio
async def test_the_asynchronous_client_starts_one_server_too(folder: Path) -> None:
    async with AsyncMemory(data=folder) as memory, AsyncMemory(data=folder) as other:
        addresses = await asyncio.gather(memory.connect(), other.connect(), memory.connect())
        assert len(set(addresses)) == 1
        await memory.remember("one")
        assert [one.content async for one in other.list()] == ["one"]


def test_what_the_server_warns_of_is_logged(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    config = tmp_path / "loci.toml"
    config.write_text("[embeddings]\nhub = false\n")
    monkeypatch.setenv("LOCI_CONFIG", str(config))
    monkeypatch.delenv("LOCI_EMBEDDINGS")
    with Memory(data=folder) as memory:
        assert memory.remember("x").degraded == []
        assert memory.recall("x").degraded == ["vector"]
    [record] = caplog.records
    assert record.getMessage().startswith("no embedding model, so the vector search is not available")
    assert "loci model fetch" in record.getMessage()


def stand_in(path: Path, body: str) -> str:
    """A stand-in for the program, which shows the settings as the real one does and fails otherwise."""
    path.write_text(f'#!/bin/sh\ncase "$*" in *"config check"*) exec {LOCI} "$@" ;; esac\n{body}\n')
    path.chmod(0o755)
    return str(path)


def test_a_server_that_does_not_start_says_why(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    program = stand_in(tmp_path / "fails", "echo the disk is made of cheese >&2; exit 3")
    monkeypatch.setenv("LOCI_BINARY", program)
    with pytest.raises(EmbeddedServerError, match=r"exit code 3; its log .*server\.log ends with\nthe disk is made of cheese"):
        Memory(data=folder).stats()
    monkeypatch.setenv("LOCI_BINARY", stand_in(tmp_path / "hangs", "exec sleep 60"))
    monkeypatch.setattr(_embedded, "START_SECONDS", 0.2)
    monkeypatch.setattr(_embedded, "_SAY_AFTER", 0.0)
    with pytest.raises(EmbeddedServerError, match="did not answer within"):
        Memory(data=folder).stats()
    assert [record.getMessage().split(";")[0] for record in caplog.records] == ["the server is still starting"]


def test_a_program_that_is_not_there_or_a_wrong_setting_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wrong.toml").write_text("nonsense = 1\n")
    with monkeypatch.context() as patch:
        patch.setenv("LOCI_CONFIG", str(tmp_path / "wrong.toml"))
        with pytest.raises(
            EmbeddedServerError, match=r"settings cannot be used: .*wrong\.toml: (.|\n)*unknown field `nonsense`"
        ):
            Memory(data=folder).stats()
    monkeypatch.setenv("LOCI_BINARY", str(tmp_path / "absent"))
    with pytest.raises(EmbeddedServerError, match="absent cannot be run: No such file"):
        Memory(data=folder).stats()
    monkeypatch.delenv("LOCI_BINARY")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(EmbeddedServerError, match="`loci` was not found") as failed:
        Memory(data=folder).stats()
    assert failed.value.code == "SERVER_NOT_STARTED"


def test_where_files_cannot_be_locked_the_error_says_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As on Windows.
    monkeypatch.setattr(_embedded, "fcntl", None)
    with pytest.raises(EmbeddedServerError, match="start it with `loci serve` and give its address"):
        Memory(data=folder).stats()
