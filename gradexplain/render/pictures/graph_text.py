"""The computation graph in characters: a drawing where it fits, else a list that says the same.

The drawing has the layout of the SVG that runs from left to right, a row for each box, edge or bend. Between two layers
every box has one upright of its own, so lines never run along each other; where they cross, the upright is on top.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from gradexplain import escape
from gradexplain.exposition.picture import ComputationGraph
from gradexplain.language import enumerated, is_encodable, say
from gradexplain.render import text
from gradexplain.render.blocks import Block, Document, Formula, StepItem, Steps, line
from gradexplain.render.breaks import columns
from gradexplain.render.phrases import phrase
from gradexplain.render.pictures.layout import Link, layered
from gradexplain.render.pictures.words import ASCII, SIGNS, Wording, name_of, short_title
from gradexplain.settings import language

LEFT, RIGHT, UP, DOWN = 1, 2, 4, 8
_LINES = {0: " ", LEFT: "─", RIGHT: "─", UP: "│", DOWN: "│", LEFT | RIGHT: "─", UP | DOWN: "│"}
_LINES |= {LEFT | UP: "┘", RIGHT | UP: "└", LEFT | DOWN: "┐", RIGHT | DOWN: "┌"}
_LINES |= {LEFT | RIGHT | UP: "┴", LEFT | RIGHT | DOWN: "┬", LEFT | UP | DOWN: "┤", RIGHT | UP | DOWN: "├", 15: "┼"}
_PLAIN = {"─": "-", "│": "|", "▶": ">", "◀": "<", "┈": ".", **dict.fromkeys("┘└┐┌┴┬┤├┼", "+")}
_MOST_ROWS = 60


def render(graph: ComputationGraph, width: int = 80, *, unicode: bool = False) -> str:
    """The graph as lines of text, as a drawing if that is no wider than `width`.

    >>> from gradexplain.exposition.picture import Edge, Vertex
    >>> x, y = Vertex("x", value=3.0, role="input"), Vertex("y", value=3.0, role="output")
    >>> print(render(ComputationGraph("f", (x, y), (Edge(0, 1, returns=False),))))
    Computation graph of f
    <BLANKLINE>
    x = 3 ---> y = 3
    """
    wording = SIGNS if unicode else ASCII
    drawing = _drawing(graph, wording, width)
    if drawing is None:
        return text.render(Document(short_title(graph), listing(graph)), width=width, unicode=unicode)
    lines = [short_title(graph), "", *drawing]
    encoding = "ascii" if is_encodable(language(), "ascii") else "utf-8"
    return "\n".join(lines if unicode else [escape.encodable(_plain(row), encoding) for row in lines])


def _plain(row: str) -> str:
    return "".join(_PLAIN.get(character, character) for character in row)


# ------------------------------------------------------------------------------------------------------- the list


def listing(graph: ComputationGraph) -> tuple[Block, ...]:
    """The graph as a list: every vertex, below it where its operands come from, and what it hands back to them."""
    arriving: dict[int, list[int]] = {}
    for position, edge in enumerate(graph.edges):
        arriving.setdefault(edge.target, []).append(position)
    return (Steps(tuple(_item(graph, i, arriving.get(i, [])) for i in range(len(graph.vertices))), ordered=False),)


def _item(graph: ComputationGraph, position: int, arriving: Sequence[int]) -> StepItem:
    vertex = graph.vertices[position]
    if vertex.inside is not None:
        sources = [name_of(graph.vertices[graph.edges[e].source]) for e in arriving]
        notes = [line(say("from {sources}", sources=enumerated(sources)))] if sources else []
        return StepItem(line(say(", ").join(ASCII.lines_of(vertex))), notes=tuple(notes))
    notes = [line(_formula(adjoint))] if (adjoint := ASCII.adjoint_of(vertex)) else []
    for number in arriving:
        edge = graph.edges[number]
        forward, backward = ASCII.label_of(edge)
        parts = [line(say("from {sources}", sources=name_of(graph.vertices[edge.source])))]
        parts += [phrase(", local derivative {formula}", formula=_formula(forward))] if forward else []
        parts += [phrase(", hands back {formula}", formula=_formula(backward))] if backward else []
        notes.append(tuple(inline for part in parts for inline in part))
    return StepItem(line(_formula(" ".join(ASCII.lines_of(vertex)))), notes=tuple(notes))


def _formula(text: str) -> Formula:
    return Formula(text, "")


# ---------------------------------------------------------------------------------------------------- the drawing


@dataclass(slots=True)
class _Net:
    """Lines between two layers that belong together: the rows where they come from, and those where they go to."""

    starts: list[int]
    ends: list[int]

    @property
    def is_straight(self) -> bool:
        return self.starts == self.ends and len(self.starts) == 1


@dataclass(slots=True)
class _Layer:
    """What stands in the rows of a layer (an empty text is a line that passes), and how wide it is."""

    texts: dict[int, str] = field(default_factory=dict)
    opens: set[int] = field(default_factory=set)  # rows from which a line goes on to the right
    enters: set[int] = field(default_factory=set)  # rows of boxes at which a line arrives

    @property
    def width(self) -> int:
        return max(map(columns, self.texts.values()), default=0)


def _drawing(graph: ComputationGraph, wording: Wording, width: int) -> list[str] | None:
    """The lines of the drawing, None where it does not fit or would be unclear."""
    if graph.is_folded or any(e.source >= e.target for e in graph.edges) or not graph.vertices:
        return None
    links = [Link(e.source, e.target, (1, 1)) for e in graph.edges]
    found = layered([(1.0, 1.0)] * len(graph.vertices), links, gap=1.0, step=1.0, bend=1.0)
    rows = [round(breadth - 0.5) for breadth, _ in found.centres]
    layers = [_Layer() for _ in range(2 * max(found.layers) + 1)]
    sources = {edge.source for edge in graph.edges}
    for number, (vertex, layer) in enumerate(zip(graph.vertices, found.layers, strict=True)):
        layers[2 * layer].texts[rows[number]] = " ".join(wording.lines_of(vertex)) + " " * (number in sources)
    nets: list[dict[tuple[str, int], _Net]] = [{} for _ in layers]
    for number, (edge, route) in enumerate(zip(graph.edges, found.routes, strict=True)):
        way = [rows[edge.source], *(round(b - 0.5) for b, _, _ in route.spans[1:-1]), rows[edge.target]]
        first = 2 * found.layers[edge.source]
        forward = wording.label_of(edge).forward
        for step, (start, end) in enumerate(itertools.pairwise(way)):
            at = first + step
            if step:
                layers[at].texts[start] = f"[{forward}]" if forward and step == len(way) - 2 else ""
            layers[at].opens.add(start)
            _connect(nets[at], _owner(edge.source, edge.target, number, step, len(way) - 2), start, end)
        layers[first + len(way) - 1].enters.add(rows[edge.target])
    try:
        lines = _painted(layers, nets, max(rows) + 1)
    except CycleError:
        return None
    lines += _adjoints(graph, found.layers, wording, width)
    return lines if max(map(columns, lines)) <= width and len(lines) <= _MOST_ROWS else None


def _owner(source: int, target: int, number: int, step: int, last: int) -> tuple[str, int]:
    """What lines are joined with: those from the same box as they leave it, and to the same box as they enter it."""
    if step == 0:
        return "from", source
    return ("to", target) if step == last else ("edge", number)


def _connect(nets: dict[tuple[str, int], _Net], owner: tuple[str, int], start: int, end: int) -> None:
    net = nets.setdefault(owner, _Net([], []))
    net.starts += [start] if start not in net.starts else []
    net.ends += [end] if end not in net.ends else []


def _painted(layers: Sequence[_Layer], nets: Sequence[dict[tuple[str, int], _Net]], height: int) -> list[str]:
    height = max([height, *(row + 1 for layer in layers for row in layer.texts)])
    lines = [""] * height
    for number, layer in enumerate(layers):
        for row in range(height):
            lines[row] += _cell(layer, row)
        if number < len(layers) - 1:
            entering = layers[number + 1].enters
            for row, piece in enumerate(_gap(list(nets[number].values()), height, entering)):
                lines[row] += piece
    return [row.rstrip() for row in lines]


def _cell(layer: _Layer, row: int) -> str:
    """What a row shows of a layer: a box or a label with its line, a line that passes, or nothing."""
    shown = layer.texts.get(row, "")
    return shown + ("─" if row in layer.opens else " ") * (layer.width - columns(shown))


def _gap(nets: Sequence[_Net], height: int, entering: set[int]) -> list[str]:
    """The lines between two layers: each net that is not straight has a column."""
    tracks = {n: column for column, n in enumerate(_in_order(nets), 1)}
    width = len(tracks) + 2
    cells = [[0] * width for _ in range(height)]
    uprights: set[tuple[int, int]] = set()
    for n, net in enumerate(nets):
        column = tracks.get(n, width)
        for row in net.starts:
            for x in range(min(column, width)):
                cells[row][x] |= LEFT | RIGHT
        for row in net.ends:
            for x in range(column + 1 if n in tracks else 0, width):
                cells[row][x] |= LEFT | RIGHT
    for n, column in tracks.items():
        net = nets[n]
        low, high = min(net.starts + net.ends), max(net.starts + net.ends)
        for row in range(low, high + 1):
            sides = (LEFT if row in net.starts else 0) | (RIGHT if row in net.ends else 0)
            cells[row][column] = (UP if row > low else 0) | (DOWN if row < high else 0) | sides
            uprights.add((row, column))
    pieces = []
    for row in range(height):
        piece = "".join(_LINES[cell] for cell in cells[row])
        pieces.append(f"{piece[:-1]}▶ " if row in entering else piece)
        if entering and row not in entering:
            pieces[-1] += " " if not cells[row][-1] else "─"
    return pieces


def _in_order(nets: Sequence[_Net]) -> Iterator[int]:
    """The nets that need an upright, so that no line that arrives in a row lies on one that leaves in it."""
    bent = [n for n, net in enumerate(nets) if not net.is_straight]
    sorter = TopologicalSorter({n: [] for n in bent})
    for a in bent:
        for b in bent:
            if a != b and set(nets[a].starts) & set(nets[b].ends):
                sorter.add(b, a)
    return iter(tuple(sorter.static_order()))


def _adjoints(graph: ComputationGraph, layers: Sequence[int], wording: Wording, width: int) -> list[str]:
    """The adjoints below the drawing, layer by layer from the arguments on the left to the result on the right."""
    together: dict[int, list[str]] = {}
    for vertex, layer in zip(graph.vertices, layers, strict=True):
        together.setdefault(layer, []).extend(filter(None, [wording.adjoint_of(vertex)]))
    shown = [", ".join(adjoints) for _, adjoints in sorted(together.items()) if adjoints]
    if not shown:
        return []
    lines = [""]
    for n, adjoint in enumerate(shown):
        piece = adjoint if n == len(shown) - 1 else f"{adjoint} ◀┈┈ "
        if columns(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return ["", *(row.rstrip() for row in lines)]
