"""What was measured, found again?"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from textwrap import shorten

from .titles import FOR_ALL, LOCI, TITLES

Value = float | str

# What a server says of a problem in a JSON document of its own, even if its end was cut off.
MESSAGE = re.compile(r'"(?:detail|message)"\s*:\s*"((?:[^"\\]|\\.)+)"')
# So much of a reason fits into a cell.
READABLE = 120


def readable(reason: str) -> str:
    """A reason as a table can show it: the message alone of a whole document, and not too much of it."""
    found = MESSAGE.search(reason)
    return shorten(found[1] if found else reason, READABLE, placeholder=" …")


class Book:
    """The lines of one run."""

    def __init__(self, lines: Iterable[dict]) -> None:
        self._cells: dict[tuple[str, str, int], dict[str, Value]] = {}
        self.versions: dict[str, str] = {}
        for line in lines:
            self._cells.setdefault((line["peer"], line["work"], line["n"]), {})[line["metric"]] = line["value"]
            if line["version"]:
                self.versions[line["peer"]] = line["version"]

    @classmethod
    def read(cls, path: Path) -> "Book":
        """From a file of JSON lines."""
        with path.open(encoding="utf-8") as file:
            return cls(json.loads(line) for line in file)

    def cell(self, peer: str, work: str, n: int | None = None) -> dict[str, Value]:
        """All metrics of one cell; without a size, of the only or the last one."""
        if n is not None:
            return self._cells.get((peer, work, n), {})
        found = [cell for (p, w, _), cell in self._cells.items() if (p, w) == (peer, work)]
        return found[-1] if found else {}

    def figure(self, peer: str, work: str, metric: str, n: int | None = None) -> float | None:
        """One figure, if it was measured."""
        value = self.cell(peer, work, n).get(metric)
        return value if isinstance(value, int | float) else None

    def sizes(self, work: str = "load") -> list[int]:
        """The sizes of store that were tried."""
        return sorted({n for _, name, n in self._cells if name == work})

    def main_size(self) -> int:
        """The size that bars and tables are about: the largest that all peers were tried with."""
        return max((n for n in self.sizes() if n <= FOR_ALL), default=0)

    def larger(self) -> list[int]:
        """The sizes beyond, with which only some were tried."""
        return [n for n in self.sizes() if n > FOR_ALL]

    def tried(self, n: int) -> list[str]:
        """The peers that a table about a size is about; up to the main size it shows who is missing."""
        return list(TITLES) if n <= FOR_ALL else [peer for peer in TITLES if self.cell(peer, "load", n)]

    def scopes(self, work: str, n: int) -> list[int]:
        """The sizes of scope that were asked in a store of that size."""
        heads = (w.split() for _, w, size in self._cells if size == n)
        return sorted({int(h[1]) for h in heads if h[0] == work and len(h) == 2 and h[1].isdigit()})

    def reason(self, peer: str, work: str, n: int | None = None) -> str:
        """The reason why a figure is missing: its own, or that of a step it depends on."""
        if hello := self.cell(peer, "hello").get("cannot"):
            return f"not there: {readable(str(hello))}"
        before = [work] if n is None else [work, work.split()[0], "load"]
        for name in before:
            cell = self.cell(peer, name, n)
            for metric in ("cannot", "over"):
                if metric in cell:
                    return readable(str(cell[metric]))
        return ""

    def others(self) -> list[str]:
        """All peers but Loci."""
        return [peer for peer in TITLES if peer not in LOCI]

    def durable(self, peer: str) -> bool:
        """Whether an add is on disk when it is answered: at least one sync for each."""
        return (self.figure(peer, "syncs", "per_add") or 0) >= 0.9
