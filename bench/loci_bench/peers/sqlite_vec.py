"""sqlite-vec and FTS5 by hand: what a careful engineer writes in an afternoon.

WAL with a sync at every commit; vectors partitioned by user; the user stands in the index of words too, so that neither
list ever walks through other people's memories; both lists fused by rank.
"""

import threading
from pathlib import Path

import pysqlite3 as sqlite3
import sqlite_vec

from ..data import Row
from ..peer import Peer
from .shapes import DEPTH, fuse, words

SCHEMA = """
CREATE TABLE IF NOT EXISTS memories (number INTEGER PRIMARY KEY, owner TEXT NOT NULL, body TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (owner, body, content='memories', content_rowid='number');
CREATE VIRTUAL TABLE IF NOT EXISTS vectors USING vec0 (
  number INTEGER PRIMARY KEY, owner TEXT PARTITION KEY, vector FLOAT[384] DISTANCE_METRIC=cosine, chunk_size=256);
"""


class SqliteVec(Peer):
    """One connection under a lock: sixty-four that wait for each other's file lock are ten times slower."""

    name = "sqlite-vec + FTS5"

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def version(self) -> str:
        return f"{sqlite_vec.__version__}, SQLite {sqlite3.sqlite_version}"

    def open(self, folder: Path) -> None:
        self.connection = sqlite3.connect(
            folder / "memory.db", isolation_level=None, timeout=60, check_same_thread=False
        )
        self.connection.enable_load_extension(True)
        sqlite_vec.load(self.connection)
        self.connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;")
        self.connection.executescript(SCHEMA)

    def load(self, rows: list[Row], vectors: list[bytes]) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        for row, vector in zip(rows, vectors, strict=True):
            self._insert(row, vector)
        self.connection.execute("COMMIT")

    def add(self, row: Row, vector: bytes | None) -> None:
        with self.lock:
            self.connection.execute("BEGIN IMMEDIATE")
            self._insert(row, vector)
            self.connection.execute("COMMIT")

    def _insert(self, row: Row, vector: bytes | None) -> None:
        run = self.connection.execute
        run("INSERT INTO memories VALUES (?, ?, ?)", (row.number, row.user, row.text))
        run("INSERT INTO words (rowid, owner, body) VALUES (?, ?, ?)", (row.number, row.user, row.text))
        if vector is not None:
            run("INSERT INTO vectors VALUES (?, ?, ?)", (row.number, row.user, vector))

    def find(self, query: Row, vector: bytes, k: int) -> list[int]:
        statement = """SELECT number, body FROM memories JOIN (SELECT number AS near, distance FROM vectors
                         WHERE vector MATCH ? AND k = ? AND owner = ?) ON near = number ORDER BY distance"""
        return [number for number, _ in self.connection.execute(statement, (vector, k, query.user))]

    def hybrid(self, query: Row, vector: bytes, k: int) -> list[int]:
        near = self.connection.execute(
            "SELECT number FROM vectors WHERE vector MATCH ? AND k = ? AND owner = ? ORDER BY distance",
            (vector, DEPTH, query.user),
        )
        terms = " OR ".join(f'"{word}"' for word in words(query.text))
        said = self.connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, 0.0, 1.0) LIMIT ?",
            (f'owner:"{query.user}" AND body:({terms})', DEPTH),
        )
        best = fuse([[n for (n,) in near], [n for (n,) in said]], k)
        for number in best:
            self.connection.execute("SELECT body FROM memories WHERE number = ?", (number,)).fetchone()
        return best

    def update(self, row: Row, vector: bytes) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self._remove(row.number)
        self._insert(row, vector)
        self.connection.execute("COMMIT")

    def delete(self, row: Row) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        self._remove(row.number)
        self.connection.execute("COMMIT")

    def _remove(self, number: int) -> None:
        run = self.connection.execute
        run(
            "INSERT INTO words (words, rowid, owner, body) SELECT 'delete', number, owner, body "
            "FROM memories WHERE number = ?",
            (number,),
        )
        run("DELETE FROM vectors WHERE number = ?", (number,))
        run("DELETE FROM memories WHERE number = ?", (number,))

    def numbers(self) -> list[int]:
        return [number for (number,) in self.connection.execute("SELECT number FROM memories")]

    def close(self) -> None:
        self.connection.close()


PEER = SqliteVec
