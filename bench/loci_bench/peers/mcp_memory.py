"""The official MCP memory server over standard input and output: one JSON file, read and written whole.

It knows no vectors and no users. A memory is an entity whose type is its user; what is asked of it is its own search,
the question as a substring.
"""

import json
import os
import subprocess
import threading
from pathlib import Path

from ..data import Row
from ..peer import Cannot, Peer

SERVER = "node_modules/@modelcontextprotocol/server-memory"


class McpMemory(Peer):
    """A server of its own, one request at a time."""

    name = "MCP memory server"

    def __init__(self) -> None:
        self.home = Path(os.environ.get("BENCH_NODE", "target/bench-tools/node")) / SERVER
        self.asked = 0
        self.lock = threading.Lock()

    def version(self) -> str:
        return json.loads((self.home / "package.json").read_text())["version"]

    def open(self, folder: Path) -> None:
        self.server = subprocess.Popen(
            ["node", str(self.home / "dist/index.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"MEMORY_FILE_PATH": str(folder.absolute() / "memory.jsonl")},
        )
        client = {"name": "bench", "version": "1"}
        self._request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _send(self, message: dict) -> None:
        self.server.stdin.write(json.dumps(message).encode() + b"\n")
        self.server.stdin.flush()

    def _request(self, method: str, parameters: dict) -> dict:
        self.asked += 1
        self._send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": parameters})
        while line := self.server.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self.asked:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return answer["result"]
        raise RuntimeError("the server ended")

    def _call(self, tool: str, arguments: dict) -> dict:
        with self.lock:
            answer = self._request("tools/call", {"name": tool, "arguments": arguments})
        if answer.get("isError"):
            raise RuntimeError(answer["content"][0]["text"])
        return answer

    def load(self, rows: list[Row], vectors: list[bytes]) -> None:
        for start in range(0, len(rows), 5000):
            self._call("create_entities", {"entities": [_entity(row) for row in rows[start : start + 5000]]})

    def add(self, row: Row, vector: bytes | None) -> None:
        self._call("create_entities", {"entities": [_entity(row)]})

    def find(self, query: Row, vector: bytes, k: int) -> list[int]:
        answer = self._call("search_nodes", {"query": query.text})
        entities = json.loads(answer["content"][0]["text"])["entities"]
        return [int(e["name"]) for e in entities if e["entityType"] == query.user][:k]

    def update(self, row: Row, vector: bytes) -> None:
        before = row.text.removesuffix(" (changed)")
        deletion = {"entityName": str(row.number), "observations": [before]}
        self._call("delete_observations", {"deletions": [deletion]})
        self._call("add_observations", {"observations": [{"entityName": str(row.number), "contents": [row.text]}]})

    def delete(self, row: Row) -> None:
        self._call("delete_entities", {"entityNames": [str(row.number)]})

    def numbers(self) -> list[int]:
        graph = json.loads(self._call("read_graph", {})["content"][0]["text"])
        return [int(entity["name"]) for entity in graph["entities"]]

    def text_add(self, row: Row) -> None:
        raise Cannot("embeds nothing")

    def text_find(self, query: Row, k: int) -> list[int]:
        raise Cannot("embeds nothing")

    own_model = True

    def processes(self) -> list[int]:
        return [self.server.pid]

    def close(self) -> None:
        self.server.stdin.close()
        self.server.wait(10)


def _entity(row: Row) -> dict:
    return {"name": str(row.number), "entityType": row.user, "observations": [row.text]}


PEER = McpMemory
