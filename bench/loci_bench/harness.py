"""How is a worker started, asked, and ended?

Every question has a time limit, after which the worker and all that it started are killed: a slow peer is
reported, not waited for.
"""

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from .peers import loci_drive

Answer = dict[str, Any]

# One thread for numpy in every worker: several would be counted as waste of the peer that they wait in.
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parent.parent), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class Refused(Exception):
    """A worker could not do it, and says why."""


class Over(Exception):
    """It took longer than it may."""


class Gone(Exception):
    """It ended by itself."""


class Worker:
    """One peer's process."""

    def __init__(self, peer: str, log: Path) -> None:
        self.peer = peer
        self.started = time.perf_counter()
        command = loci_drive.COMMAND if peer == "loci_drive" else [sys.executable, "-m", "loci_bench", peer]
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | ENVIRONMENT,
                start_new_session=True,
            )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, command: str, **fields: Any) -> None:
        """Without waiting. `start` goes as `from`, which Python keeps for itself."""
        if "start" in fields:
            fields["from"] = fields.pop("start")
        try:
            self.process.stdin.write(json.dumps({"do": command, **fields}).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Gone(f"ended with {self.process.wait()}") from None

    def receive(self, limit: float) -> Answer:
        """The next line."""
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            self.kill()
            raise Over(f"over {limit:.0f} s") from None
        if not line:
            raise Gone(f"ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    def ask(self, command: str, limit: float = 120, **fields: Any) -> Answer:
        """And waits for the answer."""
        self.send(command, **fields)
        return self.receive(limit)

    def pids(self) -> list[int]:
        """Every process that works for this peer, servers on this machine included."""
        try:
            return self.ask("processes")["pids"]
        except Refused:
            return [self.process.pid]

    def kill(self) -> None:
        """Without warning: the worker and all that it started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def close(self) -> None:
        """In good order where possible."""
        if self.process.poll() is None:
            try:
                self.ask("close", limit=30)
                self.process.wait(30)
            except (Refused, Over, Gone, subprocess.TimeoutExpired):
                pass
        self.kill()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Results:
    """Results as JSON lines, written and printed as they arrive."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w", encoding="utf-8")
        self._versions: dict[str, str] = {}

    def version(self, peer: str, version: str) -> None:
        """Stands in every later line of the peer."""
        self._versions[peer] = version

    def note(self, peer: str, work: str, n: int, **metrics: float | str) -> None:
        """One line for each figure."""
        for metric, value in metrics.items():
            value = float(f"{value:.6g}") if isinstance(value, float) else value
            # What a peer says of itself may name folders of this machine.
            value = re.sub(r"(/[\w.@-]+){2,}", "…", value) if isinstance(value, str) else value
            line = {"peer": peer, "version": self._versions.get(peer, ""), "work": work, "n": n}
            self._file.write(json.dumps(line | {"metric": metric, "value": value}) + "\n")
        self._file.flush()
        figures = " ".join(f"{m}={v:.4g}" if isinstance(v, float) else f"{m}={v}" for m, v in metrics.items())
        print(f"{peer:12} {work:20} {n:>9,} {figures}", file=sys.stderr)
