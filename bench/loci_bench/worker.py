"""How does a peer written in Python answer the harness?

One JSON object per line in, one out, nothing else on standard output. A worker times itself: the wall clock around each
operation, and the processor time of its process and its servers' over the whole command. What an operation needs is
read and shaped before the clock starts.
"""

import json
import os
import random
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from .data import SPARE, Data, Row
from .measure import percentile
from .peer import Cannot, Peer

Answer = dict[str, Any]


class Meter:
    """Wall and processor time of one command."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.latencies: list[float] = []
        self._cpu = self._spent()
        self._start = time.perf_counter()

    def timed(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Calls, and keeps how long it took."""
        start = time.perf_counter()
        answer = call(*arguments)
        self.latencies.append((time.perf_counter() - start) * 1000)
        return answer

    def answer(self) -> Answer:
        """What the protocol wants to hear."""
        answer: Answer = {"seconds": time.perf_counter() - self._start, "cpu": self._spent() - self._cpu}
        if self.latencies:
            answer |= {"p50_ms": percentile(self.latencies, 50), "p99_ms": percentile(self.latencies, 99)}
        return answer

    def _spent(self) -> float:
        """A server that ends moves from the last to the second."""
        own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        running = sum(map(process_cpu, self.peer.processes()))
        return own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime + running


def process_cpu(pid: int) -> float:
    """Processor seconds of a process and of the children it has waited for."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def process_memory(pid: int | str) -> tuple[int, int]:
    """Resident and anonymous kilobytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0, 0
    fields = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "RssAnon"))}
    return int(fields.get("VmRSS", 0)), int(fields.get("RssAnon", 0))


class Worker:
    """The loop around one peer."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.data: Data | None = None

    def do(self, command: dict[str, Any]) -> Answer:
        """Answers one command."""
        command = dict(command)
        name = command.pop("do")
        if "from" in command:
            command["start"] = command.pop("from")
        handler = getattr(self, f"do_{name}", None)
        if handler is None:
            raise Cannot(f"does not know {name}")
        return handler(**command)

    def memories(self, start: int, until: int) -> list[tuple[Row, Any]]:
        """Read and shaped, before the clock starts."""
        return self._prepared(self.data.memories(start, until))

    def queries(self, start: int, until: int) -> list[tuple[Row, Any]]:
        """Likewise."""
        items = self._prepared(self.data.queries(start, until))
        self.peer.embedding(True)
        for query, _ in items:
            self.peer.prime(query)
        return items

    def _prepared(self, items: Iterable[tuple[Row, bytes]]) -> list[tuple[Row, Any]]:
        return [(row, self.peer.prepare(vector)) for row, vector in items]

    def do_hello(self) -> Answer:
        return {"peer": self.peer.name, "version": self.peer.version()}

    def do_open(self, folder: str, data: str) -> Answer:
        start = time.perf_counter()
        self.data = Data(Path(data))
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.peer.open(Path(folder))
        return {"ms": (time.perf_counter() - start) * 1000}

    def do_load(self, start: int, until: int) -> Answer:
        rows, vectors = map(list, zip(*self.memories(start, until), strict=True))
        meter = Meter(self.peer)
        self.peer.load(rows, vectors)
        return meter.answer()

    def do_add(self, start: int, until: int, callers: int, vectors: bool) -> Answer:
        if vectors and not self.peer.takes_vectors:
            raise Cannot("takes no vectors")
        items = [(row, vector if vectors else None) for row, vector in self.memories(start, until)]
        self.peer.embedding(False)
        if callers > 1:
            return self._add_together(items, callers)
        meter = Meter(self.peer)
        for row, vector in items:
            meter.timed(self.peer.add, row, vector)
        return meter.answer()

    def _add_together(self, items: list[tuple[Row, Any]], callers: int) -> Answer:
        queue: SimpleQueue[tuple[Row, Any]] = SimpleQueue()
        for item in items:
            queue.put(item)
        peers = [self.peer.caller() for _ in range(callers)]
        failures: list[Exception] = []
        meter = Meter(self.peer)

        def run(peer: Peer) -> None:
            try:
                while not failures:
                    meter.timed(peer.add, *queue.get_nowait())
            except Empty:
                pass
            except Exception as failure:  # reported to the harness below
                failures.append(failure)

        threads = [threading.Thread(target=run, args=(peer,)) for peer in peers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        answer = meter.answer()
        for peer in peers:
            if peer is not self.peer:
                peer.close()
        if failures:
            raise failures[0]
        return answer

    def do_find(self, start: int, until: int, k: int) -> Answer:
        return self._ask(self.peer.find, start, until, k)

    def do_hybrid(self, start: int, until: int, k: int) -> Answer:
        return self._ask(self.peer.hybrid, start, until, k)

    def _ask(self, search: Callable[..., list[int]], start: int, until: int, k: int) -> Answer:
        items = self.queries(start, until)
        meter = Meter(self.peer)
        ranked = [meter.timed(search, query, vector, k) for query, vector in items]
        return meter.answer() | {"ranked": ranked}

    def do_update(self, start: int, until: int) -> Answer:
        changed = [(Row(r.number, r.user, r.text + " (changed)"), v) for r, v in self.memories(start, until)]
        self.peer.embedding(False)
        meter = Meter(self.peer)
        for row, vector in changed:
            meter.timed(self.peer.update, row, vector)
        return meter.answer()

    def do_delete(self, start: int, until: int) -> Answer:
        items = self.memories(start, until)
        meter = Meter(self.peer)
        for row, _ in items:
            meter.timed(self.peer.delete, row)
        return meter.answer()

    def do_mixed(self, seconds: float, start: int) -> Answer:
        if not self.peer.takes_vectors:
            raise Cannot("takes no vectors")
        # Read on the way: a minute's worth in the shape that some peers want does not fit into memory.
        adds = ((row, self.peer.prepare(vector)) for row, vector in self.data.memories(start, start + SPARE))
        questions = self.queries(0, self.data.query_count())
        chance = random.Random(7)
        finding, adding = Meter(self.peer), Meter(self.peer)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            if chance.random() < 0.1:
                add = next(adds, None)
                if add is None:
                    raise Cannot("there are no memories left to add")
                adding.timed(self.peer.add, *add)
            else:
                finding.timed(self.peer.find, *chance.choice(questions), 10)
        total = finding.answer()
        answer: Answer = {
            "operations": len(finding.latencies) + len(adding.latencies),
            "seconds": total["seconds"],
            "cpu": total["cpu"],
        }
        for name, meter in (("find", finding), ("add", adding)):
            for at in (50, 99):
                answer[f"{name}_p{at}_ms"] = percentile(meter.latencies, at)
        return answer

    def do_numbers(self) -> Answer:
        return {"numbers": self.peer.numbers()}

    def do_count(self) -> Answer:
        return {"count": len(self.peer.numbers())}

    def do_acknowledge(self, start: int, until: int) -> Answer:
        self.peer.embedding(False)
        for row, vector in self.memories(start, until):
            self.peer.add(row, vector)
            say({"added": row.number})
        return {"done": True}

    def do_memory(self) -> Answer:
        measured = [process_memory(pid) for pid in self.peer.processes() or ["self"]]
        return {"rss_kb": sum(m[0] for m in measured), "anonymous_kb": sum(m[1] for m in measured)}

    def do_disk(self) -> Answer:
        return {"bytes": self.peer.disk()}

    def do_processes(self) -> Answer:
        return {"pids": [os.getpid(), *self.peer.processes()]}

    def do_text_add(self, start: int, until: int) -> Answer:
        items = self.data.memories(start, until)
        if self.peer.own_model:
            return self._alone(items, self.peer.text_add, ())
        return self._end_to_end(items, self.peer.add, ())

    def do_text_find(self, start: int, until: int, k: int) -> Answer:
        items = self.data.queries(start, until)
        if self.peer.own_model:
            return self._alone(items, self.peer.text_find, (k,))
        return self._end_to_end(items, self.peer.find, (k,))

    def _alone(self, items: Iterable[tuple[Row, bytes]], call: Callable[..., Any], more: tuple) -> Answer:
        rows = [row for row, _ in items]
        self.peer.embedding(True)
        meter = Meter(self.peer)
        for row in rows:
            meter.timed(call, row, *more)
        return meter.answer()

    def _end_to_end(self, items: Iterable[tuple[Row, bytes]], call: Callable[..., Any], more: tuple) -> Answer:
        """Encodes each text, then calls: what an agent pays for a sentence."""
        from .minilm import Encoder

        encoder = Encoder.found()
        rows = [row for row, _ in items]
        encoder.encode([rows[0].text])
        embedding = 0.0
        meter = Meter(self.peer)

        def both(row: Row) -> None:
            nonlocal embedding
            before = time.process_time()
            vector = encoder.encode([row.text])[0].tobytes()
            embedding += time.process_time() - before
            call(row, self.peer.prepare(vector), *more)

        for row in rows:
            meter.timed(both, row)
        return meter.answer() | {"embedding_cpu": embedding}


def say(answer: Answer) -> None:
    """One line on the standard output that the harness reads."""
    CHANNEL.write(json.dumps(answer) + "\n")
    CHANNEL.flush()


# Whatever a library prints goes to standard error, so that it cannot be taken for an answer.
CHANNEL = os.fdopen(os.dup(1), "w", encoding="utf-8")


def serve(peer: Peer) -> None:
    """Answers until the harness closes."""
    os.dup2(2, 1)
    worker = Worker(peer)
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "close":
            peer.close()
            say({})
            break
        try:
            say(worker.do(command))
        except Cannot as reason:
            say({"error": str(reason), "cannot": True})
        except Exception as failure:  # a peer may raise anything; the harness writes it down
            say({"error": " ".join(f"{type(failure).__name__}: {failure}".split())[:300]})
    CHANNEL.flush()
    os._exit(0)
