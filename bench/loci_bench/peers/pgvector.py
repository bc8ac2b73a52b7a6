"""PostgreSQL with pgvector by hand, in the server that the tests use too (sync at every commit).

Exact within the user, found by a B-tree: recall 1, where an HNSW index would lose what it filters away. Words by
`tsvector` under GIN; both lists fused by rank in one statement.
"""

import hashlib
import os
from pathlib import Path

import psycopg

from ..data import Row
from ..peer import Peer
from .shapes import DEPTH, FUSION, floats, words

TABLE = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA IF NOT EXISTS {schema};
SET search_path = {schema}, public;
CREATE TABLE IF NOT EXISTS memories (
  number BIGINT PRIMARY KEY, owner TEXT NOT NULL, body TEXT NOT NULL, vector VECTOR(384),
  words TSVECTOR GENERATED ALWAYS AS (to_tsvector('english', body)) STORED);
ALTER TABLE memories ALTER vector SET STORAGE PLAIN;
CREATE INDEX IF NOT EXISTS by_owner ON memories (owner);
CREATE INDEX IF NOT EXISTS by_words ON memories USING gin (words);
"""

FIND = "SELECT number, body FROM memories WHERE owner = %s ORDER BY vector <=> %s::vector LIMIT %s"

HYBRID = f"""
WITH near AS (SELECT number, row_number() OVER () AS rank FROM
       (SELECT number FROM memories WHERE owner = %(user)s ORDER BY vector <=> %(vector)s::vector LIMIT {DEPTH}) AS n),
     said AS (SELECT number, row_number() OVER () AS rank FROM
       (SELECT number FROM memories, to_tsquery('english', %(terms)s) AS asked WHERE owner = %(user)s AND words @@ asked
        ORDER BY ts_rank(words, asked, 1) DESC LIMIT {DEPTH}) AS s)
SELECT number, body FROM memories JOIN (
  SELECT number, sum(1.0 / ({FUSION} + rank)) AS score FROM (SELECT * FROM near UNION ALL SELECT * FROM said) AS lists
  GROUP BY number) AS fused USING (number) ORDER BY score DESC LIMIT %(k)s
"""


class PgVector(Peer):
    """A schema for each folder; every caller has its own connection."""

    name = "PostgreSQL + pgvector"

    def version(self) -> str:
        with psycopg.connect(_url()) as connection:
            server = connection.execute("SHOW server_version").fetchone()[0].split()[0]
            found = connection.execute(
                "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
            ).fetchone()
        return f"{server}, pgvector {found[0]}"

    def open(self, folder: Path) -> None:
        self.folder = folder
        self.schema = "bench_" + hashlib.blake2b(str(folder.absolute()).encode(), digest_size=6).hexdigest()
        self.connection = psycopg.connect(_url(), autocommit=True)
        # A file in the folder marks that the store exists, because the harness empties folders and not servers.
        mark = folder / "schema"
        if not mark.exists():
            self.connection.execute(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")
            self.connection.execute(TABLE.format(schema=self.schema))
            mark.write_text(self.schema)
        self.connection.execute(f"SET search_path = {self.schema}, public")

    def caller(self) -> "PgVector":
        other = PgVector()
        other.open(self.folder)
        return other

    def prepare(self, vector: bytes) -> str:
        return "[" + ",".join(f"{value:.8g}" for value in floats(vector)) + "]"

    def load(self, rows: list[Row], vectors: list[str]) -> None:
        with self.connection.cursor().copy("COPY memories (number, owner, body, vector) FROM STDIN") as copy:
            for row, vector in zip(rows, vectors, strict=True):
                copy.write_row((row.number, row.user, row.text, vector))
        self.connection.execute("ANALYZE memories")

    def add(self, row: Row, vector: str | None) -> None:
        self.connection.execute(
            "INSERT INTO memories (number, owner, body, vector) VALUES (%s, %s, %s, %s::vector)",
            (row.number, row.user, row.text, vector),
        )

    def find(self, query: Row, vector: str, k: int) -> list[int]:
        return [row[0] for row in self.connection.execute(FIND, (query.user, vector, k))]

    def hybrid(self, query: Row, vector: str, k: int) -> list[int]:
        terms = " | ".join(words(query.text))
        asked = {"user": query.user, "vector": vector, "terms": terms, "k": k}
        return [row[0] for row in self.connection.execute(HYBRID, asked)]

    def update(self, row: Row, vector: str) -> None:
        self.connection.execute(
            "UPDATE memories SET body = %s, vector = %s::vector WHERE number = %s", (row.text, vector, row.number)
        )

    def delete(self, row: Row) -> None:
        self.connection.execute("DELETE FROM memories WHERE number = %s", (row.number,))

    def numbers(self) -> list[int]:
        return [number for (number,) in self.connection.execute("SELECT number FROM memories")]

    def disk(self) -> int:
        return self.connection.execute("SELECT pg_total_relation_size('memories')").fetchone()[0]

    def processes(self) -> list[int]:
        """The postmaster and all that it has started; none where it runs on another machine."""
        backend = self.connection.info.backend_pid
        try:
            parent = int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        except (OSError, ValueError):
            return []
        return [parent, *map(int, children)]

    def close(self) -> None:
        self.connection.close()


def _url() -> str:
    return os.environ["LOCI_TEST_POSTGRES_URL"]


PEER = PgVector
