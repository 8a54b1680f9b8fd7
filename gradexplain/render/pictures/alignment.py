"""Places within layers, after Brandes and Köpf: long edges are straight, boxes stand in the middle of their neighbours.

Every item is aligned with a median neighbour of the layer before it, or else of the layer after it, and conflicts are
decided from the left, or else from the right. Of the four results the mean of the middle two is taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Protocol


class Item(Protocol):
    """What is placed: its size across, and its neighbours in the layers on both sides."""

    breadth: float
    is_bend: bool
    before: list[int]
    after: list[int]


def placed(items: Sequence[Item], rows: Sequence[Sequence[int]], gap: float) -> list[float]:
    """The middle of every item; items of a row keep its order and at least a gap from each other."""
    if not items:
        return []
    found = []
    for down in (True, False):
        conflicts = _conflicts(items, rows, down)
        for left in (True, False):
            layers = [row if left else row[::-1] for row in (rows if down else rows[::-1])]
            roots = _aligned(items, layers, conflicts, down)
            places = _compacted(items, layers, roots, gap)
            found.append(places if left else [-place for place in places])
    lows = [min(p - item.breadth / 2 for p, item in zip(places, items, strict=True)) for places in found]
    highs = [max(p + item.breadth / 2 for p, item in zip(places, items, strict=True)) for places in found]
    narrowest = min(range(4), key=lambda n: highs[n] - lows[n])
    shifts = [
        lows[narrowest] - lows[n] if n % 2 == 0 else highs[narrowest] - highs[n]
        for n in range(4)  # the left ones line up on the left, the right ones on the right
    ]
    middles = []
    for index in range(len(items)):
        four = sorted(places[index] + shift for places, shift in zip(found, shifts, strict=True))
        middles.append((four[1] + four[2]) / 2)
    least = min(place - item.breadth / 2 for place, item in zip(middles, items, strict=True))
    return [place - least for place in middles]


def _conflicts(items: Sequence[Item], rows: Sequence[Sequence[int]], down: bool) -> set[tuple[int, int]]:
    """Edges that cross an edge between two bends: they may not be straight, since that one will be."""
    found: set[tuple[int, int]] = set()
    for row, following in itertools.pairwise(rows):
        places = {index: n for n, index in enumerate(following)}
        edges = [(n, places[j], i, j) for n, i in enumerate(row) for j in items[i].after if j in places]
        inner = [(a, b) for a, b, i, j in edges if items[i].is_bend and items[j].is_bend]
        for a, b, i, j in edges:
            is_inner = items[i].is_bend and items[j].is_bend
            if not is_inner and any((a - c) * (b - d) < 0 for c, d in inner):
                found.add((i, j) if down else (j, i))
    return found


def _aligned(
    items: Sequence[Item], layers: Sequence[Sequence[int]], conflicts: set[tuple[int, int]], down: bool
) -> list[int]:
    """For every item, the first of those that stand in one line with it."""
    roots = list(range(len(items)))
    taken: set[int] = set()
    for before, row in itertools.pairwise(layers):
        places = {index: n for n, index in enumerate(before)}
        last = -1
        for index in row:
            near = sorted(items[index].before if down else items[index].after, key=lambda j: places[j])
            if not near:
                continue
            middle = (len(near) - 1) / 2
            for other in dict.fromkeys((near[int(middle)], near[int(middle + 0.5)])):
                free = other not in taken and (other, index) not in conflicts
                if roots[index] == index and free and places[other] > last:
                    roots[index] = roots[other]
                    taken.add(other)
                    last = places[other]
    return roots


def _compacted(items: Sequence[Item], layers: Sequence[Sequence[int]], roots: Sequence[int], gap: float) -> list[float]:
    """Lines of items side by side, as far left as they can, then each as near as it can to what is on its right."""
    after: dict[int, dict[int, float]] = {root: {} for root in roots}
    waits = dict.fromkeys(after, 0)
    for layer in layers:
        for left, right in itertools.pairwise(layer):
            room = (items[left].breadth + items[right].breadth) / 2 + gap
            a, b = roots[left], roots[right]
            if b not in after[a]:
                waits[b] += 1
            after[a][b] = max(room, after[a].get(b, 0.0))
    order = [root for root in after if not waits[root]]
    places = dict.fromkeys(after, 0.0)
    for root in order:  # it grows while it is read
        for other, room in after[root].items():
            places[other] = max(places[other], places[root] + room)
            waits[other] -= 1
            if not waits[other]:
                order.append(other)
    for root in reversed(order):
        if after[root]:
            places[root] = max(places[root], min(places[other] - room for other, room in after[root].items()))
    return [places[root] for root in roots]
