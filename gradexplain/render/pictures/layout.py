"""Layered layout of graphs, for boxes of any size and edges with labels.

Boxes stand on layers by the longest path that leads to them. Every edge gets a place for its label on a layer between,
so labels are laid out like boxes and nothing overlaps. The order within layers comes from medians of neighbours, the
places from `alignment`. *Depth* runs along the layers, *breadth* across; the caller decides which
of them is x. Same input, same layout: nothing is drawn by lot.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field

from gradexplain.render.pictures.alignment import placed
from gradexplain.render.pictures.lanes import lanes

Size = tuple[float, float]  # breadth, depth
Point = tuple[float, float]  # the same

_SWEEPS = 12
_LANE = 8.0  # more room between layers for each edge that runs far across
_PORTS_APART, _PORTED = 22.0, 0.8  # room between edges at a box, and the part of its side that they may take


@dataclass(frozen=True, slots=True)
class Link:
    """An edge from an earlier box to a later one, and the room that its label takes."""

    source: int
    target: int
    label: Size = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Route:
    """The way of an edge: the spans through which it passes straight, from the source's border to the target's.

    A span is (breadth, depth where it begins, depth where it ends). Between two of them the edge runs across at the
    depth in `turns`.
    """

    spans: tuple[tuple[float, float, float], ...]
    turns: tuple[float, ...]
    label: Point


@dataclass(frozen=True, slots=True)
class Layout:
    """The centres of the boxes, the routes of the edges, and the size of the whole."""

    centres: tuple[Point, ...]
    routes: tuple[Route, ...]
    size: Size
    layers: tuple[int, ...]


@dataclass(slots=True)
class _Item:
    """A box, a label or a bend of an edge."""

    breadth: float
    depth: float
    layer: int
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    is_bend: bool = False


def layered(boxes: Sequence[Size], links: Sequence[Link], *, gap: float, step: float, bend: float = 6.0) -> Layout:
    """Lays out boxes and links: `gap` is the least room between items of a layer, `step` that between layers.

    >>> found = layered([(10, 10), (10, 10), (10, 10)], [Link(0, 1), Link(0, 2)], gap=5, step=20)
    >>> found.centres, found.size
    (((12.5, 5.0), (5.0, 55.0), (20.0, 55.0)), (25.0, 60.0))
    """
    layers = _layers(len(boxes), links)
    items = [_Item(b, d, 2 * layer) for (b, d), layer in zip(boxes, layers, strict=True)]
    chains = [_chain(link, items, layers, bend) for link in links]
    rows = _ordered(items)
    places = placed(items, rows, gap)
    ways = _ways(links, chains, items, places)
    turns, counts = lanes(ways, [items[link.source].layer for link in links], len(rows))
    depths, ends = _depths(items, rows, [step + _LANE * max(0, count - 1) for count in counts])
    centres = [(places[i], depths[items[i].layer]) for i in range(len(boxes))]
    routes = [_route(link, way, turn, items, depths, ends) for link, way, turn in zip(links, ways, turns, strict=True)]
    breadth = max((places[i] + item.breadth / 2 for i, item in enumerate(items)), default=0.0)
    return Layout(tuple(centres), tuple(routes), (breadth, max(ends, default=0.0)), tuple(layers))


def _layers(count: int, links: Sequence[Link]) -> list[int]:
    """The longest path to each box; boxes without one stand right before the first that needs them."""
    layers = [0] * count
    for link in sorted(links, key=lambda link: link.target):
        layers[link.target] = max(layers[link.target], layers[link.source] + 1)
    has_source = {link.target for link in links}
    for box in range(count):
        following = [layers[link.target] for link in links if link.source == box]
        if box not in has_source and following:
            layers[box] = min(following) - 1
    return layers


def _chain(link: Link, items: list[_Item], layers: Sequence[int], bend: float) -> list[int]:
    """Adds the bends and the label of a link to the items; the label stands right before the target."""
    chain: list[int] = []
    first, last = 2 * layers[link.source] + 1, 2 * layers[link.target]
    before = link.source
    for layer in range(first, last):
        is_label = layer == last - 1
        breadth, depth = link.label if is_label else (bend, 0.0)
        items.append(_Item(max(breadth, bend), depth, layer, [before], [], is_bend=last - first > 1))
        items[before].after.append(len(items) - 1)
        before = len(items) - 1
        chain.append(before)
    items[before].after.append(link.target)
    items[link.target].before.append(before)
    return chain


# --------------------------------------------------------------------------------------- the order within layers


def _ordered(items: Sequence[_Item]) -> list[list[int]]:
    """The items of each layer in an order with few crossings: the best that sweeps by medians come across."""
    rows: list[list[int]] = [[] for _ in range(1 + max((i.layer for i in items), default=-1))]
    for index in _by_depth_first(items):
        rows[items[index].layer].append(index)
    best, fewest = [list(row) for row in rows], _crossings(items, rows)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        for row in rows[1:] if down else rows[-2::-1]:
            beside = rows[items[row[0]].layer + (-1 if down else 1)] if row else []
            places = {index: n for n, index in enumerate(beside)}
            _sort_by_median(row, {i: [places[j] for j in (items[i].before if down else items[i].after)] for i in row})
        crossings = _crossings(items, rows)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _by_depth_first(items: Sequence[_Item]) -> list[int]:
    """The items as a walk from the first box meets them: neighbours start out near each other."""
    seen: dict[int, None] = {}
    for start, item in enumerate(items):
        waiting = [start] if not item.before else []
        while waiting:
            index = waiting.pop()
            if index not in seen:
                seen[index] = None
                waiting.extend(reversed(items[index].after))
    return list(seen)


def _sort_by_median(row: list[int], neighbours: dict[int, list[int]]) -> None:
    """Sorts by the medians of neighbours; what has none keeps its place."""
    movable = [i for i in row if neighbours[i]]
    keys = {i: _median(neighbours[i]) for i in movable}
    ranked = iter(sorted(movable, key=lambda i: keys[i]))
    row[:] = [next(ranked) if neighbours[i] else i for i in row]


def _median(places: list[int]) -> tuple[float, float]:
    places = sorted(places)
    middle = len(places) // 2
    median = places[middle] if len(places) % 2 else (places[middle - 1] + places[middle]) / 2
    return median, sum(places) / len(places)


def _crossings(items: Sequence[_Item], rows: Sequence[Sequence[int]]) -> int:
    """How many pairs of edges cross: inversions between each two layers."""
    count = 0
    for row, following in itertools.pairwise(rows):
        places = {index: n for n, index in enumerate(following)}
        met: list[int] = []
        for index in row:
            ends = sorted(places[j] for j in items[index].after)
            for end in ends:
                count += len(met) - bisect_right(met, end)
            for end in ends:
                insort(met, end)
    return count


# ---------------------------------------------------------------------------------------------------- the places


def _depths(
    items: Sequence[_Item], rows: Sequence[Sequence[int]], steps: Sequence[float]
) -> tuple[list[float], list[float]]:
    """The middle of every layer, and where it ends."""
    middles, ends, start = [], [], 0.0
    for row, step in zip(rows, steps, strict=True):
        thickness = max((items[i].depth for i in row), default=0.0)
        middles.append(start + thickness / 2)
        ends.append(start + thickness)
        start = ends[-1] + step
    return middles, ends


def _ways(
    links: Sequence[Link], chains: Sequence[list[int]], items: Sequence[_Item], places: Sequence[float]
) -> list[list[float]]:
    """For each edge, where it passes through its layers, from the side of its source to that of its target."""
    leaving = _ports([link.source for link in links], [chain[0] for chain in chains], items, places)
    arriving = _ports([link.target for link in links], [chain[-1] for chain in chains], items, places)
    return [
        [start, *(places[index] for index in chain), end]
        for chain, start, end in zip(chains, leaving, arriving, strict=True)
    ]


def _route(
    link: Link,
    way: Sequence[float],
    turns: Sequence[float],
    items: Sequence[_Item],
    middles: Sequence[float],
    ends: Sequence[float],
) -> Route:
    source, target = items[link.source], items[link.target]
    spans = [(way[0], middles[source.layer] + source.depth / 2, ends[source.layer])]
    spans += [
        (place, 2 * middles[layer] - ends[layer], ends[layer])
        for layer, place in enumerate(way[1:-1], source.layer + 1)
    ]
    begins = 2 * middles[target.layer] - ends[target.layer]
    spans.append((way[-1], begins, middles[target.layer] - target.depth / 2))
    bends = [a[2] + turn * (b[1] - a[2]) for a, b, turn in zip(spans, spans[1:], turns, strict=False)]
    return Route(tuple(spans), tuple(bends), (way[-2], middles[target.layer - 1]))


def _ports(boxes: Sequence[int], nexts: Sequence[int], items: Sequence[_Item], places: Sequence[float]) -> list[float]:
    """Where each edge touches its box: beside each other in the order of where they come from or go to."""
    touching: dict[int, list[int]] = {}
    for edge in sorted(range(len(boxes)), key=lambda edge: (places[nexts[edge]], edge)):
        touching.setdefault(boxes[edge], []).append(edge)
    ports = [0.0] * len(boxes)
    for box, edges in touching.items():
        space = min(_PORTS_APART, _PORTED * items[box].breadth / len(edges))
        for n, edge in enumerate(edges):
            ports[edge] = places[box] + space * (n - (len(edges) - 1) / 2)
    return ports
