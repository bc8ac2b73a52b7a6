"""Figures made of figures."""

import unittest

from loci_bench.measure import mean_recall, median, median_ratio, overlap, percentile, recall_at, slope


class Measures(unittest.TestCase):
    def test_percentiles_are_values_that_were_measured(self) -> None:
        values = [5.0, 1.0, 4.0, 2.0, 3.0]
        for at, wanted in ((1, 1.0), (20, 1.0), (50, 3.0), (99, 5.0), (100, 5.0)):
            self.assertEqual(percentile(values, at), wanted, at)
        self.assertEqual(percentile([], 50), 0.0)

    def test_the_median_of_an_even_number_lies_between(self) -> None:
        for values, wanted in (([], 0.0), ([2.0], 2.0), ([3.0, 1.0], 2.0), ([9.0, 1.0, 2.0], 2.0)):
            self.assertEqual(median(values), wanted)

    def test_a_ratio_is_taken_side_by_side(self) -> None:
        self.assertEqual(median_ratio([200.0, 20.0, 200.0], [100.0, 10.0, 10.0]), 2.0)
        with self.assertRaises(ValueError):
            median_ratio([1.0], [1.0, 2.0])

    def test_the_slope_is_the_exponent(self) -> None:
        sizes = (1_000, 10_000, 100_000)
        for exponent in (0.0, 0.5, 1.0, 2.0):
            found = slope((n, 3.0 * n**exponent) for n in sizes)
            self.assertAlmostEqual(found, exponent, places=9)
        self.assertIsNone(slope([(10, 1.0)]))
        self.assertIsNone(slope([(10, 1.0), (10, 2.0)]))
        self.assertIsNone(slope([(10, 0.0), (100, 2.0)]), "a cost of nothing has no logarithm")

    def test_recall_counts_evidence_and_not_places(self) -> None:
        table = [(["a"], ["a", "b"], 1.0), (["a", "z"], ["b", "a"], 0.5), (["z"], [], 0.0), (["c"], ["a", "b", "c"], 0.0)]
        for evidence, ranked, wanted in table:
            self.assertEqual(recall_at(2, evidence, ranked), wanted, (evidence, ranked))

    def test_a_question_without_evidence_does_not_count_and_one_without_answer_does(self) -> None:
        questions = [{"qid": "1", "evidence": ["a"]}, {"qid": "2", "evidence": []}, {"qid": "3", "evidence": ["b"]}]
        self.assertEqual(mean_recall(10, questions, {"1": ["a"], "2": ["a"]}), 0.5)

    def test_overlap_with_fewer_than_ten(self) -> None:
        self.assertEqual(overlap([1, 2, 3], [3, 4]), 0.5)
        self.assertEqual(overlap([], []), 1.0)
