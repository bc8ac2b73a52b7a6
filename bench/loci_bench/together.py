"""What is asked of peers in turns, of two processes at once, and of one that is killed?"""

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from .data import Data
from .harness import Answer, Gone, Over, Refused, Results, Worker
from .measure import median, median_ratio
from .titles import LOCI
from .workloads import VECTORLESS, Settings, written_down

ROUNDS = 5
# (name of the row, adds in a round, callers, with a vector)
KINDS = [("add bare", 300, 1, False), ("add vector", 300, 1, True), ("add bare 64", 1280, 64, False),
         ("add vector 64", 1280, 64, True)]
# Seconds that one peer's part of a round should take; slow peers add fewer.
ROUND = 4.0
# Adds before the rounds, or one for each caller; they warm everything up and show who is slow.
WARM = 20


def opened(peer: str, folder: Path, data: Data, settings: Settings) -> Worker:
    """A worker with an open store."""
    worker = Worker(peer, settings.work / f"{peer}.log")
    worker.ask("open", settings.limit, folder=str(folder), data=str(data.folder))
    return worker


def fresh(settings: Settings, name: str) -> Path:
    """An empty folder."""
    folder = settings.work / "stores" / name
    shutil.rmtree(folder, ignore_errors=True)
    return folder


@dataclass
class Turns:
    """One peer's part in the rounds of one kind."""

    worker: Worker
    # How many it adds in a round.
    count: int
    # What it adds next.
    at: int = 0
    answers: list[Answer] = field(default_factory=list)

    def add(self, count: int, kind: dict, limit: float) -> Answer:
        """The next `count` items."""
        start, self.at = self.at, self.at + count
        return self.worker.ask("add", limit, start=start, until=self.at, **kind)

    def rates(self) -> list[float]:
        """Adds a second, round by round."""
        return [self.count / answer["seconds"] for answer in self.answers]


def rounds(peers: list[str], data: Data, results: Results, settings: Settings) -> None:
    """Durable adds, peer after peer, round after round: the disk's sync time flips within a minute, so only what
    stands side by side can be compared."""
    for name, count, callers, vectors in KINDS:
        count, times = (count // 5, 2) if settings.quick else (count, ROUNDS)
        kind = {"callers": callers, "vectors": vectors}
        turns: dict[str, Turns] = {}
        for peer in peers:
            with written_down(results, peer, name, 0):
                turns[peer] = _warm(peer, count, kind, data, settings)
        for turn in range(times):
            # Back and forth, so that nobody always comes after the same one and waits for what it left to the disk.
            for peer in list(turns)[:: -1 if turn % 2 else 1]:
                try:
                    turns[peer].answers.append(turns[peer].add(turns[peer].count, kind, settings.limit))
                except (Refused, Over, Gone) as reason:
                    results.note(peer, name, 0, cannot=str(reason))
                    turns.pop(peer).worker.close()
        for taken in turns.values():
            taken.worker.close()
        _tell_rounds(name, turns, results)
        for peer in peers:
            shutil.rmtree(settings.work / "stores" / f"{peer}-rounds", ignore_errors=True)


def _warm(peer: str, count: int, kind: dict, data: Data, settings: Settings) -> Turns:
    """An empty store after its first adds, and how many of them fit into a round."""
    turns = Turns(opened(peer, fresh(settings, f"{peer}-rounds"), data, settings), count)
    first = max(WARM, kind["callers"])
    try:
        # The first of them pay for what is made once and say nothing of the speed.
        turns.add(first, kind, settings.limit)
        rate = first / turns.add(first, kind, settings.limit)["seconds"]
    except (Refused, Over, Gone):
        turns.worker.close()
        raise
    turns.count = min(count, max(first, int(rate * ROUND)))
    return turns


def _tell_rounds(name: str, turns: dict[str, Turns], results: Results) -> None:
    """Medians over rounds; ratios to Loci are medians of the ratios of each round."""
    for peer, taken in turns.items():
        figures: dict[str, float] = {
            "adds": taken.count,
            "rounds": len(taken.answers),
            "per_second": median(taken.rates()),
            "p50_ms": median([answer["p50_ms"] for answer in taken.answers]),
            "p99_ms": median([answer["p99_ms"] for answer in taken.answers]),
            "cpu_ms": median([answer["cpu"] * 1000 / taken.count for answer in taken.answers]),
        }
        for loci in LOCI:
            if loci in turns:
                figures[f"{loci}_ratio"] = median_ratio(turns[loci].rates(), taken.rates())
        results.note(peer, name, 0, **figures)


def syncs(peer: str, data: Data, results: Results, settings: Settings) -> None:
    """How often the disk is asked to keep one add, seen from outside: `strace` on the worker and its servers."""
    count = 40
    if shutil.which("strace") is None:
        results.note(peer, "syncs", 0, cannot="strace is not installed")
        return
    trace = settings.work / "syncs.trace"
    trace.unlink(missing_ok=True)
    folder = fresh(settings, f"{peer}-syncs")
    with written_down(results, peer, "syncs", 0), opened(peer, folder, data, settings) as worker:
        bare = {"callers": 1, "vectors": peer not in VECTORLESS}
        worker.ask("add", settings.limit, start=0, until=10, **bare)
        watched = [argument for pid in worker.pids() for argument in ("-p", str(pid))]
        calls = "trace=fsync,fdatasync,sync_file_range,msync,sync,syncfs"
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-e", calls, "-o", str(trace), *watched], stderr=subprocess.DEVNULL
        )
        time.sleep(1)
        # Where tracing is forbidden it ends at once; counting nothing must not look like no syncs.
        if tracer.poll() is not None:
            results.note(peer, "syncs", 0, cannot="strace may not look at the process here")
            return
        worker.ask("add", settings.limit, start=10, until=10 + count, **bare)
        tracer.send_signal(signal.SIGINT)
        tracer.wait(30)
        seen = [line for line in trace.read_text().splitlines() if "sync" in line and "resumed" not in line]
        results.note(peer, "syncs", 0, per_add=len(seen) / count)
    shutil.rmtree(folder, ignore_errors=True)


def two(peer: str, data: Data, results: Results, settings: Settings) -> None:
    """Two processes add to one store at once; a third counts what is there."""
    each = 100 if settings.quick else 500
    folder = fresh(settings, f"{peer}-two")
    with written_down(results, peer, "two processes", 2 * each):
        opened(peer, folder, data, settings).close()
        workers, refused = [], []
        for _ in range(2):
            try:
                workers.append(opened(peer, folder, data, settings))
            except (Refused, Gone) as reason:
                refused.append(str(reason))
        acknowledged = 0
        for i, worker in enumerate(workers):
            worker.send("add", start=i * each, until=(i + 1) * each, callers=1, vectors=peer not in VECTORLESS)
        for worker in workers:
            try:
                worker.receive(settings.limit)
                acknowledged += each
            except (Refused, Gone) as reason:
                refused.append(str(reason))
        for worker in workers:
            worker.close()
        with opened(peer, folder, data, settings) as counter:
            there = counter.ask("count", settings.limit)["count"]
        results.note(peer, "two processes", 2 * each, there=there, acknowledged=acknowledged,
                     **({"refused": refused[0][:160]} if refused else {}))
    shutil.rmtree(folder, ignore_errors=True)


def kill(peer: str, data: Data, results: Results, settings: Settings) -> None:
    """Killed in the middle of adding; every number that was acknowledged must be there after reopening."""
    after = 40 if settings.quick else 200
    folder = fresh(settings, f"{peer}-kill")
    with written_down(results, peer, "kill -9", after):
        worker = opened(peer, folder, data, settings)
        worker.send("acknowledge", start=0, until=5000)
        acknowledged = set()
        try:
            while len(acknowledged) < after:
                acknowledged.add(worker.receive(settings.limit)["added"])
        finally:
            worker.kill()
        acknowledged |= _late(worker)
        with opened(peer, folder, data, settings) as after_death:
            there = set(after_death.ask("numbers", settings.limit)["numbers"])
        results.note(peer, "kill -9", after, acknowledged=len(acknowledged), lost=len(acknowledged - there))
    shutil.rmtree(folder, ignore_errors=True)


def _late(worker: Worker) -> set[int]:
    """What was acknowledged before the end but read after it."""
    late = set()
    while True:
        try:
            late.add(worker.receive(10)["added"])
        except (Gone, Over, Refused, KeyError, ValueError):
            return late
