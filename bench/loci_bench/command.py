"""What was asked for on the command line?"""

import argparse
import os
import shutil
import signal
import sys
from pathlib import Path

from . import data, endtoend, together
from .harness import Gone, Over, Refused, Results, Worker
from .quality import quality
from .report import write_report
from .titles import TITLES
from .workloads import Settings, Size

WORK = ["together", "sizes", "syncs", "two", "kill", "text", "quality"]


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
    parser.add_argument("--sizes", default="1000,10000,100000", type=_numbers, help="sizes of store")
    parser.add_argument("--largest", action="store_true", help="also 1,000,000, for Loci and sqlite-vec")
    parser.add_argument("--peers", default=list(TITLES), type=lambda text: text.split(","), help=",".join(TITLES))
    parser.add_argument("--work", default=WORK, type=lambda text: text.split(","), help=",".join(WORK))
    parser.add_argument("--quick", action="store_true", help="1,000 memories and few of everything")
    parser.add_argument("--limit", default=120.0, type=float, help="seconds that one cell may take")
    parser.add_argument("--mixed", default=15.0, type=float, help="seconds of the mixed workload")
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
    made = {size: data.make(folder / f"data-{size}", size, given.seed) for size in given.sizes}
    small = made[min(given.sizes)]
    if "together" in given.work:
        together.rounds(present, small, results, settings)
    if "sizes" in given.work:
        _sizes(present, made, results, settings)
    for name, work in (("syncs", together.syncs), ("two", together.two), ("kill", together.kill)):
        for peer in present if name in given.work else []:
            work(peer, small, results, settings)
    if "text" in given.work:
        endtoend.end_to_end(present, results, settings)
    if "quality" in given.work:
        quality(present, results, settings)
    if given.largest:
        largest = data.make(folder / "data-1000000", 1_000_000, given.seed)
        settings.limit = 1200
        for peer in ("loci_drive", "sqlite_vec"):
            if peer in present:
                Size(peer, 1_000_000, largest, results, settings).run()
    shutil.rmtree(folder / "stores", ignore_errors=True)


def _sizes(peers: list[str], made: dict[int, data.Data], results: Results, settings: Settings) -> None:
    """Every size; a peer that could not be loaded is not tried with more."""
    ended: dict[str, int] = {}
    for size in sorted(made):
        for peer in peers:
            if peer in ended:
                results.note(peer, "load", size, over=f"not tried after {ended[peer]:,}")
            elif not Size(peer, size, made[size], results, settings).run():
                ended[peer] = size


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


def _told(path: str) -> str:
    """What the system tells of itself, where it does."""
    return Path(path).read_text() if Path(path).exists() else ""


def _machine(given: argparse.Namespace) -> dict[str, str | int]:
    """What the figures depend on, without names."""
    from datetime import date

    cpu = [line for line in _told("/proc/cpuinfo").splitlines() if line.startswith("model name")]
    memory = int((_told("/proc/meminfo").split() or ["", "0"])[1]) // 1024**2
    return {
        "date": date.today().isoformat(),
        "cpu": cpu[0].split(":")[1].strip() if cpu else "unknown",
        "cores": os.cpu_count() or 0,
        "memory_gb": memory,
        "quick": str(given.quick),
        "seed": given.seed,
        "limit_seconds": str(given.limit),
        "mixed_seconds": str(given.mixed),
    }
