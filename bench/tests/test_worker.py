"""The worker in Python, with a peer that does nothing."""

import tempfile
import unittest
from pathlib import Path

from loci_bench.data import make_sentences
from loci_bench.peer import Cannot, Peer
from loci_bench.worker import Worker


class Idle(Peer):
    """Answers at once."""

    def __init__(self) -> None:
        self.added: list[int] = []
        self.asked = 0

    def add(self, row, vector) -> None:
        self.added.append(row.number)

    def find(self, query, vector, k) -> list[int]:
        self.asked += 1
        return []


class Mixed(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.worker = Worker(Idle())
        self.worker.data = make_sentences(Path(self.folder.name), 2000)

    def test_one_in_ten_is_an_add_of_something_new(self) -> None:
        answer = self.worker.do({"do": "mixed", "seconds": 0.01, "from": 100})
        peer = self.worker.peer
        self.assertEqual(answer["operations"], len(peer.added) + peer.asked)
        self.assertEqual(peer.added, list(range(100, 100 + len(peer.added))))
        self.assertAlmostEqual(len(peer.added) / answer["operations"], 0.1, delta=0.05)

    def test_it_does_not_pass_for_whole_when_there_is_nothing_left_to_add(self) -> None:
        with self.assertRaises(Cannot):
            self.worker.do({"do": "mixed", "seconds": 5.0, "from": 1990})
