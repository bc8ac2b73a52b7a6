"""Which stores are made, and who gets them."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

from loci_bench import data
from loci_bench.command import _arguments, hopeless
from loci_bench.titles import FOR_ALL, GO_ON, TITLES


def given(*arguments: str):
    """What the command line means."""
    with patch.object(sys, "argv", ["run.py", *arguments]):
        return _arguments()


class Asked(unittest.TestCase):
    def test_a_full_run_goes_to_a_million_and_mixes_for_a_minute(self) -> None:
        self.assertEqual((max(given().sizes), given().mixed), (1_000_000, 60.0))
        self.assertIn("largest", given().work)
        self.assertLessEqual(set(GO_ON), set(TITLES))

    def test_a_quick_one_never_does(self) -> None:
        for arguments in (("--quick",), ("--quick", "--sizes", "1000000")):
            self.assertLessEqual(max(given(*arguments).sizes), FOR_ALL)

    def test_who_loads_too_slowly_is_not_tried_with_more(self) -> None:
        table = [(None, ""), ((10_000, 5.0), ""), ((10_000, 12.0), ""), ((10_000, 19.4), "10,000 took 19 s"),
                 ((10_000, None), "not tried after 10,000")]
        for before, wanted in table:
            reason = hopeless(100_000, before, 120.0)
            self.assertIn(wanted, reason)
            self.assertEqual(bool(wanted), bool(reason), before)


class Files(unittest.TestCase):
    def test_files_are_made_anew_when_another_seed_or_way_of_making_is_asked_for(self) -> None:
        made = []

        def write(folder: Path, size: int, seed: int) -> None:
            made.append((size, seed))
            for name in ("vectors.f32", "queries.f32"):
                (folder / name).write_bytes(b"")

        with tempfile.TemporaryDirectory() as folder, patch.object(data, "_write", write):
            for seed in (7, 7, 8):
                data.make(Path(folder), 1000, seed)
            with patch.object(data, "MAKING", data.MAKING + 1):
                data.make(Path(folder), 1000, 8)
        self.assertEqual(made, [(1000, 7), (1000, 8), (1000, 8)])

    def test_there_is_enough_to_add_for_the_mixed_workload(self) -> None:
        self.assertGreaterEqual(data.SPARE, 60 * 10_000 / 10)
