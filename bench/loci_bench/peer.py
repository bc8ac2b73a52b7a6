"""What must a peer be able to do?

An adapter fills in what its system offers; what it leaves out is reported as missing.
"""

from pathlib import Path
from typing import Any

from .data import Row


class Cannot(Exception):
    """What a peer does not offer; the words go into the table."""


class Peer:
    """One memory system. A vector comes in the shape that `prepare` gave it."""

    name = ""
    # Whether it encodes texts itself; for the others the harness's own pass of the same model does it.
    own_model = False
    # Whether it takes vectors at all. One that does not adds without them.
    takes_vectors = True

    def version(self) -> str:
        """As its package says."""
        raise NotImplementedError

    def open(self, folder: Path) -> None:
        """Opens or creates the store there."""
        raise NotImplementedError

    def prepare(self, vector: bytes) -> Any:
        """The shape in which it takes vectors; not counted as its work."""
        return vector

    def load(self, rows: list[Row], vectors: list[Any]) -> None:
        """The fastest way in for many, durable at the end."""
        raise Cannot("no bulk load")

    def add(self, row: Row, vector: Any | None) -> None:
        """One memory; without a vector where it can do without."""
        raise NotImplementedError

    def find(self, query: Row, vector: Any, k: int) -> list[int]:
        """The nearest of one user."""
        raise Cannot("no vector search")

    def hybrid(self, query: Row, vector: Any, k: int) -> list[int]:
        """Its own mixture of words and vectors, within one user."""
        raise Cannot("no hybrid search")

    def prime(self, query: Row) -> None:
        """What must have happened before a question counts."""

    def update(self, row: Row, vector: Any) -> None:
        """Changes what a memory says."""
        raise Cannot("no update")

    def delete(self, row: Row) -> None:
        """Takes a memory away."""
        raise Cannot("no delete")

    def numbers(self) -> list[int]:
        """All that can be read."""
        raise Cannot("cannot list")

    def text_add(self, row: Row) -> None:
        """Encodes and adds by itself; only asked of those that say `own_model`."""
        raise Cannot("brings no model")

    def text_find(self, query: Row, k: int) -> list[int]:
        """Encodes and finds by itself."""
        raise Cannot("brings no model")

    def embedding(self, wanted: bool) -> None:
        """Before a command: whether it should encode by itself. Only those with a model of their own care."""

    def caller(self) -> "Peer":
        """What one of several threads uses."""
        return self

    def processes(self) -> list[int]:
        """The servers that work for it."""
        return []

    def disk(self) -> int:
        """Bytes on disk, if they are not in the folder."""
        raise Cannot("in the folder")

    def close(self) -> None:
        """Lets go of the store."""
