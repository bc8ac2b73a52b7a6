"""What is asked of each peer alone?

A cell that fails or takes too long is written down with its reason, and the next one is tried.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from time import perf_counter

from .data import ROW, Data, question_ranges
from .harness import Answer, Gone, Over, Refused, Results, Worker
from .measure import overlap
from .titles import FOR_ALL

# How many are added, changed and taken away one by one at each size.
SINGLE = 60
# How many of anything show whether a peer is slow.
FEW = 3
# Questions in a row that go round all users of a scope size.
USERS = 40
# Seconds that the questions of one cell should take; slow peers are asked fewer.
CELL = 3.0


# Peers whose door takes texts alone; they add without a vector wherever the others add with one.
VECTORLESS = {"loci_http"}


@dataclass
class Settings:
    """What the command line said."""

    sizes: list[int]
    work: Path
    seed: int
    limit: float
    mixed: float
    quick: bool


@contextmanager
def written_down(results: Results, peer: str, work: str, n: int) -> Iterator[None]:
    """Turns a failure into a line of the results."""
    try:
        yield
    except Refused as reason:
        results.note(peer, work, n, cannot=str(reason))
    except Over as reason:
        results.note(peer, work, n, over=str(reason))
    except Gone as reason:
        results.note(peer, work, n, cannot=f"the process {reason}")


class Size:
    """One peer at one size of store."""

    def __init__(self, peer: str, size: int, data: Data, results: Results, settings: Settings) -> None:
        self.peer, self.size, self.data, self.results, self.settings = peer, size, data, results, settings
        self.folder = settings.work / "stores" / f"{peer}-{size}"
        # How many questions in a row this peer answers in good time.
        self.bearable = USERS
        self.log = settings.work / f"{peer}.log"

    def run(self) -> float | None:
        """Load, then everything that is asked of a store that is there; how long the load took, if it came to an end."""
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            seconds = self._load()
            if seconds is not None:
                self._start()
                self._use()
            return seconds
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def note(self, work: str, **metrics: float | str) -> None:
        """A line about this peer and size."""
        self.results.note(self.peer, work, self.size, **metrics)

    def _opened(self) -> Worker:
        worker = Worker(self.peer, self.log)
        worker.ask("open", self.settings.limit, folder=str(self.folder), data=str(self.data.folder))
        return worker

    def _cell(self, work: str) -> AbstractContextManager[None]:
        return written_down(self.results, self.peer, work, self.size)

    def _load(self) -> float | None:
        seconds = None
        with self._cell("load"):
            try:
                with self._opened() as worker:
                    answer = worker.ask("load", self.settings.limit, start=0, until=self.size)
                    seconds = answer["seconds"]
                    cpu = answer["cpu"] * 1000 / self.size
                    self.note("load", seconds=seconds, per_second=self.size / seconds, cpu_ms=cpu)
            except Over:
                raise Over(f"over {self.settings.limit:.0f} s{self._reached()}") from None
        return seconds

    def _reached(self) -> str:
        """How far a load came that was ended."""
        try:
            with self._opened() as worker:
                return f", {worker.ask('count', 60)['count']:,} of {self.size:,} reached"
        except (Refused, Over, Gone):
            return ""

    def _start(self) -> None:
        """From nothing to the first answer, three times; then what lies on disk and in memory."""
        with self._cell("start"):
            first = min(self._first_answer() for _ in range(3))
            self.note("start", ms=first)
        with self._cell("disk"), self._opened() as worker:
            try:
                taken = worker.ask("disk")["bytes"]
            except Refused:
                taken = sum(f.stat().st_size for f in self.folder.rglob("*") if f.is_file())
            raw = sum(len(row.text.encode()) + ROW for row, _ in self.data.memories(0, self.size))
            self.note("disk", bytes=taken / self.size, raw_ratio=taken / raw)

    def _first_answer(self) -> float:
        with self._opened() as worker:
            worker.ask("find", self.settings.limit, start=0, until=1, k=10)
            return (perf_counter() - worker.started) * 1000

    def _use(self) -> None:
        steps = (self._find, self._hybrid, self._memory, self._change, self._mixed)
        worker: Worker | None = None
        for step in steps:
            with self._cell(step.__name__.strip("_")):
                if worker is None or worker.process.poll() is not None:
                    worker = self._opened()
                step(worker)
        if worker is not None:
            worker.close()

    def _find(self, worker: Worker) -> None:
        for scope, span in question_ranges(self.size).items():
            answer, asked = self._asked(worker, "find", span)
            recall = {} if self.peer in VECTORLESS else {"recall": self._recall(answer, span[0])}
            self.note(f"find {scope}", **_figures(answer, asked), **recall)

    def _hybrid(self, worker: Worker) -> None:
        for scope, span in question_ranges(self.size).items():
            answer, asked = self._asked(worker, "hybrid", span)
            self.note(f"hybrid {scope}", **_figures(answer, asked))

    def _asked(self, worker: Worker, command: str, span: tuple[int, int]) -> tuple[Answer, int]:
        """A few questions to see how long they take, one for each user so that all are warm, then as many as fit."""
        start, until = span
        # Twice: the first to ask for a user may pay for all that come after, which does not make a peer slow.
        for _ in range(2):
            few = worker.ask(command, self.settings.limit, start=start, until=start + FEW, k=10)
        fit = int(CELL / max(few["seconds"] / FEW, 1e-5))
        if fit < 10:
            self.bearable = FEW
            return few, FEW
        asked = min(until - start, fit, 20 if self.settings.quick else until)
        worker.ask(command, self.settings.limit, start=start, until=start + min(USERS, asked), k=10)
        return worker.ask(command, self.settings.limit, start=start, until=start + asked, k=10), asked

    def _recall(self, answer: Answer, start: int) -> float:
        exact = exact_neighbours(self.data, self.size)[start:]
        shares = [overlap(found, nearest) for found, nearest in zip(answer["ranked"], exact, strict=False)]
        return sum(shares) / len(shares)

    def _memory(self, worker: Worker) -> None:
        """After finds for nearly every user, so that nothing of the store is left untouched."""
        worker.close()
        with self._opened() as fresh:
            for start, _ in question_ranges(self.size).values():
                fresh.ask("find", self.settings.limit, start=start, until=start + self.bearable, k=10)
            answer = fresh.ask("memory")
        self.note("memory", rss_mb=answer["rss_kb"] / 1024, anonymous_mb=answer["anonymous_kb"] / 1024)

    def _change(self, worker: Worker) -> None:
        """One by one: added, changed, taken away again."""
        quick, works = True, {"add": {"callers": 1, "vectors": self.peer not in VECTORLESS}}
        # To change a memory a worker looks up first which one has the number; among a million that takes minutes.
        if self.size <= FOR_ALL:
            works |= {"update": {}, "delete": {}}
        for work, more in works.items():
            with self._cell(work):
                answer = worker.ask(work, self.settings.limit, start=self.size, until=self.size + FEW, **more)
                done = FEW
                # What was not added cannot be changed: who is slow once is asked little from then on.
                quick = quick and answer["seconds"] / FEW * SINGLE < 2 * CELL
                if quick:
                    span = {"start": self.size + FEW, "until": self.size + FEW + SINGLE}
                    answer, done = worker.ask(work, self.settings.limit, **span, **more), SINGLE
                self.note(work, **_figures(answer, done))

    def _mixed(self, worker: Worker) -> None:
        if self.size != (10_000 if 10_000 in self.settings.sizes else min(self.settings.sizes)):
            return
        asked = worker.ask("mixed", self.settings.limit, seconds=self.settings.mixed, start=self.size + FEW + SINGLE)
        seconds = asked.pop("seconds", self.settings.mixed)
        asked["per_second"] = asked["operations"] / seconds
        asked["cpu_ms"] = asked.pop("cpu") * 1000 / max(asked.pop("operations"), 1)
        self.note("mixed", **asked)


def _figures(answer: Answer, operations: int) -> dict[str, float]:
    return {"p50_ms": answer["p50_ms"], "p99_ms": answer["p99_ms"], "cpu_ms": answer["cpu"] * 1000 / operations}


@cache
def exact_neighbours(data: Data, size: int) -> list[list[int]]:
    """What a scan over all of a user's memories finds, for every question."""
    import numpy

    vectors = numpy.memmap(data.folder / "vectors.f32", dtype="<f4", mode="r").reshape(-1, ROW // 4)
    queries = numpy.fromfile(data.folder / "queries.f32", dtype="<f4").reshape(-1, ROW // 4)
    owned: dict[str, list[int]] = {}
    with (data.folder / "memories.jsonl").open(encoding="utf-8") as lines:
        for line in islice(lines, size):
            row = json.loads(line)
            owned.setdefault(row["user"], []).append(row["number"])
    asked: dict[str, list[int]] = {}
    for query, _ in data.queries(0, data.query_count()):
        asked.setdefault(query.user, []).append(query.number)
    exact: dict[int, list[int]] = {}
    # User by user: a tenth of a million is 150 MB, which is gathered once and not for each question.
    for user, questions in asked.items():
        numbers = numpy.array(owned[user])
        for question, scores in zip(questions, queries[questions] @ vectors[numbers].T, strict=True):
            exact[question] = numbers[numpy.argsort(-scores)[:10]].tolist()
    return [exact[question] for question in sorted(exact)]
