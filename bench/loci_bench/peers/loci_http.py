"""Loci over HTTP: `loci serve` on loopback with a key, asked as any client would.

HTTP takes texts, not vectors. A store is brought in by `loci import` with the given vectors; a question is asked once
before it counts, so that its vector comes from the server's cache. Figures are thus without the embedding, and what is
found is not compared with an exact scan. Processor time is the server's and this client's together.
"""

import base64
import http.client
import json
import os
import socket
import subprocess
import time
from pathlib import Path

from ..data import Row
from ..peer import Peer

BORN = "2026-01-01T00:00:00Z"
# One key asks all questions here, as fast as it can: what a caller may ask in a second is not what is measured.
SETTINGS = """[server]
requests_per_second = 0
"""


class LociHttp(Peer):
    """One server, and a kept connection for each caller."""

    name = "Loci over HTTP"
    own_model = True
    takes_vectors = False

    def __init__(self) -> None:
        self.binary = os.environ.get("LOCI", "target/release/loci")
        self.server: subprocess.Popen | None = None
        self.connection: http.client.HTTPConnection | None = None
        self.warm: set[str] = set()
        self.ids: dict[int, str] = {}

    def version(self) -> str:
        return subprocess.check_output([self.binary, "--version"], text=True).split()[-1]

    def open(self, folder: Path) -> None:
        self.folder = folder
        (folder / "loci.toml").write_text(SETTINGS)
        keys = folder / "key.bench"
        if not keys.exists():
            keys.write_text(self._run("key", "create", "--name", "bench", "--role", "admin").split()[0])
        self.key = keys.read_text()
        self._serve("local")

    def _run(self, *arguments: str, **more) -> str:
        return subprocess.run(
            [*self._command(), *arguments], check=True, text=True, stdout=subprocess.PIPE, **more
        ).stdout

    def _command(self) -> list[str]:
        return [self.binary, "--config", str(self.folder / "loci.toml"), "--data", str(self.folder / "data")]

    def _serve(self, embeddings: str) -> None:
        """(Re)starts the server."""
        self._stop()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % free.getsockname()[1]
        self.embeddings = embeddings
        self.server = subprocess.Popen(
            [*self._command(), "serve", "--listen", self.address],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"LOCI_EMBEDDINGS": embeddings},
        )
        host, port = self.address.split(":")
        for _ in range(10_000):
            try:
                socket.create_connection((host, int(port))).close()
                break
            except ConnectionRefusedError:
                if self.server.poll() is not None:
                    raise RuntimeError("loci serve ended") from None
                time.sleep(0.001)
        self.connection = http.client.HTTPConnection(self.address)

    def _stop(self) -> None:
        if self.connection:
            self.connection.close()
        if self.server:
            self.server.terminate()
            self.server.wait(30)
            self.server = None

    def caller(self) -> "LociHttp":
        other = LociHttp()
        other.connection, other.key = http.client.HTTPConnection(self.address), self.key
        return other

    def _call(self, method: str, path: str, body: dict | None = None) -> dict:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        response = self.connection.getresponse()
        content = response.read()
        if response.status >= 300:
            raise RuntimeError(content.decode()[:300])
        return json.loads(content) if content else {}

    def load(self, rows: list[Row], vectors: list[bytes]) -> None:
        self._stop()
        lines = self.folder / "lines.jsonl"
        with lines.open("w", encoding="utf-8") as file:
            file.write(json.dumps({"loci": "export", "format": 1, "exportedAt": BORN, "vectors": True}) + "\n")
            for row, vector in zip(rows, vectors, strict=True):
                file.write(json.dumps(_record(row, vector)) + "\n")
        self._run("import", str(lines), "--json")
        lines.unlink()
        self._serve("local")

    def embedding(self, wanted: bool) -> None:
        # While others had their turn the server may have hung up on a silent caller; the next request connects anew.
        self.connection.close()
        provider = "local" if wanted else "none"
        if self.embeddings != provider:
            self._serve(provider)

    def add(self, row: Row, vector: bytes | None) -> None:
        answer = self._call("POST", "/v1/memories", {
            "content": row.text, "identifiers": {"userId": row.user}, "metadata": {"number": row.number},
        })
        self.ids[row.number] = answer["id"]

    def _ask(self, path: str, query: Row, k: int) -> list[int]:
        body = {"query": query.text, "identifiers": {"userId": query.user}, "limit": k}
        answer = self._call("POST", path, body)
        return [_number(hit["memory"]) for hit in answer["data"]]

    def find(self, query: Row, vector: bytes, k: int) -> list[int]:
        return self._ask("/v1/memories/search", query, k)

    def hybrid(self, query: Row, vector: bytes, k: int) -> list[int]:
        return self._ask("/v1/recall", query, k)

    def prime(self, query: Row) -> None:
        """Has the server encode a question before it counts."""
        if query.text not in self.warm:
            self.warm.add(query.text)
            self._ask("/v1/memories/search", query, 1)

    def update(self, row: Row, vector: bytes | None) -> None:
        body = {"identifiers": {"userId": row.user}, "content": row.text}
        self._call("PATCH", f"/v1/memories/{self._known(row)}", body)

    def delete(self, row: Row) -> None:
        self._call("DELETE", f"/v1/memories/{self._known(row)}?userId={row.user}")

    def _known(self, row: Row) -> str:
        return self.ids.get(row.number, _id(row.number))

    def numbers(self) -> list[int]:
        found, cursor = [], ""
        while True:
            page = self._call("GET", f"/v1/memories?limit=1000{cursor}")
            found += map(_number, page["data"])
            if not page.get("nextCursor"):
                return found
            cursor = f"&cursor={page['nextCursor']}"

    def text_add(self, row: Row) -> None:
        self.add(row, None)

    def text_find(self, query: Row, k: int) -> list[int]:
        return self.find(query, b"", k)

    def processes(self) -> list[int]:
        return [self.server.pid] if self.server else []

    def close(self) -> None:
        if self.server:
            self._stop()
        else:
            self.connection.close()


def _id(number: int) -> str:
    """An id that says the number, in the form of those that Loci makes."""
    return f"01900000-0000-7000-8000-{number:012x}"


def _number(memory: dict) -> int:
    return int(memory.get("metadata", {}).get("number", -1))


def _record(row: Row, vector: bytes) -> dict:
    """A line as `loci export --vectors` writes it."""
    values = base64.b64encode(vector).decode()
    return {
        "type": "memory", "id": _id(row.number), "version": 1, "layer": "user", "identifiers": {"userId": row.user},
        "kind": "fact", "content": row.text, "contentHash": "0" * 64, "tokens": len(row.text) // 4, "tags": [],
        "metadata": {"number": row.number}, "accessPolicy": "shared", "importance": 0.5, "confidence": 1.0,
        "decayRate": 0.01, "pinned": False, "accessCount": 0, "relevance": 1.0, "createdAt": BORN,
        "updatedAt": BORN, "state": "active", "vectors": [{"model": "all-MiniLM-L6-v2", "values": values}],
    }


PEER = LociHttp
