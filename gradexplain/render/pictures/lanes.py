"""Where edges bend between two layers: what runs far across has a lane of its own, so that none lies on another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_WIDE = 40.0  # pixels across from which an edge needs a lane


def lanes(ways: Sequence[Sequence[float]], layers: Sequence[int], count: int) -> tuple[list[list[float]], list[int]]:
    """For each edge where in each gap it bends, from 0 to 1, and how many lanes each of the `count` gaps has.

    A way is the breadths at which an edge passes the layers, from the layer in `layers` on. Of edges that run to the
    same side, the one that starts farthest to that side bends first: then they do not cross.

    >>> lanes([[0, 200], [100, 300], [50, 55]], [0, 0, 0], 1)
    ([[0.6666666666666666], [0.3333333333333333], [0.5]], [2])
    """
    turns = [[0.5] * (len(way) - 1) for way in ways]
    gaps: list[list[tuple[float, float, int, int]]] = [[] for _ in range(count)]
    for edge, way in enumerate(ways):
        for step, (start, end) in enumerate(pairwise(way)):
            if abs(end - start) > _WIDE:
                gaps[layers[edge] + step].append((start, end, edge, step))
    counts = []
    for crossing in gaps:
        chosen = _chosen(sorted(crossing, key=lambda c: (c[0] > c[1], c[0] if c[0] > c[1] else -c[0], c[2])))
        counts.append(1 + max(chosen.values(), default=-1))
        for (_, _, edge, step), lane in chosen.items():
            turns[edge][step] = (lane + 1) / (counts[-1] + 1)
    return turns, counts


def _chosen(crossing: Sequence[tuple[float, float, int, int]]) -> dict[tuple[float, float, int, int], int]:
    """The lane of each: below those before it that it would lie on."""
    chosen: dict[tuple[float, float, int, int], int] = {}
    for one in crossing:
        low, high = sorted(one[:2])
        beside = [lane for other, lane in chosen.items() if min(other[:2]) < high and low < max(other[:2])]
        chosen[one] = 1 + max(beside, default=-1)
    return chosen
