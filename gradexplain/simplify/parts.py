"""The named parts of a long formula, written as SymPy expressions only when someone looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import sympy as sp

from gradexplain.graph import Node
from gradexplain.language import Sentence
from gradexplain.simplify.numeric import of_real_numbers, rounded
from gradexplain.symbolic import of_node

_SHOWN = 8  # parts at each end of a long list
GAP = "..."


class Parts(Mapping[str, Any]):
    """Names and the expressions that they stand for, in terms of the arguments and of earlier names.

    >>> from gradexplain.graph import variable
    >>> x = variable("x")
    >>> parts = Parts()
    >>> parts.add("u", x * x)
    >>> parts["u"], parts.written(x * x + 1)
    (x**2, u + 1)
    """

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._written: dict[str, Any] = {}
        self.symbols: dict[Node, Any] = {}

    def add(self, name: str, node: Node) -> None:
        """Gives a node a name."""
        self._nodes[name] = node
        self.symbols[node] = sp.Symbol(name, real=True)

    def nodes(self) -> Iterator[tuple[Node, str]]:
        """The nodes that have names, in order."""
        return ((node, name) for name, node in self._nodes.items())

    def written(self, node: Node) -> Any:
        """A node as an expression over the names of its parts."""
        table: dict[Node, Any] = {}
        waiting = [node]
        while waiting:
            n = waiting[-1]
            missing = [i for i in n.inputs if i not in table and i not in self.symbols]
            if missing:
                waiting.extend(missing)
                continue
            waiting.pop()
            table[n] = of_node(n, [self.symbols.get(i) or table[i] for i in n.inputs])
        return of_real_numbers(table[node])

    def __getitem__(self, name: str) -> Any:
        if name not in self._written:
            self._written[name] = rounded(self.written(self._nodes[name]))
        return self._written[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return dict, (dict(self),)


def on_a_page(parts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The parts, or the first and the last of a long list with the number of the others between them.

    >>> [name for name, _ in on_a_page({f"d{i}": i for i in range(100)})][7:10]
    ['d7', '...', 'd92']
    """
    names = list(parts)
    hidden = len(names) - 2 * _SHOWN
    if hidden <= 1:
        return [(n, parts[n]) for n in names]
    ends = [[(n, parts[n]) for n in end] for end in (names[:_SHOWN], names[-_SHOWN:])]
    return [*ends[0], (GAP, Sentence("{count} more", count=hidden)), *ends[1]]


def extent(expr: Any, parts: Mapping[str, Any]) -> tuple[int, int]:
    """How deep a formula is when its names are written out, and how many operations long."""
    extents: dict[str, tuple[int, int]] = {}
    for name in parts:
        extents[name] = _extent(parts[name], extents)
    return _extent(expr, extents)


def _extent(expr: Any, names: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    known: dict[Any, tuple[int, int]] = {}
    waiting = [expr]
    while waiting:
        node = waiting[-1]
        missing = [a for a in node.args if a not in known]
        if missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        if node.is_Symbol:
            known[node] = names.get(node.name, (0, 0))
        else:
            inner = [known[a] for a in node.args]
            known[node] = 1 + max((d for d, _ in inner), default=-1), bool(inner) + sum(n for _, n in inner)
    return known[expr]
