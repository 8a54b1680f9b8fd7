"""Lines of equal height on a grid: each cell is cut where a level passes through its sides."""

from __future__ import annotations

import math
from collections.abc import Sequence

Segment = tuple[float, float, float, float]


def contours(
    x: Sequence[float], y: Sequence[float], heights: Sequence[Sequence[float]], count: int
) -> list[list[Segment]]:
    """For each of some levels (as many points between any two of them) the segments of its lines.

    >>> contours([0.0, 1.0], [0.0, 1.0], [[0.0, 1.0], [0.0, 1.0]], 1)
    [[(0.5, 0.0, 0.5, 1.0)]]
    """
    known = sorted(h for row in heights for h in row if math.isfinite(h))
    if not known or known[0] == known[-1]:
        return []
    levels = [_quantile(known, (n + 1) / (count + 1)) for n in range(count)]
    return [found for level in dict.fromkeys(levels) if (found := _lines(x, y, heights, level))]


def _quantile(known: Sequence[float], share: float) -> float:
    place = share * (len(known) - 1)
    low = int(place)
    return known[low] + (place - low) * (known[min(low + 1, len(known) - 1)] - known[low])


def _lines(x: Sequence[float], y: Sequence[float], heights: Sequence[Sequence[float]], level: float) -> list[Segment]:
    found: list[Segment] = []
    for row in range(len(y) - 1):
        for column in range(len(x) - 1):
            corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)]
            tall = [(x[c], y[r], heights[r][c]) for r, c in corners]
            if not all(math.isfinite(h) for _, _, h in tall):
                continue
            cuts = [_cut(tall[n], tall[(n + 1) % 4], level) for n in range(4)]
            ends = [cut for cut in cuts if cut is not None]
            found += [(*ends[n], *ends[n + 1]) for n in range(0, len(ends) - 1, 2)]
    return found


def _cut(a: tuple[float, float, float], b: tuple[float, float, float], level: float) -> tuple[float, float] | None:
    """Where the level passes between two corners."""
    if (a[2] < level) == (b[2] < level):
        return None
    share = (level - a[2]) / (b[2] - a[2])
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
