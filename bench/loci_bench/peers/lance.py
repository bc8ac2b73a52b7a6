"""LanceDB with an index of words and one of users; hybrid search fuses by rank, as it does by default.

Vectors are searched exactly: its index of vectors is made by hand and would cost recall.
"""

from datetime import timedelta
from pathlib import Path

import lancedb
import pyarrow

from ..data import DIMENSIONS, Row
from ..peer import Peer
from .shapes import floats

SCHEMA = pyarrow.schema([
    ("number", pyarrow.int64()),
    ("user", pyarrow.string()),
    ("text", pyarrow.string()),
    ("vector", pyarrow.list_(pyarrow.float32(), DIMENSIONS)),
])


class Lance(Peer):
    """One table for all users."""

    name = "lancedb"

    def version(self) -> str:
        return lancedb.__version__

    def open(self, folder: Path) -> None:
        self.database = lancedb.connect(folder)
        self.table = self.database.create_table("memories", schema=SCHEMA, exist_ok=True)

    def prepare(self, vector: bytes) -> list[float]:
        return floats(vector)

    def load(self, rows: list[Row], vectors: list[list[float]]) -> None:
        self.table.add(pyarrow.Table.from_pylist(
            [_record(row, vector) for row, vector in zip(rows, vectors, strict=True)], schema=SCHEMA
        ))
        self.table.create_fts_index("text", replace=True)
        self.table.create_scalar_index("user", index_type="BITMAP", replace=True)
        self.table.optimize(cleanup_older_than=timedelta())

    def add(self, row: Row, vector: list[float] | None) -> None:
        self.table.add([_record(row, vector)])

    def find(self, query: Row, vector: list[float], k: int) -> list[int]:
        search = self.table.search(vector).distance_type("cosine").where(f"user = '{query.user}'", prefilter=True)
        return [row["number"] for row in search.select(["number", "text"]).limit(k).to_list()]

    def hybrid(self, query: Row, vector: list[float], k: int) -> list[int]:
        search = self.table.search(query_type="hybrid").vector(vector).text(query.text).distance_type("cosine")
        search = search.where(f"user = '{query.user}'", prefilter=True)
        return [row["number"] for row in search.limit(k).to_list()]

    def update(self, row: Row, vector: list[float]) -> None:
        self.table.update(where=f"number = {row.number}", values={"text": row.text, "vector": vector})

    def delete(self, row: Row) -> None:
        self.table.delete(f"number = {row.number}")

    def numbers(self) -> list[int]:
        return self.table.search().select(["number"]).limit(10_000_000).to_arrow()["number"].to_pylist()


def _record(row: Row, vector: list[float] | None) -> dict:
    return {"number": row.number, "user": row.user, "text": row.text, "vector": vector}


PEER = Lance
