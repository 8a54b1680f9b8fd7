"""Drawings in characters say what the graph says: every label is read back by following its lines."""

import re

import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradexplain.exposition.picture import ComputationGraph, Edge, Vertex
from gradexplain.render.pictures import graph_text

OPEN = {
    "─": "lr", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu",
    "├": "rud", "┤": "lud", "┬": "lrd", "┴": "lru", "┼": "lrud",
}  # fmt: skip
MOVES = {"l": (0, -1), "r": (0, 1), "u": (-1, 0), "d": (1, 0)}
BACK = {"l": "r", "r": "l", "u": "d", "d": "u"}


@st.composite
def graphs(draw):
    count = draw(st.integers(2, 12))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda p: p[0] < p[1])
    ends = draw(st.lists(pairs, min_size=1, max_size=16))
    return graph_of(count, ends)


def graph_of(count, ends):
    vertices = tuple(Vertex(f"node{i}", value=i) for i in range(count))
    edges = tuple(Edge(a, b, returns=False, local=sp.Symbol(f"e{n}")) for n, (a, b) in enumerate(ends))
    return ComputationGraph("f", vertices, edges)


def followed(grid, row, column, way):
    """Where the line ends that leaves a label to the left or right: uprights are followed, other branches are not."""
    waiting, seen, ends = [(row, column, way)], set(), []
    while waiting:
        row, column, going = waiting.pop()
        if (row, column, going) in seen:
            continue
        seen.add((row, column, going))
        sign = grid[row][column] if 0 <= column < len(grid[row]) else " "
        if sign not in OPEN:
            ends.append((row, column))
            continue
        if sign == "│" and going in "lr":  # a crossing: the upright lies on top
            ways = [going]
        else:
            ways = [w for w in OPEN[sign] if w in (way, "u", "d") and w != BACK[going]]
        waiting += [(row + MOVES[w][0], column + MOVES[w][1], w) for w in ways]
    return ends


# In these two, a line that leaves a row must turn before another one arrives in it.
CLOSE = [
    (9, "06 47 46 57 23 24 14 28 14 15 17 56 35 78"),
    (10, "48 08 01 06 79 35 15 39 23 78 19 58 17 14"),
]


def close(number):
    count, ends = CLOSE[number]
    return graph_of(count, [(int(a), int(b)) for a, b in ends.split()])


@settings(deadline=None, derandomize=True, max_examples=250)
@example(close(0))
@example(close(1))
@given(graphs())
def test_every_label_leads_from_its_source_to_its_target(graph):
    written = graph_text.render(graph, 10_000, unicode=True)
    if "▶" not in written:
        assert "from node" in written
        return
    width = max(map(len, written.splitlines()))
    grid = [row.ljust(width) for row in written.splitlines()]
    for n, edge in enumerate(graph.edges):
        ((row, column),) = [(r, m.start()) for r, line in enumerate(grid) for m in re.finditer(rf"\[e{n}\]", line)]
        ((r, c),) = followed(grid, row, column - 1, "l")
        assert re.search(r"node(\d+) = \d+ $", grid[r][: c + 1])[1] == str(edge.source)
        ((r, c),) = followed(grid, row, column + len(f"[e{n}]"), "r")
        assert grid[r][c] == "▶"
        assert re.match(r" node(\d+)", grid[r][c + 1 :])[1] == str(edge.target)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(graphs())
def test_most_small_graphs_are_drawn(graph):
    if len(graph.edges) <= 4:
        assert "▶" in graph_text.render(graph, 10_000, unicode=True)


def test_a_loop_is_a_list():
    edges = (Edge(0, 1, returns=False), Edge(1, 0, returns=False))
    graph = ComputationGraph("f", (Vertex("a"), Vertex("b")), edges)
    assert "from a" in graph_text.render(graph)


def test_nothing_is_a_title():
    assert graph_text.render(ComputationGraph("f", (), ())).startswith("Computation graph of f")
