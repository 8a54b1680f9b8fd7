"""The computation graph of a program as a picture shows it: values on the nodes, derivatives on the edges.

`computation_graph` makes the record; `render.pictures` lays it out and writes it in words. Constants are part of the
formulas, not nodes; what NumPy does silently is passed through. A graph of many operations is folded (`folding`): its
vertices then stand for lines and functions of the user's, and hold what is inside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from gradexplain import autodiff
from gradexplain.errors import Place
from gradexplain.evaluate import evaluate
from gradexplain.exposition.folding import Group, folded
from gradexplain.exposition.naming import is_silent, names, source_of
from gradexplain.exposition.pen import Pen
from gradexplain.graph import CONSTANT, Node, ancestors, as_node, variable
from gradexplain.trace.run import Program
from gradexplain.trace.source import place_of

MOST_VERTICES = 40  # of more operations than this, lines and functions are shown
MOST_EDGES = 100  # beside which nothing can be read: then fewer vertices are shown
_FEWEST = 6
_MOST_GROUPS = 24  # lines and functions
MOST_INSIDE = 12  # operations that are shown within a line or function, and
_MOST_IN_ALL = 60  # within all of them

Role = Literal["input", "operation", "output"]


@dataclass(frozen=True, slots=True)
class Vertex:
    """An argument, an operation, or (with `count` and `inside`) all operations of a line or function."""

    name: str
    formula: Any = None  # what is computed, over the names of the operands; None for arguments and folded vertices
    value: Any = None
    shape: tuple[int, ...] = ()
    role: Role = "operation"
    adjoint: str = ""  # its name, "" where none arrives
    adjoint_formula: Any = None
    adjoint_value: Any = None
    place: Place | None = None
    count: int = 1
    inside: ComputationGraph | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A value that flows forward from one vertex to another, and an adjoint that flows back if `returns`.

    `local` is the local derivative, None where the operation is not entrywise; `handed` is what the target hands back
    for its adjoint. A folded edge stands for `count` values; one that leads to an earlier line is the next pass of a
    loop.
    """

    source: int
    target: int
    returns: bool
    local: Any = None
    local_value: Any = None
    handed: Any = None
    handed_value: Any = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class ComputationGraph:
    """Vertices in the order of computation, and edges between their positions."""

    name: str
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    wrt: tuple[str, ...] = ()
    point: tuple[tuple[str, Any], ...] = ()
    operations: int = 0  # of the program; fewer vertices mean that it is folded or cut short

    @property
    def is_folded(self) -> bool:
        """Whether vertices stand for several operations."""
        return any(v.count > 1 for v in self.vertices)


def computation_graph(program: Program, wrt: Sequence[str], most: int = MOST_VERTICES) -> ComputationGraph:
    """The graph of a program with its adjoints; of more than `most` vertices, folded by lines and functions.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x: x**2 * x
    >>> graph = computation_graph(trace(f, bind(f, (3.0,), {}, symbolic=False)), ["x"])
    >>> [(v.name, float(v.value), float(v.adjoint_value)) for v in graph.vertices]
    [('x', 3.0, 27.0), ('v1', 9.0, 3.0), ('y', 27.0, 1.0)]
    >>> [(e.source, e.target, e.local, float(e.handed_value)) for e in graph.edges]
    [(0, 1, 2*x, 18.0), (1, 2, x, 3.0), (0, 2, v1, 9.0)]
    """
    draughtsman = _Draughtsman(program, wrt)
    order = draughtsman.order
    if len(order) <= most and sum(len(n.inputs) for n in order) <= MOST_EDGES:
        return draughtsman.drawn(order)
    most = min(most, _MOST_GROUPS)
    while True:
        groups = folded(order, program, most)
        edges = draughtsman.between(groups)
        if len(edges) <= MOST_EDGES or most <= _FEWEST:
            return draughtsman.folded(groups, edges, max(2, min(MOST_INSIDE, _MOST_IN_ALL // len(groups))))
        most //= 2


def is_small(program: Program) -> bool:
    """Whether the graph of a program is drawn operation by operation, as far as a quick look tells."""
    return len(ancestors([program.output])) <= 2 * MOST_VERTICES


class _Draughtsman:
    """The values, adjoints and formulas of one program, computed for the vertices that are asked for."""

    def __init__(self, program: Program, wrt: Sequence[str]) -> None:
        self.program, self.wrt = program, tuple(wrt)
        self.names = names(program)
        self.pen = Pen(self.names, lambda n: is_silent(n, program))
        inputs = [program.inputs[n] for n in wrt]
        self.names |= {x: n for n, x in program.inputs.items()}
        self.order = [
            n for n in ancestors([program.output, *inputs]) if n.op is not CONSTANT and not is_silent(n, program)
        ]
        self.sweep = autodiff.sweep(program.output, inputs)
        self.values: dict[Node, Any] | None = dict(program.trace.values) if program.is_numeric else None
        self.handed = {(p.node, p.operand): p for p in self.sweep.pullbacks}

    def drawn(self, shown: Sequence[Node]) -> ComputationGraph:
        """The graph of some nodes, each a vertex."""
        positions = {n: i for i, n in enumerate(shown)}
        vertices = [self._vertex(n) for n in shown]
        edges = [
            self._edge(node, operand, positions[source], positions[node])
            for node in shown
            for operand, source in self._operands(node)
            if source in positions
        ]
        formulas: dict[int, list[Any]] = {}
        for edge in reversed(edges):
            formulas.setdefault(edge.source, []).append(edge.handed)
        vertices = [replace(v, adjoint_formula=_total(v, formulas.get(i, []))) for i, v in enumerate(vertices)]
        point = tuple(self.program.point.items()) if self.values is not None else ()
        return ComputationGraph(
            self.program.name, tuple(vertices), tuple(edges), self.wrt, point, sum(bool(n.inputs) for n in self.order)
        )

    def between(self, groups: Sequence[Group]) -> list[Edge]:
        """The edges between groups of nodes."""
        home = {n: i for i, g in enumerate(groups) for n in g.nodes}
        counts: dict[tuple[int, int], list[bool]] = {}
        for node, target in home.items():
            for operand, source in self._operands(node):
                if source in home and home[source] != target:
                    counts.setdefault((home[source], target), []).append((node, operand) in self.handed)
        return [Edge(a, b, any(back), count=len(back)) for (a, b), back in sorted(counts.items())]

    def folded(self, groups: Sequence[Group], edges: Sequence[Edge], most: int) -> ComputationGraph:
        """The graph of groups of nodes, each a vertex that holds the first of its nodes."""
        vertices = [self._folded_vertex(g, most) for g in groups]
        whole = self.drawn([])
        return replace(whole, vertices=tuple(vertices), edges=tuple(edges))

    def _folded_vertex(self, group: Group, most: int) -> Vertex:
        if len(group.nodes) == 1:
            return replace(self._vertex(group.nodes[0]), inside=None)
        role: Role = "output" if self.program.output in group.nodes else "operation"
        inside = self.drawn(_opened(group.nodes, most))
        last = self._vertex(group.nodes[-1])
        return replace(
            last,
            name=group.label,
            formula=None,
            value=last.value if role == "output" else None,
            adjoint="",
            adjoint_value=None,
            role=role,
            place=group.place,
            count=len(group.nodes),
            inside=replace(inside, operations=len(group.nodes), name=group.label),
        )

    def _vertex(self, node: Node) -> Vertex:
        reached = node in self.sweep.adjoints
        role: Role = "input" if not node.inputs else "output" if node is self.program.output else "operation"
        return Vertex(
            name=self.names[node],
            formula=self.pen.open([node])[0] if node.inputs else None,
            value=self._value(node),
            shape=node.shape,
            role=role,
            adjoint=f"{self.names[node]}_bar" if reached else "",
            adjoint_value=self._value(self.sweep.adjoints[node]) if reached else None,
            place=place_of(self.program.trace.sites.get(node)),
        )

    def _operands(self, node: Node) -> list[tuple[int, Node]]:
        sources = [source_of(n, self.program) for n in node.inputs]
        return [(i, source) for i, source in enumerate(sources) if source.op is not CONSTANT]

    def _edge(self, node: Node, operand: int, source: int, target: int) -> Edge:
        pulled = self.handed.get((node, operand))
        if pulled is None:
            return Edge(source, target, returns=False)
        rule = node.op.partials[operand] if node.op.partials else None
        partial = None if rule is None else as_node(rule(node, *node.inputs))
        local = None if partial is None else self.pen.write([partial])[0]
        through = self._through(node.inputs[operand], pulled.contribution)
        return Edge(
            source,
            target,
            returns=True,
            local=local,
            local_value=None if partial is None else self._value(partial),
            handed=self._pulled(node, operand),
            handed_value=self._value(through),
        )

    def _pulled(self, node: Node, operand: int) -> Any:
        """What an operation hands back, over the name of its own adjoint."""
        assert node.op.pullback is not None
        pulled = node.op.pullback(operand, variable(f"{self.names[node]}_bar", node.shape), node)
        return None if pulled is None else self.pen.write([self._through(node.inputs[operand], pulled)])[0]

    def _through(self, node: Node, adjoint: Node) -> Node:
        """Hands an adjoint on to what a silent node spreads."""
        while is_silent(node, self.program):
            assert node.op.pullback is not None
            adjoint, node = node.op.pullback(0, adjoint, node) or adjoint, node.inputs[0]
        return adjoint

    def _value(self, node: Node) -> Any:
        return None if self.values is None else evaluate([node], self.values)[0]


def _opened(nodes: Sequence[Node], most: int) -> Sequence[Node]:
    """What is shown of a line that stands for many operations: the first of them."""
    return nodes[:most]


def _total(vertex: Vertex, handed: Sequence[Any]) -> Any:
    """The adjoint in terms of those of the vertices that the value goes to; the seed is 1."""
    import sympy as sp

    found = [h for h in handed if h is not None]
    if not vertex.adjoint or not found:
        return sp.S.One if vertex.role == "output" and vertex.shape == () and vertex.adjoint else None
    with sp.evaluate(False):
        return found[0] if len(found) == 1 else sp.Add(*found)
