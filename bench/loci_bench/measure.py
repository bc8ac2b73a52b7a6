"""How are figures made of figures?

Pure, and the standard library alone: percentiles, medians, slopes, recall.
"""

import math
from collections.abc import Iterable, Sequence


def percentile(values: Sequence[float], at: float) -> float:
    """The value below which `at` per cent lie (nearest rank); 0 of nothing."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * at / 100) - 1)]


def median(values: Sequence[float]) -> float:
    """The middle one, or the mean of the two in the middle; 0 of nothing."""
    if not values:
        return 0.0
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def median_ratio(own: Sequence[float], other: Sequence[float]) -> float:
    """The middle of the ratios of what stood side by side. Not the ratio of the middles: what moves both at once, such
    as a disk that syncs slowly for a while, must not move the figure."""
    return median([a / b for a, b in zip(own, other, strict=True)])


def slope(points: Iterable[tuple[float, float]]) -> float | None:
    """The exponent of growth: least squares in log-log. 0 is flat, 1 is linear; none of fewer than two sizes."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def overlap(found: Sequence[int], exact: Sequence[int]) -> float:
    """The share of what is nearest that was found."""
    return len(set(found) & set(exact)) / len(exact) if exact else 1.0


def recall_at(k: int, evidence: Iterable[str], ranked: Sequence[str]) -> float:
    """The share of a question's evidence among the first `k`."""
    wanted = set(evidence)
    return len(wanted & set(ranked[:k])) / len(wanted)


def mean_recall(k: int, questions: Iterable[dict], run: dict[str, Sequence[str]]) -> float:
    """Over all questions that have evidence; one that was not answered counts as nothing found."""
    scored = [recall_at(k, q["evidence"], run.get(q["qid"], ())) for q in questions if q["evidence"]]
    return sum(scored) / len(scored) if scored else 0.0
