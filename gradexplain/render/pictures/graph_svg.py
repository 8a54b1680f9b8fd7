"""The computation graph as SVG.

Values go forward on solid lines, with the local derivative beside them; adjoints come back on dashed lines, with what
is handed on. Short programs run from left to right, others downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gradexplain.exposition.picture import ComputationGraph, Edge, Vertex
from gradexplain.language import Sentence, say
from gradexplain.render.pictures.layout import Layout, Link, Route, Size, layered
from gradexplain.render.pictures.svg import Canvas, framed, points, text_width
from gradexplain.render.pictures.words import SIGNS, Label, aloud, name_of, shortened, title_of

MARGIN = 16.0
SMALL = 11.0
LINE = 18.0  # height of a line of text in a box
PADDING = 10.0
GAP, STEP = 18.0, 26.0  # room between boxes of a layer, and between layers
APART = 3.0  # half the room between the way forward and the way back
ARROW = 7.0
STACK = 4.0
WIDEST = 900.0  # pixels of a picture that runs from left to right
LONGEST, LONGEST_LABEL = 34, 26  # characters of a line in a box, and at an edge

LEGEND = (
    ("a", "values forward; beside the line, the local derivative"),
    ("b", "adjoints back; beside the line, what is handed on"),
)
FOLDED_LEGEND = (("a", "values forward"), ("b", "adjoints back"))
LOOP_LEGEND = (("c", "values into the next pass of a loop"),)


def render(graph: ComputationGraph) -> str:
    """The picture as one SVG element.

    >>> from gradexplain.exposition.picture import Vertex
    >>> picture = render(ComputationGraph("f", (Vertex("x", value=3.0, role="input"),), ()))
    >>> picture.count("<rect"), "x" in picture
    (2, True)
    """
    across = _Drawing(graph, downwards=False)
    drawing = across if across.width <= WIDEST else _Drawing(graph, downwards=True)
    return drawing.svg()


@dataclass(frozen=True, slots=True)
class _Box:
    """The text of a vertex and the room that it takes, x first."""

    lines: tuple[str, ...]
    adjoint: str
    width: float
    height: float


class _Drawing:
    """One picture in one direction."""

    def __init__(self, graph: ComputationGraph, *, downwards: bool) -> None:
        self.graph, self.downwards = graph, downwards
        self.boxes = [_box(v) for v in graph.vertices]
        self.labels = [_shortened(SIGNS.label_of(e)) for e in graph.edges]
        self.forward = [i for i, e in enumerate(graph.edges) if e.source < e.target]
        self.again = [e for e in graph.edges if e.source >= e.target]
        self.layout = self._laid_out()
        breadth, depth = self.layout.size
        self.lanes = LINE * len(self.again)
        inner = (breadth + self.lanes, depth) if downwards else (depth, breadth + self.lanes)
        self.legend = _legend(graph) + (LOOP_LEGEND if self.again else ())
        self.width = max(inner[0], *(40 + text_width(say(words), SMALL) for _, words in self.legend)) + 2 * MARGIN
        self.height = inner[1] + 2 * MARGIN + LINE * len(self.legend) + 10

    def _laid_out(self) -> Layout:
        sizes = [self._turned(b.width, b.height) for b in self.boxes]
        links = [
            Link(self.graph.edges[i].source, self.graph.edges[i].target, self._label_size(self.labels[i]))
            for i in self.forward
        ]
        return layered(sizes, links, gap=GAP, step=STEP, bend=2 * APART + 2)

    def _turned(self, x: float, y: float) -> Size:
        """A place or a size on the page as breadth and depth, or the other way round."""
        return (x, y) if self.downwards else (y, x)

    def _label_size(self, label: Label) -> Size:
        widths = [text_width(words, SMALL) for words in label]
        if self.downwards:  # a text on each side of the lines
            return 2 * max(widths) + 2 * APART + 12, 14.0 if any(widths) else 0.0
        return 2 * APART + (30.0 if any(widths) else 0.0), max(widths) + 4

    def svg(self) -> str:
        """The picture."""
        canvas = Canvas()
        shift = points(MARGIN, MARGIN)
        canvas.elements.append(f'<g transform="translate({shift})">')
        for position, route in zip(self.forward, self.layout.routes, strict=True):
            self._edge(canvas, self.graph.edges[position], self.labels[position], route)
        for lane, edge in enumerate(self.again):
            self._next_pass(canvas, edge, lane)
        for vertex, box, centre in zip(self.graph.vertices, self.boxes, self.layout.centres, strict=True):
            _vertex(canvas, vertex, box, *self._turned(*centre))
        canvas.close()
        self._legend(canvas)
        return framed(canvas, self.width, self.height, title_of(self.graph), aloud(self.graph))

    # Edges.
    def _edge(self, canvas: Canvas, edge: Edge, label: Label, route: Route) -> None:
        full = SIGNS.label_of(edge)
        names = [name_of(self.graph.vertices[i]) for i in (edge.source, edge.target)]
        title = say("{sources} feeds {targets}", sources=names[0], targets=names[1])
        canvas.open(say("{name}: {remark}", name=title, remark=full.forward) if full.forward else title)
        apart = APART if edge.returns else 0.0
        canvas.path(self._way(route, -apart, arrow_at_end=True), "a")
        canvas.path(self._arrow(route.spans[-1], -apart, at_end=True), "at")
        if edge.returns:
            canvas.path(self._way(route, apart, arrow_at_end=False), "b")
            canvas.path(self._arrow(route.spans[0], apart, at_end=False), "bt")
        self._label(canvas, label, route)
        canvas.close()

    def _way(self, route: Route, aside: float, *, arrow_at_end: bool) -> str:
        """Straight through the layers, and in curves between them; it stops short of its arrow."""
        spans = [list(span) for span in route.spans]
        spans[-1][2] -= ARROW if arrow_at_end else 0.0
        spans[0][1] += 0.0 if arrow_at_end else ARROW
        place, start, end = spans[0]
        path = f"M{self._point(place + aside, start)}"
        for following, turn in zip(spans[1:], route.turns, strict=True):
            path += f"L{self._point(place + aside, end)}" if end > start else ""
            # Lines beside each other stay so where they run across.
            middle = turn - aside * max(-1.0, min(1.0, (following[0] - place) / 20))
            bends = [(place, middle), (following[0], middle), (following[0], following[1])]
            path += "C" + " ".join(self._point(b + aside, d) for b, d in bends)
            place, start, end = following
        return path + f"L{self._point(place + aside, end)}"

    def _point(self, breadth: float, depth: float) -> str:
        return points(*self._turned(breadth, depth))

    def _arrow(self, span: Sequence[float], aside: float, *, at_end: bool) -> str:
        place, tip = span[0] + aside, span[2] if at_end else span[1]
        back = tip - ARROW if at_end else tip + ARROW
        corners = [(place, tip), (place - ARROW / 2, back), (place + ARROW / 2, back)]
        return "M" + "L".join(self._point(b, d) for b, d in corners) + "Z"

    def _label(self, canvas: Canvas, label: Label, route: Route) -> None:
        x, y = self._turned(*route.label)
        if self.downwards:
            aside = APART + 5
            if label.forward:
                canvas.text(x - aside, y + 4, label.forward, "small halo", "end")
            if label.backward:
                canvas.text(x + aside, y + 4, label.backward, "small halo")
            return
        if label.forward:
            canvas.text(x, y - APART - 5, label.forward, "small halo", "middle")
        if label.backward:
            canvas.text(x, y + APART + 13, label.backward, "small halo", "middle")

    def _next_pass(self, canvas: Canvas, edge: Edge, lane: int) -> None:
        """A line along the side of the picture, back to where the next pass of a loop begins."""
        names = [name_of(self.graph.vertices[i]) for i in (edge.source, edge.target)]
        side = self.layout.size[0] + LINE * (lane + 0.6)
        ends = []
        for position, share in ((edge.source, 0.25), (edge.target, -0.25)):
            box = self._turned(self.boxes[position].width, self.boxes[position].height)
            centre = self.layout.centres[position]
            ends.append((centre[0] + box[0] / 2, centre[1] + share * box[1]))
        (b0, d0), (b1, d1) = ends
        canvas.open(say("{source} feeds {target} in the next pass", source=names[0], target=names[1]))
        canvas.path(
            f"M{self._point(b0, d0)}L{self._point(side, d0)}L{self._point(side, d1)}L{self._point(b1 + ARROW, d1)}", "c"
        )
        corners = [(b1, d1), (b1 + ARROW, d1 - ARROW / 2), (b1 + ARROW, d1 + ARROW / 2)]
        canvas.path("M" + "L".join(self._point(b, d) for b, d in corners) + "Z", "ct")
        x, y = self._turned(side, (d0 + d1) / 2)
        canvas.text(x, y - 5, say("next pass, {count}", count=edge.count), "small halo", "middle")
        canvas.close()

    def _legend(self, canvas: Canvas) -> None:
        y = self.height - MARGIN - LINE * (len(self.legend) - 1)
        for kind, words in self.legend:
            canvas.path(f"M{points(MARGIN, y - 4)}h28", kind)
            canvas.text(MARGIN + 36, y, say(words), "note")
            y += LINE


def _legend(graph: ComputationGraph) -> tuple[tuple[str, str], ...]:
    """What the lines are; adjoints of an array are those of the sum of its entries."""
    if graph.is_folded:
        return FOLDED_LEGEND
    has_entries = any(v.role == "output" and v.shape for v in graph.vertices)
    if not has_entries:
        return LEGEND
    return (
        *LEGEND[:-1],
        ("b", Sentence("{words} (for the sum of the result's entries)", words=Sentence(LEGEND[-1][1]))),
    )


def _shortened(label: Label) -> Label:
    return Label(*(_fitted(words) for words in label))


def _fitted(words: str) -> str:
    """A formula that is too long loses its end, but not its number."""
    formula, equals, value = words.rpartition(" = ")
    end = equals + value if equals else ""
    return shortened(formula if equals else words, LONGEST_LABEL - len(end)) + end


def _box(vertex: Vertex) -> _Box:
    adjoint = shortened(SIGNS.adjoint_of(vertex), LONGEST)
    lines = tuple(shortened(text, LONGEST) for text in SIGNS.lines_of(vertex))
    width = max(map(text_width, (*lines, adjoint))) + 2 * PADDING + _stack(vertex)
    return _Box(lines, adjoint, width, LINE * (len(lines) + bool(adjoint)) + PADDING + _stack(vertex))


def _stack(vertex: Vertex) -> float:
    """How far the box behind a folded one can be seen."""
    return STACK if vertex.inside is not None else 0.0


def _vertex(canvas: Canvas, vertex: Vertex, box: _Box, x: float, y: float) -> None:
    behind = _stack(vertex)
    left, top, width, height = x - box.width / 2, y - box.height / 2, box.width - behind, box.height - behind
    canvas.open("; ".join(filter(None, (*SIGNS.lines_of(vertex), SIGNS.adjoint_of(vertex), _place(vertex)))))
    if behind:
        canvas.box(left + behind, top, width, height, "node")
    x, top = left + width / 2, top + behind
    radius = height / 2 if vertex.role == "input" and len(box.lines) < 3 else 4.0
    kind = "node result" if vertex.role == "output" else "node"
    canvas.box(left, top, width, height, kind, min(radius, 14.0))
    baseline = top + PADDING / 2 + 13
    for n, text in enumerate(box.lines):
        canvas.text(x, baseline + LINE * n, text, "" if n else "name", "middle")
    if box.adjoint:
        rule = top + PADDING / 2 + LINE * len(box.lines) + 0.5
        canvas.path(f"M{points(left + 6, rule)}H{points(left + width - 6)}", "b")
        canvas.text(x, baseline + LINE * len(box.lines) + 2, box.adjoint, "", "middle")
    canvas.close()


def _place(vertex: Vertex) -> str:
    place = vertex.place
    if place is None:
        return ""
    at = say("line {number}", number=place.line)
    return say("{name}: {remark}", name=at, remark=place.text) if place.text else at
