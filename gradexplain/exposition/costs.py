"""What both modes of automatic differentiation cost: the operations in the lines of their tables, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from gradexplain.autodiff import pushed
from gradexplain.exposition.model import Cost
from gradexplain.graph import Node, ancestors, depends_on, variable
from gradexplain.trace.run import Program

_SILENT = ("broadcast_to", "sum_to", "as_number")  # what NumPy does unasked, and its transpose
_MOST_PASSES = 16  # inputs whose forward passes are counted one by one


def cost(program: Program, wrt: Sequence[str]) -> Cost:
    """The cost of all derivatives of a program: one reverse sweep, or a forward pass for each entry of `wrt`.

    >>> from gradexplain.trace.run import trace
    >>> from gradexplain.trace.signature import bind
    >>> f = lambda x, y: x * y * y
    >>> cost(trace(f, bind(f, (3.0, 2.0), {}, symbolic=False)), ["x", "y"])
    Cost(function=2, reverse=5, kept=1, forward=6, passes=2, results=1)
    """
    inputs = [program.inputs[n] for n in wrt]
    order = ancestors([program.output])
    counted = _Operations(order)
    hot = depends_on(order, inputs)
    paths: Counter[Node] = Counter()
    for node in order:
        g = variable("g", node.shape)
        for i, x in enumerate(node.inputs if node in hot and node.op.pullback is not None else ()):
            pulled = node.op.pullback(i, g, node) if x in hot and node.op.pullback is not None else None
            if pulled is not None:
                counted.add(pulled)
                paths[x] += 1
    reverse, kept = counted.take()
    reverse += sum(n - 1 for n in paths.values())
    entries = sum(x.size for x in inputs)
    return Cost(
        function=sum(1 for n in order if _is_operation(n)),
        reverse=reverse,
        kept=sum(n.size for n in kept if _is_operation(n)),
        forward=_forward(order, inputs, counted),
        passes=entries,
        results=program.output.size,
    )


def _forward(order: Sequence[Node], inputs: Sequence[Node], counted: _Operations) -> int:
    """The operations of all forward passes: each input's own, as often as it has entries."""
    if len(inputs) > _MOST_PASSES:
        return sum(x.size for x in inputs) * _of_pass(order, inputs, counted)
    return sum(x.size * _of_pass(order, [x], counted) for x in inputs)


def _of_pass(order: Sequence[Node], inputs: Sequence[Node], counted: _Operations) -> int:
    hot = depends_on(order, inputs)
    for node in order:
        if node in hot and node.inputs:
            tangents = {n: variable("t", n.shape) for n in node.inputs if n in hot}
            tangent = pushed(node, tangents)
            if tangent is not None:
                counted.add(tangent)
    return counted.take()[0]


class _Operations:
    """Counts the operations of formulas over the values of a program, which are there already."""

    def __init__(self, own: Collection[Node]) -> None:
        self.own = set(own)
        self.number, self.used = 0, set[Node]()

    def add(self, formula: Node) -> None:
        """Counts one more formula."""
        seen: set[Node] = set()
        waiting = [formula]
        while waiting:
            node = waiting.pop()
            if node in self.own:
                self.used.add(node)
            elif node not in seen:
                seen.add(node)
                self.number += _is_operation(node)
                waiting += node.inputs

    def take(self) -> tuple[int, set[Node]]:
        """The count, and the values of the program that were used; both start again."""
        found = self.number, self.used
        self.number, self.used = 0, set()
        return found


def _is_operation(node: Node) -> bool:
    return bool(node.inputs) and node.op.name not in _SILENT
