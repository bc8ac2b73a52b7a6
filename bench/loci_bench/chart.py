"""How does a cost grow? Drawn: log-log lines as SVG, by hand.

Colours are of middling lightness and text takes the reader's scheme, so that a chart can be read on white and on black.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .measure import slope

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 250, 44, 48
COLOURS = ["#e4572e", "#f0a202", "#2e86ab", "#5b8e7d", "#8f6bb3", "#c05299", "#7a8b2e", "#6c757d", "#3d9970"]

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #444 }
  .title { font-weight: 600; font-size: 15px }
  .grid { stroke: #8886; stroke-width: 1 }
  .line { fill: none; stroke-width: 1.8 }
  .own { stroke-width: 3.2 }
  @media (prefers-color-scheme: dark) { text { fill: #ccc } }
"""


@dataclass(frozen=True)
class Line:
    """One peer's points, and whether it is ours."""

    name: str
    points: Sequence[tuple[float, float]]
    own: bool = False


def draw(title: str, across: str, up: str, lines: Sequence[Line]) -> str:
    """A chart; lines without points are left out."""
    lines = [Line(line.name, _positive(line.points), line.own) for line in lines]
    lines = [line for line in lines if line.points]
    xs = [x for line in lines for x, _ in line.points] or [1, 10]
    ys = [y for line in lines for _, y in line.points] or [1, 10]
    plot = _Plot(_decades(xs), _decades(ys))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<text class="title" x="{LEFT}" y="22">{escape(title)}</text>',
        *_grid(plot, across, up),
    ]
    for place, line in enumerate(lines):
        parts += _drawn(plot, line, COLOURS[place % len(COLOURS)], place)
    return "\n".join([*parts, "</svg>\n"])


def _positive(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """What has a logarithm, from left to right."""
    return sorted((x, y) for x, y in points if x > 0 and y > 0)


class _Plot:
    """From values to places on the page."""

    def __init__(self, across: tuple[int, int], up: tuple[int, int]) -> None:
        self.across, self.up = across, up

    def x(self, value: float) -> float:
        low, high = self.across
        return LEFT + (math.log10(value) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        low, high = self.up
        return HEIGHT - BOTTOM - (math.log10(value) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Whole powers of ten around all values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _grid(plot: _Plot, across: str, up: str) -> list[str]:
    parts = []
    for power in range(plot.across[0], plot.across[1] + 1):
        x = plot.x(10**power)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{_number(power)}</text>')
    for power in range(plot.up[0], plot.up[1] + 1):
        y = plot.y(10**power)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_number(power)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 10}" text-anchor="middle">{escape(across)}</text>')
    parts.append(f'<text x="{LEFT}" y="{TOP - 6}" text-anchor="end">{escape(up)}</text>')
    return parts


def _number(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"


def _drawn(plot: _Plot, line: Line, colour: str, place: int) -> list[str]:
    """The line, its points, and its name with the exponent of its growth."""
    path = " ".join(f"{plot.x(x):.1f},{plot.y(y):.1f}" for x, y in line.points)
    own = " own" if line.own else ""
    parts = [f'<polyline class="line{own}" stroke="{colour}" points="{path}"/>']
    parts += [
        f'<circle cx="{plot.x(x):.1f}" cy="{plot.y(y):.1f}" r="{4 if line.own else 3}" fill="{colour}"/>'
        for x, y in line.points
    ]
    y = TOP + 12 + place * 20
    growth = slope(line.points)
    name = line.name if growth is None else f"{line.name}  {growth:+.2f}"
    parts.append(f'<rect x="{WIDTH - RIGHT + 16}" y="{y - 9}" width="12" height="{5 if line.own else 3}" fill="{colour}"/>')
    parts.append(f'<text x="{WIDTH - RIGHT + 34}" y="{y}">{escape(name)}</text>')
    return parts
