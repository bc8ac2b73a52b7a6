"""Chroma, persistent, with given embeddings; its own defaults but for the cosine."""

import os
from pathlib import Path

os.environ["ANONYMIZED_TELEMETRY"] = "False"

import chromadb
from chromadb.config import Settings

from ..data import Row
from ..peer import Cannot, Peer
from .shapes import floats


class Chroma(Peer):
    """One collection for all users, filtered by metadata."""

    name = "chroma"

    def version(self) -> str:
        return chromadb.__version__

    def open(self, folder: Path) -> None:
        self.client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self.collection = self.client.get_or_create_collection(
            "memories", metadata={"hnsw:space": "cosine"}, embedding_function=None
        )

    def prepare(self, vector: bytes) -> list[float]:
        return floats(vector)

    def load(self, rows: list[Row], vectors: list[list[float]]) -> None:
        batch = self.client.get_max_batch_size()
        for start in range(0, len(rows), batch):
            part = rows[start : start + batch]
            self.collection.add(
                ids=[str(row.number) for row in part],
                embeddings=vectors[start : start + batch],
                documents=[row.text for row in part],
                metadatas=[{"user": row.user} for row in part],
            )

    def add(self, row: Row, vector: list[float] | None) -> None:
        if vector is None:
            raise Cannot("takes nothing without a vector")
        self.load([row], [vector])

    def find(self, query: Row, vector: list[float], k: int) -> list[int]:
        answer = self.collection.query(query_embeddings=[vector], n_results=k, where={"user": query.user})
        return [int(number) for number in answer["ids"][0]]

    def update(self, row: Row, vector: list[float]) -> None:
        self.collection.update(ids=[str(row.number)], embeddings=[vector], documents=[row.text])

    def delete(self, row: Row) -> None:
        self.collection.delete(ids=[str(row.number)])

    def numbers(self) -> list[int]:
        return [int(number) for number in self.collection.get(include=[])["ids"]]


PEER = Chroma
