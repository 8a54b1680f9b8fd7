"""Identities found by value: nodes of the gradient graph that equal something simpler are replaced by it.

Every node is evaluated at a few points in high precision. Nodes of equal values are one node; a node that is 0 or a
small fraction everywhere is that number; a node that is a simple function of a forward node (y, 1 - y, y**2, 1/y,
y*(1 - y), …), or a small multiple of one, is written as that; terms of a sum that cancel are dropped. One pass,
linear in the graph: it finds sigmoid' = y*(1 - y) and the cancellation in the Black-Scholes delta, which rewriting
does not. Agreement of analytic functions at points in no special relation is as good as a proof; the caller checks
the result at other points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import mpmath as mp

from gradexplain.evaluate import evaluate_exact
from gradexplain.graph import Node, ancestors, constant, is_scalar_constant
from gradexplain.ops.arithmetic import add, div, mul, neg, power, sub
from gradexplain.ops.elementary import square
from gradexplain.simplify.sampling import DIGITS, Samples
from gradexplain.symbolic import expressions, tree_size

_KEPT = 22  # digits that must agree
_ZERO = mp.mpf(10) ** -30
_LARGEST_VOCABULARY = 60  # forward nodes that formulas are looked for in
_MOST_NAMED = 8  # of these, the ones whose products and quotients are looked at too
_LARGEST_FACTOR = 1e6  # of these, too
_DENOMINATOR = 24  # of multiples and constants

Values = tuple[Any, ...]


def refined(
    gradient: Node, output: Node, inputs: Mapping[str, Node], samples: Samples, named: Mapping[Node, Any]
) -> Node:
    """The gradient with every node written as the cheapest known thing of the same values.

    `named` are forward nodes that count as one symbol. Gives the gradient itself where branches or kinks forbid it.
    """
    forward = ancestors([output])
    order = ancestors([gradient, output])
    if len(samples.points) < 3 or not _is_analytic(order):
        return gradient
    values = _values(order, inputs, samples)
    return (values and _Refinement(values, named, forward).run(gradient, order)) or gradient


def _is_analytic(order: list[Node]) -> bool:
    """Agreement at points proves nothing about a branch that no point lies on, nor about the far side of a root."""
    return all(not n.op.kinks and n.kind != "bool" and all(_is_safe(n, i) for i in range(len(n.inputs))) for n in order)


def _is_safe(node: Node, operand: int) -> bool:
    """Whether an operand leaves the row's domain at an edge only: sqrt((x - 5)**2) touches 0 inside."""
    domain = node.op.domains[min(operand, len(node.op.domains) - 1)] if node.op.domains else None
    if domain is None or not domain.condition or "!=" in domain.condition:
        return True
    x = node.inputs[operand]
    if not x.inputs or _is_plain(x) or (node.op is power and _is_whole(node.inputs[1])):
        return True
    return domain.condition == "x > 0" and tree_size(x) < 200 and bool(expressions([x])[0].is_positive)


def _is_whole(exponent: Node) -> bool:
    return exponent.is_constant and isinstance(exponent.data, int)


def _is_plain(x: Node) -> bool:
    """Where it is positive is one piece: sums of multiples of variables, products of variables, 1 - v**2."""
    if x.op is sub and x.inputs[0].is_constant and x.inputs[1].op in (power, square):
        base = x.inputs[1].inputs
        return not base[0].inputs and (len(base) == 1 or is_scalar_constant(base[1], 2))
    if x.op in (add, sub, neg):
        return all(not n.inputs or _is_plain(n) for n in x.inputs)
    return x.op in (mul, div) and all(not n.inputs for n in x.inputs)


def _values(order: list[Node], inputs: Mapping[str, Node], samples: Samples) -> dict[Node, Values] | None:
    columns = []
    with mp.workdps(DIGITS):
        for point in samples.points:
            try:
                columns.append(evaluate_exact(order, {inputs[n]: v for n, v in point.items()}))
            except (TypeError, ValueError, ArithmeticError):
                return None
    table = {n: tuple(c[i] for c in columns) for i, n in enumerate(order)}
    if all(isinstance(v, (mp.mpf, int)) and mp.isfinite(v) for row in table.values() for v in row):
        return table
    return None


class _Refinement:
    """One pass over the gradient graph; `costs` count operations with shared parts written out."""

    def __init__(self, values: dict[Node, Values], named: Mapping[Node, Any], forward: list[Node]) -> None:
        self.values, self.named = values, named
        self.costs: dict[Node, int] = {}
        self.known: dict[Any, tuple[Node, Any]] = {}  # direction of the value vector -> a node and its first value
        self.kept = set(forward)
        with mp.workdps(DIGITS):
            for expression, its_values in self._vocabulary(forward):
                self._learn(expression, its_values)

    def run(self, gradient: Node, order: list[Node]) -> Node:
        """The rewritten gradient."""
        new: dict[Node, Node] = {}
        with mp.workdps(DIGITS):
            for node in order:
                if not node.inputs:
                    new[node] = node
                else:
                    new[node] = self._in_names(node) if node in self.kept else self._rewritten(node, new)
        return new[gradient]

    def _in_names(self, node: Node) -> Node:
        """A part of the program itself, in terms of its named parts where that is shorter."""
        found = None if node in self.named or not self.named else self._look_up(self.values[node])
        return node if found is None or self._cost(found) >= self._cost(node) else found

    def _rewritten(self, node: Node, new: Mapping[Node, Node]) -> Node:
        values = self.values[node]
        number = _as_number(values)
        if number is not None:
            return constant(number)
        options = [node.op(*(new[n] for n in node.inputs), **node.params), *self._cancelled(node, new)]
        found = self._look_up(values)
        if found is not None:
            options.append(found)
        best = min(options, key=self._cost)
        self._learn(best, values)
        return best

    def _cancelled(self, node: Node, new: Mapping[Node, Node]) -> Iterator[Node]:
        """A sum without the terms that cancel each other."""
        if node.op not in (add, sub):
            return
        terms = _terms(node)
        left: list[tuple[int, Node]] = []
        for sign, term in terms:
            opposite = next((k for k, (s, t) in enumerate(left) if self._is_zero_sum(sign, term, s, t)), None)
            if opposite is None:
                left.append((sign, term))
            else:
                del left[opposite]
        if len(left) < len(terms):
            total = constant(0)
            for sign, term in left:
                total = total + new[term] if sign > 0 else total - new[term]
            yield total

    def _is_zero_sum(self, sign: int, term: Node, other_sign: int, other: Node) -> bool:
        pairs = zip(self.values[term], self.values[other], strict=True)
        return all(abs(sign * a + other_sign * b) <= _ZERO * max(abs(a), abs(b)) for a, b in pairs)

    def _vocabulary(self, forward: list[Node]) -> Iterator[tuple[Node, Values]]:
        """Simple functions of forward nodes, simplest first."""
        leaves = [n for n in forward if n.inputs or n.op.name == "variable"][-_LARGEST_VOCABULARY:]
        leaves = [n for n in leaves if _as_number(self.values[n]) is None]
        for function in _FUNCTIONS:
            for y in leaves:
                its_values = _mapped(function, self.values[y])
                if its_values is not None:
                    yield function(y), its_values
        main = ([n for n in leaves if n in self.named] + [n for n in leaves if not n.inputs])[:_MOST_NAMED]
        for a in main:
            for b in main:
                if a is not b:
                    pairs = list(zip(self.values[a], self.values[b], strict=True))
                    yield a * b, tuple(p * q for p, q in pairs)
                    if all(q for _, q in pairs):
                        yield a / b, tuple(p / q for p, q in pairs)

    def _learn(self, expression: Node, values: Values) -> None:
        key = _direction(values)
        if key is not None and (key not in self.known or self._cost(expression) < self._cost(self.known[key][0])):
            self.known[key] = (expression, values[0])

    def _look_up(self, values: Values) -> Node | None:
        """Something known that has these values, or a small multiple of them."""
        key = _direction(values)
        if key is None or key not in self.known:
            return None
        expression, first = self.known[key]
        factor = _small(values[0] / first)
        return None if factor is None else constant(factor) * expression

    def _cost(self, node: Node) -> int:
        waiting = [node]
        while waiting:
            n = waiting[-1]
            if n in self.costs:
                waiting.pop()
                continue
            if n in self.named or not n.inputs:
                self.costs[n] = 0 if not n.inputs else 1
                continue
            missing = [i for i in n.inputs if i not in self.costs]
            if missing:
                waiting.extend(missing)
            else:
                self.costs[n] = 1 + sum(self.costs[i] for i in n.inputs)
        return self.costs[node]


_FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    lambda y: y,
    lambda y: 1 - y,
    lambda y: 1 + y,
    lambda y: y**2,
    lambda y: 1 / y,
    lambda y: y * (1 - y),
    lambda y: 1 - y**2,
    lambda y: 1 + y**2,
    lambda y: 1 / y**2,
    lambda y: y * (1 + y),
)


def _mapped(function: Callable[[Any], Any], values: Values) -> Values | None:
    try:
        return tuple(function(v) for v in values)
    except ZeroDivisionError:
        return None


def _direction(values: Values) -> Any:
    """The value vector up to a factor, rounded so that equal vectors have equal keys."""
    first = values[0]
    if first == 0:
        return None
    return tuple(mp.nstr(v / first, _KEPT, strip_zeros=True) for v in values)


def _as_number(values: Values) -> Fraction | None:
    """The small fraction that all values are, if they are one."""
    first = values[0]
    if any(abs(v - first) > _ZERO * max(1, abs(first)) for v in values):
        return None
    return _small(first)


def _small(value: Any) -> Fraction | None:
    if abs(value) < _ZERO:
        return Fraction(0)
    if abs(value) > _LARGEST_FACTOR:
        return None
    near = Fraction(float(value)).limit_denominator(_DENOMINATOR)
    exact = mp.mpf(near.numerator) / near.denominator
    return near if near and abs(value - exact) <= _ZERO * abs(value) else None


def _terms(node: Node) -> list[tuple[int, Node]]:
    """The terms of nested sums with their signs."""
    out, waiting = [], [(1, node)]
    while waiting:
        sign, n = waiting.pop()
        if n.op is add:
            waiting += [(sign, n.inputs[1]), (sign, n.inputs[0])]
        elif n.op is sub:
            waiting += [(-sign, n.inputs[1]), (sign, n.inputs[0])]
        elif n.op is neg:
            waiting.append((-sign, n.inputs[0]))
        else:
            out.append((sign, n))
    return out
