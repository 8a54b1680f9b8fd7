"""Nodes as SymPy expressions: `expression` of a whole graph, `written` of the program as it stands.

Expressions are made bottom-up along the topological order. They are trees, so they are made of small results only:
`tree_size` tells beforehand how large one will be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from gradexplain.graph import CONSTANT, VARIABLE, Fixed, Node, ancestors
from gradexplain.notation import OWN, ArrayCondition, ArrayOperation, ConstantArray
from gradexplain.numbers import exact_number


def symbol(node: Node) -> sp.Symbol:
    """The SymPy symbol of a variable."""
    return sp.Symbol(node.params["name"], real=True)


def expressions(outputs: Sequence[Node], given: Mapping[Node, sp.Expr] | None = None) -> list[Any]:
    """The outputs as expressions over the variables and the nodes in `given`.

    >>> from gradexplain.graph import variable
    >>> x = variable("x")
    >>> expressions([x * x + 0.5])
    [x**2 + 1/2]
    """
    table: dict[Node, Any] = dict(given or {})
    for node in _needed(outputs, table):
        table[node] = of_node(node, [table[n] for n in node.inputs])
    return [table[n] for n in outputs]


def _needed(outputs: Sequence[Node], given: Mapping[Node, Any]) -> list[Node]:
    seen: dict[int, Node] = {}
    waiting = list(outputs)
    while waiting:
        node = waiting.pop()
        if node not in given and node.index not in seen:
            seen[node.index] = node
            waiting.extend(node.inputs)
    return [seen[i] for i in sorted(seen)]


def of_node(node: Node, operands: Sequence[Any]) -> Any:
    """One node as an expression, given its operands'."""
    if node.op is VARIABLE:
        return symbol(node)
    if node.op is CONSTANT:
        return _constant(node)
    form = node.op.symbol
    if node.op.family == "elementwise" and form is not None:
        return (OWN.get(form) or getattr(sp, form))(*operands) if isinstance(form, str) else form(sp, *operands)
    if form is not None and callable(form):
        return form(sp, *operands, **node.params)
    made = ArrayCondition if node.kind == "bool" else ArrayOperation
    return made(node.op.name, node.params, *operands)


def _constant(node: Node) -> Any:
    data = node.data
    if isinstance(data, Fixed):
        return ConstantArray.of(data)
    if isinstance(data, bool):
        return sp.true if data else sp.false
    return exact_number(data).sympy()


def written(outputs: Sequence[Node], given: Mapping[Node, sp.Expr] | None = None) -> list[Any]:
    """The outputs as the user wrote them: SymPy does not evaluate (`x*x` stays `x*x`)."""
    with sp.evaluate(False):
        return expressions(outputs, given)


def tree_size(node: Node, given: Mapping[Node, Any] | None = None) -> int:
    """The number of operations of a node written out as a tree, shared parts counted each time."""
    sizes: dict[Node, int] = {}
    for n in ancestors([node]):
        sizes[n] = 0 if given and n in given else bool(n.inputs) + sum(sizes[i] for i in n.inputs)
    return sizes[node]
