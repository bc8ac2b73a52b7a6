"""What do the results say, in words and tables?

docs/benchmarks.md and its charts are wholly made here, from the lines of one run. Nothing is measured here and
nothing is rounded in Loci's favour: a figure that is missing is shown as missing, with its reason.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from .bars import OWN, bars, per_memory_kb
from .book import Book
from .chart import Line, draw
from .measure import slope
from .titles import FOR_ALL, GO_ON, HOW, LOCI, TITLES

Column = tuple[str, Callable[[str], str]]


def write_report(results: Path, docs: Path) -> None:
    """The page and its charts."""
    book = Book.read(results)
    charts = docs / "benchmarks"
    charts.mkdir(parents=True, exist_ok=True)
    for old in charts.glob("*.svg"):
        old.unlink()
    for name, drawing in _charts(book).items():
        (charts / f"{name}.svg").write_text(drawing, encoding="utf-8")
    (docs / "benchmarks.md").write_text(page(book), encoding="utf-8")


def page(book: Book) -> str:
    """The whole page."""
    parts = [
        _head(book), _bars(book), _peers(book), _adds(book), _load(book), _searches(book), _changes(book),
        _start(book), _end_to_end(book), _survival(book), _quality(book), _growth(book), _foot(book),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _head(book: Book) -> str:
    about = book.cell("machine", "about")
    larger = "".join(f" ({about.get('large_limit_seconds')} s in a store of {n:,})" for n in book.larger())
    quick = "\n\n**A quick run: few of everything, to see that it works. Not figures to quote.**"
    return f"""<!-- Made by `make bench`; edits are lost. -->
# Measured beside others

What Loci costs and finds beside what people would use instead: one run on one machine ({about.get("cores")} cores,
{about.get("cpu")}, {about.get("memory_gb")} GB), {about.get("date")}. All are asked the same over the same seeded files, with vectors made
beforehand (384 dimensions), so that the embedding is not in the figures unless a table says so. Other work on a machine
moves milliseconds; CPU per operation and ratios travel better. `p50` and `p99` are wall-clock milliseconds seen by
one caller; `CPU` is user and system time of the peer's process and its servers for each operation, in milliseconds.
A cell that took longer than {about.get("limit_seconds")} s{larger} was ended and says so.{quick if about.get("quick") == "True" else ""}"""


def _bars(book: Book) -> str:
    header = ["bar", "wanted", "Loci", "best of the others", "ratio", "reached"]
    table = _grid(header, [bar.row() for bar in bars(book)])
    bounds = "[performance.md](performance.md) says what bounds those that are not reached."
    return f"## The bars\n\n{table}\n\n{bounds}"


def _peers(book: Book) -> str:
    rows = []
    for peer, title in TITLES.items():
        absent = "cannot" in book.cell(peer, "hello")
        rows.append([title, book.versions.get(peer, "–"), book.reason(peer, "hello") if absent else HOW[peer]])
    return "## Who\n\n" + _grid(["peer", "version", "how it is used"], rows)


def _adds(book: Book) -> str:
    parts = [
        """## Adding

Peer after peer, round after round, into an empty store: the time that a disk takes to sync flips within a minute, so only
what stands side by side can be compared. Who is so slow that a round would take more than four seconds adds fewer in it.
Medians of rounds; the last column is the median over rounds of Loci's rate by the peer's in the same round. Syncs are counted from outside (`strace`) for one caller; with none, an add that was answered can be
lost when the power goes."""
    ]
    kinds = {
        "add bare": "One caller, without a vector", "add vector": "One caller, with a given vector",
        "add bare 64": "64 callers, without a vector", "add vector 64": "64 callers, with a given vector",
    }
    for work, title in kinds.items():
        columns = [
            _column(book, work, "per_second", "adds a second", ",.0f"), _column(book, work, "p50_ms", "p50"),
            _column(book, work, "p99_ms", "p99"), _column(book, work, "cpu_ms", "CPU"),
            _column(book, "syncs", "per_add", "syncs for each", ".1f"),
            _column(book, work, f"{OWN}_ratio", "Loci's rate by it", ".2f"),
        ]
        taken = book.cell(OWN, work)
        often = f": {taken['rounds']} rounds of {taken['adds']:,} adds" if "rounds" in taken else ""
        parts.append(f"### {title}{often}\n\n" + _table(book, work, None, columns))
    return "\n\n".join(parts)


def _load(book: Book) -> str:
    columns = []
    for n in book.sizes():
        columns.append(_column(book, "load", "per_second", f"{n:,}: memories a second", ",.0f", n))
        columns.append(_column(book, "load", "cpu_ms", "CPU", ".3g", n))
    return "## Loading\n\nEach peer's own fastest way in, durable at the end.\n\n" + _table(book, "load", None, columns)


def _searches(book: Book) -> str:
    parts = [
        """## Finding

The ten nearest of one user, who has a tenth of the store, after some questions for every user; `recall` is the share of what an exact scan finds. The substring
search of the MCP memory server finds none of it. Below, the same with the whole question: words and vector, each
peer's own mixture; for Loci that is the whole path of recall, but without two things that need more than a text and a vector: late interaction (the
given vectors have no token states) and neighbours (these memories are facts of no conversation)."""
    ]
    for work, title in (("find", "By a given vector"), ("hybrid", "By words and vector")):
        for n in book.sizes():
            name = f"{work} {n // 10}"
            columns = [
                _column(book, name, "p50_ms", "p50", n=n), _column(book, name, "p99_ms", "p99", n=n),
                _column(book, name, "cpu_ms", "CPU", n=n),
            ]
            if work == "find":
                columns.append(_column(book, name, "recall", "recall@10", ".4f", n))
            columns.append(("p50 by Loci's", lambda peer, name=name, n=n: _by_own(book, peer, name, "p50_ms", n)))
            columns.append(("CPU by Loci's", lambda peer, name=name, n=n: _by_own(book, peer, name, "cpu_ms", n)))
            parts.append(f"### {title}, {n // 10:,} of {n:,}\n\n" + _table(book, name, n, columns, book.tried(n)))
        parts.append(_by_scope(book, work, title))
    return "\n\n".join(parts)


def _by_scope(book: Book, work: str, title: str) -> str:
    """The same for users with fewer memories."""
    n = book.main_size()
    columns = []
    for scope in book.scopes(work, n):
        columns.append(_column(book, f"{work} {scope}", "p50_ms", f"{scope:,}: p50", n=n))
        columns.append(_column(book, f"{work} {scope}", "cpu_ms", "CPU", n=n))
    return f"### {title}, by how many of {n:,} are the user's\n\n" + _table(book, work, n, columns)


def _changes(book: Book) -> str:
    parts = ["## Changing\n\nOne by one, with a vector."]
    for n in (book.main_size(), *book.larger()):
        columns = []
        for work in ("add", "update", "delete") if n <= FOR_ALL else ("add",):
            columns.append(_column(book, work, "p50_ms", f"{work}, p50", n=n))
            columns.append(_column(book, work, "cpu_ms", "CPU", n=n))
        parts.append(f"### In a store of {n:,}\n\n" + _table(book, "add", n, columns, book.tried(n)))
    mixed = max(book.sizes("mixed"), default=0)
    mixture = [
        _column(book, "mixed", "per_second", "operations a second", ",.0f", mixed),
        _column(book, "mixed", "cpu_ms", "CPU", n=mixed), _column(book, "mixed", "find_p50_ms", "find, p50", n=mixed),
        _column(book, "mixed", "find_p99_ms", "p99", n=mixed), _column(book, "mixed", "add_p50_ms", "add, p50", n=mixed),
        _column(book, "mixed", "add_p99_ms", "p99", n=mixed),
    ]
    seconds = book.cell("machine", "about").get("mixed_seconds", "60")
    title = f"### Nine finds to one add, {seconds} s, one caller, {mixed:,} memories"
    parts.append(f"{title}\n\n" + _table(book, "mixed", mixed, mixture))
    return "\n\n".join(parts)


def _start(book: Book) -> str:
    small, large = min(book.sizes(), default=0), book.main_size()
    sizes = sorted({small, large, *book.larger()})
    columns = [
        *(_column(book, "start", "ms", f"first answer at {n:,}, ms", ",.0f", n) for n in sizes),
        *(_column(book, "memory", "rss_mb", f"resident at {n:,}, MB", ",.0f", n) for n in sizes),
        ("for each further memory, kB", lambda peer: _shown(per_memory_kb(book, peer, large), ".2f")),
        _column(book, "disk", "bytes", f"disk for each at {large:,}, bytes", ",.0f", large),
        _column(book, "disk", "raw_ratio", "by text + f32", ".2f", large),
    ]
    return (
        "## Starting, memory, disk\n\nFrom the start of the process to the first answer, the best of three; for peers "
        "in Python that includes Python. Resident memory is the server's where there is one, else the process's, Python "
        "included, after finds for nearly every user; what each further memory takes is anonymous memory only, which the page cache cannot give back. Over "
        "HTTP Loci has its model loaded.\n\n" + _table(book, "start", small, columns)
    )


def _end_to_end(book: Book) -> str:
    columns = []
    for work in ("text add", "text find"):
        columns += [
            _column(book, work, "p50_ms", f"{work.split()[1]}, p50"), _column(book, work, "cpu_ms", "CPU"),
            _column(book, work, "embedding_cpu_ms", "of it the embedding"),
            _column(book, work, "cpu_ratio", "all by embedding", ".2f"),
        ]
    return (
        "## End to end\n\nEnglish sentences of about 20 tokens, one at a time, all-MiniLM-L6-v2. Loci uses its own encoder; the "
        "others get a pass of the same weights in numpy on one thread, since none brings this model without the network.\n\n"
        + _table(book, "text add", None, columns)
    )


def _survival(book: Book) -> str:
    def two(peer: str) -> str:
        cell = book.cell(peer, "two processes")
        if "there" not in cell:
            return ""
        refused = " (one was refused)" if "refused" in cell else ""
        return f"{cell['there']:,} of {cell['acknowledged']:,} acknowledged{refused}"

    columns = [
        ("two processes at once: there", two),
        _column(book, "kill -9", "acknowledged", "acknowledged before kill -9", ".0f"),
        _column(book, "kill -9", "lost", "of these lost", ".0f"),
    ]
    return (
        "## Two at once, and killed\n\nTwo processes add to one store at the same time, then a third counts. A process is killed in "
        "the middle of adding; of PostgreSQL the client, of the others all. A kill does not empty the page cache: this is "
        "about processes, not about power.\n\n" + _table(book, "two processes", None, columns)
    )


def _quality(book: Book) -> str:
    missing = [book.cell("all", f"R@10 {name}").get("cannot") for name in ("LoCoMo", "BEAM")]
    note = f"\n\n{missing[0]}." if any(missing) else ""
    columns = [_column(book, f"R@10 {name}", "recall", f"{name} R@10", ".3f") for name in ("LoCoMo", "BEAM")]
    columns.append(("asked by", lambda peer: str(book.cell(peer, "R@10 LoCoMo").get("search", ""))))
    return (
        "## Quality\n\nThe share of labelled evidence among the first ten, dev parts of two public sets of conversations, no language "
        "model. A memory is a turn, stored as `DATE, SPEAKER: text (picture: caption)`, as Loci stores it too; all have the same MiniLM vectors and are asked in their own way: "
        "the mixture of words and vectors where they have one. Loci by `loci eval` with default settings." + note + "\n\n"
        + _table(book, "R@10 LoCoMo", None, columns)
    )


def _growth(book: Book) -> str:
    """Charts, and the exponents that they show."""
    parts = [
        """## Growth

Both axes are logarithmic; the number behind a name is the slope (least squares): 0 does not grow, 1 grows as the store
does."""
    ]
    series = _series(book)
    for name, (title, _, _) in series.items():
        parts.append(f"![{title}](benchmarks/{name}.svg)")
    rows = []
    for peer, peer_title in TITLES.items():
        slopes = [slope(points.get(peer, [])) for _, _, points in series.values()]
        if any(value is not None for value in slopes):
            rows.append([peer_title, *(_shown(value, "+.2f") or "–" for value in slopes)])
    parts.append(_grid(["slope", *(title for title, _, _ in series.values())], rows))
    return "\n\n".join(parts)


Series = dict[str, tuple[str, str, dict[str, list[tuple[float, float]]]]]


def _series(book: Book) -> Series:
    """What is drawn: a name, a title, what is across, and each peer's points."""
    sizes, largest = book.sizes(), book.main_size()
    drawn: Series = {}
    for metric, unit in (("cpu_ms", "CPU"), ("p50_ms", "p50")):
        points = {p: _points((n, book.figure(p, "add", metric, n)) for n in sizes) for p in TITLES if p != "loci_http"}
        drawn[f"add-{unit.lower()}"] = (f"Adding one memory, {unit} ms", "memories in the store", points)
    for work in ("find", "hybrid"):
        name = {"find": "Finding by vector", "hybrid": "Finding by words and vector"}[work]
        for metric, unit in (("cpu_ms", "CPU"), ("p50_ms", "p50")):
            points = {p: _points((n, book.figure(p, f"{work} 100", metric, n)) for n in sizes) for p in TITLES}
            title = f"{name} within 100 memories, {unit} ms"
            drawn[f"{work}-store-{unit.lower()}"] = (title, "memories in the store", points)
        scopes = book.scopes(work, largest)
        points = {p: _points((s, book.figure(p, f"{work} {s}", "cpu_ms", largest)) for s in scopes) for p in TITLES}
        drawn[f"{work}-scope"] = (f"{name} in a store of {largest:,}, CPU ms", "memories of the user", points)
    return drawn


def _points(pairs: Iterable[tuple[float, float | None]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in pairs if y is not None]


def _charts(book: Book) -> dict[str, str]:
    charts = {}
    for name, (title, across, points) in _series(book).items():
        lines = [Line(TITLES[peer], points.get(peer, []), peer in LOCI) for peer in TITLES]
        charts[name] = draw(title, across, "ms", lines)
    return charts


def _foot(book: Book) -> str:
    took = [seconds for seconds in book.cell("machine", "took").values() if isinstance(seconds, int | float)]
    minutes = f" This one took {sum(took) / 60:.0f} minutes." if took else ""
    return f"""## Repeating it

`make bench` builds Loci, fetches the others at fixed versions (`bench/requirements.txt`) into `target/bench-tools`, starts
PostgreSQL, measures, and makes this page anew.{minutes} `make bench BENCH="--quick"` sees in minutes that everything works;
`--peers`, `--work` and `--sizes` choose. Stores of more than {FOR_ALL:,} are made for {" and ".join(TITLES[peer] for peer in GO_ON)} alone;
`--sizes 1000,10000,100000` goes without. The quality rows need the sets: `LOCI_BENCH_SETS` names their folder. All
figures are in `bench/results`, a line each; bench/README.md says how a peer is added."""


def _by_own(book: Book, peer: str, work: str, metric: str, n: int) -> str:
    own, other = book.figure(OWN, work, metric, n), book.figure(peer, work, metric, n)
    return f"{other / own:.1f}" if own and other else ""


def _column(book: Book, work: str, metric: str, title: str, form: str = ".3g", n: int | None = None) -> Column:
    """A figure for each peer."""
    return title, lambda peer: _shown(book.figure(peer, work, metric, n), form)


def _shown(value: float | None, form: str) -> str:
    """Three digits, unless more are before the point."""
    if value is None:
        return ""
    return format(value, ",.0f" if form == ".3g" and abs(value) >= 100 else form)


def _table(
    book: Book, work: str, n: int | None, columns: Sequence[Column], peers: Iterable[str] = tuple(TITLES)
) -> str:
    """A row for each peer. One without its first figure says why; one without a reason was not asked."""
    rows = []
    for peer in peers:
        title = TITLES[peer]
        cells = [show(peer) for _, show in columns]
        if cells and not cells[0]:
            reason = book.reason(peer, work, n) or ("" if any(cells) else "not asked")
            cells[0] = reason.replace("|", "/")
        rows.append([f"**{title}**" if peer in LOCI else title, *(cell or "–" for cell in cells)])
    return _grid(["", *(name for name, _ in columns)], rows)


def _grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
