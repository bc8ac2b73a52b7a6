"""Which bars are reached?

Each bar is computed from the results. What was not measured is neither reached nor missed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .book import Book
from .titles import TITLES

OWN = "loci_drive"


@dataclass(frozen=True)
class Bar:
    """A promise, what was measured, and whether it holds."""

    what: str
    wanted: str
    loci: str
    other: str
    ratio: str
    reached: bool | None

    def row(self) -> list[str]:
        """For the table."""
        held = {True: "**yes**", False: "no", None: "not measured"}[self.reached]
        return [self.what, self.wanted, self.loci, self.other, self.ratio, held]


def bars(book: Book) -> list[Bar]:
    """All of them, in the order in which they were set."""
    largest = book.main_size()
    kept = [
        _one_sync(book),
        _add(book, "durable add without a vector, one caller", "≥ 0.83 × the best durable", "add bare", 1 / 1.2),
        _mem0(book),
        _add(book, "durable add without a vector, 64 callers", "≥ 5 × the best durable", "add bare 64", 5),
        _search(book, "find", f"top-10 for one of ten users at {largest:,}", largest, 10),
        _recall(book, largest),
        _search(book, "hybrid", f"hybrid recall for one of ten users at {largest:,}", largest, 5),
        _bound(book, "open to first answer at 1,000, without the model", "start", "ms", 1000, 50, "ms", min),
        _end_to_end(book, "add"),
        _end_to_end(book, "find"),
        _bound(book, "embedding one sentence of 20 tokens, CPU", "text add", "embedding_cpu_ms", None, 7, "ms", min),
        _bound(book, "embedding in batches", "embed batch", "per_second", None, 300, "a second", max),
        _bound(book, "resident at 1,000, without the model", "memory", "rss_mb", 1000, 40, "MB", min),
        _per_memory(book, largest),
        _bound(book, f"disk by text + f32 at {largest:,}", "disk", "raw_ratio", largest, 1.5, "×", min),
        _quality(book, "LoCoMo"),
        _quality(book, "BEAM"),
        _lost(book, "two processes", "acknowledged", "there"),
        _lost(book, "kill -9", "lost", None),
    ]
    return kept


def _one_sync(book: Book) -> Bar:
    loci = book.figure(OWN, "syncs", "per_add")
    shown = "–" if loci is None else f"{loci:.2f}"
    return Bar("syncs for each durable add", "1", shown, "", "", None if loci is None else 0.9 <= loci <= 1.2)


def _best(book: Book, work: str, metric: str, n: int | None, allowed: Callable[[str], bool], best=min) -> str | None:
    """The best of the others that count."""
    figures = {peer: book.figure(peer, work, metric, n) for peer in book.others() if allowed(peer)}
    figures = {peer: figure for peer, figure in figures.items() if figure is not None}
    return best(figures, key=figures.__getitem__) if figures else None


def _add(book: Book, what: str, wanted: str, work: str, bound: float) -> Bar:
    # The one that Loci does worst against, round by round, which need not be the one of the best median.
    best = _best(book, work, f"{OWN}_ratio", None, book.durable)
    return _in_turns(book, what, wanted, work, best, bound)


def _mem0(book: Book) -> Bar:
    return _in_turns(book, "durable add with a vector, one caller", "≥ 5 × mem0 raw", "add vector", "mem0", 5)


def _in_turns(book: Book, what: str, wanted: str, work: str, peer: str | None, bound: float) -> Bar:
    """The ratio is the median of the ratios of rounds in which both took turns."""
    loci = book.figure(OWN, work, "per_second")
    other = book.figure(peer, work, "per_second") if peer else None
    ratio = book.figure(peer, work, f"{OWN}_ratio") if peer else None
    if loci is None or other is None or ratio is None:
        return Bar(what, wanted, "–", "–", "–", None)
    return Bar(what, wanted, f"{loci:,.0f} a second", f"{TITLES[peer]}, {other:,.0f}", f"{ratio:.2f}", ratio >= bound)


def _search(book: Book, work: str, what: str, n: int, bound: float) -> Bar:
    """Against the best whose answers are right; by the clock, with the CPU beside it."""
    name = f"{work} {n // 10}"

    def right(peer: str) -> bool:
        return (book.figure(peer, f"find {n // 10}", "recall", n) or 0) >= 0.99

    best = _best(book, name, "p50_ms", n, right)
    loci, other = book.figure(OWN, name, "p50_ms", n), book.figure(best, name, "p50_ms", n) if best else None
    wanted = f"≥ {bound} × the best"
    if not loci or not other:
        return Bar(what, wanted, "–", "–", "–", None)
    cpu, other_cpu = book.figure(OWN, name, "cpu_ms", n), book.figure(best, name, "cpu_ms", n)
    by_cpu = f" ({other_cpu / cpu:.1f} by CPU)" if cpu and other_cpu else ""
    shown = f"{TITLES[best]}, {other:.3g} ms"
    return Bar(what, wanted, f"{loci:.3g} ms", shown, f"{other / loci:.1f}{by_cpu}", other / loci >= bound)


def _recall(book: Book, n: int) -> Bar:
    loci = book.figure(OWN, f"find {n // 10}", "recall", n)
    shown = "–" if loci is None else f"{loci:.4f}"
    return Bar("its recall@10 against an exact scan", "≥ .999", shown, "", "", None if loci is None else loci >= 0.999)


# What stands beside Loci's figure would mislead: these peers do not bear the cost that is bounded.
ENCODED_ELSEWHERE = ("text add", "text find")
KEEPS_NO_VECTORS = ("mcp_memory",)


def _bound(book: Book, what: str, work: str, metric: str, n: int | None, bound: float, unit: str, best) -> Bar:
    """A bound on Loci alone; the best of the others stands beside it. `best` says which way is better."""
    loci = book.figure(OWN, work, metric, n)
    wanted = f"{'≤' if best is min else '≥'} {bound} {unit}"

    def fair(peer: str) -> bool:
        return work not in ENCODED_ELSEWHERE and not (work == "disk" and peer in KEEPS_NO_VECTORS)

    peer = _best(book, work, metric, n, fair, best)
    other = f"{TITLES[peer]}, {book.figure(peer, work, metric, n):.3g}" if peer else ""
    if loci is None:
        return Bar(what, wanted, "–", other, "", None)
    reached = loci <= bound if best is min else loci >= bound
    return Bar(what, wanted, f"{loci:.3g} {unit}", other, "", reached)


def _end_to_end(book: Book, work: str) -> Bar:
    counted = max(book.sizes(f"text {work}"), default=0)
    what = f"end to end {work}, {counted} sentences one at a time: all CPU by the embedding's"
    return _bound(book, what, f"text {work}", "cpu_ratio", None, 1.3, "×", min)


def per_memory_kb(book: Book, peer: str, n: int) -> float | None:
    """What each further memory takes beyond the page cache, from the smallest store to the largest."""
    sizes = book.sizes()
    if not sizes or n <= sizes[0]:
        return None
    low, high = book.figure(peer, "memory", "anonymous_mb", sizes[0]), book.figure(peer, "memory", "anonymous_mb", n)
    return None if low is None or high is None else max(0.0, (high - low) * 1024 / (n - sizes[0]))


def _per_memory(book: Book, n: int) -> Bar:
    loci = per_memory_kb(book, OWN, n)
    shown = "–" if loci is None else f"{loci:.2f} kB"
    what = f"resident for each memory at {n:,}, beyond the page cache"
    return Bar(what, "≤ 1.2 kB", shown, "", "", None if loci is None else loci <= 1.2)


def _quality(book: Book, name: str) -> Bar:
    work = f"R@10 {name}"
    loci = book.figure(OWN, work, "recall")
    peer = _best(book, work, "recall", None, lambda _: True, max)
    if loci is None or peer is None:
        return Bar(f"{name} R@10", "above every peer", "–", "–", "–", None)
    other = book.figure(peer, work, "recall")
    return Bar(f"{name} R@10", "above every peer", f"{loci:.3f}", f"{TITLES[peer]}, {other:.3f}", f"{loci / other:.2f}",
               loci > other)


def _lost(book: Book, work: str, metric: str, there: str | None) -> Bar:
    """Nothing that was acknowledged may be missing."""
    def missing(peer: str) -> float | None:
        figure = book.figure(peer, work, metric)
        found = book.figure(peer, work, there) if there else 0
        return None if figure is None or found is None else figure - found

    loci = missing(OWN)
    losers = [f"{TITLES[p]} loses {missing(p):.0f}" for p in book.others() if (missing(p) or 0) > 0]
    shown = "–" if loci is None else f"{loci:.0f} lost"
    return Bar(f"{work}: acknowledged and lost", "0", shown, "; ".join(losers), "", None if loci is None else loci == 0)
