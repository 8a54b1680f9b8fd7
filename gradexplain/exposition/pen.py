"""`Pen` writes nodes as SymPy expressions the way the program has them, with names in place of long parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp

from gradexplain.graph import CONSTANT, Node
from gradexplain.notation import Call, ConditionCall
from gradexplain.ops.spelling import spelling
from gradexplain.symbolic import of_node


class Pen:
    """Writes nodes over the names that it was given; nothing is evaluated, and what was written once is kept.

    `silent` says which nodes look like their first operand.

    >>> from gradexplain.graph import variable
    >>> x = variable("x")
    >>> u = x * x
    >>> pen = Pen({u: "u"})
    >>> pen.write([u + 1]), pen.open([u])
    ([u + 1], [x*x])
    """

    def __init__(self, names: Mapping[Node, str], silent: Callable[[Node], bool] | None = None) -> None:
        self.named = dict(names)
        self._silent = silent
        self._table: dict[Node, Any] = {n: letter(name) for n, name in names.items()}
        self._given = set(self._table)

    def name(self, node: Node, name: str) -> None:
        """From now on the node is called by this name."""
        self.named[node] = name
        self._table[node] = letter(name)
        self._given.add(node)

    def put(self, node: Node, expression: Any) -> None:
        """From now on the node is written as this expression."""
        self._table[node] = expression
        self._given.add(node)

    def write(self, nodes: Sequence[Node]) -> list[Any]:
        """The nodes as expressions."""
        with sp.evaluate(False):
            for node in self._missing(nodes):
                self._table[node] = self._made(node)
        return [self._table[n] for n in nodes]

    def open(self, nodes: Sequence[Node]) -> list[Any]:
        """The nodes as expressions, each written out one level even where it has a name."""
        self.write([n for node in nodes for n in node.inputs])
        with sp.evaluate(False):
            return [self._made(node) for node in nodes]

    def _made(self, node: Node) -> Any:
        if node.op is CONSTANT:
            with sp.evaluate(True):  # a number such as sqrt(2) is one thing, not a product
                return of_node(node, [])
        operands = [self._table[n] for n in node.inputs]
        if operands and self._silent is not None and self._silent(node) and node.inputs[0].kind == node.kind:
            return operands[0]  # but a condition is no number: it is 1 or 0
        said = spelling(node)
        if said is not None and self._given.isdisjoint(said.inside) and all(n in self._table for n in said.operands):
            made = ConditionCall if node.kind == "bool" else Call
            return made(said.function, said.keywords, *(self._table[n] for n in said.operands))
        return of_node(node, operands)

    def _missing(self, nodes: Sequence[Node]) -> list[Node]:
        seen: dict[int, Node] = {}
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node not in self._table and node.index not in seen:
                seen[node.index] = node
                waiting.extend(node.inputs)
        return [seen[i] for i in sorted(seen)]


def letter(name: str) -> sp.Symbol:
    """The symbol for a name."""
    return sp.Symbol(name, real=True)
