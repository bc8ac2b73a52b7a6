"""From lines to the page: bars are only reached by what was measured."""

import unittest
import xml.etree.ElementTree as xml

from loci_bench.bars import bars
from loci_bench.book import READABLE, Book, readable
from loci_bench.chart import Line, draw
from loci_bench.data import question_ranges, scopes
from loci_bench.report import page
from loci_bench.titles import HOW, TITLES


def lines(*cells: tuple[str, str, int, dict]) -> Book:
    """A book of cells (peer, work, n, metrics)."""
    return Book(
        {"peer": peer, "version": "1", "work": work, "n": n, "metric": metric, "value": value}
        for peer, work, n, metrics in cells
        for metric, value in metrics.items()
    )


def bar(book: Book, beginning: str):
    """The bar with a name that begins like this."""
    return next(bar for bar in bars(book) if bar.what.startswith(beginning))


class Bars(unittest.TestCase):
    def test_nothing_measured_is_neither_reached_nor_missed(self) -> None:
        self.assertEqual({bar.reached for bar in bars(lines())}, {None})

    def test_only_peers_that_sync_count_as_durable(self) -> None:
        cells = [
            ("loci_drive", "add bare", 0, {"per_second": 300.0, "loci_drive_ratio": 1.0}),
            ("sqlite_vec", "add bare", 0, {"per_second": 320.0, "loci_drive_ratio": 0.94}),
            ("lance", "add bare", 0, {"per_second": 900.0, "loci_drive_ratio": 0.33}),
            ("sqlite_vec", "syncs", 0, {"per_add": 1.1}),
            ("lance", "syncs", 0, {"per_add": 0.0}),
        ]
        found = bar(lines(*cells), "durable add without a vector, one")
        self.assertIn("sqlite-vec", found.other)
        self.assertTrue(found.reached)

    def test_the_best_durable_is_the_one_that_loci_does_worst_against(self) -> None:
        cells = [
            ("loci_drive", "add bare 64", 0, {"per_second": 3000.0, "loci_drive_ratio": 1.0}),
            ("sqlite_vec", "add bare 64", 0, {"per_second": 520.0, "loci_drive_ratio": 5.8}),
            ("pgvector", "add bare 64", 0, {"per_second": 510.0, "loci_drive_ratio": 4.9}),
            ("sqlite_vec", "syncs", 0, {"per_add": 1.0}),
            ("pgvector", "syncs", 0, {"per_add": 1.0}),
        ]
        found = bar(lines(*cells), "durable add without a vector, 64")
        self.assertIn("PostgreSQL", found.other)
        self.assertFalse(found.reached)

    def test_wrong_answers_do_not_make_a_best_peer(self) -> None:
        cells = [
            ("loci_drive", "load", 1000, {"seconds": 1.0}),
            ("loci_drive", "find 100", 1000, {"p50_ms": 0.1, "recall": 1.0}),
            ("chroma", "find 100", 1000, {"p50_ms": 0.9, "recall": 1.0}),
            ("mcp_memory", "find 100", 1000, {"p50_ms": 0.2, "recall": 0.0}),
        ]
        found = bar(lines(*cells), "top-10")
        self.assertIn("Chroma", found.other)
        self.assertFalse(found.reached, "nine is less than ten")

    def test_bounds_hold_in_their_own_direction(self) -> None:
        table = [("start", "ms", 1000, 49.0, True), ("start", "ms", 1000, 51.0, False),
                 ("embed batch", "per_second", 1000, 299.0, False), ("embed batch", "per_second", 1000, 301.0, True)]
        for work, metric, n, value, wanted in table:
            beginning = "open to first" if work == "start" else "embedding in batches"
            found = bar(lines(("loci_drive", work, n, {metric: value})), beginning)
            self.assertIs(found.reached, wanted, (work, value))

    def test_what_was_acknowledged_and_is_gone_is_lost(self) -> None:
        cells = [("loci_drive", "two processes", 1000, {"there": 1000, "acknowledged": 1000}),
                 ("mcp_memory", "two processes", 1000, {"there": 528, "acknowledged": 1000})]
        found = bar(lines(*cells), "two processes")
        self.assertTrue(found.reached)
        self.assertIn("MCP memory server loses 472", found.other)


class Page(unittest.TestCase):
    def test_a_peer_without_figures_says_why(self) -> None:
        book = lines(
            ("loci_drive", "load", 1000, {"seconds": 1.0, "per_second": 1000.0}),
            ("mem0", "load", 1000, {"over": "over 100 s, 890 of 1,000 reached"}),
            ("chroma", "hello", 0, {"cannot": "ended with 1"}),
            ("lance", "hybrid", 1000, {"cannot": "no hybrid search"}),
        )
        text = page(book)
        for wanted in ("890 of 1,000 reached", "not there: ended with 1", "no hybrid search"):
            self.assertIn(wanted, text)

    def test_a_long_reason_is_cut_to_what_it_says(self) -> None:
        whole = '{"type":"about:blank","status":429,"message":"too many \\"requests\\"","details":{}}'
        table = [
            ("no hybrid search", "no hybrid search"),
            (f"RuntimeError: {whole}", 'too many \\"requests\\"'),
            (f"RuntimeError: {whole[:-12]}", 'too many \\"requests\\"'),
        ]
        for reason, wanted in table:
            self.assertEqual(readable(reason), wanted)
        cut = readable("word " * 100)
        self.assertLessEqual(len(cut), READABLE)
        self.assertTrue(cut.endswith("word …"))

    def test_a_store_of_a_million_shows_only_who_was_asked(self) -> None:
        text = page(lines(
            ("loci_drive", "load", 1000, {"seconds": 1.0}), ("loci_drive", "load", 1_000_000, {"seconds": 90.0}),
            ("loci_drive", "find 100000", 1_000_000, {"p50_ms": 5.0}),
            ("sqlite_vec", "load", 1_000_000, {"over": "over 600 s"}),
        ))
        table = text.split("### By a given vector, 100,000 of 1,000,000")[1].split("###")[0]
        self.assertIn("**Loci in process** | 5 |", table)
        self.assertIn("over 600 s", table)
        self.assertNotIn("Chroma", table)

    def test_every_peer_is_in_the_list_of_peers(self) -> None:
        text = page(lines())
        for peer, title in TITLES.items():
            self.assertIn(f"| {title} |", text)
            self.assertIn(peer, HOW)


class Charts(unittest.TestCase):
    def test_a_chart_is_xml_with_a_line_and_a_slope_for_each(self) -> None:
        drawn = draw("Cost <of> it", "memories", "ms", [
            Line("Loci", [(1000, 0.1), (10_000, 0.1)], own=True), Line("other", [(1000, 1.0), (10_000, 10.0)]),
            Line("absent", []),
        ])
        root = xml.fromstring(drawn)
        self.assertEqual(sum(1 for node in root.iter() if node.tag.endswith("polyline")), 2)
        texts = [node.text for node in root.iter() if node.tag.endswith("text")]
        self.assertIn("other  +1.00", texts)
        self.assertNotIn("absent", texts)

    def test_nothing_to_draw_is_still_a_chart(self) -> None:
        xml.fromstring(draw("Empty", "x", "y", []))


class Scopes(unittest.TestCase):
    def test_shares_fit_into_the_store_and_every_scope_is_asked(self) -> None:
        for size in (1_000, 10_000, 100_000, 1_000_000):
            shares = scopes(size)
            self.assertLessEqual(sum(share * len(users) for share, users in shares.items()), size)
            self.assertEqual(list(question_ranges(size)), list(shares))
            self.assertIn(100, shares, "the charts compare this scope at every size")
            self.assertIn(size // 10, shares)
