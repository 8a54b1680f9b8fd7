"""Differentiation of graphs: reverse mode (`sweep`, `vjp`) and forward mode (`jvp`), from Graph to Graph.

Both are one loop over the topological order. The results are ordinary nodes, so higher orders come by repetition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradexplain.errors import NoRuleError, ShapeError
from gradexplain.graph import Node, ancestors, constant, depends_on, make, variable
from gradexplain.ops.arithmetic import mul
from gradexplain.ops.reductions import sum_over
from gradexplain.primitive import filled, zero_like
from gradexplain.shapes import Shape


@dataclass(frozen=True, slots=True)
class Pullback:
    """One step of reverse mode: what `node` hands to its operand, given the node's own adjoint."""

    node: Node
    operand: int
    adjoint: Node
    contribution: Node


@dataclass(frozen=True, slots=True)
class Sweep:
    """A reverse sweep: the adjoint of every node on a path, and the log of pullbacks in the order they happened."""

    output: Node
    wrt: tuple[Node, ...]
    adjoints: Mapping[Node, Node]
    pullbacks: tuple[Pullback, ...]

    @property
    def gradients(self) -> tuple[Node, ...]:
        """The adjoints of `wrt`, zero where no path leads."""
        return tuple(self.adjoints[x] if x in self.adjoints else zero_like(x) for x in self.wrt)

    def is_connected(self, x: Node) -> bool:
        """Whether a path leads from x to the output."""
        return x in self.adjoints


def sweep(output: Node, wrt: Sequence[Node], seed: Node | None = None) -> Sweep:
    """Reverse mode from one output; the seed is ones (the sum of the entries) unless given.

    >>> from gradexplain.graph import variable
    >>> x = variable("x")
    >>> sweep(x * x, [x]).gradients
    (<mul #... ()>,)
    """
    order = ancestors([output])
    hot = depends_on(order, wrt)
    adjoints: dict[Node, Node] = {}
    pullbacks: list[Pullback] = []
    if output in hot:
        adjoints[output] = filled(1, output.shape) if seed is None else seed
    for node in reversed(order):
        adjoint = adjoints.get(node)
        if adjoint is None or node.op.pullback is None:
            continue
        for i, x in enumerate(node.inputs):
            if x in hot:
                contribution = node.op.pullback(i, adjoint, node)
                if contribution is None:
                    continue
                _check_shape(node, contribution.shape, x.shape)
                pullbacks.append(Pullback(node, i, adjoint, contribution))
                adjoints[x] = adjoints[x] + contribution if x in adjoints else contribution
    return Sweep(output, tuple(wrt), adjoints, tuple(pullbacks))


def vjp(output: Node, wrt: Sequence[Node], seed: Node | None = None) -> tuple[Node, ...]:
    """The cotangents of `wrt`, given that of the output (ones unless given)."""
    return sweep(output, wrt, seed).gradients


def _check_shape(node: Node, got: Shape, want: Shape) -> None:
    if got != want:
        raise ShapeError(
            f"the pullback of {node.op.name} has shape {got} for an operand of shape {want}",
            why="this is a fault in the row of the operation",
            fix="please report it with the function that showed it",
        )


def jvp(outputs: Sequence[Node], tangents: Mapping[Node, Node]) -> tuple[Node, ...]:
    """Forward mode: the tangents of the outputs, given those of some inputs."""
    table = forward(outputs, tangents)
    return tuple(table[y] if y in table else zero_like(y) for y in outputs)


def forward(outputs: Sequence[Node], tangents: Mapping[Node, Node]) -> dict[Node, Node]:
    """Forward mode: the tangent of every node that has one, in topological order."""
    table = dict(tangents)
    for node in ancestors(outputs):
        if node in table or node.op.pullback is None or not any(n in table for n in node.inputs):
            continue
        tangent = pushed(node, table)
        if tangent is not None:
            table[node] = tangent
    return table


def pushed(node: Node, tangents: Mapping[Node, Node]) -> Node | None:
    """The tangent of a node, given those of its operands; None if it has none."""
    incoming = [tangents.get(n) for n in node.inputs]
    return node.op.pushforward(incoming, node) if node.op.pushforward else _transposed(incoming, node)


def _transposed(tangents: Sequence[Node | None], y: Node) -> Node | None:
    """The pushforward of a row that states pullbacks only: a pullback is linear in g, and this is its transpose."""
    assert y.op.pullback is not None
    g = variable("g", y.shape)
    total: Node | None = None
    for i, tangent in enumerate(tangents):
        if tangent is None:
            continue
        cotangent = y.op.pullback(i, g, y)
        if cotangent is not None:
            (term,) = vjp(cotangent, [g], tangent)
            total = term if total is None else total + term
    return total


def inner(a: Node, b: Node) -> Node:
    """The sum of the products of the entries."""
    return sum_over(mul(a, b), axis=tuple(range(a.ndim)), keepdims=False)


def require_row(node: Node) -> None:
    """Raises `NoRuleError` if an operation has no derivative rule."""
    if node.op.pullback is None:
        raise NoRuleError(f"{node.op.name} has no derivative rule")


__all__ = ["Pullback", "Sweep", "constant", "forward", "inner", "jvp", "make", "sweep", "vjp"]
