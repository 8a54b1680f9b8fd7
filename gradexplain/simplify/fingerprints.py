"""Identities found by value: nodes of the gradient graph that equal something simpler are replaced by it.

Every node is evaluated at a few points in high precision. Nodes of equal values are one node; a node that is 0 or a
small fraction everywhere is that number; a node that is a simple function of a forward node (y, 1 - y, y**2, 1/y,
y*(1 - y), …), or a small multiple of one, is written as that; terms of a sum that cancel are dropped. Two passes,
linear in the graph: the first learns how cheaply each value can be written, the second writes. It finds sigmoid' =
y*(1 - y) and the cancellation in the Black-Scholes delta, which rewriting does not. Agreement of analytic functions at
points in no special relation is as good as a proof; the caller checks the result at other points.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import mpmath as mp
import sympy as sp
from mpmath.libmp import mpf_div

from gradexplain.evaluate import evaluate_exact
from gradexplain.graph import Node, ancestors, constant, is_scalar_constant, make, substitute, variable
from gradexplain.numbers import exact_number
from gradexplain.ops.arithmetic import add, div, mul, neg, power, sub
from gradexplain.ops.elementary import square
from gradexplain.simplify.sampling import DIGITS, MORE_DIGITS, Samples, settled_value
from gradexplain.symbolic import expressions, tree_size

_KEPT = 73  # binary digits that must agree
_ZERO = mp.mpf(10) ** -30
_LARGEST_VOCABULARY = 60  # forward nodes that formulas are looked for in
_MOST_NAMED = 10  # of these, the ones whose products and quotients are looked at too
_MOST_FACTORS = 8  # of a product whose factors are looked at in pairs
_LARGEST_FACTOR = 1e6  # of these, too
_DENOMINATOR = 24  # of multiples and constants

Values = tuple[Any, ...]


def refined(
    gradient: Node,
    output: Node,
    inputs: Mapping[str, Node],
    samples: Samples,
    named: Mapping[Node, Sequence[Node]] | None = None,
) -> Node:
    """The gradient with every node written as the cheapest known thing of the same values.

    `named` are nodes that count as one symbol (no parts), or as a call (of the parts, its arguments). Gives the
    gradient itself where branches or kinks forbid it.
    """
    named = named or {}
    forward = ancestors([output])
    order = ancestors([gradient, output])
    if len(samples.points) < 3 or not is_analytic(order):
        return gradient
    values = _values(order, inputs, samples)
    if not values:
        return gradient
    for node in [n for n in named if n not in values]:  # what the program might have called
        more = ancestors([node])
        values |= (is_analytic(more) and _values(more, inputs, samples)) or {}
    named = {n: parts for n, parts in named.items() if n in values}
    return _Refinement(values, named, forward).run(gradient, order)


def is_analytic(order: list[Node]) -> bool:
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
    return domain.condition == "x > 0" and tree_size(x) < 200 and _is_positive(expressions([x])[0])


def _is_positive(expr: Any) -> bool:
    """Whether a formula is positive everywhere; tanh and erf, from -1 to 1, are (w - 1)/(w + 1) of a positive w."""
    if expr.is_positive:
        return True
    table = {}
    for function in expr.atoms(sp.tanh, sp.erf):
        w = sp.Dummy(positive=True)
        table[function] = (w - 1) / (w + 1)
    return bool(sp.together(expr.xreplace(table)).is_positive)


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
    for point in samples.points:
        at = {inputs[n]: v for n, v in point.items()}
        try:
            with mp.workdps(DIGITS):
                column = evaluate_exact(order, at)
            if any(v != 0 and abs(v) < _ZERO for v in column):  # small, or the rounding error of a 0
                with mp.workdps(MORE_DIGITS):
                    better = evaluate_exact(order, at)
                settled = [settled_value(a, b) for a, b in zip(column, better, strict=True)]
                column = [b if s is None else s for b, s in zip(better, settled, strict=True)]
            columns.append(column)
        except (TypeError, ValueError, ArithmeticError):
            return None
    table = {n: tuple(c[i] for c in columns) for i, n in enumerate(order)}
    if all(isinstance(v, (mp.mpf, int)) and mp.isfinite(v) for row in table.values() for v in row):
        return table
    return None


class _Refinement:
    """The passes over the gradient graph; `costs` count operations with shared parts written out.

    A named node is a variable here: foldings would look into it, and 2*(0.5*(1 + erf)) would be Phi no more.
    """

    def __init__(self, values: dict[Node, Values], named: Mapping[Node, Sequence[Node]], forward: list[Node]) -> None:
        self.values, self.named = values, named
        self.costs: dict[Node, int] = {}
        self.directions: dict[Any, Any] = {}  # of nodes, and of products of two
        self.known: dict[Any, tuple[Node, Any]] = {}  # direction of the value vector -> a node and its first value
        self.names = {n: variable("") for n in named}
        self.costs |= {self.names[n]: self._cost(n) for n in named}
        self.forward: dict[Node, Node] = {}  # the program itself, in its names
        for node in forward:
            inputs = tuple(self.forward[n] for n in node.inputs)
            rebuilt = node if inputs == node.inputs else make(node.op, inputs, node.params)
            self.forward[node] = self.names.get(node, rebuilt)
        with mp.workdps(DIGITS):
            for expression, its_values in self._vocabulary():
                self._learn(expression, its_values[0], _direction(its_values))

    def run(self, gradient: Node, order: list[Node]) -> Node:
        """The rewritten gradient: what is learned late is used early, in the second pass."""
        with mp.workdps(DIGITS):
            self._written(order)
            found = self._written(order)[gradient]
        return substitute([found], {name: node for node, name in self.names.items()})[0]

    def _written(self, order: list[Node]) -> dict[Node, Node]:
        new: dict[Node, Node] = {}
        for node in order:
            new[node] = self._in_names(node) if node in self.forward else self._rewritten(node, new)
        return new

    def _in_names(self, node: Node) -> Node:
        """A part of the program itself, in terms of its named parts where that is shorter."""
        own = self.forward[node]
        found = None if node in self.named or not self.named or not node.inputs else self._look_up(node)
        return own if found is None or self._cost(found) >= self._cost(own) else found

    def _rewritten(self, node: Node, new: Mapping[Node, Node]) -> Node:
        if not node.inputs:
            return node
        values = self.values[node]
        number = _as_number(values)
        if number is not None:
            return constant(number)
        options = [node.op(*(new[n] for n in node.inputs), **node.params), *self._cancelled(node, new)]
        options += self._regrouped(node, new)
        found = self._look_up(node)
        if found is not None:
            options.append(found)
        best = min(options, key=self._cost)
        self._learn(best, values[0], self._direction_of(node))
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

    def _regrouped(self, node: Node, new: Mapping[Node, Node]) -> Iterator[Node]:
        """A product in which factors that stand apart are something known: x*s**2*exp(-x) is x*(s*(1 - s))."""
        left = _factors(node) if node.op in (mul, div) else []
        if not 2 < len(left) <= _MOST_FACTORS:
            return
        product, savings = constant(1), []
        for pair in combinations([f for f in left if not f[0].is_constant], 2):
            found = self._known_product(*pair)
            if found is not None:
                savings.append((self._cost(found) - sum(self._cost(new[n]) for n, _ in pair), pair, found))
        for saving, pair, found in sorted(savings, key=lambda s: s[0]):
            if saving <= 0 and all(left.count(f) >= pair.count(f) for f in pair):
                product = product * found
                for f in pair:
                    left.remove(f)
        if not product.is_constant:
            for n, exponent in left:
                product = product * new[n] if exponent > 0 else product / new[n]
            yield product

    def _known_product(self, one: tuple[Node, int], other: tuple[Node, int]) -> Node | None:
        """Something known that is the product of two factors."""
        known = self.known.get(self._direction_of_pair(one, other))
        factor = None if known is None else _factor(self._pair_values(one, other)[0] / known[1])
        return None if known is None or factor is None else constant(factor) * known[0]

    def _direction_of_pair(self, one: tuple[Node, int], other: tuple[Node, int]) -> Any:
        key = (one, other)
        if key not in self.directions:
            self.directions[key] = _direction(self._pair_values(one, other))
        return self.directions[key]

    def _pair_values(self, one: tuple[Node, int], other: tuple[Node, int]) -> Values:
        (a, m), (b, n) = one, other
        pairs = zip(self.values[a], self.values[b], strict=True)
        return tuple((x if m > 0 else 1 / x) * (y if n > 0 else 1 / y) for x, y in pairs)

    def _is_zero_sum(self, sign: int, term: Node, other_sign: int, other: Node) -> bool:
        pairs = zip(self.values[term], self.values[other], strict=True)
        return all(abs(sign * a + other_sign * b) <= _ZERO * max(abs(a), abs(b)) for a, b in pairs)

    def _vocabulary(self) -> Iterator[tuple[Node, Values]]:
        """Simple functions of forward nodes, simplest first."""
        leaves = [n for n in self.forward if n.inputs or n.op.name == "variable"][-_LARGEST_VOCABULARY:]
        leaves = [n for n in leaves if _as_number(self.values[n]) is None]
        written = self.forward | self.names
        yield from ((name, self.values[n]) for n, name in self.names.items())
        for function in _FUNCTIONS:
            for y in leaves:
                its_values = _mapped(function, self.values[y])
                if its_values is not None:
                    yield function(written[y]), its_values
        main = ([n for n in leaves if n in self.named] + [n for n in leaves if not n.inputs])[:_MOST_NAMED]
        for operation in _OPERATIONS:
            for a, b in permutations(main, 2):
                try:
                    its_values = tuple(map(operation, self.values[a], self.values[b]))
                except ZeroDivisionError:
                    continue
                yield operation(written[a], written[b]), its_values

    def _learn(self, expression: Node, first: Any, direction: Any) -> None:
        known = self.known.get(direction)
        if direction is not None and (known is None or self._cost(expression) < self._cost(known[0])):
            self.known[direction] = (expression, first)

    def _look_up(self, node: Node) -> Node | None:
        """Something known that has a node's values, or a small multiple of them."""
        known = self.known.get(self._direction_of(node))
        if known is None:
            return None
        expression, first = known
        factor = _factor(self.values[node][0] / first)
        return None if factor is None else constant(factor) * expression

    def _direction_of(self, node: Node) -> Any:
        if node not in self.directions:
            self.directions[node] = _direction(self.values[node])
        return self.directions[node]

    def _cost(self, node: Node) -> int:
        waiting = [node]
        while waiting:
            n = waiting[-1]
            if n in self.costs:
                waiting.pop()
                continue
            parts = self.named.get(n, n.inputs)
            missing = [i for i in parts if i not in self.costs]
            if missing:
                waiting.extend(missing)
            else:
                self.costs[n] = bool(n.inputs) + sum(self.costs[i] for i in parts)
        return self.costs[node]


_OPERATIONS: tuple[Callable[[Any, Any], Any], ...] = (operator.mul, operator.truediv, operator.sub, operator.add)
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
    divisor = mp.mpf(first)._mpf_
    return tuple(mpf_div(mp.mpf(v)._mpf_, divisor, _KEPT, "n") for v in values)


def _as_number(values: Values) -> Fraction | None:
    """The small fraction that all values are, if they are one."""
    first = values[0]
    if any(abs(v - first) > _ZERO * abs(first) for v in values):
        return None
    return _small(first)


def _small(value: Any) -> Fraction | None:
    if value == 0:
        return Fraction(0)
    if not 1 / _LARGEST_FACTOR < abs(value) < _LARGEST_FACTOR:
        return None
    near = Fraction(float(value)).limit_denominator(_DENOMINATOR)
    exact = mp.mpf(near.numerator) / near.denominator
    return near if near and abs(value - exact) <= _ZERO * abs(value) else None


def _factor(value: Any) -> Fraction | float | None:
    """A factor that formulas have: a small fraction, or a root or a multiple of pi, such as sqrt(2*pi)."""
    fraction = _small(value)
    if fraction is not None:
        return fraction
    read = exact_number(float(value))
    is_read = read.form not in ("rational", "float") and abs(read.mpf() - value) <= _ZERO * abs(value)
    return float(value) if is_read else None


def _factors(node: Node) -> list[tuple[Node, int]]:
    """The factors of nested products and quotients, with 1 or -1 for those above and below the bar."""
    out: list[tuple[Node, int]] = []
    waiting = [(1, node)]
    while waiting and len(out) <= _MOST_FACTORS:
        exponent, n = waiting.pop()
        if n.op is mul:
            waiting += [(exponent, n.inputs[1]), (exponent, n.inputs[0])]
        elif n.op is div:
            waiting += [(-exponent, n.inputs[1]), (exponent, n.inputs[0])]
        else:
            out.append((n, exponent))
    return out


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
