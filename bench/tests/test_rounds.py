"""Peers in turns: who is slow adds fewer, and only what stood side by side is compared."""

import unittest
from pathlib import Path
from unittest.mock import Mock, patch

from loci_bench import together
from loci_bench.together import ROUND, Turns


def answers(*seconds: float) -> list[dict]:
    """What a worker said, round by round."""
    return [{"seconds": each, "cpu": each, "p50_ms": 1.0, "p99_ms": 2.0} for each in seconds]


class Rounds(unittest.TestCase):
    def test_ratios_are_of_the_same_round(self) -> None:
        """The disk was ten times slower in the second round, for both: the ratio is 2 in every round."""
        noted = {}
        results = Mock(note=lambda peer, work, n, **figures: noted.setdefault(peer, figures))
        turns = {
            "loci_drive": Turns(Mock(), 100, answers=answers(1.0, 10.0, 1.0)),
            "sqlite_vec": Turns(Mock(), 50, answers=answers(1.0, 10.0, 1.0)),
        }
        together._tell_rounds("add bare", turns, results)
        self.assertEqual(noted["sqlite_vec"]["loci_drive_ratio"], 2.0)
        self.assertEqual(noted["loci_drive"]["loci_drive_ratio"], 1.0)
        self.assertEqual((noted["sqlite_vec"]["adds"], noted["sqlite_vec"]["rounds"]), (50, 3))

    def test_a_round_of_a_slow_peer_is_short(self) -> None:
        # (seconds that the 64 first adds take, adds in a round)
        for seconds, wanted in ((0.01, 1280), (0.32, int(200 * ROUND)), (60.0, 64)):
            worker = Mock()
            worker.ask.return_value = {"seconds": seconds}
            with patch.object(together, "opened", return_value=worker), patch.object(together, "fresh"):
                turns = together._warm("lance", 1280, {"callers": 64, "vectors": False}, Mock(), Mock(limit=120))
            self.assertEqual((turns.count, turns.at), (wanted, 128), "what warms up is not added again")

    def test_rounds_go_back_and_forth_and_never_add_the_same_twice(self) -> None:
        asked = []

        def opened(peer: str, *_: object) -> Mock:
            def ask(command: str, limit: float, *, start: int, until: int, **_: object) -> dict:
                asked.append((peer, start, until))
                return answers(0.001)[0]

            return Mock(ask=ask)

        with patch.object(together, "opened", opened), patch.object(together, "KINDS", [("add bare", 10, 1, False)]), \
                patch.object(together, "fresh"), patch.object(together.shutil, "rmtree"):
            together.rounds(["one", "two"], Mock(), Mock(), Mock(quick=False, limit=120, work=Path("nowhere")))
        order = [peer for peer, _, _ in asked][4:]
        self.assertEqual(order[:4], ["one", "two", "two", "one"])
        self.assertGreaterEqual(len(order) / 2, 5, "fewer rounds have no stable middle")
        spans = [(start, until) for peer, start, until in asked if peer == "one"]
        self.assertEqual([start for start, _ in spans[1:]], [until for _, until in spans[:-1]])
