"""LangGraph's SqliteStore with an index of vectors, as its documentation sets it up."""

import sys
from importlib.metadata import version
from pathlib import Path

import pysqlite3

# Its `import sqlite3` must be one that can load extensions.
sys.modules["sqlite3"] = pysqlite3

from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore

from ..data import DIMENSIONS, Row
from ..peer import Peer
from .shapes import Lookup, floats


class LangGraph(Peer):
    """One namespace for each user."""

    name = "LangGraph SqliteStore"

    def __init__(self) -> None:
        self.lookup = Lookup()

    def version(self) -> str:
        return version("langgraph-checkpoint-sqlite")

    def open(self, folder: Path) -> None:
        # Its documentation says `fields`, but this version reads `text_fields`.
        index = {"dims": DIMENSIONS, "embed": self._embed, "fields": ["text"], "text_fields": ["text"]}
        self.context = SqliteStore.from_conn_string(str(folder / "store.db"), index=index)
        self.store = self.context.__enter__()
        self.store.setup()

    def _embed(self, texts: list[str]) -> list[list[float]]:
        return [self.lookup.take(text) for text in texts]

    def prepare(self, vector: bytes) -> list[float]:
        return floats(vector)

    def load(self, rows: list[Row], vectors: list[list[float]]) -> None:
        for start in range(0, len(rows), 1000):
            part = rows[start : start + 1000]
            for row, vector in zip(part, vectors[start : start + 1000], strict=True):
                self.lookup.give(row.text, vector)
            self.store.batch([PutOp(_place(row), str(row.number), {"text": row.text}) for row in part])
            self.lookup.known.clear()

    def add(self, row: Row, vector: list[float] | None) -> None:
        if vector is None:
            self.store.put(_place(row), str(row.number), {"text": row.text}, index=False)
            return
        self.lookup.give(row.text, vector)
        self.store.put(_place(row), str(row.number), {"text": row.text})
        self.lookup.forget(row.text)

    def find(self, query: Row, vector: list[float], k: int) -> list[int]:
        self.lookup.give(query.text, vector)
        return [int(item.key) for item in self.store.search(_place(query), query=query.text, limit=k)]

    def update(self, row: Row, vector: list[float]) -> None:
        self.add(row, vector)

    def delete(self, row: Row) -> None:
        self.store.delete(_place(row), str(row.number))

    def numbers(self) -> list[int]:
        return [int(item.key) for item in self.store.search(("memories",), limit=10_000_000)]

    def close(self) -> None:
        self.context.__exit__(None, None, None)


def _place(row: Row) -> tuple[str, str]:
    return ("memories", row.user)


PEER = LangGraph
