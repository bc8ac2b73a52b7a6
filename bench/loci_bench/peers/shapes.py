"""In what shapes do peers take what they are given?"""

import re
from array import array
from collections.abc import Sequence

# The constant of reciprocal rank fusion, and how deep the lists are that are fused: what everybody uses.
FUSION, DEPTH = 60, 50


def floats(vector: bytes) -> list[float]:
    """A vector as Python's numbers."""
    return array("f", vector).tolist()


def words(text: str) -> list[str]:
    """The words of a text without what query languages take for signs."""
    return re.findall(r"\w+", text.lower())


def fuse(lists: Sequence[Sequence[int]], k: int) -> list[int]:
    """Reciprocal rank fusion."""
    scores: dict[int, float] = {}
    for ranked in lists:
        for rank, number in enumerate(ranked, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (FUSION + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)[:k]


class Lookup:
    """An embedder that knows its vectors beforehand, for peers that insist on embedding by themselves."""

    def __init__(self) -> None:
        self.known: dict[str, list[float]] = {}

    def give(self, text: str, vector: list[float]) -> None:
        """What will be asked next."""
        self.known[text] = vector

    def take(self, text: str) -> list[float]:
        """The vector given for a text; kept, because some ask twice."""
        return self.known[text]

    def forget(self, text: str) -> None:
        """Keeps the table small, so that it is not taken for the peer's memory."""
        self.known.pop(text, None)
