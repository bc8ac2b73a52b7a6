"""mem0 in raw mode (`infer=False`): its embedded Qdrant, no language model asked, telemetry off.

Its embedder is replaced by one that knows the vectors; its language model by one that fails if it is ever asked.
"""

import os
import tempfile
from importlib.metadata import version
from pathlib import Path

os.environ["MEM0_TELEMETRY"] = "False"
# It writes a configuration on import, which must not go into the home of the user.
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="bench-mem0-"))

from mem0 import Memory
from mem0.configs.base import MemoryConfig
from mem0.embeddings.base import EmbeddingBase
from mem0.utils.factory import EmbedderFactory, LlmFactory

from ..data import DIMENSIONS, Row
from ..peer import Cannot, Peer
from .shapes import Lookup, floats

LOOKUP = Lookup()


class Known(EmbeddingBase):
    """Gives back what was given."""

    def embed(self, text, memory_action=None):
        return LOOKUP.take(text)


class Mem0(Peer):
    """One collection for all users, as it makes it."""

    name = "mem0 raw"

    def __init__(self) -> None:
        self.ids: dict[int, str] = {}

    def version(self) -> str:
        return version("mem0ai")

    def open(self, folder: Path) -> None:
        EmbedderFactory.create = classmethod(lambda *_: Known())
        LlmFactory.create = classmethod(lambda *_: None)
        store = {"collection_name": "memories", "path": str(folder / "qdrant"), "on_disk": True}
        self.memory = Memory(MemoryConfig(
            vector_store={"provider": "qdrant", "config": store | {"embedding_model_dims": DIMENSIONS}},
            history_db_path=str(folder / "history.db"),
        ))

    def prepare(self, vector: bytes) -> list[float]:
        return floats(vector)

    def load(self, rows: list[Row], vectors: list[list[float]]) -> None:
        """mem0 has no bulk insert: memories are added one by one."""
        for row, vector in zip(rows, vectors, strict=True):
            self.add(row, vector)

    def add(self, row: Row, vector: list[float] | None) -> None:
        if vector is None:
            raise Cannot("takes nothing without a vector")
        LOOKUP.give(row.text, vector)
        answer = self.memory.add(row.text, user_id=row.user, metadata={"number": row.number}, infer=False)
        self.ids[row.number] = answer["results"][0]["id"]
        LOOKUP.forget(row.text)

    def find(self, query: Row, vector: list[float], k: int) -> list[int]:
        LOOKUP.give(query.text, vector)
        # It may also ask for the vectors of what looks like a name in the question.
        LOOKUP.known = _Same(LOOKUP.known, vector)
        answer = self.memory.search(query.text, filters={"user_id": query.user}, top_k=k, threshold=0.0)
        return [hit["metadata"]["number"] for hit in answer["results"]]

    def hybrid(self, query: Row, vector: list[float], k: int) -> list[int]:
        raise Cannot("hybrid needs fastembed and a spaCy model, which it does not install")

    def update(self, row: Row, vector: list[float]) -> None:
        LOOKUP.give(row.text, vector)
        self.memory.update(self._id(row.number), row.text)

    def delete(self, row: Row) -> None:
        self.memory.delete(self._id(row.number))

    def _id(self, number: int) -> str:
        if number not in self.ids:
            self.ids |= {point.payload["number"]: str(point.id) for point in self._points()}
        return self.ids[number]

    def _points(self) -> list:
        return self.memory.vector_store.list(top_k=10_000_000)[0]

    def numbers(self) -> list[int]:
        return [point.payload["number"] for point in self._points()]

    def close(self) -> None:
        self.memory.vector_store.client.close()


class _Same(dict):
    """A table in which what is missing has one vector."""

    def __init__(self, known: dict, vector: list[float]) -> None:
        super().__init__(known)
        self.vector = vector

    def __missing__(self, _: str) -> list[float]:
        return self.vector


PEER = Mem0
