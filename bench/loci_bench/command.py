"""What was asked for on the command line, and who is asked it?"""

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from . import data, endtoend, together
from .harness import Gone, Over, Refused, Results, Worker
from .quality import quality
from .report import write_report
from .titles import FOR_ALL, GO_ON, TITLES
from .workloads import Settings, Size

WORK = ["together", "sizes", "syncs", "two", "kill", "text", "quality", "largest"]
# Seconds that one cell may take in a store larger than all peers get: loading alone takes minutes.
LARGE_LIMIT = 600.0


def main() -> None:
    """Runs what was asked for, then makes the report of it."""
    given = _arguments()
    # So that workers are ended too when this is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if not given.report_only:
        _measure(given)
    write_report(given.results, given.docs)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compares Loci with what people would use instead.")
    parser.add_argument("--sizes", default="1000,10000,100000,1000000", type=_numbers,
                        help=f"sizes of store; above {FOR_ALL:,} only {' and '.join(GO_ON)} are asked")
    parser.add_argument("--peers", default=list(TITLES), type=lambda text: text.split(","), help=",".join(TITLES))
    parser.add_argument("--work", default=WORK, type=lambda text: text.split(","), help=",".join(WORK))
    parser.add_argument("--quick", action="store_true", help="1,000 memories and few of everything")
    parser.add_argument("--limit", default=120.0, type=float, help="seconds that one cell may take")
    parser.add_argument("--mixed", default=60.0, type=float, help="seconds of the mixed workload")
    parser.add_argument("--seed", default=7, type=int)
    parser.add_argument("--folder", default="target/bench-work", type=Path, help="data and stores; several GB")
    parser.add_argument("--results", default="bench/results/latest.jsonl", type=Path)
    parser.add_argument("--docs", default="docs", type=Path, help="where benchmarks.md and its charts go")
    parser.add_argument("--report-only", action="store_true", help="make the report of results that are there")
    given = parser.parse_args()
    if given.quick:
        given.sizes, given.mixed, given.limit = [1000], 2.0, 60.0
    return given


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _measure(given: argparse.Namespace) -> None:
    folder = given.folder.absolute()
    settings = Settings(given.sizes, folder, given.seed, given.limit, given.mixed, given.quick)
    shutil.rmtree(folder / "stores", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    results = Results(given.results)
    results.note("machine", "about", 0, **_machine(given))
    present = [peer for peer in given.peers if _greeted(peer, results, settings)]
    for name, run in _parts(present, results, settings).items():
        if name in given.work:
            start = perf_counter()
            run()
            results.note("machine", "took", 0, **{name: perf_counter() - start})
    shutil.rmtree(folder / "stores", ignore_errors=True)


def _parts(peers: list[str], results: Results, settings: Settings) -> dict[str, Callable[[], None]]:
    """Everything that can be measured, in its order. The largest stores come last: they take longest and tell of few."""
    small = _data(min(settings.sizes), settings)
    ordinary = [size for size in settings.sizes if size <= FOR_ALL]
    large = [size for size in settings.sizes if size > FOR_ALL]
    patient = replace(settings, limit=LARGE_LIMIT)

    def each(work: Callable[[str, data.Data, Results, Settings], None]) -> None:
        for peer in peers:
            work(peer, small, results, settings)

    return {
        "together": lambda: together.rounds(peers, small, results, settings),
        "sizes": lambda: _sizes(ordinary, peers, results, settings),
        "syncs": lambda: each(together.syncs),
        "two": lambda: each(together.two),
        "kill": lambda: each(together.kill),
        "text": lambda: endtoend.end_to_end(peers, results, settings),
        "quality": lambda: quality(peers, results, settings),
        "largest": lambda: _sizes(large, [peer for peer in peers if peer in GO_ON], results, patient),
    }


def _data(size: int, settings: Settings) -> data.Data:
    return data.make(settings.work / f"data-{size}", size, settings.seed)


def _sizes(sizes: list[int], peers: list[str], results: Results, settings: Settings) -> None:
    """Every size; a peer that could not be loaded, or only so slowly that more would be ended, is not tried with more."""
    before: dict[str, tuple[int, float | None]] = {}
    for size in sorted(sizes):
        made = _data(size, settings)
        for peer in peers:
            if reason := hopeless(size, before.get(peer), settings.limit):
                results.note(peer, "load", size, over=reason)
            else:
                before[peer] = size, Size(peer, size, made, results, settings).run()


def hopeless(size: int, before: tuple[int, float | None] | None, limit: float) -> str:
    """Why a peer need not be tried with a size, by the size before and the seconds that it took to load, if it came
    to an end; empty if it should be tried. Part of a small load is the start, so half as much again is allowed."""
    if before is None:
        return ""
    smaller, seconds = before
    if seconds is None:
        return f"not tried after {smaller:,}"
    if seconds * size / smaller > 1.5 * limit:
        return f"not tried: {smaller:,} took {seconds:.0f} s to load, and the limit is {limit:.0f} s"
    return ""


def _greeted(peer: str, results: Results, settings: Settings) -> bool:
    """Whether a peer is there at all; if not, the table says why."""
    try:
        with Worker(peer, settings.work / f"{peer}.log") as worker:
            results.version(peer, worker.ask("hello", 60)["version"])
        return True
    except (Refused, Over, Gone, OSError) as reason:
        last = _last_line(settings.work / f"{peer}.log")
        results.note(peer, "hello", 0, cannot=f"{reason}{': ' if last else ''}{last}"[:200])
        return False


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return lines[-1] if lines else ""


def _read(path: str) -> str:
    """The text of a file; empty if there is none."""
    return Path(path).read_text() if Path(path).exists() else ""


def _machine(given: argparse.Namespace) -> dict[str, str | int]:
    """What the figures depend on, without names."""
    from datetime import date

    cpu = [line for line in _read("/proc/cpuinfo").splitlines() if line.startswith("model name")]
    memory = int((_read("/proc/meminfo").split() or ["", "0"])[1]) // 1024**2
    return {
        "date": date.today().isoformat(),
        "cpu": cpu[0].split(":")[1].strip() if cpu else "unknown",
        "cores": os.cpu_count() or 0,
        "memory_gb": memory,
        "quick": str(given.quick),
        "seed": given.seed,
        "limit_seconds": f"{given.limit:g}",
        "large_limit_seconds": f"{LARGE_LIMIT:g}",
        "mixed_seconds": f"{given.mixed:g}",
    }
